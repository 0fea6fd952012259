import type { Fault } from "connector-vault/slim";
import { X } from "lucide-preact";
import type { JSX } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { sentence } from "../parts/faults";

/** Tags, and what is in the field and no chip yet. */
export interface TagsTyped {
  tags: readonly string[];
  text: string;
}

/** What the chips are, and what ends one. */
interface Kind {
  /** The member of the body that they become. */
  member: string;
  one: string;
  many: string;
  ends: RegExp;
}

export const TAGS: Kind = { member: "tags", one: "tag", many: "Tags", ends: /[,\n]/ };
/** Platforms write them with spaces or commas between them. */
export const SCOPES: Kind = { member: "scopes", one: "scope", many: "Scopes", ends: /[,\s]/ };

/** The tags that a text names. */
const tagsIn = (text: string, ends: RegExp) =>
  text
    .split(ends)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");

/** All tags: the chips, and what is still in the field. */
export const allTags = ({ tags, text }: TagsTyped, { ends } = TAGS) => [...tags, ...tagsIn(text, ends)];

interface Props extends TagsTyped {
  label: string;
  /** Whether what is around it says already what it is. */
  isLabelHidden?: boolean;
  kind?: Kind;
  /** Those that can be suggested. */
  known?: readonly string[];
  /** What is wrong with all of them, the text's last. */
  faults: readonly Fault[];
  onChange: (changed: TagsTyped) => void;
}

/** Where a fault is: the number of a tag, or -1 for all of them together. */
const placeOf = ({ pointer }: Fault) => Number(/^\/[^/]+\/(\d+)$/.exec(pointer ?? "")?.[1] ?? -1);

/** Tags as chips: Enter or a comma adds one, Backspace in the empty field takes the last one away, once for each press. */
export function TagsInput({
  label,
  isLabelHidden = false,
  tags,
  text,
  kind: { member, one, many, ends } = TAGS,
  known,
  faults,
  onChange,
}: Props) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  const about = faults.filter(
    ({ pointer }) => pointer === undefined || pointer === `/${member}` || pointer.startsWith(`/${member}/`),
  );
  const wrong = new Set(about.map(placeOf));
  const first = about[0];
  const isTextWrong = [...wrong].some((place) => place < 0 || place >= tags.length);

  const add = (typed: string) => {
    const found = tagsIn(typed, ends);
    const added = [...new Set(found)].filter((tag) => !tags.includes(tag));
    const again = found.filter((tag) => tags.includes(tag));
    onChange({ tags: [...tags, ...added], text: "" });
    setSaid(
      [added.length > 0 && `Added ${added.join(", ")}.`, again.length > 0 && `${again.join(", ")} is already there.`]
        .filter(Boolean)
        .join(" "),
    );
  };
  const remove = (at: number) => {
    onChange({ tags: tags.filter((_, other) => other !== at), text });
    setSaid(`Removed ${tags[at]}.`);
  };
  const press = (at: number) => {
    remove(at);
    // Its button goes with it; the next one is where the focus is expected.
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    (buttons[at + 1] ?? buttons[at - 1] ?? field.current)?.focus();
  };
  const onKeyDown = (event: JSX.TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      // Enter in a form would send it.
      event.preventDefault();
      if (text.trim() !== "") add(text);
    } else if (event.key === "Backspace" && text === "" && tags.length > 0 && !event.repeat) {
      event.preventDefault();
      remove(tags.length - 1);
    }
  };
  const onPaste = (event: JSX.TargetedClipboardEvent<HTMLInputElement>) => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    if (!ends.test(pasted)) return;
    event.preventDefault();
    add(`${text},${pasted}`);
  };
  const described = [first && `${id}-fault`, `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div class="field tags-input">
      <label class={isLabelHidden ? "visually-hidden" : "label"} for={id}>
        {label}
      </label>
      {tags.length > 0 && (
        <ul class="chips" ref={list} aria-label={many}>
          {tags.map((tag, at) => (
            <li
              key={`${tag} ${tags.indexOf(tag) === at ? "" : at}`}
              class="chip"
              data-wrong={wrong.has(at) || undefined}
            >
              <span>
                {tag}
                {wrong.has(at) && <span class="visually-hidden"> (not valid)</span>}
              </span>
              <button
                type="button"
                class="icon"
                aria-label={`Remove ${tag}`}
                title={`Remove ${tag}`}
                onClick={() => press(at)}
              >
                <X size={14} aria-hidden="true" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <input
        id={id}
        ref={field}
        value={text}
        placeholder={`Add a ${one}`}
        list={known && `${id}-known`}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        enterkeyhint="enter"
        aria-invalid={isTextWrong}
        aria-describedby={described}
        onInput={({ currentTarget: { value } }) => (ends.test(value) ? add(value) : onChange({ tags, text: value }))}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      {known && (
        <datalist id={`${id}-known`}>
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      <div aria-live="polite">
        {first && (
          <p class="problem" id={`${id}-fault`}>
            {sentence(first)}
          </p>
        )}
      </div>
      <p class="muted small" id={`${id}-hint`}>
        Press Enter or type a comma to add a {one}.
      </p>
      <p class="visually-hidden" role="status">
        {said}
      </p>
    </div>
  );
}
