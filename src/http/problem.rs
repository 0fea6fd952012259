//! Errors as `application/problem+json` (RFC 9457), in one envelope.

use serde::Serialize;

use super::message::{NO_STORE, Response};
use crate::auth::Shard;
use crate::auth::error::AuthenticationError;
use crate::ports::{RetryAfter, StorageError};
use crate::terms::Scope;
use crate::util::json;
use crate::util::nearest::{nearest, shown};

/// What went wrong, as a stable identifier for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The endpoint has no such query parameter.
    UnknownParameter,
    /// A query parameter was sent more than once.
    RepeatedParameter,
    /// A query parameter has an invalid value.
    InvalidParameter,
    /// The list would read more rows than one may.
    QueryTooBroad,
    /// The body is not what the endpoint takes.
    InvalidBody,
    /// The request carries no API key.
    MissingKey,
    /// The API key or token is malformed, unknown, revoked or expired, or there are several.
    InvalidKey,
    /// The key or token lacks the required scope.
    InsufficientScope,
    /// The path does not exist.
    RouteNotFound,
    /// The catalog has no such platform.
    PlatformNotFound,
    /// The platform has no such action.
    ActionNotFound,
    /// The caller sees no such connection.
    ConnectionNotFound,
    /// The caller began no such attempt to connect.
    AttemptNotFound,
    /// The vault holds no credentials of the connection.
    CredentialsNotFound,
    /// The environment has no OAuth client for the platform.
    OauthClientNotFound,
    /// The environment has no such webhook.
    WebhookNotFound,
    /// The environment has no such API key.
    KeyNotFound,
    /// Nobody has configured sign-in for agents.
    AgentSignInNotFound,
    /// The environment has no such grant.
    AgentGrantNotFound,
    /// The path exists, but not with this method.
    MethodNotAllowed,
    /// Another connection has the same key.
    ConnectionExists,
    /// The connection has failed: somebody must reconnect it.
    ConnectionFailed,
    /// The vault holds the connection's credentials, so that nobody else determines its state.
    CredentialsHeld,
    /// Nothing shows whether the connection works.
    NotCheckable,
    /// A new access token is asked for, and nothing renews the one that there is.
    NotRefreshable,
    /// Connecting needs an OAuth client, which the environment does not have.
    OauthClientMissing,
    /// The identity of a token, or the account, has as many connections as it may have.
    ConnectionLimit,
    /// The environment has as many webhooks as it may have.
    WebhookLimit,
    /// The webhook is not active, so that nothing is sent to it.
    WebhookInactive,
    /// The environment has as many valid API keys as the API creates.
    KeyLimit,
    /// The API key can't be replaced: it is revoked, expired or replaced already.
    KeyInactive,
    /// The resource is not at the version that `If-Match` names.
    PreconditionFailed,
    /// The body is too large.
    BodyTooLarge,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// The platform rejects the credentials.
    CredentialsRejected,
    /// The caller sends too many requests.
    TooManyRequests,
    /// The service has a fault.
    Internal,
    /// A platform can't be reached.
    PlatformUnreachable,
    /// The platform gave no new access token, and the old one is of no use any more.
    RefreshFailed,
    /// A platform does not answer in time.
    PlatformTimeout,
    /// Storage can't answer at the moment.
    Unavailable,
    /// The database has no room for more.
    VaultFull,
}

impl Code {
    /// All codes.
    pub const ALL: [Self; 42] = [
        Self::UnknownParameter,
        Self::RepeatedParameter,
        Self::InvalidParameter,
        Self::QueryTooBroad,
        Self::InvalidBody,
        Self::MissingKey,
        Self::InvalidKey,
        Self::InsufficientScope,
        Self::RouteNotFound,
        Self::PlatformNotFound,
        Self::ActionNotFound,
        Self::ConnectionNotFound,
        Self::AttemptNotFound,
        Self::CredentialsNotFound,
        Self::OauthClientNotFound,
        Self::WebhookNotFound,
        Self::KeyNotFound,
        Self::AgentSignInNotFound,
        Self::AgentGrantNotFound,
        Self::MethodNotAllowed,
        Self::ConnectionExists,
        Self::ConnectionFailed,
        Self::CredentialsHeld,
        Self::NotCheckable,
        Self::NotRefreshable,
        Self::OauthClientMissing,
        Self::ConnectionLimit,
        Self::WebhookLimit,
        Self::WebhookInactive,
        Self::KeyLimit,
        Self::KeyInactive,
        Self::PreconditionFailed,
        Self::BodyTooLarge,
        Self::UnsupportedMediaType,
        Self::CredentialsRejected,
        Self::TooManyRequests,
        Self::Internal,
        Self::PlatformUnreachable,
        Self::RefreshFailed,
        Self::Unavailable,
        Self::PlatformTimeout,
        Self::VaultFull,
    ];

