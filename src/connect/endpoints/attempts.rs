//! `GET /v1/vault/connect`: connect attempts, newest first.

use serde::Serialize;

use super::attempt::AttemptError;
use crate::connect::attempt::{Attempt, Status};
use crate::connect::statements::{AttemptFilter, select_attempts};
use crate::connections::model::ConnectionId;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::paging::{Paging, cursor_page};
use crate::http::problem::Problem;
use crate::storage::transaction::Statements;
use crate::terms::{AttemptStatus, IdentityType};
use crate::util::case_fold::fold;
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// The maximum number of attempts that a request scans when no index covers its filters. The page
/// may then have fewer rows than `limit`, or none, although more follow.
const SCAN_LIMIT: u64 = 1000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    id: &'a str,
    platform: &'a str,
    auth_method: &'a str,
    client: &'a str,
    identity: &'a str,
    identity_type: IdentityType,
    status: AttemptStatus,
    connection: Option<&'a str>,
    error: Option<AttemptError>,
    created_at: Option<String>,
    expires_at: Option<String>,
}

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    let statuses: Vec<AttemptStatus> = query.names("status", &AttemptStatus::NAMES);
    query.finish()?;
    let platform = query.text("platform").map(|text| fold(&text));
    let identity = query.text("identity");
    let before = query.text("before").and_then(|text| ConnectionId::parse(&text));
    let limit = Paging::read(&query).limit;
    let (guard, now) = (context.guard(), context.now);
    let filter = AttemptFilter {
        identity: identity.as_deref(),
        statuses: &statuses,
        before: before.as_ref(),
    };
    let is_exact = platform.is_none() && (statuses.is_empty() || !filter.has_one_identity(&guard));
    let scan_limit = if is_exact { limit.saturating_add(1) } else { SCAN_LIMIT.max(limit) };
    let mut statements = Statements::default();
    let attempts = statements.query::<Attempt>(select_attempts(&guard, &filter, scan_limit));
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(statements, move |results, _| {
        let attempts = results.all(attempts)?;
        let mut remaining = u64::try_from(attempts.len()).unwrap_or(u64::MAX);
        let (mut rows, mut last) = (Vec::new(), None);
        for attempt in &attempts {
            if rows.len() == limit {
                break;
            }
            remaining = remaining.saturating_sub(1);
            last = Some(&attempt.id);
            let status = attempt.status(now);
            let has_status = statuses.is_empty() || statuses.contains(&status.name());
            if has_status && platform.as_ref().is_none_or(|platform| *platform == attempt.platform)
            {
                rows.push(json::bytes(&row(attempt, status)));
            }
        }
        let is_cut_off =
            remaining > 0 || u64::try_from(attempts.len()).is_ok_and(|count| count == scan_limit);
        let next = last.filter(|_| is_cut_off);
        Ok(cursor_page(&rows, &next))
    }))
}

fn row(attempt: &Attempt, status: Status) -> Row<'_> {
    // A new attempt already has the id of its connection, which does not exist before the attempt succeeds.
    let exists = attempt.reconnects == 1 || status == Status::Succeeded;
    Row {
        id: &attempt.id,
        platform: &attempt.platform,
        auth_method: &attempt.auth_method,
        client: &attempt.client,
        identity: &attempt.identity,
        identity_type: attempt.identity_type,
        status: status.name(),
        connection: exists.then_some(attempt.connection_id.as_str()),
        error: AttemptError::from_status(status),
        created_at: rfc3339(attempt.created_at),
        expires_at: rfc3339(attempt.expires_at),
    }
}
