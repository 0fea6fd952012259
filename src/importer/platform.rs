//! Derives the names of platforms: the provider without its public suffix, then the service.
//! `stripe.com` → `stripe`; `amazonaws.com` + `ec2` → `amazonaws-ec2`; `github.com` +
//! `api.github.com` → `github`. Without `x-providerName`, the provider is the host of the first
//! server; without servers, the name is the title.

use std::net::IpAddr;

use super::hash;
use super::text;
use crate::catalog::key::{self, MAX_PLATFORM};

/// Labels and words that do not identify the owner of an API.
const GENERIC_LABELS: [&str; 7] = ["www", "api", "apis", "rest", "openapi", "sandbox", "app"];

/// The properties of a document that determine the name of its platform.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Naming {
    /// The words of the name, before collisions are resolved.
    pub(super) words: Vec<String>,
    /// The provider from the document, in lower case.
    pub(super) provider: String,
    /// The words of the public suffix, such as `co` and `uk`.
    pub(super) suffix: Vec<String>,
    /// The number of words at the start of `words` that belong to the provider.
    pub(super) provider_words: usize,
    pub(super) title: Vec<String>,
    pub(super) version: String,
    /// A hash of the document's content, for documents that all other properties fail to
    /// distinguish. Otherwise 0.
    pub content: u64,
    /// The assigned platform, which overrides all other properties.
    pub assigned: Option<String>,
}

impl Naming {
    /// The naming of a document with an assigned platform. It does not affect the names of other
    /// documents.
    pub fn assigned(platform: &str) -> Self {
        Self {
            words: Vec::new(),
            provider: String::new(),
            suffix: Vec::new(),
            provider_words: 0,
            title: Vec::new(),
            version: String::new(),
            content: 0,
            assigned: Some(platform.to_owned()),
        }
    }

    /// Whether the document takes part in the resolution of collisions. Documents without words for
    /// a name, such as those with an assigned platform, don't.
    pub const fn needs_unique_name(&self) -> bool {
        !self.words.is_empty()
    }

    /// Creates the naming of a document from `x-providerName`, `x-serviceName`, the URL of the
    /// first server, the title and the version.
    pub fn new(
        provider: Option<&str>,
        service: Option<&str>,
        server: Option<&str>,
        title: &str,
        version: &str,
    ) -> Self {
        let provider = provider
            .map(|provider| provider.trim().to_lowercase())
            .or_else(|| server.and_then(host))
            .unwrap_or_default();
        let (labels, suffix) = labels(&provider);
        // Titles are prose, so don't split them at camel case: `GitHub` is one word.
        let mut title_words = plain_words(&text::head(title, 500).to_lowercase());
        while title_words.len() > 1
            && title_words.last().is_some_and(|word| GENERIC_LABELS.contains(&word.as_str()))
        {
            title_words.pop();
        }
        let service = service.map(|service| service_words(service, &provider)).unwrap_or_default();
        let mut words = labels;
        if words.is_empty() {
            words.clone_from(&title_words);
        }
        if words.is_empty() {
            words = vec!["platform".to_owned(), hash::short(title.as_bytes())];
        }
        let provider_words = words.len();
        append_missing(&mut words, &service);
        Self {
            words,
            provider,
            suffix,
            provider_words,
            title: title_words,
            version: version.to_owned(),
            content: 0,
            assigned: None,
        }
    }

    /// The words of the registered domain: `paypal` of `api-m.sandbox.paypal.com`.
    pub fn owner(&self) -> Vec<String> {
        let (labels, _) = labels_before_suffix(&self.provider);
        match labels.last().filter(|label| !GENERIC_LABELS.contains(label)) {
            Some(label) => plain_words(label),
            // The label before the suffix is generic, as in `api.video`.
            None => plain_words(&self.provider),
        }
    }

    /// The platform's name, extended with the words of the title.
    pub fn with_title(&self) -> String {
        let mut words = self.words.clone();
        append_missing(&mut words, &self.title);
        slug(&words)
    }

    /// The platform's name, before collisions are resolved.
    pub fn plain(&self) -> String {
        match &self.assigned {
            Some(platform) if !self.needs_unique_name() => platform.clone(),
            _ => slug(&self.words),
        }
    }
}

