const TOKEN = /(`[^`]+`|\[[^\]]+\]\(https?:[^\s)]+\))/;
const LINK = /^\[(.+)\]\((.+)\)$/;

/** Text with Markdown's inline code and links. */
export const InlineMarkdown = ({ text }: { text: string }) => (
  <>
    {text.split(TOKEN).map((part, at) => {
      const [, label, href] = LINK.exec(part) ?? [];
      if (href !== undefined) {
        return (
          <a key={at} href={href} rel="noreferrer">
            {label}
          </a>
        );
      }
      return at % 2 === 1 ? <code key={at}>{part.slice(1, -1)}</code> : part;
    })}
  </>
);
