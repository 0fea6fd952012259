//! `POST /v1/vault/connections`: creates a connection.

use serde::Deserialize;

use super::platform_not_found::platform_not_found;
use super::render::connection_response;
use crate::auth::Caller;
use crate::catalog::reader::Catalog;
use crate::connections::draft::NewConnection;
use crate::connections::model::Connection;
use crate::connections::rules::DEFAULT_LABEL;
use crate::connections::statements::limits::{
    MAX_CONNECTIONS_PER_ACCOUNT, MAX_CONNECTIONS_PER_IDENTITY,
};
use crate::connections::statements::one;
use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::endpoint::Keyed;
use crate::http::handler::Handler;
use crate::http::problem::{Code, Extension, Problem};
use crate::ports::{Ports, Random, StorageError};
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::terms::State;
use crate::util::case_fold::fold;
use crate::util::json;

/// The members of a connector that are copied to a new connection.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Connector {
    platform: String,
    platform_version: String,
    description: String,
}

impl Connector {
    fn read(row: &[u8]) -> Result<Self, StorageError> {
        json::from_bytes(row)
            .map_err(|error| StorageError::new(format!("a connector's row is malformed: {error}")))
    }
}

/// Prepares the request. The connector is read before the key is authenticated, so that one
/// database query is enough; a rejected caller never sees the result. Suggestions for an unknown
/// platform are computed later.
pub async fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    // Platform names are case-insensitive, and stored in lower case.
    let platform = body.text("platform").map(|platform| fold(&platform));
    let restriction = context.caller.restriction();
    let may_use =
        |platform: &str| restriction.is_none_or(|restriction| restriction.has_platform(platform));
    let connector = match platform.as_deref().filter(|platform| may_use(platform)) {
        Some(platform) => {
            let catalog = Catalog::open(context.service.catalog(), ports).await?;
            let row = catalog.connector(platform).await?;
            let Some(row) = row else {
                let platform = platform.to_owned();
                return Ok(Handler::catalog(async move {
                    platform_not_found(context, body, &platform, ports).await
                }));
            };
            Some(Connector::read(&row)?)
        }
        // Not looked up: a token must not learn which platforms outside its restriction exist.
        None => None,
    };
    let new = read(body, platform, connector, context, ports.uuid())?;

    let (guard, mut statements) = (context.guard(), Statements::default());
    statements.run(one::insert(&guard, &new));
    // The connection that has the key after the insert: the new connection, perhaps from an earlier
    // try of this request, or another one.
    let existing_connection = statements.query::<Connection>(one::select_by_key(
        &guard,
        &new.platform,
        &new.label,
        &new.identity,
    ));
    Ok(Handler::render(statements, move |results, _| {
        let existing_connection = results.first(existing_connection)?;
        let existing_connection =
            existing_connection.ok_or_else(|| connection_limit_reached(context.caller))?;
        if existing_connection.id != new.id {
            return Err(connection_exists(&existing_connection, context.caller));
        }
        let mut response = connection_response(&existing_connection)?;
        response.status = 201;
        response.add("location", context.url_of(Keyed::ReadConnection, &[&existing_connection.id]));
        Ok(response)
    }))
}

/// The error if another connection has the key. Contains its id if the caller may see that
/// connection.
pub(crate) fn connection_exists(existing_connection: &Connection, caller: &Caller) -> Problem {
    if !caller
        .restriction()
        .is_none_or(|restriction| existing_connection.is_visible_to(restriction))
    {
        return Problem::new(Code::ConnectionExists, "Another connection has this key.");
    }
    let detail = format!(
        "The connection `{}` already has the key `{}`.",
        existing_connection.id,
        existing_connection.key()
    );
    Problem {
        extension: Extension::ConnectionId(existing_connection.id.clone()),
        ..Problem::new(Code::ConnectionExists, detail)
    }
}

/// The error if the maximum number of connections is reached.
pub(crate) fn connection_limit_reached(caller: &Caller) -> Problem {
    let detail = if caller.token().is_some() {
        format!(
            "This identity has {MAX_CONNECTIONS_PER_IDENTITY} connections, the maximum that its tokens can create, or the account has {MAX_CONNECTIONS_PER_ACCOUNT}. Delete connections that are no longer needed."
        )
    } else {
        format!(
            "This environment of the account has {MAX_CONNECTIONS_PER_ACCOUNT} connections, which is the maximum. Delete connections that are no longer needed."
        )
    };
    Problem::new(Code::ConnectionLimit, detail)
}

/// The error for a token that is restricted to another value of this field.
pub(crate) fn outside_token_scope(field: &str) -> Problem {
    let detail = format!("This token is restricted to another `{field}`: see `GET /v1/whoami`.");
    Problem::new(Code::InsufficientScope, detail)
}

/// The error for a token that is restricted to certain connections, and therefore can't create any.
pub(crate) fn outside_token_connections() -> Problem {
    let detail = "This token is restricted to some connections, and can't create others: see `connections` of `GET /v1/whoami`.";
    Problem::new(Code::InsufficientScope, detail)
}

/// The error if a required field is missing after validation, which would be a bug of this service.
pub(crate) fn internal_missing_field() -> Problem {
    let detail = "Something went wrong in the service: it did not report the missing field.";
    Problem::new(Code::Internal, detail)
}

/// Builds the connection from the other fields of the body. Fails with all faults of the body, or
/// if the token's restriction does not allow the connection.
fn read(
    mut body: BodyReader,
    platform: Option<String>,
    connector: Option<Connector>,
    context: &Context<'_>,
    id: String,
) -> Result<NewConnection, Problem> {
    let restriction = context.caller.restriction();
    body.finish()?;
    let identity_type = body.text("identityType").and_then(|text| text.parse().ok());
    let identity = body.text("identity");
    if let Some(restriction) = restriction {
        if restriction.connections.is_some() {
            return Err(outside_token_connections());
        }
        let refused_field = if identity.as_ref() != Some(&restriction.identity) {
            Some("identity")
        } else if restriction.identity_type.is_some() && identity_type != restriction.identity_type
        {
            Some("identityType")
        } else {
            let may_use = |platform: &String| restriction.has_platform(platform);
            platform.as_ref().is_some_and(|platform| !may_use(platform)).then_some("platform")
        };
        if let Some(refused_field) = refused_field {
            return Err(outside_token_scope(refused_field));
        }
    }
    let (Some(requested_name), Some(connector), Some(identity), Some(identity_type)) =
        (platform, connector, identity, identity_type)
    else {
        return Err(internal_missing_field());
    };
    // Replace a former name of the platform with the current one, unless the token is restricted to
    // the former name.
    let is_allowed =
        restriction.is_none_or(|restriction| restriction.has_platform(&connector.platform));
    let platform = if is_allowed { connector.platform } else { requested_name };
    let state = body.text("state").and_then(|text| text.parse().ok());
    Ok(NewConnection {
        id,
        platform,
        platform_version: body.text("platformVersion").unwrap_or(connector.platform_version),
        description: connector.description,
        identity,
        identity_type,
        label: body.text("label").unwrap_or_else(|| DEFAULT_LABEL.into()),
        name: body.text("name"),
        tags: json::text(&body.texts("tags").unwrap_or_default()),
        state: state.unwrap_or(State::Unknown),
        active: body.boolean("active").unwrap_or(true),
        created_at: context.now,
    })
}
