//! The complete service, with storage that contains a single key, and a catalog with a single
//! platform.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use connector_vault::auth::Shard;
use connector_vault::auth::key::ApiKey;
use connector_vault::catalog::action::unit::{self, DeflatedUnit, Units};
use connector_vault::catalog::detail::ConnectorDetail;
use connector_vault::catalog::format::stored::{CURRENT_KEY, SegmentId};
use connector_vault::catalog::model::{Action, Connector, Status};
use connector_vault::catalog::write::{self, Platform, Sizes};
use connector_vault::http::endpoint::Keyed;
use connector_vault::http::handle::handle;
use connector_vault::http::message::Body;
use connector_vault::http::{Config, Request, Service};
use connector_vault::ports::{
    Algorithm, Background, Blob, Blobs, Clock, Dataset, Db, Http, HttpError, HttpRequest,
    HttpResponse, Patterns, Queue, Random, RateLimit, ResultSet, RetryAfter, Signatures, Statement,
    StorageError, StreamingRequest, StreamingResponse,
};
use connector_vault::terms::{Environment, Method, Scope, Scopes};
use serde_json::{Value, json};

/// The id for path parameters.
const ID: &str = "0b9af7c6-7a0b-4f60-a3ad-60a2a9b5b3a1";

struct TestEnv {
    service: Service,
    key: ApiKey,
    /// The database row of the key.
    row: String,
    blobs: HashMap<String, Rc<dyn Blob>>,
}

thread_local! {
    static TEST_ENV: TestEnv = TestEnv::new();
}

/// Sends a request. Asserts that the service does not panic, and that the response is well-formed.
pub fn send(request: &Request) {
    TEST_ENV.with(|env| {
        let response = pollster::block_on(handle(&env.service, env, request));
        assert!((200..=599).contains(&response.status));
        assert_ne!(response.status, 500);
        for (name, value) in &response.headers {
            assert!(!value.contains(['\r', '\n', '\0']), "{name}: {value:?}");
        }
        assert!(response.header("x-request-id").is_some());
    });
}

/// Builds a request with the key and a JSON body.
pub fn request(method: &str, path: &str, query: &str, body: &[u8]) -> Request {
    let key = TEST_ENV.with(|env| env.key.reveal().to_owned());
    Request {
        method: method.into(),
        origin: "https://vault.example".into(),
        path: path.into(),
        query: query.into(),
        headers: vec![
            ("x-service-secret".into(), key),
            ("content-type".into(), "application/json".into()),
        ],
        body: Body::Whole(body.to_vec()),
        endpoint: None,
    }
}

/// The path of an endpoint, with values for its parameters.
pub fn path(endpoint: Keyed) -> String {
    let arguments: &[&str] = match endpoint {
        Keyed::GetAction => &["acme", "send"],
        Keyed::RunAction => &[ID, "send"],
        Keyed::GetConnector
        | Keyed::ListActions
        | Keyed::GetOauthClient
        | Keyed::SetOauthClient
        | Keyed::DeleteOauthClient => &["acme"],
        _ => &[ID, "me"],
    };
    endpoint.address(arguments)
}

impl TestEnv {
    fn new() -> Self {
        let variables = json!({
            "VAULT_KEYS": "one:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
            "SESSION_SECRET": "an example of a secret that signs",
            "ALLOWED_ORIGINS": "https://app.example",
        });
        let key = ApiKey::generate(Environment::Test, Shard::FIRST, |bytes| bytes.fill(7));
        let scopes: Scopes = Scope::ALL.iter().copied().collect();
        let row = json!([{
            "id": ID, "account": "acme", "environment": "test", "scopes": scopes.to_string(), "expires_at": null,
            "revoked_at": null,
        }]);
        let blobs = RefCell::new(HashMap::new());
        let put = |id: SegmentId, bytes: &[u8]| {
            blobs.borrow_mut().insert(id.key(), Rc::new(bytes.to_vec()) as Rc<dyn Blob>);
            Ok::<_, ()>(())
        };
        let platform = platform();
        let parts = vec![(&platform, write::actions(&platform, Sizes::PUBLISHED))];
        let version = write::catalog(&parts, Sizes::PUBLISHED, put).unwrap();
        let mut blobs = blobs.into_inner();
        blobs.insert(CURRENT_KEY.into(), Rc::new(version.current));
        Self {
            service: Service::new(Config::from(&serde_json::from_value(variables).unwrap())),
            key,
            row: row.to_string(),
            blobs,
        }
    }
}

