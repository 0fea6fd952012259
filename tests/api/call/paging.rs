//! Forwarded URLs, the next page of a list, and retries.

use std::cell::Cell;
use std::rc::Rc;

use connector_vault::catalog::action::unit::Units;
use serde_json::json;

use super::*;

#[test]
fn the_root_of_a_server_is_called_without_a_slash_too() {
    let api = api_with_platforms(&[], Units::default());
    platform(&api, |_| Ok(platform_response(200, &[], "")));
    let acme = acme(&api);
    let bearer = connection_with(&api, "bearer", &json!({"type": "bearer", "token": "t"}));
    for (path, url) in [
        (format!("{acme}/proxy"), "https://api.acme.example/v2"),
        (format!("{acme}/proxy?x=1"), "https://api.acme.example/v2?x=1"),
        (format!("{acme}/proxy/"), "https://api.acme.example/v2/"),
        (format!("{acme}/proxy/?x=1"), "https://api.acme.example/v2/?x=1"),
        (format!("{bearer}/proxy"), "https://api.bearer.example/"),
        (format!("{bearer}/proxy?x=1"), "https://api.bearer.example/?x=1"),
    ] {
        for method in ["GET", "POST"] {
            sent(&api);
            assert_eq!(call(&api, method, &path, "").status, 200, "{path}");
            assert_eq!(sent(&api)[0].url, url, "{path}");
        }
    }
    assert_eq!(call(&api, "GET", &format!("{acme}/proxyx"), "").status, 404);
}

#[test]
fn accepts_an_absolute_url_of_the_server() {
    let api = api_with_platforms(&[], Units::default());
    platform(&api, |_| Ok(platform_response(200, &[], "")));
    let acme = acme(&api);
    let called = |address: &str| call(&api, "GET", &format!("{acme}/proxy/{address}"), "");
    assert_eq!(called("https://api.acme.example/v2/users?page=2").status, 200);
    assert_eq!(sent(&api)[0].url, "https://api.acme.example/v2/users?page=2");
    for address in [
        "https://api.acme.example/v3/users",
        "https://files.acme.example:8443/x",
        "https://elsewhere.example/v2/users",
        "http://api.acme.example/v2/users",
    ] {
        let refusal = called(address);
        assert_eq!((refusal.status, &body(&refusal)["code"]), (400, &json!("invalid_parameter")));
        let detail = &body(&refusal)["detail"];
        assert_eq!(
            detail, "`path` must be a path below `https://api.acme.example/v2`",
            "{address}"
        );
    }
    assert!(sent(&api).is_empty());
}

#[test]
fn rejects_a_body_with_get() {
    let api = api_with_platforms(&[], Units::default());
    platform(&api, |_| Ok(platform_response(200, &[], "")));
    let path = format!("{}/proxy/search", acme(&api));
    for method in ["GET", "HEAD"] {
        for sent_body in [Body::Whole(b"{}".to_vec()), Body::Stream, Body::TooLarge] {
            let mut request = api.request(method, &path);
            request.body = sent_body;
            let refusal = api.send(&request);
            assert_eq!(refusal.status, 400, "{method}");
            if method == "GET" {
                assert_eq!(
                    (&body(&refusal)["code"], &body(&refusal)["detail"]),
                    (
                        &json!("invalid_body"),
                        &json!(
                            "A request with `GET` can't have a body. If the platform accepts it, use `POST`."
                        )
                    )
                );
            }
        }
    }
    assert!(sent(&api).is_empty());
}

