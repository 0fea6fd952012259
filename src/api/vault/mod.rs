//! The vault (specification, parts 4.3 to 4.5): connections listed, read, changed, created, deleted and counted.
//!
//! Each request asks storage once: the row of its key and all else in one batch, which is one transaction. What else is
//! asked is confined to that key by itself, so the key need not be known to be valid before.

pub mod create;
mod delete;
pub mod list;
mod read;
mod summary;
pub mod update;

use super::cost::Metered;
use super::handle::{authorize, no_route};
use super::message::{NO_STORE, Request, Response};
use super::problem::{Code, Problem};
use super::route::{Endpoint, Target};
use crate::access::authenticate::owner;
use crate::access::statements::{Guard, select_key};
use crate::access::token::SessionSecrets;
use crate::access::{Caller, Scope};
use crate::catalog::cache::CatalogCache;
use crate::json::Value;
use crate::ports::{Clock, Db, Ports, Random, RateLimit, ResultSet, Statement, StorageError};
use crate::vault::model::Connection;
use crate::vault::revision::entity_tag;

/// What a request asks of storage, and how the answer becomes a response.
struct Ask<'a> {
    statements: Vec<Statement>,
    answer: Box<Answer<'a>>,
}

/// From the result sets of an [`Ask`]'s statements to the response.
type Answer<'a> = dyn FnOnce(&Results<'_>) -> Result<Response, Problem> + 'a;

/// What storage gave.
struct Results<'a> {
    sets: &'a [ResultSet],
    /// Whether the statements may have been run before: an earlier try was lost.
    repeated: bool,
}

impl Results<'_> {
    /// The rows that a statement gave.
    fn rows<T>(&self, statement: usize, read: fn(Value) -> Option<T>) -> Result<Vec<T>, Problem> {
        let set = self.sets.get(statement);
        let set = set.ok_or_else(|| StorageError::new("a statement gave no result set"))?;
        Ok(set.rows(read)?)
    }

    /// The connections that a statement gave.
    fn connections(&self, statement: usize) -> Result<Vec<Connection>, Problem> {
        self.rows(statement, Connection::read)
    }

    /// The only connection that a statement gave.
    fn connection(&self, statement: usize) -> Result<Option<Connection>, Problem> {
        Ok(self.connections(statement)?.pop())
    }
}

/// A request to an endpoint of the vault.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The request.
    pub request: &'a Request,
    /// What it is made with: a key of which no more is known than that it is well-formed, or a good token of such a key.
    pub caller: &'a Caller,
    /// What signs the cursors of tokens.
    pub sessions: &'a SessionSecrets,
    /// Its path's meaning.
    pub target: &'a Target,
    /// What it does.
    pub endpoint: Endpoint,
    /// What the key must be allowed to do.
    pub scope: Scope,
}

/// What an endpoint makes its statements and its answer from.
struct Context<'a> {
    request: &'a Request,
    caller: &'a Caller,
    sessions: &'a SessionSecrets,
    guard: Guard<'a>,
    now: u64,
    /// A fresh UUID that names this request's write.
    fresh_id: String,
}

/// Answers a request. A token's own scope is looked at before anything else.
///
/// 1. Ask the rate limit, then put together what is to be asked. Whatever is wrong there is told only when the key is
///    known to be valid.
/// 2. Ask storage, once.
/// 3. Authenticate, authorize.
/// 4. Render.
///
/// # Errors
/// With whatever the contract promises for the request.
pub async fn answer<P: Ports>(
    catalog: &CatalogCache,
    ports: &Metered<'_, P>,
    asked: &Asked<'_>,
) -> Result<Response, Problem> {
    let Asked { request, caller, sessions, target, endpoint, scope } = *asked;
    let now = ports.now();
    if let Caller::Token(token) = caller {
        ports.hide_rows();
        authorize(caller, token.scopes, scope)?;
    }

    // 1. The rate, then what is to be asked.
    let guard = Guard::new(caller, scope, now);
    let context = Context { request, caller, sessions, guard, now, fresh_id: ports.uuid() };
    let ask = match ports.allow(&caller.rate_key()).await {
        Ok(()) => ask(catalog, ports, &context, target, endpoint).await,
        Err(wait) => Err(wait.into()),
    };

    // 2. Storage, once.
    let (mut statements, ask) = match ask {
        Ok(Ask { statements, answer }) => (statements, Ok(answer)),
        Err(problem) => (Vec::new(), Err(problem)),
    };
    statements.insert(0, select_key(caller));
    let sets = ports.batch(statements).await?;

    // 3. Authenticate, authorize.
    let principal = owner(caller, sets.first(), now)?;
    authorize(caller, principal.scopes, scope)?;

    // 4. Render.
    let sets = sets.get(1..).unwrap_or_default();
    ask?(&Results { sets, repeated: ports.was_repeated() })
}

async fn ask<'a, P: Ports>(
    catalog: &CatalogCache,
    ports: &Metered<'_, P>,
    context: &'a Context<'a>,
    target: &Target,
    endpoint: Endpoint,
) -> Result<Ask<'a>, Problem> {
    // What is no id is looked up like one, as the text that nothing has: what can't be found has one answer at one cost.
    let id = if let Target::Connection { id } = target { stored_id(id) } else { None };
    let id = id.unwrap_or_default();
    match endpoint {
        Endpoint::CreateConnection => create::ask(catalog, ports, context).await,
        Endpoint::ReadConnection => read::ask(context, &id),
        Endpoint::UpdateConnection => update::ask(context, &id),
        Endpoint::DeleteConnection => delete::ask(context, &id),
        Endpoint::Summary => summary::ask(context),
        Endpoint::ListConnections => list::ask(context),
        Endpoint::Health
        | Endpoint::Whoami
        | Endpoint::CreateSession
        | Endpoint::ListConnectors
        | Endpoint::ListActions => Err(no_route()),
    }
}

/// The id as it is stored; none for a text that is no hyphenated UUID.
#[must_use]
pub fn stored_id(sent: &str) -> Option<String> {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let hyphenated = sent.len() == 36 && sent.bytes().enumerate().all(fits);
    hyphenated.then(|| sent.to_ascii_lowercase())
}

/// The vault has no such connection, or none that the key may see.
#[must_use]
pub fn not_found() -> Problem {
    Problem::new(Code::ConnectionNotFound, "The vault has no such connection.")
}

fn precondition_failed() -> Problem {
    let detail = "The connection is not at the version that `If-Match` names: read it again.";
    Problem::new(Code::PreconditionFailed, detail)
}

/// One connection with its entity tag.
fn shown(connection: &Connection) -> Response {
    let mut response = Response::json(connection.to_json().into_bytes(), NO_STORE);
    response.add("etag", entity_tag(&connection.id, connection.version));
    response
}
