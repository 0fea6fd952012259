//! The tables with rows of accounts, and the SQL that reads, writes and counts these rows in both
//! databases of a move.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::moving::MoveDatabase;
use crate::operator::sql::StringLiteral;

/// The maximum length of a statement, in bytes. D1 accepts 100,000.
const MAX_SQL: usize = 90_000;

/// A table with rows of accounts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The columns that identify a row within an account.
    pub(super) key: &'static [&'static str],
    /// The column that contains an event id.
    event: Option<&'static str>,
}

/// The tables in the order in which their rows are written.
pub(super) const TABLES: [Table; 17] = [
    Table { name: "webhooks", key: &["environment", "id"], event: None },
    Table { name: "oauth_clients", key: &["environment", "platform", "name"], event: None },
    Table { name: "connections", key: &["environment", "id"], event: None },
    Table { name: "credentials", key: &["environment", "connection_id"], event: None },
    Table { name: "revocations", key: &["environment", "connection_id"], event: None },
    Table { name: "connect_attempts", key: &["id"], event: None },
    Table { name: "events", key: &["environment", "id"], event: Some("id") },
    Table { name: "deliveries", key: &["webhook_id", "event_id"], event: Some("event_id") },
    Table { name: "agent_endpoints", key: &["id"], event: None },
    Table { name: "agent_grants", key: &["id"], event: None },
    Table { name: "agent_approvals", key: &["id"], event: None },
    Table { name: "console_sign_ins", key: &["id"], event: None },
    Table { name: "console_sessions", key: &["id"], event: None },
    Table { name: "branding", key: &["environment"], event: None },
    Table { name: "audit", key: &["environment", "id"], event: None },
    Table { name: "usage", key: &["environment", "id"], event: None },
    // Last, because if an account moves back, its old keys in this database forward to its current
    // database.
    Table { name: "api_keys", key: &["hash"], event: None },
];

/// Tables whose rows are derived by triggers, with the SQL aggregate that counts an account's rows.
const DERIVED: [(&str, &str); 3] = [
    ("connection_tags", "count(*)"),
    ("connection_counts", "count(*)"),
    ("connection_counts", "ifnull(sum(n), 0)"),
];

/// The database from which rows are read. The number is the shift: event ids in the target are
/// larger by it.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowView {
    Source(u64),
    Target(u64),
}

impl RowView {
    /// The number to add to an event id of this database to get the id in the target.
    fn to_target(self) -> i64 {
        match self {
            Self::Source(shift) => to_signed(shift),
            Self::Target(_) => 0,
        }
    }

    /// The number to add to an event id of this database to get the id in the source.
    fn to_source(self) -> i64 {
        match self {
            Self::Source(_) => 0,
            Self::Target(shift) => to_signed(shift).saturating_neg(),
        }
    }

    /// The number to add to an event id of the source to get the id in this database.
    fn offset_from_source(self) -> i64 {
        self.to_source().saturating_neg()
    }
}

/// Never saturates, because ids are far below `i64::MAX`.
fn to_signed(shift: u64) -> i64 {
    i64::try_from(shift).unwrap_or(i64::MAX)
}

/// A row as SQL literals.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct RowCopy {
    /// The primary key of the row in the source, as a JSON array.
    pub(super) key: String,
    /// The values of the row, as comma-separated literals.
    pub(super) row: String,
}

pub(super) fn rows<T: DeserializeOwned>(responses: &[Value], at: usize) -> Result<Vec<T>> {
    let rows = responses
        .get(at)
        .cloned()
        .context("the database did not return a result for every statement")?;
    serde_json::from_value(rows).context("the database's rows")
}

pub(super) fn one<T: DeserializeOwned>(responses: &[Value], at: usize) -> Result<T> {
    rows(responses, at)?.pop().context("the database returned no counts")
}

