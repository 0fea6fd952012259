import type { ConnectionKey, Environment, PlatformVersion } from "./keys.js";
import type { Names } from "./names.js";

export type IdentityType = Names["IdentityType"];

/**
 * The state of a connection.
 * - `operational`: healthy
 * - `degraded`: a token refresh failed, and the service will retry it
 * - `failed`: does not work until the user reconnects
 * - `unknown`: not determined
 */
export type ConnectionState = Names["ConnectionState"];

/** A connection of an identity to a platform. */
export interface Connection {
  /** A UUID in lower case. */
  id: string;
  /** The version of the platform's API: `v` and a number. */
  platformVersion: PlatformVersion;
  /** The display name; null if unset. */
  name: string | null;
  /** Always `api`. */
  type: "api";
  /** `<environment>::<platform>::<label>::<identity>`; unique within an account. */
  key: ConnectionKey;
  /** The environment of the API key that created the connection. */
  environment: Environment;
  platform: string;
  /** Your own identifier of the user, team, organization or project that the connection belongs to. */
  identity: string;
  identityType: IdentityType;
  /** The connector's description when the connection was created. */
  description: string;
  state: ConnectionState;
  /** In the order in which they were set, including duplicates. */
  tags: string[];
  /** Starts at `"1"`. Every change increments it. */
  version: string;
  active: boolean;
  /** RFC 3339 in UTC, with milliseconds. */
  createdAt: string;
}

/** An account at a platform. */
export interface PlatformAccount {
  /** The account's id at the platform, which never changes. */
  id: string;
  /** The account's name at the platform; null if it is unknown, or if the service does not store names. */
  name: string | null;
}

/** A connection with its account at the platform. */
export interface ConnectionWithAccount extends Connection {
  /** Null if the account is unknown. */
  account: PlatformAccount | null;
}

/** @internal */
export function isConnection(json: unknown): boolean {
  const { id, key, version } = (json ?? {}) as Partial<Connection>;
  return [id, key, version].every((value) => typeof value === "string");
}
