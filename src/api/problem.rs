//! Errors as `application/problem+json` (RFC 9457): one envelope for every one of them.

use serde::Serialize;

use crate::access::authenticate::AuthenticationError;
use crate::ports::{RetryAfter, StorageError};

/// What went wrong, in a word that programs can rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A query parameter that the endpoint does not have.
    UnknownParameter,
    /// A query parameter given more than once.
    RepeatedParameter,
    /// A query parameter with a value that it can't have.
    InvalidParameter,
    /// No API key.
    MissingKey,
    /// A malformed, unknown, revoked or expired API key, or several.
    InvalidKey,
    /// The key is not allowed to do this.
    InsufficientScope,
    /// No such path.
    RouteNotFound,
    /// No such platform in the catalog.
    PlatformNotFound,
    /// The path exists, but not with this method.
    MethodNotAllowed,
    /// The key asks too often.
    TooManyRequests,
    /// A fault of the service.
    Internal,
    /// Storage can't answer now.
    Unavailable,
}

impl Code {
    /// All codes.
    pub const ALL: [Self; 12] = [
        Self::UnknownParameter,
        Self::RepeatedParameter,
        Self::InvalidParameter,
        Self::MissingKey,
        Self::InvalidKey,
        Self::InsufficientScope,
        Self::RouteNotFound,
        Self::PlatformNotFound,
        Self::MethodNotAllowed,
        Self::TooManyRequests,
        Self::Internal,
        Self::Unavailable,
    ];

    /// The HTTP status, the `code` and the `title`: all that is the same in every problem of this kind.
    #[must_use]
    pub const fn facts(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::UnknownParameter => (400, "unknown_parameter", "Unknown query parameter"),
            Self::RepeatedParameter => (400, "repeated_parameter", "Repeated query parameter"),
            Self::InvalidParameter => (400, "invalid_parameter", "Invalid query parameter"),
            Self::MissingKey => (401, "missing_key", "Missing API key"),
            Self::InvalidKey => (401, "invalid_key", "Invalid API key"),
            Self::InsufficientScope => (403, "insufficient_scope", "Insufficient scope"),
            Self::RouteNotFound => (404, "route_not_found", "Route not found"),
            Self::PlatformNotFound => (404, "platform_not_found", "Platform not found"),
            Self::MethodNotAllowed => (405, "method_not_allowed", "Method not allowed"),
            Self::TooManyRequests => (429, "too_many_requests", "Too many requests"),
            Self::Internal => (500, "internal", "Internal error"),
            Self::Unavailable => (503, "unavailable", "Temporarily unavailable"),
        }
    }

    /// The `code` member.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.facts().1
    }
}

/// One fault of a request's parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The kind of fault; the problem's own code is that of its first fault.
    #[serde(skip)]
    pub code: Code,
    /// The parameter's name as it was sent.
    pub parameter: String,
    /// What is wrong, for a person.
    pub detail: String,
    /// What may have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// A request's failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What went wrong.
    pub code: Code,
    /// What went wrong in this very case, for a person.
    pub detail: String,
    /// All faults of the parameters (only with status 400).
    pub errors: Vec<Fault>,
    /// What may have been meant (only with `platform_not_found`).
    pub suggestions: Vec<String>,
    /// Value of the `Allow` header.
    pub allow: Option<&'static str>,
    /// Value of the `Retry-After` header, in seconds.
    pub retry_after: Option<u32>,
    /// The cause, for the log only.
    pub cause: Option<Box<str>>,
}

/// The document that is sent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [Fault],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    suggestions: &'a [String],
}

impl Problem {
    /// A problem with nothing but its detail.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self {
            code,
            detail,
            errors: Vec::new(),
            suggestions: Vec::new(),
            allow: None,
            retry_after: None,
            cause: None,
        }
    }

    /// A request whose parameters have these faults; none when there are none.
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

    /// Storage can't answer; `cause` goes to the log.
    #[must_use]
    pub fn unavailable(cause: impl Into<String>) -> Self {
        let mut problem =
            Self::new(Code::Unavailable, "The service can't reach its storage. Try again shortly.");
        problem.retry_after = Some(5);
        problem.cause = Some(cause.into().into_boxed_str());
        problem
    }

    /// The document of this problem; `base` is the service's address without a trailing slash.
    #[must_use]
    pub fn to_json(&self, base: &str, request_id: &str) -> Vec<u8> {
        let (status, code, title) = self.code.facts();
        let document = Document {
            r#type: format!("{base}/problems/{code}"),
            title,
            status,
            detail: &self.detail,
            code,
            request_id,
            errors: &self.errors,
            suggestions: &self.suggestions,
        };
        // Strings and numbers only: serialization has nothing to fail on.
        serde_json::to_vec(&document).unwrap_or_default()
    }
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        Self::unavailable(error.0)
    }
}

impl From<AuthenticationError> for Problem {
    fn from(error: AuthenticationError) -> Self {
        let invalid = |detail: &str| Self::new(Code::InvalidKey, detail);
        match error {
            AuthenticationError::Missing => {
                let detail =
                    "The request carries no API key: send it in the header `x-service-secret`.";
                Self::new(Code::MissingKey, detail)
            }
            AuthenticationError::Several => {
                invalid("The request carries several API keys; send one.")
            }
            AuthenticationError::Malformed => {
                invalid("The API key is malformed: a character is missing or mistyped.")
            }
            AuthenticationError::Refused => invalid("The API key is unknown, revoked or expired."),
            AuthenticationError::Storage(error) => error.into(),
        }
    }
}

impl From<RetryAfter> for Problem {
    fn from(wait: RetryAfter) -> Self {
        let mut problem =
            Self::new(Code::TooManyRequests, "This API key asks too often. Wait, then try again.");
        problem.retry_after = Some(wait.0);
        problem
    }
}
