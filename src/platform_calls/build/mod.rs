//! Builds the request of an action from its input, according to OpenAPI: the `style` and `explode`
//! of parameters, forms, and JSON.
//!
//! `declared` checks the parameters and members that override the method. `path` and `query` write
//! parameters, `body` writes the body, and `multipart` a multipart form. `texts` serializes lists
//! and objects for all of them.

mod body;
mod declared;
mod multipart;
mod path;
mod query;
#[cfg(test)]
mod tests;
mod texts;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::address::pairs;
use super::overrides::is_parameter;
use super::schema::Fault;
use crate::catalog::action::stored::{Parameter, ParameterLocation, RequestBody};
use crate::catalog::graphql::{GraphqlRequest, SELECT};
use crate::targets::path::leaves_server;
use crate::terms::Method;
use body::{JSON, encode_body};
use declared::DeclaredMembers;
use path::encode_path_parameter;
use query::{Pairs, push_pairs};
use texts::simple;

/// The details of an action that are needed to build its request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    pub method: Method,
    /// The path below the server, with parameters in braces.
    pub path: String,
    /// The server's URL, possibly with variables.
    pub server: Option<String>,
    pub parameters: Vec<Parameter<serde::de::IgnoredAny>>,
    pub request_body: Option<RequestBody<Value>>,
    /// The media types of the platform's responses, the preferred one first.
    #[serde(default)]
    pub response_types: Vec<String>,
    /// The GraphQL request, for an action of a GraphQL API.
    #[serde(default)]
    pub graphql: Option<GraphqlRequest>,
    /// The JSON Schema of the input.
    pub input: Value,
}

/// The parts of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BuiltRequest {
    /// The path below the server, percent-encoded, without its first slash.
    pub path: String,
    /// The query without its `?`.
    pub query: String,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body; may be empty.
    pub body: Vec<u8>,
    /// The HTTP methods, in upper case, that declared parameters and members select instead of the
    /// action's own at some platforms.
    pub overriding: Vec<String>,
}

/// The validated input of an action.
#[derive(Debug, Default, Deserialize)]
pub struct Input<'i> {
    /// The parameters of the path.
    #[serde(default)]
    pub path: Map<String, Value>,
    /// The query parameters.
    #[serde(default)]
    pub query: Map<String, Value>,
    /// The header parameters.
    #[serde(default)]
    pub header: Map<String, Value>,
    /// The cookie parameters.
    #[serde(default)]
    pub cookie: Map<String, Value>,
    /// The body, as the caller sent it.
    #[serde(default, borrow)]
    pub body: Option<&'i serde_json::value::RawValue>,
}

/// Builds a request. `boundary` separates the parts of a multipart form, and must not occur in any
/// of them.
pub fn build(
    action: &Action,
    input: &Input<'_>,
    boundary: &str,
) -> Result<BuiltRequest, Vec<Fault>> {
    let template = action.path.split('#').next().unwrap_or_default();
    let (template, fixed) = template.split_once('?').unwrap_or((template, ""));
    let (path, query) = (template.trim_start_matches('/').to_owned(), fixed.to_owned());
    let built = BuiltRequest { path, query, ..BuiltRequest::default() };
    let mut builder = Builder { action, input, built, cookies: String::new(), faults: Vec::new() };
    for parameter in &action.parameters {
        builder.add_parameter(parameter);
    }
    builder.check_overriding(fixed);
    builder.add_cookies();
    builder.add_body(boundary);
    if builder.faults.is_empty() { Ok(builder.built) } else { Err(builder.faults) }
}

/// A request that is being built.
struct Builder<'a> {
    action: &'a Action,
    input: &'a Input<'a>,
    built: BuiltRequest,
    cookies: String,
    faults: Vec<Fault>,
}

