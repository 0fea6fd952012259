import { NotFoundError } from "connector-vault/slim";
import { Confirm } from "../components/confirm";
import { describeError } from "../components/error-message";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { useInvalidateClients } from "./hooks";

interface Props {
  platform: string;
  name: string;
  onClose: () => void;
  onDeleted: () => void;
  focusAfter: () => HTMLElement | null;
}

export function DeleteClient({ platform, name, onClose, onDeleted, focusAfter }: Props) {
  const { vault } = useSession();
  const invalidate = useInvalidateClients();
  const finish = () => {
    void invalidate();
    onDeleted();
  };
  const deleting = useSingleFlight({
    mutationFn: () => vault.oauthClients.delete(platform),
    onSuccess: finish,
    // It was already deleted.
    onError: (error) => error instanceof NotFoundError && finish(),
  });
  return (
    <Confirm
      title={`Delete the OAuth client for ${name}?`}
      mutation={deleting}
      labels={{ cancel: "Keep it", confirm: "Delete OAuth client", pending: "Deleting…" }}
      isDestructive
      errorText={(error) =>
        !(error instanceof NotFoundError) && `${describeError(error)} It may not have been deleted. Try again.`
      }
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        Its secret is erased. Until you set another client, users can't connect to <strong>{name}</strong> through
        OAuth, and existing connections stop working when their access tokens expire.
      </p>
    </Confirm>
  );
}
