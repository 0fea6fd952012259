//! Agents' calls that wait for the user's approval.

use connector_vault::agents::approval::MAX_DECIDED;
use connector_vault::http::Request;
use serde_json::{Value, json};

use super::run::{api_with, json_response};
use super::*;
use crate::agents::{
    self, APP, Agent, Browser, form, hidden_field, id_of, redirect_target, with_form,
};
use crate::connect::value_of;
use crate::support::{ORIGIN, anonymous, with_body};

/// A service, and an agent whose user ann must approve each change.
pub(super) struct ApprovalFixture {
    pub(super) api: Api,
    pub(super) id: String,
    pub(super) agent: Agent,
    pub(super) path: String,
}

pub(super) fn approval_fixture_with(fields: &[(&str, &str)]) -> ApprovalFixture {
    let api = api_with(&[("BASE_URL", ORIGIN), ("APP_NAME", "Sample App")]);
    let response = send(&api, "PUT", "/v1/agent-sign-in", &json!({"type": "app", "url": APP}));
    assert_eq!(response.status, 201, "{}", text(&response));
    let id = id_of(&body(&response));
    let path = acme(&api);
    let agent = Agent::new(&api, &id, &[&agents::ALL[..], fields].concat());
    json_response(&api, 201, r#"{"id":7}"#);
    sent(&api);
    ApprovalFixture { api, id, agent, path }
}

pub(super) fn approval_fixture() -> ApprovalFixture {
    approval_fixture_with(&[("confirm", "write")])
}

fn input() -> Value {
    json!({"input": {"path": {"owner": "bob"}, "body": {"name": "<b>n\u{202e}", "size": 3}}})
}

impl ApprovalFixture {
    pub(super) fn connection(&self) -> &str {
        self.path.rsplit('/').next().unwrap()
    }

    /// Calls `run_action`. Returns the tool's result.
    fn run(&self, key: &str, extra: &Value) -> Value {
        let mut arguments = json!({"connection": self.connection(), "key": key});
        arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let response = self.agent.call(&self.api, &self.id, "run_action", &arguments);
        assert_eq!(response.status, 200, "{}", text(&response));
        let returned = body(&response)["result"]["content"][0]["text"].clone();
        serde_json::from_str(returned.as_str().unwrap()).unwrap_or(returned)
    }

    /// Starts a call that waits for approval. Returns the call's id and link.
    pub(super) fn start_pending_call(&self) -> (String, String) {
        let result = self.run("createThing", &input());
        let field = |name: &str| result["approval"][name].as_str().unwrap_or_default().to_owned();
        assert_eq!(field("status"), "pending", "{result}");
        (field("id"), field("url"))
    }

    /// Opens a link in a new browser and signs in as `identity` at the app. Returns the browser,
    /// and the page that it shows.
    pub(super) fn open_as(&self, url: &str, identity: &str) -> (Browser, Response) {
        let (browser, request) = self.start_app_sign_in(url);
        let sent = json!({"request": request, "identity": identity});
        let response = send(&self.api, "POST", "/v1/agent-grants", &sent);
        if response.status != 201 {
            return (browser, response);
        }
        let next = body(&response)["continueUrl"].as_str().unwrap().to_owned();
        let page = browser.open(&self.api, &next);
        (browser, page)
    }

    fn start_app_sign_in(&self, url: &str) -> (Browser, String) {
        let browser = Browser::default();
        let response = self.api.send(&browser.request("GET", url));
        let cookie = response.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        *browser.cookie.borrow_mut() = Some(cookie);
        let (address, query) = redirect_target(&response);
        assert_eq!(address, APP);
        (browser, value_of(&query, "request").unwrap())
    }

    fn decision(&self, browser: &Browser, page: &Response, decision: &str) -> Request {
        let (approval, shown) = (hidden_field(page, "approval"), hidden_field(page, "shown"));
        let fields = [("approval", &*approval), ("shown", &*shown), ("decision", decision)];
        let request = browser.request("POST", &format!("/mcp/{}/approval", self.id));
        let request = with_header(request, "origin", ORIGIN);
        with_form(with_header(request, "sec-fetch-site", "same-origin"), &form(&fields))
    }

    pub(super) fn decide(&self, browser: &Browser, page: &Response, decision: &str) -> Response {
        self.api.send(&self.decision(browser, page, decision))
    }

    pub(super) fn outcome(&self, id: &str) -> Value {
        self.run("createThing", &json!({"approval": id}))
    }

    fn events(&self) -> Vec<Value> {
        let events = body(&self.api.get("/v1/events?types=call.approved,call.declined"));
        let rows = events["rows"].as_array().unwrap().clone();
        rows.into_iter()
            .map(|row| {
                json!([
                    row["type"],
                    row["data"]["call"]["action"],
                    row["data"]["call"]["identity"],
                    row["data"]["connection"]["id"]
                ])
            })
            .collect()
    }
}

/// Returns a service, and the request with which a user approves a call.
pub fn decision_request() -> (Api, Request) {
    let approval_fixture = approval_fixture();
    let (_, url) = approval_fixture.start_pending_call();
    let (browser, page) = approval_fixture.open_as(&url, "ann");
    let request = approval_fixture.decision(&browser, &page, "approve");
    (approval_fixture.api, request)
}

#[test]
fn an_approved_call_runs_once_with_the_approved_input() {
    let approval_fixture = approval_fixture();
    let (id, url) = approval_fixture.start_pending_call();
    assert_eq!(sent(&approval_fixture.api).len(), 0, "nothing was sent yet");
    assert!(
        url.starts_with(&format!("{ORIGIN}/mcp/{}/approval?id={id}", approval_fixture.id)),
        "{url}"
    );
    // The input is stored encrypted.
    let rows = approval_fixture
        .api
        .env
        .texts("SELECT json_array(id, sealed, title, action) AS row FROM agent_approvals");
    assert!(rows.len() == 1 && !rows[0].contains("bob"), "{rows:?}");

    let (browser, page) = approval_fixture.open_as(&url, "ann");
    let html = text(&page).clone();
    assert_eq!(page.status, 200, "{html}");
    for shown in [
        "Sample Agent",
        "<dd>The acme</dd>",
        "ann",
        "createThing",
        "POST",
        "&quot;owner&quot;: &quot;bob&quot;",
        "&lt;b&gt;n\\u{202e}",
        "&quot;size&quot;: 3",
    ] {
        assert!(html.contains(shown), "{shown} is not in {html}");
    }
    assert!(!html.contains("maxBytes"));
    assert!(page.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
    assert_eq!(page.header("x-frame-options"), Some("DENY"));

    assert_eq!(approval_fixture.outcome(&id)["approval"]["status"], "pending");
    let approved = approval_fixture.decide(&browser, &page, "approve");
    assert_eq!(approved.status, 200, "{}", text(&approved));
    assert!(
        text(&approved).contains("the platform responded with status 201"),
        "{}",
        text(&approved)
    );
    let requests = sent(&approval_fixture.api);
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].url, "https://api.acme.example/v2/owners/bob/things");
    let posted: Value = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(posted, json!({"name": "<b>n\u{202e}", "size": 3}));

    // Repeated calls with the approval return the response without running the action again.
    for _ in 0..2 {
        let outcome = approval_fixture.outcome(&id);
        assert_eq!((&outcome["status"], &outcome["body"]), (&json!(201), &json!({"id": 7})));
    }
    assert_eq!(approval_fixture.decide(&browser, &page, "approve").status, 410);
    assert_eq!(approval_fixture.decide(&browser, &page, "decline").status, 410);
    let (_, again) = approval_fixture.open_as(&url, "ann");
    assert!(text(&again).contains("This link does not work"), "{}", text(&again));
    assert_eq!(sent(&approval_fixture.api).len(), 0);
    assert_eq!(
        approval_fixture.events(),
        [json!(["call.approved", "createThing", "ann", approval_fixture.connection()])]
    );
    // The response is stored encrypted too, and deleted after a while.
    let rows = approval_fixture.api.env.texts("SELECT sealed AS row FROM agent_approvals");
    assert!(!rows[0].contains("\"id\""), "{rows:?}");
    approval_fixture.api.env.wait(10 * 60_000);
    assert!(approval_fixture.outcome(&id)["detail"].as_str().unwrap().contains("has expired"));
}

