// The input and response schemas of actions in the largest documents: valid for a validator, within limits of time and size.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import addFormats from "ajv-formats";
import Ajv2020 from "ajv/dist/2020.js";

/** Check every nth action of a list. */
const STEP = 97;
const MAX_BYTES = 400_000;

export function actionDetails(fixture) {
  const get = async (path) => {
    const response = await fixture.server.send(path, { secret: fixture.keys.full.secret });
    assert.equal(response.status, 200, `${path}: ${response.text}`);
    return response;
  };

  /** Compiles a schema on its own, as a caller that has only the response would. */
  function compiled(schema, what) {
    const ajv = new Ajv2020({ strict: false, logger: false, addUsedSchema: false });
    addFormats(ajv);
    try {
      return ajv.compile(schema);
    } catch (error) {
      assert.fail(`${what}: ${error.message}`);
    }
  }

  describe("an action's detail", () => {
    // `npm run proof -- catalog-proof` covers all platforms.
    test("schemas are valid", async () => {
      const path = "/v1/available-actions/github";
      const { total } = (await get(`${path}?limit=1`)).json;
      let seen = 0;
      for (let page = 1; page <= total && seen < 60; page += STEP) {
        const [row] = (await get(`${path}?limit=1&page=${page}`)).json.rows;
        const response = await get(`${path}/${encodeURIComponent(row.key)}?include=responses`);
        const { input, requestBody, parameters, responses, ...detail } = response.json;
        for (const [name, value] of Object.entries(row)) assert.deepEqual(detail[name], value, row.key);
        assert.ok(response.body.length < MAX_BYTES, `${row.key}: ${response.body.length} bytes`);
        const takes = compiled(input, row.key);
        assert.ok(!takes({ nothing: 1 }), `${row.key} accepts unknown members`);
        const places = new Set(parameters.map((parameter) => parameter.in).filter((place) => place !== "cookie"));
        if (requestBody) places.add("body");
        // The media type of the response is a parameter if it is not always JSON.
        if (detail.responseTypes.some((type) => !["application/json", "*/*"].includes(type))) places.add("header");
        assert.deepEqual(Object.keys(input.properties).toSorted(), [...places].toSorted(), row.key);
        for (const { status, schema } of responses) if (schema) compiled(schema, `${row.key} ${status}`);
        seen += 1;
      }
      assert.ok(seen > 5, `${seen}`);
    });

    test("the schemas accept the same inputs as the document", async () => {
      const { input } = (await get("/v1/available-actions/github/issuesCreate")).json;
      const takes = compiled(input, "issuesCreate");
      const path = { owner: "octocat", repo: "hello" };
      for (const [value, isAccepted] of [
        [{ path, body: { title: "Broken", labels: ["bug", { name: "urgent" }] } }, true],
        [{ path, body: { title: 1 } }, true],
        [{ path, body: { title: {} } }, false],
        [{ path, body: {} }, false],
        [{ path: { owner: "octocat" }, body: { title: "Broken" } }, false],
        [{ path: { ...path, more: "x" }, body: { title: "Broken" } }, false],
        [{ body: { title: "Broken" } }, false],
      ]) {
        assert.equal(takes(value), isAccepted, JSON.stringify(value));
      }
    });
  });
}
