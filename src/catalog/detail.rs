//! What a connector's detail adds to its row: how to connect to the platform, and where its API is.

use serde::{Deserialize, Serialize};

use crate::terms::CredentialType;

/// The detail of a connector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorDetail {
    /// The ways to connect, the preferred one first.
    pub auth_methods: Vec<AuthMethod>,
    /// The base addresses of the API, the default one first.
    pub servers: Vec<Server>,
    /// The platform's own documentation: an `https` URL.
    pub documentation_url: Option<String>,
    /// The licence of the document from which the actions were imported.
    pub license: Option<License>,
    /// Headers of every request to the platform, whichever method authorizes it: templates as those of a method.
    #[serde(default)]
    pub headers: Parameters,
    /// A request that succeeds only with good credentials.
    pub verify: Option<Verify>,
    /// How to find out whose account it is.
    pub account: Option<Account>,
    /// Where responses say that a list goes on, besides the header `Link`: the first that says it counts.
    #[serde(default)]
    pub pagination: Vec<Pagination>,
}

/// Where a JSON response says how to get the next page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pagination {
    /// The JSON Pointer (RFC 6901) of the next page's address, or of the value of `parameter`.
    pub next: String,
    /// The query parameter that takes the value; `None` when it is an address.
    #[serde(default)]
    pub parameter: Option<String>,
    /// The JSON Pointer of the list whose last item has the value; `None` when the response itself has it.
    #[serde(default)]
    pub items: Option<String>,
    /// The JSON Pointer of what is `true` when there is another page; `None` when the value says it.
    #[serde(default)]
    pub more: Option<String>,
}

/// A base address of an API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Server {
    /// An absolute URL without a slash at its end. Each `{name}` in it stands for the field of that name.
    pub url: String,
    /// One line; `None` when the platform does not describe it.
    pub description: Option<String>,
}

/// The licence of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct License {
    /// Its name, or its SPDX identifier.
    pub name: Option<String>,
    /// Where its text is.
    pub url: Option<String>,
}

/// A request to the platform, without input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The HTTP method.
    pub method: crate::terms::Method,
    /// The path and query below the first server whose variables are all among the method's fields, or an absolute `https`
    /// URL.
    pub path: String,
    /// The JSON body; `None` for none.
    #[serde(default)]
    pub body: Option<serde_json::Value>,
}

/// A request that shows whether the platform accepts credentials: a 2xx says that it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verify {
    /// The request.
    #[serde(flatten)]
    pub request: Request,
    /// The statuses with which the platform rejects credentials. All others but 2xx say nothing about them.
    #[serde(default = "rejected")]
    pub rejected: Vec<u16>,
    /// What a response contains if it rejects the credentials, whatever its status.
    #[serde(default)]
    pub rejected_when: Option<RejectedWhen>,
}

/// The statuses of rejected credentials unless the platform is known to use others. A 403 often means a restricted key.
#[must_use]
pub fn rejected() -> Vec<u16> {
    vec![401]
}

/// A value in a JSON response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectedWhen {
    /// Where it is: a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// What it is; an array lists several values.
    pub value: serde_json::Value,
}

impl RejectedWhen {
    /// Whether a response is one that rejects credentials.
    #[must_use]
    pub fn matches(&self, body: &serde_json::Value) -> bool {
        let listed = self.value.as_array().map_or(&[][..], Vec::as_slice);
        body.pointer(&self.pointer)
            .is_some_and(|found| *found == self.value || listed.contains(found))
    }
}

/// How to find out whose account a connection leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// The request whose answer describes the account.
    #[serde(flatten)]
    pub request: Request,
    /// The JSON Pointer (RFC 6901) of the account's stable id in the answer.
    pub id: String,
    /// The JSON Pointer of the account's name in the answer.
    pub name: Option<String>,
}

/// A way to connect to a platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "Flat")]
pub struct AuthMethod {
    /// Unique within the connector: 1 to 64 of a-z, 0-9 and -.
    pub id: String,
    /// What the method is, and what it needs.
    #[serde(flatten)]
    pub kind: Kind,
    /// What the user is asked for, the variables of URLs and templates included.
    pub fields: Vec<Field>,
    /// Headers of every request to the platform, by their names. In a value, `{name}` stands for the field or the member of
    /// the token response with that name; `{accessToken}`, `{clientId}` and `{clientSecret}` belong to OAuth 2.0.
    pub headers: Parameters,
    /// Query parameters of every request to the platform: templates as those of `headers`.
    pub query: Parameters,
}

