import { Link } from "wouter-preact";
import { EmptyState } from "./empty-state";

interface Props {
  title: string;
  suggestions: readonly string[];
  getHref: (name: string) => string;
}

/** The message for an unknown name in the URL, with links to similar names. */
export function Suggestions({ title, suggestions, getHref }: Props) {
  return (
    <EmptyState title={title}>
      {suggestions.length > 0 && (
        <p>
          Did you mean{" "}
          {suggestions.map((name, index) => (
            <span key={name}>
              {index > 0 && ", "}
              <Link href={getHref(name)}>{name}</Link>
            </span>
          ))}
          ?
        </p>
      )}
    </EmptyState>
  );
}
