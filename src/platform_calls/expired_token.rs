//! Detects whether a platform rejected a request because the access token has expired.

use crate::catalog::detail::RejectedWhen;
use crate::ports::{Http, StreamingResponse};
use crate::util::media_type::{essence, is_json};

/// The maximum size in bytes of an error that is read. Longer bodies are HTML pages, not API
/// errors.
const MAX_ERROR: usize = 16 << 10;

/// Whether the platform rejected the token. Some platforms report an expired token only in the
/// body, with a status other than 401: Netatmo with 403
/// (<https://github.com/xperimental/netatmo-exporter/issues/55>), Facebook with 400
/// (<https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived>), and
/// platforms whose catalog entry has `rejectedWhen`, such as Slack, with 200.
pub async fn is_token_expired(
    ports: &impl Http,
    response: &StreamingResponse,
    rejected_when: Option<&RejectedWhen>,
) -> bool {
    let is_json = || is_json(&essence(response.header("content-type").unwrap_or_default()));
    if response.status == 401 {
        return true;
    }
    let can_report_expiry = matches!(response.status, 400 | 403);
    if !(can_report_expiry || rejected_when.is_some()) || !is_json() {
        return false;
    }
    let Some(copy) = ports.copy(&response.body) else { return false };
    let Ok(body) = ports.read(copy, MAX_ERROR).await else { return false };
    let is_rejection = |when: &RejectedWhen| {
        serde_json::from_slice(&body).is_ok_and(|document| when.matches(&document))
    };
    can_report_expiry && reports_expiry(&body) || rejected_when.is_some_and(is_rejection)
}

fn reports_expiry(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_ascii_lowercase();
    text.contains("token") && text.contains("expired")
}
