//! Connect attempts that agents start: to open the link, the grant's user must sign in.

use connector_vault::http::Response;
use serde_json::{Value, json};

use super::provider::{
    Signer, callback, claims, key, oidc, open_link_at_provider, serve_id_token, sign_in_agent,
};
use super::{ALL, Agent, app, sign_in_from_link};
use crate::connect::{self, consent_at_platform, set_client, text};
use crate::support::{Api, ORIGIN, anonymous, body};

/// Calls a tool. Returns its result, which may be an error.
fn tool_result(agent: &Agent, api: &Api, id: &str, tool: &str, arguments: &Value) -> Value {
    let response = agent.call(api, id, tool, arguments);
    assert_eq!(response.status, 200, "{}", text(&response));
    body(&response)["result"]["structuredContent"].clone()
}

/// Makes an agent of ann start a connect attempt. Returns the agent, the path of the link, and the
/// attempt's id.
fn start_attempt(api: &Api, id: &str, platform: &str) -> (Agent, String, Value) {
    set_client(api, "acme");
    let agent = Agent::new(api, id, &ALL);
    let arguments = json!({"platform": platform});
    let started = tool_result(&agent, api, id, "start_connect", &arguments);
    (agent, link_in(&started, id), started["id"].clone())
}

fn link_in(result: &Value, id: &str) -> String {
    let url = result["authorizationUrl"].as_str().unwrap_or_else(|| panic!("{result}"));
    let path = url.strip_prefix(ORIGIN).unwrap().to_owned();
    assert!(path.starts_with(&format!("/mcp/{id}/connect?id=")), "{path}");
    assert!(!result.to_string().contains("/connect/go/"), "{result}");
    path
}

/// The attempt's own link, to which this response redirects.
fn own_link(response: &Response) -> String {
    assert_eq!(response.status, 303, "{}", text(response));
    let link = response.header("location").unwrap();
    assert!(link.starts_with(&format!("{ORIGIN}/connect/go/")), "{link}");
    link.to_owned()
}

#[test]
fn only_the_grants_user_can_open_the_connect_link_of_an_agent() {
    let (api, id) = app();
    let (agent, link, attempt) = start_attempt(&api, &id, "acme");
    // For another user or a forged id, the response does not reveal whether the attempt exists.
    assert_eq!(sign_in_from_link(&api, &link, "bob").status, 410);
    let forged = format!("/mcp/{id}/connect?id={}", attempt.as_str().unwrap());
    assert_eq!(sign_in_from_link(&api, &forged, "ann").status, 410);
    assert_eq!(api.send(&anonymous("HEAD", &link)).status, 200);
    let own = own_link(&sign_in_from_link(&api, &link, "ann"));
    let secret = own.rsplit('/').next().unwrap();
    assert!(!api.env.dump().concat().contains(secret), "the attempt's own link is encrypted");
    let page = api.send(&anonymous("GET", own.strip_prefix(ORIGIN).unwrap()));
    assert!(page.status == 200 && text(&page).contains("ann"), "{}", text(&page));
    consent_at_platform(
        &api,
        &own,
        &json!({"access_token": "at", "expires_in": 3600, "scope": "mail"}),
    );
    let outcome = tool_result(&agent, &api, &id, "start_connect", &json!({"attempt": attempt}));
    assert_eq!(
        (&outcome["status"], &outcome["connection"]["identity"]),
        (&json!("succeeded"), &json!("ann"))
    );
    // The id in the link can't be used as the id of an approval.
    let connection = outcome["connection"]["id"].as_str().unwrap();
    let query =
        json!({"connection": connection, "key": "getThing", "approval": link.split('=').nth(1)});
    let response = agent.call(&api, &id, "run_action", &query);
    assert!(text(&response).contains("no such approval"), "{}", text(&response));
}

#[test]
fn a_key_is_entered_on_a_page_that_only_the_grants_user_can_open() {
    let (api, id) = app();
    let (_, link, _) = start_attempt(&api, &id, "keyed");
    assert_eq!(sign_in_from_link(&api, &link, "bob").status, 410);
    let own = own_link(&sign_in_from_link(&api, &link, "ann"));
    let window = api.send(&anonymous("GET", own.strip_prefix(ORIGIN).unwrap()));
    let location = window.header("location").unwrap();
    assert!(window.status == 303 && location.starts_with("/connect#code="), "{location}");
}

#[test]
fn the_link_of_a_call_without_credentials_needs_the_sign_in_too() {
    let (api, id) = app();
    let (agent, _, _) = start_attempt(&api, &id, "acme");
    let created =
        connect::send(&api, "POST", "/v1/vault/connections", &connect::ann_connect_body("acme"));
    let call = json!({"connection": body(&created)["id"], "path": "/x"});
    let refusal = tool_result(&agent, &api, &id, "call_platform", &call);
    assert_eq!(refusal["code"], "credentials_not_found", "{refusal}");
    let link = link_in(&refusal, &id);
    assert_eq!(sign_in_from_link(&api, &link, "bob").status, 410);
    own_link(&sign_in_from_link(&api, &link, "ann"));
}

#[test]
fn a_connect_link_ends_with_its_grant_or_attempt() {
    for ends in ["grant", "key", "time", "sign-in"] {
        let (api, id) = app();
        let (_, link, _) = start_attempt(&api, &id, "acme");
        match ends {
            "grant" => {
                api.env.database.execute("DELETE FROM agent_grants", []).unwrap();
            }
            "key" => api.env.revoke(&api.key),
            "time" => api.env.wait(10 * 60_000),
            _ => {
                assert_eq!(api.send(&api.request("DELETE", "/v1/agent-sign-in")).status, 204);
                assert_eq!(api.send(&anonymous("GET", &link)).status, 404);
                continue;
            }
        }
        let status = if ends == "key" { 401 } else { 410 };
        assert_eq!(sign_in_from_link(&api, &link, "ann").status, status, "{ends}");
    }
}

#[test]
fn a_connect_link_needs_the_sign_in_at_the_provider() {
    let (api, id) = oidc(&json!({}));
    set_client(&api, "acme");
    let signer = Signer::ec();
    let agent = sign_in_agent(&api, &id, &signer);
    let started = tool_result(&agent, &api, &id, "start_connect", &json!({"platform": "acme"}));
    let link = link_in(&started, &id);
    for (subject, is_own) in [("bob", false), ("ann", true)] {
        let (browser, query) = open_link_at_provider(&api, &link);
        let mut claimed = claims(&api, &query);
        claimed["sub"] = json!(subject);
        let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claimed);
        serve_id_token(&api, &token, &[key("k", &signer)]);
        let page = browser.open(&api, &callback(&id, &query));
        if is_own {
            own_link(&page);
        } else {
            assert_eq!(page.status, 410, "{}", text(&page));
        }
    }
}
