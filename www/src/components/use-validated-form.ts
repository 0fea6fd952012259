// The state of forms that show validation errors after the first submit.
import type { Fault } from "connector-vault/slim";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { getFaults } from "./faults";
import { useFocusFirst } from "./modal";
import type { useSingleFlight } from "./use-single-flight";

type Mutation = Pick<ReturnType<typeof useSingleFlight<unknown, never>>, "error" | "isError" | "isInFlight" | "reset">;

/**
 * State of a form that submits a mutation. `localFaults` are errors that were found without a request. By default, a
 * form without them is valid.
 */
export function useValidatedForm(change: Mutation, localFaults: readonly Fault[], isValid = localFaults.length === 0) {
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  const [isSubmitted, setSubmitted] = useState(false);
  const { error } = change;
  const focusFirstFault = () =>
    setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid] input')?.focus());
  useEffect(() => {
    if (getFaults(error).length > 0) focusFirstFault();
  }, [error]);
  return {
    form,
    isSubmitted,
    faults: isSubmitted ? [...localFaults, ...getFaults(error)] : [],
    /** Applies a user's change, unless the form is being submitted. */
    edit: (applyChange: () => void) => {
      if (change.isInFlight()) return;
      applyChange();
      if (change.isError) change.reset();
    },
    submit: (submitValid: () => void) => (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
      event.preventDefault();
      setSubmitted(true);
      if (isValid) submitValid();
      else focusFirstFault();
    },
  };
}
