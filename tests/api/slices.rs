//! A prototype of an account that is sliced over several databases, which `docs/scaling.md`
//! describes. The current service serves each database; the prototype routes requests to slices and
//! merges pages. The same account in one database is the reference.

use connector_vault::auth::Shard;
use connector_vault::connections::cursor::Cursor;
use connector_vault::connections::filter::{ConnectionFilter, Tags};
use connector_vault::http::handle::handle;
use connector_vault::http::{Request, Response};
use connector_vault::terms::{IdentityType, State};
use rusqlite::params;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::rng::{TestRng, repetitions};
use crate::support::{Api, body, with_body};
use crate::vault::{CONNECTIONS, at, next};

const PLATFORMS: [&str; 3] = ["alpha", "alpha-two", "zeta"];
const SIZE: usize = 300;
const SLICES: usize = 4;

/// The slice that contains all connections of an identity: a token's requests read only one
/// database, and a connection exists once. A slice is a range of 64 slots, so that a split moves
/// whole slots.
fn slice(identity: &str) -> usize {
    usize::from(Sha256::digest(identity)[0] % 64) * SLICES / 64
}

/// An account in one database, and a copy of the account that is sliced over several.
struct SlicedAccount {
    api: Api,
    slices: Vec<Shard>,
}

/// A page of a merged list.
struct Page {
    rows: Vec<Value>,
    total: u64,
    after: Option<String>,
    rows_read: u64,
}

fn input(index: usize, rng: &mut TestRng) -> Value {
    json!({
        "platform": rng.pick(&PLATFORMS), "label": format!("l{index}"),
        "identity": format!("user {}", rng.below(SIZE / 5)),
        "identityType": rng.pick(&["user", "team"]),
        "state": rng.pick(&["operational", "failed"]),
        "tags": rng.pick(&[json!([]), json!(["hot"]), json!(["eu", "hot"])]),
    })
}

impl SlicedAccount {
    fn new() -> Self {
        let mut api = Api::with_catalog();
        let mut rng = TestRng(7);
        for index in 0..SIZE {
            // Sometimes no time passes, so that ids determine the order.
            api.env.wait(u64::from(rng.percent(40)));
            api.create(&input(index, &mut rng));
        }
        let slices =
            (0..SLICES).map(|index| Shard::new(100 + u16::try_from(index).unwrap()).unwrap());
        let slices: Vec<Shard> = slices.collect();
        let all = api.env.texts("SELECT id || ' ' || identity FROM connections");
        for (index, shard) in slices.iter().enumerate() {
            api.env.add_shard_copy(*shard);
            // A split moves the account to each slice, and then deletes the rows of the other
            // slices.
            let database = api.env.database_of(*shard);
            let moving = "INSERT INTO account_moves (account, step, other, writing, began_at) VALUES ('acme', 'arriving', 0, '', 0)";
            database.execute(moving, []).unwrap();
            for row in &all {
                let (id, identity) = row.split_once(' ').unwrap();
                if slice(identity) != index {
                    database.execute("DELETE FROM connections WHERE id = ?1", params![id]).unwrap();
                }
            }
            database.execute("DELETE FROM account_moves", []).unwrap();
        }
        Self { api, slices }
    }

    fn send_to_slice(&self, slice: usize, request: &Request) -> Response {
        let response = || pollster::block_on(handle(&self.api.service, &self.api.env, request));
        self.api.env.within(self.slices[slice], response)
    }

