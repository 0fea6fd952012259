//! Random requests with tokens of several keys, identities, types, platforms, scopes and origins.
//! Meanwhile, time passes, and keys are revoked, expire, lose scopes and regain them. A naive model
//! predicts each response: exactly the connections that the token may see.

mod requests;
mod statements;

use connector_vault::auth::key::ApiKey;
use connector_vault::http::{Request, Response};
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::model::{Filter, Row, Tenant};
use crate::rng::{TestRng, repetitions};
use crate::sessions::{SECRET, token_request};
use crate::support::{Api, ORIGIN, as_secret, body, with_body, with_header};
use crate::vault::{UNKNOWN_ID, code};

/// The number of random requests in `npm test`, and in `npm run proof`.
const REQUESTS: [usize; 2] = [8_000, 100_000];
/// The approximate number of connections per tenant.
const SIZE: usize = 70;
const TOKENS: usize = 80;
const PLATFORMS: [&str; 4] = ["alpha", "alpha-two", "zeta", "epsilon"];
const TYPES: [&str; 4] = ["user", "team", "organization", "project"];
const TAGS: [&str; 4] = ["red", "green", "Red", "x y"];
const NAMES: [&str; 4] = ["Ann", "ann", "Bob", "École"];
/// The identities of connections. Two differ only in case, and one looks like a connection key.
const IDENTITIES: [&str; 6] = ["ann", "Ann", "bob", "é::x", "a%_b", "nobody"];
const ORIGINS: [&str; 3] = ["https://a.example", "https://b.example", "http://localhost:5173"];

/// A key and its current state.
struct Key {
    secret: ApiKey,
    id: String,
    tenant: usize,
    revoked: bool,
    expires_at: Option<u64>,
    scopes: Vec<Scope>,
}

/// A token, and the body of the request that created it.
#[derive(Clone)]
struct Token {
    text: String,
    key: usize,
    identity: String,
    identity_type: Option<String>,
    platforms: Option<Vec<String>>,
    scopes: Vec<Scope>,
    origins: Option<Vec<String>>,
    expires_at: u64,
}

impl Token {
    fn sees(&self, row: &Row) -> bool {
        row.identity == self.identity
            && self.identity_type.as_ref().is_none_or(|own| row.identity_type == *own)
            && self.has(&row.platform)
    }

    fn has(&self, platform: &str) -> bool {
        self.platforms.as_ref().is_none_or(|own| own.iter().any(|own| own == platform))
    }

    fn has_same_list(&self, other: &Self) -> bool {
        let restriction = |token: &Self| {
            (
                token.key,
                token.identity.clone(),
                token.identity_type.clone(),
                token.platforms.clone(),
            )
        };
        restriction(self) == restriction(other)
    }
}

/// A cursor, and the token that it was issued to.
#[derive(Clone)]
struct IssuedCursor {
    after: String,
    query: String,
    filter: Filter,
    limit: usize,
    page: usize,
    token: Token,
}

#[derive(Default, Debug)]
struct Counts {
    refused: usize,
    lacking: usize,
    revoked: usize,
    rows: usize,
    empty: usize,
    hidden: usize,
    changed: usize,
    created: usize,
    conflicts: usize,
    followed: usize,
    catalog: usize,
}

struct Simulation {
    api: Api,
    rng: TestRng,
    tenants: Vec<Tenant>,
    keys: Vec<Key>,
    tokens: Vec<Token>,
    cursors: Vec<IssuedCursor>,
    ids: Vec<String>,
    sent: usize,
    seen: Counts,
}

