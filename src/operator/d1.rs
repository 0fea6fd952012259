//! Runs statements in the service's D1 databases, and applies the files of `schema/`.

use std::rc::Rc;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::local::Results;
use super::schema::{self, DatabaseSchema, Schema, SchemaFile};
use super::shards::file::placeholder;
use super::shards::moving::MoveDatabase;
use super::sql::{StringLiteral, interpolate};
use super::storage::{Backend, Storage};
use super::temp_file::TempFile;
use super::wrangler::parse_json_output;
use crate::audit::statements as audit;
use crate::auth::Shard;

/// The maximum length of SQL in a command line, in bytes. Linux allows 128 KiB per argument.
const MAX_COMMAND: usize = 100_000;

/// Creates the table in which `wrangler d1 migrations` records applied files. Must be identical to
/// wrangler's own statement.
const CREATE_RECORD: &str = "CREATE TABLE IF NOT EXISTS d1_migrations(\n  id INTEGER PRIMARY KEY AUTOINCREMENT, \
                          name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

/// Selects the statements that created a database's schema. Excludes the tables that `SQLite`, D1
/// and wrangler create themselves.
pub(super) const STATEMENTS: &str = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name NOT GLOB 'sqlite_*' \
                                     AND tbl_name NOT GLOB '_cf_*' AND tbl_name <> 'd1_migrations'";

#[derive(Debug, Clone)]
pub struct Database {
    pub storage: Rc<Storage>,
    pub shard: Shard,
}

#[derive(Debug, Clone)]
pub struct QueryResults {
    rows: Vec<Value>,
    /// The size of the database, in bytes.
    pub size: u64,
}

impl QueryResults {
    /// The rows of the statement with this index.
    pub fn rows<T: DeserializeOwned>(&self, statement: usize) -> Result<Vec<T>> {
        let rows = self.rows.get(statement).cloned();
        serde_json::from_value(
            rows.context("the database did not return a result for every statement")?,
        )
        .context("the database's rows")
    }
}

/// Surrounds statements with one that sets the audit's actor and one that clears it.
pub fn with_operator_actor(statements: &[String]) -> Vec<String> {
    let begin = interpolate(&audit::operator_actor());
    std::iter::once(begin)
        .chain(statements.iter().cloned())
        .chain([interpolate(&audit::clear_actor())])
        .collect()
}

