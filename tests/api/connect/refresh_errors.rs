//! How errors of refreshes are classified, and which connections they affect. The error shapes come
//! from public reports about platforms.

use base64ct::Encoding as _;

use super::*;

const HOUR: u64 = 3_600_000;

fn tokens() -> Value {
    json!({"access_token": "at-1", "expires_in": 3600, "refresh_token": "rt-1"})
}

/// Returns a service with a platform whose ID tokens identify the account.
fn api_with_accounts() -> Api {
    api_of(&[("acme", json!({"authMethods": [oauth("oauth", &json!({}))]}))])
}

/// Connects a person's account at the platform. Returns the connection's path.
fn connect_account(api: &Api, identity: &str, account: Option<&str>) -> String {
    let mut tokens = tokens();
    if let Some(account) = account {
        let claims = json!({"sub": account}).to_string();
        let payload = base64ct::Base64UrlUnpadded::encode_string(claims.as_bytes());
        tokens["id_token"] = json!(format!("e30.{payload}.c2ln"));
    }
    let sent = json!({"platform": "acme", "identity": identity, "identityType": "user"});
    let (id, browser, state) = start_and_follow_attempt(api, &sent);
    script(api, &[(200, tokens)]);
    browser.back(api, &format!("code=c&state={state}"));
    let connection = attempt(api, &id)["connection"]["id"].as_str().unwrap().to_owned();
    format!("/v1/vault/connections/{connection}")
}

/// Requests a refresh, after the minimum time since a failure.
fn refresh(api: &Api, path: &str) -> u16 {
    api.env.wait(10_000);
    api.get(&format!("{path}/credentials?refresh=true")).status
}

fn status(api: &Api, path: &str) -> (Value, Value) {
    let status = body(&api.get(&format!("{path}/status")));
    (status["state"].clone(), status["reason"]["code"].clone())
}

fn is_rejected(api: &Api) -> bool {
    !body(&api.get("/v1/oauth-clients/acme"))["rejectedSince"].is_null()
}

/// Makes the platform respond to every request with this status and document.
fn respond_always(api: &Api, status: u16, kind: &str, sent: &str) {
    let (kind, sent) = (kind.to_owned(), sent.to_owned());
    *api.env.platform.borrow_mut() = Box::new(move |_| {
        Ok(HttpResponse {
            status,
            headers: vec![("content-type".into(), kind.clone())],
            body: sent.clone().into_bytes(),
        })
    });
}

fn fails_with(api: &Api, status: u16, sent: &Value) {
    respond_always(api, status, "application/json", &sent.to_string());
}

#[test]
fn reported_error_shapes_are_classified() {
    let text = std::fs::read_to_string("tests/fixtures/refresh_errors.json").unwrap();
    let reports: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(reports.len() >= 40, "{}", reports.len());
    for report in reports {
        let context = format!("{} ({})", report["platform"], report["source"]);
        let api = api_with_accounts();
        let path = connect_account(&api, "ann", Some("a1"));
        let status_sent = u16::try_from(report["status"].as_u64().unwrap()).unwrap();
        respond_always(
            &api,
            status_sent,
            report["type"].as_str().unwrap(),
            report["body"].as_str().unwrap(),
        );
        refresh(&api, &path);
        let first = status(&api, &path);
        api.env.now.set(api.env.now.get() + 61_000);
        refresh(&api, &path);
        let (second, opens) = (status(&api, &path), is_rejected(&api));
        let (state, reason, is_open) = match report["means"].as_str().unwrap() {
            "grant_ended" => ("failed", "grant_ended", false),
            "client_rejected" => ("degraded", "client_rejected", true),
            "only_this_connection" => ("degraded", "client_rejected", false),
            "platform_trouble" => ("degraded", "platform_unavailable", false),
            "request_rejected" => ("degraded", "request_rejected", false),
            other => panic!("{other}"),
        };
        assert_eq!(first.0, "degraded", "{context}: one refusal does not end the grant");
        assert_eq!((second, opens), ((json!(state), json!(reason)), is_open), "{context}");
    }
}

#[test]
fn an_error_that_names_a_tenant_affects_that_connection_only() {
    let tenant = |name: &str| {
        json!({"error": "unauthorized_client", "error_description": format!(
            "AADSTS700016: Application with identifier 'an id' was not found in the directory '{name}'. This can happen if the application has not been installed by the administrator of the tenant."
        )})
    };
    let api = api_with_accounts();
    let [a, b, c] = ["ann", "bob", "cid"].map(|name| connect_account(&api, name, Some(name)));
    fails_with(&api, 400, &tenant("Contoso"));
    assert_eq!((refresh(&api, &a), is_rejected(&api)), (503, false));
    assert_eq!(status(&api, &a), (json!("degraded"), json!("client_rejected")));
    // An error for another user of the same tenant does not mean that the client is rejected
    // either.
    assert_eq!((refresh(&api, &b), is_rejected(&api)), (503, false));
    script(&api, &[(200, tokens())]);
    assert_eq!(refresh(&api, &c), 200);
    assert_eq!(status(&api, &c), (json!("operational"), Value::Null));
    // Errors for two tenants reject the client, if no refresh succeeds in between.
    fails_with(&api, 400, &tenant("Contoso"));
    refresh(&api, &a);
    fails_with(&api, 400, &tenant("Fabrikam"));
    refresh(&api, &b);
    assert!(is_rejected(&api));
}

