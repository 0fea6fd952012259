//! What an endpoint needs from storage, and how its answer is rendered from the results.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::body::BodyReader;
use super::call::proxy::ProxyCall;
use super::call::run::RunAction;
use super::catalog::answer::CatalogAnswer;
use super::clients::PutClient;
use super::config::Config;
use super::connect::attempt::AskedAttempt;
use super::connect::start::NewConnect;
use super::credentials::check_now::AskedCheck;
use super::credentials::read::AskedCredentials;
use super::credentials::set::NewCredentials;
use super::endpoint::Keyed;
use super::message::{Request, Response};
use super::problem::Problem;
use super::query::QueryReader;
use super::session::new::NewSession;
use super::vault::delete::Deletion;
use super::vault::no_platform::NoPlatform;
use super::webhooks::signed::SignedWebhook;
use crate::access::statements::Guard;
use crate::access::{Caller, Principal};
use crate::condition::Condition;
use crate::ports::{ResultSet, Statement, StorageError};
use crate::vault::model::ConnectionId;

/// What an endpoint needs from storage.
pub enum Plan<'a> {
    /// An answer of the catalog, read once the caller has been let in.
    Catalog(CatalogAnswer<'a>),
    /// A token, made once its key has turned out to be valid.
    Session(NewSession<'a>),
    /// A refusal: the catalog does not have the platform of a new connection. What may have been meant is looked up once
    /// the caller has been let in.
    NoPlatform(NoPlatform<'a>),
    /// An account to connect, and what is asked of storage first.
    Connect(Box<NewConnect<'a>>, Statements),
    /// An OAuth client to be stored.
    PutClient(PutClient<'a>),
    /// What became of an attempt, and what is asked of storage first.
    Attempt(AskedAttempt<'a>, Statements),
    /// A connection to be deleted, and what is asked of storage first.
    Delete(Deletion<'a>, Statements),
    /// Credentials to be handed out, and what is asked of storage first.
    Credentials(AskedCredentials<'a>, Statements),
    /// A connection to be checked, and what is asked of storage first.
    Check(AskedCheck<'a>, Statements),
    /// Credentials to be stored, and what is asked of storage first.
    SetCredentials(NewCredentials<'a>, Statements),
    /// An action to be run, and what is asked of storage first.
    Run(RunAction<'a>, Statements),
    /// A call to be passed on, and what is asked of storage first.
    Proxy(ProxyCall<'a>, Statements),
    /// A webhook whose secret is made or used, and what is asked of storage first.
    Webhook(SignedWebhook<'a>, Statements),
    /// Statements for the vault's database, and the function that renders their results.
    Vault(Statements, Box<Render<'a>>),
}

/// Renders the response from the statements' results and the principal for whom they ran.
type Render<'a> = dyn FnOnce(&Results<'_>, &Principal) -> Result<Response, Problem> + 'a;

impl<'a> Plan<'a> {
    /// A plan for the vault's database.
    pub fn vault(
        statements: Statements,
        render: impl FnOnce(&Results<'_>, &Principal) -> Result<Response, Problem> + 'a,
    ) -> Self {
        Self::Vault(statements, Box::new(render))
    }
}

/// The statements of a plan. All of them run in one batch, which is one transaction.
#[derive(Debug, Default)]
pub struct Statements(Vec<Statement>);

/// The name under which a statement's rows, of type `T`, are found in the [`Results`].
#[derive(Debug)]
pub struct Rows<T> {
    statement: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Rows<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Rows<T> {}

impl Statements {
    /// Adds a statement whose rows matter.
    pub fn ask<T: DeserializeOwned>(&mut self, statement: Statement) -> Rows<T> {
        let rows = Rows { statement: self.0.len(), of: PhantomData };
        self.0.push(statement);
        rows
    }

    /// Adds a statement whose rows are not read.
    pub fn run(&mut self, statement: Statement) {
        self.0.push(statement);
    }

    /// The statements, in the order in which they run.
    #[must_use]
    pub fn into_vec(self) -> Vec<Statement> {
        self.0
    }
}

/// The results of a plan's statements.
#[derive(Debug)]
pub struct Results<'a> {
    /// The result sets, in the order of the statements.
    pub sets: &'a [ResultSet],
    /// Whether the statements may have run before, because the answer to an earlier try was lost.
    pub repeated: bool,
}

impl Results<'_> {
    /// All rows of a statement.
    ///
    /// # Errors
    /// When storage gave something else.
    pub fn all<T: DeserializeOwned>(&self, rows: Rows<T>) -> Result<Vec<T>, Problem> {
        let set = self.sets.get(rows.statement);
        let set = set.ok_or_else(|| StorageError::new("a statement gave no result set"))?;
        Ok(set.rows()?)
    }

    /// A statement's first row. Returns `None` when it has no rows.
    ///
    /// # Errors
    /// When storage gave something else than rows.
    pub fn first<T: DeserializeOwned>(&self, rows: Rows<T>) -> Result<Option<T>, Problem> {
        Ok(self.all(rows)?.into_iter().next())
    }
}

/// What a plan is made from.
#[derive(Debug)]
pub struct Context<'a> {
    /// The request.
    pub request: &'a Request,
    /// The requested endpoint.
    pub endpoint: Keyed,
    /// The values of the path's parameters, percent-decoded, in order.
    pub arguments: &'a [String],
    /// The holder of a well-formed key, or of a token signed here. Whether the key is valid is not yet known.
    pub caller: &'a Caller,
    /// The operator's settings.
    pub config: &'a Config,
    /// Why the database takes nothing more; `None` while it does.
    pub full: Option<&'a Problem>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    /// The UUID of this request, also stored in the rows that it changes.
    pub request_id: &'a str,
}

impl<'a> Context<'a> {
    /// Confines statements to what the caller may see: nothing when its key is not valid or lacks the scope.
    #[must_use]
    pub fn guard(&self) -> Guard<'a> {
        Guard::new(self.caller, self.endpoint.access().scope(), self.now)
    }

    /// Whether the database takes more.
    ///
    /// # Errors
    /// `vault_full` when it does not.
    pub fn has_room(&self) -> Result<(), Problem> {
        self.full.map_or(Ok(()), |full| Err(full.clone()))
    }

    /// Reads the query against the endpoint's parameters.
    #[must_use]
    pub fn query(&self) -> QueryReader<'a> {
        QueryReader::new(&self.request.query, self.endpoint.facts().query)
    }

    /// Reads the body against the endpoint's fields.
    ///
    /// # Errors
    /// When it is not declared as JSON, is too large, or is not a JSON object.
    pub fn body(&self) -> Result<BodyReader, Problem> {
        BodyReader::new(self.request, self.endpoint.facts().body.unwrap_or_default())
    }

    /// The value of the path's parameter with this number; empty when it has no such parameter.
    #[must_use]
    pub fn argument(&self, nth: usize) -> &'a str {
        self.arguments.get(nth).map(String::as_str).unwrap_or_default()
    }

    /// The connection that the path names; one that does not exist when that cannot be an id.
    #[must_use]
    pub fn connection_id(&self) -> ConnectionId {
        ConnectionId::parse(self.argument(0)).unwrap_or_default()
    }

    /// Refuses every query parameter, for endpoints without any.
    ///
    /// # Errors
    /// With all faults of the query.
    pub fn no_query(&self) -> Result<(), Problem> {
        self.query().finish()
    }

    /// Reads `If-Match`, for endpoints that heed it and have no query parameters. Returns `None` when it was not sent.
    ///
    /// # Errors
    /// With all faults of the query and the header. An invalid condition is never treated as absent.
    pub fn condition(&self) -> Result<Option<Condition<'a>>, Problem> {
        let mut query = self.query();
        let sent = self.request.header("if-match").filter(|_| self.endpoint.facts().if_match);
        let condition = sent.and_then(Condition::parse);
        if sent.is_some() && condition.is_none() {
            let what = "must be `*` or a comma-separated list of quoted entity tags";
            query.invalid("If-Match", what);
        }
        query.finish()?;
        Ok(condition)
    }
}
