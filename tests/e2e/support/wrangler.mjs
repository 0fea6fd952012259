// A fake wrangler for a project, because each start of the real one takes more than a second of processor time. Unknown forms of
// commands fail. In `npm run proof`, the real wrangler runs the first command of each form, so that it has accepted each one; in
// `npm test`, only commands whose effect the fake cannot reproduce, such as an upload.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { unstable_splitSqlQuery } from "wrangler";
import { wrangler } from "../../../scripts/lib/paths.mjs";
import { environment } from "../../../scripts/lib/run.mjs";
import { listen } from "./listening.mjs";
import { isProof } from "./proof.mjs";
import { wranglerEnvironment } from "./workspace.mjs";

/** The program: sends its arguments to this process, prints the response, and exits with its status. */
const program = (address) => `#!/bin/sh
output=$(mktemp)
status=$(printf '%s\\0' "$@" | curl --silent --output "$output" --write-out '%{http_code}' --data-binary @- \\
  --header "x-folder: $PWD" --header "x-output: $WRANGLER_OUTPUT_FILE_PATH" ${address})
if [ "$status" = 200 ]; then cat "$output"; else cat "$output" >&2; fi
rm "$output"
[ "$status" = 200 ]
`;

/** The JSON in the output of wrangler, which may have other lines before it; undefined if there is none. */
function jsonIn(text) {
  const at = text.search(/^[[{]/m);
  return at < 0 ? undefined : JSON.parse(text.slice(at));
}

export class WranglerStandIn {
  /** The forms in which the real wrangler has run a command. */
  acceptedForms = new Set();
  /** The commands that match none of the listed forms. */
  unknownCommands = [];
  /** Results that differ from those of the real wrangler. */
  differentResults = [];

  /**
   * @param {object[]} commands of each: `form`, the arguments, where words in capitals stand for any value; `respond`, which
   *   gets these values by name, `folder` and `output` (the file of WRANGLER_OUTPUT_FILE_PATH), and returns the output: a string, or
   *   a value to print as JSON; `reads`: whether it only reads, so that its result can be compared with the real one; `isReal`: whether
   *   `npm test` also runs the real wrangler; and `variant`, which distinguishes situations that the real wrangler must run separately
   */
  constructor(commands) {
    this.commands = commands.map((command) => ({ ...command, words: command.form.split(" ") }));
  }

  async start() {
    this.server = createServer((request, response) => this.#answer(request, response));
    this.address = `http://127.0.0.1:${await listen(this.server)}/`;
    return this;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** Installs this as the wrangler of a project. */
  install(project) {
    const tools = join(project, "node_modules", ".bin");
    mkdirSync(tools, { recursive: true });
    writeFileSync(join(tools, "wrangler"), program(this.address));
    chmodSync(join(tools, "wrangler"), 0o755);
  }

  /** Asserts that the real wrangler accepts all used forms, and that results were equal. */
  expectMatchesWrangler() {
    assert.deepEqual([this.unknownCommands, this.differentResults], [[], []]);
  }

  /** Finds the command whose form matches the arguments. Returns it with its values. */
  #find(args) {
    for (const command of this.commands) {
      const values = {};
      const fits = (word, at) => {
        if (!/^[A-Z]+$/.test(word)) return word === args[at];
        values[word.toLowerCase()] = args[at];
        return true;
      };
      if (command.words.length === args.length && command.words.every(fits)) return { command, values };
    }
    return undefined;
  }

  async #answer(request, response) {
    const args = Buffer.concat(await request.toArray())
      .toString()
      .split("\0")
      .slice(0, -1);
    const { "x-folder": folder, "x-output": output } = request.headers;
    const { code, text } = await this.#run(args, { folder, output }).catch((error) => ({
      code: 1,
      text: error.message,
    }));
    response.writeHead(code === 0 ? 200 : 400).end(text);
    await once(response, "close");
  }

  async #run(args, { folder, output }) {
    const found = this.#find(args);
    if (!found) {
      this.unknownCommands.push(args.join(" "));
      return { code: 1, text: `The fake wrangler has no command ${args.join(" ")}` };
    }
    const { command, values } = found;
    const about = { ...values, folder, output };
    const variant = command.variant?.(about);
    const form = variant ? `${command.form} (${variant})` : command.form;
    const runOwn = async () => {
      const output = await command.respond(about);
      return typeof output === "string" || Buffer.isBuffer(output) ? output : JSON.stringify(output);
    };
    if (!(isProof || command.isReal) || this.acceptedForms.has(form)) return { code: 0, text: await runOwn() };
    const real = await runReal(args, { folder, output });
    this.acceptedForms.add(form);
    if (command.reads) {
      const expected = await runOwn().then(
        (text) => ({ code: 0, text }),
        () => ({ code: 1 }),
      );
      if (!matchesResult(real, expected)) this.differentResults.push({ form, real: String(real.text), expected });
    }
    return real;
  }
}

