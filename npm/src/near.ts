// Which copies of the database may answer a client.

/** The header that asks for copies, and that returns a bookmark. */
const BOOKMARK = "x-vault-bookmark";

/** What a client has seen, so that no copy that is older answers it. @internal */
export class Near {
  #seen = "";

  /** Asks for a copy that has all that the client has seen. */
  ask(headers: Headers): void {
    headers.set(BOOKMARK, this.#seen || "first-unconstrained");
  }

  /** Notes what a response tells of. */
  see(headers: Headers): void {
    const bookmark = headers.get(BOOKMARK);
    if (!bookmark) return;
    // Of one database, the greater one is the later one. Responses may overtake one another.
    const isOther = databaseOf(bookmark) !== databaseOf(this.#seen);
    if (isOther || bookmark > this.#seen) this.#seen = bookmark;
  }
}

const databaseOf = (bookmark: string) => bookmark.slice(0, bookmark.indexOf(".") + 1);
