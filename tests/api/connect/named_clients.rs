//! Several OAuth clients for one platform, such as one for a bot and one for users.

use super::maintenance::api_at_current_time;
use super::reconnecting::id_token;
use super::*;
use crate::support::{as_secret, column};
use connector_vault::catalog::cache::CatalogCache;
use connector_vault::connect::endpoints::revoke::revoke_due;
use connector_vault::storage::metering::Metered;

const HOUR: u64 = 3_600_000;

/// Sets the client with this name. Its client id is the name.
fn set_named_client(api: &Api, platform: &str, name: &str) {
    let sent = json!({"clientId": name, "clientSecret": format!("{name}:secret"), "scopes": [format!("{name}.read")]});
    let path = format!("/v1/oauth-clients/{platform}?name={name}");
    let response = send(api, "PUT", &path, &sent);
    assert_eq!(response.status, 201, "{}", body(&response));
}

/// Returns a service whose platform `revoked` has a default client, and one for a bot.
fn api_with_bot() -> Api {
    // The database records the time of a deletion by its own clock.
    let api = api_at_current_time();
    set_named_client(&api, "revoked", "default");
    set_named_client(&api, "revoked", "bot");
    api
}

fn with(mut sent: Value, name: &str, value: Value) -> Value {
    sent[name] = value;
    sent
}

fn tokens(suffix: &str) -> Value {
    json!({"access_token": format!("at-{suffix}"), "refresh_token": format!("rt-{suffix}"), "expires_in": 3600})
}

/// The client ids in the platform's requests since the last call.
fn authenticating_clients(api: &Api) -> Vec<String> {
    let client = |request: connector_vault::ports::HttpRequest| {
        let (_, value) = request.headers.into_iter().find(|(name, _)| name == "authorization")?;
        let pair = value.strip_prefix("Basic ")?;
        let pair = <base64ct::Base64 as base64ct::Encoding>::decode_vec(pair).unwrap();
        Some(String::from_utf8(pair).unwrap().split(':').next().unwrap().to_owned())
    };
    std::mem::take(&mut *api.env.sent.borrow_mut()).into_iter().filter_map(client).collect()
}

/// Connects ann's account. Returns the path of the connection.
fn connect_with(api: &Api, client: &str) -> String {
    let sent = with(ann_connect_body("revoked"), "client", json!(client));
    let id = connected(api, &with(sent, "label", json!(format!("of-{client}"))), &tokens(client));
    assert_eq!(authenticating_clients(api), [client]);
    format!("/v1/vault/connections/{id}")
}

/// Opens the link of an attempt. Returns the client id and the scopes of the authorization request.
fn requested_client(api: &Api, link: &str) -> (String, String) {
    let (_, query) = Browser::default().follow(api, link);
    (value_of(&query, "client_id").unwrap(), value_of(&query, "scope").unwrap())
}

fn code_of(response: &Response) -> (u16, Value) {
    (response.status, body(response)["code"].clone())
}

#[test]
fn an_environment_has_a_limited_number_of_clients() {
    let api = api();
    let put = |name: usize, id: &str| {
        let path = format!("/v1/oauth-clients/acme?name=n-{name}");
        code_of(&send(&api, "PUT", &path, &json!({"clientId": id})))
    };
    for name in 1..=1000 {
        assert_eq!(put(name, "id"), (201, Value::Null));
    }
    assert_eq!(put(1001, "id"), (409, "oauth_client_limit".into()));
    assert_eq!(body(&api.get("/v1/oauth-clients?limit=1"))["total"], 1000);
    // At the limit, clients can still be replaced; deleting one makes room for another.
    assert_eq!(put(1000, "another"), (200, Value::Null));
    let deleted = api.send(&api.request("DELETE", "/v1/oauth-clients/acme?name=n-1"));
    assert_eq!(deleted.status, 204);
    assert_eq!(put(1001, "id"), (201, Value::Null));
}

