//! What the user's browser brings back from the platform (RFC 6749, 4.1.2).

use std::fmt;

use super::error::TokenError;
use crate::catalog::detail::Parameters;
use crate::percent::decode_form;
use crate::target::origin;

/// The longest query, in bytes.
const MAX_QUERY: usize = 32_768;
/// The longest code, in bytes.
const MAX_CODE: usize = 16_384;
/// The longest `state` and the longest issuer, in bytes.
const MAX_TEXT: usize = 2048;
/// The most other parameters, and the longest value of one, in bytes.
const MAX_OTHERS: usize = 32;

/// What a platform's redirect says. `Debug` shows neither the code nor the state.
#[derive(Clone, PartialEq, Eq)]
pub struct Callback {
    /// What the authorization URL carried.
    pub state: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Who sends the user back (RFC 9207).
    pub iss: Option<String>,
    /// The platform's other parameters, such as `QuickBooks`' `realmId`.
    pub others: Parameters,
}

/// How the user's visit at the platform ended.
#[derive(Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With a code, which is exchanged for tokens.
    Code(String),
    /// With an error.
    Error(TokenError),
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(_) => f.write_str("Code(…)"),
            Self::Error(error) => f.debug_tuple("Error").field(error).finish(),
        }
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Callback");
        shown.field("outcome", &self.outcome).field("iss", &self.iss).finish_non_exhaustive()
    }
}

/// The query of a redirect is not one that an authorization server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackError {
    /// It, or a parameter, is too long.
    TooLong,
    /// A parameter is not encoded as it must be, or has control characters.
    Encoding,
    /// A parameter stands there twice (RFC 6749, 3.1).
    Duplicate(&'static str),
    /// There is no `state`.
    NoState,
    /// There is neither a code nor an error, or both.
    NoOutcome,
}

impl fmt::Display for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the query is too long"),
            Self::Encoding => f.write_str("the query is not encoded correctly"),
            Self::Duplicate(name) => write!(f, "the query has `{name}` twice"),
            Self::NoState => f.write_str("the query has no `state`"),
            Self::NoOutcome => f.write_str("the query has neither `code` nor `error`, or both"),
        }
    }
}

impl std::error::Error for CallbackError {}

/// The parameters of the protocol.
const KNOWN: [&str; 6] = ["state", "code", "iss", "error", "error_description", "error_uri"];

/// Reads the query of a redirect to the callback, without its question mark.
///
/// # Errors
/// When it is not one that an authorization server sends.
pub fn read(query: &str) -> Result<Callback, CallbackError> {
    if query.len() > MAX_QUERY {
        return Err(CallbackError::TooLong);
    }
    let mut known: [Option<String>; KNOWN.len()] = Default::default();
    let mut others = Parameters::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decode_form(name).ok_or(CallbackError::Encoding)?;
        let value = decode_form(value).ok_or(CallbackError::Encoding)?;
        match KNOWN.iter().zip(&mut known).find(|(known, _)| **known == name) {
            Some((name, Some(_))) => return Err(CallbackError::Duplicate(name)),
            Some((_, slot)) => *slot = Some(value.into_owned()),
            None if others.len() < MAX_OTHERS && name.len() <= 64 && value.len() <= MAX_TEXT => {
                others.entry(name.into_owned()).or_insert_with(|| value.into_owned());
            }
            None => {}
        }
    }
    let [state, code, iss, error, description, _] = known;
    let state = limited(state, MAX_TEXT)?.ok_or(CallbackError::NoState)?;
    let code = limited(code, MAX_CODE)?;
    let iss = limited(iss, MAX_TEXT)?;
    let outcome = match (code, error.filter(|error| !error.is_empty())) {
        (Some(code), None) => Outcome::Code(code),
        (None, Some(error)) => {
            let description = description.or_else(|| others.get("error_message").cloned());
            Outcome::Error(TokenError::said(None, Some(&error), description.as_deref()))
        }
        _ => return Err(CallbackError::NoOutcome),
    };
    Ok(Callback { state, outcome, iss, others })
}

/// A filled parameter of at most so many bytes.
fn limited(value: Option<String>, max: usize) -> Result<Option<String>, CallbackError> {
    match value.filter(|value| !value.is_empty()) {
        Some(value) if value.len() > max => Err(CallbackError::TooLong),
        Some(value) if value.contains(char::is_control) => Err(CallbackError::Encoding),
        value => Ok(value),
    }
}

/// Whether the issuer in a redirect is that of the platform to which the user was sent (RFC 9207), so that the code of one
/// platform is never sent to another. `endpoints` are the method's filled authorization and token URLs.
///
/// | sent | known | accepted |
/// |---|---|---|
/// | yes | yes | when they are the same |
/// | yes | no | when it has the origin of an endpoint |
/// | no | either | always: few platforms send one, and the catalog does not say which |
#[must_use]
pub fn check_issuer(sent: Option<&str>, known: Option<&str>, endpoints: &[&str]) -> bool {
    match (sent, known) {
        (None, _) => true,
        (Some(sent), Some(known)) => sent == known,
        (Some(sent), None) => {
            let sent = origin(sent);
            sent.is_some() && endpoints.iter().any(|endpoint| origin(endpoint) == sent)
        }
    }
}
