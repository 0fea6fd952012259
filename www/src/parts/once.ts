// Changes, for people who press twice, and go on before the answer is there.
import { useMutation, type UseMutationOptions } from "@tanstack/preact-query";
import { useEffect, useRef } from "preact/hooks";

/** A change that is asked for once, however fast its button is pressed again: what is drawn says so only later. */
export function useOnce<Data, Variables = void>(
  options: Omit<UseMutationOptions<Data, unknown, Variables>, "onSettled">,
) {
  const isAsked = useRef(false);
  const mutation = useMutation<Data, unknown, Variables>({
    ...options,
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
