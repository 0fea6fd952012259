//! The OAuth 2.0 dialects of platforms.

use serde::{Deserialize, Serialize};

use super::Parameters;

/// The OAuth 2.0 dialect of a platform. URLs may contain variables in braces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OAuth2 {
    pub grant: Grant,
    /// The issuer identifier in the platform's authorization responses (RFC 9207).
    pub issuer: Option<String>,
    /// `None` for grants without a user.
    pub authorization_url: Option<String>,
    /// The token endpoint, for authorization codes and refresh tokens.
    pub token_url: String,
    /// The endpoint for refresh tokens, if it differs from `token_url`.
    pub refresh_url: Option<String>,
    /// The revocation endpoint (RFC 7009).
    pub revocation_url: Option<String>,
    /// The scopes that may be requested.
    pub scopes: Vec<Scope>,
    pub scope_separator: String,
    /// The PKCE challenge method (RFC 7636).
    pub pkce: Pkce,
    /// How the client authenticates at `token_url`.
    pub token_auth: TokenAuth,
    /// The platform's name for the parameter `client_id`.
    pub client_id_parameter: String,
    /// Additional parameters of the authorization request.
    pub authorization_parameters: Parameters,
    /// Additional parameters of the token request.
    pub token_parameters: Parameters,
    /// A template for the parameter `redirect_uri`, for platforms that require a value other than
    /// the service's callback URL.
    #[serde(default)]
    pub redirect_uri: Option<String>,
    /// The parameters of the redirect that are copied to the token request.
    #[serde(default)]
    pub callback_parameters: Vec<String>,
    pub token_body: TokenBody,
    #[serde(default)]
    pub token_headers: Parameters,
    #[serde(default)]
    pub revocation_body: TokenBody,
    #[serde(default)]
    pub revocation_token: RevocationToken,
    /// A JSON Pointer to the object with the tokens, if they are nested in the token response.
    pub token_pointer: Option<String>,
    /// A JSON Pointer to the object with the tokens, for responses without an object at
    /// `token_pointer`.
    pub token_fallback: Option<String>,
    /// The members of the token response that are stored with the credentials.
    pub token_members: Vec<String>,
    /// The platform's name for the parameter `code` of the redirect.
    #[serde(default = "code")]
    pub code_parameter: String,
    /// The unit of the lifetime of an access token.
    #[serde(default)]
    pub expires_unit: ExpiresUnit,
    /// The request that exchanges the first access token for one with a longer lifetime.
    pub long_lived_token: Option<AccessTokenExchange>,
    /// The request that exchanges an access token for a new one, for platforms without refresh
    /// tokens.
    pub access_token_refresh: Option<AccessTokenExchange>,
    /// The URL that returns the values of fields for an access token.
    #[serde(default)]
    pub lookup_url: Option<String>,
    /// Where the platform returns the values of fields.
    #[serde(default)]
    pub field_sources: Vec<FieldSource>,
}

/// A request that exchanges an access token for another one. It contains the client secret or the
/// token, so its URL has no variables that a user could fill in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessTokenExchange {
    /// `GET` with the parameters in the query, or `POST`.
    pub method: crate::terms::Method,
    /// An absolute `https` URL.
    pub url: String,
    /// All parameters. `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced with the
    /// token, the client's id and its secret.
    pub parameters: Parameters,
}

/// Where the platform returns the value of a field. The returned value overrides the one that the
/// user entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSource {
    pub field: String,
    pub from: SourceKind,
    /// A parameter of the redirect, or a JSON Pointer into the response. A step such as
    /// `?is_default=true` selects the items of a list with this member. The expected value can be a
    /// template, such as `{site}`.
    pub at: String,
    /// The format of the returned value, with the field as a variable, such as
    /// `https://{company}.pipedrive.com`. `None` for the bare value. A value in another format is
    /// ignored.
    #[serde(default)]
    pub template: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The redirect back from the platform.
    Callback,
    Token,
    /// The response at `lookup_url`.
    Lookup,
}

/// The unit of the lifetime of an access token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExpiresUnit {
    /// Seconds, as in RFC 6749.
    #[default]
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "ms")]
    Milliseconds,
}

impl OAuth2 {
    /// Standard OAuth 2.0, without the settings that only some platforms need.
    pub fn standard(grant: Grant, authorization_url: Option<String>, token_url: String) -> Self {
        Self {
            grant,
            issuer: None,
            authorization_url,
            token_url,
            refresh_url: None,
            revocation_url: None,
            scopes: Vec::new(),
            scope_separator: " ".to_owned(),
            pkce: Pkce::default(),
            token_auth: TokenAuth::default(),
            client_id_parameter: client_id(),
            authorization_parameters: Parameters::new(),
            token_parameters: Parameters::new(),
            redirect_uri: None,
            callback_parameters: Vec::new(),
            token_body: TokenBody::default(),
            token_headers: Parameters::new(),
            revocation_body: TokenBody::default(),
            revocation_token: RevocationToken::default(),
            token_pointer: None,
            token_fallback: None,
            token_members: Vec::new(),
            code_parameter: code(),
            expires_unit: ExpiresUnit::default(),
            long_lived_token: None,
            access_token_refresh: None,
            lookup_url: None,
            field_sources: Vec::new(),
        }
    }

    /// Whether the platform returns the value of a field during a connect attempt.
    pub fn provides_field(&self, field: &str) -> bool {
        self.field_sources.iter().any(|source| source.field == field)
    }
}

/// The default name of the parameter for the code (RFC 6749).
pub fn code() -> String {
    "code".to_owned()
}

/// The default name of the parameter for the client's id (RFC 6749).
pub fn client_id() -> String {
    "client_id".to_owned()
}

/// The OAuth 2.0 grants of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// The user consents in a browser.
    AuthorizationCode,
    /// The client acts on its own behalf.
    ClientCredentials,
    /// The client acts on behalf of an account that the token request names (Zoom's
    /// server-to-server OAuth).
    AccountCredentials,
}

impl Grant {
    /// Whether the client obtains tokens without a user.
    pub const fn acts_without_user(self) -> bool {
        !matches!(self, Self::AuthorizationCode)
    }
}

/// PKCE challenge methods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pkce {
    S256,
    /// The platform rejects PKCE, or is not known to support it.
    #[default]
    #[serde(rename = "none")]
    None,
}

/// How a client authenticates in a token request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenAuth {
    /// Client id and secret in the body (`client_secret_post`).
    #[default]
    ClientSecretPost,
    /// Client id and secret in the `Authorization` header, form-encoded first (RFC 6749, section
    /// 2.3.1).
    ClientSecretBasic,
    /// Client id and secret in the `Authorization` header, not form-encoded.
    ClientSecretBasicRaw,
    /// A JWT in the body, signed with the client's private key (RFC 7523, section 2.2).
    PrivateKeyJwt,
    /// No authentication: a public client.
    None,
}

/// The token in a revocation request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevocationToken {
    /// The refresh token, or the access token if no refresh token is stored.
    #[default]
    RefreshToken,
    /// The access token, for platforms that cannot revoke refresh tokens.
    AccessToken,
}

/// The media type of a request to the authorization server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenBody {
    /// `application/x-www-form-urlencoded`, as in RFC 6749.
    #[default]
    Form,
    /// `application/json`
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    pub name: String,
    /// A single line; may be empty.
    #[serde(default)]
    pub description: String,
}
