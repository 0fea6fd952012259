//! Builds token requests (RFC 6749, sections 4.1.3, 4.4.2 and 6).

use base64ct::{Base64, Encoding as _};
use serde_json::{Map, Value};

use super::assertion::ASSERTION_TYPE;
use super::authorization::scope;
use super::callback::Callback;
use super::client::Client;
use super::pkce::Verifier;
use crate::catalog::detail::{AccessTokenExchange, Grant, OAuth2, TokenAuth, TokenBody};
use crate::ports::{HttpRequest, user_agent};
use crate::terms::Method;
use crate::util::collect::by_insertion;
use crate::util::percent::encode;

#[derive(Debug, Clone, Copy)]
pub struct TokenEndpoint<'a> {
    /// The auth method, with its URLs resolved.
    pub oauth: &'a OAuth2,
    /// The token URL or, for a refresh, the refresh URL.
    pub url: &'a str,
    pub client: &'a Client,
}

impl TokenEndpoint<'_> {
    pub fn exchange(
        &self,
        code: &str,
        redirect_uri: &str,
        verifier: Option<&Verifier>,
        callback: &Callback,
    ) -> HttpRequest {
        let mut own = vec![
            ("grant_type", Some("authorization_code")),
            ("code", Some(code)),
            ("redirect_uri", Some(redirect_uri)),
            ("code_verifier", verifier.map(Verifier::as_str)),
        ];
        let repeated = &self.oauth.callback_parameters;
        own.extend(repeated.iter().map(|name| (name.as_str(), callback.parameter(name))));
        self.request(&own)
    }

    /// Refreshes an access token. `scopes` limits the granted scopes; if empty, all are kept.
    pub fn refresh(&self, refresh_token: &str, scopes: &[String]) -> HttpRequest {
        self.request(&[
            ("grant_type", Some("refresh_token")),
            ("refresh_token", Some(refresh_token)),
            ("scope", scope(self.oauth, scopes).as_deref()),
        ])
    }

    /// Requests an access token for the app itself, or for the account in the method's parameters.
    pub fn client_credentials(&self, scopes: &[String]) -> HttpRequest {
        let grant = match self.oauth.grant {
            Grant::AccountCredentials => "account_credentials",
            Grant::AuthorizationCode | Grant::ClientCredentials => "client_credentials",
        };
        self.request(&[
            ("grant_type", Some(grant)),
            ("scope", scope(self.oauth, scopes).as_deref()),
        ])
    }

    /// Exchanges an access token for another one, as defined in the catalog. Returns `None` if this
    /// requires a client secret and the client has none.
    pub fn with_access_token(
        &self,
        requested: &AccessTokenExchange,
        access_token: &str,
    ) -> Option<HttpRequest> {
        let secret = self.client.secret.as_deref();
        let mut pairs = Vec::new();
        for (name, template) in &requested.parameters {
            let value = match template.as_str() {
                "{accessToken}" => access_token,
                "{clientId}" => &self.client.id,
                "{clientSecret}" => secret?,
                literal => literal,
            };
            pairs.push((name.as_str(), value));
        }
        if requested.method != Method::Get {
            return Some(request(self.oauth, &requested.url, self.oauth.token_body, &pairs, None));
        }
        let pair = |(name, value): &(&str, &str)| format!("{}={}", encode(name), encode(value));
        let pairs: Vec<String> = pairs.iter().map(pair).collect();
        Some(HttpRequest {
            method: Method::Get,
            url: format!("{}?{}", requested.url, pairs.join("&")),
            headers: headers(self.oauth),
            body: Vec::new(),
        })
    }

    fn request(&self, own: &[(&str, Option<&str>)]) -> HttpRequest {
        let (client_pairs, authorization) = authentication(self.oauth, self.client);
        let own = own.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        let mut pairs: Vec<(&str, &str)> = own.chain(client_pairs).collect();
        for (name, value) in &self.oauth.token_parameters {
            let is_own = RESERVED_PARAMETERS.contains(&name.as_str())
                || *name == self.oauth.client_id_parameter;
            let is_repeated = name == "redirect_uri"
                && value != REDIRECT_URI
                && pairs.iter().all(|(sent, _)| sent != name);
            if !is_own || is_repeated {
                pairs.push((name, value));
            }
        }
        request(self.oauth, self.url, self.oauth.token_body, &pairs, authorization)
    }
}