#[test]
fn two_accounts_with_the_same_error_stop_the_client_and_one_does_not() {
    let unknown = json!({"message": "Not authorized", "type": "service.not_authorized"});
    for (status_sent, error) in
        [(400, json!({"error": "unauthorized_client"})), (401, unknown), (401, json!({}))]
    {
        let api = api_with_accounts();
        let a = connect_account(&api, "ann", Some("a1"));
        let same = connect_account(&api, "anna", Some("a1"));
        let [b, c] = ["bob", "cid"].map(|name| connect_account(&api, name, Some(name)));
        fails_with(&api, status_sent, &error);
        refresh(&api, &a);
        refresh(&api, &a);
        refresh(&api, &same);
        assert!(!is_rejected(&api), "{error}: one account, however often it fails");
        assert_eq!(status(&api, &a), (json!("degraded"), json!("client_rejected")), "{error}");
        // A different error for another account does not confirm the first error.
        fails_with(&api, 401, &json!({"error": "something_else"}));
        refresh(&api, &b);
        assert!(!is_rejected(&api), "{error}");
        fails_with(&api, status_sent, &error);
        refresh(&api, &a);
        refresh(&api, &b);
        assert!(is_rejected(&api), "{error}: two accounts");
        // From now on there is one probe an hour, and a success resumes all refreshes.
        let sent_count = api.env.sent.borrow().len();
        assert_eq!(refresh(&api, &c), 503);
        assert_eq!(api.env.sent.borrow().len(), sent_count);
        api.env.now.set(api.env.now.get() + HOUR);
        script(&api, &[(200, tokens())]);
        assert_eq!((refresh(&api, &c), is_rejected(&api)), (200, false), "{error}");
        let events = text(&api.get("/v1/events?types=oauth_client.rejected"));
        assert_eq!(events.matches("\"oauth_client.rejected\"").count(), 1, "{events}");
    }
}

#[test]
fn a_success_between_two_errors_clears_the_client() {
    let api = api_with_accounts();
    let [a, b] = ["ann", "bob"].map(|name| connect_account(&api, name, Some(name)));
    let error = json!({"error": "unauthorized_client"});
    fails_with(&api, 400, &error);
    refresh(&api, &a);
    script(&api, &[(200, tokens())]);
    assert_eq!(refresh(&api, &b), 200);
    fails_with(&api, 400, &error);
    refresh(&api, &b);
    assert!(!is_rejected(&api));
}

#[test]
fn connections_without_a_known_account_count_separately() {
    let api = api_with_accounts();
    let [a, b] = ["ann", "bob"].map(|name| connect_account(&api, name, None));
    fails_with(&api, 400, &json!({"error": "unauthorized_client"}));
    refresh(&api, &a);
    assert!(!is_rejected(&api));
    refresh(&api, &b);
    assert!(is_rejected(&api));
}

#[test]
fn a_single_refused_connection_backs_off_and_fails_after_three_days() {
    let api = api_with_accounts();
    let path = connect_account(&api, "ann", Some("a1"));
    fails_with(&api, 400, &json!({"error": "unauthorized_client"}));
    refresh(&api, &path);
    let sent_count = api.env.sent.borrow().len();
    api.env.now.set(api.env.now.get() + HOUR + 1);
    assert_eq!(api.get(&format!("{path}/credentials")).status, 503);
    assert_eq!(api.env.sent.borrow().len(), sent_count + 1);
    // The service has no evidence that the client was rejected, so setting it again does not make
    // attempts due.
    assert_eq!(api.get(&format!("{path}/credentials")).status, 503);
    assert_eq!(api.env.sent.borrow().len(), sent_count + 1);
    api.env.now.set(api.env.now.get() + 72 * HOUR);
    assert_eq!(refresh(&api, &path), 409);
    assert_eq!(status(&api, &path), (json!("failed"), json!("client_rejected")));
    assert!(!is_rejected(&api));
}

#[test]
fn a_new_client_is_tried_immediately_after_a_refusal() {
    let api = api_with_accounts();
    let path = connect_account(&api, "ann", Some("a1"));
    fails_with(&api, 401, &json!({}));
    api.env.now.set(api.env.now.get() + HOUR + 1);
    assert_eq!(api.get(&format!("{path}/credentials")).status, 503);
    let sent = json!({"clientId": "an id", "clientSecret": "another"});
    assert_eq!(send(&api, "PUT", "/v1/oauth-clients/acme", &sent).status, 200);
    script(&api, &[(200, tokens())]);
    assert_eq!(api.get(&format!("{path}/credentials")).status, 200);
}
