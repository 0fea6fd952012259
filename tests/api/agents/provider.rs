//! Agents' sign-in at an OpenID provider.

use std::cell::RefCell;
use std::rc::Rc;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use connector_vault::http::Request;
use connector_vault::ports::HttpRequest;
use connector_vault::terms::{Environment, Method, Scope};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

use super::{
    ALL, Agent, Browser, CALLBACK, authorization_query, exchange, hidden_field, id_of,
    redirect_target, register, settings,
};
use crate::connect::{api_with, pairs, response, send, text, value_of};
use crate::support::{Api, ORIGIN, as_key, body, with_body};

pub const ISSUER: &str = "https://id.example";

/// A private key that only tests use.
const RSA: &[u8] = include_bytes!("../../fixtures/rsa-2048.pk8");

/// Makes the provider serve its metadata with an empty key set.
pub fn serve(api: &Api) {
    *api.env.platform.borrow_mut() = Box::new(|request| match request.url.as_str() {
        "https://id.example/.well-known/openid-configuration" => response(200, &discovery()),
        other => panic!("no server for {other}"),
    });
}

fn discovery() -> Value {
    json!({
        "issuer": ISSUER, "authorization_endpoint": "https://id.example/authorize",
        "token_endpoint": "https://id.example/token", "jwks_uri": "https://id.example/keys",
    })
}

/// A key with which the provider signs ID tokens.
pub enum Signer {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
}

impl Signer {
    fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_pkcs8(RSA).unwrap())
    }

    pub fn ec() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self::Ec(EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap())
    }

    fn jwk(&self, kid: &str) -> Value {
        let text = |bytes: &[u8]| Base64UrlUnpadded::encode_string(bytes);
        match self {
            Self::Rsa(key) => {
                let public =
                    ring::signature::RsaPublicKeyComponents::<Vec<u8>>::from(key.public_key());
                json!({"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": text(&public.n), "e": text(&public.e)})
            }
            Self::Ec(key) => {
                let point = key.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "kid": kid, "x": text(&point[1..33]), "y": text(&point[33..])})
            }
        }
    }

    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
        let signed = format!("{}.{}", part(header), part(claims));
        let random = SystemRandom::new();
        let signature = match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).unwrap();
                signature
            }
            Self::Ec(key) => key.sign(&random, signed.as_bytes()).unwrap().as_ref().to_vec(),
        };
        format!("{signed}.{}", Base64UrlUnpadded::encode_string(&signature))
    }
}

/// Returns a service whose users sign in at the provider, and the id of its MCP endpoint.
pub fn oidc(extra: &Value) -> (Api, String) {
    let api = api_with(&settings());
    serve(&api);
    let mut sent =
        json!({"type": "oidc", "issuer": ISSUER, "clientId": "vault", "clientSecret": "a:secret"});
    for (name, value) in extra.as_object().unwrap() {
        sent[name] = value.clone();
    }
    let response = send(&api, "PUT", "/v1/agent-sign-in", &sent);
    assert_eq!(response.status, 201, "{}", text(&response));
    let id = id_of(&body(&response));
    (api, id)
}

/// Makes the provider return this ID token and these keys. Returns the requests that it receives.
pub fn serve_id_token(api: &Api, token: &str, keys: &[Value]) -> Rc<RefCell<Vec<HttpRequest>>> {
    let sent = Rc::new(RefCell::new(Vec::new()));
    let (token, keys, noted) = (token.to_owned(), keys.to_vec(), Rc::clone(&sent));
    *api.env.platform.borrow_mut() = Box::new(move |request| {
        noted.borrow_mut().push(request.clone());
        match request.url.as_str() {
            "https://id.example/.well-known/openid-configuration" => response(200, &discovery()),
            "https://id.example/token" => {
                response(200, &json!({"access_token": "a", "id_token": token}))
            }
            "https://id.example/keys" => response(200, &json!({"keys": keys})),
            other => panic!("no server for {other}"),
        }
    });
    sent
}

