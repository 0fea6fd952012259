//! The questions that the service asks of the catalog, in either format.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::ops::Range;
use std::rc::Rc;
use std::task::Poll;

use super::action::answer::answer;
use super::action::unit::Unit;
use super::cache::CatalogCache;
use super::current::Current;
use super::filter::{ActionFilter, ConnectorFilter, Selection, Wanted, Wish};
use super::finder::EVERY_ACTION;
use super::finder::index::{Platform, Platforms, Words};
use super::finder::question::{Question, Term};
use super::finder::rank::{self, Asides, Ranking, named_without_actions, rank};
use super::key::ConnectorKey;
use super::layout::DamagedError;
use super::list::{List, ListRef, PartRef, Role};
use super::pack::{self, Found, Packed};
use super::row::{Facts, Kind, NEEDS_CLIENT};
use super::search::{Query, Search};
use super::section::Section;
use super::stored::SegmentId;
use crate::ports::{Blobs, Clock, StorageError};
use crate::terms::Method;
use crate::util::name_set::Names;

/// A page of a list.
#[derive(Debug)]
pub struct Page {
    /// How many rows match the filter.
    pub total: usize,
    /// The JSON of the page's rows, joined by commas.
    pub rows: Vec<u8>,
}

/// Given the number of rows of a list, returns the positions of the page's rows.
pub type Positions<'a> = &'a dyn Fn(usize) -> Range<usize>;

/// The catalog as one request sees it.
pub struct Catalog<'a, P> {
    cache: &'a CatalogCache,
    ports: &'a P,
    current: Rc<Current>,
}

/// What is found of an action.
#[derive(Debug)]
pub enum FoundAction {
    /// Its row and its detail, as JSON.
    Found(Vec<u8>),
    /// The platform has no action of this key; these are some that stand near it.
    NoAction(Vec<String>),
    /// The catalog has no such platform.
    NoPlatform,
}

/// Where the actions of a platform are.
#[derive(Debug)]
pub struct Actions {
    /// Lists with the same id give the same answers.
    pub id: SegmentId,
    /// The platform's own name, which may be another one than was asked for.
    platform: String,
    list: ListRef,
}

/// The most matches among all actions that are counted.
pub const COUNTED: usize = rank::MOST - 1;
/// The matches among all actions that are ranked for the first pages. Who goes on has all of them ranked.
const FIRST: usize = 100;

/// What is asked of all actions.
#[derive(Debug)]
pub struct FindFilter {
    /// The question.
    pub q: Query,
    /// The method.
    pub method: Wish<Method>,
    /// Any of these platforms, folded; `None` for all of them.
    pub platforms: Option<Names>,
    /// The platforms that the caller may see; `None` for all of them.
    pub seen: Option<Names>,
}

/// The most words of a question that are corrected, and the longest of them, in bytes: whoever mistypes more asks again.
const MOST_CORRECTED: usize = 3;
const LONGEST_CORRECTED: usize = 32;
/// How many words a mistyped one may have been meant to be, and how well they stand for it, in sixteenths.
const MEANT: usize = 3;
const AS_MEANT: u8 = 14;

/// The loaded parts with words.
fn words(loaded: &List) -> Words<'_> {
    Words(loaded.parts(Role::Words).map(|(_, section)| section).collect())
}

/// Which platforms of the filter do not exist, and which are asked for and have no actions.
fn asides(
    filter: &FindFilter,
    question: &Question,
    words: &Words<'_>,
    platforms: &Platforms<'_>,
) -> Result<Asides, StorageError> {
    let mut asides = Asides::default();
    if let Some(names) = &filter.platforms {
        let all = platforms.all();
        for name in names.all() {
            match platforms.find(name)? {
                None => asides.unknown.push(name.to_owned()),
                Some(nth) if all.get(nth).is_some_and(Platform::is_empty) => {
                    asides.empty.push(name.to_owned());
                }
                Some(_) => {}
            }
        }
    } else {
        let named = named_without_actions(question, words, platforms)?;
        asides.empty = named.into_iter().map(|nth| platforms.name(nth).to_owned()).collect();
    }
    let is_seen = |name: &String| filter.seen.as_ref().is_none_or(|seen| seen.has(name));
    asides.empty.retain(is_seen);
    Ok(asides)
}