#[test]
fn a_declined_call_never_runs() {
    let approval_fixture = approval_fixture();
    let (id, url) = approval_fixture.start_pending_call();
    let (browser, page) = approval_fixture.open_as(&url, "ann");
    assert_eq!(approval_fixture.decide(&browser, &page, "decline").status, 200);
    let outcome = approval_fixture.outcome(&id);
    assert_eq!(outcome["approval"]["status"], "declined");
    assert_eq!(outcome["approval"]["url"], Value::Null);
    let again = approval_fixture.decide(&browser, &page, "approve");
    assert_eq!(again.status, 410);
    assert!(text(&again).contains("<h1>Declined</h1>"), "{}", text(&again));
    assert_eq!(sent(&approval_fixture.api).len(), 0);
    assert_eq!(
        approval_fixture.events(),
        [json!(["call.declined", "createThing", "ann", approval_fixture.connection()])]
    );
}

#[test]
fn a_page_that_the_user_opens_again_says_what_was_decided() {
    let approval_fixture = approval_fixture();
    let (api, (_, url)) = (&approval_fixture.api, approval_fixture.start_pending_call());
    let (browser, request) = approval_fixture.start_app_sign_in(&url);
    let continue_url = || {
        let sent = json!({"request": request, "identity": "ann"});
        let response = send(api, "POST", "/v1/agent-grants", &sent);
        body(&response)["continueUrl"].as_str().unwrap().to_owned()
    };
    let next = continue_url();
    let page = browser.open(api, &next);
    assert_eq!(approval_fixture.decide(&browser, &page, "approve").status, 200);
    // Reloading, going back, and opening the link again.
    for page in [
        approval_fixture.decide(&browser, &page, "approve"),
        browser.open(api, &next),
        browser.open(api, &continue_url()),
    ] {
        assert_eq!(page.status, 410);
        assert!(text(&page).contains("<h1>Approved</h1>"), "{}", text(&page));
    }
    let (_, other) = approval_fixture.open_as(&url, "ann");
    assert!(text(&other).contains("This link does not work"), "{}", text(&other));
    assert_eq!(sent(api).len(), 1);
}

