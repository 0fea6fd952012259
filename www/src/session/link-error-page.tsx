// The page for end users whose link is invalid. They have no API key, so the sign-in page would not help.
import { useEffect, useRef } from "preact/hooks";

/** The title and advice for each error. */
export const LINK_ERRORS = {
  "token-refused": ["Your link has expired", "Get a new link where you got this one. It opens this page again."],
  "link-refused": [
    "This link no longer works",
    "It has expired or was changed on its way to you. Get a new link where you got this one.",
  ],
  "link-damaged": [
    "This link is damaged",
    "Part of it is missing or was changed, perhaps by a line break. Open it again where you got it, or paste the whole link into the address bar.",
  ],
  "link-left": ["You are signed out", "To sign in again, open your link where you got it."],
} as const;

export type LinkError = keyof typeof LINK_ERRORS;
export const isLinkError = (reason: string | undefined): reason is LinkError =>
  reason !== undefined && reason in LINK_ERRORS;

export function LinkErrorPage({ reason }: { reason: LinkError }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [title, advice] = LINK_ERRORS[reason];
  useEffect(() => {
    document.title = `${title} · connector-vault`;
    heading.current?.focus();
  }, [title]);
  return (
    <main class="sign-in">
      <div class="card" role="alert">
        <p class="brand">
          <img src="/favicon.svg" width="32" height="32" alt="" /> connector-vault
        </p>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <p>{advice}</p>
        <p class="muted small">Links expire after a while, so that old ones can't be misused.</p>
      </div>
    </main>
  );
}
