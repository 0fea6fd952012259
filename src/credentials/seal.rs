//! Authenticated encryption of stored secrets.
//!
//! # The construction
//!
//! AES-256-GCM, with a key that HKDF-SHA-256 derives from one of the operator's keys, the account
//! and the environment. So a key that leaks from memory opens the rows of one account only, and no
//! key has to be stored per account.
//!
//! The associated data name the key, the account, the environment, the kind of row and its id
//! ([`SealContext`]). A ciphertext can be opened only in this context. An attacker with write
//! access to the database but no key can therefore not copy the credentials of one connection into
//! another one, and read them through an account that they control.
//!
//! # Nonces
//!
//! Nonces are random, of 96 bits. A counter would have to be coordinated between isolates that
//! share no state. NIST SP 800-38D (section 8.3) allows 2^32 messages for each key with random
//! nonces, which keeps the probability of a repeated nonce below 2^-32. An account that refreshes
//! 100,000 connections every hour reaches that in five years, and each new operator key starts from
//! zero.
//!
//! # Why not `WebCrypto`
//!
//! `WebCrypto` only has asynchronous functions, and native tests don't have it. Here, a call is a
//! plain function that costs about as much. According to `npm run lab -- bench-sealing`, it takes
//! 0.06 ms to decrypt 1 KB, and 0.04 ms with `WebCrypto` from JavaScript. In a new isolate it takes
//! 0.3 ms, against 0.7 ms with `WebCrypto`, because the isolate runs the code once while it starts
//! (otherwise 3 ms). The code adds 23 KB gzipped.
//!
//! # Rotation
//!
//! The first key encrypts, and all keys decrypt. A ciphertext begins with the id of its key, so
//! decryption never has to guess, and an index finds the rows that still have an old key (see
//! [`super::reencrypt`]).

use std::fmt;

use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
use base64ct::{Base64UrlUnpadded, Encoding as _};
use hkdf::Hkdf;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::keys::{VaultKeys, is_valid_key_id};
use crate::ports::Random;
use crate::terms::{Environment, named};

/// The version of the format. It is part of every derived key and of the associated data, so it changes with the
/// format.
const FORMAT: &str = "connector-vault/credentials/v1";
const NONCE_LEN: usize = 12;
const TAG_LEN: usize = 16;
/// The maximum size of a plaintext. D1 stores strings of up to 2,000,000 bytes.
pub const MAX_PLAINTEXT_BYTES: usize = 1 << 20;

/// The context that a ciphertext is bound to. The ciphertext can't be decrypted in another context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealContext<'a> {
    /// The account's id.
    pub account: &'a str,
    /// The account's environment.
    pub environment: Environment,
    /// The kind of encrypted data.
    pub kind: Kind,
    /// The id of the row, unique within its kind.
    pub id: &'a str,
}

named! {
    /// The kind of encrypted data. The name is part of the associated data, so it must never
    /// change.
    Kind:
    /// The credentials of a connection, including those that wait for revocation.
    Connection = "connection",
    /// The secret of an account's OAuth client.
    OauthClient = "oauth_client",
    /// The state of an attempt to connect.
    Attempt = "attempt",
    /// The signing secrets of a webhook.
    Webhook = "webhook",
    /// The secret of the OAuth client through which users of agents sign in.
    AgentSignIn = "agent_sign_in",
    /// The secret of the OAuth client through which people sign in to the console.
    ConsoleSignIn = "console_sign_in",
    /// The input of a call that waits for its user's approval, or the response to the call.
    AgentApproval = "agent_approval",
}

/// A ciphertext as stored: `<id of the key>.<base64url of nonce, ciphertext and tag>`. The nonce has 12 bytes and the
/// tag 16.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(String);

impl Sealed {
    /// The string for the database.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The string for the database.
    pub fn into_string(self) -> String {
        self.0
    }

    /// The id of the key: everything before the first dot, like the column `sealed_key`.
    pub fn key_id(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }
}

