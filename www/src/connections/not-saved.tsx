import { explain } from "../parts/failure";
import { faultsOf, sentence } from "../parts/faults";

/** Reports that a change could not be saved, and why. `rest`: what has become of it. */
export function NotSaved({ error, rest }: { error: unknown; rest: string }) {
  const { title, detail } = explain(error);
  return (
    <p class="note" data-tone="bad" role="alert">
      {title}. {faultsOf(error).map(sentence).join(" ") || detail} {rest}
    </p>
  );
}
