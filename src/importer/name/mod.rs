//! Display names, as people say them: `GitHub v3 REST API` is `GitHub`, `SqlManagementClient` with the service
//! `sql-elasticPools` is `Azure SQL Elastic Pools`.
//!
//! [`title`] drops what every API's title says, [`brand`] knows how providers with many services are called, [`family`]
//! has the rules for Amazon, Google and Microsoft. A name follows from its own document; only names that are equal are
//! [told apart](apart).

pub mod apart;
mod azure;
pub mod brand;
pub mod family;
pub mod title;

use super::text;
use super::version::platform_version;
use brand::Brand;

/// What a document says from which its name is made.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// `x-providerName`, such as `github.com`.
    pub provider: &'a str,
    /// `x-serviceName`, such as `api.github.com`.
    pub service: &'a str,
    /// The provider's words without the public suffix, such as `github`.
    pub label: &'a [String],
    /// `info.title`.
    pub title: &'a str,
    /// `info.version`.
    pub version: &'a str,
}

/// The most characters of a version in a name.
const MAX_VERSION: usize = 32;

/// The names that a connector can have.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The shortest first: each says more than the one before it.
    ever_longer: Vec<String>,
    /// The version of the API: in short, such as `V2` or a year, and as stated.
    versions: [String; 2],
    /// The stated one as numbers, for comparison.
    numbers: Vec<u64>,
    /// Whether somebody chose the name, so that others give way.
    is_fixed: bool,
}

impl Names {
    /// The names of a document.
    #[must_use]
    pub fn of(said: Said<'_>) -> Self {
        let title = text::line(said.title, text::MAX_DESCRIPTION);
        let said = Said { title: &title, ..said };
        let mut names = family::names(said).unwrap_or_else(|| match brand::of(said.provider) {
            Some(brand) => branded(said, brand),
            None => plain(said),
        });
        for name in &mut names {
            *name = text::verbatim(name, text::MAX_NAME);
        }
        names.retain(|name| !name.is_empty());
        names.dedup();
        let stated = service_version(said.service).unwrap_or_else(|| said.version.to_owned());
        let version = platform_version(&stated);
        let year = version.strip_prefix('v').filter(|number| number.len() == 4);
        let short = year.map_or_else(|| version.to_uppercase(), str::to_owned);
        let numbers = stated.split(|c: char| !c.is_ascii_digit());
        let numbers = numbers.filter_map(|number| number.parse().ok()).collect();
        let versions = [short, text::verbatim(&stated, MAX_VERSION)];
        Self { ever_longer: names, versions, numbers, is_fixed: false }
    }

    /// The shortest name, which follows from the document alone; empty when it says none.
    #[must_use]
    pub fn shortest(&self) -> &str {
        self.ever_longer.first().map_or("", String::as_str)
    }

    /// A name that is made from the platform's.
    #[must_use]
    pub fn of_platform(platform: &str) -> Self {
        Self { ever_longer: vec![text::title_case(platform)], ..Self::default() }
    }

    /// The only name that is possible.
    #[must_use]
    pub fn fixed(name: &str) -> Self {
        Self { ever_longer: vec![name.to_owned()], is_fixed: true, ..Self::default() }
    }
}

/// The version at the end of a service's name: `twilio_chat_v2` → `v2`.
fn service_version(service: &str) -> Option<String> {
    let last = service.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let number = last.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (start, digits) = last.split_at_checked(number)?;
    (start.ends_with('v') && !digits.is_empty()).then(|| format!("v{digits}"))
}

/// The ways to write the provider's name in small letters and digits.
fn own(said: Said<'_>) -> Vec<String> {
    let mut own = vec![said.label.concat(), title::squash(said.provider)];
    own.retain(|own| !own.is_empty());
    own
}

