import type { ComponentChildren } from "preact";

/** A status message. The live region is rendered before its text, so that screen readers announce it. */
export const Notice = ({ children }: { children: ComponentChildren }) => (
  <div role="status">
    {children && (
      <p class="note" data-tone="good">
        {children}
      </p>
    )}
  </div>
);
