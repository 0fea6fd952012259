//! Builds the search index: extracts the words of each platform and its actions, and weighs them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::index::{BLOCK_ROWS, FEATURE_BLOCKS_START, FEATURE_BYTES, PostingFlags, write_varint};
use super::intent::{COMMON_VERBS, Intent, RARELY_MEANT, intents_of_verb, is_stop_word};
use super::stem::{identifier_words, stem, words};
use crate::catalog::action::stored::OperationInfo;
use crate::catalog::action::unit::{Unit, inflate};
use crate::catalog::format::layout::{number, write_texts};
use crate::catalog::format::section::SectionWriter;
use crate::catalog::logos;
use crate::catalog::model::Action;
use crate::catalog::write::Platform;
use crate::terms::Method;

/// For each field of an action: the weight of a word in it, and the typical number of words.
const TITLE: (f32, f32) = (10.0, 4.0);
const KEY: (f32, f32) = (4.7, 4.0);
const RESOURCE: (f32, f32) = (8.8, 2.0);
const PATH: (f32, f32) = (3.0, 6.0);
const MODEL: (f32, f32) = (3.8, 2.0);
const DESCRIPTION: (f32, f32) = (3.2, 8.0);
/// The influence of a field's length, from 0 to 1.
const LENGTH_NORMALIZATION: f32 = 0.5;
/// The sum of weights at which a word has half of the maximum weight.
const HALF_WEIGHT_SUM: f32 = 8.0;
/// Only the first sentence of a description counts.
const MAX_DESCRIPTION_CHARS: usize = 200;

/// The weight of a word in a platform's display name, its identifier, a former name, and its other metadata.
const NAME_WEIGHT: f32 = 0.7;
const SLUG_WEIGHT: f32 = 0.63;
const ALIAS_WEIGHT: f32 = 0.56;
const METADATA_WEIGHT: f32 = 0.28;

/// The rank penalty of an action, in 32nds of a point: for each segment of its path, each path parameter, each word of
/// its title, for being deprecated, and for each word that people rarely mean.
const SEGMENT_PENALTY: f32 = 4.0;
const PARAMETER_PENALTY: f32 = 3.8;
const TITLE_WORD_PENALTY: f32 = 1.6;
const DEPRECATED_PENALTY: f32 = 14.0;
const SPECIAL_PENALTY: f32 = 22.0;

/// Added to the number of actions with a word before its rarity is computed.
const RARITY_SMOOTHING: f32 = 20.0;

/// The words and features of a platform and its actions.
#[derive(Debug, Default)]
pub struct PlatformIndex {
    platform_words: BTreeMap<String, PostingFlags>,
    /// For each word, the actions that have it, by their number in list order.
    words: HashMap<String, Vec<(u32, PostingFlags)>>,
    features: Vec<[u8; FEATURE_BYTES]>,
    name_words: u8,
    is_well_known: bool,
}

/// Whether people ask for this platform first: the importer knows more about it than its document says.
fn is_well_known(platform: &Platform) -> bool {
    platform.detail.verify.is_some() || platform.connector.image.starts_with(logos::FOLDER)
}

/// `actions` are in list order.
pub fn index_platform(platform: &Platform, actions: &[&Action]) -> PlatformIndex {
    let connector = &platform.connector;
    let mut platform_index =
        PlatformIndex { is_well_known: is_well_known(platform), ..PlatformIndex::default() };
    let name: BTreeSet<String> = words(&connector.name).iter().map(|word| stem(word)).collect();
    platform_index.name_words = u8::try_from(name.len()).unwrap_or(u8::MAX);
    for word in &name {
        platform_index.add_platform_word(word, NAME_WEIGHT, PostingFlags::IN_NAME);
    }
    platform_index.add_platform_word(&stem(&words(&connector.name).concat()), NAME_WEIGHT, 0);
    platform_index.add_platform_words(&connector.platform, SLUG_WEIGHT);
    for alias in &platform.aliases {
        platform_index.add_platform_words(alias, ALIAS_WEIGHT);
    }
    for text in [&connector.category].into_iter().chain(&connector.tags) {
        platform_index.add_platform_words(text, METADATA_WEIGHT);
    }
    if platform_index.is_well_known {
        platform_index.add_platform_words(&connector.description, METADATA_WEIGHT);
    }
    let (infos, no_info) = (action_infos(platform), OperationInfo::default());
    let mut stems = Stems::new();
    let names: BTreeSet<String> = platform_index
        .platform_words
        .iter()
        .filter(|(_, flags)| {
            f32::from(flags.weight()) > METADATA_WEIGHT * 2.0 * f32::from(PostingFlags::MAX_WEIGHT)
        })
        .map(|(word, _)| word.clone())
        .collect();
    for (index, action) in (0..).zip(actions) {
        let info = infos.get(&action.key).unwrap_or(&no_info);
        let fields = Fields::new(action, info, &mut stems);
        for (word, flags) in fields.posting_flags() {
            platform_index.words.entry(word.to_owned()).or_default().push((index, flags));
        }
        platform_index.features.push(fields.features(action, info, &names, &stems));
    }
    platform_index
}

