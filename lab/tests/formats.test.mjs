// Runs random actions of platforms whose documents are GraphQL schemas or in Google's Discovery format, on the real runtime.
// Their stand-ins check each request against the document itself: graphql-js executes queries, and lab/formats/discovery.mjs
// checks paths, parameters and bodies.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { randomGenerator } from "../actions-proof/random.mjs";
import { DiscoveryApi } from "../formats/discovery.mjs";
import { GraphqlApi } from "../formats/graphql.mjs";
import { Service, StandIn, documents, inputOf } from "../formats/service.mjs";

const SEED = "2026";
/** The minimum number of actions per format. */
const ACTIONS = 100;

/** Runs random actions of all platforms. Returns their number, and details about those that failed. */
async function proof(service, standIn, platforms, prepare = (_action, input) => input) {
  const random = randomGenerator(Number(SEED));
  const failures = [];
  let count = 0;
  for (const { platform } of platforms) {
    const run = await service.connect(platform);
    for (const action of await service.actions(platform, Math.ceil(ACTIONS / platforms.length), SEED)) {
      const input = prepare(action, inputOf(action, random), random);
      const response = await run(action, input);
      const { requests, faults } = standIn.take();
      count += 1;
      if (response.status !== 200 || requests !== 1 || faults.length > 0) {
        const text = `${response.status} ${response.text.slice(0, 300)}`;
        failures.push({ action: `${platform}/${action.key}`, input: JSON.stringify(input), requests, faults, text });
      }
    }
  }
  return { count, wrong: failures };
}

describe("actions of GraphQL schemas", { timeout: 900_000 }, () => {
  const closed = [];
  after(async () => {
    for (const close of closed.reverse()) await close();
  });

  test("graphql-js executes the request of every action against the platform's schema", async () => {
    const found = await documents("graphql");
    assert.ok(found.length > 0, "no schema could be downloaded");
    const apis = new Map(found.map(({ platform, content }) => [platform, new GraphqlApi(content)]));
    const standIn = await StandIn.start(async ({ platform, body }) => {
      const response = await apis.get(platform).response(body);
      return { faults: (response.errors ?? []).map(({ message }) => message), body: JSON.stringify(response) };
    });
    closed.push(() => standIn.stop());
    const platforms = found.map(({ platform, content }) => {
      return { platform, content, format: "graphql", endpoint: `${standIn.origin}/${platform}/graphql` };
    });
    const service = await Service.start("graphql", platforms, standIn.origin);
    closed.push(() => service.stop());

    // Half of the actions get a `select` that replaces their default fields.
    const prepare = (action, { body = {} }, random) => {
      const { select, ...given } = body;
      const selects = action.graphql.selection !== "" && random() < 0.5;
      return { body: selects ? { ...given, select: "{ __typename }" } : given };
    };
    const { count, wrong } = await proof(service, standIn, platforms, prepare);
    console.log(`${count - wrong.length} of ${count} actions of GraphQL schemas: ${[...apis.keys()].join(", ")}`);
    assert.deepEqual(wrong, []);
    assert.ok(count >= 50, `only ${count} actions`);

    // The stand-in detects a field that the schema does not have, and the service reports it.
    const [{ platform }] = platforms;
    const run = await service.connect(platform, "bob");
    const all = await service.actions(platform, ACTIONS, SEED);
    const action = all.find(({ graphql }) => graphql.selection !== "");
    const input = inputOf(action, randomGenerator(1));
    const response = await run(action, { body: { ...input.body, select: "noSuchField" } });
    assert.match(standIn.take().faults.join(), /Cannot query field "noSuchField"/);
    assert.match(response.text, /noSuchField/);
  });
});

describe("actions of Discovery documents", { timeout: 900_000 }, () => {
  const closed = [];
  after(async () => {
    for (const close of closed.reverse()) await close();
  });

  test("every request matches the platform's document", async () => {
    const found = await documents("google-discovery");
    const random = randomGenerator(Number(SEED));
    const chosen = found.sort(() => random() - 0.5).slice(0, 25);
    const apis = new Map(chosen.map(({ platform, content }) => [platform, new DiscoveryApi(JSON.parse(content))]));
    const standIn = await StandIn.start(async ({ platform, ...request }) => {
      const api = apis.get(platform);
      const path = request.path.slice(api.document.servicePath.length);
      return { faults: api.faults({ ...request, path }), body: "{}" };
    });
    closed.push(() => standIn.stop());
    const platforms = chosen.map(({ platform, content }) => {
      const document = { ...JSON.parse(content), rootUrl: `${standIn.origin}/${platform}/` };
      return { platform, content: JSON.stringify(document), format: "google-discovery" };
    });
    const service = await Service.start("discovery", platforms, standIn.origin);
    closed.push(() => service.stop());

    const { count, wrong } = await proof(service, standIn, platforms);
    console.log(`${count - wrong.length} of ${count} actions of Discovery documents, of ${platforms.length} platforms`);
    assert.deepEqual(wrong, []);
    assert.ok(count >= 50, `only ${count} actions`);
  });
});
