//! Names the platforms of an import, and adds known facts to each platform.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::connector::Draft;
use super::name::{self, Names};
use super::outcome::Outcome;
use super::overrides::Override;
use super::platform::Naming;
use super::providers::Providers;
use super::{Import, collisions, server_match};
use crate::catalog::detail::Server;
use crate::catalog::write::Platform;

/// The path and the servers of each document that has a naming.
pub(super) fn paths_and_servers(outcomes: &[(PathBuf, Outcome)]) -> Vec<(&Path, &[Server])> {
    let named = outcomes.iter().filter(|(_, outcome)| outcome.naming().is_some());
    named
        .map(|(path, outcome)| match outcome {
            Outcome::Rows { draft, .. } => (path.as_path(), draft.detail.servers.as_slice()),
            // Documents that are not imported have no servers to compare.
            Outcome::Closed { .. } | Outcome::Nothing(_) => (path.as_path(), [].as_slice()),
        })
        .collect()
}

/// The names of all platforms: first of the documents, then of the entries without a document. Each
/// item is the final name and, if different, the name derived from the document. If the servers of
/// a document differ from the servers of the entry with its name, the document describes another
/// platform; this adds a warning. A document of `sources.toml` belongs to its assigned platform.
pub(super) fn names(
    namings: &[&Naming],
    paths_and_servers: &[(&Path, &[Server])],
    providers: &Providers,
    warnings: &mut Vec<String>,
) -> Vec<Vec<String>> {
    let participants: Vec<_> = namings
        .iter()
        .copied()
        .zip(paths_and_servers)
        .filter(|(naming, _)| naming.needs_unique_name())
        .collect();
    let document_name: Vec<&Naming> = participants.iter().map(|(naming, _)| *naming).collect();
    let mut assigned_names = collisions::names(&document_name);
    let entries = providers.pair(&assigned_names);
    for (index, (naming, (path, servers))) in participants.into_iter().enumerate() {
        let Some(name) = assigned_names.get(index).filter(|_| naming.assigned.is_none()) else {
            continue;
        };
        let Some((entry, known)) =
            entries.get(name).and_then(|entry| providers.0.get_key_value(*entry))
        else {
            continue;
        };
        let Some(server) = server_match::foreign_server(servers, &known.detail.servers) else {
            continue;
        };
        let document_name = distinguish(&naming.with_title(), &assigned_names, providers);
        warnings.push(format!(
            "{}: it is filed under the name of {}, but its server `{server}` is not one of {entry}'s: it became the platform `{document_name}`",
            path.display(),
            known.name,
        ));
        if let Some(assigned_names) = assigned_names.get_mut(index) {
            *assigned_names = document_name;
        }
    }
    let assigned: HashSet<&str> =
        namings.iter().filter_map(|naming| naming.assigned.as_deref()).collect();
    let mut assigned_names = assigned_names.iter();
    let document_name = namings.iter().map(|naming| {
        let assigned_names = if naming.needs_unique_name() { assigned_names.next() } else { None };
        let entry = assigned_names.and_then(|assigned_names| entries.get(assigned_names));
        let entry =
            entry.filter(|entry| !assigned.contains(**entry)).map(|entry| (*entry).to_owned());
        let document_name = naming.assigned.clone().or(entry);
        let mut names: Vec<String> =
            document_name.into_iter().chain(assigned_names.cloned()).collect();
        names.dedup();
        names
    });
    let mut names: Vec<Vec<String>> = document_name.collect();
    // An entry without a document becomes a platform, unless any document has the same name.
    let used: HashSet<String> = names.iter().filter_map(|names| names.first().cloned()).collect();
    let unused = providers.0.keys().filter(|name| !used.contains(*name));
    names.extend(unused.map(|name| vec![name.clone()]));
    names
}

/// The name, with a number appended if another platform has the same name.
pub(super) fn distinguish(name: &str, assigned_names: &[String], providers: &Providers) -> String {
    let is_taken = |name: &String| {
        assigned_names.contains(name)
            || providers.0.contains_key(name)
            || providers.0.values().any(|known| known.documents.contains(name))
    };
    let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// The display names of the platforms, at the same indexes as `names`.
pub(super) fn display_names(
    outcomes: &[(PathBuf, Outcome)],
    names: &[Vec<String>],
    overrides: &[Override],
    providers: &Providers,
) -> Vec<String> {
    let sources = outcomes.iter().filter_map(|(_, outcome)| outcome.names());
    let mut sources = sources.map(Some).chain(std::iter::repeat(None));
    let possible = |(names, overrides): (&Vec<String>, &Override)| {
        let sources = sources.next().flatten();
        let document_name = names.first().map_or("", String::as_str);
        let known = providers.0.get(document_name).map(|known| &known.name);
        let platform = overrides.rename.clone().unwrap_or_else(|| document_name.to_owned());
        let possible = match (overrides.name.as_ref().or(known), sources) {
            (Some(chosen), _) => Names::fixed(chosen),
            (None, Some(sources)) if !sources.shortest().is_empty() => sources.clone(),
            (None, _) => Names::from_platform(&platform),
        };
        (platform, possible)
    };
    let possible: Vec<(String, Names)> = names.iter().zip(overrides).map(possible).collect();
    name::disambiguate::disambiguate(&possible)
}

/// Creates the platform of a draft. `names` is an item of the result of [`names()`], `display_name` is the
/// display name. Adds the faults of the overrides to `faults`.
pub(super) fn platform(
    draft: Draft,
    names: Vec<String>,
    display_name: String,
    job: &Import,
    overrides: &Override,
    faults: &mut Vec<String>,
) -> Platform {
    let mut names = names.into_iter();
    let document_name = names.next().unwrap_or_default();
    let known = job.providers.0.get(&document_name);
    let claimed = known.into_iter().flat_map(|known| &known.documents);
    let mut aliases: Vec<String> = names.chain(claimed.cloned()).collect();
    let platform = match &overrides.rename {
        Some(name) => {
            aliases.push(document_name);
            name.clone()
        }
        None => document_name,
    };
    let mut fault = |what: String| faults.push(job.overrides.fault(overrides, &what));
    Platform { aliases, ..draft.finish(platform, display_name, known, overrides, &mut fault) }
}
