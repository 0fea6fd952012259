//! The SQL of MCP endpoints and grants.
//!
//! Agents and browsers have no API key. Their statements find rows by the endpoint's id and by
//! secrets. They join the key on whose behalf the agent acts, so they have no effect if that key is
//! invalid.

use super::grant::{Grant, State};
use super::refresh::{GRACE_MS, IDLE_TIMEOUT_MS, RefreshToken};
use super::request::{AccessRequest, AgentRequest, LIFETIME_MS};
use super::sign_in::SignInType;
use super::user_grants::IS_FROM_PROVIDER;
use super::{Access, Confirm};
use crate::auth::key::hash;
use crate::auth::statements::{Guard, key_is_valid};
use crate::connections::statements::sql::Sql;
use crate::credentials::Sealed;
use crate::ports::{Param, Statement};
use crate::terms::IdentityType;
use crate::util::case_fold::fold;

/// The lifetime of a code, in milliseconds.
pub const CODE_LIFETIME_MS: u64 = 60 * 1000;
/// The lifetime of a `continueUrl`, in milliseconds.
pub const CONTINUE_URL_LIFETIME_MS: u64 = 60 * 1000;

pub(super) fn statement(
    sql: impl Into<std::borrow::Cow<'static, str>>,
    params: Vec<Param>,
) -> Statement {
    Statement { sql: sql.into(), params }
}

pub fn select_endpoint(id: &str) -> Statement {
    statement("SELECT * FROM agent_endpoints WHERE id = ?1", vec![Param::text(id)])
}

pub fn select_for_caller(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    // `?3` is the time: see `Guard`.
    sql.push("SELECT e.*, (SELECT iif(s.revoked_at IS NOT NULL, 'revoked', iif(s.expires_at <= ?3, 'expired', 'active')) FROM api_keys s WHERE s.id = e.key_id) AS key_state FROM api_keys k CROSS JOIN agent_endpoints e ON e.account = k.account AND e.environment = k.environment WHERE ").guard();
    sql.finish()
}

/// A sign-in to be stored.
#[derive(Debug)]
pub struct NewSignIn<'a> {
    pub id: &'a str,
    pub kind: SignInType,
    pub issuer: Option<&'a str>,
    pub client_id: Option<&'a str>,
    /// The client secret, encrypted with the id of the existing endpoint as its context.
    pub sealed: Option<&'a Sealed>,
    /// Whether to keep the stored client secret. Then `sealed` is ignored.
    pub keeps_stored_secret: bool,
    pub identity_claim: Option<&'a str>,
    pub identity_type: Option<IdentityType>,
    pub confirm: Option<Confirm>,
    pub url: Option<&'a str>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// Creates the endpoint of the caller's tenant if it does not exist, so that retries use the same
/// id. Like [`put_sign_in`], has no effect if the caller lost the permission while the service
/// waited for the provider.
pub fn create_endpoint(guard: &Guard<'_>, id: &str, now: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("INSERT INTO agent_endpoints (id, account, environment, key_id, created_at, updated_at) SELECT ").text(id);
    sql.push(", k.account, k.environment, k.id, ").integer(now).push(", ").integer(now);
    sql.push(" FROM api_keys k WHERE ").guard();
    sql.push(" ON CONFLICT (account, environment) DO NOTHING");
    sql.finish()
}

/// Configures the sign-in. Existing grants stay valid.
pub fn put_sign_in(guard: &Guard<'_>, new: &NewSignIn<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("UPDATE agent_endpoints SET key_id = k.id, type = ").text(new.kind.as_str());
    for (column, value) in [
        ("issuer", new.issuer),
        ("client_id", new.client_id),
        ("identity_claim", new.identity_claim),
        ("identity_type", new.identity_type.map(IdentityType::as_str)),
        ("confirm", new.confirm.map(Confirm::as_str)),
        ("url", new.url),
    ] {
        sql.push(", ").push(column).push(" = ").bind(Param::optional_text(value));
    }
    sql.push(", sealed = ");
    if new.keeps_stored_secret {
        // The stored secret is kept only if the provider and the client are unchanged.
        sql.push("iif(issuer IS ").bind(Param::optional_text(new.issuer));
        sql.push(" AND client_id IS ").bind(Param::optional_text(new.client_id));
        sql.push(", sealed, NULL)");
    } else {
        sql.bind(Param::optional_text(new.sealed.map(Sealed::as_str)));
    }
    sql.push(", created_at = iif(type IS NULL, ")
        .integer(new.now)
        .push(", agent_endpoints.created_at), updated_at = ");
    sql.integer(new.now);
    sql.push(" FROM api_keys k WHERE agent_endpoints.account = k.account AND agent_endpoints.environment = k.environment AND agent_endpoints.id = ");
    sql.text(new.id).push(" AND ").guard();
    sql.finish()
}

