//! The detail of a connector: auth methods, servers, and requests about credentials and accounts.

mod oauth2;

pub use oauth2::{
    AccessTokenExchange, ExpiresUnit, FieldSource, Grant, OAuth2, Pkce, RevocationToken, Scope,
    SourceKind, TokenAuth, TokenBody, client_id, code,
};
use serde::{Deserialize, Serialize};

use crate::terms::CredentialType;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorDetail {
    /// The auth methods, preferred one first.
    pub auth_methods: Vec<AuthMethod>,
    /// The base URLs of the API, default first.
    pub servers: Vec<Server>,
    /// An `https` URL.
    pub documentation_url: Option<String>,
    /// The licence of the document that the actions were imported from.
    pub license: Option<License>,
    /// Templates of the headers of every request to the platform, for any auth method.
    #[serde(default)]
    pub headers: Parameters,
    /// The request that verifies credentials.
    pub verify: Option<Verify>,
    /// The request that identifies the connected account.
    pub account: Option<Account>,
    /// Rules that find the next page of a list in a response without a `Link` header. The first
    /// matching rule applies.
    #[serde(default)]
    pub pagination: Vec<Pagination>,
}

/// A rule that finds the next page of a list in a JSON response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pagination {
    /// A JSON Pointer (RFC 6901) to the URL of the next page, or to the value of `parameter`.
    pub next: String,
    /// The query parameter to send the value of `next` in. `None` if `next` is a URL.
    #[serde(default)]
    pub parameter: Option<String>,
    /// A JSON Pointer to a list; `next` is then relative to its last item, not to the response.
    #[serde(default)]
    pub items: Option<String>,
    /// A JSON Pointer to a boolean that is `true` if there is another page. Without it, there is
    /// another page if `next` has a value.
    #[serde(default)]
    pub more: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Server {
    /// An absolute URL without a trailing slash. `{name}` is replaced with the field of that name.
    pub url: String,
    /// A single line.
    pub description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct License {
    /// The name or SPDX identifier of the licence.
    pub name: Option<String>,
    pub url: Option<String>,
}

/// A request to the platform, without input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub method: crate::terms::Method,
    /// An absolute `https` URL, or a path relative to the first server that the auth method has
    /// fields for.
    pub path: String,
    /// The JSON body of the request.
    #[serde(default)]
    pub body: Option<serde_json::Value>,
}

/// A request that verifies credentials: a 2xx response accepts them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verify {
    #[serde(flatten)]
    pub request: Request,
    /// The statuses of a rejection. All other statuses except 2xx are inconclusive.
    #[serde(default = "rejected")]
    pub rejected: Vec<u16>,
    /// A value in the body that marks a rejection, regardless of the status.
    #[serde(default)]
    pub rejected_when: Option<RejectedWhen>,
}

/// The default statuses of a rejection. They exclude 403, which often means a valid key with
/// restricted access.
pub fn rejected() -> Vec<u16> {
    vec![401]
}

/// A value in a JSON response that rejects the credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectedWhen {
    /// A JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The value, or an array of several values.
    pub value: serde_json::Value,
}

impl RejectedWhen {
    /// Whether this response rejects the credentials.
    pub fn matches(&self, body: &serde_json::Value) -> bool {
        let listed = self.value.as_array().map_or(&[][..], Vec::as_slice);
        body.pointer(&self.pointer)
            .is_some_and(|found| *found == self.value || listed.contains(found))
    }
}

/// How to identify a connected account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// The request whose response describes the account.
    #[serde(flatten)]
    pub request: Request,
    /// A JSON Pointer (RFC 6901) to the stable id of the account.
    pub id: String,
    /// A JSON Pointer to the name of the account.
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "FlatMethod")]
pub struct AuthMethod {
    /// Unique within the connector: 1 to 64 characters of `a-z`, `0-9` and `-`.
    pub id: String,
    #[serde(flatten)]
    pub kind: Kind,
    /// The values that the user enters, including the variables of URLs and templates.
    pub fields: Vec<Field>,
    /// Templates of headers that are sent with every request to the platform. `{name}` is replaced
    /// with the field or the token response's member of that name; with OAuth 2.0, `{accessToken}`,
    /// `{clientId}` and `{clientSecret}` with the token and the client's values.
    pub headers: Parameters,
    /// Templates of the query parameters of every request, with the variables of `headers`.
    pub query: Parameters,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Kind {
    #[serde(rename = "oauth2")]
    OAuth2(Box<OAuth2>),
    ApiKey(ApiKey),
    /// A user name and a password in the `Authorization` header (RFC 7617).
    #[serde(rename_all = "camelCase")]
    Basic {
        /// The platform's name for the user name.
        username_label: String,
        /// The platform's name for the password.
        password_label: String,
        /// A template that builds the user name. `None` if the user enters it in the field
        /// `username`.
        username: Option<String>,
        /// A template that builds the password. `None` if the user enters it in the field
        /// `password`.
        password: Option<String>,
    },
    /// A token in the `Authorization` header (RFC 6750).
    Bearer {
        /// The prefix of the token in the header, such as `Bearer`.
        prefix: String,
    },
    /// Requests signed with AWS Signature Version 4.
    AwsSigv4 {
        /// The AWS service name in signatures.
        service: String,
        /// The regions of the service. Empty if unknown.
        regions: Vec<String>,
    },
}

/// The stored form of an auth method. An internally tagged serde enum would add 30 KB of code.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FlatMethod {
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
    long_lived_token: Option<AccessTokenExchange>,
    access_token_refresh: Option<AccessTokenExchange>,
    lookup_url: Option<String>,
    #[serde(default)]
    field_sources: Vec<FieldSource>,
    // An API key, or a bearer token
    r#in: Option<ApiKeyLocation>,
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

/// Error: a member that the method's kind requires is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingMemberError;

impl std::fmt::Display for MissingMemberError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a member of the method is missing")
    }
}

