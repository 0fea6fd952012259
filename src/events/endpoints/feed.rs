//! `GET /v1/events`: what happened.

use crate::connections::model::ConnectionId;
use crate::events::statements::{Asked, select};
use crate::events::{Event, EventId};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::paging::Paging;
use crate::http::parameters::NEWEST_FIRST;
use crate::http::problem::Problem;
use crate::ports::StorageError;
use crate::storage::transaction::Statements;
use crate::terms::EventType;
use crate::util::json;

/// How many events are looked at for a page of some types: the page may then have fewer rows than `limit`, or none,
/// although more follow.
const LOOKED_AT: u64 = 1000;

/// Plans the request.
///
/// # Errors
/// With all faults of the query.
pub fn plan<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    let types: Vec<EventType> = query.names("types", &EventType::NAMES);
    query.finish()?;
    let names = context.config.account_names;
    let newest_first = query.text("order").is_some_and(|order| order == NEWEST_FIRST);
    let start = if newest_first { EventId::LAST } else { EventId::default() };
    let after = query.text("after").and_then(|text| EventId::parse(&text)).unwrap_or(start);
    let connection = query.text("connection").and_then(|text| ConnectionId::parse(&text));
    let limit = Paging::read(&query).limit;
    let most = if types.is_empty() { limit } else { LOOKED_AT.max(limit) };
    let mut statements = Statements::default();
    let asked = Asked { newest_first, after, connection: connection.as_ref(), types: &types, most };
    let events = statements.ask::<Event>(select(&context.guard(), &asked));
    let oldest = context.now.saturating_sub(context.config.event_ms);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(statements, move |results, _| {
        let mut rows = Vec::new();
        let mut next = after;
        for event in results.all(events)? {
            if rows.len() == limit {
                break;
            }
            next = event.id;
            let is_asked = types.is_empty() || types.iter().any(|one| one.as_str() == event.kind);
            // What is about to be pruned is not shown any more.
            if is_asked && event.occurred_at >= oldest {
                rows.push(document(&event, names)?);
            }
        }
        let end = format!("],\"next\":{}}}", json::text(&next));
        let page = [b"{\"rows\":[".as_slice(), &rows.join(&b','), end.as_bytes()].concat();
        Ok(Response::json(page, NO_STORE))
    }))
}

/// The document of an event. `names`: whether it names accounts at platforms.
///
/// # Errors
/// When what is stored is not what it should be.
fn document(event: &Event, names: bool) -> Result<Vec<u8>, StorageError> {
    event.to_json(names).map_err(|error| StorageError::new(format!("event {}: {error}", event.id)))
}
