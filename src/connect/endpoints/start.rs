//! `POST /v1/vault/connect`: connects an account, or starts an attempt that the user completes in a browser.

use std::collections::BTreeMap;

use super::client_choice;
use super::previous_credentials::PreviousCredentials;
use super::window_link::{MethodChoice, choose_method, needs_user_input};
use super::{connector, missing_vault_keys};
use crate::auth::restriction::TokenRestriction;
use crate::auth::{Caller, Principal};
use crate::catalog::detail::{AuthMethod, Grant, Kind, OAuth2};
use crate::catalog::reader::Catalog;
use crate::connect::attempt::code_parties;
use crate::connect::client::OauthClient;
use crate::connect::method::Connector;
use crate::connect::presets::Presets;
use crate::connect::resolved_oauth::ResolvedOAuth;
use crate::connect::rules::origin;
use crate::connect::statements;
use crate::connections::draft::NewConnection;
use crate::connections::endpoints::create::{
    connection_exists, internal_missing_field, outside_token_connections, outside_token_scope,
};
use crate::connections::endpoints::platform_not_found::platform_not_found;
use crate::connections::model::{Connection, ConnectionId};
use crate::connections::rules::DEFAULT_LABEL;
use crate::connections::statements::one;
use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::Response;
use crate::http::problem::{Code, Extension, Problem};
use crate::ports::{Ports, Random};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Rows, Statements};
use crate::targets::fill::FillError;
use crate::terms::{IdentityType, State};
use crate::util::case_fold::fold;
use crate::util::json;

/// The rows that are selected together with the caller's key.
#[derive(Debug, Clone, Copy)]
struct SelectedRows {
    connection: Rows<Connection>,
    previous: Rows<PreviousCredentials>,
    client: Rows<OauthClient>,
}

/// A request to connect, with its statements. The caller is not authenticated yet.
#[derive(Debug)]
struct PreparedConnect<'a> {
    context: &'a Context<'a>,
    body: BodyReader,
    target: RequestedTarget,
    /// The name of the chosen OAuth client.
    client: Option<String>,
    selected: SelectedRows,
}

/// The connection that the request names.
#[derive(Debug)]
enum RequestedTarget {
    /// By key: a new connection, or a failed connection.
    ByKey {
        connector: Box<Connector>,
        platform: String,
        label: String,
        owner: Owner,
    },
    ById,
}

#[derive(Debug, Clone)]
struct Owner {
    identity: String,
    identity_type: IdentityType,
}

/// Reads the connector of a new connection before the key is authenticated, so that one database
/// query is enough. An unauthenticated caller does not see the result.
pub async fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    let (guard, mut statements) = (context.guard(), Statements::default());
    let restriction = context.caller.restriction();
    let client = client_choice::requested(&mut body, restriction)?;
    if let Some(id) = body.text("connection") {
        return prepare_reconnection(context, body, &id, client, ports);
    }
    let has_platform = body.has("platform");
    let platform = body.text("platform").map(|platform| fold(&platform));
    if !has_platform {
        body.invalid(&["platform"], "is required, or else `connection`");
    }
    let owner = owner(&mut body, restriction)?;
    let label = body.text("label").unwrap_or_else(|| DEFAULT_LABEL.to_owned());
    if restriction.is_some_and(|restriction| restriction.connections.is_some()) {
        body.finish()?;
        return Err(outside_token_connections());
    }
    if let Some(platform) = &platform
        && restriction.is_some_and(|restriction| !restriction.has_platform(platform))
    {
        body.finish()?;
        return Err(outside_token_scope("platform"));
    }
    let requested = match &platform {
        Some(platform) => {
            let catalog = Catalog::open(context.service.catalog(), ports).await?;
            let Some(connector) = connector(&catalog, platform).await? else {
                let platform = platform.clone();
                return Ok(Handler::catalog(async move {
                    platform_not_found(context, body, &platform, ports).await
                }));
            };
            Some((platform.clone(), connector))
        }
        None => None,
    };
    body.finish()?;
    let (Some((requested, connector)), Some(owner)) = (requested, owner) else {
        return Err(internal_missing_field());
    };
    // Replace a platform's former name, unless the token is restricted to that name.
    let is_allowed =
        restriction.is_none_or(|restriction| restriction.has_platform(&connector.platform));
    let platform = if is_allowed { connector.platform.clone() } else { requested };
    let key = [platform.as_str(), &label, &owner.identity];
    let selected = SelectedRows {
        connection: statements.query(one::select_by_key(
            &guard,
            &platform,
            &label,
            &owner.identity,
        )),
        previous: statements.query(statements::select_credentials_by_key(
            &guard,
            &platform,
            &label,
            &owner.identity,
        )),
        client: statements.query(statements::select_client_by_key(&guard, key, client.as_deref())),
    };
    let target = RequestedTarget::ByKey { connector: Box::new(connector), platform, label, owner };
    into_handler(PreparedConnect { context, body, target, client, selected }, statements, ports)
}

