//! Random requests, compared with a naive model of the audit: it contains exactly the entries that
//! the responses imply, and no secret.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use connector_vault::auth::key::ApiKey;
use connector_vault::http::{Request, Response};
use connector_vault::terms::{AuditAction, Environment, Scope};
use serde_json::{Value, json};

use super::{AUDIT, id_of};
use crate::connect::{self, response};
use crate::rng::{TestRng, repetitions};
use crate::support::{Api, DbFault, as_key, as_secret, body, with_body};
use crate::vault::{CONNECTIONS, at};

/// The number of random requests in `npm test`, and in `npm run proof`.
const REQUESTS: [usize; 2] = [2_000, 100_000];
/// A substring of every secret in the requests.
const SECRET_SUBSTRING: &str = "hush";
const IDENTITIES: [&str; 3] = ["ann", "bob", "Zoë 日本"];

/// An expected audit entry.
#[derive(Debug, Clone, PartialEq)]
struct ExpectedEntry {
    action: &'static str,
    actor: (&'static str, String),
    target: String,
    at: u64,
    count: u64,
    request: String,
}

/// An account's environment: its callers, its data, and its expected audit.
struct Tenant {
    keys: [ApiKey; 2],
    ids: [String; 2],
    tokens: BTreeMap<&'static str, String>,
    /// Each connection's version, identity, and whether it has credentials.
    connections: BTreeMap<String, (String, String, bool)>,
    webhooks: Vec<String>,
    created_keys: Vec<String>,
    has_client: bool,
    has_sign_in: bool,
    audit: Vec<ExpectedEntry>,
}

struct Simulation {
    api: Api,
    rng: TestRng,
    tenants: Vec<Tenant>,
    secrets: Vec<String>,
}

impl Simulation {
    fn new() -> Self {
        let api = connect::api_with(&crate::agents::settings());
        *api.env.platform.borrow_mut() = Box::new(|_| response(200, &json!({"id": "u-1"})));
        let mut simulation =
            Self { api, rng: TestRng(43), tenants: Vec::new(), secrets: Vec::new() };
        for (account, environment) in
            [("acme", Environment::Test), ("acme", Environment::Live), ("other", Environment::Test)]
        {
            let api = &simulation.api;
            let keys = [(); 2].map(|()| api.env.key(account, environment, &Scope::ALL, None));
            let ids = [id_of(api, &keys[0]), id_of(api, &keys[1])];
            let tokens = IDENTITIES.map(|identity| {
                let scopes = ["connections:read", "connections:write", "connections:connect"];
                let payload = json!({"identity": identity, "scopes": scopes, "ttlSeconds": 3600});
                let request = as_key(&keys[0], "POST", "/v1/sessions");
                let token = body(&api.send(&with_body(request, &payload.to_string())));
                (identity, token["token"].as_str().unwrap_or_else(|| panic!("{token}")).to_owned())
            });
            simulation.secrets.extend(tokens.iter().map(|(_, token)| token.clone()));
            simulation.secrets.extend(keys.iter().map(|key| key.reveal().to_owned()));
            simulation.tenants.push(Tenant {
                keys,
                ids,
                tokens: tokens.into(),
                connections: BTreeMap::new(),
                webhooks: Vec::new(),
                created_keys: Vec::new(),
                has_client: false,
                has_sign_in: false,
                audit: Vec::new(),
            });
        }
        // The model does not include the entries that creating these keys wrote.
        simulation.api.env.database.execute_batch("DELETE FROM audit").unwrap();
        simulation
    }

