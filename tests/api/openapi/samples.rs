//! What the service really answers, a small world for each answer: one does not change another.

use connector_vault::access::{Environment, Scope};
use connector_vault::api::config::SECRET_HEADER;
use connector_vault::api::message::Body;
use connector_vault::api::problem::Code;
use connector_vault::api::route::Endpoint;
use connector_vault::api::{Config, Request, Response};
use connector_vault::catalog::model::{Action, Connector, Method};
use serde_json::json;

use super::node::Node;
use crate::support::{Api, action, anonymous, as_key, body, connector, with_body, with_header};
use crate::vault::{CONNECTIONS, SUMMARY, UNKNOWN_ID, at, code};

/// Bodies that create a connection, each with a name and what it is: with all that must be there, with all that may be.
pub const CREATING: [(&str, &str, &str); 2] = [
    (
        "minimal",
        "What must be there",
        r#"{"platform":"github","identity":"ann@example.com","identityType":"user"}"#,
    ),
    (
        "whole",
        "All that may be there",
        r#"{"platform":"stripe","platformVersion":"v1","identity":"team-42","identityType":"team","name":"Payments team",
            "label":"billing","tags":["eu","billing"],"state":"operational","active":true}"#,
    ),
];

/// A body that changes a connection.
pub const CHANGING: &str = r#"{"tags":["eu","production"]}"#;

/// Bodies that make a token, as above.
pub const OPENING: [(&str, &str, &str); 2] = [
    ("minimal", "What must be there", r#"{"identity":"ann@example.com"}"#),
    (
        "whole",
        "All that may be there",
        r#"{"identity":"team-42","identityType":"team","scopes":["connections:read","connections:write"],
            "platforms":["github","stripe"],"origins":["https://app.example.com"],"ttlSeconds":3600}"#,
    ),
];

/// A service with a small catalog and some connections.
struct Scene {
    api: Api,
    /// Of the connections, in the order in which they were created.
    ids: Vec<String>,
}

impl Scene {
    fn new() -> Self {
        let api = Api::new(Config::default().with_sessions(Some(&"an example ".repeat(3)), None));
        api.world.publish(catalog());
        let create = |(platform, identity, tags): (&str, &str, &[&str])| {
            api.world.wait(1_234_567);
            let document = json!({
                "platform": platform, "identity": identity, "identityType": "user", "tags": tags, "state": "operational",
            });
            let created = api.create(&document);
            created["id"].as_str().unwrap().to_owned()
        };
        let rows: [(&str, &str, &[&str]); 4] = [
            ("github", "bob@example.com", &["eu"]),
            ("slack", "bob@example.com", &[]),
            ("github", "eve@example.com", &["us", "billing"]),
            ("stripe", "eve@example.com", &["eu", "billing"]),
        ];
        let ids = rows.into_iter().map(create).collect();
        Self { api, ids }
    }

    /// A request that succeeds.
    fn request(&self, endpoint: Endpoint) -> Request {
        let get = |path: &str| self.api.request("GET", path);
        let one = || self.api.request("GET", &at(&self.ids[2]));
        match endpoint {
            Endpoint::Health => anonymous("GET", "/health"),
            Endpoint::Whoami => {
                let expires_at = Some(self.api.world.now.get() + 86_400_000);
                let test = Environment::Test;
                let key = self.api.world.key("acme", test, &Scope::ALL, expires_at);
                as_key(&key, "GET", "/v1/whoami")
            }
            Endpoint::CreateSession => {
                let [_, (_, _, whole)] = OPENING;
                with_body(self.api.request("POST", "/v1/sessions"), whole)
            }
            Endpoint::ListConnectors => get("/v1/available-connectors?limit=2"),
            Endpoint::ListActions => get("/v1/available-actions/github?limit=2"),
            Endpoint::ListConnections => get(&format!("{CONNECTIONS}?limit=2")),
            Endpoint::CreateConnection => {
                let [(_, _, minimal), _] = CREATING;
                with_body(self.api.request("POST", CONNECTIONS), minimal)
            }
            Endpoint::ReadConnection => one(),
            Endpoint::UpdateConnection => {
                let request = Request { method: "PATCH".into(), ..one() };
                with_body(request, CHANGING)
            }
            Endpoint::DeleteConnection => Request { method: "DELETE".into(), ..one() },
            Endpoint::Summary => get(SUMMARY),
        }
    }
}

/// The answer when nothing goes wrong.
pub fn success(endpoint: Endpoint) -> Response {
    let scene = Scene::new();
    let response = scene.api.send(&scene.request(endpoint));
    assert!(response.status < 300, "{endpoint:?}: {}", body(&response));
    response
}

