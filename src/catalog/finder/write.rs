//! Writes the index: finds the words of each platform and of its actions, and weighs them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::index::{BEFORE_ROWS, BLOCK_ROWS, Mark, TRAITS, write_varint};
use super::meaning::{COMMON, SPECIAL as SPECIAL_WORDS, deed, deeds, is_filler};
use super::words::{humps, stem, words};
use crate::catalog::action::stored::Facts;
use crate::catalog::action::unit::{Unit, inflate};
use crate::catalog::layout::{number, write_texts};
use crate::catalog::logos;
use crate::catalog::model::Action;
use crate::catalog::section::SectionWriter;
use crate::catalog::write::Platform;
use crate::terms::Method;

/// What a word adds in a field of an action, and how many words such a field has, as a rule.
const TITLE: (f32, f32) = (10.0, 4.0);
const KEY: (f32, f32) = (4.7, 4.0);
const RESOURCE: (f32, f32) = (8.8, 2.0);
const PATH: (f32, f32) = (3.0, 6.0);
const MODEL: (f32, f32) = (3.8, 2.0);
const DESCRIPTION: (f32, f32) = (3.2, 8.0);
/// How far the length of a field matters, from 0 to 1.
const LENGTH: f32 = 0.5;
/// At this sum of what its fields add, a word has half the weight that it can have.
const HALF: f32 = 8.0;
/// The most characters of a description that are read; only its first sentence is.
const MAX_SAID: usize = 200;

/// What a word weighs that a platform has in its display name, its name, a former name, and in what else its connector
/// says.
const OF_NAME: f32 = 0.7;
const OF_PLATFORM: f32 = 0.63;
const OF_ALIAS: f32 = 0.56;
const OF_REST: f32 = 0.28;

/// What makes an action remote, in 32nds of a point: each segment of its path, each parameter there, each word of its
/// title, that it is deprecated, and each word that makes it special.
const SEGMENT: f32 = 4.0;
const PARAMETER: f32 = 3.8;
const TITLE_WORD: f32 = 1.6;
const DEPRECATED: f32 = 14.0;
const SPECIAL: f32 = 22.0;

/// How many actions share a word at least when its rarity is taken.
const FEWEST: f32 = 20.0;

/// The words of a platform and of its actions, and what ranks these.
#[derive(Debug, Default)]
pub struct Found {
    own: BTreeMap<String, Mark>,
    /// For each word, the actions that have it, by their number in list order.
    words: HashMap<String, Vec<(u32, Mark)>>,
    traits: Vec<[u8; TRAITS]>,
    name_words: u8,
    is_known: bool,
}

/// Whether a platform is one that people ask for first: the importer knows more about it than its document says.
fn is_known(platform: &Platform) -> bool {
    platform.detail.verify.is_some() || platform.connector.image.starts_with(logos::FOLDER)
}

/// Finds the words of a platform and of its actions, which are in list order.
#[must_use]
pub fn find(platform: &Platform, actions: &[&Action]) -> Found {
    let connector = &platform.connector;
    let mut found = Found { is_known: is_known(platform), ..Found::default() };
    let name: BTreeSet<String> = words(&connector.name).iter().map(|word| stem(word)).collect();
    found.name_words = u8::try_from(name.len()).unwrap_or(u8::MAX);
    for word in &name {
        found.put_own(word, OF_NAME, Mark::NAMED);
    }
    found.put_own(&stem(&words(&connector.name).concat()), OF_NAME, 0);
    found.put_all(&connector.platform, OF_PLATFORM);
    for alias in &platform.aliases {
        found.put_all(alias, OF_ALIAS);
    }
    for text in [&connector.category].into_iter().chain(&connector.tags) {
        found.put_all(text, OF_REST);
    }
    if found.is_known {
        found.put_all(&connector.description, OF_REST);
    }
    let (said, nothing) = (said(platform), Facts::default());
    let mut stems = Stems::new();
    let names: BTreeSet<String> = found
        .own
        .iter()
        .filter(|(_, mark)| f32::from(mark.weight()) > OF_REST * 2.0 * f32::from(Mark::MOST))
        .map(|(word, _)| word.clone())
        .collect();
    for (nth, action) in (0..).zip(actions) {
        let facts = said.get(&action.key).unwrap_or(&nothing);
        let fields = Fields::of(action, facts, &mut stems);
        for (word, mark) in fields.marks() {
            found.words.entry(word.to_owned()).or_default().push((nth, mark));
        }
        found.traits.push(fields.traits(action, facts, &names, &stems));
    }
    found
}

