import type { DecidedCall, PlatformCall, VaultEvent } from "connector-vault/slim";
import { Reason } from "./reason";

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

export function EventDetails({ event: { data } }: { event: VaultEvent }) {
  return (
    <>
      {data.reason && (
        <p class="small">
          <Reason reason={{ ...data.reason, detail: data.reason.detail ?? REASON_TEXTS[data.reason.code] ?? null }} />
        </p>
      )}
      {"call" in data &&
        ("approval" in data.call ? <DecidedCallLine call={data.call} /> : <PlatformCallLine call={data.call} />)}
    </>
  );
}

function DecidedCallLine({ call: { method, action, identity } }: { call: DecidedCall }) {
  return (
    <p class="small">
      <code>{method}</code> <code>{action}</code> <span class="muted">decided by {identity}</span>
    </p>
  );
}

function PlatformCallLine({ call: { method, action, path, status, error, durationMs } }: { call: PlatformCall }) {
  return (
    <p class="small">
      <code>{method}</code> <code>{action ?? path}</code>{" "}
      <span class="muted">
        {status === null ? <>no response: {error}</> : <>HTTP status {status}</>} after{" "}
        {durationMs.toLocaleString("en")} ms
      </span>
    </p>
  );
}
