//! Renders the detail of an action as JSON: its row, its request and its responses.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::constant::allows;
use super::stored::{
    DefinitionRefs, Parameter, ParameterLocation, RequestBody, Requirement, StoredAction,
    StoredResponse, TOO_LARGE,
};
use super::unit::Unit;
use crate::catalog::detail::Parameters;
use crate::catalog::graphql::GraphqlRequest;
use crate::catalog::model::Action;
use crate::terms::Method;
use crate::util::collect::by_insertion;
use crate::util::media_type::{essence, is_serialized};

/// The header that selects the media type of the response.
pub const ACCEPT: &str = "Accept";
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The parts of a [`ConnectorDetail`](crate::catalog::detail::ConnectorDetail) that an action's detail needs.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorFacts {
    auth_methods: Vec<MethodId>,
    servers: Vec<ServerUrl>,
    /// Headers that are sent with every request to the platform.
    #[serde(default)]
    headers: Parameters,
}

#[derive(Debug, Deserialize)]
struct MethodId {
    id: String,
    /// Where an API key is sent. `None` for other methods.
    #[serde(default)]
    r#in: Option<ParameterLocation>,
    #[serde(default)]
    name: String,
    /// Sent with every request that uses this method.
    #[serde(default)]
    headers: Parameters,
    /// Sent with every request that uses this method.
    #[serde(default)]
    query: Parameters,
}

impl MethodId {
    /// Whether this method sends the parameter.
    fn sends_parameter<S>(&self, one: &Parameter<S>) -> bool {
        let is_header = |name: &String| name.eq_ignore_ascii_case(&one.name);
        let is_in_template = match one.r#in {
            ParameterLocation::Header => self.headers.keys().any(is_header),
            ParameterLocation::Query => self.query.contains_key(&one.name),
            ParameterLocation::Cookie | ParameterLocation::Path => false,
        };
        let is_key = match one.r#in {
            ParameterLocation::Header => is_header(&self.name),
            _ => self.name == one.name,
        };
        is_in_template || (self.r#in == Some(one.r#in) && is_key)
    }
}

impl ConnectorFacts {
    /// Whether the service sends the parameter, so that callers can't set it: every auth method of
    /// the connector sends it, or it has a constant value. For a cookie, one method is enough.
    fn sends(&self, one: &Parameter<&RawValue>) -> bool {
        let mut methods = self.auth_methods.iter();
        let is_from_method = match one.r#in {
            ParameterLocation::Cookie => methods.any(|method| method.sends_parameter(one)),
            _ => !self.auth_methods.is_empty() && methods.all(|method| method.sends_parameter(one)),
        };
        let mut headers = self.headers.iter();
        is_from_method
            || one.r#in == ParameterLocation::Header
                && headers.any(|(name, value)| {
                    name.eq_ignore_ascii_case(&one.name) && allows(one.schema, value)
                })
    }
}

#[derive(Debug, Deserialize)]
struct ServerUrl {
    url: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionDetail<'a> {
    #[serde(flatten)]
    row: Action,
    path: &'a str,
    server: Option<&'a str>,
    description: &'a str,
    deprecated: bool,
    documentation_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    graphql: Option<&'a GraphqlRequest>,
    parameters: Vec<Parameter<Box<RawValue>>>,
    request_body: Option<RequestBody<Box<RawValue>>>,
    response_types: &'a [String],
    auth: Vec<Auth>,
    input: Input<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    responses: Option<Vec<Response<'a>>>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Auth {
    /// An auth method of the connector, by id.
    method: String,
    scopes: Vec<String>,
}

/// The input of the action, as one JSON Schema.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Input<'a> {
    #[serde(rename = "$schema")]
    dialect: &'static str,
    r#type: &'static str,
    properties: Members<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<&'static str>,
    additional_properties: bool,
    #[serde(rename = "$defs", skip_serializing_if = "BTreeMap::is_empty")]
    definitions: BTreeMap<&'a str, &'a RawValue>,
}

#[derive(Debug, Default, Serialize)]
struct Members<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Object<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<Object<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<Object<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cookie: Option<Object<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Cow<'a, RawValue>>,
}

