//! Clients that authenticate with a token signed by a private key: `private_key_jwt`.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use connector_vault::ports::{Algorithm, Signatures as _};

use super::*;

/// Keys generated for these tests.
const RSA: &str = include_str!("../../fixtures/keys/rsa.jwk");
const P256: &str = include_str!("../../fixtures/keys/p256.jwk");

const CLIENT: &str = "/v1/oauth-clients/acme";

/// A service with a platform whose methods accept a secret (one) or a key (two).
fn api_with_keys() -> Api {
    let keyed = json!({"tokenAuth": "private_key_jwt"});
    let service = json!({
        "tokenAuth": "private_key_jwt", "grant": "client_credentials", "authorizationUrl": null,
    });
    let methods = [oauth("oauth", &json!({})), oauth("signed", &keyed), oauth("service", &service)];
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

/// The claims of the client assertion in the nth request, after its signature and times were checked.
fn proven(api: &Api, nth: usize, key: &str) -> Value {
    let sent = form(api, nth);
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
    let verified = api.world.verify(algorithm, key, signed.as_bytes(), &signature);
    assert!(pollster::block_on(verified));
    let now = api.world.now.get() / 1000;
    assert_eq!((&claims["iat"], &claims["exp"]), (&json!(now), &json!(now + 300)));
    assert_eq!((&claims["iss"], &claims["sub"]), (&json!("an id"), &json!("an id")));
    assert_eq!(claims["aud"], api.world.sent.borrow()[nth].url);
    claims
}

#[test]
fn token_requests_contain_an_assertion_and_never_the_key() {
    for key in [RSA, P256] {
        let api = api_with_keys();
        assert_eq!(set(&api, Some("service"), key).status, 200);
        script(&api, &[(200, json!({"access_token": "t", "expires_in": 60}))]);
        let mut sent = of_ann("acme");
        sent["authMethod"] = json!("service");
        let response = connect(&api, &sent);
        assert_eq!(response.status, 201, "{}", body(&response));
        let first = proven(&api, 0, key)["jti"].clone();

        // The exchange of a code, and a refresh.
        assert_eq!(set(&api, Some("signed"), key).status, 200);
        sent["authMethod"] = json!("signed");
        sent["identity"] = json!("bob");
        let tokens = json!({"access_token": "t", "expires_in": 60, "refresh_token": "r"});
        let id = connected(&api, &sent, &tokens);
        let second = proven(&api, 1, key)["jti"].clone();
        script(&api, &[(200, tokens)]);
        let path = format!("/v1/vault/connections/{id}/credentials?refresh=true");
        assert_eq!(api.get(&path).status, 200);
        let third = proven(&api, 2, key)["jti"].clone();
        assert!(first != second && second != third && first != third, "a proof is sent once");

        let private = serde_json::from_str::<Value>(key).unwrap()["d"].clone();
        for request in api.world.sent.borrow().iter() {
            let text = String::from_utf8_lossy(&request.body).into_owned();
            assert!(!text.contains(private.as_str().unwrap()), "{request:?}");
        }
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
        let told = body(&response);
        assert_eq!((response.status, &told["code"]), (400, &json!("invalid_body")), "{told}");
        assert_eq!(told["errors"][0]["pointer"], "/clientSecret");
        let detail = told["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.contains(what), "{method:?}: {detail}");
    }
    assert_eq!(set(&api, Some("oauth"), "a:secret").status, 200);
}
