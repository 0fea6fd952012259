import { useQueryClient } from "@tanstack/preact-query";
import { NotFoundError, RateLimitError, VaultError, type Connection } from "connector-vault/slim";
import { describeError } from "../components/error-message";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { useConnectionCache } from "./cache";
import { statusKey } from "./status";

/** A button that checks a connection at its platform, and the result. */
export function CheckNow({ connection: { id }, onGone }: { connection: Connection; onGone: () => void }) {
  const { vault } = useSession();
  const client = useQueryClient();
  const { update } = useConnectionCache();
  const checking = useSingleFlight<Connection>({
    mutationFn: () => vault.connections.check(id),
    onSuccess: (connection) => {
      update(connection);
      // The check may have refreshed the token, which changes the status but not the connection.
      void client.invalidateQueries({ queryKey: statusKey(id) });
    },
    onError: (error) => error instanceof NotFoundError && error.code === "connection_not_found" && onGone(),
  });
  const { data, error, isPending } = checking;
  const check = () => {
    if (isPending) return;
    checking.run();
  };
  return (
    <>
      <button type="button" aria-disabled={isPending} onClick={check}>
        {isPending ? "Checking…" : "Check now"}
      </button>
      <div role="status" class="check-result">
        {data && !isPending && <CheckResult state={data.state} />}
      </div>
      {error && (
        <p class="note check-result" data-tone="warn" role="alert">
          {errorText(error)}
        </p>
      )}
    </>
  );
}

function CheckResult({ state }: { state: Connection["state"] }) {
  return state === "operational" ? (
    <p class="note" data-tone="good">
      Checked just now: it works.
    </p>
  ) : (
    <p class="note" data-tone="warn">
      Checked just now: it does not work.
    </p>
  );
}

function errorText(error: unknown): string {
  if (error instanceof RateLimitError && error.retryAfter !== undefined)
    return `After a failure, the service waits before it calls the platform again. Try again in ${error.retryAfter.toLocaleString("en")} seconds.`;
  if (error instanceof VaultError && error.code === "not_checkable")
    return "This connection can't be checked: its credentials can't be refreshed, and the catalog has no request to test them.";
  return describeError(error);
}
