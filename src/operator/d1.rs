//! The D1 database of keys and connections, through `wrangler d1 execute`.

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::scratch::Scratch;
use super::wrangler::{Wrangler, json_in};

const BINDING: &str = "VAULT";

/// The database.
#[derive(Debug, Clone)]
pub struct Database(pub Wrangler);

/// What the statements of a query gave.
#[derive(Debug, Clone)]
pub struct Answers(Vec<Value>);

impl Answers {
    /// The rows that one of the statements gave.
    ///
    /// # Errors
    /// When there is no such statement, or its rows have another shape.
    pub fn rows<T: DeserializeOwned>(&self, statement: usize) -> Result<Vec<T>> {
        let results = self.0.get(statement).and_then(|answer| answer.get("results")).cloned();
        serde_json::from_value(results.context("the database did not answer every statement")?)
            .context("the database's rows")
    }
}

impl Database {
    /// Runs statements; makes the tables and columns first that this machine's database lacks.
    ///
    /// # Errors
    /// When wrangler fails.
    pub fn query(&self, sql: &str) -> Result<Answers> {
        match self.try_query(sql) {
            Err(error) if lacks_a_migration(&format!("{error:#}")) => {
                if self.0.place().remote {
                    bail!(
                        "the database has not all tables and columns yet: run `npm run deploy` first, which makes them"
                    );
                }
                self.0
                    .run(["d1", "migrations", "apply", BINDING])
                    .context("making the tables and columns of the database")?;
                self.try_query(sql)
            }
            result => result,
        }
    }

    fn try_query(&self, sql: &str) -> Result<Answers> {
        let text = self.0.run(["d1", "execute", BINDING, "--json", "--yes", "--command", sql])?;
        json_in(&text, '[').map(Answers).context("the database's answer")
    }

    /// Runs more SQL than a command line holds, all of it or nothing.
    ///
    /// # Errors
    /// When wrangler fails.
    pub fn load(&self, sql: &str) -> Result<()> {
        let file = Scratch::with("sql", sql.as_bytes())?;
        self.0.run(["d1", "execute", BINDING, "--yes", "--file", file.path()]).map(drop)
    }
}

/// Whether wrangler says that a table or a column is not there.
fn lacks_a_migration(said: &str) -> bool {
    ["no such table: ", "no such column: ", "has no column named "]
        .iter()
        .any(|text| said.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_database_says() {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE t (a)").unwrap();
        for sql in [
            "SELECT 1 FROM u",
            "SELECT b FROM t",
            "UPDATE t SET b = 1",
            "INSERT INTO t (b) VALUES (1)",
        ] {
            let error = db.execute_batch(sql).unwrap_err().to_string();
            assert!(lacks_a_migration(&error), "{error}");
        }
        let other = db.execute_batch("SELECT FROM t").unwrap_err().to_string();
        assert!(!lacks_a_migration(&other), "{other}");
    }

    #[test]
    fn answers_are_read_statement_by_statement() {
        let answers = Answers(
            json_in(
                "[{\"results\":[],\"success\":true},{\"results\":[{\"a\":1}],\"success\":true}]",
                '[',
            )
            .unwrap(),
        );
        assert!(answers.rows::<Value>(0).unwrap().is_empty());
        assert_eq!(answers.rows::<Value>(1).unwrap().len(), 1);
        assert!(answers.rows::<Value>(2).is_err());
    }
}
