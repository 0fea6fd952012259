//! `POST /v1/vault/connections`.

use super::{Ask, Context, no_parameters, shown};
use crate::api::body::BodyReader;
use crate::api::cost::Metered;
use crate::api::problem::{Code, Extension, Problem};
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

/// The fields of the body.
pub const CREATE_FIELDS: [&str; 9] = [
    "platform",
    "platformVersion",
    "identity",
    "identityType",
    "name",
    "label",
    "tags",
    "state",
    "active",
];
const DEFAULT_LABEL: &str = "default";

/// What a body asks for.
struct Draft<C> {
    platform: String,
    connector: C,
    platform_version: Option<String>,
    identity: String,
    identity_type: IdentityType,
    label: String,
    name: Option<String>,
    tags: Vec<String>,
    state: State,
    active: bool,
}

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
    no_parameters(context.request)?;
    let body = BodyReader::new(context.request, &CREATE_FIELDS)?;
    let current = catalog.current(ports).await?.connectors;
    let connectors = catalog.segment::<_, ConnectorList>(ports, current).await?;
    let new = new_connection(read(body, |platform| find(&connectors, platform))?, context);

    let statements =
        vec![one::insert(&context.guard, &new), one::select_by_key(&context.guard, &new)];
    let answer = move |results: &super::Results<'_>| {
        // Whoever has the key now: this one, also when an earlier try of this request created it, or another one.
        let holder = results.connection(1)?;
        let holder = holder.ok_or_else(|| StorageError::new("a new connection is not there"))?;
        if holder.id != new.id {
            return Err(exists(&holder));
        }
        let mut response = shown(&holder);
        response.status = 201;
        let location = format!("{}/v1/vault/connections/{}", context.request.origin, holder.id);
        response.add("location", location);
        Ok(response)
    };
    Ok(Ask { statements, answer: Box::new(answer) })
}

fn exists(holder: &Connection) -> Problem {
    let detail = format!("The connection `{}` has the key `{}`.", holder.id, holder.key());
    Problem {
        extension: Extension::ConnectionId(holder.id.clone()),
        ..Problem::new(Code::ConnectionExists, detail)
    }
}

/// Reads the body. `find` knows the platforms: it gives what a connection takes from its connector, or else a platform
/// that may have been meant.
fn read<C>(
    mut body: BodyReader,
    find: impl FnOnce(&str) -> Result<C, Option<String>>,
) -> Result<Draft<C>, Problem> {
    for field in ["platform", "identity", "identityType"] {
        body.require(field);
    }
    let platform = body.text("platform", |_| None);
    let connector = platform.as_deref().and_then(|platform| {
        let refused = |suggestion| {
            let what = format!("is `{}`, which the catalog does not have", beginning(platform));
            body.invalid_like(&["platform"], &what, suggestion);
        };
        find(platform).map_err(refused).ok()
    });
    let platform_version = body.text("platformVersion", platform_version);
    let identity = body.text("identity", rules::identity);
    let identity_type = body.one_of("identityType", &IdentityType::ALL, IdentityType::as_str);
    let name = body.text_or_null("name", rules::name);
    let label = body.text("label", rules::label).unwrap_or_else(|| DEFAULT_LABEL.into());
    let tags = body.texts("tags", rules::MAX_TAGS, rules::tag).unwrap_or_default();
    let state = body.one_of("state", &State::ALL, State::as_str).unwrap_or(State::Unknown);
    let active = body.boolean("active").unwrap_or(true);
    let faults = body.finish();

    let (Some(platform), Some(connector), Some(identity), Some(identity_type)) =
        (platform, connector, identity, identity_type)
    else {
        // Whatever is missing is among the faults.
        return Err(faults.err().unwrap_or_else(|| {
            Problem::new(Code::Internal, "The service has a fault: it overlooked what is missing.")
        }));
    };
    faults?;
    Ok(Draft {
        platform,
        connector,
        platform_version,
        identity,
        identity_type,
        label,
        name,
        tags,
        state,
        active,
    })
}

/// Checks a body as far as that is possible without the catalog.
///
/// # Errors
/// With all faults of the body but an unknown platform.
pub fn check_new(body: BodyReader) -> Result<(), Problem> {
    read(body, |_| Ok(())).map(|_| ())
}

/// The connection that is to be created.
fn new_connection(draft: Draft<Connector>, context: &Context<'_>) -> NewConnection {
    let Draft { connector, platform_version, .. } = draft;
    NewConnection {
        id: context.fresh_id.clone(),
        platform: draft.platform,
        platform_version: platform_version.unwrap_or(connector.platform_version),
        description: connector.description,
        identity: draft.identity,
        identity_type: draft.identity_type,
        label: draft.label,
        name: draft.name,
        tags: array(&draft.tags),
        state: draft.state,
        active: draft.active,
        created_at: context.now,
    }
}

/// The connector of exactly this platform; else the nearest platform.
fn find(connectors: &ConnectorList, platform: &str) -> Result<Connector, Option<String>> {
    connector(connectors, platform)
        .ok_or_else(|| nearest(platform, connectors.platforms(), 1).into_iter().next())
}

fn connector(connectors: &ConnectorList, platform: &str) -> Option<Connector> {
    let row = connectors.with_platform(platform).into_iter().next()? as usize;
    let json = connectors.list.json(row..row.saturating_add(1));
    let mut shown = json::parse(std::str::from_utf8(json).ok()?).ok()?;
    Some(Connector {
        platform_version: shown.take_text("platformVersion")?,
        description: shown.take_text("description")?,
    })
}
