//! The operator's keys that seal credentials: the Worker secret `VAULT_KEYS`, `<id>:<32 bytes in
//! base64>` separated by commas. The first key seals, and all keys open.

use std::fmt;

use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// The length of a key, in bytes.
const KEY_LEN: usize = 32;
/// Domain separator: a fingerprint never equals another value that is derived from a key.
const FINGERPRINT: &[u8] = b"connector-vault/key-fingerprint/v1\n";
/// The maximum length of a key's id, in characters.
const MAX_ID_LENGTH: usize = 32;

/// The keys that seal and open. `Debug` and `Display` show only their ids. The bytes are erased
/// from memory on drop.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct VaultKeys(Vec<VaultKey>);

#[derive(Clone, PartialEq, Eq)]
struct VaultKey {
    id: String,
    bytes: Zeroizing<[u8; KEY_LEN]>,
}

/// A fault of `VAULT_KEYS`. Contains no key and no id, because a key may have been entered instead
/// of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VaultKeysError {
    /// The number of the entry, counted from 1.
    pub entry: usize,
    pub fault: Fault,
}

/// A fault of an entry of `VAULT_KEYS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It has no colon between an id and a key.
    NoColon,
    /// The id is not 1–32 of `a-z`, `0-9` and `-`.
    Id,
    /// An earlier entry has the same id.
    DuplicateId,
    /// The key is not standard base64.
    Base64,
    /// The key does not have 32 bytes.
    Length,
}

impl VaultKeys {
    /// Parses the variable `VAULT_KEYS`. An empty string has no keys.
    pub fn parse(text: &str) -> Result<Self, VaultKeysError> {
        let mut keys = Self::default();
        if text.trim().is_empty() {
            return Ok(keys);
        }
        for (entry, text) in (1..).zip(text.split(',')) {
            let key =
                VaultKey::parse(text.trim()).map_err(|fault| VaultKeysError { entry, fault })?;
            if keys.bytes(&key.id).is_some() {
                return Err(VaultKeysError { entry, fault: Fault::DuplicateId });
            }
            keys.0.push(key);
        }
        Ok(keys)
    }

    /// Whether there are no keys, so that nothing can be sealed or opened.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The id of the key that seals.
    pub fn first(&self) -> Option<&str> {
        self.ids().next()
    }

    /// The ids of all keys, beginning with the key that seals.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|key| key.id.as_str())
    }

    /// The keys as `<id>:<fingerprint>`, beginning with the key that seals. They may be stored in the database: a
    /// fingerprint does not reveal its key.
    pub fn ids_and_fingerprints(&self) -> Vec<String> {
        self.0.iter().map(|key| format!("{}:{}", key.id, key.fingerprint())).collect()
    }

    pub(super) fn bytes(&self, id: &str) -> Option<&[u8; KEY_LEN]> {
        self.0.iter().find(|key| key.id == id).map(|key| &*key.bytes)
    }
}

impl VaultKey {
    /// A hash of the key and its id. It reveals nothing about a key of 32 random bytes.
    fn fingerprint(&self) -> String {
        let hash = Sha256::new_with_prefix(FINGERPRINT).chain_update(self.bytes.as_slice());
        Base64UrlUnpadded::encode_string(&hash.chain_update(&self.id).finalize())
    }

    fn parse(text: &str) -> Result<Self, Fault> {
        let (id, key) = text.split_once(':').ok_or(Fault::NoColon)?;
        if !is_valid_key_id(id) {
            return Err(Fault::Id);
        }
        // Accept keys without padding, because many tools omit it.
        let text = key.trim_end_matches('=');
        let decoded = Zeroizing::new(Base64Unpadded::decode_vec(text).map_err(|_| Fault::Base64)?);
        let mut bytes = Zeroizing::new([0; KEY_LEN]);
        if decoded.len() != KEY_LEN {
            return Err(Fault::Length);
        }
        bytes.copy_from_slice(&decoded);
        Ok(Self { id: id.to_owned(), bytes })
    }
}

/// Whether a string is a valid key id.
pub fn is_valid_key_id(text: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    (1..=MAX_ID_LENGTH).contains(&text.len()) && text.bytes().all(is_allowed)
}

impl fmt::Display for VaultKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, id) in self.ids().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            f.write_str(id)?;
        }
        Ok(())
    }
}

impl fmt::Debug for VaultKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VaultKeys({self})")
    }
}

impl fmt::Display for VaultKeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = match self.fault {
            Fault::NoColon => "has no colon: write <id>:<key>",
            Fault::Id => "has an id that is not 1–32 of a-z, 0-9 and -",
            Fault::DuplicateId => "has the same id as an earlier entry",
            Fault::Base64 => "has a key that is not standard base64",
            Fault::Length => "has a key that does not have 32 bytes",
        };
        write!(f, "entry {} {fault}", self.entry)
    }
}

impl std::error::Error for VaultKeysError {}
