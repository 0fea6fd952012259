//! Tests of this project's documents in `documents/`, which describe well-known platforms.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use connector_vault::importer::fetched::available;
use connector_vault::importer::fetched::list::SourceList;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::providers::Providers;
use connector_vault::importer::{Import, gather};

use super::details::action_details;
use super::support::{NoProgress, folder, platform_names};

/// The number of operations of each document.
const OPERATIONS: &[(&str, usize)] = &[
    ("acuity-scheduling", 18),
    ("anthropic", 9),
    ("azure-devops-services", 38),
    ("bigcommerce", 37),
    ("brevo", 38),
    ("calendly", 37),
    ("campaign-monitor", 37),
    ("chargebee", 14),
    ("clio", 26),
    ("cloudconvert", 9),
    ("cloudflare", 38),
    ("coinbase", 14),
    ("confluence", 33),
    ("contentful", 36),
    ("databricks", 40),
    ("easypost", 32),
    ("facebook", 13),
    ("fastly", 31),
    ("freshdesk", 31),
    ("ghost", 14),
    ("gocardless", 34),
    ("google-gemini", 17),
    ("groq", 16),
    ("gumroad", 19),
    ("harvest", 36),
    ("help-scout", 32),
    ("heroku", 38),
    ("hugging-face", 31),
    ("jotform", 25),
    ("linkedin", 21),
    ("mapbox", 13),
    ("meraki", 39),
    ("messagebird", 18),
    ("mixpanel", 29),
    ("openstreetmap", 20),
    ("patreon", 7),
    ("perplexity", 9),
    ("podio", 27),
    ("reddit", 30),
    ("salesforce", 35),
    ("segment", 33),
    ("shippo", 27),
    ("smartsheet", 36),
    ("snapchat", 14),
    ("snowflake", 31),
    ("supabase", 35),
    ("tiktok", 5),
    ("todoist", 30),
    ("travis-ci", 26),
    ("twitch", 40),
    ("typeform", 22),
    ("unbounce", 15),
    ("vultr", 39),
    ("webflow", 39),
    ("what3words", 5),
    ("woocommerce", 29),
    ("wordpress-site", 36),
    ("wordpress", 32),
    ("wrike", 28),
    ("zoho-calendar", 9),
];

/// A document that an operator imports.
const DOCUMENT: &str = r#"{"openapi": "3.0.0", "info": {"title": "Salesforce", "version": "1", "x-providerName": "salesforce.com", "license": {"name": "MIT"}}, "servers": [{"url": "https://acme.my.salesforce.com"}], "paths": {"/a": {"get": {}}}}"#;

fn job(sources: &Path) -> Import {
    let list = SourceList::read(Path::new("sources.toml")).unwrap();
    let (fetched, _) = available(&list, None).unwrap();
    let providers = Providers::read(Path::new("providers.toml")).unwrap();
    let sources = vec![sources.to_owned()];
    Import { sources, fetched, providers, licence: LicenceFilter::Open, ..Import::default() }
}

#[test]
fn every_operation_becomes_an_action_with_an_auth_method() {
    let other = folder("own-documents");
    fs::write(other.join("a.json"), DOCUMENT.replace("salesforce", "other")).unwrap();
    let job = job(&other);
    let (summary, platforms) = gather(&job, &NoProgress).unwrap();
    assert_eq!(summary.warnings, [""; 0]);
    for (name, operations) in OPERATIONS {
        let platform =
            platforms.iter().find(|platform| platform.connector.platform == *name).unwrap();
        assert_eq!(platform.actions.len(), *operations, "{name}");
        // The document adds no auth methods to those of `providers.toml`.
        let methods = platform.detail.auth_methods.len();
        assert_eq!(methods, job.providers.0[*name].detail.auth_methods.len(), "{name}");
        for action in &platform.actions {
            let auth = &action_details(platform, &action.key)["auth"];
            assert!(!auth.as_array().unwrap().is_empty(), "{name}: {}", action.key);
            let words = action.title.split(' ').count();
            let is_sentence = action.title.starts_with(char::is_uppercase) && words > 1;
            assert!(is_sentence || action.title == "Vote", "{name}: {}", action.title);
        }
    }
}

#[test]
fn every_document_belongs_to_a_platform_of_the_list() {
    let files: BTreeSet<String> = fs::read_dir("documents")
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let expected = OPERATIONS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files, expected);
    let own = job(Path::new("documents")).fetched;
    assert!(own.iter().map(|document| &document.platform).eq(&files));
}

#[test]
fn operator_document_replaces_project_document() {
    let documents = folder("own-replaced");
    fs::write(documents.join("a.json"), DOCUMENT).unwrap();
    let (_, platforms) = gather(&job(&documents), &NoProgress).unwrap();
    assert_eq!(platform_names(&platforms).iter().filter(|name| **name == "salesforce").count(), 1);
    let platform = platforms.iter().find(|one| one.connector.platform == "salesforce").unwrap();
    let keys: Vec<_> = platform.actions.iter().map(|action| &action.key).collect();
    assert_eq!(keys, ["getA"]);
}
