//! Secrets that only this service can have issued: the first half of a secret is random, and the
//! second half is derived from it with one of the operator's keys. A forged secret is rejected
//! without a database query.
//!
//! The query is still necessary: only the database records which secrets were issued. All keys of
//! `VAULT_KEYS` are accepted, so that secrets stay valid while keys are rotated.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use hkdf::Hkdf;
use sha2::Sha256;

use super::keys::VaultKeys;
use crate::ports::Random;

/// Domain separator: a minted secret never equals another value that is derived from a key.
const LABEL: &[u8] = b"connector-vault/minted-secret/v1\n";
/// The length of each half, in bytes.
const HALF_LEN: usize = 16;
/// The length of a secret in characters, the same as for [`Random::secret`].
const SECRET_LEN: usize = 43;

/// The purpose of a secret. A secret for a different purpose is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A link that sends a user to a platform.
    Link,
    /// The parameter `state` of an authorization request.
    State,
    /// The cookie that binds an attempt to a browser.
    Browser,
    /// A link to a file of a platform.
    Download,
}

impl Purpose {
    const fn name(self) -> &'static [u8] {
        match self {
            Self::Link => b"link\n",
            Self::State => b"state\n",
            Self::Browser => b"browser\n",
            Self::Download => b"download\n",
        }
    }
}

impl VaultKeys {
    /// Creates a secret of 128 random bits, in 43 characters that need no escaping in a URL. Returns `None` without a
    /// key.
    pub fn mint(&self, purpose: Purpose, random: &impl Random) -> Option<String> {
        let mut bytes = [0; 2 * HALF_LEN];
        let (half, proof) = bytes.split_at_mut(HALF_LEN);
        random.fill(half);
        proof.copy_from_slice(&derive_proof(self.bytes(self.first()?)?, purpose, half)?);
        Some(Base64UrlUnpadded::encode_string(&bytes))
    }

    /// Whether one of the keys has issued this secret for this purpose. Ignores the prefix that names the database.
    pub fn has_minted(&self, purpose: Purpose, secret: &str) -> bool {
        let without_prefix = secret.len().checked_sub(SECRET_LEN).and_then(|at| secret.get(at..));
        let mut bytes = [0; 2 * HALF_LEN];
        let decoded =
            without_prefix.and_then(|secret| Base64UrlUnpadded::decode(secret, &mut bytes).ok());
        if decoded.is_none_or(|decoded| decoded.len() != 2 * HALF_LEN) {
            return false;
        }
        let (half, proof) = bytes.split_at(HALF_LEN);
        let is_proof = |id: &str| {
            let expected = self.bytes(id).and_then(|key| derive_proof(key, purpose, half));
            // Compare in constant time, so that the timing reveals nothing.
            let differs = |expected: [u8; HALF_LEN]| {
                expected.iter().zip(proof).fold(0, |all, (one, other)| all | (one ^ other))
            };
            expected.is_some_and(|expected| differs(expected) == 0)
        };
        self.ids().any(is_proof)
    }
}

/// The second half of a secret.
fn derive_proof(key: &[u8], purpose: Purpose, half: &[u8]) -> Option<[u8; HALF_LEN]> {
    let mut proof = [0; HALF_LEN];
    let info = [LABEL, purpose.name(), half];
    Hkdf::<Sha256>::new(None, key).expand_multi_info(&info, &mut proof).ok()?;
    Some(proof)
}

#[cfg(test)]
mod tests {
    use super::Purpose::{Browser, Link, State};
    use super::{SECRET_LEN, VaultKeys};
    use crate::ports::Random;

    struct Counting(std::cell::Cell<u8>);

    impl Random for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            for byte in bytes {
                *byte = self.0.replace(self.0.get().wrapping_add(1));
            }
        }
    }

    fn keys(ids: &[(&str, u8)]) -> VaultKeys {
        use base64ct::{Base64, Encoding as _};
        let entry =
            |(id, byte): &(&str, u8)| format!("{id}:{}", Base64::encode_string(&[*byte; 32]));
        VaultKeys::parse(&ids.iter().map(entry).collect::<Vec<_>>().join(",")).unwrap()
    }

    #[test]
    fn a_secret_is_valid_only_for_its_key_and_purpose() {
        let random = Counting(std::cell::Cell::new(0));
        let (old, both, new) = (keys(&[("a", 1)]), keys(&[("b", 2), ("a", 1)]), keys(&[("b", 2)]));
        let secret = old.mint(Link, &random).unwrap();
        assert_eq!(secret.len(), SECRET_LEN);
        assert_ne!(old.mint(Link, &random).unwrap(), secret);
        for (keys, purpose, text, is_known) in [
            (&old, Link, secret.clone(), true),
            (&old, Link, format!("0z{secret}"), true),
            // The old key's secrets are accepted during a rotation of the keys, but not after it.
            (&both, Link, secret.clone(), true),
            (&new, Link, secret.clone(), false),
            (&VaultKeys::default(), Link, secret.clone(), false),
            (&old, State, secret.clone(), false),
            (&old, Browser, secret.clone(), false),
            (&old, Link, random.secret(), false),
            (&old, Link, String::new(), false),
            (&old, Link, secret.chars().skip(1).collect(), false),
            (&old, Link, "é".repeat(30), false),
            (&old, Link, format!("{}!", secret.chars().take(42).collect::<String>()), false),
        ] {
            assert_eq!(keys.has_minted(purpose, &text), is_known, "{purpose:?} {text}");
        }
        for index in 0..SECRET_LEN {
            let mut letters: Vec<char> = secret.chars().collect();
            letters[index] = if letters[index] == 'A' { 'B' } else { 'A' };
            let changed: String = letters.into_iter().collect();
            assert!(!old.has_minted(Link, &changed), "{index}");
        }
        assert_eq!(VaultKeys::default().mint(Link, &random), None);
    }
}
