//! From the request's key to its [`Principal`].

use std::cell::RefCell;
use std::num::NonZeroUsize;

use lru::LruCache;

use super::key::{ApiKey, KeyHash};
use super::statements::select_key;
use super::{Environment, Principal, Scopes};
use crate::catalog::cache::is_recent;
use crate::json::Value;
use crate::ports::{Clock, Db, ResultSet, StorageError};

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
struct KeyRow {
    id: String,
    account: String,
    environment: String,
    scopes: String,
    expires_at: Option<u64>,
    is_revoked: bool,
}

impl KeyRow {
    fn read(mut row: Value) -> Option<Self> {
        let mut time = |name| match row.take(name)? {
            Value::Null => Some(None),
            time => Some(Some(time.as_integer()?)),
        };
        let (expires_at, revoked_at) = (time("expires_at")?, time("revoked_at")?);
        Some(Self {
            id: row.take_text("id")?,
            account: row.take_text("account")?,
            environment: row.take_text("environment")?,
            scopes: row.take_text("scopes")?,
            expires_at,
            is_revoked: revoked_at.is_some(),
        })
    }
}

impl Default for KeyCache {
    fn default() -> Self {
        Self(RefCell::new(LruCache::new(CAPACITY)))
    }
}

/// The one key among `secrets`, the values of the request's key headers.
///
/// # Errors
/// When there is not exactly one, or it is malformed: no storage is needed to say no.
pub fn sent_key(secrets: &[&str]) -> Result<ApiKey, AuthenticationError> {
    match secrets {
        [] => Err(AuthenticationError::Missing),
        [secret] => ApiKey::parse(secret).map_err(|_| AuthenticationError::Malformed),
        _ => Err(AuthenticationError::Several),
    }
}

/// The owner of `key`: what the isolate remembers, or what storage says.
///
/// # Errors
/// When the key is not known or not valid, or storage can't be asked.
pub async fn authenticate<P: Db + Clock>(
    cache: &KeyCache,
    ports: &P,
    key: &ApiKey,
    freshness: Freshness,
) -> Result<Principal, AuthenticationError> {
    let hash = key.hash();
    let now = ports.now();
    let remembered = (freshness == Freshness::Recent).then(|| cache.recall(&hash, now)).flatten();
    if let Some(principal) = remembered {
        // Expiry needs no storage to be noticed.
        return unexpired(principal, now);
    }
    let sets = ports.batch(vec![select_key(&hash)]).await?;
    let answer = owner(key, sets.first(), now);
    cache.remember(hash, answer.as_ref().ok(), now);
    answer
}

/// The owner of `key` by what [`select_key`] gave.
///
/// # Errors
/// When the key is not known or not valid, or its row is damaged.
pub fn owner(
    key: &ApiKey,
    answer: Option<&ResultSet>,
    now: u64,
) -> Result<Principal, AuthenticationError> {
    let set = answer.ok_or_else(|| StorageError::new("the key's statement gave no result set"))?;
    let row = set.rows(KeyRow::read)?.into_iter().next().ok_or(AuthenticationError::Refused)?;
    let unreadable = || StorageError::new(format!("api_keys row {} is damaged", row.id));
    let environment: Environment = row.environment.parse().map_err(|_| unreadable())?;
    let scopes: Scopes = row.scopes.parse().map_err(|_| unreadable())?;
    if row.is_revoked || environment != key.environment() {
        return Err(AuthenticationError::Refused);
    }
    let principal =
        Principal { account: row.account, environment, scopes, expires_at: row.expires_at };
    unexpired(principal, now)
}

fn unexpired(principal: Principal, now: u64) -> Result<Principal, AuthenticationError> {
    if principal.expires_at.is_none_or(|at| now < at) {
        Ok(principal)
    } else {
        Err(AuthenticationError::Refused)
    }
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
