use proptest::prelude::{ProptestConfig, any, prop_assert, prop_oneof, proptest};
use proptest::strategy::{Just, Strategy};

use super::{FillError, Rule, fill, fill_text, host_variables};

/// Fills a template with the same value for all variables.
fn fill_all_with(template: &str, value: &str) -> Result<String, String> {
    fill(template, &|_| Some(value)).map_err(|error| error.to_string())
}

#[test]
fn values_replace_their_variables() {
    for (template, value, expected) in [
        ("https://{a}.example.com/x", "acme", "https://acme.example.com/x"),
        ("https://{a}.example.com/x", "Acme.EU-1", "https://acme.eu-1.example.com/x"),
        ("https://{a}.example.com", "9", "https://9.example.com"),
        ("https://eu-{a}-x.example.com/", "1", "https://eu-1-x.example.com/"),
        ("https://{a}{a}.example.com/", "1", "https://11.example.com/"),
        ("https://{a}.{a}.example.com/", "x", "https://x.x.example.com/"),
        ("https://api.{a}", "Example.com", "https://api.example.com"),
        ("https://accounts.example.{a}/x", "com.au", "https://accounts.example.com.au/x"),
        ("https://{a}", "acme.example", "https://acme.example"),
        ("https://{a}:8443/{a}?{a}={a}", "a.b", "https://a.b:8443/a.b?a.b=a.b"),
        ("http://{a}:{a}/", "8080", "http://8080:8080/"),
        (
            "https://example.com/{a}/x",
            "a b/ü?#%2f&",
            "https://example.com/a%20b%2F%C3%BC%3F%23%252f%26/x",
        ),
        ("https://example.com/bot{a}/x", "..", ""),
        ("https://example.com?q={a}", "a&b=c", "https://example.com?q=a%26b%3Dc"),
        ("https://example.com/.well-known/{a}", "x", "https://example.com/.well-known/x"),
        ("https://{my_host.a-1}.example.com/x", "acme", "https://acme.example.com/x"),
        ("https://example.com/x", "unused", "https://example.com/x"),
        ("https://Example.com/X", "unused", "https://example.com/X"),
        ("/me/{a}?x={a}", "1/2", "/me/1%2F2?x=1%2F2"),
    ] {
        let result = fill_all_with(template, value);
        if expected.is_empty() {
            assert!(result.is_err(), "{template} {value}: {result:?}");
        } else {
            assert_eq!(result.as_deref(), Ok(expected), "{template} {value}");
        }
    }
}

#[test]
fn values_and_literals_never_form_a_parent_segment() {
    for (template, value) in [
        ("https://example.com/a/%2{a}", "e"),
        ("https://example.com/a/.%2{a}/b", "E"),
        ("/a/%{a}%2e?x", "2e"),
    ] {
        let rejected = FillError::invalid("a", Rule::Path).to_string();
        assert_eq!(fill_all_with(template, value), Err(rejected), "{template}");
    }
}

#[test]
fn rejects_urls_over_the_limit() {
    let longest = 4096 - "https://example.com/".len();
    assert!(fill_all_with("https://example.com/{a}", &"a".repeat(longest)).is_ok());
    assert!(fill_all_with("https://example.com/{a}", &"a".repeat(longest + 1)).is_err());
    assert!(fill_all_with("/{a}", &"a".repeat(4095)).is_ok());
    let rejected = fill_all_with("/{a}", &"a".repeat(4096)).unwrap_err();
    assert!(rejected.contains("4,096 characters"), "{rejected}");
}

