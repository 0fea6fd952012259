//! Attacks on the endpoints of sign-in, each with the refusal that it gets. After each of them, the database holds what it held
//! before, no token was issued, no user was sent to another site than the client's, and no other server was called.

use connector_vault::agents::refresh::RefreshToken;
use connector_vault::auth::key::ApiKey;
use connector_vault::auth::token::SessionSecrets;
use connector_vault::http::{Request, Response};
use connector_vault::ports::HttpResponse;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use super::*;
use crate::connect::answer;
use crate::support::{as_key, as_secret, with_body};

/// The address of a metadata document.
const DOCUMENT: &str = "https://agent.example/client.json";

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
    /// 200 and nothing else: the response does not reveal whether the token was valid (RFC 7009, section 2.2).
    Silence,
}

use Refusal::{Back, Error, Page, Problem, Silence};

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
    /// An agent that may only read.
    reader: Agent,
    /// The agent of a client with a metadata document, which is the same client at every endpoint.
    published: Agent,
    /// Its code that was not exchanged.
    published_code: String,
    /// The endpoint of another account, its client, and its key.
    elsewhere: String,
    stranger: String,
    foreign_key: ApiKey,
}

/// The client that publishes this document.
fn publish(api: &Api, document: &Value) {
    let document = document.clone();
    *api.world.platform.borrow_mut() =
        Box::new(move |_| -> Result<HttpResponse, _> { answer(200, &document) });
}

/// The metadata of a good client.
fn metadata() -> Value {
    json!({"client_id": DOCUMENT, "client_name": "Example", "redirect_uris": [CALLBACK]})
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
        let reader = Agent::new(&api, &id, &[("access", "read"), ("accounts", "all")]);
        publish(&api, &metadata());
        let client_id = DOCUMENT.to_owned();
        let first = agreed(&api, &id, DOCUMENT, &ALL);
        let issued = body(&exchange(&api, &id, DOCUMENT, &first));
        let token = |name: &str| issued[name].as_str().unwrap().to_owned();
        let published = Agent {
            client: client_id,
            access: token("access_token"),
            refresh: token("refresh_token"),
        };
        let published_code = agreed(&api, &id, DOCUMENT, &ALL);
        let foreign_key = api.world.key("rival", Environment::Test, &Scope::ALL, None);
        let configured = with_body(
            as_key(&foreign_key, "PUT", "/v1/agent-sign-in"),
            &json!({"type": "app", "url": APP}).to_string(),
        );
        let elsewhere = id_of(&body(&api.send(&configured)));
        let stranger = register(&api, &elsewhere);
        api.use_key(&foreign_key);
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
            elsewhere,
            stranger,
            foreign_key,
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
}

/// The request of a call with an access token.
fn request_of(path: &str, token: &str) -> Request {
    calling(path, token, "list_connections", &json!({}))
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn authorization(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let client = scene.client.as_str();
    let ask = |more: &[(&str, &str)]| scene.authorize(client, more);
    let uri = |uri: &str| ask(&[("redirect_uri", uri)]);
    let long = "s".repeat(1025);
    let opener = |uri: &str| {
        let made = with_body(
            anonymous("POST", &scene.at("register")),
            &json!({"redirect_uris": [uri]}).to_string(),
        );
        let client = body(&scene.api.send(&made))["client_id"].as_str().unwrap().to_owned();
        scene.authorize(&client, &[("redirect_uri", uri), ("response_type", "token")])
    };
    let open = |uri: &str, more: &[(&str, &str)]| {
        let wrong = [&[("redirect_uri", uri), ("response_type", "token")], more].concat();
        scene.authorize(&scene.other_client, &wrong)
    };
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
        // The client is valid, its request is not: users who have not signed in are not sent to a site that any client could register.
        ("the service as an open redirector", open("https://evil.example/cb", &[]), Page(400)),
        (
            "an open redirector, by another fault",
            open("https://evil.example/cb", &[("response_type", "code"), ("scope", "x")]),
            Page(400),
        ),
        ("a redirector to a program", opener("evil-program://x/y"), Page(400)),
        ("a client of another account", scene.authorize(&scene.stranger, &[]), Page(400)),
        ("a token as a client", scene.authorize(&scene.agent.refresh, &[]), Page(400)),
        ("a request as a client", scene.authorize(&scene.attacker_request, &[]), Page(400)),
        ("a line break in `state`", ask(&[("state", "a\r\nset-cookie: x=y")]), Page(400)),
        ("more parameters than there are", doubled(&many("x", 300)), Page(400)),
        ("two states", doubled("state=other"), Page(400)),
        ("two challenges", doubled(&format!("code_challenge={}", "z".repeat(43))), Page(400)),
        (
            "one resource of two that is another's",
            doubled(&format!("resource={}", encode("https://evil.example"))),
            Back("invalid_target"),
        ),
        (
            "a sign-in by a form, which another site could send",
            with_form(anonymous("POST", &scene.at("authorize")), &asking(client, &[])),
            Problem(405),
        ),
    ]
}