impl PlatformIndex {
    fn add_platform_word(&mut self, stem: &str, weight: f32, positions: u8) {
        // The heaviest weight comes first.
        self.platform_words.entry(stem.to_owned()).or_insert_with(|| flags(weight, positions));
    }

    fn add_platform_words(&mut self, text: &str, weight: f32) {
        for word in words(text).iter().filter(|word| !is_stop_word(word)) {
            self.add_platform_word(&stem(word), weight, 0);
        }
    }
}

/// Information about a platform's actions, by key.
fn action_infos(platform: &Platform) -> HashMap<String, OperationInfo> {
    let mut infos = HashMap::new();
    for unit in &platform.units.units {
        let inflated = inflate(&unit.bytes).unwrap_or_default();
        let Some(unit) = Unit::open(&inflated) else { continue };
        for index in 0..unit.keys.len() {
            let key = String::from_utf8_lossy(unit.keys.get(index)).into_owned();
            if let Some(action) = unit.action(&key) {
                infos.insert(key, action.facts);
            }
        }
    }
    infos
}

/// Caches stems, and holds those of the tables.
struct Stems {
    /// `None` for a stop word.
    known: HashMap<String, Option<String>>,
    common: BTreeSet<String>,
    special: BTreeSet<String>,
}

impl Stems {
    fn new() -> Self {
        let of = |words: &[&str]| words.iter().map(|word| stem(word)).collect();
        Self { known: HashMap::new(), common: of(COMMON_VERBS), special: of(RARELY_MEANT) }
    }

    /// The distinct stems of words, without stop words.
    fn get(&mut self, words: &[String]) -> Vec<String> {
        let mut stems: Vec<String> = Vec::with_capacity(words.len());
        for word in words {
            let known = self.known.entry(word.clone());
            let stem = known.or_insert_with(|| (!is_stop_word(word)).then(|| stem(word)));
            if let Some(stem) = stem
                && !stems.contains(stem)
            {
                stems.push(stem.clone());
            }
        }
        stems
    }
}

struct Fields {
    title: Vec<String>,
    key: Vec<String>,
    /// For each word, the sum of its weights, and its positions.
    sums: BTreeMap<String, (f32, u8)>,
}

impl Fields {
    fn new(action: &Action, info: &OperationInfo, stems: &mut Stems) -> Self {
        let OperationInfo { path, description, .. } = info;
        let title = stems.get(&identifier_words(&action.title));
        let key = stems.get(&identifier_words(&action.key));
        let literal = path.rsplit('/').find(|part| !part.is_empty() && !part.starts_with('{'));
        let resource = stems.get(&identifier_words(literal.unwrap_or_default()));
        let whole_path = stems.get(&identifier_words(path));
        let model = stems.get(&identifier_words(&action.model_name));
        let sentence = description.split(". ").next().unwrap_or_default();
        let sentence: String = sentence.chars().take(MAX_DESCRIPTION_CHARS).collect();
        let is_new = sentence != action.title;
        let description_words =
            if is_new { stems.get(&identifier_words(&sentence)) } else { Vec::new() };
        let mut sums = BTreeMap::new();
        for (words, (weight, usual), position) in [
            (&title, TITLE, PostingFlags::IN_NAME),
            (&key, KEY, PostingFlags::IN_KEY),
            (&resource, RESOURCE, 0),
            (&whole_path, PATH, 0),
            (&model, MODEL, 0),
            (&description_words, DESCRIPTION, 0),
        ] {
            #[expect(clippy::cast_precision_loss, reason = "fields have few words")]
            let length =
                1.0 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * words.len() as f32 / usual;
            for word in words {
                let (sum, positions) = sums.entry(word.clone()).or_insert((0.0, 0));
                *sum += weight / length;
                *positions |= position;
            }
        }
        Self { title, key, sums }
    }

