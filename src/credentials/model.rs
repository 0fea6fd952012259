//! The decrypted credentials of a connection. They are stored encrypted, as JSON; only the endpoint for credentials
//! returns them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use super::{Kind, OpenError, SealContext, SealError, Sealed, VaultKeys};
use crate::catalog::detail::AuthMethod;
use crate::oauth::Tokens;
use crate::oauth::account::is_valid_account_id;
use crate::ports::Random;
use crate::terms::{CredentialType, Environment};
use crate::util::json;

/// The decrypted credentials of a connection. `Debug` shows only their type.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Credentials {
    /// The type of the credentials.
    #[serde(rename = "type")]
    pub kind: CredentialType,
    /// The values that the user entered: keys and passwords by the names of their fields, and the variables of URLs.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// The tokens that the authorization server issued.
    #[serde(default)]
    pub tokens: Option<OAuthTokens>,
    /// The id of the account at the platform, if it is known.
    #[serde(default)]
    pub account: Option<String>,
    /// The account's name, if the platform has just returned it. It is stored with the connection, not here.
    #[serde(skip)]
    pub account_name: Option<String>,
}

/// Tokens of OAuth 2.0.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct OAuthTokens {
    pub access: String,
    /// The authentication scheme in the header `Authorization`.
    pub kind: String,
    #[serde(default)]
    pub refresh: Option<String>,
    /// Other members of the token response that calls to the platform need.
    #[serde(default)]
    pub members: BTreeMap<String, Value>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.kind.as_str())
    }
}

impl fmt::Debug for OAuthTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OAuthTokens(…)")
    }
}

impl Credentials {
    /// Encrypts the credentials for their connection.
    pub fn seal(
        &self,
        keys: &VaultKeys,
        (account, environment): (&str, Environment),
        connection: &str,
        random: &impl Random,
    ) -> Result<Sealed, SealError> {
        let context = SealContext { account, environment, kind: Kind::Connection, id: connection };
        keys.seal(&context, &Zeroizing::new(json::bytes(self)), random)
    }

    /// Decrypts the credentials of a connection.
    pub fn open(
        keys: &VaultKeys,
        (account, environment): (&str, Environment),
        connection: &str,
        sealed: &str,
    ) -> Result<Self, OpenError> {
        let context = SealContext { account, environment, kind: Kind::Connection, id: connection };
        let plain = keys.open(&context, &Sealed::from(sealed.to_owned()))?;
        json::from_bytes(&plain).map_err(|_| OpenError::Damaged)
    }

    /// Adds values for fields that the method did not have yet when the credentials were stored:
    /// from the OAuth client's `variables`, or else the fields' defaults.
    pub fn with_missing_fields(
        mut self,
        method: &AuthMethod,
        variables: &BTreeMap<String, String>,
    ) -> Self {
        for field in &method.fields {
            let client_value = variables.get(&field.name).filter(|_| method.is_oauth2());
            if let Some(value) = client_value.or(field.default.as_ref())
                && self.variable(&field.name).is_none()
            {
                self.fields.insert(field.name.clone(), value.clone());
            }
        }
        self
    }

    /// Credentials from the user's input, without tokens.
    pub const fn from_fields(kind: CredentialType, fields: BTreeMap<String, String>) -> Self {
        Self { kind, fields, tokens: None, account: None, account_name: None }
    }

    /// Credentials from issued tokens and from the user's input.
    pub fn from_tokens(tokens: Tokens, fields: BTreeMap<String, String>) -> Self {
        Self::from_fields(CredentialType::OAuth2, fields).with_tokens(tokens)
    }

    /// Replaces the tokens. Keeps the values that the platform did not send again.
    pub fn with_tokens(self, tokens: Tokens) -> Self {
        let (refresh, mut members) =
            self.tokens.map(|old| (old.refresh, old.members)).unwrap_or_default();
        members.extend(tokens.members);
        Self {
            account: self.account.or(tokens.subject),
            account_name: tokens.subject_name.or(self.account_name),
            tokens: Some(OAuthTokens {
                access: tokens.access_token,
                kind: tokens.token_type,
                refresh: tokens.refresh_token.or(refresh),
                members,
            }),
            ..self
        }
    }

    /// The account's id and name to store with the connection. `stores_names` is whether names are
    /// stored.
    pub fn account_to_store(&self, stores_names: bool) -> (Option<&str>, Option<&str>) {
        let id = self.account.as_deref().filter(|id| is_valid_account_id(id));
        (id, self.account_name.as_deref().filter(|_| stores_names && id.is_some()))
    }

    /// Sets the refresh token, unless the credentials have one.
    pub fn keep_refresh_token(&mut self, refresh: Option<String>) {
        if let Some(tokens) = &mut self.tokens {
            tokens.refresh = tokens.refresh.take().or(refresh);
        }
    }

    /// Whether both accounts are known, and differ.
    pub fn belongs_to_other_account(&self, other: &Self) -> bool {
        matches!((&self.account, &other.account), (Some(one), Some(other)) if one != other)
    }

    /// Whether the access token can be refreshed: by the client's own grant, by a refresh token, or by the access
    /// token itself at platforms that accept it.
    pub fn is_refreshable(&self, method: &AuthMethod) -> bool {
        let acts_without_user =
            method.oauth2().is_some_and(|oauth| oauth.grant.acts_without_user());
        let has_refresh = self.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some());
        acts_without_user || has_refresh || self.refreshes_by_access_token(method)
    }

    /// Whether the access token itself is exchanged for a new access token.
    pub fn refreshes_by_access_token(&self, method: &AuthMethod) -> bool {
        let accepts_access_token =
            method.oauth2().is_some_and(|oauth| oauth.access_token_refresh.is_some());
        let has_no_refresh_token =
            |tokens: &OAuthTokens| tokens.refresh.is_none() && !tokens.access.is_empty();
        accepts_access_token && self.tokens.as_ref().is_some_and(has_no_refresh_token)
    }

    /// The value of a field, or else of a member of the token response, for the variables of URLs.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let member = || self.tokens.as_ref()?.members.get(name)?.as_str();
        self.fields.get(name).map(String::as_str).or_else(member)
    }
}
