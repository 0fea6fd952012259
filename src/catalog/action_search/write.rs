//! Writes the search index from the words of each platform and its actions.

use std::collections::BTreeMap;

use super::extract::{ALIAS_WEIGHT, PlatformIndex, rarity};
use super::index::{BLOCK_ROWS, FEATURE_BLOCKS_START, FEATURE_BYTES, PostingFlags, write_varint};
use crate::catalog::format::layout::{number, write_string_table};
use crate::catalog::format::section::SectionWriter;
use crate::catalog::write::Platform;

/// The platforms in index order, each with the number of its first row.
fn sort_platforms<'a>(
    platforms: &[(&'a Platform, &'a PlatformIndex)],
) -> Vec<(usize, &'a Platform, &'a PlatformIndex)> {
    let mut sorted = platforms.to_vec();
    sorted.sort_by_key(|(platform, platform_index)| {
        (!platform_index.is_well_known, &platform.connector.platform)
    });
    let mut first_row = 0_usize;
    let position = |(platform, platform_index): (&'a Platform, &'a PlatformIndex)| {
        let at = first_row;
        first_row = first_row.saturating_add(platform_index.features.len());
        (at, platform, platform_index)
    };
    sorted.into_iter().map(position).collect()
}

/// The first word of a block, and the serialized block.
type WordBlock = (String, Vec<u8>);

/// The index, ready to be stored.
pub struct WrittenIndex<'a> {
    /// In index order.
    pub platforms: Vec<&'a Platform>,
    pub features: SectionWriter,
    /// The parts with words, each with the first word of the part.
    pub words: Vec<(String, SectionWriter)>,
}

/// Serializes the index, with blocks of words of about `block` bytes and parts of about `part`
/// bytes.
pub fn write<'a>(
    platforms: &[(&'a Platform, &'a PlatformIndex)],
    block: usize,
    part: usize,
) -> WrittenIndex<'a> {
    let sorted_platforms = sort_platforms(platforms);
    let rows =
        sorted_platforms.iter().map(|(_, _, platform_index)| platform_index.features.len()).sum();
    let words = blocks(&postings_by_word(&sorted_platforms), rows, block);
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
        let rest = write_string_table(blocks.iter().map(|(first, _)| first));
        let blocks = blocks.into_iter().map(|(_, block)| block).collect();
        (first, SectionWriter { blocks, rest })
    };
    WrittenIndex {
        platforms: sorted_platforms.iter().map(|(_, platform, _)| *platform).collect(),
        features: features(&sorted_platforms),
        words: parts.into_iter().map(section).collect(),
    }
}

fn features(sorted_platforms: &[(usize, &Platform, &PlatformIndex)]) -> SectionWriter {
    let names = write_string_table(
        sorted_platforms.iter().map(|(_, platform, _)| &platform.connector.platform),
    );
    let entry = |(first, _, platform_index): &(usize, &Platform, &PlatformIndex)| {
        let info = [platform_index.name_words, u8::from(platform_index.is_well_known), 0, 0];
        [number(*first), info].concat()
    };
    let entries: Vec<u8> = sorted_platforms.iter().flat_map(entry).collect();
    let mut aliases: Vec<(&String, usize)> = sorted_platforms
        .iter()
        .enumerate()
        .flat_map(|(index, (_, platform, _))| {
            platform.aliases.iter().map(move |alias| (alias, index))
        })
        .collect();
    // Sorted, so that the stored bytes do not depend on the order in which the import found the names.
    aliases.sort_unstable();
    let numbers: Vec<u8> = aliases.iter().flat_map(|(_, index)| number(*index)).collect();
    let aliases = [write_string_table(aliases.iter().map(|(alias, _)| alias)), numbers];
    let mut blocks = vec![names, entries, write_string_table(aliases.iter())];
    debug_assert_eq!(blocks.len(), FEATURE_BLOCKS_START);
    let rows: Vec<[u8; FEATURE_BYTES]> = sorted_platforms
        .iter()
        .flat_map(|(_, _, platform_index)| platform_index.features.iter().copied())
        .collect();
    blocks.extend(
        rows.chunks(BLOCK_ROWS).map(<[[u8; FEATURE_BYTES]]>::as_flattened).map(<[u8]>::to_vec),
    );
    SectionWriter { blocks, rest: vec![rarity(rows.len(), 0.0)] }
}

