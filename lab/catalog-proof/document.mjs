// Reads a document independently of the importer's code. @apidevtools/swagger-parser resolves the references.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import SwaggerParser from "@apidevtools/swagger-parser";
import { root } from "../../scripts/lib/paths.mjs";

const METHODS = ["get", "post", "put", "patch", "delete"];
const MAX_CHAIN = 20;

const ownValue = (map, key) => (Object.hasOwn(map ?? {}, key) ? map[key] : undefined);
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const letters = (text) => text.replace(/[^A-Za-z0-9]/g, "").toLowerCase();

export class Document {
  #refs;

  /** Reads the document at `path`. Each document in the directory is one file. */
  static async read(path) {
    const document = new Document();
    document.path = path;
    document.api = JSON.parse(readFileSync(join(root, path), "utf8"));
    document.isOld = String(document.api.swagger ?? "").startsWith("2");
    document.is31 = String(document.api.openapi ?? "").startsWith("3.1");
    const options = { resolve: { external: false } };
    document.#refs = await new SwaggerParser().resolve(join(root, path), document.api, options);
    document.operations = document.#index();
    return document;
  }

  #index() {
    const operations = new Map();
    for (const [path, item] of Object.entries(this.api.paths ?? {})) {
      if (path.startsWith("x-")) continue;
      for (let target = item, left = MAX_CHAIN; target && left > 0; left -= 1) {
        for (const method of METHODS) {
          const operation = ownValue(target, method);
          const id = `${method} ${path.split("#")[0]}`;
          if (operation === undefined) continue;
          if (!operations.has(id)) operations.set(id, []);
          const known = operations.get(id);
          if (!known.some((one) => one.path === path)) known.push({ path, item: target, operation: operation ?? {} });
        }
        target = target.$ref ? this.target(target.$ref) : undefined;
      }
    }
    return operations;
  }

  operation(action) {
    const found = this.operations.get(`${action.method.toLowerCase()} ${action.path}`) ?? [];
    if (found.length < 2) return found[0];
    // Amazon's RPC-style APIs use one path for all operations (their documents add fragments, such as `/#Action=…`), so
    // match by operation id.
    const key = letters(action.key);
    const ids = ({ operationId = "" }) => [operationId, operationId.replace(/^(GET|POST)_/, "")].map(letters);
    const findOperation = (fits) => found.find(({ operation }) => ids(operation).some(fits));
    return findOperation((id) => id === key) ?? findOperation((id) => id !== "" && key.startsWith(id));
  }

  /** Follows the references of a value. Returns undefined if the result is not an object. */
  resolved(value) {
    let target = value;
    for (let left = MAX_CHAIN; left > 0 && isObject(target); left -= 1) {
      if (typeof target.$ref !== "string") return target;
      target = this.target(target.$ref);
    }
    return undefined;
  }

  /** The target of a reference; undefined if there is none. */
  target(reference) {
    try {
      return this.#refs.get(`${join(root, this.path)}${reference}`);
    } catch {
      return undefined;
    }
  }
}

/** The parameters of an operation and its path, without duplicates. Those of the operation take precedence. */
export function parameters(document, { item, operation }) {
  const seen = new Map();
  for (const parameters of [operation.parameters, item.parameters]) {
    for (const reference of Array.isArray(parameters) ? parameters : []) {
      const parameter = document.resolved(reference);
      if (typeof parameter?.name !== "string" || typeof parameter.in !== "string" || parameter.name === "") continue;
      const key = `${parameter.in} ${parameter.name}`;
      if (!seen.has(key)) seen.set(key, parameter);
    }
  }
  return [...seen.values()];
}
