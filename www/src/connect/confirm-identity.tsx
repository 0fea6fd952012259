// Asks the user to confirm their identity, because anyone could have sent the link.
import { useEffect, useState } from "preact/hooks";
import { displayMode } from "./embedder";
import { Step } from "./step";
import { TranslatedText, translate } from "./texts";

/** How long the page must be visible before its button is enabled. */
const VISIBLE_MS = 700;

/**
 * Returns whether the page has been visible for a moment, against clickjacking: a page on top could request a
 * double-click and close itself after the first click, so that the second click hits the button here.
 */
function useVisibleLongEnough(): boolean {
  // A frame needs no delay, because its button only opens a window, which asks for confirmation again.
  const [wasVisible, setSeen] = useState(displayMode === "frame");
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
  return wasVisible;
}

interface Props {
  identity: string;
  onConfirm: () => void;
}

export function ConfirmIdentity({ identity, onConfirm }: Props) {
  const wasVisible = useVisibleLongEnough();
  return (
    <Step title={translate("confirm.title", { identity })}>
      <p>
        <TranslatedText text="confirm.text" values={{ identity: <strong>{identity}</strong> }} />
      </p>
      <p>{translate("confirm.warning")}</p>
      <div class="buttons">
        {displayMode === "popup" && (
          <button type="button" onClick={() => window.close()}>
            {translate("cancel")}
          </button>
        )}
        <button type="button" class="primary" disabled={!wasVisible} onClick={onConfirm}>
          {displayMode === "frame" ? translate("confirm.inNewWindow") : translate("confirm.continueAs", { identity })}
        </button>
      </div>
    </Step>
  );
}

/** Shown in a frame while the user continues in a separate window. */
export function SeparateWindow({ state }: { state: "open" | "blocked" | "done" }) {
  return (
    <Step title={translate(`separate.${state}.title`)} key={state}>
      <p>{translate(`separate.${state}.text`)}</p>
    </Step>
  );
}
