//! `POST /v1/vault/connect`: connects an account, or begins an attempt that the user finishes in a browser.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::platform::{self, Verdict};
use super::store::{Account, Target, Written, store};
use super::{browser, connector, hash, is_own_page, no_vault_keys, opening, sealing, secret};
use crate::access::Principal;
use crate::access::confinement::Confinement;
use crate::api::body::BodyReader;
use crate::api::cost::Metered;
use crate::api::endpoint::Keyed;
use crate::api::message::{NO_STORE, Response};
use crate::api::plan::{Context, Plan, Results, Rows, Statements};
use crate::api::problem::{Code, Problem};
use crate::api::vault::create::exists;
use crate::api::vault::no_platform::NoPlatform;
use crate::api::vault::shown::shown;
use crate::catalog::cache::CatalogCache;
use crate::catalog::detail::{AuthMethod, Grant, Kind, OAuth2};
use crate::catalog::reader::Catalog;
use crate::connect::attempt::{
    Attempt, LIFETIME_MS, MAX_OF_ACCOUNT, MAX_OF_IDENTITY, Remembered, Stored,
};
use crate::connect::client::OauthClient;
use crate::connect::filled::{Filled, deciding};
use crate::connect::method::Connector;
use crate::connect::rules::origin;
use crate::connect::statements;
use crate::credentials::held::{Held, HeldTokens};
use crate::credentials::{Kind as Sealing, Place, Sealed};
use crate::fold::fold;
use crate::json;
use crate::oauth::pkce::Verifier;
use crate::oauth::token::TokenEndpoint;
use crate::oauth::{TokenError, TokenErrorKind, Tokens};
use crate::ports::{Db, Ports, Random, ResultSet, RetryAfter, StorageError};
use crate::rfc3339::rfc3339;
use crate::target::Targets;
use crate::target::fill::FillError;
use crate::terms::{CredentialType, IdentityType, State};
use crate::vault::draft::NewConnection;
use crate::vault::model::{Connection, ConnectionId};
use crate::vault::statements::one;

const DEFAULT_LABEL: &str = "default";
/// Attempts are deleted a day after they expired, in milliseconds.
const KEPT_MS: u64 = 24 * 60 * 60 * 1000;

/// How many attempts are open, and whether this one is stored.
#[derive(Deserialize)]
struct Open {
    of_identity: u64,
    of_account: u64,
    is_stored: u8,
}

/// What the vault holds of the connection that is reconnected.
#[derive(Debug, Deserialize)]
pub(super) struct Former {
    auth_method: String,
    sealed: String,
}

impl Former {
    /// The account at the platform that the connection led to. Returns `None` when it is not known.
    pub(super) fn account(
        &self,
        keys: &crate::credentials::VaultKeys,
        principal: (&str, crate::terms::Environment),
        id: &str,
    ) -> Option<String> {
        let (account, environment) = principal;
        let place = Place { account, environment, kind: Sealing::Connection, id };
        // Whoever lost the key reconnects for that very reason.
        let plain = keys.open(&place, &Sealed::from(self.sealed.clone())).ok()?;
        serde_json::from_slice::<Held>(&plain).ok()?.account
    }
}

/// The rows that are found together with the caller's key.
#[derive(Debug, Clone, Copy)]
struct Found {
    connection: Rows<Connection>,
    former: Rows<Former>,
    client: Rows<OauthClient>,
}

/// An account to connect.
#[derive(Debug)]
pub struct NewConnect<'a> {
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

/// The answer while the user has to agree.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Begun<'a> {
    id: &'a str,
    status: &'a str,
    authorization_url: String,
    expires_at: Option<String>,
}