impl Found {
    fn put_own(&mut self, stem: &str, weight: f32, places: u8) {
        // What weighs most comes first.
        self.own.entry(stem.to_owned()).or_insert_with(|| mark(weight, places));
    }

    fn put_all(&mut self, text: &str, weight: f32) {
        for word in words(text).iter().filter(|word| !is_filler(word)) {
            self.put_own(&stem(word), weight, 0);
        }
    }
}

/// What is said of each action, by its key.
fn said(platform: &Platform) -> HashMap<String, Facts> {
    let mut said = HashMap::new();
    for unit in &platform.units.units {
        let inflated = inflate(&unit.bytes).unwrap_or_default();
        let Some(unit) = Unit::open(&inflated) else { continue };
        for nth in 0..unit.keys.len() {
            let key = String::from_utf8_lossy(unit.keys.get(nth)).into_owned();
            if let Some(action) = unit.action(&key) {
                said.insert(key, action.facts);
            }
        }
    }
    said
}

/// Stems that have been found before, and those of the tables.
struct Stems {
    /// `None` is a filler.
    known: HashMap<String, Option<String>>,
    common: BTreeSet<String>,
    special: BTreeSet<String>,
}

impl Stems {
    fn new() -> Self {
        let of = |words: &[&str]| words.iter().map(|word| stem(word)).collect();
        Self { known: HashMap::new(), common: of(COMMON), special: of(SPECIAL_WORDS) }
    }

    /// The stems of what says something, each once.
    fn of(&mut self, words: &[String]) -> Vec<String> {
        let mut stems: Vec<String> = Vec::with_capacity(words.len());
        for word in words {
            let known = self.known.entry(word.clone());
            let stem = known.or_insert_with(|| (!is_filler(word)).then(|| stem(word)));
            if let Some(stem) = stem
                && !stems.contains(stem)
            {
                stems.push(stem.clone());
            }
        }
        stems
    }
}

/// The words of an action's fields.
struct Fields {
    title: Vec<String>,
    key: Vec<String>,
    /// Each word with what its fields add up to, and where it stands.
    sums: BTreeMap<String, (f32, u8)>,
}

impl Fields {
    fn of(action: &Action, facts: &Facts, stems: &mut Stems) -> Self {
        let Facts { path, description, .. } = facts;
        let title = stems.of(&humps(&action.title));
        let key = stems.of(&humps(&action.key));
        let literal = path.rsplit('/').find(|part| !part.is_empty() && !part.starts_with('{'));
        let resource = stems.of(&humps(literal.unwrap_or_default()));
        let whole_path = stems.of(&humps(path));
        let model = stems.of(&humps(&action.model_name));
        let sentence = description.split(". ").next().unwrap_or_default();
        let sentence: String = sentence.chars().take(MAX_SAID).collect();
        let is_new = sentence != action.title;
        let said = if is_new { stems.of(&humps(&sentence)) } else { Vec::new() };
        let mut sums = BTreeMap::new();
        for (words, (weight, usual), place) in [
            (&title, TITLE, Mark::NAMED),
            (&key, KEY, Mark::IN_KEY),
            (&resource, RESOURCE, 0),
            (&whole_path, PATH, 0),
            (&model, MODEL, 0),
            (&said, DESCRIPTION, 0),
        ] {
            #[expect(clippy::cast_precision_loss, reason = "fields have few words")]
            let length = 1.0 - LENGTH + LENGTH * words.len() as f32 / usual;
            for word in words {
                let (sum, places) = sums.entry(word.clone()).or_insert((0.0, 0));
                *sum += weight / length;
                *places |= place;
            }
        }
        Self { title, key, sums }
    }

    fn marks(&self) -> impl Iterator<Item = (&str, Mark)> {
        let marks = self.sums.iter();
        marks.map(|(word, (sum, places))| (word.as_str(), mark(sum / (sum + HALF), *places)))
    }

