//! Messages of JSON-RPC and of the Model Context Protocol.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::tools::{APPROVAL, ApiRequest, attempt_request};
use crate::http::body::require_json;
use crate::http::message::{Body, NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::util::json;

/// The version without sessions. Each of its requests declares its version and capabilities.
pub(super) const LATEST_VERSION: &str = "2026-07-28";
/// The versions that start with `initialize`, in order of preference.
pub(super) const SESSION_VERSIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// All supported versions.
pub(super) const VERSIONS: [&str; 3] = ["2026-07-28", "2025-11-25", "2025-06-18"];
/// How long a client may cache the list of tools, in milliseconds. The list changes only with
/// releases.
pub(super) const TTL_MS: u32 = 3_600_000;
/// The name of the elicitation request that has the client open a link.
pub(super) const OPEN_LINK: &str = "connect";
/// The prefix of the request state of a call that waits for approval.
pub(super) const APPROVAL_PREFIX: &str = "approval:";
/// The instructions for agents in the response to `initialize`.
pub(super) const INSTRUCTIONS: &str = "Find an action with search_actions, read what it takes with describe_action, find the user's connection with list_connections, and run the action with run_action. If there is no connection, start_connect returns a link for the user. Where a platform has no fitting action, call_platform reaches its API.";

// Error codes of JSON-RPC and of the Model Context Protocol.
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INVALID_PARAMS: i32 = -32602;
pub(super) const HEADER_MISMATCH: i32 = -32020;
pub(super) const UNSUPPORTED_VERSION: i32 = -32022;

/// A JSON-RPC message.
#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) jsonrpc: String,
    /// `None` in a notification.
    #[serde(default)]
    pub(super) id: Option<Value>,
    /// `None` in a response. This server sends no requests, so it ignores responses.
    #[serde(default)]
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
}

/// A JSON-RPC error with its HTTP status.
pub(super) struct Failure {
    pub(super) status: u16,
    pub(super) code: i32,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl Failure {
    pub(super) fn new(status: u16, code: i32, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), data: None }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result_type: Option<&'static str>,
    pub(super) content: [Text<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) structured_content: Option<&'a RawValue>,
    pub(super) is_error: bool,
}

#[derive(Serialize)]
pub(super) struct Text<'a> {
    pub(super) r#type: &'static str,
    pub(super) text: &'a str,
}

pub(super) fn read_message(request: &Request) -> Result<Message, Failure> {
    let invalid = |what: &str| Failure::new(400, INVALID_REQUEST, what);
    require_json(request)
        .map_err(|Problem { detail, .. }| Failure::new(415, INVALID_REQUEST, detail))?;
    let Body::Whole(bytes) = &request.body else {
        return Err(Failure::new(
            413,
            INVALID_REQUEST,
            "The message is larger than 64 KiB. Agents can't send a larger file or body: the user's app can, or the user at the platform.",
        ));
    };
    let unread = || Failure::new(400, PARSE_ERROR, "The body is not JSON.");
    let value: Value = json::from_bytes(bytes).map_err(|_| unread())?;
    let strict: json::Value = json::from_bytes(bytes).map_err(|_| unread())?;
    let mut repeated = None;
    strict.for_each_duplicate(&[], &mut |place| {
        let name = place.last().copied().unwrap_or_default();
        repeated.get_or_insert_with(|| name.chars().take(64).collect::<String>());
    });
    if let Some(name) = repeated {
        return Err(invalid(&format!("`{name}` is given more than once.")));
    }
    if !value.is_object() {
        return Err(invalid("The body must be one JSON-RPC message."));
    }
    let is_response = value.get("result").or_else(|| value.get("error")).is_some();
    // The id may be null only in a response to an unreadable message.
    let has_id = value
        .get("id")
        .is_none_or(|id| id.is_string() || id.is_number() || (id.is_null() && is_response));
    let message: Message = serde_json::from_value(value)
        .map_err(|_| invalid("The body is not a JSON-RPC message."))?;
    if message.jsonrpc != "2.0" || !has_id || (message.method.is_none() && !is_response) {
        return Err(invalid("The body is not a message of JSON-RPC 2.0."));
    }
    Ok(message)
}

/// Creates a JSON response.
pub(super) fn document(status: u16, value: &impl Serialize) -> Response {
    Response { status, ..Response::json(json::bytes(value), NO_STORE) }
}

