//! The properties of a document that are compared with its new version: the operations, and the
//! hosts that receive requests and credentials.

use std::collections::BTreeSet;

use crate::catalog::detail::{AuthMethod, Kind};
use crate::importer::document::Document;
use crate::importer::paths::PathFilter;
use crate::importer::providers::Providers;
use crate::importer::read::{Parsed, Rejection};
use crate::importer::server::entry::Servers;
use crate::importer::{action, auth, detail, read, server, translate};

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Description {
    /// Operations, such as `GET /users/{id}`.
    pub operations: BTreeSet<String>,
    /// The hosts of the servers, authorization endpoints and token endpoints.
    pub hosts: BTreeSet<String>,
}

/// Describes a document, limited to the operations on the selected paths.
pub fn describe(
    bytes: &[u8],
    paths: &PathFilter,
    endpoint: Option<&str>,
) -> Result<Description, Rejection> {
    let text = read::text(bytes)?;
    let converted = translate(text, endpoint)?;
    match read::read(converted.as_deref().unwrap_or(text))? {
        Parsed::Json(document) => Ok(describe_document(&document, paths)),
        Parsed::Yaml(document) => Ok(describe_document(&document, paths)),
    }
}

fn describe_document<F>(document: &Document<F>, paths: &PathFilter) -> Description {
    let actions = action::collect(document, paths);
    let operations = actions.operations.iter().map(|found| {
        let action::LocatedOperation { path, method, .. } = found;
        format!("{} {path}", method.as_str())
    });
    let mut description = Description { operations: operations.collect(), ..Default::default() };
    let servers = server::resolve(document);
    let required = detail::required(document, &actions);
    let methods =
        auth::convert(document, &required, &servers, &|url| Providers::default().server(url));
    let mut urls: Vec<&str> = servers.servers.iter().map(|server| server.url.as_str()).collect();
    urls.extend(methods.methods.iter().flat_map(endpoints));
    let document_servers =
        actions.operations.iter().flat_map(|found| [&found.operation.servers, &found.item.servers]);
    urls.extend(
        document_servers.flat_map(|Servers { list, .. }| list).map(|entry| entry.url.as_str()),
    );
    description.hosts.extend(urls.into_iter().filter_map(host));
    description
}

/// The URLs of a method that receive users or credentials.
fn endpoints(method: &AuthMethod) -> impl Iterator<Item = &str> {
    let oauth = match &method.kind {
        Kind::OAuth2(oauth) => Some(oauth),
        _ => None,
    };
    oauth.into_iter().flat_map(|oauth| {
        let token = Some(oauth.token_url.as_str());
        [
            oauth.authorization_url.as_deref(),
            token,
            oauth.refresh_url.as_deref(),
            oauth.revocation_url.as_deref(),
        ]
        .into_iter()
        .flatten()
    })
}

/// The host of a URL, including the port and variables.
fn host(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.to_ascii_lowercase()).filter(|host| !host.is_empty())
}
