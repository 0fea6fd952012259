// `npm run lab -- generated-clients`: generates a client of the OpenAPI document with each of four generators, type-checks it, and
// type-checks the Python package with a second type checker, pyright.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { packageProgram } from "../scripts/lib/python-package.mjs";
import { run } from "../scripts/lib/run.mjs";
import { print } from "../scripts/lib/status.mjs";
import { installNpmPackages } from "../scripts/setup/npm-packages.mjs";
import { installPythonPackages, pythonProgram } from "../scripts/setup/python.mjs";

const FOLDER = join("tests", "generators");
const DOCUMENT = join(root, "www", "public", "v1", "openapi.json");
const OUTPUT_FOLDER = join(root, "target", "generated-clients");

const python = (program, args, env) => run(pythonProgram("generators", program), args, { cwd: OUTPUT_FOLDER, env });
const node = (program, args) =>
  run("node", [join(root, FOLDER, "node_modules", program), ...args], { cwd: OUTPUT_FOLDER });

/** Finds classes with numbers in their names, which generators add if a schema lacks a name. `Oauth2` and `Sigv4` are real names. */
const numberedNames = (source) =>
  [...source.matchAll(/^class (\w+?\d+)\b/gm)]
    .map(([, name]) => name)
    .filter((name) => !/(?:Oauth2|Sigv4)$/.test(name));

async function pydanticModels() {
  const options = ["--output-model-type", "pydantic_v2.BaseModel", "--use-annotated", "--set-default-enum-member"];
  const fixedOptions = ["--target-python-version", "3.11", "--formatters", "builtin", "--disable-timestamp"];
  const args = [
    "--input",
    DOCUMENT,
    "--input-file-type",
    "openapi",
    "--output",
    "models.py",
    ...options,
    ...fixedOptions,
  ];
  await python("datamodel-codegen", args);
  const names = numberedNames(readFileSync(join(OUTPUT_FOLDER, "models.py"), "utf8"));
  if (names.length > 0)
    throw new Problem(`These classes of datamodel-code-generator have schemas without a name: ${names.join(", ")}.`);
}

async function pythonClient() {
  // Its warnings report unsupported parts of the document.
  const args = ["generate", "--path", DOCUMENT, "--output-path", "client", "--meta", "none", "--fail-on-warning"];
  await python("openapi-python-client", [...args, "--config", join(root, FOLDER, "openapi-python-client.yml")]);
}

/** Checks the types of the Python package. */
async function pyright() {
  const program = join(root, FOLDER, "node_modules", "pyright", "index.js");
  const interpreter = await packageProgram("python");
  await run("node", [program, "--pythonpath", interpreter, "--project", join(root, "python")]);
}

/** Generates the clients and checks their types. */
async function generatedClients() {
  await Promise.all([
    installNpmPackages(join(root, FOLDER)),
    installPythonPackages("generators", join(FOLDER, "requirements.txt")),
  ]);
  rmSync(OUTPUT_FOLDER, { recursive: true, force: true });
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  const config = {
    compilerOptions: {
      target: "es2022",
      module: "esnext",
      moduleResolution: "bundler",
      lib: ["es2022", "dom", "dom.iterable"],
    },
    files: ["schema.ts", "orval.ts"],
  };
  Object.assign(config.compilerOptions, { strict: true, noEmit: true, types: [] });
  writeFileSync(join(OUTPUT_FOLDER, "tsconfig.json"), JSON.stringify(config));
  const types = [
    node("openapi-typescript/bin/cli.js", [DOCUMENT, "--output", "schema.ts"]),
    node("orval/dist/bin/orval.mjs", ["--input", DOCUMENT, "--output", "orval.ts", "--client", "fetch"]),
  ];
  const checked = [
    Promise.all(types).then(() =>
      run("node", [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", OUTPUT_FOLDER]),
    ),
    Promise.all([pydanticModels(), pythonClient()]).then(() =>
      python("mypy", ["--config-file", join(root, FOLDER, "mypy.ini"), "models.py", "client"]),
    ),
  ];
  await Promise.all(checked);
}

await main(async () => {
  await generatedClients();
  await pyright();
  print("4 generated clients, and the Python package by pyright: no fault");
});
