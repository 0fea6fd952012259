//! Attacks on the endpoints of sign-in, each with the refusal that it gets. After each of them, the database holds what it held
//! before, no token was issued, and nobody was sent to another site than the client's.

use connector_vault::api::{Request, Response};
use serde_json::{Value, json};

use super::*;
use crate::support::with_body;

/// What an attack meets.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    /// A page with this status, and no redirect.
    Page(u16),
    /// An OAuth error as JSON, with this status.
    Error(u16, &'static str),
    /// An OAuth error that the client gets at its own redirect URI.
    Back(&'static str),
    /// A problem of the API, with this status.
    Problem(u16),
}

use Refusal::{Back, Error, Page, Problem};

/// Two sign-ins in progress, a granted agent, and another account's endpoint.
struct Scene {
    api: Api,
    id: String,
    client: String,
    other_client: String,
    /// The victim's browser, at its consent page.
    victim: Browser,
    grant: String,
    /// The attacker's browser, with a sign-in of its own under way.
    attacker: Browser,
    attacker_request: String,
    agent: Agent,
    /// A code that the victim's agent has not exchanged.
    code: String,
}

impl Scene {
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
        let code = agreed(&api, &id, &client, &ALL);
        let (victim, page) = at_consent(&api, &id, &client, &json!({}));
        let grant = hidden(&page, "grant");
        let attacker = Browser::default();
        let attacker_request = sent_to_app(&api, &id, &attacker, &client);
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
        }
    }

    fn at(&self, endpoint: &str) -> String {
        format!("/mcp/{}/{endpoint}", self.id)
    }

    fn authorize(&self, client: &str, more: &[(&str, &str)]) -> Request {
        Browser::default()
            .request("GET", &format!("{}?{}", self.at("authorize"), asking(client, more)))
    }

    fn token(&self, more: &[(&str, &str)]) -> Request {
        let mut all = vec![
            ("grant_type", "authorization_code"),
            ("client_id", self.client.as_str()),
            ("code", self.code.as_str()),
            ("code_verifier", VERIFIER),
            ("redirect_uri", CALLBACK),
        ];
        for (name, value) in more {
            all.retain(|(known, _)| known != name);
            if !value.is_empty() {
                all.push((name, value));
            }
        }
        with_form(anonymous("POST", &self.at("token")), &form(&all))
    }

    fn refresh(&self, client: &str, token: &str, more: &[(&str, &str)]) -> Request {
        let fields = [
            &[("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)][..],
            more,
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

    fn call(&self, path: &str, token: &str) -> Request {
        calling(path, token, "list_connections", &json!({}))
    }
}

fn authorization(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let client = scene.client.as_str();
    let ask = |more: &[(&str, &str)]| scene.authorize(client, more);
    let uri = |uri: &str| ask(&[("redirect_uri", uri)]);
    let long = "s".repeat(1025);
    let doubled = |more: &str| {
        let query = asking(client, &[]);
        anonymous("GET", &format!("{}?{query}&{more}", scene.at("authorize")))
    };
    vec![
        ("an unknown client", scene.authorize("nobody", &[]), Page(400)),
        ("no client", scene.authorize("", &[]), Page(400)),
        (
            "a registration with another signature",
            scene.authorize(&format!("{client}A"), &[]),
            Page(400),
        ),
        ("the redirect URI of another site", uri("https://evil.example/cb"), Page(400)),
        ("no redirect URI", uri(""), Page(400)),
        ("another path on the machine", uri("http://localhost:3334/evil"), Page(400)),
        (
            "a host behind user information",
            uri("http://localhost:1@evil.example/oauth/callback"),
            Page(400),
        ),
        (
            "a host that begins like the machine's",
            uri("http://localhost.evil.example:3334/oauth/callback"),
            Page(400),
        ),
        ("another spelling of the machine", uri("http://127.0.0.1:3334/oauth/callback"), Page(400)),
        ("the redirect URI with a query", uri(&format!("{CALLBACK}?x=1")), Page(400)),
        ("the redirect URI with a fragment", uri(&format!("{CALLBACK}#x")), Page(400)),
        (
            "the redirect URI with dots",
            uri("http://localhost:3334/oauth/../oauth/callback"),
            Page(400),
        ),
        ("the redirect URI in upper case", uri("HTTP://LOCALHOST:3334/oauth/callback"), Page(400)),
        ("a script as redirect URI", uri("javascript:alert(1)"), Page(400)),
        ("two redirect URIs", doubled("redirect_uri=https%3A%2F%2Fevil.example"), Page(400)),
        ("two clients", doubled(&format!("client_id={}", encode(&scene.other_client))), Page(400)),
        (
            "the redirect URI of another client",
            scene.authorize(&scene.other_client, &[]),
            Page(400),
        ),
        (
            "a token without a code",
            ask(&[("response_type", "token")]),
            Back("unsupported_response_type"),
        ),
        (
            "an ID token without a code",
            ask(&[("response_type", "code id_token")]),
            Back("unsupported_response_type"),
        ),
        ("no PKCE", ask(&[("code_challenge", "")]), Back("invalid_request")),
        (
            "PKCE that reveals the verifier",
            ask(&[("code_challenge_method", "plain")]),
            Back("invalid_request"),
        ),
        ("PKCE without a method", ask(&[("code_challenge_method", "")]), Back("invalid_request")),
        (
            "a challenge that is too short",
            ask(&[("code_challenge", "abc")]),
            Back("invalid_request"),
        ),
        ("more access than there is", ask(&[("scope", "admin")]), Back("invalid_scope")),
        (
            "a token for another resource",
            ask(&[("resource", "https://evil.example/mcp")]),
            Back("invalid_target"),
        ),
        (
            "a token for another endpoint",
            ask(&[("resource", &format!("{ORIGIN}/mcp/other"))]),
            Back("invalid_target"),
        ),
        ("a state that fills a row", ask(&[("state", &long)]), Back("invalid_request")),
        (
            "an endpoint that does not exist",
            anonymous("GET", &format!("/mcp/unknown/authorize?{}", asking(client, &[]))),
            Problem(404),
        ),
    ]
}

fn registration(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let of = |uris: Value| scene.register(&json!({"client_name": "Evil", "redirect_uris": uris}));
    let wrong_uri = Error(400, "invalid_redirect_uri");
    let many: Vec<String> = (0..200).map(|nth| format!("https://a.example/{nth}")).collect();
    vec![
        ("a client of plain HTTP", of(json!(["http://evil.example/cb"])), wrong_uri),
        ("a script", of(json!(["javascript:alert(1)"])), wrong_uri),
        ("data", of(json!(["data:text/html,x"])), wrong_uri),
        ("a fragment", of(json!(["https://evil.example/cb#x"])), wrong_uri),
        ("no redirect URI", of(json!([])), wrong_uri),
        ("too many redirect URIs", of(json!(many)), wrong_uri),
        ("a redirect URI that is no text", of(json!([1])), Error(400, "invalid_client_metadata")),
        ("user information", of(json!(["https://bank.example@evil.example/cb"])), wrong_uri),
        (
            "the implicit grant",
            scene.register(&json!({"redirect_uris": [CALLBACK], "grant_types": ["implicit"]})),
            Error(400, "invalid_client_metadata"),
        ),
        (
            "a text that is no JSON",
            with_body(anonymous("POST", &scene.at("register")), "{"),
            Error(400, "invalid_client_metadata"),
        ),
        (
            "a list instead of metadata",
            scene.register(&json!([])),
            Error(400, "invalid_client_metadata"),
        ),
    ]
}

fn tokens(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let grant = Error(400, "invalid_grant");
    let request = Error(400, "invalid_request");
    let Agent { client, access, refresh } = &scene.agent;
    let code = |more: &[(&str, &str)]| scene.token(more);
    let twice = |name: &str, value: &str| {
        let request = code(&[]);
        let form = String::from_utf8(match &request.body {
            connector_vault::api::message::Body::Whole(bytes) => bytes.clone(),
            _ => panic!("no body"),
        })
        .unwrap();
        with_form(
            anonymous("POST", &scene.at("token")),
            &format!("{form}&{name}={}", encode(value)),
        )
    };
    let changed = format!("{}x", refresh.strip_suffix(|_| true).unwrap());
    vec![
        ("a stolen code without its verifier", code(&[("code_verifier", &"x".repeat(43))]), grant),
        ("a stolen code with no verifier", code(&[("code_verifier", "")]), request),
        ("a verifier that is too short", code(&[("code_verifier", "abc")]), request),
        ("a stolen code of another client", code(&[("client_id", &scene.other_client)]), grant),
        ("a code without a client", code(&[("client_id", "")]), request),
        (
            "a code for another redirect URI",
            code(&[("redirect_uri", "http://localhost:1/oauth/callback")]),
            grant,
        ),
        ("a made-up code", code(&[("code", &"y".repeat(43))]), grant),
        ("SQL as a code", code(&[("code", "' OR 1=1 --")]), grant),
        ("the id of a grant as its code", code(&[("code", &scene.grant)]), grant),
        ("no code", code(&[("code", "")]), request),
        ("two codes", twice("code", "z"), request),
        ("two clients", twice("client_id", &scene.other_client), request),
        (
            "a token for another resource",
            code(&[("resource", "https://evil.example")]),
            Error(400, "invalid_target"),
        ),
        ("a password", code(&[("grant_type", "password")]), Error(400, "unsupported_grant_type")),
        (
            "a client without a user",
            code(&[("grant_type", "client_credentials")]),
            Error(400, "unsupported_grant_type"),
        ),
        (
            "a device",
            code(&[("grant_type", "urn:ietf:params:oauth:grant-type:device_code")]),
            Error(400, "unsupported_grant_type"),
        ),
        (
            "JSON instead of a form",
            with_body(
                anonymous("POST", &scene.at("token")),
                &json!({"grant_type": "authorization_code"}).to_string(),
            ),
            request,
        ),
        (
            "a refresh token of another client",
            scene.refresh(&scene.other_client, refresh, &[]),
            grant,
        ),
        (
            "a refresh token of no client",
            scene.refresh("nobody", refresh, &[]),
            Error(400, "invalid_client"),
        ),
        ("a refresh token with another signature", scene.refresh(client, &changed, &[]), grant),
        ("an access token as refresh token", scene.refresh(client, access, &[]), grant),
        ("a request as refresh token", scene.refresh(client, &scene.attacker_request, &[]), grant),
        ("a client as refresh token", scene.refresh(client, client, &[]), grant),
        ("no refresh token", scene.refresh(client, "", &[]), request),
        (
            "a refresh for more access",
            scene.refresh(client, refresh, &[("scope", "admin")]),
            Error(400, "invalid_scope"),
        ),
        (
            "a refresh for another resource",
            scene.refresh(client, refresh, &[("resource", "https://evil.example")]),
            Error(400, "invalid_target"),
        ),
        (
            "a refresh token at an endpoint that does not exist",
            with_form(
                anonymous("POST", "/mcp/unknown/token"),
                &form(&[("grant_type", "refresh_token")]),
            ),
            Problem(404),
        ),
    ]
}

fn consents(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let fields = [("grant", scene.grant.as_str()), ("decision", "allow"), ("accounts", "all")];
    let evil = Some("https://evil.example");
    let own = Some(ORIGIN);
    let some = [&fields[..2], &[("accounts", "some")]].concat();
    let foreign = [&some[..], &[("platform", "'; DROP TABLE x")]].concat();
    let unknown = [("grant", "00000000-0000-4000-8000-000000000000"), ("decision", "allow")];
    let none = [("decision", "allow")];
    let continued = |query: &str| anonymous("GET", &format!("{}?{query}", scene.at("continue")));
    vec![
        ("a form of another site", scene.consent(&scene.victim, evil, &fields), Page(403)),
        (
            "a form of a frame without an origin",
            scene.consent(&scene.victim, Some("null"), &fields),
            Page(403),
        ),
        (
            "a form of a program without an origin",
            scene.consent(&scene.victim, None, &fields),
            Page(403),
        ),
        (
            "the victim's consent from the attacker's browser",
            scene.consent(&scene.attacker, own, &fields),
            Page(410),
        ),
        ("consent without a cookie", scene.consent(&Browser::default(), own, &fields), Page(410)),
        (
            "consent to a grant that does not exist",
            scene.consent(&scene.victim, own, &unknown),
            Page(410),
        ),
        ("consent to nothing", scene.consent(&scene.victim, own, &none), Page(410)),
        ("no platform at all", scene.consent(&scene.victim, own, &some), Page(400)),
        ("a platform that is none", scene.consent(&scene.victim, own, &foreign), Page(400)),
        (
            "declining for the victim",
            scene.consent(
                &scene.attacker,
                own,
                &[("grant", &scene.grant), ("decision", "decline")],
            ),
            Page(410),
        ),
        ("a made-up link", continued(&format!("grant={}", "x".repeat(43))), Page(410)),
        ("the id of a grant as a link", continued(&format!("grant={}", scene.grant)), Page(410)),
        ("a link without its secret", continued("grant="), Page(410)),
        (
            "the attacker's callback with a made-up code",
            scene.attacker.request("GET", &format!("{}?code=x&state=y", scene.at("callback"))),
            Page(410),
        ),
    ]
}

fn calls(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let own = format!("/mcp/{}", scene.id);
    let access = &scene.agent.access;
    let mut parts: Vec<&str> = access.split('.').collect();
    parts[1] = "AAAA";
    let changed = parts.join(".");
    vec![
        ("an access token at the plain address", scene.call("/mcp", access), Problem(401)),
        ("an access token at another endpoint", scene.call("/mcp/other", access), Problem(401)),
        ("an access token with another signature", scene.call(&own, &changed), Problem(401)),
        ("a refresh token as access token", scene.call(&own, &scene.agent.refresh), Problem(401)),
        ("a code as access token", scene.call(&own, &scene.code), Problem(401)),
        ("an API key at an endpoint", scene.call(&own, scene.api.key.reveal()), Problem(401)),
        (
            "an access token at the API",
            crate::support::as_secret(access, "GET", "/v1/vault/connections"),
            Problem(401),
        ),
        (
            "an access token that creates tokens",
            with_body(
                crate::support::as_secret(access, "POST", "/v1/sessions"),
                "{\"identity\":\"bob\"}",
            ),
            Problem(401),
        ),
    ]
}

/// What is wrong with an answer to an attack. Returns `None` for the expected refusal.
fn fault(response: &Response, refusal: Refusal) -> Option<String> {
    let said = text(response);
    let found = (response.status, response.header("location"));
    let is_refused = match refusal {
        Page(status) => {
            let policy = response.header("content-security-policy").unwrap_or_default();
            found == (status, None)
                && said.starts_with("<!doctype html>")
                && policy.contains("frame-ancestors 'none'")
        }
        Error(status, code) => {
            found == (status, None) && error(response) == (status, code.to_owned())
        }
        Back(code) => {
            let (address, query) = found.1.and_then(|url| url.split_once('?')).unwrap_or_default();
            let back = pairs(query);
            found.0 == 303
                && address == CALLBACK
                && value_of(&back, "error").as_deref() == Some(code)
                && value_of(&back, "code").is_none()
                && value_of(&back, "iss").is_some()
        }
        Problem(status) => found == (status, None),
    };
    let leaks = ["\"access_token", "\"refresh_token\"", "\"continueUrl"];
    let is_quiet =
        response.header("set-cookie").is_none() && !leaks.iter().any(|word| said.contains(word));
    (!is_refused || !is_quiet).then(|| format!("{refusal:?}, not {found:?}: {said}"))
}

#[test]
fn each_attack_on_the_sign_in_gets_its_refusal_and_changes_nothing() {
    let scene = Scene::new();
    let mut attacks = authorization(&scene);
    attacks.extend(registration(&scene));
    attacks.extend(tokens(&scene));
    attacks.extend(consents(&scene));
    attacks.extend(calls(&scene));
    assert!(attacks.len() >= 80, "{}", attacks.len());
    let before = scene.api.world.dump();
    let mut faults = Vec::new();
    for (what, request, refusal) in &attacks {
        let fault = fault(&scene.api.send(request), *refusal);
        faults.extend(fault.map(|fault| format!("{what}: {fault}")));
        if scene.api.world.dump() != before {
            faults.push(format!("{what}: something has changed"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // Nothing of that was in the way of those who sign in.
    assert_eq!(scene.api.send(&scene.token(&[])).status, 200);
    let own =
        calling(&format!("/mcp/{}", scene.id), &scene.agent.access, "list_connections", &json!({}));
    assert_eq!(scene.api.send(&own).status, 200);
    let fields = [("grant", scene.grant.as_str()), ("decision", "allow"), ("accounts", "all")];
    assert_eq!(scene.victim.decide(&scene.api, &scene.id, &fields).status, 303);
}

#[test]
fn what_is_stolen_and_used_a_second_time_ends_the_grant() {
    let replay = |request: Request, scene: &Scene| {
        let response = scene.api.send(&request);
        assert_eq!(fault(&response, Error(400, "invalid_grant")), None);
    };
    // A code that both of them exchange.
    let scene = Scene::new();
    let tokens = body(&scene.api.send(&scene.token(&[])));
    replay(scene.token(&[]), &scene);
    let access = tokens["access_token"].as_str().unwrap();
    let own = format!("/mcp/{}", scene.id);
    assert_eq!(scene.api.send(&scene.call(&own, access)).status, 401);
    // A refresh token that is older than the rotation allows.
    let scene = Scene::new();
    let Agent { client, refresh, .. } = &scene.agent;
    let mut token = refresh.clone();
    for _ in 0..3 {
        let next = body(&scene.api.send(&scene.refresh(client, &token, &[])));
        token = next["refresh_token"].as_str().unwrap().to_owned();
    }
    replay(scene.refresh(client, refresh, &[]), &scene);
    replay(scene.refresh(client, &token, &[]), &scene);
}