/// `Betfair: Exchange Streaming API` → `Betfair`, or where that is taken, `Betfair - Exchange Streaming`.
fn plain(said: Said<'_>) -> Vec<String> {
    let parts = title::parts(said.title, &own(said));
    let label = text::title_case(&said.label.join(" "));
    let Some(first) = parts.first() else {
        let service = service_words(said).join(" ");
        return vec![label.clone(), format!("{label} {service}").trim().to_owned()];
    };
    let all = parts.join(" - ");
    let shortest = if said.service.is_empty() { first.clone() } else { all.clone() };
    let with_owner = if title::squash(&all).contains(&said.label.concat()) {
        all.clone()
    } else {
        format!("{label} {all}")
    };
    let unsaid = unsaid(&service_words(said), &with_owner).join(" ");
    let with_service = format!("{with_owner} {unsaid}").trim().to_owned();
    vec![shortest, all, with_owner, with_service]
}

/// The brand, then what the title says besides, or else the service: `Adyen`, `Adyen Checkout`.
fn branded(said: Said<'_>, brand: &Brand) -> Vec<String> {
    let brand = brand.name;
    let mut own = own(said);
    own.push(title::squash(brand));
    let mut parts = title::parts(said.title, &own);
    if let Some(first) = parts.first_mut() {
        *first = without_start(first, &own);
    }
    parts.retain(|part| !part.is_empty());
    let rest = parts.join(" - ");
    let rest = if rest.contains('_') {
        rest.split('_').map(brand::word).collect::<Vec<_>>().join(" ")
    } else {
        let words = rest.split(' ').map(|word| brand::written(word).unwrap_or(word));
        words.collect::<Vec<_>>().join(" ")
    };
    let service = service_words(said).join(" ");
    let says_brand = own.iter().any(|own| title::squash(&rest).contains(own));
    let short = match (rest.is_empty(), says_brand) {
        (true, _) => format!("{brand} {service}"),
        (_, true) => rest,
        _ => format!("{brand} {rest}"),
    };
    let mut short: Vec<&str> = short.split_whitespace().collect();
    // `The New York Times Times Newswire`
    short.dedup();
    let short = short.join(" ");
    let unsaid = unsaid(&service_words(said), &short).join(" ");
    [short.clone(), format!("{short} {unsaid}").trim().to_owned()].into()
}

/// A part without the provider's name at its start: `Adyen Checkout` → `Checkout`.
fn without_start(part: &str, own: &[String]) -> String {
    let words: Vec<&str> = part.split_whitespace().collect();
    let is_own = |count: &usize| {
        words.get(..*count).is_some_and(|words| own.contains(&title::squash(&words.concat())))
    };
    let count = (1..=words.len()).rev().find(is_own).unwrap_or_default();
    words.get(count..).unwrap_or_default().join(" ")
}

/// What the service's name says besides the provider: `twilio_chat_v2` → `Chat`, `ghes-3.8` → `Enterprise Server 3.8`.
fn service_words(said: Said<'_>) -> Vec<String> {
    let service = said.service.trim();
    let service = service.strip_suffix(said.provider).unwrap_or(service);
    let words = service.split(|c: char| !c.is_alphanumeric() && c != '.');
    let words = words.flat_map(|word| {
        if title::is_version(word) { vec![word.to_owned()] } else { text::words(word) }
    });
    let is_version = |word: &str| word.starts_with(['v', 'V']) && title::is_version(word);
    let is_noise = |word: &String| {
        let word = word.to_lowercase();
        said.label.contains(&word) || is_version(&word) || ["api", "apis"].contains(&word.as_str())
    };
    words.filter(|word| !is_noise(word)).map(|word| brand::word(&word)).collect()
}

/// The words without those at the start that a name has already, in singular or plural; none when it has them all.
fn unsaid(words: &[String], name: &str) -> Vec<String> {
    let said: Vec<String> = name.split(' ').map(singular).collect();
    let all = singular(&words.concat());
    if all.len() > 4 && title::squash(name).contains(&all) {
        return Vec::new();
    }
    let known = words.iter().take_while(|word| said.contains(&singular(word))).count();
    words.get(known..).unwrap_or_default().to_vec()
}

fn singular(word: &str) -> String {
    let word = title::squash(word);
    match (word.strip_suffix("ies"), word.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) => stem.to_owned(),
        (None, None) => word,
    }
}
