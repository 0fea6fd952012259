//! Reads the credentials of another service from a request body.

use std::collections::BTreeMap;

use crate::catalog::detail::AuthMethod;
use crate::connect::client::OauthClient;
use crate::connect::endpoints::client_choice;
use crate::connect::method::Connector;
use crate::connect::resolved_oauth::{is_listed, recipient_fields};
use crate::credentials::model::{Credentials, OAuthTokens};
use crate::http::body::BodyReader;
use crate::http::problem::Problem;
use crate::ports::Patterns;
use crate::terms::CredentialType;
use crate::util::rfc3339;

/// The fault of a field that only the OAuth client may set.
const CLIENT_ONLY_FAULT: &str =
    "decides who receives secrets and tokens: set it in the `variables` of the OAuth client";

/// The secret members of the body, each with the type of credentials that it belongs to.
pub(crate) const SECRETS: [(&str, CredentialType); 10] = [
    ("accessToken", CredentialType::OAuth2),
    ("refreshToken", CredentialType::OAuth2),
    ("apiKey", CredentialType::ApiKey),
    ("username", CredentialType::Basic),
    ("password", CredentialType::Basic),
    ("token", CredentialType::Bearer),
    ("accessKeyId", CredentialType::AwsSigv4),
    ("secretAccessKey", CredentialType::AwsSigv4),
    ("sessionToken", CredentialType::AwsSigv4),
    ("region", CredentialType::AwsSigv4),
];

/// Credentials of a request, checked against the platform's connector.
pub(super) struct SubmittedCredentials<'c> {
    pub method: &'c AuthMethod,
    /// The account's OAuth client for the method.
    pub client: Option<OauthClient>,
    pub credentials: Credentials,
    /// When the access token expires, in milliseconds since 1970-01-01 UTC.
    pub expires_at: Option<u64>,
    pub scopes: Vec<String>,
}

impl<'c> SubmittedCredentials<'c> {
    /// Reads the fields of [`crate::http::fields::CREDENTIALS_FIELDS`]. Fails without the OAuth client named
    /// `required_client`, because a refresh needs it.
    pub fn read(
        mut body: BodyReader,
        connector: &'c Connector,
        client: Option<OauthClient>,
        required_client: Option<&str>,
        patterns: &impl Patterns,
    ) -> Result<Self, Problem> {
        let kind: Option<CredentialType> = body.text("type").and_then(|text| text.parse().ok());
        let Some(kind) = kind else { return Err(body.refuse(&["type"], "is required", None)) };
        let method = match method_for(connector, kind, body.text("authMethod").as_deref()) {
            Ok(method) => method,
            Err((field, message)) => return Err(body.refuse(&[field], &message, None)),
        };
        let mut field_values = body.text_members("fields").unwrap_or_default();
        field_values.retain(|_, value| !value.is_empty());
        let client = client.filter(|client| client.is_for(&method.id));
        resolve_recipient_fields(&mut body, &mut field_values, method, connector, client.as_ref());
        let problem_of = |name| {
            client_choice::problem(connector, method, (client.as_ref(), name), &field_values)
        };
        if let Some(problem) = required_client.and_then(problem_of) {
            return Err(problem);
        }
        let mut secrets = read_secrets(&mut body, kind);
        let scopes = body.texts("scopes").unwrap_or_default();
        let expires_at = body.text("expiresAt").and_then(|text| rfc3339::parse(&text));
        let tokens = if kind == CredentialType::OAuth2 {
            if secrets.is_empty() {
                body.invalid(&["accessToken"], "is required, or else `refreshToken`");
            }
            Some(OAuthTokens {
                access: secrets.remove("accessToken").unwrap_or_default(),
                kind: "Bearer".to_owned(),
                refresh: secrets.remove("refreshToken"),
                members: BTreeMap::new(),
            })
        } else {
            field_values
                .extend(secrets.into_iter().map(|(name, secret)| (name.to_owned(), secret)));
            None
        };
        let fields = method.fill(connector, &field_values, patterns, |name, message| {
            let is_secret = SECRETS.iter().any(|(secret, _)| *secret == name);
            let path: &[&str] = if is_secret { &[name] } else { &["fields", name] };
            body.invalid(path, &message);
        });
        body.finish()?;
        let credentials = Credentials { tokens, ..Credentials::from_fields(kind, fields) };
        Ok(Self { method, client, credentials, expires_at, scopes })
    }

    /// Whether the credentials can be used without a refresh.
    pub fn has_access(&self) -> bool {
        self.credentials.tokens.as_ref().is_none_or(|tokens| !tokens.access.is_empty())
    }

    /// The expiry of the access token. Without an access token, returns `now`, so that the first
    /// use refreshes the credentials.
    pub fn expires_at(&self, now: u64) -> Option<u64> {
        if self.has_access() { self.expires_at } else { Some(now) }
    }
}

/// Finds the authentication method for credentials of a type. If none or several match, returns the
/// field at fault and the error for it.
fn method_for<'c>(
    connector: &'c Connector,
    kind: CredentialType,
    requested: Option<&str>,
) -> Result<&'c AuthMethod, (&'static str, String)> {
    let all = connector.auth_methods.iter();
    let matching: Vec<_> = all.filter(|method| method.credential_type() == kind).collect();
    let found = match (requested, matching.as_slice()) {
        (None, [only]) => Some(*only),
        (None, _) => None,
        (Some(id), methods) => methods.iter().find(|method| method.id == id).copied(),
    };
    found.ok_or_else(|| {
        if matching.is_empty() {
            let (kind, platform) = (kind.as_str(), &connector.platform);
            return ("type", format!("is `{kind}`, which the platform `{platform}` does not take"));
        }
        let ids: Vec<String> = matching.iter().map(|method| format!("`{}`", method.id)).collect();
        ("authMethod", format!("must be one of {}", ids.join(", ")))
    })
}

/// Fills in the fields that determine who receives the OAuth client's secret. Only the client or
/// the catalog may choose their values, so other values are reported.
fn resolve_recipient_fields(
    body: &mut BodyReader,
    field_values: &mut BTreeMap<String, String>,
    method: &AuthMethod,
    connector: &Connector,
    client: Option<&OauthClient>,
) {
    let Some(oauth) = method.oauth2() else { return };
    let variables = client.map(OauthClient::variables).unwrap_or_default();
    for name in recipient_fields((oauth, &method.fields), &connector.servers, &variables) {
        match (variables.get(name), field_values.get(name)) {
            (Some(client_value), None) => {
                field_values.insert(name.to_owned(), client_value.clone());
            }
            (Some(client_value), Some(value)) if client_value == value => {}
            (_, Some(value)) if !is_listed(&method.fields, name, value) => {
                body.invalid(&["fields", name], CLIENT_ONLY_FAULT);
            }
            _ => {}
        }
    }
}

/// The secrets of a request. Reports, and omits, secrets that belong to another type of
/// credentials.
fn read_secrets(body: &mut BodyReader, kind: CredentialType) -> BTreeMap<&'static str, String> {
    let mut secrets = BTreeMap::new();
    for (name, secret_kind) in SECRETS {
        match body.text(name) {
            Some(_) if secret_kind != kind => {
                body.invalid(&[name], &format!("does not belong to the type `{}`", kind.as_str()));
            }
            Some(secret) => {
                secrets.insert(name, secret);
            }
            None => {}
        }
    }
    secrets
}
