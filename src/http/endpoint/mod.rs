//! Every endpoint of the API, described once. Derived from the table: routes, `Allow`, scopes, the
//! parts of a request that are read, the client's URLs, the `OpenAPI` document, and the rows in
//! `docs/api.md`.

mod table;

use super::body::Field;
use super::message::MAX_BODY;
use super::query::Parameter;
use crate::terms::{Method, Scope};
use crate::util::percent::encode;

pub(super) use table::prepare;
pub use table::{Keyed, Open};

/// The path of requests that are forwarded to platforms.
const PROXY_PATH: &str = "/v1/vault/connections/{id}/proxy/{path}";

/// The path parameter for the remaining path, which stays percent-encoded.
pub(super) const REST: &str = "{path}";

/// An endpoint's row in the table.
#[derive(Debug, Clone, Copy)]
pub struct EndpointSpec {
    /// The method. A `GET` endpoint also accepts `HEAD`.
    pub method: Method,
    /// The path; a segment in braces is a path parameter.
    pub path: &'static str,
    /// The query parameters; all others are rejected.
    pub query: &'static [Parameter],
    /// The fields of the body; `None` when the endpoint reads no body.
    pub body: Option<&'static [Field]>,
    /// The maximum size of the body in bytes.
    pub max_body: usize,
    /// Whether the endpoint honours `If-Match`.
    pub if_match: bool,
    adds_rows: bool,
    on_replica: bool,
}

impl EndpointSpec {
    const fn new(method: Method, path: &'static str) -> Self {
        Self {
            method,
            path,
            query: &[],
            body: None,
            max_body: MAX_BODY,
            if_match: false,
            adds_rows: false,
            on_replica: false,
        }
    }

    const fn with_query(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    const fn with_body(self, fields: &'static [Field]) -> Self {
        Self { body: Some(fields), ..self }
    }

    const fn with_max_body(self, max_body: usize) -> Self {
        Self { max_body, ..self }
    }

    const fn with_if_match(self) -> Self {
        Self { if_match: true, ..self }
    }

    /// See [`Keyed::adds_rows`].
    const fn adding_rows(self) -> Self {
        Self { adds_rows: true, ..self }
    }

    /// See [`Keyed::allows_replica`].
    const fn on_replica(self) -> Self {
        Self { on_replica: true, ..self }
    }
}

/// The key or token that an endpoint requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A valid key or token, confirmed by storage.
    Valid,
    /// A valid key or token with this scope, confirmed by storage.
    Scope(Scope),
    /// The scope `catalog:read`. A key that the isolate has verified within the last 30 seconds needs no query, and neither
    /// does a token with a valid signature.
    Catalog,
}

impl Access {
    /// The required scope. Returns `None` when any valid key or token is accepted.
    pub const fn scope(self) -> Option<Scope> {
        match self {
            Self::Valid => None,
            Self::Scope(scope) => Some(scope),
            Self::Catalog => Some(Scope::CatalogRead),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// Needs no key, or checks the caller itself.
    Open(Open),
    /// Needs a key or a token.
    Keyed(Keyed),
}

impl Keyed {
    /// The endpoint with this `operationId`: the variant's name, ignoring case.
    pub fn from_operation_id(operation: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyed| keyed.name().eq_ignore_ascii_case(operation))
    }

    /// Whether the endpoint forwards requests, with any query and body.
    pub fn is_proxy(self) -> bool {
        self.spec().path == PROXY_PATH
    }

    /// Whether the endpoint makes the database larger. Such endpoints are refused when the database
    /// is nearly full, except those that keep connections alive. [`Self::Connect`] may reconnect,
    /// and [`Self::CreateAgentGrant`] checks its body first, so both check the capacity themselves.
    pub const fn adds_rows(self) -> bool {
        self.spec().adds_rows
    }

    /// Whether the endpoint accepts and returns a bookmark in `x-vault-bookmark`. True for
    /// endpoints that query the database for more than the key.
    pub fn supports_bookmark(self) -> bool {
        self.access() != Access::Catalog && !self.is_proxy()
    }

    /// Whether a read replica may serve the endpoint, if the caller allows it: the endpoint only
    /// reads, and sends nothing to a platform.
    pub const fn allows_replica(self) -> bool {
        self.spec().on_replica
    }

    /// Whether the audit log attributes the endpoint's changes to the caller. Changes that result
    /// from using or checking a connection have no actor.
    pub fn has_actor(self) -> bool {
        self.spec().method != Method::Get && !self.calls_platform() && self != Self::CheckConnection
    }

    /// Whether the endpoint calls the platform of a connection.
    pub fn calls_platform(self) -> bool {
        self.is_proxy() || self == Self::RunAction
    }

    /// The path with its parameters replaced, in order, by the percent-encoded `arguments`.
    pub fn address(self, arguments: &[impl AsRef<str>]) -> String {
        let mut arguments = arguments.iter();
        let mut address = String::new();
        for segment in self.spec().path.split('/').skip(1) {
            address.push('/');
            match is_parameter(segment).then(|| arguments.next()).flatten() {
                Some(argument) => address.push_str(&encode(argument.as_ref())),
                None => address.push_str(segment),
            }
        }
        address
    }
}

/// Whether a segment of an endpoint's path is a parameter.
pub(crate) fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn method_and_path_are_unique() {
        for (index, one) in Endpoint::ALL.iter().enumerate() {
            for other in Endpoint::ALL.iter().skip(index.saturating_add(1)) {
                let key = |endpoint: &Endpoint| (endpoint.spec().method, endpoint.spec().path);
                assert_ne!(key(one), key(other));
            }
        }
    }

    #[test]
    fn reading_endpoints_take_no_body_and_no_precondition() {
        for endpoint in Endpoint::ALL {
            let spec = endpoint.spec();
            let reads = spec.method == crate::terms::Method::Get;
            assert!(!reads || (spec.body.is_none() && !spec.if_match), "{endpoint:?}");
        }
    }
}
