//! From the request's secret to its [`Principal`].

use std::cell::RefCell;
use std::num::NonZeroUsize;

use lru::LruCache;
use serde::Deserialize;

use super::error::AuthenticationError;
use super::key::{ApiKey, KeyHash};
use super::{Caller, Principal, Shard};
use crate::ports::{ResultSet, StorageError, is_recent};
use crate::terms::{Environment, Scopes};

/// Milliseconds for which a catalog read trusts a key's row: half of the 60 s within which a revocation takes effect
/// there.
pub const TRUST_MS: u64 = 30_000;
/// How many keys an isolate remembers.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// The keys that this isolate has authenticated recently.
#[derive(Debug)]
pub struct KeyCache(RefCell<LruCache<KeyHash, Remembered>>);

#[derive(Debug)]
struct Remembered {
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
}

impl Default for KeyCache {
    fn default() -> Self {
        Self(RefCell::new(LruCache::new(CAPACITY)))
    }
}

/// The principal on whose behalf `caller` asks, from the row that [`select_key`](super::statements::select_key)
/// returned. `now` is in milliseconds since 1970-01-01 UTC.
///
/// # Errors
/// When the caller's key is unknown or no longer valid, or its row is missing or damaged.
pub fn owner(
    caller: &Caller,
    answer: Option<&ResultSet>,
    now: u64,
) -> Result<Principal, AuthenticationError> {
    let set = answer.ok_or_else(|| StorageError::new("the key's statement gave no result set"))?;
    let row = set.rows::<KeyRow>()?.into_iter().next().ok_or_else(|| caller.refused())?;
    let unreadable = || StorageError::new(format!("api_keys row {} is damaged", row.id));
    let environment: Environment = row.environment.parse().map_err(|_| unreadable())?;
    let scopes: Scopes = row.scopes.parse().map_err(|_| unreadable())?;
    if row.revoked_at.is_some()
        || environment != caller.environment()
        || is_over(row.expires_at, now)
    {
        return Err(caller.refused());
    }
    let KeyRow { id: key_id, account, expires_at, .. } = row;
    Ok(match caller.token() {
        Some(token) => Principal {
            key_id,
            account,
            environment,
            scopes: token.scopes.and(scopes),
            expires_at: Some(token.expires_at),
        },
        None => Principal { key_id, account, environment, scopes, expires_at },
    })
}

/// Where the caller's account was moved to, from what [`select_key`](super::statements::select_key) returned. Returns
/// `None` when it is here, or the caller is not known.
///
/// # Errors
/// When the row is damaged.
pub fn moved_to(answer: Option<&ResultSet>) -> Result<Option<Shard>, StorageError> {
    let rows = answer.map(ResultSet::rows::<Forward>).transpose()?.unwrap_or_default();
    Ok(rows.into_iter().find_map(|row| row.moved_to).and_then(Shard::new))
}

/// What says where an account is.
#[derive(Deserialize)]
struct Forward {
    moved_to: Option<u16>,
}

fn is_over(expires_at: Option<u64>, now: u64) -> bool {
    expires_at.is_some_and(|at| at <= now)
}

impl KeyCache {
    /// The scopes of a key, as remembered. Returns `None` when the isolate has not learnt them within [`TRUST_MS`].
    ///
    /// # Errors
    /// When the key has expired since, which needs no storage to notice.
    pub fn recall(&self, key: &ApiKey, now: u64) -> Result<Option<Scopes>, AuthenticationError> {
        let Ok(mut cache) = self.0.try_borrow_mut() else { return Ok(None) };
        let remembered = cache.get(&key.hash());
        let Some(known) = remembered.filter(|known| is_recent(now, known.since, TRUST_MS)) else {
            return Ok(None);
        };
        if is_over(known.expires_at, now) {
            return Err(AuthenticationError::Refused);
        }
        Ok(Some(known.scopes))
    }

    /// Remembers the scopes of a valid key; forgets a key without a principal, which is not valid any more.
    pub fn remember(&self, key: &ApiKey, principal: Option<&Principal>, since: u64) {
        let Ok(mut cache) = self.0.try_borrow_mut() else { return };
        if let Some(Principal { scopes, expires_at, .. }) = principal {
            let (scopes, expires_at) = (*scopes, *expires_at);
            cache.put(key.hash(), Remembered { scopes, expires_at, since });
        } else {
            cache.pop(&key.hash());
        }
    }
}
