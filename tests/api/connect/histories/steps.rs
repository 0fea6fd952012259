//! The steps of a history, and the platform responses that they cause.

use super::*;

/// A platform's response to a token request, or to a request that checks a key.
#[derive(Debug, Clone, Copy)]
pub enum TokenResponse {
    Good {
        life: Option<u64>,
        rotates: bool,
        scopes: Option<&'static str>,
    },
    Unreachable,
    TimedOut,
    /// A status, and the number of seconds to wait.
    Busy(u16, Option<u64>),
    Html,
    InvalidGrant,
    InvalidClient,
    UnauthorizedClient,
    InvalidScope,
    Denied,
}

/// How a token request failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FailureClass {
    Temporary,
    /// The grant has ended.
    GrantEnded,
    /// The platform refuses the request for another reason.
    Refused,
    /// The platform rejects the account's client.
    Client,
    /// The platform rejects the account's client, or only this connection.
    Unauthorized,
}

/// A failed refresh or check.
#[derive(Debug, Clone, Copy)]
pub struct Failure {
    pub class: FailureClass,
    /// The reason codes while the connection stays usable, and after a confirmed refusal.
    pub codes: (&'static str, &'static str),
    pub detail: Option<&'static str>,
    pub status: Option<u16>,
    pub retry_after: u64,
}

impl Failure {
    pub fn bare(class: FailureClass, code: &'static str) -> Self {
        Self { class, codes: (code, "grant_ended"), detail: None, status: None, retry_after: 0 }
    }

    pub fn reported(
        class: FailureClass,
        code: &'static str,
        status: u16,
        detail: &'static str,
    ) -> Self {
        Self { detail: Some(detail), status: Some(status), ..Self::bare(class, code) }
    }
}

impl TokenResponse {
    pub fn any(rng: &mut TestRng) -> Self {
        let refusals = [Self::InvalidScope, Self::InvalidScope, Self::Denied];
        match rng.below(16) {
            0 => Self::Unreachable,
            1 => Self::TimedOut,
            2 => Self::Busy(*rng.pick(&[408, 500, 502, 503]), None),
            3 => Self::Busy(429, Some(*rng.pick(&[1, 90, 7200]))),
            4 => Self::Html,
            5..=6 => Self::InvalidGrant,
            8 => Self::InvalidClient,
            9 => Self::UnauthorizedClient,
            7 | 10 | 11 => *rng.pick(&refusals),
            _ => Self::Good {
                life: *rng.pick(&[None, Some(60), Some(3600), Some(86_400)]),
                rotates: rng.percent(75),
                scopes: *rng.pick(&[None, None, Some("read"), Some("write read")]),
            },
        }
    }

    pub fn to_token_request(self, index: u64) -> Result<HttpResponse, HttpError> {
        let error = |status: u16, code: &str| response(status, &json!({"error": code}));
        match self {
            Self::Good { life, rotates, scopes } => {
                let mut tokens = json!({"access_token": format!("at-{index}")});
                if let Some(life) = life {
                    tokens["expires_in"] = json!(life);
                }
                if rotates {
                    tokens["refresh_token"] = json!(format!("rt-{index}"));
                }
                if let Some(scopes) = scopes {
                    tokens["scope"] = json!(scopes);
                }
                response(200, &tokens)
            }
            Self::Unreachable => Err(HttpError::Unreachable),
            Self::TimedOut => Err(HttpError::TimedOut),
            Self::Busy(status, wait) => {
                let mut busy = response(status, &json!({}))?;
                let header = |seconds: u64| ("retry-after".to_owned(), seconds.to_string());
                busy.headers.extend(wait.map(header));
                Ok(busy)
            }
            Self::Html => {
                Ok(HttpResponse { body: b"<p>Hello</p>".to_vec(), ..response(200, &json!({}))? })
            }
            Self::InvalidGrant => {
                response(400, &json!({"error": "invalid_grant", "error_description": "Gone."}))
            }
            Self::InvalidClient => error(401, "invalid_client"),
            Self::UnauthorizedClient => error(400, "unauthorized_client"),
            Self::InvalidScope => error(400, "invalid_scope"),
            Self::Denied => error(403, "access_denied"),
        }
    }

