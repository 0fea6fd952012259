//! The importer's rules, tested on small documents written for them, and its command line.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "test helpers fail by panicking too")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use connector_vault::catalog::model::{Action, Connector, Status};
use connector_vault::catalog::write::Platform;
use connector_vault::importer::folder::Folder;
use connector_vault::importer::licence::Wanted;
use connector_vault::importer::overrides::Overrides;
use connector_vault::importer::report::{Reason, Summary};
use connector_vault::importer::{Import, Watch, gather, import};
use connector_vault::terms::Method;

const FIXTURES: &str = "tests/fixtures/openapi";

struct Silent;

impl Watch for Silent {
    fn found(&self, _: usize, _: u64) {}
    fn read(&self, _: u64) {}
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("importer").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn gathered(sources: &[&str], licence: Wanted, overrides: &str) -> (Summary, Vec<Platform>) {
    let overrides = Overrides::parse("catalog.toml", overrides).unwrap();
    let sources = sources.iter().map(PathBuf::from).collect();
    gather(&Import { sources, licence, overrides, ..Import::default() }, &Silent).unwrap()
}

/// Imports documents given as text, with the file names `0.yaml`, `1.yaml`, ….
fn written(name: &str, documents: &[&str]) -> (Summary, Vec<Platform>) {
    let folder = folder(name);
    for (at, text) in documents.iter().enumerate() {
        fs::write(folder.join(format!("{at}.yaml")), text).unwrap();
    }
    gathered(&[folder.to_str().unwrap()], Wanted::Any, "")
}

fn indented(lines: &str) -> String {
    format!("  {}\n", lines.replace('\n', "\n  "))
}

/// The connector of a document whose `info` has these additional lines.
fn with_info(name: &str, info: &str) -> Connector {
    let info = indented(info);
    let (summary, mut platforms) =
        written(name, &[&format!("openapi: 3.0.0\ninfo:\n{info}paths: {{}}\n")]);
    assert!(summary.skipped.is_empty(), "{}", summary.full());
    platforms.remove(0).connector
}

/// The action of a document with one operation.
fn with_operation(name: &str, path: &str, method: &str, operation: &str) -> Action {
    let document = format!(
        "openapi: 3.0.0\ninfo: {{title: T, version: 1}}\npaths: {{\"{path}\": {{{method}: {operation}}}}}\n"
    );
    let (summary, mut platforms) = written(name, &[&document]);
    assert!(summary.skipped.is_empty(), "{}", summary.full());
    platforms.remove(0).actions.remove(0)
}

fn platforms_of(platforms: &[Platform]) -> Vec<&str> {
    let mut names: Vec<&str> =
        platforms.iter().map(|platform| platform.connector.platform.as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
#[rustfmt::skip] // a case a line
fn every_field_of_a_connector() {
    let (_, platforms) = gathered(&["tests/fixtures/openapi/good/acme-3.0.json"], Wanted::Open, "");
    let connector = Connector {
        id: platforms[0].connector.id,
        name: "Acme Store API".into(),
        key: "api::acme-store::v2".into(),
        platform: "acme-store".into(),
        platform_version: "v2".into(),
        status: Status::Beta,
        description: "The Acme store, documented & ready. orders; refunds".into(),
        category: "Developer Tools".into(),
        image: "https://acme.com/logo.svg".into(),
        tags: vec!["Ecommerce".into(), "shop".into()],
        oauth: true,
        tools: 8,
        version: "2.4.1-beta.3".into(),
        active: true,
    };
    assert_eq!(platforms[0].connector, connector);
    assert!((1..1 << 53).contains(&connector.id));
    assert!(!platforms[0].authkit);
}

#[test]
#[rustfmt::skip] // a case a line
fn every_field_of_an_action() {
    let (summary, platforms) = gathered(&["tests/fixtures/openapi/good/acme-3.0.json"], Wanted::Open, "");
    let rows: Vec<(&str, &str, &str, &str)> = platforms[0]
        .actions
        .iter()
        .map(|action| (action.method.as_str(), action.title.as_str(), action.key.as_str(), action.model_name.as_str()))
        .collect();
    let expected = [
        ("GET", "List orders for also order", "ordersListAll", "SalesOrders"),
        ("POST", "Create order for also order", "createOrder", "SalesOrders"),
        ("GET", "List orders", "ordersListAll2", "SalesOrders"),
        ("POST", "Create order", "createOrder2", "SalesOrders"),
        ("GET", "Get order by ID", "getOrderByID", "Orders"),
        ("PUT", "Update order", "putOrdersByOrderId", "Orders"),
        ("PATCH", "Change an order", "createOrder3", "Orders"),
        ("DELETE", "Delete order", "deleteOrdersByOrderId", "Orders"),
    ];
    assert_eq!(rows, expected);
    assert!(platforms[0].actions.iter().all(|action| action.platform == "acme-store"));
    let warning = "the reference from /elsewhere to other.json#/paths/x leads out of the document's paths";
    assert_eq!(summary.warnings, [format!("tests/fixtures/openapi/good/acme-3.0.json: {warning}")]);
}

#[test]
#[rustfmt::skip] // a case a line
fn every_dialect_and_format() {
    for (file, key, version, actions, oauth) in [
        ("acme-3.0.json", "api::acme-store::v2", "2.4.1-beta.3", 8, true),
        ("petstore-2.0.yaml", "api::petstore-swagger::v1", "1.10", 3, true),
        ("hooks-3.1.yml", "api::hooks::v3", "v3", 1, false),
        ("bom.json", "api::1password::v2", "2", 0, false),
    ] {
        let (_, platforms) = gathered(&[&format!("{FIXTURES}/good/{file}")], Wanted::Open, "");
        let connector = &platforms[0].connector;
        let found = (connector.key.as_str(), connector.version.as_str(), connector.tools, connector.oauth);
        assert_eq!(found, (key, version, actions, oauth), "{file}");
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn platform_names() {
    for (at, (info, server, platform)) in [
        ("x-providerName: stripe.com", "", "stripe"),
        ("x-providerName: amazonaws.com\nx-serviceName: ec2", "", "amazonaws-ec2"),
        ("x-providerName: github.com\nx-serviceName: api.github.com", "", "github"),
        ("x-providerName: googleapis.com\nx-serviceName: gmail", "", "googleapis-gmail"),
        ("x-providerName: twilio.com\nx-serviceName: twilio_video_v1", "", "twilio-video-v1"),
        ("x-providerName: twilio.com\nx-serviceName: api", "", "twilio"),
        ("x-providerName: adyen.com\nx-serviceName: BinLookupService", "", "adyen-bin-lookup-service"),
        ("x-providerName: bbc.co.uk", "", "bbc"),
        ("x-providerName: 1password.local\nx-serviceName: connect", "", "1password-connect"),
        ("x-providerName: tl-api.azurewebsites.net", "", "tl-api"),
        ("x-providerName: api.video", "", "api-video"),
        ("title: T", "https://api.acme.com:8443/v1", "acme"),
        ("title: T", "https://{tenant}.billing.acme.io", "billing-acme"),
        ("title: Acme Billing REST API", "/v1", "acme-billing"),
        ("title: GitHub Thing", "http://localhost:3000", "github-thing"),
        ("title: GitHub Thing", "http://127.0.0.1", "github-thing"),
    ]
    .iter()
    .enumerate()
    {
        let info = indented(info);
        let document = format!("openapi: 3.0.0\ninfo:\n  version: 1\n{info}servers: [{{url: '{server}'}}]\npaths: {{}}\n");
        let (_, platforms) = written(&format!("platform-{at}"), &[&document]);
        assert_eq!(platforms_of(&platforms), [*platform], "{document}");
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn clashes_of_platform_names() {
    let document = |provider: &str, title: &str, version: &str, paths: &str| {
        format!("openapi: 3.0.0\ninfo: {{title: '{title}', version: '{version}', x-providerName: {provider}}}\npaths: {{{paths}}}\n")
    };
    let acme = |title: &str, version: &str, path: &str| document("acme.com", title, version, &format!("/{path}: {{get: {{}}}}"));
    for (name, documents, expected) in [
        ("provider", [document("visma.net", "A", "1", ""), document("visma.com", "B", "1", "")], vec!["visma", "visma-net"]),
        ("title", [acme("Acme Users", "1", "u"), acme("Acme Billing", "1", "b")], vec!["acme-billing", "acme-users"]),
        ("name in title", [acme("Acme API", "1", "u"), acme("Other", "1", "b")], vec!["acme", "acme-other"]),
        ("version", [acme("Acme", "1.9", "u"), acme("Acme", "2.0", "u")], vec!["acme", "acme-v1"]),
        ("minor version", [acme("Acme", "2.9", "u"), acme("Acme", "2.10", "u")], vec!["acme", "acme-2-9"]),
        ("copy", [acme("Acme", "1", "u"), acme("Acme", "1", "u")], vec!["acme"]),
    ] {
        let (_, there) = written(&format!("clash {name}"), &[&documents[0], &documents[1]]);
        let (_, back) = written(&format!("clash {name}"), &[&documents[1], &documents[0]]);
        assert_eq!(platforms_of(&there), expected, "{name}");
        let rows = |platforms: &[Platform]| platforms.iter().map(|p| (p.connector.clone(), p.actions.clone())).collect::<Vec<_>>();
        assert_eq!(rows(&there), rows(&back), "{name}: the order of files must not matter");
    }
    let (_, platforms) = written("clash content", &[&acme("Acme", "1", "u"), &acme("Acme", "1", "b")]);
    assert_eq!(platforms.len(), 2);
    let names = platforms_of(&platforms);
    assert_eq!((names[0], names[1].len()), ("acme", "acme-123456".len()));
}

#[test]
#[rustfmt::skip] // a case a line
fn platform_versions_and_statuses() {
    use Status::{Alpha, Beta, GenerallyAvailable as Ga, NotAvailable};
    for (at, (info, version, status)) in [
        ("version: 1.1.4", "v1", Ga),
        ("version: '2022-11-28'", "v2022", Ga),
        ("version: '20240131'", "v2024", Ga),
        ("version: 2019-05-01-preview", "v2019", Beta),
        ("version: v1beta2", "v1", Beta),
        ("version: v1_beta.34.0", "v1", Beta),
        ("version: 3.0.0-rc.1", "v3", Beta),
        ("version: v2alpha1", "v2", Alpha),
        ("version: prealpha", "v1", Alpha),
        ("version: api-v3", "v3", Ga),
        ("version: 3.0 (v7)", "v7", Ga),
        ("version: 0d3c5a0d9b12", "v0", Ga),
        ("version: latest", "v1", Ga),
        ("title: T", "v1", Ga),
        ("version: 1\ntitle: Mail (beta)", "v1", Beta),
        ("version: 1\ntitle: Mail (Deprecated)", "v1", NotAvailable),
        ("version: 1\nx-deprecated: true", "v1", NotAvailable),
        ("version: 1\nx-stability: [beta]", "v1", Beta),
        ("version: 1\nx-alpha: true", "v1", Alpha),
        ("version: 1\ndeprecated: false\nx-deprecated: true", "v1", NotAvailable),
        ("version: 1\ndeprecated: true\nx-deprecated: false", "v1", NotAvailable),
        ("version: 1\nx-stability: stable\nx-stability-level: beta", "v1", Beta),
        ("version: 1\nx-stability: stable\nx-release-status: alpha\nx-api-status: live", "v1", Alpha),
        ("version: 1\nx-api-status: retired\nx-stability-level: beta", "v1", NotAvailable),
        ("version: 1\ntitle: Alphabet", "v1", Ga),
    ]
    .iter()
    .enumerate()
    {
        let connector = with_info(&format!("version-{at}"), info);
        assert_eq!((connector.platform_version.as_str(), connector.status), (*version, *status), "{info}");
        assert_eq!(connector.key, format!("api::{}::{}", connector.platform, connector.platform_version));
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn descriptions_are_one_plain_line() {
    for (at, (text, line)) in [
        ("plain", "plain"),
        ("two\\n\\n  lines\\there", "two lines here"),
        ("# Title\\n\\nBody", "Body"),
        ("Title\\n=====\\nBody", "Body"),
        ("# Only a title", "Only a title"),
        ("<p>An <b>HTML</b> text,<br/>with &lt;tags&gt; &amp; more</p>", "An HTML text, with <tags> & more"),
        ("<h1>Title</h1><style>p {}</style>Body <!-- hidden -->", "Body"),
        ("<fullname>Name</fullname> <p>Name is a service</p>", "Name is a service"),
        ("<fullname>Only a name</fullname>", "Only a name"),
        ("get /users/<id> when a < b", "get /users/<id> when a < b"),
        ("[![badge](a.svg)](b) See [the *docs*](https://x.y/(z)).", "See the docs."),
        ("**bold**, _em_, `code`, snake_case_name, 5 * 3 * 2", "bold, em, code, snake_case_name, 5 * 3 * 2"),
        ("Text\\n```\\ncode\\n```\\nmore\\n| a | b |\\n|---|---|", "Text more"),
        ("> quoted\\n- one\\n- two", "quoted one; two"),
        ("zero\\u200bwidth \\u202eand\\u0000 control", "zerowidth and control"),
    ]
    .iter()
    .enumerate()
    {
        let connector = with_info(&format!("description-{at}"), &format!("title: T\ndescription: \"{text}\""));
        assert_eq!(connector.description, *line, "{text}");
    }
    let words = "word ".repeat(200);
    let connector = with_info("description-long", &format!("title: {words}\ndescription: {words}"));
    assert_eq!(connector.description.chars().count(), 500);
    assert!(connector.description.ends_with("word…"), "{}", connector.description);
    assert!(connector.name.chars().count() <= 120);
    let connector = with_info("description-one-word", &format!("title: T\ndescription: {}", "é".repeat(2000)));
    assert_eq!(connector.description.chars().count(), 500);
}

#[test]
#[rustfmt::skip] // a case a line
fn categories_tags_and_images() {
    for (at, (info, category, tags)) in [
        ("title: T", "Other", &[][..]),
        ("x-apisguru-categories: [iot, open_data]", "IoT", &["Open Data"]),
        ("x-apisguru-categories: [s, e, c]", "Other", &[]),
        ("x-apisguru-categories: {a: b}", "Other", &[]),
        ("x-apisguru-categories: [email]\nx-tags: [EMAIL, '#a', A, {b: c}]", "Email", &["a"]),
    ]
    .iter()
    .enumerate()
    {
        let connector = with_info(&format!("category-{at}"), info);
        assert_eq!((connector.category.as_str(), connector.tags.iter().map(String::as_str).collect::<Vec<_>>()), (*category, tags.to_vec()));
    }
    for (at, logo) in ["{url: 'http://a.b/c.png'}", "{url: 'javascript:alert(1)'}", "{url: \"https://a.b/'><script>\"}", "5", "[]"].iter().enumerate() {
        let connector = with_info(&format!("image-{at}"), &format!("title: Über & Co\nx-logo: {logo}"));
        assert!(connector.image.starts_with("data:image/svg+xml,%3Csvg"), "{logo}: {}", connector.image);
        assert!(connector.image.contains("%3E%C3%9CC%3C/text"), "{}", connector.image);
        assert!(connector.image.bytes().all(|b| b.is_ascii_graphic() && !b"\"'<>&#".contains(&b)), "{}", connector.image);
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn action_titles_keys_and_models() {
    for (at, (path, method, operation, title, key, model)) in [
        // A summary that begins with a verb is the title.
        ("/a", "get", "{summary: ' List <b>b</b>. ', operationId: getB}", "List b", "getB", "A"),
        ("/a", "get", "{summary: 'Wait...'}", "Wait...", "getA", "A"),
        ("/a", "get", "{summary: DELETE the timeCard}", "Delete the time card", "getA", "A"),
        ("/a", "get", "{summary: 'Get an archive (zip) of {pet-id} (deprecated)'}", "Get an archive, zip of pet-id", "getA", "A"),
        ("/a", "post", "{summary: addCards()}", "Add cards", "postA", "A"),
        ("/a", "get", "{summary: 'Get iPhone, GitHub and ReplicaSet'}", "Get iPhone, GitHub and ReplicaSet", "getA", "A"),
        ("/a", "post", "{summary: Re-run a job}", "Re-run a job", "postA", "A"),
        // Else the first sentence of the description, if it is short and begins with a verb.
        ("/a", "get", "{summary: Pets, description: 'Lists all pets, e.g. cats. More of it.'}", "List all pets, e.g. cats", "getA", "A"),
        ("/a", "get", "{description: 'This endpoint is used to find pets.'}", "Find pets", "getA", "A"),
        ("/a", "put", "{description: 'Creates or updates a pet'}", "Create or update a pet", "putA", "A"),
        // Else a verb, followed by the summary …
        ("/pets", "get", "{summary: Pets, description: All pets.}", "List pets", "getPets", "Pets"),
        ("/pets/{id}", "get", "{summary: The pet's details}", "Get pet's details", "getPetsById", "Pets"),
        ("/orders", "get", "{summary: Order history}", "List order history", "getOrders", "Orders"),
        ("/orders", "post", "{summary: Order a meal}", "Order a meal", "postOrders", "Orders"),
        // … or by what the operationId or the path names.
        ("/a", "get", "{operationId: listUserAPIKeys}", "List user API keys", "listUserAPIKeys", "A"),
        ("/a", "get", "{operationId: repos/list-for-user}", "List repos for user", "reposListForUser", "A"),
        ("/a", "get", "{operationId: APIKey_Get}", "Get API key", "apiKeyGet", "A"),
        ("/a", "post", "{operationId: gmail.users.messages.send}", "Send message", "gmailUsersMessagesSend", "A"),
        ("/a", "put", "{operationId: VirtualMachines_CreateOrUpdate}", "Create virtual machine", "virtualMachinesCreateOrUpdate", "A"),
        ("/a", "get", "{operationId: LIST_USERS}", "List users", "listUSERS", "A"),
        ("/tasks/{id}/cancel", "post", "{}", "Cancel task", "postTasksByIdCancel", "Cancel"),
        ("/v1/{name}:undelete", "post", "{}", "Undelete", "postV1ByNameUndelete", "V1"),
        ("/users/{id}/messages/$count", "get", "{summary: Get the number of the resource}", "Count messages", "getUsersByIdMessagesCount", "Count"),
        ("/a", "get", "{operationId: '---'}", "Get a", "getA", "A"),
        ("/a/{b}/c-d", "delete", "{}", "Delete c d", "deleteAByBCD", "CD"),
        ("/{b}", "put", "{tags: ['pets & dogs']}", "Update resource", "putByB", "PetsDogs"),
        ("/", "patch", "", "Update resource", "patch", ""),
        // Amazon's query protocol.
        ("/#Action=DescribeHosts", "post", "{operationId: POST_DescribeHosts}", "Describe hosts", "describeHosts", ""),
        ("/#Action=Do", "post", "{tags: []}", "Create do", "postActionDo", ""),
        ("/ö", "get", "{operationId: größeLesen}", "Get ö", "größeLesen", "Ö"),
    ]
    .iter()
    .enumerate()
    {
        let action = with_operation(&format!("action-{at}"), path, method, operation);
        let found = (action.title.as_str(), action.key.as_str(), action.model_name.as_str());
        assert_eq!(found, (*title, *key, *model), "{method} {path} {operation}");
    }
    let long = "x".repeat(5000);
    let action = with_operation("action-long", "/a", "get", &format!("{{summary: {long}, operationId: {long}, tags: [{long}]}}"));
    assert_eq!(action.method, Method::Get);
    assert_eq!((action.title.chars().count(), action.key.chars().count(), action.model_name.chars().count()), (200, 256, 100));
}

#[test]
#[rustfmt::skip] // a case a line
fn equal_titles_are_told_apart() {
    let with = |name: &str, paths: &str| {
        let (_, platforms) = written(name, &[&format!("openapi: 3.0.0\ninfo: {{title: T, version: 1}}\npaths: {{{paths}}}\n")]);
        platforms[0].actions.iter().map(|action| action.title.clone()).collect::<Vec<_>>()
    };
    for (at, (paths, titles)) in [
        (
            "'/issues/{id}/comments': {get: {summary: List comments}}, '/pulls/{id}/comments': {get: {summary: List comments}}",
            vec!["List comments for issue", "List comments for pull"],
        ),
        (
            "'/user/{id}': {get: {summary: Get user}}, '/user/{name}': {get: {summary: Get user}}",
            vec!["Get user by id", "Get user by name"],
        ),
        (
            "'/user': {put: {summary: Update user}, patch: {summary: Update user}}",
            vec!["Replace user", "Update user"],
        ),
        (
            "/#Action=DescribeHosts: {get: {operationId: GET_DescribeHosts}, post: {operationId: POST_DescribeHosts}}",
            vec!["Describe hosts"],
        ),
    ]
    .iter()
    .enumerate()
    {
        let mut found = with(&format!("alike-{at}"), paths);
        found.sort();
        assert_eq!(found, *titles, "{paths}");
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn licences() {
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
        let (summary, platforms) = gathered(&[folder.to_str().unwrap()], Wanted::Open, "");
        assert_eq!(platforms.len() == 1, open, "{licence}");
        assert_eq!(matches!(summary.skipped[..], [(_, Reason::Licence(_))]), !open, "{licence}");
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn each_way_to_be_broken_has_its_place() {
    let (summary, platforms) = gathered(&[FIXTURES], Wanted::Any, "");
    let lines: BTreeMap<String, String> = summary
        .skipped
        .iter()
        .map(|(path, reason)| {
            let line = reason.line(path);
            let (file, why) = line.strip_prefix(&format!("{FIXTURES}/")).unwrap().split_once(':').unwrap();
            (file.to_owned(), why.trim().to_owned())
        })
        .collect();
    let copy = format!("says the same as {FIXTURES}/good/acme-3.0.json");
    let other = "not an OpenAPI document: it has no `openapi` or `swagger` field";
    for (file, why) in [
        ("broken/alias-bomb.yaml", "8:38: more nesting, aliases or nodes than an honest document has"),
        ("broken/duplicate-components.json", "5:18: duplicate field `components`"),
        ("broken/duplicate-host.json", "5:21: duplicate field `host`"),
        ("broken/duplicate-security.json", "5:27: duplicate field `securityDefinitions`"),
        ("broken/duplicate-servers.json", "5:15: duplicate field `servers`"),
        ("broken/duplicate-operation.json", "5:28: duplicate operation `GET`"),
        ("broken/duplicate-path.json", "6:8: duplicate key `/a`"),
        ("broken/duplicate-path.yaml", "5:3: duplicate mapping key: /a"),
        ("broken/empty.json", "1:1: the file is empty"),
        ("broken/info-is-a-list.json", "3:10: invalid type: sequence, expected a map"),
        ("broken/info-is-a-list.yaml", "3:3: expected mapping start"),
        ("broken/operation-is-a-list.json", "5:18: invalid type: sequence, expected a map"),
        ("broken/indentation.yaml", "4:2: while parsing a block mapping, did not find expected key"),
        ("broken/no-info.json", "1:1: the document has no `info`"),
        ("broken/not-utf-8.json", "1:43: the file is not UTF-8"),
        ("broken/paths-is-a-list.json", "4:11: invalid type: sequence, expected a map of paths"),
        ("broken/paths-is-a-list.yaml", "4:3: expected mapping start"),
        ("broken/tab.yaml", "4:2: tabs disallowed within this context (block indentation)"),
        ("broken/title-is-a-map.json", "3:38: expected text, found a map"),
        ("broken/trailing-comma.json", "3:47: trailing comma"),
        ("broken/trailing-text.json", "2:1: trailing characters"),
        ("broken/truncated.json", "4:29: EOF while parsing an object"),
        ("broken/unknown-alias.yaml", "2:33: alias references unknown anchor"),
        ("good/acme-copy.json", &copy),
        ("other/comment.yml", other),
        ("other/list.json", other),
        ("other/manifests.yaml", other),
        ("other/openapi-3.2.yaml", "OpenAPI 3.2.0 is not supported; 2.0, 3.0 and 3.1 are"),
        ("other/package.json", other),
        ("other/swagger-1.2.json", "OpenAPI 1.2 is not supported; 2.0, 3.0 and 3.1 are"),
    ] {
        assert_eq!(lines.get(file).map(String::as_str), Some(why), "{file}");
    }
    assert_eq!(lines.len(), 30, "{lines:#?}");
    assert_eq!(platforms_of(&platforms), ["1password", "acme-store", "closed", "hooks", "petstore-swagger", "unlicensed"]);
}

#[test]
#[rustfmt::skip] // a case a line
fn what_rows_can_do_without_breaks_no_document() {
    let wrong = |name: &str| vec![format!("`{name}` is not what it should be and was left out")];
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
        ("", "components: {securitySchemes: {a: b, c: [], d: {type: [oauth2]}}}", true, vec![]),
        ("", "components: {securitySchemes: {a: {type: oauth2}}, schemas: []}", true, vec![]),
        ("", "securityDefinitions: []", false, wrong("securityDefinitions")),
        ("", "securityDefinitions: {a: 5, b: {type: oauth2}}", true, vec![]),
    ]
    .iter()
    .enumerate()
    {
        let info = indented(info);
        let document = format!("openapi: 3.0.0\ninfo:\n  title: T\n  version: 1\n{info}{fields}\npaths: {{/a: {{get: {{}}}}}}\n");
        let (summary, platforms) = written(&format!("spare-{at}"), &[&document]);
        assert_eq!(platforms.len(), 1, "{document}{}", summary.full());
        let row = &platforms[0].connector;
        assert_eq!((row.platform.as_str(), row.tools, row.oauth), ("t", 1, *oauth), "{document}");
        let told: Vec<&str> = summary.warnings.iter().filter_map(|line| Some(line.split_once(": ")?.1)).collect();
        assert_eq!(told, *warnings, "{document}");
    }
    for (servers, platform) in [("'https://api.acme.com'", "acme"), ("{url: 'https://acme.com'}", "acme"), ("['https://acme.com']", "acme"), ("[{url: ' '}, {url: 'https://acme.com'}]", "acme")] {
        let (_, platforms) = written("spare-servers", &[&format!("openapi: 3.0.0\ninfo: {{title: T, version: 1}}\nservers: {servers}\npaths: {{}}\n")]);
        assert_eq!(platforms_of(&platforms), [platform], "{servers}");
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn only_the_dialects_that_are_read_whole_are_read() {
    for (dialect, read) in [
        ("swagger: '2.0'", true),
        ("swagger: 2.0", true),
        ("openapi: 3.0", true),
        ("openapi: 3.0.4", true),
        ("openapi: 3.0.0-rc2", true),
        ("openapi: 3.1.1", true),
        ("openapi: 3.2.0", false),
        ("openapi: 3.10.0", false),
        ("openapi: 3", false),
        ("openapi: 4.0.0", false),
        ("openapi: ''", false),
    ] {
        let (summary, platforms) = written("dialect", &[&format!("{dialect}\ninfo: {{title: T, version: 1}}\npaths: {{/a: {{query: {{}}}}}}\n")]);
        assert_eq!(platforms.len() == 1, read, "{dialect}");
        let version = dialect.split_once(": ").unwrap().1.trim_matches('\'');
        let line = format!("0.yaml: OpenAPI {version} is not supported; 2.0, 3.0 and 3.1 are");
        assert!(read || summary.full().contains(&line), "{}", summary.full());
    }
}

#[test]
fn what_is_named_by_also_is_taken_whatever_its_licence() {
    let good = PathBuf::from(format!("{FIXTURES}/good"));
    let closed = good.join("closed.json");
    let names = |sources: &[&PathBuf], also: &[&PathBuf]| {
        let all = |paths: &[&PathBuf]| paths.iter().map(|path| (*path).clone()).collect();
        let job = Import { sources: all(sources), also: all(also), ..Import::default() };
        let (_, platforms) = gather(&job, &Silent).unwrap();
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

#[test]
#[rustfmt::skip] // a case a line
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
        assert_eq!(platforms_of(&gathered(&[folder], Wanted::Any, "").1), all, "{name}");
        let (summary, platforms) = gathered(&[folder], Wanted::Open, "");
        assert_eq!(platforms_of(&platforms), open, "{name}");
        assert_eq!(platforms.len() + summary.skipped.len(), documents.len(), "{name}");
    }
    // Documents that differ only in content: each keeps its name, whichever of them has an open licence.
    let mut names = Vec::new();
    for licences in [[free, none], [none, free]] {
        let folder = folder("licence-content");
        for (at, (licence, paths)) in licences.iter().zip([a, b]).enumerate() {
            fs::write(folder.join(format!("{at}.yaml")), document(licence, "1", paths)).unwrap();
        }
        let folder = folder.to_str().unwrap();
        let [any, open] = [Wanted::Any, Wanted::Open].map(|licence| gathered(&[folder], licence, "").1);
        assert_eq!((any.len(), open.len()), (2, 1));
        let same = any.iter().find(|platform| platform.actions[0].title == open[0].actions[0].title).unwrap();
        assert_eq!(same.connector, open[0].connector);
        names.push(open[0].connector.platform.clone());
    }
    names.sort();
    assert_eq!((names[0].as_str(), names[1].len()), ("acme", "acme-123456".len()));
}

#[test]
#[rustfmt::skip] // a case a line
fn hostile_documents_do_no_harm() {
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
        let (summary, platforms) = gathered(&[folder.to_str().unwrap()], Wanted::Any, "");
        assert_eq!(platforms.len() == 1, imports, "{name}: {}", summary.full());
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn overrides_change_what_they_name() {
    let toml = "[platforms.acme-store]\nrename = 'acme'\nname = 'Acme'\ndescription = 'A store.'\ncategory = 'Shops'\nstatus = 'alpha'\n\
                active = false\ntags = ['a', 'b']\nimage = 'https://acme.com/new.png'\nauthkit = true\n\
                [platforms.nowhere]\noptional = true\n";
    let (summary, platforms) = gathered(&["tests/fixtures/openapi/good/acme-3.0.json"], Wanted::Open, toml);
    let connector = &platforms[0].connector;
    assert_eq!((connector.platform.as_str(), connector.key.as_str(), connector.name.as_str()), ("acme", "api::acme::v2", "Acme"));
    assert_eq!((connector.category.as_str(), connector.status, connector.active), ("Shops", Status::Alpha, false));
    assert_eq!((connector.image.as_str(), connector.description.as_str()), ("https://acme.com/new.png", "A store."));
    assert_eq!(connector.tags, ["a", "b"]);
    assert!(platforms[0].authkit);
    assert!(platforms[0].actions.iter().all(|action| action.platform == "acme"));
    assert_eq!(summary.notes, ["optional entries of catalog.toml left aside, as no document is about them: nowhere"]);
    let (summary, _) = gathered(&["tests/fixtures/openapi/good"], Wanted::Open, "[platforms.closed]\nauthkit = true\n");
    assert_eq!(summary.notes, ["entries of catalog.toml left aside, as their licence is not open: closed"]);
}

#[test]
#[rustfmt::skip] // a case a line
fn faults_of_the_overrides_have_their_place() {
    for (toml, fault) in [
        ("[platform.a]\n", "c.toml:1:2: unknown field `platform`; did you mean `platforms`?"),
        ("[platforms.a]\nstauts = 'beta'\n", "c.toml:2:1: unknown field `stauts`; did you mean `status`?"),
        ("[platforms.a]\nstatus = 'bета'\n", "c.toml:2:10: expected one of `generally_available`, `beta`, `alpha`, `not_available`"),
        ("[platforms.a]\nrename = 'A B'\n", "c.toml:2:10: expected 1–64 of a-z, 0-9 and -"),
        ("[platforms.a]\nactive = 'no'\n", "c.toml:2:10: expected true or false"),
        ("[platforms.a]\ntags = ['a', 5]\n", "c.toml:2:14: expected one line of 1 to 64 characters"),
        ("[platforms.a]\nimage = 'http://a.b'\n", "c.toml:2:9: expected an `https:` or `data:image/` URL of at most 2048 characters"),
        ("[platforms.a]\nname = \"a\\nb\"\n", "c.toml:2:8: expected one line of 1 to 120 characters"),
        ("[platforms]\na = 5\n", "c.toml:2:5: a platform is a table: write `[platforms.NAME]`"),
    ] {
        assert_eq!(Overrides::parse("c.toml", toml).unwrap_err().to_string(), fault, "{toml}");
    }
    let two = Overrides::parse("c.toml", "[platforms.a]\nx = 1\ny = 2\n").unwrap_err().to_string();
    assert_eq!(two.lines().count(), 2, "{two}");
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_connector-vault"))
        .arg("catalog")
        .args(arguments)
        .env_remove("INIT_CWD")
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All files of a folder with their content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut contents = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            contents.extend(
                self::contents(&path).into_iter().map(|(name, bytes)| (path.join(name), bytes)),
            );
        } else if path.file_name().unwrap() != "report.txt" {
            contents
                .insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
    contents
        .into_iter()
        .map(|(path, bytes)| (path.strip_prefix(folder).unwrap_or(&path).to_owned(), bytes))
        .collect()
}

#[test]
#[rustfmt::skip] // a case a line
fn command_line_exit_codes_and_messages() {
    let out = folder("cli");
    let out = out.to_str().unwrap();
    let config = folder("cli-config").join("c.toml");
    fs::write(&config, "[platforms.acme-stor]\nactive = false\n").unwrap();
    let config = config.to_str().unwrap();
    let good = "tests/fixtures/openapi/good";
    let acme = "tests/fixtures/openapi/good/acme-3.0.json";
    for (arguments, code, message) in [
        (vec!["import", good, "--config", "/dev/null"], 0, "skipped 3 of 7 files: 2 licence not open, 1 says the same as another document"),
        (vec!["import", FIXTURES, "--config", "/dev/null"], 0, "broken/trailing-comma.json:3:47: trailing comma\nerror: … and 5 more, all in "),
        (vec!["import", FIXTURES, "--config", "/dev/null", "--verbose"], 0, "broken/truncated.json:4:29: EOF while parsing an object"),
        (vec!["import", "tests/fixtures/openapi/broken", "--config", "/dev/null"], 1, "nothing was imported; the catalog stays as it was"),
        (vec!["import", "tests/fixtures/openapi/good/closed.json", "--config", "/dev/null"], 1, "1 document left out for the licence: take one with `--also FILE`, all with `--licence any`"),
        (vec!["import", "no/such/folder"], 1, "error: cannot read no/such/folder: No such file or directory"),
        (vec!["import", "migrations"], 1, "error: no .json, .yaml or .yml file in migrations"),
        (vec!["import", acme, "--config", "no.toml"], 1, "error: cannot read no.toml"),
        (vec!["import", acme, "--config", config], 1, "c.toml:1:12: no document is about the platform `acme-stor`; did you mean `acme-store`?"),
        (vec!["import", acme], 0, "optional entries of catalog.toml left aside"),
        (vec!["import"], 2, "<FILE|DIR>..."),
        (vec!["import", acme, "--licence", "some"], 2, "[possible values: open, any]"),
    ] {
        let mut all = arguments.clone();
        if arguments.len() > 1 {
            all.extend(["--out", out]);
        }
        let output = run(&all);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
    }
    let report = fs::read_to_string(Path::new(out).join("report.txt")).unwrap();
    assert!(report.starts_with("1 connector and 8 actions from 1 file\n"), "{report}");
}

#[test]
#[rustfmt::skip] // a case a line
fn the_same_input_gives_the_same_folder() {
    let [one, two] = ["same-1", "same-2"].map(folder);
    let files = ["acme-3.0.json", "petstore-2.0.yaml", "hooks-3.1.yml", "bom.json"].map(|file| format!("{FIXTURES}/good/{file}"));
    let [a, b, c, d] = files.each_ref().map(String::as_str);
    for (out, files) in [(&one, [a, b, c, d]), (&two, [d, b, c, a])] {
        let output = run(&[&["import", "--config", "/dev/null", "--out", out.to_str().unwrap()][..], &files].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(contents(&one), contents(&two));
    // Importing something else leaves none of it behind.
    for files in [vec![a], vec![a, b, c, d]] {
        let output = run(&[&["import", "--config", "/dev/null", "--out", one.to_str().unwrap()][..], &files].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(contents(&one), contents(&two));
}

#[test]
fn an_import_mends_what_an_interrupted_one_left() {
    let out = folder("mended");
    let import = |file: &str| {
        let output = run(&[
            "import",
            "--config",
            "/dev/null",
            "--out",
            out.to_str().unwrap(),
            &format!("{FIXTURES}/good/{file}"),
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    import("acme-3.0.json");
    let whole = contents(&out);
    for name in whole.keys().filter(|name| name.starts_with("segments")) {
        fs::write(out.join(name), "cut off").unwrap();
        fs::write(out.join(format!("{}.part", name.display())), "cut off").unwrap();
    }
    fs::write(out.join("segments").join("0".repeat(32)), "of an import that did not finish")
        .unwrap();
    fs::write(out.join("current.json.part"), "{").unwrap();
    import("acme-3.0.json");
    assert_eq!(contents(&out), whole);
}

#[test]
#[rustfmt::skip] // a case a line
fn check_names_each_fault() {
    let out = folder("check");
    let folder = out.to_str().unwrap();
    let acme = &format!("{FIXTURES}/good/acme-3.0.json");
    let import = || {
        let _ = fs::remove_dir_all(&out);
        assert!(run(&["import", "--config", "/dev/null", "--out", folder, acme]).status.success());
        let ids = ["segments", "versions"].map(|part| {
            let mut files: Vec<PathBuf> = fs::read_dir(out.join(part)).unwrap().map(|entry| entry.unwrap().path()).collect();
            files.sort_by_key(|file| fs::metadata(file).unwrap().len());
            files
        });
        ids.concat()
    };
    // The names, the connectors, the pack; the manifest, the record.
    let [names, connectors, pack, version, record] = import().try_into().unwrap();
    let output = run(&["check", folder]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("1 connector, 8 actions in {folder}: no faults\n"));
    assert_eq!(output.status.code(), Some(0));
    let flip = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(path, bytes).unwrap();
    };
    for (damage, fault) in [
        (Box::new(|| fs::remove_file(out.join("current.json")).unwrap()) as Box<dyn Fn()>, "make one with `npm run catalog -- import FILE|DIR`"),
        (Box::new(|| fs::write(out.join("current.json"), "{").unwrap()), "current.json: EOF"),
        (Box::new(|| fs::write(out.join("current.json"), "{\"format\": 9, \"connectors\": \"00000000000000000000000000000000\"}").unwrap()), "import again"),
        (Box::new(|| fs::remove_file(&names).unwrap()), "No such file"),
        (Box::new(|| fs::remove_file(&connectors).unwrap()), "No such file"),
        (Box::new(|| fs::remove_file(&pack).unwrap()), "No such file"),
        (Box::new(|| flip(&names)), "its content is not what its name says"),
        (Box::new(|| flip(&connectors)), "its content is not what its name says"),
        (Box::new(|| flip(&pack)), "its content is not what its name says"),
        (Box::new(|| flip(&record)), "its content is not what its name says"),
        (Box::new(|| fs::remove_file(&record).unwrap()), "No such file"),
        (Box::new(|| fs::remove_file(&version).unwrap()), "No such file"),
        (Box::new(|| fs::write(&version, fs::read_to_string(&version).unwrap().replace("\"actionRows\": 8", "\"actionRows\": 9")).unwrap()), "not the manifest"),
    ] {
        import();
        damage();
        let output = run(&["check", folder]);
        assert_eq!(output.status.code(), Some(1), "{fault}");
        assert!(stderr(&output).contains(fault), "{fault}: {}", stderr(&output));
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn show_prints_a_platform() {
    let out = folder("show");
    let out = out.to_str().unwrap();
    assert!(run(&["import", "--config", "/dev/null", "--out", out, &format!("{FIXTURES}/good")]).status.success());
    for (name, code, expected) in [
        ("acme-store", 0, "key          api::acme-store::v2\n"),
        ("ACME-Store", 0, "actions      8: 3 GET, 2 POST, 1 PUT, 1 PATCH, 1 DELETE\n"),
        ("acme-store", 0, "  GET    List orders  [ordersListAll2]\n"),
        ("acme-stor", 1, "no platform `acme-stor`; did you mean acme-store"),
        ("github", 1, "error: there is no catalog in no/such/catalog: make one with `npm run catalog -- import FILE|DIR`\n"),
    ] {
        let output = run(&["show", name, "--catalog", if name == "github" { "no/such/catalog" } else { out }]);
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{printed}");
        assert!(printed.contains(expected), "{printed}");
    }
}

/// Counts the files that are read.
struct Count(AtomicUsize);
impl Watch for Count {
    fn found(&self, _: usize, _: u64) {}
    fn read(&self, _: u64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn two_imports_at_once_do_not_mix() {
    let out = folder("locked");
    let lock = fs::File::create(out.join(".lock")).unwrap();
    lock.try_lock().unwrap();
    let watch = Count(AtomicUsize::new(0));
    let job = Import { sources: vec![format!("{FIXTURES}/good").into()], ..Import::default() };
    let fault = import(&job, &Folder(out.clone()), &watch).unwrap_err().to_string();
    assert_eq!(fault, format!("another import is writing to {}", out.display()));
    assert_eq!(watch.0.load(Ordering::Relaxed), 0, "it gave way before it read anything");
    drop(lock);
    import(&job, &Folder(out), &watch).unwrap();
    assert_eq!(watch.0.load(Ordering::Relaxed), 7);
}

#[test]
fn an_import_of_sources_that_are_not_there_leaves_nothing() {
    let out = folder("nothing").join("catalog");
    let output = run(&["import", "no/such/folder", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!out.exists());
}

#[test]
fn a_few_platforms_are_told_by_name() {
    let folder = folder("names");
    let document = |title: &str| {
        format!(
            "openapi: 3.0.0\ninfo: {{title: {title}, version: 1}}\npaths: {{/a: {{get: {{}}}}}}\n"
        )
    };
    let [out, file] = ["out", "my-api.yaml"].map(|name| folder.join(name));
    let (out, file) = (out.to_str().unwrap(), file.to_str().unwrap());
    let import = |source: &str| {
        let output =
            run(&["import", source, "--licence", "any", "--config", "/dev/null", "--out", out]);
        String::from_utf8(output.stdout).unwrap()
    };
    fs::write(file, document("My API")).unwrap();
    assert_eq!(
        import(file),
        format!(
            "1 connector, 1 action in {out}\n  my  1 action\n\
             look at one: npm run catalog -- show my --catalog {out}\n"
        )
    );
    for (platforms, lines) in [(20, 22), (21, 1)] {
        let many = folder.join("many");
        fs::create_dir_all(&many).unwrap();
        for at in 0..platforms {
            fs::write(many.join(format!("{at}.yaml")), document(&format!("Number {at}"))).unwrap();
        }
        let printed = import(many.to_str().unwrap());
        assert_eq!(printed.lines().count(), lines, "{printed}");
    }
}

#[test]
#[rustfmt::skip] // a case a line
fn relative_paths_are_those_of_the_folder_where_npm_was_called() {
    let folder = folder("called");
    let [here, there] = ["here", "there"].map(|name| folder.join(name));
    for folder in [&here, &there] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::copy(format!("{FIXTURES}/good/acme-3.0.json"), there.join("acme.json")).unwrap();
    fs::write(there.join("my.toml"), "[platforms.acme-store]\nrename = 'renamed'\n").unwrap();
    fs::write(here.join("catalog.toml"), "[platforms.acme-store]\nrename = 'shipped'\n").unwrap();
    let absolute = there.join("acme.json");
    for (event, called, arguments, name) in [
        ("catalog", &there, vec!["acme.json", "--config", "my.toml"], "renamed"),
        ("catalog", &there, vec!["acme.json"], "shipped"),
        ("catalog", &there, vec!["."], "shipped"),
        ("catalog", &folder, vec!["there/acme.json"], "shipped"),
        ("catalog", &here, vec!["../there/acme.json"], "shipped"),
        ("catalog", &folder, vec![absolute.to_str().unwrap()], "shipped"),
        // Under another script, the caller knows the current folder.
        ("test", &folder, vec!["../there/acme.json"], "shipped"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_connector-vault"))
            .args(["catalog", "import"])
            .args(&arguments)
            .current_dir(&here)
            .env("npm_lifecycle_event", event)
            .env("INIT_CWD", called)
            .output()
            .unwrap();
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert!(printed.contains(&format!("  {name}  8 actions\nlook at one: npm run catalog -- show {name}\n")), "{arguments:?}: {printed}");
        assert!(here.join(".catalog/current.json").exists() && !there.join(".catalog").exists());
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_but_not_in_circles() {
    let folder = folder("links");
    let good = fs::canonicalize(format!("{FIXTURES}/good")).unwrap();
    std::os::unix::fs::symlink(&good, folder.join("good")).unwrap();
    std::os::unix::fs::symlink(&folder, folder.join("circle")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("dead.json")).unwrap();
    let (summary, platforms) =
        gathered(&[folder.to_str().unwrap(), good.to_str().unwrap()], Wanted::Any, "");
    assert_eq!((platforms.len(), summary.files), (6, 7));
    assert!(summary.skipped.iter().any(
        |(path, reason)| path.ends_with("dead.json") && matches!(reason, Reason::Unreadable(_))
    ));
}
