import type { ConnectAttempt } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "./session";
import { Step } from "./step";

/** How often to look whether somebody has closed the platform's page, in milliseconds. */
const LOOK_MS = 500;

/** An attempt that goes on at the platform. */
export interface Pending {
  id: string;
  authorizationUrl: string;
  /** The page of the platform; undefined if the browser opened none. */
  popup: Window | undefined;
}

interface Props {
  session: Session;
  pending: Pending;
  name: string;
  onOutcome: (attempt: ConnectAttempt) => void;
  onFail: (error: unknown) => void;
  onAgain: () => void;
  /** The browser has brought this page back from the platform, where nothing has been decided. */
  onReturn: () => void;
}

/** Waits for what happens at the platform. */
export function Away({
  session: { service, opensPopup },
  pending: { id, authorizationUrl, popup },
  name,
  onOutcome,
  onFail,
  onAgain,
  onReturn,
}: Props) {
  const [isClosed, setClosed] = useState(false);
  const [isOpened, setOpened] = useState(popup !== undefined || !opensPopup);
  useEffect(() => {
    const ending = new AbortController();
    const hurry = new EventTarget();
    const onMessage = ({ origin, data }: MessageEvent) => {
      if (origin === location.origin && data?.type === "connector-vault:connect" && data.attempt === id)
        hurry.dispatchEvent(new Event("hurry"));
    };
    addEventListener("message", onMessage);
    const timer = setInterval(() => {
      if (!popup?.closed) return;
      clearInterval(timer);
      setClosed(true);
      hurry.dispatchEvent(new Event("hurry"));
    }, LOOK_MS);
    service.outcomeOf(id, ending.signal, hurry).then(onOutcome, (error) => !ending.signal.aborted && onFail(error));
    // Whoever comes back has it asked again. Until then nobody waits for the answer.
    const onHide = () => !opensPopup && ending.abort();
    addEventListener("pagehide", onHide);
    const onShow = async ({ persisted }: PageTransitionEvent) => {
      if (!persisted || opensPopup) return;
      ending.abort();
      try {
        const attempt = await service.attempt(id);
        if (attempt.status === "pending") onReturn();
        else onOutcome(attempt);
      } catch (error) {
        onFail(error);
      }
    };
    addEventListener("pageshow", onShow);
    return () => {
      ending.abort();
      clearInterval(timer);
      removeEventListener("message", onMessage);
      removeEventListener("pagehide", onHide);
      removeEventListener("pageshow", onShow);
    };
  }, [id]);
  return (
    <Step title={isOpened ? `Continue at ${name}` : `Go to ${name}`}>
      <p>
        {isOpened
          ? `Sign in and allow access on the ${name} page that has opened. This window continues on its own.`
          : `Your browser did not open the ${name} page. Open it yourself.`}
      </p>
      <p class="wait" role="status">
        {isClosed ? `If you closed the ${name} page, start again.` : isOpened ? `Waiting for ${name} …` : ""}
      </p>
      <div class="buttons">
        <button type="button" class={isClosed ? "primary" : ""} onClick={onAgain}>
          Start again
        </button>
        {!isOpened && (
          <a
            class="button primary"
            href={authorizationUrl}
            target="_blank"
            rel="noopener opener"
            onClick={() => setOpened(true)}
          >
            Open the sign-in page
          </a>
        )}
      </div>
    </Step>
  );
}
