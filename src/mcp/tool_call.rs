//! Handles tool calls: sends the tool's request to the API, and converts the response to the tool's
//! result.

use serde_json::Value;
use serde_json::value::RawValue;

use super::connection_argument::{add_member, named_platform};
use super::protocol::{
    Text, ToolResult, client_can_open_links, elicit_url, result, resumed_approval, resumed_attempt,
    with_advice, with_connect_url,
};
use super::tools::{
    APPROVAL, ApiRequest, CALL_PLATFORM, DESCRIBE_ACTION, LIST_CONNECTIONS, RUN_ACTION,
    START_CONNECT, Tool, connect_request,
};
use super::{McpCaller, outline};
use crate::agents::SCOPES;
use crate::agents::endpoints::{endpoint_id_at_path, www_authenticate};
use crate::auth::limits::Access;
use crate::catalog::endpoints::respond::platform_not_found;
use crate::catalog::reader::Catalog;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::platform_calls::headers::SOURCE;
use crate::ports::Ports;
use crate::util::case_fold::fold;
use crate::util::collect::by_insertion;
use crate::util::json;

struct ToolCall<'a> {
    id: &'a Value,
    tool: &'a Tool,
    arguments: Value,
    /// The request for the result of the connect attempt whose link the client has shown; an error
    /// if the user declined.
    attempt: Option<Result<ApiRequest, String>>,
    is_latest: bool,
    /// Whether the client can open links itself.
    can_open_links: bool,
}

/// The text of a tool's result, and whether it is an error.
type Outcome = (String, bool);

impl<'a> ToolCall<'a> {
    fn read(id: &'a Value, tool: &'a Tool, params: &Value, is_latest: bool) -> Self {
        let mut arguments = tool.read(params.get("arguments"));
        let approval = resumed_approval(params).filter(|_| is_latest && tool.name == RUN_ACTION);
        if let (Some(id), Some(given)) = (&approval, arguments.as_object_mut()) {
            given.insert(APPROVAL.to_owned(), (*id).into());
        }
        let attempt = resumed_attempt(params).filter(|_| is_latest && approval.is_none());
        let can_open_links = is_latest && client_can_open_links(params);
        Self { id, tool, arguments, attempt, is_latest, can_open_links }
    }

    fn calls_platform(&self) -> bool {
        matches!(self.tool.name, RUN_ACTION | CALL_PLATFORM)
    }

    /// Converts the response of the API to the outcome for the agent.
    fn outcome_from_response(&self, mut response: Response) -> Outcome {
        let body = take_body(&mut response);
        if self.tool.name == DESCRIBE_ACTION && response.status == 200 {
            return describe_result(&body, &self.arguments);
        }
        let text = String::from_utf8(body).unwrap_or_default();
        let is_error =
            response.status >= 400 || self.calls_platform() && CallResult::parse(&text).is_error();
        (text, is_error)
    }

    fn result(&self, (text, is_error): &Outcome) -> Response {
        // Long results are not repeated as structured content.
        let is_long = self.calls_platform() || self.tool.name == DESCRIBE_ACTION;
        let structured = Some(text).filter(|_| *is_error || !is_long);
        let structured: Option<&RawValue> =
            structured.and_then(|text| serde_json::from_str(text).ok());
        let returned = ToolResult {
            result_type: self.is_latest.then_some("complete"),
            content: [Text { r#type: "text", text }],
            structured_content: structured.filter(|json| json.get().starts_with('{')),
            is_error: *is_error,
        };
        result(self.id, &returned)
    }
}

/// Takes the body of a response, which may be cached.
pub(super) fn take_body(response: &mut Response) -> Vec<u8> {
    match response.cached.take() {
        Some(kept) => kept.read(0..kept.size()).unwrap_or_default(),
        None => std::mem::take(&mut response.body),
    }
}

/// The members of a call's result that say whether it is an error for the agent.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct CallResult {
    /// Whether a GraphQL API reports errors.
    failed: bool,
    /// The platform's status.
    status: u16,
}

impl CallResult {
    fn parse(result: &str) -> Self {
        json::from_text(result).unwrap_or_default()
    }

    const fn is_error(&self) -> bool {
        self.failed || self.is_rejected()
    }

