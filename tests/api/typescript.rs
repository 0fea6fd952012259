//! The parts of the npm package's TypeScript that are derived from Rust types and from responses of
//! `handle()`: `npm/src/types/names.ts`, which belongs to the package's sources, and
//! `npm/types/facts.ts`, which `npm/types/index.test-d.ts` compares with the package's
//! declarations.

mod filters;

use std::collections::BTreeMap;
use std::fs;

use connector_vault::auth::endpoints::session::new::DEFAULT_TTL;
use connector_vault::auth::key::ApiKey;
use connector_vault::catalog::action::stored::ParameterLocation;
use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::detail::{
    ApiKeyLocation, ConnectorDetail, Grant, Pkce, RevocationToken, TokenAuth, TokenBody,
};
use connector_vault::catalog::model::Status;
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::connect::attempt::AttemptErrorCode;
use connector_vault::connections::rules::MAX_TAGS;
use connector_vault::http::body::{Field, FieldCheck};
use connector_vault::http::endpoint::{Endpoint, Keyed};
use connector_vault::http::fields::{MAX_ORIGINS, MAX_PLATFORMS, MAX_TTL, MIN_TTL};
use connector_vault::http::problem::Code;
use connector_vault::openapi::schema::variants;
use connector_vault::terms::{
    ActorType, AttemptStatus, AuditAction, CredentialType, DeliveryState, EndpointGroup,
    Environment, EventType, IdentityType, KeyState, Method, Scope, State, UsageGroup,
};
use serde_json::{Value, json};

use crate::generated_files::assert_up_to_date;
use crate::support::{
    Api, action, anonymous, as_key, body, config, connector, units, with_body, with_header,
};
use crate::vault::{CONNECTIONS, SUMMARY, UNKNOWN_ID, at, post_as};

const NAMES: &str = "npm/src/types/names.ts";
const FACTS: &str = "npm/types/facts.ts";
/// The sources with comments that name limits.
const DECLARATIONS: [&str; 4] = [
    "npm/src/resources/catalog.ts",
    "npm/src/resources/connections.ts",
    "npm/src/core/pages.ts",
    "npm/src/resources/sessions.ts",
];

const NAMES_HEAD: &str = "// The names of the service's Rust enums.";
const FACTS_HEAD: &str = "// The requests and responses of the service, from its Rust types. Type tests compare the package's declarations with them.";
const WRITTEN_BY: &str = "// Written by `WRITE_TYPE_FACTS=1 cargo test --features cli --test api typescript`; never edited by hand.";

/// Members whose values are prose or random.
const ANY_TEXT: [&str; 6] = ["id", "requestId", "connectionId", "detail", "token", "connectUrl"];

const CONNECTORS: &str = "/v1/available-connectors";
const ACTIONS: &str = "/v1/available-actions";

#[test]
fn typescript_names_and_facts_match_the_rust_types() {
    for (file, text) in [(NAMES, names()), (FACTS, facts()), (filters::FILE, filters::text())] {
        assert_up_to_date(file, &text, "WRITE_TYPE_FACTS", "typescript");
    }
}

#[test]
fn typescript_limits_match_the_service() {
    let sources = DECLARATIONS.map(|file| fs::read_to_string(file).unwrap());
    // A line break in a comment may be anywhere.
    let declarations = sources.concat().replace("\n   * ", " ");
    for (declaration, times) in [
        (format!("at most {MAX_TAGS} of 1–128 characters, without commas."), 1),
        (format!("At most {MAX_TAGS} tags of 1–128 characters, without commas."), 1),
        (format!("Only these platforms of the catalog, at most {MAX_PLATFORMS},"), 1),
        (format!("Only pages of these web origins, at most {MAX_ORIGINS},"), 1),
        (
            format!(
                "The lifetime of the token in seconds: {MIN_TTL}–{MAX_TTL}, default {DEFAULT_TTL}."
            ),
            1,
        ),
        (format!("Default: `{}`. */\n  state?:", State::Unknown.as_str()), 1),
    ] {
        assert_eq!(
            declarations.matches(&declaration).count(),
            times,
            "{DECLARATIONS:?} say: {declaration}"
        );
    }
}

