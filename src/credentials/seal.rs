//! Sealing: AES-256-GCM under a key that HKDF-SHA-256 derives for an account and an environment from one of the
//! operator's keys. A sealed text opens in its own place only, because the associated data name that place: a row that
//! somebody copies to another connection, account or environment is refused.
//!
//! **Nonces are random**, 96 bits. So nothing has to be counted between isolates that don't know each other, and SP
//! 800-38D (section 8.3) allows 2^32 seals for each derived key, which leaves a chance below 2^-32 that two share a
//! nonce. An account whose 100,000 connections are renewed every hour takes five years to get there; a new first key
//! starts anew.
//!
//! **Not `WebCrypto`**, which only has promises: a call here is a plain function, the same in native tests, and costs about
//! as much. `npm run lab -- bench-sealing`: to open 1 KB takes 0.06 ms, and 0.04 ms by `WebCrypto`, if JavaScript calls it. In a new
//! isolate it takes 0.3 ms, and 0.7 ms by `WebCrypto`; it would be 3 ms if the isolate had not rehearsed it while it started.
//! Alone, it is a module of 23 KB gzipped.

use std::fmt;

use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
use base64ct::{Base64UrlUnpadded, Encoding as _};
use hkdf::Hkdf;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::keys::{VaultKeys, is_id};
use crate::ports::Random;
use crate::terms::Environment;

/// The version of the format, a part of all that is derived and bound. Whatever changes the format changes it.
const FORMAT: &str = "connector-vault/credentials/v1";
const NONCE_LEN: usize = 12;
const TAG_LEN: usize = 16;
/// The most bytes that can be sealed: D1 stores texts of up to 2,000,000 bytes.
pub const MAX_PLAIN: usize = 1 << 20;

/// Where a sealed text belongs: it opens nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The account's id.
    pub account: &'a str,
    /// The environment of the account.
    pub environment: Environment,
    /// What is sealed.
    pub kind: Kind,
    /// The id of the row, unique for its kind.
    pub id: &'a str,
}

/// What is sealed. Its name is a part of what every sealed text is bound to, so it must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The credentials of a connection, also while they wait to be revoked.
    Connection,
    /// The secret of an account's OAuth client.
    OauthClient,
    /// What an attempt to connect must remember.
    Attempt,
    /// The secrets that sign what a webhook receives.
    Webhook,
    /// The secret of the OAuth client with which users of agents sign in.
    AgentSignIn,
    /// The input of a call that waits for its user, or the response to it. It lives for minutes, so no other key seals it again.
    AgentApproval,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Connection,
        Self::OauthClient,
        Self::Attempt,
        Self::Webhook,
        Self::AgentSignIn,
        Self::AgentApproval,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::OauthClient => "oauth_client",
            Self::Attempt => "attempt",
            Self::Webhook => "webhook",
            Self::AgentSignIn => "agent_sign_in",
            Self::AgentApproval => "agent_approval",
        }
    }
}

/// A sealed text, as a column of the database holds it: `<id of the key>.<base64url of nonce, ciphertext and tag>`. The
/// nonce has 12 bytes and the tag 16.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(String);

impl Sealed {
    /// The text for the database.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text for the database.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// The id of the key that sealed it: all before the first dot, like the column `sealed_key`.
    #[must_use]
    pub fn key_id(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }
}

/// What a column holds; [`VaultKeys::open`] checks it.
impl From<String> for Sealed {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed(…)")
    }
}

/// Why something can't be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealError {
    /// There is no key to seal with.
    NoKey,
    /// It has more than [`MAX_PLAIN`] bytes.
    TooLong,
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoKey => "VAULT_KEYS has no key to seal with",
            Self::TooLong => "this is too long to be sealed",
        })
    }
}

impl std::error::Error for SealError {}

/// Why a sealed text does not open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenError {
    /// The key with this id, which sealed it, is not in `VAULT_KEYS`.
    UnknownKey(String),
    /// It was changed, or belongs to another place, or another key had this id when it was sealed.
    Damaged,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey(id) => write!(f, "the key `{id}` is needed, but not in VAULT_KEYS"),
            Self::Damaged => f.write_str(
                "this sealed text was changed or moved, or VAULT_KEYS has another key under its id",
            ),
        }
    }
}

impl std::error::Error for OpenError {}

impl VaultKeys {
    /// Seals with the first key, for one place.
    ///
    /// # Errors
    /// When there is no key, or too much to seal.
    pub fn seal(
        &self,
        place: &Place<'_>,
        plain: &[u8],
        random: &impl Random,
    ) -> Result<Sealed, SealError> {
        let id = self.first().ok_or(SealError::NoKey)?;
        let cipher = self.cipher(id, place).ok_or(SealError::NoKey)?;
        if plain.len() > MAX_PLAIN {
            return Err(SealError::TooLong);
        }
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce);
        let mut text = plain.to_vec();
        let tag = cipher
            .encrypt_inout_detached(&nonce.into(), &bound(id, place), text.as_mut_slice().into())
            .map_err(|_| SealError::TooLong)?;
        let bytes = [nonce.as_slice(), &text, &tag].concat();
        Ok(Sealed(format!("{id}.{}", Base64UrlUnpadded::encode_string(&bytes))))
    }

    /// Opens what was sealed for this place. The bytes are erased from memory on drop.
    ///
    /// # Errors
    /// When the key that sealed it is missing, or when it was not sealed by that key for this place.
    pub fn open(
        &self,
        place: &Place<'_>,
        sealed: &Sealed,
    ) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        let (id, text) = sealed.0.split_once('.').ok_or(OpenError::Damaged)?;
        if !is_id(id) {
            return Err(OpenError::Damaged);
        }
        let cipher = self.cipher(id, place).ok_or_else(|| OpenError::UnknownKey(id.to_owned()))?;
        let bytes = Base64UrlUnpadded::decode_vec(text).map_err(|_| OpenError::Damaged)?;
        let (nonce, rest) = bytes.split_first_chunk::<NONCE_LEN>().ok_or(OpenError::Damaged)?;
        let (ciphertext, tag) = rest.split_last_chunk::<TAG_LEN>().ok_or(OpenError::Damaged)?;
        let mut plain = Zeroizing::new(ciphertext.to_vec());
        cipher
            .decrypt_inout_detached(
                nonce.into(),
                &bound(id, place),
                plain.as_mut_slice().into(),
                tag.into(),
            )
            .map_err(|_| OpenError::Damaged)?;
        Ok(plain)
    }

    /// The cipher of a place's account and environment. Returns `None` when there is no such key.
    fn cipher(&self, id: &str, place: &Place<'_>) -> Option<Aes256Gcm> {
        let info = apart(&[FORMAT, place.account, place.environment.as_str()]);
        let mut key = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(None, self.bytes(id)?).expand(&info, key.as_mut_slice()).ok()?;
        Some(Aes256Gcm::new((&*key).into()))
    }
}

/// The associated data.
fn bound(key_id: &str, place: &Place<'_>) -> Vec<u8> {
    let Place { account, environment, kind, id } = place;
    apart(&[FORMAT, key_id, account, environment.as_str(), kind.as_str(), id])
}

/// The parts, each after its length in eight bytes, so that no other parts make the same bytes.
fn apart(parts: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}
