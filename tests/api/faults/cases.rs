//! One request to each endpoint, and more requests to endpoints with several outcomes.

use connector_vault::http::endpoint::{Endpoint, Keyed, Open};
use connector_vault::http::{Config, Request};
use serde_json::{Value, json};

use crate::agents;
use crate::call::{approvals, downloads};
use crate::connect::{
    self, Browser, ann_connect_body, code, connected, exchange, script, set_client, start_attempt,
    value_of,
};
use crate::console;
use crate::openapi::fixture::{self, Fixture};
use crate::support::{Api, anonymous, as_key, config, with_body, with_header};
use crate::vault::at;

/// A request that succeeds without a fault.
pub struct Case {
    pub name: String,
    pub endpoint: Endpoint,
    pub api: Api,
    pub request: Request,
    /// The settings of the service.
    pub config: fn() -> Config,
    /// Statuses after which the same request succeeds later, in addition to 503.
    pub pause_statuses: &'static [u16],
    /// Statuses of a repeated request if the first request has already taken effect.
    pub repeat_statuses: &'static [u16],
}

/// One case for each endpoint of the table, then further cases.
pub fn cases() -> impl Iterator<Item = Case> {
    let all = Endpoint::ALL.iter().map(|endpoint| match endpoint {
        Endpoint::Keyed(keyed) => keyed_case(*keyed),
        Endpoint::Open(open) => open_case(*open),
    });
    let more: [fn() -> Case; 8] = [
        checked_connection,
        attempt_start,
        refresh_on_read,
        deletion_with_revocation,
        call_with_expired_token,
        reconnection,
        agent_run,
        agent_list,
    ];
    all.chain(more.into_iter().map(|case| case()))
}

fn keyed_case(keyed: Keyed) -> Case {
    let fixture = Fixture::new();
    let request = fixture.request(keyed);
    Case {
        name: format!("{keyed:?}"),
        endpoint: Endpoint::Keyed(keyed),
        api: fixture.api,
        request,
        config: fixture::settings,
        // A platform that failed is not called again immediately.
        pause_statuses: if keyed == Keyed::CheckConnection { &[429] } else { &[] },
        repeat_statuses: match keyed {
            // A key is replaced once: a second request gets the id of the replacement.
            Keyed::RotateKey => &[409],
            // The first request ended the session, so the token is invalid.
            Keyed::SignOut => &[401],
            _ => &[],
        },
    }
}

/// Returns a case with the catalog of another platform.
fn connect_case(name: &str, endpoint: Endpoint, api: Api, request: Request) -> Case {
    Case {
        name: name.into(),
        endpoint,
        api,
        request,
        config: settings,
        pause_statuses: &[],
        repeat_statuses: &[],
    }
}

fn settings() -> Config {
    config(
        &[&agents::settings()[..], &[("SECURITY_CONTACT", "mailto:security@vault.example")]]
            .concat(),
    )
}

fn tokens() -> Value {
    json!({"access_token": "example-access-token", "refresh_token": "example-refresh-token", "expires_in": 3600})
}

fn open_case(open: Open) -> Case {
    if let Some((api, request)) = console::open_request(open) {
        return connect_case(&format!("{open:?}"), Endpoint::Open(open), api, request);
    }
    if let Some(case) = agent_case(open) {
        return case;
    }
    let api = connect::api();
    let browser = Browser::default();
    set_client(&api, "acme");
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    let mut ends: &'static [u16] = &[];
    let request = match open {
        Open::Health => anonymous("GET", "/health"),
        Open::SecurityTxt => anonymous("GET", "/.well-known/security.txt"),
        Open::Document => anonymous("GET", "/v1/openapi.json"),
        Open::ConnectWindow => anonymous("GET", "/connect"),
        Open::ConnectApp => anonymous("GET", "/connect/app.json"),
        Open::ConnectToken => {
            // A code can be exchanged once.
            ends = &[401];
            exchange(&code(&api, &json!({"identity": "ann", "scopes": ["connections:connect"]})))
        }
        Open::ConnectLink => browser.request("GET", &link),
        Open::ConnectGo => {
            let request =
                with_header(browser.request("POST", &link), "origin", crate::support::ORIGIN);
            with_header(request, "sec-fetch-site", "same-origin")
        }
        Open::Mcp => {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "search_actions", "arguments": {"query": "send"},
            }});
            with_body(as_key(&api.key, "POST", "/mcp"), &message.to_string())
        }
        Open::ConnectReturn => {
            with_body(browser.request("POST", "/connect/callback"), "code=c&state=s")
        }
        Open::ConnectCallback => {
            let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
            script(&api, &[(200, tokens()), (200, json!({"id": 7}))]);
            // A code can be exchanged once; a repeated request shows the outcome.
            ends = &[409];
            browser.request("GET", &format!("/connect/callback?code=c&state={state}"))
        }
        other => panic!("{other:?} has no case"),
    };
    let case = connect_case(&format!("{open:?}"), Endpoint::Open(open), api, request);
    Case { repeat_statuses: ends, ..case }
}

