import { Component, type ComponentChildren } from "preact";
import { CopyButton } from "./copy-button";

interface Props {
  /** A new value clears the error, for example after navigation. */
  resetKey: string;
  /** Undefined if the user is signed out. */
  onSignOut?: (() => void) | undefined;
  children: ComponentChildren;
}

interface State {
  error?: unknown;
}

/** Error details for the operator. Omits the URL's query, which may contain personal data. */
function formatErrorDetails(error: unknown, location: string): string {
  const description = error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ""}` : String(error);
  return [
    `Place: ${location}`,
    `Time: ${new Date().toISOString()}`,
    `Browser: ${navigator.userAgent}`,
    description,
  ].join("\n");
}

/** Shows an error message with next steps if its children can't be rendered. */
export class ErrorBoundary extends Component<Props, State> {
  static override getDerivedStateFromError(error: unknown): State {
    return { error: error ?? new Error("An empty value was thrown.") };
  }

  override componentDidUpdate({ resetKey }: Props) {
    if (resetKey !== this.props.resetKey && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override render({ resetKey, onSignOut, children }: Props, { error }: State) {
    if (error === undefined) return children;
    const details = formatErrorDetails(error, resetKey);
    return (
      <div class="error-message" role="alert">
        <h1 class="error-message-title">This page can't be shown</h1>
        <p>The console failed to display it. Your data is not affected.</p>
        <p>Reload the page. If it fails again, copy the details and send them to the operator of this service.</p>
        <div class="buttons">
          <button type="button" class="primary" onClick={() => location.reload()}>
            Reload the page
          </button>
          {onSignOut && (
            <button type="button" onClick={onSignOut}>
              Sign out
            </button>
          )}
          <CopyButton text={details} label="Copy the details" showLabel />
        </div>
        <details class="error-message-details">
          <summary>Details</summary>
          <pre tabIndex={0}>
            <code>{details}</code>
          </pre>
        </details>
      </div>
    );
  }
}
