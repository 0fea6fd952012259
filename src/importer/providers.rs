//! `providers.toml`: what is known of well-known platforms that no document says.
//!
//! An entry adds to the document about its platform, and makes a connector also where there is none.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use super::auth;
use super::server::{self, Found};
use super::{category, image, platform, text};
use crate::catalog::detail::{
    Account, ApiKey, AuthMethod, ConnectorDetail, Field, Grant, In, Kind, OAuth2, Parameters, Pkce,
    Request, Scope, Server, TokenAuth, TokenBody, urls, variables,
};
use crate::terms::Method;

/// All entries, by the name of the platform.
#[derive(Debug, Clone, Default)]
pub struct Providers(pub BTreeMap<String, Provider>);

/// What is known of a platform.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Provider {
    /// Display name.
    pub name: String,
    /// One line.
    pub description: Option<String>,
    /// In words.
    pub category: Option<String>,
    /// The names that the documents about the platform give it; the first that is imported becomes this platform.
    pub documents: Vec<String>,
    /// How users connect, and where the API is.
    pub detail: ConnectorDetail,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    platforms: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    description: Option<String>,
    category: Option<String>,
    /// The name of the brand's logo in the npm package `simple-icons`.
    #[serde(rename = "logo")]
    _logo: Option<String>,
    #[serde(default)]
    documents: Vec<String>,
    documentation: Option<String>,
    #[serde(default)]
    servers: Vec<String>,
    verify: Option<String>,
    account: Option<AccountEntry>,
    #[serde(default)]
    auth: Vec<AuthEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccountEntry {
    request: String,
    id: String,
    name: Option<String>,
}

/// A method: the members of all kinds, of which each kind has its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AuthEntry {
    id: String,
    r#type: Type,
    /// Where the facts were read: a page of the platform's documentation, or an openly licensed list.
    source: String,
    /// The day on which they were read.
    read: String,
    fields: Option<Vec<FieldEntry>>,
    grant: Option<Grant>,
    issuer: Option<String>,
    authorization_url: Option<String>,
    token_url: Option<String>,
    refresh_url: Option<String>,
    revocation_url: Option<String>,
    #[serde(default)]
    scopes: Vec<Scope>,
    scope_separator: Option<String>,
    #[serde(default)]
    pkce: Pkce,
    #[serde(default)]
    token_auth: TokenAuth,
    #[serde(default)]
    authorization_parameters: Parameters,
    #[serde(default)]
    token_parameters: Parameters,
    #[serde(default)]
    token_body: TokenBody,
    token_pointer: Option<String>,
    #[serde(default)]
    token_members: Vec<String>,
    r#in: Option<In>,
    name: Option<String>,
    prefix: Option<String>,
    username_label: Option<String>,
    password_label: Option<String>,
    service: Option<String>,
    #[serde(default)]
    regions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Type {
    #[serde(rename = "oauth2")]
    OAuth2,
    ApiKey,
    Basic,
    Bearer,
    AwsSigv4,
}

/// A field; unlike in an answer, what is not said is as most fields are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldEntry {
    name: String,
    label: Option<String>,
    description: Option<String>,
    #[serde(default)]
    secret: bool,
    required: Option<bool>,
    pattern: Option<String>,
    r#enum: Option<Vec<String>>,
    default: Option<String>,
}

