//! `sources.toml`: the address of each platform's document, and the pinned version of the document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::importer::paths::PathFilter;
use crate::importer::shipped_files::shipped_path;
use crate::importer::source::read_text;
use crate::importer::{platform, text};
use crate::util::nearest::suggestion;

/// The folder of the documents that are part of this project.
const OWN_DOCUMENTS: &str = "documents";

/// The maximum length of a licence, in characters.
const MAX_LICENCE: usize = 100;

/// Maps platforms to their sources.
#[derive(Debug, Clone, Default)]
pub struct SourceList(pub BTreeMap<String, Source>);

/// The location of a platform's document.
#[derive(Debug, Clone)]
pub struct Source {
    /// An `https` URL, `npm:NAME@VERSION/PATH` or `pypi:NAME@VERSION/PATH`, or a file of this project in `documents/`.
    pub address: String,
    pub format: DocumentFormat,
    /// The name of the licence, or a note that the licence is unknown.
    pub licence: String,
    /// The operations that belong to the platform.
    pub paths: PathFilter,
    /// The URL of the GraphQL endpoint, if the document is a GraphQL schema.
    pub endpoint: Option<String>,
    /// The pinned version. `None` for a document that has never been downloaded.
    pub pin: Option<Pin>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentFormat {
    /// OpenAPI 3 or Swagger 2.
    Openapi,
    GoogleDiscovery,
    /// A GraphQL schema: SDL, or the JSON of an introspection query.
    Graphql,
}

/// The version of a document that was checked and accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// The number of operations that belong to the platform.
    pub operations: usize,
    /// The date of the check.
    pub read: jiff::civil::Date,
    /// The hosts of the servers, authorization endpoints and token endpoints.
    pub hosts: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    platforms: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    address: String,
    format: DocumentFormat,
    licence: LicenceEntry,
    #[serde(default)]
    paths: Vec<String>,
    endpoint: Option<String>,
    sha256: Option<String>,
    operations: Option<usize>,
    read: Option<String>,
    #[serde(default)]
    hosts: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LicenceEntry {
    name: String,
    source: String,
}

impl SourceList {
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// Parses the list. `file` is the file name for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let read: File = toml::from_str(text).with_context(|| file.to_owned())?;
        let mut faults = Vec::new();
        let mut sources: BTreeMap<String, Source> = BTreeMap::new();
        for (name, entry) in read.platforms {
            let mut fault = |what: &str| faults.push(format!("{file}: [platforms.{name}]: {what}"));
            if !platform::is_valid(&name) {
                fault("the name must be 1–64 of a-z, 0-9 and -");
            }
            let source = entry.source(&mut fault);
            let other = sources.iter().find(|(_, other)| other.address == source.address);
            if let Some((other, known)) = other {
                let sha256 = |source: &Source| source.pin.as_ref().map(|pin| pin.sha256.clone());
                if known.format != source.format || sha256(known) != sha256(&source) {
                    fault(&format!(
                        "the document is that of {other}, so `format` and `sha256` must be the same"
                    ));
                }
            }
            sources.insert(name, source);
        }
        if !faults.is_empty() {
            bail!("{}", faults.join("\n"));
        }
        Ok(Self(sources))
    }

    /// The sources of these platforms, or all sources if `names` is empty.
    pub fn select<'a>(&'a self, names: &[String]) -> Result<Vec<(&'a str, &'a Source)>> {
        for name in names {
            if !self.0.contains_key(name) {
                let suggestion = suggestion(name, self.0.keys().map(String::as_str));
                bail!("there is no source of the platform `{name}`{suggestion}");
            }
        }
        let all = self.0.iter().map(|(name, source)| (name.as_str(), source));
        let is_requested = |name: &str| names.is_empty() || names.iter().any(|one| one == name);
        Ok(all.filter(|(name, _)| is_requested(name)).collect())
    }
}

impl Source {
    /// The path of a document that is part of this project. Such a document is never downloaded,
    /// and has no [`Pin`].
    pub fn own_file(&self) -> Option<PathBuf> {
        let path = Path::new(&self.address);
        is_own(path).then(|| shipped_path(path))
    }
}

/// Whether an address is the path of a document of this project.
pub fn is_own(address: &Path) -> bool {
    let name = address.strip_prefix(OWN_DOCUMENTS).ok().and_then(Path::to_str);
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.and_then(|name| name.strip_suffix(".yaml"))
        .is_some_and(|name| !name.is_empty() && name.chars().all(is_name))
}

