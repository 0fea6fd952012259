//! Tests of open licences, and of the import of documents with other licences.

use std::fs;
use std::path::PathBuf;

use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::report::Reason;
use connector_vault::importer::{Import, gather};

use super::support::{FIXTURES, NoProgress, folder, import_sources, platform_names};

#[test]
#[rustfmt::skip] // one case per line
fn recognizes_open_licences() {
    for (licence, open) in [
        ("{name: Apache 2.0}", true),
        ("{name: x, identifier: Apache-2.0}", true),
        ("{name: x, url: 'https://opensource.org/licenses/MIT'}", true),
        ("{name: The MIT License (MIT)}", true),
        ("{name: BSD-3-Clause}", true),
        ("{name: ISC}", true),
        ("{name: Mozilla Public License 2.0}", true),
        ("{name: GPLv3}", true),
        ("{name: LGPL-2.1}", true),
        ("{name: AGPL-3.0-only}", true),
        ("{name: CC0 1.0}", true),
        ("{name: CC-BY 4.0}", true),
        ("{name: Unlicense}", true),
        ("{name: U.S. Public Domain License}", true),
        ("{name: Open Government Licence}", true),
        ("MIT", true),
        ("Apache 2.0", true),
        ("{name: mit}", true),
        ("{name: MIT License}", true),
        ("{name: Distributed under the MIT licence}", true),
        ("{name: Released under MIT}", true),
        ("{name: MIT OR Zlib}", true),
        ("{name: EPL-2.0}", true),
        ("{name: MPL v2}", true),
        ("{identifier: MIT-0}", true),
        ("{url: 'https://spdx.org/licenses/MIT.html'}", true),
        ("{url: 'https://opensource.org/license/mit/'}", true),
        ("{name: BSL-1.0}", true),
        ("{name: Boost Software License 1.0}", true),
        ("{name: Creative Commons Attribution 3.0}", true),
        ("{name: Creative Commons, url: 'https://creativecommons.org/licenses/by/4.0/legalcode'}", true),
        ("{name: Creative Commons Zero}", true),
        ("{name: CC BY-SA 2.0}", true),
        ("{name: Creative Commons}", false),
        ("{name: Creative Commons, url: 'https://creativecommons.org/licenses/'}", false),
        ("{name: Creative Commons Attribution-NonCommercial}", false),
        ("{name: CC-BY-SA-NC}", false),
        ("{name: BSL 1.1}", false),
        ("{name: BSL}", false),
        ("{name: BUSL-1.1}", false),
        ("{name: Business Source License 1.1 (later Apache 2.0)}", false),
        ("{name: Apache 2.0 with Commons Clause}", false),
        ("{name: 'MIT + \"Commons Clause\" License Condition v1.0'}", false),
        ("{name: Nutzung nur mit Genehmigung}", false),
        ("{name: Lizenz mit Auflagen, url: 'https://a.example/license'}", false),
        ("{name: ISC API Terms of Use}", false),
        ("Commercial", false),
        ("[MIT]", false),
        ("{name: [MIT, of sorts], url: {}}", true),
        ("5", false),
        ("{name: CC BY-NC 4.0}", false),
        ("{name: x, url: 'http://creativecommons.org/licenses/by-nc-nd/2.0/'}", false),
        ("{name: Commercial}", false),
        ("{name: Terms of Use, url: 'https://submit.example/permit'}", false),
        ("{name: Proprietary (not MIT)}", false),
        ("{}", false),
        ("null", false),
    ] {
        let folder = folder("licence");
        let document = format!("openapi: 3.0.0\ninfo: {{title: T, version: 1, license: {licence}}}\npaths: {{}}\n");
        fs::write(folder.join("a.yaml"), document).unwrap();
        let (summary, platforms) = import_sources(&[folder.to_str().unwrap()], LicenceFilter::Open, "");
        assert_eq!(platforms.len() == 1, open, "{licence}");
        assert_eq!(matches!(summary.skipped[..], [(_, Reason::Licence(_))]), !open, "{licence}");
    }
}

#[test]
fn also_imports_documents_under_any_licence() {
    let good = PathBuf::from(format!("{FIXTURES}/good"));
    let closed = good.join("closed.json");
    let names = |sources: &[&PathBuf], also: &[&PathBuf]| {
        let all = |paths: &[&PathBuf]| paths.iter().map(|path| (*path).clone()).collect();
        let job = Import { sources: all(sources), also: all(also), ..Import::default() };
        let (_, platforms) = gather(&job, &NoProgress).unwrap();
        platforms.into_iter().map(|platform| platform.connector.platform).collect::<Vec<_>>()
    };
    let (open, one, all) = (names(&[&good], &[]), names(&[], &[&closed]), names(&[], &[&good]));
    assert_eq!(one.len(), 1);
    assert!(!open.contains(&one[0]));
    let mut with_one = [open, one].concat();
    with_one.sort();
    for sources in [vec![&good], vec![&good, &closed], vec![&closed, &good]] {
        let mut found = names(&sources, &[&closed]);
        found.sort();
        assert_eq!(found, with_one);
    }
    assert_eq!(names(&[&closed], &[&good]), all);
}

