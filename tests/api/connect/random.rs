//! Random requests of six tenants and their tokens, with ids of each other's connections and
//! attempts. A naive model predicts each response: no tenant sees or changes another's data.

use std::collections::{BTreeMap, BTreeSet};

use connector_vault::auth::key::ApiKey;
use connector_vault::terms::{Environment, Scope};

use super::*;
use crate::rng::{TestRng, repetitions};
use crate::vault::{UNKNOWN_ID, code, comparable};

/// The number of random requests in `npm test`, and in `npm run proof`.
const REQUESTS: [usize; 2] = [10_000, 100_000];
/// The maximum number of open attempts of an identity.
const MAX_OPEN: usize = 20;
const ACCOUNTS: [&str; 3] = ["acme", "acme2", "Acme"];
const IDENTITIES: [&str; 3] = ["ann", "Ann", "bob"];
const LABELS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// Platforms with an OAuth method.
const PLATFORMS: [&str; 2] = ["acme", "plain"];

#[derive(Clone)]
struct ModelConnection {
    id: String,
    identity: String,
    label: String,
    /// The password that the vault stores, if any.
    password: Option<String>,
}

struct Tenant {
    name: String,
    key: ApiKey,
    /// The OAuth client's id for each platform.
    clients: BTreeMap<String, String>,
    connections: Vec<ModelConnection>,
    /// The id and the identity of each attempt.
    attempts: Vec<(String, String)>,
}

/// A tenant's key, or a tenant's token for an identity.
#[derive(Clone)]
struct Caller {
    tenant: usize,
    identity: Option<String>,
    secret: String,
}

impl Caller {
    fn sees(&self, identity: &str) -> bool {
        self.identity.as_ref().is_none_or(|own| own == identity)
    }
}

struct Simulation {
    api: Api,
    rng: TestRng,
    tenants: Vec<Tenant>,
    callers: Vec<Caller>,
    /// The number of responses with each status.
    seen: BTreeMap<u16, usize>,
    sent: usize,
}

