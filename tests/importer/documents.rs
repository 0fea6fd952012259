//! Tests of supported documents, and of the errors for other documents.

use std::collections::BTreeMap;
use std::fs;

use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::report::Reason;

use super::support::{
    FIXTURES, folder, import_documents, import_sources, indented, platform_names,
};

#[test]
#[rustfmt::skip] // one case per line
fn reads_every_dialect_and_format() {
    for (file, key, version, actions, oauth) in [
        ("acme-3.0.json", "api::acme-store::v2", "2.4.1-beta.3", 8, true),
        ("petstore-2.0.yaml", "api::petstore-swagger::v1", "1.10", 3, true),
        ("hooks-3.1.yml", "api::hooks::v3", "v3", 1, false),
        ("bom.json", "api::1password::v2", "2", 0, false),
    ] {
        let (_, platforms) = import_sources(&[&format!("{FIXTURES}/good/{file}")], LicenceFilter::Open, "");
        let connector = &platforms[0].connector;
        let found = (connector.key.as_str(), connector.version.as_str(), connector.tools, connector.oauth);
        assert_eq!(found, (key, version, actions, oauth), "{file}");
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn only_known_versions_are_read() {
    for (dialect, read) in [
        ("swagger: '2.0'", true),
        ("swagger: 2.0", true),
        ("openapi: 3.0", true),
        ("openapi: 3.0.4", true),
        ("openapi: 3.0.0-rc2", true),
        ("openapi: 3.1.1", true),
        ("openapi: 3.2.0", true),
        ("openapi: 3.2", true),
        ("openapi: 3.3.0", false),
        ("openapi: 3.10.0", false),
        ("openapi: 3", false),
        ("openapi: 4.0.0", false),
        ("openapi: ''", false),
    ] {
        let (summary, platforms) = import_documents("dialect", &[&format!("{dialect}\ninfo: {{title: T, version: 1}}\npaths: {{/a: {{query: {{}}}}}}\n")]);
        assert_eq!(platforms.len() == 1, read, "{dialect}");
        let version = dialect.split_once(": ").unwrap().1.trim_matches('\'');
        let line = format!("0.yaml: OpenAPI {version} is not supported; 2.0 and 3.0 to 3.2 are");
        assert!(read || summary.full().contains(&line), "{}", summary.full());
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn broken_documents_report_the_position_of_the_fault() {
    let (summary, platforms) = import_sources(&[FIXTURES], LicenceFilter::Any, "");
    let lines: BTreeMap<String, String> = summary
        .skipped
        .iter()
        .map(|(path, reason)| {
            let line = reason.line(path);
            let (file, why) = line.strip_prefix(&format!("{FIXTURES}/")).unwrap().split_once(':').unwrap();
            (file.to_owned(), why.trim().to_owned())
        })
        .collect();
    let copy = format!("equivalent to {FIXTURES}/good/acme-3.0.json");
    let other = "not an OpenAPI document: it has no `openapi` or `swagger` field";
    for (file, why) in [
        ("broken/alias-bomb.yaml", "9:10: more nesting, aliases or nodes than a document may have"),
        ("broken/duplicate-components.json", "5:18: duplicate field `components`"),
        ("broken/duplicate-host.json", "5:21: duplicate field `host`"),
        ("broken/duplicate-security.json", "5:27: duplicate field `securityDefinitions`"),
        ("broken/duplicate-servers.json", "5:15: duplicate field `servers`"),
        ("broken/duplicate-operation.json", "5:28: duplicate operation `GET`"),
        ("broken/duplicate-path.json", "6:8: duplicate key `/a`"),
        ("broken/duplicate-path.yaml", "5:3: duplicate key `/a`"),
        ("broken/empty.json", "1:1: the file is empty"),
        ("broken/info-is-a-list.json", "3:10: invalid type: sequence, expected a map"),
        ("broken/info-is-a-list.yaml", "3:3: invalid type: sequence, expected a map"),
        ("broken/operation-is-a-list.json", "5:18: invalid type: sequence, expected a map"),
        ("broken/indentation.yaml", "4:2: while parsing a block mapping, did not find expected key"),
        ("broken/no-info.json", "1:1: the document has no `info`"),
        ("broken/not-utf-8.json", "1:43: the file is not UTF-8"),
        ("broken/paths-is-a-list.json", "4:11: invalid type: sequence, expected a map of paths"),
        ("broken/paths-is-a-list.yaml", "4:3: invalid type: sequence, expected a map of paths"),
        ("broken/tab.yaml", "4:2: tabs disallowed within this context (block indentation)"),
        ("broken/title-is-a-map.json", "3:38: expected a string, found a map"),
        ("broken/trailing-comma.json", "3:47: trailing comma"),
        ("broken/trailing-text.json", "2:1: trailing characters"),
        ("broken/truncated.json", "4:29: EOF while parsing an object"),
        ("broken/unknown-alias.yaml", "2:33: while parsing node, found unknown anchor"),
        ("good/acme-copy.json", &copy),
        ("other/comment.yml", other),
        ("other/list.json", other),
        ("other/manifests.yaml", other),
        ("other/openapi-3.3.yaml", "OpenAPI 3.3.0 is not supported; 2.0 and 3.0 to 3.2 are"),
        ("other/package.json", other),
        ("other/swagger-1.2.json", "OpenAPI 1.2 is not supported; 2.0 and 3.0 to 3.2 are"),
    ] {
        assert_eq!(lines.get(file).map(String::as_str), Some(why), "{file}");
    }
    assert_eq!(lines.len(), 30, "{lines:#?}");
    assert_eq!(platform_names(&platforms), ["1password", "acme-store", "closed", "hooks", "petstore-swagger", "unlicensed"]);
}

#[test]
#[rustfmt::skip] // one case per line
fn tolerates_faults_in_optional_parts() {
    let wrong = |name: &str| vec![format!("`{name}` has the wrong type and was left out")];
    for (at, (info, fields, oauth, warnings)) in [
        ("", "", false, vec![]),
        ("license: MIT", "", false, vec![]),
        ("license: 5", "", false, vec![]),
        ("license: [MIT]\ncontact: me\ntermsOfService: {}", "", false, vec![]),
        ("description: {en: Hello}\nx-providerName: {a: b}\nx-serviceName: []", "", false, vec![]),
        ("x-logo: 1\nx-tags: 2\nx-apisguru-categories: 3\nx-stability: {}\ndeprecated: []", "", false, vec![]),
        ("", "servers: {}", false, wrong("servers")),
        ("", "servers: null\nhost: null\ncomponents: null\nsecurityDefinitions: null", false, vec![]),
        ("", "servers: [5, {url: [1]}, {}]", false, vec![]),
        ("", "host: {}\nschemes: 5\nbasePath: []", false, vec![]),
        ("", "tags: {}\nexternalDocs: []\nsecurity: none\nwebhooks: 7", false, vec![]),
        ("", "components: []", false, wrong("components")),
        ("", "components: none", false, wrong("components")),
        ("", "components: {securitySchemes: []}", false, wrong("components/securitySchemes")),
        ("", "components: {securitySchemes: {a: b, c: [], d: {type: [oauth2], flow: [application], tokenUrl: ['https://t.example/token']}}}", true, vec![]),
        ("", "components: {securitySchemes: {a: {type: oauth2, flow: application, tokenUrl: https://t.example/token, scopes: []}}, schemas: []}", true, vec![]),
        ("", "securityDefinitions: []", false, wrong("securityDefinitions")),
        ("", "securityDefinitions: {a: 5, b: {type: oauth2, flow: application, tokenUrl: https://t.example/token}}", true, vec![]),
    ]
    .iter()
    .enumerate()
    {
        let info = indented(info);
        let document = format!("openapi: 3.0.0\ninfo:\n  title: T\n  version: 1\n{info}{fields}\npaths: {{/a: {{get: {{}}}}}}\n");
        let (summary, platforms) = import_documents(&format!("spare-{at}"), &[&document]);
        assert_eq!(platforms.len(), 1, "{document}{}", summary.full());
        let row = &platforms[0].connector;
        assert_eq!((row.platform.as_str(), row.tools, row.oauth), ("t", 1, *oauth), "{document}");
        let messages: Vec<&str> = summary.warnings.iter().filter_map(|line| Some(line.split_once(": ")?.1)).collect();
        assert_eq!(messages, *warnings, "{document}");
    }
    for (servers, platform) in [("'https://api.acme.com'", "acme"), ("{url: 'https://acme.com'}", "acme"), ("['https://acme.com']", "acme"), ("[{url: ' '}, {url: 'https://acme.com'}]", "acme")] {
        let (_, platforms) = import_documents("spare-servers", &[&format!("openapi: 3.0.0\ninfo: {{title: T, version: 1}}\nservers: {servers}\npaths: {{}}\n")]);
        assert_eq!(platform_names(&platforms), [platform], "{servers}");
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn bounds_the_cost_of_hostile_documents() {
    let head = "{\"openapi\": \"3.0.0\", \"info\": {\"title\": \"T\", \"version\": \"1\"}, ";
    for (name, document, imports) in [
        ("deep-list.json", format!("{head}\"x-deep\": {}", "[".repeat(5_000_000)), false),
        ("deep-map.json", format!("{head}\"x\": {}1{}, \"paths\": {{}}}}", "{\"a\":".repeat(100_000), "}".repeat(100_000)), true),
        ("deep-tags.json", format!("{head}\"paths\": {{\"/a\": {{\"get\": {{\"tags\": {}", "[".repeat(100_000)), false),
        ("deep-flow.yaml", format!("openapi: 3.0.0\nx: {}", "[".repeat(100_000)), false),
        ("deep-block.yaml", format!("openapi: 3.0.0\nx:\n{}", (1..2000).flat_map(|n| [" ".repeat(n), "a:\n".to_owned()]).collect::<String>()), false),
        ("long-text.json", format!("{head}\"paths\": {{\"/a\": {{\"get\": {{\"summary\": \"{}\"}}}}}}}}", "[*_<".repeat(2_000_000)), true),
        ("surrogate.json", "{\"openapi\": \"3.0.0\", \"info\": {\"title\": \"\\ud800\", \"version\": \"1\"}}".to_owned(), false),
        ("nul.json", "\0".repeat(1000), false),
        ("many-paths.json", format!("{head}\"paths\": {{{}\"/\": {{}}}}}}", (0..60_000).flat_map(|n| ["\"/".to_owned(), n.to_string(), "\":{},".to_owned()]).collect::<String>()), false),
        ("utf-16.json", "\u{feff}{\u{0}\"\u{0}".to_owned(), false),
    ] {
        let folder = folder("hostile");
        fs::write(folder.join(name), document).unwrap();
        let (summary, platforms) = import_sources(&[folder.to_str().unwrap()], LicenceFilter::Any, "");
        assert_eq!(platforms.len() == 1, imports, "{name}: {}", summary.full());
    }
}

#[cfg(unix)]
#[test]
fn follows_links_without_cycles() {
    let folder = folder("links");
    let good = fs::canonicalize(format!("{FIXTURES}/good")).unwrap();
    std::os::unix::fs::symlink(&good, folder.join("good")).unwrap();
    std::os::unix::fs::symlink(&folder, folder.join("circle")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("dead.json")).unwrap();
    let (summary, platforms) =
        import_sources(&[folder.to_str().unwrap(), good.to_str().unwrap()], LicenceFilter::Any, "");
    assert_eq!((platforms.len(), summary.files), (6, 7));
    assert!(summary.skipped.iter().any(
        |(path, reason)| path.ends_with("dead.json") && matches!(reason, Reason::Unreadable(_))
    ));
}
