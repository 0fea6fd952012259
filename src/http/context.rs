//! The context for preparing an endpoint's handler.

use std::rc::Rc;

use super::body::BodyReader;
use super::body::budget::{Holder, Reservation};
use super::config::Config;
use super::endpoint::Keyed;
use super::message::Request;
use super::problem::Problem;
use super::query::QueryReader;
use super::service::Service;
use crate::auth::statements::Guard;
use crate::auth::{Caller, Principal};
use crate::connections::model::ConnectionId;
use crate::http::condition::Condition;
use crate::terms::{Scope, Scopes};

/// The request, its caller and the service.
#[derive(Debug)]
pub struct Context<'a> {
    pub request: &'a Request,
    pub endpoint: Keyed,
    /// The values of the path's parameters, percent-decoded, in order.
    pub arguments: &'a [String],
    /// The caller, with a valid token, or with a well-formed key that storage has not confirmed
    /// yet.
    pub caller: &'a Caller,
    /// The operator's settings and the caches of the isolate.
    pub service: &'a Service,
    /// The problem for endpoints that add rows; `None` unless the database is nearly full.
    pub capacity_error: Option<&'a Problem>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    /// The UUID of this request, also stored in the rows that the request changes.
    pub request_id: &'a str,
}

/// Proof that the caller may call a platform. The platform client requires a permit, and only
/// [`Context::permit`] returns one.
#[derive(Debug)]
pub struct Permit(());

impl<'a> Context<'a> {
    pub const fn config(&self) -> &'a Config {
        self.service.config()
    }

    /// Restricts statements to the rows that the caller may see. Matches no rows when the key is
    /// invalid or lacks the scope.
    pub fn guard(&self) -> Guard<'a> {
        Guard::new(self.caller, self.endpoint.access().scope(), self.now)
    }

    /// Fails with `vault_full` when the database is nearly full.
    pub fn ensure_capacity(&self) -> Result<(), Problem> {
        self.capacity_error.map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Checks a call to a platform against the caller's limits. `action` is the action's platform and key; `None` for a
    /// proxied request. Fails with `insufficient_scope`, which names the missing access.
    pub fn permit(&self, method: &str, action: Option<(&str, &str)>) -> Result<Permit, Problem> {
        self.caller.limits().permit(method, action).map_err(Problem::limits_exceeded)?;
        Ok(Permit(()))
    }

    /// The caller to whom memory for bodies is charged.
    pub fn body_holder<'p>(&'p self, principal: &'p Principal) -> Holder<'p> {
        let identity = self.caller.token().map(|token| token.restriction.identity.as_str());
        Holder { account: &principal.account, identity }
    }

    /// Reserves memory for the response of a platform before the call is sent.
    pub fn reserve_response(
        &self,
        principal: &Principal,
        method: &str,
    ) -> Result<Rc<Reservation>, Problem> {
        self.service.responses().reserve(method, self.body_holder(principal), self.now)
    }

    /// Fails when the caller is a person without one of these scopes. Sign-in for agents and grants
    /// act with the scopes of the key behind the console sign-in, which may exceed the person's own
    /// scopes.
    pub fn ensure_person_holds(&self, scopes: Scopes) -> Result<(), Problem> {
        self.caller
            .person()
            .map_or(Ok(()), |person| self.ensure_holds(person.scopes, scopes.iter()))
    }

    /// Fails when `held`, the caller's scopes, lacks one of `needed`.
    pub fn ensure_holds(
        &self,
        held: Scopes,
        needed: impl IntoIterator<Item = Scope>,
    ) -> Result<(), Problem> {
        let missing_scope = needed.into_iter().find(|scope| !held.contains(*scope));
        missing_scope.map_or(Ok(()), |scope| Err(Problem::missing_scope(self.caller.noun(), scope)))
    }

    /// Reads the query and checks it against the endpoint's parameters.
    pub fn query(&self) -> QueryReader<'a> {
        QueryReader::new(&self.request.query, self.endpoint.spec().query)
    }

    /// Reads the body and checks it against the endpoint's fields.
    pub fn body(&self) -> Result<BodyReader, Problem> {
        let spec = self.endpoint.spec();
        BodyReader::new(self.request, spec.body.unwrap_or_default(), spec.max_body)
    }

    /// The path parameter at this index; empty if the path has fewer parameters.
    pub fn argument(&self, index: usize) -> &'a str {
        self.arguments.get(index).map(String::as_str).unwrap_or_default()
    }

    /// The connection id in the path. A malformed id becomes an id that no connection has.
    pub fn connection_id(&self) -> ConnectionId {
        ConnectionId::parse(self.argument(0)).unwrap_or_default()
    }

    /// The absolute URL of an endpoint, with `arguments` as its path parameters.
    pub fn url_of(&self, endpoint: Keyed, arguments: &[&str]) -> String {
        format!("{}{}", self.request.origin, endpoint.address(arguments))
    }

    /// Fails when the request has a query parameter that the endpoint does not accept.
    pub fn ensure_no_query(&self) -> Result<(), Problem> {
        self.query().finish()
    }

    /// Reads `If-Match`, and checks the query. Returns `None` when the header was not sent, or the
    /// endpoint ignores it. An invalid header fails, so that it never permits an unconditional
    /// change.
    pub fn condition(&self) -> Result<Option<Condition<'a>>, Problem> {
        let mut query = self.query();
        let header = self.request.header("if-match").filter(|_| self.endpoint.spec().if_match);
        let condition = header.and_then(Condition::parse);
        if header.is_some() && condition.is_none() {
            let message = "must be `*` or a comma-separated list of quoted entity tags";
            query.invalid("If-Match", message);
        }
        query.finish()?;
        Ok(condition)
    }
}
