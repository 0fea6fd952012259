//! Recorded responses of the service. Each comes from its own fixture, so that requests do not
//! affect each other.

use std::collections::BTreeMap;

use connector_vault::http::config::SECRET_HEADER;
use connector_vault::http::endpoint::{Endpoint, Keyed, Open};
use connector_vault::http::message::Body;
use connector_vault::http::problem::Code;
use connector_vault::http::{Config, Request, Response, Service};
use connector_vault::openapi::agents::SIGN_IN_EXAMPLES;
use connector_vault::openapi::connect::{CLIENT_EXAMPLES, CONNECT_EXAMPLES, IMPORT_EXAMPLES};
use connector_vault::openapi::connections::CREATE_EXAMPLES;
use connector_vault::openapi::console::SIGN_IN_EXAMPLES as CONSOLE_SIGN_INS;
use connector_vault::openapi::recorded_responses::{
    EndpointResponses, RecordedResponse, RecordedResponses,
};
use connector_vault::terms::Environment;
use serde_json::json;

use super::fixture::{CLIENT, Fixture, GRANTS, SIGN_IN};
use crate::connect::{response as platform_response, script};
use crate::console;
use crate::support::{anonymous, body, with_body, with_header};
use crate::vault::{CONNECTIONS, UNKNOWN_ID, code};

/// The responses of all endpoints except those that return files or pages.
pub fn responses() -> RecordedResponses {
    let endpoints = Endpoint::ALL.iter().filter_map(|endpoint| {
        let recorded = match endpoint {
            Endpoint::Open(Open::Health) => EndpointResponses {
                success: reply(&Fixture::new().api.send(&anonymous("GET", "/health"))),
                others: Vec::new(),
                not_modified: None,
                problems: BTreeMap::new(),
            },
            Endpoint::Open(_) => return None,
            Endpoint::Keyed(keyed) => EndpointResponses {
                success: reply(&successful_response(*keyed)),
                others: other_responses(*keyed).iter().map(reply).collect(),
                not_modified: not_modified(*keyed).as_ref().map(reply),
                problems: Code::ALL
                    .into_iter()
                    .filter_map(|code| Some((code, problem(*keyed, code)?)))
                    .map(|(code, response)| (code.as_str().to_owned(), reply(&response)))
                    .collect(),
            },
        };
        Some((endpoint.name().to_owned(), recorded))
    });
    RecordedResponses {
        endpoints: endpoints.collect(),
        whoami_of_token: reply(&whoami_of_token()),
        created: CREATE_EXAMPLES.iter().map(|(_, _, document)| reply(&created(document))).collect(),
    }
}

fn reply(response: &Response) -> RecordedResponse {
    let header = |(name, value): &(&str, String)| ((*name).to_owned(), value.clone());
    RecordedResponse {
        status: response.status,
        headers: response.headers.iter().map(header).collect(),
        body: String::from_utf8(response.body.clone()).unwrap(),
    }
}

/// The response to a successful request.
fn successful_response(endpoint: Keyed) -> Response {
    let fixture = Fixture::new();
    let response = fixture.api.send(&fixture.request(endpoint));
    assert!(response.status < 300, "{endpoint:?}: {}", body(&response));
    response
}

/// The successful responses other than [`successful_response`], in the order in which
/// `openapi::endpoint_doc::others` describes them.
fn other_responses(endpoint: Keyed) -> Vec<Response> {
    let fixture = Fixture::new();
    let send = |request: &Request| fixture.api.send(request);
    fixture.set_client();
    match endpoint {
        Keyed::Connect => {
            let reconnect_body = json!({
                "connection": fixture.ids[2], "authMethod": "token", "fields": {"token": "example-token"},
            });
            let reconnected = send(&fixture.connect(&reconnect_body.to_string()));
            vec![reconnected, send(&fixture.connect(CONNECT_EXAMPLES[0].2))]
        }
        Keyed::SetOauthClient => vec![send(&fixture.put(CLIENT, CLIENT_EXAMPLES[0].2))],
        Keyed::SetConsoleSignIn => {
            console::serve_example(&fixture.api);
            let put = || send(&fixture.put(console::SIGN_IN, CONSOLE_SIGN_INS[0].2));
            put();
            vec![put()]
        }
        Keyed::SetAgentSignIn => {
            fixture.sign_in();
            vec![send(&fixture.put(SIGN_IN, SIGN_IN_EXAMPLES[0].2))]
        }
        _ => Vec::new(),
    }
}

