// Connects accounts from the end user's page: navigates to the connect window, which returns here.
import { useQuery } from "@tanstack/preact-query";
import type { ConnectOptions } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";
import { describeError } from "../components/error-message";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";

const CONNECTIONS_PATH = "/connections";
/** The query parameter of the return URL that contains the attempt's id. */
const ATTEMPT_PARAMETER = "connect";

export function useCanConnect(): boolean {
  const { may } = useSession();
  return may("connections:connect") && may("catalog:read");
}

interface Props {
  /** The connection to reconnect. Undefined to let the user choose a platform. */
  target?: Pick<ConnectOptions, "connection">;
  label?: string;
  children: ComponentChildren;
}

export function ConnectButton({ target, label, children }: Props) {
  const { vault } = useSession();
  const connecting = useSingleFlight({
    mutationFn: async () => {
      // Detect an expired link before leaving the page.
      await vault.whoami();
      // Never resolves, because the page navigates away.
      return vault.connect({ ...target, ui: "page", returnUrl: location.origin + CONNECTIONS_PATH });
    },
  });
  return (
    <>
      <button type="button" class="primary" aria-label={label} onClick={() => connecting.run()}>
        {children}
      </button>
      {connecting.error !== null && (
        <p class="field-error" role="alert">
          {describeError(connecting.error)}
        </p>
      )}
    </>
  );
}

/** The outcome of the attempt that has just returned to this page. */
export function ConnectOutcome() {
  const { vault } = useSession();
  const search = useSearch();
  const [, navigate] = useLocation();
  const [id] = useState(() => new URLSearchParams(search).get(ATTEMPT_PARAMETER));
  useEffect(() => {
    // Remove the attempt from the URL, so that a reload does not show its outcome again.
    if (id !== null) navigate(CONNECTIONS_PATH, { replace: true });
  }, [id]);
  const { data } = useQuery({
    queryKey: ["own", "attempt", id],
    queryFn: ({ signal }) => vault.connectAttempts.get(id ?? "", undefined, { signal }),
    enabled: id !== null,
  });
  if (!data) return null;
  return data.status === "succeeded" ? (
    <p class="note" data-tone="good">
      Your account is connected.
    </p>
  ) : (
    <p class="note" data-tone="warn">
      Your account was not connected. {data.error?.detail ?? "Start again."}
    </p>
  );
}