#[test]
fn the_browser_that_signed_in_last_decides() {
    let approval_fixture = approval_fixture();
    let (_, url) = approval_fixture.start_pending_call();
    let (first, page) = approval_fixture.open_as(&url, "ann");
    let (last, last_page) = approval_fixture.open_as(&url, "ann");
    for decision in ["approve", "decline"] {
        let refusal = approval_fixture.decide(&first, &page, decision);
        assert_eq!(refusal.status, 410);
        assert!(text(&refusal).contains("Opened in another browser"), "{}", text(&refusal));
        // A browser that has not shown the page does not learn that the call is pending.
        let fields = [("approval", hidden_field(&page, "approval")), ("decision", decision.into())];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let request = approval_fixture.decision(&first, &page, decision);
        let refusal = approval_fixture
            .api
            .send(&Request { body: Body::Whole(form(&fields).into()), ..request });
        assert!(text(&refusal).contains("This link does not work"), "{}", text(&refusal));
    }
    assert_eq!(approval_fixture.decide(&last, &last_page, "approve").status, 200);
}

#[test]
fn a_forwarded_approval_link_is_useless_to_others() {
    let approval_fixture = approval_fixture();
    let (id, url) = approval_fixture.start_pending_call();
    // Without a sign-in, the response redirects to the sign-in page, whether or not the call
    // exists.
    let response = approval_fixture.api.send(&anonymous("GET", url.strip_prefix(ORIGIN).unwrap()));
    assert!(response.status == 303 && response.body.is_empty());
    let unknown =
        format!("/mcp/{}/approval?id=0b9af7c6-7a0b-4f60-a3ad-60a2a9b5b3a1", approval_fixture.id);
    assert_eq!(approval_fixture.api.send(&anonymous("GET", &unknown)).status, 303);
    // Another user who signs in does not see the call.
    let (_, page) = approval_fixture.open_as(&url, "bob");
    assert_eq!(page.status, 410);
    assert!(text(&page).contains("This link does not work"), "{}", text(&page));
    // If another browser opened the link, the browser in which ann signs in does not show the page.
    let (attacker, request) = approval_fixture.start_app_sign_in(&url);
    let response = send(
        &approval_fixture.api,
        "POST",
        "/v1/agent-grants",
        &json!({"request": request, "identity": "ann"}),
    );
    let next = body(&response)["continueUrl"].as_str().unwrap().to_owned();
    assert_eq!(Browser::default().open(&approval_fixture.api, &next).status, 410);
    // The browser that opened the link can neither decide nor see the call, since it never presents the app's secret.
    for decision in ["approve", "decline"] {
        let fields = form(&[("approval", &*id), ("decision", decision)]);
        let request = attacker.request("POST", &format!("/mcp/{}/approval", approval_fixture.id));
        let request = with_header(request, "origin", ORIGIN);
        let request = with_form(with_header(request, "sec-fetch-site", "same-origin"), &fields);
        let response = approval_fixture.api.send(&request);
        assert!(response.status == 410 && !text(&response).contains("shown"), "{decision}");
    }
    let (ann, page) = approval_fixture.open_as(&url, "ann");
    assert_eq!(page.status, 200);
    // Only ann's browser can decide: another browser, another site, or a browser without the cookie can't.
    for browser in [&attacker, &Browser::default()] {
        assert_eq!(approval_fixture.decide(browser, &page, "approve").status, 410);
        assert_eq!(approval_fixture.decide(browser, &page, "decline").status, 410);
    }
    let mut foreign_decision = approval_fixture.decision(&ann, &page, "approve");
    foreign_decision.headers.retain(|(name, _)| name != "origin" && name != "sec-fetch-site");
    assert_eq!(approval_fixture.api.send(&foreign_decision).status, 403);
    // A HEAD request to a link does not use it up.
    assert_eq!(
        approval_fixture.api.send(&anonymous("HEAD", url.strip_prefix(ORIGIN).unwrap())).status,
        200
    );
    assert_eq!(sent(&approval_fixture.api).len(), 0);
    assert_eq!(approval_fixture.outcome(&id)["approval"]["status"], "pending");
    assert_eq!(approval_fixture.decide(&ann, &page, "approve").status, 200);
    assert_eq!(sent(&approval_fixture.api).len(), 1);
}

