//! The D1 databases of keys and connections: runs statements, and applies the files of `schema/` that create the tables.

use std::rc::Rc;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::local::Results;
use super::schema::{self, DatabaseSchema, Schema, SchemaFile};
use super::scratch::Scratch;
use super::shards::file::placeholder;
use super::shards::moving::Side;
use super::sql::{Text, filled};
use super::storage::{Storage, Way};
use super::wrangler::json_in;
use crate::audit::statements as audit;
use crate::auth::Shard;

/// The longest SQL of a command line; Linux takes 128 KiB.
const MAX_COMMAND: usize = 100_000;

/// The table in which `wrangler d1 migrations` records what it has applied, exactly as wrangler creates it.
const CREATE_RECORD: &str = "CREATE TABLE IF NOT EXISTS d1_migrations(\n  id INTEGER PRIMARY KEY AUTOINCREMENT, \
                          name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

/// Selects the statements that would create what a database contains, without what `SQLite`, D1 and wrangler create.
pub(super) const STATEMENTS: &str = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name NOT GLOB 'sqlite_*' \
                                     AND tbl_name NOT GLOB '_cf_*' AND tbl_name <> 'd1_migrations'";

/// The database of a shard.
#[derive(Debug, Clone)]
pub struct Database {
    /// Where it is.
    pub storage: Rc<Storage>,
    /// The shard.
    pub shard: Shard,
}

/// What a query returned.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The rows of each statement.
    rows: Vec<Value>,
    /// The size of the database in bytes.
    pub size: u64,
}

impl Answers {
    /// The rows that one of the statements returned.
    ///
    /// # Errors
    /// When there is no such statement, or its rows have another shape.
    pub fn rows<T: DeserializeOwned>(&self, statement: usize) -> Result<Vec<T>> {
        let rows = self.rows.get(statement).cloned();
        serde_json::from_value(
            rows.context("the database did not return a result for every statement")?,
        )
        .context("the database's rows")
    }
}

/// Statements between those that name the operator in the audit.
#[must_use]
pub fn by_operator(statements: &[String]) -> Vec<String> {
    let begin = filled(&audit::by_operator());
    std::iter::once(begin)
        .chain(statements.iter().cloned())
        .chain([filled(&audit::clear_actor())])
        .collect()
}

/// What wrangler prints for a statement.
#[derive(Deserialize)]
struct Printed {
    #[serde(default)]
    results: Value,
    #[serde(default)]
    meta: Meta,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Meta {
    size_after: u64,
}

impl Database {
    /// Runs statements in one transaction. On this machine, it first creates tables and columns that the database lacks.
    ///
    /// # Errors
    /// When the database rejects a statement, or cannot be reached.
    pub fn query(&self, statements: &[String]) -> Result<Answers> {
        match self.try_query(statements) {
            Err(error) if lacks_tables(&format!("{error:#}")) => {
                if matches!(self.storage.way, Way::Wrangler(_)) {
                    bail!(
                        "the database lacks tables or columns: run `npm run deploy` first, which creates them"
                    );
                }
                self.apply(&self.pending()?).context("creating the tables of the database")?;
                self.try_query(statements)
            }
            result => result,
        }
    }

    /// As [`Self::query`], for changes: the audit says that the operator makes them.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn change(&self, statements: &[String]) -> Result<Answers> {
        let mut answers = self.query(&by_operator(statements))?;
        answers.rows = answers.rows.into_iter().skip(1).take(statements.len()).collect();
        Ok(answers)
    }

    fn try_query(&self, statements: &[String]) -> Result<Answers> {
        match &self.storage.way {
            Way::Local(local) => {
                let Results { results: rows, size } = local.batch(self.shard, statements)?;
                Ok(Answers { rows, size })
            }
            Way::Wrangler(wrangler) => {
                let (vault, sql) = (self.shard.binding(), statements.join("; "));
                let text = wrangler.run([
                    "d1",
                    "execute",
                    &vault,
                    "--json",
                    "--yes",
                    "--command",
                    &sql,
                ])?;
                printed(&text)
            }
        }
    }

    /// How many rows statements have read in the last 24 hours, as Cloudflare counts them. Returns `None` for this machine's
    /// database, and for none: that is also what wrangler prints for who may not see Cloudflare's analytics.
    ///
    /// # Errors
    /// When Cloudflare can't be asked.
    pub fn rows_read(&self) -> Result<Option<u64>> {
        #[derive(Deserialize)]
        struct Info {
            rows_read_24h: Option<u64>,
        }
        let Way::Wrangler(wrangler) = &self.storage.way else { return Ok(None) };
        let text = wrangler.account(["d1", "info", &self.shard.binding(), "--json"])?;
        Ok(json_in::<Info>(&text, '{')?.rows_read_24h.filter(|rows| *rows > 0))
    }

    /// Runs SQL that may be longer than a command line, all of it or nothing.
    ///
    /// # Errors
    /// When the database rejects it, or cannot be reached.
    pub fn load(&self, statements: &[String]) -> Result<()> {
        match &self.storage.way {
            Way::Local(local) => local.batch(self.shard, statements).map(drop),
            Way::Wrangler(wrangler) => {
                let file = Scratch::with("sql", statements.join(";\n").as_bytes())?;
                let vault = self.shard.binding();
                wrangler.run(["d1", "execute", &vault, "--yes", "--file", file.path()]).map(drop)
            }
        }
    }

