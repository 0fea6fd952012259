//! Agents of six tenants in three databases, with keys or with users' tokens, and with all ids of
//! each other. At `POST /mcp`, no agent sees, calls or reconnects a connection outside the access
//! of its key or its user.

use std::collections::BTreeSet;

use connector_vault::auth::key::ApiKey;
use connector_vault::http::Request;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use super::{ACCOUNTS, record_writes, shards, written};
use crate::call::{api_with_platforms, header, platform, platform_response, sent};
use crate::rng::{TestRng, repetitions};
use crate::sessions::token_request;
use crate::support::{Api, anonymous, as_key, body, units, with_body, with_header};
use crate::vault::UNKNOWN_ID;

/// The number of random requests in `npm test`, and in `npm run proof`.
const REQUESTS: [usize; 2] = [2_000, 4_000];
/// Two of these identities differ only in case.
const IDENTITIES: [&str; 3] = ["ann", "Ann", "bob"];
/// The first platform has an action, and its accounts are connected through a link.
const PLATFORMS: [&str; 2] = ["acme", "bearer"];
/// The scopes of a token, each with the tool that requires it.
const SCOPES: [(&str, &str); 4] = [
    ("catalog:read", "describe_action"),
    ("connections:read", "list_connections"),
    ("connections:call", "run_action"),
    ("connections:connect", "start_connect"),
];
/// Tables whose rows belong to a tenant.
const TABLES: [&str; 4] = ["connections", "credentials", "connect_attempts", "events"];

/// A connection, whose access token is its id.
struct StoredConnection {
    id: String,
    tenant: usize,
    identity: &'static str,
    platform: &'static str,
}

/// An agent's key or token.
struct Agent {
    secret: String,
    tenant: usize,
    /// The user of a token, and the platform to which the token is restricted.
    user: Option<(&'static str, Option<&'static str>)>,
    /// The scopes of a token, or all scopes for a key.
    scopes: Vec<&'static str>,
}

impl Agent {
    fn has(&self, platform: &str) -> bool {
        self.user.is_none_or(|(_, only)| only.is_none_or(|only| only == platform))
    }

    fn sees(&self, tenant: usize, identity: &str, platform: &str) -> bool {
        let is_user = self.user.is_none_or(|(own, _)| own == identity);
        self.tenant == tenant && is_user && self.has(platform)
    }

    fn sees_connection(&self, connection: &StoredConnection) -> bool {
        self.sees(connection.tenant, connection.identity, connection.platform)
    }

    fn may(&self, tool: &str) -> bool {
        SCOPES.iter().any(|(scope, known)| *known == tool && self.scopes.contains(scope))
    }
}

struct Agents {
    api: Api,
    rng: TestRng,
    connections: Vec<StoredConnection>,
    callers: Vec<Agent>,
    /// The ids of connect attempts, each with its tenant, identity and platform.
    attempts: Vec<(String, usize, String, &'static str)>,
    /// The number of calls that reached a platform, per tenant.
    call_counts: [usize; 6],
    /// The numbers of permitted and of refused requests.
    request_counts: [usize; 2],
}

fn tenants() -> impl Iterator<Item = (usize, Environment)> {
    let of_account = |account| Environment::ALL.map(|environment| (account, environment));
    (0..ACCOUNTS.len()).flat_map(of_account)
}

impl Agents {
    fn new() -> Self {
        let get = json!({
            "title": "Get a thing", "key": "getThing", "method": "GET", "modelName": "Thing",
            "facts": {"path": "/things"}, "parameters": [], "responses": [],
        });
        let mut api = api_with_platforms(&[("CALL_EVENTS", "all")], units(json!({}), &[get], &[]));
        platform(&api, |_| {
            Ok(platform_response(200, &[("content-type", "application/json")], "{}"))
        });
        let mut keys: Vec<ApiKey> = Vec::new();
        for (account, environment) in tenants() {
            let shard = shards()[account];
            api.env.add(shard);
            keys.push(api.env.key_in(shard, ACCOUNTS[account], environment, &Scope::ALL, None));
        }
        let (attempts, call_counts, request_counts) = Default::default();
        let mut all = Self {
            api,
            rng: TestRng(18),
            connections: Vec::new(),
            callers: Vec::new(),
            attempts,
            call_counts,
            request_counts,
        };
        for (tenant, key) in keys.iter().enumerate() {
            all.fill(tenant, key);
        }
        record_writes(&all.api, &TABLES);
        all
    }

