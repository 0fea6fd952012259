import { explainError } from "../components/error-message";
import { faultsOf, faultMessage } from "../components/faults";

/** Reports that a change could not be saved, and why. `rest`: what has become of it. */
export function SaveError({ error, consequence }: { error: unknown; consequence: string }) {
  const { title, detail } = explainError(error);
  return (
    <p class="note" data-tone="bad" role="alert">
      {title}. {faultsOf(error).map(faultMessage).join(" ") || detail} {consequence}
    </p>
  );
}
