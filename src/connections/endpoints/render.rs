//! Renders connections as JSON.

use crate::connections::model::Connection;
use crate::connections::revision::entity_tag;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::util::json;

/// The JSON of a connection.
pub(crate) fn document(connection: &Connection) -> Result<Vec<u8>, Problem> {
    connection.to_json().map_err(|error| {
        Problem::unavailable(format!("the connection {} is damaged: {error}", connection.id))
    })
}

/// Like [`document`], with the account at the platform. `shows_names` is whether to include the
/// account's name.
pub(crate) fn document_with_account(
    connection: &Connection,
    shows_names: bool,
) -> Result<Vec<u8>, Problem> {
    let mut document = document(connection)?;
    // Remove the closing brace, so that another member can follow.
    document.pop();
    document.extend_from_slice(b",\"account\":");
    document.extend_from_slice(&json::bytes(&connection.account(shows_names)));
    document.push(b'}');
    Ok(document)
}

/// A response with one connection and its entity tag.
pub(crate) fn connection_response(connection: &Connection) -> Result<Response, Problem> {
    let mut response = Response::json(document(connection)?, NO_STORE);
    response.add("etag", entity_tag(&connection.id, connection.version));
    Ok(response)
}
