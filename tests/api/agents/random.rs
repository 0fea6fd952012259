//! Random requests of agents whose tokens and grants have all kinds of limits (scopes, `access`, `actions`,
//! `connections`, platforms), set by the agent, the app and the user. Meanwhile tokens expire and are refreshed, even
//! by the wrong client; grants end; keys are revoked and lose scopes. A naive model predicts what each agent may see
//! and do: nothing else is shown, and nothing else reaches a platform.

use std::collections::BTreeSet;

use connector_vault::auth::key::ApiKey;
use connector_vault::http::Response;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use super::*;
use crate::call::{api_with_platforms as catalog, header, platform, platform_response, sent};
use crate::rng::{TestRng, repetitions};
use crate::sessions::token_request;
use crate::support::{as_key, as_secret, units};
use crate::vault::UNKNOWN_ID;

/// The number of random requests in `npm test`, and in `npm run proof`.
const REQUESTS: [usize; 2] = [1_500, 100_000];
/// The number of agents that exist at the same time.
const AGENTS: usize = 60;
const TENANTS: [(&str, Environment); 3] =
    [("acme", Environment::Test), ("acme", Environment::Live), ("rival", Environment::Test)];
/// Two of these identities differ only in case.
const IDENTITIES: [&str; 3] = ["ann", "Ann", "bob"];
const TYPES: [&str; 2] = ["user", "team"];
/// Only the first platform has actions.
const PLATFORMS: [&str; 2] = ["acme", "bearer"];
const ACTIONS: [(&str, &str); 6] = [
    ("getOrMakeThing", "POST"),
    ("getThing", "GET"),
    ("getThings", "GET"),
    ("makeThing", "POST"),
    ("things/list", "GET"),
    ("things/remove", "DELETE"),
];
/// Limits on actions: complete keys, prefixes, keys that differ in case, and keys of a platform without actions.
const LIMITS: [&str; 11] = [
    "acme/getThing",
    "acme/get*",
    "acme/GetThing*",
    "acme/makeThing",
    "acme/things/*",
    "acme/things*",
    "acme/*",
    "acme/none",
    "bearer/getThing",
    "bearer/get*",
    "bearer/*",
];
/// The scopes that a token may have, and the tools that require them.
const SCOPES: [(&str, &[&str]); 4] = [
    ("catalog:read", &["search_actions", "describe_action"]),
    ("connections:read", &["list_connections"]),
    ("connections:call", &["run_action", "call_platform"]),
    ("connections:connect", &["start_connect"]),
];
/// How long a refresh token stays valid after its successor was first used, in milliseconds.
const GRACE_MS: u64 = 60_000;
const HOUR_MS: u64 = 3_600_000;

struct Tenant {
    endpoint: String,
    client: String,
    other_client: String,
    /// Index in [`Simulation::keys`] of the key that created the tokens.
    key: usize,
}

struct Key {
    secret: ApiKey,
    is_revoked: bool,
    scopes: Vec<&'static str>,
}

/// A connection, whose id is its access token at the platform.
struct StoredConnection {
    id: String,
    tenant: usize,
    identity: &'static str,
    identity_type: &'static str,
    platform: &'static str,
}

/// The access that a token or grant permits.
#[derive(Clone, Debug)]
struct Limits {
    identity: &'static str,
    identity_type: Option<&'static str>,
    platforms: Option<Vec<String>>,
    connections: Option<Vec<String>>,
    actions: Option<Vec<&'static str>>,
    only_reads: bool,
    scopes: Vec<&'static str>,
}

impl Limits {
    fn has(&self, platform: &str) -> bool {
        self.platforms.as_ref().is_none_or(|own| own.iter().any(|own| own == platform))
    }

    fn includes_action(&self, platform: &str, key: &str) -> bool {
        let Some(actions) = &self.actions else { return true };
        actions.iter().any(|action| {
            let (own, pattern) = action.split_once('/').unwrap();
            let matches = match pattern.strip_suffix('*') {
                Some(prefix) => key.starts_with(prefix),
                None => key == pattern,
            };
            own == platform && matches
        })
    }

    fn may_send(&self, method: &str) -> bool {
        !self.only_reads || ["GET", "HEAD"].contains(&method)
    }

    fn may_run(&self, platform: &str, (key, method): (&str, &str)) -> bool {
        self.has(platform) && self.includes_action(platform, key) && self.may_send(method)
    }
}

