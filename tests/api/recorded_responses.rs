//! The responses to more than a thousand malformed or malicious requests, compared with the recorded
//! ones. A change of behaviour shows in the diff of `tests/fixtures/answers.txt`.

use std::fmt::Write as _;

use connector_vault::http::endpoint::Keyed;
use connector_vault::http::message::Body;
use connector_vault::http::query::Parameter;
use connector_vault::http::{Request, Response};
use connector_vault::terms::{Environment, Scope};
use serde_json::json;

use crate::generated_files::assert_up_to_date;
use crate::support::{Api, anonymous, as_secret, body, with_body, with_header};
use crate::vault::{CONNECTIONS, UNKNOWN_ID, at, fixture, name, state};

const RECORD: &str = "tests/fixtures/answers.txt";

#[test]
fn every_response_matches_the_recorded_one() {
    assert_up_to_date(RECORD, &responses(), "WRITE_ANSWERS", "answers");
}

/// A service with connections, tokens and every type of secret.
struct Fixture {
    api: Api,
    id: String,
    secrets: Vec<(&'static str, String)>,
}

impl Fixture {
    fn new() -> Self {
        let api = Api::with_sessions(&"a secret ".repeat(4), "");
        let id = fixture(&api)[0]["id"].as_str().unwrap().to_owned();
        let secret = |key: &connector_vault::auth::key::ApiKey| key.reveal().to_owned();
        let test = Environment::Test;
        let scoped = |scopes: &[Scope]| secret(&api.env.key("acme", test, scopes, None));
        let [none, reads, other] =
            [scoped(&[]), scoped(&[Scope::CatalogRead, Scope::ConnectionsRead]), {
                secret(&api.env.key("other", Environment::Live, &Scope::ALL, None))
            }];
        let revoked_key = api.env.key("acme", test, &Scope::ALL, None);
        api.env.revoke(&revoked_key);
        let expired_secret = secret(&api.env.key("acme", test, &Scope::ALL, Some(1)));
        let token = |document: serde_json::Value| {
            let request = with_body(api.request("POST", "/v1/sessions"), &document.to_string());
            let created = body(&api.send(&request));
            created["token"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned()
        };
        let all = ["catalog:read", "connections:read", "connections:write"];
        let secrets = vec![
            ("all", secret(&api.key)),
            ("reads", reads),
            ("no scope", none),
            ("other account", other),
            ("revoked", secret(&revoked_key)),
            ("expired", expired_secret),
            ("mistyped", "sk_test_mistyped".into()),
            ("none", String::new()),
            ("token", token(json!({"identity": "ann", "scopes": all}))),
            ("token, one platform", token(json!({"identity": "ann", "platforms": ["zeta"]}))),
            (
                "token, its page only",
                token(json!({"identity": "ann", "origins": ["https://a.example"]})),
            ),
        ];
        Self { api, id, secrets }
    }

    /// The response to a request, without the parts that differ between runs.
    fn comparable_response(&self, request: &Request) -> (Response, String) {
        let response = self.api.send(request);
        let text = String::from_utf8_lossy(&response.body).into_owned();
        let text = text.replace(response.header("x-request-id").unwrap(), "<request>");
        let text = text.replace(&self.id, "<c1>");
        (response, text)
    }
}

fn responses() -> String {
    let fixture = Fixture::new();
    let mut text = String::new();
    order_of_checks(&fixture, &mut text);
    for request in hostile_requests(&fixture) {
        let (response, comparable_response) = fixture.comparable_response(&request);
        let Request { method, path, query, headers, body, .. } = &request;
        let path = path.replace(&fixture.id, "<c1>");
        let sent: Vec<String> = headers
            .iter()
            .filter(|(name, value)| {
                name != "x-service-secret"
                    && (name, value.as_str()) != (&"content-type".into(), "application/json")
            })
            .map(|(name, value)| format!("{name}: {value:?} ").replace(&fixture.id, "<c1>"))
            .collect();
        let body = match body {
            Body::Whole(bytes) => String::from_utf8_lossy(bytes).chars().take(120).collect(),
            Body::TooLarge | Body::Stream | Body::TimedOut | Body::Refused => {
                "(too large)".to_owned()
            }
        };
        let shown = |text: &str, max: usize| text.chars().take(max).collect::<String>();
        let path = shown(&path, 80);
        let query = if query.is_empty() { String::new() } else { format!("?{}", shown(query, 80)) };
        let body = if body.is_empty() { body } else { format!(" {}", shown(&body, 120)) };
        let sent = sent.concat();
        let comparable_response = response_line(&response, &comparable_response);
        writeln!(
            text,
            "{method} {path}{query} {}{body} => {comparable_response}",
            shown(&sent, 80)
        )
        .unwrap();
    }
    text
}

/// A response on one line: its machine-readable parts, and a checksum of the rest.
fn response_line(response: &Response, text: &str) -> String {
    let mut line = response.status.to_string();
    for name in ["allow", "retry-after", "www-authenticate"] {
        if let Some(value) = response.header(name) {
            write!(line, " {name}: {value}").unwrap();
        }
    }
    let document: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(code) = document["code"].as_str() {
        write!(line, " {code}").unwrap();
        for error in document["errors"].as_array().into_iter().flatten().take(5) {
            let place = error["parameter"].as_str().or(error["pointer"].as_str()).unwrap();
            let meant = error["suggestion"].as_str().map(|meant| format!(">{meant}"));
            write!(
                line,
                " {}{}",
                place.chars().take(20).collect::<String>(),
                meant.unwrap_or_default()
            )
            .unwrap();
        }
    }
    if !text.is_empty() {
        write!(line, " {:08x}", connector_vault::util::crc32::crc32(text.as_bytes())).unwrap();
    }
    line
}

/// Sends each method to each path with each type of secret, below and above the rate limit. Bodies
/// and preconditions prevent writes.
fn order_of_checks(fixture: &Fixture, text: &mut String) {
    let id = &fixture.id;
    let paths = [
        "/",
        "/health",
        "/healthy",
        "/.well-known/security.txt",
        "/v1",
        "/v1/nothing",
        "/v1/openapi.json",
        "/v1/whoami",
        "/v1/sessions",
        "/v1/available-connectors",
        "/v1/available-actions",
        "/v1/available-actions/alpha",
        "/v1/available-actions/nothing",
        "/v1/vault/connections",
        &at(id),
        &at(UNKNOWN_ID),
        &at("no-id"),
        &state(id),
        &name("no-id"),
        "/v1/vault/connections/%zz",
        "/v1/vault/summary",
    ];
    let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "get", ""];
    for path in paths {
        for method in methods {
            let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
            for (secret_name, secret) in &fixture.secrets {
                let request = match secret.as_str() {
                    "" => anonymous(method, path),
                    secret => as_secret(secret, method, path),
                };
                let request = with_header(with_body(request, "{}"), "if-match", "\"x-1\"");
                let one = |limited: bool| {
                    fixture.api.env.limited.set(limited);
                    let (response, comparable_response) = fixture.comparable_response(&request);
                    let comparable_response: serde_json::Value =
                        serde_json::from_str(&comparable_response).unwrap_or_default();
                    let code = comparable_response["code"].as_str().map(|code| format!(" {code}"));
                    format!("{}{}", response.status, code.unwrap_or_default())
                };
                let (free, over) = (one(false), one(true));
                let kind =
                    if free == over { free } else { format!("{free}, over its rate {over}") };
                match kinds.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, names)) => names.push(secret_name),
                    None => kinds.push((kind, vec![secret_name])),
                }
            }
            fixture.api.env.limited.set(false);
            writeln!(text, "{method} {}", path.replace(id, "<c1>")).unwrap();
            for (kind, names) in kinds {
                writeln!(text, "    {kind}: {}", names.join("; ")).unwrap();
            }
        }
    }
}

