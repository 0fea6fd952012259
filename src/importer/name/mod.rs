//! Derives the display names of connectors: `GitHub v3 REST API` → `GitHub`, `SqlManagementClient`
//! with the service `sql-elasticPools` → `Azure SQL Elastic Pools`.
//!
//! [`title`] removes words that are common in titles of APIs, [`brand`] lists providers with many
//! services, and [`family`] has the rules for Amazon, Google and Microsoft. A name depends only on
//! its document, unless another connector would have the same name: see [`disambiguate`].

mod azure;
pub mod brand;
pub mod disambiguate;
pub mod family;
pub mod title;

use super::text;
use super::version::platform_version;
use brand::Brand;

/// The document fields that a display name is derived from.
#[derive(Debug, Clone, Copy)]
pub struct NameSources<'a> {
    /// `x-providerName`, such as `github.com`.
    pub provider: &'a str,
    /// `x-serviceName`, such as `api.github.com`.
    pub service: &'a str,
    /// The words of the provider without its public suffix, such as `github`.
    pub label: &'a [String],
    /// `info.title`.
    pub title: &'a str,
    /// `info.version`.
    pub version: &'a str,
}

/// The maximum length of a version, in characters.
const MAX_VERSION: usize = 32;

/// The possible names of a connector.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The variants of the name, from the shortest to the most specific.
    variants: Vec<String>,
    /// The API version: in short form, such as `V2` or a year, and in full.
    versions: [String; 2],
    /// The numbers in the full version, for comparing versions.
    numbers: Vec<u64>,
    /// Whether `catalog.toml` or `providers.toml` sets the name, so that other connectors with the
    /// same name must change.
    is_fixed: bool,
}

impl Names {
    /// The possible names of a document.
    pub fn new(sources: NameSources<'_>) -> Self {
        let title = text::line(sources.title, text::MAX_DESCRIPTION);
        let sources = NameSources { title: &title, ..sources };
        let mut names =
            family::names(sources).unwrap_or_else(|| match brand::find(sources.provider) {
                Some(brand) => names_with_brand(sources, brand),
                None => names_without_brand(sources),
            });
        for name in &mut names {
            *name = text::verbatim(name, text::MAX_NAME);
        }
        names.retain(|name| !name.is_empty());
        names.dedup();
        let stated = service_version(sources.service).unwrap_or_else(|| sources.version.to_owned());
        let version = platform_version(&stated);
        let year = version.strip_prefix('v').filter(|number| number.len() == 4);
        let short = year.map_or_else(|| version.to_uppercase(), str::to_owned);
        let numbers = stated.split(|c: char| !c.is_ascii_digit());
        let numbers = numbers.filter_map(|number| number.parse().ok()).collect();
        let versions = [short, text::verbatim(&stated, MAX_VERSION)];
        Self { variants: names, versions, numbers, is_fixed: false }
    }

    /// The shortest name. Empty if the document has no name.
    pub fn shortest(&self) -> &str {
        self.variants.first().map_or("", String::as_str)
    }

    /// Derives the display name from the name of the platform.
    pub fn from_platform(platform: &str) -> Self {
        Self { variants: vec![text::title_case(platform)], ..Self::default() }
    }

    /// A name that disambiguation doesn't change.
    pub fn fixed(name: &str) -> Self {
        Self { variants: vec![name.to_owned()], is_fixed: true, ..Self::default() }
    }
}

/// The version at the end of a service name: `twilio_chat_v2` → `v2`.
fn service_version(service: &str) -> Option<String> {
    let last = service.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let number = last.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (start, digits) = last.split_at_checked(number)?;
    (start.ends_with('v') && !digits.is_empty()).then(|| format!("v{digits}"))
}

/// The spellings of the provider's name, in lower-case letters and digits.
fn provider_spellings(sources: NameSources<'_>) -> Vec<String> {
    let mut spellings = vec![sources.label.concat(), title::letters_and_digits(sources.provider)];
    spellings.retain(|spelling| !spelling.is_empty());
    spellings
}

