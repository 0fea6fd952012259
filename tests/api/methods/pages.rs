//! Lists whose next page is named only in the response body.

use connector_vault::http::body::budget::{Holder, MAX_BYTES_PER_ACCOUNT};

use super::*;

const PROVIDERS: &str = "[platforms.acme]\nname = 'Acme'\ndocuments = ['acme']\nservers = ['https://api.acme.example/v1']\npagination = [{ next = '/meta/next', parameter = 'cursor' }]\n\n[[platforms.acme.auth]]\nid = 'key'\ntype = 'api_key'\nin = 'header'\nname = 'X-Key'\nsource = 's'\nread = '2026-11-27'\n";

const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

fn acme(name: &str) -> (Api, String) {
    let paths = json!({"/users": {"get": operation("listUsers", &json!({}))}});
    let document = document(&json!({}), &json!([]), &paths);
    let api = import_catalog(name, &[document], PROVIDERS);
    let path = connected(&api, "acme", None, &json!({"apiKey": "k"}));
    (api, path)
}

#[test]
fn a_response_body_can_name_the_next_page() {
    let (api, path) = acme("pages");
    let long = format!("{{\"meta\": {{\"next\": \"c\"}}, \"x\": \"{}\"}}", "x".repeat(600_000));
    for (headers, status, reply, expected) in [
        (vec![JSON], 200, r#"{"meta": {"next": "c=2"}}"#, Some("users?a=1&cursor=c%3D2")),
        (vec![JSON], 200, r#"{"meta": {"next": ""}}"#, None),
        (vec![JSON], 200, r#"{"meta": {}}"#, None),
        (vec![JSON], 200, "no JSON", None),
        (vec![JSON], 404, r#"{"meta": {"next": "c"}}"#, None),
        (vec![("content-type", "text/plain")], 200, r#"{"meta": {"next": "c"}}"#, None),
        (vec![], 200, r#"{"meta": {"next": "c"}}"#, None),
        (vec![JSON], 200, &long, None),
        (
            vec![JSON, ("link", "</v1/users?page=2>; rel=next")],
            200,
            r#"{"meta": {"next": "c"}}"#,
            Some("users?page=2"),
        ),
    ] {
        let sent_back = reply.to_owned();
        platform(&api, move |_| Ok(platform_response(status, &headers, &sent_back)));
        let request = format!("{path}/proxy/users?a=1&cursor=c1");
        let response = api.get(&request);
        assert_eq!(response.header("x-vault-next"), expected, "{status} {reply:.40}");
        let passed = response.proxied.as_ref().unwrap().body.downcast_ref::<Vec<u8>>().unwrap();
        assert_eq!(passed, reply.as_bytes(), "the body is passed on whole");
    }
    platform(&api, |_| Ok(platform_response(200, &[JSON], r#"{"meta": {"next": "c"}}"#)));
    let posted = send(&api, "POST", &format!("{path}/proxy/users"), &json!({}));
    assert_eq!(posted.header("x-vault-next"), None, "the next page of a POST is unknown");
}

#[test]
fn a_list_fails_if_the_isolate_cannot_read_its_next_page() {
    const REPLY: &str = r#"{"meta": {"next": "c"}}"#;
    let (api, path) = acme("pages-of-a-full-isolate");
    platform(&api, |_| Ok(platform_response(200, &[JSON], REPLY)));
    let budget = api.service.responses();
    let holder = Holder { account: "acme", identity: None };
    let others = budget.reserve("GET", holder, api.env.now.get()).unwrap();
    let users = || api.get(&format!("{path}/proxy/users"));
    assert!(others.grow_to(MAX_BYTES_PER_ACCOUNT - REPLY.len()));
    assert_eq!(users().header("x-vault-next"), Some("users?cursor=c"));
    assert_eq!(budget.held(), MAX_BYTES_PER_ACCOUNT - REPLY.len());
    assert!(others.grow_to(MAX_BYTES_PER_ACCOUNT - REPLY.len() + 1));
    let refused = users();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    // If the body need not be searched for a link, no memory is reserved.
    platform(&api, |_| Ok(platform_response(200, &[], REPLY)));
    assert_eq!(users().status, 200);
}

#[test]
fn an_action_can_name_the_next_page() {
    let (api, path) = acme("pages-of-actions");
    platform(&api, |_| {
        Ok(platform_response(200, &[JSON], r#"{"meta": {"next": 7}, "data": [1]}"#))
    });
    let response =
        send(&api, "POST", &format!("{path}/actions/listUsers"), &json!({"select": ["/data"]}));
    assert_eq!(response.status, 200, "{}", body(&response));
    assert_eq!(response.header("x-vault-next"), Some("users?cursor=7"));
    assert_eq!(body(&response)["body"], json!({"data": [1]}));
}