/// Requests with a key that has all scopes, each invalid or unusual in one respect. None of them
/// writes.
fn hostile_requests(fixture: &Fixture) -> Vec<Request> {
    [queries(fixture), paths(fixture), bodies(fixture), headers(fixture)].concat()
}

/// The paths of the lists, each with its row in the endpoint table.
const LISTS: [(&str, Keyed); 4] = [
    ("/v1/available-actions", Keyed::SearchActions),
    ("/v1/available-connectors", Keyed::ListConnectors),
    ("/v1/available-actions/alpha", Keyed::ListActions),
    (CONNECTIONS, Keyed::ListConnections),
];

/// List requests with invalid or unusual queries.
fn queries(fixture: &Fixture) -> Vec<Request> {
    let get = |path: &str| fixture.api.request("GET", path);
    let mut requests = Vec::new();

    let long = "x".repeat(10_000);
    let values = [
        "",
        "%20",
        "%00",
        "%",
        "%zz",
        "%ff",
        "%C3%28",
        "+",
        ",",
        "a,,b",
        "0",
        "00",
        "-1",
        "+1",
        "1.0",
        "1e3",
        "501",
        "18446744073709551616",
        "true",
        "TRUE",
        "null",
        "%F0%9F%A6%80",
        "%E2%80%AE",
        "a%00b",
        "alpha",
        "ALPHA",
        "user",
        "users",
        "operational",
        "Operational",
        "v1",
        "v1a",
        "any",
        "all",
        "<script>",
        "%25",
        "_",
        "'; DROP TABLE connections; --",
        "test::alpha::c1::ann",
        &long,
    ];
    for (path, list) in LISTS {
        for Parameter { name: parameter, .. } in list.spec().query {
            requests.extend(values.map(|value| get(&format!("{path}?{parameter}={value}"))));
            requests.push(get(&format!("{path}?{parameter}=1&{parameter}=1")));
            requests.push(get(&format!(
                "{path}?{parameter}&{}=1&{parameter}s=1",
                parameter.to_uppercase()
            )));
        }
        for query in [
            "?",
            "&&",
            "=",
            "=1",
            "a",
            "%",
            "%ff=1",
            "a%00=1",
            "limit=1&page=99999999999",
            &format!("{long}=1"),
            "limit=1;page=2",
            "LIMIT=1",
            "limit%20=1",
            "%6cimit=0",
            "constructor=1",
            "__proto__=1",
        ] {
            requests.push(get(&format!("{path}?{query}")));
        }
        requests.push(get(&format!("{path}?{}", "x=1&".repeat(300))));
    }
    requests
}

