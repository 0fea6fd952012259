const TOKEN = /(`[^`]+`|\[[^\]]+\]\(https?:[^\s)]+\))/;
const LINK = /^\[(.+)\]\((.+)\)$/;

/** Renders the inline code and links of a Markdown text. */
export const InlineMarkdown = ({ text }: { text: string }) => (
  <>
    {text.split(TOKEN).map((part, index) => {
      const [, label, href] = LINK.exec(part) ?? [];
      if (href !== undefined) {
        return (
          <a key={index} href={href} rel="noreferrer">
            {label}
          </a>
        );
      }
      return index % 2 === 1 ? <code key={index}>{part.slice(1, -1)}</code> : part;
    })}
  </>
);
