//! `POST /v1/vault/connect`: connects an account, or begins an attempt that the user finishes in a browser.

use std::collections::BTreeMap;

use super::former::Former;
use super::link::IN_WINDOW;
use super::{connector, no_vault_keys};
use crate::auth::endpoints::session::new::no_secret;
use crate::auth::restriction::Confinement;
use crate::auth::{Caller, Principal};
use crate::catalog::cache::CatalogCache;
use crate::catalog::detail::{AuthMethod, Grant, Kind, OAuth2};
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::filled::{Filled, deciding_fields};
use crate::connect::method::Connector;
use crate::connect::rules::origin;
use crate::connect::statements;
use crate::connections::draft::NewConnection;
use crate::connections::endpoints::create::{elsewhere, exists, no_other_connection, unreported};
use crate::connections::endpoints::no_platform::no_platform;
use crate::connections::model::{Connection, ConnectionId};
use crate::connections::rules::DEFAULT_LABEL;
use crate::connections::statements::one;
use crate::credentials::placing::{CLIENT_SECRET, needs};
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

/// The rows that are found together with the caller's key.
#[derive(Debug, Clone, Copy)]
struct Found {
    connection: Rows<Connection>,
    former: Rows<Former>,
    client: Rows<OauthClient>,
}

/// An account to connect.
#[derive(Debug)]
struct NewConnect<'a> {
    context: &'a Context<'a>,
    body: BodyReader,
    target: Wanted,
    found: Found,
}

/// Which connection the account is to become.
#[derive(Debug)]
enum Wanted {
    /// The one with this key. It is new, or has failed.
    ByKey { connector: Box<Connector>, platform: String, label: String, owner: Owner },
    /// The one that the request names.
    ById,
}

/// Whose connection it is to be.
#[derive(Debug, Clone)]
struct Owner {
    identity: String,
    identity_type: IdentityType,
}

/// Plans the request. The connector of a new connection is read before the key is known to be valid, so that the database
/// is asked only once; a refused caller learns nothing of the result.
///
/// # Errors
/// With all faults of the request that show without its connector; `unavailable` without keys to seal with.
pub async fn plan<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.no_query()?;
    let mut body = context.body()?;
    let (guard, mut statements) = (context.guard(), Statements::default());
    if let Some(id) = body.text("connection") {
        for field in ["platform", "identity", "identityType", "label"] {
            if body.has(field) {
                body.invalid(&[field], "must be left out: the connection has its own");
            }
        }
        body.finish()?;
        let id = ConnectionId::parse(&id).unwrap_or_default();
        let found = Found {
            connection: statements.ask(one::select(&guard, &id)),
            former: statements.ask(statements::select_held(&guard, &id)),
            client: statements.ask(statements::select_client_for(&guard, &id)),
        };
        let new = NewConnect { context, body, target: Wanted::ById, found };
        return with_keys(new, statements, ports);
    }
    let is_sent = body.has("platform");
    let platform = body.text("platform").map(|platform| fold(&platform));
    if !is_sent {
        body.invalid(&["platform"], "is required, or else `connection`");
    }
    let confinement = context.caller.confinement();
    let owner = owner(&mut body, confinement)?;
    let label = body.text("label").unwrap_or_else(|| DEFAULT_LABEL.to_owned());
    if confinement.is_some_and(|own| own.connections.is_some()) {
        body.finish()?;
        return Err(no_other_connection());
    }
    if let Some(platform) = &platform
        && confinement.is_some_and(|own| !own.has_platform(platform))
    {
        body.finish()?;
        return Err(elsewhere("platform"));
    }
    let asked = match &platform {
        Some(platform) => {
            let catalog = Catalog::open(context.service.catalog(), ports).await?;
            let Some(connector) = connector(&catalog, platform).await? else {
                let platform = platform.clone();
                return Ok(Handler::catalog(no_platform(context, body, platform, ports)));
            };
            Some((platform.clone(), connector))
        }
        None => None,
    };
    body.finish()?;
    let (Some((asked, connector)), Some(owner)) = (asked, owner) else {
        return Err(unreported());
    };
    // A former name leads to the platform's own, unless the token knows it by the former one only.
    let is_seen = confinement.is_none_or(|own| own.has_platform(&connector.platform));
    let platform = if is_seen { connector.platform.clone() } else { asked };
    let found = Found {
        connection: statements.ask(one::select_by_key(&guard, &platform, &label, &owner.identity)),
        former: statements.ask(statements::select_held_by_key(
            &guard,
            &platform,
            &label,
            &owner.identity,
        )),
        client: statements.ask(statements::select_client(&guard, &platform)),
    };
    let target = Wanted::ByKey { connector: Box::new(connector), platform, label, owner };
    with_keys(NewConnect { context, body, target, found }, statements, ports)
}