/// A placeholder in the token parameter `redirect_uri`, for platforms that also require it in
/// refreshes.
pub const REDIRECT_URI: &str = "{redirectUri}";

/// The name of the member in which credentials store the redirect URI for later refreshes.
pub const REDIRECT_URI_MEMBER: &str = "redirectUri";

pub const RESERVED_PARAMETERS: [&str; 10] = [
    "grant_type",
    "code",
    "redirect_uri",
    "code_verifier",
    "refresh_token",
    "scope",
    "client_id",
    "client_secret",
    "client_assertion",
    "client_assertion_type",
];

/// The parameters and the header `Authorization` that authenticate the client.
pub(super) fn authentication<'a>(
    oauth: &'a OAuth2,
    client: &'a Client,
) -> (Vec<(&'a str, &'a str)>, Option<String>) {
    let id = (oauth.client_id_parameter.as_str(), client.id.as_str());
    match (oauth.token_auth, &client.secret) {
        (TokenAuth::ClientSecretBasic, Some(secret)) => {
            // The first colon separates id and secret, so both are encoded (RFC 6749, section
            // 2.3.1).
            let pair = format!("{}:{}", encode(&client.id), encode(secret));
            (Vec::new(), Some(format!("Basic {}", Base64::encode_string(pair.as_bytes()))))
        }
        // Many platforms do not decode the id and the secret.
        (TokenAuth::ClientSecretBasicRaw, Some(secret)) => {
            let pair = format!("{}:{secret}", client.id);
            (Vec::new(), Some(format!("Basic {}", Base64::encode_string(pair.as_bytes()))))
        }
        (TokenAuth::ClientSecretPost, Some(secret)) => {
            (vec![id, ("client_secret", secret.as_str())], None)
        }
        // The signed assertion already contains the client id.
        (TokenAuth::PrivateKeyJwt, _) if client.assertion.is_some() => {
            let assertion = client.assertion.as_deref().unwrap_or_default();
            let kind = ("client_assertion_type", ASSERTION_TYPE);
            (vec![kind, ("client_assertion", assertion)], None)
        }
        (TokenAuth::None | TokenAuth::PrivateKeyJwt, _) | (_, None) => (vec![id], None),
    }
}

/// The headers of all token requests.
fn headers(oauth: &OAuth2) -> Vec<(String, String)> {
    let mut headers = vec![("accept".to_owned(), "application/json".to_owned()), user_agent()];
    for (name, value) in &oauth.token_headers {
        let name = name.to_ascii_lowercase();
        headers.retain(|(known, _)| *known != name);
        headers.push((name, value.clone()));
    }
    headers
}

/// Builds a `POST` request with the given parameters.
pub(super) fn request(
    oauth: &OAuth2,
    url: &str,
    body: TokenBody,
    pairs: &[(&str, &str)],
    authorization: Option<String>,
) -> HttpRequest {
    let (content_type, body) = match body {
        TokenBody::Form => {
            let pair = |(name, value): &(&str, &str)| format!("{}={}", encode(name), encode(value));
            let pairs: Vec<String> = pairs.iter().map(pair).collect();
            ("application/x-www-form-urlencoded", pairs.join("&"))
        }
        TokenBody::Json => {
            let member = |(name, value): &(&str, &str)| ((*name).to_owned(), Value::from(*value));
            let object: Map<String, Value> = by_insertion(pairs.iter().map(member));
            ("application/json", Value::Object(object).to_string())
        }
    };
    let mut headers = headers(oauth);
    headers.push(("content-type".to_owned(), content_type.to_owned()));
    headers.extend(authorization.map(|value| ("authorization".to_owned(), value)));
    HttpRequest { method: Method::Post, url: url.to_owned(), headers, body: body.into_bytes() }
}

#[cfg(test)]
mod tests {
    use super::{Callback, Client, TokenEndpoint, Verifier};
    use crate::catalog::detail::{Grant, OAuth2, Parameters, TokenAuth, TokenBody};
    use crate::oauth::callback::read;
    use crate::ports::HttpRequest;
    use crate::terms::Method;

    const URL: &str = "https://idp.example/token?api-version=1";