/// The package passes endpoint names as strings, which the compiler does not check.
#[test]
fn the_package_has_a_call_for_every_endpoint() {
    let resources = fs::read_dir("npm/src/resources").unwrap().map(|file| file.unwrap().path());
    let sources: String = resources
        .chain(["npm/src/client.ts".into()])
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let called = |keyed: &&Keyed| {
        let (first, rest) = keyed.name().split_at(1);
        sources.contains(&format!("\"{}{rest}\"", first.to_lowercase()))
    };
    let without: Vec<_> = Keyed::ALL.iter().filter(|keyed| !called(keyed)).collect();
    assert!(without.iter().all(|keyed| keyed.is_proxy()), "{without:?}");
    for call in sources.split("Call.of(\"").skip(1) {
        let (operation, _) = call.split_once('"').unwrap();
        assert!(Keyed::from_operation_id(operation).is_some(), "{operation}");
    }
}

/// The enumerations, each with its names.
fn enumerations() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("ActionMethod", Method::NAMES.to_vec()),
        ("ActorType", ActorType::NAMES.to_vec()),
        ("AttemptErrorCode", AttemptErrorCode::ALL.map(AttemptErrorCode::as_str).to_vec()),
        ("AttemptStatus", AttemptStatus::NAMES.to_vec()),
        ("AuditAction", AuditAction::NAMES.to_vec()),
        ("ConnectionState", State::ALL.map(State::as_str).to_vec()),
        ("ConnectorStatus", variants::<Status>()),
        ("CredentialType", CredentialType::NAMES.to_vec()),
        ("DeliveryState", DeliveryState::NAMES.to_vec()),
        ("EndpointGroup", EndpointGroup::NAMES.to_vec()),
        ("Environment", Environment::ALL.map(Environment::as_str).to_vec()),
        ("EventType", EventType::NAMES.to_vec()),
        ("Grant", variants::<Grant>()),
        ("IdentityType", IdentityType::ALL.map(IdentityType::as_str).to_vec()),
        ("KeyPlace", variants::<ApiKeyLocation>()),
        ("KeyState", KeyState::NAMES.to_vec()),
        ("ParameterPlace", variants::<ParameterLocation>()),
        ("Pkce", variants::<Pkce>()),
        ("ProblemCode", Code::ALL.map(Code::as_str).to_vec()),
        ("Scope", Scope::ALL.map(Scope::as_str).to_vec()),
        ("SessionScope", Scope::TOKEN_SCOPES.map(Scope::as_str).to_vec()),
        ("TokenAuth", variants::<TokenAuth>()),
        ("RevocationToken", variants::<RevocationToken>()),
        ("TokenBody", variants::<TokenBody>()),
        ("UsageGroup", UsageGroup::NAMES.to_vec()),
    ]
}

/// Generates the source text of [`NAMES`].
fn names() -> String {
    let member = |(name, values): (&str, Vec<&str>)| {
        let values: Vec<_> = values.iter().map(|value| format!("\n    | \"{value}\"")).collect();
        format!("  {name}:{};\n", values.concat())
    };
    let members: String = enumerations().into_iter().map(member).collect();
    format!("{NAMES_HEAD}\n{WRITTEN_BY}\n\nexport interface Names {{\n{members}}}\n")
}

