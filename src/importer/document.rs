//! The parts of an `OpenAPI` 2.0, 3.0 or 3.1 document that rows are made from. Everything else is skipped
//! while it is read, so that a document is never held as a tree.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::scalar::{FirstText, Format, Logo, Text, Texts};
use crate::catalog::model::Method;

/// What was read of a document; filled while reading, so that a reader can stop early.
pub struct Document<F> {
    /// The text of `openapi` or `swagger`.
    pub dialect: Option<Text<F>>,
    /// `info`
    pub info: Option<Info<F>>,
    /// `servers`, or `host` of 2.0
    pub host: Option<String>,
    /// `paths`
    pub paths: Option<Paths<F>>,
    /// `components`
    pub components: Option<Components<F>>,
    /// `securityDefinitions` of 2.0
    pub security: Option<Entries<Scheme<F>>>,
}

impl<F> Default for Document<F> {
    fn default() -> Self {
        Self { dialect: None, info: None, host: None, paths: None, components: None, security: None }
    }
}

/// `info`
#[derive(Deserialize)]
#[serde(bound = "F: Format", rename_all = "camelCase", default)]
pub struct Info<F> {
    /// What the API is called.
    pub title: Text<F>,
    /// What the API does.
    pub description: Text<F>,
    /// The version of the description.
    pub version: Text<F>,
    /// Who may use the description, and how.
    pub license: Option<Licence<F>>,
    /// `{ "url": … }`
    #[serde(rename = "x-logo")]
    pub logo: Logo,
    /// Such as `developer_tools`
    #[serde(rename = "x-apisguru-categories")]
    pub categories: Texts,
    /// Free-form
    #[serde(rename = "x-tags")]
    pub tags: Texts,
    /// Such as `amazonaws.com`
    #[serde(rename = "x-providerName")]
    pub provider: Text<F>,
    /// Such as `ec2`
    #[serde(rename = "x-serviceName")]
    pub service: Text<F>,
    /// A maker's own mark, such as `beta`
    #[serde(rename = "x-stability", alias = "x-stability-level", alias = "x-release-status", alias = "x-api-status")]
    pub stability: Texts,
    /// `true` when the API is on its way out
    #[serde(rename = "x-deprecated", alias = "deprecated")]
    pub deprecated: Texts,
    /// `true` in a beta
    #[serde(rename = "x-beta")]
    pub beta: Texts,
    /// `true` in an alpha
    #[serde(rename = "x-alpha")]
    pub alpha: Texts,
}

impl<F> Default for Info<F> {
    fn default() -> Self {
        Self {
            title: Text::default(),
            description: Text::default(),
            version: Text::default(),
            license: None,
            logo: Logo::default(),
            categories: Texts::default(),
            tags: Texts::default(),
            provider: Text::default(),
            service: Text::default(),
            stability: Texts::default(),
            deprecated: Texts::default(),
            beta: Texts::default(),
            alpha: Texts::default(),
        }
    }
}

/// `info.license`
#[derive(Deserialize)]
#[serde(bound = "F: Format", default)]
pub struct Licence<F> {
    /// Such as `Apache 2.0`
    pub name: Text<F>,
    /// SPDX, since 3.1
    pub identifier: Text<F>,
    /// Where its text is
    pub url: Text<F>,
}

impl<F> Default for Licence<F> {
    fn default() -> Self {
        Self { name: Text::default(), identifier: Text::default(), url: Text::default() }
    }
}

/// `components`
#[derive(Deserialize)]
#[serde(bound = "F: Format", rename_all = "camelCase")]
pub struct Components<F> {
    /// Ways to authenticate
    pub security_schemes: Option<Entries<Scheme<F>>>,
    /// Path items to refer to, since 3.1
    pub path_items: Option<Entries<PathItem<F>>>,
}

/// One way to authenticate.
#[derive(Deserialize)]
#[serde(bound = "F: Format", default)]
pub struct Scheme<F> {
    /// Such as `oauth2`
    pub r#type: Text<F>,
}

