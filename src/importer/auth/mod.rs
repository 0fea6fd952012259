//! Converts a document's security schemes into the connector's auth methods.
//!
//! [`scheme`] is the schemes as written, [`combine`] combines schemes that are required together, [`templates`] checks
//! what every request of a method carries, and [`family`] completes providers with hundreds of incomplete documents.

pub mod combine;
pub mod family;
pub mod scheme;
pub mod templates;

use std::collections::{BTreeMap, HashSet};

use super::document::Document;
use super::entries::Entries;
use super::scalar::{FirstText, OptionalMap};
use super::server::{self, ResolvedServers};
use super::text;
use crate::catalog::detail::{
    ApiKey, AuthMethod, Field, Grant, In, Kind, OAuth2, Parameters, Scope, urls, variables,
};
use crate::platform_calls::headers::is_transport_header;
use combine::InterpretedScheme;
use scheme::{Flow, Flows, Scheme};

const MAX_METHODS: usize = 20;
/// The maximum number of scopes of a method.
const MAX_SCOPES: usize = 1000;
/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 300;
/// The maximum length of a name, in characters.
const MAX_NAME: usize = 200;
/// The maximum length of a URL, in bytes.
const MAX_URL: usize = 2048;

/// Looks up facts about an authorization server by its authorization URL, in sources other than the document.
pub type KnownServers<'a> = &'a dyn Fn(&str) -> Option<OAuth2>;

/// The methods of a document, and the schemes that can't be used.
#[derive(Debug, Default)]
pub struct Methods {
    /// The methods, the preferred one first.
    pub methods: Vec<AuthMethod>,
    /// The meaning of each scheme, by its name.
    pub schemes: Vec<(String, Kind)>,
    /// One line for each scheme that was skipped or only partly understood.
    pub left_out: Vec<String>,
}

/// Converts the schemes of a document. `required` are the alternatives of schemes that its operations require.
pub fn convert<F>(
    document: &Document<F>,
    required: &[Vec<String>],
    servers: &ResolvedServers,
    known: KnownServers<'_>,
) -> Methods {
    let mut methods = Methods::default();
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
                // Another source may know how to connect this way; the actions that require it should refer to that
                // method.
                let kind = scheme.r#type.as_str().trim().to_lowercase();
                if matches!(kind.as_str(), "oauth2" | "openidconnect") {
                    let oauth = OAuth2::usual(Grant::AuthorizationCode, None, String::new());
                    methods.schemes.push((name.to_owned(), Kind::OAuth2(Box::new(oauth))));
                }
                let name = text::verbatim(name, 100);
                methods.left_out.push(format!("the security scheme `{name}` was left out: {why}"));
            }
        }
    }
    methods.add_all(&schemes, required, servers);
    methods.methods.sort_by_key(|method| rank(&method.kind));
    methods.methods.truncate(MAX_METHODS);
    methods
}

/// Methods of users come before those of clients, and revocable ones before others.
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

