//! The parts of an `OpenAPI` 2.0, 3.0 or 3.1 document that rows are made from. Everything else is skipped
//! while it is read, so that a document is never held as a tree.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::paths::{Entries, PathItem, Paths};
use super::scalar::{Format, Logo, Text, Texts};

/// What was read of a document; filled while reading, so that a reader can stop early.
#[derive(Default)]
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

/// `info`
#[derive(Default, Deserialize)]
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
    #[serde(
        rename = "x-stability",
        alias = "x-stability-level",
        alias = "x-release-status",
        alias = "x-api-status"
    )]
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

/// `info.license`
#[derive(Default, Deserialize)]
#[serde(bound = "F: Format", default)]
pub struct Licence<F> {
    /// Such as `Apache 2.0`
    pub name: Text<F>,
    /// SPDX, since 3.1
    pub identifier: Text<F>,
    /// Where its text is
    pub url: Text<F>,
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
#[derive(Default, Deserialize)]
#[serde(bound = "F: Format", default)]
pub struct Scheme<F> {
    /// Such as `oauth2`
    pub r#type: Text<F>,
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

impl<'de, F: Format, E: Fn(&Document<F>) -> bool> serde::de::DeserializeSeed<'de>
    for Reader<'_, F, E>
{
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
                Field::Openapi | Field::Swagger => {
                    once(&mut document.dialect, "openapi", map.next_value()?)?;
                }
                Field::Info => once(&mut document.info, "info", map.next_value()?)?,
                Field::Servers => {
                    document.host = document.host.take().or(map.next_value::<FirstServer<F>>()?.0);
                }
                Field::Host => {
                    document.host = map
                        .next_value::<Text<F>>()?
                        .filled()
                        .map(str::to_owned)
                        .or(document.host.take());
                }
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

fn once<T, E: serde::de::Error>(
    slot: &mut Option<T>,
    name: &'static str,
    value: T,
) -> Result<(), E> {
    if slot.replace(value).is_some() { Err(E::duplicate_field(name)) } else { Ok(()) }
}

/// The URL of the first server.
struct FirstServer<F>(Option<String>, PhantomData<F>);

impl<'de, F: Format> Deserialize<'de> for FirstServer<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(bound = "F: Format", default)]
        struct Server<F> {
            url: Text<F>,
        }
        let servers = Option::<Vec<Server<F>>>::deserialize(deserializer)?.unwrap_or_default();
        Ok(Self(
            servers.iter().find_map(|server| server.url.filled()).map(str::to_owned),
            PhantomData,
        ))
    }
}
