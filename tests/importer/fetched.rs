//! Tests of the documents of `sources.toml`: which documents they replace, and how operators accept
//! them.

use std::fs;
use std::path::{Path, PathBuf};

use connector_vault::catalog::write::Platform;
use connector_vault::importer::fetched::cache::Cache;
use connector_vault::importer::fetched::list::SourceList;
use connector_vault::importer::fetched::{FetchedDocument, PathFilter};
use connector_vault::importer::folder::Folder;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::providers::Providers;
use connector_vault::importer::report::Summary;
use connector_vault::importer::{Import, fetched, gather, hash, import};
use serde_json::Value;

use super::support::{NoProgress, folder, platform_names, run, stderr};

fn document(provider: &str, server: &str, paths: &[&str]) -> String {
    let paths: Vec<String> =
        paths.iter().map(|path| format!(r#""{path}": {{"get": {{}}, "post": {{}}}}"#)).collect();
    format!(
        r#"{{"openapi": "3.0.0", "info": {{"title": "{provider}", "version": "1", "x-providerName": "{provider}"}}, "servers": [{{"url": "https://{server}"}}], "paths": {{{}}}}}"#,
        paths.join(", ")
    )
}

/// Writes a fetched document to a folder.
fn fetched_document(
    folder: &Path,
    platform: &str,
    text: &str,
    prefixes: &[&str],
) -> FetchedDocument {
    let sha256 = hash::sha256(text.as_bytes());
    let path = folder.join(&sha256);
    fs::write(&path, text).unwrap();
    let prefixes: Vec<String> = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
    FetchedDocument {
        endpoint: None,
        platform: platform.into(),
        address: format!("https://{platform}.example/openapi.json"),
        path,
        sha256,
        paths: PathFilter::new(&prefixes),
        licence: "MIT".into(),
        is_instance: false,
        accepts_any_licence: false,
    }
}

fn imported(
    sources: &Path,
    fetched: Vec<FetchedDocument>,
    providers: &str,
    licence: LicenceFilter,
) -> (Summary, Vec<Platform>) {
    let providers = Providers::parse("providers.toml", providers).unwrap();
    let sources = vec![sources.to_owned()];
    gather(&Import { sources, licence, fetched, providers, ..Import::default() }, &NoProgress)
        .unwrap()
}

fn find<'a>(platforms: &'a [Platform], name: &str) -> &'a Platform {
    platforms.iter().find(|platform| platform.connector.platform == name).unwrap()
}

#[test]
fn fetched_document_replaces_others_of_its_platform() {
    let (documents, cache) = (folder("fetched-documents"), folder("fetched-cache"));
    for (name, provider) in [("a", "acme.com"), ("b", "b-acme-old.com"), ("c", "other.com")] {
        fs::write(
            documents.join(name).with_extension("json"),
            document(provider, provider, &["/old"]),
        )
        .unwrap();
    }
    let providers = "[platforms.best]\nname = \"Best\"\ndocuments = [\"b-acme-old\"]\n";
    let new = |platform: &str| {
        let text = document("elsewhere.com", platform, &["/new", "/newer"]);
        fetched_document(&cache, platform, &text, &[])
    };
    let all = vec![new("acme"), new("best"), new("unheard-of")];
    let (summary, platforms) = imported(&documents, all, providers, LicenceFilter::Any);
    assert_eq!(platform_names(&platforms), ["acme", "best", "other", "unheard-of"]);
    for (name, actions) in [("acme", 4), ("best", 4), ("other", 2), ("unheard-of", 4)] {
        assert_eq!(find(&platforms, name).actions.len(), actions, "{name}");
    }
    // The name derived from the replaced document becomes an alias.
    assert_eq!(find(&platforms, "best").aliases, ["b-acme-old"]);
    assert_eq!(find(&platforms, "best").connector.name, "Best");
    let license = find(&platforms, "acme").detail.license.as_ref().unwrap();
    assert_eq!(license.name.as_deref(), Some("MIT"));
    assert_eq!(summary.counts(), [("replaced by a newer document", 2)]);
}

