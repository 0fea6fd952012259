//! Auth methods that gain a field with a default after accounts were connected.

use super::*;
use crate::connect::connected as connected_by_oauth;

/// A platform's entry in `providers.toml`, before and after it gets regions and versions.
const PROVIDERS_BEFORE: &str = r#"
[platforms.acme]
name = "Acme"
servers = ["https://api.acme.example"]
verify = "GET /me"

[[platforms.acme.auth]]
id = "key"
type = "api_key"
in = "header"
name = "X-Key"
source = "https://acme.example/docs"
read = "2026-11-27"

[[platforms.acme.auth]]
id = "oauth2"
type = "oauth2"
grant = "authorization_code"
authorizationUrl = "https://acme.example/authorize"
tokenUrl = "https://acme.example/token"
revocationUrl = "https://acme.example/revoke"
source = "https://acme.example/docs"
read = "2026-11-27"

"#;

fn providers_after() -> String {
    let fields = r#"fields = [{ name = "version", label = "Version", default = "2026-01" }]
headers = { "x-version" = "{version}" }"#;
    let region =
        r#"fields = [{ name = "region", label = "Region", enum = ["us", "eu"], default = "us" }]"#;
    PROVIDERS_BEFORE
        .replace("https://api.acme.example", "https://{region}.acme.example")
        .replace("https://acme.example/token", "https://{region}.acme.example/token")
        .replace("https://acme.example/revoke", "https://{region}.acme.example/revoke")
        .replace(
            "name = \"X-Key\"\n",
            &format!(
                "name = \"X-Key\"\n{}\n",
                fields.replace(
                    " }]",
                    r#" }, { name = "region", label = "Region", default = "us" }]"#
                )
            ),
        )
        .replace("id = \"oauth2\"\n", &format!("id = \"oauth2\"\n{region}\n"))
}

/// Publishes the platform's new entry, and waits until the service has read it.
fn republish(api: &Api, name: &str) {
    publish(api, name, &[], &providers_after());
    api.env.now.set(api.env.now.get() + 60_000);
}

#[test]
fn a_key_that_was_stored_before_a_field_existed_is_sent_with_its_default() {
    let api = import_catalog("changed-key", &[], PROVIDERS_BEFORE);
    let path = connected(&api, "acme", Some("key"), &json!({"apiKey": "k"}));
    republish(&api, "changed-key");
    platform(&api, |_| Ok(platform_response(200, &[], "{}")));
    let (response, sent) = requests(&api, &format!("{path}/proxy/x"), &[]);
    assert_eq!(response.status, 200, "{}", text(&response));
    assert_eq!(sent[0].url, "https://us.acme.example/x");
    assert_eq!(
        (header(&sent[0], "x-version"), header(&sent[0], "x-key")),
        (Some("2026-01"), Some("k"))
    );
    let document = body(&api.get(&format!("{path}/credentials")));
    assert_eq!(document["headers"]["x-version"], "2026-01", "{document}");
    assert_eq!(document["fields"], json!({"region": "us", "version": "2026-01"}));
    let checked = send(&api, "POST", &format!("{path}/check"), &json!({}));
    assert_eq!(checked.status, 200, "{}", text(&checked));
    let sent = crate::call::sent(&api);
    assert_eq!(sent[0].url, "https://us.acme.example/me");
}

#[test]
fn tokens_that_were_stored_before_a_field_existed_are_refreshed_and_revoked_with_its_default() {
    let tokens = json!({"access_token": "a", "refresh_token": "r", "expires_in": 3600});
    for (variables, host) in [(json!({}), "us"), (json!({"region": "eu"}), "eu")] {
        let api = import_catalog("changed-oauth", &[], PROVIDERS_BEFORE);
        set_client(&api, "acme");
        let mut ann_connect_body = ann_connect_body("acme");
        ann_connect_body["authMethod"] = json!("oauth2");
        let path = at(&connected_by_oauth(&api, &ann_connect_body, &tokens));
        republish(&api, "changed-oauth");
        // The client's variables apply, as for a new connection.
        let client =
            json!({"clientId": "an id", "clientSecret": "a secret", "variables": variables});
        let set = send(&api, "PUT", "/v1/oauth-clients/acme", &client);
        assert_eq!(set.status, 200, "{}", text(&set));
        sent(&api);
        script(&api, &[(200, tokens.clone())]);
        let read = api.get(&format!("{path}/credentials?refresh=true"));
        assert_eq!(read.status, 200, "{}", text(&read));
        assert_eq!(sent(&api)[0].url, format!("https://{host}.acme.example/token"));
        script(&api, &[(200, json!({}))]);
        assert_eq!(api.get(&format!("{path}/proxy/x")).status, 200);
        assert_eq!(sent(&api)[0].url, format!("https://{host}.acme.example/x"));
        script(&api, &[(200, json!({}))]);
        assert_eq!(send(&api, "DELETE", &path, &json!({})).status, 204);
        assert_eq!(sent(&api)[0].url, format!("https://{host}.acme.example/revoke"));
    }
}

#[test]
fn values_that_the_user_entered_are_kept() {
    let api = import_catalog("changed-own", &[], &providers_after());
    let fields = json!({"apiKey": "k", "version": "2025-07", "region": "eu"});
    let path = connected(&api, "acme", Some("key"), &fields);
    platform(&api, |_| Ok(platform_response(200, &[], "{}")));
    let (_, sent) = requests(&api, &format!("{path}/proxy/x"), &[]);
    assert_eq!(sent[0].url, "https://eu.acme.example/x");
    assert_eq!(header(&sent[0], "x-version"), Some("2025-07"));
}