    /// Whether the platform rejects the account's credentials.
    const fn is_rejected(&self) -> bool {
        self.status == 401
    }
}

/// The hint of a result with status 401. Until a second attempt to refresh the tokens has failed, a
/// minute after the first, the service does not know whether the access has ended.
const REJECTED: &str = "The platform rejects this account's credentials. Try again after a minute. If it still rejects them, the user may have to connect the account again: call start_connect with the connection's id.";

/// Advice for the agent if something in its arguments does not exist.
fn next_step(response: &Response, arguments: &Value) -> Option<&'static str> {
    if response.status != 404 || response.header(SOURCE) == Some("platform") {
        return None;
    }
    let problem: Value = json::from_bytes(&response.body).ok()?;
    match problem.get("code")?.as_str()? {
        "action_not_found" => Some("search_actions finds what a platform can do."),
        // If a platform was named instead of a connection, the problem already explains how to
        // connect an account.
        "connection_not_found" if named_platform(arguments).is_none() => {
            Some("list_connections returns the connections.")
        }
        _ => None,
    }
}

/// The result of `describe_action`: the outline of an action or an error message, and whether it is
/// an error.
fn describe_result(action: &[u8], arguments: &Value) -> (String, bool) {
    let action: Value = json::from_bytes(action).unwrap_or_default();
    let path = arguments.get("path").and_then(Value::as_str);
    let Some(outline) = outline::outline(&action, path) else {
        let what = "`path` must be a JSON Pointer below the action's `input`, such as a value of `omitted`.";
        return (what.to_owned(), true);
    };
    (outline.to_string(), false)
}

