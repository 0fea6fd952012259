//! Whether a platform rejected a request because its access token has expired.

use crate::catalog::detail::RejectedWhen;
use crate::ports::{Http, StreamingResponse};
use crate::util::media_type::{essence, is_json};

/// The maximum size of an error that is read. Longer bodies are pages, not errors.
const MAX_ERROR: usize = 16 << 10;

/// Whether the token was rejected. Some platforms respond to expired tokens with another status than 401, but say so in
/// the body: Netatmo with 403 (<https://github.com/xperimental/netatmo-exporter/issues/55>), Facebook with 400
/// (<https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived>), and those whose entry in
/// the catalog has `when`, such as Slack, with 200.
pub async fn is_token_expired(
    ports: &impl Http,
    response: &StreamingResponse,
    when: Option<&RejectedWhen>,
) -> bool {
    let is_json = || is_json(&essence(response.header("content-type").unwrap_or_default()));
    let status = response.status;
    if status == 401 {
        return true;
    }
    let may_say_so = matches!(status, 400 | 403);
    if !(may_say_so || when.is_some()) || !is_json() {
        return false;
    }
    let Some(copy) = ports.copy(&response.body) else { return false };
    let Ok(body) = ports.read(copy, MAX_ERROR).await else { return false };
    let rejects = |when: &RejectedWhen| {
        serde_json::from_slice(&body).is_ok_and(|document| when.matches(&document))
    };
    may_say_so && says_expired(&body) || when.is_some_and(rejects)
}

fn says_expired(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_ascii_lowercase();
    text.contains("token") && text.contains("expired")
}