impl Providers {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read, or contains anything unknown or invalid.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads the content of a file that is called `file`.
    ///
    /// # Errors
    /// As [`read`](Self::read), with all faults.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let read: File = toml::from_str(text).with_context(|| file.to_owned())?;
        let mut faults = Vec::new();
        let mut providers = BTreeMap::new();
        for (name, entry) in read.platforms {
            let mut fault =
                |what: String| faults.push(format!("{file}: [platforms.{name}]: {what}"));
            let provider = entry.provider(&name, &mut fault);
            providers.insert(name, provider);
        }
        let mut claimed: HashMap<&str, &str> = HashMap::new();
        for (name, provider) in &providers {
            for document in &provider.documents {
                if let Some(other) = claimed.insert(document, name) {
                    faults.push(format!(
                        "{file}: [platforms.{name}]: `documents` has `{document}`, as {other} has"
                    ));
                }
            }
        }
        if !faults.is_empty() {
            bail!("{}", faults.join("\n"));
        }
        Ok(Self(providers))
    }

    /// The facts of the authorization server to which this URL leads. Returns `None` when no entry knows it, or when
    /// its URLs differ for each customer.
    #[must_use]
    pub fn server(&self, authorization_url: &str) -> Option<OAuth2> {
        let plain = |url: &str| url.trim_end_matches('/').to_ascii_lowercase();
        let wanted = plain(authorization_url);
        let methods = self.0.values().flat_map(|provider| &provider.detail.auth_methods);
        let known = methods.filter_map(|method| match &method.kind {
            Kind::OAuth2(oauth) => Some(oauth.as_ref()),
            _ => None,
        });
        let is_wanted = |oauth: &&OAuth2| {
            oauth.authorization_url.as_ref().is_some_and(|url| plain(url) == wanted)
                && variables(&oauth.token_url).next().is_none()
        };
        known.into_iter().find(is_wanted).cloned()
    }

    /// Which entry each imported platform belongs to, by the names that documents give. A document that has the name of
    /// an entry belongs to it, unless another entry claims that document.
    #[must_use]
    pub fn pair(&self, names: &[String]) -> HashMap<String, &str> {
        let present: HashSet<&str> = names.iter().map(String::as_str).collect();
        let claimed: HashSet<&str> =
            self.0.values().flat_map(|provider| &provider.documents).map(String::as_str).collect();
        let mut pairs = HashMap::new();
        for (name, provider) in &self.0 {
            let own = Some(name.as_str()).filter(|name| !claimed.contains(name));
            let documents = provider.documents.iter().map(String::as_str);
            let mut claims = own.into_iter().chain(documents);
            if let Some(document) = claims.find(|document| present.contains(document)) {
                pairs.insert(document.to_owned(), name.as_str());
            }
        }
        pairs
    }
}

impl Entry {
    fn provider(self, platform: &str, fault: &mut dyn FnMut(String)) -> Provider {
        let Self {
            name,
            description,
            category,
            documents,
            servers,
            documentation,
            verify,
            account,
            auth,
            ..
        } = self;
        if !platform::is_valid(platform) {
            fault("the name must be 1–64 of a-z, 0-9 and -".to_owned());
        }
        for (what, text, max) in [
            ("name", Some(&name), text::MAX_NAME),
            ("description", description.as_ref(), text::MAX_DESCRIPTION),
            ("category", category.as_ref(), category::MAX_CHARS),
        ] {
            if text.is_some_and(|text| !text::is_line(text, max)) {
                fault(format!("`{what}` must be one line of 1 to {max} characters"));
            }
        }
        // Where the variables of fields may stand, besides a method's own URLs.
        let mut addresses = servers.clone();
        addresses.extend(verify.clone());
        addresses.extend(account.as_ref().map(|account| account.request.clone()));
        let mut ids = HashSet::new();
        let mut auth_methods = Vec::with_capacity(auth.len());
        for entry in auth {
            let id = entry.id.clone();
            if !ids.insert(id.clone()) {
                fault(format!("two methods have the id `{id}`"));
            }
            match entry.method(&addresses) {
                Ok(method) => auth_methods.push(method),
                Err(what) => fault(format!("the method `{id}`: {what}")),
            }
        }
        for url in &servers {
            check_url(url, &auth_methods, "`servers`", fault);
        }
        for method in &auth_methods {
            for url in urls(&method.kind) {
                check_url(url, std::slice::from_ref(method), &format!("`{}`", method.id), fault);
            }
        }
        if documentation.as_deref().is_some_and(|url| image::https(url).is_none()) {
            fault("`documentation` is not an `https` URL".to_owned());
        }
        if let Some(account) = &account
            && [Some(&account.id), account.name.as_ref()]
                .into_iter()
                .flatten()
                .any(|pointer| !pointer.starts_with('/'))
        {
            fault("`account`: `id` and `name` are JSON Pointers, such as `/id`".to_owned());
        }
        let mut request = |text: &str| {
            let request = request(text);
            if request.is_none() {
                fault(format!("`{text}` is not a method and a path, such as `GET /user`"));
            }
            let has = |name: &str| {
                let mut fields = auth_methods.iter().flat_map(|method| &method.fields);
                fields.any(|field| field.name == name)
            };
            if let Some(name) = variables(text).find(|name| !has(name)) {
                fault(format!("no field stands for `{{{name}}}` in `{text}`"));
            }
            request
        };
        let verify = verify.as_deref().and_then(&mut request);
        let account = account.and_then(|account| {
            let request = request(&account.request)?;
            Some(Account { request, id: account.id, name: account.name })
        });
        let server =
            |url: &String| Server { url: url.trim_end_matches('/').to_owned(), description: None };
        let detail = ConnectorDetail {
            auth_methods,
            servers: servers.iter().map(server).collect(),
            documentation_url: documentation,
            license: None,
            verify,
            account,
        };
        Provider { name, description, category, documents, detail }
    }
}

