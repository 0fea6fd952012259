//! Calls by agents that need the user's approval. The agent first gets a status, and requests the
//! result later.

use serde::Serialize;
use serde_json::{Value, json};

use crate::agents::approval::{
    self, Approval, LIFETIME_MS, MAX_DECIDED, MAX_PENDING, MAX_RESPONSE_BYTES, NewApproval, State,
    decode_response, seal_context,
};
use crate::agents::sign_in::Endpoint;
use crate::agents::statements::select_for_caller;
use crate::auth::Principal;
use crate::auth::confirm::Confirm;
use crate::auth::endpoints::session::new::no_session_secret;
use crate::connect::endpoints::{decrypt_error, encrypt_error};
use crate::connections::model::ConnectionId;
use crate::http::context::Context;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::http::wait::{USER_PAUSE_MS, Wait};
use crate::platform_calls::budget::AGENT_BYTES;
use crate::platform_calls::headers::AGENT;
use crate::ports::{Clock as _, Db as _, Ports, Random as _, first_row};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Rows, Statements};
use crate::terms::Method;
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// The time that an agent's request waits for the user's decision, in milliseconds.
const WAIT_MS: u32 = 25_000;

/// An agent's request for the result of a call.
#[derive(Debug)]
pub struct RequestedApproval {
    id: ConnectionId,
    owner: String,
    row: Rows<Approval>,
}

/// The status of a pending call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApprovalView<'a> {
    id: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    expires_at: Option<String>,
    hint: &'static str,
}

const PENDING: &str = "Nothing was done yet. Give the user this link to approve or decline the call. Then call run_action again with the same connection and key, and this id as `approval`, which waits for the user and returns the result.";
const ONLY_AGENTS: &str = "The token's user must approve this call. Only agents can request that: call the tool `run_action` at `POST /mcp`.";
const NO_SIGN_IN: &str = "The token's user must approve this call, but can't sign in to do so: the sign-in for agents is disabled. Nothing was done.";
const RUNNING: &str =
    "The user has approved the call, and it is running. Call again for the result.";
const DECLINED: &str = "The user has declined the call. Nothing was done. Do not try it again unless the user asks for it.";

impl RequestedApproval {
    /// Parses the id of the call whose result an agent requests. Returns `None` when the agent runs an action.
    pub fn parse(context: &Context<'_>, statements: &mut Statements) -> Option<Self> {
        let agent_header: Value = serde_json::from_str(context.request.header(AGENT)?).ok()?;
        let id = agent_header.get("approval")?.as_str()?;
        let id = ConnectionId::parse(id).unwrap_or_default();
        let owner = context.caller.token().map(approval::approval_owner).unwrap_or_default();
        let select = approval::select_for_owner(&owner, id.as_str(), context.now);
        Some(Self { row: statements.query(select), id, owner })
    }

    /// Returns the call's response once it has run, and its status before then.
    pub async fn respond<P: Ports>(
        self,
        context: &Context<'_>,
        (connection, key): (&str, &str),
        results: &Results,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let mut found = results.first(self.row)?;
        let mut wait = Wait::new(USER_PAUSE_MS, WAIT_MS);
        loop {
            let is_own =
                |found: &Approval| found.connection_id == connection && found.action == key;
            let Some(row) = found.filter(is_own) else { return Err(no_such_approval()) };
            match row.state {
                State::Done => {
                    let keys = &context.config().vault_keys;
                    let plain =
                        keys.open(&row.seal_context(), &row.sealed).map_err(decrypt_error)?;
                    let damaged = || Problem::unavailable("a stored response is damaged");
                    let (status, body) = decode_response(&plain).ok_or_else(damaged)?;
                    return Ok(Response { status, ..Response::json(body, NO_STORE) });
                }
                State::Declined => return Ok(render_status(context, &row, "declined", DECLINED)),
                State::Download | State::Connect => return Err(no_such_approval()),
                State::Pending | State::Approved if wait.pause(ports).await => {
                    let (owner, id) = (self.owner.as_str(), self.id.as_str());
                    let select = approval::select_for_owner(owner, id, ports.now());
                    found = first_row(&ports.batch(vec![select]).await?, 0)?;
                }
                State::Pending => return Ok(render_status(context, &row, "pending", PENDING)),
                State::Approved => return Ok(render_status(context, &row, "running", RUNNING)),
            }
        }
    }
}

fn no_such_approval() -> Problem {
    let message = "There is no such approval, or it has expired. If the user approved the call, it may have run: check its effect before you run the action again.";
    Problem::new(Code::InvalidBody, message)
}

/// Renders the status of a call.
fn render_status(
    context: &Context<'_>,
    row: &Approval,
    status: &'static str,
    hint: &'static str,
) -> Response {
    let waits = row.state == State::Pending;
    let view = ApprovalView {
        id: &row.id,
        status,
        url: url(context, row).filter(|_| waits),
        expires_at: rfc3339(row.expires_at),
        hint,
    };
    let response = Response::json(json::bytes(&json!({"approval": view})), NO_STORE);
    Response { status: if row.state == State::Declined { 200 } else { 202 }, ..response }
}

