//! Validates secrets before they are sent.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::failure::Failure;
use crate::auth::caller::has_several_secrets;
use crate::auth::key::check;
use crate::auth::token::{CONSOLE_PREFIX, MAX_TOKEN, TOKEN_PREFIX};
use crate::http::problem::Problem;

/// Whether a secret is an API key, which has access to the whole account. Returns `false` for
/// session tokens and console tokens. Fails if the secret is malformed.
#[wasm_bindgen(js_name = isApiKey)]
pub fn is_api_key(secret: &str) -> Result<bool, JsValue> {
    let refused = |problem: Problem| Err(JsValue::from(Failure::from(problem)));
    if secret.is_empty() {
        return refused(Problem::missing_key());
    }
    if has_several_secrets(secret) {
        return refused(Problem::multiple_keys());
    }
    if secret.starts_with(TOKEN_PREFIX) || secret.starts_with(CONSOLE_PREFIX) {
        // Only the service can verify a token's signature.
        let fits_in_header =
            secret.len() <= MAX_TOKEN && secret.bytes().all(|byte| byte.is_ascii_graphic());
        return if fits_in_header { Ok(false) } else { refused(Problem::invalid_token()) };
    }
    if check(secret).is_ok() { Ok(true) } else { refused(Problem::malformed_key()) }
}