    /// Creates a tenant's connections, and agents that use the tenant's key or its users' tokens.
    fn fill(&mut self, tenant: usize, key: &ApiKey) {
        let send = |method: &str, path: &str, document: &Value, status: u16| {
            let response =
                self.api.send(&with_body(as_key(key, method, path), &document.to_string()));
            assert_eq!(response.status, status, "{}", String::from_utf8_lossy(&response.body));
            response
        };
        let client = json!({"clientId": "an id", "clientSecret": "a secret", "scopes": ["read"]});
        send("PUT", "/v1/oauth-clients/acme", &client, 201);
        let all_scopes = SCOPES.map(|(scope, _)| scope);
        let key_agent = Agent {
            secret: key.reveal().to_owned(),
            tenant,
            user: None,
            scopes: all_scopes.into(),
        };
        self.callers.push(key_agent);
        for identity in IDENTITIES {
            for platform in PLATFORMS {
                let new =
                    json!({"platform": platform, "identity": identity, "identityType": "user"});
                let created = body(&send("POST", "/v1/vault/connections", &new, 201));
                let id = created["id"].as_str().unwrap().to_owned();
                let credentials = match platform {
                    "acme" => json!({"type": "oauth2", "accessToken": id}),
                    _ => json!({"type": "bearer", "token": id}),
                };
                let path = format!("/v1/vault/connections/{id}/credentials");
                send("PUT", &path, &credentials, 204);
                self.connections.push(StoredConnection { id, tenant, identity, platform });
            }
            for only in [None, Some("acme"), Some("bearer")] {
                let scopes: Vec<&str> =
                    all_scopes.into_iter().filter(|_| self.rng.percent(80)).collect();
                let scopes = if scopes.is_empty() { all_scopes.into() } else { scopes };
                let mut input = json!({
                    "identity": identity, "identityType": "user", "scopes": scopes, "ttlSeconds": 3600,
                });
                if let Some(only) = only {
                    input["platforms"] = json!([only]);
                }
                let created_response = self.api.send(&token_request(key, &input));
                let secret = body(&created_response)["token"].as_str().unwrap().to_owned();
                self.callers.push(Agent { secret, tenant, user: Some((identity, only)), scopes });
            }
        }
    }

    /// Calls a tool in a random protocol version, with the secret in a random header. Returns the
    /// tool's result, and whether the caller has the scope.
    fn call(
        &mut self,
        caller_index: usize,
        name: &str,
        arguments: &Value,
        extra: &Value,
    ) -> Option<Value> {
        let agent = &self.callers[caller_index];
        let is_latest = !extra.is_null() || self.rng.percent(50);
        let mut params = json!({"name": name, "arguments": arguments});
        let secret = if self.rng.percent(50) {
            ("authorization", format!("Bearer {}", agent.secret))
        } else {
            ("x-service-secret", agent.secret.clone())
        };
        let mut headers = vec![secret];
        if is_latest {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            headers.push(("mcp-protocol-version", "2026-07-28".to_owned()));
            headers.push(("mcp-method", "tools/call".to_owned()));
            headers.push(("mcp-name", name.to_owned()));
        }
        for (member, value) in extra.as_object().into_iter().flatten() {
            params[member] = value.clone();
        }
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let mut request: Request = with_body(anonymous("POST", "/mcp"), &message.to_string());
        for (name, value) in &headers {
            request = with_header(request, name, value);
        }
        let response = self.api.send(&request);
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
        let result = body(&response)["result"].clone();
        let content = &result["structuredContent"];
        if self.callers[caller_index].may(name) {
            return Some(result);
        }
        assert_eq!(
            (&result["isError"], &content["code"]),
            (&json!(true), &json!("insufficient_scope"))
        );
        assert_eq!(sent(&self.api).len(), 0);
        None
    }

    /// Asserts that a result is this error, that it equals the error for an unknown object, and
    /// that nothing was sent or written.
    fn assert_refused(&mut self, result: &Value, code: &str, of_nothing: Option<&Value>) {
        let content = &result["structuredContent"];
        assert_eq!(
            (&result["isError"], &content["code"]),
            (&json!(true), &json!(code)),
            "{content}"
        );
        let alike = |result: &Value| {
            let mut content = result["structuredContent"].clone();
            content.as_object_mut().unwrap().remove("requestId");
            content
        };
        if let Some(of_nothing) = of_nothing {
            assert_eq!(alike(result), alike(of_nothing));
        }
        assert_eq!((sent(&self.api).len(), written(&self.api)), (0, Vec::new()));
        self.request_counts[1] += 1;
    }