/// As many parameters.
fn many(name: &str, count: usize) -> String {
    (0..count).map(|nth| format!("{name}{nth}=1")).collect::<Vec<_>>().join("&")
}

/// IDs of clients that lead to addresses that must not be asked, or that look like the addresses of others.
fn documents(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    [
        ("the machine", "https://localhost/client.json"),
        ("the machine by its number", "https://127.0.0.1/client.json"),
        ("the machine by one number", "https://2130706433/client.json"),
        ("the machine in hexadecimal", "https://0x7f.0.0.1/client.json"),
        ("the machine in octal", "https://0177.0.0.1/client.json"),
        ("the machine by a short address", "https://127.1/client.json"),
        ("the machine in IPv6", "https://[::1]/client.json"),
        ("the machine as an IPv4 address in IPv6", "https://[::ffff:127.0.0.1]/client.json"),
        ("the cloud's metadata", "https://169.254.169.254/latest/meta-data"),
        ("the cloud's metadata by name", "https://metadata.google.internal/computeMetadata"),
        ("the network", "https://10.0.0.1/client.json"),
        ("a printer", "https://printer.local/client.json"),
        ("a host without a domain", "https://intranet/client.json"),
        ("another port", "https://agent.example:22/client.json"),
        ("plain HTTP", "http://agent.example/client.json"),
        ("a file", "file:///etc/passwd"),
        ("a host behind user information", "https://bank.example@evil.example/client.json"),
        ("a host behind a backslash", "https://bank.example\\@evil.example/client.json"),
        ("a host in another script", "https://b\u{430}nk.example/client.json"),
        ("dots", "https://bank.example/safe/../evil.json"),
        ("encoded dots", "https://bank.example/safe/%2e%2E/evil.json"),
        ("a query", "https://agent.example/redirect?to=https://evil.example"),
        ("a fragment", "https://agent.example/client.json#x"),
        ("no path", "https://agent.example"),
    ]
    .into_iter()
    .map(|(what, id)| (what, scene.authorize(id, &[]), Page(400)))
    .collect()
}