/// What a token is told about itself.
pub fn whoami_of_token() -> Response {
    let scene = Scene::new();
    let made = body(&scene.api.send(&scene.request(Endpoint::CreateSession)));
    let mut request = anonymous("GET", "/v1/whoami");
    for (name, value) in
        [(SECRET_HEADER, &made["token"]), ("origin", &json!("https://app.example.com"))]
    {
        request = with_header(request, name, value.as_str().unwrap());
    }
    let response = scene.api.send(&request);
    assert_eq!(response.status, 200, "{}", body(&response));
    response
}

/// The answer to a body that creates a connection.
pub fn created(document: &str) -> Node {
    let scene = Scene::new();
    let request = with_body(scene.api.request("POST", CONNECTIONS), document);
    let response = scene.api.send(&request);
    assert_eq!(response.status, 201, "{document}: {}", body(&response));
    Node::parse(&response.body)
}

/// The answer to who has it already; none when the endpoint does not heed `If-None-Match`.
pub fn not_modified(endpoint: Endpoint) -> Option<Response> {
    let scene = Scene::new();
    let request = scene.request(endpoint);
    let tag = scene.api.send(&request).header("etag")?.to_owned();
    let response = scene.api.send(&with_header(scene.request(endpoint), "if-none-match", &tag));
    (response.status == 304).then_some(response)
}

/// The problem of this kind, when the endpoint has it: a request that succeeds is spoiled.
pub fn problem(endpoint: Endpoint, wanted: Code) -> Option<Response> {
    let scene = Scene::new();
    let mut request = scene.request(endpoint);
    match wanted {
        Code::UnknownParameter => request.query = "lmit=50".into(),
        Code::RepeatedParameter => request.query = "limit=10&limit=50".into(),
        Code::InvalidParameter => request.query = "limit=1000&page=0".into(),
        Code::InvalidBody => {
            let bad = json!({"platform": "githb", "tags": ["eu", " billing"], "nme": "Ann"});
            request.body = Body::Whole(bad.to_string().into());
        }
        Code::MissingKey => request.headers.retain(|(name, _)| name != SECRET_HEADER),
        Code::InvalidKey => set_key(&mut request, "sk_test_mistyped"),
        Code::InsufficientScope => {
            let key = scene.api.world.key("acme", Environment::Test, &[], None);
            set_key(&mut request, key.reveal());
        }
        Code::PlatformNotFound => request.path = request.path.replace("github", "githb"),
        Code::ConnectionNotFound => request.path = request.path.replace(&scene.ids[2], UNKNOWN_ID),
        Code::ConnectionExists => {
            let taken = json!({"platform": "github", "identity": "bob@example.com", "identityType": "user"});
            request.body = Body::Whole(taken.to_string().into());
        }
        Code::PreconditionFailed => {
            request = with_header(request, "if-match", &format!("\"{}-7\"", scene.ids[2]));
        }
        Code::BodyTooLarge => request.body = Body::TooLarge,
        Code::UnsupportedMediaType => request.headers.retain(|(name, _)| name != "content-type"),
        Code::TooManyRequests => scene.api.world.limited.set(true),
        Code::Unavailable => scene.api.world.db_fails.set(true),
        // No request to an endpoint leads there.
        Code::RouteNotFound | Code::MethodNotAllowed | Code::Internal => return None,
    }
    let response = scene.api.send(&request);
    (code(&response) == wanted.as_str()).then_some(response)
}

fn set_key(request: &mut Request, secret: &str) {
    for (name, value) in &mut request.headers {
        if name == SECRET_HEADER {
            *value = secret.into();
        }
    }
}

/// Three connectors; the first one has three actions.
fn catalog() -> Vec<(Connector, bool, Vec<Action>)> {
    let of = |model: &str, title, key, method| Action {
        model_name: model.into(),
        ..action("github", title, key, method)
    };
    let actions = vec![
        of("Issues", "Create an issue", "issuesCreate", Method::Post),
        of("Repos", "List branches", "reposListBranches", Method::Get),
        of("Issues", "Lock an issue", "issuesLock", Method::Put),
    ];
    let named = |platform, name, category, tools, description: &str| {
        let image = format!("https://images.example/{platform}.svg");
        let description = description.into();
        Connector { description, image, ..connector(platform, name, category, tools) }
    };
    let github = named("github", "GitHub", "Developer Tools", 3, "Code hosting and reviews.");
    let slack = named("slack", "Slack", "Collaboration", 0, "Messages in channels.");
    let stripe = named("stripe", "Stripe", "Payments", 0, "Payments on the web.");
    vec![(github, true, actions), (slack, true, Vec::new()), (stripe, false, Vec::new())]
}