#[test]
fn no_value_changes_the_host() {
    let hostile = [
        "",
        " ",
        ".",
        "..",
        "a.",
        ".a",
        "a..b",
        "-",
        "-a",
        "a-",
        "a_b",
        "a b",
        "a\tb",
        "a\r\nb",
        "a/b",
        "a\\b",
        "a:b",
        "a:1",
        "a@b",
        "evil.example#",
        "evil.example?",
        "evil.example/",
        "evil.example\\",
        "evil.example:443",
        "evil.example%23",
        "%2f",
        "a%2fb",
        "a%00",
        "[::1]",
        "é",
        "а",
        "ⓔ",
        "a。b",
        "a．b",
        "a\u{ad}b",
        "a\u{200b}b",
        "{a}",
        "a{b}c",
        "a,b",
        "*",
    ];
    for value in hostile {
        for (template, rule) in [
            (
                "https://{a}.example.com/",
                "must be letters, digits and hyphens, with single dots between them",
            ),
            (
                "https://api.{a}",
                "must be letters, digits and hyphens, with single dots between them",
            ),
            ("https://{a}", "must be a host name, such as `example.com`, without a port"),
            ("https://{a}:8443/x", "must be a host name, such as `example.com`, without a port"),
        ] {
            assert_eq!(
                fill_all_with(template, value),
                Err(format!("`a` {rule}")),
                "{template} {value:?}"
            );
        }
        // A hyphen is allowed within a label.
        if !["-", "-a", "a-"].contains(&value) {
            let error = Err("`a` must be letters, digits and hyphens".to_owned());
            assert_eq!(fill_all_with("https://x{a}x.example.com/", value), error, "{value:?}");
        }
    }
    let long = ["a".repeat(64), vec!["a"; 128].join(".")];
    for value in &long {
        assert!(fill_all_with("https://{a}.example.com/", value).is_err());
        assert!(fill_all_with("https://{a}", value).is_err());
    }
    for (template, value, is_valid) in [
        ("https://{a}x.example.com/", "a-", true),
        ("https://{a}x.example.com/", "-a", false),
        ("https://x{a}.example.com/", "-a", true),
        ("https://x{a}.example.com/", "a-", false),
    ] {
        assert_eq!(fill_all_with(template, value).is_ok(), is_valid, "{template} {value}");
    }
}

#[test]
fn ports_are_numbers() {
    for value in ["", "0", "65536", "a", "1@evil.example", "443/", "+443", " 443", "４４３"] {
        let error = Err("`a` must be a port: 1–65535".to_owned());
        assert_eq!(fill_all_with("https://example.com:{a}/", value), error, "{value:?}");
    }
}

#[test]
fn a_value_stays_within_its_segment() {
    for (template, value) in [
        ("https://example.com/{a}/x", ".."),
        ("https://example.com/{a}", "."),
        ("https://example.com/{a}", ""),
        ("https://example.com/{a}", "a\r\nb"),
        ("https://example.com/.{a}/x", "."),
        ("https://example.com/{a}{a}?x", "."),
        ("https://example.com/%2e{a}?x", "."),
        ("https://example.com/?x={a}", "\u{7f}"),
        ("/{a}/x", ".."),
        ("https://example.com/{a}/x", "../x"),
        ("https://example.com/{a}/x", "a/../../x"),
        ("https://example.com/{a}/x", "..\\x"),
        ("https://example.com/{a}/x", "%2e%2e%2fx"),
        ("https://example.com/{a}/x", "..;x"),
    ] {
        let rule = "must be text without control characters, and must not have `.` or `..` as a part of a path";
        assert_eq!(
            fill_all_with(template, value),
            Err(format!("`a` {rule}")),
            "{template} {value:?}"
        );
    }
}

#[test]
fn rejects_malformed_templates() {
    for template in [
        "",
        "x",
        "example.com/{a}",
        "{a}",
        "{a}://example.com",
        "ftp://{a}",
        "//{a}",
        "https://{a",
        "https://a}",
        "https://{}",
        "https://{a b}",
        "https://{{a}}",
        "https://example.com/{a/b}",
        "https://example.com/#{a}",
        "https://example.com/{a}#x",
        // The value would change the domain.
        "https://example.com{a}",
        "https://api.example.com{a}/v1",
        "https://example.{a}{b}",
        "https://example-{a}.com",
    ] {
        let error = Err("the template of the address is broken".to_owned());
        assert_eq!(fill_all_with(template, "x"), error, "{template}");
    }
    for template in
        ["https://x@{a}/", "https://{a}@example.com/", "https://exa mple.com/{a}", "https:///{a}"]
    {
        assert!(fill_all_with(template, "x").is_err(), "{template}");
    }
    assert_eq!(fill("https://{a}", &|_| None), Err(FillError::Missing("a".to_owned())));
}

