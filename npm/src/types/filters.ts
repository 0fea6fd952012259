// The query parameters of lists and of single resources.
// Written by `WRITE_TYPE_FACTS=1 cargo test --features cli --test api typescript`; never edited by hand.
import type { Names } from "./names.js";

/** Filters of the list of connectors. A connector must match all of them. */
export interface ConnectorFilters {
  /** The platform: exact, ignoring case. For example, `github`. 1–64 characters. */
  platform?: string | undefined;
  /**
   * `true`: only connectors that the operator has enabled for hosted authorization. `false`: all connectors. Default:
   * `false`.
   */
  authkit?: boolean | undefined;
  /**
   * `true`: only connectors that accounts can be connected to now: those with a method that needs no OAuth client, and
   * those for which you have set an OAuth client in this environment. `false`: all connectors. Default: `false`.
   */
  connectable?: boolean | undefined;
  /**
   * `true`: only connectors for which you have set an OAuth client in this environment. For a token, only the client
   * with which it connects accounts is considered. `false`: all connectors. Default: `false`.
   */
  hasOauthClient?: boolean | undefined;
  /** The connector's key: exact, case-sensitive. For example, `api::github::v1`. 1–256 characters. */
  key?: string | undefined;
  /** The display name: exact, ignoring case. For example, `GitHub`. 1–256 characters. */
  name?: string | undefined;
  /** The category: exact, ignoring case. For example, `Developer Tools`. 1–256 characters. */
  category?: string | undefined;
  /**
   * Ranked search, ignoring case: every word must occur in the name, key, platform, category, tags or description. Must
   * not be only white space. For example, `rest api`. 1–100 characters.
   */
  q?: string | undefined;
  /** Rows per page. 1–500. Default: `20`. */
  limit?: number | undefined;
  /**
   * The number of the page, from 1. Past the last page `rows` is empty and `total` stays correct. In the list of
   * connections, a very deep page returns `query_too_broad`: follow `Link` instead. Default: `1`.
   */
  page?: number | undefined;
}

/** A search over the actions of all platforms. An action must match all filters. */
export interface ActionSearch {
  /**
   * What the action does, in words. Must not be only white space. For example, `create github issue`. 1–100 characters.
   */
  q: string;
  /**
   * Platforms, separated by commas: actions of any of them. Exact, ignoring case. For example, `github,gitlab`. At most
   * 20.
   */
  platform?: string | readonly string[] | undefined;
  /**
   * The HTTP method, ignoring case: `GET`, `POST`, `PUT`, `PATCH`, `DELETE`. Any other value matches nothing. For
   * example, `POST`. 1–256 characters.
   */
  method?: Names["ActionMethod"] | Lowercase<Names["ActionMethod"]> | undefined;
  /** Rows per page. 1–500. Default: `20`. */
  limit?: number | undefined;
  /**
   * The number of the page, from 1. Past the last page `rows` is empty and `total` stays correct. In the list of
   * connections, a very deep page returns `query_too_broad`: follow `Link` instead. Default: `1`.
   */
  page?: number | undefined;
}

/** Filters of a list of actions. An action must match all of them. */
export interface ActionFilters {
  /** The title: exact, ignoring case. For example, `List branches`. 1–256 characters. */
  title?: string | undefined;
  /** The action's key: exact, case-sensitive. For example, `reposListBranches`. 1–256 characters. */
  key?: string | undefined;
  /**
   * The HTTP method, ignoring case: `GET`, `POST`, `PUT`, `PATCH`, `DELETE`. Any other value matches nothing. For
   * example, `POST`. 1–256 characters.
   */
  method?: Names["ActionMethod"] | Lowercase<Names["ActionMethod"]> | undefined;
  /**
   * Ranked search, ignoring case: every word must occur in the title, key or platform. Must not be only white space.
   * For example, `pull request`. 1–100 characters.
   */
  q?: string | undefined;
  /** Rows per page. 1–500. Default: `20`. */
  limit?: number | undefined;
  /**
   * The number of the page, from 1. Past the last page `rows` is empty and `total` stays correct. In the list of
   * connections, a very deep page returns `query_too_broad`: follow `Link` instead. Default: `1`.
   */
  page?: number | undefined;
}

