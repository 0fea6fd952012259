//! `POST /mcp`: the tools of agents, by the Model Context Protocol over Streamable HTTP, without sessions.
//!
//! Each tool sends one request to this API as its caller, so that an agent sees and does what its key or token may, and
//! nothing else.

mod tools;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::agents::SCOPES;
use crate::agents::endpoints::{challenge, endpoint_at};
use crate::auth::limits::Access;
use crate::catalog::endpoints::answer::no_platform;
use crate::catalog::reader::Catalog;
use crate::http::body::require_json;
use crate::http::config::SECRET_HEADER;
use crate::http::handle::handle;
use crate::http::message::{Body, NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::platform_calls::headers::{AGENT, SOURCE};
use crate::ports::Ports;
use crate::terms::Scope;
use crate::util::case_fold::fold;
use crate::util::json;
use tools::{
    APPROVAL, CALL_PLATFORM, LIST_CONNECTIONS, RUN_ACTION, START_CONNECT, Sent, TOOLS, Tool, begin,
    outcome_of,
};

/// The version in which each request says what it needs.
const LATEST: &str = "2026-07-28";
/// The versions that begin with `initialize`, the preferred one first.
const WITH_SESSIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// All versions.
const VERSIONS: [&str; 3] = ["2026-07-28", "2025-11-25", "2025-06-18"];
/// How long a client may keep the list of tools, in milliseconds: it changes with releases only.
const TTL_MS: u32 = 3_600_000;
/// The name under which a client is asked to open a link, and answers.
const LINK: &str = "connect";
/// What the state begins with of a client whose user was shown the link of a call that waits.
const WAITING: &str = "approval:";
/// What an agent is told first.
const INSTRUCTIONS: &str = "Find an action with search_actions, read what it takes with describe_action, find the user's connection with list_connections, and run the action with run_action. If there is no connection, start_connect returns a link for the user. Where a platform has no fitting action, call_platform reaches its API.";

/// The codes of JSON-RPC, and of this protocol.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const HEADER_MISMATCH: i32 = -32020;
const UNSUPPORTED_VERSION: i32 = -32022;

/// A message of a client.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    jsonrpc: String,
    /// Absent in a notification.
    #[serde(default)]
    id: Option<Value>,
    /// Absent in an answer to a request of the server's, which sends none.
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

/// Why a message is not answered with a result.
struct Failure {
    status: u16,
    code: i32,
    message: String,
    data: Option<Value>,
}

impl Failure {
    fn new(status: u16, code: i32, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), data: None }
    }
}

/// What a tool returns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: [Text<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    is_error: bool,
}

#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
}

/// The key or token that a request has as `Authorization: Bearer`; the scheme's name ignores case (RFC 9110, section 11.1).
pub(super) fn bearer(request: &Request) -> Option<&str> {
    let (scheme, secret) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim_start_matches(' '))
}

/// Answers a message.
///
/// # Errors
/// When the caller is not let in.
pub(super) async fn answer<P: Ports>(
    service: &Service,
    ports: &P,
    request: &Request,
) -> Result<Response, Problem> {
    if let Some(origin) = request.header("origin")
        && !is_own(origin, &request.origin)
        && !service.allows(origin)
    {
        let failure = Failure::new(403, INVALID_REQUEST, "This origin may not call the service.");
        return Ok(failed(&Value::Null, failure));
    }
    // Of two secrets, a request of one's own would send only one.
    service.caller(request)?;
    let caller = Caller { service, ports, request };
    let message = match read(request) {
        Ok(message) => message,
        Err(failure) => {
            // Who is not let in learns nothing else.
            return Ok(caller.refusal().await.unwrap_or_else(|| failed(&Value::Null, failure)));
        }
    };
    let id = message.id.clone().unwrap_or_default();
    Ok(match caller.reply(&message).await {
        Ok(response) => response,
        Err(failure) => caller.refusal().await.unwrap_or_else(|| failed(&id, failure)),
    })
}

