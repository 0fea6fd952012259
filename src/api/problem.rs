//! Errors as `application/problem+json` (RFC 9457): one envelope for every one of them.

use crate::access::authenticate::AuthenticationError;
use crate::json::{Object, array, list};
use crate::nearest::{beginning, nearest};
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
    /// A body that is not what the endpoint takes.
    InvalidBody,
    /// No API key.
    MissingKey,
    /// A malformed, unknown, revoked or expired API key or token, or several.
    InvalidKey,
    /// The key is not allowed to do this.
    InsufficientScope,
    /// No such path.
    RouteNotFound,
    /// No such platform in the catalog.
    PlatformNotFound,
    /// No such connection that the key may see.
    ConnectionNotFound,
    /// The path exists, but not with this method.
    MethodNotAllowed,
    /// Another connection has the same key.
    ConnectionExists,
    /// The resource is not in the state that `If-Match` names.
    PreconditionFailed,
    /// The body is over the limit.
    BodyTooLarge,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// The key asks too often.
    TooManyRequests,
    /// A fault of the service.
    Internal,
    /// Storage can't answer now.
    Unavailable,
}

impl Code {
    /// All codes.
    pub const ALL: [Self; 18] = [
        Self::UnknownParameter,
        Self::RepeatedParameter,
        Self::InvalidParameter,
        Self::InvalidBody,
        Self::MissingKey,
        Self::InvalidKey,
        Self::InsufficientScope,
        Self::RouteNotFound,
        Self::PlatformNotFound,
        Self::ConnectionNotFound,
        Self::MethodNotAllowed,
        Self::ConnectionExists,
        Self::PreconditionFailed,
        Self::BodyTooLarge,
        Self::UnsupportedMediaType,
        Self::TooManyRequests,
        Self::Internal,
        Self::Unavailable,
    ];

    /// The HTTP status, the `code` and the `title`: all that is the same in every problem of this kind.
    #[must_use]
    pub const fn facts(self) -> (u16, &'static str, &'static str) {
        let (status, code) = self.named();
        (status, code, self.title())
    }

    /// The HTTP status and the `code`. Apart from the title, which clients do without.
    #[must_use]
    pub const fn named(self) -> (u16, &'static str) {
        match self {
            Self::UnknownParameter => (400, "unknown_parameter"),
            Self::RepeatedParameter => (400, "repeated_parameter"),
            Self::InvalidParameter => (400, "invalid_parameter"),
            Self::InvalidBody => (400, "invalid_body"),
            Self::MissingKey => (401, "missing_key"),
            Self::InvalidKey => (401, "invalid_key"),
            Self::InsufficientScope => (403, "insufficient_scope"),
            Self::RouteNotFound => (404, "route_not_found"),
            Self::PlatformNotFound => (404, "platform_not_found"),
            Self::ConnectionNotFound => (404, "connection_not_found"),
            Self::MethodNotAllowed => (405, "method_not_allowed"),
            Self::ConnectionExists => (409, "connection_exists"),
            Self::PreconditionFailed => (412, "precondition_failed"),
            Self::BodyTooLarge => (413, "body_too_large"),
            Self::UnsupportedMediaType => (415, "unsupported_media_type"),
            Self::TooManyRequests => (429, "too_many_requests"),
            Self::Internal => (500, "internal"),
            Self::Unavailable => (503, "unavailable"),
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::UnknownParameter => "Unknown query parameter",
            Self::RepeatedParameter => "Repeated query parameter",
            Self::InvalidParameter => "Invalid query parameter",
            Self::InvalidBody => "Invalid body",
            Self::MissingKey => "Missing API key",
            Self::InvalidKey => "Invalid API key",
            Self::InsufficientScope => "Insufficient scope",
            Self::RouteNotFound => "Route not found",
            Self::PlatformNotFound => "Platform not found",
            Self::ConnectionNotFound => "Connection not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::ConnectionExists => "Connection exists",
            Self::PreconditionFailed => "Precondition failed",
            Self::BodyTooLarge => "Body too large",
            Self::UnsupportedMediaType => "Unsupported media type",
            Self::TooManyRequests => "Too many requests",
            Self::Internal => "Internal error",
            Self::Unavailable => "Temporarily unavailable",
        }
    }

    /// The `code` member.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.named().1
    }
}

/// Faults past this many are not named any more: a hostile request must cost little.
pub(super) const MAX_FAULTS: usize = 100;

/// One fault of a request's parameters or body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault; the problem's own code is that of its first fault.
    pub code: Code,
    /// Where it is.
    pub place: Place,
    /// What is wrong, for a person.
    pub detail: String,
    /// What may have been meant.
    pub suggestion: Option<String>,
}

