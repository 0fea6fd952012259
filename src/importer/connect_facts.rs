//! Parses and validates the connect facts of `providers.toml` and `catalog.toml`: how users connect
//! to a platform.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::auth_entry::AuthEntry;
use super::image;
use super::server::{self};
use crate::catalog::detail::{
    Account, AuthMethod, ConnectorDetail, Pagination, Parameters, RejectedWhen, Request, Server,
    Verify, rejected as statuses, urls, variables,
};
use crate::importer::auth;
use crate::oauth::token::REDIRECT_URI;
use crate::terms::Method;

/// The keys of a platform's table that are connect facts.
pub const FIELDS: [&str; 10] = [
    "documentation",
    "servers",
    "headers",
    "verify",
    "verifyBody",
    "rejected",
    "rejectedWhen",
    "account",
    "pagination",
    "auth",
];

/// The connect facts in a platform's table. Omitted fields leave the detail unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ConnectFacts {
    pub documentation: Option<String>,
    /// All base URLs, default first.
    pub servers: Option<Vec<String>>,
    /// Headers that are sent with every request to the platform.
    pub headers: Option<Parameters>,
    /// The request that verifies credentials, such as `GET /user`. Empty to remove it.
    pub verify: Option<String>,
    /// The JSON body of the `verify` request.
    pub verify_body: Option<Value>,
    /// The statuses with which the platform rejects credentials.
    pub rejected: Option<Vec<u16>>,
    /// The value in the body of a `verify` response that marks a rejection.
    pub rejected_when: Option<RejectedWhen>,
    /// The request that identifies the account.
    pub account: Option<AccountEntry>,
    /// Rules that find the next page of a list in a response.
    pub pagination: Option<Vec<Pagination>>,
    /// All auth methods, preferred first.
    pub auth: Option<Vec<AuthEntry>>,
}

/// The request that identifies the account, and JSON Pointers into its response.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountEntry {
    request: String,
    body: Option<Value>,
    id: String,
    name: Option<String>,
}

impl AccountEntry {
    fn check(&self, fault: &mut dyn FnMut(String)) {
        let mut pointers = [Some(&self.id), self.name.as_ref()].into_iter().flatten();
        if pointers.any(|pointer| !pointer.starts_with('/')) {
            fault("`account`: `id` and `name` are JSON Pointers, such as `/id`".to_owned());
        }
    }
}

/// Templates that may contain variables of fields, in addition to the URLs of the auth method.
pub(super) struct TemplateLocations {
    /// The URLs of the servers, default first.
    servers: Vec<String>,
    /// The requests that verify credentials and identify the account.
    requests: Vec<String>,
    /// The headers of all methods.
    headers: Parameters,
}

impl TemplateLocations {
    pub(super) fn all(&self) -> impl Iterator<Item = &str> + Clone {
        let texts = self.servers.iter().chain(&self.requests).chain(self.headers.values());
        texts.map(String::as_str)
    }
}

impl TemplateLocations {
    /// Checks that the methods have fields for the variables of the servers and, if the table has
    /// auth methods, of the requests.
    fn check(
        &self,
        methods: &[AuthMethod],
        has_servers: bool,
        has_auth: bool,
        fault: &mut dyn FnMut(String),
    ) {
        if has_servers {
            for url in &self.servers {
                check_server(url, methods, fault);
            }
        }
        if has_servers || has_auth {
            for method in methods {
                let Some((url, name)) = unreachable_server(method, &self.servers) else { continue };
                // Variables without a field were already reported for the servers.
                if !has_servers || methods.iter().any(|other| has_field(other, name)) {
                    fault(missing_field_fault(method, name, url));
                }
            }
        }
        if has_auth {
            for method in methods {
                for request in &self.requests {
                    if let Some(name) = first_missing_variable(method, request) {
                        fault(missing_field_fault(method, name, request));
                    }
                }
            }
        }
    }
}