pub(super) fn error_response(id: &Value, failure: Failure) -> Response {
    let Failure { status, code, message, data } = failure;
    let error = match data {
        Some(data) => json!({"code": code, "message": message, "data": data}),
        None => json!({"code": code, "message": message}),
    };
    document(status, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

pub(super) fn result(id: &Value, result: &impl Serialize) -> Response {
    #[derive(Serialize)]
    struct Reply<'a, R> {
        jsonrpc: &'static str,
        id: &'a Value,
        result: &'a R,
    }
    document(200, &Reply { jsonrpc: "2.0", id, result })
}

pub(super) fn unsupported_version(version: &str) -> Failure {
    let data = json!({"supported": VERSIONS, "requested": version});
    let failure = Failure::new(400, UNSUPPORTED_VERSION, "Unsupported protocol version");
    Failure { data: Some(data), ..failure }
}

pub(super) fn server_info() -> Value {
    json!({"name": "connector-vault", "title": "Connector Vault", "version": env!("CARGO_PKG_VERSION")})
}

/// The declared capabilities of a client that uses the latest version.
pub(super) fn capabilities(params: &Value) -> Option<&Value> {
    let meta = params.get("_meta")?.get("io.modelcontextprotocol/clientCapabilities");
    meta.filter(|value| value.is_object())
}

/// Whether the client can show a link to its user and report that the user opened it.
pub(super) fn client_can_open_links(params: &Value) -> bool {
    capabilities(params).and_then(|own| own.get("elicitation")?.get("url")).is_some()
}

/// Requests that the client's user opens the link of a connect attempt, or of a call that waits for
/// approval.
pub(super) fn elicit_url(started: &[u8]) -> Value {
    let started: Value = json::from_bytes(started).unwrap_or_default();
    let (message, url, state) = if let Some(waiting) = started.get(APPROVAL) {
        let id = waiting.get("id").and_then(Value::as_str).unwrap_or_default();
        let message = "Open this page to approve or decline what the agent wants to do.";
        (message, waiting.get("url"), Some(json!(format!("{APPROVAL_PREFIX}{id}"))))
    } else {
        let message = "Open this page to connect your account.";
        (message, started.get("authorizationUrl"), started.get("id").cloned())
    };
    let params = json!({"mode": "url", "message": message, "url": url});
    json!({
        "resultType": "input_required", "requestState": state,
        "inputRequests": {(OPEN_LINK): {"method": "elicitation/create", "params": params}},
    })
}

/// Adds the link of a connect attempt that would fix the problem.
pub(super) fn with_connect_url(problem: &[u8], started: &[u8]) -> Vec<u8> {
    let mut problem: Value = json::from_bytes(problem).unwrap_or_default();
    let started: Value = json::from_bytes(started).unwrap_or_default();
    if let (Some(problem), Some(url)) = (problem.as_object_mut(), started.get("authorizationUrl")) {
        problem.insert("authorizationUrl".to_owned(), url.clone());
    }
    json::bytes(&problem)
}

/// Appends advice for the user to the detail of a problem.
pub(super) fn with_advice(problem: &[u8], advice: &str) -> Vec<u8> {
    let mut problem: Value = serde_json::from_slice(problem).unwrap_or_default();
    let detail = problem.get("detail").and_then(Value::as_str).unwrap_or_default();
    let detail = format!("{detail} {advice}");
    if let Some(problem) = problem.as_object_mut() {
        problem.insert("detail".to_owned(), detail.into());
    }
    json::bytes(&problem)
}

/// The id of the call whose approval link the client has shown. Returns `None` if no link was
/// requested.
pub(super) fn resumed_approval(params: &Value) -> Option<&str> {
    let id = params.get("requestState")?.as_str()?.strip_prefix(APPROVAL_PREFIX)?;
    params.get("inputResponses")?.get(OPEN_LINK)?;
    Some(id)
}

/// The request for the result of the connect attempt whose link the client has shown. Returns
/// `None` if no link was requested.
pub(super) fn resumed_attempt(params: &Value) -> Option<Result<ApiRequest, String>> {
    let attempt = params.get("requestState")?.as_str()?;
    let action = params.get("inputResponses")?.get(OPEN_LINK)?.get("action")?;
    Some(if action == "accept" {
        Ok(attempt_request(attempt))
    } else {
        Err("The user did not want to connect the account.".to_owned())
    })
}

pub(super) fn header_mismatch(what: &str) -> Failure {
    Failure::new(400, HEADER_MISMATCH, what)
}