/// Starts a sign-in. Returns the browser, the client id, and the parameters of the redirect to the
/// provider.
pub fn at_provider(api: &Api, id: &str) -> (Browser, String, Vec<(String, String)>) {
    let client = register(api, id);
    let browser = Browser::default();
    let (address, query) =
        redirect_target(&browser.authorize(api, id, &authorization_query(&client, &[])));
    assert_eq!(address, "https://id.example/authorize");
    (browser, client, query)
}

/// Opens an agent's link in a new browser. Returns the browser, and the parameters of the redirect
/// to the provider.
pub fn open_link_at_provider(api: &Api, link: &str) -> (Browser, Vec<(String, String)>) {
    let browser = Browser::default();
    let (address, query) = redirect_target(&browser.get(api, link));
    assert_eq!(address, "https://id.example/authorize");
    (browser, query)
}

/// Signs in a user at the provider, who grants full access. Returns the user's agent.
pub fn sign_in_agent(api: &Api, id: &str, signer: &Signer) -> Agent {
    let (browser, client, query) = at_provider(api, id);
    let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(api, &query));
    serve_id_token(api, &token, &[key("k", signer)]);
    let page = browser.open(api, &callback(id, &query));
    let grant = hidden_field(&page, "grant");
    let fields = [&[("grant", grant.as_str()), ("decision", "allow")][..], &ALL].concat();
    let (_, back) = redirect_target(&browser.decide(api, id, &fields));
    let response = exchange(api, id, &client, &value_of(&back, "code").unwrap());
    let tokens = body(&response);
    let [access, refresh] =
        ["access_token", "refresh_token"].map(|name| tokens[name].as_str().unwrap().to_owned());
    Agent { client, access, refresh }
}

pub fn claims(api: &Api, query: &[(String, String)]) -> Value {
    let now = api.env.now.get() / 1000;
    json!({
        "iss": ISSUER, "aud": "vault", "sub": "ann", "nonce": value_of(query, "nonce"), "iat": now, "exp": now + 300,
        "email": "ann@example.com", "email_verified": true,
    })
}

pub fn callback(id: &str, query: &[(String, String)]) -> String {
    let state = value_of(query, "state").unwrap();
    format!("/mcp/{id}/callback?{}", super::form(&[("code", "c"), ("state", &state)]))
}

pub fn key(kid: &str, signer: &Signer) -> Value {
    signer.jwk(kid)
}

/// Returns a service, and the callback request of a completed sign-in at the provider.
pub fn callback_request() -> (Api, Request) {
    let (api, id) = oidc(&json!({}));
    let signer = Signer::ec();
    let (browser, _, query) = at_provider(&api, &id);
    let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(&api, &query));
    serve_id_token(&api, &token, &[key("k", &signer)]);
    let request = browser.request("GET", &callback(&id, &query));
    (api, request)
}

#[test]
fn a_code_is_not_sent_to_a_provider_that_was_configured_later() {
    let (api, id) = oidc(&json!({}));
    let (browser, _, access) = at_provider(&api, &id);
    let (lister, grants) = open_link_at_provider(&api, &format!("/mcp/{id}/grants"));
    let link = format!("/mcp/{id}/approval?id=0b9af7c6-7a0b-4f60-a3ad-60a2a9b5b3a1");
    let (approver, approval) = open_link_at_provider(&api, &link);
    api.env.wait(1);
    serve(&api);
    let sent = json!({"type": "oidc", "issuer": ISSUER, "clientId": "another"});
    assert_eq!(send(&api, "PUT", "/v1/agent-sign-in", &sent).status, 200);
    let received = serve_id_token(&api, "token", &[]);
    for (browser, query) in [(browser, access), (lister, grants), (approver, approval)] {
        let page = browser.open(&api, &callback(&id, &query));
        assert_eq!(page.status, 410);
        assert!(text(&page).contains("the app&#39;s sign-in has changed"), "{}", text(&page));
    }
    assert!(received.borrow().is_empty());
}

