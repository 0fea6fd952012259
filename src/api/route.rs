//! Paths and methods. The Worker reads them, the client writes them.

use super::percent::{decode, encode};
use crate::access::Scope;

/// The methods of a path that is only read; also what a browser is told about a path of which only a valid key learns
/// more.
pub const READS: &str = "GET, HEAD, OPTIONS";

/// Something that the API serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `/health`: whether the Worker runs; open to everybody.
    Health,
    /// `/v1/whoami`
    Whoami,
    /// `/v1/sessions`
    Sessions,
    /// `/v1/available-connectors`
    Connectors,
    /// `/v1/available-actions/{platform}`
    Actions {
        /// As sent, percent-decoded.
        platform: String,
    },
    /// `/v1/vault/connections`
    Connections,
    /// `/v1/vault/connections/{id}`
    Connection {
        /// As sent, percent-decoded.
        id: String,
    },
    /// `/v1/vault/summary`
    Summary,
}

/// Something that is done to a [`Target`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `GET /health`
    Health,
    /// `GET /v1/whoami`
    Whoami,
    /// `POST /v1/sessions`
    CreateSession,
    /// `GET /v1/available-connectors`
    ListConnectors,
    /// `GET /v1/available-actions/{platform}`
    ListActions,
    /// `GET /v1/vault/connections`
    ListConnections,
    /// `POST /v1/vault/connections`
    CreateConnection,
    /// `GET /v1/vault/connections/{id}`
    ReadConnection,
    /// `PATCH /v1/vault/connections/{id}`
    UpdateConnection,
    /// `DELETE /v1/vault/connections/{id}`
    DeleteConnection,
    /// `GET /v1/vault/summary`
    Summary,
}

impl Endpoint {
    /// What a key must be allowed to do to use the vault; none for what is not the vault.
    #[must_use]
    pub fn vault_scope(self) -> Option<Scope> {
        let vault = [Scope::ConnectionsRead, Scope::ConnectionsWrite];
        self.scope().filter(|scope| vault.contains(scope))
    }

    /// What a key must be allowed to do; none when every valid key may.
    #[must_use]
    pub const fn scope(self) -> Option<Scope> {
        match self {
            Self::Health | Self::Whoami => None,
            Self::CreateSession => Some(Scope::SessionsCreate),
            Self::ListConnectors | Self::ListActions => Some(Scope::CatalogRead),
            Self::ListConnections | Self::ReadConnection | Self::Summary => {
                Some(Scope::ConnectionsRead)
            }
            Self::CreateConnection | Self::UpdateConnection | Self::DeleteConnection => {
                Some(Scope::ConnectionsWrite)
            }
        }
    }
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// To something.
    To(Target),
    /// Nowhere, below `/v1`: only a valid key is told so.
    UnknownInApi,
    /// Nowhere, and not below `/v1`.
    Unknown,
}

impl Route {
    /// Finds the way of a path, which is still percent-encoded: segments are decoded once, then matched.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').map(segment);
        match segments.next().flatten().as_deref() {
            Some("health") if segments.next().is_none() => Self::To(Target::Health),
            Some("v1") => {
                let rest: Option<Vec<String>> = segments.collect();
                rest.and_then(|rest| Target::of(&rest)).map_or(Self::UnknownInApi, Self::To)
            }
            _ => Self::Unknown,
        }
    }
}

/// One decoded path segment; none when it is badly encoded or holds a NUL.
fn segment(encoded: &str) -> Option<String> {
    decode(encoded).filter(|decoded| !decoded.contains('\0')).map(std::borrow::Cow::into_owned)
}

