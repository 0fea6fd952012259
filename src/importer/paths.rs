//! Deserializes the paths of a document.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::entries::{Entries, entries};
use super::scalar::{FirstText, Format, Map, OptionalMap, Raw, StringList, Text};
use super::server::entry::Servers;
use crate::catalog::graphql::GraphqlRequest;
use crate::terms::Method;

/// `paths`, without extension members.
pub struct Paths<F>(pub Vec<(String, PathItem<F>)>);

impl<F> Default for Paths<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

pub struct PathItem<F> {
    /// A reference to the path item that describes the operations.
    pub reference: Option<String>,
    /// The operations with a supported method.
    pub operations: Vec<(Method, Operation<F>)>,
    /// The unsupported methods, whose operations are skipped. Since OpenAPI 3.2, an operation can
    /// have any method.
    pub skipped: Vec<String>,
    /// The common parameters of all operations.
    pub parameters: Raw<F>,
    /// The servers, which override the servers of the document.
    pub servers: Servers,
}

/// The parts of an operation that the catalog uses.
#[derive(Default, Deserialize)]
#[serde(bound = "F: Format", rename_all = "camelCase", default)]
pub struct Operation<F> {
    pub summary: Text<F>,
    pub description: Text<F>,
    /// `operationId`
    #[serde(rename = "operationId")]
    pub id: Text<F>,
    /// The first tag.
    pub tags: FirstText,
    pub deprecated: FirstText,
    pub external_docs: OptionalMap<ExternalDocs>,
    pub parameters: Raw<F>,
    /// The body, since OpenAPI 3.0. In Swagger 2.0, the body is a parameter.
    pub request_body: Raw<F>,
    pub responses: Raw<F>,
    /// The security requirements, which override the requirements of the document.
    pub security: Raw<F>,
    /// The servers, which override the servers of the document.
    pub servers: Servers,
    /// The GraphQL request, if the operation is a field of a GraphQL schema.
    #[serde(rename = "x-connector-vault-graphql")]
    pub graphql: OptionalMap<GraphqlRequest>,
    /// Swagger 2.0 only.
    pub consumes: StringList,
    /// Swagger 2.0 only.
    pub produces: StringList,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ExternalDocs {
    pub url: FirstText,
}

impl<'de, F: Format> Deserialize<'de> for Paths<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathsVisitor<F>(PhantomData<F>);
        impl<'de, F: Format> Visitor<'de> for PathsVisitor<F> {
            type Value = Vec<(String, PathItem<F>)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of paths")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                entries(map, |path| !path.starts_with("x-"))
            }
        }
        deserializer.deserialize_map(PathsVisitor(PhantomData)).map(Self)
    }
}

impl<'de, F: Format> Deserialize<'de> for PathItem<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemVisitor<F>(PhantomData<F>);
        impl<'de, F: Format> Visitor<'de> for ItemVisitor<F> {
            type Value = PathItem<F>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the operations of a path")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                path_item(map)
            }
        }
        deserializer.deserialize_map(ItemVisitor(PhantomData))
    }
}