/// Appends the words that are missing: `twilio` + `twilio video` → `twilio video`.
fn append_missing(words: &mut Vec<String>, more: &[String]) {
    let shared = more.iter().zip(words.iter()).take_while(|(more, word)| more == word).count();
    if more.iter().any(|word| !words.contains(word)) && more.concat() != words.concat() {
        words.extend(more.iter().skip(shared).cloned());
    }
}

/// The host of a server's URL. Returns `None` if the host does not identify the owner: an IP
/// address, `localhost`, an example, or a URL without a host.
fn host(url: &str) -> Option<String> {
    let authority =
        url.split_once("//").map_or(url, |(_, rest)| rest).split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?.to_lowercase();
    let labels: Vec<&str> =
        host.split('.').filter(|label| !label.is_empty() && !label.contains(['{', '}'])).collect();
    let host = labels.join(".");
    let is_example = matches!(host.as_str(), "example.com" | "example.org" | "example.net");
    (labels.len() > 1 && host.parse::<IpAddr>().is_err() && !is_example).then_some(host)
}

/// Splits a provider into its words without the public suffix, and the words of the suffix.
fn labels(provider: &str) -> (Vec<String>, Vec<String>) {
    if !provider.contains('.') || provider.contains(char::is_whitespace) {
        return (slug_words(provider), Vec::new());
    }
    let (mut labels, suffix) = labels_before_suffix(provider);
    while labels.len() > 1
        && labels.first().is_some_and(|label| GENERIC_LABELS.contains(label) || is_version(label))
    {
        labels.remove(0);
    }
    let mut words: Vec<String> = labels.iter().copied().flat_map(plain_words).collect();
    if labels.iter().all(|label| GENERIC_LABELS.contains(label)) {
        // In `api.video`, the suffix is part of the name.
        words.extend(plain_words(suffix));
        return (words, Vec::new());
    }
    (words, plain_words(suffix))
}

/// Splits a provider into the labels before its public suffix, and the suffix.
fn labels_before_suffix(provider: &str) -> (Vec<&str>, &str) {
    let host = provider.trim_matches('.');
    let suffix = psl::suffix_str(host).unwrap_or_default();
    let own = host
        .strip_suffix(suffix)
        .map(|own| own.trim_end_matches('.'))
        .filter(|own| !own.is_empty());
    // `googleapis.com` is itself a public suffix.
    let own = own.or_else(|| host.rsplit_once('.').map(|(own, _)| own)).unwrap_or(host);
    (own.split('.').collect(), host.strip_prefix(own).unwrap_or_default())
}

fn is_version(label: &str) -> bool {
    label
        .strip_prefix('v')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

fn service_words(service: &str, provider: &str) -> Vec<String> {
    let lower = service.trim().to_lowercase();
    // If the service is a subdomain of the provider, such as `api.github.com`, use only the labels
    // before the provider.
    let own = lower
        .strip_suffix(provider)
        .map(|own| own.trim_end_matches('.').len())
        .filter(|_| !provider.is_empty());
    let mut words = slug_words(own.map_or(service, |own| text::head(service.trim(), own)));
    if words.iter().all(|word| GENERIC_LABELS.contains(&word.as_str())) {
        words.clear();
    }
    words
}

/// Splits a text into words of `a-z0-9`, also at camel case.
fn slug_words(text: &str) -> Vec<String> {
    text::words(text::head(text, 500))
        .iter()
        .flat_map(|word| plain_words(&word.to_lowercase()))
        .collect()
}

/// Splits a text into words of `a-z0-9`.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

/// Joins words to a name of 1 to 64 characters of `a-z0-9-`. A longer name is truncated and ends in
/// a hash of the full name.
pub(super) fn slug(words: &[String]) -> String {
    let full_name = words.join("-");
    if full_name.len() <= MAX_PLATFORM {
        return full_name;
    }
    let prefix = text::head(&full_name, MAX_PLATFORM.saturating_sub(7));
    let prefix = prefix.rsplit_once('-').map_or(prefix, |(words, _)| words);
    format!("{prefix}-{}", hash::short(full_name.as_bytes()))
}

pub fn is_valid(name: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    key::platform(name).is_none() && edge(name.chars().next()) && edge(name.chars().next_back())
}
