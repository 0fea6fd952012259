//! How a connection is rendered.

use crate::api::message::{NO_STORE, Response};
use crate::api::problem::Problem;
use crate::vault::model::Connection;
use crate::vault::revision::entity_tag;

/// The document of a connection.
///
/// # Errors
/// When what is stored is damaged.
pub(in crate::api) fn document(connection: &Connection) -> Result<Vec<u8>, Problem> {
    connection.to_json().map_err(|error| {
        Problem::unavailable(format!("the connection {} is damaged: {error}", connection.id))
    })
}

/// One connection with its entity tag.
///
/// # Errors
/// When what is stored is damaged.
pub(in crate::api) fn shown(connection: &Connection) -> Result<Response, Problem> {
    let mut response = Response::json(document(connection)?, NO_STORE);
    response.add("etag", entity_tag(&connection.id, connection.version));
    Ok(response)
}
