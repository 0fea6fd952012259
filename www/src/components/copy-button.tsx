import { Check, Copy } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";

const MESSAGE_MS = 2_000;

interface Props {
  text: string;
  label?: string;
  /** Whether the label is visible. Otherwise only screen readers announce it. */
  showLabel?: boolean;
}

export function CopyButton({ text, label = "Copy", showLabel = false }: Props) {
  const [status, setStatus] = useState("");
  useEffect(() => {
    if (!status) return;
    const timer = setTimeout(() => setStatus(""), MESSAGE_MS);
    return () => clearTimeout(timer);
  }, [status]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setStatus("Copied"),
      () => setStatus("Could not copy"),
    );
  return (
    <span class="copy">
      <button type="button" class={showLabel ? "" : "icon"} onClick={copy} aria-label={label} title={label}>
        {status === "Copied" ? <Check size={16} aria-hidden="true" /> : <Copy size={16} aria-hidden="true" />}
        {showLabel && label}
      </button>
      <span class="visually-hidden" role="status">
        {status}
      </span>
    </span>
  );
}

/** A value with a button that copies it. */
export const CopyableCode = ({ text, noun }: { text: string; noun: string }) => (
  <dd class="copyable">
    <code>{text}</code> <CopyButton text={text} label={`Copy the ${noun}`} />
  </dd>
);
