// Reads from the service's read replicas.

/** The header that allows a replica to respond; its response has the new bookmark. */
const BOOKMARK = "x-vault-bookmark";
/** D1's name for the bookmark of a session that has read nothing yet. */
const FIRST_UNCONSTRAINED = "first-unconstrained";

/** Keeps the bookmark of the latest state that a client has seen, so that no older replica responds to it. @internal */
export class ReplicaSession {
  #bookmark = "";

  setHeader(headers: Headers): void {
    headers.set(BOOKMARK, this.#bookmark || FIRST_UNCONSTRAINED);
  }

  update(headers: Headers): void {
    const bookmark = headers.get(BOOKMARK);
    if (!bookmark) return;
    // Bookmarks of one database sort by time. Responses may arrive out of order.
    const isOtherDatabase = databaseOf(bookmark) !== databaseOf(this.#bookmark);
    if (isOtherDatabase || bookmark > this.#bookmark) this.#bookmark = bookmark;
  }
}

const databaseOf = (bookmark: string) => bookmark.slice(0, bookmark.indexOf(".") + 1);