    fn platform(token_auth: TokenAuth, token_body: TokenBody) -> OAuth2 {
        let standard = OAuth2::standard(Grant::AuthorizationCode, None, URL.to_owned());
        OAuth2 { token_auth, token_body, ..standard }
    }

    fn client(secret: Option<&str>) -> Client {
        Client::new("a:p p".to_owned(), secret.map(str::to_owned))
    }

    fn callback() -> Callback {
        read("code=c&state=s%261&scope=own&context=stores%2Fx&client_secret=evil").unwrap()
    }

    fn body(request: &HttpRequest) -> &str {
        std::str::from_utf8(&request.body).unwrap()
    }

    fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
        request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn clients_authenticate_by_the_platforms_method() {
        use TokenAuth::{
            ClientSecretBasic, ClientSecretBasicRaw, ClientSecretPost, None as Public,
        };
        for (method, secret, expected_body, expected_header) in [
            (
                ClientSecretPost,
                Some("s+%ü"),
                "&client_id=a%3Ap%20p&client_secret=s%2B%25%C3%BC",
                None,
            ),
            // `a%3Ap%20p:s%2B%25%C3%BC`
            (ClientSecretBasic, Some("s+%ü"), "", Some("Basic YSUzQXAlMjBwOnMlMkIlMjUlQzMlQkM=")),
            // `a:p p:s+%ü`
            (ClientSecretBasicRaw, Some("s+%ü"), "", Some("Basic YTpwIHA6cyslw7w=")),
            (ClientSecretBasicRaw, None, "&client_id=a%3Ap%20p", None),
            (Public, Some("s"), "&client_id=a%3Ap%20p", None),
            (ClientSecretPost, None, "&client_id=a%3Ap%20p", None),
            (ClientSecretBasic, None, "&client_id=a%3Ap%20p", None),
        ] {
            let (oauth, client) = (platform(method, TokenBody::Form), client(secret));
            let endpoint = TokenEndpoint { oauth: &oauth, url: URL, client: &client };
            let request = endpoint.refresh("r/1", &[]);
            let expected = format!("grant_type=refresh_token&refresh_token=r%2F1{expected_body}");
            assert_eq!(body(&request), expected, "{method:?}");
            assert_eq!(header(&request, "authorization"), expected_header, "{method:?}");
        }
    }

