//! An isolate's cache of the catalog: segments, selections, inflated units and response bodies in
//! least-recently-used caches, each with a budget in bytes, and the `current` record for
//! [`CURRENT_MS`]. Segments are immutable and named by their content, so only `current` can be
//! stale.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::rc::Rc;

use lru::LruCache;

use super::action::unit::UnitRef;
use super::filter::{RowFilter, Selection};
use super::format::current::Current;
use super::format::section::{Section, SectionRef};
use super::format::stored::{CURRENT_KEY, FORMAT, SegmentId};
use crate::ports::{Blob, Blobs, Clock, StorageError, is_recent};

/// The lifetime of the cached `current` record, in milliseconds.
pub const CURRENT_MS: u64 = 30_000;
/// The default budget for segments, in bytes.
pub const DEFAULT_SEGMENT_BYTES: usize = 32 << 20;
/// The budget for selections, in bytes.
const SELECTION_BYTES: usize = 4 << 20;
/// The budget for response bodies is the budget for segments divided by this number. It is added to
/// that budget.
const BODY_BUDGET_DIVISOR: usize = 8;
/// The budget for inflated units is the budget for segments divided by this number. It is added to
/// that budget.
const UNIT_BUDGET_DIVISOR: usize = 4;
/// The approximate overhead of a cache entry, in bytes.
const ENTRY_BYTES: usize = 256;

#[derive(Debug)]
pub struct CatalogCache {
    served: RefCell<Option<(Rc<Current>, u64)>>,
    segments: RefCell<BudgetedLru<SegmentId, Rc<Segment>>>,
    selections: RefCell<BudgetedLru<(SegmentId, RowFilter), Selection>>,
    bodies: RefCell<BudgetedLru<String, Rc<dyn Blob>>>,
    units: RefCell<Units>,
}

/// Inflated units, by segment and offset.
type Units = BudgetedLru<(SegmentId, u32), Rc<Vec<u8>>>;

fn open_current(bytes: Vec<u8>) -> Result<Current, StorageError> {
    match Current::format(&bytes) {
        Some(format) if format != FORMAT => Err(StorageError::new(format!(
            "the catalog has format {format}, but this service reads format {FORMAT}: import and publish it again"
        ))),
        _ => Current::open(bytes)
            .map_err(|error| StorageError::new(format!("`{CURRENT_KEY}` is damaged: {error}"))),
    }
}

/// A segment in memory, with the sections that requests have opened so far.
#[derive(Debug)]
struct Segment {
    blob: RefCell<Option<Rc<dyn Blob>>>,
    /// The open sections, by their offset in the segment.
    open_sections: RefCell<BTreeMap<usize, Rc<Section>>>,
}

impl Segment {
    fn new(blob: Rc<dyn Blob>) -> Self {
        Self { blob: RefCell::new(Some(blob)), open_sections: RefCell::default() }
    }

    /// Returns the section at a location of this segment, and opens it on first use.
    fn section(&self, location: SectionRef) -> Result<Rc<Section>, StorageError> {
        let in_use_error = || StorageError::new("a segment is in use");
        let mut open_sections = self.open_sections.try_borrow_mut().map_err(|_| in_use_error())?;
        if let Some(section) = open_sections.get(&location.base) {
            return Ok(Rc::clone(section));
        }
        let blob = self.blob.try_borrow().map_err(|_| in_use_error())?;
        let section = Rc::new(Section::open(blob.as_ref().ok_or_else(in_use_error)?, location)?);
        open_sections.insert(location.base, Rc::clone(&section));
        Ok(section)
    }

    fn is_damaged(&self) -> bool {
        self.open_sections.borrow().values().any(|section| section.is_damaged())
    }

