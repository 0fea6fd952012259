//! Resolves collisions between the names of platforms.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::platform::{Naming, plain_words, slug};
use super::{hash, text, version};
use crate::catalog::key::MAX_PLATFORM;

/// Assigns unique platform names to all documents of an import, independently of their order.
/// Documents with the same name are distinguished by the first of these properties that differs:
///
/// 1. provider: the shortest provider, or the alphabetically first one of equal length, keeps the
///    name; the others append their public suffix (`visma` and `visma-net`);
/// 2. title: a document keeps the name if only its title contains the name; the others append their
///    titles (`acme-billing` and `acme-users`);
/// 3. version: the newest document keeps the name; the others append their versions (`acme` and
///    `acme-v1`);
/// 4. content: all but the first append a short hash of their content.
pub fn names(namings: &[&Naming]) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, naming) in namings.iter().enumerate() {
        groups.entry(slug(&naming.words)).or_default().push(at);
    }
    let mut proposed: Vec<(bool, String, usize)> = Vec::with_capacity(namings.len());
    for (name, group) in groups {
        let members: Vec<(usize, &Naming)> =
            group.iter().filter_map(|at| Some((*at, *namings.get(*at)?))).collect();
        if members.len() == 1 {
            proposed.extend(group.into_iter().map(|at| (false, name.clone(), at)));
        } else {
            proposed.extend(
                by_provider(&members)
                    .into_iter()
                    .map(|(at, words)| (slug(&words) != name, slug(&words), at)),
            );
        }
    }
    // A document's original name takes precedence over an equal name with appended words.
    proposed.sort_by(|a, b| (a.0, &a.1, namings.get(a.2)).cmp(&(b.0, &b.1, namings.get(b.2))));
    let mut taken = HashSet::new();
    let mut names = vec![String::new(); namings.len()];
    for (_, name, at) in proposed {
        let mut unique = name.clone();
        let mut salt = namings.get(at).map_or(0, |naming| naming.content);
        while !taken.insert(unique.clone()) {
            unique = slug(&[
                text::head(&name, MAX_PLATFORM.saturating_sub(7)).to_owned(),
                hash::short(&salt.to_be_bytes()),
            ]);
            salt = salt.wrapping_add(1);
        }
        if let Some(slot) = names.get_mut(at) {
            *slot = unique;
        }
    }
    names
}

type Member<'a> = (usize, &'a Naming);
/// The index of each member, and the words of its new name.
type IndexedNames = Vec<(usize, Vec<String>)>;

fn by_provider(members: &[Member<'_>]) -> IndexedNames {
    let mut groups: BTreeMap<(usize, &str), Vec<Member<'_>>> = BTreeMap::new();
    for member in members {
        groups.entry((member.1.provider.len(), &member.1.provider)).or_default().push(*member);
    }
    let first = |n: usize| n == 0;
    let describe = |(n, group): (usize, Vec<Member<'_>>)| {
        let suffix = group
            .first()
            .filter(|_| !first(n))
            .map(|(_, naming)| naming.suffix.clone())
            .unwrap_or_default();
        by_title(&group, &suffix)
    };
    groups.into_values().enumerate().flat_map(describe).collect()
}

fn by_title(members: &[Member<'_>], suffix: &[String]) -> IndexedNames {
    let titles: BTreeSet<&[String]> =
        members.iter().map(|(_, naming)| naming.title.as_slice()).collect();
    let contains_name = |title: &[String]| {
        let name = members.first().map(|(_, naming)| naming.words.concat()).unwrap_or_default();
        title.concat().contains(&name)
    };
    let is_only_match = titles.iter().filter(|title| contains_name(title)).count() == 1;
    let names_of = |title: &[String]| {
        let group: Vec<Member<'_>> =
            members.iter().filter(|(_, naming)| naming.title == title).copied().collect();
        by_version(&group, suffix, titles.len() > 1 && !(is_only_match && contains_name(title)))
    };
    titles.iter().flat_map(|title| names_of(title)).collect()
}

fn by_version(members: &[Member<'_>], suffix: &[String], with_title: bool) -> IndexedNames {
    let mut members = members.to_vec();
    members.sort_by_key(|(_, naming)| {
        (std::cmp::Reverse((numbers(&naming.version), &naming.version)), naming.content)
    });
    let newest = members.first().map(|(_, naming)| naming.version.clone()).unwrap_or_default();
    let majors: Vec<String> =
        members.iter().map(|(_, naming)| version::platform_version(&naming.version)).collect();
    let mut seen: HashSet<Vec<String>> = HashSet::new();
    let mut named = IndexedNames::new();
    for (at, naming) in members {
        let (provider, service) =
            naming.words.split_at_checked(naming.provider_words).unwrap_or_default();
        let mut words = [provider, suffix, service].concat();
        if with_title {
            let unmentioned: Vec<String> =
                naming.title.iter().filter(|word| !words.contains(word)).cloned().collect();
            words.extend(unmentioned);
        }
        if naming.version != newest {
            let major = version::platform_version(&naming.version);
            let is_unique = majors.iter().filter(|given| **given == major).count() == 1;
            words.extend(if is_unique {
                vec![major]
            } else {
                plain_words(&naming.version.to_lowercase())
            });
        }
        if !seen.insert(words.clone()) {
            words.push(hash::short(&naming.content.to_be_bytes()));
        }
        named.push((at, words));
    }
    named
}

/// The numbers in a version, for comparing versions.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}
