// The checks of the conformance suite of the Model Context Protocol that this service does not pass, by reason, as
// `scenario: check`.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** @type {Record<string, string[]>} */
export const EXPECTED_FAILURES = {
  "calls tools of the suite's own sample server, such as `test_simple_text`": [
    "elicitation-sep1034-defaults: elicitation-sep1034-general",
    "elicitation-sep1330-enums: elicitation-sep1330-general",
    "input-required-result-basic-elicitation: sep-2322-elicitation-incomplete",
    "input-required-result-basic-list-roots: sep-2322-list-roots-incomplete",
    "input-required-result-basic-sampling: sep-2322-sampling-incomplete",
    "input-required-result-capability-check: sep-2322-respect-client-capabilities",
    "input-required-result-multi-round: sep-2322-multi-round-r1",
    "input-required-result-multiple-input-requests: sep-2322-multiple-inputs-incomplete",
    "input-required-result-request-state: sep-2322-request-state-incomplete",
    "input-required-result-result-type: sep-2322-result-type-included",
    "input-required-result-tampered-state: sep-2322-reject-tampered-state",
    "json-schema-2020-12: json-schema-2020-12-tool-found",
    "server-stateless: sep-2575-http-server-no-independent-requests-on-stream",
    "server-stateless: sep-2575-missing-capability-http-400",
    "server-stateless: sep-2575-server-no-log-without-loglevel",
    "server-stateless: sep-2575-server-rejects-undeclared-capability",
    "tools-call-audio: tools-call-audio",
    "tools-call-elicitation: tools-call-elicitation",
    "tools-call-embedded-resource: tools-call-embedded-resource",
    "tools-call-error: tools-call-error",
    "tools-call-image: tools-call-image",
    "tools-call-mixed-content: tools-call-mixed-content",
    "tools-call-sampling: tools-call-sampling",
    "tools-call-simple-text: tools-call-simple-text",
    "tools-call-with-logging: tools-call-with-logging",
    "tools-call-with-progress: tools-call-with-progress",
  ],
  "no tool has arguments that are sent as headers (`x-mcp-header`)": [
    "http-custom-header-server-validation: sep-2243-server-decode-base64",
    "http-custom-header-server-validation: sep-2243-server-no-xmcp-tool",
    "http-custom-header-server-validation: sep-2243-server-reject-invalid-param-chars",
    "http-custom-header-server-validation: sep-2243-server-reject-param-mismatch",
    "http-custom-header-server-validation: sep-2243-server-validate-param-match",
  ],
  "the service sends no log messages to clients": ["logging-set-level: logging-set-level"],
  "there are no prompts": [
    "caching: sep-2549-prompts-list-caching-hints",
    "input-required-result-non-tool-request: sep-2322-non-tool-incomplete",
    "prompts-get-embedded-resource: prompts-get-embedded-resource",
    "prompts-get-simple: prompts-get-simple",
    "prompts-get-with-args: prompts-get-with-args",
    "prompts-get-with-image: prompts-get-with-image",
    "prompts-list: prompts-list",
  ],
  "there are no resources": [
    "caching: sep-2549-resources-list-caching-hints",
    "caching: sep-2549-resources-templates-list-caching-hints",
    "resources-list: resources-list",
    "resources-read-binary: resources-read-binary",
    "resources-read-text: resources-read-text",
    "resources-subscribe: resources-subscribe",
    "resources-templates-read: resources-templates-read",
    "resources-unsubscribe: resources-unsubscribe",
  ],
  "there are no tasks: every tool returns its result directly": [
    "tasks-capability-negotiation: sep-2663-server-rejects-undeclared-client",
    "tasks-capability-negotiation: sep-2663-tasks-methods-non-declaring",
    "tasks-capability-negotiation: tasks-extension-advertised",
    "tasks-capability-negotiation: tasks-per-request-meta-opt-in",
    "tasks-dispatch-and-envelope: sep-2663-durable-create-strong-consistency",
    "tasks-dispatch-and-envelope: sep-2663-legacy-task-param-ignored",
    "tasks-dispatch-and-envelope: sep-2663-tasks-get-invalid-task-id-32602",
    "tasks-dispatch-and-envelope: tasks-immediate-result-shortcut",
    "tasks-dispatch-and-envelope: tasks-result-type-complete-on-non-task-responses",
    "tasks-dispatch-and-envelope: tasks-server-directed-creation-no-hint",
    "tasks-lifecycle: sep-2663-cancel-ack-empty-result",
    "tasks-lifecycle: sep-2663-result-type-task-on-create",
    "tasks-lifecycle: sep-2663-tasks-get-status-completed",
    "tasks-lifecycle: sep-2663-tasks-get-status-failed",
    "tasks-lifecycle: sep-2663-tasks-get-status-working",
    "tasks-lifecycle: sep-2663-tool-error-uses-completed-status",
    "tasks-lifecycle: tasks-cancel-terminal-idempotent-ack",
    "tasks-lifecycle: tasks-sync-tool-call",
    "tasks-mrtr-composition: sep-2663-mrtr-synchronous-before-task-creation",
    "tasks-mrtr-input: sep-2663-tasks-get-status-input-required",
    "tasks-mrtr-input: tasks-mrtr-partial-fulfillment",
    "tasks-mrtr-input: tasks-mrtr-tasks-update-resumes",
    "tasks-request-headers: sep-2663-routing-headers-accepted-on-tasks-get",
    "tasks-request-headers: sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",
    "tasks-request-headers: tasks-headers-tolerate-mcp-method-on-tools-call",
    "tasks-request-state-removal: tasks-request-state-removal-setup",
    "tasks-required-task-error: sep-2663-server-returns-missing-capability-when-required",
    "tasks-wire-fields: tasks-no-early-ttl-expiry",
    "tasks-wire-fields: tasks-no-related-task-meta-on-inlined-result",
    "tasks-wire-fields: tasks-wire-field-renames",
  ],
  "there are no completions, because there are no prompts and no resources": [
    "completion-complete: completion-complete",
  ],
};

/** The scenario of a results folder, whose name also contains the time. */
const scenarioOf = (name) => name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\dZ-]+$/, "");

/** The failed checks of a results folder, as `scenario: check`, and the number of passed ones. */
export function resultsIn(folder) {
  const results = { failed: [], passed: 0 };
  for (const name of readdirSync(folder)) {
    const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"));
    for (const { id, status } of checks) {
      if (status === "FAILURE") results.failed.push(`${scenarioOf(name)}: ${id}`);
      if (status === "SUCCESS") results.passed += 1;
    }
  }
  return results;
}
