//! `GET /mcp/{endpointId}/authorize`: validates an agent's request and redirects its user to the
//! sign-in.

use super::{AgentContext, COOKIE, RESOURCE, describe, sign_in_cookie, with_query};
use crate::agents::Access;
use crate::agents::client::{Client, Destination, MAX_DOCUMENT_BYTES};
use crate::agents::request::{AccessRequest, AgentRequest, LIFETIME_MS, MAX_STATE, Purpose};
use crate::agents::sign_in::{Endpoint, SignInType, redirect_uri};
use crate::auth::endpoints::session::new::no_session_secret;
use crate::auth::key::hash;
use crate::connect::endpoints::pages::Page;
use crate::http::form::Form;
use crate::http::message::{Request, Response};
use crate::http::problem::Problem;
use crate::oidc::documents::DocumentError;
use crate::oidc::provider::AuthorizationRequest;
use crate::oidc::{challenge, is_challenge, verifier_and_nonce};
use crate::ports::{Ports, Random as _};
use crate::texts::agents as texts;

/// The maximum length of a signed request, in characters. The request is a query parameter.
const MAX_REQUEST: usize = 4096;

/// An error for the user's browser. It must not be sent to the redirect URI, because the client is
/// invalid.
struct InvalidClient {
    status: u16,
    message: String,
}

/// An error for the redirect URI (RFC 6749, section 4.1.2.1): its code and description.
type AuthorizationError = (&'static str, &'static str);

