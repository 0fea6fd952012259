import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  /** Where this view belongs. */
  breadcrumb?: ComponentChildren;
  /** Beside the title: how many there are. */
  count?: ComponentChildren;
  /** What can be done here. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Whether the address has led to another view since the page was loaded. */
let hasNavigated = false;

/** A view under its title, which gets the focus when one comes from another view. */
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
        <nav class="above" aria-label="Breadcrumb">
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
