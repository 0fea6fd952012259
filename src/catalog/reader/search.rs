//! The search over the actions of all platforms, with correction of misspelled words.

use super::{Catalog, Page, Positions};
use crate::catalog::action_search::index::{Platform, Platforms, Vocabulary};
use crate::catalog::action_search::query::{ActionQuery, Term};
use crate::catalog::action_search::rank::{self, fully_named_platforms, rank};
use crate::catalog::action_search::ranking::{PlatformNotes, Ranking};
use crate::catalog::action_search::score;
use crate::catalog::filter::{Constraint, RowFilter, Selection};
use crate::catalog::format::list::{List, ListRef, Role};
use crate::catalog::list_search::Query;
use crate::catalog::row::RowKind;
use crate::ports::{Blobs, Clock, StorageError};
use crate::terms::Method;
use crate::util::name_set::Names;

/// The maximum number of matches of a search that are counted.
pub const MAX_COUNTED: usize = rank::MAX_MATCHES - 1;

/// The number of best matches that are ranked for the first pages. A later page ranks all matches.
const FIRST_PAGES_LIMIT: usize = 100;

#[derive(Debug)]
pub struct SearchFilter {
    pub q: Query,
    pub method: Constraint<Method>,
    /// The requested platforms, folded. `None` for all platforms.
    pub platforms: Option<Names>,
    /// The platforms that the caller may see. `None` for all platforms.
    pub visible: Option<Names>,
    /// The platforms that the caller's identity has connected. Their actions rank first.
    pub connected: Names,
}

/// If the query names a platform and none of its actions is among this number of best matches, the
/// response has a note about the platform.
const TOP_MATCHES: usize = 10;

/// The maximum number of words of a query that are corrected.
const MAX_CORRECTED_WORDS: usize = 3;

/// The maximum length of a word that is corrected, in bytes.
const MAX_CORRECTED_BYTES: usize = 32;

/// The maximum number of corrections of a word.
const MAX_CORRECTIONS: usize = 3;

/// The weight of a corrected word, in sixteenths.
const CORRECTION_WEIGHT: u8 = 14;

fn vocabulary(loaded: &List) -> Vocabulary<'_> {
    Vocabulary(loaded.parts(Role::Words).map(|(_, section)| section).collect())
}

/// Finds the requested platforms that do not exist, that have no actions, or that have no action
/// among the best matches.
fn platform_notes(
    filter: &SearchFilter,
    query: &ActionQuery,
    vocabulary: &Vocabulary<'_>,
    platforms: &Platforms<'_>,
    ranking: &Ranking,
) -> Result<PlatformNotes, StorageError> {
    let mut platform_notes = PlatformNotes::default();
    if let Some(names) = &filter.platforms {
        let all = platforms.all();
        for name in names.all() {
            match platforms.find(name)? {
                None => platform_notes.unknown.push(name.to_owned()),
                Some(index) if all.get(index).is_some_and(Platform::is_empty) => {
                    platform_notes.empty.push(name.to_owned());
                }
                Some(_) => {}
            }
        }
    } else {
        let all = platforms.all();
        for index in fully_named_platforms(query, vocabulary, platforms)? {
            let Some(platform) = all.get(index) else { continue };
            let name = platforms.name(index).to_owned();
            if platform.is_empty() {
                platform_notes.empty.push(name);
            } else if !ranking.page(0..TOP_MATCHES).iter().any(|row| platform.has_row(*row)) {
                platform_notes.unmatched.push(name);
            }
        }
    }
    let is_visible =
        |name: &String| filter.visible.as_ref().is_none_or(|visible| visible.has(name));
    platform_notes.empty.retain(is_visible);
    platform_notes.unmatched.retain(is_visible);
    Ok(platform_notes)
}

impl From<&SearchFilter> for RowFilter {
    fn from(filter: &SearchFilter) -> Self {
        let SearchFilter { q, method, platforms, visible, connected } = filter;
        let attributes = match method {
            Constraint::Any => Constraint::Any,
            Constraint::Equals(method) => Constraint::Equals(*method as u8),
            Constraint::Never => Constraint::Never,
        };
        // Names are not empty and contain no slash, so different filters result in different
        // strings.
        let names = |names: &'_ Option<Names>| names.as_ref().map_or("", Names::as_str).to_owned();
        let group = Some([&names(platforms), &names(visible), connected.as_str()].join("/"));
        Self { title: None, attributes, required_bits: 0, group, q: Some(q.clone()) }
    }
}

