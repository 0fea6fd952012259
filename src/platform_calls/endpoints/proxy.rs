//! `/v1/vault/connections/{id}/proxy/{path}`: forwards a request to a connection's platform, and returns its response.

use super::action_response::{RenderedCall, ResponseOptions, render_response};
use super::download;
use super::next_page_header::{add_next, may_have_next_page, short_json};
use crate::auth::Principal;
use crate::auth::limits::Limits;
use crate::catalog::reader::Catalog;
use crate::credentials::request_auth::DEFAULT_ACCEPT;
use crate::credentials::usable::CredentialsQuery;
use crate::http::body::unread_body;
use crate::http::context::{Context, Permit};
use crate::http::handler::Handler;
use crate::http::message::{Body, MAX_BUFFERED_BODY, NO_STORE, ProxiedResponse, Request, Response};
use crate::http::problem::{Code, MAX_FAULTS, Problem};
use crate::platform_calls::address::url_on_server;
use crate::platform_calls::client::{Call, CallTarget, PlatformClient, invalid, retries};
use crate::platform_calls::headers::{
    AGENT, SERVER, SOURCE, forwarded_request_headers, forwarded_response_headers, rename_redirect,
};
use crate::platform_calls::links::path_below;
use crate::ports::{Payload, Ports, StreamingResponse, user_agent};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Statements};

/// A validated request, whose caller is not authorized yet.
#[derive(Debug)]
struct ProxyCall<'a> {
    context: &'a Context<'a>,
    credentials: CredentialsQuery,
    retries: u8,
    permit: Permit,
    /// An agent's response options; `None` to forward the response unchanged.
    options: Option<ResponseOptions>,
}

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    // The choice of the server does not matter: a path that is invalid below one server is invalid
    // below all.
    if url_on_server("", context.argument(1), "").is_none() {
        return Err(invalid("path", "must not contain `.` or `..` as a segment, encoded or not"));
    }
    let request = context.request;
    // The runtime's `fetch` can't send a body with these methods
    // (https://fetch.spec.whatwg.org/#dom-request). Without the body, the platform would respond to
    // a different request.
    if matches!(request.method.as_str(), "GET" | "HEAD") && request.body != Body::default() {
        let detail = format!(
            "A request with `{}` can't have a body. If the platform accepts it, use `POST`.",
            request.method
        );
        return Err(Problem::new(Code::InvalidBody, detail));
    }
    let retries = retries(context)?;
    let permit = context.permit(&request.method, None)?;
    let options = request.header(AGENT).map(ResponseOptions::from_agent).transpose()?;
    let mut statements = Statements::default();
    let credentials = CredentialsQuery::new(context, &context.connection_id(), &mut statements)?;
    let call = ProxyCall { context, credentials, retries, permit, options };
    Ok(Handler::new(statements, move |results, principal| async move {
        call.respond(&principal, &results, ports).await
    }))
}

