//! The catalog in an isolate's memory: the `current` record for a short while, segments, answers of scans and bodies as
//! long as they fit. Segments are immutable and named by content, so only `current` can go stale.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::rc::Rc;

use lru::LruCache;

use super::action::unit::UnitRef;
use super::current::Current;
use super::filter::{Selection, Wanted};
use super::section::{Section, SectionRef};
use super::stored::{CURRENT_KEY, FORMAT, SegmentId};
use crate::ports::{Blob, Blobs, Clock, StorageError, is_recent};

/// Milliseconds for which the `current` record is trusted.
pub const CURRENT_MS: u64 = 30_000;
/// How many bytes of segments an isolate caches when the configuration does not say.
pub const DEFAULT_SEGMENT_BYTES: usize = 32 << 20;
/// How many bytes of answers an isolate caches.
const ANSWER_BYTES: usize = 4 << 20;
/// Remembered bodies may take this part of what segments may take, besides it.
const BODY_SHARE: usize = 8;
/// Inflated units of actions' details may take this part, besides it.
const UNIT_SHARE: usize = 4;
/// The approximate cost of an entry besides its own bytes.
const ENTRY_BYTES: usize = 256;

/// An isolate's cache of the catalog.
#[derive(Debug)]
pub struct CatalogCache {
    served: RefCell<Option<(Rc<Current>, u64)>>,
    segments: RefCell<Budgeted<SegmentId, Rc<Segment>>>,
    answers: RefCell<Budgeted<(SegmentId, Wanted), Selection>>,
    bodies: RefCell<Budgeted<String, Rc<dyn Blob>>>,
    units: RefCell<Units>,
}

/// Inflated units, by their segments and where they begin there.
type Units = Budgeted<(SegmentId, u32), Rc<Vec<u8>>>;

/// Opens the record of the version that is served.
fn open_current(bytes: Vec<u8>) -> Result<Current, StorageError> {
    match Current::format(&bytes) {
        Some(format) if format != FORMAT => Err(StorageError::new(format!(
            "the catalog has format {format}, but this service reads format {FORMAT}: import and publish it again"
        ))),
        _ => Current::open(bytes)
            .map_err(|error| StorageError::new(format!("`{CURRENT_KEY}` is damaged: {error}"))),
    }
}

/// A segment in memory. Its sections are opened one by one.
#[derive(Debug)]
struct Segment {
    blob: RefCell<Option<Rc<dyn Blob>>>,
    /// The open sections, by where they begin in the segment.
    open: RefCell<BTreeMap<usize, Rc<Section>>>,
}

impl Segment {
    /// A segment without open sections.
    fn new(blob: Rc<dyn Blob>) -> Self {
        Self { blob: RefCell::new(Some(blob)), open: RefCell::default() }
    }

    /// The section at a place of this segment, opened when first used.
    fn section(&self, place: SectionRef) -> Result<Rc<Section>, StorageError> {
        let busy = || StorageError::new("a segment is in use");
        let mut open = self.open.try_borrow_mut().map_err(|_| busy())?;
        if let Some(known) = open.get(&place.base) {
            return Ok(Rc::clone(known));
        }
        let blob = self.blob.try_borrow().map_err(|_| busy())?;
        let section = Rc::new(Section::open(blob.as_ref().ok_or_else(busy)?, place)?);
        open.insert(place.base, Rc::clone(&section));
        Ok(section)
    }

    fn is_damaged(&self) -> bool {
        self.open.borrow().values().any(|one| one.is_damaged())
    }

    /// Bytes that the segment holds now: those that arrived and those that were copied from them. Drops the former when
    /// everything has been copied.
    fn bytes(&self) -> usize {
        let open = self.open.borrow();
        let size = self.blob.borrow().as_ref().map_or(0, |blob| blob.size());
        let is_copied = open.get(&0).is_some_and(|one| one.is_copied() && one.stored() == size);
        let whole = if is_copied { 0 } else { size };
        if is_copied {
            self.blob.take();
        }
        open.values().map(|one| one.copied()).fold(whole, usize::saturating_add)
    }
}

