//! `/v1/agent-grants`: the grants of agents. The account's own app creates a grant after it has
//! authenticated the user.

use serde::Deserialize;
use serde_json::json;

use super::sign_in::no_base_url;
use crate::agents::Access;
use crate::agents::approval;
use crate::agents::grant::Grant;
use crate::agents::request::{AgentRequest, Purpose};
use crate::agents::sign_in::{Endpoint, endpoint_url};
use crate::agents::statements::{self, CONTINUE_URL_LIFETIME_MS, NewGrant};
use crate::agents::user_grants::SignedInUser;
use crate::auth::endpoints::session::new::{lower_case_ids, no_session_secret};
use crate::auth::key::hash;
use crate::auth::limits::platforms_in_actions;
use crate::connections::model::ConnectionId;
use crate::http::body::{BodyReader, refusal};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::paging::{Paging, cursor_page};
use crate::http::problem::{Code, Problem};
use crate::ports::{Ports, Random as _};
use crate::storage::metering::Metered;
use crate::storage::transaction::{ExistingRow, Statements};
use crate::terms::IdentityType;
use crate::util::json;
use crate::util::name_set::Names;
use crate::util::rfc3339::rfc3339;

/// `GET /v1/agent-grants`
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
    let mut statements = Statements::default();
    let rows = statements.query::<Grant>(select);
    let endpoint = statements.query::<Endpoint>(statements::select_for_caller(&context.guard()));
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Handler::render(statements, move |results, _| {
        let mut rows = results.all(rows)?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| has_more).map(|row| row.id.as_str());
        let confirm = results.first(endpoint)?.and_then(|endpoint| endpoint.confirm);
        let rows: Vec<_> = rows.iter().map(|grant| grant.to_json(confirm)).collect();
        Ok(cursor_page(&rows, &next))
    }))
}

/// `DELETE /v1/agent-grants/{id}`
pub fn delete<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let id = context.connection_id();
    let mut statements = Statements::default();
    let deleted =
        statements.query::<ExistingRow>(statements::delete_grant(&context.guard(), id.as_str()));
    Ok(Handler::delete(statements, deleted, move || {
        Problem::new(Code::AgentGrantNotFound, "There is no such grant.")
    }))
}

/// `POST /v1/agent-grants`
pub fn create<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &Metered<'_, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    let (platforms, actions) = read_platforms_and_actions(&mut body);
    body.finish()?;
    context.ensure_person_holds(Access::Write.scopes())?;
    let (secrets, now) = (&context.config().sessions, context.now);
    let base = context.config().base_url.as_deref().ok_or_else(no_base_url)?;
    if !secrets.can_sign() {
        return Err(no_session_secret());
    }
    let text = body.text("request").unwrap_or_default();
    let request = AgentRequest::verify(secrets, &text, now);
    let request = request.ok_or_else(|| refusal(&["request"], INVALID_REQUEST))?;
    let identity = body.text("identity").unwrap_or_default();
    let identity_type = body.text("identityType").and_then(|text| text.parse().ok());
    let (guard, id, secret) = (context.guard(), ports.uuid(), ports.secret());
    let secret_hash = hash(&secret);
    let insert = match &request.purpose {
        Purpose::Grants { .. } => {
            let user = (identity, identity_type);
            return Ok(continue_to_own_grants(context, request, user, base));
        }
        // The user has opened the link of an approval.
        Purpose::Approval { id } => {
            let approval = (request.endpoint.as_str(), id.as_str());
            let user = (identity.as_str(), identity_type);
            let secrets = (secret_hash.as_str(), request.browser_hash.as_str());
            approval::authenticate_by_app(&guard, approval, user, secrets, now)
        }
        Purpose::Access(requested) => {
            let access = body.text("access").and_then(|name| name.parse().ok());
            let connections = body.texts("connections").map(|ids| lower_case_ids(&ids));
            let new = NewGrant {
                id: &id,
                request: &request,
                access_request: requested,
                identity: &identity,
                identity_type,
                platforms: platforms.as_ref().map(Names::as_str),
                // The app can reduce the access that the agent requested, and the user can reduce
                // it further.
                access: if access == Some(Access::Read) { Access::Read } else { requested.access },
                actions: actions.as_ref().map(Names::as_str),
                connections: connections.as_ref().map(Names::as_str),
                confirm: body.text("confirm").and_then(|name| name.parse().ok()),
                secret_hash: &secret_hash,
                claimed_by: context.request_id,
                now,
            };
            new.insert_by_app(&guard)
        }
    };
    let mut statements = Statements::default();
    let select = statements::select_app_endpoint(&guard, &request.endpoint);
    let own_endpoint = statements.query::<ExistingRow>(select);
    let created = statements.query::<ExistingRow>(insert);
    statements.run(statements::prune(now));
    let endpoint_url = endpoint_url(base, &request.endpoint);
    // With the id of an approval that is no longer pending, the page says so.
    let approval = match &request.purpose {
        Purpose::Approval { id } => Some(format!("&approval={id}")),
        _ => None,
    };
    Ok(Handler::render(statements, move |results, _| {
        if results.first(created)?.is_none() {
            results.first(own_endpoint)?.ok_or_else(wrong_endpoint_problem)?;
            if approval.is_none() {
                return Err(too_many_requests());
            }
        }
        let approval = approval.unwrap_or_default();
        Ok(continue_response(&format!("{endpoint_url}/continue?grant={secret}{approval}"), now))
    }))
}