    #[expect(clippy::cast_precision_loss, reason = "paths and titles are short")]
    fn traits(
        &self,
        action: &Action,
        facts: &Facts,
        names: &BTreeSet<String>,
        stems: &Stems,
    ) -> [u8; TRAITS] {
        let segments: Vec<&str> = facts.path.split('/').filter(|part| !part.is_empty()).collect();
        let parameters = segments.iter().filter(|part| part.starts_with('{')).count();
        let title_words = words(&action.title).len();
        let says_so =
            [&facts.description, &action.title].iter().any(|text| text.contains("eprecated"));
        let is_deprecated = facts.deprecated || says_so;
        let special: BTreeSet<&String> = self
            .title
            .iter()
            .chain(&self.key)
            .filter(|stem| stems.special.contains(*stem))
            .collect();
        let remoteness = SEGMENT * segments.len().min(10) as f32
            + PARAMETER * parameters as f32
            + TITLE_WORD * title_words.min(15) as f32
            + if is_deprecated { DEPRECATED } else { 0.0 }
            + SPECIAL * special.len().min(2) as f32;
        let says = |field: &[String]| {
            let says = |word: &&String| !stems.common.contains(*word) && !names.contains(*word);
            u8::try_from(field.iter().filter(says).count().min(15)).unwrap_or(15)
        };
        let does = does(action) | (action.method as u8) << 4;
        [does, byte(remoteness), says(&self.title) | says(&self.key) << 4]
    }
}

/// What an action does, by the verb of its title and by its method.
fn does(action: &Action) -> u8 {
    let by_method = match action.method {
        Method::Get => deed::READS,
        Method::Post => deed::MAKES,
        Method::Put | Method::Patch => deed::CHANGES,
        Method::Delete => deed::REMOVES,
    };
    let verb = humps(&action.title).into_iter().next().unwrap_or_default();
    let by_title = deeds(&verb) | deeds(verb.trim_end_matches('s'));
    // A `POST` may do anything; the title of another method may mean a noun.
    match by_title & by_method {
        _ if by_title == 0 => by_method,
        0 => by_title,
        _ if action.method == Method::Post => by_title,
        both => both,
    }
}

/// How rare a word is that so many actions have of all `rows`, in sixteenths.
#[expect(clippy::cast_precision_loss, reason = "a rarity need not be exact")]
fn rarity(rows: usize, having: f32) -> u8 {
    byte((1.0 + (rows as f32 + 1.0) / (having + FEWEST)).ln() * 16.0)
}

fn mark(weight: f32, places: u8) -> Mark {
    let weight = byte(weight * f32::from(Mark::MOST)).clamp(1, Mark::MOST);
    Mark(weight << 2 | places)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what does not fit becomes the nearest number that does"
)]
fn byte(number: f32) -> u8 {
    number.round() as u8
}

/// The platforms in the order of the index, each with where its first row is.
fn ordered<'a>(platforms: &[(&'a Platform, &'a Found)]) -> Vec<(usize, &'a Platform, &'a Found)> {
    let mut ordered = platforms.to_vec();
    ordered.sort_by_key(|(platform, found)| (!found.is_known, &platform.connector.platform));
    let mut first = 0_usize;
    let place = |(platform, found): (&'a Platform, &'a Found)| {
        let at = first;
        first = first.saturating_add(found.traits.len());
        (at, platform, found)
    };
    ordered.into_iter().map(place).collect()
}

/// A block of words, and its first word.
type WordBlock = (String, Vec<u8>);

/// The index, ready to be stored.
pub struct Written<'a> {
    /// The platforms in the order of their rows.
    pub platforms: Vec<&'a Platform>,
    /// The part with platforms and traits.
    pub traits: SectionWriter,
    /// The parts with words, each with its first word.
    pub words: Vec<(String, SectionWriter)>,
}

/// Writes the index of these platforms, in blocks of words of about `block` bytes and parts of about `part` bytes.
#[must_use]
pub fn write<'a>(
    platforms: &[(&'a Platform, &'a Found)],
    block: usize,
    part: usize,
) -> Written<'a> {
    let ordered = ordered(platforms);
    let rows = ordered.iter().map(|(_, _, found)| found.traits.len()).sum();
    let words = blocks(&all_words(&ordered), rows, block);
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
    Written {
        platforms: ordered.iter().map(|(_, platform, _)| *platform).collect(),
        traits: traits(&ordered),
        words: parts.into_iter().map(section).collect(),
    }
}

