// Changes, for people who press twice, and go on before the answer is there.
import { useMutation, type MutationFunction, type UseMutationOptions } from "@tanstack/preact-query";
import { useEffect, useRef } from "preact/hooks";

/** A change that is asked for once, however fast its button is pressed again: what is drawn says so only later. */
export function useOnce<Data, Variables = void>(
  options: Omit<UseMutationOptions<Data, unknown, Variables>, "onSettled" | "mutationFn"> & {
    mutationFn: MutationFunction<Data, Variables>;
  },
) {
  const isAsked = useRef(false);
  // The query library takes over new options after the page was drawn: Enter right after the last letter would ask with
  // what was there before.
  const latest = useRef(options.mutationFn);
  latest.current = options.mutationFn;
  const mutation = useMutation<Data, unknown, Variables>({
    ...options,
    mutationFn: (...given) => latest.current(...given),
    onSettled: () => void (isAsked.current = false),
  });
  const ask = (variables: Variables) => {
    if (isAsked.current) return;
    isAsked.current = true;
    mutation.mutate(variables);
  };
  return { ...mutation, ask, isAsked: () => isAsked.current };
}

/** Whether somebody still looks at what asked: whoever has gone on is not to be led anywhere by a late answer. */
export function useIsThere(): () => boolean {
  const isThere = useRef(true);
  useEffect(() => {
    isThere.current = true;
    return () => void (isThere.current = false);
  }, []);
  return () => isThere.current;
}
