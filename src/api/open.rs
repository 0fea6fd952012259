//! The endpoints that are open to everybody: whether the Worker runs, where to report vulnerabilities, and the API's
//! description.

use super::config::Config;
use super::endpoint::Open;
use super::message::{NO_STORE, Response};
use super::problem::Problem;
use crate::rfc3339::rfc3339;

/// Milliseconds until `security.txt` expires, counted anew for each answer. RFC 9116 recommends less than a year.
const SECURITY_TXT_MS: u64 = 180 * 24 * 60 * 60 * 1000;

/// Answers a request for an open endpoint. `now` is in milliseconds since 1970-01-01 UTC.
///
/// # Errors
/// `route_not_found` for `security.txt` when no contact is configured.
pub(super) fn answer(endpoint: Open, config: &Config, now: u64) -> Result<Response, Problem> {
    match endpoint {
        Open::Health => Ok(Response::json(br#"{"status":"ok"}"#.to_vec(), NO_STORE)),
        Open::Document => Ok(Response { is_file: true, ..Response::empty(200) }),
        Open::SecurityTxt if config.security_contacts.is_empty() => Err(Problem::no_route()),
        Open::ConnectWindow => Ok(Response { is_file: true, ..Response::empty(200) }),
        Open::ConnectApp | Open::ConnectLink | Open::ConnectGo | Open::ConnectCallback => {
            Err(Problem::no_route())
        }
        Open::SecurityTxt => Ok(security_txt(&config.security_contacts, now)),
    }
}

/// The file defined by RFC 9116.
fn security_txt(contacts: &[String], now: u64) -> Response {
    let mut text = String::new();
    for contact in contacts {
        text.push_str("Contact: ");
        text.push_str(contact);
        text.push('\n');
    }
    text.push_str("Expires: ");
    text.push_str(&rfc3339(now.saturating_add(SECURITY_TXT_MS)).unwrap_or_default());
    text.push('\n');
    let mut response = Response { body: text.into_bytes(), ..Response::empty(200) };
    response.add("content-type", "text/plain; charset=utf-8");
    response.add("cache-control", NO_STORE);
    response
}
