//! The SQL files in `schema/`, which create and upgrade the tables of a database in the order of
//! their names. Each database records the names of its applied files.
//!
//! `0001_init.sql` creates all tables. Before the first release, schema changes edit that file, and
//! databases from earlier commits can't be upgraded; this module detects that. After the first
//! release, files never change. Each schema change adds a file, and databases are only upgraded,
//! never downgraded.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub const FOLDER: &str = "schema";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFile {
    /// The file name. Databases record it when they apply the file.
    pub name: String,
    pub sql: String,
}

/// The SQL files in order.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    files: Vec<SchemaFile>,
}

/// What is known about a database's schema.
#[derive(Debug, Clone, Default)]
pub struct DatabaseSchema {
    /// The names of the applied files.
    pub applied: BTreeSet<String>,
    /// The statements in `sqlite_schema` that create the tables, indexes, views and triggers.
    pub statements: Vec<String>,
}

impl Schema {
    pub fn read(folder: &Path) -> Result<Self> {
        let read = || -> Result<Vec<SchemaFile>> {
            let mut files = Vec::new();
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                let name = path.file_name().and_then(|name| name.to_str());
                let is_sql = path.extension().is_some_and(|extension| extension == "sql");
                if let Some(name) = name.filter(|_| is_sql) {
                    files.push(SchemaFile { name: name.into(), sql: fs::read_to_string(&path)? });
                }
            }
            files.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(files)
        };
        let files = read().with_context(|| format!("{}", folder.display()))?;
        Ok(Self { files })
    }

    pub fn pending(&self, applied: &BTreeSet<String>) -> impl Iterator<Item = &SchemaFile> {
        self.files.iter().filter(|file| !applied.contains(&file.name))
    }

    /// Whether a database can be upgraded, because these files created it. Also true for an empty
    /// database, and for a database of a later release, which has applied additional files.
    pub fn can_upgrade(&self, database: &DatabaseSchema) -> bool {
        let is_known = |name: &String| {
            self.files.iter().any(|file| file.name == *name)
                || self.files.last().is_some_and(|last| *name > last.name)
        };
        database.applied.iter().all(is_known)
            && match self.files.as_slice() {
                // Before the first release, the file may have changed since the database applied
                // it.
                [init] if database.applied.len() == 1 => creates(&init.sql, &database.statements),
                _ => true,
            }
    }
}

/// Whether a file consists of exactly these `CREATE` statements, except for comments and white
/// space.
fn creates(file: &str, statements: &[String]) -> bool {
    let mut rest = compact(file);
    for statement in statements {
        let statement = format!("{};", compact(statement));
        let Some((before, after)) = rest.split_once(&statement) else { return false };
        rest = format!("{before}{after}");
    }
    rest.is_empty()
}

/// Removes comments and white space from SQL, except inside quotes.
fn compact(sql: &str) -> String {
    let (mut compact, mut rest) = (String::with_capacity(sql.len()), sql);
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '\'' => {
                rest.match_indices('\'').nth(1).map_or(rest.len(), |(end, _)| end.saturating_add(1))
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            next => next.len_utf8(),
        };
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if !token.starts_with("--") && !next.is_whitespace() {
            compact.push_str(token);
        }
        rest = after;
    }
    compact
}

