//! The endpoints that read webhooks and deliveries.

use super::{document, no_webhook, response};
use crate::events::EventId;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::paging::{Paging, cursor_page};
use crate::http::problem::Problem;
use crate::ports::StorageError;
use crate::storage::transaction::Statements;
use crate::webhooks::statements::{DeliveryQuery, select, select_all, select_deliveries};
use crate::webhooks::{Delivery, Webhook};

/// `GET /v1/webhooks`
pub fn list<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut statements = Statements::default();
    let rows = statements.query::<Webhook>(select_all(&context.guard()));
    Ok(Handler::render(statements, move |results, _| {
        let rows = results.all(rows)?;
        let rows = rows.iter().map(|webhook| document(webhook, None));
        let rows = rows.collect::<Result<Vec<_>, _>>()?.join(&b',');
        let page = [b"{\"rows\":[".as_slice(), &rows, b"]}"].concat();
        Ok(Response::json(page, NO_STORE))
    }))
}

/// `GET /v1/webhooks/{id}`
pub fn one<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let (id, mut statements) = (context.argument(0), Statements::default());
    let webhook = statements.query::<Webhook>(select(&context.guard(), id));
    Ok(Handler::render(statements, move |results, _| {
        let webhook = results.first(webhook)?.ok_or_else(|| no_webhook(id))?;
        response(&webhook, None)
    }))
}

/// `GET /v1/webhooks/{id}/deliveries`
pub fn deliveries<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let state = query.text("state").and_then(|text| text.parse().ok());
    let before = query.text("before").and_then(|text| EventId::parse(&text));
    let limit = Paging::read(&query).limit;
    let (guard, id, mut statements) = (context.guard(), context.argument(0), Statements::default());
    let webhook = statements.query::<Webhook>(select(&guard, id));
    let query_limit = limit.saturating_add(1);
    let selected = DeliveryQuery { state, before, limit: query_limit };
    let rows = statements.query::<Delivery>(select_deliveries(&guard, id, selected));
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(statements, move |results, _| {
        results.first(webhook)?.ok_or_else(|| no_webhook(id))?;
        let mut rows = results.all(rows)?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| has_more).map(|row| row.event_id);
        let rows = rows.iter().map(Delivery::to_json).collect::<Result<Vec<_>, _>>();
        let rows = rows.map_err(|error| StorageError::new(format!("a delivery: {error}")))?;
        Ok(cursor_page(&rows, &next))
    }))
}
