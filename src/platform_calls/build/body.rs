//! Builds the body of an action's request, in the first of the action's media types.

use std::collections::BTreeMap;

use base64ct::{Base64, Encoding as _};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::declared::DeclaredMembers;
use super::multipart::{BYTES, NOT_BASE64, Part, is_binary};
use super::query::{Pairs, push_pairs};
use super::texts::plain;
use crate::catalog::action::stored::{Encoding, Parameter, ParameterLocation, RequestBody};
use crate::platform_calls::address::pairs;
use crate::platform_calls::overrides::is_name;
use crate::util::json;
use crate::util::media_type::{FORM, MULTIPART, essence, is_json};
use crate::util::percent::encode;

pub(super) const JSON: &str = "application/json";

/// Returns the body and its media type. The error has the member that can't be written, and the
/// reason.
pub(super) fn encode_body(
    body: &RequestBody<Value>,
    raw: &RawValue,
    boundary: &str,
    declared: &mut DeclaredMembers<'_>,
) -> Result<(String, Vec<u8>), (String, String)> {
    let preferred = body.content_types.first().map_or(JSON, String::as_str);
    let essence = essence(preferred);
    let is_text = raw.get().starts_with('"');
    let (preferred, essence) = match essence.as_str() {
        // A string may be a file of any type, and is sent unchanged.
        "*/*" if is_text => (BYTES, BYTES.to_owned()),
        "*/*" => (JSON, JSON.to_owned()),
        _ => (preferred, essence),
    };
    if is_json(&essence) {
        return Ok((preferred.to_owned(), encode_json(raw, declared)?.into()));
    }
    let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    match (essence.as_str(), &value) {
        (FORM, Value::Object(members)) => {
            let form = encode_form(body, members);
            check_form(&form, declared)?;
            Ok((preferred.to_owned(), form.into()))
        }
        (MULTIPART, Value::Object(members)) => {
            let parts = encode_multipart(body, members, boundary, declared)?;
            Ok((format!("multipart/form-data; boundary={boundary}"), parts))
        }
        (_, Value::String(text))
            if is_binary(Some(&body.schema)) && !essence.starts_with("text/") =>
        {
            let bytes = Base64::decode_vec(text);
            bytes
                .map(|bytes| (preferred.to_owned(), bytes))
                .map_err(|_| (String::new(), NOT_BASE64.to_owned()))
        }
        (MULTIPART, _) | (FORM, Value::Array(_)) => {
            Err((String::new(), "must be an object: the platform takes a form".to_owned()))
        }
        (_, Value::String(text)) => {
            if essence == FORM {
                check_form(text, declared)?;
            }
            Ok((preferred.to_owned(), text.clone().into()))
        }
        _ => {
            let message = format!("must be a string: the platform takes {essence}");
            Err((String::new(), message))
        }
    }
}

/// Encodes a form like a query.
fn encode_form(body: &RequestBody<Value>, members: &Map<String, Value>) -> String {
    let mut form = String::new();
    let mut pairs = Pairs { text: &mut form, separator: "&" };
    for (name, value) in members {
        match (body.encoding.get(name), value) {
            (Some(encoding), value) if encoding.content_type.is_none() => {
                push_pairs(&form_parameter(name, encoding), value, &mut pairs);
            }
            (None, Value::Array(items)) => {
                for item in items {
                    pairs.push(&encode(name), &encode(&plain(item)));
                }
            }
            (_, value) => pairs.push(&encode(name), &encode(&plain(value))),
        }
    }
    form
}

/// Encodes a multipart form. Each item of a list becomes a part.
fn encode_multipart(
    body: &RequestBody<Value>,
    members: &Map<String, Value>,
    boundary: &str,
    declared: &mut DeclaredMembers<'_>,
) -> Result<Vec<u8>, (String, String)> {
    let mut form = Vec::new();
    for (name, value) in members {
        declared.check_member(name, value)?;
        let schema = body.schema.pointer("/properties").and_then(|all| all.get(name));
        let (items, schema) = match value {
            Value::Array(items) => {
                (items.as_slice(), schema.and_then(|schema| schema.get("items")))
            }
            one => (std::slice::from_ref(one), schema),
        };
        let encoding = body.encoding.get(name);
        let part = Part { name, is_file: is_binary(schema), encoding, boundary };
        for item in items {
            part.write(&mut form, item).map_err(|message| (name.clone(), message))?;
        }
    }
    form.extend(format!("--{boundary}--\r\n").bytes());
    Ok(form)
}

/// Serializes a JSON body. Its members are checked, because Laravel also reads `_method` from JSON.
fn encode_json(
    raw: &RawValue,
    declared: &mut DeclaredMembers<'_>,
) -> Result<String, (String, String)> {
    let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get());
    let members = members.ok().filter(|members| members.keys().any(|name| is_name(name)));
    let Some(members) = members else { return Ok(raw.get().to_owned()) };
    for (name, value) in &members {
        declared.check_member(name, &serde_json::from_str(value.get()).unwrap_or_default())?;
    }
    // Serialize the checked members instead of forwarding the text. If the text contained a member
    // twice, one value might be checked and the other one take effect.
    Ok(json::text(&members))
}

/// Checks an encoded form, in which the members of an exploded object are members of the form.
fn check_form(form: &str, declared: &mut DeclaredMembers<'_>) -> Result<(), (String, String)> {
    pairs(form).try_for_each(|(name, value)| declared.check(&name, &value))
}

/// Describes a form member as a query parameter, because both have the same encoding.
fn form_parameter(name: &str, encoding: &Encoding) -> Parameter<()> {
    Parameter {
        name: name.to_owned(),
        r#in: ParameterLocation::Query,
        required: false,
        schema: (),
        style: encoding.style.clone(),
        explode: encoding.explode,
        allow_reserved: encoding.allow_reserved,
        content_type: None,
    }
}
