// The input of an action that is made of its document's own examples.
import Ajv2020 from "ajv/dist/2020.js";
import { examples } from "../catalog-proof/examples.mjs";

const ajv = () => new Ajv2020({ strict: false, validateFormats: false, logger: false });

/** A check of an action's input; undefined when no validator reads its schema. */
export function validator(action) {
  try {
    return ajv().compile(action.input);
  } catch {
    return undefined;
  }
}

/** An input that the action takes, each part of it an example; undefined when examples lack or are refused. */
export function ofExamples(document, action) {
  const found = document.operation(action);
  const validate = found && validator(action);
  if (!validate) return undefined;
  const input = {};
  for (const { at, value } of examples(document, found, action)) {
    const [place, name] = at;
    if (name === undefined) input.body ??= value;
    else if (place !== "body" && !Object.hasOwn(input[place] ?? {}, name)) {
      const more = { ...input, [place]: { ...input[place], [name]: value } };
      validate(more);
      // An example that its own schema refuses is left out, unless it is needed.
      if (!(validate.errors ?? []).some(({ instancePath }) => `${instancePath}/`.startsWith(pointer(at))))
        input[place] = more[place];
    }
  }
  return Object.keys(input).length > 0 && validate(input) ? input : undefined;
}

const pointer = (steps) => `${steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}/`;