    /// The HTTP status, the `code` and the `title`: everything that all problems of this kind share.
    #[must_use]
    pub const fn facts(self) -> (u16, &'static str, &'static str) {
        let (status, code) = self.named();
        (status, code, self.title())
    }

    /// The HTTP status and the `code`, separate from the titles, which the client does without.
    #[must_use]
    pub const fn named(self) -> (u16, &'static str) {
        match self {
            Self::UnknownParameter => (400, "unknown_parameter"),
            Self::RepeatedParameter => (400, "repeated_parameter"),
            Self::InvalidParameter => (400, "invalid_parameter"),
            Self::QueryTooBroad => (400, "query_too_broad"),
            Self::InvalidBody => (400, "invalid_body"),
            Self::MissingKey => (401, "missing_key"),
            Self::InvalidKey => (401, "invalid_key"),
            Self::InsufficientScope => (403, "insufficient_scope"),
            Self::RouteNotFound => (404, "route_not_found"),
            Self::PlatformNotFound => (404, "platform_not_found"),
            Self::ActionNotFound => (404, "action_not_found"),
            Self::ConnectionNotFound => (404, "connection_not_found"),
            Self::AttemptNotFound => (404, "attempt_not_found"),
            Self::CredentialsNotFound => (404, "credentials_not_found"),
            Self::OauthClientNotFound => (404, "oauth_client_not_found"),
            Self::WebhookNotFound => (404, "webhook_not_found"),
            Self::KeyNotFound => (404, "key_not_found"),
            Self::AgentSignInNotFound => (404, "agent_sign_in_not_found"),
            Self::AgentGrantNotFound => (404, "agent_grant_not_found"),
            Self::MethodNotAllowed => (405, "method_not_allowed"),
            Self::ConnectionExists => (409, "connection_exists"),
            Self::ConnectionFailed => (409, "connection_failed"),
            Self::CredentialsHeld => (409, "credentials_held"),
            Self::NotCheckable => (409, "not_checkable"),
            Self::NotRefreshable => (409, "not_refreshable"),
            Self::OauthClientMissing => (409, "oauth_client_missing"),
            Self::ConnectionLimit => (409, "connection_limit"),
            Self::WebhookLimit => (409, "webhook_limit"),
            Self::WebhookInactive => (409, "webhook_inactive"),
            Self::KeyLimit => (409, "key_limit"),
            Self::KeyInactive => (409, "key_inactive"),
            Self::PreconditionFailed => (412, "precondition_failed"),
            Self::BodyTooLarge => (413, "body_too_large"),
            Self::UnsupportedMediaType => (415, "unsupported_media_type"),
            Self::CredentialsRejected => (422, "credentials_rejected"),
            Self::TooManyRequests => (429, "too_many_requests"),
            Self::Internal => (500, "internal"),
            Self::RefreshFailed => (503, "refresh_failed"),
            Self::PlatformUnreachable => (502, "platform_unreachable"),
            Self::PlatformTimeout => (504, "platform_timeout"),
            Self::Unavailable => (503, "unavailable"),
            Self::VaultFull => (507, "vault_full"),
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::UnknownParameter => "Unknown query parameter",
            Self::RepeatedParameter => "Repeated query parameter",
            Self::InvalidParameter => "Invalid query parameter",
            Self::QueryTooBroad => "Query too broad",
            Self::InvalidBody => "Invalid body",
            Self::MissingKey => "Missing API key",
            Self::InvalidKey => "Invalid API key",
            Self::InsufficientScope => "Insufficient scope",
            Self::RouteNotFound => "Route not found",
            Self::PlatformNotFound => "Platform not found",
            Self::ActionNotFound => "Action not found",
            Self::ConnectionNotFound => "Connection not found",
            Self::AttemptNotFound => "Attempt not found",
            Self::CredentialsNotFound => "Credentials not found",
            Self::OauthClientNotFound => "OAuth client not found",
            Self::WebhookNotFound => "Webhook not found",
            Self::KeyNotFound => "API key not found",
            Self::AgentSignInNotFound => "Sign-in for agents not found",
            Self::AgentGrantNotFound => "Grant not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::ConnectionExists => "Connection exists",
            Self::ConnectionFailed => "Connection failed",
            Self::CredentialsHeld => "Credentials held",
            Self::NotCheckable => "Not checkable",
            Self::NotRefreshable => "Not refreshable",
            Self::OauthClientMissing => "OAuth client missing",
            Self::ConnectionLimit => "Too many connections",
            Self::WebhookLimit => "Too many webhooks",
            Self::KeyLimit => "Too many API keys",
            Self::KeyInactive => "API key not active",
            Self::WebhookInactive => "Webhook inactive",
            Self::PreconditionFailed => "Precondition failed",
            Self::BodyTooLarge => "Body too large",
            Self::UnsupportedMediaType => "Unsupported media type",
            Self::CredentialsRejected => "Credentials rejected",
            Self::TooManyRequests => "Too many requests",
            Self::Internal => "Internal error",
            Self::RefreshFailed => "No new access token",
            Self::PlatformUnreachable => "Platform unreachable",
            Self::PlatformTimeout => "Platform timeout",
            Self::Unavailable => "Temporarily unavailable",
            Self::VaultFull => "Vault full",
        }
    }

