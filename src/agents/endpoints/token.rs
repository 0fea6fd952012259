//! `POST /mcp/{endpointId}/token` and `POST /mcp/{endpointId}/revoke`. Each runs one batch.

use serde_json::json;

use super::{AgentContext, RESOURCE, form, oauth_error};
use crate::agents::Access;
use crate::agents::client::Client;
use crate::agents::grant::{Grant, State};
use crate::agents::refresh::RefreshToken;
use crate::agents::statements::{self, BrowserStep};
use crate::audit::statements::grant_agent_actor;
use crate::auth::Shard;
use crate::auth::endpoints::session::new::no_session_secret;
use crate::auth::key::hash;
use crate::http::form::Form;
use crate::http::message::{NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::oidc::{challenge, is_secret};
use crate::ports::{Db as _, Ports, first_row};
use crate::util::json;

fn invalid_grant() -> Response {
    oauth_error(
        400,
        "invalid_grant",
        "The code or refresh token is no longer valid, or was issued to another client. Ask the user to connect again.",
    )
}

fn missing(name: &str) -> Response {
    oauth_error(400, "invalid_request", &format!("`{name}` is required."))
}

impl<P: Ports> AgentContext<'_, P> {
    pub(super) async fn token(&self, request: &Request) -> Result<Response, Problem> {
        let form = match form(request, &[RESOURCE]) {
            Ok(form) => form,
            Err(refusal) => return Ok(*refusal),
        };
        let Some(client) = form.get("client_id") else { return Ok(missing("client_id")) };
        let is_known = Client::is_document_url(client)
            || Client::from_registration(self.secrets(), self.id, client).is_some();
        if !is_known {
            return Ok(oauth_error(400, "invalid_client", "The client is not registered here."));
        }
        if !self.targets_this_endpoint(&form) {
            let message = "`resource` is not the address of this endpoint.";
            return Ok(oauth_error(400, "invalid_target", message));
        }
        match form.get("grant_type") {
            Some("authorization_code") => self.exchange(&form, &hash(client)).await,
            Some("refresh_token") => self.refresh(&form, &hash(client)).await,
            Some(_) => {
                let message = "`grant_type` must be `authorization_code` or `refresh_token`.";
                Ok(oauth_error(400, "unsupported_grant_type", message))
            }
            None => Ok(missing("grant_type")),
        }
    }

    async fn exchange(&self, form: &Form, client_hash: &str) -> Result<Response, Problem> {
        let Some(code) = form.get("code") else { return Ok(missing("code")) };
        let Some(verifier) = form.get("code_verifier") else { return Ok(missing("code_verifier")) };
        let Some(challenge) = challenge(verifier) else {
            return Ok(oauth_error(
                400,
                "invalid_request",
                "`code_verifier` must have 43 to 128 characters of A-Z, a-z, 0-9, -, ., _ and ~.",
            ));
        };
        if !is_secret(code) {
            return Ok(invalid_grant());
        }
        self.check_rate(client_hash).await?;
        let step = BrowserStep {
            endpoint: self.id,
            browser_hash: "",
            claimed_by: self.request_id,
            now: self.now,
        };
        let client = (client_hash, form.get("redirect_uri"), challenge.as_str());
        let sets = self.batch(statements::exchange(step, code, client).into()).await?;
        let grant: Option<Grant> = first_row(&sets, 2)?;
        let is_own = |grant: &Grant| grant.state == State::Active && self.has_claimed(grant);
        match grant.filter(is_own) {
            Some(grant) => {
                let (endpoint, id) = (grant.endpoint.clone(), grant.id.clone());
                let first = RefreshToken { endpoint, grant: id, generation: 1 };
                self.issue(&grant, &first, grant.access)
            }
            None => Ok(invalid_grant()),
        }
    }

    async fn refresh(&self, form: &Form, client_hash: &str) -> Result<Response, Problem> {
        let Some(text) = form.get("refresh_token") else { return Ok(missing("refresh_token")) };
        let Some(token) = RefreshToken::verify(self.secrets(), self.id, text) else {
            return Ok(invalid_grant());
        };
        // The rate limit is per grant. Client IDs are public, so with a limit per client, one user
        // could block the others.
        self.check_rate(&token.grant).await?;
        // A client may request less than the granted scope, but not more (RFC 6749, section 6).
        let too_much =
            || oauth_error(400, "invalid_scope", "`scope` is more than what was granted.");
        let access = match form.get("scope").map(|scope| Access::from_scope(Some(scope))) {
            None => None,
            Some(Some(access)) => Some(access),
            Some(None) => return Ok(too_much()),
        };
        let batch = statements::refresh(&token, client_hash, access, self.now).into();
        let sets = self.batch(batch).await?;
        let Some(grant) = first_row::<Grant>(&sets, 2)? else { return Ok(invalid_grant()) };
        if !grant.allows(access) {
            return Ok(too_much());
        }
        self.issue(&grant, &token.successor(), access.unwrap_or(grant.access))
    }

    /// Creates a token response (RFC 6749, section 5.1).
    fn issue(
        &self,
        grant: &Grant,
        refresh: &RefreshToken,
        access: Access,
    ) -> Result<Response, Problem> {
        let lifetime = self.service.config().agent_token_ms;
        let shard = Shard::new(self.ports.number()).unwrap_or_default();
        let mut token = grant.token(shard, self.now.saturating_add(lifetime));
        token.scopes = access.scopes();
        token.limits.access = access;
        let access_token = self.secrets().sign(&token).ok_or_else(no_session_secret)?;
        let document = json!({
            "access_token": access_token,
            "token_type": "Bearer",
            "expires_in": lifetime.checked_div(1000),
            "refresh_token": refresh.sign(self.secrets()).ok_or_else(no_session_secret)?,
            "scope": access.scope(),
        });
        Ok(Response::json(json::bytes(&document), NO_STORE))
    }

    /// Revokes the grant of a token (RFC 7009). An invalid token gets the same response.
    pub(super) async fn revoke(&self, request: &Request) -> Result<Response, Problem> {
        let form = match form(request, &[]) {
            Ok(form) => form,
            Err(refusal) => return Ok(*refusal),
        };
        let Some(token) = form.get("token") else { return Ok(missing("token")) };
        let secrets = self.secrets();
        let grant = RefreshToken::verify(secrets, self.id, token).map(|token| token.grant);
        let grant = grant.or_else(|| {
            let grant = secrets.verify_access(token)?.grant?;
            (grant.endpoint == self.id).then_some(grant.id)
        });
        if let Some(grant) = grant {
            self.check_rate(&grant).await?;
            self.ports.set_actor(grant_agent_actor(&grant, self.now, self.request_id));
            self.batch(vec![statements::revoke(self.id, &grant)]).await?;
        }
        let mut response = Response::empty(200);
        response.add("cache-control", NO_STORE);
        Ok(response)
    }
}
