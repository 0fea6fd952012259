//! What the vault holds of a connection before an account is connected.

use serde::Deserialize;

use crate::credentials::VaultKeys;
use crate::credentials::held::Held;
use crate::credentials::lifecycle::machine;
use crate::terms::Environment;

/// The columns of `credentials` that reconnecting needs.
#[derive(Debug, Deserialize)]
pub(super) struct Former {
    /// The id of the connector's method.
    pub auth_method: String,
    connection_id: String,
    sealed: String,
    #[serde(default)]
    reason_code: Option<String>,
}

impl Former {
    /// Whether new credentials lead to another account at the platform than the former ones. Returns `false` when one of
    /// the accounts is not known, or the key that sealed the former one is lost: whoever lost it reconnects for that.
    pub(super) fn is_other(
        &self,
        keys: &VaultKeys,
        tenant: (&str, Environment),
        now: &Held,
    ) -> bool {
        let former = Held::open(keys, tenant, &self.connection_id, &self.sealed);
        former.is_ok_and(|former| former.is_of_other_account(now))
    }

    /// The former refresh token, where new credentials come without one: many platforms send it at the first sign-in only.
    /// Returns `None` unless both are provably of the same account, by the same method, and while the platform has not ended
    /// the former grant.
    pub(super) fn refresh_token(
        &self,
        keys: &VaultKeys,
        tenant: (&str, Environment),
        method: &str,
        now: &Held,
    ) -> Option<String> {
        let has_ended = self.reason_code.as_deref() == Some(machine::ENDED);
        if has_ended || self.auth_method != method {
            return None;
        }
        let former = Held::open(keys, tenant, &self.connection_id, &self.sealed).ok()?;
        let is_same = former.account.is_some() && former.account == now.account;
        former.tokens.filter(|_| is_same)?.refresh
    }
}