fn traits(ordered: &[(usize, &Platform, &Found)]) -> SectionWriter {
    let names = write_texts(ordered.iter().map(|(_, platform, _)| &platform.connector.platform));
    let entry = |(first, _, found): &(usize, &Platform, &Found)| {
        let facts = [found.name_words, u8::from(found.is_known), 0, 0];
        [number(*first), facts].concat()
    };
    let entries: Vec<u8> = ordered.iter().flat_map(entry).collect();
    let mut aliases: Vec<(&String, usize)> = ordered
        .iter()
        .enumerate()
        .flat_map(|(nth, (_, platform, _))| platform.aliases.iter().map(move |alias| (alias, nth)))
        .collect();
    // The same whatever order an import found them in.
    aliases.sort_unstable();
    let numbers: Vec<u8> = aliases.iter().flat_map(|(_, nth)| number(*nth)).collect();
    let aliases = [write_texts(aliases.iter().map(|(alias, _)| alias)), numbers];
    let mut blocks = vec![names, entries, write_texts(aliases.iter())];
    debug_assert_eq!(blocks.len(), BEFORE_ROWS);
    let rows: Vec<[u8; TRAITS]> =
        ordered.iter().flat_map(|(_, _, found)| found.traits.iter().copied()).collect();
    blocks.extend(rows.chunks(BLOCK_ROWS).map(<[[u8; TRAITS]]>::as_flattened).map(<[u8]>::to_vec));
    SectionWriter { blocks, rest: vec![rarity(rows.len(), 0.0)] }
}

/// Who has a word.
#[derive(Default)]
struct Having {
    platforms: Vec<(usize, Mark)>,
    rows: Vec<(usize, Mark)>,
    /// How many actions have the word through the name of their platform.
    named: usize,
}

fn all_words(ordered: &[(usize, &Platform, &Found)]) -> BTreeMap<String, Having> {
    let mut all: BTreeMap<String, Having> = BTreeMap::new();
    for (nth, (first, _, found)) in ordered.iter().enumerate() {
        for (word, mark) in &found.own {
            let having = all.entry(word.clone()).or_default();
            having.platforms.push((nth, *mark));
            if f32::from(mark.weight()) >= OF_ALIAS * f32::from(Mark::MOST) - 1.0 {
                having.named = having.named.saturating_add(found.traits.len());
            }
        }
        for (word, rows) in &found.words {
            let having = all.entry(word.clone()).or_default();
            let row = |(row, mark): &(u32, Mark)| (first.saturating_add(*row as usize), *mark);
            having.rows.extend(rows.iter().map(row));
        }
    }
    all
}

/// The words in blocks, each with its first word; there are `rows` actions.
fn blocks(all: &BTreeMap<String, Having>, rows: usize, most: usize) -> Vec<WordBlock> {
    let mut blocks = Vec::new();
    let mut held: Vec<(&String, Vec<u8>)> = Vec::new();
    let mut bytes = 0_usize;
    let write = |held: &mut Vec<(&String, Vec<u8>)>| {
        let first = held.first().map(|(word, _)| (*word).clone())?;
        let words = write_texts(held.iter().map(|(word, _)| word));
        let postings = write_texts(held.iter().map(|(_, postings)| postings));
        held.clear();
        Some((first, write_texts([words, postings].iter())))
    };
    for (word, having) in all {
        let postings = having.write(rows);
        if bytes.saturating_add(postings.len()) > most {
            blocks.extend(write(&mut held));
            bytes = 0;
        }
        bytes = bytes.saturating_add(postings.len());
        held.push((word, postings));
    }
    blocks.extend(write(&mut held));
    blocks
}