    /// Merges the first rows of all slices into one page. Lists are sorted by creation time and id.
    /// These are unique, so a position in the list is also a position in each slice.
    fn list(&self, filter: &Filter, limit: usize, after: Option<&str>) -> Page {
        let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
        let request =
            self.api.request("GET", &format!("{CONNECTIONS}?limit={limit}{}{after}", filter.query));
        let requested: Vec<usize> = match &filter.filter.identity {
            Some(identity) => vec![slice(identity)],
            None => (0..SLICES).collect(),
        };
        let mut page = Page { rows: Vec::new(), total: 0, after: None, rows_read: 0 };
        let mut has_more = false;
        for slice in requested {
            let response = self.send_to_slice(slice, &request);
            assert_eq!(response.status, 200, "{}", body(&response));
            let cost = response.header("server-timing").unwrap();
            let read = cost.split("rows_read=").nth(1).unwrap().split(' ').next().unwrap();
            page.rows_read += read.parse::<u64>().unwrap();
            page.total += body(&response)["total"].as_u64().unwrap();
            page.rows.extend(body(&response)["rows"].as_array().unwrap().iter().cloned());
            has_more |= next(&response).is_some();
        }
        page.rows.sort_by_key(|row| std::cmp::Reverse(position(row)));
        has_more |= page.rows.len() > limit;
        page.rows.truncate(limit);
        if let Some(last) = page.rows.last().filter(|_| has_more) {
            let (created_at, id) = position(last);
            let created_at = millis(&created_at);
            let list = filter.filter.list_name(limit as u64);
            let cursor = Cursor { page: 1, created_at, id };
            page.after = Some(cursor.sign(&self.api.key.hash(), &list));
        }
        page
    }
}

fn position(row: &Value) -> (String, String) {
    let text = |member: &str| row[member].as_str().unwrap().to_owned();
    (text("createdAt"), text("id"))
}

fn millis(time: &str) -> u64 {
    let at: jiff::Timestamp = time.parse().unwrap();
    u64::try_from(at.as_millisecond()).unwrap()
}

/// A filter as a query string and as a typed filter.
struct Filter {
    query: &'static str,
    filter: ConnectionFilter,
}

fn filters() -> Vec<Filter> {
    let all = || ConnectionFilter { active: true, ..ConnectionFilter::default() };
    let tags = || vec!["eu".to_owned(), "hot".to_owned()];
    let new_filter = |query, filter| Filter { query, filter };
    vec![
        new_filter("", all()),
        new_filter("&platform=alpha", ConnectionFilter { platform: Some("alpha".into()), ..all() }),
        new_filter("&state=failed", ConnectionFilter { state: Some(State::Failed), ..all() }),
        new_filter(
            "&identityType=team",
            ConnectionFilter { identity_type: Some(IdentityType::Team), ..all() },
        ),
        new_filter("&tags=eu,hot", ConnectionFilter { tags: Some(Tags::All(tags())), ..all() }),
        new_filter(
            "&tags=eu,hot&tagsMatch=any",
            ConnectionFilter { tags: Some(Tags::Any(tags())), ..all() },
        ),
        new_filter("&q=user%201", ConnectionFilter { q: Some("user 1".into()), ..all() }),
        new_filter(
            "&identity=user%207",
            ConnectionFilter { identity: Some("user 7".into()), ..all() },
        ),
        new_filter("&active=false", ConnectionFilter::default()),
    ]
}