#[test]
fn a_call_is_declined_if_the_credentials_change_before_the_page_is_opened() {
    let approval_fixture = approval_fixture();
    let (id, url) = approval_fixture.start_pending_call();
    let sql = "UPDATE connections SET connected_by = 'another request'";
    approval_fixture.api.env.database.execute_batch(sql).unwrap();
    let (_, page) = approval_fixture.open_as(&url, "ann");
    assert_eq!(page.status, 409, "{}", text(&page));
    assert_eq!(approval_fixture.outcome(&id)["approval"]["status"], "declined");
}

#[test]
fn a_grant_keeps_a_limited_number_of_decided_calls() {
    let approval_fixture = approval_fixture();
    let decided = "INSERT INTO agent_approvals SELECT a.id || n.value, account, environment, endpoint, grant_id, key_id, identity, identity_type, connection_id, action, title, method, 'done', sealed, connected_by, NULL, NULL, NULL, claimed_by, created_at, expires_at FROM agent_approvals a CROSS JOIN json_each(?1) n";
    approval_fixture.start_pending_call();
    let numbers = serde_json::to_string(&(0..MAX_DECIDED - 1).collect::<Vec<_>>()).unwrap();
    approval_fixture.api.env.database.execute(decided, [numbers]).unwrap();
    approval_fixture.start_pending_call();
    let one_more = "UPDATE agent_approvals SET state = 'declined' WHERE id = (SELECT min(id) FROM agent_approvals WHERE state = 'pending')";
    approval_fixture.api.env.database.execute_batch(one_more).unwrap();
    let refusal = approval_fixture.run("createThing", &input());
    assert_eq!(refusal["code"], "too_many_requests", "{refusal}");
}