/** Whether the real wrangler's result contains all members of the fake's. */
function matchesResult(real, expected) {
  if (real.code !== expected.code) return false;
  // If the fake prints nothing, only the success of the commands is compared.
  if (real.code !== 0 || expected.text === "") return true;
  try {
    assert.partialDeepStrictEqual(jsonIn(real.text.toString()), JSON.parse(expected.text));
    return true;
  } catch {
    return false;
  }
}

function runReal(args, { folder, output }) {
  const env = environment({ ...wranglerEnvironment, ...(output && { WRANGLER_OUTPUT_FILE_PATH: output }) });
  return new Promise((done) => {
    execFile(wrangler, args, { cwd: folder, env, encoding: "buffer", maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      done(error ? { code: 1, text: Buffer.concat([stdout, stderr]) } : { code: 0, text: stdout }),
    );
  });
}

/**
 * The commands of wrangler that the operator's commands use on this machine's storage, for `--by-wrangler`, as
 * WranglerStandIn takes them. `current` gives that storage, opened: { catalog, vault }.
 */
export function localCommands(current) {
  const place = "--local --persist-to STATE";
  const runs = async (sql) => {
    const { vault } = current();
    const all = await vault.batch(unstable_splitSqlQuery(sql).map((statement) => vault.prepare(statement)));
    return all.map(({ results, success }) => ({ results, success }));
  };
  const read = (file) => readFileSync(file, "utf8");
  return [
    {
      form: `d1 execute BINDING --json --yes --command SQL ${place}`,
      // Run by the real wrangler, because it creates the database's file.
      isReal: true,
      // The real wrangler's result differs for the table of keys, so it must run this form separately.
      variant: ({ sql }) => (/api_keys/.test(sql) ? "keys" : ""),
      respond: ({ sql }) => runs(sql),
    },
    { form: `d1 execute BINDING --yes --file FILE ${place}`, respond: ({ file }) => runs(read(file)) },
    {
      form: `kv key list --binding CATALOG ${place}`,
      reads: true,
      respond: async () => (await current().catalog.list()).keys.map(({ name, metadata }) => ({ name, metadata })),
    },
    {
      form: `kv bulk put FILE --binding CATALOG ${place}`,
      respond: async ({ file }) => {
        for (const { key, value, metadata } of JSON.parse(read(file)))
          await current().catalog.put(key, Buffer.from(value, "base64"), { metadata });
        return "";
      },
    },
    {
      form: `kv bulk get FILE --binding CATALOG ${place}`,
      reads: true,
      respond: async ({ file }) => {
        const value = async (key) => [key, { value: await current().catalog.get(key) }];
        return Object.fromEntries(await Promise.all(JSON.parse(read(file)).map(value)));
      },
    },
    {
      form: `kv bulk delete FILE --force --binding CATALOG ${place}`,
      respond: async ({ file }) => {
        for (const key of JSON.parse(read(file))) await current().catalog.delete(key);
        return "";
      },
    },
  ];
}
