//! Converts a document into a connector's row.

use sha2::{Digest, Sha256};

use super::document::Document;
use super::name::Names;
use super::overrides::Override;
use super::providers::provider::Provider;
use super::text::{self, MAX_DESCRIPTION, MAX_NAME};
use super::{auth, category, hash, image, version};
use crate::catalog::action::unit::{DeflatedUnit, Units};
use crate::catalog::detail::{AuthMethod, ConnectorDetail, Kind};
use crate::catalog::key::ConnectorKey;
use crate::catalog::logos;
use crate::catalog::model::{Action, Connector, Status};
use crate::catalog::write::Platform;

/// The maximum length of a version, in characters.
pub const MAX_VERSION: usize = 100;

/// A connector without a platform name, which is assigned later.
#[derive(Debug, Clone)]
pub struct Draft {
    title: String,
    description: String,
    /// The API version in the document.
    pub version: String,
    status: Status,
    category: String,
    /// The known category of the service, which overrides the category of the document.
    service_category: Option<&'static str>,
    tags: Vec<String>,
    /// An `https` URL, or a path on the service's site.
    logo: Option<String>,
    pub detail: ConnectorDetail,
    /// The actions, without a platform name.
    pub actions: Vec<Action>,
    /// The details of the actions.
    pub units: Vec<DeflatedUnit>,
    /// The names of the document's security schemes, each with the kind of its auth method.
    pub schemes: Vec<(String, Kind)>,
}

impl Draft {
    /// Creates a draft from a document.
    pub fn new<F>(
        document: &Document<F>,
        names: &Names,
        detail: ConnectorDetail,
        actions: Vec<Action>,
    ) -> Self {
        let Some(info) = &document.info else {
            return Self { detail, actions, ..Self::empty() };
        };
        let (category, tags) = category::classify(info);
        Self {
            title: text::line(info.title.as_str(), MAX_NAME),
            description: text::line(info.description.as_str(), MAX_DESCRIPTION),
            version: text::verbatim(&version::stated_version(info.version.as_str()), MAX_VERSION),
            status: version::status(info),
            category,
            service_category: category::service::category(info.provider.as_str(), names.shortest()),
            tags,
            logo: info.logo.0.as_deref().and_then(image::logo),
            detail,
            actions,
            units: Vec::new(),
            schemes: Vec::new(),
        }
    }

    /// A draft for a platform without a document.
    pub fn empty() -> Self {
        Self {
            title: String::new(),
            description: String::new(),
            version: String::new(),
            status: Status::GenerallyAvailable,
            category: category::UNKNOWN.to_owned(),
            service_category: None,
            tags: Vec::new(),
            logo: None,
            detail: ConnectorDetail::default(),
            actions: Vec::new(),
            units: Vec::new(),
            schemes: Vec::new(),
        }
    }

    /// A hash of all data that the rows are derived from. Equivalent documents have equal hashes.
    pub fn content(&self) -> u64 {
        let mut digest = Sha256::new();
        let mut put = |text: &str| {
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        };
        for text in [&self.title, &self.description, &self.version, &self.category]
            .into_iter()
            .chain(&self.tags)
            .chain(&self.logo)
        {
            put(text);
        }
        // Ignore the licence: copies of a document often differ only in it.
        let detail = ConnectorDetail { license: None, ..self.detail.clone() };
        put(&serde_json::to_string(&detail).unwrap_or_default());
        put(&format!("{:?}", self.status));
        for action in &self.actions {
            for text in [action.method.as_str(), &action.title, &action.key, &action.model_name] {
                put(text);
            }
        }
        hash::number(&digest.finalize())
    }

    /// Creates the platform from the draft, its names, known facts and the operator's overrides.
    /// Passes each fault of the overrides to `fault`. [`assign_ids`] sets the `id` of the connector
    /// later.
    pub fn finish(
        mut self,
        platform: String,
        name: String,
        known: Option<&Provider>,
        overrides: &Override,
        fault: &mut dyn FnMut(String),
    ) -> Platform {
        if let Some(category) = self.service_category {
            category.clone_into(&mut self.category);
        }
        if let Some(known) = known {
            if let Some(description) = &known.description {
                self.description.clone_from(description);
            }
            if let Some(category) = &known.category {
                self.category.clone_from(category);
            }
            self.status = known.status.unwrap_or(self.status);
            if let Some(version) = &known.version {
                self.version.clone_from(version);
            }
            self.detail = known.complete(self.detail);
            if let Some(logo) = &known.logo {
                self.logo = Some(logos::path(logo));
            }
        }
        self.detail = overrides.facts.clone().apply(self.detail, fault);
        let ConnectorDetail { auth_methods, headers, .. } = &self.detail;
        let schemes = auth::methods_by_scheme(&self.schemes, auth_methods, headers);
        let platform_version = version::platform_version(&self.version);
        let image = overrides
            .image
            .clone()
            .or(self.logo)
            .unwrap_or_else(|| image::monogram(&name, &platform));
        let mut actions = self.actions;
        for action in &mut actions {
            action.platform.clone_from(&platform);
        }
        let connector = Connector {
            id: 0,
            name,
            key: ConnectorKey { platform: &platform, platform_version: &platform_version }
                .to_string(),
            platform,
            platform_version,
            status: overrides.status.unwrap_or(self.status),
            description: overrides.description.clone().unwrap_or(self.description),
            category: overrides.category.clone().unwrap_or(self.category),
            image,
            tags: overrides.tags.clone().unwrap_or(self.tags),
            oauth: self.detail.auth_methods.iter().any(AuthMethod::is_oauth2),
            tools: u32::try_from(actions.len()).unwrap_or(u32::MAX),
            version: self.version,
            active: overrides.active.unwrap_or(true),
        };
        Platform {
            connector,
            detail: self.detail,
            authkit: overrides.authkit,
            aliases: Vec::new(),
            actions,
            units: Units { schemes, units: self.units },
        }
    }
}

/// Sets the `id` of every connector: a hash of its key, so that it stays stable across imports. On
/// a hash collision, the alphabetically later key is hashed again.
pub fn assign_ids<'a>(connectors: impl Iterator<Item = &'a mut Connector>) {
    let mut connectors: Vec<&mut Connector> = connectors.collect();
    connectors.sort_by(|a, b| a.key.cmp(&b.key));
    let mut taken = std::collections::HashSet::new();
    for connector in connectors {
        let mut id = hash::number(connector.key.as_bytes());
        while id == 0 || !taken.insert(id) {
            id = hash::number(&id.to_be_bytes());
        }
        connector.id = id;
    }
}
