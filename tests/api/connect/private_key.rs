//! OAuth clients that authenticate with `private_key_jwt`: a token that a private key signs.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use connector_vault::jobs;
use connector_vault::ports::{Algorithm, Signatures as _};

use super::*;

/// These private keys were generated for the tests.
const RSA: &str = include_str!("../../fixtures/keys/rsa.jwk");
const P256: &str = include_str!("../../fixtures/keys/p256.jwk");

const CLIENT: &str = "/v1/oauth-clients/acme";

/// The URL at which the platform revokes tokens. Its host differs from that of the token URL.
const REVOKE: &str = "https://sessions.acme.example/revoke";

/// Returns a service whose platform has one auth method with a client secret and three with a
/// private key.
fn api_with_keys() -> Api {
    let keyed = json!({"tokenAuth": "private_key_jwt", "revocationUrl": REVOKE});
    let service = json!({
        "tokenAuth": "private_key_jwt", "grant": "client_credentials", "authorizationUrl": null,
    });
    let issued = json!({
        "tokenAuth": "private_key_jwt", "revocationUrl": REVOKE, "issuer": "https://{domain}/",
        "fields": [{"name": "domain", "label": "Domain", "required": true, "secret": false}],
    });
    let methods = [
        oauth("oauth", &json!({})),
        oauth("signed", &keyed),
        oauth("service", &service),
        oauth("issued", &issued),
    ];
    api_of(&[("acme", json!({"authMethods": methods}))])
}

fn set(api: &Api, method: Option<&str>, secret: &str) -> Response {
    let mut sent = json!({"clientId": "an id", "clientSecret": secret, "scopes": ["read"]});
    if let Some(method) = method {
        sent["authMethod"] = json!(method);
    }
    send(api, "PUT", CLIENT, &sent)
}

fn part(text: &str) -> Value {
    serde_json::from_slice(&Base64UrlUnpadded::decode_vec(text).unwrap()).unwrap()
}

/// The claims of the client assertion in the nth request. The audience must be the URL of that
/// request.
fn assertion_claims(api: &Api, index: usize, key: &str) -> Value {
    let url = api.env.sent.borrow()[index].url.clone();
    assertion_claims_for(api, index, key, &url)
}

/// Checks the signature, times and audience of the client assertion in the nth request. Returns its
/// claims.
fn assertion_claims_for(api: &Api, index: usize, key: &str, audience: &str) -> Value {
    let sent = form(api, index);
    let kind = value_of(&sent, "client_assertion_type");
    let expected = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    assert_eq!(kind.as_deref(), Some(expected));
    assert_eq!((value_of(&sent, "client_secret"), value_of(&sent, "client_id")), (None, None));
    let assertion = value_of(&sent, "client_assertion").unwrap();
    let (signed, signature) = assertion.rsplit_once('.').unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    let (header, claims) = (part(header), part(claims));
    let jwk: Value = serde_json::from_str(key).unwrap();
    let algorithm = if jwk["kty"] == "RSA" { Algorithm::Rs256 } else { Algorithm::Es256 };
    let name = if jwk["kty"] == "RSA" { "RS256" } else { "ES256" };
    assert_eq!((&header["alg"], &header["kid"]), (&json!(name), &jwk["kid"]));
    let signature = Base64UrlUnpadded::decode_vec(signature).unwrap();
    let verified = api.env.verify(algorithm, key, signed.as_bytes(), &signature);
    assert!(pollster::block_on(verified));
    let now = api.env.now.get() / 1000;
    assert_eq!((&claims["iat"], &claims["exp"]), (&json!(now), &json!(now + 300)));
    assert_eq!((&claims["iss"], &claims["sub"]), (&json!("an id"), &json!("an id")));
    assert_eq!(claims["aud"], audience);
    claims
}

#[test]
fn token_requests_contain_an_assertion_and_never_the_key() {
    for key in [RSA, P256] {
        let api = api_with_keys();
        assert_eq!(set(&api, Some("service"), key).status, 200);
        script(&api, &[(200, json!({"access_token": "t", "expires_in": 60}))]);
        let mut sent = ann_connect_body("acme");
        sent["authMethod"] = json!("service");
        let response = connect(&api, &sent);
        assert_eq!(response.status, 201, "{}", body(&response));
        let first = assertion_claims(&api, 0, key)["jti"].clone();

        // Exchanging a code and refreshing also need an assertion.
        assert_eq!(set(&api, Some("signed"), key).status, 200);
        sent["authMethod"] = json!("signed");
        sent["identity"] = json!("bob");
        let tokens = json!({"access_token": "t", "expires_in": 60, "refresh_token": "r"});
        let id = connected(&api, &sent, &tokens);
        let second = assertion_claims(&api, 1, key)["jti"].clone();
        script(&api, &[(200, tokens)]);
        let path = format!("/v1/vault/connections/{id}/credentials?refresh=true");
        assert_eq!(api.get(&path).status, 200);
        let third = assertion_claims(&api, 2, key)["jti"].clone();
        assert!(
            first != second && second != third && first != third,
            "each request has a new assertion"
        );

        let private = serde_json::from_str::<Value>(key).unwrap()["d"].clone();
        for request in api.env.sent.borrow().iter() {
            let text = String::from_utf8_lossy(&request.body).into_owned();
            assert!(!text.contains(private.as_str().unwrap()), "{request:?}");
        }
    }
}

