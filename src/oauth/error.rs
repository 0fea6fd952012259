//! Classifies errors of authorization servers by who must act.

use std::fmt;

use crate::util::invisible::visible;

/// Who must act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenErrorKind {
    /// The code or the refresh token is no longer valid. The user must reconnect.
    GrantRejected,
    /// The OAuth client was rejected. The app's developers must fix it, for all users.
    ClientRejected,
    /// The platform rejected the app, but did not report whether the OAuth client is the cause, or
    /// only the account or tenant of this request. Other connections may still work.
    Unauthorized,
    /// The request was rejected, for example because of its scopes or redirect URI. The app's
    /// developers must fix it.
    RequestRejected,
    /// The user or an administrator denied access.
    Denied,
    /// A temporary failure: a retry may succeed.
    Temporary,
    /// The response contains neither tokens nor a known error format.
    Unreadable,
}

/// A failed token request. Contains no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenError {
    pub kind: TokenErrorKind,
    /// The platform's error code, such as `invalid_grant`: 1 to 64 characters of A-Z, a-z, 0-9 and
    /// `_-.:/`.
    pub code: Option<String>,
    /// The platform's description: one line of plain text with up to 200 characters. Words that
    /// look like tokens are removed.
    pub description: Option<String>,
    /// The HTTP status, if there was a response.
    pub http_status: Option<u16>,
    pub retry_after_ms: Option<u64>,
    /// The tenant, directory or organization in the description, in lower case.
    pub tenant: Option<String>,
}

use TokenErrorKind::{
    ClientRejected, Denied, GrantRejected, RequestRejected, Temporary, Unauthorized, Unreadable,
};

/// Error codes of RFC 6749 (sections 4.1.2.1 and 5.2), of `OpenID` Connect (section 3.1.2.6) and of
/// platforms, in lower case with `_`.
#[rustfmt::skip]
const CODES: &[(TokenErrorKind, &[&str])] = &[
    (GrantRejected, &[
        "invalid_grant",
        "interaction_required", "login_required", "consent_required", "account_selection_required", // OpenID Connect
        "bad_verification_code", "bad_refresh_token", // GitHub; HubSpot, too
        "invalid_code", "invalid_refresh_token", "invalid_token", "token_expired", "token_revoked", "account_inactive",
        "authorization_not_found", // Slack; Zoho also has the first one
        "bad_auth_code", // HubSpot
        "inactive_user", "inactive_org", // Salesforce
    ]),
    (ClientRejected, &[
        "invalid_client",
        "incorrect_client_credentials", "application_suspended", // GitHub
        "bad_client_secret", "invalid_client_id", // Slack
        "bad_client_id", // HubSpot
        "invalid_client_secret", // Zoho
        "invalid_client_credentials", // Salesforce
        "deleted_client", "disabled_client", // Google
    ]),
    (Unauthorized, &[
        "unauthorized_client",
        "org_internal", // Google: the user belongs to a different organization than the app
    ]),
    (RequestRejected, &[
        "invalid_request", "invalid_scope", "unsupported_grant_type", "unsupported_response_type",
        "invalid_target", // RFC 8707
        "redirect_uri_mismatch", "bad_redirect_uri", "invalid_redirect_uri",
    ]),
    (Denied, &[
        "access_denied",
        "user_cancelled_login", "user_cancelled_authorize", // LinkedIn
    ]),
    (Temporary, &[
        "temporarily_unavailable", "server_error",
        "slow_down", // RFC 8628
        "internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited", // Slack
        "rate_limit_exceeded", "unknown_error", // Salesforce
        "too_many_requests", "internal_server_error",
    ]),
];

/// Errors whose description contradicts their code: the code (`None` for any), a part of the
/// description in lower case with spaces instead of `_`, and the actual kind.
#[rustfmt::skip]
const DESCRIPTIONS: &[(Option<&str>, &str, TokenErrorKind)] = &[
    (Some("unauthorized_client"), "refresh token is invalid", GrantRejected), // Atlassian
    (None, "invalid refresh token", GrantRejected), // Withings
    (None, "too many requests", Temporary), // Zoho, with the code of a denial
    (Some("access_denied"), "rate limit exceeded", Temporary), // Exact Online, when a refresh is early
    (None, "unrecognized login or wrong password", GrantRejected), // Shopify, when the app was uninstalled
    (Some("oauthexception"), "validating access token", GrantRejected), // Facebook, Instagram
    (Some("oauthexception"), "validating client secret", ClientRejected),
    (Some("oauthexception"), "validating application", ClientRejected),
    (Some("oauthexception"), "request limit reached", Temporary),
];