#[test]
fn a_provider_can_require_that_users_approve_calls() {
    for (required, chosen, expected) in [
        (json!({}), "", json!(null)),
        (json!({"confirm": "destructive"}), "", json!("destructive")),
        (json!({"confirm": "destructive"}), "write", json!("write")),
        (json!({"confirm": "write"}), "destructive", json!("write")),
    ] {
        let (api, id) = oidc(&required);
        assert_eq!(body(&api.get("/v1/agent-sign-in")).get("confirm"), Some(&required["confirm"]));
        let signer = Signer::ec();
        let (browser, _, query) = at_provider(&api, &id);
        let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(&api, &query));
        serve_id_token(&api, &token, &[key("k", &signer)]);
        let page = browser.open(&api, &callback(&id, &query));
        let grant = hidden_field(&page, "grant");
        let own = [("grant", grant.as_str()), ("decision", "allow"), ("confirm", chosen)];
        assert_eq!(browser.decide(&api, &id, &[&own[..], &ALL].concat()).status, 303);
        let rows = api.env.texts("SELECT json_object('c', confirm) AS row FROM agent_grants");
        let stored: Value = serde_json::from_str(&rows[0]).unwrap();
        assert_eq!(stored["c"], expected, "{required} {chosen}");
    }
    // A sign-in of type `app` does not accept `confirm`, because the app sets it for each user.
    let (api, _) = oidc(&json!({}));
    let sent = json!({"type": "app", "url": "https://app.example", "confirm": "write"});
    let response = send(&api, "PUT", "/v1/agent-sign-in", &sent);
    assert_eq!(body(&response)["errors"][0]["pointer"], "/confirm");
}

#[test]
fn signs_in_with_rs256_and_es256_tokens() {
    for (signer, algorithm) in [(Signer::rsa(), "RS256"), (Signer::ec(), "ES256")] {
        let (api, id) = oidc(&json!({"identityClaim": "email", "identityType": "user"}));
        let (browser, client, query) = at_provider(&api, &id);
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", "vault"),
            ("scope", "openid email"),
            ("code_challenge_method", "S256"),
        ] {
            assert_eq!(value_of(&query, name).as_deref(), Some(value), "{name}");
        }
        let token = signer.sign(&json!({"alg": algorithm, "kid": "k"}), &claims(&api, &query));
        let sent = serve_id_token(&api, &token, &[key("other", &Signer::ec()), key("k", &signer)]);
        let page = browser.open(&api, &callback(&id, &query));
        assert_eq!(page.status, 200, "{}", text(&page));
        assert!(text(&page).contains("that “ann@example.com” has connected"), "{}", text(&page));

        let exchanged = sent
            .borrow()
            .iter()
            .find(|request| request.url == "https://id.example/token")
            .cloned()
            .unwrap();
        let form = pairs(&String::from_utf8(exchanged.body.clone()).unwrap());
        let verifier = value_of(&form, "code_verifier").unwrap();
        assert_eq!(connector_vault::oidc::challenge(&verifier), value_of(&query, "code_challenge"));
        assert_eq!(value_of(&form, "redirect_uri").unwrap(), format!("{ORIGIN}/mcp/{id}/callback"));
        assert!(
            exchanged.headers.iter().any(|(name, value)| name == "authorization"
                && value == "Basic dmF1bHQ6YSUzQXNlY3JldA==")
        );

        let grant = hidden_field(&page, "grant");
        let fields = [&[("grant", grant.as_str()), ("decision", "allow")][..], &ALL].concat();
        let (address, back) = redirect_target(&browser.decide(&api, &id, &fields));
        assert_eq!(address, CALLBACK);
        let response = exchange(&api, &id, &client, &value_of(&back, "code").unwrap());
        assert_eq!(response.status, 200, "{}", text(&response));
        let rows = body(&api.get("/v1/agent-grants"))["rows"].clone();
        assert_eq!(
            (&rows[0]["identity"], &rows[0]["identityType"]),
            (&json!("ann@example.com"), &json!("user"))
        );
    }
}

/// Changes a token's claims so that they are invalid.
type ClaimChange = fn(&mut Value);

