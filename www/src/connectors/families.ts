// The providers that offer many of the catalog's platforms: in a list by name, the hundreds of Amazon's, Google's and Azure's
// would hide all others.
import type { Connector } from "connector-vault/slim";

/** Fewer platforms than these stand in the list by themselves. */
const MIN_FAMILY_SIZE = 10;
/** The share of its platforms whose names begin with a family's name: with its first word, and with each further one. */
const [FIRST_WORD_SHARE, NEXT_WORD_SHARE] = [0.5, 0.9];
/** What identifiers of one provider's platforms begin with, where that is not always the same. */
const ALIASES: Record<string, string> = {
  amazonaws: "amazon",
  aws: "amazon",
  googleapis: "google",
  hubapi: "hubspot",
  nexmo: "vonage",
};
/** The names of families whose platforms do not bear them. */
const FAMILY_NAMES: Record<string, string> = { apisetu: "API Setu" };

export interface Family {
  /** What the identifiers of its platforms begin with; it stands in addresses. */
  id: string;
  name: string;
  /** The logo of its main connector, if it has one. */
  image: string | undefined;
  /** Well-known ones come first, inactive ones last. */
  connectors: readonly Connector[];
}

const resolveAlias = (word: string) => ALIASES[word] ?? word;
const providerOf = ({ platform }: Connector) => resolveAlias(platform.split("-", 1)[0] ?? platform);
const wordsOf = ({ name }: Connector) => name.split(/[ .]/);

/** Whether the service itself knows the platform: has the brand's logo, or offers it although no document describes it. */
const isWellKnown = ({ image, tools }: Connector) => image.startsWith(`${location.origin}/logos/`) || tools === 0;
const rank = (connector: Connector) => (connector.active ? (isWellKnown(connector) ? 0 : 1) : 2);
/** Well-known ones first, inactive ones last, else in the order that they are in. */
const sortByRank = (connectors: readonly Connector[]) => [...connectors].sort((a, b) => rank(a) - rank(b));

/** The families among connectors in order of their names, and the connectors that belong to none. */
export function familiesOf(connectors: readonly Connector[]): { families: Family[]; others: Connector[] } {
  const groups = new Map<string, Connector[]>();
  for (const connector of connectors) {
    const id = providerOf(connector);
    const group = groups.get(id);
    if (group) group.push(connector);
    else groups.set(id, [connector]);
  }
  const names = new Map<string, string>();
  for (const [id, group] of groups) {
    const name = FAMILY_NAMES[id] ?? commonName(group);
    if (group.length >= MIN_FAMILY_SIZE && name !== "") names.set(id, name);
  }
  const familyIdOf = (connector: Connector) =>
    // "Amazon S3" is `s3`.
    [providerOf(connector), resolveAlias(wordsOf(connector)[0]?.toLowerCase() ?? "")].find((id) => names.has(id));
  const families = [...names].map(([id, name]) => {
    const members = sortByRank(connectors.filter((connector) => familyIdOf(connector) === id));
    return { id, name, image: members.find((member) => member.name === name)?.image, connectors: members };
  });
  return {
    families: families.sort((a, b) => a.name.localeCompare(b.name, "en")),
    others: sortByRank(connectors.filter((connector) => familyIdOf(connector) === undefined)),
  };
}

/** The words with which most names begin; empty if there are none. */
function commonName(group: readonly Connector[]): string {
  const words: string[] = [];
  for (let sharing = group, share = FIRST_WORD_SHARE; ; share = NEXT_WORD_SHARE) {
    const counts = new Map<string, Connector[]>();
    for (const connector of sharing) {
      const word = wordsOf(connector)[words.length] ?? "";
      const sameWord = counts.get(word);
      if (sameWord) sameWord.push(connector);
      else counts.set(word, [connector]);
    }
    const [word, alike] = [...counts].reduce((most, one) => (one[1].length > most[1].length ? one : most));
    if (word === "" || alike.length <= share * group.length) return words.join(" ");
    words.push(word);
    sharing = alike;
  }
}