/// The kinds of methods, each with what it needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Kind {
    /// OAuth 2.0 (RFC 6749).
    #[serde(rename = "oauth2")]
    OAuth2(Box<OAuth2>),
    /// A key in a header, the query or a cookie.
    ApiKey(ApiKey),
    /// A user name and a password in the header `Authorization` (RFC 7617).
    #[serde(rename_all = "camelCase")]
    Basic {
        /// What the platform calls the user name.
        username_label: String,
        /// What the platform calls the password.
        password_label: String,
        /// A template of the user name; `None` if the user enters it in the field `username`.
        username: Option<String>,
        /// A template of the password; `None` if the user enters it in the field `password`.
        password: Option<String>,
    },
    /// A token in the header `Authorization` (RFC 6750).
    Bearer {
        /// What comes before the token, as before an API key.
        prefix: String,
    },
    /// Requests signed with AWS Signature Version 4.
    AwsSigv4 {
        /// The name of the service in signatures.
        service: String,
        /// The regions in which the service is; empty when they are not known.
        regions: Vec<String>,
    },
}

/// A method as it is stored: the members of all kinds, of which it has those of its own. Serde could choose the kind by
/// its name too, but would buffer each method for that, with code of 30 KB.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flat {
    id: String,
    r#type: CredentialType,
    fields: Vec<Field>,
    #[serde(default)]
    headers: Parameters,
    #[serde(default)]
    query: Parameters,
    // OAuth 2.0
    grant: Option<Grant>,
    issuer: Option<String>,
    authorization_url: Option<String>,
    token_url: Option<String>,
    refresh_url: Option<String>,
    revocation_url: Option<String>,
    #[serde(default)]
    scopes: Vec<Scope>,
    scope_separator: Option<String>,
    #[serde(default)]
    pkce: Pkce,
    #[serde(default)]
    token_auth: TokenAuth,
    #[serde(default = "client_id")]
    client_id_parameter: String,
    #[serde(default)]
    authorization_parameters: Parameters,
    #[serde(default)]
    token_parameters: Parameters,
    redirect_uri: Option<String>,
    #[serde(default)]
    callback_parameters: Vec<String>,
    #[serde(default)]
    token_body: TokenBody,
    #[serde(default)]
    token_headers: Parameters,
    #[serde(default)]
    revocation_body: TokenBody,
    #[serde(default)]
    revocation_token: RevocationToken,
    token_pointer: Option<String>,
    token_fallback: Option<String>,
    #[serde(default)]
    token_members: Vec<String>,
    #[serde(default = "code")]
    code_parameter: String,
    #[serde(default)]
    expires_unit: ExpiresUnit,
    long_lived_token: Option<AccessTokenRequest>,
    access_token_refresh: Option<AccessTokenRequest>,
    #[serde(default)]
    field_sources: Vec<FieldSource>,
    // An API key, or a bearer token
    r#in: Option<In>,
    name: Option<String>,
    prefix: Option<String>,
    // A user name and a password
    username_label: Option<String>,
    password_label: Option<String>,
    username: Option<String>,
    password: Option<String>,
    // AWS Signature Version 4
    service: Option<String>,
    regions: Option<Vec<String>>,
}

/// A member that the kind of a method needs is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingMemberError;

impl std::fmt::Display for MissingMemberError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a member of the method is missing")
    }
}

impl std::error::Error for MissingMemberError {}

impl TryFrom<Flat> for AuthMethod {
    type Error = MissingMemberError;