/// Returns a case for one of the endpoints of the agents' sign-in.
fn agent_case(open: Open) -> Option<Case> {
    if open == Open::AgentCallback {
        let (api, request) = agents::provider::callback_request();
        let case = connect_case("AgentCallback", Endpoint::Open(open), api, request);
        return Some(case);
    }
    if open == Open::AgentDecision {
        let (api, request) = approvals::decision_request();
        let case = connect_case("AgentDecision", Endpoint::Open(open), api, request);
        // The user has already decided.
        return Some(Case { repeat_statuses: &[410], ..case });
    }
    if matches!(open, Open::AgentDownload | Open::Download) {
        let (api, request) = downloads::open_request(open == Open::AgentDownload);
        return Some(connect_case(&format!("{open:?}"), Endpoint::Open(open), api, request));
    }
    let (api, id) = agents::app();
    let get = |path: String| anonymous("GET", &path);
    let mut ends: &'static [u16] = &[];
    let request = match open {
        Open::AgentMcp => agents::Agent::new(&api, &id, &agents::ALL).request(
            &id,
            "search_actions",
            &json!({"query": "send"}),
        ),
        Open::AgentResource => get(format!("/.well-known/oauth-protected-resource/mcp/{id}")),
        Open::AgentServer => get(format!("/.well-known/oauth-authorization-server/mcp/{id}")),
        Open::AgentRegister => {
            let metadata = json!({"redirect_uris": [agents::CALLBACK]});
            with_body(anonymous("POST", &format!("/mcp/{id}/register")), &metadata.to_string())
        }
        Open::AgentAuthorize => {
            let client = agents::register(&api, &id);
            get(format!("/mcp/{id}/authorize?{}", agents::authorization_query(&client, &[])))
        }
        Open::AgentContinue => {
            // A link can be used once.
            ends = &[410];
            let client = agents::register(&api, &id);
            let browser = agents::Browser::default();
            let request = agents::start_app_sign_in(&api, &id, &browser, &client);
            browser.request("GET", &agents::authenticate_user(&api, &request, &json!({})))
        }
        Open::AgentConsent => {
            ends = &[410];
            let client = agents::register(&api, &id);
            let (browser, page) = agents::open_consent_page(&api, &id, &client, &json!({}));
            let grant = agents::hidden_field(&page, "grant");
            let fields = [("grant", grant.as_str()), ("decision", "allow"), ("accounts", "all")];
            browser.decision(&id, &fields)
        }
        Open::AgentGrants => get(format!("/mcp/{id}/grants")),
        Open::AgentGrantsEnd => {
            agents::Agent::new(&api, &id, &agents::ALL);
            let (browser, page) = agents::open_grants_page(&api, &id, "ann");
            browser.end_first_grant(&id, &page)
        }
        Open::AgentApproval | Open::AgentConnect => {
            let link = if open == Open::AgentApproval { "approval" } else { "connect" };
            get(format!("/mcp/{id}/{link}?id=0b9af7c6-7a0b-4f60-a3ad-60a2a9b5b3a1"))
        }
        Open::AgentToken => {
            // A code that is used twice may have been stolen, so its grant is revoked.
            ends = &[400];
            let client = agents::register(&api, &id);
            let code = agents::consent_code(&api, &id, &client, &agents::ALL);
            agents::exchange_request(&id, &client, &code)
        }
        Open::AgentRevoke => {
            let agent = agents::Agent::new(&api, &id, &agents::ALL);
            let fields = agents::form(&[("token", &agent.refresh)]);
            agents::with_form(anonymous("POST", &format!("/mcp/{id}/revoke")), &fields)
        }
        _ => return None,
    };
    let case = connect_case(&format!("{open:?}"), Endpoint::Open(open), api, request);
    Some(Case { repeat_statuses: ends, ..case })
}

