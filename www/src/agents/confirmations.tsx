import type { AgentGrant } from "connector-vault/slim";
import { ConfirmRemoval } from "../components/confirm-removal";
import { useSession } from "../session/session";
import { useInvalidateAgents } from "./hooks";

interface Props {
  onClose: () => void;
  onDone: () => void;
  fallbackFocus: () => HTMLElement | null;
}

/** The agent's name, or its URL if it has no name. */
export const agentName = ({ client }: AgentGrant) => client.name ?? client.url ?? "An unnamed program";

export function RevokeGrant({ grant, onDone, ...rest }: Props & { grant: AgentGrant }) {
  const { vault } = useSession();
  const invalidate = useInvalidateAgents();
  return (
    <ConfirmRemoval
      {...rest}
      title="Revoke this grant?"
      labels={{ cancel: "Keep it", confirm: "Revoke grant", pending: "Revoking…" }}
      remove={() => vault.agentGrants.delete(grant.id)}
      hint="It may not have been revoked."
      onDone={() => {
        void invalidate();
        onDone();
      }}
    >
      <p class="break-words">
        <strong>{agentName(grant)}</strong> will no longer have access to the connections of{" "}
        <strong>{grant.identity}</strong>. To get access again, it must ask the user.
      </p>
    </ConfirmRemoval>
  );
}

export function DisableSignIn({ onDone, ...rest }: Props) {
  const { vault } = useSession();
  const invalidate = useInvalidateAgents();
  return (
    <ConfirmRemoval
      {...rest}
      title="Turn off sign-in?"
      labels={{ cancel: "Keep it on", confirm: "Turn off", pending: "Turning off…" }}
      remove={() => vault.agentSignIn.delete()}
      hint="It may still be on."
      onDone={() => {
        void invalidate();
        onDone();
      }}
    >
      <p>
        This revokes all grants, and agents can no longer sign in. If you turn it on again, the address stays the same,
        but users must sign in again.
      </p>
    </ConfirmRemoval>
  );
}
