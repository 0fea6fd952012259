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
use crate::api::session::SESSION_FIELDS;
use crate::api::vault::create::CREATE_FIELDS;
use crate::api::vault::list::check_query;
use crate::api::vault::update::UPDATE_FIELDS;
use crate::api::vault::{not_found, stored_id};
use crate::nearest::beginning;

/// What is asked of the service: something that it would not refuse for how it is asked.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Call {
    verb: Verb,
    /// Path and query.
    address: String,
    body: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

impl Call {
    #[inline(never)]
    fn new(verb: Verb, target: &Target, query: &str, body: Option<String>) -> Self {
        let mark = if query.is_empty() { "" } else { "?" };
        Self { verb, address: format!("{}{mark}{query}", target.path()), body }
    }
}

#[wasm_bindgen]
impl Call {
    /// `GET /v1/whoami`
    #[must_use]
    pub fn whoami() -> Self {
        Self::new(Verb::Get, &Target::Whoami, "", None)
    }

    /// `POST /v1/sessions`. `body` is sent, `parsed` is what it means.
    ///
    /// # Errors
    /// With all faults of the body, but scopes that the key lacks.
    #[wasm_bindgen(js_name = createSession)]
    pub fn create_session(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        body::check(&body, parsed, &SESSION_FIELDS)?;
        Ok(Self::new(Verb::Post, &Target::Sessions, "", Some(body)))
    }

    /// `GET /v1/vault/summary`
    #[must_use]
    pub fn summary() -> Self {
        Self::new(Verb::Get, &Target::Summary, "", None)
    }

    /// `GET /v1/available-connectors`
    ///
    /// # Errors
    /// With all faults of the query.
    #[wasm_bindgen(js_name = listConnectors)]
    pub fn list_connectors(query: &str) -> Result<Call, JsValue> {
        QueryReader::new(query, &CONNECTOR_PARAMETERS).finish().map_err(Failure::from)?;
        Ok(Self::new(Verb::Get, &Target::Connectors, query, None))
    }

    /// `GET /v1/available-actions/{platform}`. Whether there is such a platform, and which ones may have been meant, is for
    /// the service to say; but some texts would lead elsewhere.
    ///
    /// # Errors
    /// When the platform can't be one, or with all faults of the query.
    #[wasm_bindgen(js_name = listActions)]
    pub fn list_actions(platform: String, query: &str) -> Result<Call, JsValue> {
        QueryReader::new(query, &ACTION_PARAMETERS).finish().map_err(Failure::from)?;
        if ["", ".", ".."].contains(&platform.as_str()) || platform.contains('\0') {
            let detail = format!("The catalog has no platform `{}`.", beginning(&platform));
            return Err(Failure::from(Problem::new(Code::PlatformNotFound, detail)).into());
        }
        Ok(Self::new(Verb::Get, &Target::Actions { platform }, query, None))
    }

    /// `GET /v1/vault/connections`
    ///
    /// # Errors
    /// With all faults of the query, but a cursor of another list.
    #[wasm_bindgen(js_name = listConnections)]
    pub fn list_connections(query: &str) -> Result<Call, JsValue> {
        check_query(query).finish().map_err(Failure::from)?;
        Ok(Self::new(Verb::Get, &Target::Connections, query, None))
    }

    /// `GET /v1/vault/connections/{id}`
    ///
    /// # Errors
    /// When the id can't be one.
    #[wasm_bindgen(js_name = getConnection)]
    pub fn get_connection(id: &str) -> Result<Call, JsValue> {
        Ok(Self::new(Verb::Get, &connection(id)?, "", None))
    }

    /// `PATCH /v1/vault/connections/{id}`. `body` is sent, `parsed` is what it means.
    ///
    /// # Errors
    /// When the id can't be one, or with all faults of the body.
    #[wasm_bindgen(js_name = updateConnection)]
    pub fn update_connection(id: &str, body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        body::check(&body, parsed, &UPDATE_FIELDS)?;
        Ok(Self::new(Verb::Patch, &connection(id)?, "", Some(body)))
    }

    /// `POST /v1/vault/connections`. `body` is sent, `parsed` is what it means.
    ///
    /// # Errors
    /// With all faults of the body, but an unknown platform.
    #[wasm_bindgen(js_name = createConnection)]
    pub fn create_connection(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        body::check(&body, parsed, &CREATE_FIELDS)?;
        Ok(Self::new(Verb::Post, &Target::Connections, "", Some(body)))
    }

    /// `DELETE /v1/vault/connections/{id}`
    ///
    /// # Errors
    /// When the id can't be one.
    #[wasm_bindgen(js_name = deleteConnection)]
    pub fn delete_connection(id: &str) -> Result<Call, JsValue> {
        Ok(Self::new(Verb::Delete, &connection(id)?, "", None))
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
        let method = match self.verb {
            Verb::Get => Method::GET,
            Verb::Post => Method::POST,
            Verb::Patch => Method::PATCH,
            Verb::Delete => Method::DELETE,
        };
        if self.body.is_some() {
            headers.set("content-type", "application/json")?;
        }
        // A redirect would take the secret along to wherever it leads.
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

fn connection(id: &str) -> Result<Target, Failure> {
    let id = stored_id(id).ok_or_else(not_found)?;
    Ok(Target::Connection { id })
}
