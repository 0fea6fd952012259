//! The outcome of each file of an import: a draft, a document of which only the name is used, or
//! nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::connector::Draft;
use super::document::{Document, Info};
use super::fetched::FetchedDocument;
use super::fetched::list::is_own;
use super::licence::{self, LicenceFilter};
use super::name::{NameSources, Names};
use super::paths::PathFilter;
use super::platform::Naming;
use super::providers::Providers;
use super::read::{self, Parsed, Rejection};
use super::report::Reason;
use super::scalar::{Format, OptionalMap};
use super::server::base::BaseUrls;
use super::source::{self, Source};
use super::{
    Import, action, auth, collisions, detail, hash, image, parts, server, translate, version,
};
use crate::catalog::detail::{ConnectorDetail, Kind, Parameters};

pub(super) static ALL_PATHS: std::sync::LazyLock<PathFilter> =
    std::sync::LazyLock::new(PathFilter::default);

/// The settings with which a file is imported.
#[derive(Clone, Copy)]
pub(super) struct Selection<'a> {
    pub(super) licence: LicenceFilter,
    pub(super) paths: &'a PathFilter,
    /// The base URL of the platform in `providers.toml`, if any.
    pub(super) address: Option<&'a str>,
    /// The URL of the GraphQL endpoint, if the document is a GraphQL schema.
    pub(super) endpoint: Option<&'a str>,
}

/// The outcome of reading one file.
pub(super) enum Outcome {
    Rows {
        naming: Naming,
        names: Names,
        draft: Box<Draft>,
        warnings: Vec<String>,
    },
    /// A document whose licence is not open. Only its name is used.
    Closed {
        naming: Naming,
        names: Names,
        content: u64,
        licence: Option<String>,
    },
    /// The file does not become a connector. Contains the reason.
    Nothing(Reason),
}

/// Skips each document that a newer document about the same platform replaces. The newer document
/// takes over the naming, so that no name changes.
pub(super) fn replace_older(outcomes: &mut [Outcome], paths: &[PathBuf], newer: &[PathBuf]) {
    let is_newer = |path: &Path| newer.iter().any(|newer| path.starts_with(newer));
    let (new, mut old): (Vec<_>, Vec<_>) =
        outcomes.iter_mut().zip(paths).partition(|(_, path)| is_newer(path));
    old.retain(|(outcome, _)| outcome.naming().is_some());
    if new.is_empty() {
        return;
    }
    let namings: Vec<&Naming> = old.iter().filter_map(|(outcome, _)| outcome.naming()).collect();
    let names = collisions::names(&namings);
    let mut by_name: HashMap<String, &mut Outcome> =
        names.into_iter().zip(old.into_iter().map(|(outcome, _)| outcome)).collect();
    for (outcome, path) in new {
        if let Outcome::Rows { naming, .. } = outcome
            && let Some(older) = by_name.remove(&naming.plain())
            && let Some(former) = older.naming()
        {
            naming.clone_from(former);
            *older = Outcome::Nothing(Reason::Replaced(path.clone()));
        }
    }
}

/// A downloaded file, and the documents of `sources.toml` that use it, one per platform.
pub(super) struct SharedDocument<'a> {
    pub(super) documents: Vec<&'a FetchedDocument>,
    pub(super) bytes: u64,
}

impl<'a> SharedDocument<'a> {
    /// Groups the documents by file, so that each file is read once.
    pub(super) fn new(fetched: &'a [FetchedDocument]) -> Vec<Self> {
        let mut files: BTreeMap<&Path, Vec<&FetchedDocument>> = BTreeMap::new();
        for document in fetched {
            files.entry(&document.path).or_default().push(document);
        }
        let shared = files.into_iter().map(|(path, documents)| {
            let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
            Self { documents, bytes }
        });
        shared.collect()
    }

