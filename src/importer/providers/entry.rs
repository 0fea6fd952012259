//! Deserializes and validates the entries of `providers.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::provider::Provider;
use crate::catalog::detail::{ConnectorDetail, Pagination, Parameters, RejectedWhen};
use crate::catalog::model::Status;
use crate::importer::auth_entry::AuthEntry;
use crate::importer::connect_facts::{AccountEntry, ConnectFacts};
use crate::importer::connector::MAX_VERSION;
use crate::importer::{category, platform, text};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The entries, by platform.
    #[serde(default)]
    pub platforms: BTreeMap<String, Entry>,
}

/// The table of a platform.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Entry {
    name: String,
    description: Option<String>,
    category: Option<String>,
    logo: Option<String>,
    status: Option<Status>,
    version: Option<String>,
    #[serde(default)]
    documents: Vec<String>,
    documentation: Option<String>,
    #[serde(default)]
    servers: Vec<String>,
    headers: Option<Parameters>,
    verify: Option<String>,
    verify_body: Option<Value>,
    rejected: Option<Vec<u16>>,
    rejected_when: Option<RejectedWhen>,
    account: Option<AccountEntry>,
    pagination: Option<Vec<Pagination>>,
    #[serde(default)]
    auth: Vec<AuthEntry>,
}

impl Entry {
    /// Converts the entry of `platform`. Passes each fault to `fault`.
    pub fn provider(self, platform: &str, fault: &mut dyn FnMut(String)) -> Provider {
        let Self {
            name,
            description,
            category,
            logo,
            status,
            version,
            documents,
            servers,
            documentation,
            headers,
            verify,
            verify_body,
            rejected,
            rejected_when,
            account,
            pagination,
            auth,
        } = self;
        if !platform::is_valid(platform) {
            fault("the name must be 1–64 of a-z, 0-9 and -".to_owned());
        }
        for (what, text, max) in [
            ("name", Some(&name), text::MAX_NAME),
            ("description", description.as_ref(), text::MAX_DESCRIPTION),
            ("category", category.as_ref(), category::MAX_CHARS),
            ("version", version.as_ref(), MAX_VERSION),
        ] {
            if text.is_some_and(|text| !text::is_line(text, max)) {
                fault(format!("`{what}` must be one line of 1 to {max} characters"));
            }
        }
        let is_slug = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if logo.as_deref().is_some_and(|logo| logo.is_empty() || !logo.chars().all(is_slug)) {
            fault("`logo` must be a slug of simple-icons: a-z, 0-9 and _".to_owned());
        }
        for method in &auth {
            if !method.has_source() {
                fault(format!(
                    "the method `{}`: `source` and `read` say where and on which day it was read",
                    method.id
                ));
            }
        }
        let facts = ConnectFacts {
            documentation,
            servers: Some(servers),
            headers,
            verify,
            verify_body,
            rejected,
            rejected_when,
            account,
            pagination,
            auth: Some(auth),
        };
        let detail = facts.apply(ConnectorDetail::default(), fault);
        Provider { name, description, category, logo, status, version, documents, detail }
    }
}