impl Target {
    /// The target of these segments below `/v1`.
    fn of(segments: &[String]) -> Option<Self> {
        match segments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["whoami"] => Some(Self::Whoami),
            ["sessions"] => Some(Self::Sessions),
            ["available-connectors"] => Some(Self::Connectors),
            ["available-actions", platform] if !platform.is_empty() => {
                Some(Self::Actions { platform: (*platform).to_owned() })
            }
            ["vault", "connections"] => Some(Self::Connections),
            ["vault", "connections", id] if !id.is_empty() => {
                Some(Self::Connection { id: (*id).to_owned() })
            }
            ["vault", "summary"] => Some(Self::Summary),
            _ => None,
        }
    }

    /// The target's path, percent-encoded.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Health => "/health".into(),
            Self::Whoami => "/v1/whoami".into(),
            Self::Sessions => "/v1/sessions".into(),
            Self::Connectors => "/v1/available-connectors".into(),
            Self::Actions { platform } => format!("/v1/available-actions/{}", encode(platform)),
            Self::Connections => "/v1/vault/connections".into(),
            Self::Connection { id } => format!("/v1/vault/connections/{}", encode(id)),
            Self::Summary => "/v1/vault/summary".into(),
        }
    }

    /// The methods of the target, as the `Allow` header lists them.
    #[must_use]
    pub const fn allow(&self) -> &'static str {
        match self {
            Self::Sessions => "POST, OPTIONS",
            Self::Connections => "GET, HEAD, POST, OPTIONS",
            Self::Connection { .. } => "GET, HEAD, PATCH, DELETE, OPTIONS",
            _ => READS,
        }
    }

    /// What `method` does to the target; none when it does nothing.
    #[must_use]
    pub fn endpoint(&self, method: &str) -> Option<Endpoint> {
        Some(match (self, method) {
            (Self::Health, "GET" | "HEAD") => Endpoint::Health,
            (Self::Whoami, "GET" | "HEAD") => Endpoint::Whoami,
            (Self::Sessions, "POST") => Endpoint::CreateSession,
            (Self::Connectors, "GET" | "HEAD") => Endpoint::ListConnectors,
            (Self::Actions { .. }, "GET" | "HEAD") => Endpoint::ListActions,
            (Self::Connections, "GET" | "HEAD") => Endpoint::ListConnections,
            (Self::Connections, "POST") => Endpoint::CreateConnection,
            (Self::Connection { .. }, "GET" | "HEAD") => Endpoint::ReadConnection,
            (Self::Connection { .. }, "PATCH") => Endpoint::UpdateConnection,
            (Self::Connection { .. }, "DELETE") => Endpoint::DeleteConnection,
            (Self::Summary, "GET" | "HEAD") => Endpoint::Summary,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Route, Target};

    #[test]
    fn paths_lead_where_the_contract_says() {
        let actions = |platform: &str| Route::To(Target::Actions { platform: platform.into() });
        for (path, expected) in [
            ("/health", Route::To(Target::Health)),
            ("/v1/whoami", Route::To(Target::Whoami)),
            ("/v1/sessions", Route::To(Target::Sessions)),
            ("/v1/available-connectors", Route::To(Target::Connectors)),
            ("/%761/available%2Dconnectors", Route::To(Target::Connectors)),
            ("/v1/available-actions/github", actions("github")),
            ("/v1/available-actions/a%2Fb", actions("a/b")),
            ("/v1/available-actions/%2541", actions("%41")),
            ("/v1/vault/connections", Route::To(Target::Connections)),
            ("/v1/vault/summary", Route::To(Target::Summary)),
            ("/v1/vault/connections/0%41", Route::To(Target::Connection { id: "0A".into() })),
            ("/v1/vault/connections/", Route::UnknownInApi),
            ("/v1/vault/connections/a/b", Route::UnknownInApi),
            ("/v1/vault", Route::UnknownInApi),
            ("/v1/available-actions", Route::UnknownInApi),
            ("/v1/available-actions/", Route::UnknownInApi),
            ("/v1/available-actions/github/", Route::UnknownInApi),
            ("/v1/available-actions/github/x", Route::UnknownInApi),
            ("/v1/available-actions/%zz", Route::UnknownInApi),
            ("/v1/available-actions/%ff", Route::UnknownInApi),
            ("/v1/available-actions/a%00", Route::UnknownInApi),
            ("/v1/available-connectors/", Route::UnknownInApi),
            ("/v1//available-connectors", Route::UnknownInApi),
            ("/v1/Available-Connectors", Route::UnknownInApi),
            ("/v1", Route::UnknownInApi),
            ("/v1/", Route::UnknownInApi),
            ("//v1/available-connectors", Route::Unknown),
            ("/V1/available-connectors", Route::Unknown),
            ("/v1%2Favailable-connectors", Route::Unknown),
            ("/health/", Route::Unknown),
            ("/", Route::Unknown),
            ("", Route::Unknown),
            ("/%zz", Route::Unknown),
        ] {
            assert_eq!(Route::of(path), expected, "{path}");
            if let Route::To(target) = expected {
                assert_eq!(Route::of(&target.path()), Route::To(target), "{path}");
            }
        }
    }
}