    /// The outcome for each platform. Skips documents whose content differs from the accepted
    /// version.
    pub(super) fn outcomes(&self, job: &Import) -> Vec<(PathBuf, Outcome)> {
        let Some(first) = self.documents.first() else { return Vec::new() };
        let source =
            Source { path: first.path.clone(), root: first.path.clone(), bytes: self.bytes };
        let selections: Vec<Selection<'_>> = self
            .documents
            .iter()
            .map(|document| Selection {
                licence: if document.is_included(job.licence) {
                    LicenceFilter::Any
                } else {
                    job.licence
                },
                paths: &document.paths,
                address: job.address(&document.platform),
                endpoint: document.endpoint.as_deref(),
            })
            .collect();
        let nothing = |reason: &Reason| {
            self.documents.iter().map(|_| Outcome::Nothing(reason.clone())).collect()
        };
        let outcomes = match source::bytes(&source.path) {
            Ok(bytes) if hash::sha256(&bytes) == first.sha256 => {
                outcomes(&bytes, &source, &selections, &job.providers).0
            }
            Ok(_) => nothing(&Reason::Unreadable(
                "is not the document that sources.toml names: download it again".to_owned(),
            )),
            Err(e) => nothing(&Reason::Unreadable(e.to_string())),
        };
        let assigned = self.documents.iter().zip(outcomes).map(|(document, mut outcome)| {
            match &mut outcome {
                Outcome::Rows { naming, draft, .. } => {
                    *naming = Naming::assigned(&document.platform);
                    draft.detail.license =
                        draft.detail.license.take().or_else(|| document.license());
                }
                Outcome::Closed { licence, .. } => {
                    let licence = licence.take().or_else(|| Some(document.licence.clone()));
                    outcome = Outcome::Nothing(Reason::Licence(licence));
                }
                Outcome::Nothing(_) => {}
            }
            (PathBuf::from(&document.address), outcome)
        });
        assigned.collect()
    }
}

/// Skips documents about platforms that have a document in `sources.toml`. The fetched document
/// takes over the naming, so that no other name changes. A document of this project is incomplete,
/// so it is used only if no other document about its platform is imported.
pub(super) fn replace_by_fetched(
    outcomes: &mut [Outcome],
    fetched: &mut Vec<(PathBuf, Outcome)>,
    providers: &Providers,
) {
    let named: Vec<&mut Outcome> =
        outcomes.iter_mut().filter(|outcome| outcome.naming().is_some()).collect();
    let namings: Vec<&Naming> = named.iter().filter_map(|outcome| outcome.naming()).collect();
    let assigned_names = collisions::names(&namings);
    let entries = providers.pair(&assigned_names);
    let platforms: Vec<String> = assigned_names
        .iter()
        .map(|assigned_names| {
            entries
                .get(assigned_names)
                .map_or_else(|| assigned_names.clone(), |entry| (*entry).to_owned())
        })
        .collect();
    let mut by_platform: HashMap<String, &mut Outcome> = platforms.into_iter().zip(named).collect();
    let is_needed = |path: &Path, outcome: &Outcome| {
        let platform = outcome.naming().and_then(|naming| naming.assigned.as_ref());
        let other = platform.and_then(|platform| by_platform.get(platform));
        !is_own(path) || !matches!(other, Some(Outcome::Rows { .. }))
    };
    fetched.retain(|(path, outcome)| is_needed(path, outcome));
    for (path, outcome) in fetched {
        if let Outcome::Rows { naming, .. } = outcome
            && let Some(platform) = naming.assigned.clone()
            && let Some(older) = by_platform.remove(&platform)
            && let Some(former) = older.naming()
        {
            *naming = Naming { assigned: Some(platform), ..former.clone() };
            *older = Outcome::Nothing(Reason::Replaced(path.clone()));
        }
    }
}

/// Adds a hash of the content to the naming of documents with equal namings.
pub(super) fn disambiguate_platforms(outcomes: &mut [Outcome]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for naming in outcomes.iter().filter_map(Outcome::naming) {
        let count = counts.entry(naming.plain()).or_default();
        *count = count.saturating_add(1);
    }
    let is_shared = |naming: &Naming| counts.get(&naming.plain()).is_some_and(|count| *count > 1);
    for outcome in outcomes {
        match outcome {
            Outcome::Rows { naming, draft, .. } if is_shared(naming) => {
                naming.content = draft.content();
            }
            Outcome::Closed { naming, content, .. } if is_shared(naming) => {
                naming.content = *content;
            }
            _ => {}
        }
    }
}

