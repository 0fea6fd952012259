//! What an endpoint's plan is made from.

use super::body::BodyReader;
use super::config::Config;
use super::endpoint::Keyed;
use super::message::Request;
use super::problem::Problem;
use super::query::QueryReader;
use super::service::Service;
use crate::auth::Caller;
use crate::auth::statements::Guard;
use crate::connections::model::ConnectionId;
use crate::http::condition::Condition;

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
    /// The caches of the isolate.
    pub service: &'a Service,
    /// The operator's settings.
    pub config: &'a Config,
    /// Why the database takes nothing more; `None` while it does.
    pub full: Option<&'a Problem>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    /// The UUID of this request, also stored in the rows that it changes.
    pub request_id: &'a str,
}

/// The caller may call a platform. Only [`Context::permit`] returns one, and no request is sent to a platform without.
#[derive(Debug)]
pub struct Permit(());

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

    /// Permits a call of a platform if the caller's limits do. `action` is the platform and the key of the action that is
    /// run; `None` for a request of the caller's own making.
    ///
    /// # Errors
    /// `insufficient_scope`, which names the access that is missing.
    pub fn permit(&self, method: &str, action: Option<(&str, &str)>) -> Result<Permit, Problem> {
        self.caller.limits().permit(method, action).map_err(Problem::beyond)?;
        Ok(Permit(()))
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
