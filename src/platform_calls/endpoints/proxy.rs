//! `/v1/vault/connections/{id}/proxy/{path}`: passes a request on to the platform of a connection, and its answer back.

use super::paged::{add_next, is_page, short_json};
use super::run::{Wanted, returned};
use crate::auth::Principal;
use crate::catalog::reader::Catalog;
use crate::credentials::fresh::AskedHeld;
use crate::credentials::placing::DEFAULT_ACCEPT;
use crate::http::context::{Context, Permit};
use crate::http::handler::Handler;
use crate::http::message::{Body, NO_STORE, Proxied, Request, Response};
use crate::http::problem::{Code, MAX_FAULTS, Problem};
use crate::platform_calls::address::below;
use crate::platform_calls::client::{Call, Called, Line, invalid, retries};
use crate::platform_calls::headers::{AGENT, SERVER, SOURCE, to_caller, to_platform};
use crate::platform_calls::links::path_below;
use crate::ports::{Payload, Ports, StreamingResponse, user_agent};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Statements};

/// A call that is to be passed on.
#[derive(Debug)]
struct ProxyCall<'a> {
    context: &'a Context<'a>,
    held: AskedHeld,
    retries: u8,
    permit: Permit,
    /// What an agent wants of the answer; `None` when the answer is passed back as it is.
    wanted: Option<Wanted>,
}

/// Plans the request.
///
/// # Errors
/// `invalid_parameter` for a path that leaves that of the server; `invalid_body` for a body that can't be sent;
/// `unavailable` without keys to open with.
pub fn plan<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    // The server does not matter here: what can't stand below one can't stand below any.
    if below("", context.argument(1), "").is_none() {
        return Err(invalid("path", "must not contain `.` or `..` as a segment, encoded or not"));
    }
    let request = context.request;
    // The runtime's `fetch` can't send one (https://fetch.spec.whatwg.org/#dom-request), and without it, the platform would
    // answer another question.
    if matches!(request.method.as_str(), "GET" | "HEAD") && request.body != Body::default() {
        let detail = format!(
            "A request with `{}` can't have a body. If the platform accepts it, use `POST`.",
            request.method
        );
        return Err(Problem::new(Code::InvalidBody, detail));
    }
    let retries = retries(context)?;
    let permit = context.permit(&request.method, None)?;
    let wanted = request.header(AGENT).map(Wanted::of_agent).transpose()?;
    let mut statements = Statements::default();
    let held = AskedHeld::of(context, &context.connection_id(), &mut statements)?;
    let call = ProxyCall { context, held, retries, permit, wanted };
    Ok(Handler::new(statements, move |results, principal| async move {
        call.respond(&principal, &results, ports).await
    }))
}

impl ProxyCall<'_> {
    /// Passes the request on.
    ///
    /// # Errors
    /// As [`AskedHeld::open`] and [`Line::send`]; `invalid_parameter` for a server that the catalog does not have.
    async fn respond<P: Ports>(
        self,
        principal: &Principal,
        results: &Results,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { context, held, retries, permit, wanted } = self;
        let cache = context.service.catalog();
        let request = context.request;
        let catalog = Catalog::open(cache, ports).await?;
        let fresh = held.open(context, principal, results, &catalog, ports, false).await?;
        let path = context.argument(1);
        let called = Called::Path(path);
        let line = Line { context, principal, ports, fresh, called, retries, permit };
        let server = server(&line, request.header(SERVER))?;
        let url = url(&server, request, path)?;
        let payload = match &request.body {
            Body::Whole(bytes) => Payload::Bytes(bytes),
            Body::Stream | Body::TooLarge => Payload::Stream,
        };
        let headers = match &wanted {
            // The headers of its request are those of the protocol.
            Some(_) => of_agent(request),
            None => to_platform(&request.headers, &context.config.secret_headers),
        };
        let call = Call { method: request.method.clone(), url, headers, payload };
        let (connector, _) = line.ends()?;
        let pagination = connector.pagination.clone();
        let answer = line.send(call).await?;
        if let Some(wanted) = wanted {
            return returned(answer, &server, &request.method, &pagination, &wanted, ports).await;
        }
        let mut onward = answer.onward(&server);
        if is_page(&pagination, &request.method, answer.incoming.status, &onward)
            && let Some(body) = short_json(&answer.incoming, ports).await
        {
            add_next(&mut onward, &pagination, &server, &answer.url, &body);
        }
        let mut response = Response::empty(answer.incoming.status);
        response.add("cache-control", NO_STORE);
        response.add("content-security-policy", "default-src 'none'; sandbox");
        response.add(SOURCE, "platform");
        for (name, value) in onward {
            response.add(name, value);
        }
        let StreamingResponse { headers, body, .. } = answer.incoming;
        response.proxied = Some(Proxied { headers: to_caller(headers), body });
        Ok(response)
    }
}

/// The headers that the platform gets with an agent's request.
fn of_agent(request: &Request) -> Vec<(String, String)> {
    let accept = ("accept".to_owned(), DEFAULT_ACCEPT.to_owned());
    let content_type = request.headers.iter().filter(|(name, _)| name == "content-type").cloned();
    [accept, user_agent()].into_iter().chain(content_type).collect()
}

/// The address that is called. Without a slash after `proxy`, that is the address of the server itself.
fn url(server: &str, request: &Request, path: &str) -> Result<String, Problem> {
    let outside = || invalid("path", &format!("must be a path below `{server}`"));
    if path.starts_with("https://") || path.starts_with("http://") {
        // A whole address, as platforms give that of the next page.
        let path = path_below(server, server, path).ok_or_else(outside)?;
        return below(server, &path, &request.query).ok_or_else(outside);
    }
    if path.is_empty() && !request.path.ends_with('/') {
        let url = below(server, "", &request.query).ok_or_else(outside)?;
        let address = server.trim_end_matches('/');
        // An address without any path has the path `/`.
        let has_path = address.matches('/').count() > 2;
        let rest = url.strip_prefix(address).and_then(|rest| rest.strip_prefix('/'));
        return Ok(rest
            .filter(|_| has_path)
            .map_or(url.clone(), |rest| format!("{address}{rest}")));
    }
    below(server, path, &request.query).ok_or_else(outside)
}

/// The address of the server that is asked for: one of the platform's, as the catalog writes it or with its variables
/// filled in. The first one that can be called when none is asked for.
fn server<P: Ports>(line: &Line<'_, '_, P>, asked: Option<&str>) -> Result<String, Problem> {
    let Some(asked) = asked else { return line.first_server() };
    let (connector, _) = line.ends()?;
    let plain = asked.trim_end_matches('/');
    for server in &connector.servers {
        let filled = line.server(&server.url);
        let is_asked = server.url == plain
            || filled.as_ref().is_ok_and(|url| url.trim_end_matches('/') == plain);
        if is_asked {
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
