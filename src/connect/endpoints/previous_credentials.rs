//! The stored credentials of a connection that is reconnected.

use serde::Deserialize;

use crate::catalog::detail::AuthMethod;
use crate::credentials::VaultKeys;
use crate::credentials::lifecycle::machine;
use crate::credentials::model::Credentials;
use crate::terms::Environment;

#[derive(Debug, Deserialize)]
pub(super) struct PreviousCredentials {
    pub auth_method: String,
    /// The name of the OAuth client that obtained the credentials.
    pub client: String,
    connection_id: String,
    sealed: String,
    #[serde(default)]
    reason_code: Option<String>,
}

impl PreviousCredentials {
    /// Whether new credentials belong to another account at the platform. Returns `false` if either
    /// account is unknown, or the previous credentials can't be decrypted: after a lost key, users
    /// must be able to reconnect.
    pub(super) fn is_different_account(
        &self,
        keys: &VaultKeys,
        tenant: (&str, Environment),
        new: &Credentials,
    ) -> bool {
        self.open(keys, tenant).is_some_and(|previous| previous.belongs_to_other_account(new))
    }

    /// Like [`Self::is_different_account`], but also returns `true` for another site or account of the same user, which
    /// the `account` request may not distinguish.
    pub(super) fn is_different_account_or_site(
        &self,
        keys: &VaultKeys,
        tenant: (&str, Environment),
        (method, new): (&AuthMethod, &Credentials),
    ) -> bool {
        let Some(previous) = self.open(keys, tenant) else { return false };
        let differs = |field| {
            let values = previous.fields.get(field).zip(new.fields.get(field));
            values.is_some_and(|(previous, new)| previous != new)
        };
        previous.belongs_to_other_account(new) || method.selecting_lookup_fields().any(differs)
    }

    /// The name of the account, or else its id, as the end of a phrase. Returns `None` if it is unknown.
    pub(super) fn quoted_account(
        &self,
        keys: &VaultKeys,
        tenant: (&str, Environment),
        shows_names: bool,
    ) -> Option<String> {
        let previous = self.open(keys, tenant)?;
        let (id, name) = previous.account_to_store(shows_names);
        name.or(id).map(|account| format!(", “{account}”"))
    }

    /// The previous refresh token, to keep if the new credentials have no refresh token: many
    /// platforms send it only at the first sign-in. Returns `None` unless both belong to the same
    /// known account, method and OAuth client, and the previous grant has not ended.
    pub(super) fn refresh_token(
        &self,
        keys: &VaultKeys,
        tenant: (&str, Environment),
        (method, client): (&str, &str),
        new: &Credentials,
    ) -> Option<String> {
        let has_ended = self.reason_code.as_deref() == Some(machine::REASON_GRANT_ENDED);
        if has_ended || self.auth_method != method || self.client != client {
            return None;
        }
        let previous = self.open(keys, tenant)?;
        let is_same = previous.account.is_some() && previous.account == new.account;
        previous.tokens.filter(|_| is_same)?.refresh
    }

    fn open(&self, keys: &VaultKeys, tenant: (&str, Environment)) -> Option<Credentials> {
        Credentials::open(keys, tenant, &self.connection_id, &self.sealed).ok()
    }
}
