use base64ct::{Base64UrlUnpadded, Encoding as _};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_oneof, proptest};
use proptest::strategy::Strategy;
use serde_json::{Value, json};

use super::{Tokens, read};
use crate::catalog::detail::{ExpiresUnit, FieldSource, Grant, OAuth2, SourceKind};
use crate::oauth::{TokenError, TokenErrorKind};
use crate::ports::{HttpError, HttpResponse};

/// 2026-11-22T12:00:00Z
const NOW: u64 = 1_795_348_800_000;

fn platform() -> OAuth2 {
    OAuth2::standard(Grant::AuthorizationCode, None, String::new())
}

fn response(status: u16, body: impl Into<Vec<u8>>) -> HttpResponse {
    HttpResponse { status, headers: Vec::new(), body: body.into() }
}

fn read_from(oauth: &OAuth2, status: u16, body: impl Into<Vec<u8>>) -> Result<Tokens, TokenError> {
    read(oauth, &Ok(response(status, body)), NOW)
}

fn tokens(oauth: &OAuth2, body: &Value) -> Tokens {
    read_from(oauth, 200, body.to_string()).unwrap()
}

fn error(status: u16, body: &str) -> TokenError {
    read_from(&platform(), status, body).unwrap_err()
}

#[test]
fn parses_a_standard_response() {
    let id_token = format!("e30.{}.c2ln", Base64UrlUnpadded::encode_string(br#"{"sub":"user|1"}"#));
    let body = json!({
        "access_token": "a",
        "token_type": "bearer",
        "expires_in": 3600,
        "refresh_token": "r",
        "scope": "one two",
        "id_token": id_token,
    });
    let expected = Tokens {
        access_token: "a".to_owned(),
        token_type: "Bearer".to_owned(),
        expires_at: Some(NOW + 3_600_000),
        refresh_token: Some("r".to_owned()),
        scopes: Some(vec!["one".to_owned(), "two".to_owned()]),
        subject: Some("user|1".to_owned()),
        subject_name: None,
        members: std::collections::BTreeMap::new(),
        field_values: Vec::new(),
    };
    assert_eq!(tokens(&platform(), &body), expected);
}

#[test]
fn parses_bodies_in_many_formats() {
    for (body, expected) in [
        (r#"{"access_token":"a|b:c"}"#, "a|b:c"),
        ("\u{feff} \r\n{\"access_token\":\"a\"}\n", "a"),
        ("access_token=a%2Fb&token_type=bearer&scope=x", "a/b"),
        ("access_token=a&expires_in=5\n", "a"),
        (r#"{"accessToken":"a"}"#, "a"),
        (r#"[{"access_token":"a"}]"#, "a"),
        (r#""{\"access_token\":\"a\"}""#, "a"),
        (r#"{"access_token":" a "}"#, "a"),
        (r#"{"ok":true,"access_token":"a","error":null}"#, "a"),
        (r#"{"access_token":"a","error":"scope_missing"}"#, "a"),
        // A new refresh token must not be lost.
        (r#"{"success":false,"access_token":"a"}"#, "a"),
        (r#"{"ok":false,"error":"something_new","access_token":"a"}"#, "a"),
    ] {
        let tokens = read_from(&platform(), 200, body).unwrap();
        assert_eq!(tokens.access_token, expected, "{body}");
        assert_eq!(tokens.token_type, "Bearer", "{body}");
        assert_eq!((tokens.refresh_token, tokens.subject), (None, None), "{body}");
    }
    assert_eq!(read_from(&platform(), 201, r#"{"access_token":"a"}"#).unwrap().access_token, "a");
}

fn latin_1(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
}

#[test]
fn parses_bodies_in_many_charsets() {
    let json = r#"{"access_token":"a","name":"é"}"#;
    let utf_16 = json.encode_utf16().flat_map(u16::to_le_bytes);
    for (content_type, body) in [
        ("application/json; charset=utf-8", json.as_bytes().to_vec()),
        // The body is in Latin-1, but its content type does not declare this.
        ("application/json", latin_1(json)),
        ("application/json; charset=ISO-8859-1", latin_1(json)),
        ("application/json; charset=utf-16le", utf_16.clone().collect()),
        ("application/json", [0xff, 0xfe].into_iter().chain(utf_16).collect()),
        ("application/json; charset=nothing", json.as_bytes().to_vec()),
    ] {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        let response = Ok(HttpResponse { status: 200, headers, body });
        let tokens = read(&platform(), &response, NOW).unwrap();
        assert_eq!(tokens.access_token, "a", "{content_type}");
    }
    let refused = r#"{"error":"invalid_grant","error_description":"expiré"}"#;
    let error = read_from(&platform(), 400, latin_1(refused)).unwrap_err();
    assert_eq!(error.kind, TokenErrorKind::GrantRejected);
    assert_eq!(error.description.as_deref(), Some("expiré"));
}

#[test]
fn parses_times_in_many_formats() {
    let later = Some(NOW + 3_600_000);
    for (member, expected) in [
        (json!({}), None),
        (json!({ "expires_in": null }), None),
        (json!({ "expires_in": 3600 }), later),
        (json!({ "expires_in": "3600" }), later),
        (json!({ "expires_in": " 3600 " }), later),
        (json!({ "expires_in": 3600.9 }), later),
        (json!({ "expires_in": "3600.0" }), later),
        (json!({ "expiresIn": 3600 }), later),
        (json!({ "expires_in": 0 }), None),
        (json!({ "expires_in": -1 }), None),
        (json!({ "expires_in": "-1" }), None),
        (json!({ "expires_in": "never" }), None),
        (json!({ "expires_in": "NaN" }), None),
        (json!({ "expires_in": 1e300 }), None),
        (json!({ "expires_in": u64::MAX }), None),
        (json!({ "expires_in": [3600] }), None),
        (json!({ "expires_at": NOW / 1000 + 3600 }), later),
        (json!({ "expires_at": (NOW / 1000 + 3600).to_string() }), later),
        (json!({ "expires_at": NOW + 3_600_000 }), later),
        (json!({ "expires_on": (NOW / 1000 + 3600).to_string() }), later),
        (json!({ "expires_at": "2026-11-22T13:00:00Z" }), later),
        (json!({ "expires_at": "2026-11-22T14:00:00+01:00" }), later),
        (json!({ "expires_at": NOW / 1000 - 1 }), None),
        (json!({ "expires_at": NOW }), None),
        (json!({ "expires_at": NOW + 1 }), Some(NOW + 1)),
        (json!({ "expires_at": NOW + 3_155_760_000_000 }), Some(NOW + 3_155_760_000_000)),
        (json!({ "expires_at": NOW + 3_155_760_000_001 }), None),
        (json!({ "expires_in": 3_155_760_000_u64 }), Some(NOW + 3_155_760_000_000)),
        (json!({ "expires_in": 3_155_760_001_u64 }), None),
        (json!({ "expires_at": "2020-01-01T00:00:00Z" }), None),
        (json!({ "expires_at": 0 }), None),
        (json!({ "expires": 3600 }), later),
        (json!({ "expires": "3600" }), later),
        (json!({ "expires": NOW / 1000 + 3600 }), later),
        (json!({ "expires": "2026-11-22T13:00:00Z" }), later),
        (json!({ "expires": 5, "expires_in": 3600 }), later),
        (json!({ "expires_at": "soon" }), None),
        (json!({ "expires_at": "2026-11-22T13:00:00" }), later),
        (json!({ "expires_at": "2026-11-22 13:00:00.25" }), later),
        (json!({ "expires": "Sun, 22 Nov 2026 13:00:00 GMT" }), later),
        (json!({ "expires_in": "2026-11-22T13:00:00Z" }), later),
        (json!({ "expires_in": "never", "expires_at": "2026-11-22T13:00:00Z" }), later),
        (json!({ "expires_in": "2026-11-22" }), None),
        // A lifetime is more accurate than a time, because clocks differ.
        (json!({ "expires_in": 3600, "expires_at": 1 }), later),
    ] {
        let mut body = member.clone();
        body["access_token"] = json!("a");
        assert_eq!(tokens(&platform(), &body).expires_at, expected, "{member}");
    }
}

#[test]
fn parses_scopes_in_many_formats() {
    for (separator, member, expected) in [
        (" ", json!({}), None),
        (" ", json!({ "scope": null }), None),
        (" ", json!({ "scope": 7 }), None),
        (" ", json!({ "scope": "" }), Some(vec![])),
        (" ", json!({ "scope": "a b  a" }), Some(vec!["a", "b"])),
        (" ", json!({ "scope": "a,b" }), Some(vec!["a", "b"])),
        (",", json!({ "scope": "a b, c" }), Some(vec!["a", "b", "c"])),
        (";", json!({ "scope": "a;b" }), Some(vec!["a", "b"])),
        ("", json!({ "scope": "a b" }), Some(vec!["a", "b"])),
        (" ", json!({ "scope": ["a", "b", 7] }), Some(vec!["a", "b"])),
        (" ", json!({ "scopes": ["a"] }), Some(vec!["a"])),
        (" ", json!({ "scope": "a \u{7f} ü https://x/y" }), Some(vec!["a", "https://x/y"])),
    ] {
        let oauth = OAuth2 { scope_separator: separator.to_owned(), ..platform() };
        let mut body = member.clone();
        body["access_token"] = json!("a");
        let expected: Option<Vec<String>> =
            expected.map(|scopes| scopes.into_iter().map(str::to_owned).collect());
        assert_eq!(tokens(&oauth, &body).scopes, expected, "{separator} {member}");
    }
}

#[test]
fn up_to_a_thousand_distinct_scopes_are_kept() {
    let scopes =
        |count: usize| -> Vec<String> { (0..count).map(|index| index.to_string()).collect() };
    let scope = [scopes(1001), scopes(1001)].concat();
    let body = json!({ "access_token": "a", "scope": scope });
    assert_eq!(tokens(&platform(), &body).scopes, Some(scopes(1000)));
    let [longest, longer] = [256, 257].map(|length| "s".repeat(length));
    let body = json!({ "access_token": "a", "scope": [longest, longer] });
    assert_eq!(tokens(&platform(), &body).scopes, Some(vec![longest]));
}

#[test]
fn token_types_are_words() {
    let [longest, longer] = [32, 33].map(|length| "t".repeat(length));
    for (raw, expected) in [
        (json!(longest), longest.as_str()),
        (json!(longer), "Bearer"),
        (json!("two-words"), "two-words"),
        (json!("BEARER"), "Bearer"),
        (json!("bot"), "bot"),
        (json!("DPoP"), "DPoP"),
        (json!(""), "Bearer"),
        (json!(null), "Bearer"),
        (json!("a b"), "Bearer"),
        (json!("x\r\ny: z"), "Bearer"),
    ] {
        let body = json!({ "access_token": "a", "token_type": raw });
        assert_eq!(tokens(&platform(), &body).token_type, expected, "{raw}");
    }
}

#[test]
fn tokens_may_be_nested() {
    let at = |pointer: &str, body: Value| {
        let oauth = OAuth2 { token_pointer: Some(pointer.to_owned()), ..platform() };
        read_from(&oauth, 200, body.to_string()).map(|tokens| tokens.access_token).ok()
    };
    let nested = json!({ "access_token": "bot", "authed_user": { "access_token": "user" } });
    for (pointer, body, expected) in [
        ("/body", json!({ "status": 0, "body": { "access_token": "a" } }), Some("a")),
        ("/authed_user", nested.clone(), Some("user")),
        // Tokens of a refresh response are not nested.
        ("/authed_user", json!({ "access_token": "user" }), Some("user")),
        // The user object has no token. The app's token must not be used instead.
        ("/authed_user", json!({ "access_token": "bot", "authed_user": { "id": "U1" } }), None),
        ("/body", json!({ "status": 601, "body": {}, "error": "Too Many Requests" }), None),
        ("", nested, Some("bot")),
        ("/a/0", json!({ "a": [{ "access_token": "x" }] }), Some("x")),
        ("/a", json!({ "a": "text" }), None),
    ] {
        assert_eq!(at(pointer, body.clone()).as_deref(), expected, "{pointer} {body}");
    }
}

#[test]
fn uses_the_fallback_pointer_without_tokens() {
    let at = |body: Value| {
        let oauth = OAuth2 { token_fallback: Some("/authed_user".to_owned()), ..platform() };
        read_from(&oauth, 200, body.to_string()).map(|tokens| tokens.access_token).ok()
    };
    for (body, expected) in [
        (json!({ "access_token": "bot", "authed_user": { "access_token": "user" } }), Some("bot")),
        (json!({ "access_token": "bot", "authed_user": { "id": "U1" } }), Some("bot")),
        (json!({ "ok": true, "authed_user": { "access_token": "user" } }), Some("user")),
        (json!({ "ok": true, "authed_user": { "id": "U1" } }), None),
    ] {
        assert_eq!(at(body.clone()).as_deref(), expected, "{body}");
    }
}

#[test]
fn finds_tokens_in_common_members_unless_the_catalog_names_one() {
    for (body, expected) in [
        (json!({ "data": { "access_token": "a" } }), Some("a")),
        (json!({ "data": [{ "access_token": "a" }] }), Some("a")),
        (json!({ "ok": true, "authed_user": { "access_token": "user" } }), Some("user")),
        (json!({ "access_token": "top", "data": { "access_token": "a" } }), Some("top")),
        (json!({ "code": 0, "result": { "access_token": "a" } }), Some("a")),
        (json!({ "other": { "access_token": "a" } }), None),
    ] {
        let read = |oauth: &OAuth2| {
            read_from(oauth, 200, body.to_string()).map(|tokens| tokens.access_token).ok()
        };
        assert_eq!(read(&platform()).as_deref(), expected, "{body}");
        let stated = OAuth2 { token_fallback: Some("/nothing".to_owned()), ..platform() };
        assert_eq!(read(&stated).as_deref(), expected.filter(|token| *token == "top"), "{body}");
    }
}

#[test]
fn removes_refresh_tokens_from_members() {
    let names = ["user", "list", "same", "refresh_token", "/user/refreshToken", "time"];
    let oauth = OAuth2 { token_members: names.map(str::to_owned).into(), ..platform() };
    let body = json!({
        "access_token": "a", "refresh_token": "r1-secret", "time": { "refresh_token_expires_in": 5 },
        "user": { "id": 1, "refreshToken": "r2-secret", "inner": { "user_refresh_token": "r3-secret", "x": 1 } },
        "list": ["r3-secret", { "copy": "Bearer r2-secret" }, 2], "same": "r1-secret",
    });
    let expected = json!({
        "user": { "id": 1, "inner": { "x": 1 } }, "list": [{}, 2], "time": { "refresh_token_expires_in": 5 },
    });
    assert_eq!(json!(tokens(&oauth, &body).members), expected);
}

#[test]
fn lifetimes_can_be_in_milliseconds() {
    let oauth = OAuth2 { expires_unit: ExpiresUnit::Milliseconds, ..platform() };
    for (member, expected) in [
        (json!({ "expires_in": 3_600_000 }), Some(NOW + 3_600_000)),
        (json!({ "expires_in": "3600000" }), Some(NOW + 3_600_000)),
        (json!({ "expires_in": 0 }), None),
        (json!({ "expires_at": NOW / 1000 + 60 }), Some(NOW + 60_000)),
    ] {
        let mut body = member.clone();
        body["access_token"] = json!("a");
        assert_eq!(tokens(&oauth, &body).expires_at, expected, "{member}");
    }
}

#[test]
fn reads_field_values_from_the_methods_sources() {
    let source = |field: &str, at: &str, template: Option<&str>| FieldSource {
        field: field.to_owned(),
        from: SourceKind::Token,
        at: at.to_owned(),
        template: template.map(str::to_owned),
    };
    let field_sources = vec![
        source("company", "/api_domain", Some("https://{company}.acme.example")),
        source("company", "/other", None),
        source("id", "/owner/id", None),
        source("none", "/owner", None),
        source(
            "server",
            "/accounts/?is_default=true/base/0",
            Some("https://{server}.acme.example"),
        ),
        source("named", "/accounts/?name=First/id", None),
        source("none", "/accounts/?name=Third/id", None),
        source("none", "/owner/?id=8/id", None),
    ];
    let oauth = OAuth2 { field_sources, ..platform() };
    let body = json!({
        "access_token": "a", "api_domain": "https://Big.ACME.example/", "owner": { "id": 7 },
        "accounts": [
            { "name": "First", "id": "f", "base": ["https://na1.acme.example"] },
            { "name": "Second", "is_default": true, "base": ["https://na3.acme.example"] },
        ],
    });
    let field_values = [("company", "Big"), ("id", "7"), ("server", "na3"), ("named", "f")]
        .map(|(field, value)| (field.to_owned(), value.to_owned()));
    assert_eq!(tokens(&oauth, &body).field_values, field_values);
    let body = json!({ "access_token": "a", "api_domain": "https://acme.example.evil.example" });
    assert_eq!(tokens(&oauth, &body).field_values, []);
}

#[test]
fn keeps_selected_members() {
    let names =
        ["userid", "team", "/authed_user/id", "big", "bigger", "missing", "nothing", "status"];
    // With its quotes, this string has the maximum length.
    let biggest = "x".repeat(4094);
    let oauth = OAuth2 {
        token_pointer: Some("/body".to_owned()),
        token_members: names.map(str::to_owned).into(),
        ..platform()
    };
    let body = json!({
        "status": 0,
        "team": { "id": "T1" },
        "authed_user": { "id": "U1" },
        "nothing": null,
        "unwanted": 1,
        "bigger": "x".repeat(4095),
        "body": { "access_token": "a", "userid": 7, "big": biggest, "status": "inner" },
    });
    let expected = json!({
        "userid": 7, "team": { "id": "T1" }, "/authed_user/id": "U1", "big": biggest, "status": "inner",
    });
    assert_eq!(json!(tokens(&oauth, &body).members), expected);
}

#[test]
fn reads_the_subject_of_id_tokens() {
    let id_token = |payload: &str| {
        let payload = Base64UrlUnpadded::encode_string(payload.as_bytes());
        json!(format!("e30.{payload}.x"))
    };
    let longest = "x".repeat(255);
    for (id_token, expected) in [
        (id_token(r#"{"sub":"1"}"#), Some("1")),
        (json!("e30.eyJzdWIiOiIxMiJ9==.x"), Some("12")),
        (id_token(r#"{"sub":1}"#), None),
        (id_token(r#"{"sub":""}"#), None),
        (id_token(r#"{"sub":"a\nb"}"#), None),
        (id_token(&format!(r#"{{"sub":"{longest}"}}"#)), Some(longest.as_str())),
        (id_token(&format!(r#"{{"sub":"{longest}x"}}"#)), None),
        (id_token("{}"), None),
        (id_token("no JSON"), None),
        (json!("e30.*.x"), None),
        (json!("x"), None),
        (json!(""), None),
        (json!(7), None),
    ] {
        let body = json!({ "access_token": "a", "id_token": id_token });
        assert_eq!(tokens(&platform(), &body).subject.as_deref(), expected, "{id_token}");
    }
}

#[test]
fn accepts_tokens_of_maximum_length() {
    let [longest, longer] = [16_384, 16_385].map(|length| "t".repeat(length));
    for (access, refresh, is_accepted) in [
        (longest.as_str(), longest.as_str(), true),
        (longer.as_str(), "r", false),
        ("a", longer.as_str(), false),
        ("a", "with a space ~", true),
    ] {
        let body = json!({ "access_token": access, "refresh_token": refresh });
        let accepted = read_from(&platform(), 200, body.to_string()).ok();
        let accepted = accepted.map(|tokens| (tokens.access_token, tokens.refresh_token));
        let expected = is_accepted.then(|| (access.to_owned(), Some(refresh.to_owned())));
        assert!(accepted == expected, "{access:.2} {refresh:.2}");
    }
}

#[test]
fn unusable_responses_are_unreadable() {
    let long = format!(r#"{{"access_token":"{}"}}"#, "a".repeat(16_385));
    for (status, body) in [
        (200, ""),
        (204, ""),
        (200, "{}"),
        (200, "[]"),
        (200, "null"),
        (200, r#"{"access_token":null}"#),
        (200, r#"{"access_token":""}"#),
        (200, r#"{"access_token":7}"#),
        (200, r#"{"access_token":{"a":1}}"#),
        (200, r#"{"access_token":"a"#),
        (200, r#"{"access_token":"a\r\nx: y"}"#),
        (200, r#"{"access_token":"a\u0000"}"#),
        (200, r#"{"access_token":"a b"}"#),
        (200, r#"{"access_token":"ü"}"#),
        (200, r#"{"access_token":"a","refresh_token":"r\n1"}"#),
        (200, "access_token=a%0D%0Ab"),
        (200, "<html>access_token=a</html>"),
        (200, "access_token=%ff"),
        (200, long.as_str()),
        (302, "<a href=\"https://idp.example/login\">moved</a>"),
    ] {
        let error = error(status, body);
        assert_eq!(
            error,
            TokenError::from_kind(TokenErrorKind::Unreadable, Some(status)),
            "{body:.60}"
        );
    }
    let error = read_from(&platform(), 200, b"\xff\xfe".to_vec()).unwrap_err();
    assert_eq!(error.kind, TokenErrorKind::Unreadable);
}

#[test]
fn classifies_missing_responses() {
    use TokenErrorKind::{Temporary, Unreadable};
    for (failure, kind) in [
        (HttpError::Unreachable, Temporary),
        (HttpError::TimedOut, Temporary),
        (HttpError::CallerDisconnected, Temporary),
        (HttpError::TooLarge, Unreadable),
    ] {
        assert_eq!(read(&platform(), &Err(failure), NOW), Err(TokenError::from_kind(kind, None)));
    }
}

#[test]
fn finds_errors_in_all_known_members() {
    use TokenErrorKind::{
        ClientRejected, Denied, GrantRejected, RequestRejected, Temporary, Unauthorized, Unreadable,
    };
    #[rustfmt::skip]
    let cases = [
        (400, r#"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#,
            GrantRejected, Some("invalid_grant"), Some("Token has been expired or revoked.")),
        (403, r#"{"error":"unauthorized_client","error_description":"refresh_token is invalid"}"#,
            GrantRejected, Some("unauthorized_client"), Some("refresh_token is invalid")),
        (400, r#"{"error":"invalid grant"}"#, GrantRejected, Some("invalid_grant"), None),
        (400, "error=invalid_grant&error_description=No+such+code",
            GrantRejected, Some("invalid_grant"), Some("No such code")),
        (400, r#"{"status":"BAD_REFRESH_TOKEN","message":"missing or invalid refresh token","correlationId":"1"}"#,
            GrantRejected, Some("bad_refresh_token"), Some("missing or invalid refresh token")),
        (200, r#"{"error":"bad_verification_code","error_description":"The code passed is incorrect or expired."}"#,
            GrantRejected, Some("bad_verification_code"), Some("The code passed is incorrect or expired.")),
        (200, r#"{"ok":false,"error":"invalid_refresh_token"}"#, GrantRejected, Some("invalid_refresh_token"), None),
        // A response with a known error code contains no new tokens.
        (200, r#"{"ok":false,"error":"token_expired","access_token":"old"}"#, GrantRejected, Some("token_expired"), None),
        (200, r#"{"error":"invalid_code"}"#, GrantRejected, Some("invalid_code"), None),
        (200, r#"{"status":503,"body":{},"error":"Invalid Params: invalid refresh_token"}"#,
            GrantRejected, None, Some("Invalid Params: invalid refresh_token")),
        (401, r#"{"error":"invalid_client"}"#, ClientRejected, Some("invalid_client"), None),
        (400, r#"{"error":"unauthorized_client","error_description":"Grant type not allowed"}"#,
            Unauthorized, Some("unauthorized_client"), Some("Grant type not allowed")),
        (200, r#"{"error":"incorrect_client_credentials"}"#,
            ClientRejected, Some("incorrect_client_credentials"), None),
        (401, "", Unauthorized, None, None),
        (401, "<html>Unauthorized</html>", Temporary, None, None),
        (400, "<html>Bad Request</html>", Temporary, None, None),
        (403, "error code: 1020", Temporary, None, Some("error code: 1020")),
        (403, "", Temporary, None, None),
        (400, "Invalid refresh token", GrantRejected, Some("invalid_refresh_token"), Some("Invalid refresh token")),
        (400, "The refresh token has expired.", GrantRejected, None, Some("The refresh token has expired.")),
        (401, "Invalid grant", GrantRejected, Some("invalid_grant"), Some("Invalid grant")),
        (400, "Nonsense", RequestRejected, None, Some("Nonsense")),
        (401, r#"{"message":"Bad credentials"}"#, Unauthorized, None, Some("Bad credentials")),
        (401, r#"{"error":{"code":401,"status":"UNAUTHENTICATED","message":"Who?"}}"#,
            Unauthorized, Some("UNAUTHENTICATED"), Some("Who?")),
        (400, r#"{"refresh_token":["This token is not good."]}"#, GrantRejected, Some("invalid_refresh_token"), None),
        (400, r#"{"errors":{"refresh_token":["is required"]}}"#, RequestRejected, None, None),
        (200, r#"{"error":"redirect_uri_mismatch"}"#, RequestRejected, Some("redirect_uri_mismatch"), None),
        (400, r#"{"error":"invalid_scope"}"#, RequestRejected, Some("invalid_scope"), None),
        (400, r#"{"error":{"message":"Error validating verification code","type":"OAuthException","code":100}}"#,
            RequestRejected, Some("OAuthException"), Some("Error validating verification code")),
        (400, r#"{"errors":[{"code":"invalid_grant","message":"Gone"}]}"#,
            GrantRejected, Some("invalid_grant"), Some("Gone")),
        (400, r#"{"error":"something_new"}"#, RequestRejected, Some("something_new"), None),
        (200, r#"{"error":{"reason":"why"}}"#, RequestRejected, Some("why"), None),
        (404, "<html>", Temporary, None, None),
        (400, r#"{"error":"access_denied"}"#, Denied, Some("access_denied"), None),
        (400, r#"{"error":"Access Denied","error_description":"You have made too many requests continuously."}"#,
            Temporary, Some("access_denied"), Some("You have made too many requests continuously.")),
        (200, r#"{"status":601,"body":{},"error":"Too Many Requests"}"#, Temporary, Some("too_many_requests"), None),
        (400, r#"{"error":"temporarily_unavailable"}"#, Temporary, Some("temporarily_unavailable"), None),
        (400, r#"{"error":"slow_down"}"#, Temporary, Some("slow_down"), None),
        (408, "", Temporary, None, None),
        (425, "", Temporary, None, None),
        (429, r#"{"error":"invalid_grant"}"#, Temporary, Some("invalid_grant"), None),
        (500, r#"{"error":"invalid_client"}"#, Temporary, Some("invalid_client"), None),
        (502, "<!doctype html><title>Bad gateway</title>", Temporary, None, None),
        (503, "", Temporary, None, None),
        (200, r#"{"error":""}"#, Unreadable, None, None),
        (400, r#"[{"message":"expired access/refresh token","errorCode":"invalid_grant"}]"#,
            GrantRejected, Some("invalid_grant"), Some("expired access/refresh token")),
        (400, r#""{\"error\":\"invalid_client\"}""#, ClientRejected, Some("invalid_client"), None),
    ];
    for (status, body, kind, code, description) in cases {
        let error = error(status, body);
        assert_eq!(error.kind, kind, "{status} {body}");
        assert_eq!(error.code.as_deref(), code, "{status} {body}");
        assert_eq!(error.description.as_deref(), description, "{status} {body}");
        assert_eq!((error.http_status, error.retry_after_ms), (Some(status), None), "{body}");
    }
}

#[test]
fn parses_retry_after() {
    for (header, expected) in [
        ("120", Some(120_000)),
        (" 0 ", Some(0)),
        ("-5", Some(0)),
        ("99999999999999999999", Some(604_800_000)),
        ("Sun, 22 Nov 2026 12:01:00 GMT", Some(60_000)),
        ("Sun, 22 Nov 2020 12:01:00 GMT", Some(0)),
        ("soon", None),
        ("", None),
    ] {
        let headers = vec![("retry-after".to_owned(), header.to_owned())];
        let reply = HttpResponse { headers, ..response(429, "") };
        let error = read(&platform(), &Ok(reply), NOW).unwrap_err();
        assert_eq!(
            (error.kind, error.retry_after_ms),
            (TokenErrorKind::Temporary, expected),
            "{header}"
        );
    }
}

#[test]
fn debug_shows_no_secret() {
    let oauth = OAuth2 { token_members: vec!["m".to_owned()], ..platform() };
    let id_token = format!("e30.{}.x", Base64UrlUnpadded::encode_string(br#"{"sub":"secret4"}"#));
    let body = json!({
        "access_token": "secret1", "refresh_token": "secret2", "m": "secret3", "id_token": id_token,
    });
    let shown = format!("{:?}", tokens(&oauth, &body));
    assert_eq!(shown, r#"Tokens { token_type: "Bearer", expires_at: None, scopes: None, .. }"#);
}

/// Random bodies that resemble token responses.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let value = || {
        prop_oneof![
            any::<String>().prop_map(Value::from),
            "[ -~]{0,12}".prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
        ]
    };
    let names = prop_oneof![
        "access_token|refresh_token|token_type|expires_in|expires_at|scope|id_token|error|errors|ok|body|m",
        any::<String>(),
    ];
    let object = proptest::collection::btree_map(names, value(), 0..8);
    let object = object.prop_map(|members| json!(members));
    let nested = (object, value()).prop_map(|(mut object, value)| {
        let inner = object.clone();
        object["body"] = inner;
        object["error"] = json!({ "code": value });
        object
    });
    let json = (nested, value()).prop_map(|(mut object, token)| {
        object["access_token"] = token;
        object.to_string().into_bytes()
    });
    let form =
        "(access_token|expires_in|error|scope)=[%a-f0-9+]{0,8}(&[a-z_]{1,8}=[ -~]{0,8}){0,3}";
    prop_oneof![json, form.prop_map(String::into_bytes), any::<Vec<u8>>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn parses_any_response_without_panicking(
        body in body(), status in 100..600_u16, retry in any::<String>(), now in any::<u64>(), nests in any::<bool>(),
    ) {
        let oauth = OAuth2 {
            token_pointer: nests.then(|| "/body".to_owned()),
            token_members: vec!["m".to_owned(), "/body/m".to_owned(), "/".to_owned()],
            ..platform()
        };
        let headers = vec![("retry-after".to_owned(), retry)];
        let is_clean = |token: &String| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        let is_plain = |token: &String| !token.is_empty() && token.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        match read(&oauth, &Ok(HttpResponse { status, headers, body }), now) {
            Ok(tokens) => {
                prop_assert!(is_clean(&tokens.access_token) && tokens.refresh_token.iter().all(is_plain));
                prop_assert!(is_clean(&tokens.token_type) && tokens.scopes.iter().flatten().all(is_clean));
                prop_assert!(tokens.expires_at.is_none_or(|moment| moment >= now));
                prop_assert!((200..300).contains(&status));
            }
            Err(error) => {
                let is_short = |text: &String, max| text.chars().count() <= max && !text.contains(char::is_control);
                prop_assert!(error.code.iter().all(|code| is_clean(code) && is_short(code, 64)));
                prop_assert!(error.description.iter().all(|text| is_short(text, 200)));
                prop_assert!(error.http_status == Some(status));
            }
        }
    }
}