impl Simulation {
    fn new() -> Self {
        let api = Api::with_sessions(SECRET, "");
        let places =
            [("acme", Environment::Test), ("acme", Environment::Live), ("beta", Environment::Test)];
        let (mut tenants, mut keys): (Vec<Tenant>, Vec<Key>) = Default::default();
        for (account, environment) in places {
            for _ in 0..3 {
                let key = api.env.key(account, environment, &Scope::ALL, None);
                let sql = format!("SELECT id FROM api_keys WHERE hash = '{}'", key.hash());
                let id = api.env.texts(&sql).remove(0);
                let (tenant, scopes) = (tenants.len(), Scope::ALL.to_vec());
                keys.push(Key {
                    secret: key,
                    id,
                    tenant,
                    revoked: false,
                    expires_at: None,
                    scopes,
                });
            }
            tenants.push(Tenant { environment: environment.as_str(), rows: Vec::new() });
        }
        let mut rng = TestRng(11);
        for (index, tenant) in tenants.iter_mut().enumerate() {
            while tenant.rows.len() < SIZE {
                api.env.wait(rng.next() % 2);
                let label = format!("l{}", rng.below(6));
                let document = json!({
                    "platform": rng.pick(&PLATFORMS), "identity": rng.pick(&IDENTITIES[..5]), "identityType": rng.pick(&TYPES),
                    "label": label, "name": rng.maybe(60, &NAMES), "active": rng.percent(85),
                    "state": rng.pick(&["operational", "degraded", "failed", "unknown"]),
                    "tags": (0..rng.below(3)).map(|_| *rng.pick(&TAGS)).collect::<Vec<_>>(),
                });
                let key = &keys[3 * index].secret;
                let response = api.send(&crate::vault::post_as(key, &document));
                if response.status == 201 {
                    tenant.rows.push(Row::from_json(&body(&response)));
                }
            }
        }
        let ids = tenants.iter().flat_map(|tenant| &tenant.rows).map(|row| row.id.clone());
        let ids = ids.chain([UNKNOWN_ID.to_owned()]).collect();
        let (tokens, cursors, seen) = Default::default();
        let mut simulation = Self { api, rng, tenants, keys, tokens, cursors, ids, sent: 0, seen };
        while simulation.tokens.len() < TOKENS {
            simulation.create_token();
        }
        simulation
    }

    fn now(&self) -> u64 {
        self.api.env.now.get()
    }

    /// Creates a token with a key that has the scope. Above the maximum number, it replaces the
    /// oldest token.
    fn create_token(&mut self) {
        let index = self.rng.below(self.keys.len());
        let now = self.now();
        let key = &self.keys[index];
        let is_valid = !key.revoked && key.expires_at.is_none_or(|at| now < at);
        let rng = &mut self.rng;
        let random_subset = |rng: &mut TestRng, all: &[&str]| {
            let picked: Vec<String> =
                all.iter().filter(|_| rng.percent(50)).map(|name| (*name).to_owned()).collect();
            (!picked.is_empty()).then_some(picked)
        };
        let identity = (*rng.pick(&IDENTITIES)).to_owned();
        let identity_type = rng.maybe(30, &TYPES).map(str::to_owned);
        let platforms = if rng.percent(40) { random_subset(rng, &PLATFORMS) } else { None };
        let origins = if rng.percent(30) { random_subset(rng, &ORIGINS) } else { None };
        let ttl = 60 + rng.next() % 600;
        let requested: Option<Vec<Scope>> = rng.percent(80).then(|| {
            Scope::TOKEN_SCOPES.into_iter().filter(|_| rng.percent(75)).collect::<Vec<_>>()
        });
        let requested = requested.filter(|requested| !requested.is_empty());
        let mut document = json!({"identity": identity, "ttlSeconds": ttl});
        for (name, value) in [
            ("identityType", identity_type.as_ref().map(|text| json!(text))),
            ("platforms", platforms.as_ref().map(|texts| json!(texts))),
            ("origins", origins.as_ref().map(|texts| json!(texts))),
            (
                "scopes",
                requested.as_ref().map(|scopes| {
                    json!(scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>())
                }),
            ),
        ] {
            if let Some(value) = value {
                document[name] = value;
            }
        }
        let response = self.api.send(&token_request(&key.secret, &document));
        let scopes = requested.clone().unwrap_or_else(|| {
            let reads = [Scope::CatalogRead, Scope::ConnectionsRead];
            reads.into_iter().filter(|scope| key.scopes.contains(scope)).collect()
        });
        let may = key.scopes.contains(&Scope::SessionsCreate)
            && scopes.iter().all(|scope| key.scopes.contains(scope));
        let expected = if !is_valid {
            401
        } else if may {
            201
        } else {
            403
        };
        assert_eq!(response.status, expected, "{document}");
        if expected != 201 {
            return;
        }
        let made = body(&response);
        let names: Vec<_> = scopes.iter().map(|scope| scope.as_str()).collect();
        let ends = (now + ttl * 1000).min(key.expires_at.unwrap_or(u64::MAX));
        let tenant = &self.tenants[key.tenant];
        let mut expected = json!({
            "token": made["token"], "expiresAt": connector_vault::util::rfc3339::rfc3339(ends), "environment": tenant.environment,
            "identity": identity, "identityType": identity_type, "scopes": names, "platforms": platforms, "origins": origins,
            "access": "write", "actions": null, "connections": null, "confirm": null, "client": null, "fields": null, "fixedFields": null, "lang": null,
        });
        if scopes.contains(&Scope::ConnectionsConnect) {
            let url = made["connectUrl"].as_str().unwrap();
            let code = url.strip_prefix(&format!("{ORIGIN}/connect#code=")).unwrap();
            assert!(code.starts_with(&format!("cc_{}_", tenant.environment)), "{code}");
            expected["connectUrl"] = json!(url);
        }
        assert_eq!(made, expected);
        let text = made["token"].as_str().unwrap().to_owned();
        let token = Token {
            text,
            key: index,
            identity,
            identity_type,
            platforms,
            scopes,
            origins,
            expires_at: ends,
        };
        if self.tokens.len() < TOKENS {
            self.tokens.push(token);
        } else {
            let at = self.rng.below(TOKENS);
            self.tokens[at] = token;
        }
    }

