//! The next page of a list whose link is in the body.

use serde_json::Value;

use crate::catalog::detail::Pagination;
use crate::platform_calls::headers::NEXT;
use crate::platform_calls::pages::{MAX_BODY, next};
use crate::ports::{Http, StreamingResponse};
use crate::util::media_type::{essence, is_json};

/// Whether the link to the next page may be in the body. `continuation` are the headers so far.
pub fn is_page(
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

/// Adds the header for the next page, if the body has a link to it.
pub fn add_next(
    continuation: &mut Vec<(&'static str, String)>,
    pagination: &[Pagination],
    server: &str,
    url: &str,
    body: &Value,
) {
    continuation.extend(next(pagination, server, url, body).map(|page| (NEXT, page)));
}

/// The JSON of a proxied response. Returns `None` for other media types, or when it is too long to be searched.
pub async fn short_json(response: &StreamingResponse, ports: &impl Http) -> Option<Value> {
    let length = response.header("content-length").and_then(|length| length.parse().ok());
    let is_long = length.is_some_and(|length: usize| length > MAX_BODY);
    if is_long || !is_json(&essence(response.header("content-type")?)) {
        return None;
    }
    let body = ports.read(ports.copy(&response.body)?, MAX_BODY).await.ok()?;
    serde_json::from_slice(&body).ok()
}
