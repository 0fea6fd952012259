//! `/v1/agent-grants`: what users granted to agents, and who the users are whom the account's own app authenticates.

use serde::Deserialize;
use serde_json::json;

use super::sign_in::no_base_url;
use crate::agents::approval;
use crate::agents::grant::Grant;
use crate::agents::request::AgentRequest;
use crate::agents::sign_in::address;
use crate::agents::statements::{self, CONTINUE_MS, NewGrant};
use crate::agents::{Access, Confirm, hash};
use crate::auth::endpoints::session::new::{lower, no_secret};
use crate::auth::limits::platforms_of;
use crate::connections::model::ConnectionId;
use crate::http::body::{BodyReader, refusal};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::paging::Paging;
use crate::http::problem::{Code, Problem};
use crate::ports::{Ports, Random as _};
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::util::json;
use crate::util::name_set::Names;
use crate::util::rfc3339::rfc3339;

/// `GET /v1/agent-grants`
///
/// # Errors
/// With all faults of the query.
pub fn list<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let (identity, before) = (query.text("identity"), query.text("before"));
    let before = before.and_then(|text| ConnectionId::parse(&text));
    let limit = Paging::read(&query).limit;
    let select = statements::select_grants(
        &context.guard(),
        identity.as_deref(),
        before.as_ref().map(ConnectionId::as_str),
        context.now,
        limit.saturating_add(1),
    );
    let mut asked = Statements::default();
    let rows = asked.ask::<Grant>(select);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(asked, move |results, _| {
        let mut rows = results.all(rows)?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| has_more).map(|row| row.id.as_str());
        let end = format!("],\"next\":{}}}", json::text(&next));
        let rows: Vec<Vec<u8>> = rows.iter().map(Grant::to_json).collect();
        let page = [b"{\"rows\":[".as_slice(), &rows.join(&b','), end.as_bytes()].concat();
        Ok(Response::json(page, NO_STORE))
    }))
}

/// A row of which only its existence matters.
#[derive(Deserialize)]
struct Id {}

/// `DELETE /v1/agent-grants/{id}`
///
/// # Errors
/// When the request has a query.
pub fn delete<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.no_query()?;
    let id = ConnectionId::parse(context.argument(0)).unwrap_or_default();
    let mut asked = Statements::default();
    let deleted = asked.ask::<Id>(statements::delete_grant(&context.guard(), id.as_str()));
    Ok(Handler::render(asked, move |results, _| {
        if results.first(deleted)?.is_none() && !results.repeated {
            return Err(Problem::new(Code::AgentGrantNotFound, "There is no such grant."));
        }
        Ok(Response::no_content())
    }))
}

/// `POST /v1/agent-grants`
///
/// # Errors
/// With all faults of the body.
pub fn create<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &Metered<'_, P>,
) -> Result<Handler<'a>, Problem> {
    context.no_query()?;
    let mut body = context.body()?;
    let (platforms, actions) = reach(&mut body);
    body.finish()?;
    let (secrets, now) = (&context.config.sessions, context.now);
    let base = context.config.base_url.as_deref().ok_or_else(no_base_url)?;
    if !secrets.can_sign() {
        return Err(no_secret());
    }
    let text = body.text("request").unwrap_or_default();
    let request = AgentRequest::verify(secrets, &text, now);
    let request = request.ok_or_else(|| refusal(&["request"], NO_REQUEST))?;
    context.ensure_capacity()?;
    let identity = body.text("identity").unwrap_or_default();
    let connections = body.texts("connections").map(|ids| lower(&ids));
    let access = body.text("access").and_then(|name| Access::parse(&name));
    // The app may grant less than the agent asks for, and so may the user after it.
    let access = if access == Some(Access::Read) { Access::Read } else { request.access };
    let (id, secret) = (ports.uuid(), ports.secret());
    let new = NewGrant {
        id: &id,
        request: &request,
        identity: &identity,
        identity_type: body.text("identityType").and_then(|text| text.parse().ok()),
        platforms: platforms.as_ref().map(Names::as_str),
        access,
        actions: actions.as_ref().map(Names::as_str),
        connections: connections.as_ref().map(Names::as_str),
        confirm: body.text("confirm").and_then(|name| Confirm::parse(&name)),
        secret_hash: &hash(&secret),
        claimed_by: context.request_id,
        now,
    };
    let mut asked = Statements::default();
    let created = match &request.approval {
        // The user has followed the link of a call that waits for them.
        Some(waiting) => {
            let place = (request.endpoint.as_str(), waiting.as_str());
            let who = (new.identity, new.identity_type);
            let secrets = (new.secret_hash, request.browser_hash.as_str());
            asked.ask::<Id>(approval::send_by_app(&context.guard(), place, who, secrets, now))
        }
        None => asked.ask::<Id>(new.by_app(&context.guard())),
    };
    asked.run(statements::prune(now));
    let url = format!("{}/continue?grant={secret}", address(base, &request.endpoint));
    Ok(Handler::render(asked, move |results, _| {
        results.first(created)?.ok_or_else(refused)?;
        let expires_at = rfc3339(now.saturating_add(CONTINUE_MS));
        let document = json!({"continueUrl": url, "expiresAt": expires_at});
        let response = Response::json(json::bytes(&document), NO_STORE);
        Ok(Response { status: 201, ..response })
    }))
}

/// The platforms and the actions that the body names. Returns `None` for what it does not name. A grant that is limited to actions
/// is restricted to their platforms, too.
fn reach(body: &mut BodyReader) -> (Option<Names>, Option<Names>) {
    let all = |sent: Vec<(usize, String)>| sent.into_iter().map(|(_, text)| text).collect();
    let platforms: Vec<String> = all(body.texts_at("platforms"));
    let actions = Names::new(&all(body.texts_at("actions")));
    if actions == Names::default() {
        return ((!platforms.is_empty()).then(|| Names::new(&platforms)), None);
    }
    if actions.as_str().len() > MAX_ACTIONS_TEXT {
        let what = format!("must be at most {MAX_ACTIONS_TEXT} characters together");
        body.invalid(&["actions"], &what);
    }
    let own = platforms_of(&actions);
    if let Some(other) = own.iter().find(|own| !platforms.is_empty() && !platforms.contains(own)) {
        let what = format!("name the platform `{other}`, which `platforms` does not");
        body.invalid(&["actions"], &what);
    }
    (Some(Names::new(&own)), Some(actions))
}

/// The most characters of all actions to which a grant is limited: each access token names them.
const MAX_ACTIONS_TEXT: usize = 4500;

const NO_REQUEST: &str = "is not a request that an agent made here within the last 10 minutes: send the parameter `request` with which the user came to your app, unchanged";

/// The request is for another account, or the app does not authenticate its users.
fn refused() -> Problem {
    let what = "is not for this account and environment, or its sign-in is not of the type `app`";
    refusal(&["request"], what)
}