    fn posting_flags(&self) -> impl Iterator<Item = (&str, PostingFlags)> {
        self.sums.iter().map(|(word, (sum, positions))| {
            (word.as_str(), flags(sum / (sum + HALF_WEIGHT_SUM), *positions))
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "paths and titles are short")]
    fn features(
        &self,
        action: &Action,
        info: &OperationInfo,
        names: &BTreeSet<String>,
        stems: &Stems,
    ) -> [u8; FEATURE_BYTES] {
        let segments: Vec<&str> = info.path.split('/').filter(|part| !part.is_empty()).collect();
        let parameters = segments.iter().filter(|part| part.starts_with('{')).count();
        let title_words = words(&action.title).len();
        let states_it =
            [&info.description, &action.title].iter().any(|text| text.contains("eprecated"));
        let is_deprecated = info.deprecated || states_it;
        let special: BTreeSet<&String> = self
            .title
            .iter()
            .chain(&self.key)
            .filter(|stem| stems.special.contains(*stem))
            .collect();
        let rank_penalty = SEGMENT_PENALTY * segments.len().min(10) as f32
            + PARAMETER_PENALTY * parameters as f32
            + TITLE_WORD_PENALTY * title_words.min(15) as f32
            + if is_deprecated { DEPRECATED_PENALTY } else { 0.0 }
            + SPECIAL_PENALTY * special.len().min(2) as f32;
        let count_distinctive = |field: &[String]| {
            let is_distinctive =
                |word: &&String| !stems.common.contains(*word) && !names.contains(*word);
            u8::try_from(field.iter().filter(is_distinctive).count().min(15)).unwrap_or(15)
        };
        let intents = action_intents(action).bits() | (action.method as u8) << 4;
        [
            intents,
            byte(rank_penalty),
            count_distinctive(&self.title) | count_distinctive(&self.key) << 4,
        ]
    }
}

/// From the verb of its title and from its method.
fn action_intents(action: &Action) -> Intent {
    let by_method = match action.method {
        Method::Get => Intent::READ,
        Method::Post => Intent::CREATE,
        Method::Put | Method::Patch => Intent::UPDATE,
        Method::Delete => Intent::DELETE,
    };
    let verb = identifier_words(&action.title).into_iter().next().unwrap_or_default();
    let by_title = intents_of_verb(&verb).union(intents_of_verb(verb.trim_end_matches('s')));
    let both = by_title.intersection(by_method);
    // A `POST` may do anything. With another method, the first word of the title may be a noun.
    if by_title.is_empty() {
        by_method
    } else if both.is_empty() || action.method == Method::Post {
        by_title
    } else {
        both
    }
}

/// The rarity of a word that `postings` of `rows` actions have, in sixteenths.
#[expect(clippy::cast_precision_loss, reason = "a rarity need not be exact")]
fn rarity(rows: usize, postings: f32) -> u8 {
    byte((1.0 + (rows as f32 + 1.0) / (postings + RARITY_SMOOTHING)).ln() * 16.0)
}

fn flags(weight: f32, positions: u8) -> PostingFlags {
    let weight =
        byte(weight * f32::from(PostingFlags::MAX_WEIGHT)).clamp(1, PostingFlags::MAX_WEIGHT);
    PostingFlags(weight << 2 | positions)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates at the nearest byte"
)]
fn byte(number: f32) -> u8 {
    number.round() as u8
}

/// The platforms in the order of the index, each with its first row.
fn ordered<'a>(
    platforms: &[(&'a Platform, &'a PlatformIndex)],
) -> Vec<(usize, &'a Platform, &'a PlatformIndex)> {
    let mut ordered = platforms.to_vec();
    ordered.sort_by_key(|(platform, platform_index)| {
        (!platform_index.is_well_known, &platform.connector.platform)
    });
    let mut first = 0_usize;
    let position = |(platform, platform_index): (&'a Platform, &'a PlatformIndex)| {
        let at = first;
        first = first.saturating_add(platform_index.features.len());
        (at, platform, platform_index)
    };
    ordered.into_iter().map(position).collect()
}

/// A block of words, and its first word.
type WordBlock = (String, Vec<u8>);

/// The index, ready to be stored.
pub struct WrittenIndex<'a> {
    /// In the order of their rows.
    pub platforms: Vec<&'a Platform>,
    pub features: SectionWriter,
    /// Each with its first word.
    pub words: Vec<(String, SectionWriter)>,
}

