//! A row of `oauth_clients`: the app's registration at a platform.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::catalog::detail::Pkce;
use crate::credentials::{Kind, OpenError, Place, Sealed, VaultKeys};
use crate::oauth::Client;
use crate::terms::Environment;
use crate::util::rfc3339::rfc3339;

/// An OAuth client. `Debug` shows nothing but its platform.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct OauthClient {
    /// The account.
    pub account: String,
    /// Its environment.
    pub environment: Environment,
    /// The platform's identifier.
    pub platform: String,
    /// The id of the connector's method; `None` for whichever method of OAuth 2.0 there is.
    pub auth_method: Option<String>,
    /// The `client_id`.
    pub client_id: String,
    /// The sealed secret.
    pub sealed: Option<String>,
    /// A JSON array of strings.
    pub scopes: String,
    /// A JSON object of strings.
    pub authorization_parameters: String,
    /// A JSON object of strings.
    pub variables: String,
    /// Since when the platform has rejected it; `None` while it is accepted.
    pub rejected_since: Option<u64>,
    /// When it may be tried again.
    pub probe_at: Option<u64>,
    /// The last error that may be of the client or of one account at the platform only, since the last renewal that
    /// succeeded.
    #[serde(default)]
    pub suspect_error: Option<String>,
    /// Where a visit that began at the platform goes on; `None` when there is no such place.
    #[serde(default)]
    pub start_url: Option<String>,
    /// Whether authorization requests use PKCE; `None` for what the catalog says.
    #[serde(default)]
    pub pkce: Option<Pkce>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub updated_at: u64,
}

impl fmt::Debug for OauthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OauthClient({})", self.platform)
    }
}

/// What the API shows of a client.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    platform: &'a str,
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

/// Where the secret of a client belongs.
#[must_use]
pub fn place<'a>(account: &'a str, environment: Environment, platform: &'a str) -> Place<'a> {
    Place { account, environment, kind: Kind::OauthClient, id: platform }
}

impl OauthClient {
    /// The client with its secret, for requests to the platform.
    ///
    /// # Errors
    /// When no key opens the secret.
    pub fn open(&self, keys: &VaultKeys) -> Result<Client, OpenError> {
        let secret = match &self.sealed {
            None => None,
            Some(sealed) => {
                let place = place(&self.account, self.environment, &self.platform);
                let plain = keys.open(&place, &Sealed::from(sealed.clone()))?;
                Some(String::from_utf8(plain.to_vec()).map_err(|_| OpenError::Damaged)?)
            }
        };
        Ok(Client::new(self.client_id.clone(), secret))
    }

    /// The scopes to ask for when a request names none.
    #[must_use]
    pub fn scopes(&self) -> Vec<String> {
        serde_json::from_str(&self.scopes).unwrap_or_default()
    }

    /// Further parameters of authorization requests.
    #[must_use]
    pub fn authorization_parameters(&self) -> BTreeMap<String, String> {
        serde_json::from_str(&self.authorization_parameters).unwrap_or_default()
    }

    /// Whether the platform rejects the client, or may do so: a success then changes what is known of it.
    #[must_use]
    pub const fn is_doubted(&self) -> bool {
        self.rejected_since.is_some() || self.suspect_error.is_some()
    }

    /// Whether the client is for the connector's method with this id.
    #[must_use]
    pub fn is_for(&self, method: &str) -> bool {
        self.auth_method.as_deref().is_none_or(|own| own == method)
    }

    /// The values of variables of URLs.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<String, String> {
        serde_json::from_str(&self.variables).unwrap_or_default()
    }

    /// The values of a client's variables for the connector's method with this id; none without a client for it.
    #[must_use]
    pub fn variables_for(client: Option<&Self>, method: &str) -> BTreeMap<String, String> {
        client.filter(|client| client.is_for(method)).map(Self::variables).unwrap_or_default()
    }

    /// The document that the API shows, with what may be wrong with the client.
    ///
    /// # Errors
    /// When what is stored is no JSON.
    pub fn to_json(&self, redirect_uri: &str, warnings: &[String]) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&Shown {
            platform: &self.platform,
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
    fn a_row_says_what_its_texts_hold() {
        let row = json!({
            "account": "a", "environment": "test", "platform": "acme", "auth_method": "oauth2",
            "client_id": "s3cret", "sealed": null, "scopes": r#"["read","write"]"#,
            "authorization_parameters": r#"{"prompt":"consent"}"#, "variables": r#"{"tenant":"x"}"#,
            "rejected_since": null, "probe_at": null, "created_at": 0, "updated_at": 0,
        });
        let client: OauthClient = serde_json::from_value(row).unwrap();
        assert_eq!(format!("{client:?}"), "OauthClient(acme)");
        assert_eq!(client.scopes(), ["read", "write"]);
        assert_eq!(json!(client.authorization_parameters()), json!({ "prompt": "consent" }));
        assert_eq!(json!(client.variables()), json!({ "tenant": "x" }));
        assert!(client.is_for("oauth2") && !client.is_for("other"));
        let whichever = OauthClient { auth_method: None, ..client };
        assert!(whichever.is_for("other"));
    }
}
