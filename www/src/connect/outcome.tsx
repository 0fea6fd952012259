import type { ComponentChildren } from "preact";
import type { FailureText } from "./messages";
import { Step } from "./step";
import { TranslatedText, translate } from "./texts";

/** The step after a failure: what happened, who must act, and what to do. */
export function FailedStep({ failure, children }: { failure: FailureText; children: ComponentChildren }) {
  const { title, text, actor } = failure;
  return (
    <Step title={title} icon={<StatusIcon tone={actor === "app" ? "bad" : "warn"}>!</StatusIcon>}>
      <p>{text}</p>
      {actor !== "user" && <p>{translate(`advice.${actor}`)}</p>}
      <div class="buttons">{children}</div>
      <FailureDetails failure={failure} />
    </Step>
  );
}

/** The service's message, and what support needs. Open if only the message, in English, names the expected account. */
export function FailureDetails({ failure: { text, code, detail, requestId } }: { failure: FailureText }) {
  const hasDetail = detail !== undefined && detail !== text;
  return (
    <details class="small" open={hasDetail && code === "account_mismatch"}>
      <summary>{translate("details")}</summary>
      {hasDetail && <p lang="en">{detail}</p>}
      <p class="muted">
        <TranslatedText text="errorCode" values={{ code: <code>{code}</code> }} />
      </p>
      {requestId !== undefined && (
        <p class="muted">
          <TranslatedText text="requestId" values={{ id: <code>{requestId}</code> }} />
        </p>
      )}
    </details>
  );
}

export const StatusIcon = ({ tone, children }: { tone: "good" | "warn" | "bad"; children: ComponentChildren }) => (
  <span class="status-icon" data-tone={tone} aria-hidden="true">
    {children}
  </span>
);

/** Why the window can't be used, or not any longer. */
export type EndReason = "missing" | "damaged" | "expired" | "used" | "returned" | "forbidden";

export function EndedStep({ reason, children }: { reason: EndReason; children?: ComponentChildren }) {
  return (
    <Step title={translate(`end.${reason}.title`)} icon={<StatusIcon tone="warn">!</StatusIcon>}>
      <p>{translate(`end.${reason}.text`)}</p>
      <div class="buttons">{children}</div>
    </Step>
  );
}
