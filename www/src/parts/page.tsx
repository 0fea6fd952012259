import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  /** Where this view belongs. */
  above?: ComponentChildren;
  /** Beside the title: how many there are. */
  count?: ComponentChildren;
  /** What can be done here. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Whether the address has led to another view since the page was loaded. */
let moved = false;

/** A view under its title, which gets the focus when one comes from another view. */
export function Page({ title, above, count, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (moved) heading.current?.focus({ preventScroll: true });
    if (moved) scrollTo(0, 0);
    moved = true;
  }, []);
  useEffect(() => {
    document.title = `${title} · connector-vault`;
  }, [title]);
  return (
    <div class="page">
      {above && (
        <nav class="above" aria-label="Breadcrumb">
          {above}
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