#[test]
fn platforms_share_a_document_by_path() {
    let (documents, cache) = (folder("slices-documents"), folder("slices-cache"));
    fs::write(documents.join("a.json"), document("a.com", "a.com", &["/a"])).unwrap();
    let whole = document("suite.com", "suite.com", &["/mail", "/mail/{id}", "/mailbox", "/files"]);
    let slice =
        |platform: &str, prefixes: &[&str]| fetched_document(&cache, platform, &whole, prefixes);
    let all = vec![
        slice("mail", &["/mail"]),
        slice("files", &["/files"]),
        slice("rest", &["/", "!/mail", "!/files"]),
        slice("suite", &[]),
    ];
    let (_, platforms) = imported(&documents, all, "", LicenceFilter::Any);
    assert_eq!(platform_names(&platforms), ["a", "files", "mail", "rest", "suite"]);
    for (name, actions) in [("mail", 4), ("files", 2), ("rest", 2), ("suite", 8)] {
        assert_eq!(find(&platforms, name).actions.len(), actions, "{name}");
        assert_eq!(usize::try_from(find(&platforms, name).connector.tools).unwrap(), actions);
    }
}

#[test]
fn only_the_accepted_document_replaces_others() {
    let (documents, cache) = (folder("damaged-documents"), folder("damaged-cache"));
    fs::write(documents.join("a.json"), document("acme.com", "a.com", &["/old"])).unwrap();
    let damaged = fetched_document(&cache, "acme", &document("acme.com", "a.com", &["/new"]), &[]);
    fs::write(&damaged.path, "{}").unwrap();
    let (summary, platforms) = imported(&documents, vec![damaged], "", LicenceFilter::Any);
    assert_eq!(platforms[0].actions.len(), 2);
    assert!(summary.full().contains("is not the document that sources.toml names"));
    let broken = fetched_document(&cache, "acme", "{\"openapi\": \"3.0.0\"", &[]);
    let (summary, platforms) = imported(&documents, vec![broken], "", LicenceFilter::Any);
    assert_eq!(platform_names(&platforms), ["acme"]);
    assert_eq!(summary.counts(), [("broken", 1)]);
    // A reference must not read local files.
    let text = document("acme.com", "a.com", &["/new"]).replace(
        r#""get": {}"#,
        r#""get": {"requestBody": {"$ref": "../damaged-documents/a.json"}}"#,
    );
    let local_reference = fetched_document(&cache, "acme", &text, &[]);
    let (summary, _) = imported(&documents, vec![local_reference], "", LicenceFilter::Any);
    assert!(!summary.warnings.is_empty(), "{}", summary.full());
}

