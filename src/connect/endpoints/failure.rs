//! The reasons why an attempt fails at the callback, worded for the user.

use crate::connect::attempt::{Attempt, AttemptErrorCode};
use crate::oauth::{TokenError, TokenErrorKind};
use crate::texts::{Text, connect};

/// The reason for a failed attempt: a code, and a message for the user.
pub(super) struct AttemptFailure {
    pub code: AttemptErrorCode,
    pub detail: String,
}

impl AttemptFailure {
    pub(super) fn new(code: AttemptErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

/// The failure if nothing was written: the connection to reconnect no longer exists, or no new
/// connection is allowed.
pub(super) fn write_failure(attempt: &Attempt) -> AttemptFailure {
    if attempt.reconnects == 1 {
        let detail = "The connection was deleted in the meantime.";
        return AttemptFailure::new(AttemptErrorCode::ConnectionNotFound, detail);
    }
    let detail = "The connection could not be created: the app has reached its limit.";
    AttemptFailure::new(AttemptErrorCode::ConnectionLimit, detail)
}

/// The failure if the user signed in with a different account than before. `account` is the
/// previous one, as the end of a phrase.
pub(super) fn account_mismatch(name: &str, account: Option<&str>) -> AttemptFailure {
    let account = account.unwrap_or_default();
    let detail = format!(
        "This is a different account at {name} than before. The connection keeps the previous one{account}. Sign in with that account, or connect this one separately."
    );
    AttemptFailure::new(AttemptErrorCode::AccountMismatch, detail)
}

/// The failure if the user signed in with an account other than the account fixed by the app.
pub(super) fn unexpected_account(name: &str) -> AttemptFailure {
    let detail = format!(
        "This is a different account at {name} than the app expects. Sign in with the expected one."
    );
    AttemptFailure::new(AttemptErrorCode::AccountMismatch, detail)
}

/// The failure if the platform did not return a required value, such as the server of the account.
pub(super) fn missing_platform_value(name: &str) -> AttemptFailure {
    let detail =
        format!("{name} did not return the location of your account's data, so it can't be used.");
    AttemptFailure::new(AttemptErrorCode::InvalidResponse, detail)
}

/// The failure if the platform redirected the user back with an error.
pub(super) fn authorization_failure(name: &str, error: &TokenError) -> AttemptFailure {
    let suffix = platform_error_suffix(error);
    match error.kind {
        TokenErrorKind::Denied | TokenErrorKind::GrantRejected => AttemptFailure::new(
            AttemptErrorCode::Denied,
            format!("{name} did not grant access{suffix}."),
        ),
        TokenErrorKind::ClientRejected | TokenErrorKind::Unauthorized => AttemptFailure::new(
            AttemptErrorCode::ClientRejected,
            format!("{name} rejects the app{suffix}."),
        ),
        TokenErrorKind::Temporary => AttemptFailure::new(
            AttemptErrorCode::PlatformUnavailable,
            format!("{name} has a problem{suffix}."),
        ),
        TokenErrorKind::RequestRejected | TokenErrorKind::Unreadable => AttemptFailure::new(
            AttemptErrorCode::RequestRejected,
            format!("{name} rejects the app's request{suffix}."),
        ),
    }
}

/// The failure if the platform did not exchange the code.
pub(super) fn exchange_failure(name: &str, error: &TokenError) -> AttemptFailure {
    let suffix = platform_error_suffix(error);
    match error.kind {
        TokenErrorKind::GrantRejected | TokenErrorKind::Denied => AttemptFailure::new(
            AttemptErrorCode::CodeRejected,
            format!("{name} no longer accepts its own code{suffix}."),
        ),
        TokenErrorKind::ClientRejected | TokenErrorKind::Unauthorized => AttemptFailure::new(
            AttemptErrorCode::ClientRejected,
            format!("{name} rejects the app{suffix}."),
        ),
        TokenErrorKind::RequestRejected => AttemptFailure::new(
            AttemptErrorCode::RequestRejected,
            format!("{name} rejects the app's request{suffix}."),
        ),
        TokenErrorKind::Temporary => AttemptFailure::new(
            AttemptErrorCode::PlatformUnavailable,
            format!("{name} can't be reached, or has a problem{suffix}."),
        ),
        TokenErrorKind::Unreadable => AttemptFailure::new(
            AttemptErrorCode::InvalidResponse,
            format!("{name} sent an unreadable response{suffix}."),
        ),
    }
}

/// The platform's error code and description, as the end of a sentence.
pub(super) fn platform_error_suffix(error: &TokenError) -> String {
    let code = error.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    let description =
        error.description.as_deref().map(|text| format!(": {}", text.trim_end_matches('.')));
    let description = description.unwrap_or_default();
    format!("{code}{description}")
}

/// The reason for a failed attempt, as a text for the user.
pub(super) const fn reason(code: AttemptErrorCode) -> &'static Text {
    match code {
        AttemptErrorCode::Denied => &connect::DENIED,
        AttemptErrorCode::AccountMismatch => &connect::ACCOUNT_MISMATCH,
        AttemptErrorCode::ConnectionExists => &connect::CONNECTION_EXISTS,
        AttemptErrorCode::ConnectionNotFound => &connect::CONNECTION_NOT_FOUND,
        AttemptErrorCode::ConnectionLimit => &connect::CONNECTION_LIMIT,
        AttemptErrorCode::ClientRejected => &connect::CLIENT_REJECTED,
        AttemptErrorCode::RequestRejected => &connect::REQUEST_REJECTED,
        AttemptErrorCode::CodeRejected => &connect::CODE_REJECTED,
        AttemptErrorCode::PlatformUnavailable => &connect::PLATFORM_UNAVAILABLE,
        AttemptErrorCode::InvalidResponse => &connect::INVALID_RESPONSE,
        AttemptErrorCode::IssuerMismatch => &connect::ISSUER_MISMATCH,
        AttemptErrorCode::Changed => &connect::CHANGED,
        AttemptErrorCode::Interrupted => &connect::INTERRUPTED,
    }
}

/// Whether another attempt can succeed.
pub(super) const fn can_repeat(code: AttemptErrorCode) -> bool {
    use AttemptErrorCode as Failure;
    matches!(
        code,
        Failure::Denied
            | Failure::AccountMismatch
            | Failure::CodeRejected
            | Failure::PlatformUnavailable
            | Failure::InvalidResponse
            | Failure::Changed
            | Failure::Interrupted
    )
}

/// The next step for the user. `can_repeat_here` is whether the page has a link that repeats the
/// attempt.
pub(super) const fn next_step(code: AttemptErrorCode, can_repeat_here: bool) -> &'static Text {
    match code {
        AttemptErrorCode::PlatformUnavailable | AttemptErrorCode::InvalidResponse
            if can_repeat_here =>
        {
            &connect::NEXT_TRY_LATER
        }
        _ if can_repeat_here => &connect::NEXT_TRY_AGAIN,
        AttemptErrorCode::Denied
        | AttemptErrorCode::CodeRejected
        | AttemptErrorCode::Interrupted
        | AttemptErrorCode::Changed => &connect::NEXT_START_AGAIN,
        AttemptErrorCode::AccountMismatch
        | AttemptErrorCode::ConnectionExists
        | AttemptErrorCode::ConnectionNotFound => &connect::NEXT_GO_BACK,
        AttemptErrorCode::ClientRejected
        | AttemptErrorCode::RequestRejected
        | AttemptErrorCode::ConnectionLimit
        | AttemptErrorCode::IssuerMismatch => &connect::NEXT_CONTACT,
        AttemptErrorCode::PlatformUnavailable | AttemptErrorCode::InvalidResponse => {
            &connect::NEXT_LATER
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{authorization_failure, exchange_failure, platform_error_suffix};
    use crate::oauth::TokenError;
    use crate::oauth::TokenErrorKind::{
        self, ClientRejected, Denied, GrantRejected, RequestRejected, Temporary, Unreadable,
    };

    fn error(kind: TokenErrorKind, code: Option<&str>, description: Option<&str>) -> TokenError {
        TokenError {
            kind,
            code: code.map(str::to_owned),
            description: description.map(str::to_owned),
            http_status: None,
            retry_after_ms: None,
            tenant: None,
        }
    }

    #[test]
    fn failures_contain_the_platforms_error() {
        for (code, description, expected) in [
            (None, None, ""),
            (Some("e"), None, " (e)"),
            (None, Some("No"), ": No"),
            (Some("e"), Some("No"), " (e): No"),
            (Some("e"), Some("No."), " (e): No"),
        ] {
            assert_eq!(platform_error_suffix(&error(Denied, code, description)), expected);
        }
        for (kind, authorization_code, exchange_code) in [
            (Denied, "did not grant access", "no longer accepts its own code"),
            (GrantRejected, "did not grant access", "no longer accepts its own code"),
            (ClientRejected, "rejects the app (e): No.", "rejects the app (e): No."),
            (Temporary, "has a problem (e): No.", "can't be reached, or has a problem (e): No."),
            (RequestRejected, "rejects the app's request (e)", "rejects the app's request (e)"),
            (Unreadable, "rejects the app's request (e)", "an unreadable response (e)"),
        ] {
            let error = error(kind, Some("e"), Some("No"));
            let (first, second) =
                (authorization_failure("Acme", &error), exchange_failure("Acme", &error));
            assert!(first.detail.contains(authorization_code), "{}", first.detail);
            assert!(second.detail.contains(exchange_code), "{}", second.detail);
        }
    }
}
