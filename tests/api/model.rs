//! A naive model of the vault: a list of rows, filtered one condition at a time.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::rng::TestRng;
use crate::vault::encode;

/// Few values, so that they collide. Some differ only in case, are prefixes of each other, are not
/// ASCII, or contain separators.
pub const IDENTITIES: [&str; 11] =
    ["a", "A", "ab", "a::b", "a::b::c", "é", "É", "a%", "日本", "abcdefgh", "ABCdefghij"];
pub const NAMES: [&str; 10] =
    ["a", "A", "Ab c", "é", "ÉA", "_", "日本語", "Abcdefgh", "abcdefghI", "abcdefG"];
pub const TAGS: [&str; 6] = ["x", "X", "x y", "xy", "é", "%"];
pub const PLATFORMS: [&str; 3] = ["alpha", "alpha-two", "zeta"];
pub const VERSIONS: [&str; 3] = ["v1", "v2", "v10"];
pub const LABELS: [&str; 2] = ["default", "b"];
pub const TYPES: [&str; 4] = ["user", "team", "organization", "project"];
pub const STATES: [&str; 4] = ["operational", "degraded", "failed", "unknown"];

/// A connection of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub id: String,
    pub platform: String,
    pub version_of_platform: String,
    pub label: String,
    pub identity: String,
    pub identity_type: String,
    pub name: Option<String>,
    pub tags: Vec<String>,
    pub state: String,
    pub active: bool,
    pub revision: u64,
    pub created_at: String,
    pub description: String,
}

/// The filters of a list request.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub active: Option<bool>,
    pub keys: Option<Vec<String>>,
    pub identity: Option<String>,
    pub name: Option<String>,
    pub q: Option<String>,
    pub tags: Option<Vec<String>>,
    pub any: bool,
    pub platform: Option<String>,
    pub version_of_platform: Option<String>,
    pub identity_type: Option<String>,
    pub state: Option<String>,
}

/// One account's connections in one environment.
#[derive(Debug, Clone, Default)]
pub struct Tenant {
    pub environment: &'static str,
    pub rows: Vec<Row>,
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}

impl Row {
    pub fn key(&self, environment: &str) -> String {
        format!("{environment}::{}::{}::{}", self.platform, self.label, self.identity)
    }

    pub fn etag(&self) -> String {
        format!("\"{}-{}\"", self.id, self.revision)
    }

    pub fn json(&self, environment: &str) -> Value {
        json!({
            "id": self.id, "platformVersion": self.version_of_platform, "name": self.name, "type": "api", "key": self.key(environment),
            "environment": environment, "platform": self.platform, "identity": self.identity, "identityType": self.identity_type,
            "description": self.description, "state": self.state, "tags": self.tags, "version": self.revision.to_string(), "active": self.active,
            "createdAt": self.created_at,
        })
    }

    /// Parses a connection's JSON document.
    pub fn from_json(document: &Value) -> Self {
        let text = |member: &str| document[member].as_str().unwrap().to_owned();
        Self {
            id: text("id"),
            platform: text("platform"),
            version_of_platform: text("platformVersion"),
            label: text("key").split("::").nth(2).unwrap().to_owned(),
            identity: text("identity"),
            identity_type: text("identityType"),
            name: document["name"].as_str().map(str::to_owned),
            tags: document["tags"]
                .as_array()
                .unwrap()
                .iter()
                .map(|tag| tag.as_str().unwrap().to_owned())
                .collect(),
            state: text("state"),
            active: document["active"].as_bool().unwrap(),
            revision: text("version").parse().unwrap(),
            created_at: text("createdAt"),
            description: text("description"),
        }
    }
}

impl Filter {
    /// Returns a random filter with the names and platforms of the tests of tenants and tokens.
    pub fn random(
        rng: &mut TestRng,
        keys: Vec<String>,
        identity: Option<String>,
        tags: Vec<String>,
    ) -> Self {
        let prefixes = ["a", "ann", "é", "BO", "bo", "a%", "i", "id-1", "ANN"];
        let platforms = ["alpha", "alpha-two", "zeta", "epsilon"];
        Self {
            active: rng.maybe(30, &[true, false]),
            keys: rng.maybe(15, &[keys]),
            identity,
            name: rng.maybe(10, &["Ann", "ann", "Bob", "École", "日本"]).map(str::to_owned),
            q: rng.maybe(15, &prefixes).map(str::to_owned),
            tags: rng.maybe(25, &[tags]).filter(|tags| !tags.is_empty()),
            any: rng.percent(50),
            platform: rng.maybe(25, &platforms).map(str::to_owned),
            version_of_platform: rng.maybe(10, &["v1", "v2"]).map(str::to_owned),
            identity_type: rng.maybe(20, &TYPES).map(str::to_owned),
            state: rng.maybe(15, &["operational", "failed", "unknown"]).map(str::to_owned),
        }
    }

    fn matches(&self, row: &Row, environment: &str) -> bool {
        let same = |filter: &Option<String>, value: &str| {
            filter.as_ref().is_none_or(|filter| filter == value)
        };
        let folded = |filter: &Option<String>, value: &str| {
            filter.as_ref().is_none_or(|filter| lower(filter) == lower(value))
        };
        let begins = |prefix: &String, text: &str| lower(text).starts_with(&lower(prefix));
        row.active == self.active.unwrap_or(true)
            && self.keys.as_ref().is_none_or(|keys| keys.contains(&row.key(environment)))
            && same(&self.identity, &row.identity)
            && self.name.as_ref().is_none_or(|name| {
                row.name.as_ref().is_some_and(|value| lower(name) == lower(value))
            })
            && self.q.as_ref().is_none_or(|q| {
                begins(q, &row.identity) || row.name.as_ref().is_some_and(|name| begins(q, name))
            })
            && self.tags.as_ref().is_none_or(|tags| {
                let mut found = tags.iter().map(|tag| row.tags.contains(tag));
                if self.any { found.any(|found| found) } else { found.all(|found| found) }
            })
            && folded(&self.platform, &row.platform)
            && same(&self.version_of_platform, &row.version_of_platform)
            && same(&self.identity_type, &row.identity_type)
            && same(&self.state, &row.state)
    }