#[test]
fn the_next_page_is_a_path_below_the_proxy() {
    let api = api_with_platforms(&[], Units::default());
    let acme = acme(&api);
    let query = connection_with(&api, "query", &json!({"type": "api_key", "apiKey": "s"}));
    for (path, link, next, shown) in [
        (
            &acme,
            "<https://api.acme.example/v2/users?page=2>; rel=\"next\"",
            Some("users?page=2"),
            None,
        ),
        (&acme, "</v2/users?page=2>; rel=next", Some("users?page=2"), None),
        (&acme, "<https://api.acme.example/v3/users?page=2>; rel=\"next\"", None, None),
        (&acme, "<https://elsewhere.example/v2/users?page=2>; rel=\"next\"", None, None),
        (&acme, "<https://api.acme.example/v2/users?page=0>; rel=\"prev\"", None, None),
        (
            &query,
            "<https://api.query.example/users?page=2&api%20key=s>; rel=\"next\", <https://api.query.example/users?api%20key=s&page=9>; rel=\"last\"",
            Some("users?page=2"),
            Some(
                "<https://api.query.example/users?page=2>; rel=\"next\", <https://api.query.example/users?page=9>; rel=\"last\"",
            ),
        ),
    ] {
        platform(&api, move |_| {
            Ok(platform_response(200, &[("link", link), ("x-vault-next", "theirs")], "[]"))
        });
        let response = call(&api, "GET", &format!("{path}/proxy/users"), "");
        assert_eq!(response.header("x-vault-next"), next, "{link}");
        assert_eq!(forwarded_header(&response, "link"), Some(shown.unwrap_or(link)), "{link}");
        if let Some(next) = next {
            sent(&api);
            assert_eq!(call(&api, "GET", &format!("{path}/proxy/{next}"), "").status, 200);
            let url = sent(&api).remove(0).url;
            assert!(url.contains("/users?page=2"), "{url}");
        }
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn a_temporarily_refused_request_is_retried_at_the_time_that_the_platform_names() {
    let api = api_with_platforms(&[], Units::default());
    let path = format!("{}/proxy/users", acme(&api));
    for (method, retries, key, refusals, status, wait, calls, slept, retry_at) in [
        ("GET", "3", None, 1, 429, "2", 2, vec![2000], None),
        ("GET", "3", None, 9, 503, "1", 4, vec![1000, 1000, 1000], Some(1000)),
        ("GET", "1", None, 9, 429, "20", 2, vec![20_000], Some(20_000)),
        ("GET", "3", None, 9, 429, "21", 1, vec![], Some(21_000)),
        ("GET", "3", None, 9, 429, "", 1, vec![], None),
        ("GET", "3", None, 9, 500, "1", 1, vec![], None),
        ("GET", "0", None, 9, 429, "1", 1, vec![], Some(1000)),
        ("HEAD", "1", None, 1, 429, "1", 2, vec![1000], None),
        ("POST", "3", None, 9, 429, "1", 1, vec![], Some(1000)),
        ("POST", "3", Some("k"), 1, 429, "1", 2, vec![1000], None),
        ("DELETE", "3", None, 9, 429, "1", 1, vec![], Some(1000)),
    ] {
        let count = Rc::new(Cell::new(0));
        let counted = Rc::clone(&count);
        platform(&api, move |_| {
            counted.set(counted.get() + 1);
            let headers = if wait.is_empty() { vec![] } else { vec![("retry-after", wait)] };
            Ok(if counted.get() > refusals { platform_response(200, &[], "") } else { platform_response(status, &headers, "") })
        });
        api.env.pauses.take();
        let mut request = with_header(api.request(method, &path), "x-vault-retries", retries);
        if let Some(key) = key {
            request = with_header(request, "idempotency-key", key);
        }
        let response = api.send(&request);
        let name = format!("{method} {retries} {status} {wait}");
        assert_eq!(response.status, if calls > refusals { 200 } else { status }, "{name}");
        let pauses: Vec<u32> = api.env.pauses.take();
        assert_eq!((count.get(), pauses), (calls, slept), "{name}");
        let expected = retry_at.map(|wait| connector_vault::util::rfc3339::rfc3339(api.env.now.get() + wait).unwrap());
        assert_eq!(response.header("x-vault-retry-at").map(str::to_owned), expected, "{name}");
        assert!(sent(&api).iter().all(|request| header(request, "x-vault-retries").is_none()));
    }
    for wrong in ["4", "-1", "x", "", "1.0"] {
        let refusal = api.send(&with_header(api.request("GET", &path), "x-vault-retries", wrong));
        let error = &body(&refusal)["errors"][0];
        assert_eq!((refusal.status, &error["parameter"]), (400, &json!("x-vault-retries")), "{wrong}");
        assert_eq!(error["detail"], "`x-vault-retries` must be a whole number from 0 to 3");
    }
}
