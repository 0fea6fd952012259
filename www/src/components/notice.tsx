import type { ComponentChildren } from "preact";

/** A status message. Screen readers announce it only because the live region exists before its text. */
export const Notice = ({ children }: { children: ComponentChildren }) => (
  <div role="status">
    {children && (
      <p class="note" data-tone="good">
        {children}
      </p>
    )}
  </div>
);
