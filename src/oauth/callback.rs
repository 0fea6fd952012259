//! Parses the platform's redirect to the callback (RFC 6749, section 4.1.2).

use std::fmt;

use super::error::{TokenError, TokenErrorKind};
use crate::catalog::detail::Parameters;
use crate::targets::origin;
use crate::util::percent::{decode_form, decode_form_lossy};

/// The maximum length of the query, in bytes.
const MAX_QUERY: usize = 32_768;
/// The maximum length of the code, in bytes.
const MAX_CODE: usize = 16_384;
/// The maximum length of `state` and of the issuer, in bytes.
const MAX_STATE_BYTES: usize = 2048;
/// The maximum number of other parameters. One of them may be the code, if the platform uses a
/// different name for it.
const MAX_OTHER_PARAMETERS: usize = 32;

/// The parameters of a redirect. `Debug` prints neither the code nor the state.
#[derive(Clone, PartialEq, Eq)]
pub struct Callback {
    /// The state of the attempt. `None` if the platform did not return it, for example because the
    /// user started there.
    pub state: Option<String>,
    /// The platform's error, if any.
    pub error: Option<TokenError>,
    code: Option<String>,
    /// The issuer (RFC 9207).
    pub iss: Option<String>,
    /// Other parameters, such as `realmId` of `QuickBooks`.
    pub others: Parameters,
}

/// The result of the authorization.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'c> {
    Code(&'c str),
    Error(&'c TokenError),
}

impl Callback {
    /// Returns the code or the error. `code_parameter` is the platform's name for the code. Returns
    /// `None` if there is neither.
    pub fn outcome(&self, code_parameter: &str) -> Option<Outcome<'_>> {
        let is_code = |code: &&String| !code.is_empty() && !code.contains(char::is_control);
        let named = self.others.get(code_parameter).filter(is_code);
        let code = named.or(self.code.as_ref()).map(|code| Outcome::Code(code));
        self.error.as_ref().map(Outcome::Error).or(code)
    }
}

impl Callback {
    /// The value of a parameter that the token request repeats.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let value = match name {
            "state" => self.state.as_ref(),
            "iss" => self.iss.as_ref(),
            name => self.others.get(name),
        };
        value.map(String::as_str)
    }
}

impl fmt::Debug for Outcome<'_> {
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
        shown.field("error", &self.error).field("iss", &self.iss).finish_non_exhaustive()
    }
}

/// Why a query can't come from an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackError {
    /// The query or a parameter is too long.
    TooLong,
    /// A parameter is encoded incorrectly or contains control characters.
    Encoding,
    /// A parameter occurs more than once (RFC 6749, section 3.1).
    Duplicate(&'static str),
    /// The query is empty, or contains both a code and an error.
    NoOutcome,
}

impl fmt::Display for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the query is too long"),
            Self::Encoding => f.write_str("the query is not encoded correctly"),
            Self::Duplicate(name) => write!(f, "the query has `{name}` twice"),
            Self::NoOutcome => f.write_str("the query is empty, or has both `code` and `error`"),
        }
    }
}

impl std::error::Error for CallbackError {}

const KNOWN_PARAMETERS: [&str; 6] =
    ["state", "code", "iss", "error", "error_description", "error_uri"];

/// Parameters that are only displayed. Some platforms encode them in a charset other than UTF-8.
const DISPLAY_PARAMETERS: [&str; 4] =
    ["error_description", "error_uri", "error_message", "errorMessage"];

/// Other names that platforms use for the parameter `error`.
const ERROR_PARAMETERS: [&str; 4] = ["error_code", "errorCode", "error_reason", "oauth_problem"];

/// Parameters with which Dropbox and Twitter report that the user declined, instead of an error.
const REFUSAL_PARAMETERS: [&str; 2] = ["not_approved", "denied"];

