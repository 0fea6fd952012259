import {
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
  VaultError,
} from "connector-vault/slim";
import { CopyButton } from "./copy-button";
import { getFaults, formatFault } from "./faults";

interface Explanation {
  title: string;
  detail: string;
  /** URL of the page about the error code. */
  helpUrl?: string;
  requestId?: string;
}

/** Titles by error code, for errors that the platform caused. */
const PLATFORM_ERRORS: Partial<Record<string, string>> = {
  refresh_failed: "The platform did not issue a new access token",
  platform_unreachable: "The service can't reach the platform",
  platform_timeout: "The platform did not respond in time",
  credentials_rejected: "The platform does not accept these credentials",
  account_mismatch: "This is a different account",
};

/** Returns a title and an explanation for any error. */
export function explainError(error: unknown): Explanation {
  if (!(error instanceof VaultError))
    return { title: "The console failed", detail: `Reload the page. (${String(error)})` };
  const detail = error.message;
  // An error without headers comes from the package, not from the service, so no page documents its code.
  const common = {
    ...(error.headers && { helpUrl: `/problems/${error.code}` }),
    ...(error.requestId && { requestId: error.requestId }),
  } satisfies Partial<Explanation>;
  if (error instanceof ConnectionError) {
    return {
      title: "The service can't be reached",
      detail: navigator.onLine ? "It may be down, or there is a problem with the network." : "You are offline.",
    };
  }
  if (error instanceof TimeoutError)
    return { title: "The service did not respond in time", detail: "Try again in a moment." };
  if (error instanceof PermissionError) return { title: "You do not have access to this", detail, ...common };
  if (error instanceof NotFoundError) return { title: "Not found", detail, ...common };
  if (error instanceof RateLimitError)
    return { title: "Too many requests", detail: `Try again in ${error.retryAfter ?? 60} seconds.`, ...common };
  const platformTitle = PLATFORM_ERRORS[error.code];
  if (platformTitle) return { title: platformTitle, detail, ...common };
  if (error instanceof ServerError) return { title: "The service has a problem", detail, ...common };
  if (error.code === "query_too_broad") return { title: "This search is too broad", detail, ...common };
  return { title: "This request is not valid", detail, ...common };
}

/** Returns the explanation of an error as one or two sentences. */
export function describeError(error: unknown): string {
  const { title, detail } = explainError(error);
  return `${title}. ${detail}`;
}

/** Whether an error is temporary, so that stale data should stay visible. */
export const isTransient = (error: unknown) =>
  [ConnectionError, TimeoutError, RateLimitError, ServerError].some((kind) => error instanceof kind);

/** An error with its details, and a button to retry. */
export function ErrorMessage({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { title, detail, helpUrl, requestId } = explainError(error);
  return (
    <div class="error-message" role="alert">
      <p class="error-message-title">{title}</p>
      <p>{detail}</p>
      <FaultList error={error} />
      {(helpUrl || requestId) && (
        <p class="small muted">
          {helpUrl && (
            <a href={helpUrl} target="_blank" rel="noopener">
              What this means
            </a>
          )}
          {requestId && (
            <>
              {" "}
              Request <code>{requestId}</code> <CopyButton text={requestId} label="Copy the request ID" />
            </>
          )}
        </p>
      )}
      {onRetry && !(error instanceof ValidationError || error instanceof PermissionError) && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

function FaultList({ error }: { error: unknown }) {
  const faults = getFaults(error);
  if (faults.length === 0) return null;
  return (
    <ul>
      {faults.map((fault, index) => (
        <li key={index}>
          {(fault.parameter ?? fault.pointer) && (
            <>
              <code>{fault.parameter ?? fault.pointer}</code>:{" "}
            </>
          )}
          {formatFault(fault)}
        </li>
      ))}
    </ul>
  );
}
