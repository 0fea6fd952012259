//! From the request's key to its [`Principal`].

use std::cell::RefCell;
use std::num::NonZeroUsize;

use lru::LruCache;
use serde::Deserialize;

use super::key::{ApiKey, KeyHash};
use super::statements::select_key;
use super::{Environment, Principal, Scopes};
use crate::catalog::cache::is_recent;
use crate::ports::{Clock, Db, StorageError};

/// Milliseconds for which a catalog read trusts a key's row: half of the 60 s within which revocation holds there.
pub const TRUST_MS: u64 = 30_000;
/// Keys that an isolate remembers.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// The keys that this isolate has seen lately.
#[derive(Debug)]
pub struct KeyCache(RefCell<LruCache<KeyHash, Remembered>>);

#[derive(Debug, Clone)]
struct Remembered {
    principal: Principal,
    since: u64,
}

/// How old an answer about a key may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Ask storage: revocation holds at once.
    Now,
    /// Up to [`TRUST_MS`] old.
    Recent,
}

/// Why a request has no principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthenticationError {
    /// It carries no key.
    Missing,
    /// It carries several.
    Several,
    /// Its key has the wrong shape or checksum.
    Malformed,
    /// Its key is unknown, revoked or expired: one answer for all three, so that it tells nothing.
    Refused,
    /// Storage can't be asked.
    Storage(StorageError),
}

impl From<StorageError> for AuthenticationError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

/// A row of `api_keys`.
#[derive(Debug, Deserialize)]
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

/// The owner of the one key among `secrets`, the values of the request's key headers.
///
/// # Errors
/// When there is not exactly one well-formed, known and valid key, or storage can't be asked.
pub async fn authenticate<P: Db + Clock>(
    cache: &KeyCache,
    ports: &P,
    secrets: &[&str],
    freshness: Freshness,
) -> Result<Principal, AuthenticationError> {
    // 1. Exactly one well-formed key: no storage needed to say no.
    let secret = match secrets {
        [] => return Err(AuthenticationError::Missing),
        [secret] => secret,
        _ => return Err(AuthenticationError::Several),
    };
    let key = ApiKey::parse(secret).map_err(|_| AuthenticationError::Malformed)?;
    let hash = key.hash();

    // 2. What the isolate remembers, or the key's row.
    let now = ports.now();
    let remembered = (freshness == Freshness::Recent).then(|| cache.recall(&hash, now)).flatten();
    let principal = if remembered.is_some() {
        remembered
    } else {
        let principal = fetch(ports, &key, &hash).await?;
        cache.remember(hash, principal.as_ref(), now);
        principal
    };

    // 3. Expiry needs no storage to be noticed.
    principal
        .filter(|principal| principal.expires_at.is_none_or(|at| now < at))
        .ok_or(AuthenticationError::Refused)
}

async fn fetch<P: Db>(
    ports: &P,
    key: &ApiKey,
    hash: &KeyHash,
) -> Result<Option<Principal>, StorageError> {
    let sets = ports.batch(vec![select_key(hash)]).await?;
    let set = sets
        .first()
        .ok_or_else(|| StorageError("the key's statement gave no result set".into()))?;
    let Some(row) = set.rows::<KeyRow>()?.into_iter().next() else { return Ok(None) };
    let unreadable = || StorageError(format!("api_keys row {} is damaged", row.id));
    let environment: Environment = row.environment.parse().map_err(|_| unreadable())?;
    let scopes: Scopes = row.scopes.parse().map_err(|_| unreadable())?;
    if row.revoked_at.is_some() || environment != key.environment() {
        return Ok(None);
    }
    Ok(Some(Principal {
        key_id: row.id,
        account: row.account,
        environment,
        scopes,
        expires_at: row.expires_at,
    }))
}

impl KeyCache {
    fn recall(&self, hash: &KeyHash, now: u64) -> Option<Principal> {
        let mut cache = self.0.try_borrow_mut().ok()?;
        let remembered = cache.get(hash)?;
        is_recent(now, remembered.since, TRUST_MS).then(|| remembered.principal.clone())
    }

    /// Keeps a valid key; forgets one that is not valid any more.
    fn remember(&self, hash: KeyHash, principal: Option<&Principal>, since: u64) {
        let Ok(mut cache) = self.0.try_borrow_mut() else { return };
        if let Some(principal) = principal {
            cache.put(hash, Remembered { principal: principal.clone(), since });
        } else {
            cache.pop(&hash);
        }
    }
}
