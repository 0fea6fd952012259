// Why a request may differ from that of npm's `swagger-client`.

const query = (line, change) => line.replace(/\?(.*)$/, (_, text) => `?${text.split("&").flatMap(change).join("&")}`);
const decodedName = (pair) => pair.replace(/^[^=]*/, (name) => decodeURIComponent(name));

/** Each with what makes both requests equal where it is the only difference. */
const OF_REQUESTS = [
  {
    why: "swagger-client leaves out a parameter whose value is empty",
    plain: ({ line, ...rest }) => ({
      line: query(line, (pair) => (pair.endsWith("=") ? [] : [pair])).replace(/\?$/, ""),
      ...rest,
    }),
  },
  {
    why: "swagger-client leaves reserved characters of a name as they are, where `allowReserved` speaks of its value",
    plain: ({ line, ...rest }) => ({ line: query(line, (pair) => [decodedName(pair)]), ...rest }),
  },
];

/** The reason for which two requests differ; undefined when there is none. */
export function reasonOfRequest(ours, theirs) {
  const same = (plain) => JSON.stringify(plain(ours)) === JSON.stringify(plain(theirs));
  return OF_REQUESTS.find(({ plain }) => same(plain))?.why;
}
