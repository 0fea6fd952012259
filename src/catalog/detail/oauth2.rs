//! The OAuth 2.0 dialects of platforms.

use serde::{Deserialize, Serialize};

use super::Parameters;

/// The OAuth 2.0 dialect of a platform. URLs may contain variables in braces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OAuth2 {
    pub grant: Grant,
    /// The issuer that the platform names in its responses (RFC 9207).
    pub issuer: Option<String>,
    /// `None` for client credentials.
    pub authorization_url: Option<String>,
    /// Exchanges codes and refresh tokens.
    pub token_url: String,
    /// Exchanges refresh tokens, if that is not `token_url`.
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
    /// A template of the parameter `redirect_uri`, if the platform expects a value other than the service's URL.
    #[serde(default)]
    pub redirect_uri: Option<String>,
    /// The parameters of the redirect that are sent along when the code is exchanged.
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
    /// A JSON Pointer to the object with the tokens, for responses that have none at `token_pointer`.
    pub token_fallback: Option<String>,
    /// The members of the token response that are stored with the credentials.
    pub token_members: Vec<String>,
    /// The platform's name for the parameter `code` of the redirect.
    #[serde(default = "code")]
    pub code_parameter: String,
    /// The unit of the lifetime of an access token.
    #[serde(default)]
    pub expires_unit: ExpiresUnit,
    /// Exchanges the first access token for one with a longer lifetime.
    pub long_lived_token: Option<AccessTokenRequest>,
    /// Exchanges an access token for a new one, if there is no refresh token.
    pub access_token_refresh: Option<AccessTokenRequest>,
    /// The URL that returns values of fields, given an access token.
    #[serde(default)]
    pub lookup_url: Option<String>,
    /// The places where the platform states the values of fields.
    #[serde(default)]
    pub field_sources: Vec<FieldSource>,
}

/// Exchanges an access token for another one. The request carries the client's secret or the token, so its URL has no
/// variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessTokenRequest {
    /// `GET`, with the parameters in the query, or `POST`.
    pub method: crate::terms::Method,
    /// An absolute `https` URL.
    pub url: String,
    /// All parameters. `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced with the token and the client's
    /// values.
    pub parameters: Parameters,
}

/// A place where the platform states the value of a field. This value overrides the one that a user entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSource {
    pub field: String,
    pub from: SourceKind,
    /// The name of a parameter of the redirect, or a JSON Pointer into the response. A step such as `?is_default=true`
    /// selects the items of a list that have this member. The value can be a template, such as `{site}`.
    pub at: String,
    /// The form in which the platform states the value, with `{field}` in its place, such as
    /// `https://{company}.pipedrive.com`. `None` for the bare value. A value of another form is ignored.
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
    /// The unit of RFC 6749.
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

    /// Whether the platform states the value of a field while it connects an account.
    pub fn provides_field(&self, field: &str) -> bool {
        self.field_sources.iter().any(|source| source.field == field)
    }
}

/// The parameter of RFC 6749 for the code.
pub fn code() -> String {
    "code".to_owned()
}

/// The parameter of RFC 6749 for the client's id.
pub fn client_id() -> String {
    "client_id".to_owned()
}

/// The OAuth 2.0 grants of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// The user consents in a browser.
    AuthorizationCode,
    /// The client acts for itself.
    ClientCredentials,
    /// The client acts for the account that its parameters name, as Zoom's server-to-server apps do.
    AccountCredentials,
}

impl Grant {
    /// Whether the client gets tokens without a user.
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
    /// In the body.
    #[default]
    ClientSecretPost,
    /// In the `Authorization` header, form-encoded first (RFC 6749, 2.3.1).
    ClientSecretBasic,
    /// In the `Authorization` header, not form-encoded.
    ClientSecretBasicRaw,
    /// In the body: an assertion signed with the client's private key (RFC 7523, section 2.2).
    PrivateKeyJwt,
    /// A public client.
    None,
}

/// The token that a revocation request names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevocationToken {
    /// The refresh token, or the access token if there is none.
    #[default]
    RefreshToken,
    /// The access token: the platform revokes no other.
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
