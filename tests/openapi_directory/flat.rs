//! Tests of the flat form of every action's input.

use crate::flat_check::{FlatFormCounts, check_all};
use crate::shipped_catalog;

#[test]
#[ignore = "a proof, since it imports 2,639 documents: `npm run proof -- directory`"]
fn converts_flat_arguments_of_every_action() {
    let (_, _, platforms) = shipped_catalog();
    let mut counted = FlatFormCounts::default();
    for platform in platforms {
        check_all(platform, &mut counted);
    }
    println!("{counted:?}");
    assert!(counted.actions > 123_000, "{counted:?}");
}
