//! Queries of the catalog.

mod search;

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::ops::Range;
use std::rc::Rc;
use std::task::Poll;

pub use search::{MAX_COUNTED, SearchFilter};

use crate::catalog::action::render::render;
use crate::catalog::action::unit::Unit;
use crate::catalog::action_search::ALL_ACTIONS;
use crate::catalog::cache::CatalogCache;
use crate::catalog::filter::{ActionFilter, ConnectorFilter, RowFilter, Selection};
use crate::catalog::format::current::Current;
use crate::catalog::format::layout::DamagedError;
use crate::catalog::format::list::{List, ListRef, PartRef};
use crate::catalog::format::pack::{self, NameEntry, PlatformEntry};
use crate::catalog::format::section::Section;
use crate::catalog::format::stored::SegmentId;
use crate::catalog::key::ConnectorKey;
use crate::catalog::list_search::Search;
use crate::catalog::row::{NEEDS_CLIENT, RowFields, RowKind};
use crate::ports::{Blobs, Clock, StorageError};
use crate::util::json;
use crate::util::name_set::Names;
use crate::util::sort::{sort, sort_by};

#[derive(Debug)]
pub struct Page {
    /// The number of rows that match the filter.
    pub total: usize,
    /// The JSON of the page's rows, joined by commas.
    pub rows: Vec<u8>,
}

/// A function from the number of matching rows to the positions of the page.
pub type Positions<'a> = &'a dyn Fn(usize) -> Range<usize>;

/// One version of the catalog, opened for a request.
pub struct Catalog<'a, P> {
    cache: &'a CatalogCache,
    ports: &'a P,
    current: Rc<Current>,
}

/// The result of looking up an action.
#[derive(Debug)]
pub enum ActionLookup {
    /// The row and the detail of the action, as JSON.
    Found(Vec<u8>),
    /// The platform has no action with this key. Contains similar keys.
    NoAction(Vec<String>),
    NoPlatform,
}

/// The location of a platform's actions.
#[derive(Debug)]
pub struct ActionList {
    /// Lists with the same id have the same rows.
    pub id: SegmentId,
    /// The current name of the platform, even if the caller used a former name.
    platform: String,
    list: ListRef,
}

fn damaged_current_error(DamagedError(damage): DamagedError) -> StorageError {
    StorageError::new(format!("`current` is damaged: {damage}"))
}

impl<'a, P: Blobs + Clock> Catalog<'a, P> {
    /// Opens the served catalog.
    pub async fn open(cache: &'a CatalogCache, ports: &'a P) -> Result<Self, StorageError> {
        Ok(Self { cache, ports, current: cache.served(ports).await? })
    }

    /// The id of the connector list, derived from its content.
    pub fn connectors_id(&self) -> Result<SegmentId, StorageError> {
        Ok(self.current.connectors().map_err(damaged_current_error)?.id)
    }

    pub async fn connectors(
        &self,
        filter: &ConnectorFilter,
        positions: Positions<'_>,
    ) -> Result<Page, StorageError> {
        let row_filter = RowFilter::from(filter);
        let Some(platforms) = platforms(filter) else {
            let list = self.current.connectors().map_err(damaged_current_error)?;
            let mut selection = self.select(&list, RowKind::Connector, &row_filter, "").await?;
            if let Some(clients) = &filter.connectable {
                selection = self.connectable(&list, &selection, clients).await?;
            }
            return self.rows(list, RowKind::Connector, &selection, positions).await;
        };
        let search = row_filter.q.as_ref().map(|query| Search::new(query, ""));
        let mut matches = Vec::new();
        for (platform, fields, json) in self.connectors_by_name(&platforms).await? {
            let is_requested = filter.key.as_ref().is_none_or(|key| *key == fields.key)
                && filter.connectable.as_ref().is_none_or(|clients| {
                    fields.attributes & NEEDS_CLIENT == 0 || clients.has(&platform)
                });
            if let Some(rank) = row_filter.rank(&fields, search.as_ref()).filter(|_| is_requested) {
                matches.push((rank, fields.title, fields.key, json));
            }
        }
        sort(&mut matches);
        matches.dedup();
        let page = matches.get(positions(matches.len())).unwrap_or_default();
        let rows: Vec<&[u8]> = page.iter().map(|(_, _, _, json)| json.as_slice()).collect();
        Ok(Page { total: matches.len(), rows: rows.join(&b',') })
    }