/// Skips all but one of several equivalent documents. Prefers the first path with a draft.
pub(super) fn drop_copies(outcomes: &mut [Outcome], paths: &[PathBuf]) {
    let mut first: HashMap<Naming, PathBuf> = HashMap::new();
    for (outcome, path) in outcomes.iter_mut().zip(paths) {
        if let Outcome::Rows { naming, .. } = outcome
            && naming.content != 0
        {
            match first.get(naming) {
                Some(original) => *outcome = Outcome::Nothing(Reason::Duplicate(original.clone())),
                None => drop(first.insert(naming.clone(), path.clone())),
            }
        }
    }
    let mut named: HashSet<Naming> = first.into_keys().collect();
    for outcome in outcomes {
        if let Outcome::Closed { naming, licence, .. } = outcome
            && naming.content != 0
            && !named.insert(naming.clone())
        {
            *outcome = Outcome::Nothing(Reason::Licence(licence.take()));
        }
    }
}

impl Outcome {
    pub(super) const fn naming(&self) -> Option<&Naming> {
        match self {
            Self::Rows { naming, .. } | Self::Closed { naming, .. } => Some(naming),
            Self::Nothing(_) => None,
        }
    }

    pub(super) const fn names(&self) -> Option<&Names> {
        match self {
            Self::Rows { names, .. } | Self::Closed { names, .. } => Some(names),
            Self::Nothing(_) => None,
        }
    }
}

/// Imports a file. Returns its outcome, and the other files that its document refers to.
pub(super) fn outcome(
    bytes: &[u8],
    source: &Source,
    selection: Selection<'_>,
    providers: &Providers,
) -> (Outcome, BTreeSet<PathBuf>) {
    let (outcomes, files) = outcomes(bytes, source, &[selection], providers);
    let nothing = || Outcome::Nothing(Reason::Rejected(Rejection::NotOpenApi));
    (outcomes.into_iter().next().unwrap_or_else(nothing), files)
}

