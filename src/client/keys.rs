//! Parses connection and connector keys.

use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::failure::{Failure, object};
use crate::catalog::key::{ConnectorKey, platform as is_platform};
use crate::connections::key::ConnectionKey;
use crate::connections::rules;
use crate::terms::Environment;
use crate::util::nearest::shown;

#[derive(Serialize)]
struct ConnectionParts<'a> {
    environment: Environment,
    platform: &'a str,
    label: &'a str,
    identity: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConnectorParts<'a> {
    platform: &'a str,
    platform_version: &'a str,
}

/// Splits a connection key into `{ environment, platform, label, identity }`.
#[wasm_bindgen(js_name = parseConnectionKey)]
pub fn parse_connection_key(text: &str) -> Result<JsValue, JsValue> {
    let ConnectionKey { environment, platform, label, identity } = ConnectionKey::parse(text)
        .filter(|key| is_platform(key.platform).is_none())
        .filter(|key| rules::label(key.label).is_none())
        .filter(|key| rules::is_storable_identity(key.identity))
        .ok_or_else(|| malformed_key(text, "<environment>::<platform>::<label>::<identity>"))?;
    Ok(object(&ConnectionParts { environment, platform, label, identity }))
}

/// Splits a connector key into `{ platform, platformVersion }`.
#[wasm_bindgen(js_name = parseConnectorKey)]
pub fn parse_connector_key(text: &str) -> Result<JsValue, JsValue> {
    let ConnectorKey { platform, platform_version } = ConnectorKey::parse(text)
        .ok_or_else(|| malformed_key(text, "api::<platform>::<platformVersion>"))?;
    Ok(object(&ConnectorParts { platform, platform_version }))
}

fn malformed_key(text: &str, shape: &str) -> Failure {
    let detail = format!("`{}` is not a key of the shape `{shape}`", shown(text));
    Failure::argument("key", detail)
}
