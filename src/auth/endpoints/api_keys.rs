//! `/v1/keys`: the API keys of the caller's tenant.
//!
//! A key can't create a more powerful key: a new key belongs to the same tenant, has a subset of
//! the scopes, and does not expire later.

use crate::auth::api_keys::statements::{NewKey, insert, replace, revoke, select, select_page};
use crate::auth::api_keys::{Key, MAX_KEYS, MAX_ROTATED_KEYS};
use crate::auth::key::ApiKey;
use crate::auth::{Principal, Shard};
use crate::connections::model::ConnectionId;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::paging::{Paging, cursor_page};
use crate::http::problem::{Code, Problem};
use crate::ports::{Db as _, Ports, Random as _};
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::terms::{KeyState, Scopes};
use crate::util::json;
use crate::util::nearest::shown;
use crate::util::rfc3339::{self, rfc3339};

/// `GET /v1/keys`
pub fn list<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let before = query.text("before").and_then(|text| parse_id(&text));
    let limit = Paging::read(&query).limit;
    let mut statements = Statements::default();
    let page = select_page(&context.guard(), before.as_deref(), limit.saturating_add(1));
    let rows = statements.query::<Key>(page);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(statements, move |results, principal| {
        let mut rows = results.all(rows)?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| has_more).map(|key| key.id.as_str());
        let views = rows.iter().map(|key| key.view(&principal.key_id, context.now, None));
        Ok(cursor_page(&views.map(|key| json::bytes(&key)).collect::<Vec<_>>(), &next))
    }))
}

/// `POST /v1/keys`
pub fn create<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &Metered<'_, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    let name = body.text("name");
    let names = body.texts("scopes").unwrap_or_default();
    let scopes: Scopes = names.iter().filter_map(|name| name.parse().ok()).collect();
    let expires_at = body.text("expiresAt").and_then(|text| rfc3339::parse(&text));
    if expires_at.is_some_and(|at| at <= context.now) {
        body.invalid(&["expiresAt"], "must be in the future");
    }
    body.finish()?;
    let (id, key) = (ports.uuid(), generate(context, ports));
    let (guard, now) = (context.guard(), context.now);
    let new = NewKey { id: &id, key: &key, name: name.as_deref(), scopes, expires_at, now };
    let mut statements = Statements::default();
    statements.run(insert(&guard, &new));
    let created = statements.query::<Key>(select(&guard, &id));
    Ok(Handler::render(statements, move |results, principal| {
        if let Some(created) = results.first(created)? {
            return Ok(Response { status: 201, ..with_secret(&created, &key, principal, now) });
        }
        context.ensure_holds(principal.scopes, scopes.iter())?;
        if let (Some(requested), Some(end)) = (expires_at, principal.expires_at)
            && requested > end
        {
            let message = format!(
                "is later than the expiry of the API key that creates it, {}",
                rfc3339(end).unwrap_or_default()
            );
            return Err(body.refuse(&["expiresAt"], &message, None));
        }
        Err(key_limit(MAX_KEYS))
    }))
}

/// `POST /v1/keys/{id}/rotate`
pub fn rotate<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &Metered<'_, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let old_id = key_id(context);
    let (id, key) = (ports.uuid(), generate(context, ports));
    let (guard, now) = (context.guard(), context.now);
    let mut statements = Statements::default();
    for statement in replace(&guard, &old_id, (&id, &key), now) {
        statements.run(statement);
    }
    let created = statements.query::<Key>(select(&guard, &id));
    let old = statements.query::<Key>(select(&guard, &old_id));
    Ok(Handler::render(statements, move |results, principal| {
        if let Some(created) = results.first(created)? {
            return Ok(with_secret(&created, &key, principal, now));
        }
        let old = results.first(old)?.ok_or_else(|| no_key(context))?;
        let fault = match (old.state(now), &old.replaced_by) {
            (KeyState::Active, None) => None,
            (KeyState::Active, Some(by)) => Some(format!("was already replaced by `{by}`")),
            (state, _) => Some(format!("is {}", state.as_str())),
        };
        if let Some(fault) = fault {
            return Err(Problem::new(Code::KeyInactive, format!("The API key {fault}.")));
        }
        context.ensure_holds(principal.scopes, old.scopes().iter())?;
        if !old.has_unknown_scopes() {
            return Err(key_limit(MAX_ROTATED_KEYS));
        }
        Err(Problem::new(Code::KeyInactive, "The API key can't be replaced by this release."))
    }))
}

/// `DELETE /v1/keys/{id}`
pub fn delete<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let (guard, id) = (context.guard(), key_id(context));
    let mut statements = Statements::default();
    // Selects the key before revoking it, because a key that revokes itself can't read afterwards.
    let found = statements.query::<Key>(select(&guard, &id));
    statements.run(revoke(&guard, &id, context.now));
    Ok(Handler::render(statements, move |results, _| {
        results.first(found)?.ok_or_else(|| no_key(context))?;
        Ok(Response::no_content())
    }))
}

fn key_limit(limit: u64) -> Problem {
    let detail =
        format!("This environment already has {limit} valid API keys: revoke unused ones.");
    Problem::new(Code::KeyLimit, detail)
}

/// Parses the UUID of a key in canonical form.
fn parse_id(text: &str) -> Option<String> {
    ConnectionId::parse(text).map(|id| id.as_str().to_owned())
}

/// The id in the path. If it is not a UUID, returns an id that does not exist.
fn key_id(context: &Context<'_>) -> String {
    context.connection_id().as_str().to_owned()
}

fn no_key(context: &Context<'_>) -> Problem {
    let detail = format!("There is no API key with the id `{}`.", shown(context.argument(0)));
    Problem::new(Code::KeyNotFound, detail)
}

/// Generates a key for the caller's environment and shard.
fn generate<P: Ports>(context: &Context<'_>, ports: &Metered<'_, P>) -> ApiKey {
    let shard = Shard::new(ports.number()).unwrap_or_default();
    ApiKey::generate(context.caller.environment(), shard, |bytes| ports.fill(bytes))
}

fn with_secret(created: &Key, key: &ApiKey, principal: &Principal, now: u64) -> Response {
    let document = created.view(&principal.key_id, now, Some(key.reveal()));
    Response::json(json::bytes(&document), NO_STORE)
}