fn platform() -> Platform {
    let action = json!({
        "title": "Send", "key": "send", "method": "POST", "modelName": "Mail", "facts": {"path": "/mails/{id}"},
        "parameters": [{
            "name": "id", "in": "path", "required": true, "schema": {"type": "string", "pattern": "^[a-z]+$"},
            "style": "simple", "explode": false,
        }],
        "requestBody": {"required": true, "contentTypes": ["application/json"], "schema": {"type": "object"}},
        "responses": [],
    });
    let bytes = unit::deflate(&unit::write_unit(&[("send", action.to_string())], &[]));
    let units = vec![DeflatedUnit { first: "send".into(), bytes }];
    let detail: ConnectorDetail = serde_json::from_value(json!({
        "authMethods": [{
            "id": "token", "type": "bearer", "prefix": "Bearer",
            "fields": [{"name": "token", "label": "Token", "secret": true, "required": true}],
        }],
        "servers": [{"url": "https://api.acme.example", "description": null}],
        "documentationUrl": null, "license": null, "verify": null, "account": null,
    }))
    .unwrap();
    Platform {
        connector: Connector {
            id: 1,
            name: "Acme".into(),
            key: "api::acme::v1".into(),
            platform: "acme".into(),
            platform_version: "v1".into(),
            status: Status::GenerallyAvailable,
            description: "Mail.".into(),
            category: "Email".into(),
            image: "https://img.example/logo.png".into(),
            tags: Vec::new(),
            oauth: false,
            tools: 1,
            version: "1".into(),
            active: true,
        },
        detail,
        authkit: true,
        aliases: Vec::new(),
        actions: vec![Action {
            title: "Send".into(),
            key: "send".into(),
            method: Method::Post,
            platform: "acme".into(),
            model_name: "Mail".into(),
        }],
        units: Units {
            schemes: serde_json::from_value(Value::Object(serde_json::Map::new())).unwrap(),
            units,
        },
    }
}

impl Db for TestEnv {
    fn number(&self) -> u16 {
        1
    }

    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let response = |statement: &Statement| {
            let is_key = statement.sql.starts_with("SELECT id, account, environment, scopes");
            let json = if is_key { self.row.clone() } else { "[]".into() };
            ResultSet { json, ..ResultSet::default() }
        };
        Ok(statements.iter().map(response).collect())
    }
}

impl Background for TestEnv {
    fn run_in_background(&self, _: Statement) {}

    fn send_in_background(&self, _: HttpRequest, _: u32) {}
}

impl Blobs for TestEnv {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        Ok(self.blobs.get(key).cloned())
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        Ok(unit::inflate(&bytes))
    }
}

impl Http for TestEnv {
    async fn send(&self, _: HttpRequest, _: u32) -> Result<HttpResponse, HttpError> {
        Err(HttpError::Unreachable)
    }

    async fn open(&self, _: StreamingRequest<'_>, _: u32) -> Result<StreamingResponse, HttpError> {
        Err(HttpError::Unreachable)
    }

    async fn read(&self, _: Rc<dyn Any>, _: usize) -> Result<Vec<u8>, HttpError> {
        Err(HttpError::Unreachable)
    }
}

impl Dataset for TestEnv {}

impl Signatures for TestEnv {
    async fn verify(&self, _: Algorithm, _: &str, _: &[u8], _: &[u8]) -> bool {
        false
    }
}

impl Patterns for TestEnv {
    fn is_match(&self, _: &str, _: &str) -> bool {
        true
    }
}

impl Clock for TestEnv {
    fn now(&self) -> u64 {
        1_800_000_000_000
    }

    async fn sleep(&self, _: u32) -> bool {
        false
    }
}

impl Random for TestEnv {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

impl RateLimit for TestEnv {
    async fn allow(&self, _: &str) -> Result<(), RetryAfter> {
        Ok(())
    }
}

impl Queue for TestEnv {
    async fn enqueue(&self, _: Vec<String>, _: Duration) -> Result<bool, StorageError> {
        Ok(true)
    }
}
