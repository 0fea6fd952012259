//! The parts of an `OpenAPI` 2.0 or 3.0 to 3.2 document from which the catalog is built. Schemas
//! stay unparsed JSON until they are converted, and unused parts are skipped during
//! deserialization, so that a document is never in memory as a tree.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::auth::scheme::Scheme;
use super::entries::Entries;
use super::paths::{ExternalDocs, PathItem, Paths};
use super::scalar::{FirstText, Format, Logo, Map, OptionalMap, Raw, StringList, Text};
use super::server::entry::Servers;

/// A document. It is deserialized member by member, so that the members before a fault are
/// available.
#[derive(Default)]
pub struct Document<F> {
    /// The value of `openapi` or `swagger`.
    pub dialect: Option<Text<F>>,
    pub info: Option<Info<F>>,
    pub servers: Option<Servers>,
    /// Swagger 2.0 only.
    pub host: Option<FirstText>,
    /// Swagger 2.0 only.
    pub base_path: Option<FirstText>,
    /// `schemes` in Swagger 2.0
    pub protocols: Option<StringList>,
    /// `externalDocs`
    pub documentation: Option<OptionalMap<ExternalDocs>>,
    pub paths: Option<Paths<F>>,
    pub components: Option<OptionalMap<Components<F>>>,
    /// `securityDefinitions` in Swagger 2.0
    pub security: Option<OptionalMap<Schemes>>,
    /// `security`
    pub requirements: Raw<F>,
    /// Swagger 2.0 only.
    pub definitions: Raw<F>,
    /// Swagger 2.0 only.
    pub parameters: Raw<F>,
    /// Swagger 2.0 only.
    pub responses: Raw<F>,
    /// Swagger 2.0 only.
    pub consumes: StringList,
    /// Swagger 2.0 only.
    pub produces: StringList,
    /// The content of [other files](super::parts) of the document
    pub parts: Raw<F>,
}

/// Maps names to security schemes.
pub type Schemes = Entries<OptionalMap<Scheme>>;

impl<F> Document<F> {
    /// The `host`, or the URL of the first server.
    pub fn server(&self) -> Option<&str> {
        let servers = self.servers.iter().flat_map(|servers| &servers.list);
        let mut urls = servers.map(|server| server.url.as_str());
        let host = self.host.as_ref().and_then(FirstText::non_blank);
        host.or_else(|| urls.find(|url| !url.trim().is_empty()))
    }

    pub fn components(&self) -> Option<&Components<F>> {
        self.components.as_ref().and_then(OptionalMap::get)
    }

    /// All security schemes, each with its name.
    pub fn schemes(&self) -> impl Iterator<Item = (&str, &Scheme)> {
        let shared = self.components().map(|components| &components.security_schemes);
        let declared = shared.into_iter().chain(&self.security).filter_map(OptionalMap::get);
        let schemes = declared.flat_map(|schemes| &schemes.0);
        schemes.filter_map(|(name, scheme)| Some((name.as_str(), scheme.get()?)))
    }

    /// The names of malformed parts, which were skipped.
    pub fn skipped_parts(&self) -> impl Iterator<Item = &'static str> {
        let shared = self.components().map(|components| &components.security_schemes);
        let malformed = [
            ("servers", self.servers.as_ref().is_some_and(|servers| servers.is_malformed)),
            ("components", self.components.as_ref().is_some_and(OptionalMap::is_malformed)),
            ("components/securitySchemes", shared.is_some_and(OptionalMap::is_malformed)),
            ("securityDefinitions", self.security.as_ref().is_some_and(OptionalMap::is_malformed)),
        ];
        malformed.into_iter().filter(|(_, malformed)| *malformed).map(|(name, _)| name)
    }
}

#[derive(Default, Deserialize)]
#[serde(bound = "F: Format", rename_all = "camelCase", default)]
pub struct Info<F> {
    pub title: Text<F>,
    pub description: FirstText,
    pub version: Text<F>,
    pub license: Licence,
    /// `{ "url": … }`
    #[serde(rename = "x-logo")]
    pub logo: Logo,
    /// For example, `developer_tools`
    #[serde(rename = "x-apisguru-categories")]
    pub categories: StringList,
    #[serde(rename = "x-tags")]
    pub tags: StringList,
    /// For example, `amazonaws.com`
    #[serde(rename = "x-providerName")]
    pub provider: FirstText,
    /// For example, `ec2`
    #[serde(rename = "x-serviceName")]
    pub service: FirstText,
    /// The AWS service name in signatures, such as `ses`
    #[serde(rename = "x-aws-signingName")]
    pub signing_name: FirstText,
    // Documents use several extensions for the maturity of the API.
    #[serde(rename = "x-stability")]
    stability: StringList,
    #[serde(rename = "x-stability-level")]
    stability_level: StringList,
    #[serde(rename = "x-release-status")]
    release_status: StringList,
    #[serde(rename = "x-api-status")]
    api_status: StringList,
    /// `true` if the API is being phased out
    #[serde(rename = "x-deprecated")]
    x_deprecated: StringList,
    /// `x-deprecated` without its prefix
    deprecated: StringList,
    /// `true` in a beta
    #[serde(rename = "x-beta")]
    pub beta: StringList,
    /// `true` in an alpha
    #[serde(rename = "x-alpha")]
    pub alpha: StringList,
}

