//! Deserializes auth methods of `providers.toml` and `catalog.toml`, and converts them to methods
//! of the catalog.

use serde::Deserialize;

use super::server::{self, ResolvedServers};
use crate::catalog::detail::{
    AccessTokenExchange, ApiKey, ApiKeyLocation, AuthMethod, ExpiresUnit, Field, FieldSource,
    Grant, Kind, OAuth2, Parameters, Pkce, RevocationToken, Scope, SourceKind, TokenAuth,
    TokenBody, client_id, code, urls, variables,
};
use crate::importer::auth;
use crate::oauth::{authorization, revocation, token};
use crate::terms::Method;

use super::connect_facts::{TemplateLocations, is_secure};

/// An auth method, with the members of all kinds. Members of other kinds are rejected.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AuthEntry {
    /// The id, unique within the platform.
    pub id: String,
    r#type: Type,
    /// The source of the entry: a page of the platform's documentation, or an openly licensed list.
    source: Option<String>,
    /// The date on which the source was read, such as `2026-01-31`.
    read: Option<String>,
    fields: Option<Vec<FieldEntry>>,
    #[serde(default)]
    headers: Parameters,
    #[serde(default)]
    query: Parameters,
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
    #[serde(default = "client_id")]
    client_id_parameter: String,
    #[serde(default)]
    authorization_parameters: Parameters,
    #[serde(default)]
    token_parameters: Parameters,
    redirect_uri: Option<String>,
    #[serde(default)]
    callback_parameters: Vec<String>,
    #[serde(default)]
    token_body: TokenBody,
    #[serde(default)]
    token_headers: Parameters,
    #[serde(default)]
    revocation_body: TokenBody,
    #[serde(default)]
    revocation_token: RevocationToken,
    token_pointer: Option<String>,
    token_fallback: Option<String>,
    #[serde(default)]
    token_members: Vec<String>,
    #[serde(default = "code")]
    code_parameter: String,
    #[serde(default)]
    expires_unit: ExpiresUnit,
    long_lived_token: Option<AccessTokenEntry>,
    access_token_refresh: Option<AccessTokenEntry>,
    lookup_url: Option<String>,
    #[serde(default)]
    field_sources: Vec<FieldSource>,
    r#in: Option<ApiKeyLocation>,
    name: Option<String>,
    prefix: Option<String>,
    username_label: Option<String>,
    password_label: Option<String>,
    username: Option<String>,
    password: Option<String>,
    service: Option<String>,
    #[serde(default)]
    regions: Vec<String>,
}

/// A request that exchanges an access token for another one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessTokenEntry {
    request: String,
    parameters: Parameters,
}

impl AccessTokenEntry {
    /// Converts the entry. `member` is its name in the method, for errors.
    fn request(self, member: &str) -> Result<AccessTokenExchange, String> {
        let is_url = |url: &str| is_secure(url) && !url.contains(['?', '#', '{', '}']);
        let request = self.request.split_once(' ').and_then(|(method, url)| {
            let method =
                [Method::Get, Method::Post].into_iter().find(|it| it.as_str() == method)?;
            is_url(url).then(|| (method, url.to_owned()))
        });
        let (method, url) = request.ok_or_else(|| {
            format!(
                "`{member}`: `request` must be GET or POST and an `https` URL without variables"
            )
        })?;
        if !self.parameters.values().any(|value| value == "{accessToken}") {
            return Err(format!("`{member}`: no parameter has the value `{{accessToken}}`"));
        }
        let known = ["{accessToken}", "{clientId}", "{clientSecret}"];
        let has_unknown_variable =
            |value: &&String| value.contains(['{', '}']) && !known.contains(&value.as_str());
        if let Some(value) = self.parameters.values().find(has_unknown_variable) {
            return Err(format!("`{member}`: a parameter can't be `{value}`"));
        }
        Ok(AccessTokenExchange { method, url, parameters: self.parameters })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Type {
    #[serde(rename = "oauth2")]
    OAuth2,
    ApiKey,
    Basic,
    Bearer,
    AwsSigv4,
}

/// A field of an auth method. Omitted members have the defaults of the method's kind, or general
/// defaults.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldEntry {
    name: String,
    label: Option<String>,
    description: Option<String>,
    secret: Option<bool>,
    required: Option<bool>,
    pattern: Option<String>,
    r#enum: Option<Vec<String>>,
    default: Option<String>,
}

impl AuthEntry {
    /// Whether the entry has a source and the date on which the source was read.
    pub fn has_source(&self) -> bool {
        let read = self.read.as_ref().map(|day| day.parse::<jiff::civil::Date>());
        self.source.as_ref().is_some_and(|page| !page.trim().is_empty())
            && read.is_some_and(|day| day.is_ok())
    }

