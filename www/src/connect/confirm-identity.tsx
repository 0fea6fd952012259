// Asks the user to confirm their identity, unless the app vouches for it: anyone could have sent the link.
import { useEffect, useState } from "preact/hooks";
import { displayMode } from "./embedder";
import { Step } from "./step";

/** How long the page must be visible before its button works, in milliseconds. */
const VISIBLE_MS = 700;

/**
 * Whether the page has been visible for a moment. Otherwise a page on top could ask for a double-click and close itself
 * after the first click, so that the second lands here (clickjacking).
 */
function useVisibleForAWhile(): boolean {
  // In a frame, the button only opens a window that asks again.
  const [isSeen, setSeen] = useState(displayMode === "frame");
  useEffect(() => {
    if (displayMode === "frame") return undefined;
    let timer = 0;
    const restartTimer = () => {
      clearTimeout(timer);
      setSeen(false);
      if (document.visibilityState === "visible") timer = window.setTimeout(() => setSeen(true), VISIBLE_MS);
    };
    restartTimer();
    addEventListener("focus", restartTimer);
    document.addEventListener("visibilitychange", restartTimer);
    return () => {
      clearTimeout(timer);
      removeEventListener("focus", restartTimer);
      document.removeEventListener("visibilitychange", restartTimer);
    };
  }, []);
  return isSeen;
}

interface Props {
  identity: string;
  app: string;
  onConfirm: () => void;
}

export function ConfirmIdentity({ identity, app, onConfirm }: Props) {
  const isSeen = useVisibleForAWhile();
  return (
    <Step title={`Are you ${identity}?`}>
      <p>
        This connects your account to <strong>{identity}</strong> at {app}. Continue only if that is you.
      </p>
      <p>If someone else sent you this link, close this page. Continuing could give them access to your account.</p>
      <div class="buttons">
        {displayMode === "popup" && (
          <button type="button" onClick={() => window.close()}>
            Cancel
          </button>
        )}
        <button type="button" class="primary" disabled={!isSeen} onClick={onConfirm}>
          {displayMode === "frame" ? "Continue in a new window" : `Continue as ${identity}`}
        </button>
      </div>
    </Step>
  );
}

const SEPARATE_WINDOW_TEXTS = {
  open: ["Continue in the new window", "You can connect your account there."],
  blocked: ["Your browser blocked the new window", "Allow pop-ups for this page, reload it, and try again."],
  done: ["Your account is connected", "You can continue here."],
} as const;

/** Shown in a frame while the user continues in a separate window. */
export function SeparateWindow({ state }: { state: keyof typeof SEPARATE_WINDOW_TEXTS }) {
  const [title, text] = SEPARATE_WINDOW_TEXTS[state];
  return (
    <Step title={title} key={state}>
      <p>{text}</p>
    </Step>
  );
}
