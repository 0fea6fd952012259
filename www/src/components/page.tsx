import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  breadcrumb?: ComponentChildren;
  /** A text next to the title, such as the number of rows. */
  count?: ComponentChildren;
  /** Buttons next to the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Whether the user has navigated since the page loaded. */
let hasNavigated = false;

/** A view with a title. The title receives the focus after navigation. */
export function Page({ title, breadcrumb, count, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasNavigated) heading.current?.focus({ preventScroll: true });
    if (hasNavigated) scrollTo(0, 0);
    hasNavigated = true;
  }, []);
  useEffect(() => {
    document.title = `${title} · connector-vault`;
  }, [title]);
  return (
    <div class="page">
      {breadcrumb && (
        <nav class="breadcrumb" aria-label="Breadcrumb">
          {breadcrumb}
        </nav>
      )}
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <p class="count muted" role="status">
          {count}
        </p>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** Returns the title of the current view, which receives the focus when the focused element is removed. */
export const findPageHeading = () => document.querySelector<HTMLElement>("h1");
