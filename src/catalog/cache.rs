//! The catalog in an isolate's memory: the `current` record for a short while, segments and the answers of scans as
//! long as they fit. Segments are immutable and named by content, so nothing but `current` ever goes stale.

use std::cell::{Cell, RefCell};
use std::hash::Hash;
use std::rc::Rc;

use lru::LruCache;

use super::filter::{Filter, ListFilter, Selection};
use super::layout::DamagedError;
use super::segment::{ActionList, ConnectorList};
use super::stored::{CURRENT_KEY, Current, FORMAT, SegmentId};
use crate::ports::{Blobs, Clock, StorageError};

/// Milliseconds for which the `current` record is trusted.
pub const CURRENT_MS: u64 = 30_000;
/// Bytes of segments that an isolate holds when the configuration does not say.
pub const DEFAULT_SEGMENT_BYTES: usize = 32 << 20;
/// Bytes of remembered answers that an isolate holds.
const ANSWER_BYTES: usize = 4 << 20;
/// What an entry costs besides its own bytes, roughly.
const ENTRY_BYTES: usize = 256;

/// What an isolate remembers of the catalog.
#[derive(Debug)]
pub struct CatalogCache {
    current: Cell<Option<(Current, u64)>>,
    segments: RefCell<Budgeted<SegmentId, Segment>>,
    answers: RefCell<Budgeted<(SegmentId, Filter), Selection>>,
}

/// An opened segment.
#[derive(Debug, Clone)]
pub enum Segment {
    /// The connector list.
    Connectors(Rc<ConnectorList>),
    /// One platform's action list.
    Actions(Rc<ActionList>),
}

/// A kind of list that segments hold.
pub trait Stored: Sized {
    /// Opens a segment's bytes.
    ///
    /// # Errors
    /// When they are not a whole segment of this kind.
    fn open(bytes: Vec<u8>) -> Result<Self, DamagedError>;
    /// The list in its common form.
    fn wrap(list: Rc<Self>) -> Segment;
    /// The list of a segment of this kind.
    fn unwrap(segment: Segment) -> Option<Rc<Self>>;
}

impl Stored for ConnectorList {
    fn open(bytes: Vec<u8>) -> Result<Self, DamagedError> {
        Self::open(bytes)
    }

    fn wrap(list: Rc<Self>) -> Segment {
        Segment::Connectors(list)
    }

    fn unwrap(segment: Segment) -> Option<Rc<Self>> {
        if let Segment::Connectors(list) = segment { Some(list) } else { None }
    }
}

impl Stored for ActionList {
    fn open(bytes: Vec<u8>) -> Result<Self, DamagedError> {
        Self::open(bytes)
    }

    fn wrap(list: Rc<Self>) -> Segment {
        Segment::Actions(list)
    }

    fn unwrap(segment: Segment) -> Option<Rc<Self>> {
        if let Segment::Actions(list) = segment { Some(list) } else { None }
    }
}

impl CatalogCache {
    /// An empty memory with room for this many bytes of segments.
    #[must_use]
    pub fn new(segment_bytes: usize) -> Self {
        Self {
            current: Cell::new(None),
            segments: RefCell::new(Budgeted::new(segment_bytes)),
            answers: RefCell::new(Budgeted::new(ANSWER_BYTES)),
        }
    }

    /// The version that is served, at most [`CURRENT_MS`] old.
    ///
    /// # Errors
    /// When the record is missing, damaged or out of reach.
    pub async fn current<P: Blobs + Clock>(&self, ports: &P) -> Result<Current, StorageError> {
        let now = ports.now();
        if let Some((current, _)) =
            self.current.get().filter(|(_, since)| is_recent(now, *since, CURRENT_MS))
        {
            return Ok(current);
        }
        let bytes = ports
            .get(CURRENT_KEY)
            .await?
            .ok_or_else(|| StorageError::new("no catalog is published: `current` is missing"))?;
        let current =
            Current::read(&bytes).ok_or_else(|| StorageError::new("`current` is damaged"))?;
        if current.format != FORMAT {
            return Err(StorageError::new(format!(
                "`current` has format {}, this Worker reads {FORMAT}",
                current.format
            )));
        }
        self.current.set(Some((current, now)));
        Ok(current)
    }