/// A naive model of a grant and the rotation of its refresh tokens.
struct Grant {
    id: String,
    /// The refresh token of each generation, oldest first.
    tokens: Vec<String>,
    /// The newest generation whose token or successor was used.
    newest: usize,
    rotated_at: u64,
    granted_to_write: bool,
}

struct Caller {
    tenant: usize,
    key: usize,
    secret: String,
    limits: Limits,
    expires_at: u64,
    /// `None` for a token that the app created.
    grant: Option<Grant>,
    is_ended: bool,
}

struct Simulation {
    api: Api,
    rng: TestRng,
    tenants: Vec<Tenant>,
    keys: Vec<Key>,
    connections: Vec<StoredConnection>,
    callers: Vec<Caller>,
    /// The numbers of allowed and refused requests, by type of request.
    counts: std::collections::BTreeMap<&'static str, [usize; 2]>,
}

enum RequestOutcome {
    /// The endpoint does not recognize the token.
    UnknownToken,
    /// The request was refused. Contains the message, without the request id.
    Refused(Value),
    Done(Value),
}

fn now(api: &Api) -> u64 {
    connector_vault::ports::Clock::now(&api.env)
}

impl Simulation {
    fn new() -> Self {
        let stored: Vec<Value> = ACTIONS
            .iter()
            .map(|(key, method)| {
                json!({
                    "title": key, "key": key, "method": method, "modelName": "Thing",
                    "facts": {"path": format!("/{key}")}, "parameters": [], "responses": [],
                })
            })
            .collect();
        let api = catalog(&[("BASE_URL", ORIGIN)], units(json!({}), &stored, &[]));
        platform(&api, |_| {
            Ok(platform_response(200, &[("content-type", "application/json")], "{}"))
        });
        let mut all = Self {
            api,
            rng: TestRng(42),
            tenants: Vec::new(),
            keys: Vec::new(),
            connections: Vec::new(),
            callers: Vec::new(),
            counts: std::collections::BTreeMap::default(),
        };
        for tenant in 0..TENANTS.len() {
            all.fill(tenant);
        }
        for index in 0..AGENTS {
            let caller = all.caller(index % TENANTS.len());
            all.callers.push(caller);
        }
        sent(&all.api);
        all
    }

    fn new_key(&mut self, tenant: usize) -> usize {
        let (account, environment) = TENANTS[tenant];
        let secret = self.api.env.key(account, environment, &Scope::ALL, None);
        self.api.mark_key_used(&secret);
        let scopes = SCOPES.map(|(scope, _)| scope).into();
        self.keys.push(Key { secret, is_revoked: false, scopes });
        self.keys.len() - 1
    }

    /// Creates a tenant's endpoint, clients and connections.
    fn fill(&mut self, tenant: usize) {
        let key = self.new_key(tenant);
        let send = |method: &str, path: &str, document: &Value| {
            let request = as_key(&self.keys[key].secret, method, path);
            let response = self.api.send(&with_body(request, &document.to_string()));
            assert!(response.status < 300, "{path} {}", text(&response));
            response
        };
        let oauth = json!({"clientId": "an id", "clientSecret": "a secret", "scopes": ["read"]});
        send("PUT", "/v1/oauth-clients/acme", &oauth);
        let app = json!({"type": "app", "url": APP});
        let endpoint = id_of(&body(&send("PUT", "/v1/agent-sign-in", &app)));
        for identity in IDENTITIES {
            for identity_type in TYPES {
                for platform in PLATFORMS {
                    let new = json!({
                        "platform": platform, "identity": identity, "identityType": identity_type,
                        "label": identity_type,
                    });
                    let made = body(&send("POST", "/v1/vault/connections", &new));
                    let id = made["id"].as_str().unwrap().to_owned();
                    let credentials = match platform {
                        "acme" => json!({"type": "oauth2", "accessToken": id}),
                        _ => json!({"type": "bearer", "token": id}),
                    };
                    send("PUT", &format!("/v1/vault/connections/{id}/credentials"), &credentials);
                    self.connections.push(StoredConnection {
                        id,
                        tenant,
                        identity,
                        identity_type,
                        platform,
                    });
                }
            }
        }
        let client = register(&self.api, &endpoint);
        self.api.env.wait(1_000);
        let other_client = register(&self.api, &endpoint);
        assert_ne!(client, other_client);
        self.tenants.push(Tenant { endpoint, client, other_client, key });
    }