impl ProxyCall<'_> {
    /// Forwards the request.
    async fn respond<P: Ports>(
        self,
        principal: &Principal,
        results: &Results,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { context, credentials, retries, permit, options } = self;
        let cache = context.service.catalog();
        let request = context.request;
        // The sign-in for agents may have become stricter since the token was issued.
        let current = Limits { confirm: principal.confirm, ..Limits::default() };
        current.permit(&request.method, None).map_err(Problem::limits_exceeded)?;
        let catalog = Catalog::open(cache, ports).await?;
        let usable = credentials.open(context, principal, results, &catalog, ports, false).await?;
        let path = context.argument(1);
        let target = CallTarget::Path(path);
        let client = PlatformClient { context, principal, ports, usable, target, retries, permit };
        let server = server(&client, request.header(SERVER))?;
        let url = url(&server, request, path).ok_or_else(|| {
            // The server's URL may contain a secret, which the caller must not see.
            let shown = client.without_server_secrets(&server);
            invalid("path", &format!("must be a path below `{shown}`"))
        })?;
        let payload = match &request.body {
            Body::Whole(bytes) => Payload::Bytes(bytes),
            Body::Stream | Body::TooLarge => Payload::Stream,
            Body::TimedOut | Body::Refused => {
                return Err(unread_body(&request.body, MAX_BUFFERED_BODY));
            }
        };
        let headers = match &options {
            // An agent's request has the headers of MCP, which are not meant for the platform.
            Some(_) => agent_headers(request),
            None => forwarded_request_headers(&request.headers, &context.config().secret_headers),
        };
        let call = Call { method: request.method.clone(), url, headers, payload };
        let (connector, _) = client.connector_and_method()?;
        let pagination = connector.pagination.clone();
        let connection = client.usable.connection.clone();
        // The response to an agent's call is read completely; all others are forwarded as they
        // arrive.
        let is_read = options.is_some() && !download::is_download(request);
        let reservation =
            is_read.then(|| context.reserve_response(principal, &request.method)).transpose()?;
        let platform_response = client.send(call).await?;
        if download::is_download(request) {
            return download::file(platform_response);
        }
        if let Some((options, reservation)) = options.zip(reservation) {
            let call = RenderedCall {
                is_graphql: false,
                context,
                principal,
                connection: &connection,
                server: &server,
                method: &request.method,
                pagination: &pagination,
                options: &options,
                reservation: &reservation,
            };
            return render_response(platform_response, &call, ports).await;
        }
        let status = platform_response.status()?;
        let mut continuation = platform_response.continuation(&server);
        let budget = (context.service.responses(), context.body_holder(principal));
        if may_have_next_page(&pagination, &request.method, status, &continuation)
            && let Some(body) = short_json(&platform_response.incoming, budget, ports).await?
        {
            add_next(&mut continuation, &pagination, &server, &platform_response.url, &body);
        }
        let mut response = Response::empty(status);
        response.add("cache-control", NO_STORE);
        response.add("content-security-policy", "default-src 'none'; sandbox");
        response.add(SOURCE, "platform");
        for (name, value) in continuation {
            response.add(name, value);
        }
        let StreamingResponse { headers, body, .. } = platform_response.incoming;
        let mut headers = forwarded_response_headers(headers);
        rename_redirect(status, &mut headers);
        response.proxied = Some(ProxiedResponse { headers, body });
        Ok(response)
    }
}

/// The headers that are forwarded from an agent's request.
fn agent_headers(request: &Request) -> Vec<(String, String)> {
    let accept = ("accept".to_owned(), DEFAULT_ACCEPT.to_owned());
    let content_type = request.headers.iter().filter(|(name, _)| name == "content-type").cloned();
    [accept, user_agent()].into_iter().chain(content_type).collect()
}

/// The URL to call, below the server. A request path without a slash after `proxy` means the URL of
/// the server itself.
fn url(server: &str, request: &Request, path: &str) -> Option<String> {
    if path.starts_with("https://") || path.starts_with("http://") {
        // Platforms return absolute URLs for the next page.
        let path = path_below(server, server, path)?;
        return url_on_server(server, &path, &request.query);
    }
    if path.is_empty() && !request.path.ends_with('/') {
        let url = url_on_server(server, "", &request.query)?;
        let address = server.trim_end_matches('/');
        // A URL without a path is treated like `/`.
        let has_path = address.matches('/').count() > 2;
        let rest = url.strip_prefix(address).and_then(|rest| rest.strip_prefix('/'));
        return Some(
            rest.filter(|_| has_path).map_or(url.clone(), |rest| format!("{address}{rest}")),
        );
    }
    url_on_server(server, path, &request.query)
}

/// The URL of the requested server, which must match a server of the catalog, either as a template
/// or with its variables filled in. Without a request, the first server that can be called.
fn server<P: Ports>(
    client: &PlatformClient<'_, '_, P>,
    requested_url: Option<&str>,
) -> Result<String, Problem> {
    let Some(requested_url) = requested_url else { return client.first_server() };
    let (connector, _) = client.connector_and_method()?;
    let plain = requested_url.trim_end_matches('/');
    for server in &connector.servers {
        let filled = client.server(&server.url);
        let is_match = server.url == plain
            || filled.as_ref().is_ok_and(|url| url.trim_end_matches('/') == plain);
        if is_match {
            return filled.map_err(|error| invalid(SERVER, &format!("can't be called: {error}")));
        }
    }
    let known: Vec<String> = connector
        .servers
        .iter()
        .take(MAX_FAULTS)
        .map(|server| format!("`{}`", server.url))
        .collect();
    Err(invalid(SERVER, &format!("must be one of {}", known.join(", "))))
}
