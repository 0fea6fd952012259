//! Handles users who return from the sign-in: `GET /mcp/{endpointId}/callback` from the OpenID
//! provider, and `GET /mcp/{endpointId}/continue` from the account's own app. Both show the consent
//! page.

use super::{AgentContext, describe, sign_in_cookie};
use crate::agents::approval::{self, Approval};
use crate::agents::grant::{Grant, State};
use crate::agents::request::{AccessRequest, AgentRequest, Purpose};
use crate::agents::sign_in::{Endpoint, SignInType, redirect_uri};
use crate::agents::statements::{self, BrowserStep, NewGrant};
use crate::audit::statements::person_actor;
use crate::auth::key::hash;
use crate::connect::endpoints::decrypt_error;
use crate::connect::endpoints::pages::Page;
use crate::connections::model::ConnectionId;
use crate::connections::rules;
use crate::http::form::Form;
use crate::http::message::{NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::oidc::id_token;
use crate::oidc::provider::Credentials;
use crate::oidc::relying_party::{CallbackParameters, Registration};
use crate::oidc::verifier_and_nonce;
use crate::ports::{Ports, Random as _, first_row};
use crate::texts::agents::SIGN_IN_EXPIRED_NEXT;
use crate::texts::connect::INCOMPLETE;

/// The response to `HEAD`. Link scanners send `HEAD` requests, which must not use up a link.
pub(super) fn head_response() -> Response {
    let mut response = Response::empty(200);
    response.add("cache-control", NO_STORE);
    response
}

impl<P: Ports> AgentContext<'_, P> {
    /// Handles the redirect from the OpenID provider:
    ///
    /// 1. Verify the agent's request, which the provider returns as `state`, and its cookie.
    /// 2. Exchange the provider's code.
    /// 3. Validate the ID token, which must belong to this sign-in.
    /// 4. Insert the grant and show the consent page.
    pub(super) async fn callback(&self, request: &Request) -> Result<Response, Problem> {
        if request.method == "HEAD" {
            return Ok(head_response());
        }
        let query = match Form::parse(&request.query, &[]) {
            Ok(query) => query,
            Err(error) => {
                let page = self.page(400, &INCOMPLETE, &[&SIGN_IN_EXPIRED_NEXT], &[]);
                return Ok(Page { detail: Some(describe(&error)), ..page }.response());
            }
        };
        let state = query.get("state").unwrap_or_default();
        let cookie = sign_in_cookie(request).unwrap_or_default();
        let agent_request = AgentRequest::verify(self.secrets(), state, self.now)
            .filter(|request| request.endpoint == self.id && request.browser_hash == hash(cookie));
        let Some(agent_request) = agent_request else { return Ok(self.sign_in_expired_page()) };
        let endpoint = self.require_endpoint().await?;
        let is_current = endpoint.updated_at == agent_request.configured_at;
        if endpoint.r#type != Some(SignInType::Oidc) || !is_current {
            return Ok(self.sign_in_expired_page());
        }
        let Some(code) = query.get("code") else {
            // The user canceled the sign-in, or the provider denied it.
            return Ok(match &agent_request.purpose {
                Purpose::Approval { .. } => self.link_ended_page(),
                Purpose::Grants { .. } => self.sign_in_expired_page(),
                Purpose::Access(requested) => self.redirect_with_error(
                    &requested.redirect_uri,
                    requested.state.as_deref(),
                    "access_denied",
                    Some("The user did not sign in."),
                ),
            });
        };
        let parameters = CallbackParameters { code, iss: query.get("iss") };
        let identity = match self.identify(&endpoint, parameters, cookie, state).await? {
            Ok(identity) => identity,
            Err(why) => {
                let mut page = match &agent_request.purpose {
                    // The user has gone back to a page whose code has been used.
                    Purpose::Approval { id } => {
                        let sets = self.batch(vec![approval::select(self.id, id)]).await?;
                        self.decided_page(first_row(&sets, 0)?, &agent_request.browser_hash)
                    }
                    _ => self.sign_in_unavailable_page(),
                };
                page.log = Some(format!("sign-in for agents: {why}"));
                return Ok(page);
            }
        };
        let requested = match &agent_request.purpose {
            Purpose::Approval { id } => {
                let browser_hash = &agent_request.browser_hash;
                return self.show_approval_page(id, &identity, &endpoint, browser_hash).await;
            }
            Purpose::Grants { .. } => {
                let browser_hash = &agent_request.browser_hash;
                return self.show_grants_page(identity, &endpoint, browser_hash).await;
            }
            Purpose::Access(requested) => requested,
        };
        self.create_grant_and_show_consent(&agent_request, requested, &identity, &endpoint).await
    }

    /// Inserts a grant for a user whom the provider has authenticated, and shows the consent page.
    async fn create_grant_and_show_consent(
        &self,
        agent_request: &AgentRequest,
        requested: &AccessRequest,
        identity: &str,
        endpoint: &Endpoint,
    ) -> Result<Response, Problem> {
        // The grant has the id of the request, so a repeated callback with the same `state` inserts
        // nothing.
        let id = &agent_request.id;
        let secret_hash = hash(&self.ports.secret());
        let new = NewGrant {
            id,
            request: agent_request,
            access_request: requested,
            identity,
            identity_type: endpoint.identity_type,
            platforms: None,
            access: requested.access,
            actions: None,
            connections: None,
            confirm: endpoint.confirm,
            secret_hash: &secret_hash,
            claimed_by: self.request_id,
            now: self.now,
        };
        self.ports.set_actor(person_actor(identity, &endpoint.key_id, self.now, self.request_id));
        let sets = self.batch(vec![
            new.insert_by_provider(endpoint.updated_at),
            statements::prune(self.now),
            statements::select_grant(self.id, id),
        ]);
        // Nothing was inserted if the sign-in has changed, its key is no longer valid, or too many
        // requests are pending.
        match first_row::<Grant>(&sets.await?, 2)? {
            Some(grant) if grant.state == State::Opened && grant.identity == identity => {
                self.show_consent_page(&grant).await
            }
            // The user has already decided, or another user has signed in.
            Some(_) => Ok(self.sign_in_expired_page()),
            None => Ok(self.sign_in_unavailable_page()),
        }
    }

    /// The identity of the user whom the provider has authenticated. The inner error is only
    /// logged.
    async fn identify(
        &self,
        endpoint: &Endpoint,
        parameters: CallbackParameters<'_>,
        cookie: &str,
        state: &str,
    ) -> Result<Result<String, String>, Problem> {
        let secret = endpoint.secret(&self.service.config().vault_keys).map_err(decrypt_error)?;
        let uri = redirect_uri(self.base, self.id);
        let registration = Registration {
            issuer: endpoint.issuer.as_deref().unwrap_or_default(),
            client: Credentials {
                id: endpoint.client_id.as_deref().unwrap_or_default(),
                secret: secret.as_deref(),
            },
            redirect_uri: &uri,
        };
        let [verifier, nonce] = verifier_and_nonce(cookie, state);
        let name = endpoint.identity_claim.as_deref().unwrap_or("sub");
        let relying_party = self.relying_party();
        let claims =
            relying_party.claims(&registration, parameters, [&verifier, &nonce], name).await;
        let claims = match claims {
            Ok(claims) => claims,
            Err(why) => return Ok(Err(why)),
        };
        let identity = id_token::identity(&claims, name).map_err(|error| error.to_string());
        Ok(identity.and_then(|identity| match rules::identity(identity) {
            None => Ok(identity.to_owned()),
            Some(message) => Err(format!("the claim `{name}` {message}")),
        }))
    }

    /// Handles `continueUrl`. It works once, and only in the browser with the cookie of the
    /// authorization endpoint.
    pub(super) async fn resume(&self, request: &Request) -> Result<Response, Problem> {
        if request.method == "HEAD" {
            return Ok(head_response());
        }
        let query = Form::parse(&request.query, &[]).unwrap_or_default();
        let (secret, cookie) = (query.get("grant"), sign_in_cookie(request));
        let (Some(secret), Some(cookie)) = (secret, cookie) else {
            return Ok(self.sign_in_expired_page());
        };
        if let Some(page) = self.resume_grants(secret, cookie).await? {
            return Ok(page);
        }
        let (secret_hash, browser_hash) = (hash(secret), hash(cookie));
        let approval = query.get("approval").and_then(ConnectionId::parse);
        let step = BrowserStep {
            endpoint: self.id,
            browser_hash: &browser_hash,
            claimed_by: self.request_id,
            now: self.now,
        };
        let sets = self.batch(vec![
            statements::open(step, &secret_hash),
            statements::select_by_secret(self.id, &secret_hash),
            approval::open_by_secret(step, &secret_hash),
            approval::select_claimed(self.id, &browser_hash, self.request_id),
            approval::select(self.id, approval.as_ref().map_or("", ConnectionId::as_str)),
        ]);
        let sets = sets.await?;
        if let Some(approval) = first_row::<Approval>(&sets, 3)? {
            return self.approval_page(&approval).await;
        }
        if approval.is_some() {
            return Ok(self.decided_page(first_row(&sets, 4)?, &browser_hash));
        }
        let grant: Option<Grant> = first_row(&sets, 1)?;
        match grant.filter(|grant| grant.state == State::Opened && self.has_claimed(grant)) {
            Some(grant) => self.show_consent_page(&grant).await,
            None => Ok(self.sign_in_expired_page()),
        }
    }

    /// Whether this request made the last change to the grant, including an earlier try whose
    /// response was lost.
    pub(super) fn has_claimed(&self, grant: &Grant) -> bool {
        grant.claimed_by.as_deref() == Some(self.request_id)
    }
}
