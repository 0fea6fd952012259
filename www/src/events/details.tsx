import type { DecidedCall, PlatformCall, VaultEvent } from "connector-vault/slim";
import { Reason } from "./reason";

export function EventDetails({ event: { data } }: { event: VaultEvent }) {
  return (
    <>
      {data.reason && (
        <p class="small">
          <Reason reason={data.reason} />
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
