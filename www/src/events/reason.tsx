import type { EventReason } from "connector-vault/slim";

/** Texts for reasons without a `detail`, by code. */
const REASON_TEXTS: Record<string, string> = {
  platform_unavailable: "The platform can't be reached.",
  invalid_answer: "The platform's response can't be read.",
  grant_rejected: "The platform rejected the refresh token once.",
  grant_ended: "The platform rejects the refresh token.",
  credentials_rejected: "The platform rejected the credentials.",
  not_checked: "The platform did not report whether it accepts the credentials.",
  client_rejected: "The platform rejects the OAuth client.",
  request_rejected: "The platform rejects the request.",
  reported: "The state was reported.",
};

export const Reason = ({ reason: { code, detail, httpStatus } }: { reason: EventReason }) => (
  <>
    {detail ?? REASON_TEXTS[code]} <code>{code}</code>
    {httpStatus !== null && <span class="muted"> HTTP status {httpStatus}</span>}
  </>
);