impl<F> Info<F> {
    /// The values of the extensions for the maturity of the API.
    pub fn stability(&self) -> impl Iterator<Item = &str> {
        let extensions =
            [&self.stability, &self.stability_level, &self.release_status, &self.api_status];
        extensions.into_iter().flat_map(|texts| &texts.0).map(String::as_str)
    }

    /// The values of the extensions for whether the API is being phased out.
    pub fn deprecated(&self) -> impl Iterator<Item = &str> {
        let extensions = [&self.x_deprecated, &self.deprecated];
        extensions.into_iter().flat_map(|texts| &texts.0).map(String::as_str)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LicenceMap {
    name: FirstText,
    identifier: FirstText,
    url: FirstText,
}

/// `info.license`. A plain string counts as the name.
#[derive(Debug, Default)]
pub struct Licence {
    /// For example, `Apache 2.0`
    pub name: FirstText,
    /// The SPDX identifier, since OpenAPI 3.1
    pub identifier: FirstText,
    /// The URL of the licence text
    pub url: FirstText,
}

impl<'de> Deserialize<'de> for Licence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match OptionalMap::deserialize(deserializer)? {
            OptionalMap::Given(LicenceMap { name, identifier, url }) => {
                Self { name, identifier, url }
            }
            OptionalMap::Text(name) => Self { name: FirstText(Some(name)), ..Self::default() },
            OptionalMap::Absent | OptionalMap::Other => Self::default(),
        })
    }
}

#[derive(Deserialize)]
#[serde(bound = "F: Format", rename_all = "camelCase")]
pub struct Components<F> {
    #[serde(default)]
    pub security_schemes: OptionalMap<Schemes>,
    /// Available since OpenAPI 3.1.
    pub path_items: Option<Entries<PathItem<F>>>,
    #[serde(default)]
    pub schemas: Raw<F>,
    #[serde(default)]
    pub parameters: Raw<F>,
    #[serde(default)]
    pub request_bodies: Raw<F>,
    /// Available since OpenAPI 3.2.
    #[serde(default)]
    pub media_types: Raw<F>,
    #[serde(default)]
    pub responses: Raw<F>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Field {
    Openapi,
    Swagger,
    Info,
    Servers,
    Host,
    BasePath,
    Schemes,
    ExternalDocs,
    Paths,
    Components,
    SecurityDefinitions,
    Security,
    Definitions,
    Parameters,
    Responses,
    Consumes,
    Produces,
    #[serde(rename = "x-connector-vault-parts")]
    Parts,
    #[serde(other)]
    Other,
}

/// Deserializes a document member by member, so that the members before a fault are available.
pub struct Reader<'a, F>(pub &'a mut Document<F>);

impl<'de, F: Format> serde::de::DeserializeSeed<'de> for Reader<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: Format> Visitor<'de> for Reader<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an OpenAPI document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let document = self.0;
        while let Some(field) = map.next_key()? {
            match field {
                Field::Openapi | Field::Swagger => {
                    once(&mut document.dialect, "openapi", map.next_value()?)?;
                }
                Field::Info => {
                    let Map(info) = map.next_value()?;
                    once(&mut document.info, "info", info)?;
                }
                Field::Servers => once(&mut document.servers, "servers", map.next_value()?)?,
                Field::Host => once(&mut document.host, "host", map.next_value()?)?,
                Field::BasePath => once(&mut document.base_path, "basePath", map.next_value()?)?,
                Field::Schemes => once(&mut document.protocols, "schemes", map.next_value()?)?,
                Field::ExternalDocs => {
                    once(&mut document.documentation, "externalDocs", map.next_value()?)?;
                }
                Field::Paths => {
                    once(
                        &mut document.paths,
                        "paths",
                        map.next_value::<Option<_>>()?.unwrap_or_default(),
                    )?;
                }
                Field::Components => {
                    once(&mut document.components, "components", map.next_value()?)?;
                }
                Field::SecurityDefinitions => {
                    once(&mut document.security, "securityDefinitions", map.next_value()?)?;
                }
                Field::Security => document.requirements = map.next_value()?,
                Field::Definitions => document.definitions = map.next_value()?,
                Field::Parameters => document.parameters = map.next_value()?,
                Field::Responses => document.responses = map.next_value()?,
                Field::Consumes => document.consumes = map.next_value()?,
                Field::Produces => document.produces = map.next_value()?,
                Field::Parts => document.parts = map.next_value()?,
                Field::Other => drop(map.next_value::<IgnoredAny>()?),
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