/** Options for retrieving an action. */
export interface ActionQuery {
  /** `responses` adds the action's responses. */
  include?: "responses" | undefined;
  /**
   * `model`: `input` is one flat object that the tool definitions of models allow. Run the action with `arguments`
   * then.
   */
  for?: "model" | undefined;
}

/** Filters of the list of connections. A connection must match all of them. */
export interface ConnectionFilters {
  /**
   * Connection keys, separated by commas: matches any of them. Exact, case-sensitive. For example,
   * `test::github::default::ann@example.com`. At most 100.
   */
  key?: string | readonly string[] | undefined;
  /** The version of the platform: exact, case-sensitive. For example, `v1`. */
  platformVersion?: string | undefined;
  /** The display name: exact, ignoring case. For example, `Payments team`. 1–128 characters. */
  name?: string | undefined;
  /** The identity type. */
  identityType?: Names["IdentityType"] | undefined;
  /** The identity: exact, case-sensitive. For example, `ann@example.com`. 1–256 characters. */
  identity?: string | undefined;
  /**
   * The ID of the connected account at the platform, `account.id`: exact, case-sensitive. For example, `583231`. 1–255
   * characters.
   */
  account?: string | undefined;
  /** The platform: exact, ignoring case. For example, `github`. 1–64 characters. */
  platform?: string | undefined;
  /**
   * Tags, separated by commas: matches connections with all of them, or with `tagsMatch=any` at least one. Exact,
   * case-sensitive. For example, `eu,billing`. At most 20.
   */
  tags?: string | readonly string[] | undefined;
  /** Whether a connection must have `all` of `tags` or `any` of them. Only together with `tags`. Default: `all`. */
  tagsMatch?: "all" | "any" | undefined;
  /**
   * A prefix of the name or the identity, ignoring case. A prefix with too many matches returns `query_too_broad`. For
   * example, `ann`. 1–100 characters.
   */
  q?: string | undefined;
  /** The state of the connection. */
  state?: Names["ConnectionState"] | undefined;
  /** Whether the connection is active. If omitted, `true`. For both, send a request for each. Default: `true`. */
  active?: boolean | undefined;
  /** `account` adds the connected account to each row. */
  include?: "account" | undefined;
  /** Rows per page. 1–500. Default: `20`. */
  limit?: number | undefined;
  /**
   * The number of the page, from 1. Past the last page `rows` is empty and `total` stays correct. In the list of
   * connections, a very deep page returns `query_too_broad`: follow `Link` instead. Default: `1`.
   */
  page?: number | undefined;
  /**
   * A cursor from the `Link` header of the previous page, valid for the same filters, `limit` and API key. Cannot be
   * combined with `page`.
   */
  after?: string | undefined;
}

/** Options for retrieving credentials. */
export interface CredentialsQuery {
  /** `true`: refresh the access token, even if it is still valid. Default: `false`. */
  refresh?: boolean | undefined;
}

/** Which attempts to list. */
export interface AttemptFilters {
  /** Comma-separated: only attempts with one of these statuses. For example, `failed,expired`. */
  status?: Names["AttemptStatus"] | readonly Names["AttemptStatus"][] | undefined;
  /** Only attempts at this platform, ignoring case. For example, `github`. 1–64 characters. */
  platform?: string | undefined;
  /** Only attempts of this identity, exactly. For example, `team-42`. 1–256 characters. */
  identity?: string | undefined;
  /** Rows per page. 1–500. Default: `20`; 100 when iterating. */
  limit?: number | undefined;
  /** `next` of the previous page: only attempts that began earlier. */
  before?: string | undefined;
}

/** Options for retrieving an attempt. */
export interface AttemptQuery {
  /** The number of seconds to wait for the end of the attempt. If omitted, the response comes at once. 1–25. */
  wait?: number | undefined;
}