impl ConnectFacts {
    /// Replaces the parts of the detail that the table specifies. Passes each fault to `fault`.
    pub fn apply(
        self,
        mut detail: ConnectorDetail,
        fault: &mut dyn FnMut(String),
    ) -> ConnectorDetail {
        if self == Self::default() {
            return detail;
        }
        if self.verify.as_deref() == Some("") {
            detail.verify = None;
        }
        let (has_servers, has_auth) = (self.servers.is_some(), self.auth.is_some());
        let requests = self.requests(&detail);
        let stated =
            |url: String| Server { url: url.trim_end_matches('/').to_owned(), description: None };
        let servers = self
            .servers
            .map_or(detail.servers, |servers| servers.into_iter().map(stated).collect::<Vec<_>>());
        let has_headers = self.headers.is_some();
        let places = TemplateLocations {
            servers: servers.iter().map(|server| server.url.clone()).collect(),
            requests,
            headers: self.headers.unwrap_or(detail.headers),
        };
        let auth_methods = if let Some(entries) = self.auth {
            methods(entries, &places, &detail.auth_methods, fault)
        } else {
            let mut methods = detail.auth_methods;
            for method in &mut methods {
                auth::remove_unused_fields(method, &places.all());
            }
            methods
        };
        if has_headers || has_auth {
            check_headers(&places.headers, &auth_methods, fault);
        }
        places.check(&auth_methods, has_servers, has_auth, fault);
        if self.documentation.as_deref().is_some_and(|url| image::https(url).is_none()) {
            fault("`documentation` is not an `https` URL".to_owned());
        }
        if let Some(account) = &self.account {
            account.check(fault);
        }
        // Auth methods of the table were already checked individually.
        let fillers =
            Some(auth_methods.as_slice()).filter(|methods| !has_auth || methods.is_empty());
        let has_body = self.verify_body.is_some();
        let verify = self.verify.filter(|text| !text.is_empty());
        let verify = verify
            .and_then(|text| parse_and_check_request(&text, self.verify_body, fillers, fault));
        let account = self.account.and_then(|account| {
            let request = parse_and_check_request(&account.request, account.body, fillers, fault)?;
            Some(Account { request, id: account.id, name: account.name })
        });
        check_pagination(self.pagination.as_deref().unwrap_or_default(), fault);
        if has_body && verify.is_none() {
            fault("`verifyBody` requires `verify`".to_owned());
        }
        let verify =
            verify_request(verify, detail.verify, self.rejected, self.rejected_when, fault);
        ConnectorDetail {
            auth_methods,
            servers,
            documentation_url: self.documentation.or(detail.documentation_url),
            license: detail.license,
            headers: places.headers,
            verify,
            account: account.or(detail.account),
            pagination: self.pagination.unwrap_or(detail.pagination),
        }
    }

    /// The requests that verify credentials and identify the account, such as `GET /user`: from
    /// this table, or from the known detail.
    fn requests(&self, known: &ConnectorDetail) -> Vec<String> {
        let text = |request: &Request| format!("{} {}", request.method.as_str(), request.path);
        let verify = self.verify.clone().filter(|text| !text.is_empty());
        let verify = verify.or_else(|| known.verify.as_ref().map(|verify| text(&verify.request)));
        let account = self.account.as_ref().map(|account| account.request.clone());
        let account =
            account.or_else(|| known.account.as_ref().map(|account| text(&account.request)));
        let mut requests: Vec<String> = verify.into_iter().chain(account).collect();
        requests.dedup();
        requests
    }
}

/// Parses a request. With `fillers`, also checks that one of these methods has a field for each
/// variable of the request.
fn parse_and_check_request(
    text: &str,
    body: Option<Value>,
    fillers: Option<&[AuthMethod]>,
    fault: &mut dyn FnMut(String),
) -> Option<Request> {
    let request = request(text, body);
    if request.is_none() {
        fault(format!("`{text}` is not a method and a path, such as `GET /user`"));
    }
    if let Some(methods) = fillers
        && let Some(name) =
            variables(text).find(|name| !methods.iter().any(|method| has_field(method, name)))
    {
        fault(format!("no field for `{{{name}}}` in `{text}`"));
    }
    request
}

/// The request that verifies credentials, from the table or the known detail, with the table's
/// rules for its responses.
fn verify_request(
    stated: Option<Request>,
    known: Option<Verify>,
    rejected: Option<Vec<u16>>,
    rejected_when: Option<RejectedWhen>,
    fault: &mut dyn FnMut(String),
) -> Option<Verify> {
    let new = |request| Verify { request, rejected: statuses(), rejected_when: None };
    let verify = stated.map(new).or(known);
    if verify.is_none() && (rejected.is_some() || rejected_when.is_some()) {
        fault("`rejected` and `rejectedWhen` need a `verify`".to_owned());
    }
    if rejected_when.as_ref().is_some_and(|when| !when.pointer.starts_with('/')) {
        fault("`rejectedWhen`: `pointer` is a JSON Pointer, such as `/error`".to_owned());
    }
    verify.map(|verify| Verify {
        rejected: rejected.unwrap_or(verify.rejected),
        rejected_when: rejected_when.or(verify.rejected_when),
        ..verify
    })
}

