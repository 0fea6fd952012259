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
      title="End this grant?"
      mutation={revocation}
      labels={{ cancel: "Keep it", confirm: "End grant", pending: "Ending…" }}
      isDestructive
      errorText={(error) =>
        !(error instanceof NotFoundError) && `${describeError(error)} It may not have ended. Try again.`
      }
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        <strong>{agentName(grant)}</strong> can't use the connections of <strong>{grant.identity}</strong> from now on.
        To use them again, it has to ask the user.
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
      title="Switch sign-in off?"
      mutation={disabling}
      labels={{ cancel: "Keep it on", confirm: "Switch off", pending: "Switching off…" }}
      isDestructive
      errorText={(error) =>
        !(error instanceof NotFoundError) && `${describeError(error)} It may still be on. Try again.`
      }
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p>
        Every grant ends now, and agents can't sign in. The address stays the same if you switch it on again; users then
        have to sign in once more.
      </p>
    </Confirm>
  );
}
