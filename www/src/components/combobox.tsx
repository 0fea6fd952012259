import { X } from "lucide-preact";
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Field } from "./field";

export interface Option {
  value: string;
  content: ComponentChildren;
}

interface Props {
  label: string;
  /** Accessible name of the list. */
  listName: string;
  text: string;
  /** Sorted by relevance: typing highlights the first option. */
  options: readonly Option[];
  /** A text below the options, such as the number of other matches. */
  note?: string | undefined;
  /** An element inside the field, before the text. */
  prefix?: ComponentChildren;
  hint?: string | undefined;
  fault?: string | undefined;
  placeholder?: string;
  isRequired?: boolean;
  autofocus?: boolean;
  onInput: (text: string) => void;
  onChoose: (value: string) => void;
  /** Called when the user presses Enter and no option is active. */
  onEnter?: () => void;
  onFocusChange?: (isFocused: boolean) => void;
}

/**
 * A text field with a list of options. Implements the combobox pattern of the ARIA Authoring Practices ("list
 * autocomplete with automatic selection"): while the user types, the best option is active. Enter or Tab selects it,
 * Escape closes the list.
 */
export function Combobox({
  label,
  listName,
  text,
  options,
  note,
  prefix,
  hint,
  fault,
  placeholder,
  isRequired,
  autofocus,
  onInput,
  onChoose,
  onEnter,
  onFocusChange,
}: Props) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [highlighted, setHighlighted] = useState(-1);
  const isShown = isOpen && options.length > 0;
  const active = isShown ? Math.min(highlighted, options.length - 1) : -1;
  const optionId = (index: number) => `${id}-option-${index}`;

  useLayoutEffect(() => {
    if (active >= 0) list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active, isShown]);

  useLayoutEffect(() => {
    const dialog = field.current?.closest("dialog");
    if (!isShown || !dialog) return;
    place();
    dialog.addEventListener("scroll", place);
    addEventListener("resize", place);
    return () => {
      dialog.removeEventListener("scroll", place);
      removeEventListener("resize", place);
    };
  });

  /** Places the options below the field, or above it if there is more space. A dialog would clip them otherwise. */
  function place() {
    if (!field.current || !popup.current) return;
    const { left, top, bottom, width } = field.current.getBoundingClientRect();
    const { style, offsetHeight } = popup.current;
    const isAbove = innerHeight - bottom < offsetHeight && top > innerHeight - bottom;
    const blockStart = isAbove ? Math.max(0, top - offsetHeight - 4) : bottom + 4;
    Object.assign(style, { position: "fixed", left: `${left}px`, top: `${blockStart}px`, width: `${width}px` });
  }

  const openAt = (index: number) => {
    setOpen(true);
    setHighlighted(index);
  };
  const close = () => setOpen(false);
  const choose = (index: number) => {
    const option = options[index];
    if (!option) return false;
    close();
    onChoose(option.value);
    return true;
  };
  const moveHighlight = (offset: 1 | -1) => {
    if (!isShown) openAt(offset === 1 ? 0 : options.length - 1);
    else
      setHighlighted(
        active < 0 && offset === -1 ? options.length - 1 : (active + offset + options.length) % options.length,
      );
  };
  const onKeyDown = (event: JSX.TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return;
    const isHandled = (() => {
      switch (event.key) {
        case "ArrowDown":
          event.altKey ? openAt(-1) : moveHighlight(1);
          return true;
        case "ArrowUp":
          event.altKey ? close() : moveHighlight(-1);
          return true;
        case "Enter":
          if (choose(active)) return true;
          onEnter?.();
          return false;
        case "Escape":
          // If the list is already closed, Escape must reach the surrounding dialog.
          close();
          return isShown;
        case "Tab":
          choose(active);
          return false;
        default:
          return false;
      }
    })();
    if (!isHandled) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const clear = () => {
    onInput("");
    field.current?.focus();
  };
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(attributes) => (
        <div class="combobox" data-prefix={prefix !== undefined || undefined}>
          {prefix && <span class="combobox-prefix">{prefix}</span>}
          <input
            {...attributes}
            ref={field}
            role="combobox"
            aria-autocomplete="list"
            aria-expanded={isShown}
            aria-controls={`${id}-list`}
            aria-activedescendant={active >= 0 ? optionId(active) : undefined}
            aria-required={isRequired}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            autofocus={autofocus}
            placeholder={placeholder}
            value={text}
            onInput={({ currentTarget: { value } }) => {
              onInput(value);
              openAt(value.trim() === "" ? -1 : 0);
            }}
            onClick={() => openAt(-1)}
            onKeyDown={onKeyDown}
            onFocus={() => onFocusChange?.(true)}
            onBlur={() => {
              close();
              onFocusChange?.(false);
            }}
          />
          {text !== "" && (
            <button
              type="button"
              class="icon combobox-clear"
              tabIndex={-1}
              aria-label={`Clear ${label}`}
              title="Clear"
              onClick={clear}
            >
              <X size={16} aria-hidden="true" />
            </button>
          )}
          {/* Prevent a press on an option from taking the focus from the field. */}
          <div class="options" ref={popup} hidden={!isShown} onMouseDown={(event) => event.preventDefault()}>
            <ul role="listbox" id={`${id}-list`} aria-label={listName} ref={list}>
              {isShown &&
                options.map(({ value, content }, index) => (
                  <li
                    key={value}
                    id={optionId(index)}
                    role="option"
                    aria-selected={index === active}
                    onClick={() => choose(index)}
                  >
                    {content}
                  </li>
                ))}
            </ul>
            {note && <p class="muted small options-note">{note}</p>}
          </div>
          <p class="visually-hidden" role="status">
            {isShown ? `${options.length} suggestions.${note ? ` ${note}` : ""}` : ""}
          </p>
        </div>
      )}
    </Field>
  );
}
