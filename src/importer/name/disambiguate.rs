//! Disambiguates connectors with the same display name.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::Names;
use crate::importer::text;
use crate::util::case_fold::fold;

/// The maximum number of passes over the names. A lengthened name may collide with another name.
const MAX_PASSES: usize = 16;

/// Assigns a unique display name to each connector. `names` contains the platform and the possible
/// names of each connector.
///
/// Fixed names stay unchanged. Connectors with the same name get their next longer variants, if
/// these differ. Otherwise, the newest connector keeps the name and the others append their
/// versions. Names that are still equal get the platform appended.
pub fn disambiguate(names: &[(String, Names)]) -> Vec<String> {
    let mut candidates: Vec<NameCandidate<'_>> =
        names.iter().map(|(platform, names)| NameCandidate::new(platform, names)).collect();
    for _ in 0..MAX_PASSES {
        for group in name_collisions(&candidates) {
            lengthen(&mut candidates, &group);
        }
    }
    candidates.into_iter().map(|candidate| candidate.name).collect()
}

/// A connector during disambiguation.
struct NameCandidate<'a> {
    platform: &'a str,
    names: &'a Names,
    /// The index of the current variant.
    variant: usize,
    /// The current name.
    name: String,
    has_version: bool,
}

impl<'a> NameCandidate<'a> {
    fn new(platform: &'a str, names: &'a Names) -> Self {
        let name = names.variants.first().cloned().unwrap_or_default();
        Self { platform, names, variant: 0, name, has_version: false }
    }

    /// The variant that is longer by this number of steps, or the longest variant.
    fn longer_variant(&self, steps: usize) -> &str {
        let last = self.names.variants.len().saturating_sub(1);
        let longer_variant = self.names.variants.get(self.variant.saturating_add(steps).min(last));
        longer_variant.filter(|_| !self.has_version).unwrap_or(&self.name)
    }

    fn add(&mut self, more: &str) {
        let max_chars = text::MAX_NAME.saturating_sub(more.chars().count());
        self.name = format!("{}{more}", text::verbatim(&self.name, max_chars));
    }
}

/// The indexes of connectors with the same name, grouped.
fn name_collisions(candidates: &[NameCandidate<'_>]) -> Vec<Vec<usize>> {
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        groups.entry(fold(&candidate.name)).or_default().push(at);
    }
    let can_differ = |group: &Vec<usize>| {
        let fixed = group
            .iter()
            .filter_map(|at| candidates.get(*at))
            .filter(|candidate| candidate.names.is_fixed);
        group.len() > 1 && fixed.count() < group.len()
    };
    groups.into_values().filter(can_differ).collect()
}

/// Lengthens the names of a group of connectors.
fn lengthen(candidates: &mut [NameCandidate<'_>], group: &[usize]) {
    let limit = group
        .iter()
        .filter_map(|at| candidates.get(*at))
        .map(|candidate| candidate.names.variants.len())
        .max();
    let differ = |steps: &usize| {
        let names = group
            .iter()
            .filter_map(|at| candidates.get(*at))
            .map(|candidate| fold(candidate.longer_variant(*steps)));
        names.collect::<HashSet<String>>().len() > 1
    };
    if let Some(steps) = (1..limit.unwrap_or_default()).find(differ) {
        for at in group {
            if let Some(candidate) = candidates.get_mut(*at) {
                candidate.name = candidate.longer_variant(steps).to_owned();
                candidate.variant = candidate.variant.saturating_add(steps);
            }
        }
        return;
    }
    let mut order: Vec<usize> = group.to_vec();
    order.sort_by_key(|at| {
        candidates.get(*at).map(|candidate| {
            (!candidate.names.is_fixed, Reverse(&candidate.names.numbers), candidate.platform)
        })
    });
    let versions: Vec<[String; 2]> =
        order.iter().filter_map(|at| Some(candidates.get(*at)?.names.versions.clone())).collect();
    // Append the short form of the version if it is unique, otherwise the full form.
    let is_unique = |kind: usize, version: &String| {
        let same = versions.iter().filter(|other| other.get(kind) == Some(version)).count();
        same == 1 && !version.is_empty()
    };
    for at in order.into_iter().skip(1) {
        if let Some(candidate) =
            candidates.get_mut(at).filter(|candidate| !candidate.names.is_fixed)
        {
            let mut versions = candidate.names.versions.iter().enumerate();
            let version = versions.find(|(kind, version)| is_unique(*kind, version));
            let more = match version.filter(|_| !candidate.has_version) {
                Some((_, version)) => format!(" {version}"),
                None => format!(" ({})", candidate.platform),
            };
            candidate.add(&more);
            candidate.has_version = true;
        }
    }
}