impl<P: Blobs + Clock> Catalog<'_, P> {
    /// A page of the actions of all platforms that match a query. The total is [`MAX_COUNTED`] plus
    /// one if there are more matches.
    pub async fn search_actions(
        &self,
        list: ListRef,
        filter: &SearchFilter,
        positions: Positions<'_>,
    ) -> Result<(Page, PlatformNotes), StorageError> {
        let row_filter = RowFilter::from(filter);
        let end = positions(MAX_COUNTED).end;
        let cached = self.cache.cached_selection(list.id, &row_filter);
        let selection = if let Some(selection) = cached.filter(|selection| selection.reaches(end)) {
            selection
        } else {
            let limit =
                if end <= FIRST_PAGES_LIMIT { FIRST_PAGES_LIMIT } else { rank::MAX_MATCHES };
            let selection =
                Selection::Ranked(self.rank_or_correct(&list, filter, limit).await?.into());
            self.cache.cache_selection(list.id, &row_filter, &selection);
            selection
        };
        let page = selection.page(positions(selection.len().min(MAX_COUNTED)));
        let parts = list.parts_for_rows(page.rows());
        // An empty page needs no parts.
        let parts = if page.is_empty() { Vec::new() } else { parts };
        let list = self.load(parts, list, RowKind::Action).await?;
        let platform_notes = match &selection {
            Selection::Ranked(ranking) => ranking.platform_notes.clone(),
            Selection::Range(_) | Selection::Rows(_) => PlatformNotes::default(),
        };
        Ok((Page { total: selection.len(), rows: page.json(&list)? }, platform_notes))
    }

    /// Ranks the best `limit` actions that match a query. Corrects the query's spelling if no
    /// action matches.
    async fn rank_or_correct(
        &self,
        list: &ListRef,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Ranking, StorageError> {
        let mut query = ActionQuery::read(&filter.q.phrase());
        let ranking = self.rank_query(list, filter, &query, limit).await?;
        if !ranking.is_empty() || !self.correct(list, &mut query).await? {
            return Ok(ranking);
        }
        self.rank_query(list, filter, &query, limit).await
    }

    /// Adds corrections to each word that no action contains. Returns whether it added any.
    async fn correct(&self, list: &ListRef, query: &mut ActionQuery) -> Result<bool, StorageError> {
        let loaded = self.load_vocabulary(list, query).await?;
        let vocabulary = vocabulary(&loaded);
        let mut unknown: Vec<&mut Term> = Vec::new();
        for term in &mut query.terms {
            let stem = term.stems.first().map_or("", |(stem, _)| stem.as_str());
            if unknown.len() < MAX_CORRECTED_WORDS
                && term.word.len() <= MAX_CORRECTED_BYTES
                && vocabulary.get(stem)?.is_none()
            {
                unknown.push(term);
            }
        }
        let letters: Vec<char> =
            unknown.iter().filter_map(|term| term.word.chars().next()).collect();
        if letters.is_empty() {
            return Ok(false);
        }
        let parts = list.parts_for_letters(&letters);
        let loaded = self.load(parts, list.clone(), RowKind::Action).await?;
        let vocabulary = self::vocabulary(&loaded);
        let mut is_corrected = false;
        for term in unknown {
            for stem in vocabulary.corrections(&term.word, MAX_CORRECTIONS)? {
                term.stems.push((stem, CORRECTION_WEIGHT));
                is_corrected = true;
            }
        }
        Ok(is_corrected)
    }

    /// Loads the parts that contain the words of a query, and the part with features.
    async fn load_vocabulary(
        &self,
        list: &ListRef,
        query: &ActionQuery,
    ) -> Result<List, StorageError> {
        let parts = list.parts_for_words(query.stems());
        self.load(parts, list.clone(), RowKind::Action).await
    }

    async fn rank_query(
        &self,
        list: &ListRef,
        filter: &SearchFilter,
        query: &ActionQuery,
        limit: usize,
    ) -> Result<Ranking, StorageError> {
        let loaded = self.load_vocabulary(list, query).await?;
        let vocabulary = vocabulary(&loaded);
        let (_, features) = loaded
            .parts(Role::Features)
            .next()
            .ok_or_else(|| StorageError::new("the list of all actions has no features"))?;
        let platforms = Platforms::open(features, list.rows)?;
        let mut allowed: Option<Vec<bool>> = None;
        for names in [&filter.platforms, &filter.visible].into_iter().flatten() {
            let named_platforms = platforms.with_names(names)?;
            let intersect =
                |known: Vec<bool>| known.into_iter().zip(&named_platforms).map(|(a, b)| a && *b);
            allowed = Some(
                allowed.map_or_else(|| named_platforms.clone(), |known| intersect(known).collect()),
            );
        }
        let is_any_connected = filter.connected != Names::default();
        let connected = is_any_connected.then(|| platforms.with_names(&filter.connected));
        let connected = connected.transpose()?;
        let row_filter = score::Filter {
            method: filter.method,
            platforms: allowed.as_deref(),
            connected: connected.as_deref(),
        };
        let mut ranking = rank(query, &vocabulary, &platforms, list.rows, &row_filter, limit)?;
        ranking.platform_notes = platform_notes(filter, query, &vocabulary, &platforms, &ranking)?;
        Ok(ranking)
    }
}
