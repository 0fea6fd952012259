//! A hundred thousand random requests with tokens of several keys, identities, types, platforms, scopes and origins,
//! while time passes and keys are revoked, expire, lose scopes and regain them. A naive model predicts each answer:
//! exactly the connections that the token may see.

use connector_vault::access::key::ApiKey;
use connector_vault::api::{Request, Response};
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::model::{Filter, Row, Tenant};
use crate::sessions::{SECRET, asking};
use crate::support::{Api, as_secret, body, column, with_body, with_header};
use crate::vault::{CONNECTIONS, SUMMARY, UNKNOWN_ID, at, code, comparable, cursor};

const REQUESTS: usize = 100_000;
/// The approximate number of connections per tenant.
const SIZE: usize = 70;
const TOKENS: usize = 80;
const PLATFORMS: [&str; 4] = ["alpha", "alpha-two", "zeta", "epsilon"];
const TYPES: [&str; 4] = ["user", "team", "organization", "project"];
const TAGS: [&str; 4] = ["red", "green", "Red", "x y"];
const NAMES: [&str; 4] = ["Ann", "ann", "Bob", "École"];
/// The identities of connections: alike except for case, and one that looks like a key.
const IDENTITIES: [&str; 6] = ["ann", "Ann", "bob", "é::x", "a%_b", "nobody"];
const ORIGINS: [&str; 3] = ["https://a.example", "https://b.example", "http://localhost:5173"];
const CONNECTORS: &str = "/v1/available-connectors";

/// Whether a platform matches a filter of the catalog.
type Holds = Box<dyn Fn(&str) -> bool>;

/// A key and its condition.
struct Key {
    secret: ApiKey,
    id: String,
    tenant: usize,
    revoked: bool,
    expires_at: Option<u64>,
    scopes: Vec<Scope>,
}

/// A token and what was requested for it.
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

    fn is_alike(&self, other: &Self) -> bool {
        let of = |token: &Self| {
            (
                token.key,
                token.identity.clone(),
                token.identity_type.clone(),
                token.platforms.clone(),
            )
        };
        of(self) == of(other)
    }
}

/// A cursor that was issued, and for which token.
#[derive(Clone)]
struct Given {
    after: String,
    query: String,
    filter: Filter,
    limit: usize,
    page: usize,
    token: Token,
}