/// Writes the index, in blocks of words of about `block` bytes and parts of about `part` bytes.
pub fn write<'a>(
    platforms: &[(&'a Platform, &'a PlatformIndex)],
    block: usize,
    part: usize,
) -> WrittenIndex<'a> {
    let ordered = ordered(platforms);
    let rows = ordered.iter().map(|(_, _, platform_index)| platform_index.features.len()).sum();
    let words = blocks(&postings_by_word(&ordered), rows, block);
    let mut parts: Vec<(String, Vec<WordBlock>)> = Vec::new();
    let mut bytes = 0_usize;
    for (first, written) in words {
        let more = written.len();
        match parts.last_mut() {
            Some((_, blocks)) if bytes.saturating_add(more) <= part => {
                bytes = bytes.saturating_add(more);
                blocks.push((first, written));
            }
            _ => {
                bytes = more;
                parts.push((first.clone(), vec![(first, written)]));
            }
        }
    }
    let section = |(first, blocks): (String, Vec<WordBlock>)| {
        let rest = write_texts(blocks.iter().map(|(first, _)| first));
        let blocks = blocks.into_iter().map(|(_, block)| block).collect();
        (first, SectionWriter { blocks, rest })
    };
    WrittenIndex {
        platforms: ordered.iter().map(|(_, platform, _)| *platform).collect(),
        features: features(&ordered),
        words: parts.into_iter().map(section).collect(),
    }
}

fn features(ordered: &[(usize, &Platform, &PlatformIndex)]) -> SectionWriter {
    let names = write_texts(ordered.iter().map(|(_, platform, _)| &platform.connector.platform));
    let entry = |(first, _, platform_index): &(usize, &Platform, &PlatformIndex)| {
        let info = [platform_index.name_words, u8::from(platform_index.is_well_known), 0, 0];
        [number(*first), info].concat()
    };
    let entries: Vec<u8> = ordered.iter().flat_map(entry).collect();
    let mut aliases: Vec<(&String, usize)> = ordered
        .iter()
        .enumerate()
        .flat_map(|(index, (_, platform, _))| {
            platform.aliases.iter().map(move |alias| (alias, index))
        })
        .collect();
    // Independent of the order in which the import found them.
    aliases.sort_unstable();
    let numbers: Vec<u8> = aliases.iter().flat_map(|(_, index)| number(*index)).collect();
    let aliases = [write_texts(aliases.iter().map(|(alias, _)| alias)), numbers];
    let mut blocks = vec![names, entries, write_texts(aliases.iter())];
    debug_assert_eq!(blocks.len(), FEATURE_BLOCKS_START);
    let rows: Vec<[u8; FEATURE_BYTES]> = ordered
        .iter()
        .flat_map(|(_, _, platform_index)| platform_index.features.iter().copied())
        .collect();
    blocks.extend(
        rows.chunks(BLOCK_ROWS).map(<[[u8; FEATURE_BYTES]]>::as_flattened).map(<[u8]>::to_vec),
    );
    SectionWriter { blocks, rest: vec![rarity(rows.len(), 0.0)] }
}

/// The platforms and actions that have a word.
#[derive(Default)]
struct WordPostings {
    platforms: Vec<(usize, PostingFlags)>,
    rows: Vec<(usize, PostingFlags)>,
    /// How many actions have the word through the name of their platform.
    named: usize,
}

fn postings_by_word(
    ordered: &[(usize, &Platform, &PlatformIndex)],
) -> BTreeMap<String, WordPostings> {
    let mut all: BTreeMap<String, WordPostings> = BTreeMap::new();
    for (index, (first, _, platform_index)) in ordered.iter().enumerate() {
        for (word, flags) in &platform_index.platform_words {
            let postings = all.entry(word.clone()).or_default();
            postings.platforms.push((index, *flags));
            if f32::from(flags.weight()) >= ALIAS_WEIGHT * f32::from(PostingFlags::MAX_WEIGHT) - 1.0
            {
                postings.named = postings.named.saturating_add(platform_index.features.len());
            }
        }
        for (word, rows) in &platform_index.words {
            let postings = all.entry(word.clone()).or_default();
            let row =
                |(row, flags): &(u32, PostingFlags)| (first.saturating_add(*row as usize), *flags);
            postings.rows.extend(rows.iter().map(row));
        }
    }
    all
}