/// The parameters of one location.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Object<'a> {
    r#type: &'static str,
    properties: BTreeMap<&'a str, Schema<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<&'a str>,
    additional_properties: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Schema<'a> {
    Stored(&'a RawValue),
    Generated(Box<RawValue>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    status: &'a str,
    description: &'a str,
    content_type: Option<&'a str>,
    schema: Option<Box<RawValue>>,
}

/// Error: the unit lacks a definition, or one of its schemas is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokenUnit;

/// Renders an action of a unit. `platform` is the platform's current name; `schemes` maps each security scheme of the
/// document to the ids of the connector's methods that satisfy it.
pub fn render(
    unit: &Unit<'_>,
    action: &StoredAction<&RawValue>,
    platform: &str,
    connector: &ConnectorFacts,
    schemes: &BTreeMap<String, Vec<String>>,
    with_responses: bool,
) -> Result<Vec<u8>, BrokenUnit> {
    // Ignore a body that the document declares for `GET`: fetch rejects it
    // (https://fetch.spec.whatwg.org/#dom-request).
    let body = action.request_body.as_ref().filter(|_| action.method != Method::Get);
    let parameter = |one: &Parameter<&RawValue>| {
        Ok(Parameter {
            name: one.name.clone(),
            r#in: one.r#in,
            required: one.required,
            schema: with_input_references(one.schema)?,
            style: one.style.clone(),
            explode: one.explode,
            allow_reserved: one.allow_reserved,
            content_type: one.content_type.clone(),
        })
    };
    let request_body = |body: &RequestBody<&RawValue>| {
        Ok(RequestBody {
            required: body.required,
            content_types: body.content_types.clone(),
            schema: with_input_references(body.schema)?,
            encoding: body.encoding.clone(),
        })
    };
    let responses = action.responses.iter().map(|one| response(unit, one));
    let detail = ActionDetail {
        row: Action {
            title: action.title.clone(),
            key: action.key.clone(),
            method: action.method,
            platform: platform.to_owned(),
            model_name: action.model_name.clone(),
        },
        path: &action.facts.path,
        server: action.facts.server.as_deref().or_else(|| first_server(connector)),
        description: &action.facts.description,
        deprecated: action.facts.deprecated,
        documentation_url: action.facts.documentation_url.as_deref(),
        graphql: action.facts.graphql.as_ref(),
        parameters: action.parameters.iter().map(parameter).collect::<Result<_, _>>()?,
        request_body: body.map(request_body).transpose()?,
        response_types: &action.response_types,
        auth: auth(action, connector, schemes),
        input: input(unit, action, body, connector)?,
        responses: with_responses.then(|| responses.collect::<Result<_, _>>()).transpose()?,
    };
    serde_json::to_vec(&detail).map_err(|_| BrokenUnit)
}

fn first_server(connector: &ConnectorFacts) -> Option<&str> {
    connector.servers.first().map(|server| server.url.as_str())
}

/// Rewrites the references in a schema to point to the definitions in `input`.
fn with_input_references(schema: &RawValue) -> Result<Box<RawValue>, BrokenUnit> {
    let text = schema.get().replace(r##""$ref":"#/$defs/"##, r##""$ref":"#/input/$defs/"##);
    RawValue::from_string(text).map_err(|_| BrokenUnit)
}

fn input<'a>(
    unit: &Unit<'a>,
    action: &'a StoredAction<&RawValue>,
    body: Option<&RequestBody<&'a RawValue>>,
    connector: &ConnectorFacts,
) -> Result<Input<'a>, BrokenUnit> {
    let parameters_in = |location: ParameterLocation| {
        let parameters = action.parameters.iter();
        let parameters = parameters
            .filter(|parameter| parameter.r#in == location && !connector.sends(parameter));
        let parameters: Vec<&Parameter<&RawValue>> = parameters.collect();
        let required = parameters.iter().filter(|parameter| parameter.required);
        let object = Object {
            r#type: "object",
            properties: by_insertion(
                parameters
                    .iter()
                    .map(|parameter| (parameter.name.as_str(), Schema::Stored(parameter.schema))),
            ),
            required: required.map(|parameter| parameter.name.as_str()).collect(),
            additional_properties: false,
        };
        Some(object).filter(|object| !object.properties.is_empty())
    };
    let mut header = parameters_in(ParameterLocation::Header);
    if let Some(accept) = accept(&action.response_types)? {
        let none = || Object {
            r#type: "object",
            properties: BTreeMap::new(),
            required: Vec::new(),
            additional_properties: false,
        };
        header.get_or_insert_with(none).properties.insert(ACCEPT, Schema::Generated(accept));
    }
    let properties = Members {
        path: parameters_in(ParameterLocation::Path),
        query: parameters_in(ParameterLocation::Query),
        header,
        cookie: parameters_in(ParameterLocation::Cookie),
        body: body.map(body_schema).transpose()?,
    };
    let needs = |object: &Option<Object<'_>>| {
        object.as_ref().is_some_and(|object| !object.required.is_empty())
    };
    let mut required = Vec::new();
    for (name, is_needed) in [
        ("path", needs(&properties.path)),
        ("query", needs(&properties.query)),
        ("header", needs(&properties.header)),
        ("cookie", needs(&properties.cookie)),
        ("body", body.is_some_and(|body| body.required)),
    ] {
        required.extend(is_needed.then_some(name));
    }
    Ok(Input {
        dialect: DIALECT,
        r#type: "object",
        properties,
        required,
        additional_properties: false,
        definitions: definitions(unit, &action.reached)?,
    })
}

