//! `/v1/oauth-clients`: the app's OAuth clients at platforms.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::auth::Principal;
use crate::catalog::detail::{AuthMethod, Server, TokenAuth};
use crate::catalog::endpoints::respond::platform_not_found;
use crate::catalog::reader::Catalog;
use crate::connect::client::{DEFAULT_CLIENT, OauthClient, seal_context, seal_id};
use crate::connect::endpoints::{
    client_choice, connector, encrypt_error, missing_vault_keys, redirect_uri,
};
use crate::connect::method::{Connector, validation_error};
use crate::connect::statements::{self, NewClient, NewSecret};
use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::paging::{ListDocument, Paging};
use crate::http::problem::{Code, Fault, Location, Problem};
use crate::oauth::assertion::PrivateKey;
use crate::ports::{Db, Ports, StorageError, first_row};
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::util::case_fold::fold;
use crate::util::json;
use crate::util::patterns::Matcher;

/// The maximum size of a client's scopes, parameters and variables as JSON, in bytes. A page of the list contains up to
/// 500 clients.
const MAX_CLIENT_BYTES: usize = 8192;
/// The maximum number of OAuth clients of an account and environment.
const MAX_CLIENTS: u64 = 1000;
/// The number of scopes that the warning for a client without scopes suggests.
const MAX_SUGGESTED_SCOPES: usize = 3;

#[derive(Deserialize)]
struct Count {
    total: u64,
}

/// `GET /v1/oauth-clients`
pub fn list<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let paging = Paging::read(&query);
    let offset = paging.limit.saturating_mul(paging.page.saturating_sub(1));
    let (guard, mut statements) = (context.guard(), Statements::default());
    let rows =
        statements.query::<OauthClient>(statements::select_clients(&guard, paging.limit, offset));
    let count = statements.query::<Count>(statements::count_clients(&guard));
    Ok(Handler::render(statements, move |results, _| {
        let redirect_uri = redirect_uri(&context.request.origin);
        let total = results.first(count)?.map_or(0, |count| count.total);
        let mut page = ListDocument::with_capacity(0);
        for client in results.all(rows)? {
            page.push(&document(&client, &redirect_uri, &[])?);
        }
        Ok(Response::json(page.envelope(paging, total), NO_STORE))
    }))
}

/// `GET /v1/oauth-clients/{platform}`
pub fn read<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let name = requested_name(context)?;
    let (guard, mut statements) = (context.guard(), Statements::default());
    let platform = fold(context.argument(0));
    let client =
        statements.query::<OauthClient>(statements::select_client(&guard, &platform, &name));
    Ok(Handler::render(statements, move |results, _| {
        let client = results.first(client)?.ok_or_else(|| no_client(&platform, &name))?;
        Ok(Response::json(
            document(&client, &redirect_uri(&context.request.origin), &[])?,
            NO_STORE,
        ))
    }))
}

/// `DELETE /v1/oauth-clients/{platform}`
pub fn delete<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let name = requested_name(context)?;
    let (guard, mut statements) = (context.guard(), Statements::default());
    let platform = fold(context.argument(0));
    let deleted =
        statements.query::<OauthClient>(statements::delete_client(&guard, &platform, &name));
    Ok(Handler::delete(statements, deleted, move || no_client(&platform, &name)))
}

fn document(
    client: &OauthClient,
    redirect_uri: &str,
    warnings: &[String],
) -> Result<Vec<u8>, StorageError> {
    client.to_json(redirect_uri, warnings).map_err(|error| {
        StorageError::new(format!("the OAuth client for {} is damaged: {error}", client.platform))
    })
}

/// Reads the query parameter `name`.
fn requested_name(context: &Context<'_>) -> Result<String, Problem> {
    let mut query = context.query();
    query.finish()?;
    Ok(query.text("name").unwrap_or_else(|| DEFAULT_CLIENT.to_owned()))
}

