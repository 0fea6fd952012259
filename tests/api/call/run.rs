//! Running actions.

use serde_json::{Value, json};

use super::*;
use crate::support::{units, with_body};

/// A service with the actions of `acme`.
pub fn api() -> Api {
    api_with(&[])
}

/// Returns a service with the actions of `acme` and these settings.
pub fn api_with(settings: &[(&str, &str)]) -> Api {
    let parameter = |name: &str, place: &str, required: bool, schema: Value| {
        let (style, explode) = if place == "query" { ("form", true) } else { ("simple", false) };
        json!({
            "name": name, "in": place, "required": required, "schema": schema, "style": style, "explode": explode,
            "contentType": null,
        })
    };
    let action = |key: &str, method: &str, path: &str, extra: Value| {
        let mut action = json!({
            "title": key, "key": key, "method": method, "modelName": "Thing", "facts": {"path": path}, "parameters": [],
            "responses": [],
        });
        for (name, value) in extra.as_object().unwrap() {
            action[name] = value.clone();
        }
        action
    };
    let create = action(
        "createThing",
        "POST",
        "/owners/{owner}/things",
        json!({
            "parameters": [
                parameter("owner", "path", true, json!({"type": "string", "maxLength": 10})),
                parameter("notify", "query", false, json!({"type": "array", "items": {"enum": ["mail", "push"]}})),
                parameter("X-Trace", "header", false, json!({"type": "string"})),
            ],
            "requestBody": {"required": true, "contentTypes": ["application/json"], "schema": {"$ref": "#/$defs/thing"}},
            "reached": {"whole": [0]},
        }),
    );
    let get = action(
        "getThing",
        "GET",
        "/things/{id}",
        json!({
            "parameters": [parameter("id", "path", true, json!({"type": "integer", "minimum": 1}))],
            "requestBody": {"required": true, "contentTypes": ["application/json"], "schema": {"type": "object"}},
        }),
    );
    let other = action(
        "upload",
        "PUT",
        "/files",
        json!({
            "facts": {"path": "/files", "server": "https://files.acme.example:8443"},
            "requestBody": {"required": true, "contentTypes": ["image/png"], "schema": {"type": "string", "format": "binary"}},
        }),
    );
    let xml = action(
        "importThings",
        "POST",
        "/imports",
        json!({
            "requestBody": {
                "required": true, "contentTypes": ["application/xml; charset=utf-8"], "schema": {"$ref": "#/$defs/thing"},
            },
            "reached": {"whole": [0]},
        }),
    );
    let thing = r##"{"type":"object","properties":{"name":{"type":"string","minLength":1},"size":{"type":"integer"},"parts":{"type":"array","items":{"$ref":"#/$defs/thing"}}},"required":["name"],"additionalProperties":false}"##;
    let ping = action("ping", "POST", "/ping", json!({}));
    api_with_platforms(
        settings,
        units(json!({}), &[create, get, xml, ping, other], &[("thing", thing)]),
    )
}

pub fn run(api: &Api, path: &str, key: &str, input: &str) -> Response {
    api.send(&with_body(api.request("POST", &format!("{path}/actions/{key}")), input))
}

pub fn json_response(api: &Api, status: u16, document: &'static str) {
    platform(api, move |_| {
        let headers = [
            ("content-type", "application/json; charset=utf-8"),
            ("set-cookie", "a=b"),
            ("x-own", "1"),
        ];
        Ok(platform_response(status, &headers, document))
    });
}

