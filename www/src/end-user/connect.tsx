// Connecting from the end user's page: the window takes its place, and leads back here.
import { useQuery } from "@tanstack/preact-query";
import type { ConnectOptions } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";
import { describeError } from "../components/error-message";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";

const CONNECTIONS_PATH = "/connections";
/** What the window adds to the address that it leads back to: the attempt's id. */
const ATTEMPT_PARAMETER = "connect";

/** Whether the link's holder may connect accounts here. */
export function useMayConnect(): boolean {
  const { may } = useSession();
  return may("connections:connect") && may("catalog:read");
}

interface Props {
  /** What to connect; nothing to let the user choose. */
  target?: Pick<ConnectOptions, "connection">;
  label?: string;
  children: ComponentChildren;
}

export function ConnectButton({ target, label, children }: Props) {
  const { vault } = useSession();
  const connecting = useSingleFlight({
    mutationFn: async () => {
      // A link that has expired is told of here, and not by the window.
      await vault.whoami();
      // The browser leaves the page.
      return vault.connect({ ...target, ui: "page", returnUrl: location.origin + CONNECTIONS_PATH });
    },
  });
  return (
    <>
      <button type="button" class="primary" aria-label={label} onClick={() => connecting.run()}>
        {children}
      </button>
      {connecting.error !== null && (
        <p class="problem" role="alert">
          {describeError(connecting.error)}
        </p>
      )}
    </>
  );
}

/** What became of the attempt with which the window has led back. */
export function ConnectOutcome() {
  const { vault } = useSession();
  const search = useSearch();
  const [, navigate] = useLocation();
  const [id] = useState(() => new URLSearchParams(search).get(ATTEMPT_PARAMETER));
  useEffect(() => {
    // A reload must not tell it again.
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