/// Prepares a request that names its connection by id.
fn prepare_reconnection<'a, P: Ports>(
    context: &'a Context<'a>,
    mut body: BodyReader,
    id: &str,
    client: Option<String>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    for field in ["platform", "identity", "identityType", "label"] {
        if body.has(field) {
            body.invalid(&[field], "must be omitted: the connection has its own");
        }
    }
    body.finish()?;
    let (guard, id) = (context.guard(), ConnectionId::parse(id).unwrap_or_default());
    let mut statements = Statements::default();
    let selected = SelectedRows {
        connection: statements.query(one::select(&guard, &id)),
        previous: statements.query(statements::select_credentials(&guard, &id)),
        client: statements.query(statements::select_chosen_client_for(
            &guard,
            &id,
            client.as_deref(),
        )),
    };
    let new = PreparedConnect { context, body, target: RequestedTarget::ById, client, selected };
    into_handler(new, statements, ports)
}

fn into_handler<'a, P: Ports>(
    new: PreparedConnect<'a>,
    statements: Statements,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    if new.context.config().vault_keys.is_empty() {
        return Err(missing_vault_keys());
    }
    Ok(Handler::new(statements, move |results, principal| async move {
        new.respond(&principal, &results, ports).await
    }))
}

/// The identity of a new connection. Returns `None` if the body was invalid.
fn owner(
    body: &mut BodyReader,
    restriction: Option<&TokenRestriction>,
) -> Result<Option<Owner>, Problem> {
    let (has_identity, has_type) = (body.has("identity"), body.has("identityType"));
    let identity = body.text("identity");
    let identity_type = body.text("identityType").and_then(|text| text.parse().ok());
    let Some(restriction) = restriction else {
        for (name, is_sent) in [("identity", has_identity), ("identityType", has_type)] {
            if !is_sent {
                body.invalid(&[name], "is required");
            }
        }
        let pair = identity.zip(identity_type);
        return Ok(pair.map(|(identity, identity_type)| Owner { identity, identity_type }));
    };
    if identity.as_ref().is_some_and(|identity| *identity != restriction.identity) {
        return Err(outside_token_scope("identity"));
    }
    if restriction.identity_type.is_some() && has_type && identity_type != restriction.identity_type
    {
        return Err(outside_token_scope("identityType"));
    }
    let identity_type = restriction.identity_type.or(identity_type).unwrap_or(IdentityType::User);
    Ok(Some(Owner { identity: restriction.identity.clone(), identity_type }))
}

/// A validated request to connect an account.
pub(super) struct ConnectRequest<'a> {
    pub context: &'a Context<'a>,
    pub principal: &'a Principal,
    pub connector: &'a Connector,
    pub method: &'a AuthMethod,
    /// The name of the OAuth client.
    pub client: String,
    /// The values of variables from the user's fields and from the OAuth client.
    pub values: BTreeMap<String, String>,
    pub connection: ConnectTarget,
    /// The display name; `None` keeps the name of a reconnected connection.
    pub name: Option<String>,
    /// A JSON array of strings; `None` keeps the tags of a reconnected connection.
    pub tags: Option<String>,
    pub previous: Option<PreviousCredentials>,
    pub allows_other_account: bool,
    pub presets: Presets,
}

/// The connection that is created or reconnected.
pub(super) enum ConnectTarget {
    New(Box<NewConnection>),
    Existing(Box<Connection>),
}

