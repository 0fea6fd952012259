import { explainError } from "../components/error-message";
import { getFaults, formatFault } from "../components/faults";

/** The error after a failed save. `consequence` says what happened to the changes. */
export function SaveError({ error, consequence }: { error: unknown; consequence: string }) {
  const { title, detail } = explainError(error);
  return (
    <p class="note" data-tone="bad" role="alert">
      {title}. {getFaults(error).map(formatFault).join(" ") || detail} {consequence}
    </p>
  );
}
