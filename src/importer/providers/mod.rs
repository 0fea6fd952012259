//! `providers.toml`: facts about well-known platforms that documents don't contain. An entry
//! completes the document about its platform, and becomes a connector even without a document.
//! [`entry`] parses the entries of the file, [`provider`] holds the facts about a platform.

mod entry;
pub mod provider;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::catalog::detail::{Kind, OAuth2, variables};
use crate::importer::source::read_text;
use entry::File;
use provider::Provider;

/// The facts about platforms, by name.
#[derive(Debug, Clone, Default)]
pub struct Providers(pub BTreeMap<String, Provider>);

impl Providers {
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// Parses the file. `file` is the file name for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let read: File = toml::from_str(text).with_context(|| file.to_owned())?;
        let mut faults = Vec::new();
        let mut providers = BTreeMap::new();
        for (name, entry) in read.platforms {
            let mut fault =
                |what: String| faults.push(format!("{file}: [platforms.{name}]: {what}"));
            let provider = entry.provider(&name, &mut fault);
            providers.insert(name, provider);
        }
        let mut claimed: HashMap<&str, &str> = HashMap::new();
        for (name, provider) in &providers {
            for document in &provider.documents {
                if let Some(other) = claimed.insert(document, name) {
                    faults.push(format!(
                        "{file}: [platforms.{name}]: `documents` has `{document}`, as {other} has"
                    ));
                }
            }
        }
        if !faults.is_empty() {
            bail!("{}", faults.join("\n"));
        }
        Ok(Self(providers))
    }

    /// The facts about the authorization server with this authorization URL. Returns `None` if no
    /// entry has it, or if its URLs differ per customer.
    pub fn server(&self, authorization_url: &str) -> Option<OAuth2> {
        let plain = |url: &str| url.trim_end_matches('/').to_ascii_lowercase();
        let requested_url = plain(authorization_url);
        let methods = self.0.values().flat_map(|provider| &provider.detail.auth_methods);
        let known = methods.filter_map(|method| match &method.kind {
            Kind::OAuth2(oauth) => Some(oauth.as_ref()),
            _ => None,
        });
        let is_requested = |oauth: &&OAuth2| {
            oauth.authorization_url.as_ref().is_some_and(|url| plain(url) == requested_url)
                && variables(&oauth.token_url).next().is_none()
        };
        known.into_iter().find(is_requested).cloned()
    }

    /// Maps the name of each imported document to its entry. A document belongs to the entry with
    /// its name, unless another entry claims the document.
    pub fn pair(&self, names: &[String]) -> HashMap<String, &str> {
        let present: HashSet<&str> = names.iter().map(String::as_str).collect();
        let claimed: HashSet<&str> =
            self.0.values().flat_map(|provider| &provider.documents).map(String::as_str).collect();
        let mut pairs = HashMap::new();
        for (name, provider) in &self.0 {
            let entry_name = Some(name.as_str()).filter(|name| !claimed.contains(name));
            let documents = provider.documents.iter().map(String::as_str);
            let mut claims = entry_name.into_iter().chain(documents);
            if let Some(document) = claims.find(|document| present.contains(document)) {
                pairs.insert(document.to_owned(), name.as_str());
            }
        }
        pairs
    }
}
