import { Link } from "wouter-preact";

interface Props {
  page: number;
  pages: number;
  /** URL of the page; undefined if there is none. */
  previous: string | undefined;
  next: string | undefined;
}

export function Pager({ page, pages, previous, next }: Props) {
  if (pages <= 1 && page <= 1) return null;
  const pageLink = (name: string, href: string | undefined) =>
    href === undefined ? (
      <span class="button" aria-disabled="true">
        {name}
      </span>
    ) : (
      <Link class="button" href={href} onClick={() => scrollTo(0, 0)}>
        {name}
      </Link>
    );
  return (
    <nav class="pager" aria-label="Pages">
      {pageLink("Previous", previous)}
      <span>
        Page {page.toLocaleString("en")} of {pages.toLocaleString("en")}
      </span>
      {pageLink("Next", next)}
    </nav>
  );
}

/** A pager for lists with the page number in the URL. */
export function NumberedPager({
  page,
  pages,
  getHref,
}: Pick<Props, "page" | "pages"> & { getHref: (values: { page: string | undefined }) => string }) {
  // If the page number is too high, go back to the last page.
  const previousPage = Math.min(page - 1, Math.max(pages, 1));
  const pageHref = (number: number) => getHref({ page: number > 1 ? String(number) : undefined });
  return (
    <Pager
      page={page}
      pages={pages}
      previous={page > 1 ? pageHref(previousPage) : undefined}
      next={page < pages ? pageHref(page + 1) : undefined}
    />
  );
}
