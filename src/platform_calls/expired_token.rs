//! Detects whether a platform rejected a request because the access token has expired.

use crate::ports::{Http, StreamingResponse};
use crate::util::media_type::{essence, is_json};

/// The maximum size in bytes of an error that is read. Longer bodies are HTML pages, not API
/// errors.
const MAX_ERROR: usize = 16 << 10;

/// Whether the platform rejected the token. Some platforms report an expired token only in the
/// body, with a status other than 401: Netatmo with 403
/// (<https://github.com/xperimental/netatmo-exporter/issues/55>), Facebook with 400
/// (<https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived>).
pub async fn is_token_expired(ports: &impl Http, response: &StreamingResponse) -> bool {
    let is_json = || is_json(&essence(response.header("content-type").unwrap_or_default()));
    match response.status {
        401 => true,
        400 | 403 if is_json() => match ports.copy(&response.body) {
            Some(copy) => {
                ports.read(copy, MAX_ERROR).await.is_ok_and(|bytes| reports_expiry(&bytes))
            }
            None => false,
        },
        _ => false,
    }
}

fn reports_expiry(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_ascii_lowercase();
    text.contains("token") && text.contains("expired")
}
