//! The service in its role as a client of OpenID providers.

use serde_json::{Map, Value};

use super::documents::{Documents, TIMEOUT_MS};
use super::id_token::{self, ExpectedClaims, IdTokenError, KeySet};
use super::provider::{self, Credentials, MAX_DOCUMENT_BYTES, Provider};
use crate::ports::{Http as _, HttpRequest, Ports, user_agent};
use crate::storage::metering::Metered;
use crate::targets::Targets;
use crate::terms::Method;
use crate::util::json;
use crate::util::nearest::shown;

/// Sends requests to providers. Unless a method documents otherwise, its error is for the log.
pub(crate) struct RelyingParty<'a, P> {
    pub documents: &'a Documents,
    pub ports: &'a Metered<'a, P>,
    pub targets: Targets,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// The service's registration at a provider.
pub(crate) struct Registration<'a> {
    pub issuer: &'a str,
    pub client: Credentials<'a>,
    pub redirect_uri: &'a str,
}

/// The parameters of the redirect from the provider.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallbackParameters<'a> {
    pub code: &'a str,
    /// The issuer (RFC 9207). Some providers do not send it.
    pub iss: Option<&'a str>,
}

impl<P: Ports> RelyingParty<'_, P> {
    /// Returns the provider with this issuer, from the cache or by discovery.
    pub async fn provider(&self, issuer: &str) -> Result<Provider, String> {
        let url = provider::discovery_url(issuer);
        let document = match self.documents.get_cached(&url, self.now) {
            Some(document) => document,
            None => self
                .documents
                .fetch(self.ports, self.targets, &url, MAX_DOCUMENT_BYTES)
                .await
                .map_err(|error| format!("{url} {error}"))?,
        };
        let provider = Provider::parse(&document, issuer, self.targets);
        let provider = provider.map_err(|what| format!("{issuer} {what}"))?;
        self.documents.store(&url, &document, self.now);
        Ok(provider)
    }

    /// Checks that the issuer has a valid discovery document. The error is the end of a sentence
    /// that begins with the issuer.
    pub async fn check_issuer(&self, issuer: &str) -> Result<(), String> {
        let url = provider::discovery_url(issuer);
        let document =
            self.documents.fetch(self.ports, self.targets, &url, MAX_DOCUMENT_BYTES).await;
        let document =
            document.map_err(|error| format!("has no discovery document: {url} {error}"))?;
        Provider::parse(&document, issuer, self.targets)?;
        self.documents.store(&url, &document, self.now);
        Ok(())
    }

    /// Checks that the URL returns a key set. The error is the end of a sentence that begins with
    /// the server.
    pub async fn check_keys(&self, url: &str) -> Result<(), String> {
        let document =
            self.documents.fetch(self.ports, self.targets, url, MAX_DOCUMENT_BYTES).await;
        let document = document.map_err(|error| format!("has no keys: {url} {error}"))?;
        json::from_bytes::<KeySet>(&document)
            .map_err(|_| format!("has no keys: {url} is not a set of keys"))?;
        Ok(())
    }

    /// Exchanges the provider's code and returns the claims of the ID token. If they do not include
    /// `needed`, returns those of the userinfo endpoint, if the provider has one.
    pub async fn claims(
        &self,
        registration: &Registration<'_>,
        parameters: CallbackParameters<'_>,
        [verifier, nonce]: [&str; 2],
        needed: &str,
    ) -> Result<Map<String, Value>, String> {
        let Registration { issuer, client, redirect_uri } = *registration;
        let provider = self.provider(issuer).await?;
        if parameters.iss.is_some_and(|iss| iss != issuer) {
            return Err("another issuer sent the user back (RFC 9207)".to_owned());
        }
        let endpoint = &provider.token_endpoint;
        let exchange = provider.exchange(client, parameters.code, redirect_uri, verifier);
        let Ok(response) = self.ports.send(exchange, TIMEOUT_MS).await else {
            return Err(format!("{endpoint} does not respond"));
        };
        let document: Value = json::from_bytes(&response.body).unwrap_or_default();
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        let Some(token) = text("id_token").filter(|_| response.status == 200) else {
            let error = shown(text("error").unwrap_or("no ID token"));
            return Err(format!("{endpoint} responds with status {}: {error}", response.status));
        };
        let expected =
            ExpectedClaims { issuer, client_id: client.id, nonce: Some(nonce), now: self.now };
        let claims = self.validate(&provider.jwks_uri, token, expected).await?;
        let is_missing = claims.get(needed).is_none_or(Value::is_null);
        match provider.userinfo_endpoint.as_deref().zip(text("access_token")) {
            Some((url, access_token)) if is_missing => {
                self.userinfo(url, access_token, claims.get("sub")).await
            }
            _ => Ok(claims),
        }
    }

    /// Returns the claims of the userinfo endpoint (OpenID Connect Core 1.0, section 5.3) for a user
    /// whose ID token has the subject `sub`.
    async fn userinfo(
        &self,
        url: &str,
        access_token: &str,
        sub: Option<&Value>,
    ) -> Result<Map<String, Value>, String> {
        self.targets.check(url).map_err(|error| format!("`userinfo_endpoint` {error}"))?;
        let headers = vec![
            ("accept".to_owned(), "application/json".to_owned()),
            ("authorization".to_owned(), format!("Bearer {access_token}")),
            user_agent(),
        ];
        let request =
            HttpRequest { method: Method::Get, url: url.to_owned(), headers, body: Vec::new() };
        let Ok(response) = self.ports.send(request, TIMEOUT_MS).await else {
            return Err(format!("{url} does not respond"));
        };
        if response.status != 200 {
            return Err(format!("{url} responds with status {} instead of 200", response.status));
        }
        let claims: Map<String, Value> = json::from_bytes(&response.body)
            .map_err(|_| format!("{url} does not return a JSON object"))?;
        // Otherwise, the claims could be those of another user (section 5.3.2).
        if sub.is_none() || claims.get("sub") != sub {
            return Err(format!("{url} returns another `sub` than the ID token"));
        }
        Ok(claims)
    }

    /// Validates a token with the key set at `url`. If no cached key signed the token, fetches the
    /// keys again, at most once a minute, because the provider may have rotated them.
    pub async fn validate(
        &self,
        url: &str,
        token: &str,
        expected: ExpectedClaims<'_>,
    ) -> Result<Map<String, Value>, String> {
        let parse = |document: &[u8]| {
            json::from_bytes::<KeySet>(document).map_err(|_| format!("{url} is not a set of keys"))
        };
        if let Some(cached) = self.documents.get_cached(url, self.now) {
            let claims = id_token::validate(token, &parse(&cached)?, expected, self.ports).await;
            match claims {
                Err(IdTokenError::UnknownKey) if self.documents.may_refetch(url, self.now) => {}
                claims => return claims.map_err(|error| error.to_string()),
            }
        }
        let document =
            self.documents.fetch(self.ports, self.targets, url, MAX_DOCUMENT_BYTES).await;
        let document = document.map_err(|error| format!("{url} {error}"))?;
        let keys = parse(&document)?;
        self.documents.store(url, &document, self.now);
        let claims = id_token::validate(token, &keys, expected, self.ports).await;
        claims.map_err(|error| error.to_string())
    }
}
