// The options of `npm start`, including those of `wrangler dev` that it also uses.
import { createServer } from "node:net";
import { resolve } from "node:path";
import { isPackage, state, work } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";

const DEFAULT_PORT = 8787;
/** The options that are not passed to wrangler, by name; true if a value follows. */
const OWN_OPTIONS = new Map([
  ["--log", false],
  ["--no-demo", false],
  ["--no-sources", false],
  ["--demo-port", true],
  ["--shards", true],
]);
export const HELP = `Usage: npm start -- [options]

Sets up what is missing, then serves http://localhost:${DEFAULT_PORT} with a catalog and a demo key.

  --port N          listen on this port instead; 0 picks a free one
  --log             print a line for each request
  --shards N        add local databases until there are N
  --demo-port N     the port of the demo platform; default: 8789, or another one if that is taken
  --no-demo         do not start the demo platform, and leave out its connector
${
  isPackage
    ? ""
    : "  --no-sources      leave out the documents of sources.toml, which are otherwise downloaded for at most 20 seconds\n"
}  --persist-to DIR  keep the local storage in this folder; default: .wrangler/state
  --var NAME:VALUE  set a variable of the service, such as ALLOWED_ORIGINS:http://localhost:4200

All other options are passed to wrangler: npx wrangler dev --help`;

const nameOf = (arg) => arg.split("=")[0];

/** The options for `wrangler dev`. */
export const wranglerOptions = (args) =>
  args.filter((arg, at) => !OWN_OPTIONS.has(nameOf(arg)) && !(OWN_OPTIONS.get(args[at - 1]) ?? false));

/** The value of the last `--name value` or `--name=value`. */
function valueOf(args, ...names) {
  let value;
  args.forEach((arg, index) => {
    for (const name of names) {
      if (arg === name) value = args[index + 1];
      else if (arg.startsWith(`${name}=`)) value = arg.slice(name.length + 1);
    }
  });
  return value;
}

/** The port that an option sets; undefined without that option. */
function portOf(args, option) {
  if (args.at(-1) === option) throw new Problem(`${option} takes a number from 1 to 65535.`);
  const text = valueOf(args, option);
  if (text === undefined) return undefined;
  const port = Number(text || NaN);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Problem(`${option} takes a number from 1 to 65535, not "${text}".`);
}

/** Parses the options. Fails if one is invalid. */
export function options(allArgs) {
  const shards = valueOf(allArgs, "--shards");
  if (allArgs.some((arg) => nameOf(arg) === "--shards") && !/^[1-9]\d{0,3}$/.test(shards ?? "")) {
    throw new Problem(`--shards takes a number of databases, not "${shards ?? ""}".`);
  }
  const args = wranglerOptions(allArgs);
  const port = portOf(args, "--port") ?? DEFAULT_PORT;
  const demoPort = portOf(allArgs, "--demo-port");
  const persistTo = valueOf(args, "--persist-to");
  const folder = persistTo ? resolve(work, persistTo) : state;
  // Passed to every command, so that no environment variable can select another storage.
  const storageArgs = ["--local", "--persist-to", folder];
  const host = valueOf(args, "--ip") ?? "localhost";
  const [log, noDemo, noSources] = ["--log", "--no-demo", "--no-sources"].map((option) => allArgs.includes(option));
  const [hasDemo, hasSources] = [!noDemo, !noSources];
  return { args, log, hasDemo, hasSources, demoPort, shards, port, host, state: folder, storageArgs };
}

/** Fails if another program listens on the port. `option` sets the port. */
export async function ensurePortIsFree(port, host, option = "--port") {
  if (!port) return;
  const error = await new Promise((done) => {
    const probe = createServer();
    probe.once("error", done);
    probe.listen({ port, host: host === "*" ? undefined : host, exclusive: true }, () =>
      probe.close(() => done(undefined)),
    );
  });
  if (!error) return;
  if (error.code === "EADDRINUSE") {
    throw new Problem(`Another program is using port ${port}.`, {
      hint: `Stop it, or choose another port: npm start -- ${option} ${port === 65_535 ? port - 1 : port + 1}`,
    });
  }
  throw new Problem(`Cannot listen on ${host}, port ${port}: ${error.message}.`);
}
