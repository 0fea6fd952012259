//! Tests of auth methods and servers from documents, the rules for large providers, and
//! `providers.toml`.

use std::fs;
use std::path::PathBuf;

use connector_vault::catalog::detail::{AuthMethod, ConnectorDetail};
use connector_vault::catalog::write::Platform;
use connector_vault::importer::folder::Folder;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::overrides::Overrides;
use connector_vault::importer::providers::Providers;
use connector_vault::importer::{Import, check, gather};
use serde_json::{Value, json};

use super::support::{FIXTURES, NoProgress, folder, import_documents, run, stderr};

/// Imports a document with these members in addition to `info` and `paths`. Returns the detail and
/// the warnings.
fn detail(name: &str, members: &str) -> (ConnectorDetail, Vec<String>) {
    let document =
        format!("openapi: 3.0.0\ninfo: {{title: T, version: 1}}\npaths: {{}}\n{members}\n");
    let (summary, mut platforms) = import_documents(name, &[&document]);
    assert!(summary.skipped.is_empty(), "{}", summary.full());
    let warnings = summary.warnings.iter();
    let warnings = warnings.map(|line| line.split_once(": ").unwrap().1.to_owned()).collect();
    (platforms.remove(0).detail, warnings)
}

fn method(name: &str, scheme: &str) -> (Vec<Value>, Vec<String>) {
    let (detail, warnings) =
        detail(name, &format!("components: {{securitySchemes: {{My_Scheme: {scheme}}}}}"));
    let methods = detail.auth_methods.iter().map(|method| serde_json::to_value(method).unwrap());
    (methods.collect(), warnings)
}

/// The members of a method that not every method of its type has.
fn specific_members(method: &Value) -> Value {
    let mut method = method.clone();
    let members = method.as_object_mut().unwrap();
    members.retain(|_, value| !value.is_null() && *value != json!([]) && *value != json!({}));
    for usual in [
        "scopeSeparator",
        "tokenAuth",
        "tokenBody",
        "revocationBody",
        "revocationToken",
        "clientIdParameter",
        "codeParameter",
        "expiresUnit",
        "pkce",
        "fields",
    ] {
        members.remove(usual);
    }
    method
}

#[test]
#[rustfmt::skip] // one case per line
fn schemes_become_methods() {
    let oauth = |more: &Value| {
        let mut method = json!({"id": "my-scheme", "type": "oauth2", "grant": "authorization_code", "authorizationUrl": "https://a.example/auth", "tokenUrl": "https://a.example/token"});
        method.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        method
    };
    for (at, (scheme, expected)) in [
        ("{type: http, scheme: Bearer}", json!({"id": "my-scheme", "type": "bearer", "prefix": "Bearer"})),
        ("{type: http, scheme: basic}", json!({"id": "my-scheme", "type": "basic", "usernameLabel": "User name", "passwordLabel": "Password"})),
        ("{type: basic}", json!({"id": "my-scheme", "type": "basic", "usernameLabel": "User name", "passwordLabel": "Password"})),
        ("{type: apiKey, in: header, name: X-Key}", json!({"id": "my-scheme", "type": "api_key", "in": "header", "name": "X-Key", "prefix": ""})),
        ("{type: apiKey, in: query, name: api key}", json!({"id": "my-scheme", "type": "api_key", "in": "query", "name": "api key", "prefix": ""})),
        ("{type: apiKey, in: cookie, name: sid}", json!({"id": "my-scheme", "type": "api_key", "in": "cookie", "name": "sid", "prefix": ""})),
        ("{type: apiKey, in: header, name: Authorization, description: 'Send `Bearer <token>`.'}", json!({"id": "my-scheme", "type": "bearer", "prefix": "Bearer"})),
        ("{type: apiKey, in: header, name: Authorization, description: 'Token YOUR_KEY'}", json!({"id": "my-scheme", "type": "api_key", "in": "header", "name": "Authorization", "prefix": "Token"})),
        ("{type: oauth2, flows: {authorizationCode: {authorizationUrl: https://a.example/auth, tokenUrl: https://a.example/token, refreshUrl: https://a.example/again, scopes: {read: Read all, write: ''}}}}",
            oauth(&json!({"refreshUrl": "https://a.example/again", "scopes": [{"name": "read", "description": "Read all"}, {"name": "write", "description": ""}]}))),
        ("{type: oauth2, flow: accessCode, authorizationUrl: https://a.example/auth, tokenUrl: https://a.example/token, scopes: {read: Read}}",
            oauth(&json!({"scopes": [{"name": "read", "description": "Read"}]}))),
        ("{type: oauth2, flows: {implicit: {authorizationUrl: https://a.example/auth}, clientCredentials: {tokenUrl: https://a.example/token}}}",
            oauth(&json!({}))),
        ("{type: oauth2, flows: {clientCredentials: {tokenUrl: https://a.example/token}}}",
            json!({"id": "my-scheme", "type": "oauth2", "grant": "client_credentials", "tokenUrl": "https://a.example/token"})),
        ("{type: oauth2, flow: application, tokenUrl: https://a.example/token}",
            json!({"id": "my-scheme", "type": "oauth2", "grant": "client_credentials", "tokenUrl": "https://a.example/token"})),
    ].into_iter().enumerate() {
        let (methods, warnings) = method(&format!("scheme{at}"), scheme);
        assert_eq!(specific_members(&methods[0]), expected, "{scheme}");
        assert!(warnings.is_empty(), "{scheme}: {warnings:?}");
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn reports_unusable_schemes() {
    for (at, (scheme, why)) in [
        ("{type: openIdConnect, openIdConnectUrl: https://a.example/.well-known}", "its endpoints are in a file on its server"),
        ("{type: http, scheme: digest}", "its scheme `digest` is not supported"),
        ("{type: mutualTLS}", "its type `mutualtls` is not supported"),
        ("{}", "it has no `type`"),
        ("{type: apiKey, in: body, name: key}", "`in: body` is not supported"),
        ("{type: apiKey, in: header, name: 'a b'}", "its `name` cannot be that of a header or parameter"),
        ("{type: apiKey, in: header, name: Host}", "no credential can be sent in the header `Host`"),
        ("{type: apiKey, in: header, name: transfer-encoding}", "no credential can be sent in the header `transfer-encoding`"),
        ("{type: apiKey, in: query}", "its `name` cannot be that of a header or parameter"),
        ("{type: oauth2, flows: {password: {tokenUrl: https://a.example/token}}}", "it has no flow that can be used"),
        ("{type: oauth2, flows: {implicit: {authorizationUrl: https://a.example/auth}}}", "its token URL is not known, and the implicit flow is unsafe"),
        ("{type: oauth2, flows: {authorizationCode: {authorizationUrl: /auth, tokenUrl: https://a.example/token}}}", "its authorization URL is not absolute"),
        ("{type: oauth2, flows: {clientCredentials: {tokenUrl: /token}}}", "its token URL is not absolute"),
    ].into_iter().enumerate() {
        let (methods, warnings) = method(&format!("unusable{at}"), scheme);
        assert_eq!(methods, Vec::<Value>::new(), "{scheme}");
        assert_eq!(warnings, [format!("the security scheme `My_Scheme` was left out: {why}")], "{scheme}");
    }
}

#[test]
fn fields_cover_a_method_and_its_urls() {
    let (detail, warnings) = detail(
        "fields",
        "servers:
- {url: 'https://{subdomain}.acme.example/v{version}/', description: Production, variables: {subdomain: {description: Your *own*, default: ''}, version: {default: 2, enum: [1, 2]}}}
- {url: 'http://acme.example'}
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key, description: From the settings}, oauth: {type: oauth2, flows: {authorizationCode: {authorizationUrl: 'https://{subdomain}.acme.example/auth', tokenUrl: 'https://{site}.acme.example/token'}}}}}",
    );
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(
        serde_json::to_value(&detail.servers).unwrap(),
        json!([{"url": "https://{subdomain}.acme.example/v{version}", "description": "Production"}]),
        "addresses without https are left out when there are others"
    );
    let fields = |index: usize| {
        let fields = detail.auth_methods[index].fields.iter();
        let fact = |field: &connector_vault::catalog::detail::Field| {
            (field.name.clone(), field.label.clone(), field.secret, field.required)
        };
        fields.map(fact).collect::<Vec<_>>()
    };
    let field = |name: &str, label: &str, secret, required| {
        (name.to_owned(), label.to_owned(), secret, required)
    };
    let subdomain = field("subdomain", "Subdomain", false, true);
    let version = field("version", "Version", false, false);
    let site = field("site", "Site", false, true);
    assert_eq!(fields(0), [site, subdomain.clone(), version.clone()], "OAuth comes first");
    assert_eq!(fields(1), [field("apiKey", "API key", true, true), subdomain, version]);
    let key = &detail.auth_methods[1].fields;
    assert_eq!(key[0].description.as_deref(), Some("From the settings"));
    assert_eq!(key[1].description.as_deref(), Some("Your own"));
    assert_eq!(key[2].r#enum, Some(vec!["1".to_owned(), "2".to_owned()]));
    assert_eq!(key[2].default.as_deref(), Some("2"));
}

