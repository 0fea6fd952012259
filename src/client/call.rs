//! The request of each method of the package, validated with the service's own code.

use gloo_net::http::{Headers, RequestBuilder};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{AbortSignal, Request, RequestRedirect};

use super::body;
use super::failure::Failure;
use crate::connections::endpoints::list::check_together;
use crate::connections::model::ConnectionId;
use crate::http::endpoint::Keyed;
use crate::http::problem::{Code, Problem};
use crate::http::query::QueryReader;
use crate::terms::Method;
use crate::util::nearest::shown;

/// A request that the service won't reject as malformed.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Call {
    method: Method,
    /// The path and the query.
    address: String,
    body: Option<String>,
}

impl Call {
    /// `arguments` replace the parameters of the endpoint's path.
    fn to(endpoint: Keyed, arguments: &[&str]) -> Self {
        let method = endpoint.spec().method;
        Self { method, address: endpoint.address(arguments), body: None }
    }

    /// `query` must be valid.
    fn with_query(mut self, query: &str) -> Self {
        if !query.is_empty() {
            self.address.push('?');
            self.address.push_str(query);
        }
        self
    }

    /// `body` must be valid.
    fn with_body(self, body: String) -> Self {
        Self { body: Some(body), ..self }
    }
}

/// Checks a body against the endpoint's fields and returns it. `parsed` is its value.
fn checked(endpoint: Keyed, body: String, parsed: &JsValue) -> Result<String, Failure> {
    body::check(&body, parsed, endpoint.spec())?;
    Ok(body)
}

/// Encodes a path segment. Fails for a string that would change the path, with the service's response for an unknown
/// name: `absent`.
fn segment(text: &str, absent: impl FnOnce() -> Problem) -> Result<&str, Failure> {
    let leads_elsewhere = ["", ".", ".."].contains(&text) || text.contains('\0');
    if leads_elsewhere { Err(absent().into()) } else { Ok(text) }
}

fn platform_segment(platform: &str) -> Result<&str, Failure> {
    segment(platform, || {
        let detail = format!("The catalog has no platform `{}`.", shown(platform));
        Problem::new(Code::PlatformNotFound, detail)
    })
}

fn webhook_segment(id: &str) -> Result<&str, Failure> {
    segment(id, || {
        let detail = format!("There is no webhook `{}`.", shown(id));
        Problem::new(Code::WebhookNotFound, detail)
    })
}

fn key_segment(id: &str) -> Result<&str, Failure> {
    segment(id, || {
        let detail = format!("There is no API key with the id `{}`.", shown(id));
        Problem::new(Code::KeyNotFound, detail)
    })
}

fn action_segment<'a>(platform: &str, key: &'a str) -> Result<&'a str, Failure> {
    segment(key, || {
        let detail = format!("The platform `{}` has no action `{}`.", shown(platform), shown(key));
        Problem::new(Code::ActionNotFound, detail)
    })
}

/// Reads a query against the endpoint's parameters.
fn read(endpoint: Keyed, query: &str) -> QueryReader<'_> {
    QueryReader::new(query, endpoint.spec().query)
}

#[wasm_bindgen]
impl Call {
    /// `GET /v1/whoami`
    pub fn whoami() -> Self {
        Self::to(Keyed::Whoami, &[])
    }

    /// `POST /v1/sessions`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = createSession)]
    pub fn create_session(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::CreateSession;
        Ok(Self::to(endpoint, &[]).with_body(checked(endpoint, body, parsed)?))
    }

    /// `GET /v1/vault/summary`
    pub fn summary() -> Self {
        Self::to(Keyed::Summary, &[])
    }

    /// `GET /v1/available-connectors`
    #[wasm_bindgen(js_name = listConnectors)]
    pub fn list_connectors(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListConnectors;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `GET /v1/available-actions`
    #[wasm_bindgen(js_name = searchActions)]
    pub fn search_actions(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::SearchActions;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `GET /v1/available-actions/{platform}`. Only the service knows the platforms, but a string that would change the
    /// path is rejected here.
    #[wasm_bindgen(js_name = listActions)]
    pub fn list_actions(platform: &str, query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListActions;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[platform_segment(platform)?]).with_query(query))
    }

