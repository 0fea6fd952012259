import { useEffect, useRef, useState } from "preact/hooks";
import { TextField } from "./field";

const PAUSE_MS = 200;

interface Props {
  label: string;
  placeholder?: string;
  value: string;
  maxLength?: number;
  /** The id of a `datalist` with suggestions. */
  list?: string;
  hint?: string | undefined;
  fault?: string | undefined;
  /** What is told of what was typed, besides white space around it. */
  told?: (text: string) => string;
  onChange: (value: string) => void;
}

/** A text that is told once its writer pauses. */
export function SearchField({ value, maxLength = 100, told: shape = (text) => text, onChange, ...field }: Props) {
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
    told.current = shape(text.trim());
    onChange(told.current);
  };
  const input = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => tell(text), PAUSE_MS);
  };
  return (
    <TextField
      {...field}
      type="search"
      value={typed}
      maxLength={maxLength}
      onInput={input}
      onKeyDown={(event) => event.key === "Enter" && tell(event.currentTarget.value)}
    />
  );
}
