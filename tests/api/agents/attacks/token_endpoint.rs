//! Attacks on the token and revocation endpoints.

use super::authorization::repeated_parameters;
use super::*;

#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub(super) fn tokens(fixture: &Fixture) -> Vec<(&'static str, Request, Rejection)> {
    let grant = Error(400, "invalid_grant");
    let request = Error(400, "invalid_request");
    let Agent { client, access, refresh } = &fixture.agent;
    let code = |more: &[(&str, &str)]| fixture.token(more);
    let twice = |name: &str, value: &str| {
        let request = code(&[]);
        let form = String::from_utf8(match &request.body {
            connector_vault::http::message::Body::Whole(bytes) => bytes.clone(),
            _ => panic!("no body"),
        })
        .unwrap();
        with_form(
            anonymous("POST", &fixture.at("token")),
            &format!("{form}&{name}={}", encode(value)),
        )
    };
    let changed = format!("{}x", refresh.strip_suffix(|_| true).unwrap());
    // The token's claims with another generation number and the original signature.
    let (signed, signature) = refresh.rsplit_once('.').unwrap();
    let stated = Base64UrlUnpadded::decode_vec(signed.strip_prefix("rt_").unwrap()).unwrap();
    let mut stated: RefreshToken = serde_json::from_slice(&stated).unwrap();
    stated.generation = 2;
    let altered = Base64UrlUnpadded::encode_string(&serde_json::to_vec(&stated).unwrap());
    let later = format!("rt_{altered}.{signature}");
    let guessed = stated.sign(&SessionSecrets::new(&"guessed ".repeat(5), "")).unwrap();
    let at_other_endpoint = |kind: &str| {
        let fields = [
            ("grant_type", kind),
            ("client_id", DOCUMENT),
            ("code", &fixture.published_code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", CALLBACK),
            ("refresh_token", &fixture.published.refresh),
        ];
        let path = format!("/mcp/{}/token", fixture.other_endpoint);
        with_form(anonymous("POST", &path), &form(&fields))
    };
    vec![
        (
            "a code with the challenge as its verifier",
            code(&[("code_verifier", &challenge())]),
            grant,
        ),
        ("two codes that are the same", twice("code", &fixture.code), request),
        (
            "more parameters than the endpoint has",
            twice(&repeated_parameters("x", 300), ""),
            request,
        ),
        (
            "a form that says it is plain text",
            with_header(anonymous("POST", &fixture.at("token")), "content-type", "text/plain"),
            request,
        ),
        (
            "a code in an address, which logs keep",
            anonymous("GET", &format!("{}?code={}", fixture.at("token"), fixture.code)),
            Problem(405),
        ),
        ("a code at another account's endpoint", at_other_endpoint("authorization_code"), grant),
        (
            "a refresh token at another account's endpoint",
            at_other_endpoint("refresh_token"),
            grant,
        ),
        (
            "a client of another account",
            code(&[("client_id", &fixture.stranger)]),
            Error(400, "invalid_client"),
        ),
        (
            "a code of a client with a metadata document, by another one",
            code(&[("client_id", "https://evil.example/client.json")]),
            grant,
        ),
        ("a refresh token of a later generation", fixture.refresh(client, &later, &[]), grant),
        (
            "a refresh token that is signed by a guess",
            fixture.refresh(client, &guessed, &[]),
            grant,
        ),
        (
            "a refresh token without a signature",
            fixture.refresh(client, refresh.rsplit_once('.').unwrap().0, &[]),
            grant,
        ),
        (
            "a refresh for more than was granted",
            fixture.refresh(
                &fixture.reader.client,
                &fixture.reader.refresh,
                &[("scope", "read write")],
            ),
            Error(400, "invalid_scope"),
        ),
        (
            "a refresh token twice",
            fixture.refresh(client, refresh, &[("refresh_token", refresh)]),
            request,
        ),
        ("a stolen code without its verifier", code(&[("code_verifier", &"x".repeat(43))]), grant),
        ("a stolen code with no verifier", code(&[("code_verifier", "")]), request),
        ("a verifier that is too short", code(&[("code_verifier", "abc")]), request),
        ("a stolen code of another client", code(&[("client_id", &fixture.other_client)]), grant),
        ("a code without a client", code(&[("client_id", "")]), request),
        (
            "a code for another redirect URI",
            code(&[("redirect_uri", "http://localhost:1/oauth/callback")]),
            grant,
        ),
        ("a forged code", code(&[("code", &"y".repeat(43))]), grant),
        ("SQL as a code", code(&[("code", "' OR 1=1 --")]), grant),
        ("the id of a grant as its code", code(&[("code", &fixture.grant)]), grant),
        ("no code", code(&[("code", "")]), request),
        ("two codes", twice("code", "z"), request),
        ("two clients", twice("client_id", &fixture.other_client), request),
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
                anonymous("POST", &fixture.at("token")),
                &json!({"grant_type": "authorization_code"}).to_string(),
            ),
            request,
        ),
        (
            "a refresh token of another client",
            fixture.refresh(&fixture.other_client, refresh, &[]),
            grant,
        ),
        (
            "a refresh token of no client",
            fixture.refresh("nobody", refresh, &[]),
            Error(400, "invalid_client"),
        ),
        ("a refresh token with another signature", fixture.refresh(client, &changed, &[]), grant),
        ("an access token as refresh token", fixture.refresh(client, access, &[]), grant),
        (
            "a request as refresh token",
            fixture.refresh(client, &fixture.attacker_request, &[]),
            grant,
        ),
        ("a client as refresh token", fixture.refresh(client, client, &[]), grant),
        ("no refresh token", fixture.refresh(client, "", &[]), request),
        (
            "a refresh for more access",
            fixture.refresh(client, refresh, &[("scope", "admin")]),
            Error(400, "invalid_scope"),
        ),
        (
            "a refresh for another resource",
            fixture.refresh(client, refresh, &[("resource", "https://evil.example")]),
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

/// Revocation requests that must not end any grant.
pub(super) fn revocation_attacks(fixture: &Fixture) -> Vec<(&'static str, Request, Rejection)> {
    let at = |id: &str, token: &str| {
        let path = format!("/mcp/{id}/revoke");
        with_form(anonymous("POST", &path), &form(&[("token", token)]))
    };
    let id = fixture.id.as_str();
    let grants = fixture.api.env.texts("SELECT id FROM agent_grants");
    vec![
        ("revoking a forged token", at(id, "rt_x.y"), EmptyOk),
        ("revoking by the id of a grant", at(id, grants.first().unwrap()), EmptyOk),
        ("revoking by a code", at(id, &fixture.code), EmptyOk),
        ("revoking by a client", at(id, &fixture.client), EmptyOk),
        (
            "revoking at another endpoint",
            at(&fixture.other_endpoint, &fixture.agent.refresh),
            EmptyOk,
        ),
        (
            "revoking by an access token elsewhere",
            at(&fixture.other_endpoint, &fixture.agent.access),
            EmptyOk,
        ),
        ("revoking nothing", at(id, ""), Error(400, "invalid_request")),
    ]
}
