// Holds an action's `input` against a validator, and the document's examples against both.
import { Script, createContext } from "node:vm";
import Ajv2020 from "ajv/dist/2020.js";
import { examples } from "./examples.mjs";
import { plainSchema } from "./plain-schema.mjs";

// The most milliseconds that a pattern may take for a text.
const MAX_MATCH = 2_000;
const room = createContext({});
const matching = new Script("pattern.test(text)");

/** A pattern that backtracks without end, as some in the documents do, refuses the text instead. */
function regExp(source, flags) {
  const pattern = new RegExp(source, flags);
  const test = (text) => {
    try {
      return matching.runInContext(Object.assign(room, { pattern, text }), { timeout: MAX_MATCH });
    } catch {
      return false;
    }
  };
  // What tells a validator's patterns apart: without it, one stands for all.
  return { test, toString: () => String(pattern) };
}
regExp.code = "regExp";

// `format` only describes in JSON Schema 2020-12.
const OPTIONS = {
  strict: false,
  validateFormats: false,
  logger: false,
  allErrors: true,
  code: { optimize: false, regExp },
};

const pointer = (steps) => steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The inputs of a platform's actions. */
export class Inputs {
  // A validator keeps what it compiled, whatever is removed: a new one for each platform keeps memory small.
  #ajv = new Ajv2020(OPTIONS);
  #definitions = new Map();
  #isAlone;

  /** `isAlone`: an action's definitions are compiled with it, instead of once for all actions that share them. */
  constructor({ isAlone }) {
    this.#isAlone = isAlone;
  }

  /**
   * What is wrong with the action: `{ fault }`, or `{ examples, refused: […], validate }`, where `validate(value)` says
   * whether the input accepts a value.
   */
  check(document, found, action) {
    let validate;
    try {
      validate = this.#isAlone || !this.#share(action.input) ? this.#once(action.input) : this.#shared(action.input);
    } catch (error) {
      return { fault: error.message };
    }
    const held = found ? examples(document, found, action) : [];
    const refused = held.flatMap((example) => {
      const reason = refusal(validate, example.instance, pointer(example.at));
      return reason ? [{ at: example.at.join(" "), ...reason, isOwnFault: this.#isOwnFault(document, example) }] : [];
    });
    return { examples: held.length, refused, validate };
  }

  #once(schema) {
    try {
      return this.#ajv.compile(schema);
    } finally {
      this.#ajv.removeSchema(schema);
    }
  }

  /** Adds an input's definitions to those of all actions. Returns false when one differs: it is cut short in one action. */
  #share({ $defs = {} }) {
    const texts = Object.entries($defs).map(([name, schema]) => [name, JSON.stringify(schema)]);
    if (texts.some(([name, text]) => (this.#definitions.get(name) ?? text) !== text)) return false;
    for (const [name, text] of texts) {
      if (this.#definitions.has(name)) continue;
      this.#definitions.set(name, text);
      this.#ajv.addSchema(apart(text), `defs:/${name}`);
    }
    return true;
  }

  #shared({ $defs, ...input }) {
    return this.#once(apart(JSON.stringify(input)));
  }

  /** Whether the document's own schema refuses the example as well. */
  #isOwnFault(document, { schema, value }) {
    try {
      return !this.#once(plainSchema(document, schema))(value);
    } catch {
      // A schema that no validator reads says nothing of its example.
      return false;
    }
  }
}

/** A schema whose references lead to definitions that are schemas of their own. */
const apart = (text) => JSON.parse(text.replaceAll('"$ref":"#/$defs/', '"$ref":"defs:/'));

/** Why a value is refused at a place, and by which keyword, or undefined. What the rest of the instance lacks does not count. */
function refusal(validate, instance, at) {
  if (validate(instance)) return undefined;
  const here = validate.errors.filter(({ instancePath }) => `${instancePath}/`.startsWith(`${at}/`));
  const [first] = here;
  return first && { why: `${first.instancePath.slice(at.length)} ${first.message}`.trim(), keyword: first.keyword };
}