impl CatalogCache {
    /// An empty cache with room for this many bytes of segments.
    #[must_use]
    pub fn new(segment_bytes: usize) -> Self {
        Self {
            served: RefCell::new(None),
            segments: RefCell::new(Budgeted::new(segment_bytes)),
            answers: RefCell::new(Budgeted::new(ANSWER_BYTES)),
            bodies: RefCell::new(Budgeted::new(segment_bytes / BODY_SHARE)),
            units: RefCell::new(Budgeted::new(segment_bytes / UNIT_SHARE)),
        }
    }

    /// The version that is served, learnt at most [`CURRENT_MS`] ago.
    ///
    /// # Errors
    /// When the record is missing or damaged, or storage can't answer.
    pub async fn served<P: Blobs + Clock>(&self, ports: &P) -> Result<Rc<Current>, StorageError> {
        let now = ports.now();
        if let Ok(served) = self.served.try_borrow()
            && let Some((served, _)) =
                served.as_ref().filter(|(_, since)| is_recent(now, *since, CURRENT_MS))
        {
            return Ok(Rc::clone(served));
        }
        let blob = ports
            .get(CURRENT_KEY)
            .await?
            .ok_or_else(|| StorageError::new("no catalog is published: `current` is missing"))?;
        let served = Rc::new(open_current(blob.read(0..blob.size()).unwrap_or_default())?);
        if let Ok(mut place) = self.served.try_borrow_mut() {
            *place = Some((Rc::clone(&served), now));
        }
        Ok(served)
    }

    /// A section of a segment, from the cache or from storage.
    ///
    /// # Errors
    /// When it is missing or damaged, or storage can't answer. Failures are not cached: the next request asks again.
    pub async fn section<P: Blobs>(
        &self,
        ports: &P,
        place: SectionRef,
    ) -> Result<Rc<Section>, StorageError> {
        if let Some(section) = self.held(place.segment).and_then(|known| known.section(place).ok())
        {
            return Ok(section);
        }
        let blob = fetch(ports, place.segment).await?;
        // Another request may have fetched it in the meantime; one copy is enough.
        if let Some(section) = self.held(place.segment).and_then(|known| known.section(place).ok())
        {
            return Ok(section);
        }
        let segment = Segment::new(blob);
        let section = segment.section(place)?;
        self.hold(place.segment, segment);
        Ok(section)
    }

    /// An inflated unit of actions' details, from the cache or from storage.
    ///
    /// # Errors
    /// As [`Self::section`].
    pub async fn unit<P: Blobs>(
        &self,
        ports: &P,
        place: &UnitRef,
    ) -> Result<Rc<Vec<u8>>, StorageError> {
        let name = (place.segment, place.base);
        let known = self.units.try_borrow_mut().ok().and_then(|mut units| units.get(&name));
        if let Some(known) = known {
            return Ok(known);
        }
        let damaged = || StorageError::new(format!("`{}` is damaged", place.segment.key()));
        let blob = fetch(ports, place.segment).await?;
        let bytes = place.read(blob.as_ref()).ok_or_else(damaged)?;
        let unit = Rc::new(ports.inflate(bytes).await?.ok_or_else(damaged)?);
        if let Ok(mut units) = self.units.try_borrow_mut() {
            units.put(name, Rc::clone(&unit), unit.len());
        }
        Ok(unit)
    }

    fn held(&self, id: SegmentId) -> Option<Rc<Segment>> {
        let mut segments = self.segments.try_borrow_mut().ok()?;
        let held = segments.get_weighed(&id, |segment| segment.bytes());
        held.filter(|segment| !segment.is_damaged())
    }

    fn hold(&self, id: SegmentId, segment: Segment) {
        if let Ok(mut segments) = self.segments.try_borrow_mut() {
            let bytes = segment.bytes();
            segments.put(id, Rc::new(segment), bytes);
        }
    }

    /// The cached body of an answer. `name` must be unique to this answer, across all published versions.
    #[must_use]
    pub fn body(&self, name: &str) -> Option<Rc<dyn Blob>> {
        self.bodies.try_borrow_mut().ok()?.get(name)
    }