    /// The memory that the segment uses, in bytes: the fetched value, and the blocks copied from
    /// it. Drops the fetched value once all blocks have been copied.
    fn bytes(&self) -> usize {
        let open_sections = self.open_sections.borrow();
        let size = self.blob.borrow().as_ref().map_or(0, |blob| blob.size());
        let is_copied = open_sections
            .get(&0)
            .is_some_and(|section| section.is_copied() && section.stored() == size);
        let fetched = if is_copied { 0 } else { size };
        if is_copied {
            self.blob.take();
        }
        open_sections.values().map(|section| section.copied()).fold(fetched, usize::saturating_add)
    }
}

impl CatalogCache {
    pub fn new(segment_bytes: usize) -> Self {
        Self {
            served: RefCell::new(None),
            segments: RefCell::new(BudgetedLru::new(segment_bytes)),
            selections: RefCell::new(BudgetedLru::new(SELECTION_BYTES)),
            bodies: RefCell::new(BudgetedLru::new(segment_bytes / BODY_BUDGET_DIVISOR)),
            units: RefCell::new(BudgetedLru::new(segment_bytes / UNIT_BUDGET_DIVISOR)),
        }
    }

    /// The published version, at most [`CURRENT_MS`] out of date.
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
        if let Ok(mut cell) = self.served.try_borrow_mut() {
            *cell = Some((Rc::clone(&served), now));
        }
        Ok(served)
    }

    /// A section of a segment, from the cache or from storage. Failures are not cached.
    pub async fn section<P: Blobs>(
        &self,
        ports: &P,
        location: SectionRef,
    ) -> Result<Rc<Section>, StorageError> {
        if let Some(section) =
            self.cached_segment(location.segment).and_then(|segment| segment.section(location).ok())
        {
            return Ok(section);
        }
        let blob = fetch(ports, location.segment).await?;
        // A concurrent request may have cached the segment; don't store a second copy.
        if let Some(section) =
            self.cached_segment(location.segment).and_then(|segment| segment.section(location).ok())
        {
            return Ok(section);
        }
        let segment = Segment::new(blob);
        let section = segment.section(location)?;
        self.cache_segment(location.segment, segment);
        Ok(section)
    }

    /// An inflated unit, from the cache or from storage.
    pub async fn unit<P: Blobs>(
        &self,
        ports: &P,
        location: &UnitRef,
    ) -> Result<Rc<Vec<u8>>, StorageError> {
        let name = (location.segment, location.base);
        let cached_unit = self.units.try_borrow_mut().ok().and_then(|mut units| units.get(&name));
        if let Some(unit) = cached_unit {
            return Ok(unit);
        }
        let damaged_error =
            || StorageError::new(format!("`{}` is damaged_error", location.segment.key()));
        let blob = fetch(ports, location.segment).await?;
        let bytes = location.read(blob.as_ref()).ok_or_else(damaged_error)?;
        let unit = Rc::new(ports.inflate(bytes).await?.ok_or_else(damaged_error)?);
        if let Ok(mut units) = self.units.try_borrow_mut() {
            units.put(name, Rc::clone(&unit), unit.len());
        }
        Ok(unit)
    }

    fn cached_segment(&self, id: SegmentId) -> Option<Rc<Segment>> {
        let mut segments = self.segments.try_borrow_mut().ok()?;
        let cached_segment = segments.get_and_reweigh(&id, |segment| segment.bytes());
        cached_segment.filter(|segment| !segment.is_damaged())
    }

    fn cache_segment(&self, id: SegmentId, segment: Segment) {
        if let Ok(mut segments) = self.segments.try_borrow_mut() {
            let bytes = segment.bytes();
            segments.put(id, Rc::new(segment), bytes);
        }
    }

    /// The cached body of a response. `name` must be unique across all published versions of the
    /// catalog.
    pub fn body(&self, name: &str) -> Option<Rc<dyn Blob>> {
        self.bodies.try_borrow_mut().ok()?.get(name)
    }

    /// Caches the body of a response for [`Self::body`].
    pub fn cache_body(&self, name: String, body: &Rc<dyn Blob>) {
        if let Ok(mut bodies) = self.bodies.try_borrow_mut() {
            let bytes = body.size().saturating_add(name.len());
            bodies.put(name, Rc::clone(body), bytes);
        }
    }

    /// The cached result of a scan of a list.
    pub fn cached_selection(&self, id: SegmentId, row_filter: &RowFilter) -> Option<Selection> {
        self.selections.try_borrow_mut().ok()?.get(&(id, row_filter.clone()))
    }

    /// Caches the result of a scan of a list.
    pub fn cache_selection(&self, id: SegmentId, row_filter: &RowFilter, selection: &Selection) {
        if let Ok(mut selections) = self.selections.try_borrow_mut() {
            let bytes = selection.bytes().saturating_add(row_filter.string_bytes());
            selections.put((id, row_filter.clone()), selection.clone(), bytes);
        }
    }
}

