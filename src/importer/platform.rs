//! What a platform is called: the provider's name without its public suffix, then the service.
//!
//! `stripe.com` → `stripe`; `amazonaws.com` + `ec2` → `amazonaws-ec2`; `github.com` + `api.github.com` →
//! `github`. Without `x-providerName` the first server's host counts, and without that the title.

use std::net::IpAddr;

use super::hash;
use super::text;
use crate::catalog::key::{self, MAX_PLATFORM};

/// Labels and words that say nothing about whose API it is.
const GENERIC: [&str; 7] = ["www", "api", "apis", "rest", "openapi", "sandbox", "app"];

/// All that a platform's name is made from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Naming {
    /// The name's words, before clashes are looked at.
    pub(super) words: Vec<String>,
    /// The provider as given, in lower case.
    pub(super) provider: String,
    /// The words of the public suffix: `co`, `uk`.
    pub(super) suffix: Vec<String>,
    /// How many of `words` are the provider's.
    pub(super) provider_words: usize,
    pub(super) title: Vec<String>,
    pub(super) version: String,
    /// Of all that the rows are made from; tells apart what nothing else does. Zero where nothing needs it.
    pub content: u64,
}

impl Naming {
    /// Names a document by `x-providerName` and `x-serviceName`, the first server's URL, and its title.
    #[must_use]
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
        // Titles are prose: `GitHub` is one word there.
        let mut title_words = plain_words(&text::head(title, 500).to_lowercase());
        while title_words.len() > 1
            && title_words.last().is_some_and(|word| GENERIC.contains(&word.as_str()))
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
        add_unsaid(&mut words, &service);
        Self {
            words,
            provider,
            suffix,
            provider_words,
            title: title_words,
            version: version.to_owned(),
            content: 0,
        }
    }

    /// What the platform is called when no other one is called so.
    #[must_use]
    pub fn plain(&self) -> String {
        slug(&self.words)
    }
}

/// Adds the words that are not already said: `twilio` + `twilio video` → `twilio video`.
fn add_unsaid(words: &mut Vec<String>, more: &[String]) {
    let said = more.iter().zip(words.iter()).take_while(|(more, word)| more == word).count();
    if more.iter().any(|word| !words.contains(word)) && more.concat() != words.concat() {
        words.extend(more.iter().skip(said).cloned());
    }
}

/// The host of a server's URL, when it tells whose it is: not an address, `localhost` or a mere path.
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

/// A provider's labels without the public suffix, and the suffix.
fn labels(provider: &str) -> (Vec<String>, Vec<String>) {
    if !provider.contains('.') || provider.contains(char::is_whitespace) {
        return (slug_words(provider), Vec::new());
    }
    let host = provider.trim_matches('.');
    let suffix = psl::suffix_str(host).unwrap_or_default();
    let own = host
        .strip_suffix(suffix)
        .map(|own| own.trim_end_matches('.'))
        .filter(|own| !own.is_empty());
    // `googleapis.com` is itself a public suffix, under which others have their names.
    let own = own.or_else(|| host.rsplit_once('.').map(|(own, _)| own)).unwrap_or(host);
    let suffix = host.strip_prefix(own).unwrap_or_default();
    let mut labels: Vec<&str> = own.split('.').collect();
    while labels.len() > 1
        && labels.first().is_some_and(|label| GENERIC.contains(label) || is_version(label))
    {
        labels.remove(0);
    }
    let mut words: Vec<String> = labels.iter().copied().flat_map(plain_words).collect();
    if labels.iter().all(|label| GENERIC.contains(label)) {
        // `api.video` is called by its whole name.
        words.extend(plain_words(suffix));
        return (words, Vec::new());
    }
    (words, plain_words(suffix))
}

fn is_version(label: &str) -> bool {
    label
        .strip_prefix('v')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

fn service_words(service: &str, provider: &str) -> Vec<String> {
    let lower = service.trim().to_lowercase();
    // `api.github.com` of `github.com`: only what stands in front is new.
    let own = lower
        .strip_suffix(provider)
        .map(|own| own.trim_end_matches('.').len())
        .filter(|_| !provider.is_empty());
    let mut words = slug_words(own.map_or(service, |own| text::head(service.trim(), own)));
    if words.iter().all(|word| GENERIC.contains(&word.as_str())) {
        words.clear();
    }
    words
}

/// Words of `a-z0-9`, with `camelCase` parted.
fn slug_words(text: &str) -> Vec<String> {
    text::words(text::head(text, 500))
        .iter()
        .flat_map(|word| plain_words(&word.to_lowercase()))
        .collect()
}

/// Words of `a-z0-9`, parted at everything else.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

/// Words → a name of 1–64 of `a-z0-9-`. A long one keeps its first words and ends in a hash of them all.
pub(super) fn slug(words: &[String]) -> String {
    let whole = words.join("-");
    if whole.len() <= MAX_PLATFORM {
        return whole;
    }
    let kept = text::head(&whole, MAX_PLATFORM.saturating_sub(7));
    let kept = kept.rsplit_once('-').map_or(kept, |(words, _)| words);
    format!("{kept}-{}", hash::short(whole.as_bytes()))
}

/// Whether a text can be the name of a platform.
#[must_use]
pub fn is_valid(name: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    key::platform(name).is_none() && edge(name.chars().next()) && edge(name.chars().next_back())
}
