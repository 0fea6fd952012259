import type { useSingleFlight } from "./use-single-flight";

/** The Cancel and Save buttons of a form. Both are disabled while it is being saved. */
export const SaveButtons = ({
  saving,
  onCancel,
}: {
  saving: Pick<ReturnType<typeof useSingleFlight>, "isPending" | "isInFlight">;
  onCancel: () => void;
}) => (
  <div class="buttons">
    <button type="button" aria-disabled={saving.isPending} onClick={() => !saving.isInFlight() && onCancel()}>
      Cancel
    </button>
    <button type="submit" class="primary" aria-disabled={saving.isPending}>
      {saving.isPending ? "Saving…" : "Save"}
    </button>
  </div>
);