fn path_item<'de, F: Format, A: MapAccess<'de>>(mut map: A) -> Result<PathItem<F>, A::Error> {
    #[derive(Deserialize)]
    #[serde(field_identifier, rename_all = "lowercase")]
    enum Key {
        Get,
        Post,
        Put,
        Patch,
        Delete,
        Query,
        #[serde(rename = "additionalOperations")]
        Additional,
        Parameters,
        Servers,
        #[serde(rename = "$ref")]
        Reference,
        #[serde(other)]
        Other,
    }
    let mut item = PathItem {
        reference: None,
        operations: Vec::new(),
        skipped: Vec::new(),
        parameters: Raw::default(),
        servers: Servers::default(),
    };
    while let Some(key) = map.next_key()? {
        let method = match key {
            Key::Get => Method::Get,
            Key::Post => Method::Post,
            Key::Put => Method::Put,
            Key::Patch => Method::Patch,
            Key::Delete => Method::Delete,
            Key::Reference => {
                item.reference = map.next_value::<Text<F>>()?.non_blank().map(str::to_owned);
                continue;
            }
            Key::Query => {
                map.next_value::<IgnoredAny>()?;
                item.skipped.push("QUERY".to_owned());
                continue;
            }
            Key::Additional => {
                let operations = map.next_value::<OptionalMap<Entries<IgnoredAny>>>()?;
                let methods = operations.get().into_iter().flat_map(|operations| &operations.0);
                item.skipped.extend(methods.map(|(method, _)| method.clone()));
                continue;
            }
            Key::Parameters => {
                item.parameters = map.next_value()?;
                continue;
            }
            Key::Servers => {
                item.servers = map.next_value()?;
                continue;
            }
            Key::Other => {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
        };
        if item.operations.iter().any(|(given, _)| *given == method) {
            return Err(A::Error::custom(format_args!(
                "duplicate operation `{}`",
                method.as_str()
            )));
        }
        // A `get:` without a value is an operation without a description.
        let operation = map.next_value::<Option<Map<Operation<F>>>>()?.map(|map| map.0);
        item.operations.push((method, operation.unwrap_or_default()));
    }
    Ok(item)
}

/// Selects the paths of a document to import. By default, selects all paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathFilter {
    included: Vec<String>,
    excluded: Vec<String>,
}

impl PathFilter {
    /// Selects paths below these prefixes. A prefix that begins with `!` excludes the paths below it.
    pub fn new(prefixes: &[String]) -> Self {
        let mut filter = Self::default();
        for prefix in prefixes {
            match prefix.strip_prefix('!') {
                Some(prefix) => filter.excluded.push(prefix.to_owned()),
                None => filter.included.push(prefix.clone()),
            }
        }
        filter
    }

    pub fn allows(&self, path: &str) -> bool {
        let is_below = |prefixes: &[String]| prefixes.iter().any(|prefix| is_below(path, prefix));
        (self.included.is_empty() || is_below(&self.included)) && !is_below(&self.excluded)
    }
}

/// Whether a path begins with a prefix that ends at a segment boundary: `/users` is not a prefix of `/userSettings`.
fn is_below(path: &str, prefix: &str) -> bool {
    let is_whole = prefix.ends_with(|c: char| !c.is_alphanumeric() && c != '}' && c != ')');
    path.strip_prefix(prefix).is_some_and(|rest| {
        is_whole || rest.is_empty() || rest.starts_with(['/', '(', ':', '?', '#'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_ends_at_a_segment_boundary() {
        let filter = |prefixes: &[&str]| {
            PathFilter::new(&prefixes.iter().map(|prefix| (*prefix).to_owned()).collect::<Vec<_>>())
        };
        for (prefixes, path, is_allowed) in [
            (&[][..], "/anything", true),
            (&["/me/messages"], "/me/messages", true),
            (&["/me/messages"], "/me/messages/{id}", true),
            (&["/me/messages"], "/me/messages(id)", true),
            (&["/me/messages"], "/me/messagesArchive", false),
            (&["/me/messages"], "/me", false),
            (&["/users."], "/users.list", true),
            (&["/users"], "/users.list", false),
            (&["/drives/{id}"], "/drives/{id}/items", true),
            (&["/drives/{id}"], "/drives/{id}items", false),
            (&["/a", "/b"], "/b/c", true),
            (&["/a", "!/a/b"], "/a/b/c", false),
            (&["/a", "!/a/b"], "/a/bc", true),
            (&["!/a"], "/b", true),
            (&["!/a"], "/a", false),
            (&["/"], "/a", true),
        ] {
            assert_eq!(filter(prefixes).allows(path), is_allowed, "{prefixes:?} {path}");
        }
    }
}
