import { Check, Copy } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";

const SHOWN_MS = 2_000;

interface Props {
  text: string;
  label?: string;
  /** Whether the label is shown, not only read out. */
  isWorded?: boolean;
}

/** Copies a text, and says so. */
export function CopyButton({ text, label = "Copy", isWorded = false }: Props) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid("Copied"),
      () => setSaid("Could not copy"),
    );
  return (
    <span class="copy">
      <button type="button" class={isWorded ? "" : "icon"} onClick={copy} aria-label={label} title={label}>
        {said === "Copied" ? <Check size={16} aria-hidden="true" /> : <Copy size={16} aria-hidden="true" />}
        {isWorded && label}
      </button>
      <span class="visually-hidden" role="status">
        {said}
      </span>
    </span>
  );
}