/// Reads the checked body of a request that sets a client, and the client's name.
pub fn body_and_name(context: &Context<'_>) -> Result<(BodyReader, String), Problem> {
    let name = requested_name(context)?;
    let mut body = context.body()?;
    body.finish()?;
    if context.config().vault_keys.is_empty() {
        return Err(missing_vault_keys());
    }
    Ok((body, name))
}

fn no_client(platform: &str, name: &str) -> Problem {
    let noun = client_choice::describe(&crate::util::nearest::shown(platform), name);
    Problem::new(Code::OauthClientNotFound, format!("There is no {noun}."))
}

/// The warning for a client without scopes. Returns `None` if the methods have no scopes.
fn no_scopes_warning(platform: &str, methods: &[&&AuthMethod]) -> Option<String> {
    let scopes =
        methods.iter().filter_map(|method| method.oauth2()).flat_map(|oauth| &oauth.scopes);
    let scopes: Vec<String> =
        scopes.take(MAX_SUGGESTED_SCOPES).map(|scope| format!("`{}`", scope.name)).collect();
    (!scopes.is_empty()).then(|| {
        format!(
            "The client requests no scopes, so {platform} grants only what it grants by default. Set those that your calls need, such as {}: `authMethods` of the connector lists all.",
            scopes.join(", ")
        )
    })
}

/// The error if a request without the secret changes a member that determines where the secret is
/// sent. Only a caller who knows the secret may change such a member.
fn secret_required(changed: &str) -> Problem {
    let message =
        format!("is required when `{changed}` changes: it decides where the secret is sent");
    let location = Location::Pointer("/clientSecret".to_owned());
    let detail = format!("`clientSecret` {message}.");
    Problem::from_fault(Fault { code: Code::InvalidBody, location, detail, suggestion: None })
}

/// The error for a secret that is not a private key although the methods require a key, or the
/// reverse.
fn unusable_key(secret: &str, methods: &[&&AuthMethod]) -> Option<&'static str> {
    let takes_private_key = |method: &&&AuthMethod| {
        method.oauth2().is_some_and(|oauth| oauth.token_auth == TokenAuth::PrivateKeyJwt)
    };
    if methods.is_empty() {
        return None;
    }
    if !PrivateKey::is_jwk(secret) {
        let message = "must be the private key, as a JSON Web Key: the platform takes no secret";
        return methods.iter().all(takes_private_key).then_some(message);
    }
    if !methods.iter().all(takes_private_key) {
        return Some("is a private key: name the method that takes one in `authMethod`");
    }
    let message = "must be a private RSA key, or a private key of the curve P-256";
    PrivateKey::parse(secret).is_none().then_some(message)
}

/// `PUT /v1/oauth-clients/{platform}`
pub fn put<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let body = body_and_name(context)?;
    Ok(Handler::new(Statements::default(), move |_, principal| async move {
        store(context, body, &principal, ports).await
    }))
}

/// The platform name under which a client is stored. If the platform was renamed, a client stored
/// under the former name in the request keeps that name, because connections look it up there.
async fn stored_platform<'a, P: Ports>(
    current: &'a str,
    requested: &'a str,
    name: &str,
    principal: &Principal,
    ports: &Metered<'_, P>,
) -> Result<&'a str, Problem> {
    if requested == current {
        return Ok(current);
    }
    let tenant = (principal.account.as_str(), principal.environment.as_str());
    let select = statements::select_client_of(tenant, requested, name);
    let existing: Option<OauthClient> = first_row(&ports.batch(vec![select]).await?, 0)?;
    Ok(if existing.is_some() { requested } else { current })
}

/// The OAuth client in a request body.
struct ClientInput {
    auth_method: Option<String>,
    client_id: String,
    secret: Option<String>,
    /// Whether the stored secret is kept.
    keeps_secret: bool,
    /// A JSON array of strings.
    scopes: String,
    /// A JSON object of strings.
    authorization_parameters: String,
    /// A JSON object of strings.
    variables: String,
    start_url: Option<String>,
    pkce: Option<String>,
    /// The warning for the response.
    warning: Option<String>,
}