/// Splits the words into blocks, each with its first word. `rows` is the number of actions.
fn blocks(all: &BTreeMap<String, WordPostings>, rows: usize, limit: usize) -> Vec<WordBlock> {
    let mut blocks = Vec::new();
    let mut pending: Vec<(&String, Vec<u8>)> = Vec::new();
    let mut bytes = 0_usize;
    let write = |pending: &mut Vec<(&String, Vec<u8>)>| {
        let first = pending.first().map(|(word, _)| (*word).clone())?;
        let words = write_texts(pending.iter().map(|(word, _)| word));
        let postings = write_texts(pending.iter().map(|(_, postings)| postings));
        pending.clear();
        Some((first, write_texts([words, postings].iter())))
    };
    for (word, postings) in all {
        let postings = postings.write(rows);
        if bytes.saturating_add(postings.len()) > limit {
            blocks.extend(write(&mut pending));
            bytes = 0;
        }
        bytes = bytes.saturating_add(postings.len());
        pending.push((word, postings));
    }
    blocks.extend(write(&mut pending));
    blocks
}

impl WordPostings {
    #[expect(clippy::cast_precision_loss, reason = "a rarity need not be exact")]
    fn write(&self, rows: usize) -> Vec<u8> {
        let postings = self.rows.len() as f32 + self.named as f32 * 0.3;
        let mut bytes = vec![rarity(rows, postings)];
        write_varint(self.platforms.len(), &mut bytes);
        for list in [&self.platforms, &self.rows] {
            let mut before = 0;
            for (index, flags) in list {
                write_varint(index.saturating_sub(before), &mut bytes);
                bytes.push(flags.0);
                before = *index;
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{
        Fields, Intent, PostingFlags, Stems, WordPostings, action_intents, blocks, index_platform,
        ordered, postings_by_word, rarity, write,
    };
    use crate::catalog::action::stored::OperationInfo;
    use crate::catalog::action::unit::Units;
    use crate::catalog::detail::{ConnectorDetail, Request, Verify, rejected};
    use crate::catalog::logos;
    use crate::catalog::model::{Action, Connector, Status};
    use crate::catalog::write::Platform;
    use crate::terms::Method;

    fn action(method: Method, title: &str) -> Action {
        let (key, platform, model_name) = Default::default();
        Action { title: title.to_owned(), key, method, platform, model_name }
    }

    fn platform(name: &str, image: &str, alias: &str) -> Platform {
        Platform {
            connector: Connector {
                id: 1,
                name: name.to_owned(),
                key: format!("api::{name}::v1"),
                platform: name.to_owned(),
                platform_version: "v1".to_owned(),
                status: Status::Beta,
                description: String::new(),
                category: "Other".to_owned(),
                image: image.to_owned(),
                tags: Vec::new(),
                oauth: false,
                tools: 2,
                version: String::new(),
                active: true,
            },
            detail: ConnectorDetail::default(),
            authkit: false,
            aliases: vec![alias.to_owned()],
            actions: ["One", "Two"].map(|title| action(Method::Get, title)).into(),
            units: Units::default(),
        }
    }

    #[test]
    fn well_known_platforms_come_first_and_former_names_count() {
        let acme = platform("acme", "https://a.example/logo.svg", "old-hub");
        let zeta = platform("zeta", &format!("{}zeta.svg", logos::FOLDER), "z");
        let mut beta = platform("beta", "", "b");
        beta.detail.verify = Some(Verify {
            request: Request { method: Method::Get, path: "/me".to_owned(), body: None },
            rejected: rejected(),
            rejected_when: None,
        });
        let all = [&acme, &zeta, &beta];
        let platform_index =
            all.map(|one| index_platform(one, &one.actions.iter().collect::<Vec<_>>()));
        let all: Vec<_> = all.into_iter().zip(&platform_index).collect();
        let written = write(&all, 100, 100);
        let names = written.platforms.iter().map(|one| one.connector.platform.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["beta", "zeta", "acme"]);
        assert_eq!(platform_index[0].platform_words["acm"].positions(), PostingFlags::IN_NAME);
        // The name of a platform matches all of its actions.
        let all = postings_by_word(&ordered(&all));
        for (word, named) in [("acm", 2), ("hub", 2), ("other", 0), ("two", 0)] {
            assert_eq!(all[word].named, named, "{word}");
        }
    }

    #[test]
    fn words_of_the_platform_name_are_not_distinctive() {
        let acme = platform("acme", "", "old-hub");
        let platform_index =
            index_platform(&acme, &[&action(Method::Get, "List acme old hub things")]);
        assert_eq!(platform_index.features[0][2], 3, "old, hub and thing");
    }

    #[test]
    fn parts_of_words_respect_their_limit() {
        let acme = platform("acme", "", "old");
        let platform_index = index_platform(&acme, &acme.actions.iter().collect::<Vec<_>>());
        let blocks_of = |part| {
            let words = write(&[(&acme, &platform_index)], 1, part).words;
            words.into_iter().map(|(_, section)| section.blocks).collect::<Vec<_>>()
        };
        let all = blocks_of(usize::MAX).concat();
        let both = all[0].len() + all[1].len();
        assert_eq!(blocks_of(both)[0].len(), 2);
        assert_eq!(blocks_of(both - 1)[0].len(), 1);
        assert_eq!(blocks_of(1).len(), all.len());
    }

    #[test]
    fn intent_follows_from_verb_and_method() {
        for (method, title, expected) in [
            (Method::Get, "List issues", Intent::READ),
            (Method::Get, "Widgets", Intent::READ),
            (Method::Get, "Creates an issue", Intent::CREATE),
            (Method::Post, "Widgets", Intent::CREATE),
            (Method::Post, "Lists issues", Intent::READ),
            (Method::Post, "Archive a thread", Intent::UPDATE.union(Intent::DELETE)),
            (Method::Post, "Start a job", Intent::CREATE.union(Intent::UPDATE)),
            (Method::Put, "Archive a thread", Intent::UPDATE),
            (Method::Put, "Start a job", Intent::UPDATE),
            (Method::Patch, "Widgets", Intent::UPDATE),
            (Method::Delete, "Archive a thread", Intent::DELETE),
        ] {
            assert_eq!(action_intents(&action(method, title)), expected, "{method:?} {title}");
        }
    }

    #[test]
    fn last_path_segment_weighs_most() {
        for path in ["/repos/{repo}/issues", "/repos/{repo}/issues/", "/repos/{repo}/issues/{id}"] {
            let info = OperationInfo { path: path.to_owned(), ..OperationInfo::default() };
            let fields = Fields::new(&action(Method::Get, ""), &info, &mut Stems::new());
            assert!(fields.sums["issu"].0 > fields.sums["repo"].0, "{path}");
        }
    }

    #[test]
    fn penalizes_deep_deprecated_and_special_actions() {
        for (deprecated, description, path, title, expected) in [
            (false, "Gets it.", "", "Get it", 3),
            (true, "Gets it.", "", "Get it", 17),
            (false, "Deprecated: gets it.", "", "Get it", 17),
            (true, "It is deprecated.", "", "Get it", 17),
            (false, "", "/repos/issues/", "Get it", 11),
            (false, "", "/repos/{repo}/issues", "Get it", 19),
            (false, "", "", "Bulk delete", 25),
        ] {
            let (path, description) = (path.to_owned(), description.to_owned());
            let info = OperationInfo { path, description, deprecated, ..OperationInfo::default() };
            let (action, mut stems) = (action(Method::Get, title), Stems::new());
            let fields = Fields::new(&action, &info, &mut stems);
            let [_, rank_penalty, _] = fields.features(&action, &info, &BTreeSet::new(), &stems);
            assert_eq!(rank_penalty, expected, "{title} {info:?}");
        }
    }

    #[test]
    fn a_word_is_rarer_the_fewer_actions_have_it() {
        for (rows, postings, expected) in
            [(0, 0.0, 1), (1, 0.0, 2), (1000, 0.0, 63), (1000, 100.0, 36), (1000, 1000.0, 11)]
        {
            assert_eq!(rarity(rows, postings), expected, "{rows} {postings}");
        }
    }

    #[test]
    fn blocks_of_words_respect_their_limit() {
        // The postings of each word take two bytes.
        let all: BTreeMap<String, WordPostings> =
            ["a", "b", "c"].map(|word| (word.to_owned(), WordPostings::default())).into();
        for (limit, expected) in
            [(1, &["a", "b", "c"][..]), (3, &["a", "b", "c"]), (4, &["a", "c"]), (6, &["a"])]
        {
            let blocks = blocks(&all, 1, limit);
            let firsts: Vec<&str> = blocks.iter().map(|(first, _)| first.as_str()).collect();
            assert_eq!(firsts, expected, "{limit}");
        }
    }
}