impl Builder<'_> {
    fn fault(&mut self, pointer: String, message: &str) {
        self.faults.push(Fault { pointer, message: message.to_owned(), suggestion: None });
    }

    fn add_parameter(&mut self, parameter: &Parameter<serde::de::IgnoredAny>) {
        let values = match parameter.r#in {
            ParameterLocation::Path => &self.input.path,
            ParameterLocation::Query => &self.input.query,
            ParameterLocation::Header => &self.input.header,
            ParameterLocation::Cookie => &self.input.cookie,
        };
        let name = parameter.name.as_str();
        let value = values.get(name).filter(|value| !value.is_null());
        match (parameter.r#in, value) {
            (ParameterLocation::Path, value) => {
                let text =
                    value.map(|value| encode_path_parameter(parameter, value)).unwrap_or_default();
                if text.is_empty() || leaves_server(&text) {
                    let message = "must not be empty, and must not be `.` or `..`";
                    self.fault(pointer("path", name), message);
                }
                self.built.path = self.built.path.replace(&format!("{{{name}}}"), &text);
            }
            (ParameterLocation::Query, Some(value)) => {
                let text = &mut self.built.query;
                push_pairs(parameter, value, &mut Pairs { text, separator: "&" });
            }
            // Cookies are always separated by semicolons, also with a style for queries.
            (ParameterLocation::Cookie, Some(value)) => {
                let text = &mut self.cookies;
                push_pairs(parameter, value, &mut Pairs { text, separator: "; " });
            }
            (ParameterLocation::Header, Some(value)) => {
                let text = match &parameter.content_type {
                    Some(_) => value.to_string(),
                    None => simple(value, parameter.explode, &str::to_owned),
                };
                // Reject control characters to prevent header injection.
                if text.chars().any(char::is_control) {
                    self.fault(pointer("header", name), "must not contain control characters");
                }
                self.built.headers.push((name.to_ascii_lowercase(), text));
            }
            _ => {}
        }
    }

    /// Refuses query parameters that override the method, unless the action declares them or its path contains them. `fixed`
    /// is the query of that path.
    fn check_overriding(&mut self, fixed: &str) {
        let query = self.built.query.clone();
        for (name, value) in pairs(&query) {
            // The platform client removes the parameters that always override the method.
            if is_parameter(&name, "") || !is_parameter(&name, &value) {
                continue;
            }
            let mut parameters = self.action.parameters.iter();
            let is_declared = parameters
                .any(|known| known.r#in == ParameterLocation::Query && known.name == name)
                || pairs(fixed).any(|(fixed, _)| fixed == name);
            if is_declared {
                self.built.overriding.push(value.trim().to_ascii_uppercase());
            } else {
                let (name, message) = declared::refusal(&name);
                self.fault(pointer("query", &name), &message);
            }
        }
    }

    fn add_cookies(&mut self) {
        if !self.cookies.is_empty() {
            self.built.headers.push(("cookie".to_owned(), std::mem::take(&mut self.cookies)));
        }
    }

    fn add_body(&mut self, boundary: &str) {
        let (action, raw) = (self.action, self.input.body);
        let encoded_body = if let Some(graphql) = &action.graphql {
            let bytes = graphql.body(raw).map(|bytes| (JSON.to_owned(), bytes));
            bytes.map_err(|message| (SELECT.to_owned(), message.to_owned()))
        } else if let Some((body, raw)) = action.request_body.as_ref().zip(raw) {
            let overriding = &mut self.built.overriding;
            let mut declared =
                DeclaredMembers { input: &action.input, body: &body.schema, overriding };
            encode_body(body, raw, boundary, &mut declared)
        } else {
            return;
        };
        match encoded_body {
            Ok((content_type, bytes)) => {
                self.built.headers.push(("content-type".to_owned(), content_type));
                self.built.body = bytes;
            }
            Err((name, message)) if name.is_empty() => self.fault("/body".to_owned(), &message),
            Err((name, message)) => self.fault(pointer("body", &name), &message),
        }
    }
}

fn pointer(place: &str, name: &str) -> String {
    format!("/{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}