#[derive(Default, Debug)]
struct Seen {
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

struct Crowd {
    api: Api,
    chance: Chance,
    tenants: Vec<Tenant>,
    keys: Vec<Key>,
    tokens: Vec<Token>,
    cursors: Vec<Given>,
    ids: Vec<String>,
    sent: usize,
    seen: Seen,
}

impl Crowd {
    fn new() -> Self {
        let api = Api::with_sessions(SECRET, "");
        let places =
            [("acme", Environment::Test), ("acme", Environment::Live), ("beta", Environment::Test)];
        let (mut tenants, mut keys): (Vec<Tenant>, Vec<Key>) = Default::default();
        for (account, environment) in places {
            for _ in 0..3 {
                let key = api.world.key(account, environment, &Scope::ALL, None);
                let sql = format!("SELECT id FROM api_keys WHERE hash = '{}'", key.hash());
                let id = api.world.texts(&sql).remove(0);
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
        let mut chance = Chance(11);
        for (nth, tenant) in tenants.iter_mut().enumerate() {
            while tenant.rows.len() < SIZE {
                api.world.wait(chance.next() % 2);
                let label = format!("l{}", chance.below(6));
                let document = json!({
                    "platform": chance.pick(&PLATFORMS), "identity": chance.pick(&IDENTITIES[..5]), "identityType": chance.pick(&TYPES),
                    "label": label, "name": chance.maybe(60, &NAMES), "active": chance.percent(85),
                    "state": chance.pick(&["operational", "degraded", "failed", "unknown"]),
                    "tags": (0..chance.below(3)).map(|_| *chance.pick(&TAGS)).collect::<Vec<_>>(),
                });
                let key = &keys[3 * nth].secret;
                let response = api.send(&crate::vault::post_as(key, &document));
                if response.status == 201 {
                    tenant.rows.push(Row::of(&body(&response)));
                }
            }
        }
        let ids = tenants.iter().flat_map(|tenant| &tenant.rows).map(|row| row.id.clone());
        let ids = ids.chain([UNKNOWN_ID.to_owned()]).collect();
        let (tokens, cursors, seen) = Default::default();
        let mut crowd = Self { api, chance, tenants, keys, tokens, cursors, ids, sent: 0, seen };
        while crowd.tokens.len() < TOKENS {
            crowd.make();
        }
        crowd
    }

    fn now(&self) -> u64 {
        self.api.world.now.get()
    }

    /// Creates a token with a key that may; once there are many, it replaces the oldest.
    fn make(&mut self) {
        let nth = self.chance.below(self.keys.len());
        let now = self.now();
        let key = &self.keys[nth];
        let is_valid = !key.revoked && key.expires_at.is_none_or(|at| now < at);
        let chance = &mut self.chance;
        let some = |chance: &mut Chance, all: &[&str]| {
            let picked: Vec<String> =
                all.iter().filter(|_| chance.percent(50)).map(|name| (*name).to_owned()).collect();
            (!picked.is_empty()).then_some(picked)
        };
        let identity = (*chance.pick(&IDENTITIES)).to_owned();
        let identity_type = chance.maybe(30, &TYPES).map(str::to_owned);
        let platforms = if chance.percent(40) { some(chance, &PLATFORMS) } else { None };
        let origins = if chance.percent(30) { some(chance, &ORIGINS) } else { None };
        let ttl = 60 + chance.next() % 600;
        let wanted: Option<Vec<Scope>> = chance.percent(80).then(|| {
            Scope::OF_TOKENS.into_iter().filter(|_| chance.percent(75)).collect::<Vec<_>>()
        });
        let wanted = wanted.filter(|wanted| !wanted.is_empty());
        let mut document = json!({"identity": identity, "ttlSeconds": ttl});
        for (name, value) in [
            ("identityType", identity_type.as_ref().map(|text| json!(text))),
            ("platforms", platforms.as_ref().map(|texts| json!(texts))),
            ("origins", origins.as_ref().map(|texts| json!(texts))),
            (
                "scopes",
                wanted.as_ref().map(|scopes| {
                    json!(scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>())
                }),
            ),
        ] {
            if let Some(value) = value {
                document[name] = value;
            }
        }
        let response = self.api.send(&asking(&key.secret, &document));
        let scopes = wanted.clone().unwrap_or_else(|| {
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
        let expected = json!({
            "token": made["token"], "expiresAt": connector_vault::rfc3339::rfc3339(ends), "environment": tenant.environment,
            "identity": identity, "identityType": identity_type, "scopes": names, "platforms": platforms, "origins": origins,
        });
        assert_eq!(made, expected);
        let text = made["token"].as_str().unwrap().to_owned();
        let token = Token {
            text,
            key: nth,
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
            let at = self.chance.below(TOKENS);
            self.tokens[at] = token;
        }
    }

    /// Changes a key at random.
    fn change_key(&mut self) {
        let at = self.chance.below(self.keys.len());
        let now = self.now();
        let key = &mut self.keys[at];
        match self.chance.below(3) {
            0 => key.revoked = self.chance.percent(20),
            1 => {
                key.expires_at =
                    self.chance.percent(25).then(|| now + self.chance.next() % 400_000);
            }
            _ => {
                let without = self.chance.maybe(40, &Scope::ALL);
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
        assert_eq!(self.api.world.database.execute(sql, row).unwrap(), 1);
    }

    /// Sends a request as a page of some origin. Returns `None` when it is refused because of its token, as the model
    /// predicts.
    fn send(&mut self, token: &Token, request: Request, scope: Option<Scope>) -> Option<Response> {
        let page = match self.chance.below(if token.origins.is_some() { 5 } else { 20 }) {
            0 => Some("https://c.example"),
            1 => None,
            _ => token.origins.as_ref().map(|own| self.chance.pick(own).as_str()),
        };
        let mut request = request;
        if let Some(page) = page {
            request = with_header(request, "origin", page);
        }
        if self.chance.percent(10) {
            // A page of the service itself; next to an `Origin`, this header does not count.
            request = with_header(request, "sec-fetch-site", "same-origin");
        }
        self.sent += 1;
        let calls = self.api.world.db_calls.get();
        let response = self.api.send(&request);
        let calls = self.api.world.db_calls.get() - calls;

        let now = self.now();
        let key = &self.keys[token.key];
        let from = token
            .origins
            .as_ref()
            .is_none_or(|own| page.is_some_and(|page| own.iter().any(|own| own == page)));
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
    fn own(&self, token: &Token) -> Tenant {
        let tenant = &self.tenants[self.keys[token.key].tenant];
        let rows = tenant.rows.iter().filter(|row| token.sees(row)).cloned().collect();
        Tenant { environment: tenant.environment, rows }
    }

    fn filter(&mut self) -> Filter {
        let keys: Vec<String> = (0..=self.chance.below(4))
            .map(|_| {
                let tenant = self.chance.pick(&self.tenants);
                self.chance.pick(&tenant.rows).key(tenant.environment)
            })
            .collect();
        let chance = &mut self.chance;
        let tags: Vec<String> =
            (0..chance.below(3)).map(|_| (*chance.pick(&TAGS)).to_owned()).collect();
        Filter {
            active: chance.maybe(30, &[true, false]),
            keys: chance.maybe(15, &[keys]),
            identity: chance.maybe(25, &IDENTITIES).map(str::to_owned),
            name: chance.maybe(10, &NAMES).map(str::to_owned),
            q: chance.maybe(15, &["a", "ann", "é", "BO", "a%"]).map(str::to_owned),
            tags: chance.maybe(25, &[tags]).filter(|tags| !tags.is_empty()),
            any: chance.percent(50),
            platform: chance.maybe(25, &PLATFORMS).map(str::to_owned),
            version_of_platform: chance.maybe(10, &["v1", "v2"]).map(str::to_owned),
            identity_type: chance.maybe(20, &TYPES).map(str::to_owned),
            state: chance.maybe(15, &["operational", "failed", "unknown"]).map(str::to_owned),
        }
    }

    fn list(&mut self, token: &Token) {
        let filter = self.filter();
        let (limit, page) = (1 + self.chance.below(4), 1 + self.chance.below(2));
        let query = format!("limit={limit}&{}", filter.query());
        let request = as_secret(&token.text, "GET", &format!("{CONNECTIONS}?{query}&page={page}"));
        let Some(response) = self.send(token, request, Some(Scope::ConnectionsRead)) else {
            return;
        };
        let expected = self.own(token).page(&filter, limit, page);
        assert_eq!(body(&response), expected, "{query}");
        assert!(response.header("server-timing").unwrap().contains("rows_read=0 "));
        let shown = expected["rows"].as_array().unwrap().len();
        self.seen.rows += shown;
        self.seen.empty += usize::from(shown == 0);
        if let Some(after) = cursor(&response) {
            let token = token.clone();
            self.cursors.truncate(300);
            let given = Given { after, query, filter, limit, page, token };
            let at = self.chance.below(self.cursors.len() + 1);
            self.cursors.insert(at, given);
        }
    }

    /// Follows a cursor with any token. It is valid for tokens of the same key with the same confinement.
    fn follow(&mut self, token: &Token) {
        let Some(given) = self.cursors.get(self.chance.below(300)).cloned() else { return };
        let alike: Vec<Token> =
            self.tokens.iter().filter(|other| other.is_alike(&given.token)).cloned().collect();
        let token = if alike.is_empty() || self.chance.percent(30) {
            token.clone()
        } else {
            self.chance.pick(&alike).clone()
        };
        let request = as_secret(
            &token.text,
            "GET",
            &format!("{CONNECTIONS}?{}&after={}", given.query, given.after),
        );
        let Some(response) = self.send(&token, request, Some(Scope::ConnectionsRead)) else {
            return;
        };
        if token.is_alike(&given.token) {
            let document = body(&response);
            let own = self.own(&token);
            assert_eq!((response.status, &document["page"]), (200, &json!(given.page + 1)));
            assert_eq!(document["total"], json!(own.list(&given.filter).len()));
            let rows = document["rows"].as_array().unwrap();
            assert!(rows.len() <= given.limit);
            for row in rows {
                let at = own.find(row["id"].as_str().unwrap()).unwrap();
                assert_eq!(*row, own.rows[at].json(own.environment));
            }
            self.seen.followed += 1;
        } else if response.status == 200 {
            // Another confinement may lead to the same list, where the filter states what the token does not.
            assert_eq!((token.key, &token.identity), (given.token.key, &given.token.identity));
            let (ours, theirs) = (self.own(&token), self.own(&given.token));
            assert_eq!(ours.list(&given.filter), theirs.list(&given.filter));
        } else {
            assert_eq!((response.status, code(&response).as_str()), (400, "invalid_parameter"));
        }
    }

    /// Requests one connection. If the token may not see it, the answer is as for an unknown id.
    fn one(&mut self, token: &Token) {
        let own = self.own(token);
        let id = if own.rows.is_empty() || self.chance.percent(50) {
            self.chance.pick(&self.ids).clone()
        } else {
            self.chance.pick(&own.rows).id.clone()
        };
        let tags: Vec<String> =
            (0..self.chance.below(3)).map(|_| (*self.chance.pick(&TAGS)).to_owned()).collect();
        let method =
            *self.chance.pick(&["GET", "GET", "GET", "PATCH", "PATCH", "PATCH", "PATCH", "DELETE"]);
        let scope = if method == "GET" { Scope::ConnectionsRead } else { Scope::ConnectionsWrite };
        let condition = self.chance.maybe(20, &["*".to_owned(), format!("\"{id}-1\"")]);
        let request = |id: &str| {
            let request = as_secret(&token.text, method, &at(id));
            let request = if method == "PATCH" {
                with_body(request, &json!({"tags": tags}).to_string())
            } else {
                request
            };
            match &condition {
                Some(value) => with_header(request, "if-match", value),
                None => request,
            }
        };
        let Some(response) = self.send(token, request(&id), Some(scope)) else { return };
        let Some(found) = own.find(&id).map(|at| own.rows[at].clone()) else {
            let mut unknown = request(UNKNOWN_ID);
            if let Some(own) = &token.origins {
                unknown = with_header(unknown, "origin", &own[0]);
            }
            let (hidden, unknown) = (comparable(&response), comparable(&self.api.send(&unknown)));
            assert_eq!(
                (hidden.0, hidden.2, hidden.1),
                (404, unknown.2, unknown.1),
                "{method} {id}"
            );
            self.seen.hidden += 1;
            return;
        };
        let meets = condition.is_none_or(|value| value == "*" || value == found.etag());
        let tenant = &mut self.tenants[self.keys[token.key].tenant];
        let at = tenant.find(&id).unwrap();
        match method {
            "GET" => assert_eq!(body(&response), found.json(own.environment)),
            _ if !meets => assert_eq!(response.status, 412),
            "PATCH" => {
                let row = &mut tenant.rows[at];
                row.revision += u64::from(row.tags != tags);
                row.tags = tags;
                assert_eq!(body(&response), row.json(own.environment));
                self.seen.changed += 1;
            }
            _ => {
                assert_eq!(response.status, 204);
                tenant.rows.remove(at);
                self.seen.changed += 1;
            }
        }
    }

    fn create(&mut self, token: &Token) {
        let chance = &mut self.chance;
        let identity = if chance.percent(80) {
            token.identity.clone()
        } else {
            (*chance.pick(&IDENTITIES)).to_owned()
        };
        let identity_type = match &token.identity_type {
            Some(own) if chance.percent(80) => own.clone(),
            _ => (*chance.pick(&TYPES)).to_owned(),
        };
        let (platform, label) = (*chance.pick(&PLATFORMS), format!("l{}", chance.below(12)));
        let document = json!({"platform": platform, "identity": identity, "identityType": identity_type, "label": label});
        let request = with_body(as_secret(&token.text, "POST", CONNECTIONS), &document.to_string());
        let Some(response) = self.send(token, request, Some(Scope::ConnectionsWrite)) else {
            return;
        };
        let own_type = token.identity_type.as_ref().is_none_or(|own| *own == identity_type);
        if identity != token.identity || !own_type || !token.has(platform) {
            assert_eq!((response.status, code(&response).as_str()), (403, "insufficient_scope"));
            return;
        }
        let tenant = &mut self.tenants[self.keys[token.key].tenant];
        let name = format!("{}::{platform}::{label}::{identity}", tenant.environment);
        let holder = tenant.rows.iter().find(|row| row.key(tenant.environment) == name);
        let document = body(&response);
        if let Some(holder) = holder {
            assert_eq!((response.status, &document["code"]), (409, &json!("connection_exists")));
            let seen = token.sees(holder);
            assert_eq!(document.get("connectionId"), seen.then(|| json!(holder.id)).as_ref());
            assert_eq!(document.to_string().contains(&holder.id), seen);
            self.seen.conflicts += usize::from(!seen);
        } else {
            assert_eq!((response.status, &document["key"]), (201, &json!(name)));
            let row = Row::of(&document);
            assert!(token.sees(&row));
            self.ids.push(row.id.clone());
            tenant.rows.push(row);
            self.seen.created += 1;
        }
    }

    fn summary(&mut self, token: &Token) {
        let request = as_secret(&token.text, "GET", SUMMARY);
        let Some(response) = self.send(token, request, Some(Scope::ConnectionsRead)) else {
            return;
        };
        assert_eq!(body(&response), self.own(token).summary());
    }

    fn whoami(&mut self, token: &Token) {
        let request = as_secret(&token.text, "GET", "/v1/whoami");
        let Some(response) = self.send(token, request, None) else { return };
        let key = &self.keys[token.key];
        let scopes: Vec<_> = token
            .scopes
            .iter()
            .filter(|scope| key.scopes.contains(scope))
            .map(|scope| scope.as_str())
            .collect();
        let account = ["acme", "acme", "beta"][key.tenant];
        let expected = json!({
            "account": account, "environment": self.tenants[key.tenant].environment, "scopes": scopes,
            "expiresAt": connector_vault::rfc3339::rfc3339(token.expires_at), "identity": token.identity,
            "identityType": token.identity_type, "platforms": token.platforms, "origins": token.origins,
        });
        assert_eq!((response.status, body(&response)), (200, expected));
    }

    fn catalog(&mut self, token: &Token) {
        let scope = Some(Scope::CatalogRead);
        let known = ["alpha", "alpha-two", "epsilon", "empty", "zeta"];
        if self.chance.percent(50) {
            let platform = *self.chance.pick(&known);
            let request =
                as_secret(&token.text, "GET", &format!("/v1/available-actions/{platform}"));
            let Some(response) = self.send(token, request, scope) else { return };
            if token.has(platform) {
                assert!(
                    response.status == 200
                        && column(&response, "platform").iter().all(|name| name == platform)
                );
            } else {
                let document = body(&response);
                assert_eq!(
                    (response.status, &document["code"]),
                    (404, &json!("platform_not_found"))
                );
                let suggested = document["suggestions"].as_array().cloned().unwrap_or_default();
                assert!(
                    suggested.iter().all(|name| token.has(name.as_str().unwrap())),
                    "{document}"
                );
            }
        } else {
            let (query, holds): (String, Holds) = match self.chance.below(5) {
                0 => ("q=what".into(), Box::new(|name| name != "nothing")),
                1 => ("q=alpha".into(), Box::new(|name| name.starts_with("alpha"))),
                2 => {
                    ("authkit=true".into(), Box::new(|name| ["zeta", "alpha-two"].contains(&name)))
                }
                3 => {
                    let platform = *self.chance.pick(&known);
                    (format!("platform={platform}"), Box::new(move |name| name == platform))
                }
                _ => (String::new(), Box::new(|_| true)),
            };
            let path = format!("{CONNECTORS}?limit=500&{query}");
            let tag = self.chance.maybe(20, &["*"]);
            let mut request = as_secret(&token.text, "GET", &path);
            if let Some(tag) = tag {
                request = with_header(request, "if-none-match", tag);
            }
            let Some(response) = self.send(token, request, scope) else { return };
            if response.status == 304 {
                return;
            }
            let mut shown = column(&response, "platform");
            shown.sort();
            let expected: Vec<&str> =
                known.into_iter().filter(|name| holds(name) && token.has(name)).collect();
            let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            expected.sort();
            assert_eq!(
                (shown, &body(&response)["total"]),
                (expected.clone(), &json!(expected.len())),
                "{query}"
            );
        }
        self.seen.catalog += 1;
    }

    /// Asserts that every tenant has exactly the connections that the model has.
    fn assert_nothing_else_changed(&self) {
        for (nth, tenant) in self.tenants.iter().enumerate() {
            let account = ["acme", "acme", "beta"][nth];
            let sql = format!(
                "SELECT id || ' ' || version || ' ' || tags FROM connections WHERE account = '{account}' AND environment = '{}' ORDER BY id",
                tenant.environment
            );
            let row = |row: &Row| {
                format!("{} {} {}", row.id, row.revision, Value::from(row.tags.clone()))
            };
            let mut rows: Vec<String> = tenant.rows.iter().map(row).collect();
            rows.sort();
            assert_eq!(self.api.world.texts(&sql), rows);
        }
    }
}

#[test]
fn a_token_opens_what_it_says_and_nothing_else() {
    let mut crowd = Crowd::new();
    while crowd.sent < REQUESTS {
        // About an hour and a half in total; tokens last one to eleven minutes.
        if crowd.chance.percent(10) {
            let passed = crowd.chance.next() % 1000;
            crowd.api.world.wait(passed);
        }
        match crowd.chance.below(1000) {
            0..80 => crowd.make(),
            80..83 => crowd.change_key(),
            _ => {}
        }
        let token = crowd.chance.pick(&crowd.tokens).clone();
        match crowd.chance.below(100) {
            0..40 => crowd.list(&token),
            40..50 => crowd.follow(&token),
            50..70 => crowd.one(&token),
            70..77 => crowd.create(&token),
            77..83 => crowd.summary(&token),
            83..86 => crowd.whoami(&token),
            86..99 => crowd.catalog(&token),
            _ => {
                let request = with_body(
                    as_secret(&token.text, "POST", "/v1/sessions"),
                    r#"{"identity":"ann"}"#,
                );
                let calls = crowd.api.world.db_calls.get();
                let status = crowd.api.send(&request).status;
                assert!(
                    [401, 403].contains(&status) && crowd.api.world.db_calls.get() - calls <= 1
                );
                crowd.sent += 1;
            }
        }
        if crowd.sent.is_multiple_of(500) {
            crowd.assert_nothing_else_changed();
        }
    }
    crowd.assert_nothing_else_changed();
    assert_eq!(crate::counted::miscounts(&crowd.api.world), [""; 0]);
    let Seen {
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
    } = crowd.seen;
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
        assert!(count > 500, "{what}: {count}");
    }
    assert!(conflicts > 50, "{conflicts}");
}
