//! Creates a session token: validates the request against the catalog and the key, then signs the
//! token.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::auth::limits::{
    Access, Confirm, Limits, MAX_ACTIONS, check_action, platforms_in_actions,
};
use crate::auth::restriction::TokenRestriction;
use crate::auth::token::{MAX_TOKEN, Token};
use crate::auth::{Principal, Shard};
use crate::catalog::cache::CatalogCache;
use crate::catalog::reader::Catalog;
use crate::connect::endpoints::connector;
use crate::connect::presets::{Presets, none_if_empty};
use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::fields::{MAX_PLATFORMS, platform_ignoring_case, unknown_platform};
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::ports::{Db as _, Ports, Random as _};
use crate::storage::metering::Metered;
use crate::terms::{Environment, IdentityType, Scope, Scopes};
use crate::util::json;
use crate::util::name_set::Names;
use crate::util::rfc3339::rfc3339;

/// The default lifetime of a token, in seconds.
pub const DEFAULT_TTL: u64 = 900;

/// The JSON representation of a new token.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Session<'a> {
    token: &'a str,
    expires_at: Option<String>,
    environment: Environment,
    identity: &'a str,
    identity_type: Option<IdentityType>,
    scopes: Scopes,
    platforms: Option<&'a Names>,
    access: Access,
    actions: Option<&'a Names>,
    connections: Option<&'a Names>,
    confirm: Option<Confirm>,
    client: Option<&'a str>,
    origins: Option<&'a Names>,
    fields: Option<&'a BTreeMap<String, String>>,
    fixed_fields: Option<&'a BTreeMap<String, String>>,
    lang: Option<&'a str>,
    /// A URL that opens the connect window once. Only if the token has the scope
    /// `connections:connect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    connect_url: Option<String>,
}

impl<'a> Session<'a> {
    fn new(token: &'a Token, text: &'a str, connect_url: Option<String>) -> Self {
        let Token { restriction, limits, presets, .. } = token;
        Self {
            token: text,
            expires_at: rfc3339(token.expires_at),
            environment: token.environment,
            identity: &restriction.identity,
            identity_type: restriction.identity_type,
            scopes: token.scopes,
            platforms: restriction.platforms.as_ref(),
            access: limits.access,
            actions: limits.actions.as_ref(),
            connections: restriction.connections.as_ref(),
            confirm: limits.confirm,
            client: restriction.client.as_deref(),
            origins: token.origins.as_ref(),
            fields: none_if_empty(&presets.fields),
            fixed_fields: none_if_empty(&presets.fixed),
            lang: presets.lang.as_deref(),
            connect_url,
        }
    }
}

/// Creates the token. `can_confirm` is whether its user can sign in to approve calls.
pub(super) async fn create<P: Ports>(
    context: &Context<'_>,
    mut body: BodyReader,
    principal: &Principal,
    can_confirm: bool,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let sent = ["actions", "connections", "fields", "fixedFields"]
        .into_iter()
        .filter(|name| body.has(name));
    let sent: Vec<&str> = sent.collect();
    let (platforms, actions) =
        read_platforms_and_actions(&mut body, context.service.catalog(), ports).await?;
    let presets = presets(&mut body, context, platforms.as_ref(), ports).await?;
    let confirm = body.text("confirm").and_then(|name| name.parse::<Confirm>().ok());
    if confirm.is_some() && !can_confirm {
        body.invalid(
            &["confirm"],
            "needs a sign-in for agents, at which users approve calls: see `PUT /v1/agent-sign-in`",
        );
    }
    body.finish()?;
    let seconds = body.integer("ttlSeconds").unwrap_or(DEFAULT_TTL);
    let requested_expiry = context.now.saturating_add(seconds.saturating_mul(1000));
    let token = Token {
        environment: principal.environment,
        shard: Shard::new(ports.number()).unwrap_or_default(),
        key_id: principal.key_id.clone(),
        scopes: scopes(context, principal, body.texts("scopes"))?,
        restriction: TokenRestriction {
            identity: body.text("identity").unwrap_or_default(),
            identity_type: body.text("identityType").and_then(|text| text.parse().ok()),
            platforms,
            connections: body.texts("connections").map(|ids| lower_case_ids(&ids)),
            client: body.text("client"),
        },
        limits: Limits { access: access(&mut body), actions, confirm },
        presets: presets.into(),
        origins: body.texts("origins").map(|origins| Names::new(&origins)),
        expires_at: principal
            .expires_at
            .into_iter()
            .chain(context.caller.person().map(|person| person.expires_at))
            .fold(requested_expiry, u64::min),
        grant: None,
    };
    let text = context.config().sessions.sign(&token).ok_or_else(no_session_secret)?;
    let may_connect = token.scopes.contains(Scope::ConnectionsConnect);
    let connect_code =
        may_connect.then(|| context.config().sessions.sign_code(&token, &ports.secret())).flatten();
    if text.len() > MAX_TOKEN {
        let message = format!("make the token longer than {MAX_TOKEN} characters: send fewer");
        // The members that make tokens long, in descending order of their maximum length.
        let lists = ["fields", "fixedFields", "actions", "connections", "origins"];
        let longest = lists.into_iter().find(|name| sent.contains(name));
        body.invalid(&[longest.unwrap_or("origins")], &message);
        body.finish()?;
    }
    let connect_url =
        connect_code.map(|code| format!("{}/connect#code={code}", context.request.origin));
    let document = Session::new(&token, &text, connect_url);
    let mut response = Response::json(json::bytes(&document), NO_STORE);
    response.status = 201;
    Ok(response)
}