#[test]
fn a_client_has_a_limited_size() {
    let api = api();
    let put = |scopes: usize, value: usize| {
        let scopes: Vec<String> =
            (0..scopes).map(|index| format!("{index:03}{}", "s".repeat(94))).collect();
        let parameters = json!({"prompt": "p".repeat(value)});
        let sent =
            json!({"clientId": "id", "scopes": scopes, "authorizationParameters": parameters});
        send(&api, "PUT", "/v1/oauth-clients/acme", &sent)
    };
    // The JSON of 80 scopes has 8,001 bytes, and the parameter adds 13 bytes to its value.
    assert_eq!(put(80, 176).status, 201);
    let refusal = put(80, 177);
    assert_eq!(code_of(&refusal), (400, "invalid_body".into()));
    assert_eq!(body(&refusal)["errors"][0]["pointer"], "/scopes");
    let detail = body(&refusal)["errors"][0]["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("8193 bytes"), "{detail}");
}

#[test]
fn a_platform_has_several_clients() {
    let api = api();
    let path = "/v1/oauth-clients/acme";
    for name in ["user", "default", "bot"] {
        set_named_client(&api, "acme", name);
    }
    set_client(&api, "revoked");
    let list = api.get("/v1/oauth-clients");
    assert_eq!(column(&list, "platform"), ["acme", "acme", "acme", "revoked"]);
    assert_eq!(column(&list, "name"), ["bot", "default", "user", "default"]);
    let page = api.get("/v1/oauth-clients?limit=2&page=2");
    assert_eq!(
        (column(&page, "name").join(" "), &body(&page)["total"]),
        ("user default".into(), &json!(4))
    );
    for (query, name) in [("", "default"), ("?name=default", "default"), ("?name=bot", "bot")] {
        let document = body(&api.get(&format!("{path}{query}")));
        assert_eq!(
            (&document["name"], &document["clientId"]),
            (&json!(name), &json!(name)),
            "{query}"
        );
    }
    // Only the client with this name is replaced.
    let sent = json!({"clientId": "other"});
    let replaced = send(&api, "PUT", &format!("{path}?name=bot"), &sent);
    assert_eq!((replaced.status, &body(&replaced)["hasSecret"]), (200, &json!(false)));
    let default = body(&api.get(path));
    assert_eq!((&default["clientId"], &default["hasSecret"]), (&json!("default"), &json!(true)));
    // The audit distinguishes the clients.
    let audit = api.get("/v1/audit?actions=oauth_client.created");
    let targets: Vec<Value> = body(&audit)["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["target"]["id"].clone())
        .collect();
    assert_eq!(json!(targets), json!(["revoked", "acme/bot", "acme", "acme/user"]));
    let of_bot = body(&api.get("/v1/audit?target=acme/bot"));
    assert_eq!(of_bot["rows"][0]["action"], "oauth_client.updated");
    // Only the client with this name is deleted.
    for (query, status) in
        [("?name=bot", 204), ("?name=bot", 404), ("", 204), ("", 404), ("?name=user", 204)]
    {
        assert_eq!(
            api.send(&api.request("DELETE", &format!("{path}{query}"))).status,
            status,
            "{query}"
        );
    }
    let missing = body(&api.get(&format!("{path}?name=bot")));
    assert_eq!(missing["detail"], "There is no OAuth client `bot` for `acme`.");
}

#[test]
fn a_name_has_up_to_40_lower_case_letters_digits_and_hyphens() {
    let api = api_with_bot();
    let longest = "a".repeat(40);
    set_named_client(&api, "acme", &longest);
    set_named_client(&api, "acme", "team-42");
    for wrong in ["", "Bot", "a_b", "a%2Fb", "a%20b", &"a".repeat(41)] {
        let path = format!("/v1/oauth-clients/acme?name={wrong}");
        for method in ["GET", "DELETE"] {
            let response = api.send(&api.request(method, &path));
            assert_eq!(code_of(&response), (400, json!("invalid_parameter")), "{method} {wrong}");
        }
        let response = send(&api, "PUT", &path, &json!({"clientId": "x"}));
        assert_eq!(code_of(&response), (400, json!("invalid_parameter")), "{wrong}");
    }
    for wrong in [json!("Bot"), json!(""), json!("a/b"), json!(null), json!(7)] {
        let response = connect(&api, &with(ann_connect_body("revoked"), "client", wrong.clone()));
        assert_eq!(code_of(&response), (400, json!("invalid_body")), "{wrong}");
        let session = json!({"identity": "ann", "client": wrong});
        let response = send(&api, "POST", "/v1/sessions", &session);
        assert_eq!(code_of(&response), (400, json!("invalid_body")), "{wrong}");
    }
}

#[test]
fn a_secret_opens_only_under_the_name_of_its_client() {
    let api = api_with_bot();
    let (_, browser, state) =
        start_and_follow_attempt(&api, &with(ann_connect_body("revoked"), "client", json!("bot")));
    let sql = "UPDATE oauth_clients SET sealed = (SELECT sealed FROM oauth_clients WHERE name = 'default') WHERE name = 'bot'";
    api.env.database.execute(sql, []).unwrap();
    let response = browser.back(&api, &format!("code=c&state={state}"));
    assert_eq!((response.status, authenticating_clients(&api).len()), (503, 0));
}

#[test]
fn an_account_is_connected_refreshed_and_revoked_with_the_chosen_client() {
    let api = api_with_bot();
    let (id, link) =
        start_attempt(&api, &with(ann_connect_body("revoked"), "client", json!("bot")));
    assert_eq!(requested_client(&api, &link), ("bot".into(), "bot.read".into()));
    let rows = body(&api.get("/v1/vault/connect"))["rows"].clone();
    assert_eq!((&rows[0]["id"], &rows[0]["client"]), (&json!(id), &json!("bot")));
    for client in ["bot", "default"] {
        let path = connect_with(&api, client);
        api.env.now.set(api.env.now.get() + HOUR);
        script(&api, &[(200, tokens("next")), (200, json!({}))]);
        let credentials = body(&api.get(&format!("{path}/credentials")));
        assert_eq!(credentials["accessToken"], "at-next", "{credentials}");
        assert_eq!(
            (&credentials["client"], authenticating_clients(&api)),
            (&json!(client), vec![client.to_owned()])
        );
        assert_eq!(api.send(&api.request("DELETE", &path)).status, 204);
        assert_eq!(authenticating_clients(&api), [client]);
    }
    // A client that does not exist is named in the message.
    let response = connect(&api, &with(ann_connect_body("revoked"), "client", json!("user")));
    assert_eq!(code_of(&response), (409, json!("oauth_client_missing")));
    assert_eq!(
        body(&response)["detail"],
        "There is no OAuth client `user` for `revoked` and its method `oauth`. The app's developers must set one, with `PUT /v1/oauth-clients/revoked?name=user`."
    );
}

#[test]
fn a_pending_revocation_keeps_its_client() {
    let api = api_with_bot();
    let path = connect_with(&api, "bot");
    script(&api, &[(503, json!({}))]);
    api.send(&api.request("DELETE", &path));
    assert_eq!(api.env.texts("SELECT client FROM revocations"), ["bot"]);
    authenticating_clients(&api);
    api.env.now.set(api.env.now.get() + HOUR);
    script(&api, &[(200, json!({}))]);
    let (cache, metered) = (CatalogCache::new(1 << 20), Metered::new(&api.env));
    pollster::block_on(revoke_due(&config(&SETTINGS), &cache, &metered, 9)).unwrap();
    assert_eq!(
        (authenticating_clients(&api), rows(&api, "revocations")),
        (vec!["bot".to_owned()], 0)
    );
}

#[test]
fn a_reconnected_connection_keeps_its_client_unless_another_is_chosen() {
    let api = api_with_bot();
    let path = connect_with(&api, "bot");
    let id = path.rsplit('/').next().unwrap();
    let again = json!({"connection": id});
    let token_of = |name: &str| {
        let sql =
            format!("SELECT client || refreshable FROM credentials WHERE connection_id = '{id}'");
        assert_eq!(api.env.texts(&sql), [name]);
    };
    // The platform sends no new refresh token. The stored one stays with the client that it was issued to.
    let account = json!({"access_token": "at", "expires_in": 3600, "id_token": id_token(1)});
    let first = with(account.clone(), "refresh_token", json!("rt"));
    for (chosen, sent, expected) in [
        (None, &first, "bot1"),
        (None, &account, "bot1"),
        (Some("bot"), &account, "bot1"),
        (Some("default"), &account, "default0"),
        (None, &account, "default0"),
    ] {
        let request = match chosen {
            Some(name) => with(again.clone(), "client", json!(name)),
            None => again.clone(),
        };
        connected(&api, &request, sent);
        token_of(expected);
    }
    // A failed connection that is found by its key also keeps its client.
    let fail =
        || api.env.database.execute("UPDATE connections SET state = 'failed', active = 0", []);
    connected(
        &api,
        &with(with(again.clone(), "client", json!("bot")), "allowOtherAccount", json!(true)),
        &first,
    );
    fail().unwrap();
    let (_, link) =
        start_attempt(&api, &with(ann_connect_body("revoked"), "label", json!("of-bot")));
    assert_eq!(requested_client(&api, &link).0, "bot");
    // Imported credentials keep the connection's client, even after the client was deleted.
    assert_eq!(api.send(&api.request("DELETE", "/v1/oauth-clients/revoked?name=bot")).status, 204);
    let sent = json!({"type": "oauth2", "accessToken": "at"});
    assert_eq!(send(&api, "PUT", &format!("{path}/credentials"), &sent).status, 204);
    token_of("bot0");
}

#[test]
fn a_token_uses_the_client_of_its_session_only() {
    let api = api_with_bot();
    let scopes = json!(["catalog:read", "connections:read", "connections:connect"]);
    let session = json!({"identity": "ann", "identityType": "user", "scopes": scopes});
    let of_bot = with(session.clone(), "client", json!("bot"));
    let created = body(&send(&api, "POST", "/v1/sessions", &of_bot));
    assert_eq!(created["client"], "bot");
    let (bot, plain) = (token(&api, &of_bot), token(&api, &session));
    let whoami =
        |token: &str| body(&api.send(&as_secret(token, "GET", "/v1/whoami")))["client"].clone();
    assert_eq!((whoami(&bot), whoami(&plain)), (json!("bot"), Value::Null));

    let path = connect_with(&api, "default");
    let again = json!({"connection": path.rsplit('/').next().unwrap()});
    let new = |client: Option<&str>| match client {
        Some(name) => with(json!({"platform": "revoked"}), "client", json!(name)),
        None => json!({"platform": "revoked"}),
    };
    for (token, sent, expected) in [
        (&bot, new(None), Some("bot")),
        (&bot, new(Some("bot")), Some("bot")),
        (&bot, new(Some("default")), None),
        (&bot, again.clone(), Some("bot")),
        (&plain, new(None), Some("default")),
        (&plain, new(Some("default")), None),
        (&plain, new(Some("bot")), None),
        (&plain, again.clone(), Some("default")),
        (&plain, with(again.clone(), "client", json!("bot")), None),
    ] {
        let response = api.send(&as_token(token, "POST", "/v1/vault/connect", &sent));
        let Some(client) = expected else {
            assert_eq!(code_of(&response), (403, json!("insufficient_scope")), "{sent}");
            continue;
        };
        assert_eq!(response.status, 202, "{sent}: {}", body(&response));
        assert_eq!(
            requested_client(&api, body(&response)["authorizationUrl"].as_str().unwrap()).0,
            client,
            "{sent}"
        );
    }
    // The window offers only platforms that have a client with this name.
    set_named_client(&api, "acme", "default");
    let offered = |token: &str| {
        column(
            &api.send(&as_secret(token, "GET", "/v1/available-connectors?hasOauthClient=true")),
            "platform",
        )
    };
    assert_eq!(
        (offered(&bot), offered(&plain)),
        (vec!["revoked".to_owned()], vec!["acme".to_owned(), "revoked".to_owned()])
    );
    // The token that the window gets for its code has the same client.
    let exchanged = body(&api.send(&exchange(&code(&api, &of_bot))));
    assert_eq!(whoami(exchanged["token"].as_str().unwrap()), "bot");
}

#[test]
fn a_link_to_the_window_carries_its_client() {
    let api = api();
    set_named_client(&api, "plain", "bot");
    let sent = with(with(ann_connect_body("plain"), "link", json!(true)), "client", json!("bot"));
    let sent = with(sent, "authMethod", json!("basic"));
    let (_, link) = start_attempt(&api, &sent);
    let response = Browser::default().confirm_link(&api, &link);
    let location = response.header("location").unwrap().to_owned();
    let code = location.strip_prefix("/connect#code=").unwrap().split('&').next().unwrap();
    let exchanged = body(&api.send(&exchange(code)));
    let token = exchanged["token"].as_str().unwrap();
    assert_eq!(body(&api.send(&as_secret(token, "GET", "/v1/whoami")))["client"], "bot");
    let sent = json!({"platform": "plain", "authMethod": "sign-in"});
    let started = body(&api.send(&as_token(token, "POST", "/v1/vault/connect", &sent)));
    assert_eq!(requested_client(&api, started["authorizationUrl"].as_str().unwrap()).0, "bot");
}

#[test]
fn a_rejected_client_does_not_affect_the_others() {
    let api = api_with_bot();
    let (bot, default) = (connect_with(&api, "bot"), connect_with(&api, "default"));
    let is_rejected = |name: &str| {
        !body(&api.get(&format!("/v1/oauth-clients/revoked?name={name}")))["rejectedSince"]
            .is_null()
    };
    script(&api, &[(401, json!({"error": "invalid_client"})), (200, tokens("new"))]);
    api.get(&format!("{bot}/credentials?refresh=true"));
    assert_eq!((is_rejected("bot"), is_rejected("default")), (true, false));
    assert_eq!(api.get(&format!("{default}/credentials?refresh=true")).status, 200);
    assert_eq!((is_rejected("bot"), is_rejected("default")), (true, false));
    let events = body(&api.get("/v1/events?types=oauth_client.rejected"));
    let expected = json!({"platform": "revoked", "name": "bot", "clientId": "bot"});
    assert_eq!(events["rows"][0]["data"]["oauthClient"], expected, "{events}");

    // Setting a client a second time clears its rejection and makes its own connections due, but not those
    // of other clients.
    let later = api.env.now.get() + 24 * HOUR;
    let sql = "UPDATE credentials SET reason_code = 'client_rejected', failing_since = 1, next_attempt_at = ?1";
    api.env.database.execute(sql, [i64::try_from(later).unwrap()]).unwrap();
    let waiting =
        format!("SELECT client FROM credentials WHERE next_attempt_at = {later} ORDER BY client");
    for (name, rejected, left) in [("default", true, vec!["bot"]), ("bot", false, vec![])] {
        let path = format!("/v1/oauth-clients/revoked?name={name}");
        assert_eq!(send(&api, "PUT", &path, &json!({"clientId": name})).status, 200);
        assert_eq!(
            (is_rejected("bot"), api.env.texts(&waiting)),
            (rejected, left.iter().map(|name| (*name).to_owned()).collect()),
            "{name}"
        );
    }
}

#[test]
fn imported_credentials_belong_to_the_named_client() {
    let api = api_with_bot();
    let credentials = json!({"type": "oauth2", "accessToken": "at", "refreshToken": "rt"});
    let import = |sent: Value, cut_over: bool| {
        let sent = json!({"connections": [sent], "cutOver": cut_over});
        let response = send(&api, "POST", "/v1/vault/connections/import", &sent);
        assert_eq!(response.status, 200, "{}", text(&response));
        body(&response)["results"][0].clone()
    };
    let client = || api.env.texts("SELECT client FROM credentials");
    let item = with(ann_connect_body("revoked"), "credentials", credentials);
    let for_client = |name: &str| with(item.clone(), "client", json!(name));
    let refusal = import(for_client("user"), false);
    assert_eq!(refusal["error"]["code"], "oauth_client_missing", "{refusal}");
    let refusal = import(with(for_client("bot"), "clientId", json!("default")), false);
    assert_eq!(refusal["error"]["code"], "oauth_client_missing", "{refusal}");
    for (sent, cut_over, outcome, stored) in [
        (with(for_client("bot"), "clientId", json!("bot")), false, "created", "bot"),
        (for_client("bot"), false, "unchanged", "bot"),
        (item.clone(), false, "unchanged", "bot"),
        (for_client("default"), false, "updated", "default"),
        (for_client("bot"), false, "updated", "bot"),
        (item.clone(), true, "updated", "bot"),
        (for_client("default"), true, "skipped", "bot"),
    ] {
        let result = import(sent.clone(), cut_over);
        assert_eq!(
            (&result["outcome"], client()),
            (&json!(outcome), vec![stored.to_owned()]),
            "{sent}: {result}"
        );
    }
    let key = with(
        with(ann_connect_body("keyed"), "credentials", json!({"type": "api_key", "apiKey": "k"})),
        "client",
        json!("bot"),
    );
    assert_eq!(import(key, false)["error"]["errors"][0]["pointer"], "/connections/0/client");
}

#[test]
fn a_renamed_platform_keeps_its_connections_on_their_client() {
    let api = api_with_bot();
    let path = connect_with(&api, "bot");
    // Renames the platform of the stored rows to its former name.
    for table in ["oauth_clients", "connections"] {
        api.env
            .database
            .execute(&format!("UPDATE {table} SET platform = 'old-revoked'"), [])
            .unwrap();
    }
    let sent = json!({"clientId": "bot", "clientSecret": "new"});
    // Ciphertexts are bound to the platform's name, so both secrets are stored again under the
    // former name.
    for name in ["bot", "default"] {
        let response =
            send(&api, "PUT", &format!("/v1/oauth-clients/old-revoked?name={name}"), &sent);
        assert_eq!((response.status, &body(&response)["platform"]), (200, &json!("old-revoked")));
    }
    script(&api, &[(200, tokens("new"))]);
    assert_eq!(api.get(&format!("{path}/credentials?refresh=true")).status, 200);
    assert_eq!(authenticating_clients(&api), ["bot"]);
    // A client that does not exist under the former name is stored under the current one.
    let response = send(&api, "PUT", "/v1/oauth-clients/old-revoked?name=user", &sent);
    assert_eq!((response.status, &body(&response)["platform"]), (201, &json!("revoked")));
}
