// What `npm start -- …` is told: the options of its own, and what it needs to know of those that go on to `wrangler dev`.
import { createServer } from "node:net";
import { resolve } from "node:path";
import { root, state } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";

const DEFAULT_PORT = 8787;
/** The options that are not passed on, by name; true when a value follows. */
const OWN = new Map([
  ["--log", false],
  ["--no-demo", false],
  ["--no-sources", false],
  ["--demo-port", true],
  ["--shards", true],
]);
/** What `npm start -- --help` prints. */
export const HELP = `Usage: npm start -- [options]

Sets up whatever is missing, then serves http://localhost:${DEFAULT_PORT} with a catalog and a demo key.

  --port N          listen on this port instead; 0 picks a free one
  --log             print a line for each request
  --shards N        add local databases until there are N
  --demo-port N     have the demo platform listen on this port; by default on 8789 or, if that is taken, another
  --no-demo         without the demo platform, and without its connector
  --no-sources      without the documents of sources.toml, which are downloaded for at most 20 seconds otherwise
  --persist-to DIR  keep the local storage in this folder; default: .wrangler/state
  --var NAME:VALUE  set a variable of the service, such as ALLOWED_ORIGINS:http://localhost:5173

All other options are passed to wrangler: npx wrangler dev --help`;

const nameOf = (arg) => arg.split("=")[0];

/** The options among those given that are for `wrangler dev`. */
export const passedOn = (given) =>
  given.filter((arg, at) => !OWN.has(nameOf(arg)) && !(OWN.get(given[at - 1]) ?? false));

/** The value of `--name value` or `--name=value`, the last one given. */
function valueOf(args, ...names) {
  let found;
  args.forEach((arg, index) => {
    for (const name of names) {
      if (arg === name) found = args[index + 1];
      else if (arg.startsWith(`${name}=`)) found = arg.slice(name.length + 1);
    }
  });
  return found;
}

/** The port that an option names, or undefined if it is not given. */
function portOf(args, option) {
  if (args.at(-1) === option) throw new Problem(`${option} takes a number from 1 to 65535.`);
  const text = valueOf(args, option);
  if (text === undefined) return undefined;
  const port = Number(text || NaN);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Problem(`${option} takes a number from 1 to 65535, not "${text}".`);
}

/** Reads the options; fails when a port is not one. */
export function options(given) {
  const shards = valueOf(given, "--shards");
  if (given.some((arg) => nameOf(arg) === "--shards") && !/^[1-9]\d{0,3}$/.test(shards ?? "")) {
    throw new Problem(`--shards takes a number of databases, not "${shards ?? ""}".`);
  }
  const args = passedOn(given);
  const port = portOf(args, "--port") ?? DEFAULT_PORT;
  const demoPort = portOf(given, "--demo-port");
  const persistTo = valueOf(args, "--persist-to");
  const folder = persistTo ? resolve(root, persistTo) : state;
  // Said to every command, so that an environment variable cannot send one of them elsewhere.
  const place = ["--local", "--persist-to", folder];
  const host = valueOf(args, "--ip") ?? "localhost";
  const [log, noDemo, noSources] = ["--log", "--no-demo", "--no-sources"].map((option) => given.includes(option));
  return { args, log, hasDemo: !noDemo, hasSources: !noSources, demoPort, shards, port, host, state: folder, place };
}

/** Fails when somebody else listens on the port, which was chosen with this option. */
export async function mustBeFree(port, host, option = "--port") {
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
    throw new Problem(`Port ${port} is taken by another program.`, {
      hint: `Stop that one, or choose another port: npm start -- ${option} ${port === 65_535 ? port - 1 : port + 1}`,
    });
  }
  throw new Problem(`Cannot listen on ${host}, port ${port}: ${error.message}.`);
}
