//! Links to the connect window for callers that must not see the user's input: `link` of
//! `POST /v1/vault/connect`.

use super::*;

fn start_with_link(api: &Api, platform: &str) -> Value {
    let mut sent = ann_connect_body(platform);
    sent["link"] = json!(true);
    let started = connect(api, &sent);
    assert_eq!(started.status, 202, "{}", text(&started));
    body(&started)
}

/// Opens the link of an attempt. Returns the window's code in the redirect, and the redirect's
/// other parameters.
fn window(api: &Api, started: &Value) -> (String, String) {
    let url = started["authorizationUrl"].as_str().unwrap();
    let response = Browser::default().get(api, url);
    assert_eq!(
        (response.status, response.header("cache-control")),
        (303, Some("private, no-store"))
    );
    let location = response.header("location").unwrap();
    let members = location.strip_prefix("/connect#code=").unwrap();
    let (code, rest) = members.split_once('&').unwrap();
    (code.to_owned(), rest.to_owned())
}

pub fn exchange_code(api: &Api, code: &str) -> Response {
    let request = with_header(anonymous("POST", "/connect/token"), "x-connect-code", code);
    api.send(&with_header(request, "origin", ORIGIN))
}

fn outcome(api: &Api, started: &Value) -> Value {
    body(&api.get(&format!("/v1/vault/connect/{}", started["id"].as_str().unwrap())))
}

#[test]
fn a_window_link_keeps_the_key_from_the_caller() {
    let api = api();
    let started = start_with_link(&api, "keyed");
    let url = started["authorizationUrl"].as_str().unwrap();
    assert!(url.starts_with(&format!("{ORIGIN}/connect/go/")) && !url.contains('#'), "{url}");
    assert_eq!(outcome(&api, &started)["status"], "pending");
    // Opening the link several times returns the same code, which works once.
    let (code, rest) = window(&api, &started);
    assert_eq!(
        (&window(&api, &started).0, rest.as_str()),
        (&code, "platform=keyed&authMethod=key")
    );
    let token = body(&exchange_code(&api, &code))["token"].as_str().unwrap().to_owned();
    assert_eq!(exchange_code(&api, &code).status, 401);
    // The token is valid only for this platform and identity, and its scopes allow only connecting.
    let whoami = body(&api.send(&as_secret(&token, "GET", "/v1/whoami")));
    assert_eq!(
        (&whoami["identity"], &whoami["platforms"], &whoami["scopes"]),
        (&json!("ann"), &json!(["keyed"]), &json!(["catalog:read", "connections:connect"]))
    );
    assert_eq!(whoami["expiresAt"], started["expiresAt"]);
    let fields = json!({"apiKey": "k-secret"});
    for (member, value) in [("platform", "acme"), ("identity", "bob")] {
        let mut other = json!({"platform": "keyed", "fields": fields});
        other[member] = json!(value);
        let refusal = api.send(&as_token(&token, "POST", "/v1/vault/connect", &other));
        assert_eq!(refusal.status, 403, "{}", text(&refusal));
    }
    // An attempt to connect for another identity does not end the link.
    script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
    let of_bob =
        json!({"platform": "keyed", "identity": "bob", "identityType": "user", "fields": fields});
    assert_eq!(connect(&api, &of_bob).status, 201);
    assert_eq!(outcome(&api, &started)["status"], "pending");
    // An attempt with rejected credentials does not end the link.
    let own = json!({"platform": "keyed", "fields": fields});
    script(&api, &[(401, json!({}))]);
    let refusal = api.send(&as_token(&token, "POST", "/v1/vault/connect", &own));
    assert_eq!((refusal.status, &outcome(&api, &started)["status"]), (422, &json!("pending")));
    script(&api, &[(200, json!({})), (200, json!({"id": "u-2"}))]);
    let created_response = api.send(&as_token(&token, "POST", "/v1/vault/connect", &own));
    assert_eq!(created_response.status, 201, "{}", text(&created_response));
    let outcome = outcome(&api, &started);
    assert_eq!(
        (&outcome["status"], &outcome["connection"]["id"]),
        (&json!("succeeded"), &body(&created_response)["id"])
    );
    assert_eq!(Browser::default().get(&api, url).status, 410);
    assert!(!dump_all_tables(&api).contains("k-secret"));
}