/// Disables the sign-in and deletes all grants of the tenant. The endpoint keeps its id.
pub fn delete_sign_in(guard: &Guard<'_>) -> [Statement; 2] {
    let own_endpoints = "(SELECT e.id FROM api_keys k CROSS JOIN agent_endpoints e ON e.account = k.account AND e.environment = k.environment WHERE ";
    let mut grants = Sql::new(guard);
    grants.push("DELETE FROM agent_grants WHERE (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ");
    grants.guard().push(")");
    let mut endpoint = Sql::new(guard);
    endpoint.push("UPDATE agent_endpoints SET type = NULL, issuer = NULL, client_id = NULL, sealed = NULL, identity_claim = NULL, identity_type = NULL, confirm = NULL, url = NULL WHERE type IS NOT NULL AND id IN ");
    endpoint.push(own_endpoints).guard().push(") RETURNING id");
    [endpoint.finish(), grants.finish()]
}

/// A new grant of a user who has signed in.
#[derive(Debug)]
pub struct NewGrant<'a> {
    /// A UUID.
    pub id: &'a str,
    pub request: &'a AgentRequest,
    pub access_request: &'a AccessRequest,
    pub identity: &'a str,
    pub identity_type: Option<IdentityType>,
    /// Comma-separated; `None` for all platforms.
    pub platforms: Option<&'a str>,
    /// The maximum access that the user can grant.
    pub access: Access,
    /// The allowed actions, comma-separated; `None` for all.
    pub actions: Option<&'a str>,
    /// The ids of the allowed connections, comma-separated; `None` for all.
    pub connections: Option<&'a str>,
    /// The calls that need approval.
    pub confirm: Option<Confirm>,
    pub secret_hash: &'a str,
    /// The id of the request that makes the change.
    pub claimed_by: &'a str,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

const INSERT_GRANT: &str = "INSERT INTO agent_grants (id, account, environment, endpoint, key_id, state, identity, identity_type, platforms, access, requested, actions, connections, confirm, client_hash, client_url, client_name, redirect_uri, client_state, challenge, browser_hash, secret_hash, claimed_by, created_at, expires_at) SELECT ";

/// The maximum number of a user's requests that wait for consent, so that repeated sign-ins do not
/// fill the database. Each request expires after at most ten minutes.
const MAX_REQUESTS: u64 = 20;

impl NewGrant<'_> {
    /// Adds the condition that fewer than [`MAX_REQUESTS`] of the user's requests wait for consent.
    fn push_request_limit<'s, 'g>(&self, sql: &'s mut Sql<'g>) -> &'s mut Sql<'g> {
        sql.push(" AND (SELECT count(*) FROM agent_grants g INDEXED BY agent_grants_requested WHERE g.account = e.account AND g.environment = e.environment AND g.state IN ('authenticated', 'opened') AND g.identity = ");
        sql.text(self.identity).push(" AND g.id <> ").text(self.id);
        sql.push(" AND g.expires_at > ").integer(self.now).push(") < ").integer(MAX_REQUESTS)
    }

    /// Adds the values of the columns from `id` to `expires_at`. `key` is the SQL expression for
    /// the key's id.
    fn push(&self, sql: &mut Sql<'_>, key: &str, state: State, lifetime: u64) {
        let requested = self.access_request;
        let state = if state == State::Authenticated { "authenticated" } else { "opened" };
        sql.text(self.id).push(", e.account, e.environment, e.id, ").push(key).push(", '");
        sql.push(state).push("'");
        for value in [
            Some(self.identity),
            self.identity_type.map(IdentityType::as_str),
            self.platforms,
            Some(self.access.as_str()),
            Some(requested.access.as_str()),
            self.actions,
            self.connections,
            self.confirm.map(Confirm::as_str),
            Some(&requested.client_hash),
            requested.client_url.as_deref(),
            requested.client_name.as_deref(),
            Some(&requested.redirect_uri),
            requested.state.as_deref(),
            Some(&requested.challenge),
            Some(&self.request.browser_hash),
            Some(self.secret_hash),
            Some(self.claimed_by),
        ] {
            sql.push(", ").bind(Param::optional_text(value));
        }
        sql.push(", ").integer(self.now);
        sql.push(", ").integer(self.now.saturating_add(lifetime));
    }

    /// Inserts the grant of a user whom the app, which owns the key, has authenticated, and returns
    /// its id. Inserts nothing if the endpoint belongs to another account, if its users do not sign
    /// in at an app, or if too many requests of the user are pending.
    pub fn insert_by_app(&self, guard: &Guard<'_>) -> Statement {
        let mut sql = Sql::new(guard);
        sql.push(INSERT_GRANT);
        self.push(&mut sql, "k.id", State::Authenticated, CONTINUE_URL_LIFETIME_MS);
        sql.push(" FROM api_keys k CROSS JOIN agent_endpoints e ON e.account = k.account AND e.environment = k.environment AND e.type = 'app' AND e.id = ");
        sql.text(&self.request.endpoint).push(" WHERE ").guard();
        self.push_request_limit(&mut sql);
        // If the first response was lost, the retry also returns the row.
        sql.push(" ON CONFLICT (id) DO UPDATE SET claimed_by = claimed_by RETURNING id");
        sql.finish()
    }

    /// Inserts the grant of a user whom the OpenID provider has authenticated. Inserts nothing if
    /// the sign-in has changed since, if the key that configured it is invalid, or if too many
    /// requests of the user are pending.
    pub fn insert_by_provider(&self, configured_at: u64) -> Statement {
        let guard =
            Guard { condition: "", params: Vec::new(), restriction: None, signed_scopes: None };
        let mut sql = Sql::new(&guard);
        sql.push(INSERT_GRANT);
        self.push(&mut sql, "e.key_id", State::Opened, LIFETIME_MS);
        sql.push(" FROM agent_endpoints e WHERE e.type = 'oidc' AND e.id = ");
        sql.text(&self.request.endpoint).push(" AND e.updated_at = ").integer(configured_at);
        sql.push(" AND EXISTS (SELECT 1 FROM api_keys k WHERE k.id = e.key_id AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ");
        sql.integer(self.now).push("))");
        self.push_request_limit(&mut sql).push(" ON CONFLICT (id) DO NOTHING");
        sql.finish()
    }
}

