//! Errors as `application/problem+json` (RFC 9457).

mod code;

use serde::Serialize;

use crate::auth::Shard;
use crate::auth::error::AuthenticationError;
use crate::http::message::{NO_STORE, Response};
use crate::ports::{RetryAfter, StorageError};
use crate::terms::Scope;
use crate::util::json;
use crate::util::nearest::{nearest, shown};

pub use code::Code;

/// The maximum number of reported faults, so that a hostile request costs little.
pub(crate) const MAX_FAULTS: usize = 100;

/// One fault of a request's parameters or body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The code of this fault. A problem has the code of its first fault.
    #[serde(skip)]
    pub code: Code,
    #[serde(flatten)]
    pub location: Location,
    /// The human-readable message.
    pub detail: String,
    /// The name that the caller may have meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Location {
    /// In the query parameter of this name, as sent.
    Parameter(String),
    /// In the body, at this JSON pointer (RFC 6901).
    Pointer(String),
}

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub code: Code,
    /// The human-readable message.
    pub detail: Box<str>,
    /// All faults of the query or the body (with status 400 only).
    pub errors: Vec<Fault>,
    /// An additional member of the document.
    pub extension: Extension,
    /// The value of the `Allow` header.
    pub allow: Option<Box<str>>,
    /// The value of the `Retry-After` header, in seconds.
    pub retry_after: Option<u32>,
    /// The cause, for the log only.
    pub cause: Option<Box<str>>,
    /// The database that the caller's account was moved to; that database must handle the request
    /// instead.
    pub moved_to: Option<Shard>,
}

/// An additional member that only some codes have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extension {
    None,
    /// `suggestions`: names that may have been meant.
    Suggestions(Vec<String>),
    /// `connectionId`: the existing connection.
    ConnectionId(String),
    /// `redirectUri`: the URI to register before sign-in is configured.
    RedirectUri(String),
}

impl Problem {
    /// A problem with only a code and a detail.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let detail = detail.into().into_boxed_str();
        Self {
            code,
            detail,
            errors: Vec::new(),
            extension: Extension::None,
            allow: None,
            retry_after: None,
            cause: None,
            moved_to: None,
        }
    }

    /// The problem for a request with these faults. Returns `None` without faults.
    pub fn from_faults(errors: Vec<Fault>) -> Option<Self> {
        let first = errors.first()?;
        let more = match errors.len() {
            1 => String::new(),
            faults => format!(" ({} more in `errors`)", faults.saturating_sub(1)),
        };
        let mut problem = Self::new(first.code, format!("{}{more}", first.detail));
        problem.errors = errors;
        Some(problem)
    }

    /// The problem for a request with one fault.
    pub fn from_fault(fault: Fault) -> Self {
        let problem = Self::new(fault.code, fault.detail.clone());
        Self { errors: vec![fault], ..problem }
    }

    /// The service has no such path.
    pub fn route_not_found() -> Self {
        Self::new(Code::RouteNotFound, "The service has no such path.")
    }

    /// The path does not support the method; `allow` lists those that it supports.
    pub fn method_not_allowed(allow: String) -> Self {
        let problem =
            Self::new(Code::MethodNotAllowed, format!("This path supports only {allow}."));
        Self { allow: Some(allow.into_boxed_str()), ..problem }
    }

    /// The caller lacks the scope. `noun` names the caller: a key or a token.
    pub fn missing_scope(noun: &str, scope: Scope) -> Self {
        let detail = format!("This {noun} lacks the scope `{}`.", scope.as_str());
        Self::new(Code::InsufficientScope, detail)
    }

    /// A call exceeds the caller's limits.
    pub fn limits_exceeded(detail: String) -> Self {
        Self::new(Code::InsufficientScope, detail)
    }

    /// The caller exceeds the rate limit. `noun` names the caller: a key or a token.
    pub fn rate_limited(noun: &str, wait: RetryAfter) -> Self {
        let detail = format!("This {noun} has sent too many requests. Wait, then retry.");
        Self { retry_after: Some(wait.0), ..Self::new(Code::TooManyRequests, detail) }
    }

    /// Adds the prefix `base` to the faults' pointers, for a body that is part of a larger one.
    pub(crate) fn with_pointer_prefix(mut self, base: &str) -> Self {
        for fault in &mut self.errors {
            if let Location::Pointer(pointer) = &mut fault.location {
                pointer.insert_str(0, base);
            }
        }
        self
    }

    /// The connection does not exist or is not visible to the caller.
    pub fn connection_not_found() -> Self {
        Self::new(Code::ConnectionNotFound, "The vault has no such connection.")
    }

    /// The request has no API key.
    pub fn missing_key() -> Self {
        let detail = "The request has no API key. Send one in the header `x-service-secret`.";
        Self::new(Code::MissingKey, detail)
    }

    /// The request's API key is malformed.
    pub fn malformed_key() -> Self {
        let detail = "The API key is malformed: a character is missing or mistyped.";
        Self::new(Code::InvalidKey, detail)
    }

    /// The request has more than one secret.
    pub fn multiple_keys() -> Self {
        let detail = "The request has more than one API key. Send one key, in one header.";
        Self::new(Code::InvalidKey, detail)
    }

    /// The token is not valid. The message is the same for all reasons, so that it reveals nothing.
    pub fn invalid_token() -> Self {
        let detail = "The token is invalid: it was altered, has expired or does not allow this origin, or its API key was revoked or has expired.";
        Self::new(Code::InvalidKey, detail)
    }

    /// Storage is unavailable; `cause` is logged.
    pub fn unavailable(cause: impl Into<String>) -> Self {
        let mut problem =
            Self::new(Code::Unavailable, "The service can't reach its storage. Try again shortly.");
        problem.retry_after = Some(5);
        problem.cause = Some(cause.into().into_boxed_str());
        problem
    }

    /// The database is nearly full; `cause` is logged.
    pub fn vault_full(cause: String) -> Self {
        let detail = "The database is nearly full, so nothing can be added to the vault. Existing connections keep working. Delete connections that are no longer needed, or ask the service's operator for more capacity.";
        Self { cause: Some(cause.into_boxed_str()), ..Self::new(Code::VaultFull, detail) }
    }

    /// The JSON document; `base` is the service's address without a trailing slash.
    pub fn to_json(&self, base: &str, request_id: &str) -> Vec<u8> {
        json::bytes(&self.document(base, request_id))
    }

    /// Like [`Self::to_json`], as a value that another document can contain.
    pub(crate) fn document<'a>(
        &'a self,
        base: &str,
        request_id: &'a str,
    ) -> impl Serialize + use<'a> {
        let (status, code, title) = self.code.describe();
        let (suggestions, connection_id, redirect_uri) = match &self.extension {
            Extension::None => (None, None, None),
            Extension::Suggestions(names) => (Some(names.as_slice()), None, None),
            Extension::ConnectionId(id) => (None, Some(id.as_str()), None),
            Extension::RedirectUri(uri) => (None, None, Some(uri.as_str())),
        };
        Document {
            kind: format!("{base}/problems/{code}"),
            title,
            status,
            detail: &self.detail,
            code,
            request_id,
            errors: &self.errors,
            suggestions,
            connection_id,
            redirect_uri,
        }
    }

    /// The response; `base` is as in [`Self::to_json`].
    pub(super) fn into_response(self, base: &str, request_id: &str) -> Response {
        let (status, code, _) = self.code.describe();
        let mut response = Response::empty(status);
        response.body = self.to_json(base, request_id);
        response.moved_to = self.moved_to;
        response.add("cache-control", NO_STORE);
        response.add("content-type", "application/problem+json");
        if status == 401 {
            response.add("www-authenticate", "ApiKey");
        }
        if let Some(allow) = self.allow {
            response.add("allow", allow);
        }
        if let Some(seconds) = self.retry_after {
            response.add("retry-after", seconds.to_string());
        }
        response.log = self.cause.map(|cause| format!("{code} request={request_id}: {cause}"));
        response
    }
}

