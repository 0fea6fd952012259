// Forms that show what is wrong with them once somebody has tried to send them.
import type { Fault } from "connector-vault/slim";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { faultsOf } from "./faults";
import { useFocusFirst } from "./modal";
import type { useOnce } from "./once";

type Change = Pick<ReturnType<typeof useOnce<unknown, never>>, "error" | "isError" | "isAsked" | "reset">;

/**
 * The state of a form that asks for a change. `own` are the faults that show without the service; `isValid` says whether the
 * change may be asked for, if that takes more than that there are none.
 */
export function useCheckedForm(change: Change, own: readonly Fault[], isValid = own.length === 0) {
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  const [isTried, setTried] = useState(false);
  const { error } = change;
  const focusFault = () =>
    setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-wrong] input')?.focus());
  useEffect(() => {
    if (faultsOf(error).length > 0) focusFault();
  }, [error]);
  return {
    form,
    isTried,
    faults: isTried ? [...own, ...faultsOf(error)] : [],
    /** Changes what is filled in, unless the change is asked for already. */
    edit: (fill: () => void) => {
      if (change.isAsked()) return;
      fill();
      if (change.isError) change.reset();
    },
    submit: (ask: () => void) => (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
      event.preventDefault();
      setTried(true);
      if (isValid) ask();
      else focusFault();
    },
  };
}
