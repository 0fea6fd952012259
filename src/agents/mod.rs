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
pub mod display_name;
pub mod download;
pub mod endpoints;
pub mod grant;
pub mod refresh;
pub mod request;
pub mod sign_in;
pub mod statements;
pub mod user_grants;

pub use crate::auth::limits::{Access, Confirm};

use crate::terms::{Scope, Scopes};

/// The scopes in the metadata of every endpoint.
pub const SCOPES: &str = "read write";

impl Access {
    /// The access that a client requests. Unknown scopes, such as `offline_access`, grant nothing; without a known scope,
    /// returns `None`. Without the parameter, the client requests both.
    pub fn from_scope(scope: Option<&str>) -> Option<Self> {
        let scope = scope.unwrap_or(SCOPES);
        let named: Vec<Self> = scope.split(' ').filter_map(|name| name.parse().ok()).collect();
        if named.contains(&Self::Write) { Some(Self::Write) } else { named.first().copied() }
    }

    pub const fn scope(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => SCOPES,
        }
    }

    /// The scopes of tokens with this access. A scope has no effect unless the key has it too.
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

#[cfg(test)]
mod tests {
    use super::Access;

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
}