impl Having {
    #[expect(clippy::cast_precision_loss, reason = "a rarity need not be exact")]
    fn write(&self, rows: usize) -> Vec<u8> {
        let having = self.rows.len() as f32 + self.named as f32 * 0.3;
        let mut bytes = vec![rarity(rows, having)];
        write_varint(self.platforms.len(), &mut bytes);
        for list in [&self.platforms, &self.rows] {
            let mut before = 0;
            for (nth, mark) in list {
                write_varint(nth.saturating_sub(before), &mut bytes);
                bytes.push(mark.0);
                before = *nth;
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{
        Fields, Having, Mark, Stems, all_words, blocks, deed, does, find, ordered, rarity, write,
    };
    use crate::catalog::action::stored::Facts;
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
        let found = all.map(|one| find(one, &one.actions.iter().collect::<Vec<_>>()));
        let all: Vec<_> = all.into_iter().zip(&found).collect();
        let written = write(&all, 100, 100);
        let names = written.platforms.iter().map(|one| one.connector.platform.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["beta", "zeta", "acme"]);
        assert_eq!(found[0].own["acm"].places(), Mark::NAMED);
        // Whoever asks for a platform's name asks for all of its actions.
        let all = all_words(&ordered(&all));
        for (word, named) in [("acm", 2), ("hub", 2), ("other", 0), ("two", 0)] {
            assert_eq!(all[word].named, named, "{word}");
        }
    }

    #[test]
    fn words_of_the_platform_name_say_nothing_in_a_title() {
        let acme = platform("acme", "", "old-hub");
        let found = find(&acme, &[&action(Method::Get, "List acme old hub things")]);
        assert_eq!(found.traits[0][2], 3, "old, hub and thing");
    }

    #[test]
    fn parts_of_words_are_no_larger_than_they_may_be() {
        let acme = platform("acme", "", "old");
        let found = find(&acme, &acme.actions.iter().collect::<Vec<_>>());
        let blocks_of = |part| {
            let words = write(&[(&acme, &found)], 1, part).words;
            words.into_iter().map(|(_, section)| section.blocks).collect::<Vec<_>>()
        };
        let all = blocks_of(usize::MAX).concat();
        let both = all[0].len() + all[1].len();
        assert_eq!(blocks_of(both)[0].len(), 2);
        assert_eq!(blocks_of(both - 1)[0].len(), 1);
        assert_eq!(blocks_of(1).len(), all.len());
    }

    #[test]
    fn what_an_action_does_follows_from_its_verb_and_its_method() {
        for (method, title, expected) in [
            (Method::Get, "List issues", deed::READS),
            (Method::Get, "Widgets", deed::READS),
            (Method::Get, "Creates an issue", deed::MAKES),
            (Method::Post, "Widgets", deed::MAKES),
            (Method::Post, "Lists issues", deed::READS),
            (Method::Post, "Archive a thread", deed::CHANGES | deed::REMOVES),
            (Method::Post, "Start a job", deed::MAKES | deed::CHANGES),
            (Method::Put, "Archive a thread", deed::CHANGES),
            (Method::Put, "Start a job", deed::CHANGES),
            (Method::Patch, "Widgets", deed::CHANGES),
            (Method::Delete, "Archive a thread", deed::REMOVES),
        ] {
            assert_eq!(does(&action(method, title)), expected, "{method:?} {title}");
        }
    }

    #[test]
    fn the_last_name_in_a_path_says_most() {
        for path in ["/repos/{repo}/issues", "/repos/{repo}/issues/", "/repos/{repo}/issues/{id}"] {
            let facts = Facts { path: path.to_owned(), ..Facts::default() };
            let fields = Fields::of(&action(Method::Get, ""), &facts, &mut Stems::new());
            assert!(fields.sums["issu"].0 > fields.sums["repo"].0, "{path}");
        }
    }

    #[test]
    fn deep_deprecated_and_special_actions_are_remote() {
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
            let facts = Facts { path, description, deprecated, ..Facts::default() };
            let (action, mut stems) = (action(Method::Get, title), Stems::new());
            let fields = Fields::of(&action, &facts, &mut stems);
            let [_, remoteness, _] = fields.traits(&action, &facts, &BTreeSet::new(), &stems);
            assert_eq!(remoteness, expected, "{title} {facts:?}");
        }
    }

    #[test]
    fn a_word_is_rarer_the_fewer_actions_have_it() {
        for (rows, having, expected) in
            [(0, 0.0, 1), (1, 0.0, 2), (1000, 0.0, 63), (1000, 100.0, 36), (1000, 1000.0, 11)]
        {
            assert_eq!(rarity(rows, having), expected, "{rows} {having}");
        }
    }

    #[test]
    fn blocks_of_words_are_no_larger_than_they_may_be() {
        // What is stored of each word takes two bytes.
        let all: BTreeMap<String, Having> =
            ["a", "b", "c"].map(|word| (word.to_owned(), Having::default())).into();
        for (most, expected) in
            [(1, &["a", "b", "c"][..]), (3, &["a", "b", "c"]), (4, &["a", "c"]), (6, &["a"])]
        {
            let blocks = blocks(&all, 1, most);
            let firsts: Vec<&str> = blocks.iter().map(|(first, _)| first.as_str()).collect();
            assert_eq!(firsts, expected, "{most}");
        }
    }
}