#[test]
fn links_lead_to_oauth_if_possible_or_else_to_the_window() {
    let api = api();
    let link = |platform: &str, extra: &Value| {
        let mut sent = ann_connect_body(platform);
        sent["link"] = json!(true);
        for (name, value) in extra.as_object().unwrap() {
            sent[name] = value.clone();
        }
        let started = connect(&api, &sent);
        let response = body(&started);
        if started.status != 202 {
            return response["code"].as_str().unwrap().to_owned();
        }
        let opened = Browser::default().get(&api, response["authorizationUrl"].as_str().unwrap());
        match opened.status {
            200 => "sign-in".to_owned(),
            303 => "window".to_owned(),
            other => panic!("{other}"),
        }
    };
    for (platform, extra, without_client, with_client) in [
        ("keyed", json!({}), "window", "window"),
        ("acme", json!({}), "oauth_client_missing", "sign-in"),
        ("plain", json!({}), "window", "sign-in"),
        ("plain", json!({"authMethod": "basic"}), "window", "window"),
        ("plain", json!({"authMethod": "sign-in"}), "oauth_client_missing", "sign-in"),
        // The user enters the shop in the connect window.
        ("shops", json!({}), "oauth_client_missing", "window"),
        // The app can't send values that the user must enter in the window.
        ("keyed", json!({"fields": {"apiKey": "k"}}), "invalid_body", "invalid_body"),
        ("keyed", json!({"label": "second"}), "invalid_body", "invalid_body"),
        ("nothing", json!({}), "invalid_body", "invalid_body"),
    ] {
        let sql = "DELETE FROM oauth_clients";
        api.env.database.execute(sql, []).unwrap();
        assert_eq!(link(platform, &extra), without_client, "{platform} {extra}");
        if !matches!(platform, "keyed" | "nothing") {
            set_client(&api, platform);
        }
        assert_eq!(link(platform, &extra), with_client, "{platform} {extra}");
    }
}

#[test]
fn links_reconnect_key_connections() {
    let api = api();
    script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
    let mut sent = ann_connect_body("keyed");
    sent["fields"] = json!({"apiKey": "old"});
    let id = body(&connect(&api, &sent))["id"].as_str().unwrap().to_owned();
    let mut again = ann_connect_body("keyed");
    again["link"] = json!(true);
    let existing = body(&connect(&api, &again));
    assert_eq!(existing["code"], "connection_exists");
    assert!(
        existing["detail"]
            .as_str()
            .unwrap()
            .contains("send its id as `connection`; to connect another account"),
        "{existing}"
    );
    let started = body(&connect(&api, &json!({"connection": id, "link": true})));
    let (code, rest) = window(&api, &started);
    assert_eq!(rest, format!("platform=keyed&connection={id}&authMethod=key"));
    let token = body(&exchange_code(&api, &code))["token"].as_str().unwrap().to_owned();
    script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
    let new = json!({"connection": id, "fields": {"apiKey": "new"}});
    assert_eq!(api.send(&as_token(&token, "POST", "/v1/vault/connect", &new)).status, 200);
    assert_eq!(outcome(&api, &started)["connection"]["id"], id.as_str());
}

#[test]
fn window_links_need_the_catalog_scope() {
    let api = api();
    let sent = json!({"platform": "keyed", "link": true});
    let opened = json!({"identity": "ann", "scopes": ["connections:connect"]});
    let token = token(&api, &opened);
    let refusal = api.send(&as_token(&token, "POST", "/v1/vault/connect", &sent));
    assert_eq!((refusal.status, &body(&refusal)["code"]), (403, &json!("insufficient_scope")));
    // After the link has expired, its code is rejected.
    let started = start_with_link(&api, "keyed");
    let (code, _) = window(&api, &started);
    api.env.now.set(api.env.now.get() + 10 * 60 * 1000);
    assert_eq!(exchange_code(&api, &code).status, 401);
    assert_eq!(outcome(&api, &started)["status"], "expired");
}