    /// Picks a caller of the tenant: a key or an identity's token. Returns its secret, and its
    /// actor in the audit.
    fn caller(
        &mut self,
        tenant_index: usize,
        may_be_token: bool,
    ) -> (String, (&'static str, String)) {
        let tenant = &self.tenants[tenant_index];
        if may_be_token && self.rng.percent(30) {
            let identity = *self.rng.pick(&IDENTITIES);
            return (tenant.tokens[identity].clone(), ("token", identity.to_owned()));
        }
        let index = self.rng.below(2);
        (tenant.keys[index].reveal().to_owned(), ("key", tenant.ids[index].clone()))
    }

    fn send(&mut self, secret: &str, method: &str, path: &str, payload: &Value) -> Response {
        if self.rng.percent(3) {
            let db_fault = *self.rng.pick(&[DbFault::Before, DbFault::After]);
            self.api.env.db_faults.borrow_mut().push_back(db_fault);
        }
        let request = as_secret(secret, method, path);
        let request: Request =
            if payload.is_null() { request } else { with_body(request, &payload.to_string()) };
        let response = self.api.send(&request);
        self.api.env.db_faults.borrow_mut().clear();
        if response.status < 300
            && let Ok(reply) = serde_json::from_slice::<Value>(&response.body)
            && let Some(secret) = reply["secret"].as_str()
            && self.secrets.len() < 300
        {
            self.secrets.push(secret.to_owned());
        }
        response
    }

    fn expect(
        &mut self,
        tenant_index: usize,
        action: &'static str,
        actor: &(&'static str, String),
        target: &str,
        response: &Response,
    ) {
        let (at, request) = (self.api.env.now.get(), response.header("x-request-id").unwrap());
        let request = request.to_owned();
        let audit = &mut self.tenants[tenant_index].audit;
        if action == "credentials.read" {
            let known = audit.iter_mut().rev().take_while(|entry| entry.at / 60_000 == at / 60_000);
            let mut known = known.filter(|entry| {
                entry.action == action && entry.actor == *actor && entry.target == target
            });
            if let Some(known) = known.next() {
                known.count += 1;
                known.request = request;
                return;
            }
        }
        let (actor, target) = (actor.clone(), target.to_owned());
        audit.push(ExpectedEntry { action, actor, target, at, count: 1, request });
    }

    /// Picks a random connection, usually one of this tenant.
    fn connection(&mut self, tenant_index: usize) -> String {
        let owner_index =
            if self.rng.percent(10) { self.rng.below(self.tenants.len()) } else { tenant_index };
        let ids: Vec<&String> = self.tenants[owner_index].connections.keys().collect();
        if ids.is_empty() {
            crate::vault::UNKNOWN_ID.to_owned()
        } else {
            (*self.rng.pick(&ids)).clone()
        }
    }

    fn create(&mut self, tenant_index: usize) {
        let (secret, actor) = self.caller(tenant_index, true);
        let identity = match actor.0 {
            "token" => actor.1.clone(),
            _ => (*self.rng.pick(&IDENTITIES)).to_owned(),
        };
        let holds = self.rng.percent(60);
        let label = format!("l-{}", self.rng.below(12));
        let mut payload = json!({
            "platform": "keyed", "identity": identity, "identityType": "user", "label": label,
        });
        if holds {
            payload["fields"] = json!({"apiKey": format!("{SECRET_SUBSTRING} {label}")});
        }
        let path = if holds { "/v1/vault/connect" } else { CONNECTIONS };
        let response = self.send(&secret, "POST", path, &payload);
        if matches!(response.status, 200 | 201) {
            let is_new = response.status == 201;
            let created = body(&response);
            let [id, version] = ["id", "version"].map(|name| created[name].as_str().unwrap());
            let action = if is_new { "connection.created" } else { "connection.connected" };
            self.expect(tenant_index, action, &actor, id, &response);
            let row = (version.to_owned(), identity, holds);
            self.tenants[tenant_index].connections.insert(id.to_owned(), row);
        } else {
            assert_eq!(response.status, 409, "{}", body(&response));
        }
    }

    fn change(&mut self, tenant_index: usize) {
        let (secret, actor) = self.caller(tenant_index, true);
        let id = self.connection(tenant_index);
        let (method, path, payload, action) = match self.rng.below(3) {
            0 => (
                "PATCH",
                at(&id),
                json!({"tags": [*self.rng.pick(&["a", "b"])]}),
                "connection.updated",
            ),
            1 => {
                let name = format!("name {}", self.rng.below(3));
                ("PUT", format!("{}/name", at(&id)), json!({"name": name}), "connection.updated")
            }
            _ => {
                let state = *self.rng.pick(&["operational", "unknown", "failed"]);
                let path = format!("{}/state", at(&id));
                ("PUT", path, json!({"state": state}), "connection.state_changed")
            }
        };
        let response = self.send(&secret, method, &path, &payload);
        if response.status != 200 {
            return assert!(matches!(response.status, 404 | 409), "{}", body(&response));
        }
        let version = body(&response)["version"].as_str().unwrap().to_owned();
        let former = self.tenants[tenant_index].connections.get_mut(&id).unwrap();
        if former.0 != version {
            former.0 = version;
            self.expect(tenant_index, action, &actor, &id, &response);
        }
    }

    fn delete(&mut self, tenant_index: usize) {
        let (secret, actor) = self.caller(tenant_index, true);
        let id = self.connection(tenant_index);
        let row = self.tenants[tenant_index].connections.get(&id);
        let is_there = row.is_some_and(|row| actor.0 == "key" || actor.1 == row.1);
        let response = self.send(&secret, "DELETE", &at(&id), &Value::Null);
        assert!(response.status == 204 || !is_there, "{}", body(&response));
        // After a batch ran twice, even an unknown connection returns 204, so the status does not
        // show whether a connection was deleted.
        if is_there {
            self.tenants[tenant_index].connections.remove(&id);
            self.expect(tenant_index, "connection.deleted", &actor, &id, &response);
        }
    }

    fn credentials(&mut self, tenant_index: usize) {
        let (secret, actor) = self.caller(tenant_index, true);
        let id = self.connection(tenant_index);
        let path = format!("{}/credentials", at(&id));
        let holds = self.tenants[tenant_index].connections.get(&id).is_some_and(|row| row.2);
        if self.rng.percent(20) {
            let payload = json!({"type": "api_key", "apiKey": format!("{SECRET_SUBSTRING} again")});
            let response = self.send(&secret, "PUT", &path, &payload);
            if response.status == 204 {
                let row = self.tenants[tenant_index].connections.get_mut(&id).unwrap();
                row.2 = true;
                row.0 = (row.0.parse::<u64>().unwrap() + 1).to_string();
                self.expect(tenant_index, "connection.connected", &actor, &id, &response);
            }
            return;
        }
        let response = self.send(&secret, "GET", &path, &Value::Null);
        assert_eq!(response.status == 200, holds && actor.0 == "key", "{}", body(&response));
        if response.status == 200 {
            self.expect(tenant_index, "credentials.read", &actor, &id, &response);
        }
    }

    fn settings(&mut self, tenant_index: usize) {
        let (secret, actor) = self.caller(tenant_index, false);
        match self.rng.below(4) {
            0 => {
                let payload = json!({"clientId": "c", "clientSecret": format!("{SECRET_SUBSTRING} client"), "scopes": []});
                let response = self.send(&secret, "PUT", "/v1/oauth-clients/acme", &payload);
                let is_new = !std::mem::replace(&mut self.tenants[tenant_index].has_client, true);
                assert!(response.status < 300, "{}", body(&response));
                let action = if is_new { "oauth_client.created" } else { "oauth_client.updated" };
                self.expect(tenant_index, action, &actor, "acme", &response);
            }
            1 => {
                let response = self.send(&secret, "DELETE", "/v1/oauth-clients/acme", &Value::Null);
                if std::mem::replace(&mut self.tenants[tenant_index].has_client, false) {
                    assert_eq!(response.status, 204);
                    self.expect(tenant_index, "oauth_client.deleted", &actor, "acme", &response);
                }
            }
            2 => {
                // Repeating a change within the same millisecond changes nothing.
                self.api.env.wait(1);
                let payload = json!({"type": "app", "url": "https://app.example/agents"});
                let response = self.send(&secret, "PUT", "/v1/agent-sign-in", &payload);
                assert!(response.status < 300, "{}", body(&response));
                self.tenants[tenant_index].has_sign_in = true;
                let endpoint = crate::agents::id_of(&body(&response));
                self.expect(tenant_index, "agent_sign_in.updated", &actor, &endpoint, &response);
            }
            _ => {
                let former = self.send(&secret, "GET", "/v1/agent-sign-in", &Value::Null);
                let response = self.send(&secret, "DELETE", "/v1/agent-sign-in", &Value::Null);
                if std::mem::replace(&mut self.tenants[tenant_index].has_sign_in, false) {
                    assert_eq!(response.status, 204);
                    let endpoint = crate::agents::id_of(&body(&former));
                    self.expect(
                        tenant_index,
                        "agent_sign_in.deleted",
                        &actor,
                        &endpoint,
                        &response,
                    );
                }
            }
        }
    }

    fn webhooks(&mut self, tenant_index: usize) {
        let (secret, actor) = self.caller(tenant_index, false);
        let all = self.tenants[tenant_index].webhooks.clone();
        if all.len() < 3 {
            let payload = json!({"url": "https://hooks.example/in", "types": ["webhook.disabled"]});
            let response = self.send(&secret, "POST", "/v1/webhooks", &payload);
            let id = body(&response)["id"].as_str().unwrap().to_owned();
            self.expect(tenant_index, "webhook.created", &actor, &id, &response);
            self.tenants[tenant_index].webhooks.push(id);
            return;
        }
        let id = self.rng.pick(&all).clone();
        let path = format!("/v1/webhooks/{id}");
        let (method, path, payload, action) = match self.rng.below(3) {
            0 => ("PATCH", path, json!({"active": self.rng.percent(50)}), "webhook.updated"),
            1 => {
                // Within a minute, a rotation repeats the previous one, and writes nothing.
                self.api.env.wait(60_000);
                ("POST", format!("{path}/rotate"), Value::Null, "webhook.rotated")
            }
            _ => {
                self.tenants[tenant_index].webhooks.retain(|known| *known != id);
                ("DELETE", path, Value::Null, "webhook.deleted")
            }
        };
        let response = self.send(&secret, method, &path, &payload);
        assert!(response.status < 300, "{}", body(&response));
        self.expect(tenant_index, action, &actor, &id, &response);
    }

    fn keys(&mut self, tenant_index: usize) {
        let (secret, actor) = self.caller(tenant_index, false);
        let all = self.tenants[tenant_index].created_keys.clone();
        if all.len() < 20 {
            let payload = json!({"scopes": ["catalog:read"], "name": "random"});
            let response = self.send(&secret, "POST", "/v1/keys", &payload);
            let id = body(&response)["id"]
                .as_str()
                .unwrap_or_else(|| panic!("{}", body(&response)))
                .to_owned();
            self.expect(tenant_index, "key.created", &actor, &id, &response);
            self.tenants[tenant_index].created_keys.push(id);
            return;
        }
        let id = self.rng.pick(&all).clone();
        if self.rng.percent(30) {
            let response =
                self.send(&secret, "POST", &format!("/v1/keys/{id}/rotate"), &Value::Null);
            if response.status == 200 {
                let new = body(&response)["id"].as_str().unwrap().to_owned();
                self.expect(tenant_index, "key.created", &actor, &new, &response);
                self.expect(tenant_index, "key.rotated", &actor, &id, &response);
                self.tenants[tenant_index].created_keys.push(new);
            }
            return;
        }
        let response = self.send(&secret, "DELETE", &format!("/v1/keys/{id}"), &Value::Null);
        assert_eq!(response.status, 204);
        self.tenants[tenant_index].created_keys.retain(|known| *known != id);
        self.expect(tenant_index, "key.revoked", &actor, &id, &response);
    }

    /// Compares a list with a random filter to the model.
    fn list(&mut self, tenant_index: usize) {
        let tenant = &self.tenants[tenant_index];
        let sample = tenant.audit.get(self.rng.below(tenant.audit.len().max(1))).cloned();
        let Some(sample) = sample else { return };
        let mut query = format!("limit={}", self.rng.pick(&[1, 20, 500]));
        let (by_actor, by_target) = (self.rng.percent(30), self.rng.percent(30));
        let (by_action, by_time) = (self.rng.percent(30), self.rng.percent(30));
        let encoded = crate::agents::encode;
        if by_actor {
            write!(query, "&actor={}", encoded(&sample.actor.1)).unwrap();
        }
        if by_target {
            write!(query, "&target={}", encoded(&sample.target)).unwrap();
        }
        if by_action {
            write!(query, "&actions={}", sample.action).unwrap();
        }
        if by_time {
            let from = connector_vault::util::rfc3339::rfc3339(sample.at).unwrap();
            write!(query, "&from={from}").unwrap();
        }
        let secret = self.tenants[tenant_index].keys[0].reveal().to_owned();
        let page = body(&self.send(&secret, "GET", &format!("{AUDIT}?{query}"), &Value::Null));
        let mut model: Vec<&ExpectedEntry> = self.tenants[tenant_index]
            .audit
            .iter()
            .filter(|entry| !by_actor || entry.actor.1 == sample.actor.1)
            .filter(|entry| !by_target || entry.target == sample.target)
            .filter(|entry| !by_action || entry.action == sample.action)
            .filter(|entry| !by_time || entry.at >= sample.at)
            .collect();
        model.reverse();
        let rows = page["rows"].as_array().unwrap_or_else(|| panic!("{query}: {page}"));
        for (row, entry) in rows.iter().zip(&model) {
            assert_eq!(comparable_members(row), comparable_members(&document(entry)), "{query}");
        }
        if page["next"].is_null() {
            assert_eq!(rows.len(), model.len(), "{query}");
        }
    }

    fn compare(&self) {
        let names: HashMap<&str, AuditAction> =
            AuditAction::ALL.into_iter().map(|action| (action.as_str(), action)).collect();
        for (tenant, (account, environment)) in
            self.tenants.iter().zip([("acme", "test"), ("acme", "live"), ("other", "test")])
        {
            let stored = self.api.env.texts(&format!(
                "SELECT concat_ws('|', action, actor_type, actor, target, at, count, request_id, key_id) FROM audit WHERE account = '{account}' AND environment = '{environment}' ORDER BY id"
            ));
            let expected: Vec<String> = tenant
                .audit
                .iter()
                .map(|entry| {
                    assert!(names.contains_key(entry.action));
                    let by = &entry.actor;
                    let key = if by.0 == "key" { &by.1 } else { &tenant.ids[0] };
                    let (at, count) = (entry.at, entry.count);
                    format!(
                        "{}|{}|{}|{}|{at}|{count}|{}|{key}",
                        entry.action, by.0, by.1, entry.target, entry.request
                    )
                })
                .collect();
            for (stored, expected) in stored.iter().zip(&expected) {
                assert_eq!(stored, expected);
            }
            assert_eq!(stored.len(), expected.len());
        }
    }
}

/// The members of an entry that are compared.
fn comparable_members(row: &Value) -> String {
    let (actor, target) = (&row["actor"], &row["target"]);
    format!(
        "{} {} {} {} {}",
        row["action"], actor["id"], target["id"], row["count"], row["requestId"]
    )
}

fn document(entry: &ExpectedEntry) -> Value {
    json!({
        "action": entry.action, "actor": {"id": entry.actor.1}, "target": {"id": entry.target},
        "count": entry.count, "requestId": entry.request,
    })
}

#[test]
fn the_audit_matches_random_requests_and_contains_no_secret() {
    let mut simulation = Simulation::new();
    for index in 0..repetitions(REQUESTS[0], REQUESTS[1]) {
        let tenant_index = simulation.rng.below(simulation.tenants.len());
        match simulation.rng.below(20) {
            0..=3 => simulation.create(tenant_index),
            4..=7 => simulation.change(tenant_index),
            8 => simulation.delete(tenant_index),
            9..=13 => simulation.credentials(tenant_index),
            14 | 15 => simulation.settings(tenant_index),
            16 | 17 => simulation.webhooks(tenant_index),
            18 => simulation.keys(tenant_index),
            _ => simulation.list(tenant_index),
        }
        if simulation.rng.percent(20) {
            // All requests together take less than an hour, the lifetime of the tokens.
            let limit = 3_000_000 / repetitions(REQUESTS[0], REQUESTS[1]);
            simulation.api.env.wait(simulation.rng.below(limit.max(2)) as u64);
        }
        if index % 20_000 == 19_999 {
            simulation.compare();
        }
    }
    simulation.compare();
    let stored = simulation.api.env.texts("SELECT concat_ws('|', id, action, actor_type, actor, key_id, target_type, target, request_id) FROM audit").join("\n");
    assert!(!stored.contains(SECRET_SUBSTRING));
    for secret in &simulation.secrets {
        assert!(!stored.contains(secret.as_str()));
    }
    let hashes = simulation.api.env.texts("SELECT hash FROM api_keys LIMIT 300");
    assert!(hashes.iter().all(|hash| !stored.contains(hash.as_str())));
    let sealed = simulation.api.env.texts("SELECT sealed FROM credentials LIMIT 300");
    assert!(sealed.iter().all(|sealed| !stored.contains(sealed.as_str())));
    let actions = simulation.api.env.texts("SELECT DISTINCT action FROM audit");
    assert!(actions.len() >= 15, "{actions:?}");
}
