import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  /** An element next to the title. */
  icon?: ComponentChildren;
  children?: ComponentChildren;
}

/** Whether a step was shown before. The first step must not take the focus from the surrounding page. */
let hasNavigated = false;

/** A step with a title. The title receives the focus on each change of step. */
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