async fn fetch<P: Blobs>(ports: &P, id: SegmentId) -> Result<Rc<dyn Blob>, StorageError> {
    let key = id.key();
    let missing_error = || StorageError::new(format!("`{key}` is missing"));
    ports.get(&key).await?.ok_or_else(missing_error)
}

/// A cache that evicts the least recently used entries while their total size exceeds a budget in
/// bytes.
#[derive(Debug)]
struct BudgetedLru<K: Hash + Eq, V> {
    entries: LruCache<K, (V, usize)>,
    used_bytes: usize,
    budget: usize,
}

impl<K: Hash + Eq, V: Clone> BudgetedLru<K, V> {
    fn new(budget: usize) -> Self {
        Self { entries: LruCache::unbounded(), used_bytes: 0, budget }
    }

    fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).map(|(value, _)| value.clone())
    }

    /// Returns a cached value whose size may have changed, and measures it again.
    fn get_and_reweigh(&mut self, key: &K, weigh: impl Fn(&V) -> usize) -> Option<V> {
        let (value, bytes) = self.entries.get_mut(key)?;
        let weighed = weigh(value).saturating_add(ENTRY_BYTES);
        self.used_bytes = self.used_bytes.saturating_sub(*bytes).saturating_add(weighed);
        *bytes = weighed;
        let value = value.clone();
        self.evict();
        Some(value)
    }

    /// Caches a value of about `bytes` bytes, unless it exceeds the budget.
    fn put(&mut self, key: K, value: V, bytes: usize) {
        let bytes = bytes.saturating_add(ENTRY_BYTES);
        if bytes > self.budget {
            return;
        }
        if let Some((_, (_, replaced))) = self.entries.push(key, (value, bytes)) {
            self.used_bytes = self.used_bytes.saturating_sub(replaced);
        }
        self.used_bytes = self.used_bytes.saturating_add(bytes);
        self.evict();
    }

    fn evict(&mut self) {
        while self.used_bytes > self.budget {
            let Some((_, (_, freed))) = self.entries.pop_lru() else { break };
            self.used_bytes = self.used_bytes.saturating_sub(freed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{BudgetedLru, CatalogCache, ENTRY_BYTES, SELECTION_BYTES, Segment};
    use crate::catalog::filter::{RowFilter, Selection};
    use crate::catalog::format::section::{SectionRef, SectionWriter};
    use crate::catalog::format::stored::SegmentId;
    use crate::ports::Blob;

    #[test]
    fn evicts_the_least_recently_used() {
        let mut cache = BudgetedLru::new(3 * (ENTRY_BYTES + 100));
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
        assert_eq!(cache.get(&"e"), None, "a value over the whole budget is not cached");
        let mut full = BudgetedLru::new(ENTRY_BYTES + 100);
        full.put("a", "a", 100);
        assert_eq!(full.get(&"a"), Some("a"));
        assert_eq!(cache.used_bytes, 3 * (ENTRY_BYTES + 100));
        cache.put("a", "A", 100);
        assert_eq!((cache.get(&"a"), cache.used_bytes), (Some("A"), 3 * (ENTRY_BYTES + 100)));
    }

    #[test]
    fn growing_values_evict_others() {
        let mut cache = BudgetedLru::new(3 * (ENTRY_BYTES + 100));
        for key in ["a", "b", "c"] {
            cache.put(key, key, 100);
        }
        assert_eq!(cache.get_and_reweigh(&"b", |_| 150), Some("b"));
        assert_eq!(["a", "b", "c"].map(|key| cache.get(&key).is_some()), [false, true, true]);
        assert_eq!(
            cache.get_and_reweigh(&"c", |_| 100_000),
            Some("c"),
            "a value over the budget is returned once"
        );
        assert_eq!(cache.used_bytes, 0);
    }

    #[test]
    fn caches_selection_by_list_and_filter() {
        let cache = CatalogCache::new(0);
        let (id, row_filter) = (SegmentId([0; 16]), RowFilter::default());
        cache.cache_selection(id, &row_filter, &Selection::Range(0..2));
        assert_eq!(cache.cached_selection(id, &row_filter).map(|known| known.len()), Some(2));
        let other = RowFilter { group: Some("a".to_owned()), ..RowFilter::default() };
        assert!(cache.cached_selection(id, &other).is_none());
        assert!(cache.cached_selection(SegmentId([1; 16]), &row_filter).is_none());
    }

    #[test]
    fn bodies_and_units_have_separate_budgets() {
        let cache = CatalogCache::new(800);
        assert_eq!((cache.bodies.borrow().budget, cache.units.borrow().budget), (100, 200));
    }

    #[test]
    fn segment_counts_its_bytes() {
        for after in [0, 50] {
            let blocks = vec![vec![1; 1000], vec![2; 10], Vec::new()];
            let written = SectionWriter { blocks, rest: Vec::new() }.finish();
            let (head, copied) = (written.head, written.bytes.len());
            let location =
                SectionRef { segment: SegmentId([0; 16]), base: 0, head, crc: written.crc };
            let blob: Rc<dyn Blob> = Rc::new([written.bytes, vec![0; after]].concat());
            let size = blob.size();
            let segment = Segment::new(blob);
            assert_eq!(segment.bytes(), size);
            let section = segment.section(location).unwrap();
            assert_eq!(segment.bytes(), size + head);
            // After the last block has been copied, the fetched value no longer counts.
            let last = if after == 0 { copied } else { size + copied };
            for (index, bytes) in [(0, size + head + 1000), (1, size + copied), (2, last)] {
                section.block(index).unwrap();
                assert_eq!(segment.bytes(), bytes, "{after} {index}");
            }
        }
    }

    #[test]
    fn damaged_block_marks_segment_as_damaged() {
        let blocks = vec![vec![1; 10], vec![2; 10]];
        let written = SectionWriter { blocks, rest: Vec::new() }.finish();
        let (head, mut bytes) = (written.head, written.bytes);
        *bytes.last_mut().unwrap() ^= 1;
        let location = SectionRef { segment: SegmentId([0; 16]), base: 0, head, crc: written.crc };
        let blob: Rc<dyn Blob> = Rc::new(bytes);
        let segment = Segment::new(blob);
        let section = segment.section(location).unwrap();
        assert!(section.block(0).is_ok() && !segment.is_damaged());
        assert!(section.block(1).is_err() && segment.is_damaged());
    }

    #[test]
    fn long_filters_count_against_the_budget() {
        let cache = CatalogCache::new(0);
        for at in 0..1000 {
            let group = Some(format!("{at}{}", "x".repeat(15_000)));
            let row_filter = RowFilter { group, ..RowFilter::default() };
            cache.cache_selection(SegmentId([0; 16]), &row_filter, &Selection::Range(0..0));
        }
        let selections = cache.selections.borrow();
        assert!(selections.used_bytes <= SELECTION_BYTES, "{}", selections.used_bytes);
        assert!(
            selections.entries.len() <= SELECTION_BYTES / 15_000,
            "{}",
            selections.entries.len()
        );
    }
}