/// The columns to copy from each table.
pub(super) fn columns(database: &impl MoveDatabase) -> Result<Vec<Vec<String>>> {
    #[derive(Deserialize)]
    struct Column {
        name: String,
    }
    let sql = TABLES
        .map(|table| format!("SELECT name FROM pragma_table_info('{}') ORDER BY cid", table.name));
    let responses = database.run(&sql)?;
    let columns_of = |(at, table): (usize, &Table)| {
        let names = rows::<Column>(&responses, at)?.into_iter().map(|column| column.name);
        // Each database assigns its own numbers to connections and audit entries.
        let is_numbered = matches!(table.name, "connections" | "audit");
        let names: Vec<String> = names.filter(|name| !(is_numbered && name == "seq")).collect();
        ensure!(!names.is_empty(), "the database has no table {}", table.name);
        Ok(names)
    };
    TABLES.iter().enumerate().map(columns_of).collect()
}

#[derive(Deserialize)]
pub(super) struct Number {
    pub(super) n: u64,
}

impl Table {
    /// The SQL condition that selects the account's rows.
    pub(super) fn account_condition(self, account: &str) -> String {
        let account = StringLiteral(account);
        if self.name == "deliveries" {
            format!("webhook_id IN (SELECT id FROM webhooks WHERE account = {account})")
        } else {
            format!("account = {account}")
        }
    }

    /// A column as SQL. Adds `shift` if the column contains an event id.
    fn shifted_column(self, column: &str, shift: i64) -> String {
        if self.event == Some(column) && shift != 0 {
            format!("{column} + ({shift})")
        } else {
            column.to_owned()
        }
    }

    /// The SQL condition that selects the account's rows among those found by key. The unary plus
    /// keeps `SQLite` from using an index on the account, which would scan all of its rows.
    pub(super) fn account_condition_after_lookup(self, account: &str) -> String {
        let plus = if self.lookup_columns().len() == 1 { "+" } else { "" };
        format!("{plus}{}", self.account_condition(account))
    }

