//! Paths and methods. The Worker reads them, the client writes them.

use super::percent::decode;

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
    /// `/v1/available-connectors`
    Connectors,
    /// `/v1/available-actions/{platform}`
    Actions {
        /// As sent, percent-decoded.
        platform: String,
    },
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
            ["available-connectors"] => Some(Self::Connectors),
            ["available-actions", platform] if !platform.is_empty() => {
                Some(Self::Actions { platform: (*platform).to_owned() })
            }
            _ => None,
        }
    }

    /// The methods of the target, as the `Allow` header lists them.
    #[must_use]
    pub const fn allow(&self) -> &'static str {
        READS
    }

    /// Whether `method` reads the target.
    #[must_use]
    pub fn is_read_by(&self, method: &str) -> bool {
        matches!(method, "GET" | "HEAD")
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
            ("/v1/available-connectors", Route::To(Target::Connectors)),
            ("/%761/available%2Dconnectors", Route::To(Target::Connectors)),
            ("/v1/available-actions/github", actions("github")),
            ("/v1/available-actions/a%2Fb", actions("a/b")),
            ("/v1/available-actions/%2541", actions("%41")),
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
        }
    }
}