    fn own_tenant(&self, caller_index: usize) -> Vec<String> {
        let tenant = self.callers[caller_index].tenant;
        let (account, environment) = tenants().nth(tenant).unwrap();
        vec![format!(
            "{} {} {}",
            shards()[account].number(),
            ACCOUNTS[account],
            environment.as_str()
        )]
    }

    fn list(&mut self, caller_index: usize) {
        let (platform, identity) =
            (self.rng.maybe(40, &PLATFORMS), self.rng.maybe(40, &IDENTITIES));
        let mut input = json!({"limit": 100});
        for (name, value) in [("platform", platform), ("identity", identity)] {
            if let Some(value) = value {
                input[name] = json!(value);
            }
        }
        let Some(result) = self.call(caller_index, "list_connections", &input, &Value::Null) else {
            return;
        };
        let matches = |connection: &&StoredConnection| {
            self.callers[caller_index].sees_connection(connection)
                && platform.is_none_or(|platform| connection.platform == platform)
                && identity.is_none_or(|identity| connection.identity == identity)
        };
        let expected: BTreeSet<&str> = self
            .connections
            .iter()
            .filter(matches)
            .map(|connection| connection.id.as_str())
            .collect();
        let rows = result["structuredContent"]["rows"].as_array().unwrap();
        let shown: BTreeSet<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!((shown, rows.len()), (expected.clone(), expected.len()), "{input}");
        self.request_counts[usize::from(expected.is_empty())] += 1;
        assert_eq!(written(&self.api), Vec::<String>::new());
    }

    fn describe(&mut self, caller_index: usize) {
        let input = json!({"platform": "acme", "key": "getThing"});
        let Some(result) = self.call(caller_index, "describe_action", &input, &Value::Null) else {
            return;
        };
        if self.callers[caller_index].has("acme") {
            let text = result["content"][0]["text"].as_str().unwrap();
            let described: Value = serde_json::from_str(text).unwrap();
            assert_eq!(described["key"], "getThing");
            self.request_counts[0] += 1;
        } else {
            self.assert_refused(&result, "platform_not_found", None);
        }
    }

    fn run(&mut self, caller_index: usize) {
        let at = self.rng.below(self.connections.len());
        let input = |id: &str| json!({"connection": id, "key": "getThing"});
        let id = self.connections[at].id.clone();
        let Some(result) = self.call(caller_index, "run_action", &input(&id), &Value::Null) else {
            return;
        };
        let (agent, connection) = (&self.callers[caller_index], &self.connections[at]);
        if !agent.sees_connection(connection) {
            let nothing = self.call(caller_index, "run_action", &input(UNKNOWN_ID), &Value::Null);
            return self.assert_refused(&result, "connection_not_found", nothing.as_ref());
        }
        if connection.platform != "acme" {
            return self.assert_refused(&result, "action_not_found", None);
        }
        assert_eq!(result["isError"], json!(false), "{result}");
        let requests = sent(&self.api);
        let bearer = format!("Bearer {id}");
        assert_eq!(
            (requests.len(), header(&requests[0], "authorization")),
            (1, Some(bearer.as_str()))
        );
        assert_eq!(written(&self.api), self.own_tenant(caller_index));
        self.call_counts[self.callers[caller_index].tenant] += 1;
        self.request_counts[0] += 1;
    }

    /// Reconnects an account, by the id of its connection.
    fn reconnect(&mut self, caller_index: usize) {
        let at = self.rng.below(self.connections.len());
        let (id, platform) = (self.connections[at].id.clone(), self.connections[at].platform);
        if platform != "acme" {
            return;
        }
        let input = |id: &str| json!({"connection": id});
        let Some(result) = self.call(caller_index, "start_connect", &input(&id), &Value::Null)
        else {
            return;
        };
        if self.callers[caller_index].sees_connection(&self.connections[at]) {
            let identity = self.connections[at].identity.to_owned();
            return self.record_attempt(caller_index, &result, identity, platform);
        }
        let nothing = self.call(caller_index, "start_connect", &input(UNKNOWN_ID), &Value::Null);
        self.assert_refused(&result, "connection_not_found", nothing.as_ref());
    }