impl ClientInput {
    /// Reads the body, and reports the values that the platform's OAuth methods do not accept.
    fn read<P: Ports>(
        mut body: BodyReader,
        connector: &Connector,
        platform: &str,
        ports: &Metered<'_, P>,
    ) -> Result<Self, Problem> {
        let auth_method = body.text("authMethod");
        let methods: Vec<_> =
            connector.auth_methods.iter().filter(|method| method.is_oauth2()).collect();
        let ids: Vec<String> = methods.iter().map(|method| format!("`{}`", method.id)).collect();
        if methods.is_empty() {
            let message = format!("is `{platform}`, which has no OAuth 2.0 method");
            return Err(body.refuse(&["platform"], &message, None));
        }
        if let Some(id) = &auth_method
            && !methods.iter().any(|method| method.id == *id)
        {
            body.invalid(&["authMethod"], &format!("must be one of {}", ids.join(", ")));
        }
        let is_chosen =
            |method: &&&AuthMethod| auth_method.as_ref().is_none_or(|id| method.id == *id);
        let chosen: Vec<_> = methods.iter().filter(is_chosen).collect();
        let removes_secret = body.is_null("clientSecret");
        let secret = body.text("clientSecret");
        let scopes = json::text(&body.texts("scopes").unwrap_or_default());
        let parameters = body.text_members("authorizationParameters").unwrap_or_default();
        let variables = body.text_members("variables").unwrap_or_default();
        let sent = Self {
            client_id: body.text("clientId").unwrap_or_default(),
            keeps_secret: secret.is_none() && !removes_secret,
            secret,
            warning: if scopes == "[]" {
                no_scopes_warning(&connector.name, &chosen)
            } else {
                None
            },
            scopes,
            authorization_parameters: json::text(&parameters),
            variables: json::text(&variables),
            start_url: body.text("startUrl"),
            pkce: body.text("pkce"),
            auth_method: auth_method.clone(),
        };
        check_size(&mut body, [&sent.scopes, &sent.authorization_parameters, &sent.variables]);
        check_variables(&mut body, &variables, (&connector.servers, &chosen), ports);
        if let Some(message) =
            sent.secret.as_deref().and_then(|secret| unusable_key(secret, &chosen))
        {
            body.invalid(&["clientSecret"], message);
        }
        body.finish()?;
        Ok(sent)
    }
}

pub async fn store<P: Ports>(
    context: &Context<'_>,
    (body, name): (BodyReader, String),
    principal: &Principal,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let cache = context.service.catalog();
    let requested = fold(context.argument(0));
    let catalog = Catalog::open(cache, ports).await?;
    let Some(connector) = connector(&catalog, &requested).await? else {
        return Err(platform_not_found(&requested, &catalog.platforms().await?, None));
    };
    let platform =
        stored_platform(&connector.platform, &requested, &name, principal, ports).await?;
    let sent = ClientInput::read(body, &connector, platform, ports)?;
    let seal_id = seal_id(platform, &name);
    let seal_context = seal_context(&principal.account, principal.environment, &seal_id);
    let seal =
        |secret: &String| context.config().vault_keys.seal(&seal_context, secret.as_bytes(), ports);
    let sealed = sent.secret.as_ref().map(seal).transpose().map_err(encrypt_error)?;
    let new = NewClient {
        platform,
        name: &name,
        auth_method: sent.auth_method.as_deref(),
        client_id: &sent.client_id,
        secret: match &sealed {
            Some(sealed) => NewSecret::Sealed(sealed),
            None if sent.keeps_secret => NewSecret::Keep,
            None => NewSecret::None,
        },
        scopes: &sent.scopes,
        authorization_parameters: &sent.authorization_parameters,
        variables: &sent.variables,
        start_url: sent.start_url.as_deref(),
        pkce: sent.pkce.as_deref(),
        now: context.now,
    };
    let (previous, client) = upsert_client(context, &new, principal, ports).await?;
    if sent.keeps_secret && client.variables != sent.variables {
        return Err(secret_required("variables"));
    }
    if sent.keeps_secret && client.auth_method != sent.auth_method {
        return Err(secret_required("authMethod"));
    }
    let redirect_uri = redirect_uri(&context.request.origin);
    let client_json = document(&client, &redirect_uri, sent.warning.as_slice())?;
    let mut response = Response::json(client_json, NO_STORE);
    // A first try whose response was lost may already have created the client.
    let is_from_first_try =
        |previous: OauthClient| ports.was_retried() && previous.created_at == context.now;
    if previous.is_none_or(is_from_first_try) {
        response.status = 201;
    }
    Ok(response)
}

