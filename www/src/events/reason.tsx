import type { EventReason } from "connector-vault/slim";

/** Why a connection is as it is. */
export const Reason = ({ reason: { code, detail, httpStatus } }: { reason: EventReason }) => (
  <>
    {detail} <code>{code}</code>
    {httpStatus !== null && <span class="muted"> HTTP status {httpStatus}</span>}
  </>
);
