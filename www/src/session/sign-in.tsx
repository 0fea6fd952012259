import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { describeError } from "../components/error-message";
import { clearLastSignIn, readLastSignIn, storeReturnPage } from "./person";
import { signIn, type Reason } from "./store";
import { KEY_REJECTED, isUnauthorized } from "./vault";
import "./sign-in.css";

interface Props {
  /** Why the user was signed out. */
  reason?: Reason | undefined;
  /** Why a stored key could not be verified. */
  failure?: unknown;
  onRetry?: (() => void) | undefined;
}

const REASONS: Partial<Record<Reason, string>> = {
  "session-ended": "Your session has ended. Sign in again to continue where you left off.",
  "sign-in-refused": "This sign-in is no longer valid, or was started in another browser. Sign in again.",
  refused: "Your key has expired or was revoked. Sign in again to continue where you left off.",
  "signed-out": "You are signed out in all tabs. This browser no longer has your key or session.",
};

export function SignIn({ reason, failure, onRetry }: Props) {
  const reasonText = reason && REASONS[reason];
  const [secret, setSecret] = useState("");
  const [remembered, setRemembered] = useState(readLastSignIn);
  const [isBusy, setBusy] = useState(false);
  const [message, setMessage] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = "Sign in · connector-vault";
    input.current?.focus();
  }, []);

  const submit = async (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const trimmedKey = secret.trim();
    if (!trimmedKey) {
      setMessage("Enter an API key.");
      input.current?.focus();
      return;
    }
    setBusy(true);
    setMessage(undefined);
    try {
      await signIn(trimmedKey);
    } catch (error) {
      setBusy(false);
      setMessage(isUnauthorized(error) ? KEY_REJECTED : describeError(error));
      input.current?.focus();
    }
  };

  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit} noValidate>
        <p class="brand">
          <img src="/favicon.svg" width="32" height="32" alt="" /> connector-vault
        </p>
        <h1>Sign in</h1>
        <p class="muted">Browse your catalog of connectors, and manage your connections.</p>
        {reasonText && (
          <p class="note" id="sign-in-reason">
            {reasonText}
          </p>
        )}
        {failure !== undefined && (
          <p class="note" data-tone="bad" role="alert">
            {describeError(failure)}{" "}
            {onRetry && (
              <button type="button" class="link" onClick={onRetry}>
                Try again
              </button>
            )}
          </p>
        )}
        {remembered && (
          <>
            <a class="button primary" href={`/sign-in/${remembered.id}`} onClick={storeReturnPage}>
              Sign in to {remembered.account} ({remembered.environment})
            </a>
            <p class="muted small">
              With your own account.{" "}
              <button
                type="button"
                class="link"
                onClick={() => {
                  clearLastSignIn();
                  setRemembered(undefined);
                }}
              >
                Forget it in this browser
              </button>
            </p>
          </>
        )}
        <label class="field">
          <span>API key</span>
          <input
            ref={input}
            type="password"
            name="secret"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="sk_test_… or sk_live_…"
            value={secret}
            aria-invalid={message !== undefined}
            aria-describedby={[message && "secret-problem", reasonText && "sign-in-reason", "secret-help"]
              .filter(Boolean)
              .join(" ")}
            onInput={(event) => setSecret(event.currentTarget.value)}
          />
        </label>
        {message && (
          <p class="field-error" id="secret-problem" role="alert">
            {message}
          </p>
        )}
        <p class="muted small" id="secret-help">
          {!remembered && "To use your own account, open the sign-in address of your team. "}
          The key stays in this browser's open tabs, and is removed when you close them. <code>npm start</code> prints a
          demo key; <code>npm run keys -- create</code> creates one.
        </p>
        <button type="submit" class={remembered ? undefined : "primary"} aria-disabled={isBusy}>
          {isBusy ? "Signing in…" : remembered ? "Sign in with the key" : "Sign in"}
        </button>
      </form>
      <p class="muted small">
        For developers: <a href="/docs">API reference</a> · <a href="/v1/openapi.json">OpenAPI</a> ·{" "}
        <a href="/problems/">Error codes</a>
      </p>
    </main>
  );
}
