// The page of one action, compared with the API's responses.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectAccessible, expectAccessibleEverywhere, readCopied, tabTo } from "../support/console.mjs";
import { proof } from "../support/proof.mjs";

const PLANNER = "/connectors/planner";
const CREATE = `${PLANNER}/actions/createTask`;
const CURL = `curl -X POST 'https://api.planner.example/v1/boards/<board>/tasks?copies=<copies>' \\
  -H 'authorization: Bearer <access token>' \\
  -H 'content-type: application/json' \\
  -d '{
  "title": "<title>",
  "priority": "low",
  "owner": {
    "email": "<email>"
  }
}'`;

const RUN = `curl -X POST 'https://vault/v1/vault/connections/<connection>/actions/createTask' \\
  -H "x-service-secret: $KEY" \\
  -H 'content-type: application/json' \\
  -d '{
  "path": {
    "board": "<board>"
  },
  "query": {
    "copies": 1
  },
  "body": {
    "title": "<title>",
    "priority": "low",
    "owner": {
      "email": "<email>"
    }
  }
}'`;

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleAction(fixture) {
  const visit = (...args) => fixture.console.visit(...args);
  const body = (page) => page.getByRole("region", { name: "Body" });
  /** The innermost list item that begins with a property's name. */
  const property = (within, name) =>
    within
      .getByRole("listitem")
      .filter({ has: within.page().locator(`:scope > .property-head > .property-name:text-is("${name}")`) })
      .first();
  /** Collects the API requests of a page. */
  const requested = (page) => {
    const paths = [];
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith("/v1/available-actions/")) paths.push(pathname + search);
    });
    return paths;
  };

  describe("an action", () => {
    proof("opens from the list of actions, and Back returns to it", () =>
      visit(`${PLANNER}?method=POST`, async (page) => {
        await page.getByRole("link", { name: "Create a task" }).click();
        await page.waitForURL(`**${CREATE}`);
        const heading = page.getByRole("heading", { level: 1, name: "Create a task" });
        await heading.and(page.locator(":focus")).waitFor();
        await page.reload();
        await heading.waitFor();
        await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Planner" }).click();
        await page.waitForURL(`**${PLANNER}`);
        await page.goBack();
        await heading.waitFor();
      }),
    );

    test("shows its details, authorization, and copyable requests to the platform and the service", () =>
      visit(CREATE, async (page) => {
        const facts = page.getByRole("region", { name: "Create a task" });
        await facts.getByText("OAuth 2.0").waitFor();
        const text = await facts.innerText();
        for (const expected of [
          "POST",
          "/boards/{board}/tasks",
          "https://api.planner.example/v1",
          "Creates a task on a board",
          "createTask",
          "Tasks",
          "tasks:read",
          "tasks:write",
          "API key",
        ]) {
          assert.ok(text.includes(expected), `${expected} in ${text}`);
        }
        await page.getByText("Deprecated", { exact: true }).waitFor();
        const link = facts.getByRole("link", { name: "docs.planner.example" });
        assert.equal(await link.getAttribute("href"), "https://docs.planner.example/tasks");
        await facts.getByRole("button", { name: "Copy the key" }).click();
        assert.equal(await readCopied(facts), "createTask");
        const call = page.getByRole("region", { name: "Request to the platform" });
        await call.getByText("Bearer <access token>").waitFor();
        assert.equal(await call.locator("pre").innerText(), CURL);
        await call.getByRole("button", { name: "Copy the code" }).click();
        assert.equal(await readCopied(call), CURL);
        const run = page.getByRole("region", { name: "Run through the vault" });
        assert.equal(await run.locator("pre").innerText(), RUN.replaceAll("https://vault", fixture.console.baseUrl));
        await run.getByRole("button", { name: "JavaScript" }).click();
        await run.getByText('await vault.actions.run("<connection>", "createTask", {').waitFor();
        const read = page.getByRole("group").filter({ hasText: "API request to read this action" });
        await page.getByText("API request to read this action").click();
        await read.getByRole("button", { name: "JavaScript" }).click();
        await page.getByText('await vault.actions.get("planner", "createTask")').waitFor();
        await page.goto(`${fixture.console.baseUrl}${PLANNER}/actions/listTasks`);
        await page.getByRole("region", { name: "List tasks" }).getByText("none needed").waitFor();
      }));

    test("lists parameters, required ones first; details open by keyboard and mouse", () =>
      visit(CREATE, async (page) => {
        const rows = async (name) => {
          const table = page.getByRole("table", { name });
          await table.waitFor();
          const texts = await table.locator("tbody").getByRole("row").allInnerTexts();
          return texts.map((text) => text.replaceAll(/\s+/g, " ").trim());
        };
        assert.deepEqual(await rows("In the path"), ["board required string"]);
        assert.deepEqual(await rows("In the query"), [
          "copies required integer, 1–100",
          "notify string Whom to tell about it. One of nobody watchers everybody Default: watchers",
          "tags array of string, at most 5 items, each at most 20 characters repeated for each item",
        ]);
        assert.deepEqual(await rows("In headers"), ["X-Trace string, uuid"]);
        const summary = body(page).locator("summary").filter({ hasText: "of subtasks" });
        await summary.waitFor();
        await tabTo(page, summary);
        await page.keyboard.press("Enter");
        await property(property(body(page), "subtasks"), "title").waitFor();
      }));

    test("shows the body schema to any depth", () =>
      visit(CREATE, async (page) => {
        const names = () => body(page).locator(".body-schema > .schema > .schema > .properties > li .property-name");
        await names().first().waitFor();
        assert.deepEqual((await names().allTextContents()).slice(0, 7), [
          "title",
          "priority",
          "owner",
          "note",
          "subtasks",
          "labels",
          "parent",
        ]);
        const head = (name, within = body(page)) => property(within, name).locator(".property-head").first();
        for (const [name, expected] of [
          ["title", "title string, 1–80 characters required"],
          ["priority", "priority string required"],
          ["note", "note string or null, at most 500 characters"],
          ["subtasks", "subtasks array of object"],
          ["parent", "parent object or null"],
        ]) {
          assert.equal((await head(name).innerText()).replaceAll(/\s+/g, " "), expected);
        }
        await property(body(page), "priority").getByText("One of low high").waitFor();

        // A recursive schema: each level is rendered when it is opened.
        let within = body(page);
        for (let depth = 1; depth <= 4; depth += 1) {
          const subtasks = property(within, "subtasks");
          assert.equal(await subtasks.getByText("title", { exact: true }).count(), 0);
          await subtasks.getByText("7 properties of subtasks").click();
          await property(subtasks, "title").waitFor();
          within = subtasks;
        }

        const owner = property(body(page), "owner");
        await owner.getByText("Any of 2 variants").click();
        await property(owner, "A user").getByText("1 property of A user").click();
        assert.match(await head("email", owner).innerText(), /string, email\s+required/);
        const team = property(owner, "A team");
        await team.getByText("3 properties of A team").click();
        await property(team, "slug").getByText("^[a-z]+$").waitFor();
        await property(team, "colour").getByText("Default: grey").waitFor();
        const labels = property(body(page), "labels");
        await labels.getByText("Any property of labels").click();
        await labels.getByText("2 properties of any property").click();
        await property(labels, "name").waitFor();
        await expectAccessible(page, "an action with open schemas");
      }));

    proof("loads responses when they are opened", () =>
      visit("/connectors", async (page) => {
        const paths = requested(page);
        await page.goto(fixture.console.baseUrl + CREATE);
        await body(page).waitFor();
        assert.deepEqual(paths, ["/v1/available-actions/planner/createTask"]);
        const responses = page.getByRole("region", { name: "Responses" });
        await page.getByRole("heading", { name: "Responses" }).click();
        await responses.getByText("No such board").waitFor();
        assert.deepEqual(paths.slice(1), ["/v1/available-actions/planner/createTask?include=responses"]);
        const heads = await responses.locator(".response > .property-head").allInnerTexts();
        assert.deepEqual(
          heads.map((text) => text.replaceAll(/\s+/g, " ").trim()),
          ["201 The task application/json", "204 Nothing to do", "404 No such board application/json"],
        );
        await responses.getByText("Content of 201").click();
        await property(responses, "id").getByText("read-only").waitFor();
        const task = property(responses, "task");
        await task.getByText("7 properties of task").click();
        await property(task, "title").waitFor();
        await expectAccessible(page, "an action with open responses");
      }),
    );

    proof("renders a large action of a real platform", () =>
      visit("/connectors/github/actions/pullsCreate", async (page) => {
        const first = body(page).getByRole("listitem").first();
        await first.waitFor();
        assert.match(await first.innerText(), /required/);
        await page.getByRole("heading", { name: "Responses" }).click();
        await page.getByText("Content of 201").click();
        await page.getByText(/properties of base$/).click();
        await page.getByText(/properties of repo/).waitFor();
      }),
    );

    proof("suggests similar names for an unknown action or platform", () =>
      visit(
        `${PLANNER}/actions/createTsak`,
        async (page) => {
          await page.getByText("Planner has no action “createTsak”").waitFor();
          await page.getByRole("link", { name: "createTask" }).click();
          await page.getByRole("heading", { level: 1, name: "Create a task" }).waitFor();
          await page.goto(`${fixture.console.baseUrl}/connectors/githb/actions/issuesCreate`);
          await page.getByText("The catalog has no platform “githb”").waitFor();
          await page.getByRole("link", { name: "github", exact: true }).click();
          await page.waitForURL("**/connectors/github");
        },
        { expects: [404] },
      ),
    );

    test("fits and is accessible in both themes and at each width", () =>
      visit(CREATE, async (page) => {
        await body(page).getByText("7 properties of subtasks").click();
        await body(page).getByText("Any of 2 variants").first().click();
        await page.getByRole("heading", { name: "Responses" }).click();
        await page.getByText("Content of 201").click();
        await page.getByText("7 properties of task").waitFor();
        await expectAccessibleEverywhere(page, "an action", { widths: [320, 390, 1920], others: [390] });
      }));
  });
}
