// The command `export`: writes all connections with their credentials, encrypted by age
// (https://age-encryption.org) for the recipients. The plain text goes from the command line `connector-vault export` to this
// process through a pipe, and nowhere else.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { parseArgs } from "node:util";
import { Encrypter } from "age-encryption";
import { work } from "../lib/paths.mjs";
import { asksForHelp, Problem } from "../lib/problem.mjs";
import { environment } from "../lib/run.mjs";
import { log } from "../lib/status.mjs";

/** The exit code of the command-line program if some credentials could not be decrypted. */
const INCOMPLETE_EXIT_CODE = 3;

const HELP = `Usage: npm run export -- --recipient age1… FILE [options]

Writes all connections with their credentials, encrypted for a recipient of age. Each line is JSON.
Open the file with: age --decrypt --identity KEY_FILE FILE

  --recipient AGE1     who can decrypt the file, from age-keygen; can be repeated
  --account NAME       only connections of this account
  --environment ENV    only connections of test or live
  --file FILE          a file with the value of VAULT_KEYS; default on this machine: the variable in .dev.vars
  --remote             the storage at Cloudflare that wrangler.toml names
  --persist-to DIR     the folder of the local storage
`;

/** The options that are passed on to the command-line program. */
const FORWARDED_OPTIONS = ["account", "environment", "file", "persist-to"];

function createEncrypter(recipients) {
  if (recipients.length === 0)
    throw new Problem("Name who can decrypt the file: --recipient age1…", {
      hint: "`age-keygen -o key.txt` creates a key and prints its recipient.",
      code: 2,
    });
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch {
      // The message does not quote the value, because it may be the secret key.
      throw new Problem("--recipient must be a public key of age, such as age1….", { code: 2 });
    }
  }
  return encrypter;
}

/** Encrypts the connections into a new file, readable by its owner only. Returns the exit code. */
async function writeEncrypted(path, encrypter, program, args) {
  const partialFile = `${path}.part`;
  const file = await open(partialFile, "wx", 0o600).catch((error) => {
    throw new Problem(`${partialFile} can't be created (${error.code}).`, { code: 2 });
  });
  try {
    const child = spawn(await program(), ["export", ...args], {
      cwd: work,
      env: environment(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    const encrypted = await encrypter.encrypt(Readable.toWeb(child.stdout));
    for await (const chunk of encrypted) await file.write(chunk);
    const [code] = await closed;
    if (code !== 0 && code !== INCOMPLETE_EXIT_CODE) throw new Problem("Nothing was exported.");
    await file.sync();
    await file.close();
    await rename(partialFile, path);
    return code;
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(partialFile, { force: true });
    throw error;
  }
}

/**
 * @param {string[]} args
 * @param {() => Promise<string>} program returns the path of the command-line program
 * @returns {Promise<number>} the exit code
 */
export async function exportConnections(args, program) {
  if (asksForHelp(args)) {
    process.stdout.write(HELP);
    return 0;
  }
  const stringOptions = Object.fromEntries(FORWARDED_OPTIONS.map((name) => [name, { type: "string" }]));
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      recipient: { type: "string", multiple: true, default: [] },
      remote: { type: "boolean", default: false },
      ...stringOptions,
    },
  });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0)
    throw new Problem("Use `npm run export -- --recipient age1… FILE`.", {
      hint: "See `npm run export -- --help`.",
      code: 2,
    });
  const path = resolve(process.env.INIT_CWD ?? ".", file);
  if (!existsSync(dirname(path))) throw new Problem(`The folder of ${path} does not exist.`, { code: 2 });
  if (existsSync(path)) throw new Problem(`${path} exists already.`, { hint: "Name another file.", code: 2 });
  const encrypter = createEncrypter(values.recipient);
  const programOptions = FORWARDED_OPTIONS.flatMap((name) =>
    values[name] === undefined ? [] : [`--${name}`, values[name]],
  );
  const allOptions = values.remote ? ["--remote", ...programOptions] : programOptions;
  const code = await writeEncrypted(path, encrypter, program, allOptions);
  log(`Encrypted into ${path}.`);
  return code === 0 ? 0 : 1;
}
