//! `catalog list --coverage`: lists auth methods, actions and sources for each platform of
//! `providers.toml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use jiff::civil::Date;

use super::DEFAULT_LIST;
use super::list::{DocumentFormat, SourceList};
use crate::catalog::detail::Kind;
use crate::importer::check::{ConnectorEntry, Details, OpenCatalog, StoredPlatform};
use crate::importer::folder::Folder;
use crate::importer::providers::Providers;
use crate::importer::report::format_count;
use crate::importer::shipped_files::shipped_path;

#[derive(Debug, Default)]
struct Row {
    methods: String,
    is_verified: bool,
    actions: u32,
    source: String,
}

/// Reports the coverage of the catalog in a folder, using the project's `providers.toml` and
/// `sources.toml`.
pub fn report(folder: &Folder) -> Result<String> {
    let providers = Providers::read(&shipped_path(Path::new("providers.toml")))?;
    let list = SourceList::read(&shipped_path(Path::new(DEFAULT_LIST)))?;
    let opened = OpenCatalog::new(folder)?;
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    Ok(text(&rows(&providers, &list, &opened.connectors()?, opened.details()?, today)))
}

fn rows(
    providers: &Providers,
    list: &SourceList,
    entries: &[ConnectorEntry],
    mut details: Details,
    today: Date,
) -> BTreeMap<String, Row> {
    let by_name: BTreeMap<&str, &ConnectorEntry> =
        entries.iter().map(|entry| (entry.connector.platform.as_str(), entry)).collect();
    let row = |name: &String| {
        let StoredPlatform { detail, .. } = details.take(name);
        let mut methods: Vec<&str> =
            detail.auth_methods.iter().map(|method| kind(&method.kind)).collect();
        methods.dedup();
        let actions = by_name.get(name.as_str()).map_or(0, |entry| entry.connector.tools);
        let row = Row {
            methods: methods.join(", "),
            is_verified: detail.verify.is_some(),
            actions,
            source: source(list, name, actions, today),
        };
        (name.clone(), row)
    };
    providers.0.keys().map(row).collect()
}

const fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::OAuth2(_) => "oauth2",
        Kind::ApiKey(_) => "api_key",
        Kind::Bearer { .. } => "bearer",
        Kind::Basic { .. } => "basic",
        Kind::AwsSigv4 { .. } => "aws_sigv4",
    }
}

/// The source of the actions, and the age of the source.
fn source(list: &SourceList, name: &str, actions: u32, today: Date) -> String {
    let listed = list.0.get(name);
    if let Some(own) = listed.filter(|source| source.own_file().is_some()) {
        let state = if actions == 0 { "not imported: " } else { "" };
        return format!("{state}{}", own.address);
    }
    let pin = listed.and_then(|source| Some((source, source.pin.as_ref()?)));
    // If the numbers of actions differ, the catalog was built from another document.
    let is_fetched = pin.is_some_and(|(_, pin)| u32::try_from(pin.operations) == Ok(actions));
    match (pin, listed) {
        (Some((source, pin)), _) if is_fetched => {
            let days = today.since(pin.read).map_or(0, |span| span.get_days());
            let format = match source.format {
                DocumentFormat::Openapi => "openapi",
                DocumentFormat::GoogleDiscovery => "google-discovery",
                DocumentFormat::Graphql => "graphql",
            };
            format!("{format}, read {days} days ago")
        }
        (_, Some(source)) if actions == 0 => format!("not fetched: {}", source.address),
        _ if actions == 0 => "none".to_owned(),
        _ => "imported".to_owned(),
    }
}

fn text(rows: &BTreeMap<String, Row>) -> String {
    let mut text = String::new();
    let name_width = rows.keys().map(String::len).max().unwrap_or_default();
    let method_width = rows.values().map(|row| row.methods.len()).max().unwrap_or_default();
    for (name, row) in rows {
        let Row { methods, is_verified, actions, source } = row;
        let check = if *is_verified { "verify" } else { "-" };
        let actions = format_count(*actions as usize, "action");
        let _ = writeln!(
            text,
            "{name:<name_width$}  {methods:<method_width$}  {check:<6}  {actions:>13}  {source}"
        );
    }
    let with_actions = rows.values().filter(|row| row.actions > 0).count();
    let verified = rows.values().filter(|row| row.is_verified).count();
    let platforms = format_count(rows.len(), "platform");
    let _ = writeln!(text, "{platforms}: {with_actions} with actions, {verified} with `verify`");
    text
}
