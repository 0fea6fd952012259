//! `/v1/webhooks`: where events are sent. [`deliver`] sends them.

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

/// The response that shows a webhook, with a secret that was made just now.
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

/// Notes what is wrong with an address that the service must not send anything to.
fn check_url(body: &mut BodyReader, url: &str, context: &Context<'_>) {
    if rules::url(url).is_some() {
        // Its fault is noted already.
    } else if let Err(error) = context.config.targets().check(url) {
        body.invalid(&["url"], error.as_str());
    } else if origin(url) == origin(&context.request.origin) {
        body.invalid(&["url"], "is an address of this service");
    }
}
