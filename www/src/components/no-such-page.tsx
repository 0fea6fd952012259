import { Link } from "wouter-preact";
import { EmptyState } from "./empty-state";

/** The message for a page number beyond the end of a list. */
export const NoSuchPage = ({ firstHref }: { firstHref: string }) => (
  <EmptyState title="This page does not exist">
    <Link href={firstHref}>Go to the first page</Link>
  </EmptyState>
);
