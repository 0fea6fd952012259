//! OAuth clients: the app's registrations at platforms.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::catalog::detail::Pkce;
use crate::credentials::{Kind, OpenError, SealContext, Sealed, VaultKeys};
use crate::oauth::Client;
use crate::terms::Environment;
use crate::util::rfc3339::rfc3339;

/// The name of the OAuth client that is used by default.
pub const DEFAULT_CLIENT: &str = "default";

/// A row of `oauth_clients`. `Debug` shows only the platform and the name.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct OauthClient {
    pub account: String,
    pub environment: Environment,
    pub platform: String,
    /// Distinguishes the clients of a platform.
    pub name: String,
    /// The id of the connector's method; `None` for any OAuth 2.0 method.
    pub auth_method: Option<String>,
    pub client_id: String,
    /// The encrypted secret.
    pub sealed: Option<String>,
    /// A JSON array of strings.
    pub scopes: String,
    /// A JSON object of strings.
    pub authorization_parameters: String,
    /// A JSON object of strings.
    pub variables: String,
    /// Set while the platform rejects the client, in milliseconds since 1970-01-01 UTC.
    pub rejected_since: Option<u64>,
    /// The time of the next test of a rejected client, in milliseconds since 1970-01-01 UTC.
    pub probe_at: Option<u64>,
    /// The last error since a successful refresh that may be caused by the client, or only by one
    /// account at the platform.
    #[serde(default)]
    pub suspect_error: Option<String>,
    /// The app's page for visits that start at the platform, such as an installation from its
    /// marketplace.
    #[serde(default)]
    pub start_url: Option<String>,
    /// Whether authorization requests use PKCE; `None` for the catalog's default.
    #[serde(default)]
    pub pkce: Option<Pkce>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub updated_at: u64,
}

impl fmt::Debug for OauthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OauthClient({}/{})", self.platform, self.name)
    }
}

/// The JSON of a client.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientView<'a> {
    platform: &'a str,
    name: &'a str,
    auth_method: Option<&'a str>,
    client_id: &'a str,
    has_secret: bool,
    scopes: &'a RawValue,
    authorization_parameters: &'a RawValue,
    variables: &'a RawValue,
    start_url: Option<&'a str>,
    pkce: Option<Pkce>,
    redirect_uri: &'a str,
    rejected_since: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

/// The id of a client in the encryption context of its secret.
pub fn seal_id(platform: &str, name: &str) -> String {
    format!("{platform}/{name}")
}

/// The encryption context of a client's secret.
pub const fn seal_context<'a>(
    account: &'a str,
    environment: Environment,
    id: &'a str,
) -> SealContext<'a> {
    SealContext { account, environment, kind: Kind::OauthClient, id }
}

impl OauthClient {
    /// Decrypts the secret, for requests to the platform.
    pub fn open(&self, keys: &VaultKeys) -> Result<Client, OpenError> {
        let secret = match &self.sealed {
            None => None,
            Some(sealed) => {
                let id = seal_id(&self.platform, &self.name);
                let seal_context = seal_context(&self.account, self.environment, &id);
                let plain = keys.open(&seal_context, &Sealed::from(sealed.clone()))?;
                Some(String::from_utf8(plain.to_vec()).map_err(|_| OpenError::Damaged)?)
            }
        };
        Ok(Client::new(self.client_id.clone(), secret))
    }

    /// The default scopes.
    pub fn scopes(&self) -> Vec<String> {
        serde_json::from_str(&self.scopes).unwrap_or_default()
    }

    /// Additional parameters of authorization requests.
    pub fn authorization_parameters(&self) -> BTreeMap<String, String> {
        serde_json::from_str(&self.authorization_parameters).unwrap_or_default()
    }

    /// Whether the platform rejects the client, or an error may be caused by it. The next success
    /// must then update the row.
    pub const fn is_suspect(&self) -> bool {
        self.rejected_since.is_some() || self.suspect_error.is_some()
    }

    pub fn is_for(&self, method: &str) -> bool {
        self.auth_method.as_deref().is_none_or(|id| id == method)
    }

    /// Values for the variables in URLs.
    pub fn variables(&self) -> BTreeMap<String, String> {
        serde_json::from_str(&self.variables).unwrap_or_default()
    }

    /// The client's variables for the method with this id; empty if there is no client for it.
    pub fn variables_for(client: Option<&Self>, method: &str) -> BTreeMap<String, String> {
        client.filter(|client| client.is_for(method)).map(Self::variables).unwrap_or_default()
    }

    /// The JSON of the client, with warnings about it.
    pub fn to_json(&self, redirect_uri: &str, warnings: &[String]) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&ClientView {
            platform: &self.platform,
            name: &self.name,
            auth_method: self.auth_method.as_deref(),
            client_id: &self.client_id,
            has_secret: self.sealed.is_some(),
            scopes: serde_json::from_str(&self.scopes)?,
            authorization_parameters: serde_json::from_str(&self.authorization_parameters)?,
            variables: serde_json::from_str(&self.variables)?,
            start_url: self.start_url.as_deref(),
            pkce: self.pkce,
            redirect_uri,
            rejected_since: self.rejected_since.and_then(rfc3339),
            created_at: rfc3339(self.created_at),
            updated_at: rfc3339(self.updated_at),
            warnings,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::OauthClient;

    #[test]
    fn parses_the_columns_of_a_client() {
        let row = json!({
            "account": "a", "environment": "test", "platform": "acme", "name": "bot", "auth_method": "oauth2",
            "client_id": "s3cret", "sealed": null, "scopes": r#"["read","write"]"#,
            "authorization_parameters": r#"{"prompt":"consent"}"#, "variables": r#"{"tenant":"x"}"#,
            "rejected_since": null, "probe_at": null, "created_at": 0, "updated_at": 0,
        });
        let client: OauthClient = serde_json::from_value(row).unwrap();
        assert_eq!(format!("{client:?}"), "OauthClient(acme/bot)");
        assert_eq!(client.scopes(), ["read", "write"]);
        assert_eq!(json!(client.authorization_parameters()), json!({ "prompt": "consent" }));
        assert_eq!(json!(client.variables()), json!({ "tenant": "x" }));
        assert!(client.is_for("oauth2") && !client.is_for("other"));
        let for_any_method = OauthClient { auth_method: None, ..client };
        assert!(for_any_method.is_for("other"));
    }
}