fn registration(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let of = |uris: Value| scene.register(&json!({"client_name": "Evil", "redirect_uris": uris}));
    let wrong_uri = Error(400, "invalid_redirect_uri");
    let long: Vec<String> =
        (0..10).map(|nth| format!("https://evil.example/{nth}{}", "x".repeat(480))).collect();
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
        ("a backslash", of(json!(["https://evil.example\\@bank.example/cb"])), wrong_uri),
        ("every host", of(json!(["https://*.example.com/cb"])), wrong_uri),
        ("a host in another script", of(json!(["https://b\u{430}nk.example/cb"])), wrong_uri),
        ("the network", of(json!(["https://10.0.0.1/cb"])), wrong_uri),
        ("the whole network", of(json!(["http://0.0.0.0:1/cb"])), wrong_uri),
        ("a machine of the network", of(json!(["http://localhost.evil.example/cb"])), wrong_uri),
        ("a script behind a blank", of(json!([" javascript:alert(1)"])), wrong_uri),
        ("a script in upper case", of(json!(["JAVASCRIPT:alert(1)"])), wrong_uri),
        ("a file", of(json!(["file:///etc/passwd"])), wrong_uri),
        ("a line break", of(json!(["https://evil.example/cb\r\nx: y"])), wrong_uri),
        ("one good URI and a bad one", of(json!([CALLBACK, "javascript:alert(1)"])), wrong_uri),
        ("an ID that fills a URL", of(json!(long)), wrong_uri),
        (
            "a form, which another site could send",
            with_form(anonymous("POST", &scene.at("register")), "redirect_uris=x"),
            Error(400, "invalid_client_metadata"),
        ),
        (
            "JSON that is nested without end",
            with_body(anonymous("POST", &scene.at("register")), &"[".repeat(60_000)),
            Error(400, "invalid_client_metadata"),
        ),
        (
            "an endpoint that does not exist",
            with_body(anonymous("POST", "/mcp/unknown/register"), "{}"),
            Problem(404),
        ),
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

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn tokens(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let grant = Error(400, "invalid_grant");
    let request = Error(400, "invalid_request");
    let Agent { client, access, refresh } = &scene.agent;
    let code = |more: &[(&str, &str)]| scene.token(more);
    let twice = |name: &str, value: &str| {
        let request = code(&[]);
        let form = String::from_utf8(match &request.body {
            connector_vault::http::message::Body::Whole(bytes) => bytes.clone(),
            _ => panic!("no body"),
        })
        .unwrap();
        with_form(
            anonymous("POST", &scene.at("token")),
            &format!("{form}&{name}={}", encode(value)),
        )
    };
    let changed = format!("{}x", refresh.strip_suffix(|_| true).unwrap());
    // What the token states, with another number of its generation and the signature that it had.
    let (signed, signature) = refresh.rsplit_once('.').unwrap();
    let stated = Base64UrlUnpadded::decode_vec(signed.strip_prefix("rt_").unwrap()).unwrap();
    let mut stated: RefreshToken = serde_json::from_slice(&stated).unwrap();
    stated.generation = 2;
    let restated = Base64UrlUnpadded::encode_string(&serde_json::to_vec(&stated).unwrap());
    let later = format!("rt_{restated}.{signature}");
    let guessed = stated.sign(&SessionSecrets::new(&"guessed ".repeat(5), "")).unwrap();
    let there = |kind: &str| {
        let fields = [
            ("grant_type", kind),
            ("client_id", DOCUMENT),
            ("code", &scene.published_code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", CALLBACK),
            ("refresh_token", &scene.published.refresh),
        ];
        let path = format!("/mcp/{}/token", scene.elsewhere);
        with_form(anonymous("POST", &path), &form(&fields))
    };
    vec![
        (
            "a code with the challenge as its verifier",
            code(&[("code_verifier", &challenge())]),
            grant,
        ),
        ("two codes that are the same", twice("code", &scene.code), request),
        ("more parameters than there are", twice(&many("x", 300), ""), request),
        (
            "a form that says it is plain text",
            with_header(anonymous("POST", &scene.at("token")), "content-type", "text/plain"),
            request,
        ),
        (
            "a code in an address, which logs keep",
            anonymous("GET", &format!("{}?code={}", scene.at("token"), scene.code)),
            Problem(405),
        ),
        ("a code at another account's endpoint", there("authorization_code"), grant),
        ("a refresh token at another account's endpoint", there("refresh_token"), grant),
        (
            "a client of another account",
            code(&[("client_id", &scene.stranger)]),
            Error(400, "invalid_client"),
        ),
        (
            "a code of a client with a metadata document, by another one",
            code(&[("client_id", "https://evil.example/client.json")]),
            grant,
        ),
        ("a refresh token of a later generation", scene.refresh(client, &later, &[]), grant),
        ("a refresh token that is signed by a guess", scene.refresh(client, &guessed, &[]), grant),
        (
            "a refresh token without a signature",
            scene.refresh(client, refresh.rsplit_once('.').unwrap().0, &[]),
            grant,
        ),
        (
            "a refresh for more than was granted",
            scene.refresh(&scene.reader.client, &scene.reader.refresh, &[("scope", "read write")]),
            Error(400, "invalid_scope"),
        ),
        (
            "a refresh token twice",
            scene.refresh(client, refresh, &[("refresh_token", refresh)]),
            request,
        ),
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
        ("a forged code", code(&[("code", &"y".repeat(43))]), grant),
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
            request,
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn consents(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let fields = [("grant", scene.grant.as_str()), ("decision", "allow"), ("accounts", "all")];
    let evil = Some("https://evil.example");
    let own = Some(ORIGIN);
    let some = [&fields[..2], &[("accounts", "some")]].concat();
    let foreign = [&some[..], &[("platform", "'; DROP TABLE x")]].concat();
    let unknown = [("grant", "00000000-0000-4000-8000-000000000000"), ("decision", "allow")];
    let none = [("decision", "allow")];
    let active = scene
        .api
        .world
        .texts("SELECT id FROM agent_grants WHERE state = 'active' ORDER BY created_at LIMIT 1");
    let active = active.first().cloned().unwrap();
    let own_page = |request: Request| {
        with_header(with_header(request, "origin", ORIGIN), "sec-fetch-site", "same-origin")
    };
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
        (
            "a form of a page below the service's own host",
            with_header(
                scene.consent(&scene.victim, None, &fields),
                "origin",
                &format!("{ORIGIN}.evil.example"),
            ),
            Page(403),
        ),
        (
            "a form of another page of the service's site",
            with_header(
                with_header(scene.consent(&scene.victim, None, &fields), "origin", ORIGIN),
                "sec-fetch-site",
                "same-site",
            ),
            Page(403),
        ),
        (
            "a link that agrees",
            scene.victim.request("GET", &format!("{}?{}", scene.at("consent"), form(&fields))),
            Problem(405),
        ),
        (
            "consent at another account's endpoint",
            with_form(
                own_page(
                    scene.victim.request("POST", &format!("/mcp/{}/consent", scene.elsewhere)),
                ),
                &form(&fields),
            ),
            Page(410),
        ),
        (
            "two grants in one form",
            scene.consent(
                &scene.victim,
                own,
                &[&fields[..], &[("grant", "00000000-0000-4000-8000-000000000000")]].concat(),
            ),
            Error(400, "invalid_request"),
        ),
        (
            "ending the victim's grants from the attacker's browser",
            scene.consent(&scene.attacker, own, &[&fields[..], &[("end", &active)]].concat()),
            Page(410),
        ),
        (
            "more parameters than the page has",
            scene.consent(&scene.victim, own, &[("platform", "acme"); 201]),
            Error(400, "invalid_request"),
        ),
        ("a forged link", continued(&format!("grant={}", "x".repeat(43))), Page(410)),
        ("the id of a grant as a link", continued(&format!("grant={}", scene.grant)), Page(410)),
        ("a link without its secret", continued("grant="), Page(410)),
        (
            "the attacker's callback with a forged code",
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
        ("an access token at the plain address", request_of("/mcp", access), Problem(401)),
        ("an access token at another endpoint", request_of("/mcp/other", access), Problem(401)),
        ("an access token with another signature", request_of(&own, &changed), Problem(401)),
        ("a refresh token as access token", request_of(&own, &scene.agent.refresh), Problem(401)),
        ("a code as access token", request_of(&own, &scene.code), Problem(401)),
        ("an API key at an endpoint", request_of(&own, scene.api.key.reveal()), Problem(401)),
        (
            "an access token at the API",
            as_secret(access, "GET", "/v1/vault/connections"),
            Problem(401),
        ),
        (
            "an access token at another account's endpoint",
            request_of(&format!("/mcp/{}", scene.elsewhere), access),
            Problem(401),
        ),
        (
            "the access token of a client with a metadata document, elsewhere",
            request_of(&format!("/mcp/{}", scene.elsewhere), &scene.published.access),
            Problem(401),
        ),
        (
            "an access token that is called from a page",
            with_header(request_of(&own, access), "origin", "https://evil.example"),
            Problem(403),
        ),
        (
            "more than an agent may that only reads",
            calling(&own, &scene.reader.access, "start_connect", &json!({"platform": "acme"})),
            Problem(403),
        ),
        (
            "an access token that reads what was granted",
            as_secret(access, "GET", "/v1/agent-grants"),
            Problem(401),
        ),
        (
            "an access token that creates tokens",
            with_body(as_secret(access, "POST", "/v1/sessions"), "{\"identity\":\"bob\"}"),
            Problem(401),
        ),
    ]
}

/// What an app, or another holder of a key or a token, must not do.
fn apps(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let path = "/v1/agent-grants";
    let sent = json!({"request": scene.attacker_request, "identity": "ann"}).to_string();
    let active = scene.api.world.texts("SELECT id FROM agent_grants WHERE state = 'active'");
    let one = format!("{path}/{}", active.first().unwrap());
    let changed = sent.replacen("ar_", "ar_A", 1);
    let token = sent.replacen(&scene.attacker_request, &scene.agent.refresh, 1);
    let key = &scene.foreign_key;
    vec![
        ("another account's app", with_body(as_key(key, "POST", path), &sent), Problem(400)),
        (
            "a request with another signature",
            with_body(scene.api.request("POST", path), &changed),
            Problem(400),
        ),
        (
            "a refresh token as a request",
            with_body(scene.api.request("POST", path), &token),
            Problem(400),
        ),
        ("an anonymous caller as an app", with_body(anonymous("POST", path), &sent), Problem(401)),
        (
            "an agent as an app",
            with_body(as_secret(&scene.agent.access, "POST", path), &sent),
            Problem(401),
        ),
        ("ending another account's grant", as_key(key, "DELETE", &one), Problem(404)),
        ("another account's grants", as_key(key, "GET", &one), Problem(405)),
    ]
}

/// Texts that end no grant here.
fn revocations(scene: &Scene) -> Vec<(&'static str, Request, Refusal)> {
    let at = |id: &str, token: &str| {
        let path = format!("/mcp/{id}/revoke");
        with_form(anonymous("POST", &path), &form(&[("token", token)]))
    };
    let id = scene.id.as_str();
    let grants = scene.api.world.texts("SELECT id FROM agent_grants");
    vec![
        ("revoking a forged token", at(id, "rt_x.y"), Silence),
        ("revoking by the id of a grant", at(id, grants.first().unwrap()), Silence),
        ("revoking by a code", at(id, &scene.code), Silence),
        ("revoking by a client", at(id, &scene.client), Silence),
        ("revoking at another endpoint", at(&scene.elsewhere, &scene.agent.refresh), Silence),
        (
            "revoking by an access token elsewhere",
            at(&scene.elsewhere, &scene.agent.access),
            Silence,
        ),
        ("revoking nothing", at(id, ""), Error(400, "invalid_request")),
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
        Silence => found == (200, None) && said.is_empty(),
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
    attacks.extend(documents(&scene));
    attacks.extend(apps(&scene));
    attacks.extend(revocations(&scene));
    assert!(attacks.len() >= 170, "{}", attacks.len());
    let mut before = scene.api.world.dump();
    let sent = || scene.api.world.sent.borrow().len();
    let asked = sent();
    let mut faults = Vec::new();
    for (what, request, refusal) in &attacks {
        let fault = fault(&scene.api.send(request), *refusal);
        faults.extend(fault.map(|fault| format!("{what}: {fault}")));
        let after = scene.api.world.dump();
        if after != before {
            faults.push(format!("{what}: something has changed"));
            before = after;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(sent(), asked, "other servers were asked");
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
    assert_eq!(scene.api.send(&request_of(&own, access)).status, 401);
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

#[test]
fn nothing_goes_on_with_a_key_that_was_revoked() {
    let scene = Scene::new();
    let fields = [("grant", scene.grant.as_str()), ("decision", "allow"), ("accounts", "all")];
    let link = {
        let browser = Browser::default();
        let request = sent_to_app(&scene.api, &scene.id, &browser, &scene.client);
        let url = authenticated(&scene.api, &request, &json!({}));
        browser.request("GET", &url)
    };
    scene.api.world.revoke(&scene.api.key);
    let before = scene.api.world.dump();
    let grant = Error(400, "invalid_grant");
    let sent = json!({"request": scene.attacker_request, "identity": "ann"}).to_string();
    for (what, request, refusal) in [
        ("the link of the app", link, Page(410)),
        ("consent", scene.consent(&scene.victim, Some(ORIGIN), &fields), Page(410)),
        ("the code", scene.token(&[]), grant),
        ("the refresh token", scene.refresh(&scene.agent.client, &scene.agent.refresh, &[]), grant),
        (
            "the access token",
            request_of(&format!("/mcp/{}", scene.id), &scene.agent.access),
            Problem(401),
        ),
        ("the app", with_body(scene.api.request("POST", "/v1/agent-grants"), &sent), Problem(401)),
    ] {
        assert_eq!(fault(&scene.api.send(&request), refusal), None, "{what}");
        assert_eq!(scene.api.world.dump(), before, "{what}");
    }
}

#[test]
fn a_metadata_document_can_not_pass_for_another_client() {
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
        let before = api.world.dump();
        publish(&api, &document);
        let request = Browser::default()
            .request("GET", &format!("/mcp/{id}/authorize?{}", asking(DOCUMENT, &[])));
        assert_eq!(fault(&api.send(&request), Page(400)), None, "{document}");
        assert_eq!(api.world.dump(), before, "{document}");
    }
    // One that is good is shown by its host, whatever it calls itself.
    api.world.wait(10 * 60 * 1000 + 1);
    publish(
        &api,
        &with("client_name", json!("Claude”, published by bank.example\n\u{202e}“Really\u{2028}")),
    );
    let (_, page) = at_consent(&api, &id, DOCUMENT, &json!({}));
    let html = text(&page);
    for shown in [
        "Let “Claude, published by bank.exampleReally” use",
        "<dd>“Claude, published by bank.exampleReally” (nobody has checked this name)</dd>",
        "<dt>Published by</dt><dd>agent.example</dd>",
    ] {
        assert!(html.contains(shown), "{shown} is not in {html}");
    }
}

#[test]
fn a_user_ends_several_grants_at_once() {
    let (api, id) = app();
    let agents = [(); 3].map(|()| Agent::new(&api, &id, &ALL));
    let (browser, page) = at_consent(&api, &id, &agents[0].client, &json!({}));
    let html = text(&page);
    let earlier: Vec<&str> = html
        .split("name=\"end\" value=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(earlier.len(), 3, "{html}");
    let grant = hidden(&page, "grant");
    let fields = [
        ("grant", grant.as_str()),
        ("decision", "decline"),
        ("end", earlier[0]),
        ("end", earlier[1]),
    ];
    assert_eq!(browser.decide(&api, &id, &fields).status, 303);
    let left = agents
        .iter()
        .filter(|agent| agent.call(&api, &id, "list_connections", &json!({})).status == 200);
    assert_eq!(left.count(), 1);
}

#[test]
fn a_flood_with_the_id_of_a_client_keeps_no_user_from_refreshing() {
    let scene = Scene::new();
    let counted = |request: &Request| {
        scene.api.world.counted_by.take();
        scene.api.send(request);
        scene.api.world.counted_by.take()
    };
    let Agent { client, refresh, .. } = &scene.published;
    let (own, flood) = (
        counted(&scene.refresh(client, refresh, &[])),
        counted(&scene.token(&[("client_id", client)])),
    );
    assert!(own.is_some() && flood.is_some() && own != flood);
    // A request that needs no storage does not count towards a rate limit.
    assert_eq!(counted(&scene.refresh(client, "rt_x.y", &[])), None);
    // Neither does an invalid code.
    assert_eq!(counted(&scene.token(&[("client_id", client), ("code", "x")])), None);
    let other = counted(&scene.refresh(&scene.agent.client, &scene.agent.refresh, &[]));
    assert!(other.is_some() && other != own);
}
