import type { ConnectAttempt } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "./session";
import { Step } from "./step";
import { translate } from "./texts";

/** The interval of the checks whether the user has closed the platform's page. */
const POLL_MS = 500;

/** An attempt that continues at the platform. */
export interface ProviderAttempt {
  id: string;
  authorizationUrl: string;
  /** The platform's page. Undefined if the browser opened no popup. */
  popup: Window | undefined;
}

interface Props {
  session: Session;
  pending: ProviderAttempt;
  name: string;
  onOutcome: (attempt: ConnectAttempt) => void;
  onError: (error: unknown) => void;
  onRestart: () => void;
  /** Called when the back button returns here before the user decided at the platform. */
  onBack: () => void;
}

/** The step that waits until the user has finished at the platform. */
export function AwaitingProvider({
  session: { service, opensPopup },
  pending: { id, authorizationUrl, popup },
  name,
  onOutcome,
  onError,
  onRestart,
  onBack,
}: Props) {
  const [isClosed, setClosed] = useState(false);
  const [isOpened, setOpened] = useState(popup !== undefined || !opensPopup);
  useEffect(() => {
    const controller = new AbortController();
    const wake = new EventTarget();
    const onMessage = ({ origin, data }: MessageEvent) => {
      if (origin === location.origin && data?.type === "connector-vault:connect" && data.attempt === id)
        wake.dispatchEvent(new Event("hurry"));
    };
    addEventListener("message", onMessage);
    const timer = setInterval(() => {
      if (!popup?.closed) return;
      clearInterval(timer);
      setClosed(true);
      wake.dispatchEvent(new Event("hurry"));
    }, POLL_MS);
    service
      .waitForOutcome(id, controller.signal, wake)
      .then(onOutcome, (error) => !controller.signal.aborted && onError(error));
    // When this page navigates to the platform, abort the request. Poll again when the back button restores the page.
    const onHide = () => !opensPopup && controller.abort();
    addEventListener("pagehide", onHide);
    const onShow = async ({ persisted }: PageTransitionEvent) => {
      if (!persisted || opensPopup) return;
      controller.abort();
      try {
        const attempt = await service.attempt(id);
        if (attempt.status === "pending") onBack();
        else onOutcome(attempt);
      } catch (error) {
        onError(error);
      }
    };
    addEventListener("pageshow", onShow);
    return () => {
      controller.abort();
      clearInterval(timer);
      removeEventListener("message", onMessage);
      removeEventListener("pagehide", onHide);
      removeEventListener("pageshow", onShow);
    };
  }, [id]);
  return (
    <Step title={translate(isOpened ? "awaiting.title" : "awaiting.goTitle", { platform: name })}>
      <p>{translate(isOpened ? "awaiting.text" : "awaiting.blocked", { platform: name })}</p>
      <p class="wait" role="status">
        {(isClosed || isOpened) && translate(isClosed ? "awaiting.closed" : "awaiting.waiting", { platform: name })}
      </p>
      <div class="buttons">
        <button type="button" class={isClosed ? "primary" : ""} onClick={onRestart}>
          {translate("startAgain")}
        </button>
        {!isOpened && (
          <a
            class="button primary"
            href={authorizationUrl}
            target="_blank"
            rel="noopener opener"
            onClick={() => setOpened(true)}
          >
            {translate("awaiting.open")}
          </a>
        )}
      </div>
    </Step>
  );
}
