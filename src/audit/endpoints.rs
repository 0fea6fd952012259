//! `GET /v1/audit`: who changed what, and who read credentials.

use crate::audit::statements::select;
use crate::audit::{AuditFilter, AuditId, Entry};
use crate::connections::model::ConnectionId;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::paging::Paging;
use crate::http::problem::Problem;
use crate::storage::transaction::Statements;
use crate::terms::AuditAction;
use crate::util::json;
use crate::util::rfc3339;

/// How many entries are looked at for a page that no index finds by itself: the page may then have fewer rows than `limit`, or
/// none, although more follow.
const LOOKED_AT: u64 = 1000;

/// Plans the request.
///
/// # Errors
/// With all faults of the query.
pub fn plan<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    let actions: Vec<AuditAction> = query.names("actions", &AuditAction::NAMES);
    query.finish()?;
    let time = |name| query.text(name).and_then(|text| rfc3339::parse_to_millisecond(&text));
    let oldest = context.now.saturating_sub(context.config.audit_ms);
    let connection = query.text("connection").and_then(|text| ConnectionId::parse(&text));
    let filter = AuditFilter {
        actor: query.text("actor"),
        target: query.text("target"),
        connection: connection.map(|id| id.as_str().to_owned()),
        actions,
        // What is about to be pruned is not shown any more.
        from: time("from").unwrap_or_default().max(oldest),
        to: time("to"),
    };
    let before = query.text("before").and_then(|text| AuditId::parse(&text));
    let limit = Paging::read(&query).limit;
    let most = if filter.looks_further() { LOOKED_AT.max(limit) } else { limit };
    let select = select(&context.guard(), &filter, before.as_ref(), most.saturating_add(1));
    let mut statements = Statements::default();
    let found = statements.ask::<Entry>(select);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(statements, move |results, _| {
        let found = results.all(found)?;
        let (mut rows, mut looked_at) = (Vec::new(), 0_usize);
        for entry in found.iter().take(most) {
            if rows.len() == limit {
                break;
            }
            looked_at = looked_at.saturating_add(1);
            rows.extend(entry.shown(filter.from).map(|shown| json::bytes(&shown)));
        }
        let last = found.get(looked_at.saturating_sub(1));
        let next = last.filter(|_| found.len() > looked_at).map(|entry| entry.id.as_str());
        let end = format!("],\"next\":{}}}", json::text(&next));
        let page = [b"{\"rows\":[".as_slice(), &rows.join(&b','), end.as_bytes()].concat();
        Ok(Response::json(page, NO_STORE))
    }))
}
