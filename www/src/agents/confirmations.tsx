import type { AgentGrant } from "connector-vault/slim";
import { NotFoundError } from "connector-vault/slim";
import { Confirm } from "../components/confirm";
import { describeError } from "../components/error-message";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { useInvalidateAgents } from "./hooks";

interface Props {
  onClose: () => void;
  onDone: () => void;
  focusAfter: () => HTMLElement | null;
}

/** The agent's name, or the URL of its description. */
export const agentName = ({ client }: AgentGrant) => client.name ?? client.url ?? "An unnamed program";

export function RevokeGrant({ grant, onClose, onDone, focusAfter }: Props & { grant: AgentGrant }) {
  const { vault } = useSession();
  const invalidate = useInvalidateAgents();
  const done = () => {
    void invalidate();
    onDone();
  };
  const revocation = useSingleFlight({
    mutationFn: () => vault.agentGrants.delete(grant.id),
    onSuccess: done,
    onError: (error) => error instanceof NotFoundError && done(),
  });
  return (
    <Confirm
      title="Revoke this grant?"
      mutation={revocation}
      labels={{ cancel: "Keep it", confirm: "Revoke grant", pending: "Revoking…" }}
      isDestructive
      errorText={(error) =>
        !(error instanceof NotFoundError) && `${describeError(error)} It may not have been revoked. Try again.`
      }
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        <strong>{agentName(grant)}</strong> will no longer have access to the connections of{" "}
        <strong>{grant.identity}</strong>. To get access again, it must ask the user.
      </p>
    </Confirm>
  );
}

export function DisableSignIn({ onClose, onDone, focusAfter }: Props) {
  const { vault } = useSession();
  const invalidate = useInvalidateAgents();
  const done = () => {
    void invalidate();
    onDone();
  };
  const disabling = useSingleFlight({
    mutationFn: () => vault.agentSignIn.delete(),
    onSuccess: done,
    onError: (error) => error instanceof NotFoundError && done(),
  });
  return (
    <Confirm
      title="Turn off sign-in?"
      mutation={disabling}
      labels={{ cancel: "Keep it on", confirm: "Turn off", pending: "Turning off…" }}
      isDestructive
      errorText={(error) =>
        !(error instanceof NotFoundError) && `${describeError(error)} It may still be on. Try again.`
      }
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p>
        This revokes all grants, and agents can no longer sign in. If you turn it on again, the address stays the same,
        but users must sign in again.
      </p>
    </Confirm>
  );
}
