//! Resolves the argument `connection` of a tool if it is the name of a platform. If one account is
//! connected, uses it. If several are, returns a list for the agent to choose from. If none is,
//! returns a link for connecting one.

use serde_json::{Value, json};

use super::McpCaller;
use super::protocol::with_connect_url;
use super::tools::{LIST_CONNECTIONS, TOOLS, connect_request, describe_request};
use crate::catalog::key::platform as is_no_platform;
use crate::connections::model::ConnectionId;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::ports::Ports;
use crate::util::case_fold::fold;
use crate::util::collect::by_insertion;
use crate::util::json;

const CONNECTION: &str = "connection";
/// The maximum number of accounts in the list for an agent.
const MAX_CANDIDATES: u64 = 20;
const HINT: &str = "Nothing was done: several accounts are connected. Ask the user which one, unless it is clear, and call again with its `id` as `connection`.";

/// The platform name in the argument `connection`, if it is not a connection id.
pub(super) fn named_platform(arguments: &Value) -> Option<String> {
    let name = fold(arguments.get(CONNECTION)?.as_str()?);
    let is_platform = ConnectionId::parse(&name).is_none() && is_no_platform(&name).is_none();
    is_platform.then_some(name)
}

pub(super) fn set_connection(arguments: &mut Value, id: &str) {
    if let Some(given) = arguments.as_object_mut() {
        given.insert(CONNECTION.to_owned(), id.into());
    }
}

impl<P: Ports> McpCaller<'_, P> {
    /// The id of the platform's only connection. If there are none or several, returns the response
    /// for the agent. `key` is the action to run. `can_open_links` is whether the client can open
    /// links itself.
    pub(super) async fn only_connection(
        &self,
        platform: &str,
        key: Option<&str>,
        can_open_links: bool,
    ) -> Result<String, Response> {
        let tool = TOOLS.iter().find(|tool| tool.name == LIST_CONNECTIONS);
        let arguments = json!({"platform": platform, "limit": MAX_CANDIDATES});
        let Some(Ok(request)) = tool.map(|tool| tool.request(&arguments)) else {
            return Err(Response::empty(404));
        };
        let listed = self.send(request).await;
        let list: Value = json::from_bytes(&listed.body).unwrap_or_default();
        let rows = list.get("rows").and_then(Value::as_array);
        let Some(rows) = rows.filter(|_| listed.status == 200) else { return Err(listed) };
        match rows.as_slice() {
            [] => {
                if let Some(unknown) = self.unknown_action(platform, key).await {
                    return Err(unknown);
                }
                Err(self.start_first_connect(platform, &arguments, &listed, can_open_links).await)
            }
            [only] => {
                let id = only.get("id").and_then(Value::as_str);
                id.map(str::to_owned).ok_or(listed)
            }
            several => {
                let choice = json!({"candidates": several, "hint": HINT});
                Err(Response::json(json::bytes(&choice), NO_STORE))
            }
        }
    }

    /// The response if the platform does not have the action. Checked first, because connecting an
    /// account would not help.
    async fn unknown_action(&self, platform: &str, key: Option<&str>) -> Option<Response> {
        let described = self.send(describe_request(platform, key?)).await;
        let problem: Value = json::from_bytes(&described.body).ok()?;
        let is_unknown = problem.get("code").is_some_and(|code| code == "action_not_found");
        is_unknown.then_some(described)
    }

    /// Starts a connect attempt for the platform's first account.
    async fn start_first_connect(
        &self,
        platform: &str,
        arguments: &Value,
        listed: &Response,
        can_open_links: bool,
    ) -> Response {
        let as_json = |problem: &Problem| problem.to_json(&self.request.origin, &self.ports.uuid());
        if let Some(mut problem) = self.unknown_platform(arguments, listed).await {
            let detail = &problem.detail;
            problem.detail =
                format!("`{CONNECTION}` must be the id of a connection, or a platform. {detail}")
                    .into();
            return Response { status: 404, ..Response::json(as_json(&problem), NO_STORE) };
        }
        let named = ("platform".to_owned(), Value::from(platform));
        let started = self.send(connect_request(by_insertion([named]))).await;
        // After a 403, the agent requests more access from its user.
        if started.status == 403 || started.status == 202 && can_open_links {
            return started;
        }
        let no_account = |next: &str| {
            let detail = format!("No account of `{platform}` is connected. {next}");
            as_json(&Problem::new(Code::ConnectionNotFound, detail))
        };
        let body = if started.status == 202 {
            let problem =
                no_account("Give the user the link `authorizationUrl`, which connects one.");
            with_connect_url(&problem, &started.body)
        } else {
            no_account("Connect one with start_connect.")
        };
        Response { status: 404, ..Response::json(body, NO_STORE) }
    }
}
