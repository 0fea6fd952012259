//! What the vault holds of a connection before an account is connected.

use serde::Deserialize;

use crate::credentials::VaultKeys;
use crate::credentials::held::Held;
use crate::terms::Environment;

/// The columns of `credentials` that reconnecting needs.
#[derive(Debug, Deserialize)]
pub(super) struct Former {
    /// The id of the connector's method.
    pub auth_method: String,
    connection_id: String,
    sealed: String,
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
        let former = Held::open(keys, tenant, &self.connection_id, &self.sealed).ok();
        let former = former.and_then(|held| held.account);
        former.zip(now.account.as_ref()).is_some_and(|(former, now)| former != *now)
    }
}
