import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  /** Beside the title. */
  mark?: ComponentChildren;
  children?: ComponentChildren;
}

/** Whether somebody has come from another step: the first one must not take the focus from the page around the window. */
let moved = false;

/** A step under its title, which gets the focus when one comes from another step. */
export function Step({ title, mark, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title;
    if (moved) heading.current?.focus();
    moved = true;
  }, [title]);
  return (
    <>
      <div class="step-title">
        {mark}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
      </div>
      {children}
    </>
  );
}
