//! The rows of an account, and the SQL that reads, writes and counts them in any database.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::moving::Side;
use crate::operator::sql::Text;

/// The longest statement: D1 takes 100,000 bytes.
const MAX_SQL: usize = 90_000;

/// A table of an account's rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The columns that tell the rows of an account apart.
    pub(super) key: &'static [&'static str],
    /// The column that holds the id of an event.
    event: Option<&'static str>,
}

/// The tables, in the order in which rows are written.
pub(super) const TABLES: [Table; 13] = [
    Table { name: "webhooks", key: &["environment", "id"], event: None },
    Table { name: "oauth_clients", key: &["environment", "platform"], event: None },
    Table { name: "connections", key: &["environment", "id"], event: None },
    Table { name: "credentials", key: &["environment", "connection_id"], event: None },
    Table { name: "revocations", key: &["environment", "connection_id"], event: None },
    Table { name: "connect_attempts", key: &["id"], event: None },
    Table { name: "events", key: &["environment", "id"], event: Some("id") },
    Table { name: "deliveries", key: &["webhook_id", "event_id"], event: Some("event_id") },
    Table { name: "agent_endpoints", key: &["id"], event: None },
    Table { name: "agent_grants", key: &["id"], event: None },
    Table { name: "agent_approvals", key: &["id"], event: None },
    Table { name: "audit", key: &["environment", "id"], event: None },
    // Last: while an account moves back, the keys that it had here lead to where it is.
    Table { name: "api_keys", key: &["hash"], event: None },
];

/// What follows from these rows by triggers, counted too: tables, and what is counted in them.
const DERIVED: [(&str, &str); 3] = [
    ("connection_tags", "count(*)"),
    ("connection_counts", "count(*)"),
    ("connection_counts", "ifnull(sum(n), 0)"),
];

/// Where rows are read. An event's id in the target is larger by this number than in the source.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen {
    Source(u64),
    Target(u64),
}

impl Seen {
    /// What is added to an id here to get that of the target.
    fn to_target(self) -> i64 {
        match self {
            Self::Source(shift) => signed(shift),
            Self::Target(_) => 0,
        }
    }

    /// What is added to an id here to get that of the source.
    fn to_source(self) -> i64 {
        match self {
            Self::Source(_) => 0,
            Self::Target(shift) => signed(shift).saturating_neg(),
        }
    }

    /// What is added to an id of the source to get the one here.
    fn of_source(self) -> i64 {
        self.to_source().saturating_neg()
    }
}

/// Ids are far smaller than this.
fn signed(shift: u64) -> i64 {
    i64::try_from(shift).unwrap_or(i64::MAX)
}

/// A row of a table as SQL.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Copied {
    /// Its key in the source: a JSON array.
    pub(super) key: String,
    /// Its values, as literals between commas.
    pub(super) row: String,
}

pub(super) fn rows<T: DeserializeOwned>(answers: &[Value], at: usize) -> Result<Vec<T>> {
    let rows = answers
        .get(at)
        .cloned()
        .context("the database did not return a result for every statement")?;
    serde_json::from_value(rows).context("the database's rows")
}

pub(super) fn one<T: DeserializeOwned>(answers: &[Value], at: usize) -> Result<T> {
    rows(answers, at)?.pop().context("the database counts nothing")
}

/// The columns that are copied, of each table.
pub(super) fn columns(side: &impl Side) -> Result<Vec<Vec<String>>> {
    #[derive(Deserialize)]
    struct Column {
        name: String,
    }
    let sql = TABLES
        .map(|table| format!("SELECT name FROM pragma_table_info('{}') ORDER BY cid", table.name));
    let answers = side.run(&sql)?;
    let of = |(at, table): (usize, &Table)| {
        let names = rows::<Column>(&answers, at)?.into_iter().map(|column| column.name);
        // A connection gets a number of its own in each database, and so does an entry of the audit.
        let is_numbered = matches!(table.name, "connections" | "audit");
        let names: Vec<String> = names.filter(|name| !(is_numbered && name == "seq")).collect();
        ensure!(!names.is_empty(), "the database has no table {}", table.name);
        Ok(names)
    };
    TABLES.iter().enumerate().map(of).collect()
}

