//! The requests that a new isolate rehearses, and the storage results for them. They are recorded
//! in `src/edge/rehearsal.json`.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::rc::Rc;

use connector_vault::auth::key::ApiKey;
use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::detail::ConnectorDetail;
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::handle::handle;
use connector_vault::http::{Request, Service};
use connector_vault::ports::{
    Algorithm, Background, Blob, Blobs, Clock, Dataset, Db, Http, HttpError, HttpRequest,
    HttpResponse, Patterns, Random, RateLimit, ResultSet, RetryAfter, Signatures, Statement,
    StorageError, StreamingRequest, StreamingResponse,
};
use connector_vault::terms::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::generated_files::assert_up_to_date;
use crate::support::{
    Api, TestEnv, action, anonymous, as_key, as_secret, body, config, connector, small_catalog,
    units, with_body,
};
use crate::vault::{CONNECTIONS, SUMMARY, at, minimal, post_as};

const RECORDING: &str = "src/edge/rehearsal.json";
/// This vault key encrypts only the recorded credentials.
const VARIABLES: [(&str, &str); 1] =
    [("VAULT_KEYS", "rehearsal:cmVoZWFyc2FscmVoZWFyc2FscmVoZWFyc2FscmVoZWE=")];

#[derive(Serialize, Deserialize)]
struct Recording {
    /// Values of the catalog's store by key, in hexadecimal.
    values: BTreeMap<String, String>,
    /// Decompressed bytes by their compressed form, both in hexadecimal.
    inflated: BTreeMap<String, String>,
    /// The environment variables of the service.
    variables: BTreeMap<String, String>,
    requests: Vec<RecordedRequest>,
}

#[derive(Serialize, Deserialize)]
struct RecordedRequest {
    status: u16,
    method: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The results of D1, with one list per batch.
    batches: Vec<Vec<Value>>,
}

impl RecordedRequest {
    fn request(&self) -> Request {
        let request = match &self.secret {
            Some(secret) => as_secret(secret, &self.method, &self.path),
            None => anonymous(&self.method, &self.path),
        };
        self.body.as_ref().map_or(request.clone(), |body| with_body(request, body))
    }
}

/// The requests to rehearse, with their expected status: the types of requests that a new isolate
/// usually gets first.
fn requests(key: &ApiKey, connection: &str) -> Vec<RecordedRequest> {
    let one = |status, method: &str, path: &str, body: Option<Value>| RecordedRequest {
        status,
        method: method.into(),
        path: path.into(),
        secret: Some(key.reveal().into()),
        body: body.map(|body| body.to_string()),
        batches: Vec::new(),
    };
    let get = |path: &str| one(200, "GET", path, None);
    let connection = at(connection);
    vec![
        RecordedRequest { secret: None, ..get("/health") },
        RecordedRequest { secret: None, ..one(401, "GET", "/v1/whoami", None) },
        get("/v1/whoami"),
        get("/v1/available-connectors"),
        get("/v1/available-connectors?category=payments&limit=5"),
        get("/v1/available-connectors?q=alpha"),
        get("/v1/available-connectors/alpha"),
        get("/v1/available-actions/alpha"),
        get("/v1/available-actions/alpha?title=list%20users&method=GET&page=1"),
        get("/v1/available-actions/alpha?key=usersCreate"),
        get("/v1/available-actions/alpha?q=list+user"),
        get("/v1/available-actions/alpha/usersCreate?include=responses"),
        get("/v1/available-actions?q=create+a+user"),
        get("/v1/available-actions?q=users+create&method=POST&limit=100"),
        one(404, "GET", "/v1/available-actions/beta", None),
        one(400, "GET", "/v1/available-connectors?lmit=3", None),
        get(CONNECTIONS),
        get(&format!("{CONNECTIONS}?platform=alpha&tags=a,b&limit=50")),
        get(&format!("{CONNECTIONS}?identity=ann")),
        get(SUMMARY),
        get(&connection),
        get(&format!("{connection}/credentials")),
        get("/v1/events?limit=2"),
        get("/v1/webhooks"),
        one(200, "PATCH", &connection, Some(json!({"tags": ["a", "b"]}))),
    ]
}

/// The ports of a starting isolate, in which time does not pass.
struct StartupPorts<'a, S> {
    storage: &'a S,
    batches: RefCell<VecDeque<Vec<ResultSet>>>,
    inflated: RefCell<BTreeMap<String, String>>,
}

