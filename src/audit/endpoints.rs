//! `GET /v1/audit`: lists the audit log.

use crate::audit::statements::select;
use crate::audit::{AuditFilter, AuditId, Entry};
use crate::connections::model::ConnectionId;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::paging::{Paging, cursor_page};
use crate::http::problem::Problem;
use crate::storage::transaction::Statements;
use crate::terms::AuditAction;
use crate::util::json;
use crate::util::rfc3339;

/// The maximum number of entries that a request scans if no index covers its filters. The page may
/// then contain fewer than `limit` entries, or none, although more follow.
const SCAN_LIMIT: u64 = 1000;

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    let actions: Vec<AuditAction> = query.names("actions", &AuditAction::NAMES);
    query.finish()?;
    let time = |name| query.text(name).and_then(|text| rfc3339::parse_to_millisecond(&text));
    let oldest = context.now.saturating_sub(context.config().audit_retention_ms);
    let connection = query.text("connection").and_then(|text| ConnectionId::parse(&text));
    let filter = AuditFilter {
        actor: query.text("actor"),
        target: query.text("target"),
        connection: connection.map(|id| id.as_str().to_owned()),
        actions,
        // Expired entries are not returned, even if they have not been deleted yet.
        from: time("from").unwrap_or_default().max(oldest),
        to: time("to"),
    };
    let before = query.text("before").and_then(|text| AuditId::parse(&text));
    let limit = Paging::read(&query).limit;
    let scan_limit = if filter.needs_scan() { SCAN_LIMIT.max(limit) } else { limit };
    let select = select(&context.guard(), &filter, before.as_ref(), scan_limit.saturating_add(1));
    let mut statements = Statements::default();
    let entries = statements.query::<Entry>(select);
    let scan_limit = usize::try_from(scan_limit).unwrap_or(usize::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(statements, move |results, _| {
        let entries = results.all(entries)?;
        let (mut rows, mut scanned) = (Vec::new(), 0_usize);
        for entry in entries.iter().take(scan_limit) {
            if rows.len() == limit {
                break;
            }
            scanned = scanned.saturating_add(1);
            rows.extend(entry.view(filter.from).map(|view| json::bytes(&view)));
        }
        let last = entries.get(scanned.saturating_sub(1));
        let next = last.filter(|_| entries.len() > scanned).map(|entry| entry.id.as_str());
        Ok(cursor_page(&rows, &next))
    }))
}