#[test]
fn an_action_runs_with_validated_input() {
    let api = api();
    let path = acme(&api);
    json_response(&api, 201, r#"{"id":7,"big":12345678901234567890}"#);
    api.env.db_calls.set(0);
    let input = r#"{"path":{"owner":"a b"},"query":{"notify":["mail","push"]},"header":{"X-Trace":"t"},"body":{"name":"é","size":1.0,"parts":[{"name":"p"}]}}"#;
    let response = run(&api, &path, "createThing", input);
    assert_eq!(response.status, 200, "{}", text(&response));
    let expected = r#"{"status":201,"headers":{"content-type":"application/json; charset=utf-8","x-own":"1"},"body":{"id":7,"big":12345678901234567890}}"#;
    assert_eq!(text(&response), expected);
    assert_eq!(response.header("x-vault-source"), Some("platform"));
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    assert_eq!(api.env.db_calls.get(), 1);
    let requests = sent(&api);
    assert_eq!(requests.len(), 1);
    assert_eq!(
        requests[0].url,
        "https://api.acme.example/v2/owners/a%20b/things?notify=mail&notify=push"
    );
    assert_eq!(header(&requests[0], "authorization"), Some("Bearer at-1"));
    assert_eq!(header(&requests[0], "content-type"), Some("application/json"));
    assert_eq!(header(&requests[0], "x-trace"), Some("t"));
    // The body is sent byte for byte.
    assert_eq!(
        String::from_utf8_lossy(&requests[0].body),
        r#"{"name":"é","size":1.0,"parts":[{"name":"p"}]}"#
    );
    // The platform's response is returned, including error responses.
    json_response(&api, 422, r#"{"error":"no"}"#);
    let response = run(&api, &path, "getThing", r#"{"path":{"id":1}}"#);
    assert_eq!(
        (response.status, &body(&response)["status"], &body(&response)["body"]["error"]),
        (200, &json!(422), &json!("no"))
    );
    assert_eq!(sent(&api)[0].body, b"");
    // By default, calls with GET write no event.
    let events = body(&api.get("/v1/events?types=connection.called"));
    let called = &events["rows"][0]["data"]["call"];
    assert_eq!((&called["action"], &called["status"]), (&json!("createThing"), &json!(201)));
    assert_eq!((called.get("path"), events["rows"].as_array().unwrap().len()), (None, 1));
    // This action declares a server of its own.
    assert_eq!(run(&api, &path, "upload", r#"{"body":"aGk="}"#).status, 200);
    let requests = sent(&api);
    assert_eq!(
        (requests[0].url.as_str(), requests[0].body.as_slice()),
        ("https://files.acme.example:8443/files", &b"hi"[..])
    );
}

#[test]
fn an_action_that_needs_no_input_runs_without_a_body() {
    let api = api();
    let path = acme(&api);
    json_response(&api, 200, "{}");
    let post = |key: &str| api.request("POST", &format!("{path}/actions/{key}"));
    for request in [
        post("ping"),
        with_header(post("ping"), "content-type", "application/json"),
        // The request that `curl -d ''` sends.
        with_header(post("ping"), "content-type", "application/x-www-form-urlencoded"),
        with_body(post("ping"), "{}"),
    ] {
        let response = api.send(&request);
        assert_eq!((response.status, &body(&response)["status"]), (200, &json!(200)));
        assert_eq!(sent(&api).len(), 1);
    }
    // Missing input is reported as for an empty object.
    let response = api.send(&post("getThing"));
    assert_eq!(response.status, 400);
    assert_eq!(
        body(&response)["errors"],
        json!([{"pointer": "/path/id", "detail": "`path/id` is required"}])
    );
    assert_eq!(sent(&api).len(), 0);
}

#[test]
fn a_body_that_is_neither_json_nor_a_form_is_a_string() {
    let api = api();
    let path = acme(&api);
    json_response(&api, 200, "{}");
    let response = run(&api, &path, "importThings", r#"{"body":"<thing name=\"é\"/>"}"#);
    assert_eq!(response.status, 200, "{}", text(&response));
    let requests = sent(&api);
    assert_eq!(header(&requests[0], "content-type"), Some("application/xml; charset=utf-8"));
    assert_eq!(String::from_utf8_lossy(&requests[0].body), r#"<thing name="é"/>"#);
    let response = run(&api, &path, "importThings", r#"{"body":{"name":"é"}}"#);
    assert_eq!(response.status, 400);
    assert_eq!(
        body(&response)["errors"],
        json!([{"pointer": "/body", "detail": "`body` must be a string"}])
    );
    assert_eq!(sent(&api).len(), 0);
    // The action's detail contains the schema of the document.
    let action = body(&api.get("/v1/available-actions/acme/importThings"));
    assert_eq!(action["input"]["properties"]["body"]["type"], "string");
    assert_eq!(action["requestBody"]["schema"], json!({"$ref": "#/input/$defs/thing"}));
    assert_eq!(action["input"]["$defs"]["thing"]["type"], "object");
}

#[test]
fn errors_about_unknown_members_name_the_right_location() {
    let api = api();
    let path = acme(&api);
    let response = run(&api, &path, "getThing", r#"{"colour":5}"#);
    assert_eq!(
        body(&response)["detail"],
        "`colour` is not a field of this body: send what the action takes in `path`, `query`, `header` or `body`"
    );
}

#[test]
fn all_input_faults_are_reported_before_a_request() {
    let api = api();
    let path = acme(&api);
    json_response(&api, 200, "{}");
    for (key, input, faults) in [
        (
            "createThing",
            json!({}),
            json!([["/path/owner", "`path/owner` is required"], ["/body", "`body` is required"]]),
        ),
        (
            "createThing",
            json!({"path": {"owner": "much too long"}, "query": {"notify": ["mial"], "ntify": 1}, "body": {"size": "1", "parts": [{"name": ""}]}}),
            json!([
                ["/body/name", "`body/name` is required"],
                ["/body/size", "`body/size` must be a whole number"],
                ["/body/parts/0/name", "`body/parts/0/name` must have at least 1 character"],
                ["/path/owner", "`path/owner` must have at most 10 characters"],
                ["/query/notify/0", "`query/notify/0` must be one of \"mail\", \"push\""],
                ["/query/ntify", "`query/ntify` is unknown; did you mean `notify`?"],
            ]),
        ),
        (
            "createThing",
            json!({"path": {"owner": ".."}, "body": {"name": "x"}}),
            json!([["/path/owner", "`path/owner` must not be empty, and must not be `.` or `..`"]]),
        ),
        (
            "createThing",
            json!({"path": {"owner": "x"}, "header": {"X-Trace": "a\r\nb: c"}, "body": {"name": "x"}}),
            json!([["/header/X-Trace", "`header/X-Trace` must not contain control characters"]]),
        ),
        (
            "getThing",
            json!({"path": {"id": 0}, "body": 1}),
            json!([
                ["/path/id", "`path/id` must be at least 1"],
                ["/body", "`body` can't be sent: a request with `GET` can't have a body"]
            ]),
        ),
        (
            "getThing",
            json!({"paht": {}}),
            json!([["/paht", "`paht` is not a field of this body; did you mean `path`?"]]),
        ),
        (
            "getThing",
            json!({"id": 5}),
            json!([["/id", "`id` is a member of `path`: send `{\"path\": {\"id\": …}}`"]]),
        ),
        (
            "upload",
            json!({"body": "?"}),
            json!([["/body", "`body` must be bytes in base64, with padding"]]),
        ),
    ] {
        let response = run(&api, &path, key, &input.to_string());
        assert_eq!(
            (response.status, &body(&response)["code"]),
            (400, &json!("invalid_body")),
            "{input}"
        );
        assert_eq!(response.header("x-vault-source"), Some("vault"));
        let errors = body(&response)["errors"].as_array().unwrap().clone();
        let mut found: Vec<Value> =
            errors.iter().map(|error| json!([error["pointer"], error["detail"]])).collect();
        let mut expected = faults.as_array().unwrap().clone();
        found.sort_by_key(Value::to_string);
        expected.sort_by_key(Value::to_string);
        assert_eq!(found, expected);
    }
    let twice = r#"{"path":{"owner":"x"},"body":{"name":"x","parts":[{"name":"a","name":"b"}]}}"#;
    let response = run(&api, &path, "createThing", twice);
    assert_eq!(
        body(&response)["errors"][0]["pointer"],
        "/body/parts/0/name",
        "{}",
        text(&response)
    );
    for (input, status, code) in
        [("[]", 400, "invalid_body"), ("{", 400, "invalid_body"), ("", 400, "invalid_body")]
    {
        let response = run(&api, &path, "getThing", input);
        assert_eq!((response.status, &body(&response)["code"]), (status, &json!(code)), "{input}");
    }
    assert_eq!(call(&api, "POST", &format!("{path}/actions/getThing"), "{}").status, 415);
    let response = run(&api, &path, "getThng", "{}");
    assert_eq!((response.status, &body(&response)["code"]), (404, &json!("action_not_found")));
    assert_eq!(body(&response)["suggestions"], json!(["getThing"]));
    let unknown = "/v1/vault/connections/00000000-0000-4000-8000-000000000000";
    assert_eq!(body(&run(&api, unknown, "getThing", "{}"))["code"], "connection_not_found");
    assert_eq!(api.get(&format!("{path}/actions/getThing")).status, 405);
    assert_eq!(sent(&api).len(), 0);
}

#[test]
fn responses_keep_their_content_type() {
    let api = api();
    let path = acme(&api);
    for (content_type, reply, expected) in [
        ("application/json", &b"[1, 2.50]"[..], r"[1, 2.50]"),
        ("application/problem+json", b"{}", "{}"),
        ("application/json", b"not json", "\"not json\""),
        ("application/json", b"", "null"),
        ("text/html; charset=utf-8", b"<p>", "\"<p>\""),
        ("application/xml", b"<a/>", "\"<a/>\""),
        ("", b"text", "\"text\""),
        ("image/png", b"\x89PNG", r#"{"base64":"iVBORw==","contentType":"image/png"}"#),
        ("application/zip", b"PK", r#"{"base64":"UEs=","contentType":"application/zip"}"#),
        ("text/plain", b"\xff", r#"{"base64":"/w==","contentType":"text/plain"}"#),
    ] {
        platform(&api, move |_| {
            let mut response = platform_response(200, &[("content-type", content_type)], "");
            response.body = reply.to_vec();
            Ok(response)
        });
        let response = run(&api, &path, "getThing", r#"{"path":{"id":1}}"#);
        assert!(
            text(&response).ends_with(&format!("\"body\":{expected}}}")),
            "{}",
            text(&response)
        );
    }
    platform(&api, |_| {
        let mut large = platform_response(200, &[], "");
        large.body = vec![b'x'; (8 << 20) + 1];
        Ok(large)
    });
    let response = run(&api, &path, "getThing", r#"{"path":{"id":1}}"#);
    assert_eq!(text(&response), r#"{"status":200,"headers":{},"body":null,"bodyTooLarge":true}"#);
}

#[test]
fn rejects_a_body_for_actions_without_one() {
    let api = api();
    let path = acme(&api);
    json_response(&api, 200, "{}");
    let action = body(&api.get("/v1/available-actions/acme/getThing"));
    assert_eq!(
        (&action["requestBody"], &action["input"]["required"]),
        (&Value::Null, &json!(["path"]))
    );
    let refusal = run(&api, &path, "getThing", r#"{"path":{"id":1},"body":{"q":1}}"#);
    assert_eq!(refusal.status, 400);
    let error = &body(&refusal)["errors"][0];
    assert_eq!(error["pointer"], "/body");
    assert_eq!(error["detail"], "`body` can't be sent: a request with `GET` can't have a body");
    assert!(sent(&api).is_empty());
    for input in [r#"{"path":{"id":1}}"#, r#"{"path":{"id":1},"body":null}"#] {
        let response = run(&api, &path, "getThing", input);
        assert_eq!(response.status == 200, !input.contains("null"), "{input}");
    }
}

#[test]
fn responses_in_other_charsets_are_decoded() {
    let api = api();
    let path = acme(&api);
    for (content_type, bytes, expected) in [
        ("text/plain; charset=ISO-8859-1", &b"caf\xe9"[..], json!("café")),
        ("text/plain; charset=\"windows-1252\"", b"\x80", json!("€")),
        ("text/csv; charset=utf-16", b"a\0", json!("a")),
        (
            "text/xml",
            b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>",
            json!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>é</a>"),
        ),
        (
            "application/json",
            b"\xef\xbb\xbf{\"a\":12345678901234567890}",
            json!({"a": 12_345_678_901_234_567_890_u64}),
        ),
        ("application/json; charset=utf-8", b"\xff\xfe1\0", json!(1)),
        ("application/json; charset=iso-8859-1", b"{\"a\":\"\xe9\"}", json!({"a": "é"})),
        ("text/plain", b"\xe9", json!({"base64": "6Q==", "contentType": "text/plain"})),
        (
            "text/plain; charset=x-own",
            b"\xe9",
            json!({"base64": "6Q==", "contentType": "text/plain; charset=x-own"}),
        ),
        ("image/png", b"\x89P", json!({"base64": "iVA=", "contentType": "image/png"})),
        (
            "application/octet-stream",
            b"abc",
            json!({"base64": "YWJj", "contentType": "application/octet-stream"}),
        ),
    ] {
        platform(&api, move |_| {
            let headers = vec![("content-type".to_owned(), content_type.to_owned())];
            Ok(HttpResponse { status: 200, headers, body: bytes.to_vec() })
        });
        let response = run(&api, &path, "getThing", r#"{"path":{"id":1}}"#);
        assert_eq!(body(&response)["body"], expected, "{content_type}");
    }
}
