//! Tests of the fields of connectors.

use connector_vault::catalog::model::{Connector, Status};
use connector_vault::importer::licence::LicenceFilter;

use super::support::{import_sources, import_with_info};

#[test]
#[rustfmt::skip] // one case per line
fn reads_every_field_of_a_connector() {
    let (_, platforms) = import_sources(&["tests/fixtures/openapi/good/acme-3.0.json"], LicenceFilter::Open, "");
    let connector = Connector {
        id: platforms[0].connector.id,
        name: "Acme Store".into(),
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
#[rustfmt::skip] // one case per line
fn derives_versions_and_statuses() {
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
        ("version: 0d3c5a0d9b12", "v1", Ga),
        ("version: 8234aab51481d37a30757d925b7f4221a659427e", "v1", Ga),
        ("version: 9dcb0dc8-3.1", "v3", Ga),
        ("version: 0.6-99cfdac", "v0", Ga),
        ("version: 2rc1", "v2", Beta),
        ("version: R4.2a", "v2", Ga),
        ("version: Wed Oct 15 2025 13:53:19 GMT+0000 (Coordinated Universal Time)", "v2025", Ga),
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
        ("version: 1\ntitle: Beta of a mail API", "v1", Beta),
        ("version: 1\ntitle: Mail (alpha)", "v1", Alpha),
        ("version: 1\ntitle: Alpha Mail", "v1", Ga),
    ]
    .iter()
    .enumerate()
    {
        let connector = import_with_info(&format!("version-{at}"), info);
        assert_eq!((connector.platform_version.as_str(), connector.status), (*version, *status), "{info}");
        assert_eq!(connector.key, format!("api::{}::{}", connector.platform, connector.platform_version));
    }
}

#[test]
#[rustfmt::skip] // one case per line
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
        ("- one\\n  - two\\n- three\\n\\nText", "one; two; three Text"),
        ("1. First.\\n2. Second", "First. Second"),
        ("##Title\\nBody", "Body"),
        ("    indented\\n\\n    text", "indented text"),
        ("See `GET /users/<id>` &amp; `&lt;b&gt;`", "See GET /users/<id> & <b>"),
        ("The [UK][1] standard, [Getting\\nstarted](https://x.y)", "The UK standard, Getting started"),
        ("zero\\u200bwidth \\u202eand\\u0000 control", "zerowidth and control"),
        ("bl\\u2800ank, ⚠\\ufe0f, علی\\u200cرضا", "blank, ⚠\u{fe0f}, علی\u{200c}رضا"),
    ]
    .iter()
    .enumerate()
    {
        let connector = import_with_info(&format!("description-{at}"), &format!("title: T\ndescription: \"{text}\""));
        assert_eq!(connector.description, *line, "{text}");
    }
    let words = "word ".repeat(200);
    let connector = import_with_info("description-long", &format!("title: {words}\ndescription: {words}"));
    assert_eq!(connector.description.chars().count(), 500);
    assert!(connector.description.ends_with("word…"), "{}", connector.description);
    assert!(connector.name.chars().count() <= 120);
    let connector = import_with_info("description-one-word", &format!("title: T\ndescription: {}", "é".repeat(2000)));
    assert_eq!(connector.description.chars().count(), 500);
}

#[test]
#[rustfmt::skip] // one case per line
fn derives_categories_tags_and_images() {
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
        let connector = import_with_info(&format!("category-{at}"), info);
        assert_eq!((connector.category.as_str(), connector.tags.iter().map(String::as_str).collect::<Vec<_>>()), (*category, tags.to_vec()));
    }
    for (at, logo) in ["{url: 'http://a.b/c.png'}", "{url: 'https://twitter.com/acme/profile_image?size=original'}", "{url: 'javascript:alert(1)'}", "{url: \"https://a.b/'><script>\"}", "5", "[]"].iter().enumerate() {
        let connector = import_with_info(&format!("image-{at}"), &format!("title: Über & Co\nx-logo: {logo}"));
        assert!(connector.image.starts_with("data:image/svg+xml,%3Csvg"), "{logo}: {}", connector.image);
        assert!(connector.image.contains("%3E%C3%9CC%3C/text"), "{}", connector.image);
        assert!(connector.image.bytes().all(|b| b.is_ascii_graphic() && !b"\"'<>&#".contains(&b)), "{}", connector.image);
    }
}
