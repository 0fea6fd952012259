// Groups connectors into families by provider. In a flat alphabetical list, hundreds of services of Amazon, Google and
// Azure would hide all others.
import type { Connector } from "connector-vault/slim";

const MIN_FAMILY_SIZE = 10;
/**
 * A word becomes part of a family's name if more than this share of its connectors have the word at the same position
 * in their names.
 */
const [FIRST_WORD_SHARE, NEXT_WORD_SHARE] = [0.5, 0.9];
/** Maps identifier prefixes to the prefix of the same provider. */
const ALIASES: Record<string, string> = {
  amazonaws: "amazon",
  aws: "amazon",
  googleapis: "google",
  hubapi: "hubspot",
  nexmo: "vonage",
};
/** Names of families whose connectors do not contain the name in their own names. */
const FAMILY_NAMES: Record<string, string> = { apisetu: "API Setu" };

export interface Family {
  /** Common prefix of the platform identifiers, which URLs contain. */
  id: string;
  name: string;
  /** The URL of the main connector's logo, if it has one. */
  image: string | undefined;
  /** Well-known connectors first, inactive ones last. */
  connectors: readonly Connector[];
}

const resolveAlias = (word: string) => ALIASES[word] ?? word;
const getProvider = ({ platform }: Connector) => resolveAlias(platform.split("-", 1)[0] ?? platform);
const splitName = ({ name }: Connector) => name.split(/[ .]/);

/** Whether the connector has a brand logo, or is in the catalog although no document describes its actions. */
const isWellKnown = ({ image, tools }: Connector) => image.startsWith(`${location.origin}/logos/`) || tools === 0;
const rank = (connector: Connector) => (connector.active ? (isWellKnown(connector) ? 0 : 1) : 2);
/** Sorts well-known connectors first, inactive ones last. Keeps the order of others. */
const sortByRank = (connectors: readonly Connector[]) => [...connectors].sort((a, b) => rank(a) - rank(b));

/** Groups connectors. Returns the families in alphabetical order, and the connectors without a family. */
export function groupByFamily(connectors: readonly Connector[]): { families: Family[]; others: Connector[] } {
  const groups = new Map<string, Connector[]>();
  for (const connector of connectors) {
    const id = getProvider(connector);
    const group = groups.get(id);
    if (group) group.push(connector);
    else groups.set(id, [connector]);
  }
  const names = new Map<string, string>();
  for (const [id, group] of groups) {
    const name = FAMILY_NAMES[id] ?? findCommonName(group);
    if (group.length >= MIN_FAMILY_SIZE && name !== "") names.set(id, name);
  }
  const getFamilyId = (connector: Connector) =>
    // Also by the first word of the name: "Amazon S3" has the identifier `s3`.
    [getProvider(connector), resolveAlias(splitName(connector)[0]?.toLowerCase() ?? "")].find((id) => names.has(id));
  const families = [...names].map(([id, name]) => {
    const members = sortByRank(connectors.filter((connector) => getFamilyId(connector) === id));
    return { id, name, image: members.find((member) => member.name === name)?.image, connectors: members };
  });
  return {
    families: families.sort((a, b) => a.name.localeCompare(b.name, "en")),
    others: sortByRank(connectors.filter((connector) => getFamilyId(connector) === undefined)),
  };
}

/** Returns the common first words of the connectors' names; empty if there are none. */
function findCommonName(group: readonly Connector[]): string {
  const words: string[] = [];
  for (let matching = group, share = FIRST_WORD_SHARE; ; share = NEXT_WORD_SHARE) {
    const counts = new Map<string, Connector[]>();
    for (const connector of matching) {
      const word = splitName(connector)[words.length] ?? "";
      const group = counts.get(word);
      if (group) group.push(connector);
      else counts.set(word, [connector]);
    }
    const [word, largest] = [...counts].reduce((largestEntry, entry) =>
      entry[1].length > largestEntry[1].length ? entry : largestEntry,
    );
    if (word === "" || largest.length <= share * group.length) return words.join(" ");
    words.push(word);
    matching = largest;
  }
}
