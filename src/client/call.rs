//! Builds the request of each API operation and validates it with the code of the service.

use gloo_net::http::{Headers, RequestBuilder};
use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{AbortSignal, Request, RequestRedirect};

use super::body;
use super::failure::Failure;
use crate::connections::endpoints::list::check_combinations;
use crate::connections::model::ConnectionId;
use crate::http::endpoint::{Keyed, is_parameter};
use crate::http::problem::{Code, Problem};
use crate::http::query::QueryReader;
use crate::terms::Method;
use crate::util::nearest::shown;

/// A validated request.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Call {
    method: Method,
    /// The path and the query of the URL.
    address: String,
    body: Option<String>,
}

/// Validates the value of a path parameter and returns it as it is sent. A string that would change
/// the path is rejected with the service's response for an unknown name. `platform` is the value of
/// `{platform}` in the path.
fn argument(
    endpoint: Keyed,
    parameter: &str,
    value: String,
    platform: &str,
) -> Result<String, Problem> {
    let path = endpoint.spec().path;
    if parameter == "{id}" && path.starts_with("/v1/vault/connections/") {
        let id = ConnectionId::parse(&value).ok_or_else(Problem::connection_not_found)?;
        return Ok(id.as_str().to_owned());
    }
    if !["", ".", ".."].contains(&value.as_str()) && !value.contains('\0') {
        return Ok(value);
    }
    let shown_value = shown(&value);
    let (code, detail) = match (parameter, path.split('/').nth(2)) {
        ("{platform}", _) => {
            (Code::PlatformNotFound, format!("The catalog has no platform `{shown_value}`."))
        }
        ("{key}", _) => {
            let platform = shown(platform);
            let detail = format!("The platform `{platform}` has no action `{shown_value}`.");
            (Code::ActionNotFound, detail)
        }
        (_, Some("webhooks")) => {
            (Code::WebhookNotFound, format!("There is no webhook `{shown_value}`."))
        }
        (_, Some("keys")) => {
            (Code::KeyNotFound, format!("There is no API key with the id `{shown_value}`."))
        }
        (_, Some("agent-grants")) => (Code::AgentGrantNotFound, "There is no such grant.".into()),
        (_, Some("console-sessions")) => {
            (Code::ConsoleSessionNotFound, "There is no such session.".into())
        }
        _ => (Code::AttemptNotFound, "There is no such connect attempt.".into()),
    };
    Err(Problem::new(code, detail))
}

/// Validates the values of the parameters in an endpoint's path.
fn path_arguments(endpoint: Keyed, values: &Array) -> Result<Vec<String>, Problem> {
    let parameters = endpoint.spec().path.split('/').filter(|segment| is_parameter(segment));
    let mut checked: Vec<String> = Vec::new();
    for (parameter, value) in parameters.zip(values.iter()) {
        let platform =
            checked.first().filter(|_| parameter == "{key}" && !endpoint.calls_platform());
        let platform = platform.cloned().unwrap_or_default();
        let value = value.as_string().unwrap_or_default();
        checked.push(argument(endpoint, parameter, value, &platform)?);
    }
    Ok(checked)
}

#[wasm_bindgen]
impl Call {
    /// Creates the request of an API operation from its `operationId`. `path` contains the values
    /// of the path parameters. `body` is the body to send, and `parsed` its value. Does not
    /// validate platforms, actions and their inputs, because only the service has the catalog.
    pub fn of(
        operation: &str,
        #[wasm_bindgen(unchecked_param_type = "readonly string[]")] path: &Array,
        #[wasm_bindgen(unchecked_optional_param_type = "string")] query: Option<String>,
        #[wasm_bindgen(unchecked_optional_param_type = "string")] body: Option<String>,
        #[wasm_bindgen(unchecked_optional_param_type = "unknown")] parsed: &JsValue,
    ) -> Result<Call, JsValue> {
        let endpoint = Keyed::from_operation_id(operation)
            .ok_or_else(|| Failure::from(Problem::route_not_found()))?;
        let spec = endpoint.spec();
        let query = query.unwrap_or_default();
        let mut reader = QueryReader::new(&query, spec.query);
        if endpoint == Keyed::ListConnections {
            check_combinations(&mut reader);
        }
        reader.finish().map_err(Failure::from)?;
        if let Some(body) = &body {
            body::check(body, parsed, spec)?;
        }
        let arguments = path_arguments(endpoint, path).map_err(Failure::from)?;
        let mut address = endpoint.address(&arguments);
        if !query.is_empty() {
            address.push('?');
            address.push_str(&query);
        }
        Ok(Self { method: spec.method, address, body })
    }

    /// Builds the HTTP request. A request can be sent only once, so each attempt builds its own.
    /// `base` is the service's URL without a trailing slash.
    pub fn request(
        &self,
        base: &str,
        headers: web_sys::Headers,
        signal: &AbortSignal,
    ) -> Result<Request, JsValue> {
        let method = match self.method {
            Method::Get => gloo_net::http::Method::GET,
            Method::Post => gloo_net::http::Method::POST,
            Method::Put => gloo_net::http::Method::PUT,
            Method::Patch => gloo_net::http::Method::PATCH,
            Method::Delete => gloo_net::http::Method::DELETE,
        };
        if self.body.is_some() {
            headers.set("content-type", "application/json")?;
        }
        // Never follows redirects: the secret would be sent to the redirect's target.
        let builder = RequestBuilder::new(&format!("{base}{}", self.address))
            .method(method)
            .headers(Headers::from_raw(headers))
            .redirect(RequestRedirect::Manual)
            .abort_signal(Some(signal));
        let request = match &self.body {
            Some(body) => builder.body(body),
            None => builder.build(),
        };
        request.map(Request::from).map_err(|error| match error {
            gloo_net::Error::JsError(error) => error.message.into(),
            gloo_net::Error::GlooError(message) => message.into(),
        })
    }
}
