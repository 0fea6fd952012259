// Texts about auth methods and failures for users who do not know this service: what happened, who must act, and what
// to do.
import type { AuthMethod } from "connector-vault/slim";
import { ApiError } from "./api-client";
import { type TextKey, fieldLabel, language, translate } from "./texts";
import { template } from "./translate";

/** Who must act after a failure: the user, the app's team, or neither. */
export type Actor = "user" | "app" | "nobody";

export interface FailureText {
  title: string;
  text: string;
  actor: Actor;
  code: string;
  /** The service's English message, for the app's team. */
  detail?: string | undefined;
  requestId?: string | undefined;
  /** With `connection_exists`: the existing connection. */
  connectionId?: string | undefined;
}

/** Lowercases the first letter, except in German, which capitalizes nouns. */
const uncapitalize = (text: string) =>
  language === "de" || /^.[A-Z]/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);

const joinLabels = (labels: readonly string[]) =>
  labels
    .map(fieldLabel)
    .reduce(
      (first, second) => (first === "" ? second : translate("method.and", { first, second: uncapitalize(second) })),
      "",
    );

export function methodTitle(method: AuthMethod, platform: string): string {
  const getFieldLabel = (name: string, fallback: string) =>
    fieldLabel(method.fields.find((field) => field.name === name)?.label ?? fallback);
  // Some platforms require several secrets, so list their labels.
  const joinedLabels = joinLabels(
    method.fields.filter(({ secret, required }) => secret && required).map(({ label }) => label),
  );
  switch (method.type) {
    case "oauth2":
      return method.grant === "client_credentials"
        ? translate("method.wholeAccount")
        : translate("method.signIn", { platform });
    case "api_key":
      return joinedLabels || getFieldLabel("apiKey", "API key");
    case "bearer":
      return joinedLabels || getFieldLabel("token", "Access token");
    case "basic":
      if (method.password !== null) return fieldLabel(method.usernameLabel);
      return method.username === null || method.username.includes("{")
        ? joinLabels([method.usernameLabel, method.passwordLabel])
        : fieldLabel(method.passwordLabel);
    case "aws_sigv4":
      return translate("method.amazon");
  }
}

/** The failures with texts of their own: `failure.<name>.title` and `failure.<name>.text`. */
type FailureName = Extract<TextKey, `failure.${string}.title`> extends `failure.${infer Name}.title` ? Name : never;

/** Who must act, if not the user. For `nobody`, the network of either side may have failed. */
const ACTORS: { [Name in FailureName]?: Actor } = {
  connection_limit: "app",
  client_rejected: "app",
  request_rejected: "app",
  oauth_client_missing: "app",
  platform_not_found: "app",
  insufficient_scope: "app",
  invalid_answer: "app",
  platform_unreachable: "nobody",
  platform_timeout: "nobody",
  platform_unavailable: "nobody",
  internal: "app",
  no_response: "nobody",
  rejected: "app",
  service: "nobody",
  other: "nobody",
};

/** Maps codes to the failure whose texts they use. */
const SAME_TEXTS: Record<string, FailureName> = {
  changed: "interrupted",
  code_rejected: "interrupted",
  issuer_mismatch: "invalid_answer",
};

/** Failures that only this window reports. A code of the service with the same name has the default texts. */
const LOCAL_FAILURES = new Set(["internal", "offline", "no_response", "rejected", "service", "other"]);

function getFailureName(code: string): FailureName | undefined {
  const name = SAME_TEXTS[code] ?? code;
  return template(`failure.${name}.title`) !== "" && !LOCAL_FAILURES.has(name) ? (name as FailureName) : undefined;
}

const MORE_PRECISE_DETAILS: readonly FailureName[] = ["account_mismatch", "other", "rejected"];

/**
 * Returns the texts of a failure. For some, uses the service's message if the page is in English, because it is more
 * precise than the text for the code.
 */
const getFailureText = (name: FailureName, platform: string, detail = "") => ({
  title: translate(`failure.${name}.title`, { platform }),
  text:
    language === "en" && detail !== "" && MORE_PRECISE_DETAILS.includes(name)
      ? detail
      : translate(`failure.${name}.text`, { platform }),
  actor: ACTORS[name] ?? "user",
});

export function attemptFailureText({ code, detail }: { code: string; detail: string }, platform: string): FailureText {
  return { ...getFailureText(getFailureName(code) ?? "other", platform, detail), code, detail };
}

export function requestFailureText(error: unknown, platform: string): FailureText {
  if (!(error instanceof ApiError))
    return { ...getFailureText("internal", platform), code: "internal", detail: String(error) };
  const { code, message: detail, requestId, status, connectionId } = error;
  const details = { code, detail, requestId, connectionId };
  const isRejected = status !== undefined && status >= 400 && status < 500;
  const offlineName = navigator.onLine ? "no_response" : "offline";
  const name = getFailureName(code) ?? (status === undefined ? offlineName : isRejected ? "rejected" : "service");
  return { ...getFailureText(name, platform, detail), ...details };
}