    /// The query string, with every byte of the values percent-encoded.
    pub fn query(&self) -> String {
        let comma = |items: &Vec<String>| {
            items.iter().map(|item| encode(item)).collect::<Vec<_>>().join(",")
        };
        let pairs = [
            ("active", self.active.map(|active| active.to_string())),
            ("key", self.keys.as_ref().map(comma)),
            ("identity", self.identity.as_deref().map(encode)),
            ("name", self.name.as_deref().map(encode)),
            ("q", self.q.as_deref().map(encode)),
            ("tags", self.tags.as_ref().map(comma)),
            ("tagsMatch", self.tags.as_ref().filter(|_| self.any).map(|_| "any".to_owned())),
            ("platform", self.platform.as_deref().map(encode)),
            ("platformVersion", self.version_of_platform.as_deref().map(encode)),
            ("identityType", self.identity_type.as_deref().map(encode)),
            ("state", self.state.as_deref().map(encode)),
        ];
        let given =
            pairs.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        given.collect::<Vec<_>>().join("&")
    }
}

impl Tenant {
    /// The rows that match a filter, in list order.
    pub fn list(&self, filter: &Filter) -> Vec<&Row> {
        let mut rows: Vec<&Row> =
            self.rows.iter().filter(|row| filter.matches(row, self.environment)).collect();
        rows.sort_by(|a, b| (&b.created_at, &b.id).cmp(&(&a.created_at, &a.id)));
        rows
    }

    /// The response for a page of a list.
    pub fn page(&self, filter: &Filter, limit: usize, page: usize) -> Value {
        let rows = self.list(filter);
        let shown: Vec<Value> = rows
            .iter()
            .skip(limit * (page - 1))
            .take(limit)
            .map(|row| row.json(self.environment))
            .collect();
        json!({"rows": shown, "total": rows.len(), "pages": rows.len().div_ceil(limit), "page": page})
    }

    pub fn find(&self, id: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.id == id)
    }

    pub fn summary(&self) -> Value {
        let count =
            |holds: &dyn Fn(&Row) -> bool| self.rows.iter().filter(|row| holds(row)).count();
        let by = |names: [&str; 4], value: fn(&Row) -> &str| {
            Value::Object(
                names
                    .into_iter()
                    .map(|name| (name.to_owned(), json!(count(&|row| value(row) == name))))
                    .collect(),
            )
        };
        let mut platforms: Vec<&str> = self.rows.iter().map(|row| row.platform.as_str()).collect();
        platforms.sort_unstable();
        platforms.dedup();
        let mut sizes: Vec<(usize, &str)> =
            platforms.into_iter().map(|name| (count(&|row| row.platform == name), name)).collect();
        sizes.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        let others: usize = sizes.iter().skip(50).map(|(size, _)| size).sum();
        let shown: Vec<Value> = sizes
            .iter()
            .take(50)
            .map(|(size, name)| json!({"platform": name, "total": size}))
            .collect();
        json!({
            "total": self.rows.len(),
            "active": {"true": count(&|row| row.active), "false": count(&|row| !row.active)},
            "state": by(["operational", "degraded", "failed", "unknown"], |row| &row.state),
            "identityType": by(["user", "team", "organization", "project"], |row| &row.identity_type),
            "platforms": shown,
            "otherPlatforms": others,
        })
    }
}

pub fn texts(all: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(all).prop_map(str::to_owned)
}

/// The filters of random requests.
pub fn filters() -> impl Strategy<Value = Filter> {
    let key = (
        select(&["test", "live"][..]),
        select(&PLATFORMS[..]),
        select(&LABELS[..]),
        select(&IDENTITIES[..]),
    );
    let key = key.prop_map(|(environment, platform, label, identity)| {
        format!("{environment}::{platform}::{label}::{identity}")
    });
    let rare = 0.15;
    let upper =
        |all| texts(all).prop_flat_map(|text| prop_oneof![Just(text.to_uppercase()), Just(text)]);
    let started = (1_usize..11).prop_map(|length| "abcdefghij".chars().take(length).collect());
    let one = (
        option::weighted(0.3, any::<bool>()),
        option::weighted(rare, vec(key, 1..8)),
        option::weighted(rare, texts(&IDENTITIES)),
        option::weighted(rare, upper(&NAMES)),
        option::weighted(rare, prop_oneof![upper(&NAMES), upper(&IDENTITIES), started]),
        // Sometimes there are more tags than one statement merges.
        option::weighted(
            0.4,
            prop_oneof![3 => vec(texts(&TAGS), 1..4), 1 => vec(texts(&TAGS), 1..12)],
        ),
    );
    let two = (
        any::<bool>(),
        option::weighted(0.3, upper(&PLATFORMS)),
        option::weighted(0.2, texts(&VERSIONS)),
        option::weighted(0.3, texts(&TYPES)),
        option::weighted(0.3, texts(&STATES)),
    );
    (one, two).prop_map(
        |(
            (active, keys, identity, name, q, tags),
            (any, platform, version, identity_type, state),
        )| {
            Filter {
                active,
                keys,
                identity,
                name,
                q,
                tags,
                any,
                platform,
                version_of_platform: version,
                identity_type,
                state,
            }
        },
    )
}
