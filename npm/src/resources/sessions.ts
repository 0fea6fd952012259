// Short-lived tokens, and the permissions of the client's own key or token.
import { Call } from "glue";
import { serializeBody } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import type { IdentityType } from "../types/connection.js";
import type { Fault } from "../core/errors.js";
import type { Environment } from "../types/keys.js";
import type { Names } from "../types/names.js";

/** A scope of an API key. */
export type Scope = Names["Scope"];

/** A scope of a short-lived token. */
export type SessionScope = Names["SessionScope"];

/** The client's API key or token. The members after `expiresAt` exist only for tokens. */
export interface Whoami {
  account: string;
  environment: Environment;
  scopes: Scope[];
  /** When the key or token expires (RFC 3339); null for never. */
  expiresAt: string | null;
  /**
   * The person signed in to the console: their verified email address, or their subject at the provider. Present only
   * for a console token.
   */
  person?: string;
  /** The identity whose connections the token can access. */
  identity?: string;
  /** The identity type that the token is restricted to; null for all. */
  identityType?: IdentityType | null;
  /** The platforms that the token is restricted to; null for all. */
  platforms?: string[] | null;
  /** `read`: the token can call platforms only with `GET`, `HEAD` and GraphQL queries. */
  access?: "read" | "write";
  /** The actions that the token is restricted to, each as `platform/key` or `platform/prefix*`; null for all. */
  actions?: string[] | null;
  /** The ids of the connections that the token is restricted to; null for all connections of the identity. */
  connections?: string[] | null;
  /** The calls that the user must approve; null for none. */
  confirm?: "write" | "destructive" | null;
  /**
   * The OAuth client with which the token connects accounts; null for the connection's own client, otherwise `default`.
   */
  client?: string | null;
  /** The web origins that the token is restricted to; null for all. */
  origins?: string[] | null;
  /** Initial values of fields, which the user can change in the connect window; null for none. */
  fields?: Record<string, string> | null;
  /** Values of fields that the user can't change; null for none. */
  fixedFields?: Record<string, string> | null;
  /** The language of the connect window, as a BCP 47 tag; null for the browser's language. */
  lang?: string | null;
}

/**
 * A short-lived token for a browser. `JSON.stringify` includes the token, so that your server can send it to the page.
 */
export interface Session {
  /** The token: `st_test_…` or `st_live_…`. Use it like an API key. */
  token: string;
  /** When the token expires (RFC 3339). */
  expiresAt: string;
  /** The environment of the API key that created the token. */
  environment: Environment;
  /** The identity whose connections the token can access. */
  identity: string;
  /** The identity type that the token is restricted to; null for all. */
  identityType: IdentityType | null;
  scopes: SessionScope[];
  /** The platforms that the token is restricted to, both in the vault and in the catalog; null for all. */
  platforms: string[] | null;
  /** `read`: the token can call platforms only with `GET`, `HEAD` and GraphQL queries. */
  access: "read" | "write";
  /** The actions that the token is restricted to, each as `platform/key` or `platform/prefix*`; null for all. */
  actions: string[] | null;
  /** The ids of the connections that the token is restricted to; null for all connections of the identity. */
  connections: string[] | null;
  /** The calls that the user must approve; null for none. */
  confirm: "write" | "destructive" | null;
  /**
   * The OAuth client with which the token connects accounts; null for the connection's own client, otherwise `default`.
   */
  client: string | null;
  /** The web origins that the token is restricted to; null for all. */
  origins: string[] | null;
  /** Initial values of fields, which the user can change in the connect window; null for none. */
  fields: Record<string, string> | null;
  /** Values of fields that the user can't change; null for none. */
  fixedFields: Record<string, string> | null;
  /** The language of the connect window, as a BCP 47 tag; null for the browser's language. */
  lang: string | null;
  /**
   * The URL of the connect window for the token's user, which works once. Only with the scope `connections:connect`.
   */
  connectUrl?: string;
}

/** A new token. */
export interface NewSession {
  /** The identity whose connections the token can access: 1–256 characters, without commas. */
  identity: string;
  /** Restricts the token to connections of this identity type. Default: all types. */
  identityType?: IdentityType | undefined;
  /** A subset of the API key's scopes. Default: the key's read-only scopes. */
  scopes?: readonly SessionScope[] | undefined;
  /** Only these platforms of the catalog, at most 20, both in the vault and in the catalog. Default: all platforms. */
  platforms?: readonly string[] | undefined;
  /** `read`: the token can call platforms only with `GET`, `HEAD` and GraphQL queries. Default: `write`. */
  access?: "read" | "write" | undefined;
  /**
   * Restricts calls to platforms to these actions, at most 100, each as `platform/key` or `platform/prefix*`. Default:
   * all calls.
   */
  actions?: readonly string[] | undefined;
  /**
   * Restricts the token to the connections with these ids, at most 20. It can't create others. Default: all of the
   * identity.
   */
  connections?: readonly string[] | undefined;
  /**
   * The calls of an agent at `POST /mcp` that the user must approve; other endpoints return a 403 for them. Needs the
   * sign-in for agents. Default: none.
   */
  confirm?: "write" | "destructive" | undefined;
  /**
   * The OAuth client with which the token connects accounts. The user can't choose another one. Default: the
   * connection's own client for a reconnect, otherwise `default`.
   */
  client?: string | undefined;
  /** Only pages of these web origins, at most 10, such as `https://app.example.com`. Default: all origins. */
  origins?: readonly string[] | undefined;
  /**
   * Initial values for the fields of the platform's methods, which the user can change in the connect window. Must not
   * be secrets. Needs `platforms` with exactly one platform.
   */
  fields?: Readonly<Record<string, string>> | undefined;
  /** Like `fields`, but the user can't change the values. The token can't connect accounts with other values. */
  fixedFields?: Readonly<Record<string, string>> | undefined;
  /**
   * The language of the connect window and of related pages, as a BCP 47 tag: English, German, French, Spanish or
   * Japanese. Other languages fall back to English. Default: the browser's language.
   */
  lang?: string | undefined;
  /** The lifetime of the token in seconds: 60–3600, default 900. It never outlives the API key. */
  ttlSeconds?: number | undefined;
}

/** Short-lived tokens, which your server creates for a page. Needs an API key with the scope `sessions:create`. */
export interface Sessions {
  /**
   * Creates a token that has access to the connections of one identity. Retried after temporary failures: if a response
   * is lost, the first token expires unused.
   */
  create(session: NewSession, options?: CallOptions): Promise<Session>;
  /**
   * Returns the validation errors of `create` without a request; an empty array if there are none. Does not check
   * whether the key has the scopes.
   */
  validateCreate(session: NewSession): readonly Fault[];
}

/** @internal */
export function sessions(executor: Executor): Sessions {
  const buildCreate = (session: NewSession) => () =>
    Call.of("createSession", [], "", ...serializeBody(session, "session"));
  return {
    create: async (session, options) =>
      executor.send(
        buildCreate(session),
        checkCallOptions(options),
        (json) => typeof (json as Partial<Session> | null)?.token === "string",
      ),
    validateCreate: (session) => executor.validate(buildCreate(session)),
  };
}