    /// The connectors of these platforms, given by current or former names. Returns the current
    /// name, the fields that filters read, and the row.
    async fn connectors_by_name(
        &self,
        names: &[String],
    ) -> Result<Vec<(String, RowFields, Vec<u8>)>, StorageError> {
        let read = |current_name: &str, entry: PlatformEntry<'_>| {
            let json = entry.connector.to_vec();
            let fields = RowFields::read(RowKind::Connector, &json, entry.attributes)
                .ok_or_else(|| StorageError::new("a connector's row is malformed"))?;
            Ok((current_name.to_owned(), fields, json))
        };
        let lookups = names.iter().map(|name| self.platform(name, read));
        Ok(try_join_all(lookups.collect()).await?.into_iter().flatten().collect())
    }

    /// The selected connectors that users can connect to. `clients` are the platforms with an OAuth
    /// client.
    async fn connectable(
        &self,
        list: &ListRef,
        selection: &Selection,
        clients: &Names,
    ) -> Result<Selection, StorageError> {
        let with_client = self.connectors_by_name(&distinct_names(clients)).await?;
        let titles =
            with_client.iter().flat_map(|(_, fields, _)| list.parts_for_title(&fields.title));
        let mut parts = list.parts_for_scan(false);
        for part in titles {
            if !parts.iter().any(|known| (known.role, known.first) == (part.role, part.first)) {
                parts.push(part);
            }
        }
        sort_by(&mut parts, |a, b| a.first.cmp(&b.first));
        let loaded = self.load(parts, list.clone(), RowKind::Connector).await?;
        let mut rows_with_client = BTreeSet::new();
        for (_, fields, json) in &with_client {
            for row in loaded.with_title(&fields.title)? {
                if loaded.row(row)? == json.as_slice() {
                    rows_with_client.insert(row);
                }
            }
        }
        let attributes = loaded.columns()?.attributes;
        let needs_no_client = |row: usize| {
            attributes.get(row).is_some_and(|attributes| attributes & NEEDS_CLIENT == 0)
        };
        let rows = selection.rows().into_iter();
        let rows = rows.filter(|row| needs_no_client(*row) || rows_with_client.contains(row));
        let rows: Vec<u32> = rows.filter_map(|row| u32::try_from(row).ok()).collect();
        Ok(Selection::Rows(rows.into()))
    }

    /// Finds the action list of a platform by its folded name. Returns `None` for an unknown
    /// platform.
    pub async fn find_actions(&self, platform: &str) -> Result<Option<ActionList>, StorageError> {
        // The empty name is reserved for the connector list, and `ALL_ACTIONS` for all actions.
        let platform_name = Some(platform).filter(|platform| !["", ALL_ACTIONS].contains(platform));
        let separate_list = platform_name.and_then(|platform| self.current.list(platform));
        let (platform, list) = if separate_list.is_some() {
            (platform.to_owned(), separate_list)
        } else {
            let read = |current_name: &str, entry: PlatformEntry<'_>| {
                Ok((current_name.to_owned(), entry.actions))
            };
            let name_and_list = self.platform(platform, read).await?;
            let Some((current_name, list)) = name_and_list else { return Ok(None) };
            // A large list has separate segments, which `current` lists by the platform's current
            // name.
            let list = list.or_else(|| self.current.list(&current_name));
            (current_name, list)
        };
        Ok(list.map(|list| ActionList { id: list.id, platform, list }))
    }

    pub async fn actions(
        &self,
        actions: ActionList,
        filter: &ActionFilter,
        positions: Positions<'_>,
    ) -> Result<Page, StorageError> {
        let row_filter = RowFilter::from(filter);
        let shared = format!("{}\n", actions.platform);
        let list = actions.list;
        let Some(key) = &filter.key else {
            return self.page(list, RowKind::Action, &row_filter, &shared, positions).await;
        };
        let list = self.load(list.parts_for_key(key), list, RowKind::Action).await?;
        let search = row_filter.q.as_ref().map(|query| Search::new(query, &shared));
        let mut rows_with_key: Vec<&[u8]> = Vec::new();
        if let Some(row) = list.with_key(key)? {
            let fields = RowFields::read(RowKind::Action, row, 0)
                .ok_or_else(|| StorageError::new("an action's row is malformed"))?;
            rows_with_key.extend(row_filter.rank(&fields, search.as_ref()).map(|_| row));
        }
        let rows =
            rows_with_key.get(positions(rows_with_key.len())).unwrap_or_default().join(&b',');
        Ok(Page { total: rows_with_key.len(), rows })
    }

    /// The list of all actions.
    pub fn all_actions(&self) -> Result<ListRef, StorageError> {
        let missing_error = || StorageError::new("the catalog has no list of all actions");
        self.current.list(ALL_ACTIONS).ok_or_else(missing_error)
    }

    pub async fn connector(&self, platform: &str) -> Result<Option<Vec<u8>>, StorageError> {
        let read =
            |_: &str, platform_entry: PlatformEntry<'_>| Ok(platform_entry.connector.to_vec());
        self.platform(platform, read).await
    }

    pub async fn detail(&self, platform: &str) -> Result<Option<Vec<u8>>, StorageError> {
        let read = |_: &str, platform_entry: PlatformEntry<'_>| {
            Ok((platform_entry.connector.to_vec(), platform_entry.detail()?.to_vec()))
        };
        let Some((row, detail)) = self.platform(platform, read).await? else { return Ok(None) };
        let malformed_error = || StorageError::new("a connector's row is malformed");
        let mut json = row.strip_suffix(b"}").ok_or_else(malformed_error)?.to_vec();
        json.push(b',');
        json.extend_from_slice(detail.strip_prefix(b"{").ok_or_else(malformed_error)?);
        Ok(Some(json))
    }

    /// Finds the detail of an action. `platform` is the current name, `key` is case-sensitive.
    pub async fn action(
        &self,
        platform: &str,
        key: &str,
        with_responses: bool,
    ) -> Result<ActionLookup, StorageError> {
        let read = |current_name: &str, platform_entry: PlatformEntry<'_>| {
            Ok((
                current_name.to_owned(),
                platform_entry.detail()?.to_vec(),
                platform_entry.units()?,
            ))
        };
        let Some((current_name, detail, table)) = self.platform(platform, read).await? else {
            return Ok(ActionLookup::NoPlatform);
        };
        let Some(location) = table.unit(key).or_else(|| table.units.first()) else {
            return Ok(ActionLookup::NoAction(Vec::new()));
        };
        let bytes = self.cache.unit(self.ports, location).await?;
        let damaged_error =
            || StorageError::new(format!("`{}` is damaged", location.segment.key()));
        let unit = Unit::open(&bytes).ok_or_else(damaged_error)?;
        let Some(action) = unit.action(key) else {
            let keys = (0..unit.keys.len()).map(|index| unit.keys.get(index));
            let keys = keys.map(|key| String::from_utf8_lossy(key).into_owned());
            return Ok(ActionLookup::NoAction(keys.collect()));
        };
        let connector = json::from_bytes(&detail)
            .map_err(|_| StorageError::new("a connector's detail is malformed"))?;
        let json =
            render(&unit, &action, &current_name, &connector, &table.schemes, with_responses);
        json.map(ActionLookup::Found).map_err(|_| damaged_error())
    }

    /// The names of all platforms, one per line.
    pub async fn platforms(&self) -> Result<String, StorageError> {
        let names = self.current.names();
        let location =
            names.ok_or_else(|| damaged_current_error(DamagedError("it is cut short")))?;
        let section = self.cache.section(self.ports, location).await?;
        let text = section.block(0)?.to_vec();
        String::from_utf8(text).map_err(|_| StorageError::new("a platform's name is not UTF-8"))
    }

    /// Looks up a platform by its current or former name, and passes the current name and the entry
    /// to `read`.
    async fn platform<T>(
        &self,
        name: &str,
        read: impl Fn(&str, PlatformEntry<'_>) -> Result<T, StorageError>,
    ) -> Result<Option<T>, StorageError> {
        let mut platform = name.to_owned();
        // An alias refers to a platform, never to another alias.
        for _ in 0..2 {
            let Some(location) = self.current.pack(&platform) else { return Ok(None) };
            let section = self.cache.section(self.ports, location).await?;
            match pack::find(&section, location.segment, &platform)? {
                Some(NameEntry::Platform(platform_entry)) => {
                    return read(&platform, platform_entry).map(Some);
                }
                Some(NameEntry::Alias(current_name)) => platform = current_name.to_owned(),
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    async fn page(
        &self,
        list: ListRef,
        kind: RowKind,
        row_filter: &RowFilter,
        shared: &str,
        positions: Positions<'_>,
    ) -> Result<Page, StorageError> {
        let selection = self.select(&list, kind, row_filter, shared).await?;
        self.rows(list, kind, &selection, positions).await
    }

    async fn select(
        &self,
        list: &ListRef,
        kind: RowKind,
        row_filter: &RowFilter,
        shared: &str,
    ) -> Result<Selection, StorageError> {
        if row_filter.matches_all() {
            return Ok(Selection::Range(0..list.rows));
        }
        if let Some(title) = row_filter.title.as_ref() {
            let list = self.load(list.parts_for_title(title), list.clone(), kind).await?;
            return row_filter.select(&list, shared);
        }
        if let Some(selection) = self.cache.cached_selection(list.id, row_filter) {
            return Ok(selection);
        }
        let parts = list.parts_for_scan(row_filter.q.is_some());
        let list = self.load(parts, list.clone(), kind).await?;
        let selection = row_filter.select(&list, shared)?;
        self.cache.cache_selection(list.list_ref.id, row_filter, &selection);
        Ok(selection)
    }

    async fn rows(
        &self,
        list: ListRef,
        kind: RowKind,
        selection: &Selection,
        positions: Positions<'_>,
    ) -> Result<Page, StorageError> {
        let page = selection.page(positions(selection.len()));
        let parts = list.parts_for_rows(page.rows());
        let list = self.load(parts, list, kind).await?;
        Ok(Page { total: selection.len(), rows: page.json(&list)? })
    }

    /// Loads parts of a list concurrently.
    async fn load(
        &self,
        parts: Vec<PartRef>,
        list: ListRef,
        kind: RowKind,
    ) -> Result<List, StorageError> {
        let reads =
            parts.iter().map(|part| self.cache.section(self.ports, part.location)).collect();
        let sections: Vec<Rc<Section>> = try_join_all(reads).await?;
        Ok(List::new(list, kind, parts.into_iter().zip(sections).collect()))
    }
}

/// The only platforms that can match a filter, without duplicates. Returns `None` if the filter
/// does not restrict platforms.
fn platforms(filter: &ConnectorFilter) -> Option<Vec<String>> {
    let key_platform = |key: &String| ConnectorKey::parse(key).map(|key| key.platform.to_owned());
    let requested = match (&filter.platform, filter.key.as_ref().map(key_platform)) {
        (Some(platform), Some(key_platform)) => {
            Some(key_platform.filter(|key_platform| key_platform == platform))
        }
        (Some(platform), None) => Some(Some(platform.clone())),
        (None, key_platform) => key_platform,
    };
    match (requested, &filter.platforms) {
        (Some(requested), names) => {
            let is_allowed =
                |requested: &String| names.as_ref().is_none_or(|names| names.has(requested));
            Some(requested.into_iter().filter(is_allowed).collect())
        }
        (None, Some(names)) => Some(distinct_names(names)),
        (None, None) => None,
    }
}

fn distinct_names(names: &Names) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names.all() {
        if !distinct.iter().any(|known| known == name) {
            distinct.push(name.to_owned());
        }
    }
    distinct
}

/// Runs futures concurrently. Returns all values, or the first error.
async fn try_join_all<T, E>(futures: Vec<impl Future<Output = Result<T, E>>>) -> Result<Vec<T>, E> {
    let mut running: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    poll_fn(move |context| {
        let mut is_done = true;
        for (future, output) in running.iter_mut().filter(|(_, output)| output.is_none()) {
            match future.as_mut().poll(context) {
                Poll::Ready(Ok(value)) => *output = Some(value),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => is_done = false,
            }
        }
        if !is_done {
            return Poll::Pending;
        }
        Poll::Ready(Ok(running.iter_mut().filter_map(|(_, output)| output.take()).collect()))
    })
    .await
}