    fn try_from(flat: Flat) -> Result<Self, MissingMemberError> {
        let missing = MissingMemberError;
        let kind = match flat.r#type {
            CredentialType::OAuth2 => Kind::OAuth2(Box::new(OAuth2 {
                grant: flat.grant.ok_or(missing)?,
                issuer: flat.issuer,
                authorization_url: flat.authorization_url,
                token_url: flat.token_url.ok_or(missing)?,
                refresh_url: flat.refresh_url,
                revocation_url: flat.revocation_url,
                scopes: flat.scopes,
                scope_separator: flat.scope_separator.ok_or(missing)?,
                pkce: flat.pkce,
                token_auth: flat.token_auth,
                client_id_parameter: flat.client_id_parameter,
                authorization_parameters: flat.authorization_parameters,
                token_parameters: flat.token_parameters,
                redirect_uri: flat.redirect_uri,
                callback_parameters: flat.callback_parameters,
                token_body: flat.token_body,
                token_headers: flat.token_headers,
                revocation_body: flat.revocation_body,
                revocation_token: flat.revocation_token,
                token_pointer: flat.token_pointer,
                token_fallback: flat.token_fallback,
                token_members: flat.token_members,
                code_parameter: flat.code_parameter,
                expires_unit: flat.expires_unit,
                long_lived_token: flat.long_lived_token,
                access_token_refresh: flat.access_token_refresh,
                field_sources: flat.field_sources,
            })),
            CredentialType::ApiKey => Kind::ApiKey(ApiKey {
                r#in: flat.r#in.ok_or(missing)?,
                name: flat.name.ok_or(missing)?,
                prefix: flat.prefix.unwrap_or_default(),
            }),
            CredentialType::Basic => Kind::Basic {
                username_label: flat.username_label.ok_or(missing)?,
                password_label: flat.password_label.ok_or(missing)?,
                username: flat.username,
                password: flat.password,
            },
            CredentialType::Bearer => Kind::Bearer { prefix: flat.prefix.ok_or(missing)? },
            CredentialType::AwsSigv4 => Kind::AwsSigv4 {
                service: flat.service.ok_or(missing)?,
                regions: flat.regions.ok_or(missing)?,
            },
        };
        let (headers, query) = (flat.headers, flat.query);
        Ok(Self { id: flat.id, kind, fields: flat.fields, headers, query })
    }
}

/// OAuth 2.0 as a platform speaks it. URLs may contain variables in braces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OAuth2 {
    /// Which grant is used.
    pub grant: Grant,
    /// The issuer that the platform names in its answers (RFC 9207).
    pub issuer: Option<String>,
    /// Where the user is sent; `None` for client credentials.
    pub authorization_url: Option<String>,
    /// Where codes and refresh tokens are exchanged.
    pub token_url: String,
    /// Where refresh tokens are exchanged, when that is not `token_url`.
    pub refresh_url: Option<String>,
    /// Where tokens are revoked (RFC 7009).
    pub revocation_url: Option<String>,
    /// The scopes that may be asked for.
    pub scopes: Vec<Scope>,
    /// What stands between scopes.
    pub scope_separator: String,
    /// Whether the platform takes PKCE (RFC 7636).
    pub pkce: Pkce,
    /// How the client authenticates at `token_url`.
    pub token_auth: TokenAuth,
    /// What the platform calls the parameter `client_id`.
    pub client_id_parameter: String,
    /// More parameters of the authorization request.
    pub authorization_parameters: Parameters,
    /// More parameters of the token request.
    pub token_parameters: Parameters,
    /// A template of the parameter `redirect_uri`, when the platform wants something else than the service's address.
    #[serde(default)]
    pub redirect_uri: Option<String>,
    /// The parameters of the redirect that the exchange of the code repeats.
    #[serde(default)]
    pub callback_parameters: Vec<String>,
    /// The form of the token request's body.
    pub token_body: TokenBody,
    /// Headers of token and revocation requests.
    #[serde(default)]
    pub token_headers: Parameters,
    /// The form of the revocation request's body.
    #[serde(default)]
    pub revocation_body: TokenBody,
    /// Which token is revoked.
    #[serde(default)]
    pub revocation_token: RevocationToken,
    /// The JSON Pointer of the object that has the tokens, when they are nested in the token answer.
    pub token_pointer: Option<String>,
    /// The JSON Pointer of the object that has the tokens when there are none at `token_pointer` or around it.
    pub token_fallback: Option<String>,
    /// The members of the token answer that are kept with the credentials.
    pub token_members: Vec<String>,
    /// What the platform calls the parameter `code` of the redirect.
    #[serde(default = "code")]
    pub code_parameter: String,
    /// In what unit the platform says how long an access token is valid.
    #[serde(default)]
    pub expires_unit: ExpiresUnit,
    /// The request that exchanges the first access token for one that is valid for longer.
    pub long_lived_token: Option<AccessTokenRequest>,
    /// The request that asks for a new access token with the old one, when there is no refresh token.
    pub access_token_refresh: Option<AccessTokenRequest>,
    /// Where the platform says the values of fields.
    #[serde(default)]
    pub field_sources: Vec<FieldSource>,
}

