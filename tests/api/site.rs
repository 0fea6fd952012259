//! Public endpoints, and the browser headers of every response.

use connector_vault::http::endpoint::Endpoint;
use connector_vault::http::{Request, Service};

use crate::support::{Api, anonymous, as_key, body, config, with_header};
use crate::vault::code;

const SECURITY_TXT: &str = "/.well-known/security.txt";

#[test]
fn security_txt_names_a_contact() {
    let mut api = Api::with_catalog();
    let unset = api.send(&anonymous("GET", SECURITY_TXT));
    assert_eq!((unset.status, code(&unset).as_str()), (404, "route_not_found"));
    let contacts = "security@a.example, https://a.example/report";
    api.service = Service::new(config(&[("SECURITY_CONTACT", contacts)]));
    let get = api.send(&anonymous("GET", SECURITY_TXT));
    assert_eq!((get.status, get.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert_eq!(
        String::from_utf8(get.body.clone()).unwrap(),
        "Contact: mailto:security@a.example\nContact: https://a.example/report\nExpires: 2027-07-14T08:00:00.000Z\n"
    );
    let head = api.send(&anonymous("HEAD", SECURITY_TXT));
    assert_eq!((head.status, head.body.len()), (200, 0));
    let post = api.send(&anonymous("POST", SECURITY_TXT));
    assert_eq!((post.status, post.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    for path in ["/.well-known/security.txt/", "/.well-known/other", "/security.txt"] {
        assert_eq!(api.send(&anonymous("GET", path)).status, 404, "{path}");
    }
    assert_eq!(api.env.db_calls.get(), 0);
}

#[test]
fn https_pages_set_strict_transport_security() {
    let api = Api::with_catalog();
    for (origin, expected) in [
        ("https://vault.example", Some("max-age=31536000")),
        ("http://localhost:8787", None),
        ("http://127.0.0.1", None),
    ] {
        for request in [
            as_key(&api.key, "GET", "/v1/whoami"),
            anonymous("GET", "/v1/whoami"),
            anonymous("GET", "/health"),
            anonymous("OPTIONS", "/v1/whoami"),
        ] {
            let response = api.send(&Request { origin: origin.into(), ..request });
            assert_eq!(response.header("strict-transport-security"), expected, "{origin}");
        }
    }
}

/// Runtimes join a header that is sent twice with a comma.
#[test]
fn a_key_that_is_sent_twice_is_reported() {
    let mut api = Api::with_catalog();
    api.service = Service::new(config(&[("SECRET_HEADERS", "x-key")]));
    let key = api.key.reveal().to_owned();
    let twice = |values: &[(&str, &str)]| {
        let request = anonymous("GET", "/v1/whoami");
        let request =
            values.iter().fold(request, |all, (name, value)| with_header(all, name, value));
        let response = api.send(&request);
        (response.status, body(&response)["detail"].as_str().unwrap_or_default().to_owned())
    };
    let several = "The request has more than one API key. Send one key, in one header.".to_owned();
    let mistyped = "The API key is malformed: a character is missing or mistyped.".to_owned();
    for (values, expected) in [
        (vec![("x-service-secret", format!("{key}, {key}"))], &several),
        (vec![("x-service-secret", format!("{key},sk_test_other"))], &several),
        (vec![("x-service-secret", "a, b".into())], &several),
        (vec![("x-service-secret", key.clone()), ("x-key", key.clone())], &several),
        (vec![("x-key", format!("{key}, {key}"))], &several),
        (vec![("x-service-secret", format!("{key},"))], &mistyped),
        (vec![("x-service-secret", "sk_test_mistyped".into())], &mistyped),
    ] {
        let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(twice(&values), (401, expected.clone()));
    }
    assert_eq!(twice(&[("x-key", &key)]).0, 200);
    assert_eq!(api.env.db_calls.get(), 1);
}

#[test]
fn the_site_leaves_the_path_of_every_endpoint_to_the_worker() {
    let configuration = include_str!("../../wrangler.toml");
    let patterns = configuration.lines().find_map(|line| line.strip_prefix("run_worker_first = "));
    let patterns: Vec<String> = serde_json::from_str(patterns.unwrap()).unwrap();
    let covers = |pattern: &str, path: &str| match pattern.strip_suffix('*') {
        Some(folder) => path.starts_with(folder),
        None => path == pattern,
    };
    for endpoint in Endpoint::ALL {
        let path = endpoint.spec().path;
        assert!(patterns.iter().any(|pattern| covers(pattern, path)), "{path}");
    }
}
