// Texts about methods and failures, for users who do not know this service: what happened, who must act, and what to
// do.
import type { AuthMethod } from "connector-vault/slim";
import { ApiError } from "./api-client";

/** Display names. */
export interface Names {
  platform: string;
  /** The app's name, or `DEFAULT_APP_NAME`. */
  app: string;
}

/** Used if the operator has not configured a name. */
export const DEFAULT_APP_NAME = "this app";

/** Who must act on a failure: the user, the app's team, or neither. */
export type Actor = "user" | "app" | "nobody";

export interface FailureText {
  title: string;
  text: string;
  actor: Actor;
  code: string;
  /** The service's own message, for the app's team. */
  detail?: string | undefined;
  requestId?: string | undefined;
  /** The existing connection. */
  connectionId?: string | undefined;
}

export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const uncapitalize = (text: string) => (/^.[A-Z]/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1));

export function methodTitle(method: AuthMethod, platform: string): string {
  const labelOf = (name: string) => method.fields.find((field) => field.name === name)?.label;
  // Some platforms need several secrets.
  const secrets = method.fields.filter(({ secret, required }) => secret && required).map(({ label }) => label);
  const joined = secrets.map((label, index) => (index === 0 ? label : uncapitalize(label))).join(" and ");
  switch (method.type) {
    case "oauth2":
      return method.grant === "client_credentials" ? `Access to the whole account` : `Sign in with ${platform}`;
    case "api_key":
      return joined || (labelOf("apiKey") ?? "API key");
    case "bearer":
      return joined || (labelOf("token") ?? "Access token");
    case "basic":
      if (method.password !== null) return method.usernameLabel;
      return method.username === null || method.username.includes("{")
        ? `${method.usernameLabel} and ${uncapitalize(method.passwordLabel)}`
        : method.passwordLabel;
    case "aws_sigv4":
      return "Amazon keys";
  }
}

type CodeText = readonly [title: string, text: string, actor: Actor];

/** Title, explanation and actor for a code of an attempt or a request. */
function textForCode(code: string, { platform, app }: Names): CodeText | undefined {
  switch (code) {
    case "denied":
      return [
        "You did not allow access",
        `${platform} reports that you did not allow access. To connect, try again and allow it.`,
        "user",
      ];
    case "account_mismatch":
      return [
        "This is a different account",
        `You signed in to ${platform} with a different account than expected. Sign out there, then try again with the right one.`,
        "user",
      ];
    case "interrupted":
    case "changed":
    case "code_rejected":
      return ["The sign-in was interrupted", "Nothing has changed. Start again.", "user"];
    case "expired":
      return ["The sign-in took too long", "You have 10 minutes to sign in. Start again.", "user"];
    case "connection_exists":
      return [
        `${platform} is already connected`,
        `You can reconnect it, for example after a change at ${platform}.`,
        "user",
      ];
    case "connection_not_found":
      return ["This connection no longer exists", "You can connect the account again.", "user"];
    case "connection_limit":
      return [`${platform} can't be connected now`, `${capitalize(app)} can't store more connections.`, "app"];
    case "client_rejected":
      return [
        `${platform} does not accept ${app}`,
        `${capitalize(app)} is not set up correctly at ${platform}.`,
        "app",
      ];
    case "request_rejected":
      return [
        `${platform} refused access`,
        `${capitalize(app)} asks for permissions that ${platform} does not grant.`,
        "app",
      ];
    case "oauth_client_missing":
      return [
        `Signing in with ${platform} is not set up`,
        `${capitalize(app)} has not finished its registration with ${platform}.`,
        "app",
      ];
    case "platform_not_found":
      return [`${platform} can't be connected here`, `${capitalize(app)} does not offer it.`, "app"];
    case "insufficient_scope":
      return ["This can't be connected from here", `${capitalize(app)} has not allowed it for this window.`, "app"];
    case "invalid_answer":
    case "issuer_mismatch":
      return [`${platform} sent an unusable response`, "The sign-in can't be completed.", "app"];
    case "platform_unreachable":
      // It is unknown whose network failed.
      return [
        `${platform} can't be reached`,
        `The service could not connect to ${platform}. Nothing has changed.`,
        "nobody",
      ];
    case "platform_timeout":
      return [`${platform} did not respond in time`, "Nothing has changed.", "nobody"];
    case "platform_unavailable":
      return [
        `Sign-in with ${platform} is temporarily unavailable`,
        `${platform} can't be reached from here, or has a problem. Nothing has changed.`,
        "nobody",
      ];
    case "too_many_requests":
      return ["Too many attempts", "Wait a few minutes, then try again.", "user"];
    default:
      return undefined;
  }
}

export function attemptFailureText({ code, detail }: { code: string; detail: string }, names: Names): FailureText {
  const [title, text, actor] = textForCode(code, names) ?? [`${names.platform} is not connected`, detail, "nobody"];
  return { title, text, actor, code, detail };
}

export function requestFailureText(error: unknown, names: Names): FailureText {
  if (!(error instanceof ApiError))
    return {
      title: "This window failed",
      text: "Nothing has changed. Close this window and open it again.",
      actor: "app",
      code: "internal",
      detail: String(error),
    };
  const { code, message: detail, requestId, status, connectionId } = error;
  const more = { code, detail, requestId, connectionId };
  if (code === "credentials_rejected")
    return { title: `${names.platform} does not accept this`, text: detail, actor: "user", ...more };
  const texts = textForCode(code, names);
  if (texts) return { title: texts[0], text: texts[1], actor: texts[2], ...more };
  if (status === undefined && !navigator.onLine)
    return { title: "You are offline", text: "Connect to the internet, then try again.", actor: "user", ...more };
  if (status === undefined)
    return { title: "The service can't be reached", text: "Nothing has changed.", actor: "nobody", ...more };
  return status >= 400 && status < 500
    ? { title: "This did not work", text: detail, actor: "app", ...more }
    : { title: "The service has a problem", text: "Nothing has changed.", actor: "nobody", ...more };
}
