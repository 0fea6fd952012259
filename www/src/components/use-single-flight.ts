// Changes, for people who press twice, and go on before the answer is there.
import { useMutation, type MutationFunction, type UseMutationOptions } from "@tanstack/preact-query";
import { useEffect, useRef } from "preact/hooks";

/** A change that is asked for once, however fast its button is pressed again: what is drawn says so only later. */
export function useSingleFlight<Data, Variables = void>(
  options: Omit<UseMutationOptions<Data, unknown, Variables>, "onSettled" | "mutationFn"> & {
    mutationFn: MutationFunction<Data, Variables>;
  },
) {
  const inFlight = useRef(false);
  // The query library takes over new options after the page was drawn: Enter right after the last letter would ask with
  // what was there before.
  const latest = useRef(options.mutationFn);
  latest.current = options.mutationFn;
  const mutation = useMutation<Data, unknown, Variables>({
    ...options,
    mutationFn: (...given) => latest.current(...given),
    onSettled: () => void (inFlight.current = false),
  });
  const run = (variables: Variables) => {
    if (inFlight.current) return;
    inFlight.current = true;
    mutation.mutate(variables);
  };
  return { ...mutation, run: run, isInFlight: () => inFlight.current };
}

/** Whether somebody still looks at what asked: whoever has gone on is not to be led anywhere by a late answer. */
export function useIsMounted(): () => boolean {
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => void (isMounted.current = false);
  }, []);
  return () => isMounted.current;
}
