import { useState } from "preact/hooks";
import { Combobox } from "../components/combobox";
import { Logo } from "../components/logo";
import { findPlatform, type Platforms } from "./platforms";

/** Maximum number of options. Typing finds the others. */
const MAX_OPTIONS = 50;

interface Props {
  label: string;
  text: string;
  /** Undefined until loaded, or without access to the catalog. The field then accepts any text. */
  platforms: Platforms | undefined;
  hint?: string | undefined;
  fault?: string | undefined;
  isRequired?: boolean;
  autofocus?: boolean;
  onInput: (text: string) => void;
  onChoose: (platform: string) => void;
  onEnter?: () => void;
  onLeave?: () => void;
}

/** Returns a validation error unless the text is a platform, may become one, or the platforms are not loaded. */
export function findPlatformFault(
  platforms: Platforms | undefined,
  text: string,
  isTyping: boolean,
): string | undefined {
  const query = text.trim();
  if (!platforms || query === "" || findPlatform(platforms, query)) return undefined;
  if (platforms.find(query).length === 0) return `The catalog has no platform “${query}”.`;
  return isTyping ? undefined : "Choose a platform from the list.";
}

/** A field that lets the user choose a platform. */
export function PlatformField({ text, platforms, hint, fault, onInput, onChoose, onLeave, ...rest }: Props) {
  const [isFocused, setFocused] = useState(false);
  const matches = platforms?.find(text) ?? [];
  const selected = findPlatform(platforms, text);
  return (
    <Combobox
      {...rest}
      listName="Platforms"
      placeholder="GitHub, Gmail…"
      text={text}
      prefix={selected && <Logo name={selected.name} image={selected.image} size={24} />}
      options={matches.slice(0, MAX_OPTIONS).map(({ platform, name, image }) => ({
        value: platform,
        content: (
          <>
            <Logo name={name} image={image} size={24} />
            <span class="option-text">
              {name} <span class="mono muted">{platform}</span>
            </span>
          </>
        ),
      }))}
      note={
        matches.length > MAX_OPTIONS
          ? `${(matches.length - MAX_OPTIONS).toLocaleString("en")} more. Type to find one.`
          : undefined
      }
      hint={hint}
      fault={platforms && text.trim() !== "" && !selected ? findPlatformFault(platforms, text, isFocused) : fault}
      onInput={onInput}
      onChoose={onChoose}
      onFocusChange={(hasFocus) => {
        setFocused(hasFocus);
        if (!hasFocus) onLeave?.();
      }}
    />
  );
}
