//! A row of `agent_approvals`: a call of an agent that waits for its user.
//!
//! What each part is worth to somebody else: the link names the row and opens nothing, since the page appears only after the
//! grant's own identity has signed in, in the browser that opened the link; the row belongs to that browser then. The input is
//! sealed when the agent asks, shown from there and run from there, so that nothing can change in between. The state leaves
//! `pending` once, in one statement, which also demands that the grant and its key are still valid.

use serde::Deserialize;

use super::grant::Grant;
use super::statements::{CONTINUE_MS, Step, key_is_valid};
use crate::auth::statements::Guard;
use crate::connections::statements::sql::Sql;
use crate::credentials::{Kind, Place, Sealed};
use crate::ports::{Param, Statement};
use crate::terms::{Environment, IdentityType, Method};

/// How long a user has to decide, and an agent to fetch the response after that, in milliseconds.
pub const LIFETIME_MS: u64 = 10 * 60 * 1000;
/// The most calls of a grant that wait at the same time.
pub const MOST_PENDING: u64 = 20;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nobody has decided.
    Pending,
    /// The user has approved, and it runs.
    Approved,
    /// It has run.
    Done,
    /// The user has declined.
    Declined,
}

/// A call that waits, or has been decided.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Approval {
    /// Lower-case hyphenated UUID.
    pub id: String,
    /// The account.
    pub account: String,
    /// Its environment.
    pub environment: Environment,
    /// The grant that the agent used.
    pub grant_id: String,
    /// Whose approval it is.
    pub identity: String,
    /// The connection that is used.
    pub connection_id: String,
    /// The action's key.
    pub action: String,
    /// What the action does.
    pub title: String,
    /// The method of the call.
    pub method: Method,
    /// How far it is.
    pub state: State,
    /// The input or, once it has run, the response.
    pub sealed: Sealed,
    /// SHA-256 of the browser's cookie.
    pub browser_hash: Option<String>,
    /// The request that took the last step.
    pub claimed_by: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub expires_at: u64,
}

impl Approval {
    /// Where its sealed text belongs.
    #[must_use]
    pub fn place(&self) -> Place<'_> {
        place(&self.account, self.environment, &self.id)
    }
}

/// Where the sealed text of an approval belongs.
#[must_use]
pub const fn place<'a>(account: &'a str, environment: Environment, id: &'a str) -> Place<'a> {
    Place { account, environment, kind: Kind::AgentApproval, id }
}

fn statement(sql: impl Into<std::borrow::Cow<'static, str>>, params: Vec<Param>) -> Statement {
    Statement { sql: sql.into(), params }
}

/// A call that an agent asks for.
#[derive(Debug)]
pub struct NewApproval<'a> {
    /// Lower-case hyphenated UUID.
    pub id: &'a str,
    /// The grant that the agent uses.
    pub grant_id: &'a str,
    /// The connection.
    pub connection_id: &'a str,
    /// The action's key.
    pub action: &'a str,
    /// What the action does.
    pub title: &'a str,
    /// The method of the call.
    pub method: Method,
    /// The sealed input.
    pub sealed: &'a Sealed,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

impl NewApproval<'_> {
    /// Writes it for the identity of the grant, unless too many wait already. Returns its id.
    #[must_use]
    pub fn insert(&self) -> Statement {
        statement(
            format!(
                "INSERT INTO agent_approvals (id, account, environment, endpoint, grant_id, key_id, identity, identity_type, connection_id, action, title, method, state, sealed, created_at, expires_at) SELECT ?1, g.account, g.environment, g.endpoint, g.id, g.key_id, g.identity, g.identity_type, ?3, ?4, ?5, ?6, 'pending', ?7, ?8, ?8 + {LIFETIME_MS} FROM agent_grants g WHERE g.id = ?2 AND g.state = 'active' AND (SELECT count(*) FROM agent_approvals a WHERE a.grant_id = ?2 AND a.expires_at > ?8 AND a.state = 'pending' AND a.id <> ?1) < {MOST_PENDING} ON CONFLICT (id) DO UPDATE SET state = state RETURNING id"
            ),
            vec![
                Param::text(self.id),
                Param::text(self.grant_id),
                Param::text(self.connection_id),
                Param::text(self.action),
                Param::text(self.title),
                Param::text(self.method.as_str()),
                Param::text(self.sealed.as_str()),
                Param::integer(self.now),
            ],
        )
    }
}

/// Deletes those that have expired. The schedule runs it each minute, so that sealed inputs and responses do not stay.
#[must_use]
pub fn prune(now: u64) -> Statement {
    statement(
        "DELETE FROM agent_approvals WHERE id IN (SELECT id FROM agent_approvals INDEXED BY agent_approvals_by_age WHERE expires_at <= ?1 AND account NOT IN (SELECT account FROM away) ORDER BY expires_at LIMIT 500)",
        vec![Param::integer(now)],
    )
}

/// Selects one of a grant, if it is in time and the grant has not ended.
#[must_use]
pub fn select_of_grant(grant_id: &str, id: &str, now: u64) -> Statement {
    statement(
        "SELECT a.* FROM agent_approvals a CROSS JOIN agent_grants g ON g.id = a.grant_id AND g.state = 'active' WHERE a.id = ?1 AND a.grant_id = ?2 AND a.expires_at > ?3",
        vec![Param::text(id), Param::text(grant_id), Param::integer(now)],
    )
}

/// Selects one of an endpoint, unless its user is still on the way: whoever began is not yet known to be the user.
#[must_use]
pub fn select(endpoint: &str, id: &str) -> Statement {
    statement(
        "SELECT * FROM agent_approvals WHERE id = ?1 AND endpoint = ?2 AND secret_hash IS NULL",
        vec![Param::text(id), Param::text(endpoint)],
    )
}