/// Whether a page's origin is the service's own. Over plain HTTP anybody's name may have been made to lead here, so only
/// the machine's own names count.
fn is_own(page: &str, service: &str) -> bool {
    let is_safe = service.strip_prefix("http://").is_none_or(|rest| {
        let host = match rest.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => rest,
        };
        matches!(host, "localhost" | "127.0.0.1" | "[::1]")
    });
    page == service && is_safe
}

fn read(request: &Request) -> Result<Message, Failure> {
    let invalid = |what: &str| Failure::new(400, INVALID_REQUEST, what);
    require_json(request)
        .map_err(|Problem { detail, .. }| Failure::new(415, INVALID_REQUEST, detail))?;
    let Body::Whole(bytes) = &request.body else {
        return Err(Failure::new(413, INVALID_REQUEST, "The message is larger than 64 KiB."));
    };
    let unread = || Failure::new(400, PARSE_ERROR, "The body is not JSON.");
    let value: Value = serde_json::from_slice(bytes).map_err(|_| unread())?;
    let strict: json::Value = serde_json::from_slice(bytes).map_err(|_| unread())?;
    let mut repeated = None;
    strict.each_repeated(&[], &mut |place| {
        let name = place.last().copied().unwrap_or_default();
        repeated.get_or_insert_with(|| name.chars().take(64).collect::<String>());
    });
    if let Some(name) = repeated {
        return Err(invalid(&format!("`{name}` is given more than once.")));
    }
    if !value.is_object() {
        return Err(invalid("The body must be one JSON-RPC message."));
    }
    let is_answer = value.get("result").or_else(|| value.get("error")).is_some();
    // A request must not have the id null, which an answer to an unreadable message has.
    let has_id = value
        .get("id")
        .is_none_or(|id| id.is_string() || id.is_number() || (id.is_null() && is_answer));
    let message: Message = serde_json::from_value(value)
        .map_err(|_| invalid("The body is not a JSON-RPC message."))?;
    if message.jsonrpc != "2.0" || !has_id || (message.method.is_none() && !is_answer) {
        return Err(invalid("The body is not a message of JSON-RPC 2.0."));
    }
    Ok(message)
}

/// A JSON answer.
fn document(status: u16, value: &impl Serialize) -> Response {
    Response { status, ..Response::json(json::bytes(value), NO_STORE) }
}

fn failed(id: &Value, failure: Failure) -> Response {
    let Failure { status, code, message, data } = failure;
    let error = match data {
        Some(data) => json!({"code": code, "message": message, "data": data}),
        None => json!({"code": code, "message": message}),
    };
    document(status, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

fn result(id: &Value, result: &impl Serialize) -> Response {
    #[derive(Serialize)]
    struct Reply<'a, R> {
        jsonrpc: &'static str,
        id: &'a Value,
        result: &'a R,
    }
    document(200, &Reply { jsonrpc: "2.0", id, result })
}

fn unsupported(version: &str) -> Failure {
    let data = json!({"supported": VERSIONS, "requested": version});
    let failure = Failure::new(400, UNSUPPORTED_VERSION, "Unsupported protocol version");
    Failure { data: Some(data), ..failure }
}

/// Who this service is.
fn server() -> Value {
    json!({"name": "connector-vault", "title": "Connector Vault", "version": env!("CARGO_PKG_VERSION")})
}

struct Caller<'a, P> {
    service: &'a Service,
    ports: &'a P,
    request: &'a Request,
}