impl PreparedConnect<'_> {
    /// Connects the account, or starts an attempt.
    async fn respond<P: Ports>(
        self,
        principal: &Principal,
        results: &Results,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { context, mut body, target, client: chosen, selected } = self;
        let (name, tags) = (body.text("name"), body.texts("tags").map(|tags| json::text(&tags)));
        let existing = results.first(selected.connection)?;
        let name_and_tags = (name.as_deref(), tags.as_deref());
        let (connector, connection) =
            resolve_target(context, target, existing, name_and_tags, ports).await?;
        let previous = results.first(selected.previous)?;
        let client = results.first(selected.client)?;
        let current =
            previous.as_ref().map(|previous: &PreviousCredentials| previous.client.as_str());
        let client_name = client_choice::name(chosen.as_deref(), current).to_owned();

        let requested = body.text("authMethod");
        let id = requested
            .as_deref()
            .or(previous.as_ref().map(|previous| previous.auth_method.as_str()));
        let wants_link = body.boolean("link").unwrap_or(false);
        let (method, is_user_choice) =
            match choose_method(&connector, id, wants_link, client.as_ref()) {
                Ok(MethodChoice::Method(method)) => (method, false),
                Ok(MethodChoice::ByUser(first)) => (first, true),
                Err(message) => return Err(body.refuse(&["authMethod"], &message, None)),
            };
        let client = client.filter(|client| client.is_for(&method.id));
        let variables = client.as_ref().map(OauthClient::variables).unwrap_or_default();
        let mut field_values = body.text_members("fields").unwrap_or_default();
        let fixed = body.text_members("fixedFields").unwrap_or_default();
        let sent_presets = Presets { fields: field_values.clone(), fixed, lang: body.text("lang") };
        let presets = sent_presets.clone().with_token_presets(context.caller, &mut body);
        presets.apply(method, &mut field_values);
        let in_window =
            wants_link && (is_user_choice || needs_user_input(method, &field_values, &variables));
        // Outside the connect window, `fields` are checked like values that the user entered.
        let fields = if in_window { sent_presets.fields } else { BTreeMap::new() };
        let offered_methods =
            connector.auth_methods.iter().filter(|one| is_user_choice || one.id == method.id);
        Presets { fields, ..sent_presets }.check(&connector, offered_methods, &mut body, ports);
        let mut request = ConnectRequest {
            context,
            principal,
            connector: &connector,
            method,
            client: client_name,
            values: BTreeMap::new(),
            connection,
            name,
            tags,
            previous,
            allows_other_account: body.boolean("allowOtherAccount").unwrap_or(false),
            presets,
        };
        if in_window {
            if !is_user_choice && method.is_oauth2() && client.is_none() {
                return Err(client_choice::missing(&connector, method, &request.client));
            }
            return request.start_in_window(body, ports).await;
        }
        let oauth_problem =
            request.fill(&mut body, field_values, (client.as_ref(), variables), ports);
        let return_url = return_url(context, &mut body);
        let scopes = body.texts("scopes");
        request.complete(body, (client, oauth_problem), scopes, return_url, ports).await
    }
}

/// Resolves the target: a new connection, or an existing connection to reconnect.
async fn resolve_target<P: Ports>(
    context: &Context<'_>,
    target: RequestedTarget,
    existing: Option<Connection>,
    (name, tags): (Option<&str>, Option<&str>),
    ports: &Metered<'_, P>,
) -> Result<(Connector, ConnectTarget), Problem> {
    // Each reconnection stores events, so a full database accepts only those that repair a connection.
    let has_changes = (name, tags) != (None, None);
    if existing.as_ref().is_some_and(|existing| !existing.state.is_broken() || has_changes) {
        context.ensure_capacity()?;
    }
    Ok(match (target, existing) {
        (RequestedTarget::ByKey { connector, platform, label, owner }, None) => {
            context.ensure_capacity()?;
            let new = NewConnection {
                id: ports.uuid(),
                platform,
                platform_version: connector.platform_version.clone(),
                description: connector.description.clone(),
                identity: owner.identity,
                identity_type: owner.identity_type,
                label,
                name: name.map(str::to_owned),
                tags: tags.unwrap_or("[]").to_owned(),
                state: State::Unknown,
                active: true,
                created_at: context.now,
            };
            (*connector, ConnectTarget::New(Box::new(new)))
        }
        (RequestedTarget::ByKey { connector, owner, .. }, Some(existing)) => {
            // A token with an identity type can reconnect only connections of that type.
            let has_owner_type = existing.identity_type == owner.identity_type;
            if existing.state != State::Failed || !has_owner_type {
                return Err(key_taken(&existing, context.caller));
            }
            (*connector, ConnectTarget::Existing(Box::new(existing)))
        }
        (RequestedTarget::ById, Some(existing)) => {
            let catalog = Catalog::open(context.service.catalog(), ports).await?;
            let connector = connector(&catalog, &existing.platform).await?;
            let connector = connector.ok_or_else(|| platform_removed(&existing.platform))?;
            (connector, ConnectTarget::Existing(Box::new(existing)))
        }
        (RequestedTarget::ById, None) => return Err(Problem::connection_not_found()),
    })
}

/// The error if another connection has the key, with instructions if the caller can see it.
fn key_taken(existing: &Connection, caller: &Caller) -> Problem {
    let mut problem = connection_exists(existing, caller);
    if matches!(problem.extension, Extension::ConnectionId(_)) {
        problem.detail =
            format!("{} To connect it again, send its id as `connection`; to connect another account, send another `label`.", problem.detail).into();
    }
    problem
}

