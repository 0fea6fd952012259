//! Proof Key for Code Exchange (RFC 7636): only the client that started an authorization can
//! exchange its code.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use sha2::{Digest, Sha256};

use crate::ports::Random;

/// The secret whose hash is the challenge. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier(String);

impl Verifier {
    /// Generates a verifier with 256 random bits, in 43 characters.
    pub fn generate(random: &impl Random) -> Self {
        Self(random.secret())
    }

    /// Parses a verifier. It must have 43 to 128 allowed characters.
    pub fn parse(text: String) -> Option<Self> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        ((43..=128).contains(&text.len()) && text.bytes().all(is_allowed)).then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The `S256` challenge for the authorization URL.
    pub fn challenge(&self) -> String {
        Base64UrlUnpadded::encode_string(&Sha256::digest(self.0.as_bytes()))
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::Verifier;
    use crate::ports::Random;

    struct Counting;

    impl Random for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            for (byte, value) in bytes.iter_mut().zip(0..) {
                *byte = value;
            }
        }
    }

    #[test]
    fn the_challenge_matches_the_example_of_rfc_7636() {
        let text = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let verifier = Verifier::parse(text.to_owned()).unwrap();
        assert_eq!(verifier.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert_eq!(verifier.as_str(), text);
    }

    #[test]
    fn a_new_verifier_is_long_enough_and_hidden() {
        let verifier = Verifier::generate(&Counting);
        assert_eq!(verifier.as_str(), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
        assert_eq!(Verifier::parse(verifier.as_str().to_owned()), Some(verifier.clone()));
        assert_eq!(format!("{verifier:?}"), "Verifier(…)");
    }

    #[test]
    fn refuses_malformed_verifiers() {
        for text in
            ["a".repeat(42), "a".repeat(129), format!("{}=", "a".repeat(43)), "é".repeat(43)]
        {
            assert_eq!(Verifier::parse(text.clone()), None, "{text}");
        }
    }
}