    /// The table as SQL, with an index hint where `SQLite` might choose a worse index.
    pub(super) fn source(self) -> &'static str {
        match self.name {
            "connections" => "connections INDEXED BY connections_by_id",
            "audit" => "audit INDEXED BY audit_listed",
            name => name,
        }
    }

    /// The SQL that selects rows as SQL literals.
    pub(super) fn select(self, columns: &[String], view: RowView, condition: &str) -> String {
        self.rows(&self.values(columns, view), view, condition)
    }

    /// SQL expressions for the values that the columns have in the target.
    fn values(self, columns: &[String], view: RowView) -> Vec<String> {
        let value =
            |column: &String| format!("quote({})", self.shifted_column(column, view.to_target()));
        columns.iter().map(value).collect()
    }

    fn rows(self, values: &[String], view: RowView, condition: &str) -> String {
        let key: Vec<String> =
            self.key.iter().map(|column| self.shifted_column(column, view.to_source())).collect();
        format!(
            "SELECT json_array({}) AS key, {} AS row FROM {} WHERE {condition} ORDER BY {}",
            key.join(", "),
            values.join(" || ', ' || "),
            self.source(),
            self.key.join(", ")
        )
    }

    /// The SQL that selects the next `limit` rows of the account after the key `after`, in key
    /// order.
    pub(super) fn page(
        self,
        columns: &[String],
        view: RowView,
        (account, after): (&str, Option<&str>),
        limit: usize,
    ) -> Result<String> {
        self.range(&self.values(columns, view), view, (account, after, None), Some(limit))
    }

    /// The SQL that selects the account's rows between two keys, including the second key, for
    /// comparing them with those of the other database. For connections, this includes the number
    /// of tag rows.
    pub(super) fn select_for_comparison(
        self,
        columns: &[String],
        view: RowView,
        row_range: (&str, Option<&str>, Option<&str>),
        limit: Option<usize>,
    ) -> Result<String> {
        let mut values = self.values(columns, view);
        if self.name == "connections" {
            values.push("(SELECT count(*) FROM connection_tags t WHERE t.account = connections.account AND t.environment = connections.environment AND t.active = connections.active AND t.tag IN (SELECT value FROM json_each(connections.tags)) AND t.created_at = connections.created_at AND t.id = connections.id AND t.seq = connections.seq)".to_owned());
        }
        self.range(&values, view, row_range, limit)
    }

    fn range(
        self,
        values: &[String],
        view: RowView,
        (account, after, until): (&str, Option<&str>, Option<&str>),
        limit: Option<usize>,
    ) -> Result<String> {
        let own = self.account_condition(account);
        let limit = limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
        let parts: Vec<String> = self
            .key_range(view, after, until)?
            .iter()
            .map(|condition| {
                let sql = self.rows(values, view, &format!("{own}{condition}"));
                format!("SELECT * FROM ({sql}{limit})")
            })
            .collect();
        Ok(format!("{}{limit}", parts.join(" UNION ALL ")))
    }

    /// The SQL conditions that select the keys after `after` and up to `until`, as consecutive
    /// ranges in key order. Both are keys of the source. A comparison of row values would not use
    /// the index if the key ends with the rowid.
    fn key_range(
        self,
        view: RowView,
        after: Option<&str>,
        until: Option<&str>,
    ) -> Result<Vec<String>> {
        let literals = |key: &str| self.literals(key, view);
        let after = after.map(literals).transpose()?;
        let until = until.map(literals).transpose()?;
        let [first, rest @ ..] = self.key else { return Ok(Vec::new()) };
        let Some(second) = rest.first() else {
            let from = after.map(|[after, _]| format!(" AND {first} > {after}"));
            let to = until.map(|[until, _]| format!(" AND {first} <= {until}"));
            return Ok(vec![from.unwrap_or_default() + &to.unwrap_or_default()]);
        };
        Ok(match (after, until) {
            (None, None) => vec![String::new()],
            (Some([a, b]), None) => vec![
                format!(" AND {first} = {a} AND {second} > {b}"),
                format!(" AND {first} > {a}"),
            ],
            (None, Some([c, d])) => vec![
                format!(" AND {first} < {c}"),
                format!(" AND {first} = {c} AND {second} <= {d}"),
            ],
            (Some([a, b]), Some([c, d])) if a == c => {
                vec![format!(" AND {first} = {a} AND {second} > {b} AND {second} <= {d}")]
            }
            (Some([a, b]), Some([c, d])) => vec![
                format!(" AND {first} = {a} AND {second} > {b}"),
                format!(" AND {first} > {a} AND {first} < {c}"),
                format!(" AND {first} = {c} AND {second} <= {d}"),
            ],
        })
    }

    /// The values of a key of the source as literals. A key has one or two values; without a second
    /// value, that literal is empty.
    fn literals(self, key: &str, view: RowView) -> Result<[String; 2]> {
        let parsed: Vec<Value> = serde_json::from_str(key)?;
        let literal = |at: usize| -> Result<String> {
            Ok(match (parsed.get(at), self.key.get(at)) {
                (Some(Value::String(text)), _) => StringLiteral(text).to_string(),
                (Some(value), Some(column)) => {
                    let number = value.as_i64().context("the key of a row")?;
                    let shift =
                        if self.event == Some(*column) { view.offset_from_source() } else { 0 };
                    number.saturating_add(shift).to_string()
                }
                _ => String::new(),
            })
        };
        Ok([literal(0)?, literal(1)?])
    }

    /// The last columns of the key, which are used for looking up rows. `SQLite` 3.40 does not use
    /// an index on several columns if one of them is the rowid.
    pub(super) fn lookup_columns(&self) -> &[&'static str] {
        if self.name == "events" { &["id"] } else { self.key }
    }

    /// The SQL condition that selects rows by their keys in the source. Adds `shift` to event ids.
    pub(super) fn key_condition(self, account: &str, keys: &[&str], shift: u64) -> Result<String> {
        let parsed: Vec<Value> =
            keys.iter().map(|key| serde_json::from_str(key)).collect::<Result<_, _>>()?;
        let all = Value::from(parsed).to_string();
        let skipped = self.key.len().saturating_sub(self.lookup_columns().len());
        let own = || self.key.iter().enumerate().skip(skipped);
        let columns: Vec<&str> = own().map(|(_, column)| *column).collect();
        let parts: Vec<String> = own()
            .map(|(at, column)| {
                let part = format!("json_extract(value, '$[{at}]')");
                if self.event == Some(*column) { format!("{part} + {shift}") } else { part }
            })
            .collect();
        let mut condition = format!(
            "{} AND ({}) IN (SELECT {} FROM json_each({}))",
            self.account_condition_after_lookup(account),
            columns.join(", "),
            parts.join(", "),
            StringLiteral(&all)
        );
        if let ("deliveries", Some(event)) = (self.name, parts.last()) {
            // For a pair of columns, SQLite uses only the index's first column. This condition
            // makes it use the second one, too.
            let keys = StringLiteral(&all);
            condition =
                format!("{condition} AND event_id IN (SELECT {event} FROM json_each({keys}))");
        }
        Ok(condition)
    }

    /// The SQL that inserts or updates rows.
    pub(super) fn write(self, columns: &[String], copies: &[RowCopy]) -> Result<Vec<String>> {
        let set: Vec<String> =
            columns.iter().map(|column| format!("{column} = excluded.{column}")).collect();
        let begin = format!("INSERT INTO {} ({}) VALUES ", self.name, columns.join(", "));
        let end = format!(" ON CONFLICT ({}) DO UPDATE SET {}", self.conflict(), set.join(", "));
        let (mut all, mut sql) = (Vec::new(), String::new());
        for copied in copies {
            let values = format!("({})", copied.row);
            let fixed = begin.len().saturating_add(end.len());
            ensure!(
                values.len().saturating_add(fixed) < 100_000,
                "the row {} of {} exceeds D1's limit for a statement: the account can't be moved",
                copied.key,
                self.name
            );
            if sql.is_empty() {
                sql.clone_from(&begin);
            } else if sql.len().saturating_add(values.len()).saturating_add(end.len()) > MAX_SQL {
                all.push(std::mem::replace(&mut sql, begin.clone()) + &end);
            } else {
                sql += ", ";
            }
            sql += &values;
        }
        if !sql.is_empty() {
            all.push(sql + &end);
        }
        Ok(all)
    }

    /// The columns of the unique index that identifies a row.
    fn conflict(self) -> &'static str {
        match self.name {
            "webhooks" | "connections" | "audit" | "usage" => "account, environment, id",
            "oauth_clients" => "account, environment, platform, name",
            "branding" => "account, environment",
            "credentials" | "revocations" => "account, environment, connection_id",
            "deliveries" => "webhook_id, event_id",
            "api_keys" => "hash",
            _ => "id",
        }
    }
}

/// The SQL statements that count the account's rows in each table.
pub(super) fn count(account: &str) -> Vec<String> {
    let copied =
        TABLES.iter().map(|table| (table.name, "count(*)", table.account_condition(account)));
    let own = format!("account = {}", StringLiteral(account));
    let derived = DERIVED.iter().map(|(name, what)| (*name, *what, own.clone()));
    copied
        .chain(derived)
        .map(|(name, what, condition)| format!("SELECT {what} AS n FROM {name} WHERE {condition}"))
        .collect()
}

/// Reads the results of the statements of [`count`]. `first` is the index of their first result.
pub(super) fn read_counts(responses: &[Value], first: usize) -> Result<Vec<u64>> {
    let tables = TABLES.len().saturating_add(DERIVED.len());
    (first..first.saturating_add(tables)).map(|at| Ok(one::<Number>(responses, at)?.n)).collect()
}

/// The tables with their key columns.
pub fn tables() -> [(&'static str, &'static [&'static str]); 17] {
    TABLES.map(|table| (table.name, table.key))
}