    /// Changes a random key.
    fn change_key(&mut self) {
        let at = self.rng.below(self.keys.len());
        let now = self.now();
        let key = &mut self.keys[at];
        match self.rng.below(3) {
            0 => key.revoked = self.rng.percent(20),
            1 => {
                key.expires_at = self.rng.percent(25).then(|| now + self.rng.next() % 400_000);
            }
            _ => {
                let without = self.rng.maybe(40, &Scope::ALL);
                key.scopes =
                    Scope::ALL.into_iter().filter(|scope| Some(*scope) != without).collect();
            }
        }
        let scopes: connector_vault::terms::Scopes = key.scopes.iter().copied().collect();
        let row = (
            key.revoked.then_some(2),
            key.expires_at.map(u64::cast_signed),
            scopes.to_string(),
            &key.id,
        );
        let sql = "UPDATE api_keys SET revoked_at = ?1, expires_at = ?2, scopes = ?3 WHERE id = ?4";
        assert_eq!(self.api.env.database.execute(sql, row).unwrap(), 1);
    }

    /// Sends a request from a page of a random origin. Returns `None` if the token is refused, as
    /// the model predicts.
    fn send(&mut self, token: &Token, request: Request, scope: Option<Scope>) -> Option<Response> {
        let page = match self.rng.below(if token.origins.is_some() { 5 } else { 20 }) {
            0 => Some("https://c.example"),
            1 => None,
            _ => token.origins.as_ref().map(|own| self.rng.pick(own).as_str()),
        };
        let mut request = request;
        if let Some(page) = page {
            request = with_header(request, "origin", page);
        }
        let says_own = self.rng.percent(10);
        if says_own {
            // This header marks a request of the service's own page. The service ignores it if
            // there is an `Origin`.
            request = with_header(request, "sec-fetch-site", "same-origin");
        }
        self.sent += 1;
        let calls = self.api.env.db_calls.get();
        let response = self.api.send(&request);
        let calls = self.api.env.db_calls.get() - calls;

        let now = self.now();
        let key = &self.keys[token.key];
        let from = token.origins.as_ref().is_none_or(|origins| {
            page.map_or(says_own, |page| origins.iter().any(|origin| origin == page))
        });
        let is_catalog = request.path.starts_with("/v1/available");
        let key_is_valid = !key.revoked && key.expires_at.is_none_or(|at| now < at);
        let expected = if now >= token.expires_at || !from {
            Some((401, "invalid_key", 0))
        } else if scope.is_some_and(|scope| !token.scopes.contains(&scope)) {
            Some((403, "insufficient_scope", 0))
        } else if is_catalog {
            assert_eq!(calls, 0);
            return Some(response);
        } else if !key_is_valid {
            Some((401, "invalid_key", 1))
        } else if scope.is_some_and(|scope| !key.scopes.contains(&scope)) {
            Some((403, "insufficient_scope", 1))
        } else {
            None
        };
        assert_eq!(calls, expected.map_or(1, |(_, _, calls)| calls), "{request:?}");
        let Some((status, word, calls)) = expected else { return Some(response) };
        assert_eq!((response.status, code(&response).as_str()), (status, word), "{request:?}");
        match (status, calls) {
            (401, 1) => self.seen.revoked += 1,
            (401, _) => self.seen.refused += 1,
            _ => self.seen.lacking += 1,
        }
        None
    }

