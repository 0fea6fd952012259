// Mutations that ignore a second press of the button, and responses that arrive after the user has left.
import { useMutation, type MutationFunction, type UseMutationOptions } from "@tanstack/preact-query";
import { useEffect, useRef } from "preact/hooks";

/**
 * A mutation that ignores other calls while it runs. Uses a ref, because `isPending` changes only with the next render.
 */
export function useSingleFlight<Data, Variables = void>(
  options: Omit<UseMutationOptions<Data, unknown, Variables>, "onSettled" | "mutationFn"> & {
    mutationFn: MutationFunction<Data, Variables>;
  },
) {
  const inFlight = useRef(false);
  // The query library applies new options only after rendering. Without this ref, Enter right after a keystroke would
  // send the previous input.
  const latest = useRef(options.mutationFn);
  latest.current = options.mutationFn;
  const mutation = useMutation<Data, unknown, Variables>({
    ...options,
    mutationFn: (...parameters) => latest.current(...parameters),
    onSettled: () => void (inFlight.current = false),
  });
  const run = (variables: Variables) => {
    if (inFlight.current) return;
    inFlight.current = true;
    mutation.mutate(variables);
  };
  return { ...mutation, run, isInFlight: () => inFlight.current };
}

/** Returns whether the component is still mounted, because a late response must not navigate a user who has left. */
export function useIsMounted(): () => boolean {
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => void (isMounted.current = false);
  }, []);
  return () => isMounted.current;
}