    /// `GET /v1/available-actions/{platform}/{key}`. Only the service knows the actions.
    #[wasm_bindgen(js_name = getAction)]
    pub fn get_action(platform: &str, key: &str, query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::GetAction;
        read(endpoint, query).finish().map_err(Failure::from)?;
        let arguments = [platform_segment(platform)?, action_segment(platform, key)?];
        Ok(Self::to(endpoint, &arguments).with_query(query))
    }

    /// `GET /v1/available-connectors/{platform}`. Only the service knows the platforms.
    #[wasm_bindgen(js_name = getConnector)]
    pub fn get_connector(platform: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::GetConnector, &[platform_segment(platform)?]))
    }

    /// `GET /v1/vault/connections`
    #[wasm_bindgen(js_name = listConnections)]
    pub fn list_connections(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListConnections;
        let mut reader = read(endpoint, query);
        check_together(&mut reader);
        reader.finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `GET /v1/vault/connections/{id}`
    #[wasm_bindgen(js_name = getConnection)]
    pub fn get_connection(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::ReadConnection, &[connection(id)?.as_str()]))
    }

    /// `PATCH /v1/vault/connections/{id}`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = updateConnection)]
    pub fn update_connection(id: &str, body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        change(Keyed::UpdateConnection, id, body, parsed)
    }

    /// `PUT /v1/vault/connections/{id}/state`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = setState)]
    pub fn set_state(id: &str, body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        change(Keyed::SetConnectionState, id, body, parsed)
    }

    /// `PUT /v1/vault/connections/{id}/name`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = setName)]
    pub fn set_name(id: &str, body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        change(Keyed::SetConnectionName, id, body, parsed)
    }

    /// `POST /v1/vault/connections`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = createConnection)]
    pub fn create_connection(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::CreateConnection;
        Ok(Self::to(endpoint, &[]).with_body(checked(endpoint, body, parsed)?))
    }

    /// `DELETE /v1/vault/connections/{id}`
    #[wasm_bindgen(js_name = deleteConnection)]
    pub fn delete_connection(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::DeleteConnection, &[connection(id)?.as_str()]))
    }

    /// `GET /v1/vault/connections/{id}/status`
    #[wasm_bindgen(js_name = getStatus)]
    pub fn get_status(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::GetStatus, &[connection(id)?.as_str()]))
    }

    /// `POST /v1/vault/connections/{id}/check`
    #[wasm_bindgen(js_name = checkConnection)]
    pub fn check_connection(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::CheckConnection, &[connection(id)?.as_str()]))
    }

    /// `GET /v1/vault/connections/{id}/credentials`
    #[wasm_bindgen(js_name = getCredentials)]
    pub fn get_credentials(id: &str, query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::GetCredentials;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[connection(id)?.as_str()]).with_query(query))
    }

    /// `POST /v1/vault/connections/{id}/actions/{key}`. `body` is sent, `parsed` is its value. Only the service knows
    /// the input that the action takes.
    #[wasm_bindgen(js_name = runAction)]
    pub fn run_action(
        id: &str,
        key: &str,
        body: String,
        parsed: &JsValue,
    ) -> Result<Call, JsValue> {
        let endpoint = Keyed::RunAction;
        let body = checked(endpoint, body, parsed)?;
        let id = connection(id)?;
        let arguments = [id.as_str(), action_segment("", key)?];
        Ok(Self::to(endpoint, &arguments).with_body(body))
    }

    /// `PUT /v1/vault/connections/{id}/credentials`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = setCredentials)]
    pub fn set_credentials(id: &str, body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        change(Keyed::SetCredentials, id, body, parsed)
    }

    /// `POST /v1/vault/connections/import`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = importConnections)]
    pub fn import_connections(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::ImportConnections;
        Ok(Self::to(endpoint, &[]).with_body(checked(endpoint, body, parsed)?))
    }

    /// `POST /v1/vault/connect`. `body` is sent, `parsed` is its value.
    pub fn connect(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::Connect;
        Ok(Self::to(endpoint, &[]).with_body(checked(endpoint, body, parsed)?))
    }

    /// `GET /v1/vault/connect`
    #[wasm_bindgen(js_name = listAttempts)]
    pub fn list_attempts(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListAttempts;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `GET /v1/vault/connect/{id}`
    #[wasm_bindgen(js_name = getAttempt)]
    pub fn get_attempt(id: &str, query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::GetAttempt;
        read(endpoint, query).finish().map_err(Failure::from)?;
        let id = segment(id, || {
            Problem::new(Code::AttemptNotFound, "There is no such connect attempt.")
        })?;
        Ok(Self::to(endpoint, &[id]).with_query(query))
    }

    /// `GET /v1/oauth-clients`
    #[wasm_bindgen(js_name = listOauthClients)]
    pub fn list_oauth_clients(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListOauthClients;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `GET /v1/oauth-clients/{platform}`
    #[wasm_bindgen(js_name = getOauthClient)]
    pub fn get_oauth_client(platform: &str, query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::GetOauthClient;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[platform_segment(platform)?]).with_query(query))
    }

    /// `PUT /v1/oauth-clients/{platform}`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = setOauthClient)]
    pub fn set_oauth_client(
        platform: &str,
        query: &str,
        body: String,
        parsed: &JsValue,
    ) -> Result<Call, JsValue> {
        let endpoint = Keyed::SetOauthClient;
        read(endpoint, query).finish().map_err(Failure::from)?;
        let body = checked(endpoint, body, parsed)?;
        Ok(Self::to(endpoint, &[platform_segment(platform)?]).with_query(query).with_body(body))
    }

    /// `DELETE /v1/oauth-clients/{platform}`
    #[wasm_bindgen(js_name = deleteOauthClient)]
    pub fn delete_oauth_client(platform: &str, query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::DeleteOauthClient;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[platform_segment(platform)?]).with_query(query))
    }

    /// `GET /v1/agent-sign-in`
    #[wasm_bindgen(js_name = getAgentSignIn)]
    pub fn get_agent_sign_in() -> Self {
        Self::to(Keyed::GetAgentSignIn, &[])
    }

    /// `PUT /v1/agent-sign-in`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = setAgentSignIn)]
    pub fn set_agent_sign_in(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::SetAgentSignIn;
        Ok(Self::to(endpoint, &[]).with_body(checked(endpoint, body, parsed)?))
    }

    /// `DELETE /v1/agent-sign-in`
    #[wasm_bindgen(js_name = deleteAgentSignIn)]
    pub fn delete_agent_sign_in() -> Self {
        Self::to(Keyed::DeleteAgentSignIn, &[])
    }

    /// `GET /v1/console-sign-in`
    #[wasm_bindgen(js_name = getConsoleSignIn)]
    pub fn get_console_sign_in() -> Self {
        Self::to(Keyed::GetConsoleSignIn, &[])
    }

    /// `PUT /v1/console-sign-in`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = setConsoleSignIn)]
    pub fn set_console_sign_in(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::SetConsoleSignIn;
        Ok(Self::to(endpoint, &[]).with_body(checked(endpoint, body, parsed)?))
    }

    /// `DELETE /v1/console-sign-in`
    #[wasm_bindgen(js_name = deleteConsoleSignIn)]
    pub fn delete_console_sign_in() -> Self {
        Self::to(Keyed::DeleteConsoleSignIn, &[])
    }

    /// `DELETE /v1/console-sessions/current`
    #[wasm_bindgen(js_name = signOut)]
    pub fn sign_out() -> Self {
        Self::to(Keyed::SignOut, &[])
    }

    /// `GET /v1/audit`
    #[wasm_bindgen(js_name = listAudit)]
    pub fn list_audit(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListAudit;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `GET /v1/usage`
    #[wasm_bindgen(js_name = getUsage)]
    pub fn get_usage(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::GetUsage;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `GET /v1/agent-grants`
    #[wasm_bindgen(js_name = listAgentGrants)]
    pub fn list_agent_grants(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListAgentGrants;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `POST /v1/agent-grants`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = createAgentGrant)]
    pub fn create_agent_grant(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::CreateAgentGrant;
        Ok(Self::to(endpoint, &[]).with_body(checked(endpoint, body, parsed)?))
    }

    /// `DELETE /v1/agent-grants/{id}`
    #[wasm_bindgen(js_name = deleteAgentGrant)]
    pub fn delete_agent_grant(id: &str) -> Result<Call, JsValue> {
        let id = segment(id, || Problem::new(Code::AgentGrantNotFound, "There is no such grant."))?;
        Ok(Self::to(Keyed::DeleteAgentGrant, &[id]))
    }

    /// `GET /v1/console-sessions`
    #[wasm_bindgen(js_name = listConsoleSessions)]
    pub fn list_console_sessions(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListConsoleSessions;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `DELETE /v1/console-sessions/{id}`
    #[wasm_bindgen(js_name = deleteConsoleSession)]
    pub fn delete_console_session(id: &str) -> Result<Call, JsValue> {
        let none = || Problem::new(Code::ConsoleSessionNotFound, "There is no such session.");
        Ok(Self::to(Keyed::DeleteConsoleSession, &[segment(id, none)?]))
    }

    /// `GET /v1/events`
    #[wasm_bindgen(js_name = listEvents)]
    pub fn list_events(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListEvents;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `GET /v1/webhooks`
    #[wasm_bindgen(js_name = listWebhooks)]
    pub fn list_webhooks() -> Self {
        Self::to(Keyed::ListWebhooks, &[])
    }

    /// `POST /v1/webhooks`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = createWebhook)]
    pub fn create_webhook(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::CreateWebhook;
        Ok(Self::to(endpoint, &[]).with_body(checked(endpoint, body, parsed)?))
    }

    /// `GET /v1/webhooks/{id}`
    #[wasm_bindgen(js_name = getWebhook)]
    pub fn get_webhook(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::GetWebhook, &[webhook_segment(id)?]))
    }

    /// `PATCH /v1/webhooks/{id}`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = updateWebhook)]
    pub fn update_webhook(id: &str, body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::UpdateWebhook;
        let body = checked(endpoint, body, parsed)?;
        Ok(Self::to(endpoint, &[webhook_segment(id)?]).with_body(body))
    }

    /// `DELETE /v1/webhooks/{id}`
    #[wasm_bindgen(js_name = deleteWebhook)]
    pub fn delete_webhook(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::DeleteWebhook, &[webhook_segment(id)?]))
    }

    /// `POST /v1/webhooks/{id}/rotate`
    #[wasm_bindgen(js_name = rotateWebhook)]
    pub fn rotate_webhook(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::RotateWebhook, &[webhook_segment(id)?]))
    }

    /// `POST /v1/webhooks/{id}/test`
    #[wasm_bindgen(js_name = testWebhook)]
    pub fn test_webhook(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::TestWebhook, &[webhook_segment(id)?]))
    }

    /// `POST /v1/webhooks/{id}/replay`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = replayEvents)]
    pub fn replay_events(id: &str, body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::ReplayEvents;
        let body = checked(endpoint, body, parsed)?;
        Ok(Self::to(endpoint, &[webhook_segment(id)?]).with_body(body))
    }

    /// `GET /v1/webhooks/{id}/deliveries`
    #[wasm_bindgen(js_name = listDeliveries)]
    pub fn list_deliveries(id: &str, query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListDeliveries;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[webhook_segment(id)?]).with_query(query))
    }

    /// `GET /v1/keys`
    #[wasm_bindgen(js_name = listKeys)]
    pub fn list_keys(query: &str) -> Result<Call, JsValue> {
        let endpoint = Keyed::ListKeys;
        read(endpoint, query).finish().map_err(Failure::from)?;
        Ok(Self::to(endpoint, &[]).with_query(query))
    }

    /// `POST /v1/keys`. `body` is sent, `parsed` is its value.
    #[wasm_bindgen(js_name = createKey)]
    pub fn create_key(body: String, parsed: &JsValue) -> Result<Call, JsValue> {
        let endpoint = Keyed::CreateKey;
        Ok(Self::to(endpoint, &[]).with_body(checked(endpoint, body, parsed)?))
    }

    /// `POST /v1/keys/{id}/rotate`
    #[wasm_bindgen(js_name = rotateKey)]
    pub fn rotate_key(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::RotateKey, &[key_segment(id)?]))
    }

    /// `DELETE /v1/keys/{id}`
    #[wasm_bindgen(js_name = revokeKey)]
    pub fn revoke_key(id: &str) -> Result<Call, JsValue> {
        Ok(Self::to(Keyed::RevokeKey, &[key_segment(id)?]))
    }

    /// Builds a request; every attempt needs its own. `base` is the service's URL without a trailing slash.
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
        // Following a redirect would send the secret to its target.
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

/// A request that changes the connection `id`.
fn change(endpoint: Keyed, id: &str, body: String, parsed: &JsValue) -> Result<Call, JsValue> {
    let body = checked(endpoint, body, parsed)?;
    Ok(Call::to(endpoint, &[connection(id)?.as_str()]).with_body(body))
}

fn connection(id: &str) -> Result<ConnectionId, Failure> {
    ConnectionId::parse(id).ok_or_else(|| Problem::no_connection().into())
}
