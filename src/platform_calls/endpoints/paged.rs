//! Whether the body of a platform's answer is read for the next page of a list.

use serde_json::Value;

use crate::catalog::detail::Pagination;
use crate::platform_calls::headers::NEXT;
use crate::platform_calls::pages::{MAX_BODY, next};
use crate::ports::{Http, StreamingResponse};
use crate::util::media_type::{essence, is_json};

/// Whether an answer may be a page whose next one only the body names. `onward` is what its headers say.
pub fn is_page(
    pagination: &[Pagination],
    method: &str,
    status: u16,
    onward: &[(&'static str, String)],
) -> bool {
    !pagination.is_empty()
        && method == "GET"
        && (200..300).contains(&status)
        && !onward.iter().any(|(name, _)| *name == NEXT)
}

/// Adds where the next page is, if the body says so, to what the headers say.
pub fn add_next(
    onward: &mut Vec<(&'static str, String)>,
    pagination: &[Pagination],
    server: &str,
    url: &str,
    body: &Value,
) {
    onward.extend(next(pagination, server, url, body).map(|page| (NEXT, page)));
}

/// The JSON of an answer that is passed on. Returns `None` when it is something else, or too long to be searched.
pub async fn short_json(answer: &StreamingResponse, ports: &impl Http) -> Option<Value> {
    let length = answer.header("content-length").and_then(|length| length.parse().ok());
    let is_long = length.is_some_and(|length: usize| length > MAX_BODY);
    if is_long || !is_json(&essence(answer.header("content-type")?)) {
        return None;
    }
    let body = ports.read(ports.copy(&answer.body)?, MAX_BODY).await.ok()?;
    serde_json::from_slice(&body).ok()
}
