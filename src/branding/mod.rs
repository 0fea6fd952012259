//! Branding: the name, logo, colour and URL of an account's app. End users see it when they connect
//! accounts.

pub mod endpoints;
pub mod rules;
pub mod statements;

use serde::{Deserialize, Deserializer, Serialize};

use crate::http::config::Config;
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// A row of `branding`. Absent members default to the deployment's values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Branding {
    pub name: Option<String>,
    /// A `data:` URL.
    pub logo: Option<String>,
    pub color: Option<String>,
    pub url: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub updated_at: Option<u64>,
}

impl Branding {
    /// Deserializes a column with a row as JSON. A malformed row is treated as absent, because
    /// pages also work without branding.
    pub fn column<'de, D: Deserializer<'de>>(column: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(column)?;
        Ok(text.and_then(|text| json::from_text(&text).ok()).unwrap_or_default())
    }

    /// The branding as JSON for the API.
    pub fn to_json(&self) -> Vec<u8> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Document<'a> {
            name: Option<&'a str>,
            logo: Option<&'a str>,
            color: Option<&'a str>,
            url: Option<&'a str>,
            updated_at: Option<String>,
        }
        let updated_at = self.updated_at.and_then(rfc3339);
        let Self { name, logo, color, url, .. } = self;
        json::bytes(&Document {
            name: name.as_deref(),
            logo: logo.as_deref(),
            color: color.as_deref(),
            url: url.as_deref(),
            updated_at,
        })
    }
}

/// The branding as pages show it.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Appearance<'a> {
    pub name: Option<&'a str>,
    pub logo_url: Option<&'a str>,
    pub color: Option<&'a str>,
    pub url: Option<&'a str>,
}

impl<'a> Appearance<'a> {
    pub fn from_config(config: &'a Config) -> Self {
        Self {
            name: config.app_name.as_deref(),
            logo_url: config.app_logo_url.as_deref(),
            color: config.app_color.as_deref(),
            url: config.app_url.as_deref(),
        }
    }

    /// Adds an account's branding, which takes precedence over the deployment's values.
    pub fn with(self, branding: &'a Branding) -> Self {
        Self {
            name: branding.name.as_deref().or(self.name),
            logo_url: branding.logo.as_deref().or(self.logo_url),
            color: branding.color.as_deref().or(self.color),
            url: branding.url.as_deref().or(self.url),
        }
    }
}