    /// The `code` member.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.named().1
    }
}

/// The most faults that are reported, so that a hostile request costs little.
pub(crate) const MAX_FAULTS: usize = 100;

/// One fault of a request's parameters or body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The kind of fault; the problem's own code is that of its first fault.
    #[serde(skip)]
    pub code: Code,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// What is wrong, for people.
    pub detail: String,
    /// What may have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// Where a fault is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// In the query parameter of this name, as sent.
    Parameter(String),
    /// In the body, at this JSON pointer (RFC 6901).
    Pointer(String),
}

/// The failure of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What went wrong.
    pub code: Code,
    /// What went wrong in this request, for people.
    pub detail: Box<str>,
    /// All faults of the query or the body (with status 400 only).
    pub errors: Vec<Fault>,
    /// The member that only this kind of problem has.
    pub extension: Extension,
    /// The value of the `Allow` header.
    pub allow: Option<Box<str>>,
    /// The value of the `Retry-After` header, in seconds.
    pub retry_after: Option<u32>,
    /// The cause, for the log only.
    pub cause: Option<Box<str>>,
    /// The database that the caller's account was moved to, where the request is to be answered.
    pub moved_to: Option<Shard>,
}

/// A member of the document that only some kinds of problem have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extension {
    /// No such member.
    None,
    /// `suggestions`: names that may have been meant.
    Suggestions(Vec<String>),
    /// `connectionId`: the connection that exists already.
    ConnectionId(String),
}

impl Problem {
    /// A problem with nothing but its code and detail.
    #[must_use]
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

    /// The problem of a request whose query or body has these faults. Returns `None` when there are none.
    #[must_use]
    pub fn of_faults(errors: Vec<Fault>) -> Option<Self> {
        let first = errors.first()?;
        let more = match errors.len() {
            1 => String::new(),
            faults => format!(" ({} more in `errors`)", faults.saturating_sub(1)),
        };
        let mut problem = Self::new(first.code, format!("{}{more}", first.detail));
        problem.errors = errors;
        Some(problem)
    }

    /// The problem of a request with one fault.
    #[must_use]
    pub fn of_fault(fault: Fault) -> Self {
        let problem = Self::new(fault.code, fault.detail.clone());
        Self { errors: vec![fault], ..problem }
    }

    /// The service has no such path.
    #[must_use]
    pub fn no_route() -> Self {
        Self::new(Code::RouteNotFound, "The service has no such path.")
    }

    /// The path does not have the method; `allow` lists the methods that it has.
    #[must_use]
    pub fn no_method(allow: String) -> Self {
        let problem =
            Self::new(Code::MethodNotAllowed, format!("This path supports only {allow}."));
        Self { allow: Some(allow.into_boxed_str()), ..problem }
    }

    /// The caller, a key or a token as `noun` says, lacks the scope.
    #[must_use]
    pub fn lacks(noun: &str, scope: Scope) -> Self {
        let detail = format!("This {noun} lacks the scope `{}`.", scope.as_str());
        Self::new(Code::InsufficientScope, detail)
    }

    /// A call is beyond the caller's limits, as `detail` says.
    #[must_use]
    pub fn beyond(detail: String) -> Self {
        Self::new(Code::InsufficientScope, detail)
    }

    /// A key or a token, as `noun` says, that asks too often.
    #[must_use]
    pub fn too_often(noun: &str, wait: RetryAfter) -> Self {
        let detail = format!("This {noun} has sent too many requests. Wait, then retry.");
        Self { retry_after: Some(wait.0), ..Self::new(Code::TooManyRequests, detail) }
    }

    /// The vault has no such connection, or the caller may not see it.
    #[must_use]
    pub fn no_connection() -> Self {
        Self::new(Code::ConnectionNotFound, "The vault has no such connection.")
    }