fn continue_response(url: &str, now: u64) -> Response {
    let expires_at = rfc3339(now.saturating_add(CONTINUE_URL_LIFETIME_MS));
    let document = json!({"continueUrl": url, "expiresAt": expires_at});
    let response = Response::json(json::bytes(&document), NO_STORE);
    Response { status: 201, ..response }
}

#[derive(Deserialize)]
struct AppEndpoint {
    updated_at: u64,
}

/// Returns the URL of the page with the user's grants. Does not store anything.
fn continue_to_own_grants<'a>(
    context: &'a Context<'a>,
    request: AgentRequest,
    (identity, identity_type): (String, Option<IdentityType>),
    base: &str,
) -> Handler<'a> {
    let endpoint_url = endpoint_url(base, &request.endpoint);
    let mut statements = Statements::default();
    let select = statements::select_app_endpoint(&context.guard(), &request.endpoint);
    let endpoint = statements.query::<AppEndpoint>(select);
    Handler::render(statements, move |results, _| {
        let endpoint = results.first(endpoint)?.ok_or_else(wrong_endpoint_problem)?;
        let user = SignedInUser {
            endpoint: request.endpoint,
            identity,
            identity_type,
            browser_hash: request.browser_hash,
            configured_at: endpoint.updated_at,
            expires_at: context.now.saturating_add(CONTINUE_URL_LIFETIME_MS),
        };
        let signed = user.sign(&context.config().sessions).ok_or_else(no_session_secret)?;
        Ok(continue_response(&format!("{endpoint_url}/continue?grant={signed}"), context.now))
    })
}

/// Reads `platforms` and `actions`. Limiting a grant to actions also limits it to their platforms.
fn read_platforms_and_actions(body: &mut BodyReader) -> (Option<Names>, Option<Names>) {
    let without_indexes =
        |items: Vec<(usize, String)>| items.into_iter().map(|(_, text)| text).collect();
    let platforms: Vec<String> = without_indexes(body.indexed_texts("platforms"));
    let actions = Names::new(&without_indexes(body.indexed_texts("actions")));
    if actions == Names::default() {
        return ((!platforms.is_empty()).then(|| Names::new(&platforms)), None);
    }
    if actions.as_str().len() > MAX_ACTIONS_TEXT {
        let message = format!("must be at most {MAX_ACTIONS_TEXT} characters in total");
        body.invalid(&["actions"], &message);
    }
    let action_platforms = platforms_in_actions(&actions);
    let is_outside = |platform: &&String| !platforms.is_empty() && !platforms.contains(platform);
    if let Some(platform) = action_platforms.iter().find(is_outside) {
        let message = format!("name the platform `{platform}`, which `platforms` does not include");
        body.invalid(&["actions"], &message);
    }
    (Some(Names::new(&action_platforms)), Some(actions))
}

/// The maximum length of a grant's actions, in characters. Each access token contains them.
const MAX_ACTIONS_TEXT: usize = 4500;

/// The error if too many of the user's requests wait for consent.
fn too_many_requests() -> Problem {
    let detail = "Too many requests of agents wait for this user's consent. The user can decide about them, or wait until they expire after 10 minutes.";
    Problem { retry_after: Some(600), ..Problem::new(Code::TooManyRequests, detail) }
}

const INVALID_REQUEST: &str = "is not a request that an agent made here within the last 10 minutes: send the parameter `request` of the user's visit to your app, unchanged";

/// The error if the request is for another account, or if users do not sign in at an app.
fn wrong_endpoint_problem() -> Problem {
    let message =
        "is not for this account and environment, or its sign-in is not of the type `app`";
    refusal(&["request"], message)
}
