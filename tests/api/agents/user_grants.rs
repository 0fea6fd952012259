//! The page on which users see and end their agents' grants.

use serde_json::json;

use super::provider::{
    ISSUER, Signer, at_provider, callback, claims, key, oidc, open_link_at_provider, serve,
    serve_id_token, sign_in_agent,
};
use super::{ALL, Agent, Browser, app, hidden_field, open_grants_page};
use crate::connect::{self, text};
use crate::support::{Api, anonymous, body, with_header};

fn has_access(api: &Api, id: &str, agent: &Agent) -> bool {
    agent.call(api, id, "list_connections", &json!({})).status == 200
}

#[test]
fn users_see_and_end_their_own_grants() {
    let (api, id) = app();
    let asks =
        [("access", "write"), ("accounts", "some"), ("platform", "keyed"), ("confirm", "write")];
    let agents = [Agent::new(&api, &id, &ALL), Agent::new(&api, &id, &asks)];
    let (browser, page) = open_grants_page(&api, &id, "ann");
    assert_eq!(text(&page).matches("name=\"end\"").count(), 2);
    // The lines of the same program differ.
    let html = text(&page);
    assert_eq!(html.matches(" UTC").count(), 2, "{html}");
    assert!(html.contains(" UTC (keyed) (You are asked before: each change)"), "{html}");
    assert!(!html.contains("has ended"), "{html}");
    let next = api.send(&browser.end_first_grant(&id, &page));
    assert_eq!(next.status, 200, "{}", text(&next));
    assert_eq!(text(&next).matches("name=\"end\"").count(), 1);
    assert!(text(&next).contains("The access that you selected has ended."), "{}", text(&next));
    assert_eq!(agents.iter().filter(|agent| has_access(&api, &id, agent)).count(), 1);
    let entry = "SELECT json_array(actor_type, actor) AS row FROM audit WHERE action = 'agent_grant.revoked'";
    assert_eq!(api.env.texts(entry), ["[\"person\",\"ann\"]"]);
    // Submitting the same form twice does not end another grant.
    let repeated_response = api.send(&browser.end_first_grant(&id, &page));
    assert_eq!(text(&repeated_response).matches("name=\"end\"").count(), 1);
    let last = api.send(&browser.end_first_grant(&id, &repeated_response));
    assert!(text(&last).contains("No agent has access to your accounts."), "{}", text(&last));
    assert!(!agents.iter().any(|agent| has_access(&api, &id, agent)));
}

#[test]
fn a_browser_that_opens_the_mcp_url_gets_a_page() {
    let (api, id) = app();
    let at = |path: &str, accept: &str| {
        let request = with_header(anonymous("GET", path), "accept-language", "de");
        api.send(&with_header(request, "accept", accept))
    };
    for (path, link) in
        [("/mcp", None), (&*format!("/mcp/{id}"), Some(format!("/mcp/{id}/grants")))]
    {
        let page = at(path, "text/html,*/*;q=0.8");
        assert_eq!((page.status, page.header("allow")), (405, Some("POST, OPTIONS")), "{path}");
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        let html = text(&page);
        assert!(html.contains("<h1>Diese Adresse ist für KI-Agenten</h1>"), "{html}");
        assert_eq!(html.contains("/grants"), link.is_some(), "{html}");
        assert!(html.contains(&link.map(|url| format!("href=\"{url}\"")).unwrap_or_default()));
        // Clients that open an event stream get the status without a page.
        for accept in ["text/event-stream", "*/*"] {
            let refusal = at(path, accept);
            assert_eq!(
                (refusal.status, body(&refusal)["code"].as_str()),
                (405, Some("method_not_allowed"))
            );
        }
    }
}

#[test]
fn the_page_reads_endpoint_and_branding_in_one_batch() {
    let (api, id) = app();
    Agent::new(&api, &id, &ALL);
    let calls = |send: &dyn Fn() -> u16| {
        let before = api.env.db_calls.get();
        assert!(send() < 400);
        api.env.db_calls.get() - before
    };
    let link = format!("/mcp/{id}/grants");
    assert_eq!(calls(&|| Browser::default().get(&api, &link).status), 1);
    let (browser, page) = open_grants_page(&api, &id, "ann");
    assert_eq!(calls(&|| api.send(&browser.end_first_grant(&id, &page)).status), 2);
}