#[test]
fn an_approved_call_does_not_run_after_the_grant_ended() {
    for ends in ["grant", "key", "time", "connection", "account", "credentials"] {
        let approval_fixture = approval_fixture();
        let (id, url) = approval_fixture.start_pending_call();
        let (browser, page) = approval_fixture.open_as(&url, "ann");
        match ends {
            "grant" => {
                let grant =
                    approval_fixture.api.env.texts("SELECT id AS row FROM agent_grants")[0].clone();
                let path = format!("/v1/agent-grants/{grant}");
                assert_eq!(
                    approval_fixture
                        .api
                        .send(&approval_fixture.api.request("DELETE", &path))
                        .status,
                    204
                );
            }
            "key" => approval_fixture
                .api
                .env
                .database
                .execute_batch("UPDATE api_keys SET revoked_at = 1")
                .unwrap(),
            "time" => approval_fixture.api.env.wait(10 * 60_000),
            "connection" => {
                assert_eq!(
                    approval_fixture
                        .api
                        .send(&approval_fixture.api.request("DELETE", &approval_fixture.path))
                        .status,
                    204
                );
                sent(&approval_fixture.api);
            }
            "credentials" => {
                // Other credentials of the same account are stored, such as another API key.
                let sql = "UPDATE connections SET connected_by = 'another request'";
                approval_fixture.api.env.database.execute_batch(sql).unwrap();
            }
            _ => {
                // The connection now belongs to a different account than the page showed.
                let sql = "UPDATE connections SET platform_account_id = '2', platform_account_name = 'Other'";
                approval_fixture.api.env.database.execute_batch(sql).unwrap();
            }
        }
        let response = approval_fixture.decide(&browser, &page, "approve");
        assert_eq!(sent(&approval_fixture.api).len(), 0, "{ends}");
        if ends == "account" {
            // The page is shown again, and the call runs once the user has seen the new account.
            assert!(text(&response).contains("Other"), "{}", text(&response));
            assert_eq!(approval_fixture.decide(&browser, &response, "approve").status, 200);
            assert_eq!(sent(&approval_fixture.api).len(), 1);
            assert_eq!(approval_fixture.outcome(&id)["status"], 201);
        } else if ends == "credentials" {
            assert_eq!(response.status, 409, "{}", text(&response));
            assert_eq!(approval_fixture.outcome(&id)["approval"]["status"], "declined");
        } else {
            assert_eq!(response.status, 410, "{ends}: {}", text(&response));
            assert!(!text(&response).contains("bob"));
        }
    }
}

