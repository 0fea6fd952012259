// The credentials of connections, and their health.
import type { Fault, ProblemCode } from "../core/errors.js";
import type { ConnectionState, IdentityType, PlatformAccount } from "./connection.js";
import type { Names } from "./names.js";

/** Credentials, ready to use. */
export type Credentials = OAuth2Credentials | ApiKeyCredentials | BasicCredentials | BearerCredentials | AwsCredentials;

/** The headers and query parameters to add to a request to the platform. */
export interface Ready {
  /** Headers to send. */
  headers: Record<string, string>;
  /** Query parameters to send. */
  query: Record<string, string>;
}

/** An access token of OAuth 2.0. Refresh tokens never leave the service. */
export interface OAuth2Credentials extends Ready {
  /** The type of the credentials. */
  type: "oauth2";
  /** The name of the OAuth client that obtained them. */
  client: string;
  /** The access token. */
  accessToken: string;
  /** The type of the token, usually `Bearer`. */
  tokenType: string;
  /** When it expires (RFC 3339); null if unknown. */
  expiresAt: string | null;
  /** The scopes that the platform granted. */
  scopes: string[];
}

/** An API key. */
export interface ApiKeyCredentials extends Ready {
  /** The type of the credentials. */
  type: "api_key";
  /** The key. */
  apiKey: string;
}

/** A user name and a password. */
export interface BasicCredentials extends Ready {
  /** The type of the credentials. */
  type: "basic";
  /** The user name. */
  username: string;
  /** The password. */
  password: string;
}

/** A token that does not expire by itself. */
export interface BearerCredentials extends Ready {
  /** The type of the credentials. */
  type: "bearer";
  /** The token. */
  token: string;
}

/** Keys that sign requests with AWS Signature Version 4. */
export interface AwsCredentials {
  /** The type of the credentials. */
  type: "aws_sigv4";
  /** The id of the access key. */
  accessKeyId: string;
  /** The secret access key. */
  secretAccessKey: string;
  /** The token of a temporary session. */
  sessionToken?: string;
  /** The region. */
  region?: string;
}

/** The type of credentials. */
export type CredentialType = Names["CredentialType"];

/** Credentials to import from another service. Only the members of their type are allowed. */
export interface NewCredentials {
  /** The type of the credentials. */
  type: CredentialType;
  /** The id of one of the connector's `authMethods`. Default: the first one of the type. */
  authMethod?: string | undefined;
  /** OAuth 2.0: the access token. */
  accessToken?: string | undefined;
  /** OAuth 2.0: the refresh token, with which the service refreshes the access token. */
  refreshToken?: string | undefined;
  /** OAuth 2.0: when the access token expires (RFC 3339); null if unknown. */
  expiresAt?: string | null | undefined;
  /** OAuth 2.0: the scopes that the platform granted. */
  scopes?: readonly string[] | undefined;
  /** The key. */
  apiKey?: string | undefined;
  /** The user name. */
  username?: string | undefined;
  /** The password. */
  password?: string | undefined;
  /** The token. */
  token?: string | undefined;
  /** AWS: the id of the access key. */
  accessKeyId?: string | undefined;
  /** AWS: the secret access key. */
  secretAccessKey?: string | undefined;
  /** AWS: the token of a temporary session. */
  sessionToken?: string | undefined;
  /** AWS: the region. */
  region?: string | undefined;
  /** Variables of the platform's URLs, by name. */
  fields?: Readonly<Record<string, string>> | undefined;
}

/** A connection to import from another service. */
export interface ImportedConnection {
  /** The platform, ignoring case. */
  platform: string;
  /** The user, team or project that the connection belongs to. */
  identity: string;
  /** The type of the identity. */
  identityType: IdentityType;
  /** Distinguishes connections of one identity to one platform. Default: `default`. */
  label?: string | undefined;
  /** The display name. */
  name?: string | null | undefined;
  /** The tags. */
  tags?: readonly string[] | undefined;
  /** The name of the OAuth client that obtained the credentials. Default: that of the connection, or else `default`. */
  client?: string | undefined;
  /** The id of the OAuth client that obtained the credentials: the account's client for the platform must have it too. */
  clientId?: string | null | undefined;
  /** The credentials. */
  credentials: NewCredentials;
}

/** Connections to import. */
export interface NewImport {
  /** 1–20 connections. */
  connections: readonly ImportedConnection[];
  /** Whether the other service no longer refreshes them, so that this one does. Default: `false`. */
  cutOver?: boolean | undefined;
}

/** The outcome of one imported connection. */
export interface ImportResult {
  /**
   * `created`: there is a new connection. `updated`: the credentials were stored in an existing connection. `unchanged`: the
   * connection already has these credentials. `skipped`: the connection keeps different ones. `failed`: see `error`.
   */
  outcome: "created" | "updated" | "unchanged" | "skipped" | "failed";
  /** The id of the connection, unless its import failed. */
  connectionId?: string;
  /** The error, if its import failed. */
  error?: { code: ProblemCode; title: string; status: number; detail: string; errors?: Fault[] };
}

/** The outcomes of an import. */
export interface ImportResults {
  /** One for each connection, in the same order. */
  results: ImportResult[];
}

/** The health of a connection. */
export interface ConnectionStatus {
  /** The state of the connection. */
  state: ConnectionState;
  /** When it entered this state (RFC 3339). */
  since: string;
  /** The reason for the state; null if none is recorded. */
  reason: { code: string; detail: string; httpStatus: number | null } | null;
  /** Who must act: your `user`, you as the holder of the `account`, or `nobody`. */
  actor: "user" | "account" | "nobody";
  /** How many refreshes have failed since the last success. */
  attempts: number;
  /** When the next refresh is due (RFC 3339); null if none is. */
  nextAttemptAt: string | null;
  /** When the access token expires (RFC 3339); null if unknown. */
  expiresAt: string | null;
  /** When the access token was last refreshed (RFC 3339); null if never. */
  lastRefreshedAt: string | null;
  /** The scopes that the platform granted. */
  scopes: string[];
  /** The scopes that were requested, or granted before, but are not granted now. */
  missingScopes: string[];
  /** Whether the vault stores credentials of the connection. */
  holdsCredentials: boolean;
  /** Whether the connection was imported and another service still refreshes it, so that this one does not. */
  awaitsCutOver: boolean;
  /** The name of the OAuth client that obtained the credentials; null without credentials or for other types. */
  client: string | null;
  /** The connected account; null if it is not known. */
  account: PlatformAccount | null;
}
