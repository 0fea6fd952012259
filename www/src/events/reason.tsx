import type { EventReason } from "connector-vault/slim";

export const Reason = ({ reason: { code, detail, httpStatus } }: { reason: EventReason }) => (
  <>
    {detail} <code>{code}</code>
    {httpStatus !== null && <span class="muted"> HTTP status {httpStatus}</span>}
  </>
);
