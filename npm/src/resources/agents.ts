// Sign-in for agents, and the grants that users give them.
import { Call } from "glue";
import { copyMembers, serializeBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import type { ApiKeyState } from "./api-keys.js";
import type { IdentityType } from "../types/connection.js";
import type { Fault } from "../core/errors.js";
import type { AgentGrantFilters } from "../types/filters.js";

/** The configuration of sign-in for agents. */
export interface AgentSignIn {
  /** The URL of the MCP server of this account and environment, which agents use. */
  endpoint: string;
  /** `oidc`: an OpenID provider. `app`: your own app. */
  type: "oidc" | "app";
  /** The provider's issuer; null with `app`. */
  issuer: string | null;
  /** The id of your client at the provider; null with `app`. */
  clientId: string | null;
  /** Whether the service has the client's secret. */
  hasSecret: boolean;
  /** The claim that contains the user's identity; null with `app`. */
  identityClaim: string | null;
  /** The type of the users' identities; null for any. */
  identityType: IdentityType | null;
  /** The calls that each user must approve; users can choose more. Null for none, and with `app`. */
  confirm: "write" | "destructive" | null;
  /** The redirect URI to register at an OpenID provider. */
  redirectUri: string;
  /** The page of your app that authenticates users; null with `oidc`. */
  url: string | null;
  /** The id of the key that configured the sign-in. */
  keyId: string;
  /** The state of that key. With `oidc`, users can sign in only while it is `active`. */
  keyState: ApiKeyState;
  /** When sign-in was enabled (RFC 3339). */
  createdAt: string;
  /** When the configuration was last changed (RFC 3339). */
  updatedAt: string;
}

/** A new configuration of sign-in for agents. */
export interface NewAgentSignIn {
  /** An OpenID provider, or your own app. */
  type: "oidc" | "app";
  /** The provider's issuer. Required with `oidc`. */
  issuer?: string | undefined;
  /** The client that you registered at the provider. Required with `oidc`. */
  clientId?: string | undefined;
  /** The client's secret. If omitted, it does not change unless `issuer` or `clientId` changes. Null removes it. */
  clientSecret?: string | null | undefined;
  /** The claim that contains the user's identity. Default: `sub`. */
  identityClaim?: string | undefined;
  /** The type of the users' identities. Default: any. */
  identityType?: IdentityType | undefined;
  /** The calls that each user must approve; users can choose more. Only with `oidc`. */
  confirm?: "write" | "destructive" | undefined;
  /** The page of your app that authenticates users. Required with `app`. */
  url?: string | undefined;
}

/** Sign-in for agents. Needs the scope `agents:read`; changes need `agents:write`. */
export interface AgentSignIns {
  get(options?: CallOptions): Promise<AgentSignIn>;
  /** Replaces the configuration, and returns it. */
  set(signIn: NewAgentSignIn, options?: CallOptions): Promise<AgentSignIn>;
  /** Returns the validation errors of `set` without a request; an empty array if there are none. */
  validateSet(signIn: NewAgentSignIn): readonly Fault[];
  /** Disables sign-in and revokes all grants. */
  delete(options?: CallOptions): Promise<void>;
}

/** The permission of an agent to act for a user. */
export interface AgentGrant {
  id: string;
  /** The user whose connections the agent can use. */
  identity: string;
  /** Only connections with this identity type; null for all. */
  identityType: IdentityType | null;
  /** Only these platforms; null for all. */
  platforms: string[] | null;
  /** `read`: the agent can call platforms only with `GET`, `HEAD` and GraphQL queries. */
  access: "read" | "write";
  /** Only these actions, each as `platform/key` or `platform/prefix*`; null for all. */
  actions: string[] | null;
  /** Only the connections with these ids; null for all of the identity. */
  connections: string[] | null;
  /**
   * Which calls need the user's approval: all that write, or only those that delete; null for none. The stricter of the
   * grant's and the sign-in's setting.
   */
  confirm: "write" | "destructive" | null;
  /** The agent's own description. Only the host of `url` is verified. */
  client: { name: string | null; url: string | null; redirectUri: string };
  /** When the user signed in (RFC 3339). */
  createdAt: string;
  /** When the agent last got an access token (RFC 3339). */
  lastUsedAt: string | null;
  /** When the grant expires if the agent does not use it before (RFC 3339). */
  expiresAt: string;
}

/** A user whom your app has authenticated. */
export interface NewAgentGrant {
  /** The query parameter `request` with which the service redirected the user to your app. */
  request: string;
  /** The user's identity, the same as in connections. */
  identity: string;
  /** The type of the identity. Default: any. */
  identityType?: IdentityType | undefined;
  /** Only these platforms. Default: all. */
  platforms?: readonly string[] | undefined;
  /** `read`: the user can only grant read access. */
  access?: "read" | "write" | undefined;
  /** Only these actions, at most 100, each as `platform/key` or `platform/prefix*`. Default: all. */
  actions?: readonly string[] | undefined;
  /** Only the connections with these ids, at most 20, and no new ones. Default: all of the identity. */
  connections?: readonly string[] | undefined;
  /** Which calls need the user's approval: all that write, or only those that delete. Default: the user's choice. */
  confirm?: "write" | "destructive" | undefined;
}

/** The URL that continues a user's sign-in. */
export interface AgentContinuation {
  /** Redirect the user's browser to this URL, which works once. */
  continueUrl: string;
  /** When the URL expires (RFC 3339). */
  expiresAt: string;
}

export interface AgentGrantPage {
  /** Newest first. */
  rows: AgentGrant[];
  /** The cursor for `before`; null on the last page. */
  next: string | null;
}

/** The grants that users gave to agents. Needs the scope `agents:read`; changes need `agents:write`. */
export interface AgentGrants {
  list(filters?: AgentGrantFilters, options?: CallOptions): Promise<AgentGrantPage>;
  /**
   * Confirms the identity of a user whom the service redirected to your app. Then redirect the user to `continueUrl`.
   */
  create(grant: NewAgentGrant, options?: CallOptions): Promise<AgentContinuation>;
  /** Returns the validation errors of `create` without a request; an empty array if there are none. */
  validateCreate(grant: NewAgentGrant): readonly Fault[];
  /** Revokes a grant. The agent's tokens stop working immediately. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

const hasString = (member: string) => (json: unknown) =>
  typeof (json as Record<string, unknown> | null)?.[member] === "string";
const isDeleted = (_: unknown, status: number) => status === 204;

/** @internal */
export function agentSignIns(executor: Executor): AgentSignIns {
  const buildSet = (signIn: NewAgentSignIn) => () =>
    Call.of("setAgentSignIn", [], "", ...serializeBody(signIn, "signIn"));
  return {
    get: async (options) =>
      executor.send(() => Call.of("getAgentSignIn", []), checkCallOptions(options), hasString("endpoint")),
    set: async (signIn, options) => executor.send(buildSet(signIn), checkCallOptions(options), hasString("endpoint")),
    validateSet: (signIn) => executor.validate(buildSet(signIn)),
    delete: async (options) => {
      await executor.send(
        () => Call.of("deleteAgentSignIn", []),
        { ...checkCallOptions(options), deletes: true },
        isDeleted,
      );
    },
  };
}

/** @internal */
export function agentGrants(executor: Executor): AgentGrants {
  const buildCreate = (grant: NewAgentGrant) => () =>
    Call.of("createAgentGrant", [], "", ...serializeBody(grant, "grant"));
  const isPage = (json: unknown) => Array.isArray((json as Partial<AgentGrantPage> | null)?.rows);
  return {
    list: async (filters, options) =>
      executor.send(
        () => Call.of("listAgentGrants", [], queryString(copyMembers(filters, "filters"), [])),
        checkCallOptions(options),
        isPage,
      ),
    create: async (grant, options) =>
      executor.send(buildCreate(grant), checkCallOptions(options), hasString("continueUrl")),
    validateCreate: (grant) => executor.validate(buildCreate(grant)),
    delete: async (id, options) => {
      await executor.send(
        () => Call.of("deleteAgentGrant", [stringArgument(id, "id")]),
        { ...checkCallOptions(options), deletes: true },
        isDeleted,
      );
    },
  };
}
