// Inserts thousands of connections directly into the database. The nth one is a function of `n`.
import { randomUUID } from "node:crypto";
import { seed } from "./vault.mjs";

const TYPES = ["user", "team", "organization", "project"];
const STATES = ["operational", "degraded", "failed", "unknown"];
const PLATFORMS = 60;
const FIRST_CREATED_AT = Date.UTC(2026, 0, 1);

/** The nth connection: 25 share an identity, a few a name, 30 a rare tag; every third one has the tag `third`. */
export function connectionNumber(n) {
  const block = String(Math.floor(n / 25)).padStart(5, "0");
  return {
    id: randomUUID(),
    platform: `platform-${n % PLATFORMS}`,
    platformVersion: `v${1 + (Math.floor(n / PLATFORMS) % 3)}`,
    identity: `Group-${block}`,
    identityType: TYPES[(n >> 1) % 4],
    name: [null, `Ñame ${block}`, `group-${block} itself`][n % 3],
    state: STATES[(n >> 2) % 4],
    tags: ["all", `t-${n % 100}`, `rare-${Math.floor(n / 30)}`, ...(n % 3 ? [] : ["third"])],
    active: n % 7 !== 3,
    // Four connections share each millisecond.
    createdAt: FIRST_CREATED_AT + Math.floor(n / 4),
  };
}

/** Inserts `count` connections of an account, and returns them. */
export async function insertConnections(database, account, count) {
  const rows = Array.from({ length: count }, (_, n) => connectionNumber(n));
  await seed(database, account, rows);
  return rows;
}
