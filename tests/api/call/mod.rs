//! Calls to platforms, over real `SQLite` and with a scripted platform.

pub mod approvals;
mod choices;
pub mod downloads;
mod events;
mod flat;
mod graphql;
mod limits;
mod mcp;
mod memory;
mod paging;
mod pending_approvals;
mod platform_tool;
mod proxy;
mod refusals;
mod run;
mod session_approvals;
mod tasks;
mod traces;

use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::Response;
use connector_vault::http::message::Body;
use connector_vault::ports::{HttpError, HttpRequest, HttpResponse};
use serde_json::{Value, json};

use crate::connect::{KEYS, send, set_client, text};
use crate::support::{Api, body, config, connector, with_header};

/// A platform's response with headers.
pub fn platform_response(status: u16, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    HttpResponse { status, headers: headers.collect(), body: body.into() }
}

/// Makes platforms respond with the results of this function.
pub fn platform(
    api: &Api,
    mut response: impl FnMut(&HttpRequest) -> Result<HttpResponse, HttpError> + 'static,
) {
    *api.env.platform.borrow_mut() = Box::new(move |request| response(request));
}

/// An auth method with only its required members.
fn method(kind: &str, extra: &Value) -> Value {
    let field = |name: &str| json!({"name": name, "label": name, "secret": true});
    let names: &[&str] = match kind {
        "api_key" => &["apiKey"],
        "basic" => &["username", "password"],
        "bearer" => &["token"],
        _ => &["accessKeyId", "secretAccessKey", "sessionToken", "region"],
    };
    let fields: Vec<Value> = names.iter().map(|name| field(name)).collect();
    let mut method = json!({"id": kind.replace('_', "-"), "type": kind, "fields": fields});
    for (name, value) in extra.as_object().unwrap() {
        method[name] = value.clone();
    }
    method
}

/// Returns a service whose platforms cover every type of auth method, with these actions for
/// `acme`.
pub fn api_with_platforms(settings: &[(&str, &str)], units: Units) -> Api {
    let own = [("VAULT_KEYS", KEYS), ("SESSION_SECRET", "0123456789abcdef0123456789abcdef")];
    let api = Api::new(config(&[&own, settings].concat()));
    let server = |url: &str| json!({"url": url, "description": null});
    let platform_entry = |name: &str, methods: Value, servers: Value, units: Units| {
        Platform {
        connector: connector(name, &format!("The {name}"), "Email", 0),
        detail: serde_json::from_value(json!({
            "authMethods": methods, "servers": servers, "documentationUrl": null, "license": null, "verify": null,
            "account": null,
        }))
        .unwrap(),
        authkit: true,
        aliases: Vec::new(),
        actions: Vec::new(),
        units,
    }
    };
    let oauth = json!({
        "id": "oauth", "type": "oauth2", "grant": "authorization_code", "issuer": null,
        "authorizationUrl": "https://id.acme.example/authorize", "tokenUrl": "https://id.acme.example/token",
        "refreshUrl": null, "revocationUrl": null, "scopes": [], "scopeSeparator": " ", "pkce": "none",
        "tokenAuth": "client_secret_basic", "authorizationParameters": {}, "tokenParameters": {}, "tokenBody": "form",
        "tokenPointer": null, "tokenMembers": [], "fields": [],
    });
    let acme = json!([
        server("https://{region}.acme.example/unknown"),
        server("https://api.acme.example/v2"),
        server("https://files.acme.example:8443"),
    ]);
    let one = |name: &str| json!([server(&format!("https://api.{name}.example"))]);
    let key = |place: &str, name: &str, prefix: &str| {
        json!([method("api_key", &json!({"in": place, "name": name, "prefix": prefix}))])
    };
    let amazon = |service: &str| {
        json!([method("aws_sigv4", &json!({"service": service, "regions": ["eu-central-1"]}))])
    };
    let hosted = json!([{
        "id": "bearer", "type": "bearer", "prefix": "Bearer", "fields": [
            {"name": "token", "label": "Token", "secret": true},
            {"name": "host", "label": "Host"},
        ],
    }]);
    let plain = json!({"usernameLabel": "U", "passwordLabel": "P"});
    api.env.publish_platforms(
        Sizes::PUBLISHED,
        &[
            platform_entry("acme", json!([oauth]), acme, units),
            platform_entry(
                "bearer",
                json!([method("bearer", &json!({"prefix": "Token"}))]),
                one("bearer"),
                Units::default(),
            ),
            platform_entry(
                "basic",
                json!([method("basic", &plain)]),
                one("basic"),
                Units::default(),
            ),
            platform_entry("header", key("header", "X-Key", ""), one("header"), Units::default()),
            platform_entry("query", key("query", "api key", ""), one("query"), Units::default()),
            platform_entry("cookie", key("cookie", "sid", ""), one("cookie"), Units::default()),
            platform_entry("s3", amazon("s3"), one("s3"), Units::default()),
            platform_entry("lambda", amazon("lambda"), one("lambda"), Units::default()),
            platform_entry(
                "hosted",
                hosted,
                json!([server("https://{host}/api")]),
                Units::default(),
            ),
            platform_entry(
                "nowhere",
                json!([method("bearer", &json!({"prefix": "Bearer"}))]),
                json!([]),
                Units::default(),
            ),
        ],
    );
    api
}

/// Creates a connection of ann with these credentials. Returns its path.
fn connection_with(api: &Api, platform: &str, credentials: &Value) -> String {
    connection_of(api, platform, "ann", credentials)
}

pub fn connection_of(api: &Api, platform: &str, identity: &str, credentials: &Value) -> String {
    let sent = json!({"platform": platform, "identity": identity, "identityType": "user"});
    let created = send(api, "POST", "/v1/vault/connections", &sent);
    assert_eq!(created.status, 201, "{}", body(&created));
    let path = format!("/v1/vault/connections/{}", body(&created)["id"].as_str().unwrap());
    let stored = send(api, "PUT", &format!("{path}/credentials"), credentials);
    assert_eq!(stored.status, 204, "{}", text(&stored));
    path
}

/// Creates a connection to `acme`, whose tokens can be refreshed. Returns its path.
fn acme(api: &Api) -> String {
    set_client(api, "acme");
    connection_with(
        api,
        "acme",
        &json!({"type": "oauth2", "accessToken": "at-1", "refreshToken": "rt-1"}),
    )
}

/// Takes the requests that platforms have received.
pub fn sent(api: &Api) -> Vec<HttpRequest> {
    api.env.sent.take()
}

pub fn header<'r>(request: &'r HttpRequest, name: &str) -> Option<&'r str> {
    let mut values = request.headers.iter().filter(|(known, _)| known == name);
    let value = values.next().map(|(_, value)| value.as_str());
    assert!(values.next().is_none(), "{name} twice: {request:?}");
    value
}

fn forwarded_header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
    let headers = &response.proxied.as_ref().unwrap().headers;
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn call(api: &Api, method: &str, path: &str, sent: &str) -> Response {
    let mut request = with_header(api.request(method, path), "content-type", "text/plain");
    request.body = Body::Whole(sent.into());
    api.send(&request)
}
