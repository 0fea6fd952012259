//! The client's WebAssembly in Node and in a browser. The tests make the same calls as `npm/src`;
//! `npm test` runs them in both.
#![cfg(all(target_arch = "wasm32", feature = "client"))]
#![expect(clippy::unwrap_used, clippy::string_slice, reason = "tests fail by panicking")]

use connector_vault::client::call::Call;
use connector_vault::client::keys::{parse_connection_key, parse_connector_key};
use connector_vault::client::secret::is_api_key;
use js_sys::{Array, JSON, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{AbortController, Headers, Request};

const BASE: &str = "https://vault.example/below";
const ID: &str = "0190c0de-0000-7000-8000-00000000000a";
const KEY: &str = "sk_test_00000000000000000000000000000000127lYz";

/// Formats a value as JSON, for comparison.
fn json(value: &JsValue) -> String {
    JSON::stringify(value).unwrap().into()
}

fn parsed(text: &str) -> JsValue {
    JSON::parse(text).unwrap()
}

fn values(path: &[&str]) -> Array {
    path.iter().map(|value| JsValue::from_str(value)).collect()
}

fn call(operation: &str, path: &[&str], query: &str) -> Result<Call, JsValue> {
    Call::of(operation, &values(path), Some(query.into()), None, &JsValue::UNDEFINED)
}

fn with_body(operation: &str, path: &[&str], body: &str) -> Result<Call, JsValue> {
    Call::of(operation, &values(path), None, Some(body.into()), &parsed(body))
}

/// The request that a call builds. Panics if the call was rejected.
fn request(call: Result<Call, JsValue>) -> Request {
    let call = call.map_err(|failure| json(&failure)).unwrap();
    let headers = Headers::new().unwrap();
    headers.set("x-service-secret", KEY).unwrap();
    call.request(BASE, headers, &AbortController::new().unwrap().signal()).unwrap()
}

fn member(value: &JsValue, name: &str) -> JsValue {
    Reflect::get(value, &name.into()).unwrap()
}

/// The status and code of an error, and the location and suggestion of each detail.
fn refusal(call: Result<Call, JsValue>) -> String {
    let failure = call.err().unwrap();
    let faults = Array::from(&member(&failure, "errors")).into_iter().map(|fault| {
        let [parameter, pointer, suggestion] =
            ["parameter", "pointer", "suggestion"].map(|name| member(&fault, name).as_string());
        let location = parameter.or(pointer).unwrap();
        assert!(member(&fault, "detail").as_string().is_some_and(|detail| !detail.is_empty()));
        location + &suggestion.map(|name| format!(">{name}")).unwrap_or_default()
    });
    let faults: Vec<String> = faults.collect();
    let status = member(&failure, "status").as_f64().unwrap();
    let code = member(&failure, "code").as_string().unwrap();
    format!("{status} {code} {}", faults.join(" ")).trim_end().to_owned()
}

#[wasm_bindgen_test]
fn calls_build_the_expected_requests() {
    let platform = "a b/ü".to_owned();
    for (call, method, address) in [
        (call("whoami", &[], ""), "GET", "/v1/whoami"),
        (call("summary", &[], ""), "GET", "/v1/vault/summary"),
        (call("listConnectors", &[], ""), "GET", "/v1/available-connectors"),
        (
            call("listConnectors", &[], "q=a%20b&limit=2"),
            "GET",
            "/v1/available-connectors?q=a%20b&limit=2",
        ),
        (
            call("listActions", &[&platform], "method=get"),
            "GET",
            "/v1/available-actions/a%20b%2F%C3%BC?method=get",
        ),
        (
            call("getAction", &[&platform, "orders/list"], "include=responses"),
            "GET",
            "/v1/available-actions/a%20b%2F%C3%BC/orders%2Flist?include=responses",
        ),
        (
            call("listConnections", &[], "tags=a,b&tagsMatch=any"),
            "GET",
            "/v1/vault/connections?tags=a,b&tagsMatch=any",
        ),
        (
            call("readConnection", &[&ID.to_uppercase()], ""),
            "GET",
            "/v1/vault/connections/0190c0de-0000-7000-8000-00000000000a",
        ),
        (
            call("deleteConnection", &[ID], ""),
            "DELETE",
            "/v1/vault/connections/0190c0de-0000-7000-8000-00000000000a",
        ),
    ] {
        let request = request(call);
        assert_eq!(request.method(), method);
        assert_eq!(request.url(), format!("{BASE}{address}"));
        assert_eq!(request.headers().get("x-service-secret").unwrap().as_deref(), Some(KEY));
        assert_eq!(request.redirect(), web_sys::RequestRedirect::Manual);
    }
}

#[wasm_bindgen_test]
async fn bodies_are_sent_as_they_are() {
    let tags = r#"{"tags":["b","a","b"]}"#;
    let new = r#"{"platform":"github","identity":"ann","identityType":"user","name":null}"#;
    let session = r#"{"identity":"ann","scopes":["catalog:read"],"ttlSeconds":60}"#;
    for (call, method, body) in [
        (with_body("updateConnection", &[ID], tags), "PATCH", tags),
        (with_body("createSession", &[], session), "POST", session),
        (with_body("createConnection", &[], new), "POST", new),
    ] {
        let request = request(call);
        assert_eq!(request.method(), method);
        let content_type = request.headers().get("content-type").unwrap();
        assert_eq!(content_type.as_deref(), Some("application/json"));
        let text = js_sys::futures::JsFuture::from(request.text().unwrap()).await.unwrap();
        assert_eq!(text.as_string().as_deref(), Some(body));
    }
}

#[wasm_bindgen_test]
fn each_attempt_gets_a_new_request() {
    let body = "{}";
    let call = with_body("updateConnection", &[ID], body).unwrap();
    for _ in 0..2 {
        let signal = AbortController::new().unwrap().signal();
        let request = call.request(BASE, Headers::new().unwrap(), &signal).unwrap();
        assert!(!request.body_used());
        let _reading = request.text().unwrap();
    }
}

#[wasm_bindgen_test]
fn aborting_the_signal_aborts_the_request() {
    let controller = AbortController::new().unwrap();
    let request = call("whoami", &[], "").unwrap().request(
        BASE,
        Headers::new().unwrap(),
        &controller.signal(),
    );
    let request = request.unwrap();
    assert!(!request.signal().aborted());
    controller.abort();
    assert!(request.signal().aborted());
}

#[wasm_bindgen_test]
fn invalid_parameters_are_rejected_without_a_request() {
    let list = |query: &str| refusal(call("listConnections", &[], query));
    for (failure, expected) in [
        (
            refusal(call("listConnectors", &[], "platfrom=x&limit=0")),
            "400 unknown_parameter platfrom>platform limit",
        ),
        (refusal(call("listActions", &["github"], "q=%20")), "400 invalid_parameter q"),
        (refusal(call("listActions", &[".."], "")), "404 platform_not_found"),
        (refusal(call("getAction", &["..", ".."], "")), "404 platform_not_found"),
        (refusal(call("getAction", &["github", ".."], "")), "404 action_not_found"),
        (
            refusal(call("getAction", &["github", "x"], "include=all")),
            "400 invalid_parameter include",
        ),
        (list("identityType=users"), "400 invalid_parameter identityType>user"),
        (list("after=x&page=2"), "400 invalid_parameter after after"),
        (list("tagsMatch=any"), "400 invalid_parameter tagsMatch"),
        (refusal(call("readConnection", &["7"], "")), "404 connection_not_found"),
        (refusal(call("deleteConnection", &[""], "")), "404 connection_not_found"),
    ] {
        assert_eq!(failure, expected);
    }
}

#[wasm_bindgen_test]
fn invalid_bodies_are_rejected_without_a_request() {
    let large = format!(r#"{{"tags":["{}"]}}"#, "x".repeat(70_000));
    for (body, expected) in [
        ("null", "400 invalid_body "),
        ("[]", "400 invalid_body "),
        (r#"{"tags":"a"}"#, "400 invalid_body /tags"),
        (
            r#"{"tags":["ok"," a",1,null,[],{}]}"#,
            "400 invalid_body /tags/1 /tags/2 /tags/3 /tags/4 /tags/5",
        ),
        (r#"{"tag":[]}"#, "400 invalid_body /tag>tags"),
        (r#"{"ta~gs":[]}"#, "400 invalid_body /ta~0gs>tags"),
        (r#"{"a/b~c":1}"#, "400 invalid_body /a~1b~0c"),
        (&large, "413 body_too_large"),
    ] {
        let call = with_body("updateConnection", &[ID], body);
        assert_eq!(refusal(call), expected.trim_end(), "{}", &body[..body.len().min(60)]);
    }
    for (body, expected) in [
        ("{}", "/identity"),
        (
            r#"{"identity":"ann","ttlSeconds":3600,"platforms":["github"],"origins":["https://app.example"]}"#,
            "",
        ),
        (r#"{"identity":"ann","platforms":[]}"#, "/platforms"),
        (r#"{"identity":"ann","ttlSeconds":59.5}"#, "/ttlSeconds"),
        (r#"{"identity":"ann","ttlSeconds":-60}"#, "/ttlSeconds"),
        (r#"{"identity":"ann","ttlSeconds":3601}"#, "/ttlSeconds"),
        (r#"{"identity":"ann","ttlSeconds":"60"}"#, "/ttlSeconds"),
        (r#"{"identity":"ann","ttlSeconds":1e300}"#, "/ttlSeconds"),
        (r#"{"identity":"ann","ttl":60}"#, "/ttl>ttlSeconds"),
        (r#"{"identity":"ann","scopes":["sessions:create"]}"#, "/scopes/0"),
        (r#"{"identity":"ann","origins":["https://app.example/"]}"#, "/origins/0"),
    ] {
        let call = with_body("createSession", &[], body);
        let message = call.map_or_else(|problem| refusal(Err(problem)), |_| String::new());
        assert_eq!(message.trim_start_matches("400 invalid_body "), expected, "{body}");
    }
    let body = r#"{"platform":1,"identity":"a,b","active":"yes","name":null}"#;
    let call = with_body("createConnection", &[], body);
    assert_eq!(refusal(call), "400 invalid_body /identityType /platform /identity /active");
}

#[wasm_bindgen_test]
fn distinguishes_api_keys_from_tokens() {
    assert!(is_api_key(KEY).unwrap());
    assert!(!is_api_key("st_live_whatever.the-service_makes").unwrap());
    let code = |secret: &str| member(&is_api_key(secret).unwrap_err(), "code").as_string();
    assert_eq!(code("").as_deref(), Some("missing_key"));
    for secret in
        ["sk_test_", &KEY.replace('z', "y"), &format!("{KEY} "), "st_test_a b", "st_test_é"]
    {
        assert_eq!(code(secret).as_deref(), Some("invalid_key"), "{secret}");
    }
}

#[wasm_bindgen_test]
fn splits_keys_into_their_parts() {
    let connection = parse_connection_key("live::github::default::a::b").unwrap();
    assert_eq!(
        json(connection.unchecked_ref()),
        r#"{"environment":"live","platform":"github","label":"default","identity":"a::b"}"#
    );
    let connector = parse_connector_key("api::github::v3").unwrap();
    assert_eq!(json(connector.unchecked_ref()), r#"{"platform":"github","platformVersion":"v3"}"#);
    for key in [
        "",
        "test::github::default::",
        "test::GitHub::default::a",
        "test::github::a b::a",
        "x::y::z::a",
    ] {
        assert!(parse_connection_key(key).is_err(), "{key}");
    }
    for key in ["", "api::github", "api::github::1", "api::git hub::v1"] {
        assert!(parse_connector_key(key).is_err(), "{key}");
    }
}
