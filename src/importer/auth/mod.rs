//! Converts a document's security schemes into the connector's auth methods.
//!
//! [`scheme`] deserializes schemes, [`kinds`] converts them to auth methods, [`combine`] combines
//! schemes that are required together, [`templates`] checks the headers and query parameters of a
//! method, and [`family`] adds facts about providers with hundreds of incomplete documents.

pub mod combine;
pub mod family;
pub mod kinds;
pub mod scheme;
pub mod templates;

use std::collections::{BTreeMap, HashSet};

use super::document::Document;
use super::server::{self, ResolvedServers};
use super::text;
use crate::catalog::detail::{
    AuthMethod, Field, Grant, Kind, OAuth2, Parameters, Scope, urls, variables,
};
use combine::InterpretedScheme;
use kinds::kinds;

const MAX_METHODS: usize = 20;
/// The maximum number of scopes of a method.
const MAX_SCOPES: usize = 1000;
/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 300;

/// Looks up an authorization server by its authorization URL in sources other than the document.
pub type KnownServers<'a> = &'a dyn Fn(&str) -> Option<OAuth2>;

/// The auth methods of a document, and its unusable schemes.
#[derive(Debug, Default)]
pub struct AuthMethods {
    /// The auth methods, preferred one first.
    pub methods: Vec<AuthMethod>,
    /// The names of the schemes, each with a kind of auth method that it stands for.
    pub schemes: Vec<(String, Kind)>,
    /// One line for each scheme that was skipped or partly skipped.
    pub skipped_parts: Vec<String>,
}

/// Converts the schemes of a document. Each item of `required` is a list of schemes that an
/// operation requires together.
pub fn convert<F>(
    document: &Document<F>,
    required: &[Vec<String>],
    servers: &ResolvedServers,
    known: KnownServers<'_>,
) -> AuthMethods {
    let mut methods = AuthMethods::default();
    let family = family::detect(document, servers);
    let mut schemes = Vec::new();
    for (name, scheme) in document.schemes() {
        let kinds = family
            .as_ref()
            .and_then(|family| family.kind(scheme))
            .map_or_else(|| kinds(scheme, known), |kind| Ok(vec![kind]));
        match kinds {
            Ok(kinds) => {
                let description = &scheme.description;
                schemes.push(InterpretedScheme { name, description, kinds });
            }
            Err(why) => {
                let description = &scheme.description;
                schemes.push(InterpretedScheme { name, description, kinds: Vec::new() });
                // Another source may have an auth method for this scheme. Record the scheme, so
                // that actions can refer to that method.
                let kind = scheme.r#type.as_str().trim().to_lowercase();
                if matches!(kind.as_str(), "oauth2" | "openidconnect") {
                    let oauth = OAuth2::standard(Grant::AuthorizationCode, None, String::new());
                    methods.schemes.push((name.to_owned(), Kind::OAuth2(Box::new(oauth))));
                }
                let name = text::verbatim(name, 100);
                methods
                    .skipped_parts
                    .push(format!("the security scheme `{name}` was left out: {why}"));
            }
        }
    }
    methods.add_all(&schemes, required, servers);
    methods.methods.sort_by_key(|method| rank(&method.kind));
    methods.methods.truncate(MAX_METHODS);
    methods
}

/// The rank of a method: methods that act for a user come before methods that act for the client,
/// and revocable credentials before others.
const fn rank(kind: &Kind) -> u8 {
    match kind {
        Kind::OAuth2(oauth) if matches!(oauth.grant, Grant::AuthorizationCode) => 0,
        Kind::Bearer { .. } => 1,
        Kind::ApiKey(_) => 2,
        Kind::Basic { .. } => 3,
        Kind::AwsSigv4 { .. } => 4,
        Kind::OAuth2(_) => 5,
    }
}

