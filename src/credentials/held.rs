//! What the vault holds of a connection: sealed as JSON, and shown only by the endpoint for credentials.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use super::{Kind, OpenError, Place, SealError, Sealed, VaultKeys};
use crate::catalog::detail::AuthMethod;
use crate::oauth::Tokens;
use crate::oauth::account::is_id;
use crate::ports::Random;
use crate::terms::{CredentialType, Environment};
use crate::util::json;

/// The credentials of a connection. `Debug` shows their type only.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// What kind of credentials they are.
    #[serde(rename = "type")]
    pub kind: CredentialType,
    /// What the user filled in: keys and passwords under the names of their fields, and the variables of URLs.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// What an authorization server issued.
    #[serde(default)]
    pub tokens: Option<HeldTokens>,
    /// The account at the platform, where it is known.
    #[serde(default)]
    pub account: Option<String>,
    /// The account's name, if the platform has just said it. It is stored with the connection, and not sealed again here.
    #[serde(skip)]
    pub account_name: Option<String>,
}

/// Tokens of OAuth 2.0.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldTokens {
    /// What is sent to the platform.
    pub access: String,
    /// The word before it in the header `Authorization`.
    pub kind: String,
    /// What the next access token is asked for with.
    #[serde(default)]
    pub refresh: Option<String>,
    /// Further members of the token answer, which calls to the platform need.
    #[serde(default)]
    pub members: BTreeMap<String, Value>,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held({})", self.kind.as_str())
    }
}

impl fmt::Debug for HeldTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeldTokens(…)")
    }
}

impl Held {
    /// Seals what is held for its connection.
    ///
    /// # Errors
    /// When it can't be sealed.
    pub fn seal(
        &self,
        keys: &VaultKeys,
        (account, environment): (&str, Environment),
        connection: &str,
        random: &impl Random,
    ) -> Result<Sealed, SealError> {
        let place = Place { account, environment, kind: Kind::Connection, id: connection };
        keys.seal(&place, &Zeroizing::new(json::bytes(self)), random)
    }

    /// Opens what [`Self::seal`] sealed for this connection.
    ///
    /// # Errors
    /// When no key opens it, or it was sealed for another place.
    pub fn open(
        keys: &VaultKeys,
        (account, environment): (&str, Environment),
        connection: &str,
        sealed: &str,
    ) -> Result<Self, OpenError> {
        let place = Place { account, environment, kind: Kind::Connection, id: connection };
        let plain = keys.open(&place, &Sealed::from(sealed.to_owned()))?;
        serde_json::from_slice(&plain).map_err(|_| OpenError::Damaged)
    }

    /// What is held, with what the fields of its method have now and did not have when it was stored: the value of the OAuth
    /// client's `variables`, or else the field's default, as in a new connection.
    #[must_use]
    pub fn completed(mut self, method: &AuthMethod, variables: &BTreeMap<String, String>) -> Self {
        for field in &method.fields {
            let of_client = variables.get(&field.name).filter(|_| method.is_oauth2());
            if let Some(value) = of_client.or(field.default.as_ref())
                && self.variable(&field.name).is_none()
            {
                self.fields.insert(field.name.clone(), value.clone());
            }
        }
        self
    }

    /// What the user filled in, and nothing else yet.
    #[must_use]
    pub const fn of_fields(kind: CredentialType, fields: BTreeMap<String, String>) -> Self {
        Self { kind, fields, tokens: None, account: None, account_name: None }
    }

    /// What an authorization server issued, with what the user filled in.
    #[must_use]
    pub fn of_tokens(tokens: Tokens, fields: BTreeMap<String, String>) -> Self {
        Self::of_fields(CredentialType::OAuth2, fields).renewed(tokens)
    }

    /// What is held after a renewal: what the platform did not send again stays.
    #[must_use]
    pub fn renewed(self, tokens: Tokens) -> Self {
        let (refresh, mut members) =
            self.tokens.map(|old| (old.refresh, old.members)).unwrap_or_default();
        members.extend(tokens.members);
        Self {
            account: self.account.or(tokens.subject),
            account_name: tokens.subject_name.or(self.account_name),
            tokens: Some(HeldTokens {
                access: tokens.access_token,
                kind: tokens.token_type,
                refresh: tokens.refresh_token.or(refresh),
                members,
            }),
            ..self
        }
    }

    /// The account's id and name as they are stored with the connection, where they are known and fit to be shown. `names`:
    /// whether names are stored.
    #[must_use]
    pub fn told_account(&self, names: bool) -> (Option<&str>, Option<&str>) {
        let id = self.account.as_deref().filter(|id| is_id(id));
        (id, self.account_name.as_deref().filter(|_| names && id.is_some()))
    }

    /// Holds this refresh token if there is no other.
    pub fn keep_refresh(&mut self, refresh: Option<String>) {
        if let Some(tokens) = &mut self.tokens {
            tokens.refresh = tokens.refresh.take().or(refresh);
        }
    }

    /// Whether these credentials are known to be of another account at the platform than those.
    #[must_use]
    pub fn is_of_other_account(&self, other: &Self) -> bool {
        matches!((&self.account, &other.account), (Some(one), Some(other)) if one != other)
    }

    /// Whether the credentials can be renewed: the app itself asks again, for a user a refresh token does, or the access
    /// token where the platform takes it instead.
    #[must_use]
    pub fn is_renewable(&self, method: &AuthMethod) -> bool {
        let is_of_app = method.oauth2().is_some_and(|it| it.grant.is_of_client());
        let has_refresh = self.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some());
        is_of_app || has_refresh || self.renews_by_access_token(method)
    }

    /// Whether the access token itself renews the credentials.
    #[must_use]
    pub fn renews_by_access_token(&self, method: &AuthMethod) -> bool {
        let takes_it = method.oauth2().is_some_and(|it| it.access_token_refresh.is_some());
        let is_alone = |tokens: &HeldTokens| tokens.refresh.is_none() && !tokens.access.is_empty();
        takes_it && self.tokens.as_ref().is_some_and(is_alone)
    }

    /// The value of a field or of a member of the token answer, for the variables of URLs. Returns `None` when there is
    /// none.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        let member = || self.tokens.as_ref()?.members.get(name)?.as_str();
        self.fields.get(name).map(String::as_str).or_else(member)
    }
}