#[test]
fn the_grant_decides_which_calls_need_approval() {
    for (confirm, key, input, needs_approval) in [
        ("write", "createThing", json!({"path": {"owner": "a"}, "body": {"name": "n"}}), true),
        ("write", "getThing", json!({"path": {"id": 1}}), false),
        (
            "destructive",
            "createThing",
            json!({"path": {"owner": "a"}, "body": {"name": "n"}}),
            false,
        ),
        ("", "createThing", json!({"path": {"owner": "a"}, "body": {"name": "n"}}), false),
    ] {
        let approval_fixture = approval_fixture_with(&[("confirm", confirm)]);
        let reply = approval_fixture.run(key, &json!({"input": input}));
        assert_eq!(reply.get("approval").is_some(), needs_approval, "{confirm} {key}: {reply}");
        assert_eq!(
            sent(&approval_fixture.api).len(),
            usize::from(!needs_approval),
            "{confirm} {key}"
        );
    }
    // Invalid input fails before a user is asked.
    let approval_fixture = approval_fixture();
    let refusal = approval_fixture.run("createThing", &json!({"input": {}}));
    assert_eq!(refusal["code"], "invalid_body", "{refusal}");
    // A call without a catalog action can't be approved.
    let arguments =
        json!({"connection": approval_fixture.connection(), "method": "POST", "path": "/x"});
    let response = approval_fixture.agent.call(
        &approval_fixture.api,
        &approval_fixture.id,
        "call_platform",
        &arguments,
    );
    assert!(text(&response).contains("run an action instead"), "{}", text(&response));
    assert_eq!(sent(&approval_fixture.api).len(), 0);
    let rows = approval_fixture.api.env.texts("SELECT id AS row FROM agent_approvals");
    assert_eq!(rows.len(), 0, "{rows:?}");
}

#[test]
fn an_agent_sees_only_its_own_calls_and_may_have_a_few_pending() {
    let approval_fixture = approval_fixture();
    let (id, url) = approval_fixture.start_pending_call();
    let other = Agent::new(
        &approval_fixture.api,
        &approval_fixture.id,
        &[&agents::ALL[..], &[("confirm", "write")]].concat(),
    );
    let arguments =
        json!({"connection": approval_fixture.connection(), "key": "createThing", "approval": id});
    let refusal = other.call(&approval_fixture.api, &approval_fixture.id, "run_action", &arguments);
    assert!(text(&refusal).contains("There is no such approval"), "{}", text(&refusal));
    // The approval of one action can't be used for another action.
    assert_eq!(approval_fixture.run("ping", &json!({"approval": id}))["code"], "invalid_body");
    for _ in 1..20 {
        approval_fixture.start_pending_call();
    }
    let full = approval_fixture.run("ping", &json!({}));
    assert_eq!(full["code"], "too_many_requests", "{full}");
    let (browser, page) = approval_fixture.open_as(&url, "ann");
    approval_fixture.decide(&browser, &page, "decline");
    assert_eq!(approval_fixture.run("ping", &json!({}))["approval"]["status"], "pending");
}

#[test]
fn a_client_that_opens_links_gets_the_approval_page() {
    let approval_fixture = approval_fixture();
    let call = |extra: &Value| {
        let mut params = json!({
            "name": "run_action",
            "arguments": {"connection": approval_fixture.connection(), "key": "ping"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}},
            },
        });
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let mut request = with_body(
            anonymous("POST", &format!("/mcp/{}", approval_fixture.id)),
            &message.to_string(),
        );
        for (name, value) in [
            ("authorization", format!("Bearer {}", approval_fixture.agent.access)),
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", "run_action".to_owned()),
        ] {
            request = with_header(request, name, &value);
        }
        body(&approval_fixture.api.send(&request))["result"].clone()
    };
    let result = call(&json!({}));
    assert_eq!(result["resultType"], "input_required", "{result}");
    let elicitation = &result["inputRequests"]["connect"]["params"];
    let url = elicitation["url"].as_str().unwrap().to_owned();
    assert_eq!(elicitation["mode"], "url");
    let resumed = json!({"requestState": result["requestState"], "inputResponses": {"connect": {"action": "accept"}}});
    // Until the user decides, the agent gets `pending`, and no second page is opened.
    assert!(call(&resumed).to_string().contains("pending"));
    let (browser, page) = approval_fixture.open_as(&url, "ann");
    assert_eq!(approval_fixture.decide(&browser, &page, "approve").status, 200);
    let done = call(&resumed);
    assert_eq!(
        (&done["resultType"], &done["isError"]),
        (&json!("complete"), &json!(false)),
        "{done}"
    );
    assert!(done.to_string().contains("201"), "{done}");
    assert_eq!(sent(&approval_fixture.api).len(), 1);
}

