//! Resolves the argument `connection` of a tool if it is the name of a platform. Uses its only
//! account. If it has several, including those that no longer work, returns a list for the agent to
//! choose from: the call must not go to another account than the user expects. If it has none,
//! returns a link for connecting one.

use serde_json::{Map, Value, json};

use super::McpCaller;
use super::protocol::with_connect_url;
use super::tools::{
    LIST_CONNECTIONS, TOOLS, Tool, connect_request, describe_request, reserve_bytes,
};
use crate::auth::limits::Access;
use crate::catalog::key::platform as is_no_platform;
use crate::connections::model::ConnectionId;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::ports::Ports;
use crate::util::case_fold::fold;
use crate::util::collect::by_insertion;
use crate::util::json;

const CONNECTION: &str = "connection";
/// The maximum number of accounts in the list for an agent, in use or not.
const MAX_CANDIDATES: u64 = 20;
const HINT: &str = "Nothing was done: the platform has several accounts, or one that is not in use. Ask the user which one, unless it is clear, and call again with its `id` as `connection`. One in state `failed` must be connected again, by start_connect.";
/// The members of a connection that tell an agent which account a call has used.
const NAMING: [&str; 5] = ["id", "key", "name", "identity", "account"];

/// The platform name in the argument `connection`, if it is not a connection id.
pub(super) fn named_platform(arguments: &Value) -> Option<String> {
    let name = fold(arguments.get(CONNECTION)?.as_str()?);
    let is_platform = ConnectionId::parse(&name).is_none() && is_no_platform(&name).is_none();
    is_platform.then_some(name)
}

/// Adds a member to a JSON object without parsing it, because it may have 8 MiB.
pub(super) fn add_member(object: &mut Vec<u8>, name: &str, value: &Value) {
    if let Some(rest) = object.strip_prefix(b"{") {
        let member = format!("{{\"{name}\":{value},");
        *object = [member.as_bytes(), rest].concat();
    }
}

impl<P: Ports> McpCaller<'_, P> {
    /// The platform's only connection. If there are none or several, returns the response for the
    /// agent. `key` is the action to run. `can_open_links` is whether the client can open
    /// links itself.
    pub(super) async fn only_connection(
        &self,
        platform: &str,
        key: Option<&str>,
        can_open_links: bool,
    ) -> Result<Value, Response> {
        let tool = TOOLS.iter().find(|tool| tool.name == LIST_CONNECTIONS);
        let mut arguments = json!({"platform": platform, "limit": MAX_CANDIDATES});
        let (mut rows, mut listed) = (Vec::new(), Response::empty(404));
        for is_active in [true, false] {
            if let Some(arguments) = arguments.as_object_mut() {
                arguments.insert("active".to_owned(), is_active.into());
            }
            let Some(Ok(request)) = tool.map(|tool| tool.request(&arguments)) else {
                return Err(listed);
            };
            listed = self.send(request).await;
            let mut list: Value = json::from_bytes(&listed.body).unwrap_or_default();
            match list.get_mut("rows").and_then(Value::as_array_mut) {
                Some(found) if listed.status == 200 => rows.append(found),
                _ => return Err(listed),
            }
        }
        let is = |row: &Value, member: &str, value: Value| row.get(member) == Some(&value);
        match rows.as_slice() {
            [] => {
                if let Some(unknown) = self.unknown_action(platform, key).await {
                    return Err(unknown);
                }
                Err(self.start_first_connect(platform, &arguments, &listed, can_open_links).await)
            }
            // The call of a failed connection returns the link for connecting it again.
            [only] if is(only, "active", true.into()) || is(only, "state", "failed".into()) => {
                Ok(only.clone())
            }
            several => {
                let choice = json!({"candidates": several, "hint": HINT});
                Err(Response::json(json::bytes(&choice), NO_STORE))
            }
        }
    }

    /// Sends a platform call as a connection that the agent has not named by its id. The result
    /// names the connection.
    pub(super) async fn send_as(
        &self,
        connection: &Value,
        (tool, arguments): (&Tool, &mut Value),
    ) -> Result<Response, String> {
        let member = |name: &str| Some((name.to_owned(), connection.get(name)?.clone()));
        let named: Map<String, Value> = by_insertion(
            NAMING.into_iter().filter_map(member).filter(|(_, value)| !value.is_null()),
        );
        let named = Value::Object(named);
        if let Some(given) = arguments.as_object_mut() {
            given.insert(CONNECTION.to_owned(), connection.get("id").cloned().unwrap_or_default());
            reserve_bytes(given, named.to_string().len().saturating_add(CONNECTION.len()));
        }
        let mut response = self.send_if_valid(tool.request(arguments)).await?;
        add_member(&mut response.body, CONNECTION, &named);
        Ok(response)
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
        // The client of an agent that requested only `read` requests more access from its user.
        let may_request_more = self.service.caller(self.request).is_ok_and(|caller| {
            let limits = caller.limits();
            limits.access == Access::Read
                && limits.actions.is_none()
                && caller.grant().is_some_and(|grant| grant.can_request_more)
        });
        let is_final = if started.status == 403 { may_request_more } else { can_open_links };
        if is_final && matches!(started.status, 202 | 403) {
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
        } else if started.status == 403 {
            no_account("The agent may not connect one: the user connects it in the app.")
        } else {
            no_account("Connect one with start_connect.")
        };
        Response { status: 404, ..Response::json(body, NO_STORE) }
    }
}