/// Requests to invalid or unusual paths, and queries for endpoints without parameters.
fn paths(fixture: &Fixture) -> Vec<Request> {
    let id = &fixture.id;
    let long = "x".repeat(10_000);
    let get = |path: &str| fixture.api.request("GET", path);
    let mut requests = Vec::new();
    for path in [
        "/v1/available-actions/ALPHA",
        "/v1/available-actions/alpah",
        "/v1/available-actions/%61lpha",
        "/v1/available-actions/a%2Fb",
        "/v1/available-actions/..",
        "/v1/available-actions/%00",
        "/v1/available-actions/%F0%9F%A6%80",
        &format!("/v1/available-actions/{long}"),
        "/v1/available-actions/a/b",
        "/v1/vault/connections/",
        "/v1/vault/connections//name",
        "/v1//vault",
        "/V1/vault/connections",
        "/v1/vault/connections/..%2f..",
        "/v1/vault/summary/",
        &at(&id.to_uppercase()),
        &at(&id.replace('-', "")),
        &at(&format!("{{{id}}}")),
        &at(&format!("{id}x")),
        &at(&long),
        "/health?x=1",
        "/v1/whoami?x=1",
        "/v1/vault/summary?x=1",
        &format!("{}?x=1", at(id)),
        "/v1/openapi.json?x",
    ] {
        requests.push(get(path));
    }
    requests
}