/// Converts entries to methods. Missing fields are copied from `former`, the replaced methods: for
/// the variables of the requests, and of the first server unless the method's fields fill another
/// server.
fn methods(
    entries: Vec<AuthEntry>,
    places: &TemplateLocations,
    former: &[AuthMethod],
    fault: &mut dyn FnMut(String),
) -> Vec<AuthMethod> {
    let mut ids = HashSet::new();
    let mut methods = Vec::with_capacity(entries.len());
    for entry in entries {
        let id = entry.id.clone();
        if !ids.insert(id.clone()) {
            fault(format!("two methods have the id `{id}`"));
        }
        match entry.method(places) {
            Ok(mut method) => {
                if let Some((first, _)) = unreachable_server(&method, &places.servers) {
                    auth::add_missing_fields(variables(first), former, &mut method);
                }
                let requests = places.requests.iter().flat_map(|request| variables(request));
                auth::add_missing_fields(requests, former, &mut method);
                for url in urls(&method.kind) {
                    if !is_secure(url) || !auth::kinds::is_url(url) {
                        fault(format!("`{id}`: `{url}` is not an `https` URL"));
                    }
                }
                for value in auth::parameters(&method.kind).filter(|value| *value != REDIRECT_URI) {
                    let mut names = auth::parameter_variables(value);
                    if let Some(name) = names.find(|name| !has_field(&method, name)) {
                        fault(missing_field_fault(&method, name, value));
                    }
                }
                methods.push(method);
            }
            Err(what) => fault(format!("the method `{id}`: {what}")),
        }
    }
    methods
}

fn has_field(method: &AuthMethod, name: &str) -> bool {
    method.fields.iter().any(|field| field.name == name)
}

/// The first variable of a template without a field in the method.
fn first_missing_variable<'a>(method: &AuthMethod, text: &'a str) -> Option<&'a str> {
    variables(text).find(|name| !has_field(method, name))
}

/// The first server, and its first variable without a field in the method. Returns `None` if the
/// method's fields fill any server, or if there are no servers.
fn unreachable_server<'a>(
    method: &AuthMethod,
    servers: &'a [String],
) -> Option<(&'a str, &'a str)> {
    if servers.iter().any(|url| first_missing_variable(method, url).is_none()) {
        return None;
    }
    let first = servers.first()?;
    first_missing_variable(method, first).map(|name| (first.as_str(), name))
}

/// The fault for a template variable without a field in the method.
fn missing_field_fault(method: &AuthMethod, name: &str, text: &str) -> String {
    format!("the method `{}`: no field for `{{{name}}}` in `{text}`", method.id)
}

/// Checks the common headers: their names, and that each method has fields for their variables.
fn check_headers(headers: &Parameters, methods: &[AuthMethod], fault: &mut dyn FnMut(String)) {
    for name in headers.keys() {
        if let Err(what) = auth::templates::check_header(name) {
            fault(format!("`headers`: {what}"));
        }
    }
    for method in methods {
        for value in headers.values() {
            if let Some(name) = auth::templates::first_missing_variable(method, value) {
                fault(missing_field_fault(method, name, value));
            }
        }
    }
}

/// Checks that the URL of a server is absolute and uses `https`, and that one of the methods has
/// fields for all of its variables.
fn check_server(url: &str, methods: &[AuthMethod], fault: &mut dyn FnMut(String)) {
    if !is_secure(url) {
        fault(format!("`servers`: `{url}` is not an `https` URL"));
    } else if server::absolute(url).as_deref() != Some(url) {
        fault(format!(
            "`servers`: `{url}` is not a base address, such as `https://api.acme.example/v1`"
        ));
    }
    for name in variables(url) {
        if !methods.iter().any(|method| has_field(method, name)) {
            fault(format!("`servers`: no field for `{{{name}}}` in `{url}`"));
        }
    }
}

/// Whether requests to a URL are encrypted or local. Developers run test platforms locally.
pub(super) fn is_secure(url: &str) -> bool {
    let local = ["http://localhost", "http://127.0.0.1", "http://[::1]"];
    let leads_to = |start: &&str| {
        url.strip_prefix(*start)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/', '?']))
    };
    url.starts_with("https://") || local.iter().any(leads_to)
}

/// Parses a request such as `GET /user`. Returns `None` for invalid text, and for `GET` with a
/// body.
fn request(text: &str, body: Option<Value>) -> Option<Request> {
    let (method, path) = text.split_once(' ')?;
    let is_path = path.starts_with('/') || path.starts_with("https://");
    let method = Method::ALL.into_iter().find(|known| known.as_str() == method)?;
    let takes_body = body.is_none() || method != Method::Get;
    (is_path && takes_body && !path.contains(char::is_whitespace)).then(|| Request {
        method,
        path: path.to_owned(),
        body,
    })
}

/// Checks the rules for finding the next page.
fn check_pagination(pages: &[Pagination], fault: &mut dyn FnMut(String)) {
    for page in pages {
        let pointers = [Some(&page.next), page.items.as_ref(), page.more.as_ref()];
        if pointers.into_iter().flatten().any(|pointer| !pointer.starts_with('/')) {
            fault(
                "`pagination`: `next`, `items` and `more` are JSON Pointers, such as `/next`"
                    .to_owned(),
            );
        }
        if page.parameter.as_deref() == Some("") {
            fault("`pagination`: a `parameter` has no name".to_owned());
        }
    }
}
