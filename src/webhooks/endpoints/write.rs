//! The endpoints that change webhooks without needing their secrets.

use serde::{Deserialize, Serialize};

use super::{check_url, no_webhook, response};
use crate::events::EventId;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::storage::transaction::{ExistingRow, Statements};
use crate::util::json;
use crate::webhooks::Webhook;
use crate::webhooks::statements::{self, Changes, Replay};

/// A replay adds deliveries until a webhook has this many pending ones.
const MAX_REPLAYED: u64 = 1000;

/// `PATCH /v1/webhooks/{id}`
pub fn update<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    let clears = body.is_null("description");
    let url = body.text("url");
    if let Some(url) = &url {
        check_url(&mut body, url, context);
    }
    body.finish()?;
    let description = body.text("description");
    let types = body.texts("types").map(|types| json::text(&types));
    let changes = Changes {
        url: url.as_deref(),
        description: (clears || description.is_some()).then_some(description.as_deref()),
        types: types.as_deref(),
        active: body.boolean("active"),
    };
    let (guard, id) = (context.guard(), context.argument(0));
    let mut batch = Statements::default();
    let update = statements::update(&guard, id, &changes, context.now, context.request_id);
    let webhook = batch.query::<Webhook>(update);
    Ok(Handler::render(batch, move |results, _| {
        let webhook = results.first(webhook)?.ok_or_else(|| no_webhook(id))?;
        response(&webhook, None)
    }))
}

/// `DELETE /v1/webhooks/{id}`
pub fn delete<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let (id, mut batch) = (context.argument(0), Statements::default());
    let deleted = batch.query::<ExistingRow>(statements::delete(&context.guard(), id));
    Ok(Handler::delete(batch, deleted, move || no_webhook(id)))
}

#[derive(Deserialize)]
struct ReplayedEvent {
    id: EventId,
    /// The maximum number of events that the request can replay.
    room: usize,
}

/// The JSON of the response to a replay.
#[derive(Serialize)]
struct ReplayResult {
    queued: usize,
    next: Option<EventId>,
}

/// `POST /v1/webhooks/{id}/replay`
pub fn replay<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    body.finish()?;
    let event = |text: Option<String>| text.and_then(|text| EventId::parse(&text));
    let (from, to) = (event(body.text("from")).unwrap_or_default(), event(body.text("to")));
    let (guard, id, mut batch) = (context.guard(), context.argument(0), Statements::default());
    let webhook = batch.query::<Webhook>(statements::select(&guard, id));
    let replay = Replay { from, to, limit: MAX_REPLAYED };
    let rows = batch.query::<ReplayedEvent>(statements::select_replayed(&guard, id, replay));
    batch.run(statements::replay(&guard, id, replay, context.now));
    Ok(Handler::render(batch, move |results, _| {
        let webhook = results.first(webhook)?.ok_or_else(|| no_webhook(id))?;
        if webhook.active == 0 {
            let detail = "The webhook is not active: enable it first.";
            return Err(Problem::new(Code::WebhookInactive, detail));
        }
        let rows = results.all(rows)?;
        let room = rows.first().map_or(0, |row| row.room);
        if room == 0 && !rows.is_empty() {
            let detail = format!(
                "{MAX_REPLAYED} deliveries of the webhook are pending: replay more when there are fewer."
            );
            let problem = Problem::new(Code::TooManyRequests, detail);
            return Err(Problem { retry_after: Some(60), ..problem });
        }
        let queued =
            ReplayResult { queued: rows.len().min(room), next: rows.get(room).map(|row| row.id) };
        let mut response = Response::json(json::bytes(&queued), NO_STORE);
        response.status = 202;
        Ok(response)
    }))
}
