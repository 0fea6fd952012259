//! `POST /mcp/{endpointId}/register`: dynamic client registration (RFC 7591). Registrations are not
//! stored.

use super::{AgentContext, oauth_error};
use crate::agents::client::{Client, MetadataError};
use crate::auth::endpoints::session::new::no_session_secret;
use crate::http::body::require_json;
use crate::http::message::{Body, NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::util::json;

impl<P: Ports> AgentContext<'_, P> {
    pub(super) async fn register(&self, request: &Request) -> Result<Response, Problem> {
        self.check_rate("register").await?;
        self.require_endpoint().await?;
        let invalid = |message: &str| Ok(oauth_error(400, "invalid_client_metadata", message));
        if let Err(problem) = require_json(request) {
            return invalid(&problem.detail);
        }
        let Body::Whole(bytes) = &request.body else {
            return invalid("The body is larger than 64 KiB.");
        };
        match Client::register(self.secrets(), self.id, bytes, self.now) {
            Err(MetadataError { code, message }) => Ok(oauth_error(400, code, message)),
            Ok(None) => Err(no_session_secret()),
            Ok(Some(registration)) => {
                let response = Response::json(json::bytes(&registration), NO_STORE);
                Ok(Response { status: 201, ..response })
            }
        }
    }
}