impl From<&FindFilter> for Wanted {
    fn from(filter: &FindFilter) -> Self {
        let FindFilter { q, method, platforms, seen } = filter;
        let mark = match method {
            Wish::Any => Wish::Any,
            Wish::Only(method) => Wish::Only(*method as u8),
            Wish::Unknown => Wish::Unknown,
        };
        // No name has a slash, and none is empty.
        let names = |names: &'_ Option<Names>| names.as_ref().map_or("", Names::as_str).to_owned();
        let group = Some([names(platforms), names(seen)].join("/"));
        Self { title: None, mark, bits: 0, group, q: Some(q.clone()) }
    }
}

fn damaged_current(DamagedError(what): DamagedError) -> StorageError {
    StorageError::new(format!("`current` is damaged: {what}"))
}

impl<'a, P: Blobs + Clock> Catalog<'a, P> {
    /// Opens the catalog that is served.
    ///
    /// # Errors
    /// When none is published, or storage can't answer.
    pub async fn open(cache: &'a CatalogCache, ports: &'a P) -> Result<Self, StorageError> {
        Ok(Self { cache, ports, current: cache.served(ports).await? })
    }

    /// The id of the connector list, derived from its content.
    ///
    /// # Errors
    /// When `current` is damaged.
    pub fn connectors_id(&self) -> Result<SegmentId, StorageError> {
        Ok(self.current.connectors().map_err(damaged_current)?.id)
    }

    /// A page of the connectors that match a filter.
    ///
    /// # Errors
    /// When storage can't answer, or a value is damaged.
    pub async fn connectors(
        &self,
        filter: &ConnectorFilter,
        positions: Positions<'_>,
    ) -> Result<Page, StorageError> {
        let wanted = Wanted::from(filter);
        let Some(platforms) = platforms(filter) else {
            let list = self.current.connectors().map_err(damaged_current)?;
            let mut selection = self.select(&list, Kind::Connector, &wanted, "").await?;
            if let Some(clients) = &filter.connectable {
                selection = self.connectable(&list, &selection, clients).await?;
            }
            return self.rows(list, Kind::Connector, &selection, positions).await;
        };
        let search = wanted.q.as_ref().map(|query| Search::new(query, ""));
        let mut found = Vec::new();
        for (platform, facts, json) in self.named(&platforms).await? {
            let is_asked = filter.key.as_ref().is_none_or(|key| *key == facts.key)
                && filter
                    .connectable
                    .as_ref()
                    .is_none_or(|clients| facts.mark & NEEDS_CLIENT == 0 || clients.has(&platform));
            if let Some(rank) = wanted.rank(&facts, search.as_ref()).filter(|_| is_asked) {
                found.push((rank, facts.title, facts.key, json));
            }
        }
        found.sort();
        found.dedup();
        let shown = found.get(positions(found.len())).unwrap_or_default();
        let rows: Vec<&[u8]> = shown.iter().map(|(_, _, _, json)| json.as_slice()).collect();
        Ok(Page { total: found.len(), rows: rows.join(&b',') })
    }