#[test]
fn a_user_can_only_add_approvals_to_those_the_app_requires() {
    let approval_fixture = approval_fixture_with(&[]);
    for (demanded, chosen, expected) in [
        (json!(null), "", json!(null)),
        (json!(null), "write", json!("write")),
        (json!(null), "nonsense", json!(null)),
        (json!("destructive"), "", json!("destructive")),
        (json!("destructive"), "write", json!("write")),
        (json!("write"), "", json!("write")),
        (json!("write"), "destructive", json!("write")),
    ] {
        let extra = if demanded.is_null() { json!({}) } else { json!({"confirm": demanded}) };
        let (browser, page) = agents::open_consent_page(
            &approval_fixture.api,
            &approval_fixture.id,
            &approval_fixture.agent.client,
            &extra,
        );
        let is_offered = text(&page).contains("Ask me before each change");
        assert_eq!(is_offered, demanded != "write");
        assert_eq!(text(&page).contains("You are asked before"), !demanded.is_null());
        let grant = hidden_field(&page, "grant");
        let fields = [
            ("grant", &*grant),
            ("decision", "allow"),
            ("access", "write"),
            ("accounts", "all"),
            ("confirm", chosen),
        ];
        assert_eq!(
            browser.decide(&approval_fixture.api, &approval_fixture.id, &fields).status,
            303
        );
        let rows = approval_fixture.api.env.texts(&format!(
            "SELECT json_object('c', confirm) AS row FROM agent_grants WHERE id = '{grant}'"
        ));
        let stored: Value = serde_json::from_str(&rows[0]).unwrap();
        assert_eq!(stored["c"], expected, "{demanded} {chosen}");
    }
    let invalid_body = json!({"request": "ar_x", "identity": "ann", "confirm": "always"});
    assert_eq!(
        body(&send(&approval_fixture.api, "POST", "/v1/agent-grants", &invalid_body))["errors"][0]
            ["pointer"],
        "/confirm"
    );
}

