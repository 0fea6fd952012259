//! `GET /v1/events`: a page of the event feed.

use crate::connections::model::ConnectionId;
use crate::events::statements::{EventQuery, select};
use crate::events::{Event, EventId};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::paging::{Paging, cursor_page};
use crate::http::parameters::NEWEST_FIRST;
use crate::http::problem::Problem;
use crate::ports::StorageError;
use crate::storage::transaction::Statements;
use crate::terms::EventType;

/// The maximum number of events that a request scans to find events of the requested types. The
/// page may then contain fewer than `limit` events, or none, although more follow.
const MAX_SCANNED_EVENTS: u64 = 1000;

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    let types: Vec<EventType> = query.names("types", &EventType::NAMES);
    query.finish()?;
    let names = context.config().account_names;
    let newest_first = query.text("order").is_some_and(|order| order == NEWEST_FIRST);
    let start = if newest_first { EventId::LAST } else { EventId::default() };
    let after = query.text("after").and_then(|text| EventId::parse(&text)).unwrap_or(start);
    let connection = query.text("connection").and_then(|text| ConnectionId::parse(&text));
    let limit = Paging::read(&query).limit;
    let scanned = if types.is_empty() { limit } else { MAX_SCANNED_EVENTS.max(limit) };
    let mut statements = Statements::default();
    let selected = EventQuery {
        newest_first,
        after,
        connection: connection.as_ref(),
        types: &types,
        limit: scanned,
    };
    let events = statements.query::<Event>(select(&context.guard(), &selected));
    let oldest = context.now.saturating_sub(context.config().event_retention_ms);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(statements, move |results, _| {
        let mut rows = Vec::new();
        let mut next = after;
        for event in results.all(events)? {
            if rows.len() == limit {
                break;
            }
            next = event.id;
            let is_requested =
                types.is_empty() || types.iter().any(|one| one.as_str() == event.kind);
            // Expired events are not returned, even if they have not been pruned yet.
            if is_requested && event.occurred_at >= oldest {
                rows.push(document(&event, names)?);
            }
        }
        Ok(cursor_page(&rows, &next))
    }))
}

/// Renders an event. `names` is whether to include the names of connected accounts.
fn document(event: &Event, names: bool) -> Result<Vec<u8>, StorageError> {
    event.to_json(names).map_err(|error| StorageError::new(format!("event {}: {error}", event.id)))
}
