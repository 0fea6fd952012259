//! What may be sent as a secret.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::failure::Failure;
use crate::access::key::check;
use crate::access::token::{MAX_TOKEN, TOKEN_PREFIX};
use crate::api::problem::Problem;

/// Whether a secret opens the whole account: an API key does, a short-lived token does not.
///
/// # Errors
/// When the service would refuse it whatever it stored: no secret, a mistyped key.
#[wasm_bindgen(js_name = isApiKey)]
pub fn is_api_key(secret: &str) -> Result<bool, JsValue> {
    let refused = |problem: Problem| Err(JsValue::from(Failure::from(problem)));
    if secret.is_empty() {
        return refused(Problem::missing_key());
    }
    if secret.starts_with(TOKEN_PREFIX) {
        // All else of it, only the service knows.
        let in_a_header =
            secret.len() <= MAX_TOKEN && secret.bytes().all(|byte| byte.is_ascii_graphic());
        return if in_a_header { Ok(false) } else { refused(Problem::bad_token()) };
    }
    if check(secret).is_ok() { Ok(true) } else { refused(Problem::malformed_key()) }
}
