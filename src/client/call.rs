//! What each method of the package asks for, checked with the code that the service checks it with.

use gloo_net::http::{Headers, Method, RequestBuilder};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{AbortSignal, Request, RequestRedirect};

use super::body;
use super::failure::Failure;
use crate::api::catalog::{ACTION_PARAMETERS, CONNECTOR_PARAMETERS};
use crate::api::problem::{Code, Problem};
use crate::api::query::QueryReader;
use crate::api::route::Target;
use crate::api::vault::create::CREATE_FIELDS;
use crate::api::vault::list::check_query;
use crate::api::vault::update::UPDATE_FIELDS;
use crate::api::vault::{not_found, stored_id};
use crate::nearest::beginning;

/// What is asked of the service: something that it would not refuse for how it is asked.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Call {
    method: Method,
    target: Target,
    query: String,
    body: Option<String>,
}

impl Call {
    fn new(method: Method, target: Target) -> Self {
        Self { method, target, query: String::new(), body: None }
    }

    fn list(target: Target, query: String) -> Self {
        Self { query, ..Self::new(Method::GET, target) }
    }
}

#[wasm_bindgen]
impl Call {
    /// `GET /v1/whoami`
    #[must_use]
    pub fn whoami() -> Self {
        Self::new(Method::GET, Target::Whoami)
    }

    /// `GET /v1/vault/summary`
    #[must_use]
    pub fn summary() -> Self {
        Self::new(Method::GET, Target::Summary)
    }

    /// `GET /v1/available-connectors`
    ///
    /// # Errors
    /// With all faults of the query.
    #[wasm_bindgen(js_name = listConnectors)]
    pub fn list_connectors(query: String) -> Result<Call, JsValue> {
        QueryReader::new(&query, &CONNECTOR_PARAMETERS).finish().map_err(Failure::from)?;
        Ok(Self::list(Target::Connectors, query))
    }

    /// `GET /v1/available-actions/{platform}`. Whether there is such a platform, and which ones may have been meant, is for
    /// the service to say; but some texts would lead elsewhere.
    ///
    /// # Errors
    /// When the platform can't be one, or with all faults of the query.
    #[wasm_bindgen(js_name = listActions)]
    pub fn list_actions(platform: String, query: String) -> Result<Call, JsValue> {
        if ["", ".", ".."].contains(&platform.as_str()) || platform.contains('\0') {
            let detail = format!("The catalog has no platform `{}`.", beginning(&platform));
            return Err(Failure::from(Problem::new(Code::PlatformNotFound, detail)).into());
        }
        QueryReader::new(&query, &ACTION_PARAMETERS).finish().map_err(Failure::from)?;
        Ok(Self::list(Target::Actions { platform }, query))
    }

    /// `GET /v1/vault/connections`
    ///
    /// # Errors
    /// With all faults of the query, but a cursor of another list.
    #[wasm_bindgen(js_name = listConnections)]
    pub fn list_connections(query: String) -> Result<Call, JsValue> {
        check_query(&query).finish().map_err(Failure::from)?;
        Ok(Self::list(Target::Connections, query))
    }

    /// `GET /v1/vault/connections/{id}`
    ///
    /// # Errors
    /// When the id can't be one.
    #[wasm_bindgen(js_name = getConnection)]
    pub fn get_connection(id: &str) -> Result<Call, JsValue> {
        Ok(Self::new(Method::GET, connection(id)?))
    }

    /// `PATCH /v1/vault/connections/{id}`. `body` is sent, `parsed` is what it means.
    ///
    /// # Errors
    /// When the id can't be one, or with all faults of the body.
    #[wasm_bindgen(js_name = updateConnection)]
    pub fn update_connection(id: &str, body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let target = connection(id)?;
        body::check(&body, parsed, &UPDATE_FIELDS)?;
        Ok(Self { body: Some(body), ..Self::new(Method::PATCH, target) })
    }

    /// `POST /v1/vault/connections`. `body` is sent, `parsed` is what it means.
    ///
    /// # Errors
    /// With all faults of the body, but an unknown platform.
    #[wasm_bindgen(js_name = createConnection)]
    pub fn create_connection(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        body::check(&body, parsed, &CREATE_FIELDS)?;
        Ok(Self { body: Some(body), ..Self::new(Method::POST, Target::Connections) })
    }

    /// `DELETE /v1/vault/connections/{id}`
    ///
    /// # Errors
    /// When the id can't be one.
    #[wasm_bindgen(js_name = deleteConnection)]
    pub fn delete_connection(id: &str) -> Result<Call, JsValue> {
        Ok(Self::new(Method::DELETE, connection(id)?))
    }

    /// A request of the call; each try needs one of its own. `base` is the service's address without a slash at its end.
    ///
    /// # Errors
    /// With what the platform refuses it for.
    pub fn request(
        &self,
        base: &str,
        headers: web_sys::Headers,
        signal: &AbortSignal,
    ) -> Result<Request, JsValue> {
        let path = self.target.path();
        let query = if self.query.is_empty() { "" } else { "?" };
        // A redirect would take the secret along to wherever it leads.
        let builder = RequestBuilder::new(&[base, &path, query, &self.query].concat())
            .method(self.method.clone())
            .headers(Headers::from_raw(headers))
            .redirect(RequestRedirect::Manual)
            .abort_signal(Some(signal));
        let request = match &self.body {
            Some(body) => builder.body(body),
            None => builder.build(),
        };
        Ok(request.map_err(|error| JsValue::from(error.to_string()))?.into())
    }
}

fn connection(id: &str) -> Result<Target, Failure> {
    let id = stored_id(id).ok_or_else(not_found)?;
    Ok(Target::Connection { id })
}