/// The number of revocations that have not succeeded yet.
fn pending_revocations(api: &Api) -> i64 {
    let select = "SELECT count(*) FROM revocations";
    api.env.database.query_row(select, [], |row| row.get(0)).unwrap()
}

/// Advances the clock by an hour and runs the schedule.
fn run_schedule_an_hour_later(api: &Api) {
    api.env.wait(3_600_000);
    let faults = pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    assert_eq!(faults, Vec::<String>::new());
}

/// Connects an account through a client with this private key. Returns the connection's path.
fn connected_with(api: &Api, key: &str) -> String {
    assert_eq!(set(api, Some("signed"), key).status, 200);
    let mut sent = ann_connect_body("acme");
    sent["authMethod"] = json!("signed");
    let tokens = json!({"access_token": "t", "expires_in": 60, "refresh_token": "r"});
    connected(api, &sent, &tokens)
}

#[test]
fn a_revocation_contains_an_assertion_for_its_own_url() {
    for key in [RSA, P256] {
        let api = api_with_keys();
        let id = connected_with(&api, key);
        let exchange = assertion_claims(&api, 0, key);
        script(&api, &[(200, json!({}))]);
        let path = format!("/v1/vault/connections/{id}");
        assert_eq!(api.send(&api.request("DELETE", &path)).status, 204);
        assert_eq!(api.env.sent.borrow()[1].url, REVOKE);
        let revocation = assertion_claims(&api, 1, key);
        assert_ne!(exchange["jti"], revocation["jti"], "an assertion is sent once");
        let sent = form(&api, 1);
        assert_eq!(value_of(&sent, "token").as_deref(), Some("r"));
        assert_eq!(value_of(&sent, "token_type_hint").as_deref(), Some("refresh_token"));
        assert_eq!(pending_revocations(&api), 0, "the platform has revoked it");
    }
}

#[test]
fn a_revocation_that_is_retried_contains_a_new_assertion() {
    let api = api_with_keys();
    let id = connected_with(&api, P256);
    script(&api, &[(503, json!({})), (200, json!({}))]);
    let path = format!("/v1/vault/connections/{id}");
    assert_eq!(api.send(&api.request("DELETE", &path)).status, 204);
    let first = assertion_claims(&api, 1, P256);
    assert_eq!(pending_revocations(&api), 1);

    run_schedule_an_hour_later(&api);
    let second = assertion_claims(&api, 2, P256);
    assert_ne!(first["jti"], second["jti"]);
    assert_eq!(pending_revocations(&api), 0);
}

#[test]
fn a_revocation_without_its_key_sends_nothing_and_waits_for_it() {
    let api = api_with_keys();
    let id = connected_with(&api, P256);
    assert_eq!(api.send(&api.request("DELETE", CLIENT)).status, 204);
    let path = format!("/v1/vault/connections/{id}");
    assert_eq!(api.send(&api.request("DELETE", &path)).status, 204);
    assert_eq!((api.env.sent.borrow().len(), pending_revocations(&api)), (1, 1));

    assert_eq!(set(&api, Some("signed"), RSA).status, 201);
    script(&api, &[(200, json!({}))]);
    run_schedule_an_hour_later(&api);
    assertion_claims(&api, 1, RSA);
    assert_eq!(pending_revocations(&api), 0);
}

#[test]
fn the_audience_is_the_issuer_that_the_method_names() {
    let api = api_with_keys();
    assert_eq!(set(&api, Some("issued"), RSA).status, 200);
    let mut sent = ann_connect_body("acme");
    sent["authMethod"] = json!("issued");
    sent["fields"] = json!({"domain": "acme.example"});
    let tokens = json!({"access_token": "t", "expires_in": 60, "refresh_token": "r"});
    let id = connected(&api, &sent, &tokens);
    script(&api, &[(200, tokens), (200, json!({}))]);
    let path = format!("/v1/vault/connections/{id}");
    assert_eq!(api.get(&format!("{path}/credentials?refresh=true")).status, 200);
    assert_eq!(api.send(&api.request("DELETE", &path)).status, 204);
    for index in 0..3 {
        assertion_claims_for(&api, index, RSA, "https://acme.example/");
    }
}

#[test]
fn private_keys_need_a_method_that_uses_them() {
    let public = {
        let mut jwk: Value = serde_json::from_str(P256).unwrap();
        jwk.as_object_mut().unwrap().remove("d");
        jwk.to_string()
    };
    let other = P256.replace("P-256", "P-384");
    let api = api_with_keys();
    for (method, secret, what) in [
        (None, RSA, "is a private key: name the method"),
        (Some("oauth"), RSA, "is a private key: name the method"),
        (Some("oauth"), other.as_str(), "is a private key: name the method"),
        (Some("service"), "a:secret", "must be the private key, as a JSON Web Key"),
        (Some("service"), public.as_str(), "must be a private RSA key"),
        (Some("signed"), other.as_str(), "must be a private RSA key"),
    ] {
        let response = set(&api, method, secret);
        let result = body(&response);
        assert_eq!((response.status, &result["code"]), (400, &json!("invalid_body")), "{result}");
        assert_eq!(result["errors"][0]["pointer"], "/clientSecret");
        let detail = result["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.contains(what), "{method:?}: {detail}");
    }
    assert_eq!(set(&api, Some("oauth"), "a:secret").status, 200);
}
