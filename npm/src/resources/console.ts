// Sign-in to the console, and the sessions of people in it.
import { Call } from "glue";
import { copyMembers, serializeBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import type { Scope } from "./sessions.js";
import type { Fault } from "../core/errors.js";
import type { ConsoleSessionFilters } from "../types/filters.js";

/** The configuration of sign-in to the console. */
export interface ConsoleSignIn {
  /** The URL at which people sign in. */
  signInUrl: string;
  /** `oidc`: an OpenID provider. `access`: Cloudflare Access. */
  type: "oidc" | "access";
  /** The provider's issuer; null with `access`. */
  issuer: string | null;
  /** The client at the provider; null with `access`. */
  clientId: string | null;
  /** Whether the service has the client's secret. */
  hasSecret: boolean;
  /** The scopes that are requested from the provider; null with `access`. */
  scopes: string[] | null;
  /** The redirect URI to register at the provider; null with `access`. */
  redirectUri: string | null;
  /** The domain of the Access team; null with `oidc`. */
  teamDomain: string | null;
  /** The audience of the Access application; null with `oidc`. */
  audience: string | null;
  /** The claim with a person's roles: its name, or a JSON Pointer. */
  claim: string;
  /** The scopes that each value of the claim grants. */
  roles: Record<string, Scope[]>;
  /** The id of the API key whose scopes limit the scopes of people. */
  keyId: string;
  /** When sign-in was enabled (RFC 3339). */
  createdAt: string;
  /** When the configuration was last changed (RFC 3339). */
  updatedAt: string;
}

/** A new configuration of sign-in to the console. */
export interface NewConsoleSignIn {
  /** An OpenID provider, or Cloudflare Access. */
  type: "oidc" | "access";
  /** The provider's issuer. Required with `oidc`. */
  issuer?: string | undefined;
  /** The client that you registered at the provider. Required with `oidc`. */
  clientId?: string | undefined;
  /** The client's secret. If omitted, it does not change unless `issuer` or `clientId` changes. Null removes it. */
  clientSecret?: string | null | undefined;
  /** The scopes to request from the provider. Default: `openid`, `profile` and `email`. */
  scopes?: readonly string[] | undefined;
  /** The domain of your Access team. Required with `access`. */
  teamDomain?: string | undefined;
  /** The AUD tag of the Access application. Required with `access`. */
  audience?: string | undefined;
  /** The claim with a person's roles: its name, or a JSON Pointer. */
  claim: string;
  /** The scopes that each value of the claim grants. The caller must have all of them. */
  roles: Readonly<Record<string, readonly Scope[]>>;
}

/** Sign-in to the console. Needs the scope `console:read`; changes need `console:write`. */
export interface ConsoleSignIns {
  get(options?: CallOptions): Promise<ConsoleSignIn>;
  /** Replaces the configuration, ends all sessions, and returns it. */
  set(signIn: NewConsoleSignIn, options?: CallOptions): Promise<ConsoleSignIn>;
  /** Returns the validation errors of `set` without a request; an empty array if there are none. */
  validateSet(signIn: NewConsoleSignIn): readonly Fault[];
  /** Disables sign-in, and ends all sessions. */
  delete(options?: CallOptions): Promise<void>;
}

/** A person who is signed in to the console. */
export interface ConsoleSession {
  id: string;
  /** The person's verified email address, otherwise the provider's `sub` claim. */
  person: string;
  /** The scopes of the person's roles. */
  scopes: Scope[];
  /** Whether it is the caller's own session. */
  current: boolean;
  /** When the person signed in (RFC 3339). */
  createdAt: string;
  /** When the session was last used, accurate to a minute (RFC 3339). */
  lastUsedAt: string;
  /** When the session ends if it is not used before (RFC 3339). */
  expiresAt: string;
}

export interface ConsoleSessionPage {
  /** Newest first. */
  rows: ConsoleSession[];
  /** The cursor for `before`; null on the last page. */
  next: string | null;
}

/**
 * The sessions of people in the console. Needs the scope `console:read`; ending other people's needs `console:write`.
 */
export interface ConsoleSessions {
  /** Lists sessions, newest first. */
  list(filters?: ConsoleSessionFilters, options?: CallOptions): Promise<ConsoleSessionPage>;
  /** Ends a session. The service rejects its next request. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Ends the caller's own session. Only with a person's token. */
  signOut(options?: CallOptions): Promise<void>;
}

const isSignIn = (json: unknown) => typeof (json as Partial<ConsoleSignIn> | null)?.signInUrl === "string";
const isPage = (json: unknown) => Array.isArray((json as Partial<ConsoleSessionPage> | null)?.rows);
const isDeleted = (_: unknown, status: number) => status === 204;

async function sendDeletion(executor: Executor, call: () => Call, options: CallOptions | undefined): Promise<void> {
  await executor.send(call, { ...checkCallOptions(options), deletes: true }, isDeleted);
}

/** @internal */
export function consoleSignIns(executor: Executor): ConsoleSignIns {
  const buildSet = (signIn: NewConsoleSignIn) => () =>
    Call.of("setConsoleSignIn", [], "", ...serializeBody(signIn, "signIn"));
  return {
    get: async (options) => executor.send(() => Call.of("getConsoleSignIn", []), checkCallOptions(options), isSignIn),
    set: async (signIn, options) => executor.send(buildSet(signIn), checkCallOptions(options), isSignIn),
    validateSet: (signIn) => executor.validate(buildSet(signIn)),
    delete: (options) => sendDeletion(executor, () => Call.of("deleteConsoleSignIn", []), options),
  };
}

/** @internal */
export function consoleSessions(executor: Executor): ConsoleSessions {
  return {
    list: async (filters, options) =>
      executor.send(
        () => Call.of("listConsoleSessions", [], queryString(copyMembers(filters, "filters"), [])),
        checkCallOptions(options),
        isPage,
      ),
    delete: (id, options) =>
      sendDeletion(executor, () => Call.of("deleteConsoleSession", [stringArgument(id, "id")]), options),
    signOut: (options) => sendDeletion(executor, () => Call.of("signOut", []), options),
  };
}
