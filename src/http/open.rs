//! The endpoints without authentication: health, contacts for vulnerability reports, the `OpenAPI` document and the pages of
//! the connect flow.

use super::config::Config;
use super::endpoint::Open;
use super::message::{NO_STORE, Request, Response};
use super::problem::Problem;
use crate::agents::endpoints as agents;
use crate::connect::endpoints::link::BrowserContext;
use crate::connect::endpoints::window;
use crate::console::endpoints as console;
use crate::ports::Ports;
use crate::util::rfc3339::rfc3339;

/// The lifetime of `security.txt` in milliseconds, counted from each response. RFC 9116 recommends
/// less than a year.
const SECURITY_TXT_LIFETIME_MS: u64 = 180 * 24 * 60 * 60 * 1000;

/// Handles a request to an open endpoint. `arguments` are the values of the path's parameters.
pub(crate) async fn respond<P: Ports>(
    endpoint: Open,
    context: &BrowserContext<'_, P>,
    request: &Request,
    arguments: &[String],
) -> Result<Response, Problem> {
    let (config, now) = (context.config, context.now);
    let secret = arguments.first().map(String::as_str).unwrap_or_default();
    match endpoint {
        Open::Health => Ok(Response::json(br#"{"status":"ok"}"#.to_vec(), NO_STORE)),
        Open::Document => Ok(Response { is_asset: true, ..Response::empty(200) }),
        Open::SecurityTxt if config.security_contacts.is_empty() => Err(Problem::route_not_found()),
        Open::ConnectWindow => Ok(window::window(config, request, context.ports)),
        Open::ConnectToken => context.exchange(request).await,
        Open::ConnectApp => context.app(request).await,
        Open::ConnectLink => context.show_link(request, secret).await,
        Open::ConnectGo => context.confirm_link(request, secret).await,
        // Unreachable: `handle` dispatches these endpoints first.
        Open::Mcp
        | Open::AgentMcp
        | Open::AgentResource
        | Open::AgentServer
        | Open::AgentRegister
        | Open::AgentAuthorize
        | Open::AgentCallback
        | Open::AgentContinue
        | Open::AgentConsent
        | Open::AgentApproval
        | Open::AgentDecision
        | Open::AgentDownload
        | Open::AgentConnect
        | Open::AgentGrants
        | Open::AgentGrantsEnd
        | Open::Download
        | Open::AgentToken
        | Open::AgentRevoke
        | Open::SignInPage
        | Open::SignInStart
        | Open::SignInCallback
        | Open::SignInToken => Err(Problem::route_not_found()),
        Open::ConnectCallback => context.callback(request).await,
        Open::ConnectReturn => Ok(context.callback_form(request)),
        Open::SecurityTxt => Ok(security_txt(&config.security_contacts, now)),
    }
}

/// Fails when the configuration disables an open endpoint.
pub(crate) fn ensure_enabled(endpoint: Open, config: &Config) -> Result<(), Problem> {
    match endpoint {
        Open::SecurityTxt if config.security_contacts.is_empty() => Err(Problem::route_not_found()),
        open if config.base_url.is_none() && (agents::is_own(open) || console::is_own(open)) => {
            Err(Problem::route_not_found())
        }
        _ => Ok(()),
    }
}

/// Renders `security.txt` (RFC 9116).
fn security_txt(contacts: &[String], now: u64) -> Response {
    let mut text = String::new();
    for contact in contacts {
        text.push_str("Contact: ");
        text.push_str(contact);
        text.push('\n');
    }
    text.push_str("Expires: ");
    text.push_str(&rfc3339(now.saturating_add(SECURITY_TXT_LIFETIME_MS)).unwrap_or_default());
    text.push('\n');
    let mut response = Response { body: text.into_bytes(), ..Response::empty(200) };
    response.add("content-type", "text/plain; charset=utf-8");
    response.add("cache-control", NO_STORE);
    response
}