#[test]
fn skips_downloaded_document_without_open_licence() {
    let (documents, cache) = (folder("closed-documents"), folder("closed-cache"));
    let open = document("acme.com", "a.com", &["/old"])
        .replace(r#""version""#, r#""license": {"name": "MIT"}, "version""#);
    fs::write(documents.join("a.json"), open).unwrap();
    let text = document("acme.com", "a.com", &["/new", "/newer"]);
    let with_licence = |licence: &str| FetchedDocument {
        licence: licence.into(),
        ..fetched_document(&cache, "acme", &text, &[])
    };
    for (licence, expected, actions) in [
        ("none stated", LicenceFilter::Open, 2),
        ("none stated", LicenceFilter::Any, 4),
        ("Apache-2.0", LicenceFilter::Open, 4),
    ] {
        let (_, platforms) = imported(&documents, vec![with_licence(licence)], "", expected);
        assert_eq!(platforms[0].actions.len(), actions, "{licence}");
    }
}

#[test]
fn paths_of_a_downloaded_document_are_relative_to_the_known_base_url() {
    let (documents, cache) = (folder("base-documents"), folder("base-cache"));
    fs::write(documents.join("a.json"), document("a.com", "a.com", &["/a"])).unwrap();
    let text = document("acme.com", "api.acme.com", &["/v2/things/{id}", "/scim/users"]);
    let providers = "[platforms.acme]\nname = \"Acme\"\nservers = [\"https://api.acme.com/v2\"]\n";
    let out = folder("base-out").join("catalog");
    let job = Import {
        sources: vec![documents],
        licence: LicenceFilter::Any,
        fetched: vec![fetched_document(&cache, "acme", &text, &[])],
        providers: Providers::parse("providers.toml", providers).unwrap(),
        ..Import::default()
    };
    import(&job, &Folder(out.clone()), &NoProgress).unwrap();
    let shown = |action: &str| {
        let output = run(&["show", "acme", action, "--catalog", out.to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        let action: Value = serde_json::from_slice(&output.stdout).unwrap();
        [&action["server"], &action["path"]].map(|member| member.as_str().unwrap().to_owned())
    };
    assert_eq!(shown("getV2ThingsById"), ["https://api.acme.com/v2", "/things/{id}"]);
    assert_eq!(shown("getScimUsers"), ["https://api.acme.com", "/scim/users"]);
}

/// A list with a document that several platforms share, and a cache that contains the document.
struct AcceptFixture {
    list: PathBuf,
    cache: PathBuf,
}

impl AcceptFixture {
    fn new(name: &str, text: &str) -> Self {
        let folder = folder(name);
        let (list, cache) = (folder.join("sources.toml"), folder.join("cache"));
        let table = |platform: &str, paths: &str| {
            format!(
                "[platforms.{platform}]\naddress = \"https://suite.example/openapi.json\"\nformat = \"openapi\"\nlicence = {{ name = \"MIT\", source = \"https://suite.example\" }}\npaths = [{paths}]\n"
            )
        };
        let tables = [table("mail", "\"/mail\""), table("files", "\"/files\"")].join("\n");
        fs::write(&list, tables).unwrap();
        let accepting = Self { list, cache };
        accepting.report(text);
        accepting
    }

    /// Adds a document to the cache, and records that it was reported to the operator.
    fn report(&self, text: &str) {
        let sha256 = hash::sha256(text.as_bytes());
        fs::create_dir_all(self.cache.join("documents")).unwrap();
        fs::write(self.cache.join("documents").join(&sha256), text).unwrap();
        let reported =
            format!(r#"{{"https://suite.example/openapi.json": {{"sha256": "{sha256}"}}}}"#);
        fs::write(self.cache.join("reported.json"), reported).unwrap();
    }

    fn fetch(&self, arguments: &[&str]) -> (bool, String) {
        let (list, cache) = (self.list.to_str().unwrap(), self.cache.to_str().unwrap());
        let output = run(&[&["fetch"], arguments, &["--list", list, "--cache", cache]].concat());
        (output.status.success(), stderr(&output))
    }

    fn read(&self) -> SourceList {
        SourceList::read(&self.list).unwrap()
    }
}

#[test]
fn accepting_a_document_applies_to_all_platforms_that_share_it() {
    let text = document("suite.com", "suite.com", &["/mail", "/files"]);
    let accepting = AcceptFixture::new("accept", &text);
    let before = fs::read_to_string(&accepting.list).unwrap();
    // The operator has not accepted the new hosts.
    let (is_success, output) = accepting.fetch(&["--accept", "mail"]);
    assert!(!is_success && output.contains("add --accept-hosts mail"), "{output}");
    assert_eq!(fs::read_to_string(&accepting.list).unwrap(), before);

    let (is_success, output) = accepting.fetch(&["--accept", "mail", "--accept-hosts", "mail"]);
    assert!(is_success, "{output}");
    let list = accepting.read();
    for platform in ["mail", "files"] {
        let pin = list.0[platform].pin.as_ref().unwrap();
        assert_eq!(pin.operations, 2, "{platform}");
        assert_eq!(pin.sha256, hash::sha256(text.as_bytes()));
        assert_eq!(pin.hosts.iter().map(String::as_str).collect::<Vec<_>>(), ["suite.com"]);
    }
    let (documents, missing) =
        fetched::available(&list, Some(&Cache(accepting.cache.clone()))).unwrap();
    assert_eq!((documents.len(), missing.len()), (2, 0));

    // Accepted hosts need no second consent, but other hosts do.
    let more = document("suite.com", "suite.com", &["/mail", "/files", "/files/{id}"]);
    accepting.report(&more);
    let (is_success, output) = accepting.fetch(&["--accept", "files"]);
    assert!(is_success, "{output}");
    assert_eq!(accepting.read().0["files"].pin.as_ref().unwrap().operations, 4);
    accepting.report(&document("suite.com", "evil.example", &["/mail", "/files"]));
    let (is_success, output) = accepting.fetch(&["--accept", "files"]);
    assert!(!is_success && output.contains("--accept-hosts files"), "{output}");
    assert_eq!(accepting.read().0["files"].pin.as_ref().unwrap().operations, 4);
}

#[test]
fn adds_fetched_documents_if_the_original_sources_are_missing() {
    let accepting = AcceptFixture::new("added", &document("s.com", "s.com", &["/mail", "/files"]));
    let list = fs::read_to_string(&accepting.list).unwrap();
    fs::write(&accepting.list, list.replace("MIT", "none stated")).unwrap();
    let folder = accepting.list.parent().unwrap();
    let (first, out) = (folder.join("first.json"), folder.join("catalog"));
    fs::write(&first, document("first.com", "first.com", &["/first"])).unwrap();
    let [first, out] = [&first, &out].map(|path| path.to_str().unwrap());
    let [list, cache] = [&accepting.list, &accepting.cache].map(|path| path.to_str().unwrap());
    let import =
        ["import", first, "--also", first, "--fetched", cache, "--list", list, "--out", out];
    let imported = run(&[&import[..], &["--config", "/dev/null"]].concat());
    assert!(imported.status.success(), "{}", stderr(&imported));
    fs::remove_file(first).unwrap();

    let (is_success, output) = accepting.fetch(&["--accept", "mail", "--accept-hosts", "mail"]);
    assert!(is_success, "{output}");
    let added = run(&["add", "--fetched", cache, "--catalog", out]);
    assert!(added.status.success(), "{}", stderr(&added));
    let found = run(&["find", "--catalog", out]);
    let found = String::from_utf8(found.stdout).unwrap();
    for name in ["first", "mail", "files"] {
        let line = found.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.contains(" 2 actions "), "{found}");
    }
}

#[test]
fn does_not_accept_damaged_document() {
    let accepting = AcceptFixture::new("accept-damaged", &document("s.com", "s.com", &["/mail"]));
    for file in fs::read_dir(accepting.cache.join("documents")).unwrap() {
        fs::write(file.unwrap().path(), "{}").unwrap();
    }
    let (is_success, output) = accepting.fetch(&["--accept", "mail", "--accept-hosts", "mail"]);
    assert!(!is_success && output.contains("is damaged"), "{output}");
}

#[test]
fn validates_platforms_and_hosts_before_any_change() {
    let accepting = AcceptFixture::new("accept-names", &document("s.com", "s.com", &["/mail"]));
    for (arguments, fault) in [
        (&["mial"][..], "there is no source of the platform `mial`; did you mean `mail`?"),
        (&["--accept", "x"], "there is no source of the platform `x`"),
        (&["--accept-hosts", "mail"], "--accept-hosts mail needs --accept mail, too"),
    ] {
        let (is_success, output) = accepting.fetch(arguments);
        assert!(!is_success && output.contains(fault), "{arguments:?}: {output}");
    }
}

#[test]
fn shipped_source_list_is_valid() {
    let list = SourceList::read(Path::new("sources.toml")).unwrap();
    assert!(list.0.len() > 100);
    let well_known = Providers::read(Path::new("providers.toml")).unwrap();
    let known = list.0.keys().filter(|name| well_known.0.contains_key(*name)).count();
    assert!(known > 50, "{known}");
    for (name, source) in &list.0 {
        let pin = source.pin.as_ref();
        assert!(pin.is_none_or(|pin| pin.operations > 0), "{name}");
    }
}

#[test]
fn coverage_reports_the_catalog_per_platform() {
    let (documents, out) = (folder("coverage-documents"), folder("coverage-out").join("catalog"));
    let file = documents.join("a.json");
    fs::write(&file, document("klaviyo.com", "a.klaviyo.com", &["/things"])).unwrap();
    let out = out.to_str().unwrap();
    let import = ["import", file.to_str().unwrap(), "--licence", "any", "--out", out];
    let imported = run(&[&import[..], &["--config", "/dev/null"]].concat());
    assert!(imported.status.success(), "{}", stderr(&imported));
    let output = run(&["list", "--coverage", "--catalog", out]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |name: &str| {
        let line = text.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(line("klaviyo").ends_with("2 actions imported"), "{}", line("klaviyo"));
    assert!(line("discord").contains("0 actions not fetched: https://"), "{}", line("discord"));
    let own = "0 actions not imported: documents/reddit.yaml";
    assert!(line("reddit").ends_with(own), "{}", line("reddit"));
    assert!(line("buffer").ends_with("0 actions none"), "{}", line("buffer"));
    assert!(text.lines().last().unwrap().contains("platforms: 1 with actions"), "{text}");
}
