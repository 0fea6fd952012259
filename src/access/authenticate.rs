//! From the request's secret to its [`Principal`].

use std::cell::RefCell;
use std::num::NonZeroUsize;

use lru::LruCache;

use super::key::KeyHash;
use super::statements::select_key;
use super::{Caller, Environment, Principal, Scopes};
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
    /// Its token was not signed here, has expired, is used from another origin, or its key is not valid any more: one
    /// answer for all.
    BadToken,
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

/// On whose behalf `caller` asks: what the isolate remembers, or what storage says.
///
/// # Errors
/// When its key is not known or not valid, or storage can't be asked.
pub async fn authenticate<P: Db + Clock>(
    cache: &KeyCache,
    ports: &P,
    caller: &Caller,
    freshness: Freshness,
) -> Result<Principal, AuthenticationError> {
    let hash = if let Caller::Key(key) = caller { Some(key.hash()) } else { None };
    let now = ports.now();
    if let Some(hash) = hash.filter(|_| freshness == Freshness::Recent)
        && let Some(principal) = cache.recall(&hash, now)
    {
        // Expiry needs no storage to be noticed.
        return if is_over(principal.expires_at, now) {
            Err(caller.refused())
        } else {
            Ok(principal)
        };
    }
    let sets = ports.batch(vec![select_key(caller)]).await?;
    let answer = owner(caller, sets.first(), now);
    if let Some(hash) = hash {
        cache.remember(hash, answer.as_ref().ok(), now);
    }
    answer
}

/// On whose behalf `caller` asks, by what [`select_key`] gave.
///
/// # Errors
/// When its key is not known or not valid, or the key's row is damaged.
pub fn owner(
    caller: &Caller,
    answer: Option<&ResultSet>,
    now: u64,
) -> Result<Principal, AuthenticationError> {
    let set = answer.ok_or_else(|| StorageError::new("the key's statement gave no result set"))?;
    let row = set.rows(KeyRow::read)?.into_iter().next().ok_or_else(|| caller.refused())?;
    let unreadable = || StorageError::new(format!("api_keys row {} is damaged", row.id));
    let environment: Environment = row.environment.parse().map_err(|_| unreadable())?;
    let scopes: Scopes = row.scopes.parse().map_err(|_| unreadable())?;
    if row.is_revoked || environment != caller.environment() || is_over(row.expires_at, now) {
        return Err(caller.refused());
    }
    let account = Some(row.account);
    Ok(match caller.token() {
        Some(token) => {
            let scopes = token.scopes.and(scopes);
            Principal { account, scopes, ..Principal::of_token(token) }
        }
        None => {
            Principal { key_id: row.id, account, environment, scopes, expires_at: row.expires_at }
        }
    })
}

fn is_over(expires_at: Option<u64>, now: u64) -> bool {
    expires_at.is_some_and(|at| at <= now)
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
