// Runs actions of real platforms through the service and through npm's `swagger-client`. The requests must be equal.
import { differingParts, normalized } from "./compare.mjs";
import { files } from "./documents.mjs";
import { inputFromExamples } from "./inputs.mjs";
import { reasonOfRequest } from "./reasons.mjs";
import { Recorder } from "./recorder.mjs";
import { sendWithSwaggerClient } from "./swagger-client.mjs";
import { LocalPlatforms } from "./local-platforms.mjs";

/** The maximum number of actions per platform. */
const MAX_EXAMPLES = 10;
/** The maximum number of differences to print. */
export const MAX_LINES = 20;
/** The number of candidate documents per platform: more than one, because some documents lack required examples. */
const CANDIDATES = 3;

/**
 * @param {{ platforms: number, largest?: number, report?: (text: string) => void }} options `largest`: bytes of a document
 * @returns {Promise<{ platforms: number, actions: number, equal: number, differences: object[] }>}
 */
export async function proveActions({ platforms: count, largest, report = () => {} }) {
  const chosen = [];
  for (const found of files((text) => text.includes('"example'), largest))
    if (chosen.push(found) === count * CANDIDATES) break;
  const recorder = await Recorder.start();
  const service = await LocalPlatforms.start("actions-proof", chosen, recorder.origin);
  const result = { platforms: 0, actions: 0, equal: 0, differences: [] };
  try {
    for await (const { platform, document, actions } of service.platforms()) {
      if (result.platforms === count) break;
      let [run, left] = [undefined, MAX_EXAMPLES];
      for (const action of actions) {
        if (left === 0) break;
        const input = inputFromExamples(document, action);
        if (!input) continue;
        run ??= await service.connect(platform);
        left -= 1;
        result.actions += 1;
        const difference = await compareRequest(recorder, run, document, action, input);
        if (difference) result.differences.push({ name: `${platform}/${action.key}`, input, ...difference });
        else result.equal += 1;
      }
      if (run) result.platforms += 1;
      report(`${result.actions} actions of ${result.platforms} platforms`);
    }
  } finally {
    await Promise.all([service.stop(), recorder.stop()]);
  }
  return result;
}

/** Runs an action through both clients, and returns the difference between the requests; undefined if they are equal. */
async function compareRequest(recorder, run, document, action, input) {
  const response = await run(action, input);
  const ours = recorder.take();
  if (!ours) return { parts: ["ours"], output: response.text.slice(0, 500) };
  let output;
  await sendWithSwaggerClient(document, action, input).catch((error) => {
    output = `${error}`;
  });
  const theirs = recorder.take();
  if (!theirs) return { parts: ["theirs"], output };
  const [one, other] = [normalized(ours, action), normalized(theirs, action)];
  const parts = differingParts(one, other);
  if (parts.length === 0) return undefined;
  return { parts, why: reasonOfRequest(one, other), ours: one, theirs: other };
}

/** Formats the results as lines, and decides whether the proof passes. */
export function summarizeRequests({ platforms, actions, equal, differences }) {
  const unexplained = differences.filter(({ why }) => !why);
  const lines = [
    `${actions} actions of ${platforms} platforms`,
    `${equal} requests are equal to those of swagger-client, byte by byte except for the order of headers`,
    `${differences.length - unexplained.length} differ for a reason:`,
    ...countReasons(differences),
    `${unexplained.length} differ without one`,
    ...unexplained.slice(0, MAX_LINES).map(({ name, parts, output = "" }) => `  ${name}: ${parts} ${output}`),
  ];
  return { lines, isProven: unexplained.length === 0 };
}

/** The number of differences by reason. */
export function countReasons(differences) {
  const known = [...new Set(differences.map(({ why }) => why))].filter(Boolean);
  return known.map((why) => `  ${differences.filter((difference) => difference.why === why).length}: ${why}`);
}
