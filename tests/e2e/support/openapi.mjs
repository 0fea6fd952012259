// Validates responses against the OpenAPI document.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import addFormats from "ajv-formats";
import Ajv from "ajv/dist/2020.js";
import { root } from "../../../scripts/lib/paths.mjs";

const DOCUMENT = "document";
/** Response headers that the document does not describe: those of the transport and of assets. */
const TRANSPORT = new Set([
  "cf-cache-status",
  "connection",
  "content-length",
  "content-type",
  "date",
  "transfer-encoding",
]);

/** A copy of a schema whose objects forbid additional members. */
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return schema.type === "object" && schema.properties?.constructor === Object
    ? { ...inner, additionalProperties: false }
    : inner;
}

export class Description {
  /** Loads the committed document. */
  static committed() {
    return new Description(JSON.parse(readFileSync(join(root, "www", "public", "v1", "openapi.json"), "utf8")));
  }

  constructor(document) {
    this.document = document;
    const schemas = Object.entries(document.components.schemas).map(([name, schema]) => [name, closed(schema)]);
    const components = { ...document.components, schemas: Object.fromEntries(schemas) };
    this.ajv = addFormats(new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true }));
    this.ajv.addVocabulary(["openapi", "info", "servers", "tags", "paths", "components", "security"]);
    this.ajv.addSchema({ ...document, components }, DOCUMENT);
    /** The operations by id, with path and method. */
    this.operations = new Map(
      Object.entries(document.paths).flatMap(([path, item]) =>
        Object.entries(item).map(([method, operation]) => [
          operation.operationId,
          { ...operation, path, method: method.toUpperCase() },
        ]),
      ),
    );
  }

  /** Resolves a reference. */
  resolve(thing) {
    if (thing.$ref === undefined) return thing;
    const steps = thing.$ref
      .replace(/^#\//, "")
      .split("/")
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    return steps.reduce((part, step) => part[step], this.document);
  }

  /** The errors of a value. `schema` can reference components of the document. */
  faults(schema, value) {
    const inDocument = JSON.parse(JSON.stringify(schema).replaceAll('"#/', `"${DOCUMENT}#/`));
    return this.ajv.validate(inDocument, value) ? undefined : this.ajv.errorsText();
  }

  /** Asserts that the operation describes this response. */
  expect(id, response) {
    const where = `${id} ${response.status}`;
    const description = this.operations.get(id).responses[response.status];
    assert.ok(description, `${where} is not described: ${response.text.slice(0, 300)}`);
    const { headers, content = {} } = this.resolve(description);
    for (const [name, header] of Object.entries(headers)) {
      const { required, schema } = this.resolve(header);
      const text = response.header(name);
      if (text === undefined) assert.ok(!required, `${where}: \`${name}\` is missing`);
      else
        assert.equal(
          this.faults(schema, schema.type === "integer" ? Number(text) : text),
          undefined,
          `${where}: ${name}`,
        );
    }
    const undocumented = response.headers
      .map(([name]) => name)
      .filter((name) => !(name in headers) && !TRANSPORT.has(name));
    assert.deepEqual(undocumented, [], `${where}: headers that are not described`);
    const media = Object.entries(content);
    if (media.length === 0) return assert.equal(response.body.length, 0, where);
    const [[type, { schema }]] = media;
    assert.equal(response.header("content-type"), type, where);
    assert.equal(this.faults(schema, response.json), undefined, `${where}: ${response.text.slice(0, 500)}`);
  }
}
