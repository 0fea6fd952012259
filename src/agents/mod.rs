//! Sign-in for agents: an OAuth 2.1 authorization server for each MCP endpoint (`/mcp/{endpointId}`), by which the end users of
//! an account let an agent act for them. Pure: requests, tokens, rules and SQL. `crate::agents::endpoints` answers with them.
//!
//! - **Clients** ([`client`]) are no rows: a client ID is the URL of a metadata document, or the signed registration itself.
//! - **Requests** ([`request`]) are no rows either: what the authorization endpoint was asked for travels, signed, through the
//!   sign-in, bound to the browser by a cookie.
//! - **Grants** ([`grant`]) are rows, written only after a user has signed in. Access tokens ([`crate::auth::token`]) are
//!   signed and name their grant, which storage is asked for in the same batch as the key.

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

/// What the metadata of every endpoint calls the two levels of access.
pub const SCOPES: &str = "read write";

impl Access {
    /// The access that a client asks for: an unknown scope, such as `offline_access`, grants nothing. Returns `None` when no
    /// scope is known. A client that names none asks for both.
    #[must_use]
    pub fn of_scope(scope: Option<&str>) -> Option<Self> {
        let scope = scope.unwrap_or(SCOPES);
        let named: Vec<Self> = scope.split(' ').filter_map(Self::parse).collect();
        if named.contains(&Self::Write) { Some(Self::Write) } else { named.first().copied() }
    }

    /// The value of `scope` in responses.
    #[must_use]
    pub const fn scope(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => SCOPES,
        }
    }

    /// What its tokens may do, as long as their key may too.
    #[must_use]
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

/// The form in which a secret is stored: SHA-256 in hexadecimal.
#[must_use]
pub fn hash(secret: &str) -> String {
    KeyHash(Sha256::digest(secret.as_bytes()).into()).to_string()
}

/// The challenge of a verifier (RFC 7636, section 4.2). Returns `None` when the verifier is malformed.
#[must_use]
pub fn challenge(verifier: &str) -> Option<String> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_good = (43..=128).contains(&verifier.len()) && verifier.bytes().all(letter);
    is_good.then(|| Base64UrlUnpadded::encode_string(&Sha256::digest(verifier.as_bytes())))
}

/// Whether a text can be the challenge of a verifier.
#[must_use]
pub fn is_challenge(text: &str) -> bool {
    text.len() == 43 && Base64UrlUnpadded::decode_vec(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Access, challenge, is_challenge};

    #[test]
    fn a_request_without_known_scopes_asks_for_nothing() {
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
            assert_eq!(Access::of_scope(scope), access, "{scope:?}");
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