fn with_keys<'a, P: Ports>(
    new: NewConnect<'a>,
    statements: Statements,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    if new.context.config.vault_keys.is_empty() {
        return Err(no_vault_keys());
    }
    Ok(Handler::new(statements, move |results, principal| async move {
        new.respond(&principal, &results, ports).await
    }))
}

/// Whose connection it is to be: a token's own identity, or the one that the body names. Returns `None` when the body has
/// faults there.
fn owner(
    body: &mut BodyReader,
    confinement: Option<&Confinement>,
) -> Result<Option<Owner>, Problem> {
    let (sent, sent_type) = (body.has("identity"), body.has("identityType"));
    let identity = body.text("identity");
    let identity_type = body.text("identityType").and_then(|text| text.parse().ok());
    let Some(own) = confinement else {
        for (name, is_sent) in [("identity", sent), ("identityType", sent_type)] {
            if !is_sent {
                body.invalid(&[name], "is required");
            }
        }
        let pair = identity.zip(identity_type);
        return Ok(pair.map(|(identity, identity_type)| Owner { identity, identity_type }));
    };
    if identity.as_ref().is_some_and(|identity| *identity != own.identity) {
        return Err(elsewhere("identity"));
    }
    if own.identity_type.is_some() && sent_type && identity_type != own.identity_type {
        return Err(elsewhere("identityType"));
    }
    let identity_type = own.identity_type.or(identity_type).unwrap_or(IdentityType::User);
    Ok(Some(Owner { identity: own.identity.clone(), identity_type }))
}

/// An account whose connector and method are known.
pub(super) struct Chosen<'a> {
    pub context: &'a Context<'a>,
    pub principal: &'a Principal,
    pub connector: &'a Connector,
    pub method: &'a AuthMethod,
    /// What the user filled in, and what the OAuth client says.
    pub values: BTreeMap<String, String>,
    pub connection: To,
    /// What the connection is to be called; `None` leaves the name of one that is reconnected.
    pub name: Option<String>,
    /// A JSON array of strings; `None` leaves the tags of one that is reconnected.
    pub tags: Option<String>,
    /// What the vault holds of the connection that is reconnected.
    pub former: Option<Former>,
    pub allows_other_account: bool,
}

/// The connection.
pub(super) enum To {
    /// A new one.
    New(Box<NewConnection>),
    /// One that is reconnected.
    Existing(Box<Connection>),
}

