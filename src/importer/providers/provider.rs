//! Facts about a platform, which complete its document.

use crate::catalog::detail::{ConnectorDetail, variables};
use crate::catalog::model::Status;
use crate::importer::auth;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Provider {
    pub name: String,
    /// A single line.
    pub description: Option<String>,
    pub category: Option<String>,
    /// The name of the logo in the npm package `simple-icons`. The service serves the logo.
    pub logo: Option<String>,
    /// The maturity. Overrides the document.
    pub status: Option<Status>,
    /// The version of the API. Overrides the document.
    pub version: Option<String>,
    /// The names of documents about this platform. The first one that is imported becomes this
    /// platform.
    pub documents: Vec<String>,
    pub detail: ConnectorDetail,
}

impl Provider {
    /// Overrides the detail from a document with these facts.
    pub fn complete(&self, document: ConnectorDetail) -> ConnectorDetail {
        let known = &self.detail;
        let servers =
            if known.servers.is_empty() { document.servers } else { known.servers.clone() };
        let mut methods = known.auth_methods.clone();
        let ours = methods.len();
        for mut method in document.auth_methods {
            let same = methods
                .iter_mut()
                .take(ours)
                .find(|known| auth::has_same_purpose(&known.kind, &method.kind));
            if let Some(same) = same {
                auth::merge_scopes(&mut same.kind, method.kind);
                continue;
            }
            method.id = auth::unique_id(&methods, &method.id);
            // The facts may replace the servers, and so the variables in their URLs.
            let first = servers.first().map(|server| server.url.as_str()).unwrap_or_default();
            auth::remove_unused_fields(
                &mut method,
                &servers.iter().map(|server| server.url.as_str()),
            );
            auth::add_missing_fields(variables(first), &known.auth_methods, &mut method);
            methods.push(method);
        }
        ConnectorDetail {
            auth_methods: methods,
            servers,
            documentation_url: known.documentation_url.clone().or(document.documentation_url),
            license: document.license,
            headers: auth::templates::merge_headers(document.headers, &known.headers),
            verify: known.verify.clone(),
            account: known.account.clone(),
            pagination: known.pagination.clone(),
        }
    }
}
