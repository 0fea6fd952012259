//! Approvals: an agent's calls that wait for the user's decision.
//!
//! A link contains only the row's id, so a leaked or forwarded link opens nothing: the page appears
//! only after the grant's identity has signed in, in the browser that opened the link, and is then
//! bound to that browser. The input is encrypted when the agent makes the call. The page shows this
//! copy and an approval runs it, so the input can't change in between. A single statement changes
//! the state from `pending`, once, and only while the grant and its key are valid.
//!
//! A session token has no grant. Its calls wait for the token's identity. Each is stored with a
//! token that is limited to the call and is verified again when the call runs.

use serde::Deserialize;

use super::grant::Grant;
use super::sign_in::Endpoint;
use super::statements::{BrowserStep, CONTINUE_URL_LIFETIME_MS};
use crate::auth::key::hash;
use crate::auth::statements::Guard;
use crate::auth::statements::key_is_valid;
use crate::auth::token::Token;
use crate::connections::statements::sql::Sql;
use crate::credentials::{Kind, SealContext, Sealed};
use crate::ports::{Param, Statement};
use crate::terms::{Environment, IdentityType, Method};

/// How long an approval lives, in milliseconds: the user must decide, and the agent must fetch the
/// response, within this time.
pub const LIFETIME_MS: u64 = 10 * 60 * 1000;
/// The maximum number of pending approvals of a grant.
pub const MAX_PENDING: u64 = 20;
/// The maximum number of decided approvals of a grant. They are kept with their inputs and
/// responses until they expire.
pub const MAX_DECIDED: u64 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The user has not decided.
    Pending,
    /// The user has approved, and the call runs.
    Approved,
    /// The call has run.
    Done,
    Declined,
    /// Not a call, but the link of a download: see [`super::download`].
    Download,
    /// Not a call, but a link to a connect attempt: see [`NewLink`].
    Connect,
}

/// A row of `agent_approvals`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Approval {
    /// A UUID.
    pub id: String,
    pub account: String,
    pub environment: Environment,
    pub endpoint: String,
    /// The id of the grant or, for a session token, the result of [`approval_owner`].
    pub grant_id: String,
    /// The identity that must approve the call.
    pub identity: String,
    pub connection_id: String,
    pub action: String,
    pub title: String,
    pub method: Method,
    pub state: State,
    /// The encrypted input or, after the call, the encrypted response.
    pub sealed: Sealed,
    /// The id of the request that had connected the account when the agent made the call.
    pub connected_by: Option<String>,
    /// SHA-256 of the cookie of the user's browser.
    pub browser_hash: Option<String>,
    /// The id of the request that made the last change.
    pub claimed_by: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub expires_at: u64,
}

impl Approval {
    pub fn seal_context(&self) -> SealContext<'_> {
        seal_context(&self.account, self.environment, &self.id)
    }

    /// Whether a session token requested the call.
    pub fn is_from_session(&self) -> bool {
        self.grant_id.starts_with(SESSION_PREFIX)
    }

    /// Splits the decrypted bytes into the session token, if the call was made with one, and the
    /// input.
    pub fn parts<'p>(&self, plain: &'p [u8]) -> (Option<&'p str>, &'p [u8]) {
        let end = plain.iter().position(|byte| *byte == b'\n').filter(|_| self.is_from_session());
        let parts = end.and_then(|end| {
            let token = std::str::from_utf8(plain.get(..end)?).ok()?;
            Some((Some(token), plain.get(end.saturating_add(1)..)?))
        });
        parts.unwrap_or((None, plain))
    }
}

/// The prefix of the column `grant_id` for calls of session tokens.
const SESSION_PREFIX: &str = "session:";
/// The SQL condition that the row belongs to a session token.
const IS_FROM_SESSION: &str = "substr(grant_id, 1, 8) = 'session:'";

/// The value of the column `grant_id` for calls made with a token. All session tokens of a key and
/// identity have the same value, so that an agent can fetch the response with a newer token.
pub fn approval_owner(token: &Token) -> String {
    if let Some(grant) = &token.grant {
        return grant.id.clone();
    }
    let restriction = &token.restriction;
    let kind = restriction.identity_type.map_or("", IdentityType::as_str);
    [SESSION_PREFIX, &hash(&format!("{} {kind} {}", token.key_id, restriction.identity))].concat()
}

