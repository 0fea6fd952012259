//! The KV reads of each request: at most two in sequence, and only values that the response needs.

use connector_vault::catalog::model::{Action, Connector};
use connector_vault::catalog::write::Sizes;
use connector_vault::http::Config;
use connector_vault::terms::Method;

use crate::support::{Api, action, connector};
use crate::vault::{minimal, post_as};

/// A large list with parts of 4 KB, and a hundred platforms with small lists.
fn catalog() -> Vec<(Connector, bool, Vec<Action>)> {
    let verbs = ["List", "Create", "Delete", "Archive", "Restore"];
    let of_large = |index: usize| {
        let title = format!("{} thing {index}", verbs[index % 5]);
        action("large", &title, &format!("thing{index}"), Method::ALL[index % 5])
    };
    let small = |index: usize| {
        let platform = format!("small-{index}");
        let rows = vec![action(&platform, "Ping", "ping", Method::Get)];
        (connector(&platform, &format!("Small {index}"), "Other", 1), false, rows)
    };
    let large = connector("large", "Large", "Payments", 500);
    let mut catalog = vec![(large, true, (0..500).map(of_large).collect())];
    catalog.push((
        connector("alpha", "Alpha", "Other", 1),
        false,
        vec![action("alpha", "Ping", "ping", Method::Get)],
    ));
    catalog.extend((0..100).map(small));
    catalog
}

const SIZES: Sizes = Sizes {
    packs: 16,
    packed: 4 << 10,
    whole: 8 << 10,
    group: 1 << 10,
    rows: 4 << 10,
    bucket: 1 << 10,
    part: 4 << 10,
    block: 256,
    units: 4 << 10,
    unit_groups: 4,
    ..Sizes::PUBLISHED
};

fn published_api() -> Api {
    let api = Api::new(Config::default());
    api.env.publish_in(SIZES, &catalog());
    api
}

/// The reads of a cold isolate: their number, the longest sequence of reads, and the bytes without
/// `current`.
fn cost(path: &str) -> (usize, usize, usize) {
    let api = published_api();
    assert_eq!(api.get(path).status, 200, "{path}");
    let reads = api.env.blob_reads.borrow();
    let bytes = reads.iter().skip(1).map(|key| api.env.blobs.borrow()[key].len()).sum();
    (reads.len(), api.env.blob_waits.get(), bytes)
}

#[test]
fn a_page_costs_two_reads_of_one_part() {
    for path in [
        "/v1/available-actions/large",
        "/v1/available-actions/large?page=20",
        "/v1/available-actions/large?key=thing17",
        "/v1/available-actions/large?title=list+thing+20",
        "/v1/available-actions/small-7",
        "/v1/available-actions/small-7?q=ping",
        "/v1/available-connectors?limit=5",
        "/v1/available-connectors?platform=small-7",
        "/v1/available-connectors?key=api::large::v1&q=large",
        "/v1/available-connectors?name=small+50",
    ] {
        let (reads, waits, bytes) = cost(path);
        // A page may begin in one part and end in the next.
        assert!(waits == 2 && reads <= 3, "{path}: {reads} reads, {waits} one after the other");
        assert!(bytes < 12 << 10, "{path}: {bytes} bytes");
    }
}

#[test]
fn reading_all_rows_fetches_all_parts_concurrently() {
    for (path, max) in [
        ("/v1/available-actions/large?q=archive", 80 << 10),
        ("/v1/available-actions/large?method=patch", 150 << 10),
        ("/v1/available-connectors?category=payments", 90 << 10),
        ("/v1/available-connectors?q=small", 150 << 10),
    ] {
        let (reads, waits, bytes) = cost(path);
        assert!(
            reads > 2 && waits == 2 && bytes < 2 * max,
            "{path}: {reads} reads, {waits} one after the other, {bytes} bytes"
        );
    }
}

#[test]
fn a_warm_request_reads_nothing_and_a_cold_platform_one_value() {
    let api = published_api();
    let reads = |path: &str| {
        api.env.blob_reads.borrow_mut().clear();
        assert_eq!(api.get(path).status, 200, "{path}");
        api.env.blob_reads.borrow().len()
    };
    assert_eq!(reads("/v1/available-connectors?limit=5"), 2);
    for (path, expected) in [
        ("/v1/available-actions/large?limit=10", 1),
        ("/v1/available-actions/large?limit=1", 0),
        ("/v1/available-actions/alpha", 1),
        ("/v1/available-actions/alpha?q=ping", 0),
        ("/v1/available-connectors?platform=alpha", 0),
        ("/v1/available-connectors?limit=1", 0),
    ] {
        assert_eq!(reads(path), expected, "{path}");
    }
}

#[test]
fn a_new_connection_reads_its_platforms_pack() {
    let api = published_api();
    assert_eq!(api.send(&post_as(&api.key, &minimal("ann"))).status, 201);
    assert_eq!(api.env.blob_reads.borrow().len(), 2);
}

#[test]
fn a_changed_platform_changes_its_segments_only() {
    let api = published_api();
    let before: Vec<_> = api.env.publish_in(SIZES, &catalog());
    let mut changed = catalog();
    changed[7].2[0].title = "Pong".into();
    let after: Vec<_> = api.env.publish_in(SIZES, &changed);
    let new = after.iter().filter(|id| !before.contains(id)).count();
    // The new segments are the platform's own part, and the search parts with words of the old and
    // the new title.
    assert_eq!((new, after.len()), (3, before.len()));
}
