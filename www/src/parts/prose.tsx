const MARKED = /(`[^`]+`|\[[^\]]+\]\(https?:[^\s)]+\))/;
const LINK = /^\[(.+)\]\((.+)\)$/;

/** A sentence that somebody wrote in Markdown, of which code and links are told apart. */
export const Prose = ({ text }: { text: string }) => (
  <>
    {text.split(MARKED).map((part, at) => {
      const [, words, href] = LINK.exec(part) ?? [];
      if (href !== undefined) {
        return (
          <a key={at} href={href} rel="noreferrer">
            {words}
          </a>
        );
      }
      return at % 2 === 1 ? <code key={at}>{part.slice(1, -1)}</code> : part;
    })}
  </>
);