/// Stores credentials after the platform has checked them.
fn checked_connection() -> Case {
    let api = connect::api();
    script(&api, &[(200, json!({})), (200, json!({"id": 7}))]);
    let mut payload = ann_connect_body("keyed");
    payload["fields"] = json!({"apiKey": "example-token"});
    let request = with_body(api.request("POST", "/v1/vault/connect"), &payload.to_string());
    connect_case("Connect, with a check", Endpoint::Keyed(Keyed::Connect), api, request)
}

fn attempt_start() -> Case {
    let api = connect::api();
    set_client(&api, "acme");
    let request =
        with_body(api.request("POST", "/v1/vault/connect"), &ann_connect_body("acme").to_string());
    connect_case("Connect, with a redirect", Endpoint::Keyed(Keyed::Connect), api, request)
}

/// Reads credentials and refreshes their access token.
fn refresh_on_read() -> Case {
    let api = connect::api();
    set_client(&api, "acme");
    let id = connected(&api, &ann_connect_body("acme"), &tokens());
    script(&api, &[(200, tokens())]);
    let request = api.request("GET", &format!("{}/credentials?refresh=true", at(&id)));
    connect_case("GetCredentials, refreshed", Endpoint::Keyed(Keyed::GetCredentials), api, request)
}

/// Deletes a connection whose tokens are revoked at the platform.
fn deletion_with_revocation() -> Case {
    let api = connect::maintenance::api_at_current_time();
    set_client(&api, "revoked");
    let id = connected(&api, &ann_connect_body("revoked"), &tokens());
    api.env.database.execute("DELETE FROM connect_attempts", []).unwrap();
    script(&api, &[(200, json!({}))]);
    let request = api.request("DELETE", &at(&id));
    connect_case(
        "DeleteConnection, revoked",
        Endpoint::Keyed(Keyed::DeleteConnection),
        api,
        request,
    )
}

/// Calls a platform that refuses the first request, because the access token has expired.
fn call_with_expired_token() -> Case {
    let api = connect::api();
    set_client(&api, "acme");
    let id = connected(&api, &ann_connect_body("acme"), &tokens());
    // A token that was issued less than a minute ago would not be refreshed.
    api.env.wait(600_000);
    let mut was_called = false;
    *api.env.platform.borrow_mut() = Box::new(move |request| {
        if request.url.ends_with("/token") {
            return connect::response(
                200,
                &json!({"access_token": "example-token", "expires_in": 3600}),
            );
        }
        let status = if std::mem::replace(&mut was_called, true) { 200 } else { 401 };
        connect::response(status, &json!({"login": "ann"}))
    });
    let request = api.request("GET", &format!("{}/proxy/me", at(&id)));
    connect_case("ProxyGet, refreshed", Endpoint::Keyed(Keyed::ProxyGet), api, request)
}

/// Completes an attempt that reconnects the same account.
fn reconnection() -> Case {
    let api = connect::api();
    set_client(&api, "acme");
    let id = connected(&api, &ann_connect_body("acme"), &tokens());
    let (_, link) = start_attempt(&api, &json!({"connection": id}));
    let browser = Browser::default();
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    script(&api, &[(200, tokens()), (404, json!({}))]);
    let request = browser.request("GET", &format!("/connect/callback?code=c&state={state}"));
    let case =
        connect_case("ConnectCallback, again", Endpoint::Open(Open::ConnectCallback), api, request);
    Case { repeat_statuses: &[409], ..case }
}

fn tool(case: Case, name: &str, arguments: &Value) -> Case {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let request = with_body(as_key(&case.api.key, "POST", "/mcp"), &message.to_string());
    Case { name: format!("Mcp, {name}"), endpoint: Endpoint::Open(Open::Mcp), request, ..case }
}

/// Runs an action as an agent.
fn agent_run() -> Case {
    let case = keyed_case(Keyed::RunAction);
    let id = case.request.path.split('/').nth(4).unwrap().to_owned();
    let input: Value =
        serde_json::from_str(connector_vault::openapi::platform_calls::INPUT_EXAMPLES[0].2)
            .unwrap();
    tool(case, "run_action", &json!({"connection": id, "action": "issuesCreate", "input": input}))
}

fn agent_list() -> Case {
    tool(keyed_case(Keyed::ListConnections), "list_connections", &json!({}))
}
