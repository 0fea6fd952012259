// Downloads the description that an instance of a platform publishes about itself, for `npm run catalog -- import-instance`.
//
//   node scripts/sources/instance.mjs
//
// Standard input is JSON: { url, headers, local, file }. `local` allows addresses of this machine. Standard output is JSON:
// {}, and the description is in `file`, or { error }.
import { lookup } from "node:dns";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { BlockList, isIPv6 } from "node:net";
import { text } from "node:stream/consumers";
import { main } from "../lib/problem.mjs";
import { MAX_BYTES } from "./cache.mjs";

const TIMEOUT_MS = 300_000;

/** Networks that are not public: RFC 6890 and multicast. */
const PRIVATE = new BlockList();
const NETWORKS = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"],
  ...["::/127", "64:ff9b::/96", "fc00::/7", "fe80::/10", "ff00::/8"],
];
for (const network of NETWORKS) {
  const [address, bits] = network.split("/");
  PRIVATE.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
}

/** Whether an address is in a private network. An IPv4 address that is mapped to IPv6 counts as the IPv4 address. */
export const isPrivate = (address) => PRIVATE.check(address, isIPv6(address) ? "ipv6" : "ipv4");

/** A DNS lookup that fails if a name resolves to a private address. */
export function publicLookup(host, options, done) {
  lookup(host, { ...options, all: true }, (error, addresses = []) => {
    if (error) return done(error);
    const privateAddress = addresses.find(({ address }) => isPrivate(address));
    if (privateAddress) return done(new Error(`${host} is ${privateAddress.address}, which is in a private network`));
    return options.all ? done(null, addresses) : done(null, addresses[0].address, addresses[0].family);
  });
}

/**
 * Downloads a description.
 * @param {{ url: string, headers: object, local?: boolean }} options `local` allows addresses of this machine
 */
export async function describe({ url, headers, local }) {
  // A proxy resolves the name itself, and the proxy's own address may be private.
  const isProxied = Boolean(process.env.HTTPS_PROXY ?? process.env.https_proxy);
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  const outgoing = request(url, {
    headers: { "user-agent": "connector-vault", "accept-encoding": "identity", ...headers },
    lookup: local || isProxied ? undefined : publicLookup,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  outgoing.end();
  const [response] = await once(outgoing, "response");
  const { statusCode, headers: received } = response;
  if (statusCode !== 200) {
    response.destroy();
    const to = received.location ? `, and redirects to ${received.location}` : "";
    const hint = statusCode === 401 || statusCode === 403 ? ": pass --authorization" : "";
    throw new Error(`the instance responded with ${statusCode}${to}${hint}`);
  }
  const chunks = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the description is larger than ${MAX_BYTES >> 20} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

if (process.argv[1] === import.meta.filename) {
  await main(async () => {
    const { file, ...wanted } = JSON.parse(await text(process.stdin));
    try {
      writeFileSync(file, await describe(wanted));
      console.log("{}");
    } catch (error) {
      const reason = error.code ? `the instance could not be reached: ${error.code}` : error.message;
      console.log(JSON.stringify({ error: reason }));
    }
  });
}