    /// Returns a random, non-empty subset.
    fn random_subset<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        let chosen: Vec<T> = all.iter().filter(|_| self.rng.percent(40)).cloned().collect();
        if chosen.is_empty() { vec![self.rng.pick(all).clone()] } else { chosen }
    }

    /// Random limits that an app sets. Their connections include those of other tenants and users.
    fn limits(&mut self, tenant: usize, scopes: Vec<&'static str>) -> Limits {
        let identity = *self.rng.pick(&IDENTITIES);
        let is_own = |connection: &&StoredConnection| {
            connection.tenant == tenant && connection.identity == identity
        };
        let all = self.rng.percent(40);
        let ids = self
            .connections
            .iter()
            .filter(|connection| all || is_own(connection))
            .map(|connection| connection.id.clone());
        let ids: Vec<String> = ids.collect();
        let only_some = self.rng.percent(30);
        let actions = self.rng.percent(40).then(|| self.random_subset(&LIMITS[..]));
        let actions: Option<Vec<&'static str>> =
            actions.map(|actions| actions.into_iter().take(3).collect());
        let platforms = match &actions {
            Some(actions) => {
                let own = |platform: &&str| {
                    actions.iter().any(|action| action.split('/').next() == Some(*platform))
                };
                Some(
                    PLATFORMS
                        .iter()
                        .filter(|platform| own(platform))
                        .map(|platform| (*platform).to_owned())
                        .collect(),
                )
            }
            None if self.rng.percent(30) => {
                Some(self.random_subset(&PLATFORMS).into_iter().map(str::to_owned).collect())
            }
            None => None,
        };
        let count = 1 + self.rng.below(8);
        Limits {
            identity,
            identity_type: self.rng.maybe(60, &TYPES),
            platforms,
            connections: only_some.then(|| {
                let all: BTreeSet<String> =
                    (0..count).map(|_| self.rng.pick(&ids).clone()).collect();
                all.into_iter().collect()
            }),
            actions,
            only_reads: self.rng.percent(40),
            scopes,
        }
    }

    /// The members that set these limits in a request for a token or a grant.
    fn input(&mut self, limits: &Limits) -> Value {
        let mut input = json!({"identity": limits.identity});
        if let Some(identity_type) = limits.identity_type {
            input["identityType"] = json!(identity_type);
        }
        if let Some(actions) = &limits.actions {
            input["actions"] = json!(actions);
        } else if let Some(platforms) = &limits.platforms {
            input["platforms"] = json!(platforms);
        }
        if let Some(connections) = &limits.connections {
            input["connections"] = json!(connections);
        }
        if limits.only_reads {
            input["access"] = json!("read");
        } else if self.rng.percent(30) {
            input["access"] = json!("write");
        }
        input
    }

    fn caller(&mut self, tenant: usize) -> Caller {
        if self.rng.percent(50) { self.with_token(tenant) } else { self.with_grant(tenant) }
    }

    /// Creates an agent with a token that the app created.
    fn with_token(&mut self, tenant: usize) -> Caller {
        let key = self.tenants[tenant].key;
        let may = self.keys[key].scopes.clone();
        let scopes = if self.rng.percent(60) { may } else { self.random_subset(&may) };
        let limits = self.limits(tenant, scopes);
        let mut input = self.input(&limits);
        input["scopes"] = json!(limits.scopes);
        input["ttlSeconds"] = json!(3600);
        let response = self.api.send(&token_request(&self.keys[key].secret, &input));
        assert_eq!(response.status, 201, "{input} {}", text(&response));
        let secret = body(&response)["token"].as_str().unwrap().to_owned();
        let expires_at = now(&self.api) + HOUR_MS;
        Caller { tenant, key, secret, limits, expires_at, grant: None, is_ended: false }
    }

    /// Creates an agent whose user has signed in. Its limits combine the agent's request, the app's
    /// limits and the user's choice.
    fn with_grant(&mut self, tenant: usize) -> Caller {
        let mut limits = self.limits(tenant, Vec::new());
        let sent = self.input(&limits);
        let (scope, asks_to_write) = *self.rng.pick(&[
            ("", true),
            ("read write", true),
            ("write offline_access", true),
            ("read", false),
        ]);
        let mut choice = vec![("decision", "allow".to_owned())];
        let user_writes = self.rng.percent(70);
        choice.push(("access", if user_writes { "write" } else { "read" }.to_owned()));
        if self.rng.percent(60) {
            choice.push(("accounts", "all".to_owned()));
        } else {
            // The form also contains checkboxes that the page did not show.
            let chosen = self.random_subset(&PLATFORMS);
            let left: Vec<String> = chosen
                .iter()
                .filter(|platform| limits.has(platform))
                .map(|platform| (*platform).to_owned())
                .collect();
            choice.extend(chosen.iter().map(|platform| ("platform", (*platform).to_owned())));
            if left.is_empty() {
                choice.push(("accounts", "all".to_owned()));
            } else {
                choice.push(("accounts", "some".to_owned()));
                limits.platforms = Some(left);
            }
        }
        limits.only_reads |= !asks_to_write || !user_writes;
        let Tenant { endpoint, client, key, .. } = &self.tenants[tenant];
        let (api, key) = (&self.api, *key);
        let browser = Browser::default();
        let parameters = authorization_query(client, &[("scope", scope)]);
        let (_, query) = redirect_target(&browser.authorize(api, endpoint, &parameters));
        let mut sent = sent;
        sent["request"] = json!(value_of(&query, "request").unwrap());
        let made = as_key(&self.keys[key].secret, "POST", "/v1/agent-grants");
        let made = api.send(&with_body(made, &sent.to_string()));
        assert_eq!(made.status, 201, "{sent} {}", text(&made));
        let page = browser.open(api, body(&made)["continueUrl"].as_str().unwrap());
        let id = hidden_field(&page, "grant");
        let mut fields = vec![("grant", id.as_str())];
        fields.extend(choice.iter().map(|(name, value)| (*name, value.as_str())));
        let (_, back) = redirect_target(&browser.decide(api, endpoint, &fields));
        let code = value_of(&back, "code").unwrap();
        let tokens = body(&exchange(api, endpoint, client, &code));
        limits.scopes = scopes_of(limits.only_reads);
        assert_eq!(tokens["scope"], scope_of(limits.only_reads), "{choice:?} {sent}");
        let text = |name: &str| tokens[name].as_str().unwrap().to_owned();
        let grant = Grant {
            id,
            tokens: vec![text("refresh_token")],
            newest: 0,
            rotated_at: 0,
            granted_to_write: !limits.only_reads,
        };
        Caller {
            tenant,
            key,
            secret: text("access_token"),
            limits,
            expires_at: now(api) + HOUR_MS,
            grant: Some(grant),
            is_ended: false,
        }
    }

    fn count(&mut self, what: &'static str, is_allowed: bool) {
        self.counts.entry(what).or_default()[usize::from(!is_allowed)] += 1;
    }

    fn is_valid(&self, caller_index: usize) -> bool {
        let caller = &self.callers[caller_index];
        !caller.is_ended && now(&self.api) < caller.expires_at && !self.keys[caller.key].is_revoked
    }

    /// Whether both the agent and its key have the scope that a tool requires.
    fn has_scope(&self, caller_index: usize, tool: &str) -> bool {
        let caller = &self.callers[caller_index];
        SCOPES.iter().any(|(scope, tools)| {
            tools.contains(&tool)
                && caller.limits.scopes.contains(scope)
                && self.keys[caller.key].scopes.contains(scope)
        })
    }

    /// The path of the agent's own endpoint.
    fn own_path(&self, caller_index: usize) -> String {
        let caller = &self.callers[caller_index];
        match &caller.grant {
            None => "/mcp".to_owned(),
            Some(_) => format!("/mcp/{}", self.tenants[caller.tenant].endpoint),
        }
    }

    fn sees(&self, caller_index: usize, connection: &StoredConnection) -> bool {
        let Caller { tenant, limits, .. } = &self.callers[caller_index];
        connection.tenant == *tenant
            && connection.identity == limits.identity
            && limits.identity_type.is_none_or(|own| own == connection.identity_type)
            && limits.has(connection.platform)
            && limits.connections.as_ref().is_none_or(|own| own.contains(&connection.id))
    }

    fn tool(
        &self,
        caller_index: usize,
        path: &str,
        name: &str,
        arguments: &Value,
    ) -> RequestOutcome {
        outcome_of(&call(&self.api, path, &self.callers[caller_index].secret, name, arguments))
    }

    /// Calls a tool at the agent's own endpoint. Returns the outcome if the call was allowed.
    /// Otherwise checks that nothing was sent or written, and that the `nonexistent` arguments,
    /// which name an unknown object, cause the same error.
    fn try_tool(
        &mut self,
        caller_index: usize,
        name: &'static str,
        arguments: &Value,
        is_allowed: bool,
        nonexistent: Option<&Value>,
    ) -> Option<Value> {
        let is_valid = self.is_valid(caller_index);
        let is_allowed = is_allowed && is_valid && self.has_scope(caller_index, name);
        // A call updates the last use of its grant or key, so only the number of attempts is compared.
        let before = self.attempts();
        let path = self.own_path(caller_index);
        let response = self.tool(caller_index, &path, name, arguments);
        self.count(name, is_allowed);
        let limits = &self.callers[caller_index].limits;
        match response {
            RequestOutcome::Done(done) => {
                assert!(is_allowed, "{name} {arguments} with {limits:?}: {done}");
                Some(done)
            }
            RequestOutcome::UnknownToken => {
                assert!(!is_valid, "{name} {arguments} with {limits:?}");
                assert_eq!((sent(&self.api).len(), self.attempts()), (0, before));
                None
            }
            RequestOutcome::Refused(problem) => {
                // The token's own limits are checked first; only then does a query check whether
                // the token is still valid.
                let is_early = problem["code"] == "insufficient_scope";
                assert!(is_valid || is_early, "{name} {arguments}: {problem}");
                let known = ["connection_exists", "too_many_requests"];
                let is_known = known.iter().any(|code| problem["code"] == *code);
                assert!(!is_allowed || is_known, "{problem} {name} {arguments} with {limits:?}");
                assert_eq!((sent(&self.api).len(), self.attempts()), (0, before));
                if let Some(nonexistent) = nonexistent {
                    match self.tool(caller_index, &path, name, nonexistent) {
                        RequestOutcome::Refused(other) => {
                            assert_eq!(problem, other, "{name} {arguments}");
                        }
                        _ => panic!("{name} {nonexistent}"),
                    }
                }
                None
            }
        }
    }

    fn attempts(&self) -> String {
        self.api.env.texts("SELECT CAST(count(*) AS TEXT) FROM connect_attempts").remove(0)
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
        let Some(done) = self.try_tool(caller_index, "list_connections", &input, true, None) else {
            return;
        };
        let expected: BTreeSet<&str> = self
            .connections
            .iter()
            .filter(|connections| {
                self.sees(caller_index, connections)
                    && platform.is_none_or(|platform| connections.platform == platform)
                    && identity.is_none_or(|identity| connections.identity == identity)
            })
            .map(|connections| connections.id.as_str())
            .collect();
        let rows = done["rows"].as_array().unwrap();
        let shown: BTreeSet<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        let limits = &self.callers[caller_index].limits;
        assert_eq!((&shown, rows.len()), (&expected, expected.len()), "{input} {limits:?}");
        assert_eq!(done["total"], expected.len(), "{input} {limits:?}");
    }

    /// Reads a connection through the API, which accepts tokens that an app created, but not those
    /// of grants.
    fn read(&mut self, caller_index: usize) {
        let at = self.pick_connection(caller_index);
        let connections = &self.connections[at];
        let path = format!("/v1/vault/connections/{}", connections.id);
        let response = self.api.send(&as_secret(&self.callers[caller_index].secret, "GET", &path));
        let (is_own, is_valid) =
            (self.callers[caller_index].grant.is_none(), self.is_valid(caller_index));
        let is_allowed = is_valid && is_own && self.has_scope(caller_index, "list_connections");
        let expected = match (is_own && is_valid, is_allowed, self.sees(caller_index, connections))
        {
            (false, ..) => 401,
            (_, false, _) => 403,
            (.., false) => 404,
            (.., true) => 200,
        };
        let is_early = response.status == 403 && !is_valid && is_own;
        assert!(is_early || response.status == expected, "{expected} {}", text(&response));
        self.count("read", response.status == 200);
    }

    /// Checks that exactly one request reached the platform, with this method and this connection's credentials.
    fn assert_reached(&self, method: &str, connections: usize) {
        let requests = sent(&self.api);
        let StoredConnection { id, platform, .. } = &self.connections[connections];
        let scheme = if *platform == "acme" { "Bearer" } else { "Token" };
        let expected = format!("{scheme} {id}");
        assert_eq!(requests.len(), 1);
        assert_eq!(
            (requests[0].method.as_str(), header(&requests[0], "authorization")),
            (method, Some(expected.as_str()))
        );
    }

    fn run(&mut self, caller_index: usize) {
        let at = self.pick_connection(caller_index);
        let action = *self.rng.pick(&ACTIONS);
        let input = |id: &str| json!({"connection": id, "key": action.0});
        let connections = &self.connections[at];
        let is_seen = self.sees(caller_index, connections);
        let has_actions = connections.platform == "acme";
        let is_allowed = is_seen
            && has_actions
            && self.callers[caller_index].limits.may_run(connections.platform, action);
        let nothing = (!is_seen).then(|| input(UNKNOWN_ID));
        let arguments = input(&connections.id);
        if self
            .try_tool(caller_index, "run_action", &arguments, is_allowed, nothing.as_ref())
            .is_some()
        {
            self.assert_reached(action.1, at);
        }
    }

    fn call_platform(&mut self, caller_index: usize) {
        let at = self.pick_connection(caller_index);
        let method = *self.rng.pick(&["GET", "POST", "PUT", "PATCH", "DELETE"]);
        let input = |id: &str| json!({"connection": id, "method": method, "path": "/x"});
        let connections = &self.connections[at];
        let limits = &self.callers[caller_index].limits;
        let is_seen = self.sees(caller_index, connections);
        let is_allowed = is_seen && limits.actions.is_none() && limits.may_send(method);
        let nothing = (!is_seen).then(|| input(UNKNOWN_ID));
        let arguments = input(&connections.id);
        if self
            .try_tool(caller_index, "call_platform", &arguments, is_allowed, nothing.as_ref())
            .is_some()
        {
            self.assert_reached(method, at);
        }
    }

    /// Picks a random connection, usually one that the agent can see.
    fn pick_connection(&mut self, caller_index: usize) -> usize {
        let own: Vec<usize> = (0..self.connections.len())
            .filter(|at| self.sees(caller_index, &self.connections[*at]))
            .collect();
        if own.is_empty() || self.rng.percent(40) {
            self.rng.below(self.connections.len())
        } else {
            *self.rng.pick(&own)
        }
    }

    /// Whether an agent may start to connect an account of a platform. If users enter a key, the
    /// agent must also be able to read the catalog, because the connect window reads it with the
    /// agent's scopes.
    fn may_connect(&self, caller_index: usize, platform: &str) -> bool {
        platform == "acme" || self.has_scope(caller_index, "describe_action")
    }

    fn connect(&mut self, caller_index: usize) {
        if self.rng.percent(50) {
            let at = self.pick_connection(caller_index);
            let input = |id: &str| json!({"connection": id});
            let is_seen = self.sees(caller_index, &self.connections[at]);
            let nothing = (!is_seen).then(|| input(UNKNOWN_ID));
            let arguments = input(&self.connections[at].id);
            let is_allowed =
                is_seen && self.may_connect(caller_index, self.connections[at].platform);
            self.try_tool(caller_index, "start_connect", &arguments, is_allowed, nothing.as_ref());
            return;
        }
        let (platform, identity, identity_type) =
            (*self.rng.pick(&PLATFORMS), *self.rng.pick(&IDENTITIES), *self.rng.pick(&TYPES));
        let limits = &self.callers[caller_index].limits;
        let is_allowed = self.may_connect(caller_index, platform)
            && limits.connections.is_none()
            && limits.has(platform)
            && limits.identity == identity
            && limits.identity_type.is_none_or(|own| own == identity_type);
        let arguments =
            json!({"platform": platform, "identity": identity, "identityType": identity_type});
        self.try_tool(caller_index, "start_connect", &arguments, is_allowed, None);
    }

    fn describe(&mut self, caller_index: usize) {
        let (platform, action) = (*self.rng.pick(&PLATFORMS), *self.rng.pick(&ACTIONS));
        let arguments = json!({"platform": platform, "key": action.0});
        let is_allowed =
            platform == "acme" && self.callers[caller_index].limits.may_run(platform, action);
        let is_stale = self.is_stale(caller_index);
        if !is_stale {
            self.try_tool(caller_index, "describe_action", &arguments, is_allowed, None);
        }
    }

    /// Whether the key of the agent's app token was revoked or has lost scopes. Reads of the catalog don't query storage,
    /// so they work until the token expires.
    fn is_stale(&self, caller_index: usize) -> bool {
        let caller = &self.callers[caller_index];
        let key = &self.keys[caller.key];
        caller.grant.is_none() && (key.is_revoked || key.scopes.len() < SCOPES.len())
    }

    /// Sends an agent's token to another endpoint, which must not recognize it.
    fn use_token_elsewhere(&mut self, caller_index: usize) {
        let mut paths: Vec<String> =
            self.tenants.iter().map(|tenant| format!("/mcp/{}", tenant.endpoint)).collect();
        paths.push("/mcp".to_owned());
        let path = self.rng.pick(&paths).clone();
        if path == self.own_path(caller_index) {
            return;
        }
        let reply = self.tool(caller_index, &path, "list_connections", &json!({}));
        assert!(matches!(reply, RequestOutcome::UnknownToken), "{path}");
        if self.callers[caller_index].grant.is_some() {
            let secret = &self.callers[caller_index].secret;
            let response = self.api.send(&as_secret(secret, "GET", "/v1/vault/connections"));
            assert_eq!(response.status, 401);
        }
        self.count("elsewhere", false);
    }

    /// Sends one of an agent's refresh tokens, sometimes an old one, from the agent's client or
    /// another one. The request may name more access than the agent has.
    fn refresh(&mut self, caller_index: usize) {
        let now = now(&self.api);
        let is_thief = self.rng.percent(10);
        let (scope, only_reads) = *self.rng.pick(&[
            (None, None),
            (None, None),
            (Some("read"), Some(true)),
            (Some("read write"), Some(false)),
        ]);
        let Caller { tenant, key, grant, is_ended, .. } = &self.callers[caller_index];
        let Some(Grant { tokens, newest, rotated_at, granted_to_write, .. }) = grant else {
            return;
        };
        let Tenant { endpoint, client, other_client, .. } = &self.tenants[*tenant];
        let back = if self.rng.percent(85) { 0 } else { self.rng.below(tokens.len().min(4)) };
        // Generations count from 1; `newest` is 0 before the first refresh.
        let generation = tokens.len() - back;
        let is_recent = generation + 1 == *newest && now < rotated_at + GRACE_MS;
        let is_good = generation >= *newest || is_recent;
        let is_alive = !is_ended && !self.keys[*key].is_revoked;
        let client = if is_thief { other_client } else { client };
        let mut fields = vec![
            ("grant_type", "refresh_token"),
            ("client_id", client.as_str()),
            ("refresh_token", tokens[generation - 1].as_str()),
        ];
        fields.extend(scope.map(|scope| ("scope", scope)));
        let response = request_token(&self.api, endpoint, &fields);
        let only_reads = only_reads.unwrap_or(!granted_to_write);
        let is_too_much = !only_reads && !granted_to_write;
        let expected = if is_thief || !is_alive || !is_good {
            Some("invalid_grant")
        } else {
            is_too_much.then_some("invalid_scope")
        };
        let is_replay = !is_thief && is_alive && !is_good;
        self.count("refresh", expected.is_none());
        let caller = &mut self.callers[caller_index];
        let grant = caller.grant.as_mut().unwrap();
        if let Some(code) = expected {
            assert_eq!(error(&response), (400, code.to_owned()));
            caller.is_ended |= is_replay;
            return;
        }
        assert_eq!(response.status, 200, "{}", text(&response));
        let tokens = body(&response);
        let next = tokens["refresh_token"].as_str().unwrap().to_owned();
        if generation == grant.tokens.len() {
            grant.tokens.push(next);
        } else {
            // Two concurrent refreshes get the same successor.
            assert_eq!(next, grant.tokens[generation]);
        }
        if generation > grant.newest {
            (grant.newest, grant.rotated_at) = (generation, now);
        }
        caller.limits.only_reads = only_reads;
        caller.limits.scopes = scopes_of(only_reads);
        assert_eq!(tokens["scope"], scope_of(only_reads));
        tokens["access_token"].as_str().unwrap().clone_into(&mut caller.secret);
        caller.expires_at = now + HOUR_MS;
    }

    /// Tries to end a grant, as an account or as a client. Only the grant's own account and client succeed.
    fn end_grant(&mut self, caller_index: usize) {
        let caller = &self.callers[caller_index];
        let Some(grant) = &caller.grant else { return };
        if self.rng.percent(50) {
            let by = self.rng.below(TENANTS.len());
            let key = &self.keys[self.tenants[by].key].secret;
            let path = format!("/v1/agent-grants/{}", grant.id);
            let status = self.api.send(&as_key(key, "DELETE", &path)).status;
            let is_allowed = by == caller.tenant && !caller.is_ended;
            assert_eq!(status, if is_allowed { 204 } else { 404 });
            self.callers[caller_index].is_ended |= is_allowed;
        } else {
            let at = self.rng.below(TENANTS.len());
            let path = format!("/mcp/{}/revoke", self.tenants[at].endpoint);
            let fields = form(&[("token", grant.tokens.last().unwrap())]);
            assert_eq!(self.api.send(&with_form(anonymous("POST", &path), &fields)).status, 200);
            let is_own = at == caller.tenant;
            self.callers[caller_index].is_ended |= is_own;
        }
    }

    /// Revokes a tenant's key or removes scopes from it. Later callers get a new key.
    fn change_key(&mut self) {
        let tenant = self.rng.below(TENANTS.len());
        let key = self.tenants[tenant].key;
        if self.rng.percent(30) {
            self.api.env.revoke(&self.keys[key].secret);
            self.keys[key].is_revoked = true;
            self.tenants[tenant].key = self.new_key(tenant);
            return;
        }
        let all = SCOPES.map(|(scope, _)| scope);
        let left = if self.rng.percent(50) { all.into() } else { self.random_subset(&all) };
        let own = ["agents:read", "agents:write", "sessions:create"];
        let text = [&left[..], &own].concat().join(" ");
        let hash = self.keys[key].secret.hash().to_string();
        let sql = format!("UPDATE api_keys SET scopes = '{text}' WHERE hash = '{hash}'");
        self.api.env.database.execute(&sql, []).unwrap();
        self.keys[key].scopes = left;
    }

    fn step(&mut self) {
        let wait = self.rng.next() % 10_000;
        self.api.env.wait(wait);
        let caller_index = self.rng.below(self.callers.len());
        if !self.is_valid(caller_index) && self.rng.percent(50) {
            let is_refreshed = self.callers[caller_index].grant.is_some() && self.rng.percent(50);
            if is_refreshed {
                return self.refresh(caller_index);
            }
            let tenant = self.callers[caller_index].tenant;
            self.callers[caller_index] = self.caller(tenant);
            sent(&self.api);
        }
        match self.rng.below(200) {
            0..30 => self.list(caller_index),
            30..40 => self.read(caller_index),
            40..95 => self.run(caller_index),
            95..135 => self.call_platform(caller_index),
            135..155 => self.connect(caller_index),
            155..167 => self.describe(caller_index),
            167..179 => self.use_token_elsewhere(caller_index),
            179..196 => self.refresh(caller_index),
            196..199 => self.end_grant(caller_index),
            _ => self.change_key(),
        }
    }
}