    /// Caches the body of an answer under a name as for [`Self::body`].
    pub fn remember_body(&self, name: String, body: &Rc<dyn Blob>) {
        if let Ok(mut bodies) = self.bodies.try_borrow_mut() {
            let bytes = body.size().saturating_add(name.len());
            bodies.put(name, Rc::clone(body), bytes);
        }
    }

    /// The cached answer to a question about all rows of a list.
    #[must_use]
    pub fn remembered(&self, id: SegmentId, wanted: &Wanted) -> Option<Selection> {
        self.answers.try_borrow_mut().ok()?.get(&(id, wanted.clone()))
    }

    /// Caches the answer to a question about all rows of a list.
    pub fn remember(&self, id: SegmentId, wanted: &Wanted, answer: &Selection) {
        if let Ok(mut answers) = self.answers.try_borrow_mut() {
            let bytes = answer.bytes().saturating_add(wanted.text_bytes());
            answers.put((id, wanted.clone()), answer.clone(), bytes);
        }
    }
}

async fn fetch<P: Blobs>(ports: &P, id: SegmentId) -> Result<Rc<dyn Blob>, StorageError> {
    let key = id.key();
    let missing = || StorageError::new(format!("`{key}` is missing"));
    ports.get(&key).await?.ok_or_else(missing)
}

/// A cache that evicts the least recently used entries once all of them exceed the budget.
#[derive(Debug)]
struct Budgeted<K: Hash + Eq, V> {
    entries: LruCache<K, (V, usize)>,
    used: usize,
    budget: usize,
}

impl<K: Hash + Eq, V: Clone> Budgeted<K, V> {
    fn new(budget: usize) -> Self {
        Self { entries: LruCache::unbounded(), used: 0, budget }
    }

    fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).map(|(value, _)| value.clone())
    }

    /// As [`Self::get`], for a value whose size changes: it is weighed again.
    fn get_weighed(&mut self, key: &K, weigh: impl Fn(&V) -> usize) -> Option<V> {
        let (value, bytes) = self.entries.get_mut(key)?;
        let now = weigh(value).saturating_add(ENTRY_BYTES);
        self.used = self.used.saturating_sub(*bytes).saturating_add(now);
        *bytes = now;
        let value = value.clone();
        self.shrink();
        Some(value)
    }

    /// Caches a value of about `bytes`. A value larger than the whole budget is not cached.
    fn put(&mut self, key: K, value: V, bytes: usize) {
        let bytes = bytes.saturating_add(ENTRY_BYTES);
        if bytes > self.budget {
            return;
        }
        if let Some((_, (_, replaced))) = self.entries.push(key, (value, bytes)) {
            self.used = self.used.saturating_sub(replaced);
        }
        self.used = self.used.saturating_add(bytes);
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.used > self.budget {
            let Some((_, (_, freed))) = self.entries.pop_lru() else { break };
            self.used = self.used.saturating_sub(freed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{ANSWER_BYTES, Budgeted, CatalogCache, ENTRY_BYTES, Segment};
    use crate::catalog::filter::{Selection, Wanted};
    use crate::catalog::section::{SectionRef, SectionWriter};
    use crate::catalog::stored::SegmentId;
    use crate::ports::Blob;

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut cache = Budgeted::new(3 * (ENTRY_BYTES + 100));
        for key in ["a", "b", "c"] {
            cache.put(key, key, 100);
        }
        assert_eq!(cache.get(&"a"), Some("a"));
        cache.put("d", "d", 100);
        assert_eq!(
            ["a", "b", "c", "d"].map(|key| cache.get(&key).is_some()),
            [true, false, true, true]
        );
        cache.put("e", "e", 10_000);
        assert_eq!(cache.get(&"e"), None, "over the budget alone");
        let mut full = Budgeted::new(ENTRY_BYTES + 100);
        full.put("a", "a", 100);
        assert_eq!(full.get(&"a"), Some("a"));
        assert_eq!(cache.used, 3 * (ENTRY_BYTES + 100));
        cache.put("a", "A", 100);
        assert_eq!((cache.get(&"a"), cache.used), (Some("A"), 3 * (ENTRY_BYTES + 100)));
    }

    #[test]
    fn what_grows_pushes_others_out() {
        let mut cache = Budgeted::new(3 * (ENTRY_BYTES + 100));
        for key in ["a", "b", "c"] {
            cache.put(key, key, 100);
        }
        assert_eq!(cache.get_weighed(&"b", |_| 150), Some("b"));
        assert_eq!(["a", "b", "c"].map(|key| cache.get(&key).is_some()), [false, true, true]);
        assert_eq!(cache.get_weighed(&"c", |_| 100_000), Some("c"), "it is used once more");
        assert_eq!(cache.used, 0);
    }

    #[test]
    fn an_answer_is_remembered_for_its_list_and_filter() {
        let cache = CatalogCache::new(0);
        let (id, wanted) = (SegmentId([0; 16]), Wanted::default());
        cache.remember(id, &wanted, &Selection::Range(0..2));
        assert_eq!(cache.remembered(id, &wanted).map(|known| known.len()), Some(2));
        let other = Wanted { group: Some("a".to_owned()), ..Wanted::default() };
        assert!(cache.remembered(id, &other).is_none());
        assert!(cache.remembered(SegmentId([1; 16]), &wanted).is_none());
    }

    #[test]
    fn bodies_and_units_may_take_their_share() {
        let cache = CatalogCache::new(800);
        assert_eq!((cache.bodies.borrow().budget, cache.units.borrow().budget), (100, 200));
    }

    #[test]
    fn a_segment_counts_what_it_holds() {
        for after in [0, 50] {
            let blocks = vec![vec![1; 1000], vec![2; 10], Vec::new()];
            let written = SectionWriter { blocks, rest: Vec::new() }.finish();
            let (head, copied) = (written.head, written.bytes.len());
            let place = SectionRef { segment: SegmentId([0; 16]), base: 0, head, crc: written.crc };
            let blob: Rc<dyn Blob> = Rc::new([written.bytes, vec![0; after]].concat());
            let size = blob.size();
            let segment = Segment::new(blob);
            assert_eq!(segment.bytes(), size);
            let section = segment.section(place).unwrap();
            assert_eq!(segment.bytes(), size + head);
            // The value is let go when all of it has been copied.
            let whole = if after == 0 { copied } else { size + copied };
            for (nth, bytes) in [(0, size + head + 1000), (1, size + copied), (2, whole)] {
                section.block(nth).unwrap();
                assert_eq!(segment.bytes(), bytes, "{after} {nth}");
            }
        }
    }

    #[test]
    fn a_segment_with_a_damaged_block_is_damaged() {
        let blocks = vec![vec![1; 10], vec![2; 10]];
        let written = SectionWriter { blocks, rest: Vec::new() }.finish();
        let (head, mut bytes) = (written.head, written.bytes);
        *bytes.last_mut().unwrap() ^= 1;
        let place = SectionRef { segment: SegmentId([0; 16]), base: 0, head, crc: written.crc };
        let blob: Rc<dyn Blob> = Rc::new(bytes);
        let segment = Segment::new(blob);
        let section = segment.section(place).unwrap();
        assert!(section.block(0).is_ok() && !segment.is_damaged());
        assert!(section.block(1).is_err() && segment.is_damaged());
    }

    #[test]
    fn long_filters_count_against_the_budget() {
        let cache = CatalogCache::new(0);
        for at in 0..1000 {
            let group = Some(format!("{at}{}", "x".repeat(15_000)));
            let wanted = Wanted { group, ..Wanted::default() };
            cache.remember(SegmentId([0; 16]), &wanted, &Selection::Range(0..0));
        }
        let answers = cache.answers.borrow();
        assert!(answers.used <= ANSWER_BYTES, "{}", answers.used);
        assert!(answers.entries.len() <= ANSWER_BYTES / 15_000, "{}", answers.entries.len());
    }
}