#[test]
fn servers_are_absolute_urls() {
    let urls = |name: &str, members: &str| {
        let (detail, warnings) = detail(name, members);
        let urls = detail.servers.into_iter().map(|server| server.url).collect::<Vec<_>>();
        (urls.join(" "), warnings.join(" "))
    };
    for (at, (members, expected)) in [
        (
            "servers: [{url: 'https://a.example{base}', variables: {base: {default: /sell/v1}}}]",
            "https://a.example/sell/v1",
        ),
        (
            "servers: [{url: 'https://a.example/{base}', variables: {base: {default: /v1/}}}]",
            "https://a.example/v1",
        ),
        (
            "servers: [{url: 'HTTPS://a.example/v1/'}, {url: 'https://a.example/v1'}]",
            "https://a.example/v1",
        ),
        ("servers: {url: 'https://a.example'}", "https://a.example"),
        ("servers: https://a.example", "https://a.example"),
        ("servers: [{url: /v1}, {url: 'https://a.example'}]", "https://a.example"),
        ("host: a.example\nbasePath: v1", "https://a.example/v1"),
        ("host: a.example\nbasePath: /v1\nschemes: [http, https]", "https://a.example/v1"),
        ("servers: []", ""),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(
            urls(&format!("server{at}"), members),
            (expected.to_owned(), String::new()),
            "{members}"
        );
    }
    for (at, url) in
        ["/v1", "ftp://a.example", "https://", "https://user@a.example", "https://a.example/{a"]
            .into_iter()
            .enumerate()
    {
        let (urls, warning) =
            urls(&format!("relative{at}"), &format!("servers: [{{url: '{url}'}}]"));
        assert_eq!(urls, "", "{url}");
        assert_eq!(warning, format!("no server has an absolute URL: `{url}`"));
    }
}

