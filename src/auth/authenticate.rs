//! Authenticates a caller from the row of its key, and caches keys for catalog requests.

use std::cell::RefCell;
use std::num::NonZeroUsize;

use lru::LruCache;
use serde::Deserialize;

use super::confirm::Confirm;
use super::error::AuthenticationError;
use super::key::{ApiKey, KeyHash};
use super::{Caller, Principal, Shard};
use crate::ports::{ResultSet, StorageError, is_recent};
use crate::terms::{Environment, Scopes};

/// How long catalog requests rely on a cached key, in milliseconds. Half of the 60 seconds within
/// which a revocation must take effect.
pub const TRUST_MS: u64 = 30_000;
/// The number of cached keys per isolate.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// A cache of the keys that this isolate authenticated recently.
#[derive(Debug)]
pub struct KeyCache(RefCell<LruCache<KeyHash, CachedKey>>);

#[derive(Debug)]
struct CachedKey {
    scopes: Scopes,
    expires_at: Option<u64>,
    since: u64,
}

/// A row of `api_keys`.
#[derive(Deserialize)]
struct KeyRow {
    id: String,
    account: String,
    environment: String,
    scopes: String,
    expires_at: Option<u64>,
    revoked_at: Option<u64>,
    /// Only for a caller with a grant.
    confirm: Option<Confirm>,
}

impl Default for KeyCache {
    fn default() -> Self {
        Self(RefCell::new(LruCache::new(CAPACITY)))
    }
}

/// Authenticates `caller` with the row from [`select_key`](super::statements::select_key). Fails if
/// the key is unknown, expired or revoked.
pub fn principal_from_row(
    caller: &Caller,
    result: Option<&ResultSet>,
    now: u64,
) -> Result<Principal, AuthenticationError> {
    let set = result.ok_or_else(|| StorageError::new("the key's statement gave no result set"))?;
    let row = set.rows::<KeyRow>()?.into_iter().next().ok_or_else(|| match caller.grant() {
        Some(_) => AuthenticationError::EndedGrant,
        None => caller.rejection(),
    })?;
    let unreadable = || StorageError::new(format!("api_keys row {} is damaged", row.id));
    let environment: Environment = row.environment.parse().map_err(|_| unreadable())?;
    let scopes: Scopes = row.scopes.parse().map_err(|_| unreadable())?;
    if row.revoked_at.is_some()
        || environment != caller.environment()
        || is_expired(row.expires_at, now)
    {
        return Err(caller.rejection());
    }
    let KeyRow { id: key_id, account, expires_at, confirm, .. } = row;
    let scopes = caller.signed_scopes().map_or(scopes, |signed| signed.and(scopes));
    // Resources that a person creates belong to the account. They expire with the key, not with the
    // person's session.
    let expires_at = caller.token().map_or(expires_at, |token| Some(token.expires_at));
    Ok(Principal { key_id, account, environment, scopes, expires_at, confirm })
}

/// Returns the shard to which the caller's account was moved, from the row of
/// [`select_key`](super::statements::select_key). Returns `None` if the account is in this database
/// or the caller is unknown.
pub fn moved_to(result: Option<&ResultSet>) -> Result<Option<Shard>, StorageError> {
    let rows = result.map(ResultSet::rows::<Forward>).transpose()?.unwrap_or_default();
    Ok(rows.into_iter().find_map(|row| row.moved_to).and_then(Shard::new))
}

#[derive(Deserialize)]
struct Forward {
    moved_to: Option<u16>,
}

fn is_expired(expires_at: Option<u64>, now: u64) -> bool {
    expires_at.is_some_and(|at| at <= now)
}

impl KeyCache {
    /// Returns the cached scopes of a key if they are not older than [`TRUST_MS`]. Fails if the key
    /// has expired since, which the cache detects without a query.
    pub fn get_cached(
        &self,
        key: &ApiKey,
        now: u64,
    ) -> Result<Option<Scopes>, AuthenticationError> {
        let Ok(mut cache) = self.0.try_borrow_mut() else { return Ok(None) };
        let cached = cache.get(&key.hash());
        let Some(key) = cached.filter(|key| is_recent(now, key.since, TRUST_MS)) else {
            return Ok(None);
        };
        if is_expired(key.expires_at, now) {
            return Err(AuthenticationError::Refused);
        }
        Ok(Some(key.scopes))
    }

    /// Caches the scopes of a valid key. Without a principal, the key is no longer valid and is
    /// removed.
    pub fn update(&self, key: &ApiKey, principal: Option<&Principal>, since: u64) {
        let Ok(mut cache) = self.0.try_borrow_mut() else { return };
        if let Some(Principal { scopes, expires_at, .. }) = principal {
            let (scopes, expires_at) = (*scopes, *expires_at);
            cache.put(key.hash(), CachedKey { scopes, expires_at, since });
        } else {
            cache.pop(&key.hash());
        }
    }
}