/// The response of `whoami` to a token.
fn whoami_of_token() -> Response {
    let fixture = Fixture::new();
    let made = body(&fixture.api.send(&fixture.request(Keyed::CreateSession)));
    let mut request = anonymous("GET", "/v1/whoami");
    for (name, value) in
        [(SECRET_HEADER, &made["token"]), ("origin", &json!("https://app.example.com"))]
    {
        request = with_header(request, name, value.as_str().unwrap());
    }
    let response = fixture.api.send(&request);
    assert_eq!(response.status, 200, "{}", body(&response));
    response
}

/// Creates a connection with this body. Returns the response.
fn created(document: &str) -> Response {
    let fixture = Fixture::new();
    let request = with_body(fixture.api.request("POST", CONNECTIONS), document);
    let response = fixture.api.send(&request);
    assert_eq!(response.status, 201, "{document}: {}", body(&response));
    response
}

/// The response if the caller already has the document. Returns `None` if the endpoint ignores
/// `If-None-Match`.
fn not_modified(endpoint: Keyed) -> Option<Response> {
    let fixture = Fixture::new();
    let request = fixture.request(endpoint);
    let tag = fixture.api.send(&request).header("etag")?.to_owned();
    let response = fixture.api.send(&with_header(fixture.request(endpoint), "if-none-match", &tag));
    (response.status == 304).then_some(response)
}

