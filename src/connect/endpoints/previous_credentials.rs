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
    /// The name of the OAuth client that obtained them.
    pub client: String,
    connection_id: String,
    sealed: String,
    #[serde(default)]
    reason_code: Option<String>,
}

impl PreviousCredentials {
    /// Whether new credentials belong to another account at the platform. Returns `false` if one of the accounts is unknown, or
    /// the previous credentials can't be decrypted: after a lost key, users must be able to reconnect.
    pub(super) fn is_different_account(
        &self,
        keys: &VaultKeys,
        tenant: (&str, Environment),
        now: &Credentials,
    ) -> bool {
        let previous = Credentials::open(keys, tenant, &self.connection_id, &self.sealed);
        previous.is_ok_and(|previous| previous.is_of_other_account(now))
    }

    /// Whether the user signed in to another of their sites or accounts, which the `account` request may not distinguish.
    pub(super) fn is_different_site(
        &self,
        keys: &VaultKeys,
        tenant: (&str, Environment),
        (method, now): (&AuthMethod, &Credentials),
    ) -> bool {
        let previous = Credentials::open(keys, tenant, &self.connection_id, &self.sealed);
        let Ok(previous) = previous else { return false };
        method.chosen_by_lookup().any(|field| {
            let values = previous.fields.get(field).zip(now.fields.get(field));
            values.is_some_and(|(previous, now)| previous != now)
        })
    }

    /// The previous refresh token, for new credentials without one: many platforms send it only at the first sign-in. Returns
    /// `None` unless both belong to the same known account, method and OAuth client, and the previous grant has not ended.
    pub(super) fn refresh_token(
        &self,
        keys: &VaultKeys,
        tenant: (&str, Environment),
        (method, client): (&str, &str),
        now: &Credentials,
    ) -> Option<String> {
        let has_ended = self.reason_code.as_deref() == Some(machine::GRANT_ENDED);
        if has_ended || self.auth_method != method || self.client != client {
            return None;
        }
        let previous = Credentials::open(keys, tenant, &self.connection_id, &self.sealed).ok()?;
        let is_same = previous.account.is_some() && previous.account == now.account;
        previous.tokens.filter(|_| is_same)?.refresh
    }
}