#[test]
fn refuses_id_tokens_of_another_sign_in() {
    let (signer, stranger) = (Signer::rsa(), Signer::ec());
    let rs256 = json!({"alg": "RS256", "kid": "k"});
    let changes: [(&str, ClaimChange); 16] = [
        ("another client", |claims| claims["aud"] = json!("other")),
        ("several clients without azp", |claims| claims["aud"] = json!(["vault", "other"])),
        ("authorized for another client", |claims| {
            claims["aud"] = json!(["vault", "other"]);
            claims["azp"] = json!("other");
        }),
        ("azp of another client", |claims| claims["azp"] = json!("other")),
        ("no audience", |claims| claims["aud"] = json!(null)),
        ("another issuer", |claims| claims["iss"] = json!("https://evil.example")),
        ("an issuer with a slash", |claims| claims["iss"] = json!("https://id.example/")),
        ("another nonce", |claims| claims["nonce"] = json!("other")),
        ("no nonce", |claims| claims["nonce"] = json!(null)),
        ("expired", |claims| claims["exp"] = json!(claims["iat"].as_u64().unwrap() - 60)),
        ("no expiry", |claims| claims["exp"] = json!(null)),
        ("an expiry as text", |claims| claims["exp"] = json!("9999999999")),
        ("issued in the future", |claims| claims["iat"] = json!(claims["exp"])),
        ("not yet valid", |claims| claims["nbf"] = json!(claims["exp"])),
        ("an address that is not verified", |claims| claims["email_verified"] = json!(false)),
        ("no address", |claims| claims["email"] = json!(null)),
    ];
    let (api, id) = oidc(&json!({"identityClaim": "email"}));
    let assert_refused = |token: &dyn Fn(&Value) -> String, keys: &[Value], what: &str| {
        // Wait until the cached provider keys have expired.
        api.env.wait(10 * 60_000);
        let (browser, _, query) = at_provider(&api, &id);
        serve_id_token(&api, &token(&claims(&api, &query)), keys);
        let page = browser.open(&api, &callback(&id, &query));
        assert_eq!(page.status, 503, "{what}: {}", text(&page));
        let log = page.log.unwrap();
        assert!(log.starts_with("sign-in for agents: ") && !log.contains("ann@"), "{what}: {log}");
    };
    for (what, change) in changes {
        let token = |claims: &Value| {
            let mut claims = claims.clone();
            change(&mut claims);
            signer.sign(&rs256, &claims)
        };
        assert_refused(&token, &[key("k", &signer)], what);
    }
    let unsigned = |claims: &Value| {
        let part = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
        format!("{}.{}.", part(&json!({"alg": "none"})), part(claims))
    };
    assert_refused(&unsigned, &[key("k", &signer)], "unsigned");
    // The header names a MAC algorithm, as in attacks that use the public key as the MAC secret.
    let mac = |claims: &Value| signer.sign(&json!({"alg": "HS256", "kid": "k"}), claims);
    assert_refused(&mac, &[key("k", &signer)], "HS256");
    assert_refused(
        &|claims| signer.sign(&json!({"alg": "RS256", "kid": "k", "crit": ["x"]}), claims),
        &[key("k", &signer)],
        "crit",
    );
    assert_refused(
        &|claims| signer.sign(&rs256, claims),
        &[key("other", &signer)],
        "an unknown key",
    );
    assert_refused(
        &|claims| stranger.sign(&json!({"alg": "ES256", "kid": "k"}), claims),
        &[key("k", &Signer::ec())],
        "another key under the same id",
    );
    assert_refused(
        &|claims| signer.sign(&rs256, claims) + "A",
        &[key("k", &signer)],
        "a changed signature",
    );
    let encryption = {
        let mut key = key("k", &signer);
        key["use"] = json!("enc");
        key
    };
    assert_refused(&|claims| signer.sign(&rs256, claims), &[encryption], "a key for encryption");
    assert_refused(&|_| "a.b".to_owned(), &[key("k", &signer)], "no JWT");
    assert_eq!(api.env.texts("SELECT id FROM agent_grants"), Vec::<String>::new());
}