/// Generates the source text of [`FACTS`].
fn facts() -> String {
    let settings =
        [("SESSION_SECRET", &*"a secret ".repeat(4)), ("BASE_URL", "https://vault.example")];
    let api = Api::new(config(&settings));
    api.env.publish_platforms(Sizes::PUBLISHED, &catalog());
    let requests = Requests::collect_from(&api);
    let constants = [
        ("fields", fields()),
        ("rows", requests.rows),
        ("documents", requests.documents),
        ("problems", requests.problems),
    ];
    let constants = constants.map(|(name, mut value)| {
        mask_varying(&mut value);
        value.sort_all_objects();
        format!("\nexport const {name} = {} as const;\n", source(&value, 0))
    });
    format!("{FACTS_HEAD}\n{WRITTEN_BY}\n{}", constants.concat())
}

/// Formats a value as source text. Values below the second level are on one line.
fn source(value: &Value, level: usize) -> String {
    let indent = "  ".repeat(level);
    match value {
        Value::Array(items) if level < 2 => {
            let line = |item| format!("{indent}  {},\n", source(item, level + 1));
            format!("[\n{}{indent}]", items.iter().map(line).collect::<String>())
        }
        Value::Object(members) if level < 2 => {
            let line = |(name, item)| format!("{indent}  {name}: {},\n", source(item, level + 1));
            format!("{{\n{}{indent}}}", members.iter().map(line).collect::<String>())
        }
        _ => value.to_string(),
    }
}

/// Replaces values that vary between runs.
fn mask_varying(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(mask_varying),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if ANY_TEXT.contains(&name.as_str()) => *text = "…".into(),
                    member => mask_varying(member),
                }
            }
        }
        _ => {}
    }
}

/// The fields of each request body: all fields, the required ones, and the nullable ones.
fn fields() -> Value {
    let described = |endpoint: &Endpoint| {
        let Endpoint::Keyed(keyed) = *endpoint else { return None };
        Some((keyed.doc().body?.schema, endpoint.spec().body?))
    };
    let bodies: BTreeMap<&str, &[Field]> = Endpoint::ALL.iter().filter_map(described).collect();
    let described_fields = |fields: &[Field]| {
        let names = |expected: fn(&Field) -> bool| {
            fields
                .iter()
                .filter(|field| expected(field))
                .map(|field| field.name)
                .collect::<Vec<_>>()
        };
        let nullable = |field: &Field| matches!(field.check, FieldCheck::TextOrNull(_));
        json!({
            "all": names(|_| true), "required": names(|field| field.required), "nullable": names(nullable),
        })
    };
    json!(
        bodies
            .into_iter()
            .map(|(body, fields)| (body, described_fields(fields)))
            .collect::<BTreeMap<_, _>>()
    )
}

/// A catalog with a connector for each status, and an action for each method.
fn catalog() -> Vec<Platform> {
    let statuses = variants::<Status>();
    let connectors = statuses.iter().enumerate().map(|(index, status)| {
        let platform = if index == 0 { "alpha".into() } else { format!("alpha-{index}") };
        let name = format!("Alpha {index}");
        let mut connector = connector(&platform, &name, "Developer Tools", 0);
        connector.status = serde_json::from_value(json!(status)).unwrap();
        connector.oauth = index % 2 == 0;
        connector.active = index % 2 == 0;
        let methods = Method::NAMES.into_iter();
        let actions: Vec<_> = methods
            .map(|name| {
                let method = serde_json::from_value(json!(name)).unwrap();
                action(
                    &platform,
                    &format!("{name} a user"),
                    &format!("{}User", name.to_lowercase()),
                    method,
                )
            })
            .collect();
        connector.tools = u32::try_from(actions.len()).unwrap();
        let detail = if index == 0 { detail() } else { ConnectorDetail::default() };
        Platform {
            connector,
            detail,
            authkit: false,
            aliases: Vec::new(),
            actions,
            units: if index == 0 { details() } else { Units::default() },
        }
    });
    connectors.collect()
}