    #[test]
    fn each_grant_has_its_parameters() {
        let mut oauth = platform(TokenAuth::None, TokenBody::Form);
        oauth.scope_separator = ",".to_owned();
        oauth.token_parameters =
            [("audience", "x y"), ("grant_type", "password"), ("code", "other")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
        let client = client(None);
        let endpoint = TokenEndpoint { oauth: &oauth, url: URL, client: &client };
        let verifier = Verifier::parse("v".repeat(43)).unwrap();
        let scopes = ["a".to_owned(), "b".to_owned()];
        let end = "client_id=a%3Ap%20p&audience=x%20y";
        for (request, expected) in [
            (
                endpoint.exchange("c=1", "https://vault.example/cb", Some(&verifier), &callback()),
                format!(
                    "grant_type=authorization_code&code=c%3D1&redirect_uri=https%3A%2F%2Fvault.example%2Fcb\
                     &code_verifier={}&{end}",
                    "v".repeat(43)
                ),
            ),
            (
                endpoint.exchange("c", "r", None, &callback()),
                format!("grant_type=authorization_code&code=c&redirect_uri=r&{end}"),
            ),
            (
                endpoint.refresh("r", &scopes),
                format!("grant_type=refresh_token&refresh_token=r&scope=a%2Cb&{end}"),
            ),
            (
                endpoint.client_credentials(&scopes),
                format!("grant_type=client_credentials&scope=a%2Cb&{end}"),
            ),
            (endpoint.client_credentials(&[]), format!("grant_type=client_credentials&{end}")),
        ] {
            assert_eq!(body(&request), expected);
            assert_eq!((request.method, request.url.as_str()), (Method::Post, URL));
            assert_eq!(header(&request, "accept"), Some("application/json"));
            assert_eq!(header(&request, "user-agent"), Some("connector-vault"));
            assert_eq!(header(&request, "content-type"), Some("application/x-www-form-urlencoded"));
        }
    }

    #[test]
    fn uses_the_platforms_client_id_parameter() {
        for (method, secret, end) in [
            (TokenAuth::ClientSecretPost, Some("s"), "&client_key=a%3Ap%20p&client_secret=s"),
            (TokenAuth::None, None, "&client_key=a%3Ap%20p"),
        ] {
            let mut oauth = platform(method, TokenBody::Form);
            oauth.client_id_parameter = "client_key".to_owned();
            oauth.token_parameters = [("client_key".to_owned(), "other".to_owned())].into();
            let client = client(secret);
            let endpoint = TokenEndpoint { oauth: &oauth, url: URL, client: &client };
            let exchange = endpoint.exchange("c", "r", None, &callback());
            let start = "grant_type=authorization_code&code=c&redirect_uri=r";
            assert_eq!(body(&exchange), format!("{start}{end}"), "{method:?}");
            let refresh = endpoint.refresh("r", &[]);
            let start = "grant_type=refresh_token&refresh_token=r";
            assert_eq!(body(&refresh), format!("{start}{end}"), "{method:?}");
        }
    }

    #[test]
    fn supports_json_bodies() {
        let (oauth, client) =
            (platform(TokenAuth::ClientSecretPost, TokenBody::Json), client(Some("\"s\"")));
        let request = TokenEndpoint { oauth: &oauth, url: URL, client: &client }.exchange(
            "c",
            "r",
            None,
            &callback(),
        );
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        let expected = serde_json::json!({
            "grant_type": "authorization_code",
            "code": "c",
            "redirect_uri": "r",
            "client_id": "a:p p",
            "client_secret": "\"s\"",
        });
        assert_eq!(body, expected);
        assert_eq!(header(&request, "content-type"), Some("application/json"));
    }

    #[test]
    fn exchange_repeats_configured_callback_parameters() {
        let mut oauth = platform(TokenAuth::None, TokenBody::Form);
        oauth.callback_parameters =
            ["state", "scope", "context", "absent"].map(str::to_owned).into();
        let client = client(None);
        let endpoint = TokenEndpoint { oauth: &oauth, url: URL, client: &client };
        let expected = "grant_type=authorization_code&code=c&redirect_uri=r&state=s%261&scope=own\
                        &context=stores%2Fx&client_id=a%3Ap%20p";
        assert_eq!(body(&endpoint.exchange("c", "r", None, &callback())), expected);
        let refresh = "grant_type=refresh_token&refresh_token=r&client_id=a%3Ap%20p";
        assert_eq!(body(&endpoint.refresh("r", &[])), refresh);
    }

    #[test]
    fn account_credentials_have_their_own_grant_type() {
        let mut oauth = platform(TokenAuth::ClientSecretBasic, TokenBody::Form);
        oauth.grant = Grant::AccountCredentials;
        oauth.token_parameters = [("account_id".to_owned(), "a 1".to_owned())].into();
        let client = client(Some("s"));
        let endpoint = TokenEndpoint { oauth: &oauth, url: URL, client: &client };
        let expected = "grant_type=account_credentials&account_id=a%201";
        assert_eq!(body(&endpoint.client_credentials(&[])), expected);
    }

    #[test]
    fn every_request_has_the_headers_of_the_platform() {
        let mut oauth = platform(TokenAuth::None, TokenBody::Json);
        oauth.token_headers = Parameters::from([
            ("Api-Version".to_owned(), "2".to_owned()),
            ("User-Agent".to_owned(), "app/1".to_owned()),
        ]);
        let client = client(None);
        let endpoint = TokenEndpoint { oauth: &oauth, url: URL, client: &client };
        for request in [endpoint.refresh("r", &[]), endpoint.client_credentials(&[])] {
            assert_eq!(header(&request, "api-version"), Some("2"));
            let agents = request.headers.iter().filter(|(name, _)| name == "user-agent");
            assert_eq!(agents.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["app/1"]);
            assert_eq!(header(&request, "accept"), Some("application/json"));
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let (oauth, client) =
            (platform(TokenAuth::ClientSecretPost, TokenBody::Form), client(Some("hunter2")));
        let endpoint = TokenEndpoint { oauth: &oauth, url: URL, client: &client };
        let shown = format!("{endpoint:?} {:?}", endpoint.refresh("swordfish", &[]));
        assert!(!shown.contains("hunter2") && !shown.contains("swordfish"), "{shown}");
    }
}