    /// The failure that the response reports; `None` if it contains tokens.
    pub fn failure(self) -> Option<Failure> {
        use FailureClass::{Client, GrantEnded, Refused, Temporary};
        let unavailable = Failure::bare(Temporary, "platform_unavailable");
        Some(match self {
            Self::Good { .. } => return None,
            Self::Unreachable | Self::TimedOut => unavailable,
            Self::Busy(status, wait) => {
                let retry_after = wait.unwrap_or(0) * SECOND;
                Failure { status: Some(status), retry_after, ..unavailable }
            }
            Self::Html => {
                Failure { status: Some(200), ..Failure::bare(Temporary, "invalid_answer") }
            }
            Self::InvalidGrant => Failure::reported(GrantEnded, "grant_rejected", 400, "Gone."),
            Self::InvalidClient => {
                Failure::reported(Client, "client_rejected", 401, "invalid_client")
            }
            Self::UnauthorizedClient => {
                let code = "unauthorized_client";
                Failure::reported(FailureClass::Unauthorized, "client_rejected", 400, code)
            }
            Self::InvalidScope => {
                Failure::reported(Refused, "request_rejected", 400, "invalid_scope")
            }
            Self::Denied => Failure::reported(Refused, "grant_rejected", 403, "access_denied"),
        })
    }

    /// The platform's response to a request that checks a key.
    pub fn to_check_response(self) -> Result<HttpResponse, HttpError> {
        let status = match self {
            Self::Good { .. } => 200,
            Self::InvalidGrant => 401,
            Self::InvalidClient | Self::Denied => 403,
            Self::UnauthorizedClient | Self::InvalidScope => 404,
            _ => return self.to_token_request(0),
        };
        response(status, &json!({"id": 1}))
    }

    /// The result of checking a key: `Err` if the check is inconclusive, `Ok(None)` if the key is valid.
    pub fn check_result(self) -> Result<Option<Failure>, ()> {
        let rejected = |status: u16| {
            let codes = ("credentials_rejected", "credentials_rejected");
            let bare = Failure::bare(FailureClass::GrantEnded, "");
            Ok(Some(Failure { codes, status: Some(status), ..bare }))
        };
        match self {
            Self::Good { .. } | Self::Html => Ok(None),
            Self::InvalidGrant => rejected(401),
            Self::InvalidClient | Self::Denied | Self::UnauthorizedClient | Self::InvalidScope => {
                Err(())
            }
            Self::Busy(status, wait) => {
                let bare = Failure::bare(FailureClass::Temporary, "platform_unavailable");
                let retry_after = wait.unwrap_or(0) * SECOND;
                Ok(Some(Failure { status: Some(status), retry_after, ..bare }))
            }
            _ => Ok(Some(Failure::bare(FailureClass::Temporary, "platform_unavailable"))),
        }
    }
}

/// The states that apps report.
const STATES: [&str; 4] = ["unknown", "operational", "degraded", "failed"];

#[derive(Debug, Clone)]
pub enum StepAction {
    /// Reads the credentials of a slot, with `refresh=true` if the flag is set.
    ReadCredentials(usize, bool),
    /// Runs the schedule for one minute.
    Minute,
    /// Connects or reconnects a slot: by a user's sign-in, or by storing an API key.
    Connect(usize),
    /// Imports a refresh token into a slot.
    Import(usize),
    Report(usize, &'static str, Option<bool>, Option<&'static str>),
    Tag(usize),
    Delete(usize),
    SetClient,
    DeleteClient,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub wait: u64,
    pub action: StepAction,
    pub response: TokenResponse,
    /// The random byte that varies pauses, in fifths of its range.
    pub jitter_fifths: u64,
    pub crash_point: Option<CrashPoint>,
}

impl Step {
    /// Returns a random response, often the same as `last`.
    pub fn random(rng: &mut TestRng, last: Option<TokenResponse>) -> Self {
        let slot = rng.below(SLOTS.len());
        let action = match rng.below(24) {
            0..=5 => StepAction::ReadCredentials(slot, false),
            6..=8 => StepAction::ReadCredentials(slot, true),
            9..=15 => StepAction::Minute,
            16..=17 => StepAction::Connect(slot),
            18 => StepAction::Import(slot),
            19..=20 => StepAction::Report(
                slot,
                STATES[rng.below(STATES.len())],
                rng.maybe(40, &[false, true]),
                rng.maybe(40, &["slow", "broken"]),
            ),
            21 => StepAction::Tag(slot),
            22 => [StepAction::SetClient, StepAction::DeleteClient][usize::from(rng.percent(25))]
                .clone(),
            _ if rng.percent(40) => StepAction::Delete(slot),
            _ => StepAction::SetClient,
        };
        let waits =
            [0, SECOND, 31 * SECOND, 61 * SECOND, 6 * MINUTE, 20 * MINUTE, HOUR, 8 * HOUR, DAY];
        let crash_point = CrashPoint {
            step: u32::try_from(rng.below(7)).unwrap(),
            completes_step: rng.percent(50),
        };
        Self {
            wait: if rng.percent(8) { 3 * DAY } else { *rng.pick(&waits) },
            action,
            response: last.filter(|_| rng.percent(75)).unwrap_or_else(|| TokenResponse::any(rng)),
            jitter_fifths: rng.next() % 6,
            crash_point: rng.percent(20).then_some(crash_point),
        }
    }
}
