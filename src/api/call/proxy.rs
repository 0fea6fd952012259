//! `/v1/vault/connections/{id}/proxy/{path}`: passes a request on to the platform of a connection, and its answer back.

use super::line::{Call, Called, Line};
use crate::access::Principal;
use crate::api::context::Context;
use crate::api::cost::Metered;
use crate::api::credentials::fresh::AskedHeld;
use crate::api::message::{Body, NO_STORE, Passed, Response};
use crate::api::problem::{Code, Fault, MAX_FAULTS, Place, Problem};
use crate::api::transaction::{Results, Statements};
use crate::call::address::below;
use crate::call::headers::{SERVER, SOURCE, to_caller, to_platform};
use crate::catalog::cache::CatalogCache;
use crate::catalog::reader::Catalog;
use crate::ports::{Payload, Ports};

/// A call that is to be passed on.
#[derive(Debug)]
pub struct ProxyCall<'a> {
    context: &'a Context<'a>,
    held: AskedHeld,
}

/// Plans the request.
///
/// # Errors
/// `invalid_parameter` for a path that leaves that of the server; `unavailable` without keys to open with.
pub fn plan<'a>(context: &'a Context<'a>) -> Result<(ProxyCall<'a>, Statements), Problem> {
    // The server does not matter here: what can't stand below one can't stand below any.
    if below("", context.argument(1), "").is_none() {
        return Err(invalid("path", "must not contain `.` or `..` as a segment, encoded or not"));
    }
    let mut statements = Statements::default();
    let held = AskedHeld::of(context, &context.connection_id(), &mut statements)?;
    Ok((ProxyCall { context, held }, statements))
}

fn invalid(parameter: &str, what: &str) -> Problem {
    let place = Place::Parameter(parameter.to_owned());
    let detail = format!("`{parameter}` {what}");
    Problem::of_fault(Fault { code: Code::InvalidParameter, place, detail, suggestion: None })
}

impl ProxyCall<'_> {
    /// Passes the request on.
    ///
    /// # Errors
    /// As [`AskedHeld::open`] and [`Line::send`]; `invalid_parameter` for a server that the catalog does not have.
    pub async fn answer<P: Ports>(
        self,
        principal: &Principal,
        results: &Results<'_>,
        cache: &CatalogCache,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { context, held } = self;
        let request = context.request;
        let catalog = Catalog::open(cache, ports).await?;
        let fresh = held.open(context, principal, results, &catalog, ports, false).await?;
        let called = Called::Path(context.argument(1));
        let line = Line { context, principal, ports, fresh, called };
        let server = server(&line, request.header(SERVER))?;
        let url = below(&server, context.argument(1), &request.query).unwrap_or(server);
        let payload = match &request.body {
            Body::Whole(bytes) => Payload::Bytes(bytes),
            Body::Arriving | Body::TooLarge => Payload::Arriving,
        };
        let headers = to_platform(&request.headers, &context.config.secret_headers);
        let call = Call { method: request.method.clone(), url, headers, payload };
        let answer = line.send(call).await?;
        let mut response = Response::empty(answer.status);
        response.add("cache-control", NO_STORE);
        response.add("content-security-policy", "default-src 'none'; sandbox");
        response.add(SOURCE, "platform");
        response.passed = Some(Passed { headers: to_caller(answer.headers), body: answer.body });
        Ok(response)
    }
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