/// Imports a file once per selection. Returns the outcomes, and the other files that its document
/// refers to.
pub(super) fn outcomes(
    bytes: &[u8],
    source: &Source,
    selections: &[Selection<'_>],
    providers: &Providers,
) -> (Vec<Outcome>, BTreeSet<PathBuf>) {
    let refused = |refusal: &Rejection| {
        let refused = |_| Outcome::Nothing(Reason::Rejected(refusal.clone()));
        selections.iter().map(refused).collect::<Vec<_>>()
    };
    let text = match read::text(bytes) {
        Ok(text) => text,
        Err(refusal) => return (refused(&refusal), BTreeSet::new()),
    };
    let rows = |text: &str| match read::read(text) {
        Ok(Parsed::Json(document)) => {
            selections.iter().map(|selection| rows(&document, *selection, providers)).collect()
        }
        Ok(Parsed::Yaml(document)) => {
            selections.iter().map(|selection| rows(&document, *selection, providers)).collect()
        }
        Err(refusal) => refused(&refusal),
    };
    match translate(text, selections.first().and_then(|selection| selection.endpoint)) {
        Ok(Some(translated)) => return (rows(&translated), BTreeSet::new()),
        Ok(None) => {}
        Err(refusal) => return (refused(&refusal), BTreeSet::new()),
    }
    let whole = Some(text).filter(|text| parts::may_have_references(text));
    let Some(mut whole) = whole.and_then(|text| parts::merge(source, text)) else {
        return (rows(text), BTreeSet::new());
    };
    // The merged document is JSON, in which the version 1.10 would be the number 1.1.
    if let Ok(Parsed::Yaml(Document { info: Some(info), .. })) = read::read(text)
        && let Some(version) = whole.document.pointer_mut("/info/version")
    {
        *version = info.version.as_str().into();
    }
    let mut outcomes = rows(&whole.document.to_string());
    for outcome in &mut outcomes {
        match outcome {
            Outcome::Rows { warnings, .. } => warnings.extend(whole.faults.clone()),
            // The position refers to the merged document, which users never see.
            Outcome::Nothing(Reason::Rejected(Rejection::Broken(fault))) => fault.place = None,
            _ => {}
        }
    }
    (outcomes, whole.files)
}

/// Replaces the outcomes of files that are parts of other documents.
pub(super) fn claim_parts(
    outcomes: Vec<(Outcome, BTreeSet<PathBuf>)>,
    files: &[Source],
) -> Vec<Outcome> {
    let mut owners: HashMap<PathBuf, &Path> = HashMap::new();
    for ((_, parts), file) in outcomes.iter().zip(files) {
        for part in parts {
            owners.entry(part.clone()).or_insert(&file.path);
        }
    }
    let claim = |((outcome, _), file): ((Outcome, _), &Source)| {
        let path = file.path.canonicalize().ok().filter(|_| !owners.is_empty());
        match (path.and_then(|path| owners.get(&path).copied()), outcome) {
            (Some(owner), Outcome::Nothing(Reason::Rejected(Rejection::NotOpenApi))) => {
                Outcome::Nothing(Reason::Part(owner.to_owned()))
            }
            (_, outcome) => outcome,
        }
    };
    outcomes.into_iter().zip(files).map(claim).collect()
}

pub(super) fn rows<F: Format>(
    document: &Document<F>,
    selection: Selection<'_>,
    providers: &Providers,
) -> Outcome {
    let default_info = Info::default();
    let info = document.info.as_ref().unwrap_or(&default_info);
    let naming = Naming::new(
        info.provider.non_blank(),
        info.service.non_blank(),
        document.server(),
        info.title.as_str(),
        info.version.as_str(),
    );
    let owner = naming.owner();
    let names = Names::new(NameSources {
        provider: &naming.provider,
        service: info.service.as_str(),
        label: &owner,
        title: info.title.as_str(),
        version: &version::stated_version(info.version.as_str()),
    });
    let mut actions = action::collect(document, selection.paths);
    let mut warnings = std::mem::take(&mut actions.warnings);
    let required = detail::required(document, &actions);
    let (detail, schemes, skipped_parts) = connector_detail(document, &required, providers);
    warnings.extend(skipped_parts);
    let mut draft = Box::new(Draft::new(document, &names, detail, actions.rows.clone()));
    draft.schemes = schemes;
    if selection.licence == LicenceFilter::Open && !licence::is_open(&info.license) {
        let content = draft.content();
        return Outcome::Closed {
            naming,
            names,
            content,
            licence: licence::describe(&info.license),
        };
    }
    let document_url = draft.detail.servers.first().map(|server| server.url.as_str());
    let document_url = document_url.or_else(|| document.server());
    let base = selection.address.map(|address| BaseUrls::new(address, document_url));
    let details = detail::build(document, &actions, document_url, base.as_ref());
    draft.detail.headers = details.headers;
    draft.units = details.units;
    warnings.extend(details.skipped_parts);
    warnings.extend(
        document
            .skipped_parts()
            .map(|name| format!("`{name}` has the wrong type and was left out")),
    );
    Outcome::Rows { naming, names, draft, warnings }
}

/// Builds the detail of a document's connector. Also returns the auth methods of its security
/// schemes, and a warning for each unusable part.
pub(super) fn connector_detail<F>(
    document: &Document<F>,
    required: &[Vec<String>],
    providers: &Providers,
) -> (ConnectorDetail, Vec<(String, Kind)>, Vec<String>) {
    let servers = server::resolve(document);
    let methods = auth::convert(document, required, &servers, &|url| providers.server(url));
    let mut skipped_parts = methods.skipped_parts;
    // Relative URLs are common in downloaded documents. Report them only if the document has no
    // absolute URL.
    if servers.servers.is_empty() && !servers.skipped_parts.is_empty() {
        let urls = servers.skipped_parts.join("`, `");
        skipped_parts.push(format!("no server has an absolute URL: `{urls}`"));
    }
    let documentation = document.documentation.as_ref().and_then(|docs| match docs {
        OptionalMap::Given(documentation) => image::https(documentation.url.as_str()),
        OptionalMap::Absent | OptionalMap::Text(_) | OptionalMap::Other => None,
    });
    let license = document.info.as_ref().and_then(|info| licence::to_license(&info.license));
    let detail = ConnectorDetail {
        auth_methods: methods.methods,
        servers: servers.servers,
        documentation_url: documentation,
        license,
        headers: Parameters::new(),
        verify: None,
        account: None,
        pagination: Vec::new(),
    };
    (detail, methods.schemes, skipped_parts)
}
