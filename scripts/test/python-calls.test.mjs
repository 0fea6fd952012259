// Tests of `npm run python -- generate`: it adds missing methods and arguments to the asynchronous client, and changes nothing else.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../lib/paths.mjs";
import { complete } from "../lib/python-calls.mjs";

const source = readFileSync(join(root, "python", "src", "connector_vault", "_async.py"), "utf8");
const read = () => JSON.parse(readFileSync(join(root, "www", "public", "v1", "openapi.json"), "utf8"));
const webhook = { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Webhook" } } } } };

/** The lines that `complete` adds to the client, without their indentation. */
function addedLines(change) {
  const document = read();
  change(document);
  const completed = complete(source, document);
  assert.equal(complete(completed, document), completed, "a second run changes nothing");
  const existingLines = new Set(source.split("\n"));
  return completed
    .split("\n")
    .filter((line) => !existingLines.has(line) && line.trim() !== "")
    .map((line) => line.trim());
}

test("a complete client does not change", () =>
  assert.deepEqual(
    addedLines(() => {}),
    [],
  ));

test("a query parameter becomes an argument", () => {
  const lines = addedLines(({ paths }) => {
    const schema = { type: "string", enum: ["day", "week"] };
    paths["/v1/vault/connections"].get.parameters.push({ name: "createdPer", in: "query", schema });
  });
  assert.deepEqual(lines, ['created_per: Literal["day", "week"] | None = None,', "created_per=created_per,"]);
});

test("a field of a body becomes an argument", () => {
  const lines = addedLines(({ components }) => {
    components.schemas.NewConnection.properties.colours = { type: "array", items: { type: "string" } };
    components.schemas.NewConnection.properties.note = { type: ["string", "null"] };
  });
  assert.deepEqual(lines, [
    "colours: Iterable[str] | None = None,",
    "note: str | None | Omitted = OMITTED,",
    "colours=OMITTED if colours is None else [*colours],",
    "note=note,",
  ]);
});

test("an endpoint becomes a method of the class with the nearest paths", () => {
  const lines = addedLines(({ paths }) => {
    const properties = { hours: { type: "integer" }, reason: { type: "string" } };
    const schema = { type: "object", required: ["hours"], properties };
    const requestBody = { content: { "application/json": { schema } } };
    const text = { operationId: "pauseWebhook", description: "Pauses deliveries. They are sent later." };
    paths["/v1/webhooks/{id}/pause"] = { post: { ...text, requestBody, responses: webhook } };
  });
  assert.deepEqual(lines, [
    "async def pause(self, webhook: str | HasId, *, hours: int, reason: str | None = None) -> Webhook:",
    '"""Pauses deliveries. Never retried."""',
    "body = json_body(dict(hours=hours, reason=or_omitted(reason)))",
    'call = Call("POST", api_path("webhooks", resource_id(webhook), "pause"), Webhook, body=body, repeatable=False)',
  ]);
});

test("an endpoint of a new resource gets a class", () => {
  const lines = addedLines(({ paths }) => {
    const operation = { operationId: "deleteInvoice", description: "Deletes an invoice.", responses: { 204: {} } };
    paths["/v1/invoices/{id}"] = { delete: operation };
  });
  assert.deepEqual(lines, [
    "class AsyncInvoices:",
    '"""Deletes an invoice."""',
    "async def delete(self, invoice: str | HasId) -> None:",
    '"""Deletes an invoice."""',
    'call = Call[None]("DELETE", api_path("invoices", resource_id(invoice)), None)',
    "await self._sender.result(call)",
    "self.invoices = AsyncInvoices(self._sender)",
  ]);
});
