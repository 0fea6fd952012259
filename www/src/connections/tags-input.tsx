import type { Fault } from "connector-vault/slim";
import { X } from "lucide-preact";
import type { JSX } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { formatFault } from "../components/faults";

/** The tags, and the text in the field that is not a tag yet. */
export interface TagsValue {
  tags: readonly string[];
  text: string;
}

/** What a field contains: tags or scopes. `separator` matches the characters that separate them in a text. */
interface ChipKind {
  /** Name of the member in the request body. */
  member: string;
  singular: string;
  plural: string;
  separator: RegExp;
}

export const TAGS: ChipKind = { member: "tags", singular: "tag", plural: "Tags", separator: /[,\n]/ };
/** Separated by commas or spaces, because platforms use both for scopes. */
export const SCOPES: ChipKind = { member: "scopes", singular: "scope", plural: "Scopes", separator: /[,\s]/ };

const parseTags = (text: string, ends: RegExp) =>
  text
    .split(ends)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");

/** Returns all tags, including those in the text. */
export const allTags = ({ tags, text }: TagsValue, { separator } = TAGS) => [...tags, ...parseTags(text, separator)];

interface Props extends TagsValue {
  label: string;
  isLabelHidden?: boolean;
  kind?: ChipKind;
  suggestions?: readonly string[];
  /** Faults of all tags. In their indexes, tags in the text come last. */
  faults: readonly Fault[];
  onChange: (value: TagsValue) => void;
}

/** Returns the index of the invalid tag, or -1 if the fault concerns the whole list. */
const faultIndex = ({ pointer }: Fault) => Number(/^\/[^/]+\/(\d+)$/.exec(pointer ?? "")?.[1] ?? -1);

/**
 * An input for tags. Enter or a comma adds a tag; Backspace in the empty field removes the last one, once per key
 * press.
 */
export function TagsInput({
  label,
  isLabelHidden = false,
  tags,
  text,
  kind: { member, singular, plural, separator } = TAGS,
  suggestions,
  faults,
  onChange,
}: Props) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [announcement, setAnnouncement] = useState("");
  const tagFaults = faults.filter(
    ({ pointer }) => pointer === undefined || pointer === `/${member}` || pointer.startsWith(`/${member}/`),
  );
  const invalidIndexes = new Set(tagFaults.map(faultIndex));
  const firstFault = tagFaults[0];
  const isTextInvalid = [...invalidIndexes].some((index) => index < 0 || index >= tags.length);

  const add = (input: string) => {
    const newTags = parseTags(input, separator);
    const added = [...new Set(newTags)].filter((tag) => !tags.includes(tag));
    const duplicates = newTags.filter((tag) => tags.includes(tag));
    onChange({ tags: [...tags, ...added], text: "" });
    setAnnouncement(
      [
        added.length > 0 && `Added ${added.join(", ")}.`,
        duplicates.length > 0 && `${duplicates.join(", ")} is already there.`,
      ]
        .filter(Boolean)
        .join(" "),
    );
  };
  const remove = (index: number) => {
    onChange({ tags: tags.filter((_, otherIndex) => otherIndex !== index), text });
    setAnnouncement(`Removed ${tags[index]}.`);
  };
  const removeAndFocus = (index: number) => {
    remove(index);
    // The button that has the focus disappears, so focus a neighbour.
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    (buttons[index + 1] ?? buttons[index - 1] ?? field.current)?.focus();
  };
  const onKeyDown = (event: JSX.TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      // Enter must not submit the form.
      event.preventDefault();
      if (text.trim() !== "") add(text);
    } else if (event.key === "Backspace" && text === "" && tags.length > 0 && !event.repeat) {
      event.preventDefault();
      remove(tags.length - 1);
    }
  };
  const onPaste = (event: JSX.TargetedClipboardEvent<HTMLInputElement>) => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    if (!separator.test(pasted)) return;
    event.preventDefault();
    add(`${text},${pasted}`);
  };
  const describedBy = [firstFault && `${id}-fault`, `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div class="field tags-input">
      <label class={isLabelHidden ? "visually-hidden" : "label"} for={id}>
        {label}
      </label>
      {tags.length > 0 && (
        <ul class="chips" ref={list} aria-label={plural}>
          {tags.map((tag, index) => (
            <li
              key={`${tag} ${tags.indexOf(tag) === index ? "" : index}`}
              class="chip"
              data-invalid={invalidIndexes.has(index) || undefined}
            >
              <span>
                {tag}
                {invalidIndexes.has(index) && <span class="visually-hidden"> (not valid)</span>}
              </span>
              <button
                type="button"
                class="icon"
                aria-label={`Remove ${tag}`}
                title={`Remove ${tag}`}
                onClick={() => removeAndFocus(index)}
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
        placeholder={`Add a ${singular}`}
        list={suggestions && `${id}-known`}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        enterkeyhint="enter"
        aria-invalid={isTextInvalid}
        aria-describedby={describedBy}
        onInput={({ currentTarget: { value } }) =>
          separator.test(value) ? add(value) : onChange({ tags, text: value })
        }
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      {suggestions && (
        <datalist id={`${id}-known`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
      <div aria-live="polite">
        {firstFault && (
          <p class="field-error" id={`${id}-fault`}>
            {formatFault(firstFault)}
          </p>
        )}
      </div>
      <p class="muted small" id={`${id}-hint`}>
        Press Enter or type a comma to add a {singular}.
      </p>
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </div>
  );
}
