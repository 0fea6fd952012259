//! Finds the link to the next page in the body of a list.

use std::rc::Rc;

use serde_json::Value;

use crate::catalog::detail::Pagination;
use crate::http::body::budget::{BodyBudget, Holder};
use crate::http::problem::Problem;
use crate::platform_calls::call_error::incomplete_response;
use crate::platform_calls::headers::NEXT;
use crate::platform_calls::pages::{MAX_BODY, next};
use crate::ports::{Clock, Http, HttpError, StreamingResponse};
use crate::util::json;
use crate::util::media_type::{essence, is_json};

/// Whether the body may contain the link to the next page. `continuation` are the headers so far.
pub fn may_have_next_page(
    pagination: &[Pagination],
    method: &str,
    status: u16,
    continuation: &[(&'static str, String)],
) -> bool {
    !pagination.is_empty()
        && method == "GET"
        && (200..300).contains(&status)
        && !continuation.iter().any(|(name, _)| *name == NEXT)
}

/// Adds the header for the next page, if the body contains a link to it.
pub fn add_next(
    continuation: &mut Vec<(&'static str, String)>,
    pagination: &[Pagination],
    server: &str,
    url: &str,
    body: &Value,
) {
    continuation.extend(next(pagination, server, url, body).map(|page| (NEXT, page)));
}

/// The JSON of the response to a proxied `GET`. Returns `None` for other media types, or when the
/// body is too long to be searched. Fails when the isolate has too little memory left: without the
/// link to its next page, a list would look complete.
pub async fn short_json(
    response: &StreamingResponse,
    (budget, holder): (&BodyBudget, Holder<'_>),
    ports: &(impl Http + Clock),
) -> Result<Option<Value>, Problem> {
    let length = response.header("content-length").and_then(|length| length.parse().ok());
    let is_long = length.is_some_and(|length: usize| length > MAX_BODY);
    let content_type = response.header("content-type").unwrap_or_default();
    if is_long || !is_json(&essence(content_type)) {
        return Ok(None);
    }
    let Some(copy) = ports.copy(&response.body) else { return Ok(None) };
    let reservation = budget.reserve("GET", holder, ports.now())?;
    let reservation_handle = Rc::clone(&reservation);
    let body = ports
        .read_within(copy, MAX_BODY, Rc::new(move |size| reservation_handle.grow_to(size)))
        .await;
    reservation.check("GET")?;
    match body {
        Ok(body) => Ok(json::from_bytes(&body).ok()),
        Err(HttpError::TooLarge) => Ok(None),
        Err(_) => Err(incomplete_response(response.status)),
    }
}