/// A connector's detail with an auth method of each type.
fn detail() -> ConnectorDetail {
    let field = json!({"name": "apiKey", "label": "API key"});
    let url = "https://alpha.example";
    let mut oauth = json!({
        "id": "oauth2", "type": "oauth2", "grant": "authorization_code", "authorizationUrl": url, "tokenUrl": url,
        "scopes": [{"name": "read"}], "scopeSeparator": " ", "pkce": "S256", "tokenAuth": "none", "tokenBody": "form",
        "clientIdParameter": "client_key", "codeParameter": "auth_code", "expiresUnit": "ms",
        "longLivedToken": {"method": "GET", "url": url, "parameters": {"access_token": "{accessToken}"}},
        "accessTokenRefresh": {"method": "POST", "url": url, "parameters": {"access_token": "{accessToken}"}},
        "fieldSources": [{"field": "shop", "from": "token", "at": "/shop", "template": "{shop}"}],
        "authorizationParameters": {}, "tokenParameters": {}, "tokenMembers": [], "fields": [],
    });
    oauth["authorizationParameters"] = json!({"prompt": "consent"});
    let detail = json!({
        "authMethods": [
            oauth,
            {"id": "key", "type": "api_key", "in": "header", "name": "x-key", "prefix": "", "fields": [field]},
            {"id": "basic", "type": "basic", "usernameLabel": "User", "passwordLabel": "Password", "fields": [field], "username": "{apiKey}", "password": ""},
            {"id": "bearer", "type": "bearer", "prefix": "Bearer", "fields": [field]},
            {"id": "aws", "type": "aws_sigv4", "service": "s3", "regions": ["eu-west-1"], "fields": [field]},
        ],
        "servers": [{"url": url, "description": null}],
        "documentationUrl": url,
        "license": {"name": "MIT", "url": url},
        "headers": {"Version": "1"},
        "verify": {"method": "GET", "path": "/me", "rejectedWhen": {"pointer": "/ok", "value": false}},
        "account": {"method": "GET", "path": "/me", "id": "/id", "name": "/name"},
        "pagination": [{"next": "/next", "parameter": "cursor", "items": "/data", "more": "/more"}],
    });
    serde_json::from_value(detail).unwrap()
}

/// The detail of one action, with every member.
fn details() -> Units {
    let create = json!({
        "title": "POST a user", "key": "postUser", "method": "POST", "modelName": "Model",
        "facts": {"path": "/users/{id}", "documentationUrl": "https://alpha.example/docs"},
        "parameters": [
            {"name": "id", "in": "path", "required": true, "schema": {}, "style": "simple", "explode": false},
            {
                "name": "filter", "in": "query", "required": false, "schema": {}, "style": "form", "explode": true,
                "contentType": "application/json", "allowReserved": true,
            },
        ],
        "requestBody": {
            "required": true, "contentTypes": ["application/x-www-form-urlencoded"], "schema": {},
            "encoding": {"meta": {"style": "deepObject", "explode": true}},
        },
        "security": [[{"scheme": "login", "scopes": ["read"]}]],
        "responses": [
            {"status": "200", "description": "Created", "contentType": "application/json", "schema": {}},
            {"status": "204", "description": "", "contentType": null, "schema": null},
        ],
    });
    units(json!({"login": ["oauth2"]}), &[create], &[])
}

/// Responses of the service that contain each shape at least once.
struct Requests {
    /// The rows of each list.
    rows: Value,
    /// Responses that are single documents.
    documents: Value,
    problems: Value,
}