/// A request for an access token that another access token authorizes. It is sent to the platform with the client's secret
/// or the token, so its URL has no variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessTokenRequest {
    /// `GET`, with the parameters in the query, or `POST`.
    pub method: crate::terms::Method,
    /// An absolute `https` URL.
    pub url: String,
    /// All parameters. `{accessToken}`, `{clientId}` and `{clientSecret}` stand for what they name.
    pub parameters: Parameters,
}

/// Where the platform says the value of a field. That value wins over the one that a user typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSource {
    /// The field's name.
    pub field: String,
    /// What says it.
    pub from: SourceKind,
    /// The name of a parameter of the redirect, or a JSON Pointer into the response.
    pub at: String,
    /// What the platform says, with `{field}` in place of the value, such as `https://{company}.pipedrive.com`; `None` when
    /// it says the value alone. A source that says something else is ignored.
    #[serde(default)]
    pub template: Option<String>,
}

/// What says the value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The redirect back from the platform.
    Callback,
    /// The token response.
    Token,
    /// The response to the connector's `account` request.
    Account,
}

/// In what unit a platform says how long an access token is valid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExpiresUnit {
    /// Seconds, as RFC 6749 says.
    #[default]
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
}

impl OAuth2 {
    /// OAuth as most platforms speak it.
    #[must_use]
    pub fn usual(grant: Grant, authorization_url: Option<String>, token_url: String) -> Self {
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
            field_sources: Vec::new(),
        }
    }

    /// Whether the platform says the value of a field while it connects an account.
    #[must_use]
    pub fn says(&self, field: &str) -> bool {
        self.field_sources.iter().any(|source| source.field == field)
    }
}

/// The name of the parameter for the code in RFC 6749.
#[must_use]
pub fn code() -> String {
    "code".to_owned()
}

/// The name of the parameter for the client's id in RFC 6749.
#[must_use]
pub fn client_id() -> String {
    "client_id".to_owned()
}

/// Names and values, in order.
pub type Parameters = std::collections::BTreeMap<String, String>;

/// The grants that a connection can be made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// The user agrees in a browser.
    AuthorizationCode,
    /// The client acts for itself.
    ClientCredentials,
    /// The client acts for the account that its parameters name, as Zoom's server-to-server apps do.
    AccountCredentials,
}

impl Grant {
    /// Whether the client gets tokens without a user.
    #[must_use]
    pub const fn is_of_client(self) -> bool {
        !matches!(self, Self::AuthorizationCode)
    }
}

/// Methods of PKCE.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pkce {
    /// A SHA-256 of the verifier.
    S256,
    /// The platform refuses PKCE, or is not known to take it.
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
    /// In the header `Authorization`, form-encoded first (RFC 6749, 2.3.1).
    ClientSecretBasic,
    /// In the header `Authorization`, as they are.
    ClientSecretBasicRaw,
    /// In the body, by a token that is signed with the client's private key (RFC 7523, section 2.2).
    PrivateKeyJwt,
    /// Not at all: a public client.
    None,
}

/// Which token a revocation request names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevocationToken {
    /// The refresh token, or the access token if there is no other.
    #[default]
    RefreshToken,
    /// The access token: the platform revokes no other.
    AccessToken,
}

/// The form of a request's body at the authorization server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenBody {
    /// `application/x-www-form-urlencoded`, as RFC 6749 says.
    #[default]
    Form,
    /// `application/json`
    Json,
}

/// A scope of OAuth 2.0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// What is asked for.
    pub name: String,
    /// What it allows, in one line; possibly empty.
    #[serde(default)]
    pub description: String,
}

/// A key that is sent with each request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    /// Where it is sent.
    pub r#in: In,
    /// The name of the header, parameter or cookie.
    pub name: String,
    /// What comes before the key; possibly empty. After a word such as `Token` stands a space, after any other text, such as
    /// `Token token=`, none.
    #[serde(default)]
    pub prefix: String,
}