/// The schema of the `Accept` header. Returns `None` if the caller has no choice, because the
/// platform responds only with JSON, or with any media type.
fn accept(types: &[String]) -> Result<Option<Box<RawValue>>, BrokenUnit> {
    if types.iter().all(|media| matches!(media.as_str(), "application/json" | "*/*")) {
        return Ok(None);
    }
    let schema = serde_json::json!({
        "description": "The media type of the response. The first one if omitted.",
        "enum": types,
        "type": "string",
    });
    to_raw_value(&schema).map(Some).map_err(|_| BrokenUnit)
}

/// The schema of the body. It is a string if the caller must serialize the content.
fn body_schema<'a>(body: &RequestBody<&'a RawValue>) -> Result<Cow<'a, RawValue>, BrokenUnit> {
    let Some(media) = body.content_types.first().filter(|media| !is_serialized(&essence(media)))
    else {
        return Ok(Cow::Borrowed(body.schema));
    };
    let schema: Value = serde_json::from_str(body.schema.get()).map_err(|_| BrokenUnit)?;
    if schema.get("type").and_then(Value::as_str) == Some("string") {
        return Ok(Cow::Borrowed(body.schema));
    }
    let text = serde_json::json!({
        "description": format!("The whole body, with the content type `{media}`."),
        "type": "string",
    });
    to_raw_value(&text).map(Cow::Owned).map_err(|_| BrokenUnit)
}

fn definitions<'a>(
    unit: &Unit<'a>,
    reached: &DefinitionRefs,
) -> Result<BTreeMap<&'a str, &'a RawValue>, BrokenUnit> {
    let mut definitions = BTreeMap::new();
    for number in &reached.whole {
        let (name, text) = unit.definition(*number).ok_or(BrokenUnit)?;
        definitions.insert(name, serde_json::from_str(text).map_err(|_| BrokenUnit)?);
    }
    for number in &reached.cut {
        let (name, _) = unit.definition(*number).ok_or(BrokenUnit)?;
        definitions.insert(name, serde_json::from_str(TOO_LARGE).map_err(|_| BrokenUnit)?);
    }
    Ok(definitions)
}

/// Renders a response, with the definitions that its schema refers to.
fn response<'a>(
    unit: &Unit<'a>,
    response: &'a StoredResponse<&RawValue>,
) -> Result<Response<'a>, BrokenUnit> {
    let schema = match response.schema {
        Some(schema) if response.reached.is_empty() => Some(schema.to_owned()),
        Some(schema) => {
            let definitions = definitions(unit, &response.reached)?;
            let definitions = to_raw_value(&definitions).map_err(|_| BrokenUnit)?;
            // The schema contains a reference, so it is a non-empty object.
            let rest = schema.get().strip_prefix('{').ok_or(BrokenUnit)?;
            let text = format!(r#"{{"$defs":{definitions},{rest}"#);
            Some(RawValue::from_string(text).map_err(|_| BrokenUnit)?)
        }
        None => None,
    };
    Ok(Response {
        status: &response.status,
        description: &response.description,
        content_type: response.content_type.as_deref(),
        schema,
    })
}

