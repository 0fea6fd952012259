//! Attacks on the authorization endpoint, client metadata and registration.

use super::*;

#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub(super) fn authorization(fixture: &Fixture) -> Vec<(&'static str, Request, Rejection)> {
    let client = fixture.client.as_str();
    let ask = |more: &[(&str, &str)]| fixture.authorize(client, more);
    let uri = |uri: &str| ask(&[("redirect_uri", uri)]);
    let long = "s".repeat(1025);
    let opener = |uri: &str| {
        let made = with_body(
            anonymous("POST", &fixture.at("register")),
            &json!({"redirect_uris": [uri]}).to_string(),
        );
        let client = body(&fixture.api.send(&made))["client_id"].as_str().unwrap().to_owned();
        fixture.authorize(&client, &[("redirect_uri", uri), ("response_type", "token")])
    };
    let open = |uri: &str, more: &[(&str, &str)]| {
        let wrong = [&[("redirect_uri", uri), ("response_type", "token")], more].concat();
        fixture.authorize(&fixture.other_client, &wrong)
    };
    let doubled = |more: &str| {
        let query = authorization_query(client, &[]);
        anonymous("GET", &format!("{}?{query}&{more}", fixture.at("authorize")))
    };
    vec![
        ("an unknown client", fixture.authorize("nobody", &[]), Page(400)),
        ("no client", fixture.authorize("", &[]), Page(400)),
        (
            "a registration with another signature",
            fixture.authorize(&format!("{client}A"), &[]),
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
        (
            "two clients",
            doubled(&format!("client_id={}", encode(&fixture.other_client))),
            Page(400),
        ),
        (
            "the redirect URI of another client",
            fixture.authorize(&fixture.other_client, &[]),
            Page(400),
        ),
        (
            "a token without a code",
            ask(&[("response_type", "token")]),
            Redirect("unsupported_response_type"),
        ),
        (
            "an ID token without a code",
            ask(&[("response_type", "code id_token")]),
            Redirect("unsupported_response_type"),
        ),
        ("no PKCE", ask(&[("code_challenge", "")]), Redirect("invalid_request")),
        (
            "PKCE that reveals the verifier",
            ask(&[("code_challenge_method", "plain")]),
            Redirect("invalid_request"),
        ),
        (
            "PKCE without a method",
            ask(&[("code_challenge_method", "")]),
            Redirect("invalid_request"),
        ),
        (
            "a challenge that is too short",
            ask(&[("code_challenge", "abc")]),
            Redirect("invalid_request"),
        ),
        ("more access than there is", ask(&[("scope", "admin")]), Redirect("invalid_scope")),
        (
            "a token for another resource",
            ask(&[("resource", "https://evil.example/mcp")]),
            Redirect("invalid_target"),
        ),
        (
            "a token for another endpoint",
            ask(&[("resource", &format!("{ORIGIN}/mcp/other"))]),
            Redirect("invalid_target"),
        ),
        ("a state that fills a row", ask(&[("state", &long)]), Redirect("invalid_request")),
        (
            "an endpoint that does not exist",
            anonymous(
                "GET",
                &format!("/mcp/unknown/authorize?{}", authorization_query(client, &[])),
            ),
            Problem(404),
        ),
        // The client is valid but the request is not. Anyone can register a client, so the service
        // does not redirect users to its site before they sign in.
        ("the service as an open redirector", open("https://evil.example/cb", &[]), Page(400)),
        (
            "an open redirector, by another fault",
            open("https://evil.example/cb", &[("response_type", "code"), ("scope", "x")]),
            Page(400),
        ),
        ("a redirector to a program", opener("evil-program://x/y"), Page(400)),
        ("a client of another account", fixture.authorize(&fixture.stranger, &[]), Page(400)),
        ("a token as a client", fixture.authorize(&fixture.agent.refresh, &[]), Page(400)),
        ("a request as a client", fixture.authorize(&fixture.attacker_request, &[]), Page(400)),
        ("a line break in `state`", ask(&[("state", "a\r\nset-cookie: x=y")]), Page(400)),
        (
            "more parameters than the endpoint has",
            doubled(&repeated_parameters("x", 300)),
            Page(400),
        ),
        ("two states", doubled("state=other"), Page(400)),
        ("two challenges", doubled(&format!("code_challenge={}", "z".repeat(43))), Page(400)),
        (
            "one resource of two that is another's",
            doubled(&format!("resource={}", encode("https://evil.example"))),
            Redirect("invalid_target"),
        ),
        (
            "a sign-in by a form, which another site could send",
            with_form(
                anonymous("POST", &fixture.at("authorize")),
                &authorization_query(client, &[]),
            ),
            Problem(405),
        ),
    ]
}