impl NewConnect<'_> {
    /// Connects the account, or begins an attempt.
    ///
    /// # Errors
    /// With all faults of the fields; `connection_not_found`, `connection_exists`, `oauth_client_missing`,
    /// `credentials_rejected`, `platform_unreachable`, `platform_timeout`, `too_many_requests`, `vault_full`.
    async fn respond<P: Ports>(
        self,
        principal: &Principal,
        results: &Results,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { context, mut body, target, found } = self;
        let cache = context.service.catalog();
        let (name, tags) = (body.text("name"), body.texts("tags").map(|tags| json::text(&tags)));
        let existing = results.first(found.connection)?;
        let described = (name.as_deref(), tags.as_deref());
        let (connector, connection) =
            connected(context, target, existing, described, (cache, ports)).await?;
        let former = results.first(found.former)?;
        let client = results.first(found.client)?;

        let asked = body.text("authMethod");
        let id = asked.as_deref().or(former.as_ref().map(|former| former.auth_method.as_str()));
        let wants_link = body.boolean("link").unwrap_or(false);
        let choice = match id {
            None if wants_link => choice_of_link(&connector, client.as_ref()),
            _ => connector.method(id).map(Choice::Method),
        };
        let (method, is_open) = match choice {
            Ok(Choice::Method(method)) => (method, false),
            Ok(Choice::OfUser(first)) => (first, true),
            Err(what) => return Err(body.refuse(&["authMethod"], &what, None)),
        };
        let client = client.filter(|client| client.is_for(&method.id));
        let variables = client.as_ref().map(OauthClient::variables).unwrap_or_default();
        let mut given = body.text_members("fields").unwrap_or_default();
        let in_window = wants_link && (is_open || takes_fields(method, &given, &variables));
        if in_window {
            if !is_open && method.is_oauth2() && client.is_none() {
                return Err(no_client(&connector, method));
            }
            let chosen = Chosen {
                context,
                principal,
                connector: &connector,
                method,
                values: BTreeMap::new(),
                former,
                connection,
                name: None,
                tags: None,
                allows_other_account: false,
            };
            return chosen.begin_in_window(body, ports).await;
        }
        if method.is_oauth2() {
            let known = |name: &String| method.fields.iter().any(|field| field.name == *name);
            given.extend(variables.clone().into_iter().filter(|(name, _)| known(name)));
        } else if body.has("scopes") {
            body.invalid(&["scopes"], "applies to methods of OAuth 2.0 only");
        }
        let lack = lacking(&connector, method, client.as_ref(), &given);
        let values = method.fill(&connector.headers, &given, ports, |name, what| {
            // Nobody is asked for more while the OAuth client is what is missing.
            if lack.is_none() || given.get(name).is_some_and(|value| !value.is_empty()) {
                body.invalid(&["fields", name], &what);
            }
        });
        let return_url = return_url(context, &mut body);
        let scopes = body.texts("scopes");
        let chosen = Chosen {
            context,
            principal,
            connector: &connector,
            method,
            values,
            former,
            connection,
            name,
            tags,
            allows_other_account: body.boolean("allowOtherAccount").unwrap_or(false),
        };
        let Kind::OAuth2(oauth) = &method.kind else {
            body.finish()?;
            return chosen.store_fields(ports).await;
        };
        let filled = if lack.is_none() { chosen.fill_oauth(oauth, &mut body) } else { None };
        body.finish()?;
        if let Some(lack) = lack {
            return Err(lack);
        }
        let (Some(client), Some(filled)) = (client, filled) else { return Err(unreported()) };
        let scopes = scopes.unwrap_or_else(|| client.scopes());
        match oauth.grant {
            Grant::AuthorizationCode => {
                let pkce = Some(client.pkce.unwrap_or(oauth.pkce));
                chosen.begin(ports, pkce, &scopes, return_url).await
            }
            Grant::ClientCredentials | Grant::AccountCredentials => {
                chosen.store_client_credentials(ports, &filled, &client, scopes).await
            }
        }
    }
}