/// Plans the request. The connector of a new connection is read before the key is known to be valid, so that the database
/// is asked only once; a refused caller learns nothing of the result.
///
/// # Errors
/// With all faults of the request that show without its connector; `unavailable` without keys to seal with.
pub async fn plan<'a, P: Ports>(
    context: &'a Context<'a>,
    catalog: &CatalogCache,
    ports: &Metered<'_, P>,
) -> Result<Plan<'a>, Problem> {
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
        return with_keys(new, statements);
    }
    let is_sent = body.has("platform");
    let platform = body.text("platform").map(|platform| fold(&platform));
    if !is_sent {
        body.invalid(&["platform"], "is required, or else `connection`");
    }
    let confinement = context.caller.confinement();
    let owner = owner(&mut body, confinement)?;
    let label = body.text("label").unwrap_or_else(|| DEFAULT_LABEL.to_owned());
    if let Some(platform) = &platform
        && confinement.is_some_and(|own| !own.has_platform(platform))
    {
        body.finish()?;
        return Err(elsewhere("platform"));
    }
    let asked = match &platform {
        Some(platform) => {
            let catalog = Catalog::open(catalog, ports).await?;
            let Some(connector) = connector(&catalog, platform).await? else {
                let (platform, platforms) = (platform.clone(), context.caller.platforms());
                return Ok(Plan::NoPlatform(NoPlatform { body, platform, platforms }));
            };
            Some((platform.clone(), connector))
        }
        None => None,
    };
    body.finish()?;
    let (Some((asked, connector)), Some(owner)) = (asked, owner) else {
        // A missing field was noted as a fault before.
        let detail = "Something went wrong in the service: it did not report the missing field.";
        return Err(Problem::new(Code::Internal, detail));
    };
    // A former name leads to the platform's own, unless the token knows it by the former one only.
    let is_seen = confinement.is_none_or(|own| own.has_platform(&connector.platform));
    let platform = if is_seen { connector.platform.clone() } else { asked };
    let found = Found {
        connection: statements.ask(statements::select_by_key(
            &guard,
            &platform,
            &label,
            &owner.identity,
        )),
        former: statements.ask(statements::select_held_by_key(
            &guard,
            &platform,
            &label,
            &owner.identity,
        )),
        client: statements.ask(statements::select_client(&guard, &platform)),
    };
    let target = Wanted::ByKey { connector: Box::new(connector), platform, label, owner };
    with_keys(NewConnect { context, body, target, found }, statements)
}