/// Stores a client. Returns the previous row, if any, and the new one.
async fn upsert_client<P: Ports>(
    context: &Context<'_>,
    new: &NewClient<'_>,
    principal: &Principal,
    ports: &Metered<'_, P>,
) -> Result<(Option<OauthClient>, OauthClient), Problem> {
    let tenant = (principal.account.as_str(), principal.environment.as_str());
    let select = statements::select_client_of(tenant, new.platform, new.name);
    // A full database accepts no new client, but accepts a change to an existing client, which can
    // repair its connections.
    let capacity = context.ensure_capacity();
    let max_clients = if capacity.is_ok() { MAX_CLIENTS } else { 0 };
    let batch = vec![
        select.clone(),
        statements::upsert_client(principal, new, max_clients),
        select,
        statements::retry_rejected(principal, new.platform, new.name, context.now),
    ];
    let sets = ports.batch(batch).await?;
    let previous: Option<OauthClient> = first_row(&sets, 0)?;
    let client: Option<OauthClient> = first_row(&sets, 2)?;
    let Some(client) = client else {
        capacity?;
        let detail = format!(
            "This environment has {MAX_CLIENTS} OAuth clients already, which is the maximum."
        );
        return Err(Problem::new(Code::OauthClientLimit, detail));
    };
    Ok((previous, client))
}

/// Reports scopes, parameters and variables that are too large together. The fault names the
/// largest of them.
fn check_size(body: &mut BodyReader, parts: [&str; 3]) {
    let size: usize = parts.iter().map(|part| part.len()).sum();
    let names = ["scopes", "authorizationParameters", "variables"];
    if let Some((name, _)) = names.into_iter().zip(parts).max_by_key(|(_, part)| part.len())
        && size > MAX_CLIENT_BYTES
    {
        let message = format!(
            "is too large: `scopes`, `authorizationParameters` and `variables` have {size} bytes as JSON, but at most {MAX_CLIENT_BYTES} are allowed"
        );
        body.invalid(&[name], &message);
    }
}

/// Reports each variable that no method has, and each value that its field rejects.
fn check_variables<P: Ports>(
    body: &mut BodyReader,
    variables: &BTreeMap<String, String>,
    (servers, methods): (&[Server], &[&&AuthMethod]),
    ports: &Metered<'_, P>,
) {
    let matcher = Matcher::new(ports);
    for (name, value) in variables {
        let method_and_field = methods.iter().find_map(|method| {
            Some((method, method.fields.iter().find(|field| field.name == *name)?))
        });
        let Some((method, field)) = method_and_field else {
            body.invalid(&["variables", name], "is not a variable of the platform's OAuth methods");
            continue;
        };
        let in_address = || method.address_error(servers, name, value).map(str::to_owned);
        if let Some(message) = validation_error(field, value, &matcher).or_else(in_address) {
            body.invalid(&["variables", name], &message);
        }
    }
}
