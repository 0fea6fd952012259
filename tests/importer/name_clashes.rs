//! Tests of documents that have the name of a platform in `providers.toml` but describe another
//! API.

use std::fs;

use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::providers::Providers;
use connector_vault::importer::{Import, gather};

use crate::support::{NoProgress, folder, platform_names};

const GITHUB: &str = "[platforms.github]\nname = \"GitHub\"\ndocuments = [\"github\"]\nservers = [\"https://api.github.com\"]\n";

fn document(title: &str, server: &str) -> String {
    format!(
        "openapi: 3.0.0\ninfo: {{title: {title}, version: 1, x-providerName: github.com}}\nservers: [{{url: \"{server}\"}}]\npaths: {{/calls: {{post: {{summary: Hang up a call}}}}}}\n"
    )
}

#[test]
fn document_with_another_host_becomes_its_own_platform() {
    for (title, server, own) in [
        ("Eqivo API", "https://raw.github.com/x/y.png", Some("github-eqivo")),
        ("GitHub REST API", "https://api.github.com", None),
        ("GitHub REST API", "/", None),
    ] {
        let folder = folder("strangers");
        fs::write(folder.join("github.com.yaml"), document(title, server)).unwrap();
        let job = Import {
            sources: vec![folder],
            licence: LicenceFilter::Any,
            providers: Providers::parse("providers.toml", GITHUB).unwrap(),
            ..Import::default()
        };
        let (summary, platforms) = gather(&job, &NoProgress).unwrap();
        let actions = |name: &str| {
            let found = platforms.iter().find(|one| one.connector.platform == name);
            found.map(|platform| platform.actions.len())
        };
        let warning = summary.warnings.iter().any(|warning| {
            warning.contains("filed under the name of GitHub") && warning.contains(server)
        });
        if let Some(own) = own {
            assert_eq!(platform_names(&platforms), ["github", own]);
            assert_eq!((actions("github"), actions(own), warning), (Some(0), Some(1), true));
        } else {
            assert_eq!(platform_names(&platforms), ["github"]);
            assert_eq!((actions("github"), warning), (Some(1), false));
        }
    }
}