/// Whether a description means that a token is no longer valid. Many platforms report this with a
/// different code, or with none.
fn means_invalid_token(description: &str) -> bool {
    const ENDED_PHRASES: [&str; 12] = [
        "an active", // Shopify
        "not active",
        "inactive",
        "invalid",
        "not valid",
        "expired",
        "revoked",
        "not found",
        "does not exist",
        "no longer",
        "unknown",
        "already been used",
    ];
    let has = |parts: &[&str]| parts.iter().any(|part| description.contains(part));
    // A missing parameter is an error in the request, not in the token.
    if has(&["missing", "required", "must be"]) {
        return false;
    }
    has(&["refresh token", "refreshtoken"]) && has(&ENDED_PHRASES)
        || has(&["token was invalid", "invalid token"])
        || has(&["token"]) && has(&["revoked"])
}

impl TokenError {
    /// Creates an error without a code.
    pub const fn from_kind(kind: TokenErrorKind, http_status: Option<u16>) -> Self {
        Self {
            kind,
            code: None,
            description: None,
            http_status,
            retry_after_ms: None,
            tenant: None,
        }
    }

    /// Classifies an error by its HTTP status, code and description.
    pub fn new(http_status: Option<u16>, code: Option<&str>, description: Option<&str>) -> Self {
        let code = code.map(|code| known_code(code).unwrap_or_else(|| code.to_owned()));
        let code = code.filter(|code| is_code(code));
        let tenant = description.and_then(tenant);
        let description = description.map(plain_description).filter(|text| !text.is_empty());
        let kind = match classify(
            http_status,
            code.as_deref(),
            description.as_deref().unwrap_or_default(),
        ) {
            // If the description names a tenant, the client is unknown only in that tenant.
            ClientRejected if tenant.is_some() => Unauthorized,
            kind => kind,
        };
        Self { kind, code, description, http_status, retry_after_ms: None, tenant }
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.code, self.http_status) {
            (Some(code), _) => f.write_str(code),
            (None, Some(status)) => write!(f, "HTTP status {status}"),
            (None, None) => f.write_str("no response"),
        }
    }
}

impl std::error::Error for TokenError {}

/// Classifies an error. For a server error, the code and the description are ignored.
fn classify(status: Option<u16>, code: Option<&str>, description: &str) -> TokenErrorKind {
    if status.is_some_and(|status| matches!(status, 408 | 425 | 429 | 500..)) {
        return Temporary;
    }
    let code = code.map(normalized).unwrap_or_default();
    let description = description.to_lowercase().replace('_', " ").replace(['"', '\'', '`'], "");
    let exception = DESCRIPTIONS.iter().find(|(required, part, _)| {
        required.is_none_or(|required| required == code) && description.contains(part)
    });
    if let Some((.., kind)) = exception {
        return *kind;
    }
    let is_vague = matches!(known(&code), None | Some(Unauthorized)) || code == "invalid_request";
    if is_vague && means_invalid_token(&description) {
        return GrantRejected;
    }
    match (known(&code), status) {
        (Some(kind), _) => kind,
        (None, Some(401)) => Unauthorized,
        (None, Some(300..=399)) => Unreadable,
        (None, _) => RequestRejected,
    }
}

fn known(code: &str) -> Option<TokenErrorKind> {
    let mut rows = CODES.iter().filter(|(_, codes)| codes.contains(&code));
    rows.next().map(|(kind, _)| *kind)
}

/// Finds a known code at the start of a string: some platforms send `invalid grant`, or a sentence
/// after the code.
fn known_code(text: &str) -> Option<String> {
    let first = text.split(':').next().unwrap_or_default();
    [text, first].into_iter().map(normalized).find(|code| known(code).is_some())
}

/// Whether a code is known, in any spelling.
pub(super) fn is_known(code: &str) -> bool {
    known_code(code).is_some()
}

fn normalized(code: &str) -> String {
    code.trim().to_ascii_lowercase().replace(['-', ' '], "_")
}

/// Whether a string can be an error code: the characters that RFC 6749 allows, without most special
/// characters.
pub(super) fn is_code(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte))
}

