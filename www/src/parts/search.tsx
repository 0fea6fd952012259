import { useEffect, useRef, useState } from "preact/hooks";

const PAUSE_MS = 200;

interface Props {
  label: string;
  placeholder?: string;
  value: string;
  maxLength?: number;
  onChange: (value: string) => void;
}

/** A text that is told once its writer pauses. */
export function SearchField({ label, placeholder, value, maxLength = 100, onChange }: Props) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<number>();
  const told = useRef(value);
  // The address changed by other means: the back button, or a link.
  useEffect(() => {
    if (value === told.current) return;
    clearTimeout(timer.current);
    told.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const tell = (text: string) => {
    clearTimeout(timer.current);
    told.current = text.trim();
    onChange(text.trim());
  };
  const input = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => tell(text), PAUSE_MS);
  };
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="search"
        value={typed}
        placeholder={placeholder}
        maxLength={maxLength}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => input(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && tell(event.currentTarget.value)}
      />
    </label>
  );
}