/// Checks that a URL is `https` and that a field stands for each of its variables.
fn check_url(url: &str, methods: &[AuthMethod], what: &str, fault: &mut dyn FnMut(String)) {
    if !url.starts_with("https://") {
        fault(format!("{what}: `{url}` is not an `https` URL"));
    }
    for name in variables(url) {
        let has = |method: &AuthMethod| method.fields.iter().any(|field| field.name == name);
        if !methods.iter().any(has) {
            fault(format!("{what}: no field stands for `{{{name}}}` in `{url}`"));
        }
    }
}

/// `GET /user` as a request. Returns `None` for any other text.
fn request(text: &str) -> Option<Request> {
    let (method, path) = text.split_once(' ')?;
    let is_path = path.starts_with('/') || path.starts_with("https://");
    let method = Method::ALL.into_iter().find(|known| known.as_str() == method)?;
    (is_path && !path.contains(char::is_whitespace))
        .then(|| Request { method, path: path.to_owned() })
}

impl AuthEntry {
    fn method(self, addresses: &[String]) -> Result<AuthMethod, String> {
        if auth::slug(&self.id) != self.id {
            return Err("its id must be 1 to 50 of a-z, 0-9 and -".to_owned());
        }
        if self.source.trim().is_empty() || self.read.parse::<jiff::civil::Date>().is_err() {
            return Err("`source` and `read` say where and on which day it was read".to_owned());
        }
        let fields = self.fields;
        let kind = match self.r#type {
            Type::OAuth2 => {
                let grant = self.grant.ok_or("`grant` is missing")?;
                if (grant == Grant::AuthorizationCode) != self.authorization_url.is_some() {
                    return Err("`authorizationUrl` belongs to the grant authorization_code".into());
                }
                Kind::OAuth2(Box::new(OAuth2 {
                    grant,
                    issuer: self.issuer,
                    authorization_url: self.authorization_url,
                    token_url: self.token_url.ok_or("`tokenUrl` is missing")?,
                    refresh_url: self.refresh_url,
                    revocation_url: self.revocation_url,
                    scopes: self.scopes,
                    scope_separator: self.scope_separator.unwrap_or_else(|| " ".to_owned()),
                    pkce: self.pkce,
                    token_auth: self.token_auth,
                    authorization_parameters: self.authorization_parameters,
                    token_parameters: self.token_parameters,
                    token_body: self.token_body,
                    token_pointer: self.token_pointer,
                    token_members: self.token_members,
                }))
            }
            Type::ApiKey => Kind::ApiKey(ApiKey {
                r#in: self.r#in.ok_or("`in` is missing")?,
                name: self.name.ok_or("`name` is missing")?,
                prefix: self.prefix.unwrap_or_default(),
            }),
            Type::Basic => Kind::Basic {
                username_label: self.username_label.unwrap_or_else(|| "User name".to_owned()),
                password_label: self.password_label.unwrap_or_else(|| "Password".to_owned()),
            },
            Type::Bearer => {
                Kind::Bearer { prefix: self.prefix.unwrap_or_else(|| "Bearer".to_owned()) }
            }
            Type::AwsSigv4 => Kind::AwsSigv4 {
                service: self.service.ok_or("`service` is missing")?,
                regions: self.regions,
            },
        };
        let given: Vec<Field> = fields.into_iter().flatten().map(FieldEntry::field).collect();
        let all = auth::fields(&kind, None, &Found { fields: given, ..Found::default() });
        let is_url = |name: &str| {
            urls(&kind)
                .chain(addresses.iter().map(String::as_str))
                .flat_map(variables)
                .any(|used| used == name)
        };
        let own = auth::default_fields(&kind);
        // A field must be of use: one of the kind's own, or a variable of a URL.
        if let Some(field) = all
            .iter()
            .find(|field| !is_url(&field.name) && !own.iter().any(|known| known.name == field.name))
        {
            return Err(format!("the field `{}` stands in no URL", field.name));
        }
        if let Some(field) = all.iter().find(|field| !server::is_name(&field.name)) {
            return Err(format!("`{}` cannot be the name of a field", field.name));
        }
        Ok(AuthMethod { id: self.id, kind, fields: all })
    }
}