impl<S> Clock for StartupPorts<'_, S> {
    fn now(&self) -> u64 {
        0
    }

    async fn sleep(&self, _: u32) -> bool {
        false
    }
}

impl<S> Http for StartupPorts<'_, S> {
    /// A starting isolate can't reach any server.
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

impl<S> Dataset for StartupPorts<'_, S> {}

impl<S> Signatures for StartupPorts<'_, S> {
    async fn verify(&self, _: Algorithm, _: &str, _: &[u8], _: &[u8]) -> bool {
        false
    }
}

impl<S> Patterns for StartupPorts<'_, S> {
    fn is_match(&self, _: &str, _: &str) -> bool {
        true
    }
}

impl<S> Random for StartupPorts<'_, S> {
    /// A starting isolate has no randomness.
    fn fill(&self, _: &mut [u8]) {}
}

impl<S> RateLimit for StartupPorts<'_, S> {
    async fn allow(&self, _: &str) -> Result<(), RetryAfter> {
        Ok(())
    }
}

impl<S> Background for StartupPorts<'_, S> {
    /// A starting isolate writes nothing.
    fn run_in_background(&self, _: Statement) {}

    fn send_in_background(&self, _: HttpRequest, _: u32) {}
}

impl Db for StartupPorts<'_, TestEnv> {
    fn number(&self) -> u16 {
        self.storage.number()
    }

    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let sets = self.storage.batch(statements).await?;
        self.batches.borrow_mut().push_back(sets.clone());
        Ok(sets)
    }
}

impl Blobs for StartupPorts<'_, TestEnv> {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        self.storage.get(key).await
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        let deflated = to_hex(&bytes);
        let inflated = self.storage.inflate(bytes).await?;
        let digits = to_hex(inflated.as_deref().unwrap_or_default());
        self.inflated.borrow_mut().insert(deflated, digits);
        Ok(inflated)
    }
}

impl Db for StartupPorts<'_, Recording> {
    fn number(&self) -> u16 {
        0
    }

    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let sets = self.batches.borrow_mut().pop_front();
        let sets = sets.filter(|sets| sets.len() == statements.len());
        sets.ok_or_else(|| StorageError::new("more was asked than is recorded"))
    }
}

impl Blobs for StartupPorts<'_, Recording> {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        let value = self.storage.values.get(key).map(|digits| from_hex(digits));
        Ok(value.map(|bytes| Rc::new(bytes) as Rc<dyn Blob>))
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        Ok(self.storage.inflated.get(&to_hex(&bytes)).map(|digits| from_hex(digits)))
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

fn from_hex(digits: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.as_bytes().chunks(2).map(byte).collect()
}

/// Converts a statement's result to the format in which D1 returns it.
fn result(set: &ResultSet) -> Value {
    let rows: Value = serde_json::from_str(&set.json).unwrap();
    json!({"results": rows, "meta": {"rows_read": set.rows_read, "rows_written": set.rows_written}})
}

fn result_set(result: &Value) -> ResultSet {
    ResultSet { json: result["results"].to_string(), ..ResultSet::default() }
}

/// Handles a request in a new isolate. Returns the status, the unused batches, and the decompressed
/// values.
fn run_in_new_isolate<'a, S>(
    storage: &'a S,
    batches: VecDeque<Vec<ResultSet>>,
    request: &Request,
) -> (u16, VecDeque<Vec<ResultSet>>, BTreeMap<String, String>)
where
    StartupPorts<'a, S>: Db + Blobs,
{
    let (batches, inflated) = (RefCell::new(batches), RefCell::default());
    let ports = StartupPorts { storage, batches, inflated };
    let service = Service::new(config(&VARIABLES));
    let response = pollster::block_on(handle(&service, &ports, request));
    (response.status, ports.batches.into_inner(), ports.inflated.into_inner())
}

/// The number of actions of one platform that match together. Ranking this many makes V8 optimize
/// the ranking code before the first real request. The actions are equal, so that the recording
/// stays small.
const MANY_ACTIONS: usize = 2000;
/// The recording contains every value that is read. Small parts with rows keep it small, and the
/// platform's own list is in a pack that is not read.
const SIZES: Sizes =
    Sizes { packed: 1 << 20, whole: 1 << 20, all_actions_part: 32 << 10, ..Sizes::PUBLISHED };