/// The newer document takes over the name of the older document, regardless of the other documents,
/// and equal operations keep their keys.
#[test]
fn newer_document_replaces_an_older_one() {
    let folder = folder("newer");
    let write = |name: &str, info: &str, paths: &str| {
        let server = "servers: [{url: 'https://api.acme.com'}]";
        let text = format!("openapi: 3.0.0\ninfo: {{{info}}}\n{server}\npaths: {{{paths}}}\n");
        fs::write(folder.join(name), text).unwrap();
        folder.join(name)
    };
    let get = |id: &str| format!("get: {{operationId: {id}, summary: Get it}}");
    let provider = "version: '9', license: {name: MIT}, x-providerName: acme.com";
    let a =
        write("a.yaml", &format!("title: Acme, {provider}"), &format!("/a: {{{}}}", get("getA")));
    let paths = format!("/a: {{{}}}, /b: {{{}}}", get("getA"), get("getB"));
    let newer = write("b.yaml", "title: B, version: '1', license: {name: MIT}", &paths);
    let c = format!("title: C, {provider}, x-serviceName: mail");
    let c = write("c.yaml", &c, &format!("/c: {{{}}}", get("getC")));
    // Its title shows that this document describes another API.
    let d =
        write("d.yaml", &format!("title: Other, {provider}"), &format!("/d: {{{}}}", get("getD")));
    for sources in [vec![folder.clone()], vec![a.clone(), newer.clone(), c.clone(), d.clone()]] {
        let job = Import { sources, newer: vec![newer.clone()], ..Import::default() };
        let (summary, platforms) = gather(&job, &NoProgress).unwrap();
        assert_eq!(platform_names(&platforms), ["acme", "acme-mail", "acme-other"]);
        let acme = platforms.iter().find(|one| one.connector.platform == "acme").unwrap();
        let keys: Vec<&str> = acme.actions.iter().map(|action| action.key.as_str()).collect();
        assert_eq!(keys, ["getA", "getB"]);
        assert_eq!(summary.skipped, [(a.clone(), Reason::Replaced(newer.clone()))]);
    }
    // A malformed document does not replace other documents.
    fs::write(&newer, "openapi: 3.0.0\ninfo: {title: B, version: 1}\npaths: 5\n").unwrap();
    let job = Import { sources: vec![folder], newer: vec![newer.clone()], ..Import::default() };
    let (summary, platforms) = gather(&job, &NoProgress).unwrap();
    assert_eq!(platform_names(&platforms), ["acme", "acme-mail", "acme-other"]);
    let skipped: Vec<_> = summary.skipped.iter().map(|(path, _)| path).collect();
    assert_eq!(skipped, [&newer]);
}

#[test]
#[rustfmt::skip] // one case per line
fn names_do_not_depend_on_the_licence_option() {
    let document = |licence: &str, version: &str, paths: &str| {
        format!("openapi: 3.0.0\ninfo: {{title: Acme, version: '{version}', x-providerName: acme.com, {licence}}}\npaths: {{{paths}}}\n")
    };
    let (free, none) = ("license: {name: MIT}", "x-a: b");
    let (a, b) = ("/a: {get: {}}", "/b: {get: {}}");
    for (name, documents, all, open) in [
        ("copy, closed first", vec![document(none, "1", a), document(free, "1", a)], vec!["acme"], vec!["acme"]),
        ("copy, open first", vec![document(free, "1", a), document(none, "1", a)], vec!["acme"], vec!["acme"]),
        ("three copies", vec![document(none, "1", a), document(free, "1", a), document(none, "1", a)], vec!["acme"], vec!["acme"]),
        ("copies and a version", vec![document(none, "1", a), document(none, "1", a), document(free, "2", a)], vec!["acme", "acme-v1"], vec!["acme"]),
        ("older is open", vec![document(free, "1", a), document(none, "2", a)], vec!["acme", "acme-v1"], vec!["acme-v1"]),
        ("newer is broken", vec![document(free, "1", a), document(none, "2", "/a: 5")], vec!["acme"], vec!["acme"]),
        ("both closed", vec![document(none, "1", a), document(none, "1", a)], vec!["acme"], vec![]),
    ] {
        let folder = folder("licence-names");
        for (at, text) in documents.iter().enumerate() {
            fs::write(folder.join(format!("{at}.yaml")), text).unwrap();
        }
        let folder = folder.to_str().unwrap();
        assert_eq!(platform_names(&import_sources(&[folder], LicenceFilter::Any, "").1), all, "{name}");
        let (summary, platforms) = import_sources(&[folder], LicenceFilter::Open, "");
        assert_eq!(platform_names(&platforms), open, "{name}");
        assert_eq!(platforms.len() + summary.skipped.len(), documents.len(), "{name}");
    }
    // The documents differ only in content. Each keeps its name, regardless of which document has
    // an open licence.
    let mut names = Vec::new();
    for licences in [[free, none], [none, free]] {
        let folder = folder("licence-content");
        for (at, (licence, paths)) in licences.iter().zip([a, b]).enumerate() {
            fs::write(folder.join(format!("{at}.yaml")), document(licence, "1", paths)).unwrap();
        }
        let folder = folder.to_str().unwrap();
        let [any, open] = [LicenceFilter::Any, LicenceFilter::Open].map(|licence| import_sources(&[folder], licence, "").1);
        assert_eq!((any.len(), open.len()), (2, 1));
        let same = any.iter().find(|platform| platform.actions[0].title == open[0].actions[0].title).unwrap();
        assert_eq!(same.connector, open[0].connector);
        names.push(open[0].connector.platform.clone());
    }
    names.sort();
    assert_eq!((names[0].as_str(), names[1].len()), ("acme", "acme-123456".len()));
}
