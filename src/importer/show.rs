//! Formats a platform for the terminal.

use std::fmt::Write as _;

use super::check::ConnectorEntry;
use crate::catalog::detail::{AuthMethod, ConnectorDetail, Grant, Kind};
use crate::catalog::model::Action;
use crate::terms::Method;

/// The maximum number of actions in the output.
const MAX_SHOWN: usize = 10;

/// Formats a connector's fields, its auth methods, the number of actions per HTTP method, and the
/// first actions in list order.
pub fn platform(
    entry: &ConnectorEntry,
    detail: &ConnectorDetail,
    aliases: &[String],
    actions: &[Action],
) -> String {
    let row = &entry.connector;
    let mut text = String::new();
    let status = serde_json::to_value(row.status).unwrap_or_default();
    for (field, value) in [
        ("name", row.name.clone()),
        ("key", row.key.clone()),
        ("id", row.id.to_string()),
        ("status", status.as_str().unwrap_or_default().to_owned()),
        ("version", row.version.clone()),
        ("category", row.category.clone()),
        ("tags", row.tags.join(", ")),
        ("description", row.description.clone()),
        ("image", row.image.clone()),
        ("oauth", yes(row.oauth)),
        ("authkit", yes(entry.authkit)),
        ("active", yes(row.active)),
        ("known as", aliases.join(", ")),
        ("docs", detail.documentation_url.clone().unwrap_or_default()),
        ("licence", licence(detail)),
        (
            "servers",
            detail.servers.iter().map(|server| server.url.clone()).collect::<Vec<_>>().join(", "),
        ),
        ("connect by", methods(&detail.auth_methods)),
        ("actions", by_method(actions)),
    ] {
        let _ = writeln!(text, "{field:<12} {value}");
    }
    for action in actions.iter().take(MAX_SHOWN) {
        let (method, title, key) = (action.method.as_str(), &action.title, &action.key);
        let _ = writeln!(text, "  {method:<6} {title}  [{key}]");
    }
    if let Some(more) = actions.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "  … and {more} more");
    }
    text
}

fn licence(detail: &ConnectorDetail) -> String {
    let license = detail.license.as_ref();
    let texts = license.map(|license| [license.name.as_deref(), license.url.as_deref()]);
    texts.into_iter().flatten().flatten().collect::<Vec<_>>().join(", ")
}

/// Formats auth methods with their fields, as `oauth2 (oauth2), token (bearer: token)`.
fn methods(methods: &[AuthMethod]) -> String {
    if methods.is_empty() {
        return "none known".to_owned();
    }
    let method = |method: &AuthMethod| {
        let kind = match &method.kind {
            Kind::OAuth2(oauth) => match oauth.grant {
                Grant::AuthorizationCode => "oauth2",
                Grant::ClientCredentials | Grant::AccountCredentials => "oauth2 for clients",
            },
            Kind::ApiKey(_) => "api_key",
            Kind::Basic { .. } => "basic",
            Kind::Bearer { .. } => "bearer",
            Kind::AwsSigv4 { .. } => "aws_sigv4",
        };
        let fields: Vec<&str> = method.fields.iter().map(|field| field.name.as_str()).collect();
        let colon = if fields.is_empty() { "" } else { ": " };
        format!("{} ({kind}{colon}{})", method.id, fields.join(", "))
    };
    methods.iter().map(method).collect::<Vec<_>>().join("; ")
}

fn yes(flag: bool) -> String {
    if flag { "yes" } else { "no" }.to_owned()
}

/// Formats the number of actions per HTTP method, as `5: 3 GET, 2 POST`.
fn by_method(actions: &[Action]) -> String {
    let count = |method: Method| actions.iter().filter(|action| action.method == method).count();
    let counts: Vec<String> = Method::ALL
        .into_iter()
        .map(|method| (method, count(method)))
        .filter(|(_, count)| *count > 0)
        .map(|(method, count)| format!("{count} {}", method.as_str()))
        .collect();
    if counts.is_empty() {
        return "none".to_owned();
    }
    format!("{}: {}", actions.len(), counts.join(", "))
}