/// The small catalog, in which `alpha` has auth methods and an action with input, and a platform
/// with [`MANY_ACTIONS`].
fn catalog() -> Vec<Platform> {
    let same =
        (0..MANY_ACTIONS).map(|_| action("many", "Create a user", "usersCreate", Method::Post));
    let many = (connector("many", "Many", "Other", 0), false, same.collect());
    let small = small_catalog().into_iter().chain([many]).map(|(connector, authkit, actions)| {
        let is_alpha = connector.platform == "alpha";
        let (detail, units) = if is_alpha { details() } else { Default::default() };
        Platform { connector, detail, authkit, aliases: Vec::new(), actions, units }
    });
    small.collect()
}

fn details() -> (ConnectorDetail, Units) {
    let detail = json!({
        "authMethods": [{
            "id": "token", "type": "bearer", "prefix": "Bearer",
            "fields": [{"name": "token", "label": "Token", "secret": true, "required": true}],
        }],
        "servers": [{"url": "https://api.alpha.example", "description": null}],
        "documentationUrl": null, "license": null, "verify": null, "account": null,
    });
    let schema = json!({"$ref": "#/$defs/User"});
    let reached = json!({"whole": [0], "cut": []});
    let create = json!({
        "title": "Create a user", "key": "usersCreate", "method": "POST", "modelName": "Users",
        "facts": {"path": "/teams/{team}/users", "description": "Invites somebody."},
        "parameters": [
            {"name": "team", "in": "path", "required": true, "schema": {"type": "string"}, "style": "simple", "explode": false},
            {"name": "notify", "in": "query", "required": false, "schema": {"type": "boolean"}, "style": "form", "explode": true},
        ],
        "requestBody": {"required": true, "contentTypes": ["application/json"], "schema": schema},
        "security": [[{"scheme": "Token", "scopes": []}]],
        "reached": reached,
        "responses": [{
            "status": "201", "description": "Created", "contentType": "application/json", "schema": schema, "reached": reached,
        }],
    });
    let user = ("User", r#"{"type":"object","properties":{"email":{"type":"string"}}}"#);
    (
        serde_json::from_value(detail).unwrap(),
        units(json!({"Token": ["token"]}), &[create], &[user]),
    )
}

fn record() -> Recording {
    let api = Api::new(config(&VARIABLES));
    api.env.publish_platforms(SIZES, &catalog());
    let created = api.send(&post_as(&api.key, &minimal("ann")));
    let id = body(&created)["id"].as_str().unwrap().to_owned();
    let token = json!({"type": "bearer", "token": "rehearsed"}).to_string();
    let put = as_key(&api.key, "PUT", &format!("{}/credentials", at(&id)));
    assert_eq!(api.send(&with_body(put, &token)).status, 204);
    // The time of the check is random and would change with each recording.
    api.env.database.execute("UPDATE credentials SET check_at = 1", []).unwrap();
    let mut requests = requests(&api.key, &id);
    let mut inflated = BTreeMap::new();
    api.env.blob_reads.borrow_mut().clear();
    for one in &mut requests {
        let (status, batches, more) = run_in_new_isolate(&api.env, VecDeque::new(), &one.request());
        assert_eq!(status, one.status, "{} {}", one.method, one.path);
        one.batches = batches.iter().map(|sets| sets.iter().map(result).collect()).collect();
        inflated.extend(more);
    }
    let read: Vec<String> = api.env.blob_reads.borrow().clone();
    let blobs = api.env.blobs.borrow();
    let values = read.into_iter().filter_map(|key| Some((to_hex(blobs.get(&key)?), key)));
    let values = values.map(|(digits, key)| (key, digits)).collect();
    let variables = VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Recording { values, inflated, variables, requests }
}

/// If statements or their results change, record again. Otherwise isolates would rehearse requests
/// that callers no longer send.
#[test]
fn every_recorded_request_gets_the_recorded_response() {
    let text = serde_json::to_string_pretty(&record()).unwrap() + "\n";
    assert_up_to_date(RECORDING, &text, "WRITE_REHEARSAL", "rehearsal");
    let recording: Recording = serde_json::from_str(&text).unwrap();
    for one in &recording.requests {
        let batches = one.batches.iter().map(|sets| sets.iter().map(result_set).collect());
        let (status, left, _) = run_in_new_isolate(&recording, batches.collect(), &one.request());
        assert_eq!((status, left.len()), (one.status, 0), "{} {}", one.method, one.path);
    }
}
