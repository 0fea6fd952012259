// Collects the response headers of an operation. Most are the same for every status.

export interface ResponseHeader {
  name: string;
  description: string;
  /** "every response", with any exceptions, or a list of statuses. */
  statuses: string;
}

/**
 * Returns all response headers of an operation, common ones last. `document` is the OpenAPI document as an Immutable.js
 * map.
 */
export function collectHeaders(document: any, path: string, method: string): ResponseHeader[] {
  const dereference = (value: any): any => {
    const reference: string | undefined = value?.get("$ref");
    return reference === undefined ? value : dereference(document.getIn(reference.replace(/^#\//, "").split("/")));
  };
  const byName = new Map<string, { description: string; statuses: string[] }>();
  const responses = document.getIn(["paths", path, method, "responses"]);
  responses?.forEach((response: any, status: string) => {
    dereference(response)
      .get("headers")
      ?.forEach((header: any, name: string) => {
        const { statuses } =
          byName.get(name) ??
          byName
            .set(name, { description: withoutBackticks(dereference(header).get("description") ?? ""), statuses: [] })
            .get(name)!;
        statuses.push(status);
      });
  });
  const allStatuses = [...responses.keys()] as string[];
  const describeStatuses = (statuses: string[]) => {
    const otherStatuses = allStatuses.filter((status) => !statuses.includes(status));
    if (otherStatuses.length >= statuses.length) return statuses.join(", ");
    return otherStatuses.length === 0 ? EVERY_RESPONSE : `${EVERY_RESPONSE} except ${otherStatuses.join(", ")}`;
  };
  return [...byName]
    .map(([name, { description, statuses }]) => ({ name, description, statuses: describeStatuses(statuses) }))
    .sort((a, b) => Number(a.statuses.startsWith(EVERY_RESPONSE)) - Number(b.statuses.startsWith(EVERY_RESPONSE)));
}

const EVERY_RESPONSE = "every response";
const withoutBackticks = (markdown: string) => markdown.replaceAll("`", "");
