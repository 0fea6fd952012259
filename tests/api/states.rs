//! The table of states in `docs/api.md` is generated from the state machine.

use std::fs;

use connector_vault::credentials::lifecycle::machine::{
    BACKOFF_MS, CONFIRMATION_MS, FailureHistory, FailureOutcome, GRACE_PERIOD_MS, HealthFailure,
    REASON_NOT_CHECKED, STATE_AFTER_SUCCESS, actor, after_failure, stored,
};
use connector_vault::terms::State;

use crate::generated_files::assert_up_to_date;

const PAGE: &str = "docs/api.md";
const BEGIN: &str =
    "<!-- states: written by WRITE_STATES=1 cargo test --features cli --test api states -->\n";
const END: &str = "<!-- end of the states -->\n";

const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 1440 * MINUTE_MS;

/// The text for a failure in the table.
const fn failure_name(failure: HealthFailure) -> &'static str {
    match failure {
        HealthFailure::Unavailable => {
            "the platform can't be reached, or answers 408, 425, 429 or 5xx"
        }
        HealthFailure::Unreadable => "the platform's response can't be read",
        HealthFailure::GrantRejected => "the platform refuses the refresh token",
        HealthFailure::CredentialsRejected => "the platform rejects the API key, token or password",
        HealthFailure::Denied => "the platform denies access",
        HealthFailure::ClientRejected => "the platform rejects the OAuth client, or there is none",
        HealthFailure::Unauthorized => {
            "the platform does not serve the OAuth client, perhaps for this connection only (`unauthorized_client`, or an unknown code with 401)"
        }
        HealthFailure::RequestRejected => "the platform rejects the token request",
    }
}

/// Formats a row of the table.
fn table_row(from: &str, what: &str, to: &str, code: &str, actor: &str) -> String {
    let code = if code.is_empty() { String::new() } else { format!("`{code}`") };
    let cells = [from, what, to, &code, &format!("`{actor}`")].join(" | ");
    // An empty cell is one space.
    format!("| {cells} |\n").replace("|  |", "| |")
}

/// Formats the row of a success.
fn success(from: &str, what: &str, to: State) -> String {
    table_row(from, what, &state_name(to), "", actor(to, None))
}

/// Formats the row of a failure.
fn failure(from: &str, what: &str, after: &FailureOutcome) -> String {
    table_row(
        from,
        what,
        &state_name(after.state),
        after.code,
        actor(after.state, Some(after.code)),
    )
}

fn state_name(state: State) -> String {
    format!("`{}`", state.as_str())
}

/// Describes the pauses in words: `1, 5 and 15 minutes, then 1 hour`.
fn pauses() -> String {
    let (last, others) = BACKOFF_MS.split_last().unwrap();
    let others: Vec<_> = others.iter().map(|pause| (pause / MINUTE_MS).to_string()).collect();
    let (longest, shorter) = others.split_last().unwrap();
    let hours = last / (60 * MINUTE_MS);
    format!("{} and {longest} minutes, then {hours} hours", shorter.join(", "))
}

fn table() -> String {
    let first = |kind| after_failure(FailureHistory::default(), kind, None, 0, 0);
    // The outcome if the same failure occurs again after this delay.
    let again = |kind, later| {
        let FailureOutcome { attempts, failing_since, refused_since, .. } = first(kind);
        after_failure(
            FailureHistory { attempts, failing_since, refused_since },
            kind,
            None,
            later,
            0,
        )
    };
    let well = [State::Operational, State::Unknown].map(state_name).join(", ");
    let degraded = state_name(State::Degraded);
    let mut lines = vec![
        success("new", "the user signs in, or the platform accepts the credentials", stored(true)),
        success("new", "credentials are stored that nothing can check", stored(false)),
        table_row(
            "new",
            "credentials are stored, and the platform does not say whether it accepts them",
            &state_name(stored(false)),
            REASON_NOT_CHECKED,
            actor(stored(false), Some(REASON_NOT_CHECKED)),
        ),
        success("new", "it is created without credentials, and without a `state`", State::Unknown),
        success("any but `failed`", "a refresh or a check succeeds", STATE_AFTER_SUCCESS),
    ];
    for kind in HealthFailure::ALL {
        lines.push(failure(&well, failure_name(kind), &first(kind)));
    }
    let (mut ends, mut after_grace_period) = (Vec::new(), Vec::new());
    for kind in HealthFailure::ALL {
        let early = again(kind, CONFIRMATION_MS - 1);
        assert_eq!((early.state, early.code), (State::Degraded, kind.code()), "{kind:?}");
        let after = again(kind, CONFIRMATION_MS);
        if after.state == State::Failed {
            let what =
                format!("{} again, at least a minute after the first time", failure_name(kind));
            ends.push(failure(&degraded, &what, &after));
            continue;
        }
        let days = GRACE_PERIOD_MS / DAY_MS;
        assert_eq!(again(kind, GRACE_PERIOD_MS - 1).state, State::Degraded, "{kind:?}");
        let after = again(kind, GRACE_PERIOD_MS);
        if after.state == State::Failed {
            let what =
                format!("{}, {days} days or more after its first refusal", failure_name(kind));
            after_grace_period.push(failure(&degraded, &what, &after));
        }
    }
    lines.append(&mut ends);
    lines.append(&mut after_grace_period);
    lines.push(success(
        "`failed`",
        "the user signs in again, or the platform accepts new credentials",
        stored(true),
    ));
    let head = table_row("from", "what happens", "to", "reason.code", "actor");
    format!(
        "{head}|---|---|---|---|---|\n{}\n\
         Any other failure of a connection that is {degraded} leaves it so, with the reason of that failure. The service\n\
         tries again after {}, each 20 % more or less, and not before the platform's\n\
         `Retry-After`; after the first refusal that needs a second one to end the connection, not before a minute.\n",
        lines.concat(),
        pauses(),
    )
}

#[test]
fn the_documented_state_table_matches_the_state_machine() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let now = format!("{before}{BEGIN}\n{}\n{END}{after}", table());
    assert_up_to_date(PAGE, &now, "WRITE_STATES", "states");
}

/// The API reference lists every reason.
#[test]
fn the_openapi_document_lists_every_reason() {
    let document = fs::read_to_string("www/public/v1/openapi.json").unwrap();
    let reason = document
        .lines()
        .find(|table_row| {
            table_row.contains("The reason, for programs") && table_row.contains("invalid_answer")
        })
        .unwrap();
    for failure in HealthFailure::ALL {
        assert!(reason.contains(&format!("`{}`", failure.code())), "{}", failure.code());
    }
    for code in ["grant_ended", "reported"] {
        assert!(reason.contains(&format!("`{code}`")), "{code}");
    }
}