/// The link to the page on which the user decides.
fn url(context: &Context<'_>, row: &Approval) -> Option<String> {
    let base = context.config().base_url.as_deref()?;
    Some(format!("{base}/mcp/{}/approval?id={}", row.endpoint, row.id))
}

/// A call that needs approval.
pub struct ApprovalRequest<'a> {
    pub connection: &'a str,
    /// The action's key.
    pub key: &'a str,
    /// The title of the action.
    pub title: &'a str,
    pub method: Method,
    /// The input, already validated.
    pub input: &'a [u8],
    /// The `select` of the agent's request.
    pub select: &'a [String],
    /// The `maxBytes` of the agent's request.
    pub max_bytes: Option<usize>,
}

/// Whether an action needs the user's approval. `overriding` are the HTTP methods that its input
/// selects instead of its own. The sign-in's current setting applies to the calls of agents, but not
/// to an approved call, which the service sends itself.
pub fn is_needed(
    context: &Context<'_>,
    principal: &Principal,
    (method, overriding): (Method, &[String]),
    key: &str,
    title: &str,
) -> bool {
    let mut methods = overriding.iter().map(String::as_str).chain([method.as_str()]);
    let current = principal.confirm.filter(|_| context.request.header(AGENT).is_some());
    let confirm = Confirm::stricter(context.caller.limits().confirm, current);
    confirm.is_some_and(|confirm| methods.any(|method| confirm.needs_approval(method, key, title)))
}

/// Stores a call until the user decides, and returns the link to the decision.
pub async fn request_approval<P: Ports>(
    context: &Context<'_>,
    principal: &Principal,
    request: &ApprovalRequest<'_>,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    // Only a token can require approvals.
    let token = context.caller.token().ok_or_else(Problem::route_not_found)?;
    if context.request.header(AGENT).is_none() {
        return Err(Problem::limits_exceeded(ONLY_AGENTS.to_owned()));
    }
    context.ensure_capacity()?;
    let mut body: Value = json::from_bytes(request.input).unwrap_or_default();
    if let Some(members) = body.as_object_mut() {
        if !request.select.is_empty() {
            members.insert("select".to_owned(), json!(request.select));
        }
        let max = request.max_bytes.and_then(|max| u64::try_from(max).ok()).unwrap_or(AGENT_BYTES);
        let max = max.min(u64::try_from(MAX_RESPONSE_BYTES).unwrap_or(AGENT_BYTES));
        members.insert("maxBytes".to_owned(), max.into());
    }
    let mut plain = json::bytes(&body);
    let mut expires_at = context.now.saturating_add(LIFETIME_MS);
    if token.grant.is_none() {
        let call_token =
            token.clone().for_call(request.connection, token.limits.access, expires_at);
        expires_at = call_token.expires_at;
        let signed_token =
            context.config().sessions.sign(&call_token).ok_or_else(no_session_secret)?;
        plain = [signed_token.as_bytes(), b"\n", &plain].concat();
    }
    let id = ports.uuid();
    let seal_context = seal_context(&principal.account, principal.environment, &id);
    let sealed = context.config().vault_keys.seal(&seal_context, &plain, ports);
    let sealed = sealed.map_err(encrypt_error)?;
    let new = NewApproval {
        id: &id,
        token,
        connection_id: request.connection,
        action: request.key,
        title: request.title,
        method: request.method,
        sealed: &sealed,
        now: context.now,
        expires_at,
    };
    let owner = approval::approval_owner(token);
    let batch = vec![new.insert(), approval::select_for_owner(&owner, &id, context.now)];
    let Some(row) = first_row::<Approval>(&ports.batch(batch).await?, 1)? else {
        return Err(not_stored(context, ports).await?);
    };
    Ok(render_status(context, &row, "pending", PENDING))
}

/// The reason why a call was not stored.
async fn not_stored<P: Ports>(
    context: &Context<'_>,
    ports: &Metered<'_, P>,
) -> Result<Problem, Problem> {
    let sets = ports.batch(vec![select_for_caller(&context.guard())]).await?;
    let endpoint = first_row::<Endpoint>(&sets, 0)?;
    if endpoint.is_none_or(|endpoint| endpoint.r#type.is_none()) {
        return Ok(Problem::limits_exceeded(NO_SIGN_IN.to_owned()));
    }
    let detail = format!(
        "Of this agent's calls, at most {MAX_PENDING} wait for the user's approval, and at most {MAX_DECIDED} that the user has decided about are kept, for ten minutes each. Ask the user to decide, or try again later."
    );
    let wait = LIFETIME_MS.checked_div(1000).and_then(|wait| u32::try_from(wait).ok());
    Ok(Problem { retry_after: wait, ..Problem::new(Code::TooManyRequests, detail) })
}
