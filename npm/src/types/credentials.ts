// The credentials and the status of connections.
import type { Fault, ProblemCode } from "../core/errors.js";
import type { ConnectionState, IdentityType, PlatformAccount } from "./connection.js";
import type { Names } from "./names.js";

/** The credentials of a connection. */
export type Credentials = OAuth2Credentials | ApiKeyCredentials | BasicCredentials | BearerCredentials | AwsCredentials;

/** The headers and query parameters to add to a request to the platform. */
export interface Ready {
  headers: Record<string, string>;
  query: Record<string, string>;
}

/** An OAuth 2.0 access token. Refresh tokens never leave the service. */
export interface OAuth2Credentials extends Ready {
  type: "oauth2";
  /** The name of the OAuth client that obtained them. */
  client: string;
  accessToken: string;
  /** Usually `Bearer`. */
  tokenType: string;
  /** When the access token expires (RFC 3339); null if unknown. */
  expiresAt: string | null;
  /** The scopes that the platform granted. */
  scopes: string[];
}

export interface ApiKeyCredentials extends Ready {
  type: "api_key";
  apiKey: string;
}

export interface BasicCredentials extends Ready {
  type: "basic";
  username: string;
  password: string;
}

/** A static bearer token. */
export interface BearerCredentials extends Ready {
  type: "bearer";
  token: string;
}

/** Keys that sign requests with AWS Signature Version 4. */
export interface AwsCredentials {
  type: "aws_sigv4";
  accessKeyId: string;
  secretAccessKey: string;
  /** Only for temporary credentials. */
  sessionToken?: string;
  region?: string;
}

export type CredentialType = Names["CredentialType"];

/** Credentials to import from another service. Only members of the given type are allowed. */
export interface NewCredentials {
  type: CredentialType;
  /** The id of one of the connector's `authMethods`. Default: the first method of the type. */
  authMethod?: string | undefined;
  /** Only with the type `oauth2`. */
  accessToken?: string | undefined;
  /** Only with the type `oauth2`. Without it, the service can't refresh the access token. */
  refreshToken?: string | undefined;
  /** When the access token expires (RFC 3339); null if unknown. Only with the type `oauth2`. */
  expiresAt?: string | null | undefined;
  /** The scopes that the platform granted. Only with the type `oauth2`. */
  scopes?: readonly string[] | undefined;
  apiKey?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
  token?: string | undefined;
  /** Only with the type `aws_sigv4`. */
  accessKeyId?: string | undefined;
  /** Only with the type `aws_sigv4`. */
  secretAccessKey?: string | undefined;
  /** Only with the type `aws_sigv4`, for temporary credentials. */
  sessionToken?: string | undefined;
  /** Only with the type `aws_sigv4`. */
  region?: string | undefined;
  /** Values of variables in the platform's URLs, by name. */
  fields?: Readonly<Record<string, string>> | undefined;
}

/** A connection to import from another service. */
export interface ImportedConnection {
  /** A platform of the catalog, ignoring case. */
  platform: string;
  /** Your own identifier of the user, team, organization or project that the connection belongs to. */
  identity: string;
  identityType: IdentityType;
  /** Distinguishes connections of one identity to one platform. Default: `default`. */
  label?: string | undefined;
  name?: string | null | undefined;
  tags?: readonly string[] | undefined;
  /**
   * The name of the OAuth client that obtained the credentials. Default: the connection's client, otherwise `default`.
   */
  client?: string | undefined;
  /**
   * The `clientId` of the OAuth client that obtained the credentials. Must match the account's client for the platform.
   */
  clientId?: string | null | undefined;
  credentials: NewCredentials;
}

export interface NewImport {
  /** 1–20 connections. */
  connections: readonly ImportedConnection[];
  /**
   * Whether this service refreshes the credentials from now on, because the other service has stopped. Default:
   * `false`.
   */
  cutOver?: boolean | undefined;
}

/** The outcome of the import of one connection. */
export interface ImportResult {
  /**
   * `created`: a new connection was created. `updated`: the credentials were stored in an existing connection.
   * `unchanged`: the connection already had these credentials. `skipped`: the connection has other credentials, which
   * were not replaced. `failed`: see `error`.
   */
  outcome: "created" | "updated" | "unchanged" | "skipped" | "failed";
  /** Absent if the import failed. */
  connectionId?: string;
  /** Only if the import failed. */
  error?: { code: ProblemCode; title: string; status: number; detail: string; errors?: Fault[] };
}

/** The outcome of an import. */
export interface ImportResults {
  /** One result for each connection, in the same order. */
  results: ImportResult[];
}

/** The health of a connection. */
export interface ConnectionStatus {
  state: ConnectionState;
  /** When the connection entered its state (RFC 3339). */
  since: string;
  /** The reason for the state; null if none is recorded. */
  reason: { code: string; detail: string; httpStatus: number | null } | null;
  /** Who must act: your `user`, the owner of the `account` (you), or `nobody`. */
  actor: "user" | "account" | "nobody";
  /** The number of failed refreshes since the last successful one. */
  attempts: number;
  /** When the next refresh is due (RFC 3339); null if none is scheduled. */
  nextAttemptAt: string | null;
  /** When the access token expires (RFC 3339); null if unknown. */
  expiresAt: string | null;
  /** When the access token was last refreshed (RFC 3339); null if never. */
  lastRefreshedAt: string | null;
  /** The scopes that the platform granted. */
  scopes: string[];
  /** Scopes that were requested or previously granted, but are not granted now. */
  missingScopes: string[];
  /** Whether the vault stores credentials for the connection. */
  holdsCredentials: boolean;
  /** Whether another service still refreshes this imported connection, so this service does not. */
  awaitsCutOver: boolean;
  /** The ID of the connector's auth method that the credentials are for; null if the vault has none. */
  authMethod: string | null;
  /** The name of the OAuth client that obtained the credentials; null if there are none, or if they are not OAuth. */
  client: string | null;
  /** The connected account at the platform; null if unknown. */
  account: PlatformAccount | null;
}