/// The encryption context of an approval's input and response.
pub const fn seal_context<'a>(
    account: &'a str,
    environment: Environment,
    id: &'a str,
) -> SealContext<'a> {
    SealContext { account, environment, kind: Kind::AgentApproval, id }
}

/// The SQL condition that the approval's page can be opened.
const OPENABLE: &str = "state IN ('pending', 'download', 'connect')";

fn statement(sql: impl Into<std::borrow::Cow<'static, str>>, params: Vec<Param>) -> Statement {
    Statement { sql: sql.into(), params }
}

pub struct NewApproval<'a> {
    /// A UUID.
    pub id: &'a str,
    pub token: &'a Token,
    pub connection_id: &'a str,
    pub action: &'a str,
    pub title: &'a str,
    pub method: Method,
    /// The encrypted input.
    pub sealed: &'a Sealed,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    pub expires_at: u64,
}

impl NewApproval<'_> {
    /// Inserts the approval for the token's identity and returns its id. Inserts nothing if the
    /// grant has too many approvals, or if the users of a session token can't sign in.
    pub fn insert(&self) -> Statement {
        let restriction = &self.token.restriction;
        let (owner, source) = if self.token.grant.is_some() {
            (
                "g.account, g.environment, g.endpoint, g.id, g.key_id, g.identity, g.identity_type",
                "agent_grants g WHERE g.id = ?2 AND g.state = 'active'",
            )
        } else {
            (
                "k.account, k.environment, e.id, ?2, k.id, ?10, coalesce(?11, e.identity_type)",
                "api_keys k CROSS JOIN agent_endpoints e ON e.account = k.account AND e.environment = k.environment AND e.type IS NOT NULL WHERE k.id = ?12",
            )
        };
        let mut params = vec![
            Param::text(self.id),
            Param::Text(approval_owner(self.token)),
            Param::text(self.connection_id),
            Param::text(self.action),
            Param::text(self.title),
            Param::text(self.method.as_str()),
            Param::text(self.sealed.as_str()),
            Param::integer(self.now),
            Param::integer(self.expires_at),
        ];
        if self.token.grant.is_none() {
            params.extend([
                Param::text(&restriction.identity),
                Param::optional_text(restriction.identity_type.map(IdentityType::as_str)),
                Param::text(&self.token.key_id),
            ]);
        }
        statement(
            format!(
                "INSERT INTO agent_approvals (id, account, environment, endpoint, grant_id, key_id, identity, identity_type, connection_id, action, title, method, state, sealed, created_at, expires_at, connected_by) SELECT ?1, {owner}, ?3, ?4, ?5, ?6, 'pending', ?7, ?8, ?9, (SELECT c.connected_by FROM connections c WHERE c.id = ?3) FROM {source} AND (SELECT count(*) FROM agent_approvals a WHERE a.grant_id = ?2 AND a.expires_at > ?8 AND a.state = 'pending' AND a.id <> ?1) < {MAX_PENDING} AND (SELECT count(*) FROM agent_approvals a WHERE a.grant_id = ?2 AND a.expires_at > ?8 AND a.state IN ('approved', 'done', 'declined')) < {MAX_DECIDED} ON CONFLICT (id) DO UPDATE SET state = state RETURNING id"
            ),
            params,
        )
    }
}

/// An agent's link to a connect attempt of its user. The link contains only the id of this row. The
/// attempt's own link is encrypted, and shown only after the grant's identity has signed in:
/// otherwise, another person could connect their account for that identity.
#[derive(Debug)]
pub struct NewLink<'a> {
    /// A UUID.
    pub id: &'a str,
    pub grant_id: &'a str,
    pub attempt: &'a str,
    /// The connection that the attempt creates or reconnects.
    pub connection_id: &'a str,
    /// The encrypted secret of the attempt's own link.
    pub sealed: &'a Sealed,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    pub expires_at: u64,
}

impl NewLink<'_> {
    /// Inserts the link, if the attempt was stored and the grant is active.
    pub fn insert(&self) -> Statement {
        statement(
            "INSERT INTO agent_approvals (id, account, environment, endpoint, grant_id, key_id, identity, identity_type, connection_id, action, title, method, state, sealed, created_at, expires_at) SELECT ?1, g.account, g.environment, g.endpoint, g.id, g.key_id, g.identity, g.identity_type, ?3, '', '', 'GET', 'connect', ?4, ?5, ?6 FROM agent_grants g WHERE g.id = ?2 AND g.state = 'active' AND EXISTS (SELECT 1 FROM connect_attempts a WHERE a.id = ?7) ON CONFLICT (id) DO NOTHING",
            vec![
                Param::text(self.id),
                Param::text(self.grant_id),
                Param::text(self.connection_id),
                Param::text(self.sealed.as_str()),
                Param::integer(self.now),
                Param::integer(self.expires_at),
                Param::text(self.attempt),
            ],
        )
    }
}