#[test]
fn only_the_user_of_a_grant_can_end_it() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    let (browser, page) = open_grants_page(&api, &id, "ann");
    // Another user sees nothing, and can't end a grant by its id.
    let (bob, of_bob) = open_grants_page(&api, &id, "bob");
    assert!(!text(&of_bob).contains("name=\"end\""), "{}", text(&of_bob));
    let form = browser.end_first_grant(&id, &page);
    let with = |request: &connector_vault::http::Request, name: &str, value: Option<&str>| {
        let mut request = request.clone();
        request.headers.retain(|(known, _)| known != name);
        if let Some(value) = value {
            request.headers.push((name.to_owned(), value.to_owned()));
        }
        request
    };
    let cookie = bob.cookie.borrow().clone();
    let other_browser = with(&form, "cookie", cookie.as_deref());
    let cross_site = with(&form, "sec-fetch-site", Some("cross-site"));
    let cross_site_request = with(&form, "origin", Some("https://evil.example"));
    for (what, request, status) in [
        ("another browser", other_browser, 410),
        ("no cookie", with(&form, "cookie", None), 410),
        ("a page of another site", cross_site, 403),
        ("another origin", cross_site_request, 403),
    ] {
        assert_eq!(api.send(&request).status, status, "{what}");
        assert!(has_access(&api, &id, &agent), "{what}");
    }
    // The form is refused at another endpoint, and after the sign-in has expired.
    let mut foreign = form.clone();
    foreign.path = foreign.path.replace(&id, &"x".repeat(43));
    assert_eq!(api.send(&foreign).status, 410);
    api.env.wait(10 * 60_000);
    assert_eq!(api.send(&form).status, 410);
    assert_eq!(hidden_field(&page, "end").len(), 36);
}

#[test]
fn a_link_to_the_grants_page_is_rejected_in_another_browser() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    let browser = Browser::default();
    let response = browser.get(&api, &format!("/mcp/{id}/grants"));
    let (_, query) = super::redirect_target(&response);
    let payload = json!({"request": connect::value_of(&query, "request"), "identity": "ann"});
    let created = connect::send(&api, "POST", "/v1/agent-grants", &payload);
    let next = body(&created)["continueUrl"].as_str().unwrap().to_owned();
    assert_eq!(Browser::default().open(&api, &next).status, 410);
    assert_eq!(browser.open(&api, &next.replace("ag_", "ag_A")).status, 410);
    assert_eq!(browser.open(&api, &next).status, 200);
    // The link no longer works once the sign-in has changed.
    api.env.wait(1);
    let payload = json!({"type": "app", "url": "https://app.example/other"});
    assert_eq!(connect::send(&api, "PUT", "/v1/agent-sign-in", &payload).status, 200);
    assert_eq!(browser.open(&api, &next).status, 410);
    api.env.wait(60_000);
    assert_eq!(browser.open(&api, &next).status, 410);
    assert!(has_access(&api, &id, &agent));
}

#[test]
fn users_sign_in_to_the_grants_page_at_their_openid_provider() {
    let (api, id) = oidc(&json!({}));
    let signer = Signer::ec();
    let agent = sign_in_agent(&api, &id, &signer);
    let (browser, query) = open_link_at_provider(&api, &format!("/mcp/{id}/grants"));
    let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(&api, &query));
    serve_id_token(&api, &token, &[key("k", &signer)]);
    let page = browser.open(&api, &callback(&id, &query));
    let next = api.send(&browser.end_first_grant(&id, &page));
    assert_eq!(next.status, 200, "{}", text(&next));
    assert!(!has_access(&api, &id, &agent));
}

#[test]
fn users_see_their_grants_after_the_identity_type_of_the_sign_in_has_changed() {
    let (api, id) = oidc(&json!({}));
    let signer = Signer::ec();
    let agents = [sign_in_agent(&api, &id, &signer), sign_in_agent(&api, &id, &signer)];
    api.env.wait(1);
    serve(&api);
    let payload =
        json!({"type": "oidc", "issuer": ISSUER, "clientId": "vault", "identityType": "user"});
    assert_eq!(connect::send(&api, "PUT", "/v1/agent-sign-in", &payload).status, 200);
    let open = |browser: &Browser, query: &[(String, String)], sub: &str| {
        let mut claims = claims(&api, query);
        claims["sub"] = json!(sub);
        let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims);
        serve_id_token(&api, &token, &[key("k", &signer)]);
        browser.open(&api, &callback(&id, query))
    };
    let count = |page: &str| page.matches("name=\"end\"").count();

    let (stranger, query) = open_link_at_provider(&api, &format!("/mcp/{id}/grants"));
    assert_eq!(count(&text(&open(&stranger, &query, "bob"))), 0);
    let (browser, query) = open_link_at_provider(&api, &format!("/mcp/{id}/grants"));
    let page = open(&browser, &query, "ann");
    assert_eq!(count(&text(&page)), 2);
    assert_eq!(count(&text(&api.send(&browser.end_first_grant(&id, &page)))), 1);
    assert_eq!(agents.iter().filter(|agent| has_access(&api, &id, agent)).count(), 1);

    // The consent page lists and ends the other one.
    let (browser, _, query) = at_provider(&api, &id);
    let page = open(&browser, &query, "ann");
    assert_eq!(count(&text(&page)), 1);
    let fields = [("grant", hidden_field(&page, "grant")), ("end", hidden_field(&page, "end"))];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let decided = browser.decide(&api, &id, &[&fields[..], &[("decision", "decline")]].concat());
    assert_eq!(decided.status, 303);
    assert!(!agents.iter().any(|agent| has_access(&api, &id, agent)));
}