/// Returns `count` query parameters whose names begin with `name`.
pub(super) fn repeated_parameters(name: &str, count: usize) -> String {
    (0..count).map(|index| format!("{name}{index}=1")).collect::<Vec<_>>().join("&")
}

/// Client ids whose metadata must not be requested: private addresses and lookalike hosts.
pub(super) fn metadata_attacks(fixture: &Fixture) -> Vec<(&'static str, Request, Rejection)> {
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
    .map(|(what, id)| (what, fixture.authorize(id, &[]), Page(400)))
    .collect()
}

pub(super) fn registration(fixture: &Fixture) -> Vec<(&'static str, Request, Rejection)> {
    let register =
        |uris: Value| fixture.register(&json!({"client_name": "Evil", "redirect_uris": uris}));
    let wrong_uri = Error(400, "invalid_redirect_uri");
    let long: Vec<String> =
        (0..10).map(|index| format!("https://evil.example/{index}{}", "x".repeat(480))).collect();
    let many: Vec<String> = (0..200).map(|index| format!("https://a.example/{index}")).collect();
    vec![
        ("a client of plain HTTP", register(json!(["http://evil.example/cb"])), wrong_uri),
        ("a script", register(json!(["javascript:alert(1)"])), wrong_uri),
        ("data", register(json!(["data:text/html,x"])), wrong_uri),
        ("a fragment", register(json!(["https://evil.example/cb#x"])), wrong_uri),
        ("no redirect URI", register(json!([])), wrong_uri),
        ("too many redirect URIs", register(json!(many)), wrong_uri),
        (
            "a redirect URI that is not text",
            register(json!([1])),
            Error(400, "invalid_client_metadata"),
        ),
        ("user information", register(json!(["https://bank.example@evil.example/cb"])), wrong_uri),
        ("a backslash", register(json!(["https://evil.example\\@bank.example/cb"])), wrong_uri),
        ("every host", register(json!(["https://*.example.com/cb"])), wrong_uri),
        ("a host in another script", register(json!(["https://b\u{430}nk.example/cb"])), wrong_uri),
        ("the network", register(json!(["https://10.0.0.1/cb"])), wrong_uri),
        ("the whole network", register(json!(["http://0.0.0.0:1/cb"])), wrong_uri),
        (
            "a machine of the network",
            register(json!(["http://localhost.evil.example/cb"])),
            wrong_uri,
        ),
        ("a script behind a blank", register(json!([" javascript:alert(1)"])), wrong_uri),
        ("a script in upper case", register(json!(["JAVASCRIPT:alert(1)"])), wrong_uri),
        ("a file", register(json!(["file:///etc/passwd"])), wrong_uri),
        ("a line break", register(json!(["https://evil.example/cb\r\nx: y"])), wrong_uri),
        (
            "one good URI and a bad one",
            register(json!([CALLBACK, "javascript:alert(1)"])),
            wrong_uri,
        ),
        ("an ID that fills a URL", register(json!(long)), wrong_uri),
        (
            "a form, which another site could send",
            with_form(anonymous("POST", &fixture.at("register")), "redirect_uris=x"),
            Error(400, "invalid_client_metadata"),
        ),
        (
            "JSON that is nested without end",
            with_body(anonymous("POST", &fixture.at("register")), &"[".repeat(60_000)),
            Error(400, "invalid_client_metadata"),
        ),
        (
            "an endpoint that does not exist",
            with_body(anonymous("POST", "/mcp/unknown/register"), "{}"),
            Problem(404),
        ),
        (
            "the implicit grant",
            fixture.register(&json!({"redirect_uris": [CALLBACK], "grant_types": ["implicit"]})),
            Error(400, "invalid_client_metadata"),
        ),
        (
            "a body that is not JSON",
            with_body(anonymous("POST", &fixture.at("register")), "{"),
            Error(400, "invalid_client_metadata"),
        ),
        (
            "a list instead of metadata",
            fixture.register(&json!([])),
            Error(400, "invalid_client_metadata"),
        ),
    ]
}