    /// The request carries no API key.
    #[must_use]
    pub fn missing_key() -> Self {
        let detail = "The request has no API key. Send one in the header `x-service-secret`.";
        Self::new(Code::MissingKey, detail)
    }

    /// The request's API key is malformed.
    #[must_use]
    pub fn malformed_key() -> Self {
        let detail = "The API key is malformed: a character is missing or mistyped.";
        Self::new(Code::InvalidKey, detail)
    }

    /// The request carries more than one secret.
    #[must_use]
    pub fn several_keys() -> Self {
        let detail = "The request has more than one API key. Send one key, in one header.";
        Self::new(Code::InvalidKey, detail)
    }

    /// The token is not valid. All reasons get the same answer, so that it reveals nothing.
    #[must_use]
    pub fn bad_token() -> Self {
        let detail = "The token is invalid: it was altered, has expired or does not allow this origin, or its API key was revoked or has expired.";
        Self::new(Code::InvalidKey, detail)
    }

    /// Storage can't answer; `cause` goes to the log.
    #[must_use]
    pub fn unavailable(cause: impl Into<String>) -> Self {
        let mut problem =
            Self::new(Code::Unavailable, "The service can't reach its storage. Try again shortly.");
        problem.retry_after = Some(5);
        problem.cause = Some(cause.into().into_boxed_str());
        problem
    }

    /// The database has no room for more; `cause` goes to the log.
    #[must_use]
    pub fn vault_full(cause: String) -> Self {
        let detail = "The database is nearly full, so nothing can be added to the vault. Everything that is there goes on. Delete what nobody needs, or ask the service's operator to make room.";
        Self { cause: Some(cause.into_boxed_str()), ..Self::new(Code::VaultFull, detail) }
    }

    /// The JSON document; `base` is the service's address without a trailing slash.
    #[must_use]
    pub fn to_json(&self, base: &str, request_id: &str) -> Vec<u8> {
        let (status, code, title) = self.code.facts();
        let (suggestions, connection_id) = match &self.extension {
            Extension::None => (None, None),
            Extension::Suggestions(names) => (Some(names.as_slice()), None),
            Extension::ConnectionId(id) => (None, Some(id.as_str())),
        };
        json::bytes(&Document {
            kind: format!("{base}/problems/{code}"),
            title,
            status,
            detail: &self.detail,
            code,
            request_id,
            errors: &self.errors,
            suggestions,
            connection_id,
        })
    }

    /// The response; `base` is as in [`Self::to_json`].
    pub(super) fn into_response(self, base: &str, request_id: &str) -> Response {
        let (status, code, _) = self.code.facts();
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

/// The members of a problem.
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
}

impl Fault {
    /// `name` is none of the `known` ones. `what` says what it is not, for example `a field of this body`.
    pub(crate) fn unknown(
        code: Code,
        place: Place,
        name: &str,
        what: &str,
        known: &[&str],
    ) -> Self {
        let suggestion = nearest(name, known.iter().copied(), 1).pop();
        let meant = suggestion.as_ref().map(|name| format!("; did you mean `{name}`?"));
        let meant = meant.unwrap_or_default();
        let detail = format!("`{}` is not {what}{meant}", shown(name));
        Self { code, place, detail, suggestion }
    }

    /// The value of `name` is none of the `known` ones; `text` is the value, if it was a string.
    pub(crate) fn none_of(
        code: Code,
        place: Place,
        name: &str,
        text: Option<&str>,
        known: &[&str],
    ) -> Self {
        let suggestion = text.and_then(|text| nearest(text, known.iter().copied(), 1).pop());
        let detail = format!("`{name}` must be one of {}", joined(known, ", "));
        Self { code, place, detail, suggestion }
    }
}

/// The texts with `between` between them. The library's `join` is faster for long ones, but is a lot of code.
pub(crate) fn joined(texts: &[&str], between: &str) -> String {
    let mut all = String::new();
    for (nth, text) in texts.iter().enumerate() {
        if nth > 0 {
            all.push_str(between);
        }
        all.push_str(text);
    }
    all
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        let is_moved = error.is_moved();
        let mut problem = Self::unavailable(error.cause);
        if is_moved {
            problem.detail = "The account is being moved to another database, and nothing can be changed for up to five seconds. Try again shortly.".into();
            // Nothing is wrong.
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
            AuthenticationError::Several => Self::several_keys(),
            AuthenticationError::Malformed => Self::malformed_key(),
            AuthenticationError::Refused => invalid("The API key is unknown, revoked or expired."),
            AuthenticationError::BadToken => Self::bad_token(),
            AuthenticationError::Storage(error) => error.into(),
        }
    }
}