#[test]
fn merged_pages_equal_those_of_one_database() {
    let split = SlicedAccount::new();
    for filter in filters() {
        let one = body(&split.api.get(&format!("{CONNECTIONS}?limit=500{}", filter.query)));
        // Pages of one row take most of the test's time, so `npm test` uses pages of four.
        for limit in [repetitions(4, 1), 7, 20, 500] {
            let (mut rows, mut after) = (Vec::new(), None);
            loop {
                let page = split.list(&filter, limit, after.as_deref());
                assert_eq!(page.total, one["total"], "{} {limit}", filter.query);
                assert!(page.rows.len() == limit || page.after.is_none());
                rows.extend(page.rows);
                after = page.after;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(json!(rows), one["rows"], "{} {limit}", filter.query);
        }
    }
    assert!(split.slices.iter().all(|shard| {
        let count = "SELECT count(*) FROM connections";
        let count: i64 =
            split.api.env.database_of(*shard).query_row(count, [], |row| row.get(0)).unwrap();
        (1..150).contains(&count)
    }));
}

#[test]
fn page_costs_one_query_per_slice_or_one_with_known_identity() {
    let split = SlicedAccount::new();
    let read = |filter: &Filter| {
        let calls = split.api.env.db_calls.get();
        let page = split.list(filter, 20, None);
        (page.rows_read, split.api.env.db_calls.get() - calls)
    };
    let [all, .., of_one, _] = &filters()[..] else { panic!("too few") };
    let alone = split.api.env.db_calls.get();
    let unsplit_response = split.api.get(&format!("{CONNECTIONS}?limit=20"));
    assert_eq!((unsplit_response.status, split.api.env.db_calls.get() - alone), (200, 1));
    let cost = unsplit_response.header("server-timing").unwrap();
    let slices = u64::try_from(SLICES).unwrap();
    let (rows, calls) = read(all);
    assert!(
        cost.contains(&format!("rows_read={} ", rows / slices)),
        "{cost}, {rows} in all slices"
    );
    assert_eq!(u64::from(calls), slices);
    assert_eq!(read(of_one).1, 1);
}

#[test]
fn walk_returns_stable_rows_once_during_changes() {
    let split = SlicedAccount::new();
    let mut rng = TestRng(11);
    let [all, ..] = &filters()[..] else { panic!("too few") };
    let mut gone = Vec::new();
    let before = split.list(all, 500, None).rows;
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = split.list(all, 7, after.as_deref());
        seen.extend(page.rows);
        after = page.after;
        if after.is_none() {
            break;
        }
        split.api.env.wait(1);
        let created = input(SIZE + seen.len(), &mut rng);
        let identity = created["identity"].as_str().unwrap().to_owned();
        let request = with_body(split.api.request("POST", CONNECTIONS), &created.to_string());
        assert_eq!(split.send_to_slice(slice(&identity), &request).status, 201);
        let row = rng.pick(&before);
        let id = row["id"].as_str().unwrap();
        let request = split.api.request("DELETE", &at(id));
        split.send_to_slice(slice(row["identity"].as_str().unwrap()), &request);
        gone.push(id.to_owned());
    }
    let positions: Vec<_> = seen.iter().map(position).collect();
    assert!(positions.windows(2).all(|two| two[0] > two[1]), "out of order, or twice");
    let stays = |row: &&Value| !gone.iter().any(|id| row["id"] == **id);
    let found: Vec<&Value> = seen.iter().filter(stays).collect();
    assert_eq!(found, before.iter().filter(stays).collect::<Vec<_>>());
    assert!(gone.len() > 20);
}

#[test]
fn connection_is_in_one_slice_and_found_by_id() {
    let split = SlicedAccount::new();
    let existing = split.list(&filters()[0], 1, None).rows.remove(0);
    let own = slice(existing["identity"].as_str().unwrap());
    let id = existing["id"].as_str().unwrap();
    for slice in 0..SLICES {
        let found = split.send_to_slice(slice, &split.api.request("GET", &at(id)));
        assert_eq!(found.status, if slice == own { 200 } else { 404 });
    }
    let label = existing["key"].as_str().unwrap().split("::").nth(2).unwrap();
    let reconnect_body = json!({"platform": existing["platform"], "label": label, "identity": existing["identity"], "identityType": existing["identityType"]});
    let request = with_body(split.api.request("POST", CONNECTIONS), &reconnect_body.to_string());
    let refused = split.send_to_slice(own, &request);
    assert_eq!((refused.status, &body(&refused)["connectionId"]), (409, &json!(id)));
}

/// The cost of slicing: the databases are never read at exactly the same moment.
#[test]
fn total_may_combine_different_moments() {
    let split = SlicedAccount::new();
    let filter = &filters()[0];
    let before = split.list(filter, 500, None);
    let victim =
        before.rows.iter().find(|row| slice(row["identity"].as_str().unwrap()) == 1).unwrap();
    let request = split.api.request("GET", &format!("{CONNECTIONS}?limit=500"));
    let total =
        |slice: usize| body(&split.send_to_slice(slice, &request))["total"].as_u64().unwrap();
    let mut sum = total(0);
    // A connection is added to a slice that has already been counted, and another one is deleted
    // from a slice that has not.
    let new_identity = (0..SIZE)
        .map(|index| format!("new {index}"))
        .find(|identity| slice(identity) == 0)
        .unwrap();
    let created = json!({"platform": "alpha", "identity": new_identity, "identityType": "user"});
    let create = with_body(split.api.request("POST", CONNECTIONS), &created.to_string());
    assert_eq!(split.send_to_slice(0, &create).status, 201);
    let delete = split.api.request("DELETE", &at(victim["id"].as_str().unwrap()));
    assert_eq!(split.send_to_slice(1, &delete).status, 204);
    sum += (1..SLICES).map(total).sum::<u64>();
    assert_eq!(sum, before.total - 1);
    assert_eq!(split.list(filter, 500, None).total, before.total);
}