/// Requests with invalid or unusual bodies.
fn bodies(fixture: &Fixture) -> Vec<Request> {
    let id = &fixture.id;
    let mut requests = Vec::new();
    let bodies = [
        "",
        " ",
        "null",
        "true",
        "1",
        "\"a\"",
        "[]",
        "{}",
        "{",
        "{}{}",
        "{\"a\":1,}",
        "{'a':1}",
        "\u{feff}{}",
        "{\"tags\":[],\"tags\":[]}",
        "{\"a\":1,\"a\":2}",
        "{\"tags\":null}",
        "{\"tags\":\"a\"}",
        "{\"tags\":{}}",
        "{\"tags\":[1,null,[],{},\" a\",\"a,b\",\"\",\"\\u0000\",\"\\u202eevil\",\"\\u200b\"]}",
        "{\"tag\":[\"a\"]}",
        "{\"\":1}",
        "{\"a/b~c\":1}",
        "{\"constructor\":1,\"__proto__\":1}",
        "{\"name\":1}",
        "{\"name\":\"\"}",
        "{\"name\":\"\\ud800\"}",
        "{\"name\":[]}",
        "{\"state\":\"Failed\"}",
        "{\"state\":\"fail\"}",
        "{\"state\":null}",
        "{\"state\":\"failed\",\"active\":\"no\",\"reason\":1}",
        "{\"active\":1}",
        "{\"platform\":\"alpah\",\"identity\":\"ann\",\"identityType\":\"user\"}",
        "{\"platform\":\"alpha\",\"identity\":\" ann\",\"identityType\":\"usr\",\"label\":\"A b\",\"platformVersion\":\"1\"}",
        "{\"platform\":\"\",\"identity\":\"\",\"identityType\":\"\"}",
        "{\"platform\":1,\"identity\":2,\"identityType\":3,\"tags\":4,\"state\":5,\"active\":6,\"name\":7,\"label\":8,\"platformVersion\":9}",
        "{\"platform\":\"alpha\",\"identity\":\"ann\",\"identityType\":\"user\",\"label\":\"c1\"}",
        "{\"identity\":\"ann\",\"ttlSeconds\":59}",
        "{\"identity\":\"ann\",\"ttlSeconds\":\"900\"}",
        "{\"identity\":\"ann\",\"ttlSeconds\":900.5}",
        "{\"identity\":\"ann\",\"ttlSeconds\":1e400}",
        "{\"identity\":\"ann\",\"scopes\":[\"sessions:create\"]}",
        "{\"identity\":\"ann\",\"scopes\":[\"catalog:raed\",1,\"catalog:read\",\"catalog:read\"]}",
        "{\"identity\":\"ann\",\"platforms\":[\"alpah\",\"\",\"ALPHA\",1]}",
        "{\"identity\":\"ann\",\"origins\":[\"https://a.example/\",\"*\",\"null\"]}",
        "{\"identity\":\"a,b\",\"identityType\":\"person\",\"x\":1}",
    ];
    for (method, path) in [
        ("POST", CONNECTIONS),
        ("POST", "/v1/sessions"),
        ("PATCH", &at(id)),
        ("PUT", &state(id)),
        ("PUT", &name(id)),
    ] {
        // The version never matches, so no request writes. Requests without a version have only
        // invalid bodies.
        let is_change = method != "POST";
        let to = |path: &str| {
            let request = fixture.api.request(method, path);
            if is_change { with_header(request, "if-match", "\"x-1\"") } else { request }
        };
        requests.extend(bodies.map(|body| with_body(to(path), body)));
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let many = format!(
            "{{{}}}",
            (0..300).map(|n| format!("\"f{n}\":1")).collect::<Vec<_>>().join(",")
        );
        requests.push(with_body(to(path), &format!("{{\"tags\":{deep}}}")));
        requests.push(with_body(to(path), &many));
        requests.push(with_body(to(path), &format!("{{\"{}\":1}}", "k".repeat(60_000))));
        requests
            .push(Request { body: Body::Whole(vec![b'{', 0xff, b'}']), ..with_body(to(path), "") });
        requests.push(Request { body: Body::TooLarge, ..with_body(to(path), "") });
        requests.push(with_body(to(&format!("{path}?x=1")), "{\"tags\":1}"));
        for kind in [
            "text/plain",
            "",
            "application/json; charset=utf-16",
            "application/jsonx",
            "multipart/form-data",
        ] {
            requests.push(Request {
                body: Body::Whole(b"{\"x\":1}".to_vec()),
                ..with_header(to(path), "content-type", kind)
            });
        }
        requests.push(Request { body: Body::Whole(b"{\"x\":1}".to_vec()), ..to(path) });
    }
    requests
}

/// Requests with invalid or unusual headers: preconditions, secrets and origins.
fn headers(fixture: &Fixture) -> Vec<Request> {
    let id = &fixture.id;
    let mut requests = Vec::new();
    for value in [
        "",
        " ",
        "*",
        "x",
        "\"",
        "\"a",
        "W/\"a\"",
        "\"a\",",
        "\"a\" \"b\"",
        "a,b",
        "\"a\", W/\"b\"",
        &format!("\"{id}-9\""),
        &format!("W/\"{id}-1\""),
        &format!("\"{}\"", "x".repeat(9000)),
    ] {
        requests.push(with_header(fixture.api.request("GET", &at(id)), "if-none-match", value));
        if value != "*" {
            requests.push(with_header(
                fixture.api.request("DELETE", &at(UNKNOWN_ID)),
                "if-match",
                value,
            ));
            requests.push(with_body(
                with_header(fixture.api.request("PATCH", &at(UNKNOWN_ID)), "if-match", value),
                "{}",
            ));
        }
    }
    let key = fixture.api.key.reveal();
    for value in [
        " ",
        &format!("{key} "),
        &format!(" {key}"),
        &format!("{key},{key}"),
        &format!("{key}, "),
        &key.to_uppercase(),
        key.get(..20).unwrap(),
        &format!("{key}x"),
        "Bearer x",
        "st_test_",
        "st_test_e30.e30",
        "st_live_.",
        &format!("st_test_{}", "A".repeat(5000)),
        "\u{e9}",
    ] {
        requests.push(as_secret(value, "GET", "/v1/whoami"));
        requests.push(as_secret(value, "POST", CONNECTIONS));
    }
    requests.push(with_header(fixture.api.request("GET", "/v1/whoami"), "x-service-secret", key));
    for origin in ["https://a.example", "null", "", "*"] {
        requests.push(with_header(fixture.api.request("GET", "/v1/whoami"), "origin", origin));
        requests.push(with_header(fixture.api.request("OPTIONS", CONNECTIONS), "origin", origin));
    }
    requests
}