/// A number in a row.
#[derive(Deserialize)]
pub(super) struct Number {
    pub(super) n: u64,
}

impl Table {
    /// The condition on the account's rows.
    pub(super) fn of(self, account: &str) -> String {
        let account = Text(account);
        if self.name == "deliveries" {
            format!("webhook_id IN (SELECT id FROM webhooks WHERE account = {account})")
        } else {
            format!("account = {account}")
        }
    }

    /// A column as SQL, with `shift` added if it holds the id of an event.
    fn shifted(self, column: &str, shift: i64) -> String {
        if self.event == Some(column) && shift != 0 {
            format!("{column} + ({shift})")
        } else {
            column.to_owned()
        }
    }

    /// The condition on the account's rows where others look the rows up: `SQLite` prefers an index over the account to a key
    /// of one column, and would go through all rows of the account.
    pub(super) fn of_those_found(self, account: &str) -> String {
        let plus = if self.names().len() == 1 { "+" } else { "" };
        format!("{plus}{}", self.of(account))
    }

    /// The table, with the index by which rows are found by their key where `SQLite` may take another one.
    pub(super) fn source(self) -> &'static str {
        match self.name {
            "connections" => "connections INDEXED BY connections_by_id",
            "audit" => "audit INDEXED BY audit_listed",
            name => name,
        }
    }

    /// The SQL that selects rows as SQL.
    pub(super) fn select(self, columns: &[String], of: Seen, condition: &str) -> String {
        self.rows(&self.values(columns, of), of, condition)
    }

    /// Values as the target has them.
    fn values(self, columns: &[String], of: Seen) -> Vec<String> {
        let value = |column: &String| format!("quote({})", self.shifted(column, of.to_target()));
        columns.iter().map(value).collect()
    }

    fn rows(self, values: &[String], of: Seen, condition: &str) -> String {
        let key: Vec<String> =
            self.key.iter().map(|column| self.shifted(column, of.to_source())).collect();
        format!(
            "SELECT json_array({}) AS key, {} AS row FROM {} WHERE {condition} ORDER BY {}",
            key.join(", "),
            values.join(" || ', ' || "),
            self.source(),
            self.key.join(", ")
        )
    }

    /// The SQL that selects the next `limit` rows of the account, after the one with the key `after`, in the order of keys.
    pub(super) fn page(
        self,
        columns: &[String],
        of: Seen,
        (account, after): (&str, Option<&str>),
        limit: usize,
    ) -> Result<String> {
        self.range(&self.values(columns, of), of, (account, after, None), Some(limit))
    }

    /// The SQL that selects the account's rows between two keys, the second one included, to compare them with those of
    /// the other database: with how many of a connection's tags are found.
    pub(super) fn compared(
        self,
        columns: &[String],
        of: Seen,
        place: (&str, Option<&str>, Option<&str>),
        limit: Option<usize>,
    ) -> Result<String> {
        let mut values = self.values(columns, of);
        if self.name == "connections" {
            values.push("(SELECT count(*) FROM connection_tags t WHERE t.account = connections.account AND t.environment = connections.environment AND t.active = connections.active AND t.tag IN (SELECT value FROM json_each(connections.tags)) AND t.created_at = connections.created_at AND t.id = connections.id AND t.seq = connections.seq)".to_owned());
        }
        self.range(&values, of, place, limit)
    }

    fn range(
        self,
        values: &[String],
        of: Seen,
        (account, after, until): (&str, Option<&str>, Option<&str>),
        limit: Option<usize>,
    ) -> Result<String> {
        let own = self.of(account);
        let limit = limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
        let parts: Vec<String> = self
            .between(of, after, until)?
            .iter()
            .map(|condition| {
                let sql = self.rows(values, of, &format!("{own}{condition}"));
                format!("SELECT * FROM ({sql}{limit})")
            })
            .collect();
        Ok(format!("{}{limit}", parts.join(" UNION ALL ")))
    }

    /// The conditions on keys between two of the source, one after the other in the order of keys. Compared as rows, keys
    /// that end in the number of the row are not found by an index.
    fn between(self, of: Seen, after: Option<&str>, until: Option<&str>) -> Result<Vec<String>> {
        let literals = |key: &str| self.literals(key, of);
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

    /// The values of a key of the source, as literals. A key has one or two.
    fn literals(self, key: &str, of: Seen) -> Result<[String; 2]> {
        let parsed: Vec<Value> = serde_json::from_str(key)?;
        let literal = |at: usize| -> Result<String> {
            Ok(match (parsed.get(at), self.key.get(at)) {
                (Some(Value::String(text)), _) => Text(text).to_string(),
                (Some(value), Some(column)) => {
                    let number = value.as_i64().context("the key of a row")?;
                    let shift = if self.event == Some(*column) { of.of_source() } else { 0 };
                    number.saturating_add(shift).to_string()
                }
                _ => String::new(),
            })
        };
        Ok([literal(0)?, literal(1)?])
    }

    /// The last columns of the key, by which rows are looked up. `SQLite` (3.40) finds no row by several columns when one of
    /// them is the number of the row.
    pub(super) fn names(&self) -> &[&'static str] {
        if self.name == "events" { &["id"] } else { self.key }
    }

    /// The condition on rows with these keys of the source, as they are after adding `shift`.
    pub(super) fn with_keys(self, account: &str, keys: &[&str], shift: u64) -> Result<String> {
        let parsed: Vec<Value> =
            keys.iter().map(|key| serde_json::from_str(key)).collect::<Result<_, _>>()?;
        let all = Value::from(parsed).to_string();
        let skipped = self.key.len().saturating_sub(self.names().len());
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
            self.of_those_found(account),
            columns.join(", "),
            parts.join(", "),
            Text(&all)
        );
        if let ("deliveries", Some(event)) = (self.name, parts.last()) {
            // As a row, the pair is found by its first column only.
            let keys = Text(&all);
            condition =
                format!("{condition} AND event_id IN (SELECT {event} FROM json_each({keys}))");
        }
        Ok(condition)
    }

    /// The SQL that writes rows, whether or not they are there.
    pub(super) fn write(self, columns: &[String], copies: &[Copied]) -> Result<Vec<String>> {
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
                "the row {} of {} is larger than D1 takes in a statement: the account can't be moved",
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

    /// The columns of the unique index by which a row is found again.
    fn conflict(self) -> &'static str {
        match self.name {
            "webhooks" | "connections" | "audit" => "account, environment, id",
            "oauth_clients" => "account, environment, platform",
            "credentials" | "revocations" => "account, environment, connection_id",
            "deliveries" => "webhook_id, event_id",
            "api_keys" => "hash",
            _ => "id",
        }
    }
}

/// The SQL that counts the account's rows, table by table.
pub(super) fn count(account: &str) -> Vec<String> {
    let of = TABLES.iter().map(|table| (table.name, "count(*)", table.of(account)));
    let own = format!("account = {}", Text(account));
    let derived = DERIVED.iter().map(|(name, what)| (*name, *what, own.clone()));
    of.chain(derived)
        .map(|(name, what, condition)| format!("SELECT {what} AS n FROM {name} WHERE {condition}"))
        .collect()
}

/// What [`count`] counted, from this statement on.
pub(super) fn counted(answers: &[Value], first: usize) -> Result<Vec<u64>> {
    let tables = TABLES.len().saturating_add(DERIVED.len());
    (first..first.saturating_add(tables)).map(|at| Ok(one::<Number>(answers, at)?.n)).collect()
}

/// The tables' names, each with the columns that tell the rows of an account apart.
#[must_use]
pub fn tables() -> [(&'static str, &'static [&'static str]); 13] {
    TABLES.map(|table| (table.name, table.key))
}