/// The tenant in a description, such as `Application with identifier 'x' was not found in the
/// directory 'Contoso'` (AADSTS700016).
fn tenant(description: &str) -> Option<String> {
    const NOUNS: [&str; 5] = ["tenant", "directory", "organization", "organisation", "workspace"];
    let is_mark = |mark: char| "'\"`“”‘’(),;:".contains(mark);
    let mut words = description.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if !NOUNS.contains(&word.trim_matches(is_mark).to_lowercase().as_str()) {
            continue;
        }
        let Some(next) = words.peek() else { break };
        let name = next.trim_matches(|mark| is_mark(mark) || mark == '.');
        // A tenant's name is quoted or looks like an identifier. Other words are part of the
        // sentence.
        let is_name =
            next.starts_with(is_mark) || name.contains(|c: char| c.is_ascii_digit() || c == '.');
        if is_name && (1..=256).contains(&name.len()) {
            return Some(name.to_lowercase());
        }
    }
    None
}

/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 200;

/// Normalizes a description to one line, and removes words that look like tokens, because some
/// platforms repeat the request.
fn plain_description(text: &str) -> String {
    let mut line = String::new();
    let head: String = text.chars().take(4 * MAX_DESCRIPTION).collect();
    let spaced: String =
        visible(&head).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    for word in spaced.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(if looks_like_token(word) { "…" } else { word });
    }
    if line.chars().count() > MAX_DESCRIPTION {
        let cut = line.chars().take(MAX_DESCRIPTION.saturating_sub(1)).collect::<String>();
        line = format!("{}…", cut.trim_end());
    }
    line
}

/// Whether a word looks like a token: long, with digits, a value or mixed case, or very long. Names
/// such as `refresh_token` are not affected.
fn looks_like_token(word: &str) -> bool {
    let length = word.chars().count();
    let has_small = word.contains(|letter: char| letter.is_ascii_lowercase());
    let mixes = has_small && word.chars().skip(1).any(|letter| letter.is_ascii_uppercase());
    let has_value = word.contains(|letter: char| letter.is_ascii_digit() || letter == '=');
    length >= 16 && (mixes || has_value || length > 40)
}

#[cfg(test)]
mod tests {
    use super::{CODES, TokenError, TokenErrorKind, is_code, plain_description};

    #[test]
    fn every_known_code_occurs_once() {
        let all: Vec<&str> = CODES.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
        for (kind, codes) in CODES {
            for code in *codes {
                assert_eq!(all.iter().filter(|known| known == &code).count(), 1, "{code}");
                assert!(is_code(code), "{code}");
                for written in [(*code).to_owned(), code.to_uppercase(), code.replace('_', "-")] {
                    let error = TokenError::new(Some(400), Some(&written), None);
                    assert_eq!(
                        (error.kind, error.code.as_deref()),
                        (*kind, Some(*code)),
                        "{written}"
                    );
                }
            }
        }
    }

    #[test]
    fn descriptions_can_override_the_code() {
        for (status, code, description, kind) in [
            (400, "unauthorized_client", "Refresh token is invalid", TokenErrorKind::GrantRejected),
            (400, "unauthorized_client", "No such app", TokenErrorKind::Unauthorized),
            (401, "bad_request", "cannot renew revoked token", TokenErrorKind::GrantRejected),
            (
                400,
                "invalid_request",
                "Invalid \"refresh_token\" in request.",
                TokenErrorKind::GrantRejected,
            ),
            (
                400,
                "invalid_request",
                "refresh_token is missing or invalid",
                TokenErrorKind::RequestRejected,
            ),
            (
                401,
                "invalid_request",
                "This request requires an active refresh_token",
                TokenErrorKind::GrantRejected,
            ),
            (400, "invalid_scope", "The refresh token is invalid", TokenErrorKind::RequestRejected),
            (400, "invalid_client", "refresh_token is invalid", TokenErrorKind::ClientRejected),
            (400, "x", "The invalid_refresh_token.", TokenErrorKind::GrantRejected),
            (400, "access_denied", "Too many requests", TokenErrorKind::Temporary),
            // https://github.com/websmurf/laravel-exact-online/issues/31
            (
                400,
                "access_denied",
                "Rate limit exceeded: access_token not expired",
                TokenErrorKind::Temporary,
            ),
            (400, "access_denied", "Too bad", TokenErrorKind::Denied),
        ] {
            let error = TokenError::new(Some(status), Some(code), Some(description));
            assert_eq!(error.kind, kind, "{code}: {description}");
        }
    }

