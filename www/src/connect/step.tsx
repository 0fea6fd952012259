import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  /** Beside the title. */
  icon?: ComponentChildren;
  children?: ComponentChildren;
}

/** Whether somebody has come from another step: the first one must not take the focus from the page around the window. */
let hasNavigated = false;

/** A step under its title, which gets the focus when one comes from another step. */
export function Step({ title, icon, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title;
    if (hasNavigated) heading.current?.focus();
    hasNavigated = true;
  }, [title]);
  return (
    <>
      <div class="step-title">
        {icon}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
      </div>
      {children}
    </>
  );
}