impl<F> Default for Scheme<F> {
    fn default() -> Self {
        Self { r#type: Text::default() }
    }
}

/// `paths`, without extensions
pub struct Paths<F>(pub Vec<(String, PathItem<F>)>);

/// A map in the order of the document, each key once; values that are null are left out.
pub struct Entries<T>(pub Vec<(String, T)>);

/// The operations of one path.
pub struct PathItem<F> {
    /// Where the operations are described instead.
    pub reference: Option<String>,
    /// Those that are actions.
    pub operations: Vec<(Method, Operation<F>)>,
}

/// What an action's row is made from.
#[derive(Deserialize)]
#[serde(bound = "F: Format", rename_all = "camelCase", default)]
pub struct Operation<F> {
    /// What it does, in a few words.
    pub summary: Text<F>,
    /// Its name in code.
    pub operation_id: Text<F>,
    /// What it belongs to; only the first.
    pub tags: FirstText,
    #[serde(skip)]
    format: PhantomData<F>,
}

impl<F> Default for Operation<F> {
    fn default() -> Self {
        Self { summary: Text::default(), operation_id: Text::default(), tags: FirstText::default(), format: PhantomData }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Field {
    Openapi,
    Swagger,
    Info,
    Servers,
    Host,
    Paths,
    Components,
    SecurityDefinitions,
    #[serde(other)]
    Other,
}

/// Reads a document's fields into `into`; `enough` is asked after each, and ends the reading with an error.
pub struct Reader<'a, F, E> {
    /// What is filled.
    pub into: &'a mut Document<F>,
    /// Whether the rest need not be read.
    pub enough: E,
}

impl<'de, F: Format, E: Fn(&Document<F>) -> bool> serde::de::DeserializeSeed<'de> for Reader<'_, F, E> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: Format, E: Fn(&Document<F>) -> bool> Visitor<'de> for Reader<'_, F, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an OpenAPI document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let document = self.into;
        while let Some(field) = map.next_key()? {
            match field {
                Field::Openapi | Field::Swagger => once(&mut document.dialect, "openapi", map.next_value()?)?,
                Field::Info => once(&mut document.info, "info", map.next_value()?)?,
                Field::Servers => document.host = document.host.take().or(map.next_value::<FirstServer<F>>()?.0),
                Field::Host => document.host = map.next_value::<Text<F>>()?.filled().map(str::to_owned).or(document.host.take()),
                Field::Paths => {
                    if let Some(paths) = map.next_value::<Option<Paths<F>>>()? {
                        once(&mut document.paths, "paths", paths)?;
                    }
                }
                Field::Components => document.components = map.next_value()?,
                Field::SecurityDefinitions => document.security = map.next_value()?,
                Field::Other => drop(map.next_value::<IgnoredAny>()?),
            }
            if (self.enough)(document) {
                return Err(A::Error::custom("enough was read"));
            }
        }
        Ok(())
    }
}

fn once<T, E: serde::de::Error>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    if slot.replace(value).is_some() { Err(E::duplicate_field(name)) } else { Ok(()) }
}

/// The URL of the first server.
struct FirstServer<F>(Option<String>, PhantomData<F>);

impl<'de, F: Format> Deserialize<'de> for FirstServer<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(bound = "F: Format", default)]
        struct Server<F> {
            url: Text<F>,
        }
        impl<F> Default for Server<F> {
            fn default() -> Self {
                Self { url: Text::default() }
            }
        }
        let servers = Option::<Vec<Server<F>>>::deserialize(deserializer)?.unwrap_or_default();
        Ok(Self(servers.iter().find_map(|server| server.url.filled()).map(str::to_owned), PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Vec<(String, T)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                entries(map, |_| true)
            }
        }
        deserializer.deserialize_map(EntriesVisitor(PhantomData)).map(Self)
    }
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

fn entries<'de, T: Deserialize<'de>, A: MapAccess<'de>>(mut map: A, wanted: fn(&str) -> bool) -> Result<Vec<(String, T)>, A::Error> {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    while let Some(key) = map.next_key::<String>()? {
        if !wanted(&key) {
            map.next_value::<IgnoredAny>()?;
            continue;
        }
        if !seen.insert(key.clone()) {
            return Err(A::Error::custom(format_args!("duplicate key `{}`", super::text::verbatim(&key, 100))));
        }
        if let Some(value) = map.next_value::<Option<T>>()? {
            entries.push((key, value));
        }
    }
    Ok(entries)
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
        #[serde(rename = "$ref")]
        Reference,
        #[serde(other)]
        Other,
    }
    let mut item = PathItem { reference: None, operations: Vec::new() };
    while let Some(key) = map.next_key()? {
        let method = match key {
            Key::Get => Method::Get,
            Key::Post => Method::Post,
            Key::Put => Method::Put,
            Key::Patch => Method::Patch,
            Key::Delete => Method::Delete,
            Key::Reference => {
                item.reference = map.next_value::<Text<F>>()?.filled().map(str::to_owned);
                continue;
            }
            Key::Other => {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
        };
        if item.operations.iter().any(|(given, _)| *given == method) {
            return Err(A::Error::custom(format_args!("duplicate operation `{}`", method.as_str())));
        }
        // `get:` with nothing behind it is an operation about which nothing more is said.
        item.operations.push((method, map.next_value::<Option<Operation<F>>>()?.unwrap_or_default()));
    }
    Ok(item)
}
