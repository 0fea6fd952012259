//! Requests to the platforms in `providers.toml` match the platforms' documentation.

use base64ct::{Base64, Encoding as _};

use super::*;

const PROVIDERS: &str = include_str!("../../../providers.toml");

fn basic(pair: &str) -> String {
    format!("Basic {}", Base64::encode_string(pair.as_bytes()))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table with one platform per row")]
fn platforms_get_the_headers_and_keys_that_they_require() {
    let token = |extra: Value| {
        let mut payload = json!({"type": "oauth2", "accessToken": "at"});
        for (name, value) in extra.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload
    };
    let oauth = || token(json!({"authMethod": "oauth2"}));
    let oauth_with = |fields: Value| token(json!({"authMethod": "oauth2", "fields": fields}));
    let key = |fields: Value| json!({"type": "api_key", "apiKey": "k", "fields": fields});
    let with_token = json!({"type": "bearer", "token": "t"});
    let vendor = "application/vnd.heroku+json; version=3";
    let api = import_catalog("platforms", &[], PROVIDERS);
    for (platform_name, credentials, headers, query) in [
        (
            "notion",
            with_token.clone(),
            json!({"notion-version": "2022-06-28", "authorization": "Bearer t"}),
            "",
        ),
        (
            "klaviyo",
            key(json!({})),
            json!({"revision": "2026-10-15", "authorization": "Klaviyo-API-Key k"}),
            "",
        ),
        (
            "anthropic",
            key(json!({})),
            json!({"anthropic-version": "2023-06-01", "x-api-key": "k"}),
            "",
        ),
        ("heroku", with_token.clone(), json!({"accept": vendor, "authorization": "Bearer t"}), ""),
        (
            "pagerduty",
            key(json!({})),
            json!({"authorization": "Token token=k", "accept": "application/vnd.pagerduty+json;version=2"}),
            "",
        ),
        (
            "travis-ci",
            with_token.clone(),
            json!({"travis-api-version": "3", "authorization": "token t"}),
            "",
        ),
        (
            "gocardless",
            with_token,
            json!({"gocardless-version": "2015-07-06", "authorization": "Bearer t"}),
            "",
        ),
        (
            "linkedin",
            oauth(),
            json!({"linkedin-version": "202607", "x-restli-protocol-version": "2.0.0"}),
            "",
        ),
        ("twitch", oauth(), json!({"client-id": "an id", "authorization": "Bearer at"}), ""),
        (
            "trakt",
            oauth(),
            json!({"trakt-api-version": "2", "trakt-api-key": "an id", "authorization": "Bearer at"}),
            "",
        ),
        (
            "myob",
            oauth(),
            json!({"x-myobapi-version": "v2", "x-myobapi-key": "an id", "authorization": "Bearer at"}),
            "",
        ),
        ("etsy", oauth(), json!({"x-api-key": "an id:a:secret", "authorization": "Bearer at"}), ""),
        ("etsy", key(json!({"sharedSecret": "s"})), json!({"x-api-key": "k:s"}), ""),
        (
            "harvest",
            oauth_with(json!({"accountId": "7"})),
            json!({"harvest-account-id": "7", "authorization": "Bearer at"}),
            "",
        ),
        (
            "procore",
            oauth_with(json!({"companyId": "7"})),
            json!({"procore-company-id": "7", "authorization": "Bearer at"}),
            "",
        ),
        ("xero", oauth(), json!({"xero-tenant-id": null, "authorization": "Bearer at"}), ""),
        ("podio", oauth(), json!({"authorization": "OAuth2 at"}), ""),
        ("soundcloud", oauth(), json!({"authorization": "OAuth at"}), ""),
        (
            "shopify",
            oauth_with(json!({"shop": "a"})),
            json!({"x-shopify-access-token": "at", "authorization": null}),
            "",
        ),
        (
            "shopify",
            key(json!({"shop": "a"})),
            json!({"x-shopify-access-token": "k", "authorization": null}),
            "",
        ),
        ("bigcommerce", key(json!({"storeHash": "a"})), json!({"x-auth-token": "k"}), ""),
        (
            "algolia",
            key(json!({"appId": "A"})),
            json!({"x-algolia-application-id": "A", "x-algolia-api-key": "k"}),
            "",
        ),
        (
            "datadog",
            key(json!({"applicationKey": "a"})),
            json!({"dd-api-key": "k", "dd-application-key": "a"}),
            "",
        ),
        ("trello", key(json!({"token": "t"})), json!({"authorization": null}), "?key=k&token=t"),
        (
            "zendesk",
            json!({"type": "basic", "password": "p", "fields": {"email": "a@b.example", "subdomain": "a"}}),
            json!({"authorization": basic("a@b.example/token:p")}),
            "",
        ),
        (
            "bamboohr",
            json!({"type": "basic", "username": "k", "fields": {"companyDomain": "a"}}),
            json!({"authorization": basic("k:x")}),
            "",
        ),
        (
            "mailgun",
            json!({"type": "basic", "password": "k"}),
            json!({"authorization": basic("api:k")}),
            "",
        ),
    ] {
        if credentials["type"] == "oauth2" {
            set_client(&api, platform_name);
        }
        let path = connection_with(&api, platform_name, &credentials);
        let (response, sent_requests) =
            requests(&api, &format!("{path}/proxy/x"), &[("accept", "*/*")]);
        assert_eq!(response.status, 200, "{platform_name}: {}", text(&response));
        for (name, value) in headers.as_object().unwrap() {
            let found = header(&sent_requests[0], name);
            assert_eq!(found, value.as_str(), "{platform_name}: {name}");
        }
        assert!(sent_requests[0].url.ends_with(&format!("/x{query}")), "{}", sent_requests[0].url);
        let document = body(&api.get(&format!("{path}/credentials")));
        assert!(!document.to_string().contains("a:secret"), "{platform_name}");
        // Some platforms have two cases.
        assert_eq!(api.send(&api.request("DELETE", &path)).status, 204);
    }
}

#[test]
fn shopify_token_requests_ask_for_an_expiring_token() {
    let api = import_catalog("shopify", &[], PROVIDERS);
    let found = detail(&api, "shopify")["authMethods"][0]["tokenParameters"].clone();
    assert_eq!(found, json!({"expiring": "1"}));
}
