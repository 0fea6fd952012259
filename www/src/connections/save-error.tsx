import { explainError } from "../components/error-message";
import { faultsOf, faultMessage } from "../components/faults";

/** The error after a failed save. `consequence` says what happened to the changes. */
export function SaveError({ error, consequence }: { error: unknown; consequence: string }) {
  const { title, detail } = explainError(error);
  return (
    <p class="note" data-tone="bad" role="alert">
      {title}. {faultsOf(error).map(faultMessage).join(" ") || detail} {consequence}
    </p>
  );
}