/// Parses the query of a redirect. `query` has no question mark.
pub fn read(query: &str) -> Result<Callback, CallbackError> {
    if query.len() > MAX_QUERY {
        return Err(CallbackError::TooLong);
    }
    let mut known: [Option<String>; KNOWN_PARAMETERS.len()] = Default::default();
    let mut others = Parameters::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // Parameters that a proxy or tracker added may be encoded differently. They must not make
        // the callback fail.
        let Some(name) = decode_form(name) else { continue };
        let value = match decode_form(value) {
            Some(value) => value,
            None if DISPLAY_PARAMETERS.contains(&&*name) => decode_form_lossy(value).into(),
            None if KNOWN_PARAMETERS.contains(&&*name) => return Err(CallbackError::Encoding),
            None => continue,
        };
        match KNOWN_PARAMETERS.iter().zip(&mut known).find(|(known, _)| **known == name) {
            Some((name, Some(_))) => return Err(CallbackError::Duplicate(name)),
            Some((_, slot)) => *slot = Some(value.into_owned()),
            None if others.len() < MAX_OTHER_PARAMETERS
                && name.len() <= 64
                && value.len() <= MAX_CODE =>
            {
                others.entry(name.into_owned()).or_insert_with(|| value.into_owned());
            }
            None => {}
        }
    }
    let [state, code, iss, error, description, _] = known;
    let state = validate(state, MAX_STATE_BYTES)?;
    let code = validate(code, MAX_CODE)?;
    let iss = validate(iss, MAX_STATE_BYTES)?;
    let non_empty = |value: Option<String>| value.filter(|text| !text.is_empty());
    let other =
        |names: &[&str]| names.iter().find_map(|name| non_empty(others.get(*name).cloned()));
    let refused = || {
        let refusal =
            other(&REFUSAL_PARAMETERS).filter(|value| !matches!(value.as_str(), "0" | "false"));
        refusal.map(|_| "access_denied".to_owned())
    };
    let alternative = || other(&ERROR_PARAMETERS).or_else(refused).filter(|_| code.is_none());
    let error_code = non_empty(error).or_else(alternative);
    if code.is_some() == error_code.is_some() && (code.is_some() || others.is_empty()) {
        return Err(CallbackError::NoOutcome);
    }
    let error = error_code.map(|code| {
        let description =
            non_empty(description).or_else(|| other(&["error_message", "errorMessage"]));
        let mut error = TokenError::new(None, Some(&code), description.as_deref());
        if error.kind == TokenErrorKind::RequestRejected && is_refusal_code(&code) {
            error.kind = TokenErrorKind::Denied;
        }
        error
    });
    Ok(Callback { state, error, code, iss, others })
}

/// Whether an unknown error code means that the user declined, such as `user_denied` and
/// `user_canceled_login`.
fn is_refusal_code(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    ["denied", "cancel", "refused", "declined"].iter().any(|word| code.contains(word))
}

/// Validates a parameter. An empty parameter counts as missing.
fn validate(value: Option<String>, max: usize) -> Result<Option<String>, CallbackError> {
    match value.filter(|value| !value.is_empty()) {
        Some(value) if value.len() > max => Err(CallbackError::TooLong),
        Some(value) if value.contains(char::is_control) => Err(CallbackError::Encoding),
        value => Ok(value),
    }
}

/// Whether the issuer in a redirect belongs to the platform that issued the code (RFC 9207), so
/// that a code is never sent to a different platform. `endpoints` are the resolved authorization
/// and token URLs of the auth method.
///
/// | sent issuer | known issuer | accepted |
/// |---|---|---|
/// | yes | yes | if they are the same |
/// | yes | no | if it has the origin of an endpoint |
/// | no | yes or no | always: few platforms send an issuer, and the catalog does not record which |
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

#[cfg(test)]
mod tests {
    use super::{
        Callback, CallbackError, MAX_CODE, MAX_QUERY, MAX_STATE_BYTES, Outcome, check_issuer, read,
    };
    use crate::catalog::detail::Parameters;
    use crate::oauth::TokenErrorKind;

    fn code(query: &str) -> Callback {
        let callback = read(query).unwrap();
        assert!(matches!(callback.outcome("code"), Some(Outcome::Code(_))), "{query}");
        callback
    }

    #[test]
    fn parses_code_state_and_issuer() {
        for (query, expected, state, iss) in [
            ("code=c&state=s", "c", "s", None),
            ("state=s&code=4%2F0A%2Bb+c", "4/0A+b c", "s", None),
            ("code=c&state=s&iss=https%3A%2F%2Fidp.example", "c", "s", Some("https://idp.example")),
            ("&code=c&&state=s&", "c", "s", None),
            ("code=c&state=s&error=", "c", "s", None),
            ("code=c&state=s&iss=&x&x=1", "c", "s", None),
            ("code=c&state=s&note=%ZZ&%ff=1", "c", "s", None),
            ("code=c&state=s&denied=false&error_reason=none", "c", "s", None),
        ] {
            let callback = code(query);
            assert_eq!(callback.outcome("code"), Some(Outcome::Code(expected)), "{query}");
            assert_eq!(
                (callback.state.as_deref(), callback.iss.as_deref()),
                (Some(state), iss),
                "{query}"
            );
        }
    }