/// The outcome of a tool call. A refusal is a response with status 403, or an error in the tool's result.
fn outcome_of(response: &Response) -> RequestOutcome {
    let mut document = body(response);
    match response.status {
        401 => return RequestOutcome::UnknownToken,
        403 => {}
        _ => {
            assert_eq!(response.status, 200, "{document}");
            let result = document["result"].take();
            let content = result["content"][0]["text"].as_str().unwrap();
            document = serde_json::from_str(content).unwrap_or_else(|_| json!(content));
            if result["isError"] == json!(false) {
                return RequestOutcome::Done(document);
            }
        }
    }
    if let Some(problem) = document.as_object_mut() {
        problem.remove("requestId");
    }
    RequestOutcome::Refused(document)
}

/// The scopes of an access token that a grant issues.
fn scopes_of(only_reads: bool) -> Vec<&'static str> {
    let all = SCOPES.map(|(scope, _)| scope);
    all[..if only_reads { 3 } else { 4 }].into()
}

fn scope_of(only_reads: bool) -> &'static str {
    if only_reads { "read" } else { "read write" }
}

#[test]
fn tokens_and_grants_never_exceed_their_limits() {
    let mut simulation = Simulation::new();
    let requests = repetitions(REQUESTS[0], REQUESTS[1]);
    for _ in 0..requests {
        simulation.step();
    }
    // Every kind of request was both allowed and refused.
    for (what, [allowed, refused]) in &simulation.counts {
        assert!(*refused > requests / 300, "{:?}", simulation.counts);
        assert!(*what == "elsewhere" || *allowed > requests / 300, "{:?}", simulation.counts);
    }
    assert_eq!(simulation.counts.len(), 8, "{:?}", simulation.counts);
}
