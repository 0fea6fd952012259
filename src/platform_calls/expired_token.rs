//! Detects whether a platform rejected a request because the access token has expired.

use crate::catalog::detail::RejectedWhen;
use crate::ports::{Clock, Http, StreamingResponse, with_timeout};
use crate::util::media_type::{essence, is_json};

/// The maximum size in bytes of an error that is read. Longer bodies are HTML pages, not API
/// errors.
const MAX_ERROR: usize = 16 << 10;
/// The maximum wait for the whole error, in milliseconds. The caller's response is held back for
/// this long.
const MAX_WAIT_MS: u32 = 2_000;

/// Whether the platform rejected the token. Some platforms report an expired token only in the
/// body, with a status other than 401: Netatmo with 403
/// (<https://github.com/xperimental/netatmo-exporter/issues/55>), Facebook with 400
/// (<https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived>), and
/// platforms whose catalog entry has `rejectedWhen`, such as Slack, with 200.
pub async fn is_token_expired(
    ports: &(impl Http + Clock),
    response: &StreamingResponse,
    rejected_when: Option<&RejectedWhen>,
) -> bool {
    if response.status == 401 {
        return true;
    }
    let can_report_expiry = matches!(response.status, 400 | 403);
    let media_type = essence(response.header("content-type").unwrap_or_default());
    if !(can_report_expiry || rejected_when.is_some()) || !is_json(&media_type) {
        return false;
    }
    let Some(copy) = ports.copy(&response.body) else { return false };
    let read = with_timeout(ports, MAX_WAIT_MS, ports.read(copy, MAX_ERROR)).await;
    let Some(Ok(body)) = read else { return false };
    let is_rejection = |when: &RejectedWhen| {
        serde_json::from_slice(&body).is_ok_and(|document| when.matches(&document))
    };
    can_report_expiry && reports_expiry(&body) || rejected_when.is_some_and(is_rejection)
}

fn reports_expiry(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_ascii_lowercase();
    text.contains("token") && text.contains("expired")
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::cell::Cell;
    use std::future::pending;
    use std::rc::Rc;

    use super::*;
    use crate::ports::{HttpError, HttpRequest, HttpResponse, StreamingRequest};

    /// A platform that sends this body, or the start of one that never ends.
    struct Platform {
        body: Option<&'static str>,
        waited_ms: Cell<u32>,
    }

    impl Clock for Platform {
        fn now(&self) -> u64 {
            0
        }

        async fn sleep(&self, milliseconds: u32) -> bool {
            self.waited_ms.set(milliseconds);
            true
        }
    }

    impl Http for Platform {
        async fn send(&self, _: HttpRequest, _: u32) -> Result<HttpResponse, HttpError> {
            Err(HttpError::Unreachable)
        }

        async fn open(
            &self,
            _: StreamingRequest<'_>,
            _: u32,
        ) -> Result<StreamingResponse, HttpError> {
            Err(HttpError::Unreachable)
        }

        async fn read(&self, _: Rc<dyn Any>, _: usize) -> Result<Vec<u8>, HttpError> {
            match self.body {
                Some(body) => Ok(body.into()),
                None => pending().await,
            }
        }

        fn copy(&self, body: &Rc<dyn Any>) -> Option<Rc<dyn Any>> {
            Some(Rc::clone(body))
        }
    }

    #[test]
    fn waits_for_an_error_that_never_ends_only_briefly() {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let response = StreamingResponse { status: 403, headers, body: Rc::new(()) };
        for (body, is_expired, waited_ms) in [
            (Some(r#"{"error": "Access token expired"}"#), true, 0),
            (Some(r#"{"error": "forbidden"}"#), false, 0),
            (None, false, MAX_WAIT_MS),
        ] {
            let platform = Platform { body, waited_ms: Cell::new(0) };
            let rejected = pollster::block_on(is_token_expired(&platform, &response, None));
            assert_eq!((rejected, platform.waited_ms.get()), (is_expired, waited_ms), "{body:?}");
        }
    }
}