impl FieldEntry {
    fn field(self) -> Field {
        let Self { name, label, description, secret, required, pattern, r#enum, default } = self;
        Field {
            label: label.unwrap_or_else(|| server::label(&name)),
            required: required.unwrap_or(default.is_none()),
            name,
            description,
            secret,
            pattern,
            r#enum,
            default,
        }
    }
}

impl Provider {
    /// The detail of the platform: what the document says, and what is known besides, which wins.
    #[must_use]
    pub fn complete(&self, document: ConnectorDetail) -> ConnectorDetail {
        let known = &self.detail;
        let servers =
            if known.servers.is_empty() { document.servers } else { known.servers.clone() };
        let mut methods = known.auth_methods.clone();
        let ours = methods.len();
        for mut method in document.auth_methods {
            let same =
                methods.iter_mut().take(ours).find(|known| is_alike(&known.kind, &method.kind));
            if let Some(same) = same {
                auth::merge_scopes(&mut same.kind, method.kind);
                continue;
            }
            method.id = auth::unique_id(&methods, &method.id);
            // The addresses may be others than the document's.
            let first = servers.first().map(|server| server.url.as_str()).unwrap_or_default();
            let own = auth::default_fields(&method.kind);
            method.fields.retain(|field| {
                let is_used = |url| variables(url).any(|name| name == field.name);
                own.iter().any(|own| own.name == field.name)
                    || urls(&method.kind).any(is_used)
                    || servers.iter().any(|server| is_used(&server.url))
            });
            for name in variables(first) {
                let mut fields = known.auth_methods.iter().flat_map(|known| &known.fields);
                let field = fields.find(|field| field.name == name);
                if !method.fields.iter().any(|known| known.name == name) {
                    method.fields.extend(field.cloned());
                }
            }
            methods.push(method);
        }
        ConnectorDetail {
            auth_methods: methods,
            servers,
            documentation_url: known.documentation_url.clone().or(document.documentation_url),
            license: document.license,
            verify: known.verify.clone(),
            account: known.account.clone(),
        }
    }
}

/// Whether two methods serve the same purpose, so that one of them is enough.
fn is_alike(one: &Kind, other: &Kind) -> bool {
    match (one, other) {
        (Kind::OAuth2(one), Kind::OAuth2(other)) => one.grant == other.grant,
        // Both are a secret that the user pastes.
        (Kind::Bearer { .. } | Kind::ApiKey(_), Kind::Bearer { .. } | Kind::ApiKey(_)) => true,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}
