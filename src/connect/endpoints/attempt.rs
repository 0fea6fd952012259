//! `GET /v1/vault/connect/{id}`: the status of a connect attempt. With `wait`, responds once the
//! attempt has ended, or after that many seconds.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::connect::attempt::{Attempt, Status};
use crate::connect::statements;
use crate::connections::endpoints::render::document;
use crate::connections::model::{Connection, ConnectionId};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::http::wait::{USER_PAUSE_MS, Wait};
use crate::ports::{Clock as _, Db, Ports, StorageError};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Rows, Statements};
use crate::terms::AttemptStatus;
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// The JSON of an attempt.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttemptView<'a> {
    id: &'a str,
    platform: &'a str,
    status: AttemptStatus,
    connection: Option<Box<RawValue>>,
    error: Option<AttemptError>,
    expires_at: Option<String>,
}

/// The error of a failed attempt.
#[derive(Serialize)]
pub(super) struct AttemptError {
    code: String,
    detail: String,
}

impl AttemptError {
    pub(super) fn from_status(status: Status) -> Option<Self> {
        match status {
            Status::Failed { code, detail } => Some(Self { code, detail }),
            Status::Pending | Status::Succeeded | Status::Expired => None,
        }
    }
}

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let seconds = query.integer("wait").and_then(|seconds| u32::try_from(seconds).ok());
    let wait = Wait::new(USER_PAUSE_MS, seconds.unwrap_or(0).saturating_mul(1000));
    // Attempt ids and connection ids have the same format.
    let id = context.connection_id();
    let mut statements = Statements::default();
    let (attempt, connection) = add_statements(context, &id, &mut statements);
    Ok(Handler::new(statements, move |results, _| async move {
        let (attempt, connection) = (results.first(attempt)?, results.first(connection)?);
        wait_for_end(context, &id, wait, (attempt, connection), ports).await
    }))
}

fn add_statements(
    context: &Context<'_>,
    id: &ConnectionId,
    statements: &mut Statements,
) -> (Rows<Attempt>, Rows<Connection>) {
    let guard = context.guard();
    let attempt = statements.query(statements::select_attempt(&guard, id));
    (attempt, statements.query(statements::select_connected(&guard, id)))
}

/// Waits until the attempt ends.
async fn wait_for_end<P: Ports>(
    context: &Context<'_>,
    id: &ConnectionId,
    mut wait: Wait,
    (mut attempt, mut connection): (Option<Attempt>, Option<Connection>),
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    loop {
        let current = attempt.as_ref().ok_or_else(not_found)?;
        let status = current.status(ports.now());
        if status != Status::Pending || !wait.pause(ports).await {
            return attempt_response(current, status, connection.as_ref());
        }
        let mut statements = Statements::default();
        let (attempt_rows, connection_rows) = add_statements(context, id, &mut statements);
        let sets = ports.batch(statements.into_vec()).await?;
        let results = Results { sets, repeated: false };
        attempt = results.first(attempt_rows)?;
        connection = results.first(connection_rows)?;
    }
}

fn not_found() -> Problem {
    Problem::new(Code::AttemptNotFound, "There is no such connect attempt.")
}

fn attempt_response(
    attempt: &Attempt,
    status: Status,
    connection: Option<&Connection>,
) -> Result<Response, Problem> {
    let raw = |json: Vec<u8>| {
        let text =
            String::from_utf8(json).map_err(|_| StorageError::new("a connection is damaged"))?;
        RawValue::from_string(text).map_err(|_| StorageError::new("a connection is damaged"))
    };
    let connection = connection.map(document).transpose()?.map(raw).transpose()?;
    let view = AttemptView {
        id: &attempt.id,
        platform: &attempt.platform,
        status: status.name(),
        connection,
        error: AttemptError::from_status(status),
        expires_at: rfc3339(attempt.expires_at),
    };
    Ok(Response::json(json::bytes(&view), NO_STORE))
}