    /// The connections that a token may see.
    fn visible_connections(&self, token: &Token) -> Tenant {
        let tenant = &self.tenants[self.keys[token.key].tenant];
        let rows = tenant.rows.iter().filter(|row| token.sees(row)).cloned().collect();
        Tenant { environment: tenant.environment, rows }
    }

    fn filter(&mut self) -> Filter {
        let keys: Vec<String> = (0..=self.rng.below(4))
            .map(|_| {
                let tenant = self.rng.pick(&self.tenants);
                self.rng.pick(&tenant.rows).key(tenant.environment)
            })
            .collect();
        let rng = &mut self.rng;
        let tags: Vec<String> = (0..rng.below(3)).map(|_| (*rng.pick(&TAGS)).to_owned()).collect();
        let identity = rng.maybe(25, &IDENTITIES).map(str::to_owned);
        Filter::random(rng, keys, identity, tags)
    }

    /// Asserts that every tenant has exactly the connections of the model.
    fn assert_nothing_else_changed(&self) {
        for (index, tenant) in self.tenants.iter().enumerate() {
            let account = ["acme", "acme", "beta"][index];
            let sql = format!(
                "SELECT id || ' ' || version || ' ' || tags FROM connections WHERE account = '{account}' AND environment = '{}' ORDER BY id",
                tenant.environment
            );
            let row = |row: &Row| {
                format!("{} {} {}", row.id, row.revision, Value::from(row.tags.clone()))
            };
            let mut rows: Vec<String> = tenant.rows.iter().map(row).collect();
            rows.sort();
            assert_eq!(self.api.env.texts(&sql), rows);
        }
    }
}

#[test]
fn tokens_reach_only_what_they_allow() {
    let mut simulation = Simulation::new();
    let requests = repetitions(REQUESTS[0], REQUESTS[1]);
    while simulation.sent < requests {
        // `npm run proof` simulates about an hour and a half, and tokens last one to eleven
        // minutes.
        if simulation.rng.percent(10) {
            let passed = simulation.rng.next() % 1000;
            simulation.api.env.wait(passed);
        }
        match simulation.rng.below(1000) {
            0..80 => simulation.create_token(),
            80..88 => simulation.change_key(),
            _ => {}
        }
        let token = simulation.rng.pick(&simulation.tokens).clone();
        match simulation.rng.below(100) {
            0..40 => simulation.list(&token),
            40..50 => simulation.follow(&token),
            50..70 => simulation.request_connection(&token),
            70..77 => simulation.create(&token),
            77..83 => simulation.summary(&token),
            83..86 => simulation.whoami(&token),
            86..99 => simulation.catalog(&token),
            _ => {
                let request = with_body(
                    as_secret(&token.text, "POST", "/v1/sessions"),
                    r#"{"identity":"ann"}"#,
                );
                let calls = simulation.api.env.db_calls.get();
                let status = simulation.api.send(&request).status;
                assert!(
                    [401, 403].contains(&status) && simulation.api.env.db_calls.get() - calls <= 1
                );
                simulation.sent += 1;
            }
        }
        if simulation.sent.is_multiple_of(500) {
            simulation.assert_nothing_else_changed();
        }
    }
    simulation.assert_nothing_else_changed();
    assert_eq!(crate::counters::wrong_counters(&simulation.api.env), [""; 0]);
    let Counts {
        refused,
        lacking,
        revoked,
        rows,
        empty,
        hidden,
        changed,
        created,
        conflicts,
        followed,
        catalog,
    } = simulation.seen;
    for (what, count) in [
        ("refused", refused),
        ("lacking", lacking),
        ("revoked", revoked),
        ("rows", rows),
        ("empty", empty),
        ("hidden", hidden),
        ("changed", changed),
        ("created", created),
        ("followed", followed),
        ("catalog", catalog),
    ] {
        assert!(count > requests / 200, "{what}: {count}");
    }
    assert!(conflicts > requests / 2000, "{conflicts}");
}
