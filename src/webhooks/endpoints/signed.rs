//! The endpoints that need the secrets of a webhook: create it, rotate its secret, and send a test
//! event.

use serde::Serialize;

use super::{check_url, no_webhook, response};
use crate::auth::Principal;
use crate::connect::endpoints::{decrypt_error, encrypt_error, missing_vault_keys};
use crate::connections::endpoints::create::internal_missing_field;
use crate::http::context::Context;
use crate::http::endpoint::Keyed;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::ports::{Clock, Db, Ports, Random, first_row};
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::util::json;
use crate::util::rfc3339::rfc3339;
use crate::webhooks::Webhook;
use crate::webhooks::deliver::{Message, send};
use crate::webhooks::rules::MAX_WEBHOOKS;
use crate::webhooks::secret::{Secrets, seal_context};
use crate::webhooks::statements::{self, NewWebhook};

/// The values of a webhook from the request body.
struct WebhookInput {
    url: String,
    description: Option<String>,
    types: String,
    active: bool,
}

/// `POST /v1/webhooks`
pub fn create<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    let url = body.text("url");
    if let Some(url) = &url {
        check_url(&mut body, url, context);
    }
    body.finish()?;
    if context.config().vault_keys.is_empty() {
        return Err(missing_vault_keys());
    }
    let new = WebhookInput {
        url: url.ok_or_else(internal_missing_field)?,
        description: body.text("description"),
        types: json::text(&body.texts("types").unwrap_or_default()),
        active: body.boolean("active").unwrap_or(true),
    };
    Ok(Handler::new(Statements::default(), move |_, principal| async move {
        store_webhook(context, &principal, &new, ports).await
    }))
}

/// `POST /v1/webhooks/{id}/rotate` and `POST /v1/webhooks/{id}/test`
pub fn rotate_or_test<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut statements = Statements::default();
    let select = statements::select(&context.guard(), context.argument(0));
    let webhook = statements.query::<Webhook>(select);
    Ok(Handler::new(statements, move |results, principal| async move {
        let webhook = results.first(webhook)?;
        if context.endpoint == Keyed::RotateWebhook {
            rotate_secret(context, &principal, webhook, ports).await
        } else {
            send_test(context, webhook, ports).await
        }
    }))
}

async fn store_webhook<P: Ports>(
    context: &Context<'_>,
    principal: &Principal,
    new: &WebhookInput,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let id = format!("wh_{}", ports.uuid());
    let secrets = Secrets::new(ports);
    let seal_context = seal_context(&principal.account, principal.environment, &id);
    let sealed =
        secrets.seal(&context.config().vault_keys, &seal_context, ports).map_err(encrypt_error)?;
    let row = NewWebhook {
        id: &id,
        url: &new.url,
        description: new.description.as_deref(),
        types: &new.types,
        active: new.active,
        sealed: &sealed,
        now: context.now,
        request: context.request_id,
    };
    let insert = statements::insert(principal, &row, MAX_WEBHOOKS);
    let sets = ports.batch(vec![insert, statements::select_for_caller(principal, &id)]).await?;
    let Some(webhook) = first_row::<Webhook>(&sets, 1)? else {
        let detail =
            format!("This environment has {MAX_WEBHOOKS} webhooks already, which is the maximum.");
        return Err(Problem::new(Code::WebhookLimit, detail));
    };
    let mut response = response(&webhook, Some(&secrets.current))?;
    response.status = 201;
    response.add("location", context.url_of(Keyed::GetWebhook, &[&id]));
    Ok(response)
}

async fn rotate_secret<P: Ports>(
    context: &Context<'_>,
    principal: &Principal,
    webhook: Option<Webhook>,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let id = context.argument(0);
    let webhook = webhook.ok_or_else(|| no_webhook(id))?;
    let (keys, seal_context) =
        (&context.config().vault_keys, seal_context(&principal.account, principal.environment, id));
    let old = Secrets::open(keys, &seal_context, &webhook.sealed).map_err(decrypt_error)?;
    if old.was_just_rotated(context.now) {
        return response(&webhook, Some(&old.current));
    }
    let new = old.rotated(context.now, ports);
    let sealed = new.seal(keys, &seal_context, ports).map_err(encrypt_error)?;
    let secrets = (webhook.sealed.as_str(), &sealed);
    let rotate = statements::rotate(principal, id, secrets, context.now, context.request_id);
    let sets = ports.batch(vec![rotate, statements::select_for_caller(principal, id)]).await?;
    let webhook = first_row::<Webhook>(&sets, 1)?.ok_or_else(|| no_webhook(id))?;
    if webhook.written_by == context.request_id {
        return response(&webhook, Some(&new.current));
    }
    // Another request has rotated the secret in the meantime.
    let newest = Secrets::open(keys, &seal_context, &webhook.sealed).map_err(decrypt_error)?;
    response(&webhook, Some(&newest.current))
}

/// The JSON of the response to a test.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TestResult<'a> {
    delivered: bool,
    http_status: Option<u16>,
    error: Option<&'a str>,
    duration_ms: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TestEvent<'a> {
    id: &'a str,
    r#type: &'a str,
    occurred_at: Option<String>,
    data: TestData<'a>,
}

#[derive(Serialize)]
struct TestData<'a> {
    webhook: WebhookRef<'a>,
}

#[derive(Serialize)]
struct WebhookRef<'a> {
    id: &'a str,
}

async fn send_test<P: Ports>(
    context: &Context<'_>,
    webhook: Option<Webhook>,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let webhook = webhook.ok_or_else(|| no_webhook(context.argument(0)))?;
    let seal_context = seal_context(&webhook.account, webhook.environment, &webhook.id);
    let keys = &context.config().vault_keys;
    let secrets = Secrets::open(keys, &seal_context, &webhook.sealed).map_err(decrypt_error)?;
    let id = format!("test_{}", ports.uuid());
    let body = json::bytes(&TestEvent {
        id: &id,
        r#type: "webhook.test",
        occurred_at: rfc3339(context.now),
        data: TestData { webhook: WebhookRef { id: &webhook.id } },
    });
    let message = Message { id: &id, body: &body, url: &webhook.url, secrets: &secrets };
    let outcome = send(ports, context.config().targets(), &message).await;
    let tested = TestResult {
        delivered: outcome.is_success(),
        http_status: outcome.status(),
        error: outcome.error(),
        duration_ms: ports.now().saturating_sub(context.now),
    };
    Ok(Response::json(json::bytes(&tested), NO_STORE))
}
