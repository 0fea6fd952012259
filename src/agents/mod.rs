//! Sign-in for agents: an OAuth 2.1 authorization server for each MCP endpoint (`/mcp/{endpointId}`). The end users of an
//! account use it to let an agent act for them.
//!
//! - **Clients** ([`client`]) are not stored: a client ID is the URL of a metadata document, or the signed registration.
//! - **Requests** ([`request`]) are not stored either: the parameters of the authorization endpoint travel, signed, through the
//!   sign-in, bound to the browser by a cookie.
//! - **Grants** ([`grant`]) are stored only after a user has signed in. Access tokens ([`crate::auth::token`]) are signed and
//!   name their grant, which is checked in the same batch as the key.

pub mod approval;
pub mod client;
pub mod endpoints;
pub mod form;
pub mod grant;
pub mod id_token;
pub mod provider;
pub mod refresh;
pub mod request;
pub mod sign_in;
pub mod statements;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use sha2::{Digest, Sha256};

pub use crate::auth::limits::{Access, Confirm};

use crate::auth::key::KeyHash;
use crate::terms::{Scope, Scopes};

/// The scopes in the metadata of every endpoint.
pub const SCOPES: &str = "read write";

impl Access {
    /// The access that a client requests. Unknown scopes, such as `offline_access`, grant nothing; without a known scope,
    /// returns `None`. Without the parameter, the client requests both.
    pub fn from_scope(scope: Option<&str>) -> Option<Self> {
        let scope = scope.unwrap_or(SCOPES);
        let named: Vec<Self> = scope.split(' ').filter_map(Self::parse).collect();
        if named.contains(&Self::Write) { Some(Self::Write) } else { named.first().copied() }
    }

    pub const fn scope(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => SCOPES,
        }
    }

    /// The scopes of its tokens. They count only while the key has them too.
    pub fn scopes(self) -> Scopes {
        match self {
            Self::Read => {
                let reads = [Scope::CatalogRead, Scope::ConnectionsRead, Scope::ConnectionsCall];
                reads.into_iter().collect()
            }
            Self::Write => Scope::OF_TOKENS.into_iter().collect(),
        }
    }
}

/// The hash under which a secret is stored: SHA-256 in hexadecimal.
pub fn hash(secret: &str) -> String {
    KeyHash(Sha256::digest(secret.as_bytes()).into()).to_string()
}

/// The challenge of a verifier (RFC 7636, section 4.2). Returns `None` for a malformed verifier.
pub fn challenge(verifier: &str) -> Option<String> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_good = (43..=128).contains(&verifier.len()) && verifier.bytes().all(letter);
    is_good.then(|| Base64UrlUnpadded::encode_string(&Sha256::digest(verifier.as_bytes())))
}

/// Whether a string has the form of a challenge.
pub fn is_challenge(text: &str) -> bool {
    text.len() == 43 && Base64UrlUnpadded::decode_vec(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Access, challenge, is_challenge};

    #[test]
    fn unknown_scopes_grant_nothing() {
        for (scope, access) in [
            (None, Some(Access::Write)),
            (Some("read"), Some(Access::Read)),
            (Some("read write"), Some(Access::Write)),
            (Some("write offline_access"), Some(Access::Write)),
            (Some("offline_access read"), Some(Access::Read)),
            (Some("offline_access"), None),
            (Some("READ"), None),
            (Some(""), None),
        ] {
            assert_eq!(Access::from_scope(scope), access, "{scope:?}");
        }
    }

    #[test]
    fn the_challenge_is_that_of_rfc_7636() {
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
}
