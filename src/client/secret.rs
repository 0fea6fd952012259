//! What may be sent as a secret.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::failure::Failure;
use crate::access::authenticate::AuthenticationError;
use crate::access::key::check;
use crate::api::problem::Problem;

/// What short-lived tokens begin with.
const TOKEN_PREFIXES: [&str; 2] = ["st_test_", "st_live_"];
/// Longest token, in characters.
const MAX_TOKEN: usize = 4096;

/// Whether a secret opens the whole account: an API key does, a short-lived token does not.
///
/// # Errors
/// When the service would refuse it whatever it stored: no secret, a mistyped key.
#[wasm_bindgen(js_name = isApiKey)]
pub fn is_api_key(secret: &str) -> Result<bool, JsValue> {
    let refused = |error: AuthenticationError| JsValue::from(Failure::from(Problem::from(error)));
    if secret.is_empty() {
        return Err(refused(AuthenticationError::Missing));
    }
    let is_token = TOKEN_PREFIXES.iter().any(|prefix| secret.starts_with(prefix));
    let in_a_header =
        || secret.len() <= MAX_TOKEN && secret.bytes().all(|byte| byte.is_ascii_graphic());
    let good = if is_token { in_a_header() } else { check(secret).is_ok() };
    if good { Ok(!is_token) } else { Err(refused(AuthenticationError::Malformed)) }
}
