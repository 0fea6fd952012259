//! `PUT /v1/vault/connections/{id}/credentials`: imports credentials.

use std::collections::BTreeMap;

use crate::auth::Principal;
use crate::catalog::detail::AuthMethod;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::endpoints::platform::{self, CheckOutcome, PlatformAuth, Verdict};
use crate::connect::endpoints::start::platform_removed;
use crate::connect::endpoints::store::{
    ConnectedAccount, InconclusiveCheck, StoreOutcome, StoreTarget, store,
};
use crate::connect::endpoints::{connector, no_vault_keys};
use crate::connect::method::Connector;
use crate::connect::resolved_oauth::{is_listed, recipient_fields};
use crate::connect::statements::select_client_for;
use crate::connections::model::Connection;
use crate::connections::statements::one;
use crate::credentials::lifecycle::machine;
use crate::credentials::model::{Credentials, OAuthTokens};
use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::Response;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::terms::CredentialType;
use crate::util::rfc3339;

/// The fault of a field that only the OAuth client may set.
const DECIDES: &str =
    "decides who receives secrets and tokens: set it in the `variables` of the OAuth client";

/// The secret members of the body, and the type to which each belongs.
const SECRETS: [(&str, CredentialType); 10] = [
    ("accessToken", CredentialType::OAuth2),
    ("refreshToken", CredentialType::OAuth2),
    ("apiKey", CredentialType::ApiKey),
    ("username", CredentialType::Basic),
    ("password", CredentialType::Basic),
    ("token", CredentialType::Bearer),
    ("accessKeyId", CredentialType::AwsSigv4),
    ("secretAccessKey", CredentialType::AwsSigv4),
    ("sessionToken", CredentialType::AwsSigv4),
    ("region", CredentialType::AwsSigv4),
];

/// Plans the request.
pub fn plan<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.no_query()?;
    let mut body = context.body()?;
    body.finish()?;
    if context.config().vault_keys.is_empty() {
        return Err(no_vault_keys());
    }
    let (guard, mut statements) = (context.guard(), Statements::default());
    let id = context.connection_id();
    let connection = statements.ask(one::select(&guard, &id));
    let client = statements.ask(select_client_for(&guard, &id));
    Ok(Handler::new(statements, move |results, principal| async move {
        let (connection, client) = (results.first(connection)?, results.first(client)?);
        set(context, body, connection, client, &principal, ports).await
    }))
}

/// Finds the authentication method for credentials of a type. If none or several match, returns the field at fault and
/// what is wrong with it.
fn method_for<'c>(
    connector: &'c Connector,
    kind: CredentialType,
    asked: Option<&str>,
) -> Result<&'c AuthMethod, (&'static str, String)> {
    let all = connector.auth_methods.iter();
    let of_kind: Vec<_> = all.filter(|method| method.credential_type() == kind).collect();
    let found = match (asked, of_kind.as_slice()) {
        (None, [only]) => Some(*only),
        (None, _) => None,
        (Some(id), methods) => methods.iter().find(|method| method.id == id).copied(),
    };
    found.ok_or_else(|| {
        if of_kind.is_empty() {
            let (kind, platform) = (kind.as_str(), &connector.platform);
            return ("type", format!("is `{kind}`, which the platform `{platform}` does not take"));
        }
        let ids: Vec<String> = of_kind.iter().map(|method| format!("`{}`", method.id)).collect();
        ("authMethod", format!("must be one of {}", ids.join(", ")))
    })
}

/// Fills in the fields that decide who receives the OAuth client's secret. Only the client or the catalog may choose their
/// values, so any other is reported.
fn resolve_recipient_fields(
    body: &mut BodyReader,
    given: &mut BTreeMap<String, String>,
    method: &AuthMethod,
    connector: &Connector,
    client: Option<&OauthClient>,
) {
    let Some(oauth) = method.oauth2() else { return };
    let variables = client.map(OauthClient::variables).unwrap_or_default();
    for name in recipient_fields(oauth, &method.fields, &connector.servers) {
        match (variables.get(name), given.get(name)) {
            (Some(own), None) => {
                given.insert(name.to_owned(), own.clone());
            }
            (Some(own), Some(value)) if own == value => {}
            (_, Some(value)) if !is_listed(&method.fields, name, value) => {
                body.invalid(&["fields", name], DECIDES);
            }
            _ => {}
        }
    }
}

