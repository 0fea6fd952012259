//! The connectors that the connect window offers: those whose accounts can be connected.

use connector_vault::terms::{Environment, Scope};

use super::*;
use crate::support::{as_key, column};

const WITHOUT_CLIENT: [&str; 4] = ["amazon", "elsewhere", "keyed", "plain"];

fn offered_platforms(api: &Api, query: &str) -> Vec<String> {
    column(&api.get(&format!("/v1/available-connectors?limit=500&{query}")), "platform")
}

#[test]
fn a_platform_is_offered_with_a_client_or_a_method_that_needs_none() {
    let api = api();
    assert_eq!(offered_platforms(&api, "connectable=true"), WITHOUT_CLIENT);
    assert_eq!(offered_platforms(&api, "hasOauthClient=true"), [""; 0]);
    for (path, offers) in [("acme", true), ("app", true), ("plain", true)] {
        set_client(&api, path);
        assert_eq!(offered_platforms(&api, "connectable=true").contains(&path.to_owned()), offers);
    }
    let with_acme = ["acme", "amazon", "app", "elsewhere", "keyed", "plain"];
    assert_eq!(offered_platforms(&api, "connectable=true"), with_acme);
    assert_eq!(offered_platforms(&api, "hasOauthClient=true"), ["acme", "app", "plain"]);
    assert_eq!(offered_platforms(&api, "connectable=true&q=acme"), ["acme"]);
    assert_eq!(offered_platforms(&api, "connectable=true&q=shops"), [""; 0]);
    assert_eq!(offered_platforms(&api, "connectable=true&platform=acme"), ["acme"]);
    assert_eq!(offered_platforms(&api, "connectable=true&platform=shops"), [""; 0]);
    assert_eq!(offered_platforms(&api, "connectable=true&platform=old-acme"), ["acme"]);
    assert_eq!(offered_platforms(&api, "connectable=true&key=api::acme::v1"), ["acme"]);
    assert_eq!(offered_platforms(&api, "connectable=true&name=the%20acme"), ["acme"]);
    assert_eq!(offered_platforms(&api, "connectable=true&name=the%20shops"), [""; 0]);
    // Without a filter, the list contains all connectors.
    let all = offered_platforms(&api, "");
    assert_eq!(offered_platforms(&api, "connectable=false&hasOauthClient=false"), all);

    assert_eq!(api.send(&api.request("DELETE", "/v1/oauth-clients/acme")).status, 204);
    assert!(!offered_platforms(&api, "connectable=true").contains(&"acme".to_owned()));
}

#[test]
fn offered_platforms_ignore_hosted_authorization() {
    let api = Api::new(config(&SETTINGS));
    let platform = |name: &str, authkit, method: &Value| Platform {
        connector: connector(name, name, "Email", 0),
        detail: serde_json::from_value(json!({
            "authMethods": [method], "servers": [], "documentationUrl": null, "license": null,
            "verify": null, "account": null,
        }))
        .unwrap(),
        authkit,
        aliases: Vec::new(),
        actions: Vec::new(),
        units: Units::default(),
    };
    let (oauth, key) = (oauth("oauth", &json!({})), api_key(&[]));
    api.env.publish_platforms(
        Sizes::PUBLISHED,
        &[
            platform("a", true, &oauth),
            platform("b", false, &oauth),
            platform("c", true, &key),
            platform("d", false, &key),
        ],
    );
    set_client(&api, "b");
    assert_eq!(offered_platforms(&api, "authkit=true"), ["a", "c"]);
    assert_eq!(offered_platforms(&api, "connectable=true"), ["b", "c", "d"]);
    assert_eq!(offered_platforms(&api, "authkit=true&connectable=true"), ["c"]);
    assert_eq!(offered_platforms(&api, "hasOauthClient=true&authkit=true"), [""; 0]);
}

#[test]
fn a_token_is_offered_only_its_own_platforms() {
    let api = api();
    set_client(&api, "acme");
    set_client(&api, "shops");
    let input = json!({
        "identity": "ann", "scopes": ["connections:connect", "catalog:read"],
        "platforms": ["acme", "keyed", "hosted"],
    });
    let session = send(&api, "POST", "/v1/sessions", &input);
    let token = body(&session)["token"].as_str().unwrap().to_owned();
    let get = |query: &str| {
        let path = format!("/v1/available-connectors?{query}");
        column(&api.send(&as_secret(&token, "GET", &path)), "platform")
    };
    assert_eq!(get("connectable=true"), ["acme", "keyed"]);
    assert_eq!(get("hasOauthClient=true"), ["acme"]);
    assert_eq!(get("hasOauthClient=true&platform=shops"), [""; 0]);
}

#[test]
fn clients_belong_to_an_account_and_environment() {
    let api = api();
    set_client(&api, "acme");
    for (account, environment) in [("beta", Environment::Test), ("acme", Environment::Live)] {
        let key = api.env.key(account, environment, &Scope::ALL, None);
        let get = |query: &str| {
            let path = format!("/v1/available-connectors?limit=500&{query}");
            column(&api.send(&as_key(&key, "GET", &path)), "platform")
        };
        assert_eq!(get("connectable=true"), WITHOUT_CLIENT);
        assert_eq!(get("hasOauthClient=true"), [""; 0]);
    }
}

#[test]
fn one_query_reads_one_row_per_client() {
    let api = api();
    for platform in ["acme", "app", "shops"] {
        set_client(&api, platform);
    }
    let calls = api.env.db_calls.get();
    assert_eq!(offered_platforms(&api, "connectable=true").len(), WITHOUT_CLIENT.len() + 3);
    assert_eq!(api.env.db_calls.get() - calls, 1);
}

#[test]
fn the_etag_changes_with_the_clients() {
    let api = api();
    let path = "/v1/available-connectors?connectable=true";
    let known_etag = api.get(path).header("etag").unwrap().to_owned();
    let again = || api.send(&with_header(api.request("GET", path), "if-none-match", &known_etag));
    assert_eq!(again().status, 304);
    set_client(&api, "acme");
    let changed = again();
    assert_eq!(
        (changed.status, column(&changed, "platform").len()),
        (200, WITHOUT_CLIENT.len() + 1)
    );
}
