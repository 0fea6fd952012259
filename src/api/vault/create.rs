//! `POST /v1/vault/connections`.

use super::update::TAGS;
use super::{Ask, Context, shown};
use crate::api::body::{BodyReader, Field, FieldCheck};
use crate::api::cost::Metered;
use crate::api::problem::{Code, Extension, Problem};
use crate::api::query::no_parameters;
use crate::catalog::cache::CatalogCache;
use crate::catalog::key::platform_version;
use crate::catalog::segment::ConnectorList;
use crate::json::{self, array};
use crate::nearest::{beginning, nearest};
use crate::ports::{Ports, StorageError};
use crate::vault::draft::NewConnection;
use crate::vault::model::{Connection, IdentityType, State};
use crate::vault::rules;
use crate::vault::statements::one;

/// The fields of the body. Whether the catalog has the platform is looked up apart.
pub const CREATE_FIELDS: [Field; 9] = [
    Field { name: "platform", check: FieldCheck::Text(any), required: true },
    optional("platformVersion", FieldCheck::Text(platform_version)),
    Field { name: "identity", check: FieldCheck::Text(rules::identity), required: true },
    Field { name: "identityType", check: FieldCheck::OneOf(&IdentityType::NAMES), required: true },
    optional("name", FieldCheck::TextOrNull(rules::name)),
    optional("label", FieldCheck::Text(rules::label)),
    TAGS,
    optional("state", FieldCheck::OneOf(&State::NAMES)),
    optional("active", FieldCheck::Boolean),
];

const fn optional(name: &'static str, check: FieldCheck) -> Field {
    Field { name, check, required: false }
}

const fn any(_: &str) -> Option<&'static str> {
    None
}

const DEFAULT_LABEL: &str = "default";

/// What a connection takes from its connector.
struct Connector {
    platform_version: String,
    description: String,
}

pub(super) async fn ask<'a, P: Ports>(
    catalog: &CatalogCache,
    ports: &Metered<'_, P>,
    context: &'a Context<'a>,
) -> Result<Ask<'a>, Problem> {
    no_parameters(&context.request.query)?;
    let body = BodyReader::new(context.request, &CREATE_FIELDS)?;
    let current = catalog.current(ports).await?.connectors;
    let connectors = catalog.segment::<_, ConnectorList>(ports, current).await?;
    let new = read(body, &connectors, context)?;

    let statements =
        vec![one::insert(&context.guard, &new), one::select_by_key(&context.guard, &new)];
    let answer = move |results: &super::Results<'_>| {
        // Whoever has the key now: this one, also when an earlier try of this request created it, or another one.
        let holder = results.connection(1)?;
        let holder = holder.ok_or_else(|| StorageError::new("a new connection is not there"))?;
        if holder.id != new.id {
            let sees = context.guard.confinement.is_none_or(|own| own.sees(&holder));
            return Err(exists(Some(&holder).filter(|_| sees)));
        }
        let mut response = shown(&holder);
        response.status = 201;
        let location = format!("{}/v1/vault/connections/{}", context.request.origin, holder.id);
        response.add("location", location);
        Ok(response)
    };
    Ok(Ask { statements, answer: Box::new(answer) })
}

/// Another connection has the key: this one, where the caller may see it.
fn exists(holder: Option<&Connection>) -> Problem {
    let Some(holder) = holder else {
        return Problem::new(Code::ConnectionExists, "Another connection has this key.");
    };
    let detail = format!("The connection `{}` has the key `{}`.", holder.id, holder.key());
    Problem {
        extension: Extension::ConnectionId(holder.id.clone()),
        ..Problem::new(Code::ConnectionExists, detail)
    }
}

/// Reads the body: all its faults at once, or a connection.
fn read(
    mut body: BodyReader,
    connectors: &ConnectorList,
    context: &Context<'_>,
) -> Result<NewConnection, Problem> {
    let platform = body.text("platform");
    let confinement = context.guard.confinement;
    let may = |platform: &str| confinement.is_none_or(|own| own.has_platform(platform));
    // Of the platforms that a token does not name, it does not even learn which ones there are.
    let hidden = platform.as_ref().is_some_and(|platform| !may(platform));
    let connector = platform.as_ref().and_then(|platform| connector(connectors, platform));
    if let Some(platform) = platform.as_ref().filter(|_| connector.is_none() && !hidden) {
        let known = connectors.platforms().filter(|known| may(known));
        let suggestion = nearest(platform, known, 1).into_iter().next();
        let what = format!("is `{}`, which the catalog does not have", beginning(platform));
        body.invalid_like(&["platform"], &what, suggestion);
    }
    body.finish()?;
    let identity_type = body.text("identityType").and_then(|text| text.parse().ok());
    let identity = body.text("identity");
    if let Some(own) = confinement {
        let what = if identity.as_ref() != Some(&own.identity) {
            Some("identity")
        } else if own.identity_type.is_some() && identity_type != own.identity_type {
            Some("identityType")
        } else {
            hidden.then_some("platform")
        };
        if let Some(what) = what {
            let detail = format!("This token is for another `{what}`: see `GET /v1/whoami`.");
            return Err(Problem::new(Code::InsufficientScope, detail));
        }
    }
    let (Some(platform), Some(connector), Some(identity), Some(identity_type)) =
        (platform, connector, identity, identity_type)
    else {
        // Whatever is missing was among the faults.
        let detail = "The service has a fault: it overlooked what is missing.";
        return Err(Problem::new(Code::Internal, detail));
    };
    let state = body.text("state").and_then(|text| text.parse().ok());
    Ok(NewConnection {
        id: context.fresh_id.clone(),
        platform,
        platform_version: body.text("platformVersion").unwrap_or(connector.platform_version),
        description: connector.description,
        identity,
        identity_type,
        label: body.text("label").unwrap_or_else(|| DEFAULT_LABEL.into()),
        name: body.text("name"),
        tags: array(&body.texts("tags").unwrap_or_default()),
        state: state.unwrap_or(State::Unknown),
        active: body.boolean("active").unwrap_or(true),
        created_at: context.now,
    })
}

/// The connector of exactly this platform.
fn connector(connectors: &ConnectorList, platform: &str) -> Option<Connector> {
    let row = connectors.with_platform(platform).into_iter().next()? as usize;
    let json = connectors.list.json(row..row.saturating_add(1));
    let mut shown = json::parse(std::str::from_utf8(json).ok()?).ok()?;
    Some(Connector {
        platform_version: shown.take_text("platformVersion")?,
        description: shown.take_text("description")?,
    })
}
