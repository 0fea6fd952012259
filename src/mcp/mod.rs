//! `POST /mcp`: the Model Context Protocol over Streamable HTTP, without sessions.
//!
//! Each tool sends a request to this API on behalf of its caller, so an agent has exactly the
//! permissions of its key or token.

mod connection_argument;
mod limit_advice;
pub mod outline;
mod protocol;
mod tool_call;
mod tools;

use serde_json::{Value, json};

use crate::agents::endpoints::endpoint_id_at_path;
use crate::auth::error::AuthenticationError;
use crate::http::config::SECRET_HEADER;
use crate::http::handle::handle;
use crate::http::message::{Body, Request, Response};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::platform_calls::headers::AGENT;
use crate::ports::Ports;
use crate::terms::Scope;
use crate::util::json;
use protocol::{
    Failure, INSTRUCTIONS, INVALID_PARAMS, INVALID_REQUEST, LATEST_VERSION, METHOD_NOT_FOUND,
    Message, SESSION_VERSIONS, TTL_MS, VERSIONS, capabilities, error_response, header_mismatch,
    read_message, result, server_info, unsupported_version,
};
use tools::{ApiRequest, CALL_PLATFORM, TOOLS};

/// The bearer token of a request. The scheme is case-insensitive (RFC 9110, section 11.1).
pub(super) fn bearer(request: &Request) -> Option<&str> {
    let (scheme, secret) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim_start_matches(' '))
}

/// Handles an MCP message. Fails if the request has no well-formed key or token.
pub(super) async fn respond<P: Ports>(
    service: &Service,
    ports: &P,
    request: &Request,
) -> Result<Response, Problem> {
    if let Some(origin) = request.header("origin")
        && !is_own_origin(origin, &request.origin)
        && !service.allows(origin)
    {
        let failure = Failure::new(
            403,
            INVALID_REQUEST,
            "This origin may not call the service: the operator allows origins with `ALLOWED_ORIGINS`.",
        );
        return Ok(error_response(&Value::Null, failure));
    }
    // Must be checked here: if the request contains two secrets, a tool's request would send only
    // one of them.
    service.caller(request).map_err(|error| authentication_problem(error, &request.path))?;
    let caller = McpCaller { service, ports, request };
    let message = match read_message(request) {
        Ok(message) => message,
        Err(failure) => {
            // Do not reveal the error to an unauthenticated caller.
            return Ok(caller
                .authentication_failure()
                .await
                .unwrap_or_else(|| error_response(&Value::Null, failure)));
        }
    };
    let id = message.id.clone().unwrap_or_default();
    Ok(match caller.reply(&message).await {
        Ok(response) => response,
        Err(failure) => {
            caller.authentication_failure().await.unwrap_or_else(|| error_response(&id, failure))
        }
    })
}

/// The problem for a request without a well-formed secret. Explains how agents send one, which
/// differs from other API requests.
fn authentication_problem(error: AuthenticationError, path: &str) -> Problem {
    use AuthenticationError::{BadToken, InAuthorization, Malformed, Missing};
    let detail = match error {
        Missing | InAuthorization | BadToken | Malformed if endpoint_id_at_path(path).is_some() => {
            "The access token is missing, invalid or expired. Get one from the sign-in of this address (see `WWW-Authenticate`). Keys and session tokens are valid at `/mcp`."
        }
        Missing | InAuthorization => {
            "The request has no key or token. Send one as `Authorization: Bearer`."
        }
        error => return error.into(),
    };
    Problem { detail: detail.into(), ..error.into() }
}

/// Whether a page's origin is the service's own. Over plain HTTP, only loopback names are accepted,
/// because an attacker's domain name may resolve to this machine (DNS rebinding).
fn is_own_origin(page: &str, service: &str) -> bool {
    let is_safe = service.strip_prefix("http://").is_none_or(|rest| {
        let host = match rest.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => rest,
        };
        matches!(host, "localhost" | "127.0.0.1" | "[::1]")
    });
    page == service && is_safe
}

struct McpCaller<'a, P> {
    service: &'a Service,
    ports: &'a P,
    request: &'a Request,
}