/// Selects the one that a request has opened.
#[must_use]
pub fn select_claimed(endpoint: &str, browser_hash: &str, claimed_by: &str) -> Statement {
    statement(
        "SELECT * FROM agent_approvals WHERE endpoint = ?1 AND browser_hash = ?2 AND claimed_by = ?3 AND state = 'pending'",
        vec![Param::text(endpoint), Param::text(browser_hash), Param::text(claimed_by)],
    )
}

/// The account at a platform that an approved call would use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Account {
    /// The platform.
    pub platform: String,
    /// The connection's name.
    pub name: Option<String>,
    /// Whose connection it is.
    pub identity: String,
    /// The account's id at the platform.
    pub platform_account_id: Option<String>,
    /// The account's name at the platform.
    pub platform_account_name: Option<String>,
}

/// Selects the account that an approved call would use.
#[must_use]
pub fn select_account(approval: &Approval) -> Statement {
    statement(
        "SELECT platform, name, identity, platform_account_id, platform_account_name FROM connections WHERE account = ?1 AND environment = ?2 AND id = ?3",
        vec![
            Param::text(&approval.account),
            Param::text(approval.environment.as_str()),
            Param::text(&approval.connection_id),
        ],
    )
}

/// Lets the app, the holder of the key, send the user whom it has authenticated to the page: it is theirs, and waits. Returns its
/// id.
#[must_use]
pub fn send_by_app(
    guard: &Guard<'_>,
    (endpoint, id): (&str, &str),
    (identity, identity_type): (&str, Option<IdentityType>),
    (secret_hash, browser_hash): (&str, &str),
    now: u64,
) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("UPDATE agent_approvals SET secret_hash = ").text(secret_hash);
    sql.push(", browser_hash = ").text(browser_hash);
    sql.push(", secret_expires_at = ").integer(now.saturating_add(CONTINUE_MS));
    sql.push(" WHERE id = ").text(id).push(" AND endpoint = ").text(endpoint);
    sql.push(" AND identity = ").text(identity).push(" AND identity_type IS ");
    sql.bind(Param::optional_text(identity_type.map(IdentityType::as_str)));
    sql.push(" AND state = 'pending' AND expires_at > ").integer(now);
    sql.push(" AND EXISTS (SELECT 1 FROM api_keys k CROSS JOIN agent_endpoints e ON e.account = k.account AND e.environment = k.environment AND e.type = 'app' AND e.id = agent_approvals.endpoint WHERE k.account = agent_approvals.account AND ");
    sql.guard().push(") RETURNING id");
    sql.finish()
}

/// Opens the page for whoever comes with the app's secret, once, in the browser that opened the link.
#[must_use]
pub fn open_by_secret(step: Step<'_>, secret_hash: &str) -> Statement {
    statement(
        "UPDATE agent_approvals SET secret_hash = NULL, claimed_by = ?4 WHERE secret_hash = ?1 AND endpoint = ?2 AND browser_hash = ?3 AND state = 'pending' AND secret_expires_at > ?5 AND expires_at > ?5",
        step.params(secret_hash),
    )
}

/// Opens the page for the user whom the OpenID provider has authenticated: it is theirs, and waits.
#[must_use]
pub fn open_by_provider(
    step: Step<'_>,
    id: &str,
    identity: &str,
    identity_type: Option<IdentityType>,
) -> Statement {
    statement(
        "UPDATE agent_approvals SET secret_hash = NULL, browser_hash = ?3, claimed_by = ?4 WHERE id = ?1 AND endpoint = ?2 AND identity = ?6 AND identity_type IS ?7 AND state = 'pending' AND expires_at > ?5",
        [
            step.params(id),
            vec![
                Param::text(identity),
                Param::optional_text(identity_type.map(IdentityType::as_str)),
            ],
        ]
        .concat(),
    )
}

/// Decides, once, in the browser in which the user has signed in. The cookie alone does not do: until the app's secret has
/// opened the page, the browser may be that of an agent that began by itself and sent its user to the app. An approval needs the grant and its key to be valid still.
#[must_use]
pub fn decide(step: Step<'_>, id: &str, approves: bool) -> Statement {
    let (state, valid) = if approves {
        let grant = "EXISTS (SELECT 1 FROM agent_grants g WHERE g.id = grant_id AND g.state = 'active' AND g.expires_at > ?5)";
        ("approved", format!(" AND {grant} AND {}", key_is_valid("?5")))
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

/// Stores the response to a call that this request has approved and run.
#[must_use]
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

/// The longest response that is kept, in bytes.
pub const MOST_BYTES: usize = 256 << 10;

/// A response as it is sealed: its status, a line feed, its body.
#[must_use]
pub fn kept(status: u16, body: &[u8]) -> Vec<u8> {
    [format!("{status}\n").as_bytes(), body].concat()
}

/// Reads a response that was kept.
#[must_use]
pub fn read_kept(plain: &[u8]) -> Option<(u16, Vec<u8>)> {
    let at = plain.iter().position(|byte| *byte == b'\n')?;
    let status = std::str::from_utf8(plain.get(..at)?).ok()?.parse().ok()?;
    Some((status, plain.get(at.saturating_add(1)..)?.to_vec()))
}

/// The grant of an approval, whose tokens run what was approved.
#[must_use]
pub fn select_grant(endpoint: &str, approval: &Approval) -> Statement {
    super::statements::select_grant(endpoint, &approval.grant_id)
}

/// The limits with which an approved call runs: those of the grant, without another approval.
#[must_use]
pub fn run_as(grant: &Grant) -> Grant {
    Grant { confirm: None, ..grant.clone() }
}