impl<P: Ports> AgentContext<'_, P> {
    /// Handles the authorization request.
    pub(super) async fn authorize(&self, request: &Request) -> Result<Response, Problem> {
        let refuse = |invalid: InvalidClient| {
            let paragraphs = [&texts::CONTACT_DEVELOPERS];
            let page = self.page(invalid.status, &texts::CAN_NOT_CONNECT, &paragraphs, &[]);
            Page { detail: Some(invalid.message), ..page }.response()
        };
        let query = match Form::parse(&request.query, &[RESOURCE]) {
            Ok(query) => query,
            Err(error) => {
                return Ok(refuse(InvalidClient { status: 400, message: describe(&error) }));
            }
        };
        let id = query.get("client_id").unwrap_or_default();
        self.check_rate(id).await?;
        let endpoint = self.require_endpoint().await?;
        let client = match self.client(id).await? {
            Ok(client) => client,
            Err(invalid) => return Ok(refuse(invalid)),
        };
        let uri = query.get("redirect_uri").unwrap_or_default();
        if !client.may_redirect_to(uri) {
            let message = "The agent's `redirect_uri` is not one of those that it has registered.";
            return Ok(refuse(InvalidClient { status: 400, message: message.to_owned() }));
        }
        let state = query.get("state");
        match self.check(&query) {
            Ok((challenge, access)) => {
                let cookie =
                    sign_in_cookie(request).map_or_else(|| self.ports.secret(), str::to_owned);
                let access_request = AccessRequest {
                    client_hash: client.hash,
                    client_url: client.url,
                    client_name: client.name,
                    redirect_uri: uri.to_owned(),
                    state: state.map(str::to_owned),
                    challenge: challenge.to_owned(),
                    access,
                };
                let signed = self.sign(&endpoint, Purpose::Access(access_request), &cookie)?;
                if signed.len() > MAX_REQUEST {
                    let message = "`state` and `redirect_uri` are too long.";
                    return Ok(self.refuse(uri, state, ("invalid_request", message)));
                }
                self.sign_in(&endpoint, &signed, &cookie).await
            }
            Err(refusal) => Ok(self.refuse(uri, state, refusal)),
        }
    }

    /// Reports an invalid request to the client. The user must confirm the redirect first: anyone
    /// can register a site or program and use this trusted service's URL to send users there (RFC
    /// 9700, section 4.11.2).
    fn refuse(
        &self,
        uri: &str,
        state: Option<&str>,
        (error, description): AuthorizationError,
    ) -> Response {
        let destination = match Destination::from_redirect_uri(uri) {
            Destination::Machine => {
                return self.redirect_with_error(uri, state, error, Some(description));
            }
            Destination::Site(host) => host,
            Destination::Scheme(scheme) => {
                self.wording.format_text(&texts::OPENING_PROGRAM, &[("scheme", &scheme)])
            }
        };
        let url = self.error_url(uri, state, error, Some(description));
        let (paragraphs, values) =
            ([&texts::REQUEST_INCORRECT, &texts::CONTINUE_ONLY], [("place", destination.as_str())]);
        let page = Page {
            detail: Some(description.to_owned()),
            links: vec![(url, self.wording.format_text(&texts::CONTINUE_TO, &values))],
            ..self.page(400, &texts::CAN_NOT_CONNECT, &paragraphs, &values)
        };
        page.response()
    }

    async fn client(&self, id: &str) -> Result<Result<Client, InvalidClient>, Problem> {
        if !Client::is_document_url(id) {
            let client = Client::from_registration(self.secrets(), self.id, id);
            let message = "The agent is not registered here. Disconnect it and connect it again, so that it registers.";
            return Ok(
                client.ok_or_else(|| InvalidClient { status: 400, message: message.to_owned() })
            );
        }
        let documents = self.service.documents();
        let document = if let Some(document) = documents.get_cached(id, self.now) {
            Ok(document)
        } else {
            self.check_rate("client metadata").await?;
            let targets = self.service.config().targets();
            documents.fetch(self.ports, targets, id, MAX_DOCUMENT_BYTES).await
        };
        let invalid_client = |status: u16, message: String| InvalidClient { status, message };
        Ok(match document {
            Ok(document) => match Client::from_document(id, &document) {
                Ok(client) => {
                    documents.store(id, &document, self.now);
                    Ok(client)
                }
                Err(error) => {
                    Err(invalid_client(400, format!("The agent's metadata: {}", error.message)))
                }
            },
            Err(error) => {
                let status = if error == DocumentError::Unreachable { 502 } else { 400 };
                Err(invalid_client(status, format!("The address of the agent's metadata {error}.")))
            }
        })
    }

    fn check<'q>(&self, query: &'q Form) -> Result<(&'q str, Access), AuthorizationError> {
        if query.get("response_type") != Some("code") {
            return Err(("unsupported_response_type", "`response_type` must be `code`."));
        }
        let challenge = query.get("code_challenge").filter(|text| is_challenge(text));
        let (Some(challenge), Some("S256")) = (challenge, query.get("code_challenge_method"))
        else {
            let message =
                "PKCE is required: send `code_challenge` with `code_challenge_method=S256`.";
            return Err(("invalid_request", message));
        };
        if query.get("state").is_some_and(|state| state.len() > MAX_STATE) {
            return Err(("invalid_request", "`state` has more than 1024 characters."));
        }
        if !self.targets_this_endpoint(query) {
            return Err(("invalid_target", "`resource` is not the address of this endpoint."));
        }
        let access = Access::from_scope(query.get("scope"));
        let access = access.ok_or(("invalid_scope", "`scope` must name `read` or `write`."))?;
        Ok((challenge, access))
    }

    /// Whether every `resource` parameter is this endpoint (RFC 8707).
    pub(super) fn targets_this_endpoint(&self, parameters: &Form) -> bool {
        let issuer = self.issuer();
        parameters.all(RESOURCE).all(|resource| resource == issuer)
    }

    /// Signs a request of this endpoint, bound to the browser with this cookie.
    pub(super) fn sign(
        &self,
        endpoint: &Endpoint,
        purpose: Purpose,
        cookie: &str,
    ) -> Result<String, Problem> {
        let request = AgentRequest {
            endpoint: self.id.to_owned(),
            id: self.ports.uuid(),
            browser_hash: hash(cookie),
            configured_at: endpoint.updated_at,
            purpose,
            expires_at: self.now.saturating_add(LIFETIME_MS),
        };
        request.sign(self.secrets()).ok_or_else(no_session_secret)
    }

    /// Redirects the user to the sign-in. This is the only response that sets the cookie.
    pub(super) async fn sign_in(
        &self,
        endpoint: &Endpoint,
        signed: &str,
        cookie: &str,
    ) -> Result<Response, Problem> {
        let url = match (endpoint.r#type, &endpoint.url) {
            (Some(SignInType::App), Some(url)) => with_query(url, &[("request", Some(signed))]),
            (Some(SignInType::Oidc), _) => {
                let provider = match self
                    .relying_party()
                    .provider(endpoint.issuer.as_deref().unwrap_or_default())
                    .await
                {
                    Ok(provider) => provider,
                    Err(why) => {
                        let mut page = self.sign_in_unavailable_page();
                        page.log = Some(format!("sign-in for agents: {why}"));
                        return Ok(page);
                    }
                };
                let [verifier, nonce] = verifier_and_nonce(cookie, signed);
                provider.authorization_url(&AuthorizationRequest {
                    client_id: endpoint.client_id.as_deref().unwrap_or_default(),
                    redirect_uri: &redirect_uri(self.base, self.id),
                    scope: match endpoint.identity_claim.as_deref() {
                        None | Some("sub") => "openid",
                        Some("email") => "openid email",
                        Some(_) => "openid profile email",
                    },
                    state: signed,
                    nonce: &nonce,
                    challenge: &challenge(&verifier).unwrap_or_default(),
                })
            }
            _ => return Err(Problem::route_not_found()),
        };
        let mut response = Response::see_other(url);
        response.add(
            "set-cookie",
            format!("{COOKIE}={cookie}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=3600"),
        );
        Ok(response)
    }

    /// Redirects the user back to the agent with an error.
    pub(super) fn redirect_with_error(
        &self,
        uri: &str,
        state: Option<&str>,
        error: &str,
        description: Option<&str>,
    ) -> Response {
        Response::see_other(self.error_url(uri, state, error, description))
    }

    fn error_url(
        &self,
        uri: &str,
        state: Option<&str>,
        error: &str,
        description: Option<&str>,
    ) -> String {
        let issuer = self.issuer();
        with_query(
            uri,
            &[
                ("error", Some(error)),
                ("error_description", description),
                ("state", state),
                ("iss", Some(&issuer)),
            ],
        )
    }

    pub(super) fn sign_in_unavailable_page(&self) -> Response {
        let paragraphs = [&texts::SIGN_IN_UNAVAILABLE_WHY, &texts::SIGN_IN_UNAVAILABLE_NEXT];
        self.page(503, &texts::SIGN_IN_UNAVAILABLE, &paragraphs, &[]).response()
    }
}
