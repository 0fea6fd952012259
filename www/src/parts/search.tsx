import { useEffect, useRef, useState } from "preact/hooks";
import { TextField } from "./field";

const PAUSE_MS = 200;

interface Props {
  label: string;
  placeholder?: string;
  value: string;
  maxLength?: number;
  /** Fewer characters are not told while somebody types; Enter tells them all the same. */
  least?: number;
  hint?: string | undefined;
  fault?: string | undefined;
  /** What is told of what was typed, besides white space around it. */
  told?: (text: string) => string;
  onChange: (value: string) => void;
}

/** A text that is told once its writer pauses. */
export function SearchField({
  value,
  maxLength = 100,
  least = 1,
  hint,
  told: shape = (text) => text,
  onChange,
  ...field
}: Props) {
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
  const letters = [...typed.trim()].length;
  const isShort = letters > 0 && letters < least && typed.trim() !== value;
  const input = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    const isEnough = [...text.trim()].length >= least;
    timer.current = window.setTimeout(() => tell(isEnough ? text : ""), PAUSE_MS);
  };
  return (
    <TextField
      {...field}
      hint={isShort ? `Type at least ${least} characters, or press Enter to search.` : hint}
      type="search"
      value={typed}
      maxLength={maxLength}
      onInput={input}
      onKeyDown={(event) => event.key === "Enter" && tell(event.currentTarget.value)}
    />
  );
}
