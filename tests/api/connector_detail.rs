//! The endpoint that returns one connector with its details.

use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::detail::ConnectorDetail;
use connector_vault::catalog::format::stored::CURRENT_KEY;
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::Config;
use connector_vault::terms::Method;
use serde_json::{Value, json};

use crate::support::{Api, action, body, connector, with_header};

fn detail() -> ConnectorDetail {
    serde_json::from_value(json!({
        "authMethods": [{
            "id": "key", "type": "api_key", "in": "header", "name": "X-Key", "prefix": "",
            "fields": [{"name": "apiKey", "label": "API key", "secret": true, "required": true}],
        }],
        "servers": [{"url": "https://api.acme.example", "description": null}],
        "documentationUrl": "https://docs.acme.example",
        "license": null, "verify": null, "account": null,
    }))
    .unwrap()
}

/// Returns a service with two platforms; `gmail` was called `googleapis-gmail` and `mail`.
fn api(sizes: Sizes) -> Api {
    let api = Api::new(Config::default());
    let platform = |name: &str, detail, aliases: &[&str], actions| Platform {
        connector: connector(name, name, "Email", 0),
        detail,
        authkit: true,
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        actions,
        units: Units::default(),
    };
    let actions = vec![action("gmail", "Send a message", "send", Method::Post)];
    api.env.publish_platforms(
        sizes,
        &[
            platform("gmail", detail(), &["googleapis-gmail", "mail"], actions),
            platform("acme", ConnectorDetail::default(), &[], Vec::new()),
        ],
    );
    api
}

const PATH: &str = "/v1/available-connectors";

#[test]
fn detail_contains_the_row() {
    let api = api(Sizes::PUBLISHED);
    let row = body(&api.get(&format!("{PATH}?platform=gmail")))["rows"][0].clone();
    let response = api.get(&format!("{PATH}/gmail"));
    assert_eq!(response.status, 200);
    let reply = body(&response);
    for (name, value) in row.as_object().unwrap() {
        assert_eq!(&reply[name], value, "{name}");
    }
    let extra: Vec<&String> =
        reply.as_object().unwrap().keys().filter(|name| row.get(name.as_str()).is_none()).collect();
    let mut expected = [
        "authMethods",
        "servers",
        "headers",
        "documentationUrl",
        "license",
        "verify",
        "account",
        "pagination",
    ];
    expected.sort_unstable();
    let mut extra: Vec<&str> = extra.into_iter().map(String::as_str).collect();
    extra.sort_unstable();
    assert_eq!(extra, expected);
    assert_eq!(reply["authMethods"][0]["in"], "header");
    assert_eq!(reply["authMethods"][0]["fields"][0]["pattern"], Value::Null);
    let bare = body(&api.get(&format!("{PATH}/acme")));
    assert_eq!((&bare["authMethods"], &bare["servers"]), (&json!([]), &json!([])));
    // The platform's name in the path ignores case.
    assert_eq!(api.get(&format!("{PATH}/GMAIL")).body, response.body, "case does not matter");
}

#[test]
fn former_names_resolve_to_the_platform() {
    for sizes in [Sizes::PUBLISHED, Sizes { packed: 0, ..Sizes::PUBLISHED }] {
        let api = api(sizes);
        let own = api.get(&format!("{PATH}/gmail")).body;
        for name in ["googleapis-gmail", "mail", "MAIL"] {
            assert_eq!(api.get(&format!("{PATH}/{name}")).body, own, "{name}");
            let rows = body(&api.get(&format!("{PATH}?platform={name}")));
            assert_eq!(rows["rows"][0]["platform"], "gmail", "{name}");
            let actions = body(&api.get(&format!("/v1/available-actions/{name}")));
            assert_eq!(actions["rows"][0]["key"], "send", "{name}");
        }
        let new = json!({"platform": "mail", "identity": "ann", "identityType": "user"});
        assert_eq!(api.create(&new)["platform"], "gmail");
        let unknown = body(&api.get(&format!("{PATH}/gmial")));
        assert_eq!(
            (&unknown["code"], &unknown["suggestions"]),
            (&json!("platform_not_found"), &json!(["gmail"]))
        );
    }
}

/// A search always uses the current name, so that requests with current and former names share
/// cached responses.
#[test]
fn former_name_gives_the_same_response_as_the_current_one() {
    for first in ["mail", "gmail"] {
        let api = api(Sizes::PUBLISHED);
        for name in [first, "mail", "gmail"] {
            let total = |q: &str| {
                body(&api.get(&format!("/v1/available-actions/{name}?q={q}")))["total"].clone()
            };
            assert_eq!(
                (total("gmail"), total("googleapis")),
                (json!(1), json!(0)),
                "{first}, {name}"
            );
        }
    }
}

#[test]
fn current_copy_gets_304_until_the_detail_changes() {
    let api = api(Sizes::PUBLISHED);
    let first = api.get(&format!("{PATH}/gmail"));
    let tag = first.header("etag").unwrap().to_owned();
    let requested =
        with_header(api.request("GET", &format!("{PATH}/gmail")), "if-none-match", &tag);
    assert_eq!(api.send(&requested).status, 304);
    let requested = with_header(api.request("GET", &format!("{PATH}/acme")), "if-none-match", &tag);
    assert_eq!(api.send(&requested).status, 200, "another connector's");
}

#[test]
fn rejects_a_query() {
    let api = api(Sizes::PUBLISHED);
    let refusal = api.get(&format!("{PATH}/gmail?include=all"));
    assert_eq!((refusal.status, body(&refusal)["code"].as_str()), (400, Some("unknown_parameter")));
}

#[test]
fn damaged_values_are_never_served() {
    let api = api(Sizes::PUBLISHED);
    let keys: Vec<String> = api.env.blobs.borrow().keys().cloned().collect();
    for key in keys.iter().filter(|key| *key != CURRENT_KEY) {
        let fresh = self::api(Sizes::PUBLISHED);
        if let Some(value) = fresh.env.blobs.borrow_mut().get_mut(key) {
            let last = value.len() / 2;
            value[last] ^= 1;
        }
        let response = fresh.get(&format!("{PATH}/gmail"));
        assert!(
            response.status == 503 || response.body == api.get(&format!("{PATH}/gmail")).body,
            "{key}: {}",
            response.status
        );
    }
}