/// The connector's methods that authorize the action: all of them if the document declares no security.
fn auth(
    action: &StoredAction<&RawValue>,
    connector: &ConnectorFacts,
    schemes: &BTreeMap<String, Vec<String>>,
) -> Vec<Auth> {
    let all = || {
        let ids = connector.auth_methods.iter().map(|method| method.id.clone());
        ids.map(|method| Auth { method, scopes: Vec::new() }).collect()
    };
    let Some(security) = &action.security else { return all() };
    let ids = |scheme: &String| schemes.get(scheme).map_or(&[][..], Vec::as_slice);
    let mut methods_with_scopes: Vec<Auth> = Vec::new();
    for alternative in security {
        let scopes: Vec<String> =
            alternative.iter().flat_map(|one| one.scopes.iter().cloned()).collect();
        // A single method must satisfy all schemes of an alternative.
        let satisfies_all =
            |id: &&String| alternative.iter().all(|one| ids(&one.scheme).contains(*id));
        let methods = alternative.iter().flat_map(|one| ids(&one.scheme)).filter(satisfies_all);
        for method in methods {
            let auth = Auth { method: method.clone(), scopes: scopes.clone() };
            if !methods_with_scopes.contains(&auth) {
                methods_with_scopes.push(auth);
            }
        }
    }
    // If the connector has no method for any of the declared schemes, ignore them, as if the
    // document declared no security.
    let is_unknown = |alternative: &Vec<Requirement>| {
        !alternative.is_empty() && alternative.iter().all(|one| ids(&one.scheme).is_empty())
    };
    if methods_with_scopes.is_empty() && security.iter().any(is_unknown) {
        all()
    } else {
        methods_with_scopes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::{Auth, ConnectorFacts, StoredAction, Unit, auth, input};
    use crate::catalog::action::unit::write_unit;

    fn connector(methods: &Value) -> ConnectorFacts {
        serde_json::from_value(json!({"authMethods": methods, "servers": []})).unwrap()
    }

    fn stored(more: &Value) -> String {
        let mut action = json!({
            "title": "", "key": "a", "method": "GET", "modelName": "", "facts": {"path": "/a"},
        });
        for (name, value) in more.as_object().unwrap() {
            action[name] = value.clone();
        }
        action.to_string()
    }

    #[test]
    fn auth_lists_the_methods_of_the_schemes() {
        let connector = connector(&json!([{"id": "key"}, {"id": "basic"}]));
        let only = |id: &str| vec![id.to_owned()];
        let schemes =
            BTreeMap::from([("Key".to_owned(), only("key")), ("None".to_owned(), vec![])]);
        let scheme = |name: &str| json!({"scheme": name});
        for (security, expected) in [
            (json!(null), &["key", "basic"][..]),
            (json!([[]]), &[]),
            (json!([[scheme("Key")]]), &["key"]),
            (json!([[], [scheme("Key")]]), &["key"]),
            (json!([[scheme("None")]]), &["key", "basic"]),
            (json!([[], [scheme("Unknown")]]), &["key", "basic"]),
        ] {
            let text = stored(&json!({"security": security}));
            let action: StoredAction<&RawValue> = serde_json::from_str(&text).unwrap();
            let auth: Vec<Auth> = auth(&action, &connector, &schemes);
            let ids: Vec<&str> = auth.iter().map(|auth| auth.method.as_str()).collect();
            assert_eq!(ids, expected, "{security}");
        }
    }

    #[test]
    fn only_credential_cookies_are_excluded_from_the_input() {
        let connector = connector(&json!([
            {"id": "key", "in": "cookie", "name": "sid"}, {"id": "other", "in": "query", "name": "q"},
        ]));
        let parameter = |place: &str, name: &str| {
            json!({
                "name": name, "in": place, "required": false, "schema": true, "style": "form", "explode": true,
            })
        };
        let parameters = [("query", "sid"), ("cookie", "sid"), ("cookie", "q"), ("header", "sid")];
        let parameters = parameters.map(|(place, name)| parameter(place, name));
        let text = stored(&json!({"parameters": parameters}));
        let action: StoredAction<&RawValue> = serde_json::from_str(&text).unwrap();
        let bytes = write_unit(&[], &[]);
        let body = action.request_body.as_ref();
        let input = input(&Unit::open(&bytes).unwrap(), &action, body, &connector).ok().unwrap();
        let input = serde_json::to_value(input).unwrap();
        for (place, expected) in [
            ("query", json!({"sid": true})),
            ("cookie", json!({"q": true})),
            ("header", json!({"sid": true})),
        ] {
            assert_eq!(input["properties"][place]["properties"], expected, "{place}");
        }
    }
}
