//! The user returns from the sign-in: `GET /mcp/{endpointId}/callback` from the OpenID provider, `GET
//! /mcp/{endpointId}/continue` from the account's own app. Both show the consent page.

use serde_json::{Map, Value};

use super::documents::DEADLINE_MS;
use super::{AgentContext, browser, describe};
use crate::agents::approval::{self, Approval};
use crate::agents::form::Form;
use crate::agents::grant::{Grant, State};
use crate::agents::hash;
use crate::agents::id_token::{self, Expected, IdTokenError, KeySet};
use crate::agents::provider::{Credentials, MAX_DOCUMENT, Provider};
use crate::agents::request::{AgentRequest, Purpose, verifier_and_nonce};
use crate::agents::sign_in::{Endpoint, SignInType, redirect_uri};
use crate::agents::statements::{self, NewGrant, Step};
use crate::audit::statements::by_person;
use crate::connect::endpoints::decrypt_error;
use crate::connections::rules;
use crate::http::message::{NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::ports::{Db as _, Http as _, Ports, Random as _, first_row};

/// The response to `HEAD`, which link scanners send. It must not consume anything.
pub(super) fn head_response() -> Response {
    let mut response = Response::empty(200);
    response.add("cache-control", NO_STORE);
    response
}

impl<P: Ports> AgentContext<'_, P> {
    /// Handles the redirect from the OpenID provider:
    ///
    /// 1. Verify the agent's request, which is returned as `state`, and the cookie that belongs to it.
    /// 2. Exchange the provider's code.
    /// 3. Validate the ID token, which must belong to this sign-in.
    /// 4. Insert the grant, and show the consent page.
    pub(super) async fn callback(&self, request: &Request) -> Result<Response, Problem> {
        if request.method == "HEAD" {
            return Ok(head_response());
        }
        let query = match Form::parse(&request.query, &[]) {
            Ok(query) => query,
            Err(error) => {
                return Ok(self.page(400, "This address is incomplete", &[&describe(&error)]));
            }
        };
        let state = query.get("state").unwrap_or_default();
        let cookie = browser(request).unwrap_or_default();
        let agent_request = AgentRequest::verify(self.secrets(), state, self.now)
            .filter(|it| it.endpoint == self.id && it.browser_hash == hash(cookie));
        let Some(agent_request) = agent_request else { return Ok(self.sign_in_expired_page()) };
        let endpoint = self.require_endpoint().await?;
        if endpoint.r#type != Some(SignInType::Oidc) {
            return Ok(self.sign_in_expired_page());
        }
        let Some(code) = query.get("code") else {
            // The user did not sign in, or was not allowed to.
            return Ok(match &agent_request.purpose {
                Purpose::Approval { .. } => self.nothing_to_approve_page(),
                Purpose::Access(requested) => self.redirect_with_error(
                    &requested.redirect_uri,
                    requested.state.as_deref(),
                    "access_denied",
                    Some("The user did not sign in."),
                ),
            });
        };
        let identity =
            match self.identify(&endpoint, (code, query.get("iss")), cookie, state).await? {
                Ok(identity) => identity,
                Err(why) => {
                    let mut page = self.sign_in_unavailable_page();
                    page.log = Some(format!("sign-in for agents: {why}"));
                    return Ok(page);
                }
            };
        let requested = match &agent_request.purpose {
            Purpose::Approval { id } => {
                let browser_hash = &agent_request.browser_hash;
                return self.ask_for_approval(id, &identity, &endpoint, browser_hash).await;
            }
            Purpose::Access(requested) => requested,
        };
        if let Some(full) = self.service.capacity().capacity_error(self.ports.number()) {
            return Err(full);
        }
        let (id, secret_hash) = (self.ports.uuid(), hash(&self.ports.secret()));
        let new = NewGrant {
            id: &id,
            request: &agent_request,
            access_request: requested,
            identity: &identity,
            identity_type: endpoint.identity_type,
            platforms: None,
            access: requested.access,
            actions: None,
            connections: None,
            confirm: None,
            secret_hash: &secret_hash,
            claimed_by: self.request_id,
            now: self.now,
        };
        self.ports.set_actor(by_person(&identity, &endpoint.key_id, self.now, self.request_id));
        let sets = self.batch(vec![
            new.by_provider(),
            statements::prune(self.now),
            statements::select_grant(self.id, &id),
        ]);
        // Nothing was written if the key is no longer valid that configured the sign-in.
        match first_row::<Grant>(&sets.await?, 2)? {
            Some(grant) => self.ask_for_consent(&grant).await,
            None => Ok(self.sign_in_unavailable_page()),
        }
    }

    /// The identity of the user whom the provider has authenticated. The inner error is for the log.
    async fn identify(
        &self,
        endpoint: &Endpoint,
        (code, iss): (&str, Option<&str>),
        cookie: &str,
        state: &str,
    ) -> Result<Result<String, String>, Problem> {
        let secret = endpoint.secret(&self.service.config().vault_keys).map_err(decrypt_error)?;
        let provider = match self.provider(endpoint).await {
            Ok(provider) => provider,
            Err(why) => return Ok(Err(why)),
        };
        let issuer = endpoint.issuer.as_deref().unwrap_or_default();
        let id = endpoint.client_id.as_deref().unwrap_or_default();
        if iss.is_some_and(|iss| iss != issuer) {
            return Ok(Err("another issuer sent the user back (RFC 9207)".to_owned()));
        }
        let [verifier, nonce] = verifier_and_nonce(cookie, state);
        let client = Credentials { id, secret: secret.as_deref() };
        let uri = redirect_uri(self.base, self.id);
        let exchange = provider.exchange(client, code, &uri, &verifier);
        let Ok(response) = self.ports.send(exchange, DEADLINE_MS).await else {
            return Ok(Err(format!("{} does not respond", provider.token_endpoint)));
        };
        let document: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        let Some(token) = text("id_token").filter(|_| response.status == 200) else {
            let error = text("error").unwrap_or("no ID token");
            let error = crate::util::nearest::shown(error);
            let status = response.status;
            return Ok(Err(format!(
                "{} responds with status {status}: {error}",
                provider.token_endpoint
            )));
        };
        let expected = Expected { issuer, client_id: id, nonce: &nonce, now: self.now };
        let claims = match self.validate(&provider, token, expected).await {
            Ok(claims) => claims,
            Err(why) => return Ok(Err(why)),
        };
        let name = endpoint.identity_claim.as_deref().unwrap_or("sub");
        let identity = id_token::identity(&claims, name).map_err(|error| error.to_string());
        Ok(identity.and_then(|identity| match rules::identity(identity) {
            None => Ok(identity.to_owned()),
            Some(what) => Err(format!("the claim `{name}` {what}")),
        }))
    }

    /// Validates an ID token. If none of the cached keys signed it, the keys are fetched again, since the provider may have
    /// rotated them.
    async fn validate(
        &self,
        provider: &Provider,
        token: &str,
        expected: Expected<'_>,
    ) -> Result<Map<String, Value>, String> {
        let (documents, url) = (self.service.documents(), &provider.jwks_uri);
        let parse = |document: &[u8]| {
            serde_json::from_slice::<KeySet>(document)
                .map_err(|_| format!("{url} is not a set of keys"))
        };
        if let Some(kept) = documents.recall(url, self.now) {
            let claims = id_token::validate(token, &parse(&kept)?, expected, self.ports).await;
            match claims {
                Err(IdTokenError::UnknownKey) => {}
                claims => return claims.map_err(|error| error.to_string()),
            }
        }
        let targets = self.service.config().targets();
        let document = documents.fetch(self.ports, targets, url, MAX_DOCUMENT).await;
        let document = document.map_err(|error| format!("{url} {error}"))?;
        let keys = parse(&document)?;
        documents.keep(url, &document, self.now);
        let claims = id_token::validate(token, &keys, expected, self.ports).await;
        claims.map_err(|error| error.to_string())
    }

    /// Handles `continueUrl`, once, and only in the browser that has the cookie of the authorization endpoint.
    pub(super) async fn resume(&self, request: &Request) -> Result<Response, Problem> {
        if request.method == "HEAD" {
            return Ok(head_response());
        }
        let query = Form::parse(&request.query, &[]).unwrap_or_default();
        let (secret, cookie) = (query.get("grant"), browser(request));
        let (Some(secret), Some(cookie)) = (secret, cookie) else {
            return Ok(self.sign_in_expired_page());
        };
        let (secret_hash, browser_hash) = (hash(secret), hash(cookie));
        let step = Step {
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
        ]);
        let sets = sets.await?;
        if let Some(waiting) = first_row::<Approval>(&sets, 3)? {
            return self.approval_page(&waiting).await;
        }
        let grant: Option<Grant> = first_row(&sets, 1)?;
        match grant.filter(|grant| grant.state == State::Opened && self.has_claimed(grant)) {
            Some(grant) => self.ask_for_consent(&grant).await,
            None => Ok(self.sign_in_expired_page()),
        }
    }

    /// Whether this request made the last change of the grant, perhaps in a first try whose response was lost.
    pub(super) fn has_claimed(&self, grant: &Grant) -> bool {
        grant.claimed_by.as_deref() == Some(self.request_id)
    }
}
