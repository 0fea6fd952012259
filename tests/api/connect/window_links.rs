//! Links to the window for callers that must not see the user's input: `link` of `POST /v1/vault/connect`.

use super::*;

fn linked(api: &Api, platform: &str) -> Value {
    let mut sent = of_ann(platform);
    sent["link"] = json!(true);
    let begun = connect(api, &sent);
    assert_eq!(begun.status, 202, "{}", text(&begun));
    body(&begun)
}

/// The window's code in a link's destination, and the rest of it.
fn window(api: &Api, begun: &Value) -> (String, String) {
    let url = begun["authorizationUrl"].as_str().unwrap();
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

fn used(api: &Api, code: &str) -> Response {
    let request = with_header(anonymous("POST", "/connect/token"), "x-connect-code", code);
    api.send(&with_header(request, "origin", ORIGIN))
}

fn outcome(api: &Api, begun: &Value) -> Value {
    body(&api.get(&format!("/v1/vault/connect/{}", begun["id"].as_str().unwrap())))
}

#[test]
fn a_window_link_keeps_the_key_from_the_caller() {
    let api = api();
    let begun = linked(&api, "keyed");
    let url = begun["authorizationUrl"].as_str().unwrap();
    assert!(url.starts_with(&format!("{ORIGIN}/connect/go/")) && !url.contains('#'), "{url}");
    assert_eq!(outcome(&api, &begun)["status"], "pending");
    // However often it is opened, the link leads to the same code, which works once.
    let (code, rest) = window(&api, &begun);
    assert_eq!((&window(&api, &begun).0, rest.as_str()), (&code, "platform=keyed"));
    let token = body(&used(&api, &code))["token"].as_str().unwrap().to_owned();
    assert_eq!(used(&api, &code).status, 401);
    // The token is valid only for this platform and identity, and only to connect.
    let who = body(&api.send(&as_secret(&token, "GET", "/v1/whoami")));
    assert_eq!(
        (&who["identity"], &who["platforms"], &who["scopes"]),
        (&json!("ann"), &json!(["keyed"]), &json!(["catalog:read", "connections:connect"]))
    );
    assert_eq!(who["expiresAt"], begun["expiresAt"]);
    let fields = json!({"apiKey": "k-secret"});
    for (member, value) in [("platform", "acme"), ("identity", "bob")] {
        let mut other = json!({"platform": "keyed", "fields": fields});
        other[member] = json!(value);
        let refused = api.send(&as_token(&token, "POST", "/v1/vault/connect", &other));
        assert_eq!(refused.status, 403, "{}", text(&refused));
    }
    // Connecting another account does not end it.
    script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
    let of_bob =
        json!({"platform": "keyed", "identity": "bob", "identityType": "user", "fields": fields});
    assert_eq!(connect(&api, &of_bob).status, 201);
    assert_eq!(outcome(&api, &begun)["status"], "pending");
    // Rejected credentials do not end it either.
    let own = json!({"platform": "keyed", "fields": fields});
    script(&api, &[(401, json!({}))]);
    let refused = api.send(&as_token(&token, "POST", "/v1/vault/connect", &own));
    assert_eq!((refused.status, &outcome(&api, &begun)["status"]), (422, &json!("pending")));
    script(&api, &[(200, json!({})), (200, json!({"id": "u-2"}))]);
    let made = api.send(&as_token(&token, "POST", "/v1/vault/connect", &own));
    assert_eq!(made.status, 201, "{}", text(&made));
    let outcome = outcome(&api, &begun);
    assert_eq!(
        (&outcome["status"], &outcome["connection"]["id"]),
        (&json!("succeeded"), &body(&made)["id"])
    );
    assert_eq!(Browser::default().get(&api, url).status, 410);
    assert!(!everything(&api).contains("k-secret"));
}

#[test]
fn links_lead_to_oauth_if_possible_or_else_to_the_window() {
    let api = api();
    let link = |platform: &str, more: &Value| {
        let mut sent = of_ann(platform);
        sent["link"] = json!(true);
        for (name, value) in more.as_object().unwrap() {
            sent[name] = value.clone();
        }
        let begun = connect(&api, &sent);
        let answer = body(&begun);
        if begun.status != 202 {
            return answer["code"].as_str().unwrap().to_owned();
        }
        let opened = Browser::default().get(&api, answer["authorizationUrl"].as_str().unwrap());
        match opened.status {
            200 => "sign-in".to_owned(),
            303 => "window".to_owned(),
            other => panic!("{other}"),
        }
    };
    for (platform, more, without_client, with_client) in [
        ("keyed", json!({}), "window", "window"),
        ("acme", json!({}), "oauth_client_missing", "sign-in"),
        ("plain", json!({}), "window", "sign-in"),
        ("plain", json!({"authMethod": "basic"}), "window", "window"),
        ("plain", json!({"authMethod": "sign-in"}), "oauth_client_missing", "sign-in"),
        // The user enters the shop.
        ("shops", json!({}), "oauth_client_missing", "window"),
        // The app can't send values that only the window's user may enter.
        ("keyed", json!({"fields": {"apiKey": "k"}}), "invalid_body", "invalid_body"),
        ("keyed", json!({"label": "second"}), "invalid_body", "invalid_body"),
        ("nothing", json!({}), "invalid_body", "invalid_body"),
    ] {
        let sql = "DELETE FROM oauth_clients";
        api.world.database.execute(sql, []).unwrap();
        assert_eq!(link(platform, &more), without_client, "{platform} {more}");
        if !matches!(platform, "keyed" | "nothing") {
            set_client(&api, platform);
        }
        assert_eq!(link(platform, &more), with_client, "{platform} {more}");
    }
}

#[test]
fn links_reconnect_key_connections() {
    let api = api();
    script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
    let mut sent = of_ann("keyed");
    sent["fields"] = json!({"apiKey": "old"});
    let id = body(&connect(&api, &sent))["id"].as_str().unwrap().to_owned();
    let mut again = of_ann("keyed");
    again["link"] = json!(true);
    let existing = body(&connect(&api, &again));
    assert_eq!(existing["code"], "connection_exists");
    assert!(
        existing["detail"].as_str().unwrap().ends_with("send its id as `connection`."),
        "{existing}"
    );
    let begun = body(&connect(&api, &json!({"connection": id, "link": true})));
    let (code, rest) = window(&api, &begun);
    assert_eq!(rest, format!("platform=keyed&connection={id}"));
    let token = body(&used(&api, &code))["token"].as_str().unwrap().to_owned();
    script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
    let new = json!({"connection": id, "fields": {"apiKey": "new"}});
    assert_eq!(api.send(&as_token(&token, "POST", "/v1/vault/connect", &new)).status, 200);
    assert_eq!(outcome(&api, &begun)["connection"]["id"], id.as_str());
}

#[test]
fn window_links_need_the_catalog_scope() {
    let api = api();
    let sent = json!({"platform": "keyed", "link": true});
    let opened = json!({"identity": "ann", "scopes": ["connections:connect"]});
    let token = token(&api, &opened);
    let refused = api.send(&as_token(&token, "POST", "/v1/vault/connect", &sent));
    assert_eq!((refused.status, &body(&refused)["code"]), (403, &json!("insufficient_scope")));
    // After the link has expired, its code opens nothing.
    let begun = linked(&api, "keyed");
    let (code, _) = window(&api, &begun);
    api.world.now.set(api.world.now.get() + 10 * 60 * 1000);
    assert_eq!(used(&api, &code).status, 401);
    assert_eq!(outcome(&api, &begun)["status"], "expired");
}
