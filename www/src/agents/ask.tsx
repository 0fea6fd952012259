import type { AgentGrant } from "connector-vault/slim";
import { NotFoundError } from "connector-vault/slim";
import { Ask } from "../parts/ask";
import { told } from "../parts/failure";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";
import { useAgentsChanged } from "./hooks";

interface Props {
  onClose: () => void;
  onDone: () => void;
  focusAfter: () => HTMLElement | null;
}

/** What an agent calls itself, or where its description is. */
export const nameOf = ({ client }: AgentGrant) => client.name ?? client.url ?? "An unnamed program";

/** Asks before a grant ends. */
export function EndGrant({ grant, onClose, onDone, focusAfter }: Props & { grant: AgentGrant }) {
  const { vault } = useSession();
  const changed = useAgentsChanged();
  const done = () => {
    void changed();
    onDone();
  };
  const ending = useOnce({
    mutationFn: () => vault.agentGrants.delete(grant.id),
    onSuccess: done,
    onError: (error) => error instanceof NotFoundError && done(),
  });
  return (
    <Ask
      title="End this grant?"
      once={ending}
      words={{ keep: "Keep it", confirm: "End grant", pending: "Ending…" }}
      isDanger
      failure={(error) => !(error instanceof NotFoundError) && `${told(error)} It may not have ended. Try again.`}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        <strong>{nameOf(grant)}</strong> can't use the connections of <strong>{grant.identity}</strong> from now on. To
        use them again, it has to ask the user.
      </p>
    </Ask>
  );
}

/** Asks before sign-in is switched off. */
export function SwitchOff({ onClose, onDone, focusAfter }: Props) {
  const { vault } = useSession();
  const changed = useAgentsChanged();
  const done = () => {
    void changed();
    onDone();
  };
  const switching = useOnce({
    mutationFn: () => vault.agentSignIn.delete(),
    onSuccess: done,
    onError: (error) => error instanceof NotFoundError && done(),
  });
  return (
    <Ask
      title="Switch sign-in off?"
      once={switching}
      words={{ keep: "Keep it on", confirm: "Switch off", pending: "Switching off…" }}
      isDanger
      failure={(error) => !(error instanceof NotFoundError) && `${told(error)} It may still be on. Try again.`}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p>
        Every grant ends now, and agents can't sign in. The address stays the same if you switch it on again; users then
        have to sign in once more.
      </p>
    </Ask>
  );
}