    /// The connectors of names, which may be former ones: the platform's own name, what filters see, and the row.
    async fn named(&self, names: &[String]) -> Result<Vec<(String, Facts, Vec<u8>)>, StorageError> {
        let read = |own: &str, found: Packed<'_>| {
            let json = found.connector.to_vec();
            let facts = Facts::read(Kind::Connector, &json, found.mark)
                .ok_or_else(|| StorageError::new("a connector's row is not what it should be"))?;
            Ok((own.to_owned(), facts, json))
        };
        let found = names.iter().map(|name| self.platform(name, read));
        Ok(all(found.collect()).await?.into_iter().flatten().collect())
    }

    /// The selected connectors that accounts can be connected to, when these platforms have an OAuth client.
    async fn connectable(
        &self,
        list: &ListRef,
        selection: &Selection,
        clients: &Names,
    ) -> Result<Selection, StorageError> {
        let with_client = self.named(&distinct(clients)).await?;
        let titles = with_client.iter().flat_map(|(_, facts, _)| list.parts_of_title(&facts.title));
        let mut parts = list.parts_of_scan(false);
        for part in titles {
            if !parts.iter().any(|known| (known.role, known.first) == (part.role, part.first)) {
                parts.push(part);
            }
        }
        parts.sort_by_key(|part| part.first);
        let loaded = self.load(parts, list.clone(), Kind::Connector).await?;
        let mut offered = BTreeSet::new();
        for (_, facts, json) in &with_client {
            for row in loaded.with_title(&facts.title)? {
                if loaded.row(row)? == json.as_slice() {
                    offered.insert(row);
                }
            }
        }
        let marks = loaded.columns()?.marks;
        let needs_none = |row: usize| marks.get(row).is_some_and(|mark| mark & NEEDS_CLIENT == 0);
        let rows = selection.rows().into_iter();
        let rows = rows.filter(|row| needs_none(*row) || offered.contains(row));
        let rows: Vec<u32> = rows.filter_map(|row| u32::try_from(row).ok()).collect();
        Ok(Selection::Rows(rows.into()))
    }

    /// Finds the actions of a platform, whose name must be folded. Returns `None` when the catalog has no such
    /// platform.
    ///
    /// # Errors
    /// When storage can't answer, or a value is damaged.
    pub async fn find_actions(&self, platform: &str) -> Result<Option<Actions>, StorageError> {
        // These names belong to the connector list and to the list of all actions.
        let known = Some(platform).filter(|platform| !["", EVERY_ACTION].contains(platform));
        let apart = known.and_then(|platform| self.current.list(platform));
        let (platform, list) = if apart.is_some() {
            (platform.to_owned(), apart)
        } else {
            let read = |own: &str, found: Packed<'_>| Ok((own.to_owned(), found.actions));
            let found = self.platform(platform, read).await?;
            let Some((own, list)) = found else { return Ok(None) };
            // A former name leads to a list that may have its own segments under the platform's name.
            let list = list.or_else(|| self.current.list(&own));
            (own, list)
        };
        Ok(list.map(|list| Actions { id: list.id, platform, list }))
    }

    /// A page of the actions that match a filter.
    ///
    /// # Errors
    /// When storage can't answer, or a value is damaged.
    pub async fn actions(
        &self,
        actions: Actions,
        filter: &ActionFilter,
        positions: Positions<'_>,
    ) -> Result<Page, StorageError> {
        let wanted = Wanted::from(filter);
        let shared = format!("{}\n", actions.platform);
        let list = actions.list;
        let Some(key) = &filter.key else {
            return self.page(list, Kind::Action, &wanted, &shared, positions).await;
        };
        let list = self.load(list.parts_of_key(key), list, Kind::Action).await?;
        let search = wanted.q.as_ref().map(|query| Search::new(query, &shared));
        let mut found: Vec<&[u8]> = Vec::new();
        if let Some(row) = list.with_key(key)? {
            let facts = Facts::read(Kind::Action, row, 0)
                .ok_or_else(|| StorageError::new("an action's row is not what it should be"))?;
            found.extend(wanted.rank(&facts, search.as_ref()).map(|_| row));
        }
        let rows = found.get(positions(found.len())).unwrap_or_default().join(&b',');
        Ok(Page { total: found.len(), rows })
    }

    /// Finds the list of all actions.
    ///
    /// # Errors
    /// When the catalog has no such list.
    pub fn every_action(&self) -> Result<ListRef, StorageError> {
        let missing = || StorageError::new("the catalog has no list of all actions");
        self.current.list(EVERY_ACTION).ok_or_else(missing)
    }

    /// A page of the actions of all platforms that match a question. Its total is one more than are counted when there
    /// are still more.
    ///
    /// # Errors
    /// When storage can't answer, or a value is damaged.
    pub async fn find(
        &self,
        list: ListRef,
        filter: &FindFilter,
        positions: Positions<'_>,
    ) -> Result<(Page, Asides), StorageError> {
        let wanted = Wanted::from(filter);
        let end = positions(COUNTED).end;
        let known = self.cache.remembered(list.id, &wanted);
        let found = if let Some(known) = known.filter(|known| known.reaches(end)) {
            known
        } else {
            let most = if end <= FIRST { FIRST } else { rank::MOST };
            let found = Selection::Ranked(self.ranked(&list, filter, most).await?.into());
            self.cache.remember(list.id, &wanted, &found);
            found
        };
        let shown = found.page(positions(found.len().min(COUNTED)));
        let parts = list.parts_of_rows(shown.rows());
        // Without rows, there is no part to be read.
        let parts = if shown.is_empty() { Vec::new() } else { parts };
        let list = self.load(parts, list, Kind::Action).await?;
        let asides = match &found {
            Selection::Ranked(ranking) => ranking.asides.clone(),
            Selection::Range(_) | Selection::Rows(_) => Asides::default(),
        };
        Ok((Page { total: found.len(), rows: shown.json(&list)? }, asides))
    }

    /// The actions that match a question, the best `most` of them ranked.
    async fn ranked(
        &self,
        list: &ListRef,
        filter: &FindFilter,
        most: usize,
    ) -> Result<Ranking, StorageError> {
        let mut question = Question::read(&filter.q.phrase());
        let found = self.ranked_for(list, filter, &question, most).await?;
        if !found.is_empty() || !self.correct(list, &mut question).await? {
            return Ok(found);
        }
        self.ranked_for(list, filter, &question, most).await
    }

    /// Adds to each word of a question that no action has those that it may have been meant to be. Returns whether there are
    /// any.
    async fn correct(&self, list: &ListRef, question: &mut Question) -> Result<bool, StorageError> {
        let loaded = self.load_words(list, question).await?;
        let words = words(&loaded);
        let mut unknown: Vec<&mut Term> = Vec::new();
        for term in &mut question.terms {
            let stem = term.stems.first().map_or("", |(stem, _)| stem.as_str());
            if unknown.len() < MOST_CORRECTED
                && term.word.len() <= LONGEST_CORRECTED
                && words.get(stem)?.is_none()
            {
                unknown.push(term);
            }
        }
        let letters: Vec<char> =
            unknown.iter().filter_map(|term| term.word.chars().next()).collect();
        if letters.is_empty() {
            return Ok(false);
        }
        let parts = list.parts_of_letters(&letters);
        let loaded = self.load(parts, list.clone(), Kind::Action).await?;
        let words = self::words(&loaded);
        let mut is_corrected = false;
        for term in unknown {
            for stem in words.nearest(&term.word, MEANT)? {
                term.stems.push((stem, AS_MEANT));
                is_corrected = true;
            }
        }
        Ok(is_corrected)
    }

    /// The parts of the list of all actions that have the words of a question, and the one with traits.
    async fn load_words(&self, list: &ListRef, question: &Question) -> Result<List, StorageError> {
        let parts = list.parts_of_words(question.stems());
        self.load(parts, list.clone(), Kind::Action).await
    }

    async fn ranked_for(
        &self,
        list: &ListRef,
        filter: &FindFilter,
        question: &Question,
        most: usize,
    ) -> Result<Ranking, StorageError> {
        let loaded = self.load_words(list, question).await?;
        let words = words(&loaded);
        let (_, traits) = loaded
            .parts(Role::Traits)
            .next()
            .ok_or_else(|| StorageError::new("the list of all actions has no traits"))?;
        let platforms = Platforms::open(traits, list.rows)?;
        let asides = asides(filter, question, &words, &platforms)?;
        let mut allowed: Option<Vec<bool>> = None;
        for names in [&filter.platforms, &filter.seen].into_iter().flatten() {
            let named = platforms.named(names)?;
            let both = |known: Vec<bool>| known.into_iter().zip(&named).map(|(a, b)| a && *b);
            allowed = Some(allowed.map_or_else(|| named.clone(), |known| both(known).collect()));
        }
        let filter = rank::Filter { method: filter.method, platforms: allowed.as_deref() };
        let mut ranking = rank(question, &words, &platforms, list.rows, &filter, most)?;
        ranking.asides = asides;
        Ok(ranking)
    }

    /// The JSON of a platform's connector. Returns `None` when the catalog has no such platform.
    ///
    /// # Errors
    /// When storage can't answer, or a value is damaged.
    pub async fn connector(&self, platform: &str) -> Result<Option<Vec<u8>>, StorageError> {
        let read = |_: &str, found: Packed<'_>| Ok(found.connector.to_vec());
        self.platform(platform, read).await
    }

    /// The JSON of a platform's connector with its detail. Returns `None` when the catalog has no such platform.
    ///
    /// # Errors
    /// When storage can't answer, or a value is damaged.
    pub async fn detail(&self, platform: &str) -> Result<Option<Vec<u8>>, StorageError> {
        let read =
            |_: &str, found: Packed<'_>| Ok((found.connector.to_vec(), found.detail()?.to_vec()));
        let Some((row, detail)) = self.platform(platform, read).await? else { return Ok(None) };
        let damaged = || StorageError::new("a connector's row is not what it should be");
        let mut json = row.strip_suffix(b"}").ok_or_else(damaged)?.to_vec();
        json.push(b',');
        json.extend_from_slice(detail.strip_prefix(b"{").ok_or_else(damaged)?);
        Ok(Some(json))
    }

    /// Finds the detail of an action of a platform, both named as they are stored.
    ///
    /// # Errors
    /// When storage can't answer, or a value is damaged.
    pub async fn action(
        &self,
        platform: &str,
        key: &str,
        with_responses: bool,
    ) -> Result<FoundAction, StorageError> {
        let read = |own: &str, found: Packed<'_>| {
            Ok((own.to_owned(), found.detail()?.to_vec(), found.units()?))
        };
        let Some((own, detail, table)) = self.platform(platform, read).await? else {
            return Ok(FoundAction::NoPlatform);
        };
        let Some(place) = table.unit(key).or_else(|| table.units.first()) else {
            return Ok(FoundAction::NoAction(Vec::new()));
        };
        let bytes = self.cache.unit(self.ports, place).await?;
        let damaged = || StorageError::new(format!("`{}` is damaged", place.segment.key()));
        let unit = Unit::open(&bytes).ok_or_else(damaged)?;
        let Some(action) = unit.action(key) else {
            let keys = (0..unit.keys.len()).map(|nth| unit.keys.get(nth));
            let keys = keys.map(|key| String::from_utf8_lossy(key).into_owned());
            return Ok(FoundAction::NoAction(keys.collect()));
        };
        let connector = serde_json::from_slice(&detail)
            .map_err(|_| StorageError::new("a connector's detail is not what it should be"))?;
        let json = answer(&unit, &action, &own, &connector, &table.schemes, with_responses);
        json.map(FoundAction::Found).map_err(|_| damaged())
    }

    /// The names of all platforms, each followed by a line feed.
    ///
    /// # Errors
    /// When storage can't answer, or a value is damaged.
    pub async fn platforms(&self) -> Result<String, StorageError> {
        let names = self.current.names();
        let place = names.ok_or_else(|| damaged_current(DamagedError("it is cut short")))?;
        let section = self.cache.section(self.ports, place).await?;
        let text = section.block(0)?.to_vec();
        String::from_utf8(text).map_err(|_| StorageError::new("a platform's name is not UTF-8"))
    }

    /// Reads something of the platform of a name, which may be a former one: `read` gets its own name, and what is stored
    /// about it. Returns `None` when there is no such platform.
    async fn platform<T>(
        &self,
        name: &str,
        read: impl Fn(&str, Packed<'_>) -> Result<T, StorageError>,
    ) -> Result<Option<T>, StorageError> {
        let mut platform = name.to_owned();
        // An alias leads to a platform, never to another alias.
        for _ in 0..2 {
            let Some(place) = self.current.pack(&platform) else { return Ok(None) };
            let section = self.cache.section(self.ports, place).await?;
            match pack::find(&section, place.segment, &platform)? {
                Some(Found::Platform(found)) => return read(&platform, found).map(Some),
                Some(Found::Alias(own)) => platform = own.to_owned(),
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// A page of the rows of a list that match.
    async fn page(
        &self,
        list: ListRef,
        kind: Kind,
        wanted: &Wanted,
        shared: &str,
        positions: Positions<'_>,
    ) -> Result<Page, StorageError> {
        let selection = self.select(&list, kind, wanted, shared).await?;
        self.rows(list, kind, &selection, positions).await
    }

    /// The rows of a list that match.
    async fn select(
        &self,
        list: &ListRef,
        kind: Kind,
        wanted: &Wanted,
        shared: &str,
    ) -> Result<Selection, StorageError> {
        if wanted.is_nothing() {
            return Ok(Selection::Range(0..list.rows));
        }
        if let Some(title) = wanted.title.as_ref() {
            let list = self.load(list.parts_of_title(title), list.clone(), kind).await?;
            return wanted.select(&list, shared);
        }
        if let Some(known) = self.cache.remembered(list.id, wanted) {
            return Ok(known);
        }
        let parts = list.parts_of_scan(wanted.q.is_some());
        let list = self.load(parts, list.clone(), kind).await?;
        let found = wanted.select(&list, shared)?;
        self.cache.remember(list.at.id, wanted, &found);
        Ok(found)
    }

    /// A page of the selected rows of a list.
    async fn rows(
        &self,
        list: ListRef,
        kind: Kind,
        selection: &Selection,
        positions: Positions<'_>,
    ) -> Result<Page, StorageError> {
        let shown = selection.page(positions(selection.len()));
        let parts = list.parts_of_rows(shown.rows());
        let list = self.load(parts, list, kind).await?;
        Ok(Page { total: selection.len(), rows: shown.json(&list)? })
    }

    /// Loads parts of a list concurrently.
    async fn load(
        &self,
        parts: Vec<PartRef>,
        list: ListRef,
        kind: Kind,
    ) -> Result<List, StorageError> {
        let reads = parts.iter().map(|part| self.cache.section(self.ports, part.place)).collect();
        let sections: Vec<Rc<Section>> = all(reads).await?;
        Ok(List::new(list, kind, parts.into_iter().zip(sections).collect()))
    }
}

/// The only platforms that can match a filter, each once. Returns `None` when the filter does not restrict them.
fn platforms(filter: &ConnectorFilter) -> Option<Vec<String>> {
    let of_key = |key: &String| ConnectorKey::parse(key).map(|key| key.platform.to_owned());
    let one = match (&filter.platform, filter.key.as_ref().map(of_key)) {
        (Some(platform), Some(of_key)) => Some(of_key.filter(|of_key| of_key == platform)),
        (Some(platform), None) => Some(Some(platform.clone())),
        (None, of_key) => of_key,
    };
    match (one, &filter.platforms) {
        (Some(one), names) => {
            let is_allowed = |one: &String| names.as_ref().is_none_or(|names| names.has(one));
            Some(one.into_iter().filter(is_allowed).collect())
        }
        (None, Some(names)) => Some(distinct(names)),
        (None, None) => None,
    }
}

fn distinct(names: &Names) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names.all() {
        if !distinct.iter().any(|known| known == name) {
            distinct.push(name.to_owned());
        }
    }
    distinct
}

/// Runs the futures concurrently and returns all their values, or the first error.
async fn all<T, E>(futures: Vec<impl Future<Output = Result<T, E>>>) -> Result<Vec<T>, E> {
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