/// Deletes expired approvals. Runs every minute, because they contain encrypted inputs and
/// responses.
pub fn prune(now: u64) -> Statement {
    statement(
        "DELETE FROM agent_approvals WHERE id IN (SELECT id FROM agent_approvals INDEXED BY agent_approvals_by_age WHERE expires_at <= ?1 AND account NOT IN (SELECT account FROM away) ORDER BY expires_at LIMIT 500)",
        vec![Param::integer(now)],
    )
}

/// Selects an unexpired approval of an active grant or of a session token.
pub fn select_for_owner(owner: &str, id: &str, now: u64) -> Statement {
    statement(
        format!(
            "SELECT * FROM agent_approvals WHERE id = ?1 AND grant_id = ?2 AND expires_at > ?3 AND ({IS_FROM_SESSION} OR EXISTS (SELECT 1 FROM agent_grants g WHERE g.id = grant_id AND g.state = 'active'))"
        ),
        vec![Param::text(id), Param::text(owner), Param::integer(now)],
    )
}

/// Selects an approval of an endpoint. Excludes approvals whose user is at the app's sign-in,
/// because their identity is not verified yet.
pub fn select(endpoint: &str, id: &str) -> Statement {
    statement(
        "SELECT * FROM agent_approvals WHERE id = ?1 AND endpoint = ?2 AND secret_hash IS NULL",
        vec![Param::text(id), Param::text(endpoint)],
    )
}

/// Selects the approval that this request has opened.
pub fn select_claimed(endpoint: &str, browser_hash: &str, claimed_by: &str) -> Statement {
    statement(
        format!(
            "SELECT * FROM agent_approvals WHERE endpoint = ?1 AND browser_hash = ?2 AND claimed_by = ?3 AND {OPENABLE}"
        ),
        vec![Param::text(endpoint), Param::text(browser_hash), Param::text(claimed_by)],
    )
}

/// The account that an approved call would use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Account {
    pub platform: String,
    pub name: Option<String>,
    pub identity: String,
    pub platform_account_id: Option<String>,
    pub platform_account_name: Option<String>,
    /// The id of the request that last connected the account.
    pub connected_by: Option<String>,
}

pub fn select_account(approval: &Approval) -> Statement {
    statement(
        "SELECT platform, name, identity, platform_account_id, platform_account_name, connected_by FROM connections WHERE account = ?1 AND environment = ?2 AND id = ?3",
        vec![
            Param::text(&approval.account),
            Param::text(approval.environment.as_str()),
            Param::text(&approval.connection_id),
        ],
    )
}

/// Records that the app, which owns the key, has authenticated the user of a pending approval.
/// Returns the approval's id.
pub fn authenticate_by_app(
    guard: &Guard<'_>,
    (endpoint, id): (&str, &str),
    (identity, identity_type): (&str, Option<IdentityType>),
    (secret_hash, browser_hash): (&str, &str),
    now: u64,
) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("UPDATE agent_approvals SET secret_hash = ").text(secret_hash);
    sql.push(", browser_hash = ").text(browser_hash);
    sql.push(", secret_expires_at = ").integer(now.saturating_add(CONTINUE_URL_LIFETIME_MS));
    sql.push(" WHERE id = ").text(id).push(" AND endpoint = ").text(endpoint);
    sql.push(" AND identity = ").text(identity).push(" AND identity_type IS ");
    sql.bind(Param::optional_text(identity_type.map(IdentityType::as_str)));
    sql.push(" AND ").push(OPENABLE).push(" AND expires_at > ").integer(now);
    sql.push(" AND EXISTS (SELECT 1 FROM api_keys k CROSS JOIN agent_endpoints e ON e.account = k.account AND e.environment = k.environment AND e.type = 'app' AND e.id = agent_approvals.endpoint WHERE k.account = agent_approvals.account AND ");
    sql.guard().push(") RETURNING id");
    sql.finish()
}

