//! The router: finds the endpoint of a path and a method.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::endpoint::{Access, Endpoint, Keyed, Open, REST, is_parameter};
use crate::terms::Method;
use crate::util::nearest::nearest;
use crate::util::percent::decode;

/// The methods of a read-only path. Also returned for a preflight of an unknown path below `/v1`,
/// because only a caller with a valid key may learn that the path is unknown.
pub const READ_METHODS: &str = "GET, HEAD, OPTIONS";

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// A path that has endpoints.
    Resource(Resource),
    /// An unknown path below `/v1`. Only a caller with a valid key learns this.
    UnknownInApi,
    /// Any other unknown path.
    Unknown,
}

/// A path that has endpoints, with the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    template: &'static Template,
    arguments: Vec<String>,
}

/// A path in the table of endpoints, split once, because every request is compared with all paths.
#[derive(Debug, PartialEq, Eq)]
struct Template {
    path: &'static str,
    segments: Vec<Segment>,
    endpoints: Vec<Endpoint>,
}

/// A segment of a path.
#[derive(Debug, PartialEq, Eq)]
enum Segment {
    Literal(&'static str),
    /// Any string: the value of a parameter.
    Parameter,
    /// The rest of the path: the value of a parameter.
    Rest,
}

static TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    let mut templates: Vec<Template> = Vec::new();
    for endpoint in Endpoint::ALL.iter().copied() {
        let path = endpoint.spec().path;
        match templates.iter_mut().find(|template| template.path == path) {
            Some(template) => template.endpoints.push(endpoint),
            None => templates.push(Template::new(path, endpoint)),
        }
    }
    templates
});

impl Template {
    fn new(path: &'static str, endpoint: Endpoint) -> Self {
        let segments = path.split('/').skip(1).map(|segment| match segment {
            REST => Segment::Rest,
            name if is_parameter(name) => Segment::Parameter,
            text => Segment::Literal(text),
        });
        Self { path, segments: segments.collect(), endpoints: vec![endpoint] }
    }

    /// The values of the parameters. Returns `None` when the path does not match. `segments` are
    /// the decoded segments of `path`; `None` means that a segment can't be decoded.
    fn arguments(&self, path: &str, segments: &[Option<Cow<'_, str>>]) -> Option<Vec<String>> {
        let mut arguments = Vec::new();
        let mut segments = segments.iter();
        for (index, expected) in self.segments.iter().enumerate() {
            if *expected == Segment::Rest {
                // If no slash precedes the rest, the rest is empty.
                let rest = path.splitn(index.saturating_add(1), '/').nth(index).unwrap_or_default();
                arguments.push(rest.to_owned());
                return Some(arguments);
            }
            let segment = segments.next()?.as_ref()?;
            match expected {
                Segment::Literal(text) if text == segment => {}
                Segment::Parameter if !segment.is_empty() => arguments.push(segment.to_string()),
                _ => return None,
            }
        }
        segments.next().is_none().then_some(arguments)
    }
}

impl Route {
    /// Finds the target of a percent-encoded path. Each segment is decoded once, then matched.
    pub fn parse(path: &str) -> Self {
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments: Vec<_> = path.split('/').map(decode_segment).collect();
        let in_api = matches!(segments.first(), Some(Some(first)) if first == "v1");
        match Resource::parse(path, &segments) {
            Some(resource) => Self::Resource(resource),
            None if in_api => Self::UnknownInApi,
            None => Self::Unknown,
        }
    }
}

/// The known path that an unknown path resembles: with `/v1` or `/v1/vault` added, with another
/// number of slashes, or with other spellings.
pub fn nearest_path(path: &str) -> Option<String> {
    let sent: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    if sent.iter().any(|encoded| decode_segment(encoded).is_none()) {
        return None;
    }
    let has_version = sent.first().is_some_and(|first| first.eq_ignore_ascii_case("v1"));
    let sent = sent.get(usize::from(has_version)..)?;
    let candidates = TEMPLATES.iter().filter_map(|template| {
        let segments = template.segments.strip_prefix(&[Segment::Literal("v1")])?;
        let inner = segments.strip_prefix(&[Segment::Literal("vault")]);
        let equal_count = [Some(segments), inner]
            .into_iter()
            .flatten()
            .find_map(|it| count_equal_segments(it, sent));
        Some((equal_count?, template.path))
    });
    let candidates: Vec<_> = candidates.collect();
    let (most, first) = candidates.iter().max_by_key(|(equal_count, _)| *equal_count)?;
    let best =
        candidates.iter().filter(|(equal_count, _)| equal_count == most).map(|(_, path)| *path);
    Some(nearest(path, best, 1).pop().unwrap_or_else(|| (*first).to_owned()))
}

/// Counts the equal segments. Returns `None` if a segment does not resemble the expected one.
fn count_equal_segments(expected: &[Segment], sent: &[&str]) -> Option<usize> {
    let mut equal_count = 0_usize;
    let is_alike = |(expected, sent): (&Segment, &&str)| match expected {
        Segment::Literal(text) if text.eq_ignore_ascii_case(sent) => {
            equal_count = equal_count.saturating_add(1);
            true
        }
        Segment::Literal(text) => !nearest(sent, [*text], 1).is_empty(),
        Segment::Parameter | Segment::Rest => true,
    };
    let is_alike = expected.len() == sent.len() && expected.iter().zip(sent).all(is_alike);
    (is_alike && !sent.is_empty()).then_some(equal_count)
}

/// Decodes a path segment. Returns `None` when its encoding is invalid or it contains NUL.
fn decode_segment(encoded: &str) -> Option<Cow<'_, str>> {
    decode(encoded).filter(|decoded| !decoded.contains('\0'))
}

impl Resource {
    fn parse(encoded: &str, segments: &[Option<Cow<'_, str>>]) -> Option<Self> {
        let matches = TEMPLATES.iter().filter_map(|template| {
            let arguments = template.arguments(encoded, segments)?;
            Some(Self { template, arguments })
        });
        // A literal segment takes precedence over a parameter.
        matches.min_by_key(|resource| resource.arguments.len())
    }

    /// The endpoints of this path.
    fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        self.template.endpoints.iter().copied()
    }

    /// The endpoint for `method`. Returns `None` when the path does not support it.
    pub fn endpoint(&self, method: &str) -> Option<Endpoint> {
        let method = if method == "HEAD" { "GET" } else { method };
        self.endpoints().find(|endpoint| endpoint.spec().method.as_str() == method)
    }

    /// The open endpoint of this path. Returns `None` when it has none.
    pub fn open(&self) -> Option<Open> {
        self.endpoints().find_map(|endpoint| match endpoint {
            Endpoint::Open(open) => Some(open),
            Endpoint::Keyed(_) => None,
        })
    }

    /// Whether an endpoint of this path satisfies `property`.
    pub fn has(&self, property: impl Fn(Keyed) -> bool) -> bool {
        self.endpoints()
            .any(|endpoint| matches!(endpoint, Endpoint::Keyed(keyed) if property(keyed)))
    }

    /// Whether every endpoint of this path is public or needs only [`Access::Catalog`].
    pub fn is_catalog(&self) -> bool {
        self.endpoints().all(|endpoint| match endpoint {
            Endpoint::Open(_) => true,
            Endpoint::Keyed(keyed) => keyed.access() == Access::Catalog,
        })
    }

    /// The values of the path's parameters, in order.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// The path's methods, as the value of the `Allow` header.
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
