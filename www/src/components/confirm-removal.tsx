import { NotFoundError } from "connector-vault/slim";
import type { ComponentChildren, ComponentProps } from "preact";
import { Confirm } from "./confirm";
import { describeError } from "./error-message";
import { useSingleFlight } from "./use-single-flight";

interface Props extends Pick<ComponentProps<typeof Confirm>, "title" | "labels" | "onClose" | "fallbackFocus"> {
  remove: () => Promise<unknown>;
  /** Called after the removal, also if someone else had removed the object before. */
  onDone: () => void;
  /** A sentence after an error message, such as "It may not have been deleted." */
  hint: string;
  children: ComponentChildren;
}

/** A dialog that asks for confirmation before an object is removed. */
export function ConfirmRemoval({ remove, onDone, hint, ...confirm }: Props) {
  const isGone = (error: unknown) => error instanceof NotFoundError;
  const removal = useSingleFlight({
    mutationFn: remove,
    onSuccess: onDone,
    onError: (error) => isGone(error) && onDone(),
  });
  return (
    <Confirm
      {...confirm}
      mutation={removal}
      isDestructive
      errorText={(error) => !isGone(error) && `${describeError(error)} ${hint} Try again.`}
    />
  );
}