/// What is to be connected: a new connection with a name and tags, or one that there is.
async fn connected<P: Ports>(
    context: &Context<'_>,
    target: Wanted,
    existing: Option<Connection>,
    (name, tags): (Option<&str>, Option<&str>),
    (cache, ports): (&CatalogCache, &Metered<'_, P>),
) -> Result<(Connector, To), Problem> {
    Ok(match (target, existing) {
        (Wanted::ByKey { connector, platform, label, owner }, None) => {
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
            (*connector, To::New(Box::new(new)))
        }
        (Wanted::ByKey { connector, owner, .. }, Some(holder)) => {
            // A token's own identity type is what it asks for, so that it sees what it reconnects.
            let is_own = holder.identity_type == owner.identity_type;
            if holder.state != State::Failed || !is_own {
                return Err(taken(&holder, context.caller));
            }
            (*connector, To::Existing(Box::new(holder)))
        }
        (Wanted::ById, Some(holder)) => {
            let catalog = Catalog::open(cache, ports).await?;
            let connector = connector(&catalog, &holder.platform).await?;
            let connector = connector.ok_or_else(|| gone(&holder.platform))?;
            (connector, To::Existing(Box::new(holder)))
        }
        (Wanted::ById, None) => return Err(Problem::no_connection()),
    })
}

/// Another connection has the key. The caller may connect it again, if it sees it.
fn taken(holder: &Connection, caller: &Caller) -> Problem {
    let mut problem = exists(holder, caller);
    if matches!(problem.extension, Extension::ConnectionId(_)) {
        problem.detail =
            format!("{} To connect it again, send its id as `connection`.", problem.detail).into();
    }
    problem
}

/// What a link to the window can't carry.
const OF_WINDOW: [&str; 6] = ["fields", "label", "name", "tags", "scopes", "allowOtherAccount"];

/// How an account is connected.
enum Choice<'a> {
    /// By this method.
    Method(&'a AuthMethod),
    /// By the one that the user chooses in the window, of which this one is the first.
    OfUser(&'a AuthMethod),
}

/// The method of a link for which none is named: the only one of OAuth 2.0 that has a client, or what the user chooses among
/// those that work.
///
/// # Errors
/// What is wrong, as the end of a sentence that begins with `authMethod`.
fn choice_of_link<'a>(
    connector: &'a Connector,
    client: Option<&OauthClient>,
) -> Result<Choice<'a>, String> {
    let signs_in = |method: &AuthMethod| {
        let oauth = method.oauth2();
        oauth.is_some_and(|oauth| oauth.grant == Grant::AuthorizationCode)
            && client.is_some_and(|client| client.is_for(&method.id))
    };
    let mut usable = connector.auth_methods.iter().filter(|method| signs_in(method));
    if let (Some(only), None) = (usable.next(), usable.next()) {
        return Ok(Choice::Method(only));
    }
    let works = |method: &&AuthMethod| !method.is_oauth2() || signs_in(method);
    match (connector.auth_methods.as_slice(), connector.auth_methods.iter().find(works)) {
        ([_] | [], _) => connector.method(None).map(Choice::Method),
        (_, Some(first)) => Ok(Choice::OfUser(first)),
        // The refusal says that it has no client.
        ([first, ..], None) => Ok(Choice::Method(first)),
    }
}

/// Whether the user has to fill something in for a method.
fn takes_fields(
    method: &AuthMethod,
    given: &BTreeMap<String, String>,
    variables: &BTreeMap<String, String>,
) -> bool {
    let Some(oauth) = method.oauth2() else { return true };
    let has = |name: &String| [given, variables].iter().any(|all| all.contains_key(name));
    method.fields.iter().any(|field| {
        field.required && field.default.is_none() && !has(&field.name) && !oauth.says(&field.name)
    })
}

/// The address that the browser is sent to in the end; the body is refused when it may not be sent there.
fn return_url(context: &Context<'_>, body: &mut BodyReader) -> Option<String> {
    let url = body.text("returnUrl");
    if url.as_ref().is_some_and(|url| !returns(context, url)) {
        body.invalid(
            &["returnUrl"],
            "must have an allowed origin: one of the token's `origins`, or of the service's `ALLOWED_ORIGINS`",
        );
    }
    url
}

/// Whether the browser may be sent to this address in the end.
fn returns(context: &Context<'_>, url: &str) -> bool {
    let origin = origin(url);
    let of_token = context.caller.token().and_then(|token| token.origins.as_ref());
    origin == context.request.origin
        || of_token.map_or_else(|| context.config.allows(&origin), |origins| origins.has(&origin))
}

/// The catalog no longer has the connection's platform.
pub(crate) fn gone(platform: &str) -> Problem {
    let detail = format!("The catalog no longer has the platform `{platform}`.");
    Problem::new(Code::PlatformNotFound, detail)
}

