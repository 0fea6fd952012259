// Sends random inputs for actions of real platforms. The service must accept the same inputs as npm's Prism.
import { files, withLocalServer } from "./documents.mjs";
import { validator } from "./inputs.mjs";
import { Prism } from "./prism.mjs";
import { reasonOfDisagreement } from "./reasons.mjs";
import { randomGenerator, randomValue, corrupted } from "./random.mjs";
import { sendWithSwaggerClient } from "./swagger-client.mjs";
import { MAX_LINES, countReasons } from "./requests.mjs";
import { LocalPlatforms } from "./local-platforms.mjs";

/** The number of attempts to generate a valid input, and of corrupted copies of each. */
const MAX_TRIES = 4;
const CORRUPTIONS = 3;
/** The maximum length of an input in characters. The service accepts 64 KiB. */
const MAX_INPUT_LENGTH = 20_000;
/** The maximum number of actions without a generated input. */
const MAX_ACTIONS = 60;
const CANDIDATES = 3;

/**
 * @param {{ platforms: number, each: number, seed: number, report?: (text: string) => void }} options `each`: valid inputs per
 *   platform
 */
export async function proveRandom({ platforms: count, each, seed, report = () => {} }) {
  const random = randomGenerator(seed);
  // Prism cannot distinguish operations whose paths end in a query or a fragment.
  const chosen = [];
  for (const found of files((text) => !/"\/[^"]*[#?][^"]*": ?\{/.test(text)))
    if (chosen.push(found) === count * CANDIDATES) break;
  const prism = await Prism.start();
  const service = await LocalPlatforms.start("random-proof", chosen, prism.origin);
  const result = { platforms: 0, valid: 0, accepted: 0, refused: 0, refusedByBoth: 0, differences: [] };
  try {
    for await (const { platform, index, document, actions } of service.platforms()) {
      if (result.platforms === count) break;
      const api = withLocalServer(chosen[index].api, `${prism.origin}/p${index}`);
      if (
        await prism.add(index, api).then(
          () => false,
          () => true,
        )
      )
        continue;
      const run = await service.connect(platform);
      let left = each;
      for (const action of shuffled(actions, random).slice(0, MAX_ACTIONS)) {
        if (left === 0) break;
        const validate = validator(action);
        const input = validate && validInput(action, validate, random);
        if (!input) continue;
        left -= 1;
        await proveInput({ result, name: `${platform}/${action.key}`, prism, run, document, action, input, random });
      }
      if (left === 0) result.platforms += 1;
      report(`${result.valid} inputs of ${result.platforms} platforms`);
    }
  } finally {
    await Promise.all([service.stop(), prism.stop()]);
  }
  return result;
}

function shuffled(list, random) {
  return list
    .map((one) => [random(), one])
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

function validInput(action, validate, random) {
  for (let tries = MAX_TRIES; tries > 0; tries -= 1) {
    const input = randomValue(action.input, random);
    if (input === undefined || Object.keys(input).length === 0 || !validate(input)) continue;
    if (JSON.stringify(input).length < MAX_INPUT_LENGTH) return input;
  }
  return undefined;
}

async function proveInput({ result, name, prism, run, document, action, input, random }) {
  const response = await run(action, input);
  const [found] = prism.take();
  result.valid += 1;
  const differs = (valid, sent, response, faults) => {
    const why = reasonOfDisagreement(document, action, { input: sent, valid, response, found: faults });
    const { status, text } = response;
    result.differences.push({ name, valid, why, status, output: text.slice(0, 500), found: faults, input: sent });
  };
  if (response.status === 200 && found?.length === 0) result.accepted += 1;
  else differs(true, input, response, found);
  for (let times = CORRUPTIONS; times > 0; times -= 1) {
    const invalidInput = corrupted(input, random);
    if (!invalidInput) return;
    await sendWithSwaggerClient(document, action, invalidInput).catch(() => {});
    const [faults = []] = prism.take();
    if (faults.length === 0) continue;
    result.refused += 1;
    const response = await run(action, invalidInput);
    const sent = prism.take();
    if (response.status === 400 && response.json.code === "invalid_body" && sent.length === 0)
      result.refusedByBoth += 1;
    else differs(false, invalidInput, response, faults);
  }
}

/** Formats the results as lines, and decides whether the proof passes. */
export function summarizeValidation({ platforms, valid, accepted, refused, refusedByBoth, differences }) {
  const unexplained = differences.filter(({ why }) => !why);
  const lines = [
    `${valid} random valid inputs of ${platforms} platforms, of which Prism accepts ${accepted}`,
    `${refused} random inputs that Prism rejects, of which the service rejects ${refusedByBoth} before sending anything`,
    `${differences.length - unexplained.length} differ for a reason:`,
    ...countReasons(differences),
    `${unexplained.length} differ without one`,
    ...unexplained.slice(0, MAX_LINES).map(({ name, status, found }) => `  ${name}: ${status} ${found}`),
  ];
  return { lines, isProven: unexplained.length === 0 };
}