/// Selects the endpoint if it belongs to the key's tenant and its users sign in at an app.
pub fn select_app_endpoint(guard: &Guard<'_>, endpoint: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT e.id, e.updated_at FROM api_keys k CROSS JOIN agent_endpoints e ON e.account = k.account AND e.environment = k.environment AND e.type = 'app' AND e.id = ");
    sql.text(endpoint).push(" WHERE ").guard();
    sql.finish()
}

/// Deletes a batch of expired grants. Runs after every insert, so that they do not accumulate.
pub fn prune(now: u64) -> Statement {
    statement(
        "DELETE FROM agent_grants WHERE id IN (SELECT id FROM agent_grants INDEXED BY agent_grants_by_age WHERE expires_at <= ?1 AND account NOT IN (SELECT account FROM away) ORDER BY expires_at LIMIT 5)",
        vec![Param::integer(now)],
    )
}

/// A change that a browser makes. It can happen only once, before the request expires, and only in
/// the browser that started the agent's request.
#[derive(Debug, Clone, Copy)]
pub struct BrowserStep<'a> {
    pub endpoint: &'a str,
    /// SHA-256 of the browser's cookie.
    pub browser_hash: &'a str,
    /// The id of the request that makes the change.
    pub claimed_by: &'a str,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

impl BrowserStep<'_> {
    /// Parameters: `?1` is `row`, the id or the secret of the row; `?2` to `?5` are the endpoint,
    /// the browser's hash, the request and the time.
    pub fn params(self, row: &str) -> Vec<Param> {
        vec![
            Param::text(row),
            Param::text(self.endpoint),
            Param::text(self.browser_hash),
            Param::text(self.claimed_by),
            Param::integer(self.now),
        ]
    }
}

/// Marks a grant's consent page as opened, if this browser started the agent's request.
pub fn open(step: BrowserStep<'_>, secret_hash: &str) -> Statement {
    statement(
        format!(
            "UPDATE agent_grants SET state = 'opened', claimed_by = ?4, expires_at = ?5 + {LIFETIME_MS} WHERE secret_hash = ?1 AND endpoint = ?2 AND browser_hash = ?3 AND state = 'authenticated' AND expires_at > ?5 AND {}",
            key_is_valid("?5")
        ),
        step.params(secret_hash),
    )
}

pub fn select_by_secret(endpoint: &str, secret_hash: &str) -> Statement {
    statement(
        "SELECT * FROM agent_grants WHERE secret_hash = ?2 AND endpoint = ?1",
        vec![Param::text(endpoint), Param::text(secret_hash)],
    )
}