#[test]
fn strings_other_than_urls_are_filled() {
    let fill = |text: &str| {
        let values = |name: &str| (name == "a").then_some("x/y z");
        fill_text(text, &values).map_err(|error| error.to_string())
    };
    for (text, expected) in [
        ("plain", Ok("plain")),
        ("", Ok("")),
        ("read:{a}", Ok("read:x/y z")),
        (r#"{"id_token":{"sub":null}} {"#, Ok(r#"{"id_token":{"sub":null}} {"#)),
        ("https://Example.com/#/Read", Ok("https://Example.com/#/Read")),
        ("https://example.com/{a}", Ok("https://example.com/x%2Fy%20z")),
        ("http://example.com/{a}", Ok("http://example.com/x%2Fy%20z")),
        ("https://{a}/api", Err("`a` must be a host name, such as `example.com`, without a port")),
        ("{b}", Err("`b` is missing")),
    ] {
        assert_eq!(fill(text), expected.map(str::to_owned).map_err(str::to_owned), "{text}");
    }
    let error = fill_text("x{a}", &|_| Some("a\nb")).map_err(|error| error.to_string());
    assert_eq!(error, Err("`a` must be text without control characters".to_owned()));
}

#[test]
fn detects_variables_that_choose_the_host() {
    for (template, expected) in [
        ("https://{a}.example.com/{b}", vec![]),
        ("https://{a}.{b}.example.com", vec![]),
        ("https://example.com/{a}", vec![]),
        ("/{a}", vec![]),
        ("https://{a}/x", vec!["a"]),
        ("https://{a}:{b}/x", vec!["a"]),
        ("https://accounts.example.{a}/{b}", vec!["a"]),
        ("https://{a}.com", vec!["a"]),
        ("https://{a}example.com", vec!["a"]),
        ("https://{a}.{b}.com", vec!["a", "b"]),
        ("https://{a}.co.uk", vec!["a"]),
        ("https://{a}.COM.au/token", vec!["a"]),
        ("https://{a}.example.co.uk", vec![]),
        ("https://{a}.co.example", vec![]),
        ("https://{a}.example.io", vec![]),
    ] {
        assert_eq!(host_variables(template), expected, "{template}");
    }
}

/// Values that attempt an injection.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9.-]{0,20}",
        "[a-c./:@#?%\\\\\\[\\] -]{0,12}",
        Just("evil.example/".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn values_cannot_change_the_literal_part_of_a_host(value in value(), other in value()) {
        let values = |name: &str| match name {
            "a" => Some(value.as_str()),
            _ => Some(other.as_str()),
        };
        for (template, end) in [
            ("https://{a}.example.com/x", ".example.com/x"),
            ("https://{a}.{b}.example.com:8443/x", ".example.com:8443/x"),
            ("https://x-{a}{b}.example.com/x", ".example.com/x"),
        ] {
            if let Ok(url) = fill(template, &values) {
                let host = url.strip_prefix("https://").and_then(|rest| rest.strip_suffix(end));
                prop_assert!(host.is_some(), "{url}");
                let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
                prop_assert!(host.is_some_and(|host| host.chars().all(is_plain)), "{url}");
            }
        }
        if let Ok(url) = fill("https://example.com/x/{a}/{b}?y={a}", &values) {
            let rest = url.strip_prefix("https://example.com/x/");
            prop_assert!(rest.is_some_and(|rest| rest.matches(['/', '?', '&', '#']).count() == 2), "{url}");
            prop_assert!(!url.contains("/../") && !url.contains("/./"), "{url}");
        }
    }
}