#[test]
fn an_openid_user_can_only_approve_as_the_same_identity() {
    use crate::agents::provider::{ISSUER, Signer, callback, claims, key, serve, serve_id_token};
    let approval_fixture = approval_fixture();
    serve(&approval_fixture.api);
    let sign_in =
        json!({"type": "oidc", "issuer": ISSUER, "clientId": "vault", "clientSecret": "s"});
    let response = send(&approval_fixture.api, "PUT", "/v1/agent-sign-in", &sign_in);
    assert_eq!(response.status, 200, "{}", text(&response));
    json_response(&approval_fixture.api, 201, r#"{"id":7}"#);
    let (_, url) = approval_fixture.start_pending_call();
    let signer = Signer::ec();
    let come_back = |sub: &str| {
        let browser = Browser::default();
        let response = approval_fixture.api.send(&browser.request("GET", &url));
        let cookie = response.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        *browser.cookie.borrow_mut() = Some(cookie);
        let (_, query) = redirect_target(&response);
        let mut claims = claims(&approval_fixture.api, &query);
        claims["sub"] = sub.into();
        let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims);
        serve_id_token(&approval_fixture.api, &token, &[key("k", &signer)]);
        let page = browser.open(&approval_fixture.api, &callback(&approval_fixture.id, &query));
        json_response(&approval_fixture.api, 201, r#"{"id":7}"#);
        sent(&approval_fixture.api);
        (browser, page)
    };
    assert_eq!(come_back("bob").1.status, 410);
    let (browser, page) = come_back("ann");
    assert_eq!(page.status, 200, "{}", text(&page));
    assert_eq!(approval_fixture.decide(&browser, &page, "approve").status, 200);
    assert_eq!(sent(&approval_fixture.api).len(), 1);
    // The link in the same browser, with a new code of the provider, and with the used one.
    let response = approval_fixture.api.send(&browser.request("GET", &url));
    let (_, query) = redirect_target(&response);
    let token =
        signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(&approval_fixture.api, &query));
    serve_id_token(&approval_fixture.api, &token, &[key("k", &signer)]);
    for _ in 0..2 {
        let page = browser.open(&approval_fixture.api, &callback(&approval_fixture.id, &query));
        assert_eq!(page.status, 410);
        assert!(text(&page).contains("<h1>Approved</h1>"), "{}", text(&page));
        json_response(&approval_fixture.api, 400, r#"{"error":"invalid_grant"}"#);
    }
    // A user who does not sign in has nothing to decide and gets no redirect.
    let browser = Browser::default();
    let response = approval_fixture.api.send(&browser.request("GET", &url));
    let cookie = response.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    *browser.cookie.borrow_mut() = Some(cookie);
    let (_, query) = redirect_target(&response);
    let state = value_of(&query, "state").unwrap();
    let path = format!(
        "/mcp/{}/callback?{}",
        approval_fixture.id,
        form(&[("error", "access_denied"), ("state", &state)])
    );
    assert_eq!(browser.open(&approval_fixture.api, &path).status, 410);
}

#[test]
fn a_stricter_sign_in_applies_to_existing_grants() {
    let fixture = approval_fixture_with(&[]);
    let (api, id) = (&fixture.api, &fixture.id);
    let runs_at_once = || {
        json_response(api, 201, r#"{"id":7}"#);
        fixture.run("createThing", &input())["status"] == 201
    };
    let configure = |extra: &Value| {
        agents::provider::serve(api);
        let mut payload =
            json!({"type": "oidc", "issuer": agents::provider::ISSUER, "clientId": "vault"});
        payload.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        assert_eq!(send(api, "PUT", "/v1/agent-sign-in", &payload).status, 200);
    };
    let listed = || body(&api.get("/v1/agent-grants"))["rows"][0]["confirm"].clone();
    assert!(runs_at_once());
    assert_eq!(listed(), Value::Null);

    configure(&json!({"confirm": "destructive"}));
    assert!(runs_at_once());
    assert_eq!(listed(), "destructive");
    configure(&json!({"confirm": "write"}));
    assert_eq!(listed(), "write");
    json_response(api, 201, r#"{"id":7}"#);
    sent(api);
    let (_, url) = fixture.start_pending_call();
    let arguments = json!({"connection": fixture.connection(), "method": "POST", "path": "x"});
    let proxied = fixture.agent.call(api, id, "call_platform", &arguments);
    assert!(text(&proxied).contains("The user must approve each change"), "{}", text(&proxied));
    assert_eq!(sent(api).len(), 0);

    // The call that the user approves runs, although the sign-in asks for an approval.
    let signer = agents::provider::Signer::ec();
    let (browser, query) = agents::provider::open_link_at_provider(api, &url);
    let claims = agents::provider::claims(api, &query);
    let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims);
    agents::provider::serve_id_token(api, &token, &[agents::provider::key("k", &signer)]);
    let page = browser.open(api, &agents::provider::callback(id, &query));
    json_response(api, 201, r#"{"id":7}"#);
    sent(api);
    let approved = fixture.decide(&browser, &page, "approve");
    assert!(text(&approved).contains("responded with status 201"), "{}", text(&approved));
    assert_eq!(sent(api).len(), 1);

    configure(&json!({}));
    assert!(runs_at_once());
}