pub fn select_grant(endpoint: &str, id: &str) -> Statement {
    statement(
        "SELECT * FROM agent_grants WHERE id = ?2 AND endpoint = ?1",
        vec![Param::text(endpoint), Param::text(id)],
    )
}

/// Selects the platforms to which the grant's identity is connected.
pub fn select_platforms(grant: &Grant) -> Statement {
    statement(
        "SELECT DISTINCT platform FROM connections INDEXED BY connections_by_identity WHERE account = ?1 AND environment = ?2 AND active = 1 AND identity_folded = ?3 AND identity = ?4 AND (?5 IS NULL OR identity_type = ?5) ORDER BY platform LIMIT 100",
        vec![
            Param::text(&grant.account),
            Param::text(grant.environment.as_str()),
            Param::Text(fold(&grant.identity)),
            Param::text(&grant.identity),
            Param::optional_text(grant.identity_type.map(IdentityType::as_str)),
        ],
    )
}

/// Deletes earlier grants of the user who decides on the grant `id`. Must run before the decision
/// is stored.
pub fn delete_earlier_grants(step: BrowserStep<'_>, id: &str, grant_ids: &[String]) -> Statement {
    statement(
        format!(
            "DELETE FROM agent_grants WHERE state = 'active' AND id IN (SELECT value FROM json_each(?5)) AND EXISTS (SELECT 1 FROM agent_grants o WHERE o.id = ?1 AND o.endpoint = ?2 AND o.browser_hash = ?3 AND o.state = 'opened' AND o.expires_at > ?4 AND o.account = agent_grants.account AND o.environment = agent_grants.environment AND o.identity = agent_grants.identity AND (o.identity_type IS agent_grants.identity_type OR {IS_FROM_PROVIDER}))"
        ),
        vec![
            Param::text(id),
            Param::text(step.endpoint),
            Param::text(step.browser_hash),
            Param::integer(step.now),
            Param::Text(crate::util::json::text(&grant_ids)),
        ],
    )
}

/// The user's choices on the consent page.
#[derive(Debug, Clone, Copy)]
pub struct Consent<'a> {
    pub access: Access,
    /// Comma-separated; `None` keeps the platforms of the grant.
    pub platforms: Option<&'a str>,
    pub confirm: Option<Confirm>,
    pub code_hash: &'a str,
}

/// Records the user's consent. It can only reduce the access and increase the calls that need
/// approval. The caller must have checked `platforms`.
pub fn consent(step: BrowserStep<'_>, id: &str, consent: Consent<'_>) -> Statement {
    statement(
        format!(
            "UPDATE agent_grants SET state = 'consented', claimed_by = ?4, expires_at = ?5 + {CODE_LIFETIME_MS}, access = iif(access = 'write', ?6, 'read'), platforms = coalesce(?7, platforms), confirm = iif(?9 = 'write', ?9, coalesce(confirm, ?9)), secret_hash = ?8 WHERE id = ?1 AND endpoint = ?2 AND browser_hash = ?3 AND state = 'opened' AND expires_at > ?5 AND {}",
            key_is_valid("?5")
        ),
        [
            step.params(id),
            vec![
                Param::text(consent.access.as_str()),
                Param::optional_text(consent.platforms),
                Param::text(consent.code_hash),
                Param::optional_text(consent.confirm.map(Confirm::as_str)),
            ],
        ]
        .concat(),
    )
}

/// Deletes a declined grant and returns its row, which the redirect to the client needs.
pub fn decline(step: BrowserStep<'_>, id: &str) -> Statement {
    statement(
        "DELETE FROM agent_grants WHERE id = ?1 AND endpoint = ?2 AND browser_hash = ?3 AND state = 'opened' RETURNING *",
        vec![Param::text(id), Param::text(step.endpoint), Param::text(step.browser_hash)],
    )
}

/// Exchanges a code, once, and selects the grant. A code that is used twice was stolen, so its
/// second use deletes the grant (RFC 6749, section 4.1.2).
pub fn exchange(
    step: BrowserStep<'_>,
    code: &str,
    client: (&str, Option<&str>, &str),
) -> [Statement; 3] {
    let (client_hash, redirect_uri, challenge) = client;
    let code = hash(code);
    let belongs_to_client = "secret_hash = ?1 AND endpoint = ?2 AND client_hash = ?3";
    let client_params =
        || vec![Param::text(&code), Param::text(step.endpoint), Param::text(client_hash)];
    let mut params = client_params();
    params.extend([
        Param::text(step.claimed_by),
        Param::integer(step.now),
        Param::text(challenge),
        Param::optional_text(redirect_uri),
    ]);
    let mut replay = client_params();
    replay.push(Param::text(step.claimed_by));
    [
        statement(
            format!(
                "UPDATE agent_grants SET state = 'active', claimed_by = ?4, client_state = NULL, last_used_at = ?5, expires_at = ?5 + {IDLE_TIMEOUT_MS} WHERE {belongs_to_client} AND state = 'consented' AND expires_at > ?5 AND challenge = ?6 AND (?7 IS NULL OR redirect_uri = ?7) AND {}",
                key_is_valid("?5")
            ),
            params,
        ),
        statement(
            format!(
                "DELETE FROM agent_grants WHERE {belongs_to_client} AND state = 'active' AND claimed_by <> ?4"
            ),
            replay,
        ),
        select_by_secret(step.endpoint, &code),
    ]
}