/// Reads `returnUrl`, and reports an error if its origin is not allowed.
pub(super) fn return_url(context: &Context<'_>, body: &mut BodyReader) -> Option<String> {
    let url = body.text("returnUrl");
    if url.as_ref().is_some_and(|url| !may_return_to(context, url)) {
        body.invalid(
            &["returnUrl"],
            "must have an allowed origin: one of the token's `origins`, or of the service's `ALLOWED_ORIGINS`",
        );
    }
    url
}

fn may_return_to(context: &Context<'_>, url: &str) -> bool {
    let origin = origin(url);
    let token_origins = context.caller.token().and_then(|token| token.origins.as_ref());
    origin == context.request.origin
        || token_origins
            .map_or_else(|| context.config().allows(&origin), |origins| origins.has(&origin))
}

/// The error if the catalog no longer has the connection's platform.
pub(crate) fn platform_removed(platform: &str) -> Problem {
    let detail = format!("The catalog no longer has the platform `{platform}`.");
    Problem::new(Code::PlatformNotFound, detail)
}

impl ConnectRequest<'_> {
    /// Fills the method's values, and reports faults. Returns the error of an unusable method.
    fn fill<P: Ports>(
        &mut self,
        body: &mut BodyReader,
        mut field_values: BTreeMap<String, String>,
        (client, variables): (Option<&OauthClient>, BTreeMap<String, String>),
        ports: &Metered<'_, P>,
    ) -> Option<Problem> {
        let (connector, method) = (self.connector, self.method);
        if method.is_oauth2() {
            let is_field = |name: &String| method.fields.iter().any(|field| field.name == *name);
            field_values.extend(variables.into_iter().filter(|(name, _)| is_field(name)));
        } else if body.has("scopes") {
            body.invalid(&["scopes"], "applies only to OAuth 2.0 methods");
        }
        let oauth_problem =
            client_choice::problem(connector, method, (client, &self.client), &field_values);
        self.values = method.fill(connector, &field_values, ports, |name, message| {
            // Report the missing OAuth client first: the user can't fix it.
            if oauth_problem.is_none()
                || field_values.get(name).is_some_and(|value| !value.is_empty())
            {
                body.invalid(&["fields", name], &message);
            }
        });
        self.presets = std::mem::take(&mut self.presets).for_connection(&self.values);
        oauth_problem
    }

    /// Stores the credentials or starts an attempt, unless `oauth_problem` makes that impossible.
    async fn complete<P: Ports>(
        self,
        mut body: BodyReader,
        (client, oauth_problem): (Option<OauthClient>, Option<Problem>),
        scopes: Option<Vec<String>>,
        return_url: Option<String>,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let method = self.method;
        let Kind::OAuth2(oauth) = &method.kind else {
            body.finish()?;
            return self.store_fields(ports).await;
        };
        let resolved =
            if oauth_problem.is_none() { self.fill_oauth(oauth, &mut body) } else { None };
        body.finish()?;
        if let Some(oauth_problem) = oauth_problem {
            return Err(oauth_problem);
        }
        let (Some(client), Some(resolved)) = (client, resolved) else {
            return Err(internal_missing_field());
        };
        let scopes = scopes.unwrap_or_else(|| client.scopes());
        match oauth.grant {
            Grant::AuthorizationCode => {
                let pkce = client.pkce.unwrap_or(oauth.pkce);
                let platform_link = Some((pkce, code_parties(oauth, &client)));
                self.start_attempt(ports, platform_link, &scopes, return_url).await
            }
            Grant::ClientCredentials | Grant::AccountCredentials => {
                self.store_client_credentials(ports, &resolved, &client, scopes).await
            }
        }
    }

    /// Resolves the method's URLs and parameters, and reports invalid values.
    fn fill_oauth(&self, oauth: &OAuth2, body: &mut BodyReader) -> Option<ResolvedOAuth> {
        let value = |name: &str| self.values.get(name).map(String::as_str);
        let targets = self.context.config().targets();
        let resolved = match oauth.grant {
            Grant::AuthorizationCode => ResolvedOAuth::before_sign_in(oauth, targets, &value),
            Grant::ClientCredentials | Grant::AccountCredentials => {
                ResolvedOAuth::new(oauth, targets, &value)
            }
        };
        match resolved {
            Ok(resolved) => Some(resolved),
            // Only the platform returns this value, after the sign-in.
            Err(FillError::Missing(name)) if oauth.provides_field(&name) => {
                body.invalid(&["fields", &name], "is required");
                None
            }
            Err(error) => {
                let field = error.field().unwrap_or_default();
                let path: &[&str] = if field.is_empty() { &["fields"] } else { &["fields", field] };
                // Missing values, and most invalid values, were already reported.
                if !matches!(&error, FillError::Missing(_)) && !body.has_fault(path) {
                    body.invalid(path, &format!("can't be used: {error}"));
                }
                None
            }
        }
    }
}