/// The JSON of a problem.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [Fault],
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestions: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect_uri: Option<&'a str>,
}

impl Fault {
    /// The fault for a name that is not one of `known`. `noun` completes the message, for example `a field of this
    /// body`.
    pub(crate) fn unknown(
        code: Code,
        location: Location,
        name: &str,
        noun: &str,
        known: &[&str],
    ) -> Self {
        let suggestion = nearest(name, known.iter().copied(), 1).pop();
        let meant = suggestion.as_ref().map(|name| format!("; did you mean `{name}`?"));
        let meant = meant.unwrap_or_default();
        let detail = format!("`{}` is not {noun}{meant}", shown(name));
        Self { code, location, detail, suggestion }
    }

    /// The fault for a value of `name` that is not one of `known`. `text` is the value, if it is a string.
    pub(crate) fn unknown_value(
        code: Code,
        location: Location,
        name: &str,
        text: Option<&str>,
        known: &[&str],
    ) -> Self {
        let suggestion = text.and_then(|text| nearest(text, known.iter().copied(), 1).pop());
        let detail = format!("`{name}` must be one of {}", joined(known, ", "));
        Self { code, location, detail, suggestion }
    }
}

/// Joins strings. The standard library's `join` adds more code to the module.
pub(crate) fn joined(texts: &[&str], separator: &str) -> String {
    let mut all = String::new();
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            all.push_str(separator);
        }
        all.push_str(text);
    }
    all
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        if error.is_too_many_changes() {
            let detail = "Within 24 hours, a user or an agent can change connections or sign in 1000 times. Try again later.";
            return Self { retry_after: Some(3600), ..Self::new(Code::TooManyRequests, detail) };
        }
        let is_account_moving = error.is_account_moving();
        let mut problem = Self::unavailable(error.cause);
        if is_account_moving {
            problem.detail = "The account is being moved to another database, and nothing can be changed for up to five seconds. Try again shortly.".into();
            // A move is expected, so it is not logged.
            problem.cause = None;
        }
        problem
    }
}

impl From<AuthenticationError> for Problem {
    fn from(error: AuthenticationError) -> Self {
        let invalid = |detail: &str| Self::new(Code::InvalidKey, detail);
        match error {
            AuthenticationError::Missing => Self::missing_key(),
            AuthenticationError::InAuthorization => {
                let detail = "The request has no API key where the API reads one. Send it in the header `x-service-secret`, not in `Authorization`, and without `Bearer`.";
                Self { detail: detail.into(), ..Self::missing_key() }
            }
            AuthenticationError::Several => Self::multiple_keys(),
            AuthenticationError::Malformed => Self::malformed_key(),
            AuthenticationError::Refused => invalid("The API key is unknown, revoked or expired."),
            AuthenticationError::BadToken => Self::invalid_token(),
            AuthenticationError::EndedGrant => invalid(
                "This agent's access was ended, or it was not used for 30 days. To use it again, connect to this address again: the user then signs in and decides what the agent may do.",
            ),
            AuthenticationError::Storage(error) => error.into(),
        }
    }
}