impl Entry {
    fn source(self, fault: &mut dyn FnMut(&str)) -> Source {
        if let Err(why) = check_address(&self.address) {
            fault(&why);
        }
        if !text::is_line(&self.licence.name, MAX_LICENCE) {
            fault("the `name` of `licence` must be one line");
        }
        let is_stated = self.licence.source.starts_with("https://");
        if !is_stated && !is_own(Path::new(&self.address)) {
            fault("the `source` of `licence` must be the https address of the page that states it");
        }
        let is_graphql = self.format == DocumentFormat::Graphql;
        if is_graphql != self.endpoint.is_some() {
            fault(
                "a GraphQL schema has an `endpoint`, the URL that takes its requests, and no other document has one",
            );
        }
        if self.endpoint.as_ref().is_some_and(|endpoint| !is_url(endpoint)) {
            fault("`endpoint` must be an https URL");
        }
        let is_path = |path: &String| path.strip_prefix('!').unwrap_or(path).starts_with('/');
        if !self.paths.iter().all(is_path) {
            fault("each of `paths` must begin with / or, to leave operations out, with !/");
        }
        let is_hash = |hash: &String| {
            hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        if is_own(Path::new(&self.address)) && self.sha256.is_some() {
            fault("a document of this project has no `sha256`");
        }
        let pin = match (self.sha256, self.operations, self.read) {
            (None, None, None) if self.hosts.is_empty() => None,
            (Some(sha256), Some(operations), Some(day)) => {
                if !is_hash(&sha256) {
                    fault("`sha256` must be 64 of 0-9 and a-f");
                }
                if let Ok(read) = day.parse() {
                    Some(Pin { sha256, operations, read, hosts: self.hosts })
                } else {
                    fault("`read` must be a date, such as 2026-11-27");
                    None
                }
            }
            _ => {
                fault("`sha256`, `operations`, `hosts` and `read` belong together");
                None
            }
        };
        Source {
            address: self.address,
            format: self.format,
            licence: self.licence.name,
            paths: PathFilter::new(&self.paths),
            endpoint: self.endpoint,
            pin,
        }
    }
}

/// Whether the text is an `https` URL, or a URL of the local machine.
fn is_url(text: &str) -> bool {
    let is_local = ["http://localhost:", "http://127.0.0.1:"];
    !text.contains(char::is_whitespace)
        && (text.starts_with("https://") || is_local.iter().any(|start| text.starts_with(start)))
}

/// Checks the syntax of an address.
fn check_address(address: &str) -> Result<(), String> {
    let is_package = |rest: &str| {
        let (package, path) = rest.rsplit_once('@').and_then(|(name, rest)| {
            let (version, path) = rest.split_once('/')?;
            Some(((name, version), path))
        })?;
        let (name, version) = package;
        // The name becomes an argument of npm or pip, so it must not be parsed as an option or a
        // path.
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let name = match name.strip_prefix('@') {
            Some(scoped) => {
                let (scope, name) = scoped.split_once('/')?;
                (!scope.is_empty() && scope.chars().all(is_name)).then_some(name)?
            }
            None => name,
        };
        let has_valid_start = |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_good = has_valid_start(name)
            && name.chars().all(is_name)
            && has_valid_start(version)
            && version.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+!".contains(c))
            && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        is_good.then_some(())
    };
    let is_address = match address.split_once(':') {
        Some(("npm", rest)) => is_package(rest).is_some(),
        Some(("pypi", rest)) => !rest.starts_with('@') && is_package(rest).is_some(),
        _ => is_own(Path::new(address)) || is_url(address),
    };
    is_address.then_some(()).ok_or_else(|| {
        "`address` must be an https URL, npm:NAME@VERSION/PATH, pypi:NAME@VERSION/PATH or documents/NAME.yaml"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_https_or_exact_versions_of_packages() {
        for (address, is_good) in [
            ("https://example.com/openapi.json", true),
            ("http://127.0.0.1:8080/a.json", true),
            ("http://example.com/a.json", false),
            ("https://exa mple.com", false),
            ("npm:@octokit/graphql-schema@15.26.1/schema.graphql", true),
            ("npm:discord-api@1.0.0/specs/a.json", true),
            ("npm:discord-api/specs/a.json", false),
            ("npm:--ignore@1/a", false),
            ("npm:a@--x/a", false),
            ("npm:a@1/../../etc/passwd", false),
            ("npm:a@1/", false),
            ("npm:@/x@1/a", false),
            ("pypi:google-api-python-client@2.202.0/a/b.json", true),
            ("pypi:@scope/a@1/b", false),
            ("ftp://example.com", false),
            ("documents/acme-2.yaml", true),
            ("documents/../acme.yaml", false),
            ("documents/acme.json", false),
            ("documents/.yaml", false),
            ("", false),
        ] {
            assert_eq!(check_address(address).is_ok(), is_good, "{address}");
        }
    }

    #[test]
    fn reports_every_fault_of_the_file() {
        let text = r#"
[platforms.Acme]
address = "ftp://a"
format = "openapi"
licence = { name = "", source = "http://a" }
paths = ["me"]
sha256 = "A"
operations = 1
read = "today"

[platforms.b]
address = "https://a"
format = "openapi"
licence = { name = "MIT", source = "https://a" }
sha256 = "aa"

[platforms.c]
address = "https://a"
format = "google-discovery"
licence = { name = "MIT", source = "https://a" }

[platforms.d]
address = "documents/d.yaml"
format = "openapi"
licence = { name = "MIT", source = "https://a" }
sha256 = "aa"
"#;
        let faults = SourceList::parse("s.toml", text).unwrap_err().to_string();
        for fault in [
            "[platforms.Acme]: the name must be",
            "[platforms.Acme]: `address` must be",
            "[platforms.Acme]: the `name` of `licence`",
            "[platforms.Acme]: the `source` of `licence`",
            "[platforms.Acme]: each of `paths`",
            "[platforms.Acme]: `sha256` must be",
            "[platforms.Acme]: `read` must be",
            "[platforms.b]: `sha256`, `operations`, `hosts` and `read` belong together",
            "[platforms.c]: the document is that of b",
            "[platforms.d]: a document of this project has no `sha256`",
        ] {
            assert!(faults.contains(fault), "{fault}: {faults}");
        }
        assert!(SourceList::parse("s.toml", "[platforms.a]\nadress = 1\n").is_err());
    }
}