/// Where a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum In {
    /// In a header.
    Header,
    /// In the query.
    Query,
    /// In a cookie.
    Cookie,
}

/// Something that a user is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its name in requests to connect.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// One line that helps to fill it in.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether it must not be shown.
    #[serde(default)]
    pub secret: bool,
    /// Whether it must be filled in.
    #[serde(default)]
    pub required: bool,
    /// A regular expression that the whole value matches.
    #[serde(default)]
    pub pattern: Option<String>,
    /// All values that it may have.
    #[serde(default)]
    pub r#enum: Option<Vec<String>>,
    /// The value when it is left empty.
    #[serde(default)]
    pub default: Option<String>,
}

impl Field {
    /// A field that must be filled in.
    #[must_use]
    pub fn required(name: &str, label: &str) -> Self {
        Self {
            name: name.to_owned(),
            label: label.to_owned(),
            description: None,
            secret: false,
            required: true,
            pattern: None,
            r#enum: None,
            default: None,
        }
    }

    /// A field that must be filled in and must not be shown.
    #[must_use]
    pub fn secret(name: &str, label: &str) -> Self {
        Self { secret: true, ..Self::required(name, label) }
    }
}

impl AuthMethod {
    /// What the platform says of OAuth 2.0. Returns `None` when the method is another one.
    #[must_use]
    pub fn oauth2(&self) -> Option<&OAuth2> {
        match &self.kind {
            Kind::OAuth2(oauth) => Some(oauth),
            _ => None,
        }
    }

    /// Whether the method is OAuth 2.0.
    #[must_use]
    pub const fn is_oauth2(&self) -> bool {
        matches!(self.kind, Kind::OAuth2(_))
    }
}

/// The URLs to which a method of this kind sends users and the vault.
pub fn urls(kind: &Kind) -> impl Iterator<Item = &str> {
    let oauth = match kind {
        Kind::OAuth2(oauth) => Some(oauth),
        _ => None,
    };
    oauth.into_iter().flat_map(|oauth| {
        let optional = [&oauth.authorization_url, &oauth.refresh_url, &oauth.revocation_url];
        let optional = optional.into_iter().flatten().map(String::as_str);
        let more = [&oauth.long_lived_token, &oauth.access_token_refresh];
        let more = more.into_iter().flatten().map(|request| request.url.as_str());
        optional.chain([oauth.token_url.as_str()]).chain(more)
    })
}

/// The names of the variables in a URL, in order.
pub fn variables(url: &str) -> impl Iterator<Item = &str> {
    url.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AuthMethod, Field, urls, variables};

    #[test]
    fn a_field_is_shown_unless_it_is_secret() {
        for (field, is_secret) in
            [(Field::required("key", "Key"), false), (Field::secret("key", "Key"), true)]
        {
            assert_eq!((field.secret, field.required), (is_secret, true));
        }
    }

    #[test]
    fn a_method_has_the_members_of_its_kind() {
        let method = json!({"id": "key", "type": "api_key", "in": "header", "fields": []});
        let error = serde_json::from_value::<AuthMethod>(method).unwrap_err();
        assert!(error.to_string().contains("a member of the method is missing"), "{error}");
    }

    #[test]
    fn a_variable_stands_in_braces() {
        for (url, expected) in [
            ("https://a.example/x", &[][..]),
            ("https://{region}.a.example/{x}/{y", &["region", "x"]),
        ] {
            assert_eq!(variables(url).collect::<Vec<_>>(), expected, "{url}");
        }
    }

    #[test]
    fn a_method_names_all_urls_to_which_it_leads() {
        let method = |value| serde_json::from_value::<AuthMethod>(value).unwrap();
        let oauth = method(json!({
            "id": "oauth", "type": "oauth2", "grant": "authorization_code", "scopeSeparator": " ", "fields": [],
            "authorizationUrl": "https://a.example/1", "tokenUrl": "https://a.example/2",
            "refreshUrl": "https://a.example/3", "revocationUrl": "https://a.example/4",
        }));
        let mut found: Vec<&str> = urls(&oauth.kind).collect();
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3, 4].map(|nth| format!("https://a.example/{nth}")));
        let key =
            json!({"id": "key", "type": "api_key", "in": "header", "name": "X-Key", "fields": []});
        assert_eq!(urls(&method(key).kind).count(), 0);
    }
}