const SUBDOMAIN: &str = "acme-eu";

/// Returns a service with the platform `desk`, which has an API key method and an OAuth method,
/// both with a subdomain.
fn api_with_desk() -> Api {
    let subdomain = json!({"name": "subdomain", "label": "Subdomain", "required": true, "pattern": "^[a-z-]+$"});
    let sign_in = oauth(
        "sign-in",
        &json!({
            "authorizationUrl": "https://{subdomain}.desk.example/authorize",
            "tokenUrl": "https://{subdomain}.desk.example/token",
            "fields": [subdomain, {"name": "region", "label": "Region", "enum": ["eu", "us"]}],
            "fieldSources": [{"field": "subdomain", "from": "callback", "at": "subdomain"}],
        }),
    );
    let host = oauth(
        "host",
        &json!({
            "authorizationUrl": "https://{host}/authorize", "tokenUrl": "https://{host}/token", "fields": [field("host", false)],
        }),
    );
    let methods = json!([api_key(&[subdomain]), sign_in, host]);
    let servers = json!([server("https://{subdomain}.desk.example")]);
    api_of(&[("desk", json!({"authMethods": methods, "servers": servers}))])
}

fn session(api: &Api, extra: &Value) -> Response {
    let mut sent = json!({
        "identity": "ann", "identityType": "user", "platforms": ["desk"],
        "scopes": ["connections:connect", "catalog:read"],
    });
    for (name, value) in extra.as_object().unwrap() {
        sent[name] = value.clone();
    }
    send(api, "POST", "/v1/sessions", &sent)
}

fn with_session(api: &Api, extra: &Value) -> String {
    body(&session(api, extra))["token"].as_str().unwrap().to_owned()
}

fn connect_as(api: &Api, token: &str, method: &str, fields: &Value) -> Response {
    let sent = json!({"platform": "desk", "authMethod": method, "fields": fields});
    api.send(&as_token(token, "POST", "/v1/vault/connect", &sent))
}

/// The pointer and detail of each error, without the name at the start of the detail.
fn errors(response: &Response) -> Vec<(String, String)> {
    let document = body(response);
    let each = document["errors"].as_array().unwrap().iter();
    let string_member = |fault: &Value, name: &str| fault[name].as_str().unwrap().to_owned();
    each.map(|fault| {
        let detail = string_member(fault, "detail");
        let end = detail.split_once("` ").map_or(detail.clone(), |(_, end)| end.to_owned());
        (string_member(fault, "pointer"), end)
    })
    .collect()
}

/// Otherwise the holder of a token could extend its access with a chain of links.
#[test]
fn the_window_of_a_link_is_not_open_longer_than_the_token_that_started_it() {
    let api = api();
    let session = json!({
        "identity": "ann", "identityType": "user", "scopes": ["connections:connect", "catalog:read"],
        "ttlSeconds": 900,
    });
    let response = body(&send(&api, "POST", "/v1/sessions", &session));
    let own = response["token"].as_str().unwrap();
    let sent = json!({"platform": "keyed", "link": true});
    let start_from =
        |token: &str| body(&api.send(&as_token(token, "POST", "/v1/vault/connect", &sent)));
    let first = start_from(own);
    assert!(first["expiresAt"].as_str() < response["expiresAt"].as_str(), "{first}");
    api.env.now.set(api.env.now.get() + 600_000);
    let last = start_from(own);
    assert_eq!(last["expiresAt"], response["expiresAt"]);
    let token =
        body(&exchange_code(&api, &window(&api, &last).0))["token"].as_str().unwrap().to_owned();
    assert_eq!(start_from(&token)["expiresAt"], response["expiresAt"]);
    api.env.now.set(api.env.now.get() + 300_000);
    assert_eq!(api.send(&as_token(&token, "POST", "/v1/vault/connect", &sent)).status, 401);
}

