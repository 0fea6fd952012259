//! A catalog of format 1, as earlier releases published it, is served until a new one replaces it.

use connector_vault::catalog::model::{Action, Connector};
use connector_vault::catalog::stored::{CURRENT_KEY, SegmentId};
use connector_vault::http::Config;
use connector_vault::util::crc32::crc32;
use serde::Serialize;
use serde_json::json;

use crate::support::{Api, World, body, small_catalog};

fn number(value: usize) -> [u8; 4] {
    u32::try_from(value).unwrap().to_le_bytes()
}

fn segment<R: Serialize>(kind: u8, rows: &[R], last: [&[u8]; 2]) -> Vec<u8> {
    let mut joined = Vec::new();
    let mut offsets = number(0).to_vec();
    for row in rows {
        serde_json::to_writer(&mut joined, row).unwrap();
        joined.push(b',');
        offsets.extend(number(joined.len()));
    }
    let mut checked = number(rows.len()).to_vec();
    // Other sections between the rows and the last two are no longer read.
    for section in [&offsets, &joined, &b"keys and fields"[..], last[0], last[1]] {
        checked.extend(number(section.len()));
        checked.extend(section);
    }
    [&b"CVAULT\x01"[..], &[kind], &crc32(&checked).to_le_bytes(), &checked].concat()
}

fn store(world: &World, bytes: Vec<u8>) -> SegmentId {
    let id = SegmentId::of(&bytes);
    world.blobs.borrow_mut().insert(id.key(), bytes);
    id
}

/// Publishes a catalog in format 1.
pub fn publish(world: &World, mut catalog: Vec<(Connector, bool, Vec<Action>)>) {
    let lower = |text: &str| text.to_lowercase();
    catalog.sort_by_key(|(row, _, _)| (lower(&row.name), row.key.clone()));
    let authkit: Vec<u8> = catalog.iter().map(|(_, authkit, _)| u8::from(*authkit)).collect();
    let mut actions_of = Vec::new();
    let mut rows = Vec::new();
    for (row, _, mut actions) in catalog {
        actions.sort_by_key(|row| (lower(&row.title), row.key.clone()));
        let methods: Vec<u8> = actions.iter().map(|row| row.method as u8).collect();
        let platform = format!("{}\n", row.platform);
        actions_of.extend(store(world, segment(2, &actions, [platform.as_bytes(), &methods])).0);
        rows.push(row);
    }
    let connectors = store(world, segment(1, &rows, [&authkit, &actions_of]));
    let current = json!({"format": 1, "connectors": connectors}).to_string().into_bytes();
    world.blobs.borrow_mut().insert(CURRENT_KEY.into(), current);
}

#[test]
fn it_serves_until_a_new_one_is_published_and_says_so() {
    let api = Api::new(Config::default());
    publish(&api.world, small_catalog());
    let new = Api::with_catalog();
    let paths = [
        "/v1/available-connectors",
        "/v1/available-connectors?limit=2&page=2",
        "/v1/available-connectors?platform=Alpha",
        "/v1/available-connectors?key=api::zeta::v1&authkit=true",
        "/v1/available-connectors?category=developer+tools&q=alpha",
        "/v1/available-actions/ALPHA",
        "/v1/available-actions/alpha?limit=4&page=2",
        "/v1/available-actions/alpha?key=usersList",
        "/v1/available-actions/alpha?title=list+users&method=get&q=again",
        "/v1/available-actions/empty",
        "/v1/available-actions/alph",
        "/v1/available-connectors?key=api::zeta::v9",
        "/v1/available-connectors?authkit=true",
        "/v1/available-connectors?authkit=false",
    ];
    let says = |path: &str| {
        let response = api.get(path);
        response.header("server-timing").unwrap().ends_with(", catalog;desc=\"format=1\"")
    };
    for path in paths {
        let (old, new) = (api.get(path), new.get(path));
        let mut documents = [body(&old), body(&new)];
        for document in &mut documents {
            document.as_object_mut().unwrap().remove("requestId");
        }
        assert_eq!((old.status, &documents[0]), (new.status, &documents[1]), "{path}");
        assert!(says(path), "{path}");
    }
    let tag = api.get(paths[5]).header("etag").unwrap().to_owned();
    let request = api.request("GET", paths[5]);
    let known = crate::support::with_header(request, "if-none-match", &tag);
    assert_eq!(api.send(&known).status, 304);
    api.world.publish(small_catalog());
    api.world.wait(30_000);
    assert!(paths.iter().all(|path| !says(path)));
}

#[test]
fn a_damaged_segment_is_found() {
    let api = Api::new(Config::default());
    publish(&api.world, small_catalog());
    let keys: Vec<String> = api.world.blobs.borrow().keys().cloned().collect();
    for key in keys.iter().filter(|key| key.starts_with("segment:")) {
        let whole = api.world.blobs.borrow()[key].clone();
        let kind = whole[7];
        let platform = String::from_utf8_lossy(&whole).contains("usersCreate");
        for at in (0..whole.len()).step_by(23) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            api.world.blobs.borrow_mut().insert(key.clone(), damaged);
            let path = match (kind, platform) {
                (1, _) => "/v1/available-connectors",
                (_, true) => "/v1/available-actions/alpha",
                _ => continue,
            };
            // This isolate remembers nothing.
            let fresh = Api::new(Config::default());
            fresh.world.blobs.borrow_mut().clone_from(&api.world.blobs.borrow());
            let response = fresh.get(path);
            assert_eq!((response.status, response.header("etag")), (503, None), "{at}");
            assert!(response.log.unwrap().contains(key.as_str()));
        }
        api.world.blobs.borrow_mut().insert(key.clone(), whole);
    }
}
