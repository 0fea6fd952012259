// Compiles an action's `input` with a validator, and validates the document's examples.
import { Script, createContext } from "node:vm";
import Ajv2020 from "ajv/dist/2020.js";
import { examples } from "./examples.mjs";
import { plainSchema } from "./plain-schema.mjs";

// The maximum time of a pattern match in milliseconds.
const MAX_MATCH = 2_000;
const limit = createContext({});
const matchScript = new Script("pattern.test(text)");

/** A pattern with a time limit: some patterns in documents backtrack exponentially, and then do not match. */
function regExp(source, flags) {
  const pattern = new RegExp(source, flags);
  const test = (text) => {
    try {
      return matchScript.runInContext(Object.assign(limit, { pattern, text }), { timeout: MAX_MATCH });
    } catch {
      return false;
    }
  };
  // ajv caches compiled patterns by the result of `toString`.
  return { test, toString: () => String(pattern) };
}
regExp.code = "regExp";

// `format` is only an annotation in JSON Schema 2020-12.
const OPTIONS = {
  strict: false,
  validateFormats: false,
  logger: false,
  allErrors: true,
  code: { optimize: false, regExp },
};

const pointer = (steps) => steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Validates the inputs of a platform's actions. */
export class Inputs {
  // A new validator for each platform limits memory, because validators never free compiled schemas.
  #ajv = new Ajv2020(OPTIONS);
  #definitions = new Map();
  #isAlone;

  /** `isAlone`: compile definitions for each action, instead of once for all actions that share them. */
  constructor({ isAlone }) {
    this.#isAlone = isAlone;
  }

  /**
   * Checks an action. Returns `{ fault }`, or `{ examples, refused: […], validate }`, where `validate(value)` returns whether the
   * input accepts a value.
   */
  check(document, found, action) {
    let validate;
    try {
      validate = this.#isAlone || !this.#share(action.input) ? this.#once(action.input) : this.#shared(action.input);
    } catch (error) {
      return { fault: error.message };
    }
    const documentExamples = found ? examples(document, found, action) : [];
    const refused = documentExamples.flatMap((example) => {
      const reason = refusal(validate, example.instance, pointer(example.at));
      return reason ? [{ at: example.at.join(" "), ...reason, isOwnFault: this.#isOwnFault(document, example) }] : [];
    });
    return { examples: documentExamples.length, refused, validate };
  }

  #once(schema) {
    try {
      return this.#ajv.compile(schema);
    } finally {
      this.#ajv.removeSchema(schema);
    }
  }

  /** Adds an input's definitions to the shared ones. Returns false if one differs, because it was truncated in an action. */
  #share({ $defs = {} }) {
    const texts = Object.entries($defs).map(([name, schema]) => [name, JSON.stringify(schema)]);
    if (texts.some(([name, text]) => (this.#definitions.get(name) ?? text) !== text)) return false;
    for (const [name, text] of texts) {
      if (this.#definitions.has(name)) continue;
      this.#definitions.set(name, text);
      this.#ajv.addSchema(withSharedDefinitions(text), `defs:/${name}`);
    }
    return true;
  }

  #shared({ $defs, ...input }) {
    return this.#once(withSharedDefinitions(JSON.stringify(input)));
  }

  /** Whether the schema in the document also rejects the example. */
  #isOwnFault(document, { schema, value }) {
    try {
      return !this.#once(plainSchema(document, schema))(value);
    } catch {
      // A schema that can't be compiled can't show that the example is invalid.
      return false;
    }
  }
}

/** Rewrites references to definitions, which become separate schemas. */
const withSharedDefinitions = (text) => JSON.parse(text.replaceAll('"$ref":"#/$defs/', '"$ref":"defs:/'));

/**
 * Returns why a value is rejected, and by which keyword; undefined if it is accepted. Ignores errors in other parts of
 * the instance.
 */
function refusal(validate, instance, at) {
  if (validate(instance)) return undefined;
  const errorsHere = validate.errors.filter(({ instancePath }) => `${instancePath}/`.startsWith(`${at}/`));
  const [first] = errorsHere;
  return first && { why: `${first.instancePath.slice(at.length)} ${first.message}`.trim(), keyword: first.keyword };
}