    #[test]
    fn errors_for_one_tenant_do_not_reject_the_client() {
        for (description, expected) in [
            (
                "AADSTS700016: Application with identifier 'x' was not found in the directory 'Contoso'. This can happen if the application has not been installed by the administrator of the tenant.",
                Some("contoso"),
            ),
            (
                "AADSTS7000229: The client application 1b is missing service principal in the tenant 7c3f-1. Trace ID: 2",
                Some("7c3f-1"),
            ),
            ("The app is blocked by the organization \"acme.example\"", Some("acme.example")),
            ("You may have sent your request to the wrong tenant.", None),
            ("AADSTS7000215: Invalid client secret provided.", None),
            ("", None),
        ] {
            for code in ["unauthorized_client", "invalid_client"] {
                let error = TokenError::new(Some(400), Some(code), Some(description));
                assert_eq!(error.tenant.as_deref(), expected, "{description}");
                let is_certain = code == "invalid_client" && expected.is_none();
                let kind = if is_certain {
                    TokenErrorKind::ClientRejected
                } else {
                    TokenErrorKind::Unauthorized
                };
                assert_eq!(error.kind, kind, "{code}: {description}");
            }
        }
    }

    #[test]
    fn codes_are_plain() {
        let long = "x".repeat(65);
        for code in ["", "a b", "<b>", "a\"b", "a\nb", "ü", "\u{202e}", long.as_str()] {
            let error = TokenError::new(Some(400), Some(code), None);
            assert_eq!(
                (error.code, error.kind),
                (None, TokenErrorKind::RequestRejected),
                "{code:?}"
            );
        }
    }

    #[test]
    fn descriptions_are_one_line_without_secrets() {
        for (text, expected) in [
            ("", ""),
            (" The\r\n\tcode\u{0}is \u{200b}\u{202e}wrong. ", "The code is wrong."),
            (
                "AADSTS700082: The refresh_token has expired",
                "AADSTS700082: The refresh_token has expired",
            ),
            ("Unknown or invalid refresh token.", "Unknown or invalid refresh token."),
            (
                "unsupported_grant_type authorization_code",
                "unsupported_grant_type authorization_code",
            ),
            ("The token 1//0gXyZabcdefghijkl is bad", "The token … is bad"),
            ("The token 'eyJhbGciOiJub25lIn0.e30.' is bad", "The token … is bad"),
            ("Trace ID: 8b2f3c1e-0000-4000-8000-000000000000", "Trace ID: …"),
            ("ghr_abcdefghijklmnopqrstuvwxyzabcdefghijklmn", "…"),
            ("refresh_token=abcdef", "…"),
            ("QWERTYUIOPASDFGHqwert", "…"),
            // Words are kept if they have 15 characters, are in capitals, or have 40 lower-case
            // letters.
            ("tokens-of-2026.", "tokens-of-2026."),
            ("tokens-of-2026..", "…"),
            ("AUTHORIZATION_CODE", "AUTHORIZATION_CODE"),
            (
                "abcdefghijklmnopqrstuvwxyzabcdefghijklmn",
                "abcdefghijklmnopqrstuvwxyzabcdefghijklmn",
            ),
            ("abcdefghijklmnopqrstuvwxyzabcdefghijklmno", "…"),
        ] {
            assert_eq!(plain_description(text), expected, "{text:?}");
        }
        let longest = "word ".repeat(40);
        assert_eq!(plain_description(&longest), longest.trim_end());
        let exact = format!("{}words", "word ".repeat(39));
        assert_eq!(exact.len(), 200);
        assert_eq!(plain_description(&exact), exact);
        assert!(plain_description(&format!("{exact}s")).ends_with('…'));
        assert_eq!(plain_description(&format!("a{}b", " ".repeat(500))), "a b");
        let long = plain_description(&"word ".repeat(100));
        assert_eq!(long.chars().count(), 200);
        assert!(long.ends_with('…'));
        assert!(plain_description(&"é ".repeat(5000)).chars().count() <= 200);
    }

    #[test]
    fn errors_display_as_code_or_status() {
        for (error, expected) in [
            (TokenError::new(Some(400), Some("invalid_grant"), Some("secret")), "invalid_grant"),
            (TokenError::new(Some(502), None, None), "HTTP status 502"),
            (TokenError::from_kind(TokenErrorKind::Temporary, None), "no response"),
        ] {
            assert_eq!(error.to_string(), expected);
        }
    }
}
