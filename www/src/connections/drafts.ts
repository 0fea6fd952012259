// Tags that are not saved yet, by connection. They outlive the panel: a key that expires takes every view away, and what was
// typed must be there again after the next sign-in.
import type { Connection } from "connector-vault/slim";
import { useCallback, useState } from "preact/hooks";
import { onSignOut } from "../session/forget";

export interface Draft {
  /** The connection that was changed, as it was read. */
  base: Connection;
  tags: readonly string[];
  /** What is in the field and no chip yet. */
  text: string;
}

const drafts = new Map<string, Draft>();
onSignOut(() => drafts.clear());

/** What is kept of a connection: the very object, until something is changed. */
export const keptDraft = (id: string) => drafts.get(id);
export const hasDraft = (id: string | undefined) => id !== undefined && drafts.has(id);
export const dropDraft = (id: string) => void drafts.delete(id);

/** The tags that a text names. */
export const tagsIn = (text: string) => text.split(/[,\n]/).map((tag) => tag.trim()).filter((tag) => tag !== "");

/** All tags of a draft: the chips, and what is still in the field. */
export const allTags = ({ tags, text }: Pick<Draft, "tags" | "text">) => [...tags, ...tagsIn(text)];

export const sameTags = (some: readonly string[], others: readonly string[]) => some.length === others.length && some.every((tag, at) => tag === others[at]);

/** The draft of a connection. Where nothing differs there is none, and the connection's own tags are shown. */
export function useDraft(connection: Connection) {
  const [, draw] = useState(0);
  const { id } = connection;
  const kept = drafts.get(id);
  const draft: Draft = kept ?? { base: connection, tags: connection.tags, text: "" };
  const change = useCallback((next: Draft | undefined) => {
    if (next && !(next.text.trim() === "" && sameTags(next.tags, next.base.tags))) drafts.set(id, next);
    else drafts.delete(id);
    draw((times) => times + 1);
  }, [id]);
  return { draft, isChanged: kept !== undefined, change };
}