fn no_client(connector: &Connector, method: &AuthMethod) -> Problem {
    let (platform, id) = (&connector.platform, &method.id);
    let detail = format!(
        "There is no OAuth client for `{platform}` and its method `{id}`. Those who run the app must set one, with `PUT /v1/oauth-clients/{platform}`."
    );
    Problem::new(Code::OauthClientMissing, detail)
}

/// The refusal when there is no OAuth client, or when it does not say to whom its secret may be sent. Whoever fills in a
/// form chooses only among what the catalog names.
fn lacking(
    connector: &Connector,
    method: &AuthMethod,
    client: Option<&OauthClient>,
    given: &BTreeMap<String, String>,
) -> Option<Problem> {
    let Kind::OAuth2(oauth) = &method.kind else { return None };
    let Some(client) = client else { return Some(no_client(connector, method)) };
    if client.sealed.is_none() && needs(&connector.headers, method, CLIENT_SECRET) {
        let detail = format!(
            "Each request to {} contains the secret of the OAuth client, which has none. Set it with `PUT /v1/oauth-clients/{}`.",
            connector.name, connector.platform
        );
        return Some(Problem::new(Code::OauthClientMissing, detail));
    }
    let variables = client.variables();
    let is_open = |name: &&str| {
        let field = method.fields.iter().find(|field| field.name == **name);
        let is_named = field.is_some_and(|field| {
            let value = given.get(*name).filter(|value| !value.is_empty());
            let is_standard = value.is_none_or(|value| field.default.as_ref() == Some(value));
            field.r#enum.is_some() || field.default.is_some() && is_standard
        });
        !variables.contains_key(*name) && !is_named
    };
    let open =
        deciding_fields(oauth, &method.fields, &connector.servers).into_iter().filter(is_open);
    let names: Vec<String> = open.map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return None;
    }
    let detail = format!(
        "The OAuth client for `{}` must set its `variables` {}, which decide who receives its secret and tokens.",
        connector.platform,
        names.join(", ")
    );
    Some(Problem::new(Code::OauthClientMissing, detail))
}

impl Chosen<'_> {
    /// Begins what the user goes on with in the window: the link carries neither fields nor what describes the connection.
    async fn begin_in_window<P: Ports>(
        self,
        mut body: BodyReader,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        for field in OF_WINDOW {
            if body.was_sent(field) {
                body.invalid(&[field], "must be left out: the user enters what the method needs on the page of the link");
            }
        }
        let return_url = return_url(self.context, &mut body);
        body.finish()?;
        if let Some(scope) =
            IN_WINDOW.into_iter().find(|scope| !self.principal.scopes.contains(*scope))
        {
            return Err(Problem::lacks(self.context.caller.noun(), scope));
        }
        if !self.context.config.sessions.can_sign() {
            return Err(no_secret());
        }
        self.begin(ports, None, &[], return_url).await
    }

    /// The method with its variables filled in; notes what can't be.
    fn fill_oauth(&self, oauth: &OAuth2, body: &mut BodyReader) -> Option<Filled> {
        let value = |name: &str| self.values.get(name).map(String::as_str);
        let targets = self.context.config.targets();
        let filled = match oauth.grant {
            Grant::AuthorizationCode => Filled::before_sign_in(oauth, targets, value),
            Grant::ClientCredentials | Grant::AccountCredentials => {
                Filled::new(oauth, targets, value)
            }
        };
        match filled {
            Ok(filled) => Some(filled),
            // The platform says it, but only to whom has come there.
            Err(FillError::Missing(name)) if oauth.says(&name) => {
                body.invalid(&["fields", &name], "is required");
                None
            }
            Err(error) => {
                // A missing one is noted already.
                if !matches!(&error, FillError::Missing(_)) {
                    let field = error.field().unwrap_or_default();
                    let what = format!("can't be used: {error}");
                    let path: &[&str] =
                        if field.is_empty() { &["fields"] } else { &["fields", field] };
                    body.invalid(path, &what);
                }
                None
            }
        }
    }
}