    /// A segment, from memory or storage.
    ///
    /// # Errors
    /// When it is missing, damaged or out of reach. Nothing is remembered then: the next request asks again.
    pub async fn segment<P: Blobs, S: Stored>(
        &self,
        ports: &P,
        id: SegmentId,
    ) -> Result<Rc<S>, StorageError> {
        if let Some(list) = self.held(&id) {
            return Ok(list);
        }
        let key = id.key();
        let bytes = ports
            .get(&key)
            .await?
            .ok_or_else(|| StorageError::new(format!("`{key}` is missing")))?;
        // Another request may have brought it meanwhile: one copy is enough.
        if let Some(list) = self.held(&id) {
            return Ok(list);
        }
        let size = bytes.len();
        let list = Rc::new(
            S::open(bytes).map_err(|error| StorageError::new(format!("`{key}`: {error}")))?,
        );
        if let Ok(mut segments) = self.segments.try_borrow_mut() {
            segments.put(id, S::wrap(Rc::clone(&list)), size);
        }
        Ok(list)
    }

    fn held<S: Stored>(&self, id: &SegmentId) -> Option<Rc<S>> {
        self.segments.try_borrow_mut().ok()?.get(id).and_then(S::unwrap)
    }

    /// The answer to a filter on a segment: remembered when it took a look at every row.
    pub fn answer<F: ListFilter>(&self, id: SegmentId, filter: &F, list: &F::List) -> Selection {
        if !filter.is_scan() {
            return filter.select(list);
        }
        let Ok(mut answers) = self.answers.try_borrow_mut() else { return filter.select(list) };
        let key = (id, filter.to_filter());
        if let Some(known) = answers.get(&key) {
            return known;
        }
        let selection = filter.select(list);
        let rows = selection.len().saturating_mul(size_of::<u32>());
        let size = rows.saturating_add(key.1.text_bytes());
        answers.put(key, selection.clone(), size);
        selection
    }
}

/// Whether what was learnt at `since` may still be used; never when the clock was set back.
#[must_use]
pub fn is_recent(now: u64, since: u64, trust: u64) -> bool {
    now.checked_sub(since).is_some_and(|age| age < trust)
}

/// Least recently used entries go first when the bytes of all are over the budget.
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

    fn get(&mut self, key: &K) -> Option<V> {
        self.entries.get(key).map(|(value, _)| value.clone())
    }

    /// Keeps a value of about `bytes`; one that is over the whole budget is not kept.
    fn put(&mut self, key: K, value: V, bytes: usize) {
        let bytes = bytes.saturating_add(ENTRY_BYTES);
        if bytes > self.budget {
            return;
        }
        if let Some((_, (_, replaced))) = self.entries.push(key, (value, bytes)) {
            self.used = self.used.saturating_sub(replaced);
        }
        self.used = self.used.saturating_add(bytes);
        while self.used > self.budget {
            let Some((_, (_, freed))) = self.entries.pop_lru() else { break };
            self.used = self.used.saturating_sub(freed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWER_BYTES, Budgeted, CatalogCache, ENTRY_BYTES};
    use crate::catalog::filter::ConnectorFilter;
    use crate::catalog::segment::{ConnectorList, write_connectors};
    use crate::catalog::stored::SegmentId;

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
        assert_eq!(cache.used, 3 * (ENTRY_BYTES + 100));
        cache.put("a", "A", 100);
        assert_eq!((cache.get(&"a"), cache.used), (Some("A"), 3 * (ENTRY_BYTES + 100)));
    }

    #[test]
    fn long_filters_count_against_the_budget() {
        let cache = CatalogCache::new(0);
        let none = ConnectorList::open(write_connectors(Vec::new())).unwrap();
        for at in 0..1000 {
            let category = Some(format!("{at}{}", "x".repeat(15_000)));
            let filter = ConnectorFilter { category, ..ConnectorFilter::default() };
            cache.answer(SegmentId([0; 16]), &filter, &none);
        }
        let answers = cache.answers.borrow();
        assert!(answers.used <= ANSWER_BYTES, "{}", answers.used);
        assert!(answers.entries.len() <= ANSWER_BYTES / 15_000, "{}", answers.entries.len());
    }
}