    /// The files of `schema/` that the database lacks.
    ///
    /// # Errors
    /// When the files can't be read, other ones have created the database, or it cannot be reached.
    pub fn pending(&self) -> Result<Vec<SchemaFile>> {
        let schema = Schema::read(&self.storage.project.root().join(schema::FOLDER))?;
        let existing = self.schema()?;
        if !schema.is_of(&existing) {
            bail!(self.incompatible());
        }
        Ok(schema.pending(&existing.applied).cloned().collect())
    }

    /// Applies files, each together with the row that records it. Returns their names.
    ///
    /// `wrangler d1 migrations apply` uses the same rows. However, it sends a file to Cloudflare as a query, which splits
    /// triggers at their semicolons; an uploaded file is not split.
    ///
    /// # Errors
    /// When the database rejects a file. Those before it stay applied.
    pub fn apply(&self, files: &[SchemaFile]) -> Result<Vec<String>> {
        let mut now = Vec::new();
        for file in files {
            let record = format!("INSERT INTO d1_migrations (name) VALUES ({})", Text(&file.name));
            if let Err(error) = self.load(&[file.sql.trim_end_matches([';', '\n']).into(), record])
            {
                // Another command may have applied it at the same time.
                if !self.schema()?.applied.contains(&file.name) {
                    return Err(error.context(format!("the file {}", file.name)));
                }
                continue;
            }
            now.push(file.name.clone());
        }
        Ok(now)
    }

    /// Why the database can't be upgraded, and how to begin again.
    fn incompatible(&self) -> String {
        let reset = match &self.storage.way {
            Way::Local(local) => format!(
                "Delete this machine's storage, with its keys and connections, and run the command again:\n  rm -rf '{}'",
                local.folder().display()
            ),
            Way::Wrangler(_) => format!(
                "Let `npm run deploy` create a new one. Either delete this one, with all keys and connections, by\n  npx wrangler d1 delete {binding}\nor change its `database_name` in wrangler.toml, so that it stays. Then write this into the table of {binding} in wrangler.toml, and run the command again:\n  database_id = \"{}\"",
                placeholder(self.shard),
                binding = self.shard.binding(),
            ),
        };
        format!(
            "the tables of this database were created by an earlier commit, and are not those of {}/. Nothing was changed. Before the first release, databases are not upgraded. {reset}",
            schema::FOLDER
        )
    }

    /// Whether any file of `schema/` has been applied.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub fn has_tables(&self) -> Result<bool> {
        Ok(!self.schema()?.applied.is_empty())
    }

    /// What the database has of the schema.
    fn schema(&self) -> Result<DatabaseSchema> {
        #[derive(Deserialize)]
        struct Applied {
            name: String,
        }
        #[derive(Deserialize)]
        struct Created {
            sql: String,
        }
        let names = "SELECT name FROM d1_migrations";
        let rows = self.try_query(&[CREATE_RECORD, names, STATEMENTS].map(String::from))?;
        Ok(DatabaseSchema {
            applied: rows.rows::<Applied>(1)?.into_iter().map(|row| row.name).collect(),
            statements: rows.rows::<Created>(2)?.into_iter().map(|row| row.sql).collect(),
        })
    }
}

impl Side for Database {
    fn run(&self, sql: &[String]) -> Result<Vec<Value>> {
        // A command line holds less than a page of rows.
        let is_long = sql.iter().map(String::len).sum::<usize>() > MAX_COMMAND;
        let (Way::Wrangler(_), true) = (&self.storage.way, is_long) else {
            return Ok(self.query(sql)?.rows);
        };
        let first_read = sql.iter().rposition(|one| !one.starts_with("SELECT"));
        let at = first_read.map_or(0, |at| at.saturating_add(1));
        let (writes, reads) = sql.split_at_checked(at).unwrap_or((sql, &[]));
        self.load(writes)?;
        let mut rows = vec![Value::Array(Vec::new()); writes.len()];
        if !reads.is_empty() {
            rows.extend(self.query(reads)?.rows);
        }
        Ok(rows)
    }

    fn number(&self) -> u16 {
        self.shard.number()
    }
}

/// The rows in wrangler's output.
fn printed(text: &str) -> Result<Answers> {
    let printed: Vec<Printed> = json_in(text, '[').context("the database's response")?;
    let size = printed.last().map_or(0, |last| last.meta.size_after);
    let rows = printed.into_iter().map(|statement| statement.results).collect();
    Ok(Answers { rows, size })
}

/// Whether the database reports that a table or a column does not exist.
fn lacks_tables(said: &str) -> bool {
    ["no such table: ", "no such column: ", "has no column named "]
        .iter()
        .any(|text| said.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_errors_about_missing_tables_and_columns() {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE t (a)").unwrap();
        for sql in [
            "SELECT 1 FROM u",
            "SELECT b FROM t",
            "UPDATE t SET b = 1",
            "INSERT INTO t (b) VALUES (1)",
        ] {
            let error = db.execute_batch(sql).unwrap_err().to_string();
            assert!(lacks_tables(&error), "{error}");
        }
        let other = db.execute_batch("SELECT FROM t").unwrap_err().to_string();
        assert!(!lacks_tables(&other), "{other}");
    }

    #[test]
    fn answers_are_read_statement_by_statement() {
        let answers = printed(
            "[{\"results\":[],\"success\":true},{\"results\":[{\"a\":1}],\"meta\":{\"size_after\":8192}}]",
        )
        .unwrap();
        assert!(answers.rows::<Value>(0).unwrap().is_empty());
        assert_eq!(answers.rows::<Value>(1).unwrap().len(), 1);
        assert!(answers.rows::<Value>(2).is_err());
        assert_eq!(answers.size, 8192);
    }
}
