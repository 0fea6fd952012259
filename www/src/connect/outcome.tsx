import type { ComponentChildren } from "preact";
import { DEFAULT_APP_NAME, type FailureText, type Actor, capitalize } from "./messages";
import { Step } from "./step";

/** A failure: what happened, who must act, and what to do. */
export function FailedStep({
  failure,
  app,
  children,
}: {
  failure: FailureText;
  app: string;
  children: ComponentChildren;
}) {
  const { title, text, actor, code, detail, requestId } = failure;
  return (
    <Step title={title} icon={<StatusIcon tone={actor === "app" ? "bad" : "warn"}>!</StatusIcon>}>
      <p>{text}</p>
      {actor !== "user" && <p>{adviceFor(actor, app)}</p>}
      <div class="buttons">{children}</div>
      <details class="small">
        <summary>Details</summary>
        {detail !== undefined && detail !== text && <p>{detail}</p>}
        <p class="muted">
          Error <code>{code}</code>
        </p>
        {requestId !== undefined && (
          <p class="muted">
            Request <code>{requestId}</code>
          </p>
        )}
      </details>
    </Step>
  );
}

const adviceFor = (actor: Actor, app: string) =>
  actor === "app"
    ? `You can't fix this here. Contact the people behind ${app}; the details below will help them.`
    : "This is not your fault. Try again in a few minutes.";

export const StatusIcon = ({ tone, children }: { tone: "good" | "warn" | "bad"; children: ComponentChildren }) => (
  <span class="status-icon" data-tone={tone} aria-hidden="true">
    {children}
  </span>
);

/** Reasons why the window can't be used. */
export const END_TITLES = {
  missing: "Open this window again",
  damaged: "This link is damaged",
  expired: "This window has expired",
  used: "This link no longer works",
  returned: "You can close this window",
  forbidden: "This link can't connect accounts",
} as const;

export type EndReason = keyof typeof END_TITLES;

export function EndedStep({ reason, app, children }: { reason: EndReason; app: string; children?: ComponentChildren }) {
  // The reader may not have seen the app.
  const origin = app === DEFAULT_APP_NAME ? "the app" : app;
  const text = {
    missing: `Leaving or reloading it clears its data. Go back to ${origin} and open it there.`,
    damaged: `Part of it is missing or was changed. Go back to ${origin} and open it there.`,
    expired: `For your security, it works for a short time only. Go back to ${origin} and open it again.`,
    used: `It works once and for a short time only. Go back to ${origin} and start again.`,
    returned: `Go back to ${origin}: it shows whether the account is connected.`,
    forbidden: `${capitalize(app)} created it for another purpose. Contact the people behind ${app}: the token needs the scopes connections:connect and catalog:read.`,
  }[reason];
  return (
    <Step title={END_TITLES[reason]} icon={<StatusIcon tone="warn">!</StatusIcon>}>
      <p>{text}</p>
      <div class="buttons">{children}</div>
    </Step>
  );
}
