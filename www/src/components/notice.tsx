import type { ComponentChildren } from "preact";

/** What has been done, for those who see it and those who hear it. The place is there before the words, so that they are read. */
export const Notice = ({ children }: { children: ComponentChildren }) => (
  <div role="status">
    {children && (
      <p class="note" data-tone="good">
        {children}
      </p>
    )}
  </div>
);
