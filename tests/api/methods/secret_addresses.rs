//! Platforms whose URL contains a secret, such as a bot's token.

use super::*;
use crate::connect::token;
use crate::support::as_secret;

const PROVIDERS: &str = "[platforms.acme]\nname = 'Acme'\ndocuments = ['acme']\nservers = ['https://api.acme.example/bot{token}']\n\n[[platforms.acme.auth]]\nid = 'bot'\ntype = 'bearer'\nfields = [{ name = 'token', label = 'Token', secret = true, required = true }]\nsource = 's'\nread = '2026-11-22'\n";

#[test]
fn a_secret_in_the_url_is_hidden_from_callers() {
    let paths = json!({"/users": {"get": operation("listUsers", &json!({}))}});
    let document = document(&json!({}), &json!([]), &paths);
    let api = import_catalog("secret-addresses", &[document], PROVIDERS);
    let path = connected(&api, "acme", None, &json!({"token": "12:SECRET"}));
    let session = json!({
        "identity": "ann", "identityType": "user", "scopes": ["connections:call"], "access": "read",
    });
    let caller = token(&api, &session);
    let get =
        |address: &str| api.send(&as_secret(&caller, "GET", &format!("{path}/proxy/{address}")));
    let named = "https://api.acme.example/bot{token}";
    for address in
        ["https://evil.example/x", "https://api.acme.example/x", "http://api.acme.example"]
    {
        let refusal = get(address);
        assert_eq!(refusal.status, 400, "{}", text(&refusal));
        let shown = format!("`path` must be a path below `{named}`");
        assert_eq!(body(&refusal)["detail"], shown);
        assert!(!text(&refusal).contains("SECRET"), "{}", text(&refusal));
    }
    platform(&api, |request| {
        assert_eq!(request.url, "https://api.acme.example/bot12%3ASECRET/users");
        let headers = [
            ("location", "https://api.acme.example/bot12%3ASECRET/users/1"),
            ("content-location", "/bot12:SECRET/users/1"),
            ("link", "<https://api.acme.example/bot12:SECRET/users?page=2>; rel=\"next\""),
        ];
        Ok(platform_response(201, &headers, "[]"))
    });
    let response = get("users");
    assert_eq!(response.status, 201, "{}", text(&response));
    let headers = &response.proxied.as_ref().unwrap().headers;
    let passed = |name: &str| {
        let found = headers.iter().find(|(known, _)| known.ends_with(name));
        found.map(|(_, value)| value.as_str())
    };
    assert_eq!(passed("link"), Some(format!("<{named}/users?page=2>; rel=\"next\"").as_str()));
    for (name, value) in headers {
        assert!(!value.contains("SECRET"), "{name}: {value}");
    }
    assert!(headers.iter().filter(|(_, value)| value.contains("{token}")).count() == 3);
}