    /// Converts the OAuth 2.0 settings of the entry.
    fn oauth2(self) -> Result<OAuth2, String> {
        let grant = self.grant.ok_or("`grant` is missing")?;
        if (grant == Grant::AuthorizationCode) != self.authorization_url.is_some() {
            return Err("`authorizationUrl` belongs to the grant authorization_code".into());
        }
        self.check_client_id_parameter()?;
        self.check_redirect_parameters()?;
        self.check_token_headers()?;
        if let Some(text) = &self.redirect_uri
            && (self.authorization_url.is_none() || variables(text).next().is_none())
        {
            return Err(format!(
                "`redirectUri`: `{text}` needs a variable, and an `authorizationUrl`"
            ));
        }
        let pointers = [&self.token_pointer, &self.token_fallback];
        if let Some(pointer) =
            pointers.into_iter().flatten().find(|it| !it.is_empty() && !it.starts_with('/'))
        {
            return Err(format!("`{pointer}` is not a JSON Pointer, such as `/data`"));
        }
        let request = |entry: Option<AccessTokenEntry>, member: &str| {
            entry.map(|entry| entry.request(member)).transpose()
        };
        Ok(OAuth2 {
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
            client_id_parameter: self.client_id_parameter,
            authorization_parameters: self.authorization_parameters,
            token_parameters: self.token_parameters,
            redirect_uri: self.redirect_uri,
            callback_parameters: self.callback_parameters,
            token_body: self.token_body,
            token_headers: self.token_headers,
            revocation_body: self.revocation_body,
            revocation_token: self.revocation_token,
            token_pointer: self.token_pointer,
            token_fallback: self.token_fallback,
            token_members: self.token_members,
            code_parameter: self.code_parameter,
            expires_unit: self.expires_unit,
            long_lived_token: request(self.long_lived_token, "longLivedToken")?,
            access_token_refresh: request(self.access_token_refresh, "accessTokenRefresh")?,
            lookup_url: self.lookup_url,
            field_sources: self.field_sources,
        })
    }

    /// Checks that the name of the parameter for the client's id is unique in its requests.
    fn check_client_id_parameter(&self) -> Result<(), String> {
        let id_name = &self.client_id_parameter;
        if !server::is_name(id_name) {
            return Err(format!("`{id_name}` cannot be the `clientIdParameter`"));
        }
        let kind_fields = [
            &authorization::RESERVED_PARAMETERS[..],
            &token::RESERVED_PARAMETERS,
            &revocation::RESERVED_PARAMETERS,
        ];
        let more = [&self.authorization_parameters, &self.token_parameters];
        let is_taken = kind_fields.concat().contains(&id_name.as_str())
            || more.iter().any(|parameters| parameters.contains_key(id_name));
        if is_taken && *id_name != client_id() {
            return Err(format!(
                "`{id_name}` cannot be the `clientIdParameter`: requests have another parameter of that name"
            ));
        }
        Ok(())
    }

    /// Checks the names of the code parameter and of the redirect's parameters that the token
    /// request repeats.
    fn check_redirect_parameters(&self) -> Result<(), String> {
        let code_name = &self.code_parameter;
        if !server::is_name(code_name) || ["state", "iss", "error"].contains(&code_name.as_str()) {
            return Err(format!("`{code_name}` cannot be the `codeParameter`"));
        }
        if let Some(name) = self.callback_parameters.iter().find(|name| {
            let is_own = token::RESERVED_PARAMETERS.contains(&name.as_str()) && *name != "scope";
            !server::is_name(name)
                || is_own
                || **name == self.client_id_parameter
                || *name == code_name
                || self.token_parameters.contains_key(*name)
        }) {
            return Err(format!("`callbackParameters`: `{name}` cannot be repeated"));
        }
        Ok(())
    }

    /// Checks that the headers of token requests don't replace headers that the service sets.
    fn check_token_headers(&self) -> Result<(), String> {
        for (name, value) in &self.token_headers {
            auth::templates::check_header(name)?;
            let lower = name.to_ascii_lowercase();
            if matches!(lower.as_str(), "authorization" | "cookie" | "content-type")
                || value.contains(['{', '}'])
                || !value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
            {
                return Err(format!("`tokenHeaders`: `{name}` cannot be `{value}`"));
            }
        }
        Ok(())
    }