/// Wrangler's output for one statement.
#[derive(Deserialize)]
struct WranglerOutput {
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
    /// Runs statements in one transaction. On this machine, creates missing tables first.
    pub fn query(&self, statements: &[String]) -> Result<QueryResults> {
        match self.try_query(statements) {
            Err(error) if lacks_tables(&format!("{error:#}")) => {
                if matches!(self.storage.backend, Backend::Wrangler(_)) {
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

    /// Like [`Self::query`], but records the operator as the actor of changes.
    pub fn change(&self, statements: &[String]) -> Result<QueryResults> {
        let mut responses = self.query(&with_operator_actor(statements))?;
        responses.rows = responses.rows.into_iter().skip(1).take(statements.len()).collect();
        Ok(responses)
    }

    fn try_query(&self, statements: &[String]) -> Result<QueryResults> {
        match &self.storage.backend {
            Backend::Local(local) => {
                let Results { results: rows, size } = local.batch(self.shard, statements)?;
                Ok(QueryResults { rows, size })
            }
            Backend::Wrangler(wrangler) => {
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
                parse_output(&text)
            }
        }
    }

    /// The rows read in the last 24 hours, as counted by Cloudflare. Returns `None` for local
    /// storage, and also for zero, because wrangler prints zero without access to Cloudflare's
    /// analytics.
    pub fn rows_read(&self) -> Result<Option<u64>> {
        #[derive(Deserialize)]
        struct Info {
            rows_read_24h: Option<u64>,
        }
        let Backend::Wrangler(wrangler) = &self.storage.backend else { return Ok(None) };
        let text = wrangler.account(["d1", "info", &self.shard.binding(), "--json"])?;
        Ok(parse_json_output::<Info>(&text, '{')?.rows_read_24h.filter(|rows| *rows > 0))
    }

    /// Runs SQL that may be too long for a command line, in one transaction.
    pub fn load(&self, statements: &[String]) -> Result<()> {
        match &self.storage.backend {
            Backend::Local(local) => local.batch(self.shard, statements).map(drop),
            Backend::Wrangler(wrangler) => {
                let file = TempFile::with("sql", statements.join(";\n").as_bytes())?;
                let vault = self.shard.binding();
                wrangler.run(["d1", "execute", &vault, "--yes", "--file", file.path()]).map(drop)
            }
        }
    }

    /// The files of `schema/` that have not been applied yet.
    pub fn pending(&self) -> Result<Vec<SchemaFile>> {
        let schema = Schema::read(&self.storage.project.code().join(schema::FOLDER))?;
        let existing = self.schema()?;
        if !schema.can_upgrade(&existing) {
            bail!(self.incompatible());
        }
        Ok(schema.pending(&existing.applied).cloned().collect())
    }

    /// Applies files, each in a transaction with the row that records it. Returns their names.
    ///
    /// `wrangler d1 migrations apply` records the same rows. However, it sends each file to
    /// Cloudflare as a query, and Cloudflare splits queries at semicolons, even inside triggers.
    /// An uploaded file is not split.
    pub fn apply(&self, files: &[SchemaFile]) -> Result<Vec<String>> {
        let mut now = Vec::new();
        for file in files {
            let record =
                format!("INSERT INTO d1_migrations (name) VALUES ({})", StringLiteral(&file.name));
            if let Err(error) = self.load(&[file.sql.trim_end_matches([';', '\n']).into(), record])
            {
                // Another command may have applied the file concurrently.
                if !self.schema()?.applied.contains(&file.name) {
                    return Err(error.context(format!("the file {}", file.name)));
                }
                continue;
            }
            now.push(file.name.clone());
        }
        Ok(now)
    }

    /// Explains that the database can't be upgraded, and how to reset it.
    fn incompatible(&self) -> String {
        let reset = match &self.storage.backend {
            Backend::Local(local) => format!(
                "Delete this machine's storage, with its keys and connections, and run the command again:\n  rm -rf '{}'",
                local.folder().display()
            ),
            Backend::Wrangler(_) => format!(
                "Let `npm run deploy` create a new one. Either delete this one, with all keys and connections, by\n  npx wrangler d1 delete {binding}\nor change its `database_name` in wrangler.toml, to keep it. Then write this into the table of {binding} in wrangler.toml, and run the command again:\n  database_id = \"{}\"",
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
    pub fn has_tables(&self) -> Result<bool> {
        Ok(!self.schema()?.applied.is_empty())
    }

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

impl MoveDatabase for Database {
    fn run(&self, sql: &[String]) -> Result<Vec<Value>> {
        // A command line is shorter than a page of rows.
        let is_long = sql.iter().map(String::len).sum::<usize>() > MAX_COMMAND;
        let (Backend::Wrangler(_), true) = (&self.storage.backend, is_long) else {
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

fn parse_output(text: &str) -> Result<QueryResults> {
    let statements: Vec<WranglerOutput> =
        parse_json_output(text, '[').context("the database's response")?;
    let size = statements.last().map_or(0, |last| last.meta.size_after);
    let rows = statements.into_iter().map(|statement| statement.results).collect();
    Ok(QueryResults { rows, size })
}

/// Whether an error reports a missing table or column.
fn lacks_tables(message: &str) -> bool {
    ["no such table: ", "no such column: ", "has no column named "]
        .iter()
        .any(|text| message.contains(text))
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
    fn parses_results_per_statement() {
        let responses = parse_output(
            "[{\"results\":[],\"success\":true},{\"results\":[{\"a\":1}],\"meta\":{\"size_after\":8192}}]",
        )
        .unwrap();
        assert!(responses.rows::<Value>(0).unwrap().is_empty());
        assert_eq!(responses.rows::<Value>(1).unwrap().len(), 1);
        assert!(responses.rows::<Value>(2).is_err());
        assert_eq!(responses.size, 8192);
    }
}