impl AuthMethods {
    /// Adds the auth methods of all schemes. A scheme that is only required together with others
    /// becomes a separate method only if no request can contain all of them.
    fn add_all(
        &mut self,
        schemes: &[InterpretedScheme<'_>],
        required: &[Vec<String>],
        servers: &ResolvedServers,
    ) {
        let (mut single_schemes, mut combined) = (Vec::new(), Vec::new());
        let mut only_combined: HashSet<&str> = HashSet::new();
        for alternative in required {
            let all = combine::distinct_schemes(schemes, alternative);
            if all.len() < 2 {
                single_schemes.extend(alternative);
                continue;
            }
            match combine::methods(&all, servers) {
                Ok(methods) => {
                    only_combined.extend(all.iter().map(|scheme| scheme.name));
                    combined.extend(methods);
                }
                Err(why) => {
                    let names: Vec<_> = all.iter().map(|scheme| scheme.name).collect();
                    let names = text::verbatim(&names.join("`, `"), 200);
                    let line = format!(
                        "the security schemes `{names}`, which are required together, became no method: {why}"
                    );
                    if !self.skipped_parts.contains(&line) {
                        self.skipped_parts.push(line);
                    }
                }
            }
        }
        for scheme in schemes {
            for kind in &scheme.kinds {
                self.schemes.push((scheme.name.to_owned(), kind.clone()));
            }
            let is_single = single_schemes.iter().any(|name| *name == scheme.name);
            if is_single || !only_combined.contains(scheme.name) {
                self.add(scheme, servers);
            }
        }
        for method in combined {
            let AuthMethod { headers, query, .. } = &method;
            let mut known = self.methods.iter();
            if !known.any(|known| {
                is_same_except_scopes(&known.kind, &method.kind)
                    && (&known.headers, &known.query) == (headers, query)
            }) {
                let id = unique_id(&self.methods, &method.id);
                self.methods.push(AuthMethod { id, ..method });
            }
        }
    }

    fn add(&mut self, scheme: &InterpretedScheme<'_>, servers: &ResolvedServers) {
        let has_several = scheme.kinds.len() > 1;
        for kind in scheme.kinds.clone() {
            // Documents often declare several equivalent schemes, for example one per set of
            // scopes.
            if let Some(same) =
                self.methods.iter_mut().find(|known| is_same_except_scopes(&known.kind, &kind))
            {
                merge_scopes(&mut same.kind, kind);
                continue;
            }
            let suffix = match &kind {
                Kind::OAuth2(oauth) if has_several && oauth.grant.acts_without_user() => "-client",
                _ => "",
            };
            let id = unique_id(&self.methods, &format!("{}{suffix}", slug(scheme.name)));
            let help = text::line(scheme.description.as_str(), MAX_DESCRIPTION);
            let fields = fields(&kind, Some(help).filter(|help| !help.is_empty()), servers);
            let (headers, query) = (Parameters::new(), Parameters::new());
            self.methods.push(AuthMethod { id, kind, fields, headers, query });
        }
    }
}

/// The preferred id, with a number appended if another method has the same id.
pub fn unique_id(methods: &[AuthMethod], preferred: &str) -> String {
    let taken: HashSet<&str> = methods.iter().map(|method| method.id.as_str()).collect();
    let numbered = (2_u32..).map(|number| format!("{preferred}-{number}"));
    let mut ids = std::iter::once(preferred.to_owned()).chain(numbered);
    ids.find(|id| !taken.contains(id.as_str())).unwrap_or_default()
}

/// Converts the name of a scheme to an id: 1 to 50 characters of `a-z`, `0-9` and `-`.
pub fn slug(name: &str) -> String {
    let words = text::words(text::head(name, 200)).join("-").to_lowercase();
    let clean = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = words.chars().map(clean).take(50).collect();
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "auth".to_owned() } else { slug.to_owned() }
}

/// Whether two methods differ only in their scopes.
fn is_same_except_scopes(one: &Kind, other: &Kind) -> bool {
    match (one, other) {
        (Kind::OAuth2(one), Kind::OAuth2(other)) => {
            let without_scopes = |oauth: &OAuth2| OAuth2 { scopes: Vec::new(), ..oauth.clone() };
            without_scopes(one) == without_scopes(other)
        }
        _ => one == other,
    }
}

