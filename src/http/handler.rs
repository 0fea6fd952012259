//! Handlers: the statements that an endpoint runs for a request, and the code that turns their results into a response.
//!
//! A handler is prepared before the caller is authenticated, so that its statements and the key's row need one round
//! trip. Its statements carry the caller's guard, and its code runs only for an authorized caller.

use std::pin::Pin;

use serde::de::DeserializeOwned;

use super::message::Response;
use super::problem::Problem;
use crate::auth::Principal;
use crate::storage::transaction::{Results, Rows, Statements};

/// The future of an endpoint's response.
type ResponseFuture<'a> = Pin<Box<dyn Future<Output = Result<Response, Problem>> + 'a>>;

/// Turns the results into a response without further I/O.
pub type Render<'a> = dyn FnOnce(&Results, &Principal) -> Result<Response, Problem> + 'a;

/// Turns the results into a response, with calls to storage or to other services.
type Respond<'a> = dyn FnOnce(Results, Principal) -> ResponseFuture<'a> + 'a;

/// The handling of one request.
pub enum Handler<'a> {
    /// Reads the catalog. Changes nothing and needs no row of the vault, so no query is needed when
    /// the caller's scopes are cached.
    Catalog(ResponseFuture<'a>),
    /// Runs statements and renders their results.
    Render {
        /// The statements to run in one batch with the query for the key's row.
        statements: Statements,
        /// Receives the results of `statements`.
        render: Box<Render<'a>>,
    },
    /// Runs statements and continues with calls to storage or to other services.
    Async {
        /// The statements to run in one batch with the query for the key's row.
        statements: Statements,
        /// Receives the results of `statements`.
        respond: Box<Respond<'a>>,
    },
}

impl<'a> Handler<'a> {
    /// A handler that only reads the catalog.
    pub fn catalog(response: impl Future<Output = Result<Response, Problem>> + 'a) -> Self {
        Self::Catalog(Box::pin(response))
    }

    /// A handler that builds the response from the results of its statements alone.
    pub fn render(
        statements: Statements,
        render: impl FnOnce(&Results, &Principal) -> Result<Response, Problem> + 'a,
    ) -> Self {
        Self::Render { statements, render: Box::new(render) }
    }

    /// A handler that deletes rows. Fails with `missing` when no row was deleted.
    pub fn delete<T: DeserializeOwned + 'a>(
        statements: Statements,
        deleted: Rows<T>,
        missing: impl FnOnce() -> Problem + 'a,
    ) -> Self {
        Self::render(statements, move |results, _| {
            // If the batch was sent twice, the first one probably deleted the rows.
            if results.first(deleted)?.is_none() && !results.repeated {
                return Err(missing());
            }
            Ok(Response::no_content())
        })
    }

    /// A handler that continues with calls to storage or to other services.
    pub fn new<F>(
        statements: Statements,
        respond: impl FnOnce(Results, Principal) -> F + 'a,
    ) -> Self
    where
        F: Future<Output = Result<Response, Problem>> + 'a,
    {
        let respond = move |results, principal| -> ResponseFuture<'a> {
            Box::pin(respond(results, principal))
        };
        Self::Async { statements, respond: Box::new(respond) }
    }
}
