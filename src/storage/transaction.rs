//! The statements of one batch and their results.

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::http::problem::Problem;
use crate::ports::{ResultSet, Statement, StorageError};

/// The statements of a handler. They run in one batch, which is one transaction.
#[derive(Debug, Default)]
pub struct Statements(Vec<Statement>);

/// A row that is only selected to check whether it exists.
#[derive(Debug, Deserialize)]
pub struct ExistingRow {}

/// Identifies the rows of a statement in the [`Results`]. `T` is the type of the rows.
#[derive(Debug)]
pub struct Rows<T> {
    statement: usize,
    marker: PhantomData<fn() -> T>,
}

impl<T> Clone for Rows<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Rows<T> {}

impl Statements {
    /// Adds a statement whose rows are read from the [`Results`].
    pub fn query<T: DeserializeOwned>(&mut self, statement: Statement) -> Rows<T> {
        let rows = Rows { statement: self.0.len(), marker: PhantomData };
        self.0.push(statement);
        rows
    }

    /// Adds a statement whose rows are not read.
    pub fn run(&mut self, statement: Statement) {
        self.0.push(statement);
    }

    /// The statements in the order in which they run.
    pub fn into_vec(self) -> Vec<Statement> {
        self.0
    }
}

/// The results of a handler's statements.
#[derive(Debug)]
pub struct Results {
    /// The result sets in the order of the statements.
    pub sets: Vec<ResultSet>,
    /// Whether the statements may have run before, because the response to an earlier try was lost.
    pub repeated: bool,
}

impl Results {
    pub fn all<T: DeserializeOwned>(&self, rows: Rows<T>) -> Result<Vec<T>, Problem> {
        Ok(self.set(rows.statement)?.rows()?)
    }

    fn set(&self, statement: usize) -> Result<&ResultSet, StorageError> {
        let set = self.sets.get(statement);
        set.ok_or_else(|| StorageError::new("a statement gave no result set"))
    }

    /// The first row of a statement. Returns `None` if it has no rows.
    pub fn first<T: DeserializeOwned>(&self, rows: Rows<T>) -> Result<Option<T>, Problem> {
        Ok(self.all(rows)?.into_iter().next())
    }
}
