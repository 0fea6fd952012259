//! The metadata documents with which clients discover the authorization server.

use serde_json::json;

use super::AgentContext;
use crate::agents::SCOPES;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::util::json;

impl<P: Ports> AgentContext<'_, P> {
    /// Returns the metadata of the protected resource (RFC 9728).
    pub(super) async fn resource(&self) -> Result<Response, Problem> {
        self.check_rate("metadata").await?;
        self.require_endpoint().await?;
        let issuer = self.issuer();
        let document = json!({
            "resource": issuer,
            "authorization_servers": [issuer],
            "scopes_supported": SCOPES.split(' ').collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
            "resource_name": self.wording.appearance.name.unwrap_or("connector-vault"),
        });
        Ok(Response::json(json::bytes(&document), NO_STORE))
    }

    /// Returns the metadata of the authorization server (RFC 8414).
    pub(super) async fn server(&self) -> Result<Response, Problem> {
        self.check_rate("metadata").await?;
        self.require_endpoint().await?;
        let issuer = self.issuer();
        let document = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "registration_endpoint": format!("{issuer}/register"),
            "revocation_endpoint": format!("{issuer}/revoke"),
            "scopes_supported": SCOPES.split(' ').collect::<Vec<_>>(),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": true,
            "client_id_metadata_document_supported": true,
        });
        Ok(Response::json(json::bytes(&document), NO_STORE))
    }
}
