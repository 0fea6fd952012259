// Runs shell examples in bash as a reader would, with some commands replaced: `curl` records responses, and `npm run …` and `npx` run
// the same programs in the project of the test.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { program } from "../../../scripts/lib/native-cli.mjs";
import { nodeBin } from "../../../scripts/lib/paths.mjs";
import { environment } from "../../../scripts/lib/run.mjs";
import { wranglerEnvironment } from "./workspace.mjs";

const TIMEOUT_MS = 600_000;

/** Defined before each example. EXPECT is the documented status, set for one command. */
const PRELUDE = `
set -euo pipefail
curl() {
  local at; at=$(printf '%s/%03d' "$ANSWERS" "$(find "$ANSWERS" -name '*.status' | wc -l)")
  command curl "$@" --max-time 30 -w '%{stderr}%{http_code} %{url_effective}' 2> "$at.status" | tee "$at.answer"
  printf ' %s' "\${EXPECT:-}" >> "$at.status"
}
npm() {
  [ "$1" = run ] || { echo "npm $1 is not available here" >&2; return 64; }
  local what=$2; shift 2
  case $what in audit | catalog | keys | seed | vault-keys) ;; *) echo "npm run $what is not available here" >&2; return 64 ;; esac
  if [ "\${1:-}" = -- ]; then shift; fi
  "$CONNECTOR_VAULT" "$what" "$@"
}
npx() { "$@"; }
`;

/** Preserves functions and variables for the next block. */
function preserveState(code) {
  const functions = [...code.matchAll(/^(\w+)\(\) \{/gm)].map(([, name]) => name);
  const variables = [...code.matchAll(/^([A-Za-z_]\w*)=/gm)].map(([, name]) => name);
  const declare = (option, names) => (names.length > 0 ? `declare ${option} ${names.join(" ")}\n` : "");
  return `{ ${declare("-f", functions)}${declare("-p", variables)}:; } > "$KEPT"`;
}

/** A terminal that runs examples in sequence. */
export class Shell {
  #state = "";

  /** @param {string} folder the working directory @param {object} env variables */
  constructor(folder, env = {}) {
    this.folder = folder;
    this.env = { CONNECTOR_VAULT: program, ...env };
  }

  /** Runs an example: { printed, responses: [{ status, expected, url, text }] }. Fails if one of its commands fails. */
  async run(code) {
    const responseFolder = join(this.folder, ".answers");
    rmSync(responseFolder, { recursive: true, force: true });
    mkdirSync(responseFolder, { recursive: true });
    const commands = code.replaceAll(/^(\S.*?) +# → (\d{3})\b.*$/gm, "EXPECT=$2 $1");
    const script = `${PRELUDE}\n${this.#state}\n${commands}\n${preserveState(code)}\n`;
    const env = {
      ...environment(wranglerEnvironment),
      ...this.env,
      ANSWERS: responseFolder,
      KEPT: join(this.folder, ".kept"),
      PATH: `${nodeBin}:${process.env.PATH}`,
    };
    const bashArgs = ["-c", `exec 2>&1; ${script}`];
    const { stdout } = await promisify(execFile)("bash", bashArgs, {
      cwd: this.folder,
      env,
      timeout: TIMEOUT_MS,
      maxBuffer: 64 << 20,
    }).catch((error) => {
      throw new Error(
        `bash failed (${error.code ?? error.signal}):\n${code}\nIt printed:\n${error.stdout?.slice(-3000)}`,
      );
    });
    this.#state += `\n${readFileSync(join(this.folder, ".kept"), "utf8")}`;
    const files = readdirSync(responseFolder)
      .filter((name) => name.endsWith(".status"))
      .sort();
    return {
      printed: stdout,
      responses: files.map((name) => {
        const [status, url, expected] = readFileSync(join(responseFolder, name), "utf8").split(" ");
        return {
          status,
          url,
          expected,
          text: readFileSync(join(responseFolder, name.replace(".status", ".answer")), "utf8"),
        };
      }),
    };
  }
}
