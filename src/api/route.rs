//! From a path and a method to an endpoint.

use std::borrow::Cow;

use super::endpoint::{Access, Endpoint, Keyed, Open, REST, is_parameter};
use crate::percent::decode;
use crate::terms::Method;

/// The methods of a read-only path. A preflight of an unknown path below `/v1` gets them too, since only a valid key
/// learns more.
pub const READS: &str = "GET, HEAD, OPTIONS";

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// To a path that has endpoints.
    To(Resource),
    /// Nowhere, below `/v1`. Only the holder of a valid key learns this.
    UnknownInApi,
    /// Nowhere, and not below `/v1`.
    Unknown,
}

/// A path that has endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    path: &'static str,
    arguments: Vec<String>,
}

impl Route {
    /// Finds where a percent-encoded path leads. Each segment is decoded once, then matched.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments: Vec<_> = path.split('/').map(segment).collect();
        let in_api = matches!(segments.first(), Some(Some(first)) if first == "v1");
        match Resource::of(path, &segments) {
            Some(resource) => Self::To(resource),
            None if in_api => Self::UnknownInApi,
            None => Self::Unknown,
        }
    }
}

/// Decodes one path segment. Returns `None` when it is badly encoded or contains NUL.
fn segment(encoded: &str) -> Option<Cow<'_, str>> {
    decode(encoded).filter(|decoded| !decoded.contains('\0'))
}

/// The values of the parameters of the path `template`; `None` as a segment stands for one that can't be decoded. Returns
/// `None` when the segments, those of `path`, do not match it.
fn arguments(template: &str, path: &str, segments: &[Option<Cow<'_, str>>]) -> Option<Vec<String>> {
    let mut arguments = Vec::new();
    let mut segments = segments.iter();
    for (nth, expected) in template.split('/').skip(1).enumerate() {
        if expected == REST {
            arguments.push(path.splitn(nth.saturating_add(1), '/').nth(nth)?.to_owned());
            return Some(arguments);
        }
        let segment = segments.next()?.as_ref()?;
        if is_parameter(expected) && !segment.is_empty() {
            arguments.push(segment.clone().into_owned());
        } else if expected != segment {
            return None;
        }
    }
    segments.next().is_none().then_some(arguments)
}

impl Resource {
    fn of(encoded: &str, segments: &[Option<Cow<'_, str>>]) -> Option<Self> {
        let matches = Endpoint::ALL.iter().filter_map(|endpoint| {
            let path = endpoint.facts().path;
            arguments(path, encoded, segments).map(|arguments| Self { path, arguments })
        });
        // A segment that is written out comes before a parameter in the same place.
        matches.min_by_key(|resource| resource.arguments.len())
    }

    /// The endpoints of this path.
    fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        Endpoint::ALL.iter().copied().filter(|endpoint| endpoint.facts().path == self.path)
    }

    /// The endpoint for `method`. Returns `None` when the path does not have that method.
    #[must_use]
    pub fn endpoint(&self, method: &str) -> Option<Endpoint> {
        let method = if method == "HEAD" { "GET" } else { method };
        self.endpoints().find(|endpoint| endpoint.facts().method.as_str() == method)
    }

    /// The open endpoint of this path. Returns `None` when it has none.
    #[must_use]
    pub fn open(&self) -> Option<Open> {
        self.endpoints().find_map(|endpoint| match endpoint {
            Endpoint::Open(open) => Some(open),
            Endpoint::Keyed(_) => None,
        })
    }

    /// Whether an endpoint of this path has a property.
    #[must_use]
    pub fn has(&self, property: impl Fn(Keyed) -> bool) -> bool {
        self.endpoints()
            .any(|endpoint| matches!(endpoint, Endpoint::Keyed(keyed) if property(keyed)))
    }

    /// Whether no endpoint of this path needs more than [`Access::Catalog`].
    #[must_use]
    pub fn is_catalog(&self) -> bool {
        self.endpoints().all(|endpoint| match endpoint {
            Endpoint::Open(_) => true,
            Endpoint::Keyed(keyed) => keyed.access() == Access::Catalog,
        })
    }

    /// The values of the path's parameters, in order.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// The path's methods, as the value of the `Allow` header.
    #[must_use]
    pub fn allow(&self) -> String {
        let mut allow = String::new();
        for method in Method::ALL {
            if self.endpoint(method.as_str()).is_some() {
                allow.push_str(method.as_str());
                allow.push_str(if method == Method::Get { ", HEAD, " } else { ", " });
            }
        }
        allow.push_str("OPTIONS");
        allow
    }
}