/// A problem with this code, caused by changing a valid request. Returns `None` if the endpoint
/// never returns it.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn problem(endpoint: Keyed, expected: Code) -> Option<Response> {
    let mut fixture = Fixture::new();
    let mut request = fixture.request(endpoint);
    match expected {
        Code::UnknownParameter | Code::RepeatedParameter | Code::BodyTooLarge
            if endpoint.is_proxy() =>
        {
            return None;
        }
        Code::InvalidParameter if endpoint.is_proxy() => {
            request = with_header(request, "x-vault-server", "https://example.com");
        }
        Code::PlatformUnreachable | Code::PlatformTimeout
            if endpoint.is_proxy() || endpoint == Keyed::RunAction =>
        {
            script(&fixture.api, &[(u16::from(expected == Code::PlatformTimeout), json!({}))]);
        }
        Code::UnknownParameter => request.query = "lmit=50".into(),
        Code::RepeatedParameter | Code::InvalidParameter if endpoint == Keyed::GetAction => {
            let query = ["include=request", "include=responses&include=responses"];
            request.query = query[usize::from(expected == Code::RepeatedParameter)].into();
        }
        Code::RepeatedParameter | Code::InvalidParameter if endpoint == Keyed::GetCredentials => {
            let query = ["refresh=yes", "refresh=true&refresh=true"];
            request.query = query[usize::from(expected == Code::RepeatedParameter)].into();
        }
        Code::RepeatedParameter | Code::InvalidParameter if endpoint == Keyed::GetAttempt => {
            let query = ["wait=60", "wait=5&wait=25"];
            request.query = query[usize::from(expected == Code::RepeatedParameter)].into();
        }
        Code::RepeatedParameter | Code::InvalidParameter
            if matches!(
                endpoint,
                Keyed::GetOauthClient | Keyed::SetOauthClient | Keyed::DeleteOauthClient
            ) =>
        {
            let query = ["name=My%20bot", "name=bot&name=user"];
            request.query = query[usize::from(expected == Code::RepeatedParameter)].into();
        }
        Code::InvalidParameter if endpoint == Keyed::ListAttempts => {
            request.query = "status=refused&limit=1000".into();
        }
        Code::InvalidParameter
            if matches!(
                endpoint,
                Keyed::ListAudit
                    | Keyed::ListKeys
                    | Keyed::ListAgentGrants
                    | Keyed::ListConsoleSessions
            ) =>
        {
            request.query = "limit=1000".into();
        }
        Code::InvalidParameter if endpoint == Keyed::GetUsage => {
            request.query = "from=yesterday".into();
        }
        Code::InvalidParameter if endpoint == Keyed::ListDeliveries => {
            request.query = "before=yesterday".into();
        }
        Code::InvalidParameter if endpoint == Keyed::ListEvents => {
            request.query = "types=connection.broken&limit=1000".into();
        }
        Code::InvalidParameter
            if endpoint.spec().query.is_empty() && endpoint.supports_bookmark() =>
        {
            request = with_header(request, "x-vault-bookmark", "yesterday's");
        }
        Code::RepeatedParameter => request.query = "limit=10&limit=50".into(),
        Code::InvalidParameter => request.query = "limit=1000&page=0".into(),
        Code::QueryTooBroad => {
            // The counters alone cause the refusal, so no rows are needed.
            let counts = "UPDATE connection_counts SET n = iif(value = 'eu', 402114, 214630) WHERE dimension = 'tag'";
            fixture.api.env.database.execute(counts, []).unwrap();
            request.query = "tags=eu,billing&tagsMatch=any".into();
        }
        Code::InvalidBody => {
            let invalid_body =
                json!({"platform": "githb", "tags": ["eu", " billing"], "nme": "Ann"});
            request.body = Body::Whole(invalid_body.to_string().into());
        }
        Code::MissingKey => request.headers.retain(|(name, _)| name != SECRET_HEADER),
        Code::InvalidKey => set_key(&mut request, "sk_test_mistyped"),
        Code::InsufficientScope => {
            let key = fixture.api.env.key("acme", Environment::Test, &[], None);
            set_key(&mut request, key.reveal());
        }
        Code::PlatformNotFound | Code::ConnectionNotFound if endpoint == Keyed::Connect => {
            let id = if expected == Code::PlatformNotFound { &fixture.ids[2] } else { UNKNOWN_ID };
            request.body = Body::Whole(json!({"connection": id}).to_string().into());
            fixture.remove_github();
        }
        Code::PlatformNotFound if matches!(endpoint, Keyed::SetCredentials | Keyed::RunAction) => {
            fixture.remove_github();
        }
        Code::PlatformNotFound => request.path = request.path.replace("github", "githb"),
        Code::ActionNotFound => request.path = request.path.replace("issuesCreate", "issuesCraete"),
        Code::ConnectionNotFound => {
            request.path = request.path.replace(&fixture.ids[2], UNKNOWN_ID);
        }
        Code::AttemptNotFound => {
            let (path, _) = request.path.rsplit_once('/').unwrap();
            request.path = format!("{path}/{UNKNOWN_ID}");
        }
        Code::CredentialsNotFound => {
            request.path = request.path.replace(&fixture.ids[2], &fixture.ids[0]);
        }
        Code::WebhookNotFound if request.path.contains("/wh_") => {
            request.path = request.path.replace("/wh_", "/wh_0");
        }
        Code::AgentSignInNotFound if endpoint == Keyed::GetAgentSignIn => {
            fixture.api.send(&fixture.api.request("DELETE", SIGN_IN));
        }
        Code::AgentGrantNotFound if endpoint == Keyed::DeleteAgentGrant => {
            request.path = format!("{GRANTS}/{UNKNOWN_ID}");
        }
        Code::ConsoleSignInNotFound if endpoint == Keyed::GetConsoleSignIn => {
            fixture.api.send(&fixture.api.request("DELETE", console::SIGN_IN));
        }
        Code::ConsoleSessionNotFound if endpoint == Keyed::SignOut => {
            request = fixture.api.request("DELETE", &request.path);
        }
        Code::ConsoleSessionNotFound if endpoint == Keyed::DeleteConsoleSession => {
            request.path = format!("{}/{UNKNOWN_ID}", console::SESSIONS);
        }
        Code::KeyNotFound if request.path.starts_with("/v1/keys/") => {
            let last = if endpoint == Keyed::RotateKey { "/rotate" } else { "" };
            request.path = format!("/v1/keys/{UNKNOWN_ID}{last}");
        }
        Code::KeyInactive if endpoint == Keyed::RotateKey => {
            assert_eq!(fixture.api.send(&request).status, 200);
        }
        Code::KeyLimit if endpoint == Keyed::CreateKey => {
            // The fixture has already created one key.
            (1..100).for_each(|_| drop(fixture.key()));
        }
        Code::OauthClientLimit if endpoint == Keyed::SetOauthClient => {
            let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO oauth_clients (account, environment, platform, name, client_id, scopes, authorization_parameters, variables, created_at, updated_at) SELECT 'acme', 'test', 'gmail', 'n-' || i, 'id', '[]', '{}', '{}', 0, 0 FROM n";
            fixture.api.env.database.execute(sql, []).unwrap();
        }
        Code::WebhookInactive => {
            fixture.api.env.database.execute("UPDATE webhooks SET active = 0", []).unwrap();
        }
        Code::ConnectionLimit => {
            let counts = "UPDATE connection_counts SET n = 2000000 WHERE dimension = 'all'";
            fixture.api.env.database.execute(counts, []).unwrap();
        }
        Code::WebhookLimit if endpoint == Keyed::CreateWebhook => {
            (0..20).for_each(|_| drop(fixture.webhook()));
        }
        Code::OauthClientNotFound => request.path = request.path.replace("github", "gmail"),
        Code::ConnectionFailed => {
            let sql = "UPDATE connections SET state = 'failed', active = 0";
            fixture.api.env.database.execute(sql, []).unwrap();
        }
        Code::RefreshFailed if endpoint.calls_platform() || endpoint == Keyed::GetCredentials => {
            fixture.set_client();
            let known = (200, json!({"id": 7, "login": "eve"}));
            script(&fixture.api, &[known.clone(), known]);
            fixture.store_credentials(
                r#"{"type":"oauth2","accessToken":"a","refreshToken":"r","expiresAt":"2027-01-15T16:00:00Z","scopes":["repo"]}"#,
            );
            // The access token expired two minutes ago.
            fixture.api.env.now.set(1_800_028_920_000);
            script(&fixture.api, &[(503, json!({}))]);
        }
        Code::AwaitingCutOver => {
            let sql = "UPDATE credentials SET awaits_cut_over = 1, expires_at = 1893456000000";
            fixture.api.env.database.execute(sql, []).unwrap();
            fixture.api.env.now.set(1_893_456_000_000);
        }
        Code::NotCheckable if endpoint == Keyed::CheckConnection => fixture.remove_github(),
        Code::CredentialsHeld if endpoint == Keyed::SetConnectionState => {
            fixture.store_credentials(IMPORT_EXAMPLES[0].2);
        }
        Code::OauthClientMissing => {
            fixture.api.env.database.execute("DELETE FROM oauth_clients", []).unwrap();
            request.body = Body::Whole(CONNECT_EXAMPLES[0].2.into());
        }
        // If a check is inconclusive, credentials that a user enters are stored, but the app's own
        // token can't be obtained.
        Code::PlatformUnreachable if endpoint == Keyed::Connect => {
            request.body = Body::Whole(fixture.connect_app_platform().into());
            script(&fixture.api, &[(0, json!({}))]);
        }
        Code::CredentialsRejected if matches!(endpoint, Keyed::Connect | Keyed::SetCredentials) => {
            script(&fixture.api, &[(401, json!({}))]);
            if endpoint == Keyed::SetCredentials {
                request.body = Body::Whole(IMPORT_EXAMPLES[1].2.into());
            }
        }
        Code::AccountMismatch if endpoint == Keyed::Connect => {
            fixture.store_credentials(IMPORT_EXAMPLES[1].2);
            let other_account = json!({"id": 480_938, "login": "hubot"});
            *fixture.api.env.platform.borrow_mut() =
                Box::new(move |_| platform_response(200, &other_account));
            let body = json!({
                "connection": fixture.ids[2], "authMethod": "token", "fields": {"token": "another-token"},
            });
            request.body = Body::Whole(body.to_string().into());
        }
        Code::ConnectionExists => {
            let requested_key = json!({"platform": "github", "identity": "bob@example.com", "identityType": "user"});
            request.body = Body::Whole(requested_key.to_string().into());
        }
        Code::PreconditionFailed => {
            request = with_header(request, "if-match", &format!("\"{}-7\"", fixture.ids[2]));
        }
        Code::BodyTooLarge => request.body = Body::TooLarge,
        Code::UnsupportedMediaType => request.headers.retain(|(name, _)| name != "content-type"),
        Code::TooManyRequests => fixture.api.env.limited.set(true),
        Code::VaultFull => {
            fixture.api.env.size.set(9_900_000_000);
            // Make the isolate cache the catalog.
            fixture.api.get("/v1/whoami");
        }
        Code::Unavailable => {
            fixture.api.env.db_fails.set(true);
            // Another isolate, with empty caches.
            fixture.api.service = Service::new(Config::default());
        }
        // No request to this endpoint causes the remaining codes.
        _ => return None,
    }
    let response = fixture.api.send(&request);
    (code(&response) == expected.as_str()).then_some(response)
}

fn set_key(request: &mut Request, secret: &str) {
    for (name, value) in &mut request.headers {
        if name == SECRET_HEADER {
            *value = secret.into();
        }
    }
}