/** Which entries to list. */
export interface AuditFilters {
  /**
   * Only entries of this actor: the id of an API key, the identity of a token or a person, or the id of an agent's
   * grant, exactly. 1–256 characters.
   */
  actor?: string | undefined;
  /**
   * Only entries of these actions, separated by commas. With this parameter, or with several of `actor`, `target` and
   * `connection`, a page may have fewer rows than `limit`, or none, although more follow: continue until `next` is
   * `null`. For example, `credentials.read,key.created`.
   */
  actions?: Names["AuditAction"] | readonly Names["AuditAction"][] | undefined;
  /**
   * Only entries about the object with this id, or about the OAuth client of this platform, followed by a slash and its
   * name unless that is `default`. For example, `github`. 1–256 characters.
   */
  target?: string | undefined;
  /** Only entries about the connection with this id. */
  connection?: string | undefined;
  /** Only entries from this time on. For example, `2026-01-15T08:00:00Z`. */
  from?: string | undefined;
  /** Only entries before this time. */
  to?: string | undefined;
  /** Rows per page. 1–500. Default: `20`; 100 when iterating. */
  limit?: number | undefined;
  /** `next` of the previous page: only earlier entries. */
  before?: string | undefined;
}

/** Which events to list. */
export interface EventFilters {
  /**
   * Only events of these types, separated by commas. A page may then have fewer rows than `limit`, or none, although
   * more follow: continue while `next` changes. For example, `connection.degraded,connection.failed`.
   */
  types?: Names["EventType"] | readonly Names["EventType"][] | undefined;
  /** Only events about the connection with this id. */
  connection?: string | undefined;
  /**
   * Which events come first. With `newest`, the list goes from the latest event back to the oldest, and `after`
   * continues in that direction. Default: `oldest`.
   */
  order?: "oldest" | "newest" | undefined;
  /** Rows per page. 1–500. Default: `20`; 100 when iterating. */
  limit?: number | undefined;
  /**
   * `next` of the previous page: only events after it. If omitted, the list begins with the oldest event, or with the
   * latest if `order` is `newest`. For example, `evt_0000000000001`.
   */
  after?: string | undefined;
}

/** Which requests to count, and how. */
export interface UsageQuery {
  /** The first day, UTC. Without it, 30 days are counted. For example, `2027-01-01`. */
  from?: string | undefined;
  /** The last day, UTC; today by default. For example, `2027-01-15`. */
  to?: string | undefined;
  /**
   * The properties by which requests are grouped into rows, separated by commas. For example, `day,status`. Default:
   * `day`.
   */
  groupBy?: Names["UsageGroup"] | readonly Names["UsageGroup"][] | undefined;
  /** Only requests for this platform, exactly. For example, `github`. 1–64 characters. */
  platform?: string | undefined;
  /** Only requests for this identity, exactly. For example, `ann@example.com`. 1–256 characters. */
  identity?: string | undefined;
}

/** Which deliveries to list. */
export interface DeliveryQuery {
  /** The state of the delivery. */
  state?: Names["DeliveryState"] | undefined;
  /** Rows per page. 1–500. Default: `20`; 100 when iterating. */
  limit?: number | undefined;
  /** `next` of the previous page: only deliveries of earlier events. */
  before?: string | undefined;
}

/** Which API keys to list. */
export interface ApiKeyQuery {
  /** Rows per page. 1–500. Default: `20`; 100 when iterating. */
  limit?: number | undefined;
  /** `next` of the previous page: only older keys. */
  before?: string | undefined;
}

/** Which grants to list. */
export interface AgentGrantFilters {
  /** Only grants of this identity, exactly. For example, `team-42`. 1–256 characters. */
  identity?: string | undefined;
  /** Rows per page. 1–500. Default: `20`. */
  limit?: number | undefined;
  /** `next` of the previous page: only grants that began earlier. */
  before?: string | undefined;
}

/** Which sessions to list. */
export interface ConsoleSessionFilters {
  /** Rows per page. 1–500. Default: `20`. */
  limit?: number | undefined;
  /** `next` of the previous page: only earlier sessions. */
  before?: string | undefined;
}