#[test]
fn refuses_a_callback_in_another_browser() {
    let (api, id) = oidc(&json!({}));
    let signer = Signer::ec();
    let (browser, _, query) = at_provider(&api, &id);
    let (other, _, others) = at_provider(&api, &id);
    let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(&api, &query));
    let sent = serve_id_token(&api, &token, &[key("k", &signer)]);
    let url = callback(&id, &query);
    assert_eq!(other.open(&api, &url).status, 410);
    assert_eq!(Browser::default().open(&api, &url).status, 410);
    assert_eq!(api.send(&browser.request("HEAD", &url)).status, 200);
    assert_eq!(browser.open(&api, &callback(&id, &[("state".into(), "ar_x".into())])).status, 410);
    assert_eq!(sent.borrow().len(), 0);
    // The ID token of one sign-in is not accepted for another sign-in at the same provider.
    assert_eq!(other.open(&api, &callback(&id, &others)).status, 503);
    assert_eq!(browser.open(&api, &url).status, 200);
    api.env.wait(10 * 60_000);
    assert_eq!(browser.open(&api, &url).status, 410);
}

#[test]
fn a_sign_in_that_is_repeated_opens_one_grant() {
    let (api, id) = oidc(&json!({}));
    let signer = Signer::ec();
    let (browser, _, query) = at_provider(&api, &id);
    let sign_in_from_link = |sub: &str| {
        let mut claims = claims(&api, &query);
        claims["sub"] = json!(sub);
        let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims);
        serve_id_token(&api, &token, &[key("k", &signer)]);
        browser.open(&api, &callback(&id, &query))
    };
    let page = sign_in_from_link("ann");
    let grant = hidden_field(&page, "grant");
    let before = api.env.dump();
    // The same user sees the same page again.
    assert_eq!(hidden_field(&sign_in_from_link("ann"), "grant"), grant);
    // Another user of the same browser must start a new sign-in.
    assert_eq!(sign_in_from_link("bob").status, 410);
    assert_eq!(api.env.dump(), before);
    let fields = [("grant", grant.as_str()), ("decision", "allow")];
    assert_eq!(browser.decide(&api, &id, &[&fields[..], &ALL].concat()).status, 303);
    assert_eq!(sign_in_from_link("ann").status, 410);
    assert_eq!(api.env.texts("SELECT id FROM agent_grants"), [grant]);
}

/// Inserts 1,000 audit entries of the user about targets of this type.
fn insert_audit_entries(api: &Api, target_type: &str) {
    let sql = format!(
        "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 1000) INSERT INTO audit (account, environment, id, at, action, actor_type, actor, target_type, target) SELECT 'acme', 'test', printf('aud_%011x%06xffffffff', {now}, n), {now}, 'x', 'person', 'ann', '{target_type}', n FROM n",
        now = api.env.now.get(),
    );
    api.env.current_database().execute(&sql, []).unwrap();
}

#[test]
fn a_user_can_sign_in_for_agents_1000_times_within_24_hours() {
    for (target_type, status) in [("connection", 200), ("agent_grant", 429)] {
        let (api, id) = oidc(&json!({}));
        let signer = Signer::ec();
        let (browser, _, query) = at_provider(&api, &id);
        let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(&api, &query));
        serve_id_token(&api, &token, &[key("k", &signer)]);
        insert_audit_entries(&api, target_type);
        assert_eq!(browser.open(&api, &callback(&id, &query)).status, status, "{target_type}");
    }
}

#[test]
fn users_sign_in_for_agents_while_the_database_is_full() {
    let fill = |api: &Api| {
        api.env.size.set(9_900_000_000);
        assert_eq!(api.get("/v1/whoami").status, 200);
    };
    let (api, id) = oidc(&json!({}));
    fill(&api);
    sign_in_agent(&api, &id, &Signer::ec());
    let (api, id) = super::app();
    fill(&api);
    Agent::new(&api, &id, &ALL);
}

#[test]
fn fetches_rotated_provider_keys() {
    let (api, id) = oidc(&json!({}));
    let (first, second) = (Signer::ec(), Signer::ec());
    for (signer, kid) in [(&first, "1"), (&second, "2"), (&second, "2")] {
        let (browser, _, query) = at_provider(&api, &id);
        let token = signer.sign(&json!({"alg": "ES256", "kid": kid}), &claims(&api, &query));
        serve_id_token(&api, &token, &[key(kid, signer)]);
        assert_eq!(browser.open(&api, &callback(&id, &query)).status, 200, "{kid}");
    }
    let key_requests = api
        .env
        .sent
        .borrow()
        .iter()
        .filter(|request| request.url == "https://id.example/keys")
        .count();
    assert_eq!(key_requests, 2);
}