/// Reads `platforms` and `actions`, removes duplicates, and reports platforms that the catalog does
/// not contain. Limiting a token to actions also limits it to their platforms.
async fn read_platforms_and_actions<P: Ports>(
    body: &mut BodyReader,
    catalog: &CatalogCache,
    ports: &Metered<'_, P>,
) -> Result<(Option<Names>, Option<Names>), Problem> {
    let (sent_platforms, sent_actions) =
        (body.indexed_texts("platforms"), body.indexed_texts("actions"));
    if sent_platforms.is_empty() && sent_actions.is_empty() {
        return Ok((None, None));
    }
    let platform_names = Catalog::open(catalog, ports).await?.platforms().await?;
    let mut platforms: Vec<String> = Vec::new();
    // Invalid names and arrays that are too long have already been reported.
    for (index, text) in sent_platforms.iter().take(MAX_PLATFORMS) {
        let platform = text.to_ascii_lowercase();
        if !platform_names.lines().any(|known| known == platform) {
            if platform_ignoring_case(text).is_none() {
                let (message, suggestion) = unknown_platform(text, platform_names.lines());
                body.invalid_with_suggestion(
                    &["platforms", &index.to_string()],
                    &message,
                    suggestion,
                );
            }
        } else if !platforms.contains(&platform) {
            platforms.push(platform);
        }
    }
    let mut actions: Vec<String> = Vec::new();
    for (index, text) in
        sent_actions.iter().take(MAX_ACTIONS).filter(|(_, text)| check_action(text).is_none())
    {
        let (platform, key) = text.split_once('/').unwrap_or_default();
        let platform = platform.to_ascii_lowercase();
        let path = ["actions", &index.to_string()];
        if !platform_names.lines().any(|known| known == platform) {
            let (message, _) = unknown_platform(&platform, platform_names.lines());
            body.invalid(&path, &message);
        } else if !sent_platforms.is_empty() && !platforms.contains(&platform) {
            body.invalid(&path, "belongs to a platform that `platforms` does not include");
        } else {
            actions.push([platform.as_str(), key].join("/"));
        }
    }
    let actions = (!sent_actions.is_empty()).then(|| Names::new(&actions));
    let platforms = actions.as_ref().map_or(platforms, platforms_in_actions);
    Ok((Some(Names::new(&platforms)), actions))
}

/// Reads `lang`, `fields` and `fixedFields`. The fields require a token with exactly one platform.
async fn presets<P: Ports>(
    body: &mut BodyReader,
    context: &Context<'_>,
    platforms: Option<&Names>,
    ports: &Metered<'_, P>,
) -> Result<Presets, Problem> {
    let sent: Vec<_> =
        ["fields", "fixedFields"].into_iter().filter(|name| body.has(name)).collect();
    let presets = Presets {
        fields: body.text_members("fields").unwrap_or_default(),
        fixed: body.text_members("fixedFields").unwrap_or_default(),
        lang: body.text("lang"),
    };
    if sent.is_empty() {
        return Ok(presets);
    }
    let names = platforms.map(Names::all).unwrap_or_default();
    let &[platform] = names.as_slice() else {
        for name in sent {
            body.invalid(&[name], "needs `platforms` with one platform, whose fields these are");
        }
        return Ok(presets);
    };
    let catalog = Catalog::open(context.service.catalog(), ports).await?;
    // `None` only if the platform was removed from the catalog after it was looked up.
    if let Some(connector) = connector(&catalog, platform).await? {
        presets.check(&connector, connector.auth_methods.iter(), body, ports);
    }
    Ok(presets)
}

/// Reads `access`. The default is `write`.
fn access(body: &mut BodyReader) -> Access {
    body.text("access").and_then(|name| name.parse().ok()).unwrap_or_default()
}

/// Converts connection ids to lower case, as they are stored, and removes duplicates.
pub fn lower_case_ids(ids: &[String]) -> Names {
    let mut distinct: Vec<String> = Vec::new();
    for id in ids.iter().map(|id| id.to_ascii_lowercase()) {
        if !distinct.contains(&id) {
            distinct.push(id);
        }
    }
    Names::new(&distinct)
}

/// The requested scopes. By default, the key's read scopes.
fn scopes(
    context: &Context<'_>,
    principal: &Principal,
    requested: Option<Vec<String>>,
) -> Result<Scopes, Problem> {
    let Some(requested) = requested else {
        let reads = [Scope::CatalogRead, Scope::ConnectionsRead];
        return Ok(reads.into_iter().collect::<Scopes>().and(principal.scopes));
    };
    let requested: Scopes = requested.iter().filter_map(|name| name.parse().ok()).collect();
    context.ensure_holds(principal.scopes, requested.iter())?;
    Ok(requested)
}

/// The error if the service has no signing secret.
pub fn no_session_secret() -> Problem {
    let detail = "The service can't create tokens: its operator must set `SESSION_SECRET` to at least 32 characters.";
    let problem = Problem::unavailable("`SESSION_SECRET` is missing or too short");
    Problem { detail: detail.into(), ..problem }
}
