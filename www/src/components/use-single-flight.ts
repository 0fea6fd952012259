// Mutations that can't run twice concurrently, for users who press twice or leave before the response arrives.
import { useMutation, type MutationFunction, type UseMutationOptions } from "@tanstack/preact-query";
import { useEffect, useRef } from "preact/hooks";

/** A mutation that ignores further calls while it runs. A ref guards it, because `isPending` is rendered too late. */
export function useSingleFlight<Data, Variables = void>(
  options: Omit<UseMutationOptions<Data, unknown, Variables>, "onSettled" | "mutationFn"> & {
    mutationFn: MutationFunction<Data, Variables>;
  },
) {
  const inFlight = useRef(false);
  // The query library applies new options only after rendering. Without this, Enter right after the last keystroke
  // would send the previous input.
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

/** Whether the component is still mounted. A late response must not navigate a user who has left. */
export function useIsMounted(): () => boolean {
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => void (isMounted.current = false);
  }, []);
  return () => isMounted.current;
}
