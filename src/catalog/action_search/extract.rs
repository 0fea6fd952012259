//! Extracts the words of each platform and its actions for the search index, and weighs them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::index::{FEATURE_BYTES, PostingFlags};
use super::intent::{COMMON_VERBS, Intent, RARELY_MEANT_WORDS, intents_of_verb, is_stop_word};
use super::stem::{identifier_words, stem, words};
use crate::catalog::action::stored::OperationInfo;
use crate::catalog::action::unit::{Unit, inflate};
use crate::catalog::logos;
use crate::catalog::model::Action;
use crate::catalog::write::Platform;
use crate::terms::Method;

/// The fields of an action: the weight of a word in the field, and the field's typical number of
/// words.
const TITLE: (f32, f32) = (10.0, 4.0);
const KEY: (f32, f32) = (4.7, 4.0);
const RESOURCE: (f32, f32) = (8.8, 2.0);
const PATH: (f32, f32) = (3.0, 6.0);
const MODEL: (f32, f32) = (3.8, 2.0);
const DESCRIPTION: (f32, f32) = (3.2, 8.0);
/// The influence of a field's length on the weight of its words, from 0 to 1.
const LENGTH_NORMALIZATION: f32 = 0.5;
/// The sum of weights that results in half of the maximum weight.
const HALF_WEIGHT_SUM: f32 = 8.0;
/// Only the first sentence of a description is indexed, up to this number of characters.
const MAX_DESCRIPTION_CHARS: usize = 200;

/// The weights of words in a platform's display name, identifier, former names, and other metadata.
const NAME_WEIGHT: f32 = 0.7;
const SLUG_WEIGHT: f32 = 0.63;
pub(super) const ALIAS_WEIGHT: f32 = 0.56;
const METADATA_WEIGHT: f32 = 0.28;

/// Rank penalties of an action, in 32nds of a point: per path segment, path parameter and title
/// word, for a deprecated action, and per word that users rarely mean.
const SEGMENT_PENALTY: f32 = 4.0;
const PARAMETER_PENALTY: f32 = 3.8;
const TITLE_WORD_PENALTY: f32 = 1.6;
const DEPRECATED_PENALTY: f32 = 14.0;
const SPECIAL_PENALTY: f32 = 22.0;

/// Additive smoothing of the number of actions with a word, for the rarity of the word.
const RARITY_SMOOTHING: f32 = 20.0;

/// The words and features of a platform and its actions.
#[derive(Debug, Default)]
pub struct PlatformIndex {
    pub(super) platform_words: BTreeMap<String, PostingFlags>,
    /// Maps each word to the actions that contain it, as their numbers in list order.
    pub(super) words: HashMap<String, Vec<(u32, PostingFlags)>>,
    pub(super) features: Vec<[u8; FEATURE_BYTES]>,
    pub(super) name_words: u8,
    pub(super) is_well_known: bool,
}

/// Whether the platform is well known: the importer has a `verify` request or a logo for it.
fn is_well_known(platform: &Platform) -> bool {
    platform.detail.verify.is_some() || platform.connector.image.starts_with(logos::LOGO_FOLDER)
}

/// Extracts the words and features of a platform. `actions` must be in list order.
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
    let (infos, empty_info) = (action_infos(platform), OperationInfo::default());
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
        let info = infos.get(&action.key).unwrap_or(&empty_info);
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
        // Callers add words in descending order of weight, so the first weight is the highest.
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

/// Caches stems, including those of common verbs and of words that users rarely mean.
struct Stems {
    /// The stem of each word, or `None` for a stop word.
    by_word: HashMap<String, Option<String>>,
    common: BTreeSet<String>,
    special: BTreeSet<String>,
}

impl Stems {
    fn new() -> Self {
        let stem_all = |words: &[&str]| words.iter().map(|word| stem(word)).collect();
        Self {
            by_word: HashMap::new(),
            common: stem_all(COMMON_VERBS),
            special: stem_all(RARELY_MEANT_WORDS),
        }
    }

