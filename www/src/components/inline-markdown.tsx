const MARKDOWN_PATTERN = /(`[^`]+`|\[[^\]]+\]\(https?:[^\s)]+\))/;
const LINK_PATTERN = /^\[(.+)\]\((.+)\)$/;

/** Renders the inline code and links of a Markdown text. */
export const InlineMarkdown = ({ text }: { text: string }) => (
  <>
    {text.split(MARKDOWN_PATTERN).map((part, index) => {
      const [, label, href] = LINK_PATTERN.exec(part) ?? [];
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