impl<P: Ports> McpCaller<'_, P> {
    async fn reply(&self, message: &Message) -> Result<Response, Failure> {
        let Message { id, method, params, .. } = message;
        let (Some(id), Some(method)) = (id, method.as_deref()) else {
            // Notifications and responses need no reply.
            return match self.authentication_failure().await {
                Some(authentication_failure) => Ok(authentication_failure),
                None => Ok(Response::empty(202)),
            };
        };
        let is_latest = self.check(method, params)?;
        match method {
            "initialize" if !is_latest => {
                let requested_version = params.get("protocolVersion").and_then(Value::as_str);
                let [preferred, _] = SESSION_VERSIONS;
                let version =
                    SESSION_VERSIONS.into_iter().find(|known| requested_version == Some(*known)).unwrap_or(preferred);
                self.result_if_valid(id, &json!({
                    "protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server_info(),
                    "instructions": INSTRUCTIONS,
                })).await
            }
            "ping" if !is_latest => self.result_if_valid(id, &json!({})).await,
            "server/discover" => {
                self.result_if_valid(id, &json!({
                    "resultType": "complete", "supportedVersions": VERSIONS,
                    "capabilities": {"tools": {}}, "instructions": INSTRUCTIONS, "ttlMs": TTL_MS, "cacheScope": "public",
                    "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
                })).await
            }
            "tools/list" => {
                let permissions = match self.whoami().await {
                    Ok(permissions) => permissions,
                    Err(authentication_failure) => return Ok(authentication_failure),
                };
                let scopes = permissions.get("scopes").and_then(Value::as_array);
                let has = |scope: Scope| {
                    scopes.is_some_and(|scopes| scopes.iter().any(|own| own == scope.as_str()))
                };
                let only_reads = permissions.get("access").is_some_and(|access| access == "read");
                // A caller that is restricted to some actions must not call platforms directly.
                let may_call_directly = permissions.get("actions").is_none_or(Value::is_null);
                let available = TOOLS.iter().filter(|tool| {
                    has(tool.scope) && (may_call_directly || tool.name != CALL_PLATFORM)
                });
                let tools: Vec<Value> = available.map(|tool| tool.description(only_reads)).collect();
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
                Ok(self.call(id, tool.ok_or_else(unknown)?, params, is_latest).await)
            }
            _ => {
                let status = if is_latest { 404 } else { 200 };
                Err(Failure::new(status, METHOD_NOT_FOUND, "Method not found"))
            }
        }
    }

    /// Checks the protocol version, and that the headers match the body. Returns whether the
    /// version is [`LATEST_VERSION`].
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
                Some(LATEST_VERSION) => Err(invalid(
                    "`_meta` must name the protocol version that `MCP-Protocol-Version` names",
                )),
                // `initialize` negotiates the version, so that its header may name an unknown version.
                // Other requests without a header use version 2025-03-26.
                _ if method == "initialize" => Ok(false),
                None | Some("2025-03-26") => Ok(false),
                Some(known) if SESSION_VERSIONS.contains(&known) => Ok(false),
                Some(other) => Err(unsupported_version(other)),
            };
        };
        if header != Some(version) {
            return Err(header_mismatch(
                "`MCP-Protocol-Version` must name the protocol version of the body",
            ));
        }
        if version != LATEST_VERSION {
            return Err(unsupported_version(version));
        }
        if self.request.header("mcp-method") != Some(method) {
            return Err(header_mismatch("`Mcp-Method` must name the method of the body"));
        }
        if capabilities(params).is_none() {
            return Err(invalid("`_meta` must name the client's capabilities"));
        }
        let name = params.get("name").and_then(Value::as_str);
        if method == "tools/call" && self.request.header("mcp-name") != name {
            return Err(header_mismatch("`Mcp-Name` must name the tool of the body"));
        }
        Ok(true)
    }

    /// Creates a request to this API with the caller's secret. `agent_header` is the value of the
    /// header [`AGENT`]: the limits on a platform's response.
    fn api_request(
        &self,
        method: &str,
        path: String,
        query: String,
        body: Option<Vec<u8>>,
        agent_header: String,
    ) -> Request {
        let passes =
            |name: &str| name != "content-type" && !name.starts_with("if-") && name != "accept";
        let sent = self.request.headers.iter().filter(|(name, _)| passes(name)).cloned();
        let mut headers: Vec<_> = sent.collect();
        headers.push((AGENT.to_owned(), agent_header));
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
            endpoint: endpoint_id_at_path(&self.request.path).map(str::to_owned),
        }
    }

    /// The response if the caller's key or token is invalid. Returns `None` if it is valid.
    async fn authentication_failure(&self) -> Option<Response> {
        self.whoami().await.err()
    }

    /// The caller's permissions. Fails with the response for an invalid key or token.
    async fn whoami(&self) -> Result<Value, Response> {
        let whoami =
            self.api_request("GET", "/v1/whoami".to_owned(), String::new(), None, String::new());
        let mut response = Box::pin(handle(self.service, self.ports, &whoami)).await;
        // Removes the common headers, because they are also added to the outer response.
        response.headers.retain(|(name, _)| {
            matches!(*name, "content-type" | "cache-control" | "www-authenticate" | "retry-after")
        });
        if response.status == 200 {
            Ok(json::from_bytes(&response.body).unwrap_or_default())
        } else {
            Err(response)
        }
    }

    /// Returns the result, unless the caller's key or token is invalid.
    async fn result_if_valid(&self, id: &Value, value: &Value) -> Result<Response, Failure> {
        Ok(self.authentication_failure().await.unwrap_or_else(|| result(id, value)))
    }

    /// Sends the request of a tool, unless the arguments are invalid.
    async fn send_if_valid(&self, sent: Result<ApiRequest, String>) -> Result<Response, String> {
        Ok(self.send(sent?).await)
    }

    /// Sends a request to this API on behalf of the caller.
    async fn send(&self, (method, path, query, body, agent_header): ApiRequest) -> Response {
        let request = self.api_request(method, path, query, body, agent_header);
        Box::pin(handle(self.service, self.ports, &request)).await
    }
}