/// Where a fault is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the query parameter of this name, as it was sent.
    Parameter(String),
    /// In the body, at this JSON pointer (RFC 6901).
    Pointer(String),
}

/// A request's failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What went wrong.
    pub code: Code,
    /// What went wrong in this very case, for a person.
    pub detail: Box<str>,
    /// All faults of the parameters or the body (only with status 400).
    pub errors: Vec<Fault>,
    /// What only this kind of problem tells.
    pub extension: Extension,
    /// Value of the `Allow` header.
    pub allow: Option<&'static str>,
    /// Value of the `Retry-After` header, in seconds.
    pub retry_after: Option<u32>,
    /// The cause, for the log only.
    pub cause: Option<Box<str>>,
}

/// A member of the document that some kinds of problems have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extension {
    /// No such member.
    None,
    /// `suggestions`: what may have been meant.
    Suggestions(Vec<String>),
    /// `connectionId`: the connection that is there already.
    ConnectionId(String),
}

impl Problem {
    /// A problem with nothing but its detail.
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
        }
    }

    /// A request whose parameters or body have these faults; none when there are none.
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

    /// A request with one fault, which tells all that there is to tell.
    #[must_use]
    pub fn of_fault(fault: Fault) -> Self {
        let problem = Self::new(fault.code, fault.detail.clone());
        Self { errors: vec![fault], ..problem }
    }

    /// No API key.
    #[must_use]
    pub fn missing_key() -> Self {
        let detail = "The request carries no API key: send it in the header `x-service-secret`.";
        Self::new(Code::MissingKey, detail)
    }

    /// No API key, but something that looks like one.
    #[must_use]
    pub fn malformed_key() -> Self {
        let detail = "The API key is malformed: a character is missing or mistyped.";
        Self::new(Code::InvalidKey, detail)
    }

    /// A token that is not good, or not here, or not any more: one answer for all, so that it tells nothing.
    #[must_use]
    pub fn bad_token() -> Self {
        let detail = "The token is not valid: it is altered, expired or used from an origin that it does not name, or its API key is revoked or expired.";
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

    /// The document of this problem; `base` is the service's address without a trailing slash.
    #[must_use]
    pub fn to_json(&self, base: &str, request_id: &str) -> Vec<u8> {
        let (status, code, title) = self.code.facts();
        let mut document = Object::default()
            .text("type", &format!("{base}/problems/{code}"))
            .text("title", title)
            .integer("status", u64::from(status))
            .text("detail", &self.detail)
            .text("code", code)
            .text("requestId", request_id);
        if !self.errors.is_empty() {
            document = document.json("errors", &list(self.errors.iter().map(Fault::to_json)));
        }
        let document = match &self.extension {
            Extension::None => document,
            Extension::Suggestions(names) => document.json("suggestions", &array(names)),
            Extension::ConnectionId(id) => document.text("connectionId", id),
        };
        document.finish().into_bytes()
    }
}

impl Fault {
    /// A name that is none of the `known` ones; `what` is missing, for example `a field of this body`.
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
        let detail = format!("`{}` is not {what}{meant}", beginning(name));
        Self { code, place, detail, suggestion }
    }

    /// A value of `name` that is none of the `known` ones; `text` is what was sent, if it was a text.
    pub(super) fn none_of(
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

    fn to_json(&self) -> String {
        let (kind, place) = match &self.place {
            Place::Parameter(name) => ("parameter", name),
            Place::Pointer(pointer) => ("pointer", pointer),
        };
        let mut fault = Object::default().text(kind, place).text("detail", &self.detail);
        if let Some(suggestion) = &self.suggestion {
            fault = fault.text("suggestion", suggestion);
        }
        fault.finish()
    }
}

/// Texts with `between` between them. The library's way is quick for long ones, and a lot of code.
pub(super) fn joined(texts: &[&str], between: &str) -> String {
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
        Self::unavailable(error.cause)
    }
}

impl From<AuthenticationError> for Problem {
    fn from(error: AuthenticationError) -> Self {
        let invalid = |detail: &str| Self::new(Code::InvalidKey, detail);
        match error {
            AuthenticationError::Missing => Self::missing_key(),
            AuthenticationError::Several => {
                invalid("The request carries several API keys; send one.")
            }
            AuthenticationError::Malformed => Self::malformed_key(),
            AuthenticationError::Refused => invalid("The API key is unknown, revoked or expired."),
            AuthenticationError::BadToken => Self::bad_token(),
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