/// Creates an empty in-memory database with the service's tables.
#[cfg(test)]
pub(super) fn database() -> rusqlite::Connection {
    let schema = Schema::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)).unwrap();
    let db = rusqlite::Connection::open_in_memory().unwrap();
    for file in schema.pending(&BTreeSet::new()) {
        db.execute_batch(&file.sql).unwrap();
    }
    db
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: &str = "-- Things.\nCREATE TABLE things (\n  -- Any; kind.\n  kind TEXT CHECK (kind <> '-- a  b')\n) STRICT;\n\nCREATE UNIQUE INDEX things_by_kind\n  ON things (kind);\n\nCREATE TRIGGER things_inserted AFTER INSERT ON things BEGIN\n  DELETE FROM things WHERE kind = ';';\n  DELETE FROM things WHERE kind = 'x';\nEND;\n";

    fn schema(files: &[(&str, &str)]) -> Schema {
        let file = |(name, sql): &(&str, &str)| SchemaFile {
            name: (*name).to_owned(),
            sql: (*sql).to_owned(),
        };
        Schema { files: files.iter().map(file).collect() }
    }

    /// A database that applied files with these names and contents.
    fn created(files: &[(&str, &str)]) -> DatabaseSchema {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        for (_, sql) in files {
            db.execute_batch(sql).unwrap();
        }
        DatabaseSchema {
            applied: files.iter().map(|(name, _)| (*name).to_owned()).collect(),
            statements: statements(&db),
        }
    }

    fn statements(db: &rusqlite::Connection) -> Vec<String> {
        let mut read = db.prepare(super::super::d1::STATEMENTS).unwrap();
        let rows = read.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn pending_files_are_the_missing_ones_in_order() {
        let schema = schema(&[("0001_init.sql", INIT), ("0002_a.sql", ""), ("0003_b.sql", "")]);
        let pending = |applied: &[&str]| -> Vec<String> {
            let applied = applied.iter().map(|name| (*name).to_owned()).collect();
            schema.pending(&applied).map(|file| file.name.clone()).collect()
        };
        assert_eq!(pending(&[]), ["0001_init.sql", "0002_a.sql", "0003_b.sql"]);
        assert_eq!(pending(&["0001_init.sql"]), ["0002_a.sql", "0003_b.sql"]);
        assert_eq!(pending(&["0001_init.sql", "0002_a.sql", "0003_b.sql"]), [""; 0]);
    }

    #[test]
    fn database_with_the_same_schema_can_be_upgraded() {
        let schema = schema(&[("0001_init.sql", INIT)]);
        assert!(schema.can_upgrade(&DatabaseSchema::default()));
        assert!(schema.can_upgrade(&created(&[("0001_init.sql", INIT)])));
        // Differences in comments and white space are allowed.
        let reformatted = INIT.replace("-- Things.", "").replace("\n  -- Any; kind.\n  ", " ");
        assert_ne!(INIT, reformatted);
        assert!(schema.can_upgrade(&created(&[("0001_init.sql", &reformatted)])));
    }

    #[test]
    fn database_with_a_changed_schema_cannot_be_upgraded() {
        let schema = schema(&[("0001_init.sql", INIT)]);
        for (from, to) in [
            ("kind TEXT", "kind TEXT NOT NULL"),
            ("'-- a  b'", "'-- a b'"),
            ("UNIQUE ", ""),
            ("'x'", "'y'"),
            ("CREATE TABLE", "CREATE TABLE more (a); CREATE TABLE"),
            ("CREATE UNIQUE INDEX things_by_kind\n  ON things (kind);", ""),
        ] {
            let other = INIT.replace(from, to);
            assert_ne!(INIT, other);
            assert!(!schema.can_upgrade(&created(&[("0001_init.sql", &other)])), "{to}");
        }
    }

    #[test]
    fn database_with_unknown_files_cannot_be_upgraded() {
        let schema = schema(&[("0001_init.sql", INIT)]);
        let former = [("0001_api_keys.sql", INIT), ("0002_connections.sql", "")];
        assert!(!schema.can_upgrade(&created(&former)));
        assert!(!schema.can_upgrade(&created(&former[..1])));
    }

    #[test]
    fn after_a_release_databases_of_earlier_and_later_releases_are_accepted() {
        let add = "ALTER TABLE things ADD COLUMN size INTEGER";
        let files = [("0001_init.sql", INIT), ("0002_size.sql", add), ("0003_more.sql", "")];
        for known in 1..=files.len() {
            for applied in 1..=files.len() {
                let can_upgrade = schema(&files[..known]).can_upgrade(&created(&files[..applied]));
                assert!(can_upgrade, "{known} files; the database has applied {applied}");
            }
        }
    }

    #[test]
    fn schema_lines_fit_120_columns() {
        let schema = Schema::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)).unwrap();
        let lines = schema.files.iter().flat_map(|file| file.sql.lines());
        let long: Vec<&str> = lines.filter(|line| line.chars().count() > 120).collect();
        assert_eq!(long, [""; 0]);
    }

    #[test]
    fn new_database_has_the_committed_schema() {
        let schema = Schema::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)).unwrap();
        let applied = schema.files.iter().map(|file| file.name.clone()).collect();
        let statements = statements(&database());
        assert!(schema.can_upgrade(&DatabaseSchema { applied, statements: statements.clone() }));
        let [init] = schema.files.as_slice() else { return };
        assert!(creates(&init.sql, &statements));
        assert!(!creates(&init.sql, &statements[1..]));
    }
}