/// Whether two methods serve the same purpose, so that either of them is enough.
pub fn has_same_purpose(one: &Kind, other: &Kind) -> bool {
    match (one, other) {
        (Kind::OAuth2(one), Kind::OAuth2(other)) => one.grant == other.grant,
        // The user pastes a secret in both cases.
        (Kind::Bearer { .. } | Kind::ApiKey(_), Kind::Bearer { .. } | Kind::ApiKey(_)) => true,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// Maps each scheme of the document to the ids of the methods that satisfy it: the methods created
/// from the scheme, or methods that serve the same purpose. A method also satisfies a scheme whose
/// key is among its headers or query parameters. `common` are the headers of all methods.
pub fn methods_by_scheme(
    schemes: &[(String, Kind)],
    methods: &[AuthMethod],
    common: &Parameters,
) -> BTreeMap<String, Vec<String>> {
    let mut methods_by_scheme: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (scheme, kind) in schemes {
        let ids = |fits: &dyn Fn(&AuthMethod) -> bool| -> Vec<String> {
            let fitting = methods.iter().filter(|method| fits(method));
            fitting.map(|method| method.id.clone()).collect()
        };
        let exact = ids(&|method| {
            let sends_key = |key| combine::sends_key(method, common, key);
            is_same_except_scopes(&method.kind, kind)
                || matches!(kind, Kind::ApiKey(key) if sends_key(key))
        });
        let equivalent_ids = || ids(&|method| has_same_purpose(&method.kind, kind));
        let method_ids = if exact.is_empty() { equivalent_ids() } else { exact };
        methods_by_scheme.entry(scheme.clone()).or_default().extend(method_ids);
    }
    methods_by_scheme
}

/// Adds the scopes of a method to an equivalent method.
pub fn merge_scopes(into: &mut Kind, from: Kind) {
    if let (Kind::OAuth2(into), Kind::OAuth2(from)) = (into, from) {
        add_scopes(&mut into.scopes, from.scopes);
        into.scopes.truncate(MAX_SCOPES);
    }
}

/// Adds the scopes that `into` lacks.
fn add_scopes(into: &mut Vec<Scope>, from: Vec<Scope>) {
    for scope in from {
        if !into.iter().any(|known| known.name == scope.name) {
            into.push(scope);
        }
    }
}

/// The fields of a method, including the variables of its URLs and of the servers' URLs.
pub fn fields(kind: &Kind, help: Option<String>, servers: &ResolvedServers) -> Vec<Field> {
    let mut fields = default_fields(kind);
    if let Some(first) = fields.iter_mut().find(|field| field.secret) {
        first.description = help;
    }
    for name in urls(kind).flat_map(variables) {
        if !fields.iter().chain(&servers.fields).any(|field| field.name == name) {
            let field = match name {
                "tenant" => family::tenant(),
                _ => Field::required(name, &server::label(name)),
            };
            fields.push(field);
        }
    }
    for field in &servers.fields {
        match fields.iter_mut().find(|known| known.name == field.name) {
            // The list of regions in the document takes precedence.
            Some(known) => known.clone_from(field),
            None => fields.push(field.clone()),
        }
    }
    fields
}

/// The templates of a kind: the parameters that it adds to requests, and the user name and password
/// of a basic method.
pub fn parameters(kind: &Kind) -> impl Iterator<Item = &str> {
    let (oauth, pair) = match kind {
        Kind::OAuth2(oauth) => (Some(oauth), [None, None]),
        Kind::Basic { username, password, .. } => (None, [username.as_ref(), password.as_ref()]),
        _ => (None, [None, None]),
    };
    let values = oauth.into_iter().flat_map(|oauth| {
        let parameters = [&oauth.authorization_parameters, &oauth.token_parameters];
        parameters.into_iter().flat_map(Parameters::values).chain(&oauth.redirect_uri)
    });
    values.chain(pair.into_iter().flatten()).map(String::as_str)
}

/// The variables in the value of a parameter. Braces that don't enclose a name, such as those of
/// JSON, are literal.
pub fn parameter_variables(value: &str) -> impl Iterator<Item = &str> {
    variables(value).filter(|name| server::is_name(name))
}

/// Removes the fields that are not variables of the method's URLs and parameters, or of
/// `addresses`.
pub fn remove_unused_fields<'a>(
    method: &mut AuthMethod,
    addresses: &(impl Iterator<Item = &'a str> + Clone),
) {
    let own = default_fields(&method.kind);
    let (kind, headers, query) = (&method.kind, &method.headers, &method.query);
    let templates = || headers.values().chain(query.values()).map(String::as_str);
    method.fields.retain(|field| {
        let is_used = |url: &str| variables(url).any(|name| name == field.name);
        own.iter().any(|own| own.name == field.name)
            || urls(kind).any(is_used)
            || parameters(kind)
                .chain(templates())
                .flat_map(parameter_variables)
                .any(|name| name == field.name)
            || addresses.clone().any(is_used)
    });
}

/// Adds missing fields for variables, each copied from the first method of `others` that has the
/// field.
pub fn add_missing_fields<'a>(
    variables: impl Iterator<Item = &'a str>,
    others: &[AuthMethod],
    method: &mut AuthMethod,
) {
    for name in variables {
        let mut fields = others.iter().flat_map(|other| &other.fields);
        let field = fields.find(|field| field.name == name);
        if !method.fields.iter().any(|known| known.name == name) {
            method.fields.extend(field.cloned());
        }
    }
}

/// The default fields of a kind.
pub fn default_fields(kind: &Kind) -> Vec<Field> {
    match kind {
        Kind::OAuth2(_) => Vec::new(),
        Kind::ApiKey(_) => vec![Field::secret("apiKey", "API key")],
        Kind::Basic { username_label, password_label, username, password } => {
            // Optional, because many platforms expect an API key as the user name and an empty
            // password.
            let password_field =
                Field { required: false, ..Field::secret("password", password_label) };
            let name = username.is_none().then(|| Field::required("username", username_label));
            name.into_iter().chain(password.is_none().then_some(password_field)).collect()
        }
        Kind::Bearer { .. } => vec![Field::secret("token", "Access token")],
        Kind::AwsSigv4 { regions, .. } => {
            let session = Field {
                required: false,
                description: Some("Only for temporary credentials.".to_owned()),
                ..Field::secret("sessionToken", "Session token")
            };
            let region = Field {
                r#enum: Some(regions.clone()).filter(|regions| !regions.is_empty()),
                ..Field::required("region", "Region")
            };
            let secret = Field::secret("secretAccessKey", "Secret access key");
            vec![Field::required("accessKeyId", "Access key ID"), secret, session, region]
        }
    }
}
