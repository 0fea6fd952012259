//! OpenID providers: the discovery document (OpenID Connect Discovery 1.0), and requests to the
//! provider.

use base64ct::{Base64, Encoding as _};
use serde::Deserialize;

use crate::ports::{HttpRequest, user_agent};
use crate::targets::Targets;
use crate::terms::Method;
use crate::util::json;
use crate::util::percent::encode;

/// The maximum length of a discovery document or a key set, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 64 << 10;

/// The used members of a discovery document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Provider {
    issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub jwks_uri: String,
    #[serde(default)]
    pub userinfo_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy)]
pub struct AuthorizationRequest<'a> {
    pub client_id: &'a str,
    pub redirect_uri: &'a str,
    /// Separated by spaces. Must include `openid`.
    pub scope: &'a str,
    /// The provider must return this value.
    pub state: &'a str,
    pub nonce: &'a str,
    pub challenge: &'a str,
}

/// The credentials of the service at a provider.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    pub id: &'a str,
    /// `None` for a public client.
    pub secret: Option<&'a str>,
}

pub fn discovery_url(issuer: &str) -> String {
    format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'))
}

impl Provider {
    /// Parses and validates the discovery document of an issuer. The error is the end of a sentence
    /// that begins with the issuer.
    pub fn parse(document: &[u8], issuer: &str, targets: Targets) -> Result<Self, String> {
        let provider: Self = json::from_bytes(document).map_err(|_| {
            "has a discovery document without `issuer`, `authorization_endpoint`, `token_endpoint` or `jwks_uri`"
        })?;
        if provider.issuer != issuer {
            return Err("has a discovery document of another issuer".to_owned());
        }
        for (name, url) in [
            ("authorization_endpoint", &provider.authorization_endpoint),
            ("token_endpoint", &provider.token_endpoint),
            ("jwks_uri", &provider.jwks_uri),
        ] {
            if let Err(error) = targets.check(url) {
                return Err(format!("has a discovery document whose `{name}` {error}"));
            }
        }
        Ok(provider)
    }

    /// Builds the URL to which the user is redirected.
    pub fn authorization_url(&self, request: &AuthorizationRequest<'_>) -> String {
        let mut url = self.authorization_endpoint.clone();
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", request.client_id),
            ("redirect_uri", request.redirect_uri),
            ("scope", request.scope),
            ("state", request.state),
            ("nonce", request.nonce),
            ("code_challenge", request.challenge),
            ("code_challenge_method", "S256"),
        ] {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(name);
            url.push('=');
            url.push_str(&encode(value));
        }
        url
    }

    /// Builds the request that exchanges a code. The client authenticates with Basic, the default
    /// of RFC 8414, unless the provider supports only the secret in the body.
    pub fn exchange(
        &self,
        client: Credentials<'_>,
        code: &str,
        redirect_uri: &str,
        verifier: &str,
    ) -> HttpRequest {
        let mut body = format!(
            "grant_type=authorization_code&code={}&redirect_uri={}&code_verifier={}",
            encode(code),
            encode(redirect_uri),
            encode(verifier)
        );
        let mut headers = vec![
            ("accept".to_owned(), "application/json".to_owned()),
            ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned()),
            user_agent(),
        ];
        let methods = self.token_endpoint_auth_methods_supported.as_deref();
        let has = |name: &str| methods.is_some_and(|all| all.iter().any(|method| method == name));
        let needs_post = has("client_secret_post") && !has("client_secret_basic");
        match client.secret {
            Some(secret) if !needs_post => {
                let pair = format!("{}:{}", encode(client.id), encode(secret));
                let value = format!("Basic {}", Base64::encode_string(pair.as_bytes()));
                headers.push(("authorization".to_owned(), value));
            }
            secret => {
                body.push_str("&client_id=");
                body.push_str(&encode(client.id));
                if let Some(secret) = secret {
                    body.push_str("&client_secret=");
                    body.push_str(&encode(secret));
                }
            }
        }
        let url = self.token_endpoint.clone();
        HttpRequest { method: Method::Post, url, headers, body: body.into_bytes() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Credentials, Provider, discovery_url};
    use crate::targets::Targets;

    #[test]
    fn discovery_documents_need_the_issuer_and_public_urls() {
        let good = json!({
            "issuer": "https://id.example", "authorization_endpoint": "https://id.example/a",
            "token_endpoint": "https://id.example/t", "jwks_uri": "https://id.example/k",
        });
        let parse = |document: &serde_json::Value| {
            Provider::parse(
                document.to_string().as_bytes(),
                "https://id.example",
                Targets::default(),
            )
        };
        assert!(parse(&good).is_ok());
        for (member, value) in [
            ("issuer", "https://id.example/"),
            ("issuer", "https://other.example"),
            ("authorization_endpoint", "http://id.example/a"),
            ("token_endpoint", "https://10.0.0.1/t"),
            ("jwks_uri", "https://localhost/k"),
        ] {
            let mut bad = good.clone();
            bad[member] = value.into();
            assert!(parse(&bad).is_err(), "{member} {value}");
        }
        assert!(parse(&json!({"issuer": "https://id.example"})).is_err());
        let expected = "https://id.example/t/.well-known/openid-configuration";
        assert_eq!(discovery_url("https://id.example/t/"), expected);
    }

    #[test]
    fn clients_authenticate_by_the_providers_methods() {
        let client = Credentials { id: "an id", secret: Some("a:secret") };
        let provider = |methods: Option<Vec<String>>| Provider {
            issuer: String::new(),
            authorization_endpoint: String::new(),
            token_endpoint: "https://id.example/t".into(),
            jwks_uri: String::new(),
            userinfo_endpoint: None,
            token_endpoint_auth_methods_supported: methods,
        };
        let sent = |methods: Option<Vec<String>>, client| {
            let request = provider(methods).exchange(client, "c", "https://v.example/cb", "v");
            let basic = request.headers.iter().find(|(name, _)| name == "authorization").cloned();
            (basic.map(|(_, value)| value), String::from_utf8(request.body).unwrap())
        };
        let body = "grant_type=authorization_code&code=c&redirect_uri=https%3A%2F%2Fv.example%2Fcb&code_verifier=v";
        let basic = Some("Basic YW4lMjBpZDphJTNBc2VjcmV0".to_owned());
        assert_eq!(sent(None, client), (basic.clone(), body.to_owned()));
        let both = ["client_secret_post", "client_secret_basic"].map(str::to_owned).to_vec();
        assert_eq!(sent(Some(both), client), (basic, body.to_owned()));
        let post = vec!["client_secret_post".to_owned()];
        let posted = format!("{body}&client_id=an%20id&client_secret=a%3Asecret");
        assert_eq!(sent(Some(post), client), (None, posted));
        let public = Credentials { secret: None, ..client };
        assert_eq!(sent(None, public), (None, format!("{body}&client_id=an%20id")));
    }
}