fn with_keys(new: NewConnect<'_>, statements: Statements) -> Result<Plan<'_>, Problem> {
    if new.context.config.vault_keys.is_empty() {
        return Err(no_vault_keys());
    }
    Ok(Plan::Connect(Box::new(new), statements))
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

/// The token is confined to something else.
fn elsewhere(what: &str) -> Problem {
    let detail = format!("This token is restricted to another `{what}`: see `GET /v1/whoami`.");
    Problem::new(Code::InsufficientScope, detail)
}

/// An account whose connector and method are known.
struct Chosen<'a> {
    context: &'a Context<'a>,
    principal: &'a Principal,
    connector: &'a Connector,
    method: &'a AuthMethod,
    values: BTreeMap<String, String>,
    connection: To,
    name: Option<String>,
    tags: Option<String>,
    /// The account at the platform that it led to before.
    former_account: Option<String>,
    allows_other_account: bool,
}

/// The connection.
enum To {
    New { id: String, platform: String, label: String, owner: Owner },
    Existing(Box<Connection>),
}

impl NewConnect<'_> {
    /// Connects the account, or begins an attempt.
    ///
    /// # Errors
    /// With all faults of the fields; `connection_not_found`, `connection_exists`, `oauth_client_missing`,
    /// `credentials_rejected`, `platform_unreachable`, `platform_timeout`, `too_many_requests`.
    pub async fn answer<P: Ports>(
        self,
        principal: &Principal,
        results: &Results<'_>,
        cache: &CatalogCache,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { context, mut body, target, found } = self;
        let (keys, caller) = (&context.config.vault_keys, context.caller);
        let existing = results.first(found.connection)?;
        let (connector, connection) = match (target, existing) {
            (Wanted::ByKey { connector, platform, label, owner }, None) => {
                (*connector, To::New { id: ports.uuid(), platform, label, owner })
            }
            (Wanted::ByKey { connector, owner, .. }, Some(holder)) => {
                let sees = caller.confinement().is_none_or(|own| holder.is_within(own));
                let reconnects = holder.state == State::Failed
                    && sees
                    && holder.identity_type == owner.identity_type;
                if !reconnects {
                    return Err(exists(Some(&holder).filter(|_| sees)));
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
        };
        let former = results.first(found.former)?;
        let client = results.first(found.client)?;

        let asked = body.text("authMethod");
        let id = asked.as_deref().or(former.as_ref().map(|former| former.auth_method.as_str()));
        let method = match connector.method(id) {
            Ok(method) => method,
            Err(what) => return Err(body.refuse(&["authMethod"], &what, None)),
        };
        let variables = client.as_ref().map(OauthClient::variables).unwrap_or_default();
        let mut given = body.text_members("fields").unwrap_or_default();
        if method.is_oauth2() {
            let known = |name: &String| method.fields.iter().any(|field| field.name == *name);
            given.extend(variables.clone().into_iter().filter(|(name, _)| known(name)));
        } else if body.has("scopes") {
            body.invalid(&["scopes"], "applies to methods of OAuth 2.0 only");
        }
        let values =
            method.fill(&given, ports, |name, what| body.invalid(&["fields", name], &what));
        let return_url = body.text("returnUrl");
        if let Some(url) = &return_url
            && !returns(context, url)
        {
            body.invalid(
                &["returnUrl"],
                "must have an allowed origin: one of the token's `origins`, or of the service's `ALLOWED_ORIGINS`",
            );
        }
        let scopes = body.texts("scopes");
        let chosen = Chosen {
            context,
            principal,
            connector: &connector,
            method,
            values,
            former_account: match &connection {
                To::New { .. } => None,
                To::Existing(holder) => former.as_ref().and_then(|former| {
                    former.account(keys, (&principal.account, principal.environment), &holder.id)
                }),
            },
            connection,
            name: body.text("name"),
            tags: body.texts("tags").map(|tags| json::text(&tags)),
            allows_other_account: body.boolean("allowOtherAccount").unwrap_or(false),
        };
        let Kind::OAuth2(oauth) = &method.kind else {
            body.finish()?;
            return chosen.store_fields(ports).await;
        };
        let filled = chosen.fill_oauth(oauth, &variables, &mut body);
        body.finish()?;
        let client =
            client.filter(|client| client.auth_method.as_ref().is_none_or(|id| *id == method.id));
        let client = client.ok_or_else(|| no_client(&connector, method))?;
        let Some(filled) = filled else { return Err(no_variables(&connector, oauth)) };
        let scopes = scopes.unwrap_or_else(|| client.scopes());
        match oauth.grant {
            Grant::AuthorizationCode => chosen.begin(ports, &filled, &scopes, return_url).await,
            Grant::ClientCredentials => {
                chosen.store_client_credentials(ports, &filled, &client, scopes).await
            }
        }
    }
}

/// Whether the browser may be sent to this address in the end.
fn returns(context: &Context<'_>, url: &str) -> bool {
    let origin = origin(url);
    let of_token = context.caller.token().and_then(|token| token.origins.as_ref());
    match of_token {
        Some(origins) => origins.has(&origin),
        None => origin == context.request.origin || context.config.allows(&origin),
    }
}

/// The catalog no longer has the connection's platform.
pub(in crate::api) fn gone(platform: &str) -> Problem {
    let detail = format!("The catalog no longer has the platform `{platform}`.");
    Problem::new(Code::PlatformNotFound, detail)
}

fn no_client(connector: &Connector, method: &AuthMethod) -> Problem {
    let (platform, id) = (&connector.platform, &method.id);
    let detail = format!(
        "There is no OAuth client for `{platform}` and its method `{id}`. Set one with `PUT /v1/oauth-clients/{platform}`."
    );
    Problem::new(Code::OauthClientMissing, detail)
}

/// The OAuth client does not say to whom its secret may be sent.
fn no_variables(connector: &Connector, oauth: &OAuth2) -> Problem {
    let names: Vec<String> = deciding(oauth).iter().map(|name| format!("`{name}`")).collect();
    let detail = format!(
        "The OAuth client for `{}` must set its `variables` {}, which decide who receives its secret.",
        connector.platform,
        names.join(", ")
    );
    Problem::new(Code::OauthClientMissing, detail)
}

impl Chosen<'_> {
    fn targets(&self) -> Targets {
        Targets { local: self.context.config.local_targets }
    }

    /// The method with its variables filled in; notes what can't be. Returns `None` when the OAuth client must first say
    /// to whom its secret may be sent.
    fn fill_oauth(
        &self,
        oauth: &OAuth2,
        variables: &BTreeMap<String, String>,
        body: &mut BodyReader,
    ) -> Option<Filled> {
        let is_safe = |name: &&str| {
            let field = self.method.fields.iter().find(|field| field.name == **name);
            // The catalog itself limits the values, or names this one.
            variables.contains_key(*name)
                || field.is_some_and(|field| {
                    field.r#enum.is_some() || field.default.as_ref() == self.values.get(*name)
                })
        };
        if !deciding(oauth).iter().all(is_safe) {
            return None;
        }
        let value = |name: &str| self.values.get(name).map(String::as_str);
        match Filled::new(oauth, self.targets(), value) {
            Ok(filled) => Some(filled),
            Err(error) => {
                // A missing one is noted already.
                if !matches!(&error, FillError::Missing(_)) || error.field().is_none() {
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

    /// Checks what was filled in at the platform, and stores it.
    async fn store_fields<P: Ports>(self, ports: &Metered<'_, P>) -> Result<Response, Problem> {
        let held = Held {
            kind: self.method.credential_type(),
            fields: self.values.clone(),
            tokens: None,
            account: None,
        };
        self.check_and_store(ports, held, None, &[], &[], false, false).await
    }

    /// Asks for a token of the app itself, and stores it.
    async fn store_client_credentials<P: Ports>(
        self,
        ports: &Metered<'_, P>,
        filled: &Filled,
        client: &OauthClient,
        scopes: Vec<String>,
    ) -> Result<Response, Problem> {
        let client = opening(client.open(&self.context.config.vault_keys))?;
        let endpoint =
            TokenEndpoint { oauth: &filled.oauth, url: &filled.token_url, client: &client };
        let request = endpoint.client_credentials(&scopes);
        let tokens = platform::tokens(ports, &filled.oauth, request).await;
        let tokens = tokens.map_err(|error| refused(&self.connector.name, &error))?;
        let expires_at = tokens.expires_at;
        let granted = tokens.scopes.clone().unwrap_or_else(|| scopes.clone());
        let missing = missing(&scopes, &granted);
        let is_revocable = filled.revocation_url.is_some();
        let held = held(tokens, self.values.clone());
        self.check_and_store(ports, held, expires_at, &granted, &missing, true, is_revocable).await
    }

    #[expect(clippy::too_many_arguments, reason = "each belongs to what is stored")]
    async fn check_and_store<P: Ports>(
        self,
        ports: &Metered<'_, P>,
        mut held: Held,
        expires_at: Option<u64>,
        scopes: &[String],
        missing_scopes: &[String],
        is_renewable: bool,
        is_revocable: bool,
    ) -> Result<Response, Problem> {
        let (targets, connector, method) = (self.targets(), self.connector, self.method);
        let name = &connector.name;
        let is_verified = match platform::verify(ports, targets, connector, method, &held).await {
            Verdict::Accepted { is_verified } => is_verified,
            Verdict::Rejected(status) => {
                let detail = format!(
                    "{name} rejects these credentials (HTTP status {status}). Nothing was stored."
                );
                return Err(Problem::new(Code::CredentialsRejected, detail));
            }
            Verdict::Unreachable => return Err(platform::unreachable(name)),
            Verdict::TimedOut => return Err(platform::timed_out(name)),
        };
        held.account = platform::account(ports, targets, connector, method, &held).await;
        if is_other(self.former_account.as_deref(), held.account.as_deref())
            && !self.allows_other_account
        {
            let detail = format!(
                "These credentials belong to another account at {name} than before. Nothing was changed."
            );
            return Err(Problem::new(Code::CredentialsRejected, detail));
        }
        let state =
            if is_verified || held.tokens.is_some() { State::Operational } else { State::Unknown };
        let context = self.context;
        let account = Account {
            account: &self.principal.account,
            environment: self.principal.environment,
            request: context.request_id,
            attempt: None,
            auth_method: &method.id,
            held: &held,
            expires_at,
            is_renewable,
            is_revocable,
            scopes,
            missing_scopes,
            state,
            now: context.now,
        };
        let keys = &context.config.vault_keys;
        let (written, status) = match &self.connection {
            To::New { id, platform, label, owner } => {
                let new = NewConnection {
                    id: id.clone(),
                    platform: platform.clone(),
                    platform_version: connector.platform_version.clone(),
                    description: connector.description.clone(),
                    identity: owner.identity.clone(),
                    identity_type: owner.identity_type,
                    label: label.clone(),
                    name: self.name.clone(),
                    tags: self.tags.clone().unwrap_or_else(|| "[]".to_owned()),
                    state,
                    active: true,
                    created_at: context.now,
                };
                (store(ports, keys, &account, Target::New(&new)).await?, 201)
            }
            To::Existing(holder) => {
                let (name, tags) = (self.name.as_deref(), self.tags.as_deref());
                let target = Target::Existing { id: &holder.id, name, tags };
                (store(ports, keys, &account, target).await?, 200)
            }
        };
        match written {
            Written::Done(connection) => {
                let mut response = shown(&connection)?;
                response.status = status;
                let path = Keyed::ReadConnection.address(&[&connection.id]);
                response.add("location", format!("{}{path}", context.request.origin));
                Ok(response)
            }
            Written::Taken(holder) => {
                let sees = context.caller.confinement().is_none_or(|own| holder.is_within(own));
                Err(exists(Some(&holder).filter(|_| sees)))
            }
            Written::Gone => Err(Problem::no_connection()),
        }
    }

    /// Stores an attempt and answers with its link.
    async fn begin<P: Ports>(
        self,
        ports: &Metered<'_, P>,
        filled: &Filled,
        scopes: &[String],
        return_url: Option<String>,
    ) -> Result<Response, Problem> {
        let (context, principal) = (self.context, self.principal);
        let request = context.request;
        let (id, link) = (ports.uuid(), secret(ports));
        let takes_pkce = filled.oauth.pkce == crate::catalog::detail::Pkce::S256;
        let remembered = Remembered {
            state: secret(ports),
            verifier: takes_pkce.then(|| Verifier::generate(ports).as_str().to_owned()),
            fields: self.values.clone(),
        };
        let place = Place {
            account: &principal.account,
            environment: principal.environment,
            kind: Sealing::Attempt,
            id: &id,
        };
        let plain = zeroize::Zeroizing::new(json::bytes(&remembered));
        let sealed = sealing(context.config.vault_keys.seal(&place, &plain, ports))?;
        // The window of this service begins attempts in the browser that finishes them; it need not be asked again.
        let is_window = context.caller.token().is_some() && is_own_page(request);
        let cookie = browser(request).filter(|_| is_window);
        let expires_at = context.now.saturating_add(LIFETIME_MS);
        let (reconnects, connection_id, platform, label, owner, version, description) = match &self
            .connection
        {
            To::New { id, platform, label, owner } => (
                0,
                id.clone(),
                platform.clone(),
                label.clone(),
                owner.clone(),
                self.connector.platform_version.clone(),
                self.connector.description.clone(),
            ),
            To::Existing(holder) => (
                1,
                holder.id.clone(),
                holder.platform.clone(),
                holder.label.clone(),
                Owner { identity: holder.identity.clone(), identity_type: holder.identity_type },
                holder.platform_version.clone(),
                holder.description.clone(),
            ),
        };
        let attempt = Attempt {
            id,
            account: principal.account.clone(),
            environment: principal.environment,
            status: Stored::Pending,
            connection_id,
            reconnects,
            allow_other_account: self.allows_other_account.into(),
            platform,
            platform_version: version,
            description,
            auth_method: self.method.id.clone(),
            identity: owner.identity,
            identity_type: owner.identity_type,
            label,
            name: self.name,
            tags: self.tags,
            scopes: json::text(&scopes),
            return_url,
            browser_hash: cookie.map(hash),
            sealed: Some(sealed.into_string()),
            claimed_by: None,
            claimed_at: None,
            error_code: None,
            error_detail: None,
            expires_at,
        };
        let (link_hash, state_hash) = (hash(&link), hash(&remembered.state));
        let now = context.now;
        let batch = vec![
            statements::insert_attempt(&attempt, &principal.key_id, &link_hash, &state_hash, now),
            statements::count_attempts(&attempt, now),
            statements::prune_attempts(now.saturating_sub(KEPT_MS)),
        ];
        let sets = ports.batch(batch).await?;
        let open = sets.get(1).map(ResultSet::rows::<Open>).transpose()?;
        let open = open.and_then(|rows| rows.into_iter().next());
        let open = open.ok_or_else(|| StorageError::new("open attempts were not counted"))?;
        if open.is_stored == 0 {
            return Err(too_many(&open));
        }
        let begun = Begun {
            id: &attempt.id,
            status: "pending",
            authorization_url: format!("{}/connect/go/{link}", request.origin),
            expires_at: rfc3339(expires_at),
        };
        let mut response = Response::json(json::bytes(&begun), NO_STORE);
        response.status = 202;
        let path = Keyed::GetAttempt.address(&[&attempt.id]);
        response.add("location", format!("{}{path}", request.origin));
        Ok(response)
    }
}

/// What is held of the tokens.
pub(super) fn held(tokens: Tokens, fields: BTreeMap<String, String>) -> Held {
    Held {
        kind: CredentialType::OAuth2,
        fields,
        account: tokens.subject,
        tokens: Some(HeldTokens {
            access: tokens.access_token,
            kind: tokens.token_type,
            refresh: tokens.refresh_token,
            members: tokens.members,
        }),
    }
}

/// What was asked for and not granted.
pub(super) fn missing(asked: &[String], granted: &[String]) -> Vec<String> {
    asked.iter().filter(|scope| !granted.contains(scope)).cloned().collect()
}

/// Whether both accounts are known, and differ.
pub(super) fn is_other(former: Option<&str>, now: Option<&str>) -> bool {
    former.zip(now).is_some_and(|(former, now)| former != now)
}

/// The platform gave no token to the app itself.
fn refused(name: &str, error: &TokenError) -> Problem {
    match error.kind {
        TokenErrorKind::Passing | TokenErrorKind::Unreadable => platform::unreachable(name),
        _ => {
            let code = error.code.as_deref().unwrap_or("no reason");
            let detail = format!("{name} rejects the OAuth client (`{code}`). Nothing was stored.");
            Problem::new(Code::CredentialsRejected, detail)
        }
    }
}

/// Seconds until the oldest of many open attempts has certainly expired.
const WAIT: RetryAfter = RetryAfter(600);

fn too_many(open: &Open) -> Problem {
    let (what, most) = if open.of_identity >= MAX_OF_IDENTITY {
        ("This identity", MAX_OF_IDENTITY)
    } else {
        ("This account", MAX_OF_ACCOUNT)
    };
    let of = open.of_account.max(open.of_identity).min(most);
    let detail = format!(
        "{what} has {of} open attempts to connect, the most that are allowed. Finish one, or wait until they expire."
    );
    Problem { retry_after: Some(WAIT.0), ..Problem::new(Code::TooManyRequests, detail) }
}