    #[test]
    fn other_parameters_are_kept() {
        let callback = code(
            "code=c&realmId=12%203&state=s&accounts-server=https%3A%2F%2Faccounts.example&realmId=4",
        );
        let others: Vec<_> =
            callback.others.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(others, [("accounts-server", "https://accounts.example"), ("realmId", "12 3")]);
        let many: Vec<String> = (0..100).map(|number| format!("x{number}={number}")).collect();
        assert_eq!(code(&format!("code=c&state=s&{}", many.join("&"))).others.len(), 32);
        for (name, value, is_kept) in [(64, 16_384, true), (65, 1, false), (1, 16_385, false)] {
            let (name, value) = ("n".repeat(name), "v".repeat(value));
            let others = code(&format!("code=c&state=s&{name}={value}")).others;
            let pair = is_kept.then_some((name, value));
            assert_eq!(others, pair.into_iter().collect::<Parameters>());
        }
    }

    #[test]
    fn errors_are_classified() {
        for (query, kind, expected, description) in [
            ("error=access_denied&state=s", TokenErrorKind::Denied, Some("access_denied"), None),
            (
                "error=invalid_scope&error_description=The+scope%0D%0A%3Cb%3E&state=s&error_uri=x",
                TokenErrorKind::RequestRejected,
                Some("invalid_scope"),
                Some("The scope <b>"),
            ),
            (
                "error=temporarily_unavailable&state=s",
                TokenErrorKind::Temporary,
                Some("temporarily_unavailable"),
                None,
            ),
            (
                "error=interaction_required&state=s",
                TokenErrorKind::GrantRejected,
                Some("interaction_required"),
                None,
            ),
            ("error=%3Cscript%3E&state=s", TokenErrorKind::RequestRejected, None, None),
            (
                "error=x&error_message=Why&state=s",
                TokenErrorKind::RequestRejected,
                Some("x"),
                Some("Why"),
            ),
            (
                "error_code=1349048&error_message=Why&state=s",
                TokenErrorKind::RequestRejected,
                Some("1349048"),
                Some("Why"),
            ),
            (
                "error=access_denied&error_code=200",
                TokenErrorKind::Denied,
                Some("access_denied"),
                None,
            ),
            // The description is in Latin-1, like the platform's pages.
            (
                "error=access_denied&error_description=Acc%E8s+refus%E9&state=s",
                TokenErrorKind::Denied,
                Some("access_denied"),
                Some("Acc\u{fffd}s refus\u{fffd}"),
            ),
            (
                "error=server_error&error_description=100%&state=s",
                TokenErrorKind::Temporary,
                Some("server_error"),
                Some("100%"),
            ),
            ("not_approved=true&state=s", TokenErrorKind::Denied, Some("access_denied"), None),
            ("denied=a-token", TokenErrorKind::Denied, Some("access_denied"), None),
            ("error_reason=user_denied&state=s", TokenErrorKind::Denied, Some("user_denied"), None),
            (
                "oauth_problem=permission_denied&state=s",
                TokenErrorKind::Denied,
                Some("permission_denied"),
                None,
            ),
            (
                "error=user_canceled_login&state=s",
                TokenErrorKind::Denied,
                Some("user_canceled_login"),
                None,
            ),
        ] {
            let callback = read(query).unwrap();
            let Some(Outcome::Error(error)) = callback.outcome("code") else { panic!("{query}") };
            assert_eq!(error.kind, kind, "{query}");
            assert_eq!(error.code.as_deref(), expected, "{query}");
            assert_eq!(error.description.as_deref(), description, "{query}");
        }
    }

    #[test]
    fn accepts_the_platforms_code_parameter() {
        let callback = read("state=s&spapi_oauth_code=c&selling_partner_id=p").unwrap();
        assert_eq!(callback.outcome("spapi_oauth_code"), Some(Outcome::Code("c")));
        assert_eq!(callback.outcome("code"), None);
        for query in ["state=s&auth_code=%0A", "state=s&auth_code="] {
            assert_eq!(read(query).unwrap().outcome("auth_code"), None, "{query}");
        }
        let both = read("state=s&auth_code=a&code=b").unwrap();
        assert_eq!(both.outcome("auth_code"), Some(Outcome::Code("a")));
        assert_eq!(both.outcome("code"), Some(Outcome::Code("b")));
    }