impl<P: Ports> Caller<'_, P> {
    async fn reply(&self, message: &Message) -> Result<Response, Failure> {
        let Message { id, method, params, .. } = message;
        let (Some(id), Some(method)) = (id, method.as_deref()) else {
            // A notification, or an answer to nothing: there is nothing to say.
            return match self.refusal().await {
                Some(refusal) => Ok(refusal),
                None => Ok(Response::empty(202)),
            };
        };
        let is_latest = self.check(method, params)?;
        match method {
            "initialize" if !is_latest => {
                let asked = params.get("protocolVersion").and_then(Value::as_str);
                let [usual, _] = WITH_SESSIONS;
                let version =
                    WITH_SESSIONS.into_iter().find(|known| asked == Some(*known)).unwrap_or(usual);
                self.let_in(id, &json!({
                    "protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server(),
                    "instructions": INSTRUCTIONS,
                })).await
            }
            "ping" if !is_latest => self.let_in(id, &json!({})).await,
            "server/discover" => {
                self.let_in(id, &json!({
                    "resultType": "complete", "supportedVersions": VERSIONS,
                    "capabilities": {"tools": {}}, "instructions": INSTRUCTIONS, "ttlMs": TTL_MS, "cacheScope": "public",
                    "_meta": {"io.modelcontextprotocol/serverInfo": server()},
                })).await
            }
            "tools/list" => {
                let who = match self.whoami().await {
                    Ok(who) => who,
                    Err(refusal) => return Ok(refusal),
                };
                let scopes = who.get("scopes").and_then(Value::as_array);
                let has = |scope: Scope| {
                    scopes.is_some_and(|scopes| scopes.iter().any(|own| own == scope.as_str()))
                };
                let only_reads = who.get("access").is_some_and(|access| access == "read");
                // Who may run some actions only makes no requests of its own.
                let is_free = who.get("actions").is_none_or(Value::is_null);
                let own = TOOLS.iter().filter(|tool| {
                    has(tool.scope) && (is_free || tool.name != CALL_PLATFORM)
                });
                let tools: Vec<Value> = own.map(|tool| tool.description(only_reads)).collect();
                let list = if is_latest {
                    json!({"tools": tools, "resultType": "complete", "ttlMs": TTL_MS, "cacheScope": "private"})
                } else {
                    json!({"tools": tools})
                };
                Ok(result(id, &list))
            }
            "tools/call" => {
                let name = params.get("name").and_then(Value::as_str);
                let name = name.ok_or_else(|| {
                    Failure::new(200, INVALID_PARAMS, "`params.name` must be the name of a tool")
                })?;
                let tool = TOOLS.iter().find(|tool| tool.name == name);
                let unknown = || Failure::new(200, INVALID_PARAMS, format!("Unknown tool: {name}"));
                self.call(id, tool.ok_or_else(unknown)?, params, is_latest).await
            }
            _ => {
                let status = if is_latest { 404 } else { 200 };
                Err(Failure::new(status, METHOD_NOT_FOUND, "Method not found"))
            }
        }
    }

    /// Checks the version, and that the headers say what the body says. Returns whether it is the latest one.
    fn check(&self, method: &str, params: &Value) -> Result<bool, Failure> {
        let meta = |name: &str| {
            let meta = params.get("_meta").and_then(|meta| meta.get(name));
            meta.and_then(Value::as_str)
        };
        let declared = meta("io.modelcontextprotocol/protocolVersion");
        let header = self.request.header("mcp-protocol-version");
        let invalid = |what: &str| Failure::new(400, INVALID_PARAMS, what);
        let Some(version) = declared else {
            return match header {
                Some(LATEST) => Err(invalid(
                    "`_meta` must name the protocol version that `MCP-Protocol-Version` names",
                )),
                // Before `initialize` there is none; without one it is an earlier version of the same kind.
                None | Some("2025-03-26") => Ok(false),
                Some(known) if WITH_SESSIONS.contains(&known) => Ok(false),
                Some(other) => Err(unsupported(other)),
            };
        };
        if header != Some(version) {
            return Err(mismatch(
                "`MCP-Protocol-Version` must name the protocol version of the body",
            ));
        }
        if version != LATEST {
            return Err(unsupported(version));
        }
        if self.request.header("mcp-method") != Some(method) {
            return Err(mismatch("`Mcp-Method` must name the method of the body"));
        }
        if capabilities(params).is_none() {
            return Err(invalid("`_meta` must name the client's capabilities"));
        }
        let name = params.get("name").and_then(Value::as_str);
        if method == "tools/call" && self.request.header("mcp-name") != name {
            return Err(mismatch("`Mcp-Name` must name the tool of the body"));
        }
        Ok(true)
    }

    /// A request to this API as the same caller. `wanted` says what it wants of the answer to a request of its own making.
    fn own(
        &self,
        method: &str,
        path: String,
        query: String,
        body: Option<Vec<u8>>,
        wanted: String,
    ) -> Request {
        let passes =
            |name: &str| name != "content-type" && !name.starts_with("if-") && name != "accept";
        let sent = self.request.headers.iter().filter(|(name, _)| passes(name)).cloned();
        let mut headers: Vec<_> = sent.collect();
        headers.push((AGENT.to_owned(), wanted));
        if let Some(secret) = bearer(self.request) {
            headers.push((SECRET_HEADER.to_owned(), secret.to_owned()));
        }
        if body.is_some() {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        Request {
            method: method.to_owned(),
            origin: self.request.origin.clone(),
            path,
            query,
            headers,
            body: Body::Whole(body.unwrap_or_default()),
            endpoint: endpoint_at(&self.request.path).map(str::to_owned),
        }
    }

    /// The answer to a caller whose key or token is not valid. Returns `None` when it is.
    async fn refusal(&self) -> Option<Response> {
        self.whoami().await.err()
    }

    /// What the caller may do.
    ///
    /// # Errors
    /// With the answer to a caller whose key or token is not valid.
    async fn whoami(&self) -> Result<Value, Response> {
        let whoami = self.own("GET", "/v1/whoami".to_owned(), String::new(), None, String::new());
        let mut response = Box::pin(handle(self.service, self.ports, &whoami)).await;
        // The headers that every response has are added once more.
        response.headers.retain(|(name, _)| {
            matches!(*name, "content-type" | "cache-control" | "www-authenticate" | "retry-after")
        });
        if response.status == 200 {
            Ok(serde_json::from_slice(&response.body).unwrap_or_default())
        } else {
            Err(response)
        }
    }

    /// A result that everybody gets whose key or token is valid.
    async fn let_in(&self, id: &Value, value: &Value) -> Result<Response, Failure> {
        Ok(self.refusal().await.unwrap_or_else(|| result(id, value)))
    }

    /// Sends the request of a tool.
    ///
    /// # Errors
    /// Why there is none.
    async fn send_if_any(&self, sent: Result<Sent, String>) -> Result<Response, String> {
        Ok(self.send(sent?).await)
    }

    /// Sends a request to this API as the same caller.
    async fn send(&self, (method, path, query, body, wanted): Sent) -> Response {
        let request = self.own(method, path, query, body, wanted);
        Box::pin(handle(self.service, self.ports, &request)).await
    }

    /// The answer to an agent that may only read and called for more, so that it asks its user (RFC 6750, section 3.1).
    fn lacks_access(&self, response: &Response) -> Option<Response> {
        let caller = self.service.caller(self.request).ok()?;
        let limits = caller.limits();
        // No consent adds an action to those that the app has chosen.
        let may_ask =
            caller.grant().is_some() && limits.access == Access::Read && limits.actions.is_none();
        if !may_ask || response.status != 403 || response.header(SOURCE) == Some("platform") {
            return None;
        }
        let base = self.service.config().base_url.as_deref()?;
        let id = endpoint_at(&self.request.path)?;
        let mut refusal = Response { body: response.body.clone(), ..Response::empty(403) };
        refusal.add("content-type", "application/problem+json");
        refusal.add("cache-control", NO_STORE);
        let error = Some(("insufficient_scope", SCOPES));
        refusal.add("www-authenticate", challenge(base, id, error));
        Some(refusal)
    }

    /// What is wrong with the platform for which no connection was found: the catalog does not have it. Returns `None` when
    /// it does.
    async fn unknown_platform(&self, arguments: &Value, listed: &Response) -> Option<Problem> {
        let platform = fold(arguments.get("platform")?.as_str()?);
        let list: Value = serde_json::from_slice(&listed.body).ok()?;
        if listed.status != 200 || list.get("total")?.as_u64()? > 0 {
            return None;
        }
        let catalog = Catalog::open(self.service.catalog(), self.ports).await.ok()?;
        if catalog.connector(&platform).await.ok()?.is_some() {
            return None;
        }
        let known = catalog.platforms().await.ok()?;
        let caller = self.service.caller(self.request).ok()?;
        Some(no_platform(&platform, &known, caller.platforms()))
    }

    /// Runs an action once the account is connected for which a link was opened; before that, the answer says how far the
    /// user is.
    async fn run_when_connected(
        &self,
        attempt: Result<Sent, String>,
        run: Result<Sent, String>,
    ) -> Result<Response, String> {
        let (attempt, run) = (attempt?, run?);
        let waited = self.send(attempt).await;
        let status: Value = serde_json::from_slice(&waited.body).unwrap_or_default();
        let is_connected = status.get("status").and_then(Value::as_str) == Some("succeeded");
        Ok(if is_connected { self.send(run).await } else { waited })
    }

    /// Begins to connect the account without which an action can't run. Returns the attempt as the API shows it, or `None`
    /// when something else is the matter, or the caller may not, or there is no page to open.
    async fn connecting(&self, arguments: &Value, refused: &Response) -> Option<Vec<u8>> {
        let problem: Value = serde_json::from_slice(&refused.body).ok()?;
        let code = problem.get("code")?.as_str()?;
        if !matches!(code, "credentials_not_found" | "connection_failed") {
            return None;
        }
        let connection = ("connection".to_owned(), arguments.get("connection")?.clone());
        let begun = self.send(begin([connection].into_iter().collect())).await;
        (begun.status == 202).then_some(begun.body)
    }

    async fn call(
        &self,
        id: &Value,
        tool: &Tool,
        params: &Value,
        is_latest: bool,
    ) -> Result<Response, Failure> {
        let mut arguments = tool.read(params.get("arguments"));
        let waited = waited(params).filter(|_| is_latest && tool.name == RUN_ACTION);
        if let (Some(id), Some(given)) = (&waited, arguments.as_object_mut()) {
            given.insert(APPROVAL.to_owned(), (*id).into());
        }
        let arguments = &arguments;
        let asked = resumed(params).filter(|_| is_latest && waited.is_none());
        let calls = matches!(tool.name, RUN_ACTION | CALL_PLATFORM);
        let answered = match (tool.name, asked) {
            (START_CONNECT, Some(attempt)) => self.send_if_any(attempt).await,
            (RUN_ACTION | CALL_PLATFORM, Some(attempt)) => {
                self.run_when_connected(attempt, tool.request(arguments)).await
            }
            _ => self.send_if_any(tool.request(arguments)).await,
        };
        let (text, is_error) = match answered {
            Ok(mut response) => {
                if response.status == 401 {
                    response.headers.retain(|(name, _)| {
                        matches!(*name, "content-type" | "cache-control" | "www-authenticate")
                    });
                    return Ok(response);
                }
                if let Some(refusal) = self.lacks_access(&response) {
                    return Ok(refusal);
                }
                let opens = is_latest && opens_links(params);
                // Whoever asks for the outcome of a call has seen its link.
                let is_asked = arguments.get(APPROVAL).is_some();
                if response.status == 202 && opens && !is_asked {
                    return Ok(result(id, &link(&response.body)));
                }
                if tool.name == LIST_CONNECTIONS
                    && let Some(problem) = self.unknown_platform(arguments, &response).await
                {
                    response.status = 404;
                    response.body = problem.to_json(&self.request.origin, &self.ports.uuid());
                }
                // What has succeeded, or was refused for another reason, is not read for its code.
                if calls
                    && matches!(response.status, 404 | 409)
                    && let Some(begun) = self.connecting(arguments, &response).await
                {
                    if opens {
                        return Ok(result(id, &link(&begun)));
                    }
                    response.body = with_link(&response.body, &begun);
                }
                let body = match response.kept.take() {
                    Some(kept) => kept.read(0..kept.size()).unwrap_or_default(),
                    None => response.body,
                };
                (String::from_utf8(body).unwrap_or_default(), response.status >= 400)
            }
            Err(what) => {
                if let Some(refusal) = self.refusal().await {
                    return Ok(refusal);
                }
                (what, true)
            }
        };
        // What a platform answers is long enough once.
        let structured = Some(&text).filter(|_| is_error || !calls);
        let structured: Option<&RawValue> =
            structured.and_then(|text| serde_json::from_str(text).ok());
        let returned = ToolResult {
            result_type: is_latest.then_some("complete"),
            content: [Text { r#type: "text", text: &text }],
            structured_content: structured.filter(|it| it.get().starts_with('{')),
            is_error,
        };
        Ok(result(id, &returned))
    }
}

/// What a client of the latest version can do.
fn capabilities(params: &Value) -> Option<&Value> {
    let meta = params.get("_meta")?.get("io.modelcontextprotocol/clientCapabilities");
    meta.filter(|value| value.is_object())
}

/// Whether the client shows a link to its user and says that it was opened.
fn opens_links(params: &Value) -> bool {
    capabilities(params).and_then(|own| own.get("elicitation")?.get("url")).is_some()
}

/// A request to the client: that its user opens the link of an attempt to connect, or of a call that waits.
fn link(begun: &[u8]) -> Value {
    let begun: Value = serde_json::from_slice(begun).unwrap_or_default();
    let (message, url, state) = if let Some(waiting) = begun.get(APPROVAL) {
        let id = waiting.get("id").and_then(Value::as_str).unwrap_or_default();
        let message = "Open this page to approve or decline what the agent wants to do.";
        (message, waiting.get("url"), Some(json!(format!("{WAITING}{id}"))))
    } else {
        let message = "Open this page to connect your account.";
        (message, begun.get("authorizationUrl"), begun.get("id").cloned())
    };
    let params = json!({"mode": "url", "message": message, "url": url});
    json!({
        "resultType": "input_required", "requestState": state,
        "inputRequests": {(LINK): {"method": "elicitation/create", "params": params}},
    })
}

/// A problem with the link of the attempt to connect that would mend it.
fn with_link(problem: &[u8], begun: &[u8]) -> Vec<u8> {
    let mut problem: Value = serde_json::from_slice(problem).unwrap_or_default();
    let begun: Value = serde_json::from_slice(begun).unwrap_or_default();
    if let (Some(problem), Some(url)) = (problem.as_object_mut(), begun.get("authorizationUrl")) {
        problem.insert("authorizationUrl".to_owned(), url.clone());
    }
    json::bytes(&problem)
}

/// The call that waits for a user to whom the client has shown its link. Returns `None` when it was not asked to show one.
fn waited(params: &Value) -> Option<&str> {
    let id = params.get("requestState")?.as_str()?.strip_prefix(WAITING)?;
    params.get("inputResponses")?.get(LINK)?;
    Some(id)
}

/// What a client that was asked to open a link wants to know now: what became of the attempt. Returns `None` when it was
/// not asked.
fn resumed(params: &Value) -> Option<Result<Sent, String>> {
    let attempt = params.get("requestState")?.as_str()?;
    let action = params.get("inputResponses")?.get(LINK)?.get("action")?;
    Some(if action == "accept" {
        Ok(outcome_of(attempt))
    } else {
        Err("The user did not want to connect the account.".to_owned())
    })
}

fn mismatch(what: &str) -> Failure {
    Failure::new(400, HEADER_MISMATCH, what)
}
