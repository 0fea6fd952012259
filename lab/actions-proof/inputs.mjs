// Builds the input of an action from the examples of its document.
import Ajv2020 from "ajv/dist/2020.js";
import { examples } from "../catalog-proof/examples.mjs";

const ajv = () => new Ajv2020({ strict: false, validateFormats: false, logger: false });

/** A validator of an action's input; undefined if its schema cannot be compiled. */
export function validator(action) {
  try {
    return ajv().compile(action.input);
  } catch {
    return undefined;
  }
}

/** A valid input that consists of examples; undefined if required examples are missing or invalid. */
export function inputFromExamples(document, action) {
  const operation = document.operation(action);
  const validate = operation && validator(action);
  if (!validate) return undefined;
  const input = {};
  for (const { at, value } of examples(document, operation, action)) {
    const [place, name] = at;
    if (name === undefined) input.body ??= value;
    else if (place !== "body" && !Object.hasOwn(input[place] ?? {}, name)) {
      const extended = { ...input, [place]: { ...input[place], [name]: value } };
      validate(extended);
      // Removes an example that violates its schema, unless it is required.
      if (!(validate.errors ?? []).some(({ instancePath }) => `${instancePath}/`.startsWith(pointer(at))))
        input[place] = extended[place];
    }
  }
  return Object.keys(input).length > 0 && validate(input) ? input : undefined;
}

const pointer = (steps) => `${steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}/`;
