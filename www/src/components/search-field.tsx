import { useEffect, useRef, useState } from "preact/hooks";
import { TextField } from "./field";

const DEBOUNCE_MS = 200;

interface Props {
  label: string;
  placeholder?: string;
  value: string;
  maxLength?: number;
  /** Typing starts a search only from this length on. Enter always starts one. */
  minLength?: number;
  hint?: string | undefined;
  fault?: string | undefined;
  /** Normalizes the trimmed input. */
  normalize?: (text: string) => string;
  onChange: (value: string) => void;
}

/** A search field that reports its value when the user stops typing. */
export function SearchField({
  value,
  maxLength = 100,
  minLength = 1,
  hint,
  normalize = (text) => text,
  onChange,
  ...field
}: Props) {
  const [input, setInput] = useState(value);
  const timer = useRef<number>();
  const lastReported = useRef(value);
  // The URL has changed, for example because of the back button.
  useEffect(() => {
    if (value === lastReported.current) return;
    clearTimeout(timer.current);
    lastReported.current = value;
    setInput(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const commit = (text: string) => {
    clearTimeout(timer.current);
    lastReported.current = normalize(text.trim());
    onChange(lastReported.current);
  };
  const length = [...input.trim()].length;
  const isShort = length > 0 && length < minLength && input.trim() !== value;
  const handleInput = (text: string) => {
    setInput(text);
    clearTimeout(timer.current);
    const isEnough = [...text.trim()].length >= minLength;
    timer.current = window.setTimeout(() => commit(isEnough ? text : ""), DEBOUNCE_MS);
  };
  return (
    <TextField
      {...field}
      hint={isShort ? `Type at least ${minLength} characters, or press Enter to search.` : hint}
      type="search"
      value={input}
      maxLength={maxLength}
      onInput={handleInput}
      onKeyDown={(event) => event.key === "Enter" && commit(event.currentTarget.value)}
    />
  );
}
