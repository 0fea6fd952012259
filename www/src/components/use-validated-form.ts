// Forms that show what is wrong with them once somebody has tried to send them.
import type { Fault } from "connector-vault/slim";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { faultsOf } from "./faults";
import { useFocusFirst } from "./modal";
import type { useSingleFlight } from "./use-single-flight";

type Mutation = Pick<ReturnType<typeof useSingleFlight<unknown, never>>, "error" | "isError" | "isInFlight" | "reset">;

/**
 * The state of a form that asks for a change. `own` are the faults that show without the service; `isValid` says whether the
 * change may be asked for, if that takes more than that there are none.
 */
export function useValidatedForm(change: Mutation, localFaults: readonly Fault[], isValid = localFaults.length === 0) {
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  const [isSubmitted, setSubmitted] = useState(false);
  const { error } = change;
  const focusFirstFault = () =>
    setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-wrong] input')?.focus());
  useEffect(() => {
    if (faultsOf(error).length > 0) focusFirstFault();
  }, [error]);
  return {
    form,
    isTried: isSubmitted,
    faults: isSubmitted ? [...localFaults, ...faultsOf(error)] : [],
    /** Changes what is filled in, unless the change is asked for already. */
    edit: (fill: () => void) => {
      if (change.isInFlight()) return;
      fill();
      if (change.isError) change.reset();
    },
    submit: (send: () => void) => (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
      event.preventDefault();
      setSubmitted(true);
      if (isValid) send();
      else focusFirstFault();
    },
  };
}