impl Simulation {
    fn new() -> Self {
        let api = api();
        let (mut tenants, mut callers) = (Vec::new(), Vec::new());
        for account in ACCOUNTS {
            for environment in Environment::ALL {
                let key = api.env.key(account, environment, &Scope::ALL, None);
                let tenant = tenants.len();
                callers.push(Caller { tenant, identity: None, secret: key.reveal().into() });
                for identity in IDENTITIES {
                    let input = json!({
                        "identity": identity, "scopes": ["connections:read", "connections:connect"], "ttlSeconds": 3600,
                    });
                    let created_response = api.send(&crate::sessions::token_request(&key, &input));
                    let secret = body(&created_response)["token"].as_str().unwrap().to_owned();
                    callers.push(Caller { tenant, identity: Some(identity.into()), secret });
                }
                tenants.push(Tenant {
                    name: format!("{account} {}", environment.as_str()),
                    key,
                    clients: BTreeMap::new(),
                    connections: Vec::new(),
                    attempts: Vec::new(),
                });
            }
        }
        // Triggers record the tenant of each write.
        let run = |sql: &str| api.env.database.execute_batch(sql).unwrap();
        run("CREATE TEMP TABLE written (tenant TEXT)");
        for table in ["connections", "oauth_clients", "credentials", "connect_attempts"] {
            for (event, row) in
                [("INSERT", "NEW"), ("UPDATE", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")]
            {
                run(&format!(
                    "CREATE TEMP TRIGGER {table}_{event}_{row} AFTER {event} ON main.{table} BEGIN INSERT INTO written VALUES ({row}.account || ' ' || {row}.environment); END"
                ));
            }
        }
        Self { api, rng: TestRng(13), tenants, callers, seen: BTreeMap::new(), sent: 0 }
    }

    /// Sends a request. Checks that it writes only the tenant's data, and nothing at all if it is
    /// refused.
    fn send(
        &mut self,
        caller: &Caller,
        method: &str,
        path: &str,
        sent: Option<&Value>,
    ) -> Response {
        let request = as_secret(&caller.secret, method, path);
        let request = match sent {
            Some(sent) => with_body(request, &sent.to_string()),
            None => request,
        };
        let response = self.api.send(&request);
        let written = self.api.env.texts("SELECT DISTINCT tenant FROM temp.written");
        self.api.env.database.execute("DELETE FROM temp.written", []).unwrap();
        let writes = response.status < 300 && method != "GET";
        let own = if writes { vec![self.tenants[caller.tenant].name.clone()] } else { Vec::new() };
        assert_eq!(written, own, "{method} {path}");
        let is_shown = method == "GET" && path.ends_with("/credentials") && response.status == 200;
        assert!(is_shown || !text(&response).contains("password-"), "{method} {path}");
        *self.seen.entry(response.status).or_default() += 1;
        self.sent += 1;
        response
    }

    /// Whether a request that requires a key is refused because the caller has only a token. Checks
    /// the response.
    fn is_refused(caller: &Caller, response: &Response) -> bool {
        let is_token = caller.identity.is_some();
        if is_token {
            assert_eq!(
                (response.status, code(response).as_str()),
                (403, "insufficient_scope"),
                "{}",
                text(response)
            );
        }
        is_token
    }

    fn password(&self) -> String {
        format!("password-{}", self.sent)
    }

    fn client(&mut self, caller: &Caller) {
        let platform = *self.rng.pick(&PLATFORMS);
        let path = format!("/v1/oauth-clients/{platform}");
        let own = self.tenants[caller.tenant].clients.get(platform).cloned();
        match self.rng.below(4) {
            0 => {
                let id = format!("id-{}", self.sent);
                let response = self.send(caller, "PUT", &path, Some(&json!({"clientId": id})));
                if Self::is_refused(caller, &response) {
                    return;
                }
                assert_eq!(response.status, if own.is_some() { 200 } else { 201 });
                self.tenants[caller.tenant].clients.insert(platform.into(), id);
            }
            1 => {
                let response = self.send(caller, "GET", "/v1/oauth-clients", None);
                if Self::is_refused(caller, &response) {
                    return;
                }
                let rows = body(&response)["rows"].as_array().unwrap().clone();
                let pair = |row: &Value| {
                    (
                        row["platform"].as_str().unwrap().into(),
                        row["clientId"].as_str().unwrap().into(),
                    )
                };
                let listed: BTreeMap<String, String> = rows.iter().map(pair).collect();
                assert_eq!(listed, self.tenants[caller.tenant].clients);
            }
            2 if self.rng.percent(30) => {
                let response = self.send(caller, "DELETE", &path, None);
                if Self::is_refused(caller, &response) {
                    return;
                }
                assert_eq!(response.status, if own.is_some() { 204 } else { 404 });
                self.tenants[caller.tenant].clients.remove(platform);
            }
            _ => {
                let response = self.send(caller, "GET", &path, None);
                if Self::is_refused(caller, &response) {
                    return;
                }
                match own {
                    Some(id) => assert_eq!(body(&response)["clientId"], id),
                    None => assert_eq!(code(&response), "oauth_client_not_found"),
                }
            }
        }
    }

    /// Connects with a password, or creates a connection without credentials.
    fn connect(&mut self, caller: &Caller) {
        let identity = *self.rng.pick(&IDENTITIES);
        let label = *self.rng.pick(&LABELS);
        let mut sent = json!({"platform": "plain", "identity": identity, "identityType": "user", "label": label});
        let password = self.password();
        let holds = caller.identity.is_some() || self.rng.percent(70);
        let path = if holds {
            sent["authMethod"] = json!("basic");
            sent["fields"] = json!({"username": "u", "password": password});
            "/v1/vault/connect"
        } else {
            "/v1/vault/connections"
        };
        let response = self.send(caller, "POST", path, Some(&sent));
        if !caller.sees(identity) {
            assert_eq!((response.status, code(&response).as_str()), (403, "insufficient_scope"));
            return;
        }
        let tenant = &mut self.tenants[caller.tenant];
        let holder = tenant
            .connections
            .iter()
            .find(|own| (&*own.identity, &*own.label) == (identity, label));
        if let Some(holder) = holder {
            let problem = body(&response);
            assert_eq!((response.status, &problem["code"]), (409, &json!("connection_exists")));
            assert_eq!(problem["connectionId"], holder.id);
        } else {
            assert_eq!(response.status, 201, "{}", text(&response));
            tenant.connections.push(ModelConnection {
                id: body(&response)["id"].as_str().unwrap().into(),
                identity: identity.into(),
                label: label.into(),
                password: holds.then_some(password),
            });
        }
    }

    fn start_attempt(&mut self, caller: &Caller) {
        let identity = *self.rng.pick(&IDENTITIES);
        let sent = json!({
            "platform": "acme", "identity": identity, "identityType": "user", "label": format!("n{}", self.sent),
        });
        let response = self.send(caller, "POST", "/v1/vault/connect", Some(&sent));
        let tenant = &mut self.tenants[caller.tenant];
        let open = tenant.attempts.iter().filter(|(_, owner)| owner == identity).count();
        let expected = if !caller.sees(identity) {
            (403, "insufficient_scope")
        } else if !tenant.clients.contains_key("acme") {
            (409, "oauth_client_missing")
        } else if open >= MAX_OPEN {
            (429, "too_many_requests")
        } else {
            (202, "")
        };
        assert_eq!((response.status, code(&response).as_str()), expected);
        if response.status == 202 {
            let id = body(&response)["id"].as_str().unwrap().to_owned();
            tenant.attempts.push((id, identity.into()));
        }
    }

    fn attempt(&mut self, caller: &Caller) {
        let tenant_index = self.rng.below(self.tenants.len());
        let attempts = &self.tenants[tenant_index].attempts;
        if attempts.is_empty() {
            return;
        }
        let (id, identity) = self.rng.pick(attempts).clone();
        let response = self.send(caller, "GET", &format!("/v1/vault/connect/{id}"), None);
        if tenant_index == caller.tenant && caller.sees(&identity) {
            let document = body(&response);
            assert_eq!((&document["id"], &document["status"]), (&json!(id), &json!("pending")));
        } else {
            let unknown =
                self.send(caller, "GET", &format!("/v1/vault/connect/{UNKNOWN_ID}"), None);
            assert_eq!(response.status, 404);
            assert_eq!(comparable(&response), comparable(&unknown));
        }
    }

    /// Lists all attempts of the caller. A cursor of another tenant returns an empty page.
    fn attempts(&mut self, caller: &Caller) {
        let mut own = BTreeSet::new();
        let mut place = String::new();
        loop {
            let response =
                self.send(caller, "GET", &format!("/v1/vault/connect?limit=500{place}"), None);
            let page = body(&response);
            let rows = page["rows"].as_array().unwrap();
            own.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
            let Some(next) = page["next"].as_str() else { break };
            place = format!("&before={next}");
        }
        let seen = self.tenants[caller.tenant].attempts.iter();
        let seen = seen.filter(|(_, identity)| caller.sees(identity)).map(|(id, _)| id.clone());
        assert_eq!(own, seen.collect::<BTreeSet<String>>());
        let tenant_index = self.rng.below(self.tenants.len());
        if tenant_index != caller.tenant && !self.tenants[tenant_index].attempts.is_empty() {
            let (id, _) = self.rng.pick(&self.tenants[tenant_index].attempts).clone();
            let path = format!("/v1/vault/connect?before={id}");
            let response = self.send(caller, "GET", &path, None);
            assert_eq!(body(&response), json!({"rows": [], "next": null}));
        }
    }

    /// Sends a request about a random connection of any tenant.
    fn use_connection(&mut self, caller: &Caller) {
        let tenant_index = self.rng.below(self.tenants.len());
        if self.tenants[tenant_index].connections.is_empty() {
            return;
        }
        let at = self.rng.below(self.tenants[tenant_index].connections.len());
        let own = self.tenants[tenant_index].connections[at].clone();
        let password = self.password();
        let fields = json!({"username": "u", "password": password});
        let request = |kind: usize, id: &str| {
            let path = format!("/v1/vault/connections/{id}");
            match kind {
                0 => ("GET", format!("{path}/status"), None),
                1 => ("GET", format!("{path}/credentials"), None),
                2 => {
                    let mut sent = fields.clone();
                    sent["type"] = json!("basic");
                    ("PUT", format!("{path}/credentials"), Some(sent))
                }
                _ => {
                    let sent = json!({"connection": id, "authMethod": "basic", "fields": fields});
                    ("POST", "/v1/vault/connect".to_owned(), Some(sent))
                }
            }
        };
        let kind = self.rng.below(4);
        let (method, path, sent) = request(kind, &own.id);
        let response = self.send(caller, method, &path, sent.as_ref());
        if (kind == 1 || kind == 2) && Self::is_refused(caller, &response) {
            return;
        }
        if tenant_index != caller.tenant || !caller.sees(&own.identity) {
            let (method, path, sent) = request(kind, UNKNOWN_ID);
            let unknown = self.send(caller, method, &path, sent.as_ref());
            assert_eq!((response.status, code(&response).as_str()), (404, "connection_not_found"));
            assert_eq!(comparable(&response), comparable(&unknown), "{method} {path}");
            return;
        }
        match (kind, own.password) {
            (0, password) => {
                assert_eq!(body(&response)["holdsCredentials"], password.is_some());
            }
            (1, Some(password)) => assert_eq!(body(&response)["password"], password),
            (1, None) => assert_eq!(code(&response), "credentials_not_found"),
            _ => {
                assert_eq!(response.status, if kind == 2 { 204 } else { 200 });
                self.tenants[tenant_index].connections[at].password = Some(password);
            }
        }
    }
}

#[test]
fn tenants_are_isolated_under_random_requests() {
    let mut simulation = Simulation::new();
    let requests = repetitions(REQUESTS[0], REQUESTS[1]);
    while simulation.sent < requests {
        let caller = simulation.rng.pick(&simulation.callers).clone();
        match simulation.rng.below(10) {
            0 => simulation.client(&caller),
            1 => simulation.connect(&caller),
            2 => simulation.start_attempt(&caller),
            // Rarely, because one list checks as much as many other requests.
            3 if simulation.rng.percent(10) => simulation.attempts(&caller),
            3..5 => simulation.attempt(&caller),
            _ => simulation.use_connection(&caller),
        }
    }
    for status in [200, 201, 202, 204, 403, 404, 409, 429] {
        let count = simulation.seen.get(&status).copied().unwrap_or_default();
        assert!(count > requests / 5000, "{status}: {count}");
    }
    for tenant in &simulation.tenants {
        let key = tenant.key.reveal();
        let total = body(&simulation.api.send(&as_secret(key, "GET", "/v1/vault/summary")));
        // Unfinished attempts are not connections.
        assert_eq!(total["total"], tenant.connections.len());
    }
    assert!(simulation.api.env.sent.borrow().is_empty());
}
