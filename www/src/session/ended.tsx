// What somebody sees whose link opens nothing: an end user, who has no key and has heard of none.
import { useEffect, useRef, useState } from "preact/hooks";
import { SignIn } from "./sign-in";

/** What has become of the link, and what to do about it. */
export const ENDED = {
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

export type EndedReason = keyof typeof ENDED;
export const isEnded = (reason: string | undefined): reason is EndedReason => reason !== undefined && reason in ENDED;

export function Ended({ reason }: { reason: EndedReason }) {
  const [hasKey, setHasKey] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const [title, cure] = ENDED[reason];
  useEffect(() => {
    document.title = `${title} · connector-vault`;
    heading.current?.focus();
  }, [title]);
  if (hasKey) return <SignIn />;
  return (
    <main class="sign-in">
      <div class="card" role="alert">
        <p class="brand">
          <img src="/favicon.svg" width="32" height="32" alt="" /> connector-vault
        </p>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <p>{cure}</p>
        <p class="muted small">Links expire after a while, so that nobody else can use an old one.</p>
      </div>
      <p class="muted small">
        Do you run this service?{" "}
        <button type="button" class="link" onClick={() => setHasKey(true)}>
          Sign in with an API key
        </button>
      </p>
    </main>
  );
}
