//! Sign-in for agents: each MCP endpoint (`/mcp/{endpointId}`) has an OAuth 2.1 authorization
//! server, with which an account's end users let agents act for them.
//!
//! - **Clients** ([`client`]) are not stored: a client ID is the URL of a metadata document, or a
//!   signed registration.
//! - **Requests** ([`request`]) are not stored: they are signed, sent through the sign-in as a
//!   parameter, and bound to the browser by a cookie.
//! - **Grants** ([`grant`]) are stored after the user has signed in. Access tokens
//!   ([`crate::auth::token`]) are signed and contain the id of their grant, which is checked in the
//!   same batch as the key.

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
    /// The access that a client requests with `scope`. Returns `None` if the parameter contains no
    /// known scope. Unknown scopes, such as `offline_access`, grant nothing. Without the parameter,
    /// the client requests all access.
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

    /// The API scopes of tokens with this access. The key must have a scope, too, for it to be
    /// effective.
    pub fn scopes(self) -> Scopes {
        match self {
            Self::Read => {
                let reads = [Scope::CatalogRead, Scope::ConnectionsRead, Scope::ConnectionsCall];
                reads.into_iter().collect()
            }
            Self::Write => Scope::TOKEN_SCOPES.into_iter().collect(),
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
