// Allows the service's read replicas to serve reads.

/** In requests, allows a replica to respond. In responses, contains the new bookmark. */
const BOOKMARK_HEADER = "x-vault-bookmark";
/** D1's constraint for the first read of a session: any replica may respond. */
const FIRST_UNCONSTRAINED = "first-unconstrained";

/** Stores the latest bookmark that a client has seen, so that no replica with older data responds. @internal */
export class ReplicaSession {
  #bookmark = "";

  setHeader(headers: Headers): void {
    headers.set(BOOKMARK_HEADER, this.#bookmark || FIRST_UNCONSTRAINED);
  }

  update(headers: Headers): void {
    const bookmark = headers.get(BOOKMARK_HEADER);
    if (!bookmark) return;
    // Responses may arrive out of order. Bookmarks of one database sort by time.
    const isOtherDatabase = parseDatabase(bookmark) !== parseDatabase(this.#bookmark);
    if (isOtherDatabase || bookmark > this.#bookmark) this.#bookmark = bookmark;
  }
}

const parseDatabase = (bookmark: string) => bookmark.slice(0, bookmark.indexOf(".") + 1);