    /// Connects a new account for a user.
    fn connect(&mut self, caller_index: usize) {
        let identity = format!("{}{}", self.rng.pick(&IDENTITIES), self.rng.pick(&["", "-new"]));
        let input = json!({"platform": "acme", "identity": identity, "identityType": "user"});
        let Some(result) = self.call(caller_index, "start_connect", &input, &Value::Null) else {
            return;
        };
        let agent = &self.callers[caller_index];
        if !agent.sees(agent.tenant, &identity, "acme") {
            return self.assert_refused(&result, "insufficient_scope", None);
        }
        if self
            .connections
            .iter()
            .any(|connection| agent.sees_connection(connection) && connection.identity == identity)
        {
            return self.assert_refused(&result, "connection_exists", None);
        }
        self.record_attempt(caller_index, &result, identity, "acme");
    }

    fn record_attempt(
        &mut self,
        caller_index: usize,
        result: &Value,
        identity: String,
        platform: &'static str,
    ) {
        let content = &result["structuredContent"];
        if content["code"] == "too_many_requests" {
            return;
        }
        assert_eq!(content["status"], "pending", "{result}");
        assert_eq!(written(&self.api), self.own_tenant(caller_index));
        let id = content["id"].as_str().unwrap().to_owned();
        self.attempts.push((id, self.callers[caller_index].tenant, identity, platform));
        self.request_counts[0] += 1;
    }

    /// Requests the outcome of a user's attempt, as a client does that has opened the link.
    fn resume(&mut self, caller_index: usize) {
        let from = self.attempts.len().saturating_sub(30);
        if self.attempts.is_empty() {
            return;
        }
        let at = from + self.rng.below(self.attempts.len() - from);
        let (id, tenant, identity, platform) = self.attempts[at].clone();
        let state = |id: &str| json!({"requestState": id, "inputResponses": {"connect": {"action": "accept"}}});
        let nothing = json!({});
        let Some(result) = self.call(caller_index, "start_connect", &nothing, &state(&id)) else {
            return;
        };
        if self.callers[caller_index].sees(tenant, &identity, platform) {
            assert_eq!(result["structuredContent"]["id"], id, "{result}");
            self.request_counts[0] += 1;
        } else {
            let unknown = self.call(caller_index, "start_connect", &nothing, &state(UNKNOWN_ID));
            self.assert_refused(&result, "attempt_not_found", unknown.as_ref());
        }
    }
}

#[test]
fn agents_see_and_run_only_what_their_user_may() {
    let mut all = Agents::new();
    let requests = repetitions(REQUESTS[0], REQUESTS[1]);
    for _ in 0..requests {
        let caller_index = all.rng.below(all.callers.len());
        match all.rng.below(100) {
            0..25 => all.list(caller_index),
            25..30 => all.describe(caller_index),
            30..70 => all.run(caller_index),
            70..82 => all.reconnect(caller_index),
            82..92 => all.connect(caller_index),
            _ => all.resume(caller_index),
        }
    }
    assert!(
        all.request_counts.iter().all(|count| *count > requests / 8),
        "{:?}",
        all.request_counts
    );
    // Each call has an event in the feed of its own tenant only.
    for (tenant, call_counts) in all.call_counts.into_iter().enumerate() {
        let key = all.callers.iter().find(|agent| agent.tenant == tenant).unwrap().secret.clone();
        let (mut after, mut event_count) = (String::new(), 0);
        loop {
            let path = format!("/v1/events?types=connection.called&limit=500{after}");
            let page = body(&all.api.send(&with_header(
                anonymous("GET", &path),
                "x-service-secret",
                &key,
            )));
            let rows = page["rows"].as_array().unwrap();
            for row in rows {
                let id = row["data"]["connection"]["id"].as_str().unwrap();
                let connection =
                    all.connections.iter().find(|connection| connection.id == id).unwrap();
                assert_eq!(connection.tenant, tenant);
            }
            event_count += rows.len();
            if rows.is_empty() {
                break;
            }
            after = format!("&after={}", page["next"].as_str().unwrap());
        }
        assert!(call_counts > 0);
        assert_eq!(event_count, call_counts);
    }
}
