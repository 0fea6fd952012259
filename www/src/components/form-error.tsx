import { describeError } from "./error-message";
import { getFaults } from "./faults";

/** The error after a failed submit. `hint` says what to check before trying again. */
export const FormError = ({ error, hint }: { error: unknown; hint?: string }) => (
  <p class="note" data-tone="bad" role="alert">
    {getFaults(error).length > 0
      ? "The service rejected this. Check the marked fields above."
      : [describeError(error), hint].filter(Boolean).join(" ")}
  </p>
);
