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
pub(super) const TABLES: [Table; 9] = [
    Table { name: "webhooks", key: &["environment", "id"], event: None },
    Table { name: "oauth_clients", key: &["environment", "platform"], event: None },
    Table { name: "connections", key: &["environment", "id"], event: None },
    Table { name: "credentials", key: &["environment", "connection_id"], event: None },
    Table { name: "revocations", key: &["environment", "connection_id"], event: None },
    Table { name: "connect_attempts", key: &["id"], event: None },
    Table { name: "events", key: &["environment", "id"], event: Some("id") },
    Table { name: "deliveries", key: &["webhook_id", "event_id"], event: Some("event_id") },
    // Last: while an account moves back, the keys that it had here lead to where it is.
    Table { name: "api_keys", key: &["hash"], event: None },
];

/// What follows from these rows by triggers, counted too.
const DERIVED: [&str; 2] = ["connection_tags", "connection_counts"];

/// A row of a table as SQL.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Copied {
    /// Its key in the source: a JSON array.
    pub(super) key: String,
    /// Its values, as literals between commas.
    pub(super) row: String,
}

pub(super) fn rows<T: DeserializeOwned>(answers: &[Value], at: usize) -> Result<Vec<T>> {
    let rows = answers.get(at).cloned().context("the database did not answer every statement")?;
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
        // A connection gets a number of its own in each database.
        let names: Vec<String> =
            names.filter(|name| !(table.name == "connections" && name == "seq")).collect();
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

    /// A column's value, as it is in the target.
    fn value(self, column: &str, shift: u64) -> String {
        if self.event == Some(column) { format!("{column} + {shift}") } else { column.to_owned() }
    }

    /// The condition on the account's rows where others look the rows up: `SQLite` prefers an index over the account to a key
    /// of one column, and would go through all rows of the account.
    pub(super) fn of_those_found(self, account: &str) -> String {
        let plus = if self.names().len() == 1 { "+" } else { "" };
        format!("{plus}{}", self.of(account))
    }

    /// The table, with the index by which rows are found by their key where `SQLite` may take another one.
    pub(super) fn source(self) -> &'static str {
        if self.name == "connections" {
            "connections INDEXED BY connections_by_id"
        } else {
            self.name
        }
    }

    /// The SQL that selects rows as SQL.
    pub(super) fn select(self, columns: &[String], shift: u64, condition: &str) -> String {
        let values: Vec<String> =
            columns.iter().map(|column| format!("quote({})", self.value(column, shift))).collect();
        let key = self.key.join(", ");
        format!(
            "SELECT json_array({key}) AS key, {} AS row FROM {} WHERE {condition} ORDER BY {key}",
            values.join(" || ', ' || "),
            self.source()
        )
    }

    /// The SQL that selects the next `limit` rows of the account, after the one with the key `after`, in the order of keys.
    pub(super) fn page(
        self,
        columns: &[String],
        shift: u64,
        (account, after): (&str, Option<&str>),
        limit: usize,
    ) -> String {
        let of = self.of(account);
        let part = |condition: &str| {
            let sql = self.select(columns, shift, &format!("{of}{condition}"));
            format!("SELECT * FROM ({sql} LIMIT {limit})")
        };
        let Some(after) = after else { return part("") };
        let value = |at: usize| format!("json_extract({}, '$[{at}]')", Text(after));
        match self.key {
            // Two ranges: compared as rows, keys that end in the number of the row are not found by an index.
            [first, second] => {
                let same = format!(" AND {first} = {} AND {second} > {}", value(0), value(1));
                let others = format!(" AND {first} > {}", value(0));
                format!("{} UNION ALL {} LIMIT {limit}", part(&same), part(&others))
            }
            columns => part(&format!(" AND {} > {}", columns.join(", "), value(0))),
        }
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
            "webhooks" | "connections" => "account, environment, id",
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
    let of = TABLES.iter().map(|table| (table.name, table.of(account)));
    let derived = DERIVED.iter().map(|name| (*name, format!("account = {}", Text(account))));
    of.chain(derived)
        .map(|(name, condition)| format!("SELECT count(*) AS n FROM {name} WHERE {condition}"))
        .collect()
}

/// What [`count`] counted, from this statement on.
pub(super) fn counted(answers: &[Value], first: usize) -> Result<Vec<u64>> {
    let tables = TABLES.len().saturating_add(DERIVED.len());
    (first..first.saturating_add(tables)).map(|at| Ok(one::<Number>(answers, at)?.n)).collect()
}

/// The tables' names, each with the columns that tell the rows of an account apart.
#[must_use]
pub fn tables() -> [(&'static str, &'static [&'static str]); 9] {
    TABLES.map(|table| (table.name, table.key))
}