/// The names of a document without a brand: `Betfair: Exchange Streaming API` → `Betfair`, or
/// `Betfair - Exchange Streaming` if another connector has this name.
fn names_without_brand(sources: NameSources<'_>) -> Vec<String> {
    let parts = title::parts(sources.title, &provider_spellings(sources));
    let label = text::title_case(&sources.label.join(" "));
    let Some(first) = parts.first() else {
        let service = service_words(sources).join(" ");
        return vec![label.clone(), format!("{label} {service}").trim().to_owned()];
    };
    let all = parts.join(" - ");
    let shortest = if sources.service.is_empty() { first.clone() } else { all.clone() };
    let with_owner = if title::letters_and_digits(&all).contains(&sources.label.concat()) {
        all.clone()
    } else {
        format!("{label} {all}")
    };
    let words_missing_from = words_missing_from(&service_words(sources), &with_owner).join(" ");
    let with_service = format!("{with_owner} {words_missing_from}").trim().to_owned();
    vec![shortest, all, with_owner, with_service]
}

/// The names of a document with a brand: the brand alone, or followed by the rest of the title or
/// by the service: `Adyen`, `Adyen Checkout`.
fn names_with_brand(sources: NameSources<'_>, brand: &Brand) -> Vec<String> {
    let brand = brand.name;
    let mut own = provider_spellings(sources);
    own.push(title::letters_and_digits(brand));
    let mut parts = title::parts(sources.title, &own);
    if let Some(first) = parts.first_mut() {
        *first = without_provider(first, &own);
    }
    parts.retain(|part| !part.is_empty());
    let rest = parts.join(" - ");
    let rest = if rest.contains('_') {
        rest.split('_').map(brand::word).collect::<Vec<_>>().join(" ")
    } else {
        let words = rest.split(' ').map(|word| brand::spelling(word).unwrap_or(word));
        words.collect::<Vec<_>>().join(" ")
    };
    let service = service_words(sources).join(" ");
    let contains_brand = own.iter().any(|own| title::letters_and_digits(&rest).contains(own));
    let short = match (rest.is_empty(), contains_brand) {
        (true, _) => format!("{brand} {service}"),
        (_, true) => rest,
        _ => format!("{brand} {rest}"),
    };
    let mut short: Vec<&str> = short.split_whitespace().collect();
    // Avoid repeated words, as in `The New York Times Times Newswire`.
    short.dedup();
    let short = short.join(" ");
    let words_missing_from = words_missing_from(&service_words(sources), &short).join(" ");
    [short.clone(), format!("{short} {words_missing_from}").trim().to_owned()].into()
}

/// Removes the provider's name from the start of a part: `Adyen Checkout` → `Checkout`.
fn without_provider(part: &str, own: &[String]) -> String {
    let words: Vec<&str> = part.split_whitespace().collect();
    let is_own = |count: &usize| {
        words
            .get(..*count)
            .is_some_and(|words| own.contains(&title::letters_and_digits(&words.concat())))
    };
    let count = (1..=words.len()).rev().find(is_own).unwrap_or_default();
    words.get(count..).unwrap_or_default().join(" ")
}

/// The words of the service name without the provider: `twilio_chat_v2` → `Chat`, `ghes-3.8` →
/// `Enterprise Server 3.8`.
fn service_words(sources: NameSources<'_>) -> Vec<String> {
    let service = sources.service.trim();
    let service = service.strip_suffix(sources.provider).unwrap_or(service);
    let words = service.split(|c: char| !c.is_alphanumeric() && c != '.');
    let words = words.flat_map(|word| {
        if title::is_version(word) { vec![word.to_owned()] } else { text::words(word) }
    });
    let is_version = |word: &str| word.starts_with(['v', 'V']) && title::is_version(word);
    let is_noise = |word: &String| {
        let word = word.to_lowercase();
        sources.label.contains(&word)
            || is_version(&word)
            || ["api", "apis"].contains(&word.as_str())
    };
    words.filter(|word| !is_noise(word)).map(|word| brand::word(&word)).collect()
}

/// The words without leading words that the name already contains, in singular or plural. Empty if
/// the name contains all words.
fn words_missing_from(words: &[String], name: &str) -> Vec<String> {
    let in_name: Vec<String> = name.split(' ').map(singular).collect();
    let all = singular(&words.concat());
    if all.len() > 4 && title::letters_and_digits(name).contains(&all) {
        return Vec::new();
    }
    let known = words.iter().take_while(|word| in_name.contains(&singular(word))).count();
    words.get(known..).unwrap_or_default().to_vec()
}

fn singular(word: &str) -> String {
    let word = title::letters_and_digits(word);
    match (word.strip_suffix("ies"), word.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) => stem.to_owned(),
        (None, None) => word,
    }
}
