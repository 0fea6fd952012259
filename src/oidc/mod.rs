//! Signs users in with OpenID providers: discovery, key sets, code exchange and ID token
//! validation. Used for agents and for the console.

pub mod documents;
pub mod id_token;
pub mod provider;
pub mod relying_party;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use sha2::{Digest, Sha256};

use crate::auth::mac::mac;
use crate::http::message::Request;

/// Computes the PKCE challenge of a verifier (RFC 7636, section 4.2). Returns `None` for a
/// malformed verifier.
pub fn challenge(verifier: &str) -> Option<String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_valid = (43..=128).contains(&verifier.len()) && verifier.bytes().all(is_allowed);
    is_valid.then(|| Base64UrlUnpadded::encode_string(&Sha256::digest(verifier.as_bytes())))
}

/// Whether a string has the format of a PKCE challenge.
pub fn is_challenge(text: &str) -> bool {
    text.len() == 43 && Base64UrlUnpadded::decode_vec(text).is_ok()
}

/// Derives the PKCE verifier and the `nonce` for a request. Only the browser with this cookie can
/// reproduce them.
pub fn verifier_and_nonce(cookie: &str, state: &str) -> [String; 2] {
    ["verifier ", "nonce "].map(|what| {
        let bytes = mac(cookie.as_bytes(), &[what.as_bytes(), state.as_bytes()]);
        Base64UrlUnpadded::encode_string(&bytes)
    })
}

/// Whether a string has the format of a random secret of this service, or of an id of the same
/// length.
pub(crate) fn is_secret(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (43..=45).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// The value of the cookie that identifies a browser during a sign-in. Returns `None` if it is
/// missing or malformed.
pub(crate) fn browser_cookie<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let pairs = request.header("cookie")?.split(';').map(str::trim);
    let mut values = pairs.filter_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    values.find(|value| is_secret(value))
}

#[cfg(test)]
mod tests {
    use super::{challenge, is_challenge, verifier_and_nonce};

    #[test]
    fn the_challenge_matches_the_example_of_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let expected = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(challenge(verifier).as_deref(), Some(expected));
        assert!(is_challenge(expected));
        for bad in ["", "short", &"a".repeat(42), &"a".repeat(129), &format!("{}+", "a".repeat(43))]
        {
            assert_eq!(challenge(bad), None, "{bad}");
        }
        for bad in ["", &"a".repeat(42), &"a".repeat(44), &format!("{}+", "a".repeat(42))] {
            assert!(!is_challenge(bad), "{bad}");
        }
    }

    #[test]
    fn verifier_and_nonce_depend_on_cookie_and_state() {
        let [verifier, nonce] = verifier_and_nonce("cookie", "state");
        assert!(verifier != nonce && verifier.len() == 43);
        assert_ne!(verifier_and_nonce("other", "state"), [verifier.clone(), nonce.clone()]);
        assert_ne!(verifier_and_nonce("cookie", "other"), [verifier, nonce]);
    }
}