/// The secrets of a request, without those of another type of credentials, which are reported.
fn read_secrets(body: &mut BodyReader, kind: CredentialType) -> BTreeMap<&'static str, String> {
    let mut secrets = BTreeMap::new();
    for (name, of) in SECRETS {
        match body.text(name) {
            Some(_) if of != kind => {
                body.invalid(&[name], &format!("does not belong to the type `{}`", kind.as_str()));
            }
            Some(secret) => {
                secrets.insert(name, secret);
            }
            None => {}
        }
    }
    secrets
}

/// Stores the credentials.
async fn set<P: Ports>(
    context: &Context<'_>,
    mut body: BodyReader,
    connection: Option<Connection>,
    client: Option<OauthClient>,
    principal: &Principal,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let cache = context.service.catalog();
    let connection = connection.ok_or_else(Problem::no_connection)?;
    let catalog = Catalog::open(cache, ports).await?;
    let connector = connector(&catalog, &connection.platform).await?;
    let connector = connector.ok_or_else(|| platform_removed(&connection.platform))?;
    let kind: Option<CredentialType> = body.text("type").and_then(|text| text.parse().ok());
    let Some(kind) = kind else { return Err(body.refuse(&["type"], "is required", None)) };
    let method = match method_for(&connector, kind, body.text("authMethod").as_deref()) {
        Ok(method) => method,
        Err((field, what)) => return Err(body.refuse(&[field], &what, None)),
    };
    let mut given = body.text_members("fields").unwrap_or_default();
    given.retain(|_, value| !value.is_empty());
    let client = client.filter(|client| client.is_for(&method.id));
    resolve_recipient_fields(&mut body, &mut given, method, &connector, client.as_ref());
    let mut secrets = read_secrets(&mut body, kind);
    let scopes = body.texts("scopes").unwrap_or_default();
    let expires_at = body.text("expiresAt").and_then(|text| rfc3339::parse(&text));
    let tokens = if kind == CredentialType::OAuth2 {
        if secrets.is_empty() {
            body.invalid(&["accessToken"], "is required, or else `refreshToken`");
        }
        Some(OAuthTokens {
            access: secrets.remove("accessToken").unwrap_or_default(),
            kind: "Bearer".to_owned(),
            refresh: secrets.remove("refreshToken"),
            members: BTreeMap::new(),
        })
    } else {
        given.extend(secrets.into_iter().map(|(name, secret)| (name.to_owned(), secret)));
        None
    };
    let fields = method.fill(&connector.headers, &given, ports, |name, what| {
        let own = SECRETS.iter().any(|(secret, _)| *secret == name);
        let path: &[&str] = if own { &[name] } else { &["fields", name] };
        body.invalid(path, &what);
    });
    body.finish()?;

    let has_access = tokens.as_ref().is_none_or(|tokens| !tokens.access.is_empty());
    let mut credentials = Credentials { tokens, ..Credentials::from_fields(kind, fields) };
    let mut checked = CheckOutcome::NotChecked;
    if has_access {
        let (config, connector, client) = (context.config(), &connector, client.as_ref());
        let platform_auth =
            PlatformAuth { config, connector, method, credentials: &credentials, client };
        checked = match platform::verify(ports, platform_auth).await {
            // What has expired can still be refreshed.
            Verdict::Rejected(401) if credentials.is_refreshable(method) => {
                CheckOutcome::NotChecked
            }
            verdict => verdict.checked(&connector.name)?,
        };
        platform::fetch_account(
            ports,
            context.config(),
            (connector, method),
            client,
            &mut credentials,
        )
        .await;
    }
    let account = ConnectedAccount {
        account: &principal.account,
        environment: principal.environment,
        request: context.request_id,
        attempt: None,
        method,
        credentials: &credentials,
        // Without an access token, the first use refreshes.
        expires_at: if has_access { expires_at } else { Some(context.now) },
        requested_scopes: &scopes,
        granted_scopes: None,
        state: machine::stored(checked == CheckOutcome::Accepted),
        unchecked: InconclusiveCheck::from_outcome(checked),
        names: context.config().account_names,
        now: context.now,
    };
    let target = StoreTarget::Existing { id: &connection.id, name: None, tags: None };
    match store(ports, &context.config().vault_keys, &account, target).await? {
        StoreOutcome::Done(_) => Ok(Response::no_content()),
        StoreOutcome::KeyTaken(_) | StoreOutcome::NothingWritten => Err(Problem::no_connection()),
    }
}