#[test]
fn a_session_presets_fields_of_one_platform() {
    struct Case {
        sent: Value,
        pointer: &'static str,
        end: &'static str,
    }
    let api = api_with_desk();
    let created_response = session(
        &api,
        &json!({"fields": {"region": "eu"}, "fixedFields": {"subdomain": SUBDOMAIN}}),
    );
    let document = body(&created_response);
    assert_eq!(
        (created_response.status, &document["fields"], &document["fixedFields"]),
        (201, &json!({"region": "eu"}), &json!({"subdomain": SUBDOMAIN})),
        "{document}"
    );
    let token = document["token"].as_str().unwrap();
    let whoami = body(&api.send(&as_secret(token, "GET", "/v1/whoami")));
    assert_eq!(
        (&whoami["fields"], &whoami["fixedFields"]),
        (&document["fields"], &document["fixedFields"])
    );
    let secret = "is a secret, which only the user enters";
    for case in [
        Case { sent: json!({"fields": {"apiKey": "k"}}), pointer: "/fields/apiKey", end: secret },
        Case {
            sent: json!({"fixedFields": {"apiKey": "k"}}),
            pointer: "/fixedFields/apiKey",
            end: secret,
        },
        Case {
            sent: json!({"fields": {"shop": "a"}}),
            pointer: "/fields/shop",
            end: "is not a field of `desk`",
        },
        Case {
            sent: json!({"fixedFields": {"subdomain": ""}}),
            pointer: "/fixedFields/subdomain",
            end: "must not be empty",
        },
        Case {
            sent: json!({"fields": {"subdomain": "A"}}),
            pointer: "/fields/subdomain",
            end: "must match the pattern `^[a-z-]+$`",
        },
        Case {
            sent: json!({"fields": {"region": "moon"}}),
            pointer: "/fields/region",
            end: "must be one of `eu`, `us`",
        },
        Case {
            sent: json!({"fixedFields": {"host": "evil.example"}}),
            pointer: "/fixedFields/host",
            end: "decides who receives the secret and the tokens of the OAuth client: set it in the client's `variables`",
        },
        Case {
            sent: json!({"fields": {"region": "eu"}, "fixedFields": {"region": "eu"}}),
            pointer: "/fixedFields/region",
            end: "must not be in `fields` as well",
        },
        Case {
            sent: json!({"fields": {"region": "eu"}, "platforms": null}),
            pointer: "/platforms",
            end: "must be an array of strings",
        },
    ] {
        let refusal = session(&api, &case.sent);
        assert_eq!(refusal.status, 400, "{}", case.sent);
        assert_eq!(
            errors(&refusal)[0],
            (case.pointer.to_owned(), case.end.to_owned()),
            "{}",
            case.sent
        );
    }
    let all = json!({"identity": "ann", "fixedFields": {"subdomain": SUBDOMAIN}});
    let refusal = send(&api, "POST", "/v1/sessions", &all);
    let end = "needs `platforms` with one platform, whose fields these are";
    assert_eq!(errors(&refusal), [("/fixedFields".to_owned(), end.to_owned())]);
}

