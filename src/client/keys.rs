//! Connection and connector keys taken apart.

use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::failure::Failure;
use crate::catalog::key::{ConnectorKey, platform as is_platform};
use crate::nearest::beginning;
use crate::vault::key::ConnectionKey;
use crate::vault::rules;

/// The environment, platform, label and identity of a connection key.
///
/// # Errors
/// When it is none, or a part is not what the service would create.
#[wasm_bindgen(js_name = parseConnectionKey)]
pub fn parse_connection_key(text: &str) -> Result<Array, JsValue> {
    let ConnectionKey { environment, platform, label, identity } = ConnectionKey::parse(text)
        .filter(|key| is_platform(key.platform).is_none())
        .filter(|key| rules::label(key.label).is_none())
        .filter(|key| rules::identity(key.identity).is_none())
        .ok_or_else(|| no_key(text, "<environment>::<platform>::<label>::<identity>"))?;
    let [environment, platform, label, identity] =
        [environment.as_str(), platform, label, identity].map(JsValue::from);
    Ok(Array::of4(&environment, &platform, &label, &identity))
}

/// The platform and its version of a connector key.
///
/// # Errors
/// When it is none.
#[wasm_bindgen(js_name = parseConnectorKey)]
pub fn parse_connector_key(text: &str) -> Result<Array, JsValue> {
    let ConnectorKey { platform, platform_version } = ConnectorKey::parse(text)
        .ok_or_else(|| no_key(text, "api::<platform>::<platformVersion>"))?;
    Ok(Array::of2(&platform.into(), &platform_version.into()))
}

fn no_key(text: &str, shape: &str) -> Failure {
    let detail = format!("`{}` is not a key of the shape `{shape}`", beginning(text));
    Failure::argument("key", detail)
}
