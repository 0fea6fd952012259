//! The API endpoints of webhooks. [`deliver`](crate::webhooks::deliver) sends events to them.

pub mod read;
pub mod signed;
pub mod write;

use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::ports::StorageError;
use crate::targets::origin;
use crate::util::nearest::shown;
use crate::webhooks::{Webhook, rules};

/// Renders a webhook. `secret` is set only if it was just generated.
fn response(webhook: &Webhook, secret: Option<&str>) -> Result<Response, Problem> {
    Ok(Response::json(document(webhook, secret)?, NO_STORE))
}

fn document(webhook: &Webhook, secret: Option<&str>) -> Result<Vec<u8>, StorageError> {
    webhook
        .to_json(secret)
        .map_err(|error| StorageError::new(format!("{} is damaged: {error}", webhook.id)))
}

fn no_webhook(id: &str) -> Problem {
    Problem::new(Code::WebhookNotFound, format!("There is no webhook `{}`.", shown(id)))
}

/// Reports a URL to which the service must not send requests.
fn check_url(body: &mut BodyReader, url: &str, context: &Context<'_>) {
    if rules::url(url).is_some() {
        // A malformed URL has already been reported.
    } else if let Err(error) = context.config().targets().check(url) {
        body.invalid(&["url"], error.as_str());
    } else if origin(url) == origin(&context.request.origin) {
        body.invalid(&["url"], "is an address of this service");
    }
}