impl<P: Ports> McpCaller<'_, P> {
    pub(super) async fn call(
        &self,
        id: &Value,
        tool: &Tool,
        params: &Value,
        is_latest: bool,
    ) -> Response {
        let mut call = ToolCall::read(id, tool, params, is_latest);
        let outcome = match self.send_requests(&mut call).await {
            Ok(response) => self.outcome(&call, response).await,
            Err(what) => match self.authentication_failure().await {
                Some(authentication_failure) => Err(authentication_failure),
                None => Ok((what, true)),
            },
        };
        match outcome {
            Ok(outcome) => call.result(&outcome),
            Err(response) => response,
        }
    }

    /// Sends the requests of a tool call. Fails with a message if the arguments are invalid.
    async fn send_requests(&self, call: &mut ToolCall<'_>) -> Result<Response, String> {
        let attempt = call.attempt.take();
        match (call.tool.name, attempt) {
            (START_CONNECT, Some(attempt)) => self.send_if_valid(attempt).await,
            (RUN_ACTION | CALL_PLATFORM, Some(attempt)) => {
                self.run_when_connected(attempt, (call.tool, &mut call.arguments)).await
            }
            (RUN_ACTION | CALL_PLATFORM, None) => {
                self.send_call(call.tool, &mut call.arguments, call.can_open_links).await
            }
            _ => self.send_if_valid(call.tool.request(&call.arguments)).await,
        }
    }

    /// Converts the response of the API to the outcome of a call. Fails with a response that is not
    /// a tool result: an authentication error, or a link for the client to open.
    async fn outcome(
        &self,
        call: &ToolCall<'_>,
        mut response: Response,
    ) -> Result<Outcome, Response> {
        if response.status == 401 {
            response.headers.retain(|(name, _)| {
                matches!(*name, "content-type" | "cache-control" | "www-authenticate")
            });
            return Err(response);
        }
        if !self.explain_limits((call.tool.name, &call.arguments), &mut response).await
            && let Some(challenge) = self.explain_access(&mut response)
        {
            return Err(challenge);
        }
        // A caller that requests the result of a call has already seen its link.
        let requests_result = call.arguments.get(APPROVAL).is_some();
        if response.status == 202 && call.can_open_links && !requests_result {
            return Err(result(call.id, &elicit_url(&response.body)));
        }
        if call.tool.name == LIST_CONNECTIONS
            && let Some(problem) = self.unknown_platform(&call.arguments, &response).await
        {
            response.status = 404;
            response.body = problem.to_json(&self.request.origin, &self.ports.uuid());
        }
        if call.calls_platform()
            && response.header(SOURCE) == Some("platform")
            && CallResult::parse(str::from_utf8(&response.body).unwrap_or_default()).is_rejected()
        {
            add_member(&mut response.body, "hint", &REJECTED.into());
        }
        // Only these statuses can mean that an account must be connected.
        if call.calls_platform()
            && matches!(response.status, 404 | 409)
            && let Some(started) = self.start_connect(&call.arguments, &response).await
        {
            if call.can_open_links {
                return Err(result(call.id, &elicit_url(&started)));
            }
            response.body = with_connect_url(&response.body, &started);
        }
        if let Some(advice) = next_step(&response, &call.arguments) {
            response.body = with_advice(&response.body, advice);
        }
        Ok(call.outcome_from_response(response))
    }

    /// Handles a write that was refused because the agent may only read. If the client has not
    /// requested write access, returns a challenge, so that the client requests it from its user
    /// (RFC 6750, section 3.1). Otherwise the user has already decided, and a challenge would only
    /// open the browser again; so the error remains, with advice for the user.
    fn explain_access(&self, response: &mut Response) -> Option<Response> {
        if response.status != 403 || response.header(SOURCE) == Some("platform") {
            return None;
        }
        let caller = self.service.caller(self.request).ok()?;
        let (grant, limits) = (caller.grant()?, caller.limits());
        let base = self.service.config().base_url.as_deref()?;
        let id = endpoint_id_at_path(&self.request.path)?;
        // The user can't grant actions that the app did not select.
        if limits.access == Access::Write || limits.actions.is_some() {
            return None;
        }
        if !grant.can_request_more {
            let how = self.how_to_allow_more(&caller)?;
            let advice = format!("The agent may only read. {how}");
            response.body = with_advice(&response.body, &advice);
            return None;
        }
        let mut challenge = Response { body: response.body.clone(), ..Response::empty(403) };
        challenge.add("content-type", "application/problem+json");
        challenge.add("cache-control", NO_STORE);
        let error = Some(("insufficient_scope", SCOPES));
        challenge.add("www-authenticate", www_authenticate(base, id, error));
        Some(challenge)
    }

    /// The problem if no connection was found because the catalog does not contain the platform.
    /// Returns `None` if it does.
    pub(super) async fn unknown_platform(
        &self,
        arguments: &Value,
        listed: &Response,
    ) -> Option<Problem> {
        let platform = fold(arguments.get("platform")?.as_str()?);
        let list: Value = json::from_bytes(&listed.body).ok()?;
        if listed.status != 200 || list.get("total")?.as_u64()? > 0 {
            return None;
        }
        let catalog = Catalog::open(self.service.catalog(), self.ports).await.ok()?;
        if catalog.connector(&platform).await.ok()?.is_some() {
            return None;
        }
        let known = catalog.platforms().await.ok()?;
        let caller = self.service.caller(self.request).ok()?;
        Some(platform_not_found(&platform, &known, caller.platforms()))
    }

    /// Runs an action after its connect attempt has succeeded. Before that, returns the state of
    /// the attempt.
    async fn run_when_connected(
        &self,
        attempt: Result<ApiRequest, String>,
        (tool, arguments): (&Tool, &mut Value),
    ) -> Result<Response, String> {
        let (attempt, _) = (attempt?, tool.request(arguments)?);
        let attempt_response = self.send(attempt).await;
        let status: Value = json::from_bytes(&attempt_response.body).unwrap_or_default();
        let is_connected = status.get("status").and_then(Value::as_str) == Some("succeeded");
        if !is_connected {
            return Ok(attempt_response);
        }
        match status.get("connection").filter(|_| named_platform(arguments).is_some()) {
            Some(connection) => self.send_as(connection, (tool, arguments)).await,
            None => self.send_if_valid(tool.request(arguments)).await,
        }
    }

    /// Sends the request of a platform call. If `connection` is the name of a platform, uses its
    /// only connection.
    async fn send_call(
        &self,
        tool: &Tool,
        arguments: &mut Value,
        can_open_links: bool,
    ) -> Result<Response, String> {
        // Report other invalid arguments before resolving the connection.
        tool.request(arguments)?;
        if let Some(platform) = named_platform(arguments) {
            let key =
                arguments.get("key").and_then(Value::as_str).filter(|_| tool.name == RUN_ACTION);
            return match self.only_connection(&platform, key, can_open_links).await {
                Ok(connection) => self.send_as(&connection, (tool, arguments)).await,
                Err(response) => Ok(response),
            };
        }
        self.send_if_valid(tool.request(arguments)).await
    }

    /// Starts a connect attempt for the account that an action needs, and returns its JSON. Returns
    /// `None` if the action failed for another reason, the caller lacks the permission, or no page
    /// can be opened.
    async fn start_connect(&self, arguments: &Value, refused: &Response) -> Option<Vec<u8>> {
        let problem: Value = json::from_bytes(&refused.body).ok()?;
        let code = problem.get("code")?.as_str()?;
        if !matches!(code, "credentials_not_found" | "connection_failed") {
            return None;
        }
        let connection = ("connection".to_owned(), arguments.get("connection")?.clone());
        let started = self.send(connect_request(by_insertion([connection]))).await;
        (started.status == 202).then_some(started.body)
    }
}