#[test]
fn redirects_to_the_agent_if_the_user_does_not_sign_in() {
    let (api, id) = oidc(&json!({}));
    let (browser, _, parameters) = at_provider(&api, &id);
    let state = value_of(&parameters, "state").unwrap();
    let query = super::form(&[("error", "login_required"), ("state", &state)]);
    let (address, back) =
        redirect_target(&browser.open(&api, &format!("/mcp/{id}/callback?{query}")));
    assert_eq!(address, CALLBACK);
    assert_eq!(value_of(&back, "error").as_deref(), Some("access_denied"));
    let query = super::form(&[("code", "c"), ("state", &state), ("iss", "https://evil.example")]);
    serve(&api);
    assert_eq!(browser.open(&api, &format!("/mcp/{id}/callback?{query}")).status, 503);
}

#[test]
fn sign_in_needs_a_valid_key() {
    let (api, id) = oidc(&json!({}));
    let signer = Signer::ec();
    let (browser, _, query) = at_provider(&api, &id);
    let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(&api, &query));
    serve_id_token(&api, &token, &[key("k", &signer)]);
    api.env.revoke(&api.key);
    assert_eq!(browser.open(&api, &callback(&id, &query)).status, 503);
    assert_eq!(api.env.texts("SELECT id FROM agent_grants"), Vec::<String>::new());
}

#[test]
fn a_sign_in_that_changed_while_the_provider_responded_authenticates_no_user() {
    for (at, change) in [
        "UPDATE agent_endpoints SET issuer = 'https://other.example', updated_at = updated_at + 1",
        "UPDATE agent_endpoints SET type = NULL, issuer = NULL, client_id = NULL, identity_claim = NULL",
        "UPDATE agent_endpoints SET type = 'app', issuer = NULL, client_id = NULL, identity_claim = NULL, sealed = NULL, url = 'https://app.example', updated_at = updated_at + 1",
        "UPDATE api_keys SET revoked_at = 1",
    ]
    .into_iter()
    .enumerate()
    {
        let (mut api, id) = oidc(&json!({}));
        let signer = Signer::ec();
        let (browser, _, query) = at_provider(&api, &id);
        let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(&api, &query));
        serve_id_token(&api, &token, &[key("k", &signer)]);
        api.change_while(&format!("agent-grant-{at}"), "https://id.example/token", change);
        assert_eq!(browser.open(&api, &callback(&id, &query)).status, 503, "{change}");
        assert_eq!(api.env.texts("SELECT id FROM agent_grants"), Vec::<String>::new(), "{change}");
        let changes = "SELECT id FROM audit WHERE target_type = 'agent_grant'";
        assert_eq!(api.env.texts(changes), Vec::<String>::new(), "{change}");
    }
}

#[test]
fn a_sign_in_that_changed_while_the_provider_responded_opens_no_link() {
    for (at, change) in [
        "UPDATE agent_endpoints SET issuer = 'https://other.example', updated_at = updated_at + 1",
        "UPDATE agent_endpoints SET type = NULL, issuer = NULL, client_id = NULL, identity_claim = NULL",
        "DELETE FROM agent_grants",
    ]
    .into_iter()
    .enumerate()
    {
        let (mut api, id) = oidc(&json!({}));
        crate::connect::set_client(&api, "acme");
        let signer = Signer::ec();
        let agent = sign_in_agent(&api, &id, &signer);
        let connect = json!({"platform": "acme"});
        let started = body(&agent.call(&api, &id, "start_connect", &connect));
        let url = &started["result"]["structuredContent"]["authorizationUrl"];
        let (browser, query) = open_link_at_provider(&api, url.as_str().unwrap());
        let token = signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims(&api, &query));
        serve_id_token(&api, &token, &[key("k", &signer)]);
        api.change_while(&format!("agent-link-{at}"), "https://id.example/token", change);
        let page = browser.open(&api, &callback(&id, &query));
        assert_eq!(page.status, 410, "{change}: {}", text(&page));
    }
}

