//! Attacks on the sign-in endpoints, each with the expected refusal. After each attack, the database is unchanged, no
//! token was issued, redirects led only to the client, and no other server was called.

mod authorization;
mod calls;
mod consent_page;
mod token_endpoint;

use connector_vault::agents::refresh::RefreshToken;
use connector_vault::auth::key::ApiKey;
use connector_vault::auth::token::SessionSecrets;
use connector_vault::http::{Request, Response};
use connector_vault::ports::HttpResponse;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use self::authorization::{authorization, metadata_attacks, registration};
use self::calls::{app_attacks, calls};
use self::consent_page::consent_attacks;
use self::token_endpoint::{revocation_attacks, tokens};
use super::*;
use crate::connect::response;
use crate::support::{as_key, as_secret, with_body};

/// The URL of a client's metadata document, which is also the client's id.
const DOCUMENT: &str = "https://agent.example/client.json";

/// The expected outcome of an attack.
#[derive(Clone, Copy, Debug)]
enum Rejection {
    /// A page with this status, and no redirect.
    Page(u16),
    /// An OAuth error as JSON, with this status.
    Error(u16, &'static str),
    /// An OAuth error that the client receives at its own redirect URI.
    Redirect(&'static str),
    /// A problem of the API, with this status.
    Problem(u16),
    /// An error of a tool with this code.
    Tool(&'static str),
    /// 200 without a body: the response does not reveal whether the token was valid (RFC 7009, section 2.2).
    EmptyOk,
}

use Rejection::{EmptyOk, Error, Page, Problem, Redirect, Tool};

/// Two sign-ins in progress, an agent with a grant, and an endpoint of another account.
struct Fixture {
    api: Api,
    id: String,
    client: String,
    other_client: String,
    /// The victim's browser, which shows the consent page.
    victim: Browser,
    grant: String,
    /// The attacker's browser, with its own sign-in in progress.
    attacker: Browser,
    attacker_request: String,
    agent: Agent,
    /// A code that the victim's agent has not exchanged yet.
    code: String,
    /// An agent with read access only.
    reader: Agent,
    /// An agent whose client id is the URL of a metadata document, and therefore the same at every
    /// endpoint.
    published: Agent,
    /// A code for the client of `published` that has not been exchanged yet.
    published_code: String,
    /// Another account's endpoint, client and key.
    other_endpoint: String,
    stranger: String,
    foreign_key: ApiKey,
}

/// Makes other servers return this metadata document.
fn publish(api: &Api, document: &Value) {
    let document = document.clone();
    *api.env.platform.borrow_mut() =
        Box::new(move |_| -> Result<HttpResponse, _> { response(200, &document) });
}

/// The metadata document of a valid client.
fn metadata() -> Value {
    json!({"client_id": DOCUMENT, "client_name": "Example", "redirect_uris": [CALLBACK]})
}

impl Fixture {
    fn new() -> Self {
        let (api, id) = app();
        let agent = Agent::new(&api, &id, &ALL);
        let client = register(&api, &id);
        let made = with_body(
            anonymous("POST", &format!("/mcp/{id}/register")),
            &json!({"client_name": "Evil", "redirect_uris": ["https://evil.example/cb"]})
                .to_string(),
        );
        let other_client = body(&api.send(&made))["client_id"].as_str().unwrap().to_owned();
        let code = consent_code(&api, &id, &client, &ALL);
        let (victim, page) = open_consent_page(&api, &id, &client, &json!({}));
        let grant = hidden_field(&page, "grant");
        let attacker = Browser::default();
        let attacker_request = start_app_sign_in(&api, &id, &attacker, &client);
        let reader = Agent::new(&api, &id, &[("access", "read"), ("accounts", "all")]);
        publish(&api, &metadata());
        let client_id = DOCUMENT.to_owned();
        let first = consent_code(&api, &id, DOCUMENT, &ALL);
        let issued = body(&exchange(&api, &id, DOCUMENT, &first));
        let token = |name: &str| issued[name].as_str().unwrap().to_owned();
        let published = Agent {
            client: client_id,
            access: token("access_token"),
            refresh: token("refresh_token"),
        };
        let published_code = consent_code(&api, &id, DOCUMENT, &ALL);
        let foreign_key = api.env.key("rival", Environment::Test, &Scope::ALL, None);
        let configured = with_body(
            as_key(&foreign_key, "PUT", "/v1/agent-sign-in"),
            &json!({"type": "app", "url": APP}).to_string(),
        );
        let other_endpoint = id_of(&body(&api.send(&configured)));
        let stranger = register(&api, &other_endpoint);
        api.mark_key_used(&foreign_key);
        Self {
            api,
            id,
            client,
            other_client,
            victim,
            grant,
            attacker,
            attacker_request,
            agent,
            code,
            reader,
            published,
            published_code,
            other_endpoint,
            stranger,
            foreign_key,
        }
    }

    fn at(&self, endpoint: &str) -> String {
        format!("/mcp/{}/{endpoint}", self.id)
    }

    fn authorize(&self, client: &str, extra: &[(&str, &str)]) -> Request {
        Browser::default().request(
            "GET",
            &format!("{}?{}", self.at("authorize"), authorization_query(client, extra)),
        )
    }

    fn token(&self, extra: &[(&str, &str)]) -> Request {
        let mut all = vec![
            ("grant_type", "authorization_code"),
            ("client_id", self.client.as_str()),
            ("code", self.code.as_str()),
            ("code_verifier", VERIFIER),
            ("redirect_uri", CALLBACK),
        ];
        for (name, value) in extra {
            all.retain(|(known, _)| known != name);
            if !value.is_empty() {
                all.push((name, value));
            }
        }
        with_form(anonymous("POST", &self.at("token")), &form(&all))
    }

    fn refresh(&self, client: &str, token: &str, extra: &[(&str, &str)]) -> Request {
        let fields = [
            &[("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)][..],
            extra,
        ];
        with_form(anonymous("POST", &self.at("token")), &form(&fields.concat()))
    }

    fn register(&self, document: &Value) -> Request {
        with_body(anonymous("POST", &self.at("register")), &document.to_string())
    }

    fn consent(&self, browser: &Browser, origin: Option<&str>, fields: &[(&str, &str)]) -> Request {
        let mut request = browser.request("POST", &self.at("consent"));
        if let Some(origin) = origin {
            request = with_header(request, "origin", origin);
            let site = if origin == ORIGIN { "same-origin" } else { "cross-site" };
            request = with_header(request, "sec-fetch-site", site);
        }
        with_form(request, &form(fields))
    }
}

/// Returns a tool call with this access token.
fn tool_request(path: &str, token: &str) -> Request {
    call_request(path, token, "list_connections", &json!({}))
}

/// Describes how a response differs from the expected refusal. Returns `None` if it matches.
fn describe_mismatch(response: &Response, refusal: Rejection) -> Option<String> {
    let page_text = text(response);
    let found = (response.status, response.header("location"));
    let is_refused = match refusal {
        Page(status) => {
            let policy = response.header("content-security-policy").unwrap_or_default();
            found == (status, None)
                && page_text.starts_with("<!doctype html>")
                && policy.contains("frame-ancestors 'none'")
        }
        Error(status, code) => {
            found == (status, None) && error(response) == (status, code.to_owned())
        }
        Redirect(code) => {
            let (address, query) = found.1.and_then(|url| url.split_once('?')).unwrap_or_default();
            let back = pairs(query);
            found.0 == 303
                && address == CALLBACK
                && value_of(&back, "error").as_deref() == Some(code)
                && value_of(&back, "code").is_none()
                && value_of(&back, "iss").is_some()
        }
        Problem(status) => found == (status, None),
        Tool(code) => {
            let result = &body(response)["result"];
            found == (200, None)
                && result["isError"] == true
                && result["structuredContent"]["code"] == code
        }
        EmptyOk => found == (200, None) && page_text.is_empty(),
    };
    let leaks = ["\"access_token", "\"refresh_token\"", "\"continueUrl"];
    let is_quiet = response.header("set-cookie").is_none()
        && !leaks.iter().any(|word| page_text.contains(word));
    (!is_refused || !is_quiet).then(|| format!("{refusal:?}, not {found:?}: {page_text}"))
}

#[test]
fn attacks_are_refused_and_change_nothing() {
    let fixture = Fixture::new();
    let mut attacks = authorization(&fixture);
    attacks.extend(registration(&fixture));
    attacks.extend(tokens(&fixture));
    attacks.extend(consent_attacks(&fixture));
    attacks.extend(calls(&fixture));
    attacks.extend(metadata_attacks(&fixture));
    attacks.extend(app_attacks(&fixture));
    attacks.extend(revocation_attacks(&fixture));
    assert!(attacks.len() >= 170, "{}", attacks.len());
    let mut before = fixture.api.env.dump();
    let sent = || fixture.api.env.sent.borrow().len();
    let sent_before = sent();
    let mut faults = Vec::new();
    for (what, request, refusal) in &attacks {
        let describe_mismatch = describe_mismatch(&fixture.api.send(request), *refusal);
        faults.extend(
            describe_mismatch.map(|describe_mismatch| format!("{what}: {describe_mismatch}")),
        );
        let after = fixture.api.env.dump();
        if after != before {
            faults.push(format!("{what}: something has changed"));
            before = after;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(sent(), sent_before, "a request reached another server");
    // None of the attacks prevents the legitimate sign-in.
    assert_eq!(fixture.api.send(&fixture.token(&[])).status, 200);
    let own = call_request(
        &format!("/mcp/{}", fixture.id),
        &fixture.agent.access,
        "list_connections",
        &json!({}),
    );
    assert_eq!(fixture.api.send(&own).status, 200);
    let fields = [("grant", fixture.grant.as_str()), ("decision", "allow"), ("accounts", "all")];
    assert_eq!(fixture.victim.decide(&fixture.api, &fixture.id, &fields).status, 303);
}

#[test]
fn replaying_a_stolen_secret_revokes_the_grant() {
    let replay = |request: Request, fixture: &Fixture| {
        let response = fixture.api.send(&request);
        assert_eq!(describe_mismatch(&response, Error(400, "invalid_grant")), None);
    };
    // The agent and the thief exchange the same code.
    let fixture = Fixture::new();
    let tokens = body(&fixture.api.send(&fixture.token(&[])));
    replay(fixture.token(&[]), &fixture);
    let access = tokens["access_token"].as_str().unwrap();
    let own = format!("/mcp/{}", fixture.id);
    assert_eq!(fixture.api.send(&tool_request(&own, access)).status, 401);
    // The thief uses a refresh token that is older than the last permitted generation.
    let fixture = Fixture::new();
    let Agent { client, refresh, .. } = &fixture.agent;
    let mut token = refresh.clone();
    for _ in 0..3 {
        let next = body(&fixture.api.send(&fixture.refresh(client, &token, &[])));
        token = next["refresh_token"].as_str().unwrap().to_owned();
    }
    replay(fixture.refresh(client, refresh, &[]), &fixture);
    replay(fixture.refresh(client, &token, &[]), &fixture);
}

#[test]
fn a_revoked_key_stops_every_step() {
    let fixture = Fixture::new();
    let fields = [("grant", fixture.grant.as_str()), ("decision", "allow"), ("accounts", "all")];
    let link = {
        let browser = Browser::default();
        let request = start_app_sign_in(&fixture.api, &fixture.id, &browser, &fixture.client);
        let url = authenticate_user(&fixture.api, &request, &json!({}));
        browser.request("GET", &url)
    };
    fixture.api.env.revoke(&fixture.api.key);
    let before = fixture.api.env.dump();
    let grant = Error(400, "invalid_grant");
    let sent = json!({"request": fixture.attacker_request, "identity": "ann"}).to_string();
    for (what, request, refusal) in [
        ("the link of the app", link, Page(410)),
        ("consent", fixture.consent(&fixture.victim, Some(ORIGIN), &fields), Page(410)),
        ("the code", fixture.token(&[]), grant),
        (
            "the refresh token",
            fixture.refresh(&fixture.agent.client, &fixture.agent.refresh, &[]),
            grant,
        ),
        (
            "the access token",
            tool_request(&format!("/mcp/{}", fixture.id), &fixture.agent.access),
            Problem(401),
        ),
        (
            "the app",
            with_body(fixture.api.request("POST", "/v1/agent-grants"), &sent),
            Problem(401),
        ),
    ] {
        assert_eq!(describe_mismatch(&fixture.api.send(&request), refusal), None, "{what}");
        assert_eq!(fixture.api.env.dump(), before, "{what}");
    }
}

#[test]
fn metadata_documents_cannot_impersonate_other_clients() {
    let (api, id) = app();
    let with = |name: &str, value: Value| {
        let mut document = metadata();
        document[name] = value;
        document
    };
    for document in [
        with("client_id", json!("https://bank.example/client.json")),
        with("client_id", json!("https://AGENT.example/client.json")),
        with("client_id", json!("https://agent.example:443/client.json")),
        with("client_id", json!([DOCUMENT])),
        with("client_id", Value::Null),
        with("redirect_uris", json!(["javascript:alert(1)"])),
        with("redirect_uris", json!([CALLBACK, "http://evil.example/cb"])),
        with("redirect_uris", json!([])),
        with("redirect_uris", json!(CALLBACK)),
        with("redirect_uris", json!(["http://localhost:3334/other"])),
        with("grant_types", json!(["client_credentials"])),
        with("response_types", json!(["token"])),
        with("token_endpoint_auth_method", json!("client_secret_basic")),
        with("client_name", json!("x".repeat(6000))),
        json!([metadata()]),
        json!("x"),
    ] {
        let before = api.env.dump();
        publish(&api, &document);
        let request = Browser::default()
            .request("GET", &format!("/mcp/{id}/authorize?{}", authorization_query(DOCUMENT, &[])));
        assert_eq!(describe_mismatch(&api.send(&request), Page(400)), None, "{document}");
        assert_eq!(api.env.dump(), before, "{document}");
    }
    // The consent page shows the host of the client id, regardless of the name in the metadata
    // document.
    api.env.wait(10 * 60 * 1000 + 1);
    publish(
        &api,
        &with("client_name", json!("Claude”, published by bank.example\n\u{202e}“Really\u{2028}")),
    );
    let (_, page) = open_consent_page(&api, &id, DOCUMENT, &json!({}));
    let html = text(&page);
    for shown in [
        "Let “Claude, published by bank.exampleReally” use",
        "<dd>“Claude, published by bank.exampleReally” (this name is not verified)</dd>",
        "<dt>Published by</dt><dd>agent.example</dd>",
    ] {
        assert!(html.contains(shown), "{shown} is not in {html}");
    }
}

#[test]
fn a_user_ends_several_grants_at_once() {
    let (api, id) = app();
    let agents = [(); 3].map(|()| Agent::new(&api, &id, &ALL));
    let (browser, page) = open_consent_page(&api, &id, &agents[0].client, &json!({}));
    let html = text(&page);
    let earlier: Vec<&str> = html
        .split("name=\"end\" value=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(earlier.len(), 3, "{html}");
    let grant = hidden_field(&page, "grant");
    let fields = [
        ("grant", grant.as_str()),
        ("decision", "decline"),
        ("end", earlier[0]),
        ("end", earlier[1]),
    ];
    assert_eq!(browser.decide(&api, &id, &fields).status, 303);
    let remaining_agents = agents
        .iter()
        .filter(|agent| agent.call(&api, &id, "list_connections", &json!({})).status == 200);
    assert_eq!(remaining_agents.count(), 1);
}

#[test]
fn a_flood_with_a_client_id_does_not_block_refreshes() {
    let fixture = Fixture::new();
    let counted = |request: &Request| {
        fixture.api.env.counted_by.take();
        fixture.api.send(request);
        fixture.api.env.counted_by.take()
    };
    let Agent { client, refresh, .. } = &fixture.published;
    let (own, flood) = (
        counted(&fixture.refresh(client, refresh, &[])),
        counted(&fixture.token(&[("client_id", client)])),
    );
    assert!(own.is_some() && flood.is_some() && own != flood);
    // A request that needs no storage does not count towards a rate limit.
    assert_eq!(counted(&fixture.refresh(client, "rt_x.y", &[])), None);
    // A request with an invalid code does not count towards a rate limit either.
    assert_eq!(counted(&fixture.token(&[("client_id", client), ("code", "x")])), None);
    let other = counted(&fixture.refresh(&fixture.agent.client, &fixture.agent.refresh, &[]));
    assert!(other.is_some() && other != own);
}