#[test]
fn a_user_cannot_override_a_fixed_field() {
    let api = api_with_desk();
    let token = with_session(&api, &json!({"fixedFields": {"subdomain": SUBDOMAIN}}));
    let refusal = connect_as(&api, &token, "key", &json!({"apiKey": "k", "subdomain": "other"}));
    let end = "is fixed by the token: omit it, or send the token's value";
    assert_eq!(errors(&refusal), [("/fields/subdomain".to_owned(), end.to_owned())]);
    // If a request omits a fixed value, the service adds it. This also applies to a method with a
    // redirect.
    let created_response = connect_as(&api, &token, "key", &json!({"apiKey": "k"}));
    assert_eq!(created_response.status, 201, "{}", text(&created_response));
    let path = format!(
        "/v1/vault/connections/{}/credentials",
        body(&created_response)["id"].as_str().unwrap()
    );
    assert_eq!(body(&api.get(&path))["fields"], json!({"subdomain": SUBDOMAIN}));
    let other =
        with_session(&api, &json!({"identity": "bob", "fixedFields": {"subdomain": SUBDOMAIN}}));
    let started = body(&connect_as(&api, &other, "sign-in", &json!({"subdomain": SUBDOMAIN})));
    let (address, _) =
        Browser::default().follow(&api, started["authorizationUrl"].as_str().unwrap());
    assert_eq!(address, format!("https://{SUBDOMAIN}.desk.example/authorize"));
    // Users can change a prefilled value that is not fixed.
    let free = with_session(&api, &json!({"identity": "eve", "fields": {"subdomain": SUBDOMAIN}}));
    let refusal = connect_as(&api, &free, "key", &json!({"apiKey": "k"}));
    assert_eq!(errors(&refusal), [("/fields/subdomain".to_owned(), "is required".to_owned())]);
    assert_eq!(
        connect_as(&api, &free, "key", &json!({"apiKey": "k", "subdomain": "other"})).status,
        201
    );
}

#[test]
fn a_sign_in_to_an_account_other_than_the_fixed_one_fails() {
    let api = api_with_desk();
    let token = with_session(&api, &json!({"fixedFields": {"subdomain": SUBDOMAIN}}));
    let started = body(&connect_as(&api, &token, "sign-in", &json!({})));
    let (browser, state) = follow(&api, started["authorizationUrl"].as_str().unwrap());
    let page = browser.back(&api, &format!("code=c&state={state}&subdomain=other"));
    assert_eq!(page.status, 200, "{}", text(&page));
    let ended = attempt(&api, started["id"].as_str().unwrap());
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("failed"), &json!("account_mismatch"))
    );
    // The code was not sent to another host.
    assert!(api.env.sent.borrow().is_empty());
}

#[test]
fn a_link_carries_presets_to_the_window() {
    let api = api_with_desk();
    let mut sent = ann_connect_body("desk");
    sent["link"] = json!(true);
    sent["authMethod"] = json!("key");
    sent["fixedFields"] = json!({"subdomain": SUBDOMAIN});
    let started = body(&connect(&api, &sent));
    let (code, _) = window(&api, &started);
    let token = body(&exchange_code(&api, &code))["token"].as_str().unwrap().to_owned();
    let whoami = body(&api.send(&as_secret(&token, "GET", "/v1/whoami")));
    assert_eq!((&whoami["fields"], &whoami["fixedFields"]), (&Value::Null, &sent["fixedFields"]));
    let refusal = connect_as(&api, &token, "key", &json!({"apiKey": "k", "subdomain": "other"}));
    assert_eq!(refusal.status, 400);
    // A token passes its preset values on to the links that it starts.
    let own = with_session(
        &api,
        &json!({"fields": {"region": "eu"}, "fixedFields": {"subdomain": SUBDOMAIN}}),
    );
    let start_from_token = |extra: &Value| {
        let mut sent = json!({"platform": "desk", "authMethod": "key", "link": true});
        for (name, value) in extra.as_object().unwrap() {
            sent[name] = value.clone();
        }
        api.send(&as_token(&own, "POST", "/v1/vault/connect", &sent))
    };
    let (code, _) = window(&api, &body(&start_from_token(&json!({}))));
    let token = body(&exchange_code(&api, &code))["token"].as_str().unwrap().to_owned();
    let whoami = body(&api.send(&as_secret(&token, "GET", "/v1/whoami")));
    assert_eq!(whoami["fixedFields"], json!({"subdomain": SUBDOMAIN}));
    assert_eq!(start_from_token(&json!({"fixedFields": {"subdomain": "other"}})).status, 400);
}