#[test]
fn the_configuration_shows_that_its_key_has_ended() {
    let (api, id) = oidc(&json!({}));
    let agent = sign_in_agent(&api, &id, &Signer::ec());
    let other = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let get = |path: &str| body(&api.send(&as_key(&other, "GET", path)));
    let shown = get("/v1/agent-sign-in");
    assert_eq!(shown["keyState"], "active");
    assert_eq!(get("/v1/agent-grants")["rows"].as_array().unwrap().len(), 1);

    let key_id = shown["keyId"].as_str().unwrap();
    let expire = "UPDATE api_keys SET expires_at = 1 WHERE id = ?1";
    api.env.current_database().execute(expire, [key_id]).unwrap();
    assert_eq!(get("/v1/agent-sign-in")["keyState"], "expired");
    api.env.revoke(&api.key);
    let ended = get("/v1/agent-sign-in");
    assert_eq!((&ended["keyState"], &ended["keyId"]), (&json!("revoked"), &shown["keyId"]));
    assert_eq!(get("/v1/agent-grants")["rows"], json!([]));
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 401);

    serve(&api);
    let payload = json!({"type": "oidc", "issuer": ISSUER, "clientId": "vault"});
    let request = with_body(as_key(&other, "PUT", "/v1/agent-sign-in"), &payload.to_string());
    let configured = body(&api.send(&request));
    assert_eq!(configured["keyState"], "active", "{configured}");
    assert_ne!(configured["keyId"], shown["keyId"]);
}

#[test]
fn a_claim_that_the_id_token_lacks_is_read_from_the_userinfo_endpoint() {
    let user = json!({"sub": "ann", "email": "ann@example.com", "email_verified": true});
    let other = json!({"sub": "bob", "email": "ann@example.com", "email_verified": true});
    let unverified = json!({"sub": "ann", "email": "ann@example.com"});
    let url = "https://id.example/userinfo";
    for (endpoint, document, expected) in [
        (url, user.clone(), Ok("ann@example.com")),
        (url, other, Err("returns another `sub` than the ID token")),
        (url, unverified, Err("the claim `email_verified` is missing")),
        (url, json!({"sub": "ann"}), Err("the claim `email` is missing")),
        (url, json!("a.jwt.x"), Err("does not return a JSON object")),
        ("https://10.0.0.1/userinfo", user.clone(), Err("`userinfo_endpoint` ")),
        ("", user, Err("the claim `email` is missing")),
    ] {
        let (api, id) = oidc(&json!({"identityClaim": "email"}));
        api.env.wait(10 * 60_000);
        let signer = Signer::ec();
        let (keys, query) = (json!({"keys": [key("k", &signer)]}), RefCell::new(Vec::new()));
        let token = Rc::new(RefCell::new(String::new()));
        let mut metadata = discovery();
        if !endpoint.is_empty() {
            metadata["userinfo_endpoint"] = json!(endpoint);
        }
        let (id_token, served) = (Rc::clone(&token), document.clone());
        *api.env.platform.borrow_mut() = Box::new(move |request| match request.url.as_str() {
            "https://id.example/.well-known/openid-configuration" => response(200, &metadata),
            "https://id.example/token" => {
                response(200, &json!({"access_token": "at", "id_token": *id_token.borrow()}))
            }
            "https://id.example/keys" => response(200, &keys),
            "https://id.example/userinfo" => {
                let sent = ("authorization".to_owned(), "Bearer at".to_owned());
                assert!(request.method == Method::Get && request.headers.contains(&sent));
                response(200, &served)
            }
            other => panic!("no server for {other}"),
        });
        let (browser, _, sent) = at_provider(&api, &id);
        query.replace(sent);
        let mut claims = claims(&api, &query.borrow());
        claims.as_object_mut().unwrap().retain(|name, _| !name.starts_with("email"));
        token.replace(signer.sign(&json!({"alg": "ES256", "kid": "k"}), &claims));
        let page = browser.open(&api, &callback(&id, &query.borrow()));
        match expected {
            Ok(identity) => {
                assert_eq!(page.status, 200, "{document}: {:?}", page.log);
                assert!(text(&page).contains(identity));
            }
            Err(why) => {
                let log = page.log.clone().unwrap_or_default();
                assert!(page.status == 503 && log.contains(why), "{document}: {log}");
            }
        }
    }
}