/// Wraps a stored string, which [`VaultKeys::open`] checks.
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

/// The reason why encryption failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealError {
    /// `VAULT_KEYS` is empty.
    NoKey,
    /// The plaintext has more than [`MAX_PLAINTEXT_BYTES`] bytes.
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

/// The reason why decryption failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenError {
    /// The key with this id is not in `VAULT_KEYS`.
    UnknownKey(String),
    /// The ciphertext was changed, or belongs to another context, or another key had this id when it was encrypted.
    Damaged,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey(id) => write!(f, "the key `{id}` is needed, but is not in VAULT_KEYS"),
            Self::Damaged => f.write_str(
                "this sealed text was changed or moved, or VAULT_KEYS has another key under its id",
            ),
        }
    }
}

impl std::error::Error for OpenError {}

impl VaultKeys {
    /// Encrypts with the first key.
    pub fn seal(
        &self,
        context: &SealContext<'_>,
        plain: &[u8],
        random: &impl Random,
    ) -> Result<Sealed, SealError> {
        let id = self.first().ok_or(SealError::NoKey)?;
        let cipher = self.cipher(id, context).ok_or(SealError::NoKey)?;
        if plain.len() > MAX_PLAINTEXT_BYTES {
            return Err(SealError::TooLong);
        }
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce);
        let mut text = plain.to_vec();
        let tag = cipher
            .encrypt_inout_detached(
                &nonce.into(),
                &associated_data(id, context),
                text.as_mut_slice().into(),
            )
            .map_err(|_| SealError::TooLong)?;
        let bytes = [nonce.as_slice(), &text, &tag].concat();
        Ok(Sealed(format!("{id}.{}", Base64UrlUnpadded::encode_string(&bytes))))
    }

    /// Decrypts a ciphertext of this context. The plaintext is erased from memory on drop.
    pub fn open(
        &self,
        context: &SealContext<'_>,
        sealed: &Sealed,
    ) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        let (id, text) = sealed.0.split_once('.').ok_or(OpenError::Damaged)?;
        if !is_valid_key_id(id) {
            return Err(OpenError::Damaged);
        }
        let cipher =
            self.cipher(id, context).ok_or_else(|| OpenError::UnknownKey(id.to_owned()))?;
        let bytes = Base64UrlUnpadded::decode_vec(text).map_err(|_| OpenError::Damaged)?;
        let (nonce, rest) = bytes.split_first_chunk::<NONCE_LEN>().ok_or(OpenError::Damaged)?;
        let (ciphertext, tag) = rest.split_last_chunk::<TAG_LEN>().ok_or(OpenError::Damaged)?;
        let mut plain = Zeroizing::new(ciphertext.to_vec());
        cipher
            .decrypt_inout_detached(
                nonce.into(),
                &associated_data(id, context),
                plain.as_mut_slice().into(),
                tag.into(),
            )
            .map_err(|_| OpenError::Damaged)?;
        Ok(plain)
    }

    /// The cipher for an account and environment, derived from the key with this id. Returns `None`
    /// when the key does not exist.
    fn cipher(&self, id: &str, context: &SealContext<'_>) -> Option<Aes256Gcm> {
        let info = length_prefixed(&[FORMAT, context.account, context.environment.as_str()]);
        let mut key = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(None, self.bytes(id)?).expand(&info, key.as_mut_slice()).ok()?;
        Some(Aes256Gcm::new((&*key).into()))
    }
}

/// The associated data of a ciphertext.
fn associated_data(key_id: &str, context: &SealContext<'_>) -> Vec<u8> {
    let SealContext { account, environment, kind, id } = context;
    length_prefixed(&[FORMAT, key_id, account, environment.as_str(), kind.as_str(), id])
}

/// Concatenates the parts, each preceded by its length in eight bytes, so that different parts never give the same bytes.
fn length_prefixed(parts: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}