/// Selects the grant and records the refresh, if the refresh token is valid. A token of an older
/// generation deletes the grant. A request for more access than granted changes nothing.
pub fn refresh(
    token: &RefreshToken,
    client_hash: &str,
    access: Option<Access>,
    now: u64,
) -> [Statement; 3] {
    let params = || {
        vec![
            Param::text(&token.grant),
            Param::text(&token.endpoint),
            Param::text(client_hash),
            Param::integer(now),
            Param::Integer(token.generation.into()),
        ]
    };
    let belongs_to_client = format!(
        "id = ?1 AND endpoint = ?2 AND client_hash = ?3 AND state = 'active' AND expires_at > ?4 AND {}",
        key_is_valid("?4")
    );
    // Accepts the newest token that was used, its successor and, during [`GRACE_MS`], its
    // predecessor.
    let is_valid_generation = format!(
        "(?5 = generation OR ?5 = generation + 1 OR (?5 = generation - 1 AND rotated_at + {GRACE_MS} > ?4))"
    );
    let mut refreshed = params();
    refreshed.push(Param::optional_text(access.map(Access::as_str)));
    [
        statement(
            format!(
                "DELETE FROM agent_grants WHERE {belongs_to_client} AND ?5 < generation AND NOT {is_valid_generation}"
            ),
            params(),
        ),
        statement(
            format!(
                "UPDATE agent_grants SET rotated_at = iif(?5 > generation, ?4, rotated_at), generation = max(generation, ?5), last_used_at = ?4, expires_at = ?4 + {IDLE_TIMEOUT_MS} WHERE {belongs_to_client} AND {is_valid_generation} AND (access = 'write' OR coalesce(?6, 'read') = 'read')"
            ),
            refreshed,
        ),
        statement(
            format!(
                "SELECT * FROM agent_grants WHERE {belongs_to_client} AND {is_valid_generation}"
            ),
            params(),
        ),
    ]
}

/// Deletes the grant that its client revokes (RFC 7009).
pub fn revoke(endpoint: &str, id: &str) -> Statement {
    statement(
        "DELETE FROM agent_grants WHERE id = ?2 AND endpoint = ?1",
        vec![Param::text(endpoint), Param::text(id)],
    )
}

/// Deletes a grant of the caller's tenant. Returns its id.
pub fn delete_grant(guard: &Guard<'_>, id: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("DELETE FROM agent_grants WHERE state = 'active' AND id = ").text(id);
    sql.push(
        " AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ",
    );
    sql.guard().push(") RETURNING id");
    sql.finish()
}

/// Selects up to `limit` grants of the caller's tenant, newest first, that follow the grant
/// `before`. Omits grants whose key is no longer valid, because their tokens are rejected.
pub fn select_grants(
    guard: &Guard<'_>,
    identity: Option<&str>,
    before: Option<&str>,
    now: u64,
    limit: u64,
) -> Statement {
    let mut sql = Sql::new(guard);
    let index = if identity.is_some() { "of_identity" } else { "listed" };
    sql.push("SELECT g.* FROM api_keys k CROSS JOIN agent_grants g INDEXED BY agent_grants_");
    sql.push(index).push(" ON g.account = k.account AND g.environment = k.environment AND g.state = 'active' WHERE ").guard();
    sql.push(" AND g.expires_at > ").integer(now).push(" AND ").push(&key_is_valid("?3"));
    if let Some(identity) = identity {
        sql.push(" AND g.identity = ").text(identity);
    }
    if let Some(before) = before {
        sql.push(" AND (g.created_at, g.id) < (SELECT b.created_at, b.id FROM agent_grants b WHERE b.account = k.account AND b.environment = k.environment AND b.id = ");
        sql.text(before).push(")");
    }
    sql.push(" ORDER BY g.created_at DESC, g.id DESC LIMIT ").integer(limit);
    sql.finish()
}
