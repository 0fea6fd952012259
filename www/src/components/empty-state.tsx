import type { ComponentChildren } from "preact";

export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <p class="empty-state-title">{title}</p>
      {children && <div class="muted">{children}</div>}
    </div>
  );
}