impl std::error::Error for MissingMemberError {}

impl TryFrom<FlatMethod> for AuthMethod {
    type Error = MissingMemberError;

    fn try_from(flat: FlatMethod) -> Result<Self, MissingMemberError> {
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
                lookup_url: flat.lookup_url,
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

pub type Parameters = std::collections::BTreeMap<String, String>;

/// An API key that is sent with each request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    pub r#in: ApiKeyLocation,
    /// The name of the header, parameter or cookie.
    pub name: String,
    /// The prefix of the key, possibly empty. A space is inserted after a word such as `Token`, but
    /// not after any other string, such as `Token token=`.
    #[serde(default)]
    pub prefix: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiKeyLocation {
    Header,
    Query,
    Cookie,
}

/// A value that the user enters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The name in connect requests.
    pub name: String,
    /// The label in forms.
    pub label: String,
    /// One line of help for the user.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether forms hide the value.
    #[serde(default)]
    pub secret: bool,
    #[serde(default)]
    pub required: bool,
    /// A regular expression that the whole value must match.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The allowed values. Empty for any value.
    #[serde(default)]
    pub r#enum: Option<Vec<String>>,
    /// The value for an empty field.
    #[serde(default)]
    pub default: Option<String>,
}

impl Field {
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

    /// A required field whose value forms hide.
    pub fn secret(name: &str, label: &str) -> Self {
        Self { secret: true, ..Self::required(name, label) }
    }
}

impl AuthMethod {
    /// The OAuth 2.0 settings. Returns `None` for other kinds of auth method.
    pub fn oauth2(&self) -> Option<&OAuth2> {
        match &self.kind {
            Kind::OAuth2(oauth) => Some(oauth),
            _ => None,
        }
    }

    pub const fn is_oauth2(&self) -> bool {
        matches!(self.kind, Kind::OAuth2(_))
    }

    fn lookups(&self) -> impl Iterator<Item = &FieldSource> {
        let sources = self.oauth2().into_iter().flat_map(|oauth| &oauth.field_sources);
        sources.filter(|source| source.from == SourceKind::Lookup)
    }

    /// The first field that is looked up at `lookupUrl` and has no value in `fields`.
    pub fn missing_lookup(&self, fields: &Parameters) -> Option<&str> {
        let mut names = self.lookups().map(|source| source.field.as_str());
        names.find(|name| !fields.contains_key(*name))
    }

    /// The fields that are looked up at `lookupUrl` and select one of a user's accounts or sites.
    pub fn selecting_lookup_fields(&self) -> impl Iterator<Item = &str> {
        let sources = self.lookups().filter(|source| variables(&source.at).next().is_some());
        sources.map(|source| source.field.as_str())
    }
}

/// The URLs of an auth method, to which users or requests are sent.
pub fn urls(kind: &Kind) -> impl Iterator<Item = &str> {
    let oauth = match kind {
        Kind::OAuth2(oauth) => Some(oauth),
        _ => None,
    };
    oauth.into_iter().flat_map(|oauth| {
        let optional = [
            &oauth.authorization_url,
            &oauth.refresh_url,
            &oauth.revocation_url,
            &oauth.lookup_url,
        ];
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
    fn field_is_visible_unless_secret() {
        for (field, is_secret) in
            [(Field::required("key", "Key"), false), (Field::secret("key", "Key"), true)]
        {
            assert_eq!((field.secret, field.required), (is_secret, true));
        }
    }

    #[test]
    fn rejects_a_method_without_a_member_of_its_kind() {
        let method = json!({"id": "key", "type": "api_key", "in": "header", "fields": []});
        let error = serde_json::from_value::<AuthMethod>(method).unwrap_err();
        assert!(error.to_string().contains("a member of the method is missing"), "{error}");
    }

    #[test]
    fn finds_variables_in_braces() {
        for (url, expected) in [
            ("https://a.example/x", &[][..]),
            ("https://{region}.a.example/{x}/{y", &["region", "x"]),
        ] {
            assert_eq!(variables(url).collect::<Vec<_>>(), expected, "{url}");
        }
    }

    #[test]
    fn urls_of_a_method_are_complete() {
        let method = |value| serde_json::from_value::<AuthMethod>(value).unwrap();
        let oauth = method(json!({
            "id": "oauth", "type": "oauth2", "grant": "authorization_code", "scopeSeparator": " ", "fields": [],
            "authorizationUrl": "https://a.example/1", "tokenUrl": "https://a.example/2",
            "refreshUrl": "https://a.example/3", "revocationUrl": "https://a.example/4",
        }));
        let mut urls_of_method: Vec<&str> = urls(&oauth.kind).collect();
        urls_of_method.sort_unstable();
        assert_eq!(urls_of_method, [1, 2, 3, 4].map(|index| format!("https://a.example/{index}")));
        let key =
            json!({"id": "key", "type": "api_key", "in": "header", "name": "X-Key", "fields": []});
        assert_eq!(urls(&method(key).kind).count(), 0);
    }
}