impl Methods {
    /// Adds the methods of all schemes. A scheme that is only required together with others does not become a
    /// separate method, unless no request can carry all of them.
    fn add_all(
        &mut self,
        schemes: &[InterpretedScheme<'_>],
        required: &[Vec<String>],
        servers: &ResolvedServers,
    ) {
        let (mut whole, mut together) = (Vec::new(), Vec::new());
        let mut only_together: HashSet<&str> = HashSet::new();
        for alternative in required {
            let all = combine::distinct(schemes, alternative);
            if all.len() < 2 {
                whole.extend(alternative);
                continue;
            }
            match combine::methods(&all, servers) {
                Ok(methods) => {
                    only_together.extend(all.iter().map(|scheme| scheme.name));
                    together.extend(methods);
                }
                Err(why) => {
                    let names: Vec<_> = all.iter().map(|scheme| scheme.name).collect();
                    let names = text::verbatim(&names.join("`, `"), 200);
                    let line = format!(
                        "the security schemes `{names}`, which are required together, became no method: {why}"
                    );
                    if !self.left_out.contains(&line) {
                        self.left_out.push(line);
                    }
                }
            }
        }
        for scheme in schemes {
            for kind in &scheme.kinds {
                self.schemes.push((scheme.name.to_owned(), kind.clone()));
            }
            let is_whole = whole.iter().any(|name| *name == scheme.name);
            if is_whole || !only_together.contains(scheme.name) {
                self.add(scheme, servers);
            }
        }
        for method in together {
            let AuthMethod { headers, query, .. } = &method;
            let mut known = self.methods.iter();
            if !known.any(|known| {
                is_same(&known.kind, &method.kind)
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
            // Several schemes are often equivalent, for example one for each set of scopes.
            if let Some(same) = self.methods.iter_mut().find(|known| is_same(&known.kind, &kind)) {
                merge_scopes(&mut same.kind, kind);
                continue;
            }
            let suffix = match &kind {
                Kind::OAuth2(oauth) if has_several && oauth.grant.is_of_client() => "-client",
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

/// The requested id, or that with a number if a method already has it.
pub fn unique_id(methods: &[AuthMethod], preferred: &str) -> String {
    let taken: HashSet<&str> = methods.iter().map(|method| method.id.as_str()).collect();
    let numbered = (2_u32..).map(|number| format!("{preferred}-{number}"));
    let mut ids = std::iter::once(preferred.to_owned()).chain(numbered);
    ids.find(|id| !taken.contains(id.as_str())).unwrap_or_default()
}

/// Converts a scheme's name to an id of 1 to 50 characters of a-z, 0-9 and -.
pub fn slug(name: &str) -> String {
    let words = text::words(text::head(name, 200)).join("-").to_lowercase();
    let clean = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = words.chars().map(clean).take(50).collect();
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "auth".to_owned() } else { slug.to_owned() }
}

/// Whether two methods differ only in their scopes.
fn is_same(one: &Kind, other: &Kind) -> bool {
    match (one, other) {
        (Kind::OAuth2(one), Kind::OAuth2(other)) => {
            let bare = |oauth: &OAuth2| OAuth2 { scopes: Vec::new(), ..oauth.clone() };
            bare(one) == bare(other)
        }
        _ => one == other,
    }
}

/// Whether two methods serve the same purpose, so that one of them is enough.
pub fn is_alike(one: &Kind, other: &Kind) -> bool {
    match (one, other) {
        (Kind::OAuth2(one), Kind::OAuth2(other)) => one.grant == other.grant,
        // Both are a secret that the user pastes.
        (Kind::Bearer { .. } | Kind::ApiKey(_), Kind::Bearer { .. } | Kind::ApiKey(_)) => true,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// For each of the document's schemes, the ids of the methods that satisfy it: those made from the scheme, or else
/// those that serve the same purpose. A method also satisfies a key that its headers or query parameters carry;
/// `common` are the headers of all methods.
pub fn satisfied(
    schemes: &[(String, Kind)],
    methods: &[AuthMethod],
    common: &Parameters,
) -> BTreeMap<String, Vec<String>> {
    let mut satisfied: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (scheme, kind) in schemes {
        let ids = |fits: &dyn Fn(&AuthMethod) -> bool| -> Vec<String> {
            let fitting = methods.iter().filter(|method| fits(method));
            fitting.map(|method| method.id.clone()).collect()
        };
        let exact = ids(&|method| {
            let carries = |key| combine::carries(method, common, key);
            is_same(&method.kind, kind) || matches!(kind, Kind::ApiKey(key) if carries(key))
        });
        let alike = || ids(&|method| is_alike(&method.kind, kind));
        let found = if exact.is_empty() { alike() } else { exact };
        satisfied.entry(scheme.clone()).or_default().extend(found);
    }
    satisfied
}

/// Adds the scopes of a method to a similar one.
pub fn merge_scopes(into: &mut Kind, from: Kind) {
    if let (Kind::OAuth2(into), Kind::OAuth2(from)) = (into, from) {
        add_scopes(&mut into.scopes, from.scopes);
        into.scopes.truncate(MAX_SCOPES);
    }
}

/// Adds the missing scopes.
fn add_scopes(into: &mut Vec<Scope>, from: Vec<Scope>) {
    for scope in from {
        if !into.iter().any(|known| known.name == scope.name) {
            into.push(scope);
        }
    }
}

/// The fields of a method, including the variables of its own and the servers' URLs.
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
            // The document's own list of regions takes precedence.
            Some(known) => known.clone_from(field),
            None => fields.push(field.clone()),
        }
    }
    fields
}

/// The values of the parameters that a method of this kind adds to requests, and the templates of a basic method.
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

/// The variables in a parameter's value. Braces without a name inside, such as those of JSON, are literal.
pub fn parameter_variables(value: &str) -> impl Iterator<Item = &str> {
    variables(value).filter(|name| server::is_name(name))
}

/// Removes the fields that neither the method's URLs and parameters nor one of these addresses use.
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

/// Adds a field for each variable without one, as one of `others` declares it.
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

/// The fields of a kind when nothing more is known.
pub fn default_fields(kind: &Kind) -> Vec<Field> {
    match kind {
        Kind::OAuth2(_) => Vec::new(),
        Kind::ApiKey(_) => vec![Field::secret("apiKey", "API key")],
        Kind::Basic { username_label, password_label, username, password } => {
            // Many platforms expect a key as the user name and an empty password.
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

/// The meaning of a scheme, or the reason why it can't be used.
fn kinds(scheme: &Scheme, known: KnownServers<'_>) -> Result<Vec<Kind>, String> {
    let kind = scheme.r#type.as_str().trim().to_lowercase();
    match kind.as_str() {
        "apikey" => api_key(scheme).map(|kind| vec![kind]),
        "basic" => Ok(vec![basic()]),
        "http" => http(scheme).map(|kind| vec![kind]),
        "oauth2" => oauth2(scheme, known),
        "openidconnect" => Err("its endpoints are in a file on its server".to_owned()),
        "" => Err("it has no `type`".to_owned()),
        other => Err(format!("its type `{}` is not supported", text::verbatim(other, 40))),
    }
}

fn basic() -> Kind {
    Kind::Basic {
        username_label: "User name".to_owned(),
        password_label: "Password".to_owned(),
        username: None,
        password: None,
    }
}

fn http(scheme: &Scheme) -> Result<Kind, String> {
    match scheme.scheme.as_str().trim().to_lowercase().as_str() {
        "basic" => Ok(basic()),
        "bearer" => Ok(Kind::Bearer { prefix: "Bearer".to_owned() }),
        other => Err(format!("its scheme `{}` is not supported", text::verbatim(other, 40))),
    }
}

fn api_key(scheme: &Scheme) -> Result<Kind, String> {
    let r#in = match scheme.r#in.as_str().trim().to_lowercase().as_str() {
        "header" => In::Header,
        "query" => In::Query,
        "cookie" => In::Cookie,
        other => return Err(format!("`in: {}` is not supported", text::verbatim(other, 40))),
    };
    let name = key_name(r#in, text::verbatim(scheme.name.as_str(), MAX_NAME))?;
    if r#in == In::Header && is_transport_header(&name.to_ascii_lowercase()) {
        return Err(format!("no credential can be sent in the header `{name}`"));
    }
    if r#in == In::Header
        && name.eq_ignore_ascii_case("authorization")
        && let Some(prefix) = prefix(scheme.description.as_str())
    {
        return Ok(if prefix == "Bearer" {
            Kind::Bearer { prefix }
        } else {
            Kind::ApiKey(ApiKey { r#in, name, prefix })
        });
    }
    Ok(Kind::ApiKey(ApiKey { r#in, name, prefix: String::new() }))
}

/// Validates the name under which a key is sent.
pub fn key_name(r#in: In, name: String) -> Result<String, String> {
    if name.is_empty() || (r#in != In::Query && !name.chars().all(is_token)) {
        return Err("its `name` cannot be that of a header or parameter".to_owned());
    }
    Ok(name)
}

/// Whether a character may be part of a header's name (RFC 9110, 5.6.2).
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// Finds the word before the key in a description.
fn prefix(description: &str) -> Option<String> {
    let words = ["Bearer", "Token", "ApiKey", "Api-Key", "Key"];
    let mentions = |word: &str| {
        let starts = [" ", "\"", "'", "`", ": ", ":"].map(|before| format!("{before}{word} "));
        let description = format!(" {description}");
        starts.iter().any(|start| {
            description.split(start.as_str()).skip(1).any(|rest| {
                rest.starts_with(['{', '<', '[', '$', '`'])
                    || rest.to_lowercase().starts_with("your")
            })
        })
    };
    words.into_iter().find(|word| mentions(word)).map(str::to_owned)
}

/// OAuth with the facts of one flow.
fn oauth(grant: Grant, flow: &Flow, token_url: String) -> OAuth2 {
    OAuth2 {
        refresh_url: url(&flow.refresh_url),
        scopes: scopes(&flow.scopes),
        ..OAuth2::usual(grant, None, token_url)
    }
}

fn oauth2(scheme: &Scheme, known: KnownServers<'_>) -> Result<Vec<Kind>, String> {
    let swagger2_flows = swagger2_flows_of(scheme);
    let flows = scheme.flows.get().unwrap_or(&swagger2_flows);
    let mut kinds = Vec::new();
    let mut why = "it has no flow that can be used".to_owned();
    for flow in
        [&flows.authorization_code, &flows.implicit].into_iter().filter_map(OptionalMap::get)
    {
        match authorization_code(flow, flows, known) {
            Ok(oauth) => {
                kinds.push(Kind::OAuth2(Box::new(oauth)));
                break;
            }
            Err(reason) => why = reason,
        }
    }
    if let Some(flow) = flows.client_credentials.get() {
        match url(&flow.token_url) {
            Some(token_url) => {
                let oauth = oauth(Grant::ClientCredentials, flow, token_url);
                kinds.push(Kind::OAuth2(Box::new(oauth)));
            }
            None if kinds.is_empty() => "its token URL is not absolute".clone_into(&mut why),
            None => {}
        }
    }
    if kinds.is_empty() { Err(why) } else { Ok(kinds) }
}

/// The authorization code grant of a flow. An implicit flow becomes one when its token URL is known from elsewhere.
fn authorization_code(
    flow: &Flow,
    flows: &Flows,
    known: KnownServers<'_>,
) -> Result<OAuth2, String> {
    let authorization_url =
        url(&flow.authorization_url).ok_or("its authorization URL is not absolute")?;
    let elsewhere = flows.client_credentials.get().and_then(|flow| url(&flow.token_url));
    if let Some(oauth) = known(&authorization_url) {
        return Ok(OAuth2 { scopes: scopes(&flow.scopes), ..oauth });
    }
    let token_url = url(&flow.token_url).or(elsewhere);
    let token_url =
        token_url.ok_or("its token URL is not known, and the implicit flow is unsafe")?;
    let oauth = oauth(Grant::AuthorizationCode, flow, token_url);
    Ok(OAuth2 { authorization_url: Some(authorization_url), ..oauth })
}

/// Converts the flow of Swagger 2 to the form of OpenAPI 3.
fn swagger2_flows_of(scheme: &Scheme) -> Flows {
    let text = |text: &FirstText| FirstText(text.0.clone());
    let scopes = scheme.scopes.get().map(|scopes| {
        Entries(scopes.0.iter().map(|(name, about)| (name.clone(), text(about))).collect())
    });
    let flow = OptionalMap::Given(Flow {
        authorization_url: text(&scheme.authorization_url),
        token_url: text(&scheme.token_url),
        refresh_url: FirstText::default(),
        scopes: scopes.map_or(OptionalMap::Absent, OptionalMap::Given),
    });
    match scheme.flow.as_str().trim() {
        "accessCode" => Flows { authorization_code: flow, ..Flows::default() },
        "implicit" => Flows { implicit: flow, ..Flows::default() },
        "application" => Flows { client_credentials: flow, ..Flows::default() },
        _ => Flows::default(),
    }
}

/// The absolute URL of an authorization server. Returns `None` for anything else.
fn url(text: &FirstText) -> Option<String> {
    let url = text.as_str().trim();
    is_url(url).then(|| url.to_owned())
}

/// Whether this is an absolute URL without white space.
pub fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    matches!(scheme, "https" | "http")
        && !rest.is_empty()
        && rest.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '`'))
        && variables(rest).all(server::is_name)
        && text.len() <= MAX_URL
}

/// The scopes of a flow, with their descriptions.
pub fn scopes(given: &OptionalMap<Entries<FirstText>>) -> Vec<Scope> {
    let entries = given.get().map_or(&[][..], |entries| &entries.0);
    let is_scope = |name: &str| {
        (1..=MAX_NAME).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\'))
    };
    let entries = entries.iter().filter(|(name, _)| is_scope(name)).take(MAX_SCOPES);
    let scope = |(name, about): &(String, FirstText)| Scope {
        name: name.clone(),
        description: text::line(about.as_str(), MAX_DESCRIPTION),
    };
    entries.map(scope).collect()
}