/// Opens the page with the app's one-time secret, in the browser that opened the link.
pub fn open_by_secret(step: BrowserStep<'_>, secret_hash: &str) -> Statement {
    statement(
        format!(
            "UPDATE agent_approvals SET secret_hash = NULL, claimed_by = ?4 WHERE secret_hash = ?1 AND endpoint = ?2 AND browser_hash = ?3 AND {OPENABLE} AND secret_expires_at > ?5 AND expires_at > ?5"
        ),
        step.params(secret_hash),
    )
}

/// Opens the page for a user whom the OpenID provider has authenticated, unless the sign-in has
/// changed since.
pub fn open_by_provider(
    step: BrowserStep<'_>,
    id: &str,
    identity: &str,
    endpoint: &Endpoint,
) -> Statement {
    statement(
        format!(
            "UPDATE agent_approvals SET secret_hash = NULL, browser_hash = ?3, claimed_by = ?4 WHERE id = ?1 AND endpoint = ?2 AND identity = ?6 AND identity_type IS ?7 AND {OPENABLE} AND expires_at > ?5 AND EXISTS (SELECT 1 FROM agent_endpoints e WHERE e.id = ?2 AND e.type = 'oidc' AND e.updated_at = ?8)"
        ),
        [
            step.params(id),
            vec![
                Param::text(identity),
                Param::optional_text(endpoint.identity_type.map(IdentityType::as_str)),
                Param::integer(endpoint.updated_at),
            ],
        ]
        .concat(),
    )
}

/// Records the decision, once, and only in the browser in which the user signed in. The cookie is
/// not sufficient: until the app's secret has opened the page, the cookie may belong to an agent
/// that followed the link itself. An approval also requires a valid grant and key, and that the
/// account has not been reconnected since the call.
pub fn decide(step: BrowserStep<'_>, id: &str, approves: bool) -> Statement {
    let (state, valid) = if approves {
        let grant = "EXISTS (SELECT 1 FROM agent_grants g WHERE g.id = grant_id AND g.state = 'active' AND g.expires_at > ?5)";
        let sign_in =
            "EXISTS (SELECT 1 FROM agent_endpoints e WHERE e.id = ?2 AND e.type IS NOT NULL)";
        let owner = format!("({grant} OR {IS_FROM_SESSION} AND {sign_in})");
        let account =
            "connected_by IS (SELECT c.connected_by FROM connections c WHERE c.id = connection_id)";
        ("approved", format!(" AND {owner} AND {account} AND {}", key_is_valid("?5")))
    } else {
        ("declined", String::new())
    };
    statement(
        format!(
            "UPDATE agent_approvals SET state = '{state}', claimed_by = ?4, expires_at = ?5 + {LIFETIME_MS} WHERE id = ?1 AND endpoint = ?2 AND browser_hash = ?3 AND secret_hash IS NULL AND state = 'pending' AND expires_at > ?5{valid}"
        ),
        step.params(id),
    )
}

/// Stores the response of an approved call.
pub fn finish(id: &str, claimed_by: &str, sealed: &Sealed, now: u64) -> Statement {
    statement(
        format!(
            "UPDATE agent_approvals SET state = 'done', sealed = ?3, expires_at = ?4 + {LIFETIME_MS} WHERE id = ?1 AND claimed_by = ?2 AND state = 'approved'"
        ),
        vec![
            Param::text(id),
            Param::text(claimed_by),
            Param::text(sealed.as_str()),
            Param::integer(now),
        ],
    )
}

/// The maximum length of a stored response, in bytes. Encryption makes it a third longer, and
/// `shards move` writes each row with one statement, which D1 limits to 100 KB.
pub const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// Encodes a response for encryption: the status, a line feed, the body.
pub fn encode_response(status: u16, body: &[u8]) -> Vec<u8> {
    [format!("{status}\n").as_bytes(), body].concat()
}

/// Decodes the output of [`encode_response`].
pub fn decode_response(plain: &[u8]) -> Option<(u16, Vec<u8>)> {
    let at = plain.iter().position(|byte| *byte == b'\n')?;
    let status = std::str::from_utf8(plain.get(..at)?).ok()?.parse().ok()?;
    Some((status, plain.get(at.saturating_add(1)..)?.to_vec()))
}

pub fn select_grant(endpoint: &str, approval: &Approval) -> Statement {
    super::statements::select_grant(endpoint, &approval.grant_id)
}

/// A copy of the grant whose calls need no approval, for running an approved call.
pub fn without_confirmation(grant: &Grant) -> Grant {
    Grant { confirm: None, ..grant.clone() }
}
