// A connection of an identity to a platform.
import type { ConnectionKey, Environment, PlatformVersion } from "./keys.js";
import type { Names } from "./names.js";

/** The type of an identity. */
export type IdentityType = Names["IdentityType"];

/**
 * The state of a connection.
 * - `operational`: healthy
 * - `degraded`: a token refresh failed, and a retry is pending
 * - `failed`: does not work until the user reconnects it
 * - `unknown`: could not be determined
 */
export type ConnectionState = Names["ConnectionState"];

/** A stored link between an identity and a platform. */
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
  /** The environment of the API key that created it. */
  environment: Environment;
  /** The platform's identifier. */
  platform: string;
  /** The identity that the connection belongs to. */
  identity: string;
  /** The type of the identity. */
  identityType: IdentityType;
  /** The connector's description when the connection was created. */
  description: string;
  /** The state of the connection. */
  state: ConnectionState;
  /** The tags, exactly as they were sent, including order and duplicates. */
  tags: string[];
  /** Starts at `"1"` and goes up by one with every change. */
  version: string;
  /** Whether the connection is active. */
  active: boolean;
  /** When the connection was created: RFC 3339, UTC, with milliseconds. */
  createdAt: string;
}

/** An account at a platform. */
export interface PlatformAccount {
  /** Its ID at the platform, which does not change. */
  id: string;
  /** The human-readable name; null if it is not known, or if the service does not store names. */
  name: string | null;
}

/** A connection with its account at the platform. */
export interface ConnectionWithAccount extends Connection {
  /** The account at the platform; null if it is not known. */
  account: PlatformAccount | null;
}

/** @internal */
export function isConnection(json: unknown): boolean {
  const { id, key, version } = (json ?? {}) as Partial<Connection>;
  return [id, key, version].every((value) => typeof value === "string");
}