    pub(super) fn method(self, places: &TemplateLocations) -> Result<AuthMethod, String> {
        if auth::slug(&self.id) != self.id {
            return Err("its id must be 1 to 50 of a-z, 0-9 and -".to_owned());
        }
        let fields = self.fields.clone();
        let kind = match self.r#type {
            Type::OAuth2 => Kind::OAuth2(Box::new(self.clone().oauth2()?)),
            Type::ApiKey => {
                let r#in = self.r#in.ok_or("`in` is missing")?;
                let name = auth::kinds::caller_key(r#in, self.name.ok_or("`name` is missing")?)?;
                Kind::ApiKey(ApiKey { r#in, name, prefix: self.prefix.unwrap_or_default() })
            }
            Type::Basic => Kind::Basic {
                username_label: self.username_label.unwrap_or_else(|| "User name".to_owned()),
                password_label: self.password_label.unwrap_or_else(|| "Password".to_owned()),
                username: self.username,
                password: self.password,
            },
            Type::Bearer => {
                Kind::Bearer { prefix: self.prefix.unwrap_or_else(|| "Bearer".to_owned()) }
            }
            Type::AwsSigv4 => Kind::AwsSigv4 {
                service: self.service.ok_or("`service` is missing")?,
                regions: self.regions,
            },
        };
        let kind_fields = auth::default_fields(&kind);
        let is_provided = |name: &str| match &kind {
            Kind::OAuth2(oauth) => oauth.provides_field(name),
            _ => false,
        };
        let converted_fields = fields.into_iter().flatten();
        let converted_fields =
            converted_fields.map(|field| field.field(&kind_fields, &is_provided)).collect();
        let all = auth::fields(
            &kind,
            None,
            &ResolvedServers { fields: converted_fields, ..ResolvedServers::default() },
        );
        let (headers, query) = (self.headers, self.query);
        let is_used = |name: &str| {
            let templates = auth::parameters(&kind).chain(headers.values().map(String::as_str));
            let templates = templates.chain(query.values().map(String::as_str));
            let sources = match &kind {
                Kind::OAuth2(oauth) => oauth.field_sources.as_slice(),
                _ => &[],
            };
            urls(&kind)
                .chain(places.all())
                .chain(sources.iter().map(|source| source.at.as_str()))
                .flat_map(variables)
                .chain(templates.flat_map(auth::parameter_variables))
                .any(|used| used == name)
        };
        // A field must belong to the kind, or be a variable of a URL or a parameter.
        if let Some(field) = all.iter().find(|field| {
            !is_used(&field.name) && !kind_fields.iter().any(|known| known.name == field.name)
        }) {
            return Err(format!("the field `{}` is used in no URL and no template", field.name));
        }
        if let Some(field) = all.iter().find(|field| !server::is_name(&field.name)) {
            return Err(format!("`{}` cannot be the name of a field", field.name));
        }
        if let Kind::OAuth2(oauth) = &kind {
            check_sources(oauth, &all)?;
        }
        let method = AuthMethod { id: self.id, kind, fields: all, headers, query };
        auth::templates::check(&method)?;
        Ok(method)
    }
}

/// Checks the sources of fields whose values the platform returns.
fn check_sources(oauth: &OAuth2, fields: &[Field]) -> Result<(), String> {
    let has_lookup = |source: &FieldSource| source.from == SourceKind::Lookup;
    let is_looked_up = oauth.field_sources.iter().any(has_lookup);
    if is_looked_up != oauth.lookup_url.is_some()
        || is_looked_up && oauth.grant != Grant::AuthorizationCode
    {
        return Err("`lookupUrl` belongs to `fieldSources` with `from = \"lookup\"`, and to the grant authorization_code".to_owned());
    }
    for source in &oauth.field_sources {
        if let Some(other) = variables(&source.at)
            .find(|name| !fields.iter().any(|field| field.name == *name && !field.secret))
        {
            return Err(format!("`fieldSources`: no field for `{{{other}}}` in `{}`", source.at));
        }
        let name = &source.field;
        let Some(field) = fields.iter().find(|field| field.name == *name) else {
            return Err(format!("`fieldSources`: there is no field `{name}`"));
        };
        if field.secret || field.required {
            return Err(format!(
                "`fieldSources`: the platform states `{name}`, so it can be neither secret nor required"
            ));
        }
        if (source.from == SourceKind::Callback) == source.at.starts_with('/') {
            return Err(format!(
                "`fieldSources`: `{}` must be a parameter of the redirect, or a JSON Pointer into the response",
                source.at
            ));
        }
        let is_template = |template: &String| {
            template.matches('{').count() == 1 && template.contains(&format!("{{{name}}}"))
        };
        if !source.template.as_ref().is_none_or(is_template) {
            return Err(format!(
                "`fieldSources`: a `template` for `{name}` must contain `{{{name}}}` once"
            ));
        }
    }
    Ok(())
}

impl FieldEntry {
    /// Converts the entry to a field. `kind_fields` are the default fields of the method's kind. Fields
    /// that the platform returns (`is_provided`) are optional.
    fn field(self, kind_fields: &[Field], is_provided: &dyn Fn(&str) -> bool) -> Field {
        let Self { name, label, description, secret, required, pattern, r#enum, default } = self;
        let known = kind_fields.iter().find(|field| field.name == name).cloned();
        let default_field = known.unwrap_or_else(|| Field::required(&name, &server::label(&name)));
        let required =
            required.unwrap_or(default_field.required && default.is_none() && !is_provided(&name));
        Field {
            name,
            label: label.unwrap_or(default_field.label),
            description: description.or(default_field.description),
            secret: secret.unwrap_or(default_field.secret),
            required,
            pattern: pattern.or(default_field.pattern),
            r#enum: r#enum.or(default_field.r#enum),
            default: default.or(default_field.default),
        }
    }
}