#[test]
fn warns_about_servers_that_the_service_rejects() {
    let none = "calls reach no server";
    let unless_local = "calls reach no server without `LOCAL_TARGETS=allow`";
    for (at, (servers, expected)) in [
        ("'https://a.example:8443/v1'", None),
        ("'https://{host}'", None),
        ("'https://localhost', 'https://a.example'", None),
        (
            "'https://localhost/v1'",
            Some((unless_local, "https://localhost/v1", "has a local or private name as its host")),
        ),
        (
            "'https://127.0.0.1:8443'",
            Some((unless_local, "https://127.0.0.1:8443", "has an IP address as its host")),
        ),
        ("'http://a.example'", Some((none, "http://a.example", "does not begin with `https://`"))),
        (
            "'http://{host}'",
            Some((unless_local, "http://{host}", "does not begin with `https://`")),
        ),
        (
            "'http://10.0.0.1', 'http://localhost:{port}'",
            Some((unless_local, "http://10.0.0.1", "does not begin with `https://`")),
        ),
        ("'https://10.0.0.1'", Some((none, "https://10.0.0.1", "has an IP address as its host"))),
        (
            "'https://vault.corp', 'https://[fd00::1]'",
            Some((none, "https://vault.corp", "has a local or private name as its host")),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let servers: Vec<String> =
            servers.split(", ").map(|url| format!("{{url: {url}}}")).collect();
        let (_, warnings) =
            detail(&format!("refused{at}"), &format!("servers: [{}]", servers.join(", ")));
        let expected = expected.map(|(start, url, why)| format!("{start}: `{url}` {why}"));
        assert_eq!(warnings, Vec::from_iter(expected), "{servers:?}");
    }
    // The warning contains the path of the document.
    let document = "openapi: 3.0.0\ninfo: {title: T, version: 1}\npaths: {}\nservers: [{url: 'http://localhost:8080'}]\n";
    let (summary, _) = import_documents("refused", &[document]);
    assert!(summary.warnings[0].contains(".yaml: calls reach no server"), "{:?}", summary.warnings);
}

/// Imports a document of a provider with special rules.
fn platform_of_provider(name: &str, info: &str, servers: &str, scheme: &str) -> Platform {
    let document = format!(
        "openapi: 3.0.0\ninfo: {{title: T, version: 1, {info}}}\npaths: {{}}\nservers: [{servers}]\ncomponents: {{securitySchemes: {{auth: {scheme}}}}}\n"
    );
    import_documents(name, &[&document]).1.remove(0)
}

#[test]
fn google_gets_its_current_endpoints() {
    let platform = platform_of_provider(
        "google",
        "x-providerName: googleapis.com",
        "{url: 'https://gmail.googleapis.com/'}",
        "{type: oauth2, flows: {implicit: {authorizationUrl: https://accounts.google.com/o/oauth2/auth, scopes: {'https://mail.google.com/': All mail}}}}",
    );
    let method = serde_json::to_value(&platform.detail.auth_methods[0]).unwrap();
    assert_eq!(method["authorizationUrl"], "https://accounts.google.com/o/oauth2/v2/auth");
    assert_eq!(method["tokenUrl"], "https://oauth2.googleapis.com/token");
    assert_eq!(
        method["authorizationParameters"],
        json!({"access_type": "offline", "prompt": "consent"})
    );
    assert_eq!(method["scopes"][0]["name"], "https://mail.google.com/");
    assert!(platform.connector.oauth);
}

#[test]
fn microsoft_gets_version_2_with_full_scopes() {
    let platform = platform_of_provider(
        "microsoft",
        "x-providerName: azure.com",
        "{url: 'https://management.azure.com'}",
        "{type: oauth2, flows: {implicit: {authorizationUrl: https://login.microsoftonline.com/common/oauth2/authorize, scopes: {user_impersonation: Act for you}}}}",
    );
    let method = serde_json::to_value(&platform.detail.auth_methods[0]).unwrap();
    assert_eq!(method["tokenUrl"], "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token");
    let scopes: Vec<_> =
        method["scopes"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(scopes, ["offline_access", "https://management.azure.com/user_impersonation"]);
    assert_eq!(method["fields"][0]["name"], "tenant");
    assert_eq!(method["fields"][0]["default"], "common");
}

#[test]
fn requests_to_amazon_are_signed() {
    let platform = platform_of_provider(
        "amazon",
        "x-providerName: amazonaws.com, x-serviceName: email, x-aws-signingName: ses",
        "{url: 'https://email.{region}.amazonaws.com', variables: {region: {enum: [us-east-1, eu-west-1], default: us-east-1}}}",
        "{type: apiKey, in: header, name: Authorization, x-amazon-apigateway-authtype: awsSigv4}",
    );
    let method = serde_json::to_value(&platform.detail.auth_methods[0]).unwrap();
    assert_eq!(method["type"], "aws_sigv4");
    assert_eq!(
        (&method["service"], &method["regions"]),
        (&json!("ses"), &json!(["us-east-1", "eu-west-1"]))
    );
    let names: Vec<_> =
        method["fields"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["accessKeyId", "secretAccessKey", "sessionToken", "region"]);
    assert_eq!(method["fields"][3]["default"], "us-east-1");
    assert!(!platform.connector.oauth);
}

const ACME: &str = r#"
[platforms.acme]
name = "Acme"
description = "Everything, delivered."
category = "Commerce"
documents = ["acme-store", "acme-old"]
documentation = "https://docs.acme.example"
servers = ["https://{shop}.acme.example/"]
verify = "GET /me"
account = { request = "GET /me", id = "/id" }

[[platforms.acme.auth]]
id = "oauth2"
type = "oauth2"
grant = "authorization_code"
authorizationUrl = "https://{shop}.acme.example/auth"
tokenUrl = "https://{shop}.acme.example/token"
scopes = [{ name = "orders" }]
fields = [{ name = "shop", label = "Shop", description = "As in its address." }]
source = "https://docs.acme.example/oauth"
read = "2026-11-22"

[platforms.alone]
name = "Alone"

[[platforms.alone.auth]]
id = "key"
type = "api_key"
in = "header"
name = "X-Key"
source = "https://docs.alone.example"
read = "2026-11-22"
"#;

/// An import of the valid fixtures with these providers and overrides.
fn with_providers(providers: &str, overrides: &str) -> Import {
    Import {
        sources: vec![PathBuf::from(format!("{FIXTURES}/good/acme-3.0.json"))],
        licence: LicenceFilter::Any,
        providers: Providers::parse("providers.toml", providers).unwrap(),
        overrides: Overrides::parse("catalog.toml", overrides).unwrap(),
        ..Import::default()
    }
}

#[test]
fn providers_entry_completes_its_document_or_becomes_a_connector() {
    let (summary, platforms) = gather(&with_providers(ACME, ""), &NoProgress).unwrap();
    assert_eq!(summary.connectors, 2);
    let acme = &platforms[0];
    assert_eq!(acme.connector.key, "api::acme::v2");
    assert_eq!(
        (acme.connector.name.as_str(), acme.connector.category.as_str()),
        ("Acme", "Commerce")
    );
    assert_eq!((acme.connector.tools, acme.actions[0].platform.as_str()), (8, "acme"));
    assert_eq!(acme.aliases, ["acme-store", "acme-old"]);
    assert_eq!(acme.detail.servers[0].url, "https://{shop}.acme.example");
    assert_eq!(acme.detail.verify.as_ref().unwrap().request.path, "/me");
    assert_eq!(acme.detail.account.as_ref().unwrap().id, "/id");
    let oauth = &acme.detail.auth_methods[0];
    assert_eq!((oauth.id.as_str(), oauth.fields[0].name.as_str()), ("oauth2", "shop"));
    let alone = &platforms[1];
    assert_eq!((alone.connector.key.as_str(), alone.connector.tools), ("api::alone::v1", 0));
    assert_eq!(alone.detail.auth_methods[0].fields[0].name, "apiKey");
}

#[test]
fn logo_precedence_is_operator_brand_document() {
    let image = |providers: &str, inputs: &str, platform: &str| {
        let (_, platforms) = gather(&with_providers(providers, inputs), &NoProgress).unwrap();
        let found = platforms.into_iter().find(|one| one.connector.platform == platform);
        found.unwrap().connector.image
    };
    let branded = ACME.replace("category = \"Commerce\"", "logo = \"acme\"");
    let branded = branded.replace("name = \"Alone\"", "name = \"Alone\"\nlogo = \"alone\"");
    let operator_config = "[platforms.acme]\nimage = \"https://ours.example/logo.png\"";
    assert_eq!(image(&branded, operator_config, "acme"), "https://ours.example/logo.png");
    assert_eq!(image(&branded, "", "acme"), "/logos/acme.svg");
    assert_eq!(image(&branded, "", "alone"), "/logos/alone.svg", "without a document");
    assert_eq!(image(ACME, "", "acme"), "https://acme.com/logo.svg", "the document's own");
    assert!(image(ACME, "", "alone").starts_with("data:image/svg+xml,"));
}

#[test]
fn overrides_accept_both_names_of_a_platform() {
    for name in ["acme", "acme-store"] {
        let inputs = format!("[platforms.{name}]\nname = \"Ours\"\nauthkit = true");
        let (_, platforms) = gather(&with_providers(ACME, &inputs), &NoProgress).unwrap();
        let acme = platforms.iter().find(|one| one.connector.platform == "acme").unwrap();
        assert_eq!((acme.connector.name.as_str(), acme.authkit), ("Ours", true), "{name}");
    }
    let inputs = "[platforms.acme]\nrename = \"ours\"";
    let (_, platforms) = gather(&with_providers(ACME, inputs), &NoProgress).unwrap();
    let own_connector = platforms.iter().find(|one| one.connector.platform == "ours").unwrap();
    assert_eq!(own_connector.aliases, ["acme-store", "acme-old", "acme"]);
}

/// The detail of `acme`, with these providers and then these overrides applied.
fn detail_with_overrides(providers: &str, inputs: &str) -> Result<ConnectorDetail, String> {
    let job = with_providers(providers, &format!("[platforms.acme-store]\n{inputs}"));
    let (_, platforms) = gather(&job, &NoProgress).map_err(|e| format!("{e:#}"))?;
    let acme = platforms.into_iter().find(|one| one.connector.platform.starts_with("acme"));
    Ok(acme.unwrap().detail)
}

#[test]
fn overrides_take_precedence_for_auth_methods() {
    let ids = |detail: &ConnectorDetail| -> Vec<String> {
        detail.auth_methods.iter().map(|method| method.id.clone()).collect()
    };
    let document = detail_with_overrides("", "").unwrap();
    assert_eq!(ids(&document), ["login", "key"]);

    let operator_config = "documentation = 'https://ours.example/docs'\nverify = 'GET /ping'\n\
                account = { request = 'GET /ping', id = '/account' }\n\
                auth = [{ id = 'ours', type = 'bearer', prefix = 'Token' }]";
    for providers in ["", ACME] {
        let detail = detail_with_overrides(providers, operator_config).unwrap();
        assert_eq!(ids(&detail), ["ours"], "all of them");
        assert_eq!(detail.documentation_url.as_deref(), Some("https://ours.example/docs"));
        assert_eq!(detail.verify.unwrap().request.path, "/ping");
        assert_eq!(detail.account.unwrap().id, "/account");
    }
    let detail = detail_with_overrides("", operator_config).unwrap();
    assert_eq!(detail.servers, document.servers, "omitted members keep the document's values");
    assert_eq!(detail.license, document.license);
    let detail = detail_with_overrides(ACME, operator_config).unwrap();
    let fields: Vec<_> = detail.auth_methods[0].fields.iter().map(|field| &*field.name).collect();
    assert_eq!(fields, ["token", "shop"], "the remaining server needs the shop");

    assert!(detail_with_overrides(ACME, "").unwrap().verify.is_some());
    assert_eq!(detail_with_overrides(ACME, "verify = ''").unwrap().verify, None);

    let detail = detail_with_overrides(ACME, "servers = ['https://one.example/v3/']").unwrap();
    assert_eq!(detail.servers[0].url, "https://one.example/v3");
    assert_eq!(ids(&detail), ids(&detail_with_overrides(ACME, "").unwrap()));
    let requested = |detail: &ConnectorDetail| {
        detail
            .auth_methods
            .iter()
            .flat_map(|method| &method.fields)
            .any(|field| field.name == "shop")
    };
    assert!(!requested(&detail_with_overrides("", "servers = ['https://one.example']").unwrap()));
    assert!(requested(&detail), "the URLs of OAuth still have the shop");

    assert_eq!(
        ids(&detail_with_overrides(ACME, "auth = []").unwrap()),
        [""; 0],
        "there is no way to connect"
    );
}

#[test]
#[rustfmt::skip] // one case per line
fn faults_of_overridden_methods_include_their_position() {
    let parsed = |toml: &str| Overrides::parse("c.toml", toml).unwrap_err().to_string();
    for (toml, fault) in [
        ("[platforms.a]\nauht = []\n", "c.toml:2:1: unknown field `auht`; did you mean `auth`?"),
        ("[platforms.a]\nauth = 5\n", "c.toml:2:8: invalid type: integer `5`, expected a sequence"),
        ("[platforms.a]\nauth = [{ id = 'x', type = 'bearer', prefx = '' }]\n", "c.toml:2:38: unknown field `prefx`"),
        ("[platforms.a]\n[[platforms.a.auth]]\nid = 'x'\n", "c.toml:2:1: missing field `type`"),
    ] {
        let error = parsed(toml);
        assert!(error.starts_with(fault), "{toml}\n{error}");
    }
    for (inputs, fault) in [
        ("servers = ['http://a.example']", "catalog.toml:1:12: `acme-store`: `servers`: `http://a.example` is not an `https` URL"),
        ("servers = ['https://{x}.example']", "no field for `{x}` in `https://{x}.example`"),
        ("verify = '/me'", "`/me` is not a method and a path, such as `GET /user`"),
        ("auth = [{ id = 'x', type = 'api_key', name = 'k' }]", "the method `x`: `in` is missing"),
        ("auth = [{ id = 'x', type = 'bearer' }, { id = 'x', type = 'bearer' }]", "two methods have the id `x`"),
        ("auth = [{ id = 'x', type = 'bearer', fields = [{ name = 'other' }] }]", "the field `other` is used in no URL"),
        ("auth = [{ id = 'x', type = 'bearer' }]\nservers = ['https://{shop}.example']", "`servers`: no field for `{shop}` in `https://{shop}.example`"),
        ("auth = [{ id = 'x', type = 'bearer' }, { id = 'y', type = 'bearer', fields = [{ name = 'shop' }] }]\nservers = ['https://{shop}.example']", "the method `x`: no field for `{shop}` in `https://{shop}.example`"),
        ("auth = [{ id = 'x', type = 'bearer' }, { id = 'y', type = 'bearer', fields = [{ name = 'shop' }] }]\nverify = 'GET /{shop}'", "the method `x`: no field for `{shop}` in `GET /{shop}`"),
        ("auth = [{ id = 'x', type = 'bearer' }, { id = 'y', type = 'bearer', fields = [{ name = 'shop' }] }]\naccount = { request = 'GET /{shop}', id = '/id' }", "the method `x`: no field for `{shop}` in `GET /{shop}`"),
    ] {
        let error = detail_with_overrides("", inputs).unwrap_err();
        assert!(error.contains(fault), "{inputs}\n{error}");
    }
}

const TWO_SERVERS: &str = r#"
[platforms.acme]
name = "Acme"
documents = ["acme-store"]
servers = ["https://api.acme.example/{cloudId}", "https://{subdomain}.acme.example"]
verify = "GET /companies/{company}"
account = { request = "GET /companies/{company}/{user}", id = "/id" }

[[platforms.acme.auth]]
id = "oauth2"
type = "oauth2"
grant = "client_credentials"
tokenUrl = "https://acme.example/token"
tokenParameters = { audience = "{audience}", claims = '{"id":{}}' }
fields = [{ name = "cloudId", label = "Cloud" }, { name = "audience" }, { name = "company", label = "Firm" }, { name = "user" }]
source = "https://docs.acme.example"
read = "2026-11-22"

[[platforms.acme.auth]]
id = "basic"
type = "basic"
fields = [{ name = "subdomain" }, { name = "company", label = "Firm" }, { name = "user" }]
source = "https://docs.acme.example"
read = "2026-11-22"
"#;

/// The names of a method's fields.
fn field_names(method: &AuthMethod) -> Vec<&str> {
    method.fields.iter().map(|field| field.name.as_str()).collect()
}

#[test]
fn method_inherits_fields_of_one_server_and_the_requests() {
    let operator_config = "auth = [{ id = 'basic', type = 'basic', fields = [{ name = 'subdomain' }] }, { id = 'token', type = 'bearer' }]";
    let detail = detail_with_overrides(TWO_SERVERS, operator_config).unwrap();
    assert_eq!(
        field_names(&detail.auth_methods[0]),
        ["username", "password", "subdomain", "company", "user"]
    );
    assert_eq!(
        field_names(&detail.auth_methods[1]),
        ["token", "cloudId", "company", "user"],
        "the first server's"
    );
    assert_eq!(detail.auth_methods[1].fields[2].label, "Firm", "the field keeps its label");

    let others = format!(
        "{operator_config}\nverify = 'GET /me'\naccount = {{ request = 'GET /me', id = '/id' }}"
    );
    let detail = detail_with_overrides(TWO_SERVERS, &others).unwrap();
    assert_eq!(
        field_names(&detail.auth_methods[0]),
        ["username", "password", "subdomain"],
        "no request needs more"
    );
}

#[test]
fn rejects_method_without_fields_for_any_server() {
    let folder = folder("no-methods");
    let document = "openapi: 3.0.0\ninfo: {title: A, version: 1}\npaths: {}\nservers: [{url: 'https://{shop}.acme.example'}]\n";
    fs::write(folder.join("a.yaml"), document).unwrap();
    let job = |inputs: &str| Import {
        sources: vec![folder.clone()],
        ..with_providers("", &format!("[platforms.acme]\n{inputs}"))
    };
    let fault = "the method `x`: no field for `{shop}` in `https://{shop}.acme.example`";
    let error = gather(&job("auth = [{ id = 'x', type = 'bearer' }]"), &NoProgress).unwrap_err();
    assert!(format!("{error:#}").contains(fault), "{error:#}");
    for inputs in [
        "auth = [{ id = 'x', type = 'bearer', fields = [{ name = 'shop' }] }]",
        "auth = []",
        "name = 'Ours'",
    ] {
        gather(&job(inputs), &NoProgress).unwrap_or_else(|e| panic!("{inputs}: {e:#}"));
    }
}

#[test]
fn field_entry_keeps_the_defaults_of_its_kind() {
    let fields = |entry: &str| {
        let detail =
            detail_with_overrides("", &format!("auth = [{{ id = 'x', {entry} }}]")).unwrap();
        detail.auth_methods.into_iter().next().unwrap().fields
    };
    let token = fields("type = 'bearer', fields = [{ name = 'token', label = 'Personal token' }]");
    assert_eq!((token[0].label.as_str(), token[0].secret), ("Personal token", true));
    assert!(token[0].required);
    let basic = fields("type = 'basic', fields = [{ name = 'password', description = 'Any' }]");
    assert_eq!((basic[1].label.as_str(), basic[1].secret), ("Password", true));
    assert_eq!((basic[1].description.as_deref(), basic[1].required), (Some("Any"), false));
    let aws = fields(
        "type = 'aws_sigv4', service = 's', regions = ['a'], fields = [{ name = 'sessionToken', label = 'S' }, { name = 'region', default = 'a' }]",
    );
    assert_eq!(aws[2].description.as_deref(), Some("Only for temporary credentials."));
    assert_eq!(aws[3].r#enum, Some(vec!["a".to_owned()]));
    assert!(!aws[3].required, "it has a default");
    let required_fields =
        fields("type = 'basic', fields = [{ name = 'password', secret = false, required = true }]");
    assert_eq!((required_fields[1].secret, required_fields[1].required), (false, true));
}

#[test]
fn variables_of_parameters_become_fields() {
    let providers = Providers::parse("providers.toml", TWO_SERVERS).unwrap();
    let names = ["cloudId", "audience", "company", "user"];
    assert_eq!(field_names(&providers.0["acme"].detail.auth_methods[0]), names);
    let first =
        "servers = ['https://api.acme.example/{cloudId}', 'https://{subdomain}.acme.example/v2']";
    let detail = detail_with_overrides(TWO_SERVERS, first).unwrap();
    assert_eq!(
        field_names(&detail.auth_methods[0]),
        names,
        "other servers do not remove the fields"
    );
}

#[test]
fn entry_becomes_connector_if_another_claims_its_document() {
    let providers = "[platforms.acme-store]\nname = \"The real one\"\n[platforms.other]\nname = \"Other\"\ndocuments = [\"acme-store\"]\n";
    let (_, platforms) = gather(&with_providers(providers, ""), &NoProgress).unwrap();
    let counts: Vec<_> = platforms
        .iter()
        .map(|one| (one.connector.platform.as_str(), one.connector.tools, one.aliases.len()))
        .collect();
    assert_eq!(counts, [("acme-store", 0, 0), ("other", 8, 0)]);
    let inputs = "[platforms.acme-store]\nname = \"Mine\"";
    let (_, platforms) = gather(&with_providers(providers, inputs), &NoProgress).unwrap();
    assert_eq!(
        platforms[0].connector.name, "Mine",
        "a current name takes precedence over a former one"
    );
    let twice = "[platforms.acme]\nauthkit = true\n[platforms.acme-store]\nauthkit = true";
    let error = gather(&with_providers(ACME, twice), &NoProgress).unwrap_err().to_string();
    assert!(
        error.contains("`acme-store` is the platform of `acme`, which has a table already"),
        "{error}"
    );
}

#[test]
fn does_not_merge_methods_of_one_document() {
    let folder = folder("both-secrets");
    fs::write(
        folder.join("a.yaml"),
        "openapi: 3.0.0\ninfo: {title: Acme, version: 1}\npaths: {}\nservers: [{url: 'https://a.example'}]\ncomponents: {securitySchemes: {oauth2: {type: http, scheme: bearer}, key: {type: apiKey, in: query, name: key}}}\n",
    )
    .unwrap();
    let job = Import {
        sources: vec![folder],
        ..with_providers(&ACME.replace("\"acme-store\"", "\"a\""), "")
    };
    let (_, platforms) = gather(&job, &NoProgress).unwrap();
    let acme = platforms.iter().find(|one| one.connector.platform == "acme").unwrap();
    let ids: Vec<_> = acme.detail.auth_methods.iter().map(|method| method.id.as_str()).collect();
    assert_eq!(ids, ["oauth2", "oauth2-2", "key"]);
    for method in &acme.detail.auth_methods {
        assert!(method.fields.iter().any(|field| field.name == "shop"), "{}", method.id);
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn reports_faults_of_providers() {
    let method = |lines: &str| format!("[platforms.a]\nname = \"A\"\n[[platforms.a.auth]]\nid = \"x\"\nsource = \"s\"\nread = \"2026-11-22\"\n{lines}");
    for (text, fault) in [
        ("[platforms.a]\nnme = \"A\"".to_owned(), "unknown field `nme`"),
        ("[platforms.A]\nname = \"A\"".to_owned(), "[platforms.A]: the name must be 1–64 of a-z, 0-9 and -"),
        ("[platforms.a]\nname = \" A\"".to_owned(), "[platforms.a]: `name` must be one line of 1 to 120 characters"),
        ("[platforms.a]\nname = \"A\"\nverify = \"/me\"".to_owned(), "`/me` is not a method and a path, such as `GET /user`"),
        ("[platforms.a]\nname = \"A\"\nverify = \"GET /{x}\"".to_owned(), "no field for `{x}` in `GET /{x}`"),
        ("[platforms.a]\nname = \"A\"\naccount = { request = \"GET /\", id = \"id\" }".to_owned(), "`id` and `name` are JSON Pointers"),
        ("[platforms.a]\nname = \"A\"\ndocumentation = \"javascript:x\"".to_owned(), "`documentation` is not an `https` URL"),
        ("[platforms.a]\nname = \"A\"\nlogo = \"../a\"".to_owned(), "`logo` must be a slug of simple-icons: a-z, 0-9 and _"),
        ("[platforms.a]\nname = \"A\"\nservers = [\"http://a.example\"]".to_owned(), "`servers`: `http://a.example` is not an `https` URL"),
        ("[platforms.a]\nname = \"A\"\nservers = [\"http://127.0.0.1.a.example\"]".to_owned(), "is not an `https` URL"),
        ("[platforms.a]\nname = \"A\"\nservers = [\"https://{x}.example\"]".to_owned(), "no field for `{x}`"),
        ("[platforms.a]\nname = \"A\"\nservers = [\"https://a.example/?x=1\"]".to_owned(), "`servers`: `https://a.example/?x=1` is not a base address, such as `https://api.acme.example/v1`"),
        ("[platforms.a]\nname = \"A\"\nservers = [\"https://a.example#x\"]".to_owned(), "`https://a.example#x` is not a base address"),
        ("[platforms.a]\nname = \"A\"\nservers = [\"https://a.example/v 1\"]".to_owned(), "`https://a.example/v 1` is not a base address"),
        ("[platforms.a]\nname = \"A\"\ndocuments = [\"d\"]\n[platforms.b]\nname = \"B\"\ndocuments = [\"d\"]".to_owned(), "[platforms.b]: `documents` has `d`, as a has"),
        (method("type = \"api_key\"\nname = \"k\""), "the method `x`: `in` is missing"),
        (method("type = \"oauth2\"\ngrant = \"authorization_code\"\ntokenUrl = \"https://t.example\""), "`authorizationUrl` belongs to the grant authorization_code"),
        (method("type = \"oauth2\"\ngrant = \"client_credentials\"\ntokenUrl = \"http://t.example\""), "`http://t.example` is not an `https` URL"),
        (method("type = \"oauth2\"\ngrant = \"client_credentials\"\ntokenUrl = \"https://t.example\"\nclientIdParameter = \"scope\""), "`scope` cannot be the `clientIdParameter`: requests have another parameter of that name"),
        (method("type = \"oauth2\"\ngrant = \"client_credentials\"\ntokenUrl = \"https://t.example\"\nclientIdParameter = \"client_secret\""), "`client_secret` cannot be the `clientIdParameter`: requests have another parameter of that name"),
        (method("type = \"oauth2\"\ngrant = \"client_credentials\"\ntokenUrl = \"https://t.example\"\nclientIdParameter = \"code\""), "`code` cannot be the `clientIdParameter`: requests have another parameter of that name"),
        (method("type = \"oauth2\"\ngrant = \"client_credentials\"\ntokenUrl = \"https://t.example\"\nclientIdParameter = \"token_type_hint\""), "`token_type_hint` cannot be the `clientIdParameter`: requests have another parameter of that name"),
        (method("type = \"oauth2\"\ngrant = \"client_credentials\"\ntokenUrl = \"https://t.example\"\nclientIdParameter = \"app\"\ntokenParameters = { app = \"1\" }"), "`app` cannot be the `clientIdParameter`: requests have another parameter of that name"),
        (method("type = \"oauth2\"\ngrant = \"client_credentials\"\ntokenUrl = \"https://t.example\"\nclientIdParameter = \"a b\""), "`a b` cannot be the `clientIdParameter`"),
        (method("type = \"bearer\"\nfields = [{ name = \"other\" }]"), "the field `other` is used in no URL"),
        (method("type = \"api_key\"\nin = \"header\"\nname = \"a b\""), "the method `x`: its `name` cannot be that of a header or parameter"),
        (method("type = \"api_key\"\nin = \"cookie\"\nname = \"a;b\""), "the method `x`: its `name` cannot be that of a header or parameter"),
        (method("type = \"oauth2\"\ngrant = \"client_credentials\"\ntokenUrl = \"https://t.example/a b\""), "`x`: `https://t.example/a b` is not an `https` URL"),
        (method("type = \"oauth2\"\ngrant = \"client_credentials\"\ntokenUrl = \"https://t.example\"\ntokenParameters = { audience = \"{audience}\" }"), "the method `x`: no field for `{audience}` in `{audience}`"),
        (method("type = \"oauth2\"\ngrant = \"authorization_code\"\nauthorizationUrl = \"https://t.example\"\ntokenUrl = \"https://t.example\"\nauthorizationParameters = { to = \"a-{b}\" }"), "the method `x`: no field for `{b}` in `a-{b}`"),
        (method("type = \"bearer\"").replace("2026-11-22", "soon"), "`source` and `read` say where and on which day it was read"),
        (method("type = \"bearer\"").replace("id = \"x\"", "id = \"X!\""), "its id must be 1 to 50 of a-z, 0-9 and -"),
    ] {
        let error = format!("{:#}", Providers::parse("providers.toml", &text).unwrap_err());
        assert!(error.contains(fault), "{text}\n{error}");
    }
}

#[test]
fn accepts_http_on_localhost() {
    for host in ["127.0.0.1:8080/v1", "localhost", "[::1]:9"] {
        let text = format!("[platforms.a]\nname = \"A\"\nservers = [\"http://{host}\"]");
        let read = Providers::parse("providers.toml", &text).unwrap();
        assert_eq!(read.0["a"].detail.servers[0].url, format!("http://{host}"));
    }
}

#[test]
fn providers_entries_require_a_document() {
    let folder = folder("no-document");
    fs::write(folder.join("a.yaml"), "not: a document").unwrap();
    let job = Import { sources: vec![folder], ..with_providers(ACME, "") };
    let (summary, platforms) = gather(&job, &NoProgress).unwrap();
    assert_eq!((summary.connectors, platforms.len()), (0, 0));
}

const QUIRKS: &str = r#"
[platforms.acme]
name = "Acme"
servers = ["https://{company}.acme.example"]
account = { request = "GET https://id.acme.example/me", id = "/id" }

[[platforms.acme.auth]]
id = "oauth2"
type = "oauth2"
grant = "authorization_code"
authorizationUrl = "https://id.acme.example/authorize"
tokenUrl = "https://id.acme.example/token"
tokenAuth = "client_secret_basic_raw"
codeParameter = "auth_code"
expiresUnit = "ms"
tokenPointer = "/data"
tokenFallback = "/user"
redirectUri = "{ruName}"
callbackParameters = ["scope"]
tokenBody = "json"
tokenHeaders = { "Api-Version" = "2" }
revocationBody = "json"
revocationToken = "access_token"
fieldSources = [{ field = "company", from = "token", at = "/api_domain", template = "https://{company}.acme.example" }]
fields = [{ name = "company" }, { name = "ruName" }]
source = "https://docs.acme.example"
read = "2026-11-27"

[platforms.acme.auth.longLivedToken]
request = "GET https://graph.acme.example/token"
parameters = { access_token = "{accessToken}", client_secret = "{clientSecret}" }

[platforms.acme.auth.accessTokenRefresh]
request = "POST https://graph.acme.example/refresh"
parameters = { access_token = "{accessToken}", grant_type = "refresh" }
"#;

#[test]
fn authorization_server_quirks_become_members_of_a_method() {
    let providers = Providers::parse("providers.toml", QUIRKS).unwrap();
    let method = json!(providers.0["acme"].detail.auth_methods[0]);
    for (name, value) in [
        ("tokenAuth", json!("client_secret_basic_raw")),
        ("codeParameter", json!("auth_code")),
        ("expiresUnit", json!("ms")),
        ("tokenPointer", json!("/data")),
        ("tokenFallback", json!("/user")),
        ("redirectUri", json!("{ruName}")),
        ("callbackParameters", json!(["scope"])),
        ("tokenBody", json!("json")),
        ("tokenHeaders", json!({"Api-Version": "2"})),
        ("revocationBody", json!("json")),
        ("revocationToken", json!("access_token")),
        (
            "longLivedToken",
            json!({"method": "GET", "url": "https://graph.acme.example/token", "parameters": {
                "access_token": "{accessToken}", "client_secret": "{clientSecret}",
            }}),
        ),
        (
            "accessTokenRefresh",
            json!({"method": "POST", "url": "https://graph.acme.example/refresh", "parameters": {
                "access_token": "{accessToken}", "grant_type": "refresh",
            }}),
        ),
        (
            "fieldSources",
            json!([{"field": "company", "from": "token", "at": "/api_domain", "template": "https://{company}.acme.example"}]),
        ),
    ] {
        assert_eq!(method[name], value, "{name}");
    }
    assert_eq!(method["fields"][0]["required"], false, "the platform returns the value");
    let own: AuthMethod = serde_json::from_value(method.clone()).unwrap();
    assert_eq!(json!(own), method);
}

#[test]
fn reports_faults_of_quirks() {
    for (from, to, fault) in [
        (
            "codeParameter = \"auth_code\"",
            "codeParameter = \"state\"",
            "`state` cannot be the `codeParameter`",
        ),
        (
            "codeParameter = \"auth_code\"",
            "codeParameter = \"a b\"",
            "`a b` cannot be the `codeParameter`",
        ),
        ("expiresUnit = \"ms\"", "expiresUnit = \"h\"", "unknown variant `h`"),
        ("redirectUri = \"{ruName}\"", "redirectUri = \"a name\"", "needs a variable"),
        (", { name = \"ruName\" }", "", "no field for `{ruName}` in `{ruName}`"),
        ("[\"scope\"]", "[\"client_secret\"]", "`client_secret` cannot be repeated"),
        ("[\"scope\"]", "[\"auth_code\"]", "`auth_code` cannot be repeated"),
        ("\"Api-Version\"", "Authorization", "`tokenHeaders`: `Authorization` cannot be"),
        ("\"Api-Version\"", "Host", "the header `Host` is never sent to a platform"),
        ("= \"2\" }", "= \"{company}\" }", "`tokenHeaders`: `Api-Version` cannot be `{company}`"),
        ("revocationToken = \"access_token\"", "revocationToken = \"id\"", "unknown variant `id`"),
        (
            "tokenFallback = \"/user\"",
            "tokenFallback = \"user\"",
            "`user` is not a JSON Pointer, such as `/data`",
        ),
        (
            "GET https://graph",
            "GET http://graph",
            "`request` must be GET or POST and an `https` URL without variables",
        ),
        (
            "GET https://graph",
            "PUT https://graph",
            "`longLivedToken`: `request` must be GET or POST",
        ),
        ("GET https://graph.acme.example", "GET https://{company}.example", "without variables"),
        (
            "access_token = \"{accessToken}\", grant",
            "grant",
            "`accessTokenRefresh`: no parameter has the value `{accessToken}`",
        ),
        ("\"refresh\" }", "\"{x}\" }", "`accessTokenRefresh`: a parameter can't be `{x}`"),
        ("field = \"company\"", "field = \"other\"", "`fieldSources`: there is no field `other`"),
        (
            "{ name = \"company\" }",
            "{ name = \"company\", required = true }",
            "can be neither secret nor required",
        ),
        (
            "at = \"/api_domain\"",
            "at = \"api_domain\"",
            "must be a parameter of the redirect, or a JSON Pointer",
        ),
        (
            "from = \"token\"",
            "from = \"callback\"",
            "must be a parameter of the redirect, or a JSON Pointer",
        ),
        ("from = \"token\"", "from = \"header\"", "unknown variant `header`"),
        ("from = \"token\"", "from = \"lookup\"", "`lookupUrl` belongs to `fieldSources`"),
        (
            "fieldSources =",
            "lookupUrl = \"https://id.acme.example/me\"\nfieldSources =",
            "`lookupUrl` belongs to `fieldSources`",
        ),
        (
            "at = \"/api_domain\"",
            "at = \"/?name={other}/api_domain\"",
            "no field for `{other}` in `/?name={other}/api_domain`",
        ),
        (
            "template = \"https://{company}.",
            "template = \"https://{other}.",
            "a `template` for `company` must contain `{company}` once",
        ),
        (
            "template = \"https://{company}.",
            "template = \"https://{company}{company}.",
            "must contain `{company}` once",
        ),
    ] {
        let text = QUIRKS.replacen(from, to, 1);
        assert_ne!(text, QUIRKS, "{from}");
        let error = format!("{:#}", Providers::parse("providers.toml", &text).unwrap_err());
        assert!(error.contains(fault), "{to}\n{error}");
    }
}

#[test]
fn shipped_providers_are_complete() {
    let providers = Providers::read("providers.toml".as_ref()).unwrap();
    assert!(providers.0.len() >= 150, "{}", providers.0.len());
    for (name, provider) in &providers.0 {
        assert!(!provider.detail.auth_methods.is_empty(), "{name}");
        assert!(provider.category.is_some() && provider.description.is_some(), "{name}");
    }
    let tiktok = &providers.0["tiktok"].detail.auth_methods[0];
    assert_eq!(tiktok.oauth2().unwrap().client_id_parameter, "client_key");
}

#[test]
fn details_round_trip_through_the_folder() {
    let folder = Folder(folder("details"));
    let (_, platforms) = gather(&with_providers(ACME, ""), &NoProgress).unwrap();
    let _lock = folder.lock().unwrap();
    folder.write(&platforms).unwrap();
    assert_eq!(check::faults(&folder), Vec::<String>::new());
    let mut details = check::OpenCatalog::new(&folder).unwrap().details().unwrap();
    for platform in &platforms {
        let check::StoredPlatform { detail, mut aliases, .. } =
            details.take(&platform.connector.platform);
        let mut expected = platform.aliases.clone();
        aliases.sort();
        expected.sort();
        assert_eq!((detail, aliases), (platform.detail.clone(), expected));
    }
}

#[test]
fn check_reports_connectors_that_users_cannot_connect() {
    let folder = folder("unconnectable");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    fs::write(folder.join("a.yaml"), "openapi: 3.0.0\ninfo: {title: Acme, version: 1}\npaths: {}\nservers: [{url: 'http://acme.example'}]\n").unwrap();
    fs::write(folder.join("c.toml"), "[platforms.acme]\nauthkit = true\n").unwrap();
    let out = path("catalog");
    let (document, config) = (path("a.yaml"), path("c.toml"));
    let import = ["import", &document, "--licence", "any", "--config", &config, "--out", &out];
    let imported = run(&import);
    assert!(imported.status.success(), "{}", stderr(&imported));
    let checked = run(&["check", &out]);
    assert!(!checked.status.success());
    let faults = stderr(&checked);
    assert!(
        faults.contains("api::acme::v1: it is enabled (`authkit`) without a usable auth method"),
        "{faults}"
    );
    assert!(faults.contains("its server http://acme.example is not https"), "{faults}");
}