impl Requests {
    fn collect_from(api: &Api) -> Self {
        let keys = Environment::ALL.map(|environment| {
            api.env.key("acme", environment, &Scope::ALL, Some(api.env.now.get() + 1000))
        });
        // Each value of each enumeration and boolean, with and without a name.
        let rows = keys.iter().flat_map(|key| {
            (0..State::ALL.len().max(IdentityType::ALL.len())).map(move |index| {
                let mut document = json!({
                    "platform": "alpha", "identity": format!("user-{index}"), "tags": ["eu", "billing"], "active": index % 2 == 0,
                    "identityType": IdentityType::ALL[index % IdentityType::ALL.len()].as_str(),
                    "state": State::ALL[index % State::ALL.len()].as_str(),
                });
                if index % 2 == 0 {
                    document["name"] = json!("Ann");
                }
                api.create_as(key, &document)
            })
        });
        let connections: Vec<Value> = rows.collect();
        let id = connections[0]["id"].as_str().unwrap();
        let get = |key: &ApiKey, path: &str| api.send(&as_key(key, "GET", path));
        let rows = |path: &str| body(&api.get(path))["rows"].take();
        let mut repeated = connections[0].clone();
        repeated
            .as_object_mut()
            .unwrap()
            .retain(|name, _| ["platform", "identity", "identityType"].contains(&name.as_str()));
        let sessions = sessions(api, &keys);
        let scopeless = api.env.key("acme", Environment::Test, &[], None);
        let problems = [
            api.get(&format!("{CONNECTORS}?lmit=1&limit=0&page=0")),
            api.send(&post_as(&api.key, &json!({"platfrm": "alpha"}))),
            api.send(&post_as(&api.key, &repeated)),
            api.get(&format!("{ACTIONS}/alhpa")),
            api.get(&format!("{ACTIONS}/alpha/postUsr")),
            api.get(&at(UNKNOWN_ID)),
            api.on("DELETE", id, Some("\"other\"")),
            get(&scopeless, CONNECTIONS),
            api.get("/v1/agent-sign-in"),
        ];
        Self {
            rows: json!({
                "Connector": rows(CONNECTORS), "Action": rows(&format!("{ACTIONS}/alpha")), "Connection": connections,
            }),
            documents: json!({
                "ActionDetail": [body(&api.get(&format!("{ACTIONS}/alpha/postUser?include=responses")))],
                "ConnectionSummary": [body(&api.get(SUMMARY))],
                "ConnectorDetail": [body(&api.get(&format!("{CONNECTORS}/alpha")))],
                "Whoami": keys.iter().chain([&api.key]).map(|key| body(&get(key, "/v1/whoami"))).collect::<Vec<_>>(),
                "WhoamiOfToken": sessions.iter().map(|session| whoami_of(api, session)).collect::<Vec<_>>(),
                "Session": sessions,
                "Page": [without_rows(body(&api.get(CONNECTORS)))],
            }),
            problems: json!(problems.map(|problem| body(&problem))),
        }
    }
}

/// Tokens of each environment, for each identity type and for all types, with all restrictions and
/// without any.
fn sessions(api: &Api, keys: &[ApiKey]) -> Vec<Value> {
    let minimal = std::iter::once(json!({"identity": "ann"}));
    let restricted = IdentityType::ALL.map(|identity_type| {
        json!({
            "identity": "ann", "identityType": identity_type.as_str(), "scopes": Scope::TOKEN_SCOPES.map(Scope::as_str),
            "platforms": ["alpha"], "origins": ["https://app.example"],
        })
    });
    let expected: Vec<Value> = minimal.chain(restricted).collect();
    let create = |key: &ApiKey, expected: &Value| {
        let request = with_body(as_key(key, "POST", "/v1/sessions"), &expected.to_string());
        let response = api.send(&request);
        assert_eq!(response.status, 201, "{}", body(&response));
        body(&response)
    };
    keys.iter().flat_map(|key| expected.iter().map(move |expected| create(key, expected))).collect()
}

/// The response of `whoami` for a session's token.
fn whoami_of(api: &Api, session: &Value) -> Value {
    let sent = [
        ("x-service-secret", session["token"].as_str().unwrap()),
        ("origin", "https://app.example"),
    ];
    let request =
        sent.into_iter().fold(anonymous("GET", "/v1/whoami"), |request, (name, value)| {
            with_header(request, name, value)
        });
    body(&api.send(&request))
}

/// A list's response without its rows.
fn without_rows(mut page: Value) -> Value {
    page["rows"] = json!([]);
    page
}