    #[test]
    fn accepts_queries_without_a_state() {
        for query in [
            "code=c",
            "code=c&state=",
            "error=access_denied",
            "installation_id=1&setup_action=install",
        ] {
            assert_eq!(read(query).map(|callback| callback.state), Ok(None), "{query}");
        }
    }

    #[test]
    fn enforces_maximum_lengths() {
        for (query, padding) in [
            ("code=c&state=s&x=", MAX_QUERY),
            ("state=s&code=", "state=s&code=".len() + MAX_CODE),
            ("code=c&state=", "code=c&state=".len() + MAX_STATE_BYTES),
            ("code=c&state=s&iss=", "code=c&state=s&iss=".len() + MAX_STATE_BYTES),
        ] {
            let longest = format!("{query}{}", "x".repeat(padding - query.len()));
            assert!(read(&longest).is_ok(), "{query}");
            assert_eq!(read(&format!("{longest}x")), Err(CallbackError::TooLong), "{query}");
        }
    }

    #[test]
    fn refuses_malformed_queries() {
        use CallbackError::{Duplicate, Encoding, NoOutcome, TooLong};
        let long_code = format!("state=s&code={}", "c".repeat(16_385));
        let long_state = format!("code=c&state={}", "s".repeat(2049));
        let long = format!("code=c&state=s&x={}", "x".repeat(32_768));
        for (query, expected) in [
            ("", NoOutcome),
            ("state=s", NoOutcome),
            ("state=s&code=", NoOutcome),
            ("state=s&code=c&error=access_denied", NoOutcome),
            ("state=s&code=c&code=d", Duplicate("code")),
            ("state=s&code=c&code=c", Duplicate("code")),
            ("state=s&state=&code=c", Duplicate("state")),
            ("st%61te=s&state=t&code=c", Duplicate("state")),
            ("state=s&code=c&iss=a&iss=b", Duplicate("iss")),
            ("state=s&error=a&error=b", Duplicate("error")),
            ("state=s&code=%", Encoding),
            ("state=s&code=%ff", Encoding),
            ("state=s&code=a%0Ab", Encoding),
            ("state=a%00&code=c", Encoding),
            (long_code.as_str(), TooLong),
            (long_state.as_str(), TooLong),
            (long.as_str(), TooLong),
        ] {
            assert_eq!(read(query).map(|callback| callback.state), Err(expected), "{query:.80}");
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let shown = format!("{:?}", code("code=hunter2&state=swordfish&x=opensesame"));
        let hides = |secret| !shown.contains(secret);
        assert!(hides("hunter2") && hides("swordfish") && hides("opensesame"), "{shown}");
        assert_eq!(shown, "Callback { error: None, iss: None, .. }");
        assert_eq!(format!("{:?}", Outcome::Code("hunter2")), "Code(…)");
        let refused = format!("{:?}", read("error=access_denied&state=swordfish").unwrap());
        assert!(refused.contains("Some(") && refused.contains("access_denied"), "{refused}");
        assert!(!refused.contains("swordfish"), "{refused}");
    }

    #[test]
    fn errors_have_messages() {
        use CallbackError::{Duplicate, Encoding, NoOutcome, TooLong};
        for (error, value) in [
            (TooLong, "the query is too long"),
            (Encoding, "the query is not encoded correctly"),
            (Duplicate("code"), "the query has `code` twice"),
            (NoOutcome, "the query is empty, or has both `code` and `error`"),
        ] {
            assert_eq!(error.to_string(), value);
        }
    }

    #[test]
    fn issuer_must_belong_to_the_platform() {
        let endpoints = ["https://login.example/authorize", "https://api.example:8443/token"];
        let known = Some("https://idp.example/a");
        for (sent, known, expected) in [
            (None, None, true),
            (None, known, true),
            (known, known, true),
            (Some("https://idp.example/a/"), known, false),
            (Some("https://idp.example"), known, false),
            (Some("https://login.example"), known, false),
            (Some("https://login.example"), None, true),
            (Some("https://LOGIN.example/tenant/v2.0"), None, true),
            (Some("https://api.example:8443"), None, true),
            (Some("https://api.example"), None, false),
            (Some("http://login.example"), None, false),
            (Some("https://login.example.evil.example"), None, false),
            (Some("https://login.example@evil.example"), None, false),
            (Some("login.example"), None, false),
            (Some(""), None, false),
        ] {
            assert_eq!(check_issuer(sent, known, &endpoints), expected, "{sent:?} {known:?}");
        }
        // Invalid URLs have no origin, so two of them do not match.
        assert!(!check_issuer(Some("login.example"), None, &["login.example"]));
    }
}
