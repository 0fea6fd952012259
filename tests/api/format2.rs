//! A catalog of format 2, as the release before published it, is served as it is. It differs in one thing: no block is
//! packed.

use std::rc::Rc;

use connector_vault::catalog::current::Current;
use connector_vault::catalog::finder::EVERY_ACTION;
use connector_vault::catalog::list::Role;
use connector_vault::catalog::section::{Section, SectionWriter};
use connector_vault::catalog::stored::{CURRENT_KEY, FORMAT, SegmentId};
use connector_vault::ports::Blob;
use connector_vault::util::crc32::crc32;

use crate::search::api;
use crate::support::World;

/// Makes what is published a catalog of format 2.
fn unpack(world: &World) {
    let mut blobs = world.blobs.borrow_mut();
    let mut record = blobs.remove(CURRENT_KEY).unwrap();
    assert_eq!(u32::from(record[6]), FORMAT);
    let every = Current::open(record.clone()).unwrap().list(EVERY_ACTION).unwrap();
    let reference = |id: SegmentId, head: usize, crc: u32| {
        [&id.0[..], &u32::try_from(head).unwrap().to_le_bytes(), &crc.to_le_bytes()].concat()
    };
    for part in every.parts.iter().filter(|part| part.role == Role::Rows) {
        let place = part.place;
        let packed = blobs.remove(&place.segment.key()).unwrap();
        let size = packed.len();
        let blob: Rc<dyn Blob> = Rc::new(packed);
        let section = Section::open(&blob, place).unwrap();
        let blocks = (0..section.len()).map(|nth| section.block(nth).unwrap().to_vec()).collect();
        let plain = SectionWriter { blocks, rest: section.rest().to_vec() }.finish();
        assert!(plain.bytes.len() > size, "the rows were not packed");
        let id = SegmentId::of(&plain.bytes);
        let known = reference(place.segment, place.head, place.crc);
        let at = record.windows(known.len()).position(|bytes| bytes == known).unwrap();
        record[at..at + known.len()].copy_from_slice(&reference(id, plain.head, plain.crc));
        blobs.insert(id.key(), plain.bytes);
    }
    record[6] = 2;
    let sum = crc32(&record[12..]).to_le_bytes();
    record[8..12].copy_from_slice(&sum);
    blobs.insert(CURRENT_KEY.into(), record);
}

#[test]
fn it_gives_the_same_answers() {
    let (now, former) = (api(), api());
    unpack(&former.world);
    for path in [
        "/v1/available-actions?q=create+github+issue",
        "/v1/available-actions?q=send+email&limit=1",
        "/v1/available-actions?q=issue&limit=2&page=2",
        "/v1/available-actions/github",
        "/v1/available-actions/github?q=issue",
        "/v1/available-actions/github/issuesCreate",
        "/v1/available-connectors",
        "/v1/available-connectors/gitlab",
    ] {
        let (now, former) = (now.get(path), former.get(path));
        assert_eq!(former.status, 200, "{path}");
        assert_eq!(former.body, now.body, "{path}");
    }
}

#[test]
fn a_later_format_is_refused() {
    let api = api();
    let later = u8::try_from(FORMAT).unwrap() + 1;
    api.world.blobs.borrow_mut().get_mut(CURRENT_KEY).unwrap()[6] = later;
    assert_eq!(api.get("/v1/available-connectors").status, 503);
}
