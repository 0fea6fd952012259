//! Follows a list through many connections while others are created, changed and deleted. Each
//! connection that exists throughout appears exactly once.

use std::collections::HashSet;

use connector_vault::http::Service;
use serde_json::json;

use crate::rng::{TestRng, repetitions};
use crate::support::{Api, config};
use crate::vault::{CONNECTIONS, next};

/// The number of seeded connections in `npm test`, and in `npm run proof`.
const SIZE: [usize; 2] = [10_000, 100_000];
const PLATFORMS: [&str; 4] = ["alpha", "alpha-two", "zeta", "epsilon"];

/// The id of the nth connection. Ids are in another order than creation times, and seven
/// connections share each creation time.
fn id(index: usize) -> String {
    let mixed = (index as u64 * 2_654_435_761) % (1 << 32);
    format!("{mixed:08x}-0000-4000-8000-{index:012x}")
}

/// Inserts `size` connections. Connection `i` has the platform number `i % 4`, and every third one
/// has the tag `hot`.
fn fill(api: &Api, size: usize) {
    let sql = "
        INSERT INTO connections (id, account, environment, active, platform, platform_version, label, identity, identity_folded, identity_type, description, state, tags, version, created_at, written_by)
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < CAST(?1 AS INTEGER))
        SELECT printf('%08x-0000-4000-8000-%012x', i * 2654435761 % 4294967296, i), 'acme', 'test', 1,
          CASE i % 4 WHEN 0 THEN 'alpha' WHEN 1 THEN 'alpha-two' WHEN 2 THEN 'zeta' ELSE 'epsilon' END, 'v1', 'default', 'user-' || i, 'user-' || i,
          'user', 'What it does.', 'operational', iif(i % 3 = 0, '[\"hot\",\"x\"]', '[\"x\"]'), 1, 1700000000000 + i / 7, 'seed'
        FROM n";
    assert_eq!(api.env.database.execute(sql, [size.to_string()]).unwrap(), size);
    assert_eq!(
        id(size - 1),
        api.env.texts("SELECT id FROM connections ORDER BY seq DESC LIMIT 1")[0]
    );
}

struct Walk {
    api: Api,
    /// The number of seeded connections.
    size: usize,
    rng: TestRng,
    /// Whether each of the seeded connections is active.
    is_active: Vec<bool>,
    /// Whether each of the seeded connections has the tag `hot`.
    hot: Vec<bool>,
    created: usize,
}

impl Walk {
    fn new() -> Self {
        let api = Api::with_catalog();
        // This test does not cover the limit on rows that a list reads.
        let api = Api { service: Service::new(config(&[("MAX_ROWS_READ", "1000000")])), ..api };
        let size = repetitions(SIZE[0], SIZE[1]);
        fill(&api, size);
        let hot = (0..size).map(|index| index % 3 == 0).collect();
        Self { api, size, rng: TestRng(3), is_active: vec![true; size], hot, created: 0 }
    }

    /// Creates, changes and deletes connections at random positions and right next to the walk's
    /// position.
    fn change_connections(&mut self, last: &str) {
        self.created += 1;
        let created = self.api.create(&json!({
            "platform": PLATFORMS[self.created % 4], "identity": format!("new {}", self.created), "identityType": "team", "tags": ["hot"],
        }));
        // Gives the connection the creation time of the last row that was read, so that it is
        // listed right before or after the walk's position.
        let sql = "UPDATE connections SET created_at = other.created_at FROM (SELECT created_at FROM connections WHERE account = 'acme' AND environment = 'test' AND id = ?1) other WHERE account = 'acme' AND environment = 'test' AND id = ?2";
        if self.rng.percent(50) {
            self.api
                .env
                .database
                .prepare_cached(sql)
                .unwrap()
                .execute([last, created["id"].as_str().unwrap()])
                .unwrap();
        }
        let at_hand = usize::from_str_radix(last.get(24..).unwrap(), 16).unwrap();
        let (deleted, deactivated, changed) =
            (self.rng.below(self.size), self.rng.below(self.size), self.rng.below(self.size));
        let deleted = if self.rng.percent(50) && last.contains("-0000-4000-8000-") {
            at_hand
        } else {
            deleted
        };
        let response = self.api.on("DELETE", &id(deleted), None);
        assert!(
            response.status == 204 || !self.is_active[deleted] && response.status == 404,
            "{}",
            response.status
        );
        let sql = "UPDATE connections SET active = 0 WHERE account = 'acme' AND environment = 'test' AND id = ?1";
        self.api.env.database.prepare_cached(sql).unwrap().execute([id(deactivated)]).unwrap();
        (self.is_active[deleted], self.is_active[deactivated]) = (false, false);
        let keeps = self.rng.percent(50) && self.hot[changed];
        let tags = if keeps { json!(["new", "hot"]) } else { json!(["new"]) };
        if self.api.patch(&id(changed), &json!({"tags": tags})).status == 200 {
            self.hot[changed] = keeps;
        }
    }

    /// Follows a list to its end. Returns the ids of all rows.
    fn walk_list(&mut self, query: &str) -> Vec<String> {
        let (mut seen, mut page) = (Vec::new(), 0);
        let mut path = Some(format!("{CONNECTIONS}?{query}"));
        while let Some(at) = path {
            page += 1;
            let response = self.api.get(&at);
            let text = std::str::from_utf8(&response.body).unwrap();
            assert_eq!(response.status, 200, "{text}");
            assert!(text.ends_with(&format!(",\"page\":{page}}}")), "page {page} of {query}");
            seen.extend(
                text.split("{\"id\":\"")
                    .skip(1)
                    .filter_map(|row| row.split('"').next())
                    .map(str::to_owned),
            );
            path = next(&response);
            let last = seen.last().unwrap().clone();
            self.change_connections(&last);
        }
        seen
    }

    /// Checks a list of the seeded connections whose number satisfies `matches`.
    fn check(&mut self, query: &str, matches: fn(&Self, usize) -> bool) {
        let before: Vec<usize> = (0..self.size)
            .filter(|index| self.is_active[*index] && matches(self, *index))
            .collect();
        let seen = self.walk_list(query);
        let once: HashSet<&String> = seen.iter().collect();
        assert_eq!(once.len(), seen.len(), "{query}: none appears twice");
        let throughout =
            before.into_iter().filter(|index| self.is_active[*index] && matches(self, *index));
        let missing: Vec<usize> = throughout.filter(|index| !once.contains(&id(*index))).collect();
        assert_eq!(missing, [0; 0], "{query}: of those that existed throughout");
    }
}

#[test]
fn a_walk_returns_each_connection_exactly_once() {
    let mut walk = Walk::new();
    walk.check("limit=500", |_, _| true);
    walk.check("limit=500&tags=hot", |walk, index| walk.hot[index]);
    walk.check("limit=120&platform=zeta", |_, index| index % 4 == 2);
    walk.check("limit=100&platform=zeta&tags=hot&identityType=user", |walk, index| {
        walk.hot[index] && index % 4 == 2
    });
    assert!(walk.created > walk.size / 200, "{}", walk.created);
}
