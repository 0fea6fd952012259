// Short-lived tokens, and the permissions of the current key or token.
import { Call } from "glue";
import { jsonBody } from "../core/arguments.js";
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

/** The API key or the token of the client. Only tokens have the members after `expiresAt`. */
export interface Whoami {
  /** The account that it belongs to. */
  account: string;
  /** The environment that it belongs to. */
  environment: Environment;
  /** Its scopes. */
  scopes: Scope[];
  /** When it expires (RFC 3339); null for never. */
  expiresAt: string | null;
  /** The person who is signed in to the console. */
  person?: string;
  /** The identity whose connections the token can access. */
  identity?: string;
  /** The identity type that the token is restricted to; null for all. */
  identityType?: IdentityType | null;
  /** The platforms that the token is restricted to; null for all. */
  platforms?: string[] | null;
  /** `read`: the token can call platforms only with `GET`, `HEAD` and GraphQL queries. */
  access?: "read" | "write";
  /** The actions that the token is limited to, each as `platform/key` or `platform/prefix*`; null for all. */
  actions?: string[] | null;
  /** The ids of the connections that the token is restricted to; null for all of the identity. */
  connections?: string[] | null;
  /** The calls that the user must approve; null for none. */
  confirm?: "write" | "destructive" | null;
  /** The name of the OAuth client with which the token connects accounts; null for the connection's own, or `default`. */
  client?: string | null;
  /** The web origins that the token is restricted to; null for all. */
  origins?: string[] | null;
  /** Values that the user can change in the connect window; null for none. */
  fields?: Record<string, string> | null;
  /** Values that the user can't change; null for none. */
  fixedFields?: Record<string, string> | null;
  /** The language of the connect window, as a BCP 47 tag; null for that of the browser. */
  lang?: string | null;
}

/** A short-lived token for a browser. `JSON.stringify` includes the token, because you send it to the page. */
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
  /** The scopes of the token. */
  scopes: SessionScope[];
  /** The platforms that the token is restricted to, in the vault and in the catalog; null for all. */
  platforms: string[] | null;
  /** `read`: the token can call platforms only with `GET`, `HEAD` and GraphQL queries. */
  access: "read" | "write";
  /** The actions that the token is limited to, each as `platform/key` or `platform/prefix*`; null for all. */
  actions: string[] | null;
  /** The ids of the connections that the token is restricted to; null for all of the identity. */
  connections: string[] | null;
  /** The calls that the user must approve; null for none. */
  confirm: "write" | "destructive" | null;
  /** The name of the OAuth client with which the token connects accounts; null for the connection's own, or `default`. */
  client: string | null;
  /** The web origins that the token is restricted to; null for all. */
  origins: string[] | null;
  /** Values that the user can change in the connect window; null for none. */
  fields: Record<string, string> | null;
  /** Values that the user can't change; null for none. */
  fixedFields: Record<string, string> | null;
  /** The language of the connect window, as a BCP 47 tag; null for that of the browser. */
  lang: string | null;
  /** Only with the scope `connections:connect`: the window in which the token's user connects accounts. It works once. */
  connectUrl?: string;
}

/** A new token. */
export interface NewSession {
  /** The identity whose connections the token can access: 1–256 characters, without commas. */
  identity: string;
  /** Only connections of this identity type. Default: all types. */
  identityType?: IdentityType | undefined;
  /** The scopes of the token, a subset of those of the API key. Default: the key's read-only scopes. */
  scopes?: readonly SessionScope[] | undefined;
  /** Only these platforms of the catalog, at most 20, both in the vault and in the catalog. Default: all platforms. */
  platforms?: readonly string[] | undefined;
  /** `read` allows calls to platforms with `GET`, `HEAD` and GraphQL queries only. Default: `write`. */
  access?: "read" | "write" | undefined;
  /**
   * Only these actions, at most 100, each as `platform/key` or `platform/prefix*`, and no other calls of platforms.
   * Default: all calls.
   */
  actions?: readonly string[] | undefined;
  /** Only the connections with these ids, at most 20, and no new ones. Default: all of the identity. */
  connections?: readonly string[] | undefined;
  /** An agent's calls that the user must approve: each change, or each deletion. Needs the sign-in for agents. Default: none. */
  confirm?: "write" | "destructive" | undefined;
  /**
   * The name of the OAuth client with which the token connects accounts; its user can't choose another one. Default: the
   * connection's own when reconnecting, otherwise `default`.
   */
  client?: string | undefined;
  /** Only pages of these web origins, at most 10, such as `https://app.example.com`. Default: all origins. */
  origins?: readonly string[] | undefined;
  /**
   * Values for the fields of the platform's methods, which the user can change in the connect window; no secrets. Needs
   * `platforms` with one platform.
   */
  fields?: Readonly<Record<string, string>> | undefined;
  /** Like `fields`, but the user can't change them: the token connects accounts with these values only. */
  fixedFields?: Readonly<Record<string, string>> | undefined;
  /**
   * The language of the connect window and of the pages around it, as a BCP 47 tag: English, German, French, Spanish or
   * Japanese, and English for any other. Default: that of the browser.
   */
  lang?: string | undefined;
  /** The lifetime of the token in seconds: 60–3600, default 900. It never outlives the API key. */
  ttlSeconds?: number | undefined;
}

/** Short-lived tokens, which your server creates for a page. Needs an API key with the scope `sessions:create`. */
export interface Sessions {
  /**
   * Creates a token that has access to the connections of one identity. A retry after a lost response creates another
   * token; the first one expires unused.
   */
  create(session: NewSession, options?: CallOptions): Promise<Session>;
  /**
   * Returns the errors that `create` would find in this session, without a request; an empty array if there are none.
   * Only the service knows whether the key has the scopes.
   */
  validateCreate(session: NewSession): readonly Fault[];
}

/** @internal */
export function sessions(executor: Executor): Sessions {
  const buildCreate = (session: NewSession) => () => Call.of("createSession", [], "", ...jsonBody(session, "session"));
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