    /// The distinct stems of words, without stop words.
    fn get(&mut self, words: &[String]) -> Vec<String> {
        let mut stems: Vec<String> = Vec::with_capacity(words.len());
        for word in words {
            let entry = self.by_word.entry(word.clone());
            let stem = entry.or_insert_with(|| (!is_stop_word(word)).then(|| stem(word)));
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
    /// The sum of the weights of each word, and the positions where it occurs.
    sums: BTreeMap<String, (f32, u8)>,
}

impl Fields {
    fn new(action: &Action, info: &OperationInfo, stems: &mut Stems) -> Self {
        let OperationInfo { path, description, .. } = info;
        let title = stems.get(&identifier_words(&action.title));
        let key = stems.get(&identifier_words(&action.key));
        let literal = path.rsplit('/').find(|part| !part.is_empty() && !part.starts_with('{'));
        let resource = stems.get(&identifier_words(literal.unwrap_or_default()));
        let full_path = stems.get(&identifier_words(path));
        let model = stems.get(&identifier_words(&action.model_name));
        let sentence = description.split(". ").next().unwrap_or_default();
        let sentence: String = sentence.chars().take(MAX_DESCRIPTION_CHARS).collect();
        let is_new = sentence != action.title;
        let description_words =
            if is_new { stems.get(&identifier_words(&sentence)) } else { Vec::new() };
        let mut sums = BTreeMap::new();
        for (words, (weight, typical_length), position) in [
            (&title, TITLE, PostingFlags::IN_NAME),
            (&key, KEY, PostingFlags::IN_KEY),
            (&resource, RESOURCE, 0),
            (&full_path, PATH, 0),
            (&model, MODEL, 0),
            (&description_words, DESCRIPTION, 0),
        ] {
            #[expect(clippy::cast_precision_loss, reason = "fields have few words")]
            let length = 1.0 - LENGTH_NORMALIZATION
                + LENGTH_NORMALIZATION * words.len() as f32 / typical_length;
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
        let mentions_deprecated =
            [&info.description, &action.title].iter().any(|text| text.contains("eprecated"));
        let is_deprecated = info.deprecated || mentions_deprecated;
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

/// Derives an action's intents from the verb of its title and from its method.
fn action_intents(action: &Action) -> Intent {
    let method_intents = match action.method {
        Method::Get => Intent::READ,
        Method::Post => Intent::CREATE,
        Method::Put | Method::Patch => Intent::UPDATE,
        Method::Delete => Intent::DELETE,
    };
    let verb = identifier_words(&action.title).into_iter().next().unwrap_or_default();
    let title_intents = intents_of_verb(&verb).union(intents_of_verb(verb.trim_end_matches('s')));
    let common = title_intents.intersection(method_intents);
    // A `POST` may have any effect, so only the title's verb counts. With another method, the first
    // word of the title may be a noun.
    if title_intents.is_empty() {
        method_intents
    } else if common.is_empty() || action.method == Method::Post {
        title_intents
    } else {
        common
    }
}

/// The rarity of a word that occurs in `postings` of `rows` actions, in sixteenths.
#[expect(clippy::cast_precision_loss, reason = "a rarity need not be exact")]
pub(super) fn rarity(rows: usize, postings: f32) -> u8 {
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

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use super::{Fields, Intent, Stems, action_intents, rarity};
    use crate::catalog::action::stored::OperationInfo;
    use crate::catalog::model::Action;
    use crate::terms::Method;

    pub fn action(method: Method, title: &str) -> Action {
        let (key, platform, model_name) = Default::default();
        Action { title: title.to_owned(), key, method, platform, model_name }
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
    fn rarity_falls_with_the_number_of_actions() {
        for (rows, postings, expected) in
            [(0, 0.0, 1), (1, 0.0, 2), (1000, 0.0, 63), (1000, 100.0, 36), (1000, 1000.0, 11)]
        {
            assert_eq!(rarity(rows, postings), expected, "{rows} {postings}");
        }
    }
}
