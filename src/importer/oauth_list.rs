//! Authorization servers by platform, from `config/oauth.json` of the npm package `grant` (MIT):
//! authorization and token endpoints, and scope separators. The list applies only if a platform's
//! document has no auth method; `providers.toml` overrides it.
//!
//! An entry applies only if both the name and the hosts match, since different platforms may have
//! the same name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::auth;
use super::server::{self, ResolvedServers};
use super::source::read_text;
use crate::catalog::detail::{
    AuthMethod, ConnectorDetail, Field, Grant, Kind, OAuth2, Parameters, urls, variables,
};

/// The id of the auth methods from this list.
const ID: &str = "npm-grant";

/// Maps the name of a platform, in letters and digits, to its authorization server.
#[derive(Debug, Clone, Default)]
pub struct OAuthList(BTreeMap<String, OAuth2>);

#[derive(Deserialize)]
struct Entry {
    authorize_url: String,
    access_url: String,
    oauth: u8,
    scope_delimiter: Option<String>,
}

impl OAuthList {
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&read_text(path)?).with_context(|| path.display().to_string())
    }

    pub fn parse(text: &str) -> Result<Self> {
        let entries: BTreeMap<String, Entry> = serde_json::from_str(text)?;
        // Skip platforms that support only OAuth 1.0a.
        let entries = entries.into_iter().filter(|(_, entry)| entry.oauth == 2);
        Ok(Self(entries.map(|(name, entry)| (letters(&name), entry.oauth2())).collect()))
    }

    /// Adds the listed auth method of a platform. Returns false without a change if the document
    /// has an auth method, the list lacks the platform, or the listed URLs have a different owner.
    pub fn complete(&self, platform: &str, detail: &mut ConnectorDetail) -> bool {
        let Some(known) = self.0.get(&letters(platform)) else { return false };
        if !detail.auth_methods.is_empty() {
            return false;
        }
        let servers = detail.servers.iter().filter_map(|server| registered_domain(&server.url));
        let servers: BTreeSet<&str> = servers.collect();
        let kind = Kind::OAuth2(Box::new(known.clone()));
        if !urls(&kind)
            .all(|url| registered_domain(url).is_some_and(|owner| servers.contains(owner)))
        {
            return false;
        }
        let fields = auth::fields(
            &kind,
            None,
            &ResolvedServers { fields: fields(detail), ..ResolvedServers::default() },
        );
        detail.auth_methods.push(AuthMethod {
            id: ID.to_owned(),
            kind,
            fields,
            headers: Parameters::new(),
            query: Parameters::new(),
        });
        true
    }
}

impl Entry {
    fn oauth2(self) -> OAuth2 {
        // The list writes variables as `https://[subdomain].example.com`.
        let url = |url: String| url.replace('[', "{").replace(']', "}");
        let (authorize, token) = (url(self.authorize_url), url(self.access_url));
        let standard = OAuth2::standard(Grant::AuthorizationCode, Some(authorize), token);
        // A space is the separator of RFC 6749.
        let scope_separator =
            self.scope_delimiter.unwrap_or_else(|| standard.scope_separator.clone());
        OAuth2 { scope_separator, ..standard }
    }
}

/// The fields for the variables in the URLs of a platform's servers.
fn fields(detail: &ConnectorDetail) -> Vec<Field> {
    let names: BTreeSet<&str> =
        detail.servers.iter().flat_map(|server| variables(&server.url)).collect();
    names.into_iter().map(|name| Field::required(name, &server::label(name))).collect()
}

/// Reduces a name to letters and digits, because the list uses `_` where platforms use `-`.
fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The registered domain of a URL: `example.com` of `https://{tenant}.api.example.com/v1`.
fn registered_domain(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', ':', '?']).next()?;
    let host = host.rsplit_once('}').map_or(host, |(_, host)| host.trim_start_matches('.'));
    psl::domain_str(host)
}

#[cfg(test)]
mod tests {
    use super::{OAuthList, registered_domain};
    use crate::catalog::detail::{AuthMethod, ConnectorDetail, Kind, Parameters, Server};

    const LIST: &str = r#"{
        "acme_works": {"authorize_url": "https://login.acme.com/authorize", "access_url": "https://login.acme.com/token",
            "oauth": 2, "scope_delimiter": ","},
        "shop": {"authorize_url": "https://[subdomain].shop.io/a", "access_url": "https://[subdomain].shop.io/t", "oauth": 2},
        "old": {"request_url": "https://old.com/r", "authorize_url": "https://old.com/a", "access_url": "https://old.com/t",
            "oauth": 1}
    }"#;

    fn detail(server: &str, methods: Vec<AuthMethod>) -> ConnectorDetail {
        let servers = vec![Server { url: server.to_owned(), description: None }];
        ConnectorDetail { auth_methods: methods, servers, ..ConnectorDetail::default() }
    }

    fn method(id: &str, kind: Kind) -> AuthMethod {
        let (headers, query) = (Parameters::new(), Parameters::new());
        AuthMethod { id: id.to_owned(), kind, fields: Vec::new(), headers, query }
    }

    #[test]
    fn completes_platform_without_methods() {
        let list = OAuthList::parse(LIST).unwrap();
        let mut acme = detail("https://api.acme.com/v1", vec![]);
        assert!(list.complete("acme-works", &mut acme));
        let [method] = &acme.auth_methods[..] else { panic!("{acme:?}") };
        assert_eq!((method.id.as_str(), method.fields.len()), ("npm-grant", 0));
        let oauth = method.oauth2().unwrap();
        assert_eq!(oauth.authorization_url.as_deref(), Some("https://login.acme.com/authorize"));
        assert_eq!(oauth.token_url, "https://login.acme.com/token");
        assert_eq!(oauth.scope_separator, ",");
    }

    #[test]
    fn variables_are_fields() {
        let list = OAuthList::parse(LIST).unwrap();
        let mut shop = detail("https://{subdomain}.shop.io/{version}", vec![]);
        assert!(list.complete("shop", &mut shop));
        let [method] = &shop.auth_methods[..] else { panic!("{shop:?}") };
        let fields: Vec<&str> = method.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(fields, ["subdomain", "version"]);
        let oauth = method.oauth2().unwrap();
        assert_eq!(oauth.token_url, "https://{subdomain}.shop.io/t");
        assert_eq!(oauth.scope_separator, " ");
    }

    #[test]
    fn ignores_urls_of_another_owner() {
        let list = OAuthList::parse(LIST).unwrap();
        let token = Kind::Bearer { prefix: "Bearer".to_owned() };
        for (platform, server, methods) in [
            ("other", "https://api.acme.com", vec![]),
            ("acme-works", "https://acme-works.rapidapi.com", vec![]),
            ("acme-works", "https://{host}/v1", vec![]),
            ("acme-works", "https://api.acme.com", vec![method("own", token)]),
            ("old", "https://old.com", vec![]),
        ] {
            let mut given = detail(server, methods);
            let before = given.clone();
            assert!(!list.complete(platform, &mut given), "{platform} {server}");
            assert_eq!(given, before);
        }
        assert!(!list.complete("acme-works", &mut ConnectorDetail::default()), "no server");
        assert!(OAuthList::parse("[]").is_err());
        assert_eq!(
            registered_domain("https://{tenant}.api.acme.co.uk:8443/v1"),
            Some("acme.co.uk")
        );
    }
}