/// The platforms and actions that contain a word.
#[derive(Default)]
struct WordPostings {
    platforms: Vec<(usize, PostingFlags)>,
    rows: Vec<(usize, PostingFlags)>,
    /// The number of actions of platforms whose name contains the word.
    actions_by_name: usize,
}

fn postings_by_word(
    sorted_platforms: &[(usize, &Platform, &PlatformIndex)],
) -> BTreeMap<String, WordPostings> {
    let mut all: BTreeMap<String, WordPostings> = BTreeMap::new();
    for (index, (first, _, platform_index)) in sorted_platforms.iter().enumerate() {
        for (word, flags) in &platform_index.platform_words {
            let postings = all.entry(word.clone()).or_default();
            postings.platforms.push((index, *flags));
            if f32::from(flags.weight()) >= ALIAS_WEIGHT * f32::from(PostingFlags::MAX_WEIGHT) - 1.0
            {
                postings.actions_by_name =
                    postings.actions_by_name.saturating_add(platform_index.features.len());
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

/// Splits the words into blocks of about `limit` bytes. `rows` is the number of actions.
fn blocks(all: &BTreeMap<String, WordPostings>, rows: usize, limit: usize) -> Vec<WordBlock> {
    let mut blocks = Vec::new();
    let mut pending: Vec<(&String, Vec<u8>)> = Vec::new();
    let mut bytes = 0_usize;
    let write = |pending: &mut Vec<(&String, Vec<u8>)>| {
        let first = pending.first().map(|(word, _)| (*word).clone())?;
        let words = write_string_table(pending.iter().map(|(word, _)| word));
        let postings = write_string_table(pending.iter().map(|(_, postings)| postings));
        pending.clear();
        Some((first, write_string_table([words, postings].iter())))
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
        let postings = self.rows.len() as f32 + self.actions_by_name as f32 * 0.3;
        let mut bytes = vec![rarity(rows, postings)];
        write_varint(self.platforms.len(), &mut bytes);
        for list in [&self.platforms, &self.rows] {
            let mut previous = 0;
            for (index, flags) in list {
                write_varint(index.saturating_sub(previous), &mut bytes);
                bytes.push(flags.0);
                previous = *index;
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{PostingFlags, WordPostings, blocks, postings_by_word, sort_platforms, write};
    use crate::catalog::action::unit::Units;
    use crate::catalog::action_search::extract::index_platform;
    use crate::catalog::action_search::extract::tests::action;
    use crate::catalog::detail::{ConnectorDetail, Request, Verify, rejected};
    use crate::catalog::logos;
    use crate::catalog::model::{Connector, Status};
    use crate::catalog::write::Platform;
    use crate::terms::Method;

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
    fn well_known_platforms_come_first_and_aliases_match() {
        let acme = platform("acme", "https://a.example/logo.svg", "old-hub");
        let zeta = platform("zeta", &format!("{}zeta.svg", logos::LOGO_FOLDER), "z");
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
        // A word of the platform's name counts for all of its actions.
        let all = postings_by_word(&sort_platforms(&all));
        for (word, actions_by_name) in [("acm", 2), ("hub", 2), ("other", 0), ("two", 0)] {
            assert_eq!(all[word].actions_by_name, actions_by_name, "{word}");
        }
    }

    #[test]
    fn platform_name_words_are_not_distinctive() {
        let acme = platform("acme", "", "old-hub");
        let platform_index =
            index_platform(&acme, &[&action(Method::Get, "List acme old hub things")]);
        assert_eq!(platform_index.features[0][2], 3, "old, hub and thing");
    }

    #[test]
    fn parts_of_words_respect_their_limit() {
        let acme = platform("acme", "", "old");
        let platform_index = index_platform(&acme, &acme.actions.iter().collect::<Vec<_>>());
        let block_count = |part| {
            let words = write(&[(&acme, &platform_index)], 1, part).words;
            words.into_iter().map(|(_, section)| section.blocks).collect::<Vec<_>>()
        };
        let all = block_count(usize::MAX).concat();
        let both = all[0].len() + all[1].len();
        assert_eq!(block_count(both)[0].len(), 2);
        assert_eq!(block_count(both - 1)[0].len(), 1);
        assert_eq!(block_count(1).len(), all.len());
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
