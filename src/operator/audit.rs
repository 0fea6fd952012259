//! `audit list`: lists who changed what, and who read credentials.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::keys::arguments::{account, environment};
use super::shards::{NOT_MOVED_AWAY, Shards};
use super::sql::StringLiteral;
use super::storage_target::StorageTarget;
use crate::audit::Entry;
use crate::terms::{AuditAction, Environment};
use crate::util::rfc3339::{parse_to_millisecond, rfc3339};

#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// List the entries of the audit log, newest first
    List(List),
}

#[derive(Debug, Clone, Args)]
pub struct List {
    /// Only entries of this account
    #[arg(long, value_parser = account)]
    account: Option<String>,
    /// Only entries of this environment
    #[arg(long, value_parser = environment, value_name = "test|live")]
    environment: Option<Environment>,
    /// Only entries of this actor: the id of an API key, the identity of a token or a person, the id of an agent's grant, or
    /// `operator` or `service`
    #[arg(long)]
    actor: Option<String>,
    /// Only entries of this action, such as `credentials.read`. Can be repeated
    #[arg(long, value_parser = action)]
    action: Vec<AuditAction>,
    /// Only entries about the object with this id, or about the OAuth client of this platform
    #[arg(long)]
    target: Option<String>,
    /// Only entries from this time on, such as `2027-01-15T08:00:00Z`
    #[arg(long, value_parser = time)]
    from: Option<u64>,
    /// Only entries before this time
    #[arg(long, value_parser = time)]
    to: Option<u64>,
    /// The maximum number of entries
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    #[command(flatten)]
    storage_target: StorageTarget,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

fn action(text: &str) -> Result<AuditAction, String> {
    text.parse().map_err(|_| format!("expected one of {}", AuditAction::NAMES.join(", ")))
}

fn time(text: &str) -> Result<u64, String> {
    parse_to_millisecond(text).ok_or_else(|| "expected a time such as 2027-01-15T08:00:00Z".into())
}

#[derive(Debug, Deserialize)]
struct AuditRow {
    account: String,
    environment: String,
    #[serde(flatten)]
    entry: Entry,
}

/// An entry in the format of the API, with its tenant.
#[derive(Serialize)]
struct EntryOutput<'a, E> {
    account: &'a str,
    environment: &'a str,
    #[serde(flatten)]
    entry: E,
}

pub fn run(command: &Command) -> Result<ExitCode> {
    let Command::List(args) = command;
    let mut rows: Vec<AuditRow> = Shards::open(&args.storage_target)?.rows(&select(args))?;
    rows.sort_by(|one, other| other.entry.id.cmp(&one.entry.id));
    rows.truncate(usize::try_from(args.limit)?);
    print!("{}", format_entries(&rows, args.json)?);
    Ok(ExitCode::SUCCESS)
}

fn select(args: &List) -> String {
    let text = |text: &str| StringLiteral(text).to_string();
    let mut conditions = vec![
        NOT_MOVED_AWAY.to_owned(),
        // Rows that a move has copied are ignored until the account has arrived.
        "account NOT IN (SELECT account FROM account_moves WHERE step = 'arriving')".to_owned(),
    ];
    conditions.extend(args.account.as_deref().map(|name| format!("account = {}", text(name))));
    let environment = args.environment.map(|name| format!("environment = {}", text(name.as_str())));
    conditions.extend(environment);
    conditions.extend(args.actor.as_deref().map(|name| match name {
        "operator" | "service" => format!("actor_type = {}", text(name)),
        name => format!("actor = {}", text(name)),
    }));
    if !args.action.is_empty() {
        let names: Vec<String> = args.action.iter().map(|action| text(action.as_str())).collect();
        conditions.push(format!("action IN ({})", names.join(", ")));
    }
    conditions.extend(args.target.as_deref().map(|id| format!("target = {}", text(id))));
    conditions.extend(args.from.map(|at| format!("at >= {at}")));
    conditions.extend(args.to.map(|at| format!("at < {at}")));
    format!(
        "SELECT * FROM audit WHERE {} ORDER BY id DESC LIMIT {}",
        conditions.join(" AND "),
        args.limit
    )
}

fn format_entries(rows: &[AuditRow], as_json: bool) -> Result<String> {
    if as_json {
        let output = |row: &'_ AuditRow| {
            let (account, environment) = (row.account.as_str(), row.environment.as_str());
            let entry = row.entry.view(0)?;
            serde_json::to_value(EntryOutput { account, environment, entry }).ok()
        };
        let rows: Vec<Value> = rows.iter().filter_map(output).collect();
        return Ok(serde_json::to_string_pretty(&rows)? + "\n");
    }
    if rows.is_empty() {
        return Ok("There are no such entries.\n".into());
    }
    let mut text = format!(
        "{:<24}  {:<24}  {:<4}  {:<26}  {:>5}  {:<45}  ACTOR\n",
        "AT", "ACCOUNT", "ENV", "ACTION", "COUNT", "TARGET"
    );
    for AuditRow { account, environment, entry } in rows {
        let [action, actor_type, target] = [&entry.action, &entry.actor_type, &entry.target]
            .map(|value| value.as_deref().unwrap_or_default());
        // Callers choose their identities, so control characters must not reach the terminal.
        let actor = match &entry.actor {
            Some(id) => format!("{actor_type} {}", id.escape_debug()),
            None => actor_type.to_owned(),
        };
        let at = entry.at.and_then(rfc3339).unwrap_or_default();
        let count = entry.count.unwrap_or_default();
        let _ = writeln!(
            text,
            "{at:<24}  {account:<24}  {environment:<4}  {action:<26}  {count:>5}  {target:<45}  {actor}"
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::operator::d1::with_operator_actor;
    use crate::operator::schema::database;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        list: List,
    }

    fn parsed(arguments: &[&str]) -> List {
        Cli::try_parse_from([&["audit"], arguments].concat()).unwrap().list
    }

    fn actions(db: &rusqlite::Connection, arguments: &[&str]) -> Vec<String> {
        let sql = select(&parsed(arguments));
        let mut statement = db.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| row.get("action"));
        rows.unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn operator_is_the_actor_of_its_changes() {
        let db = database();
        let key = |id: &str| {
            format!(
                "INSERT INTO api_keys (hash, id, account, environment, scopes, created_at) VALUES ('{}', '{id}', 'acme', 'test', '', 1)",
                id.repeat(64)
            )
        };
        let revoke = "UPDATE api_keys SET revoked_at = 2 WHERE id = 'a'".to_owned();
        db.execute_batch(&with_operator_actor(&[key("a"), revoke]).join(";")).unwrap();
        db.execute_batch(&key("b")).unwrap();
        for (arguments, expected) in [
            (&[][..], &["key.created", "key.revoked", "key.created"][..]),
            (&["--actor", "operator"], &["key.revoked", "key.created"]),
            (&["--actor", "service"], &["key.created"]),
            (&["--action", "key.revoked", "--target", "a"], &["key.revoked"]),
            (&["--account", "other"], &[]),
            (&["--environment", "live"], &[]),
            (&["--to", "1970-01-01T00:00:02Z"], &[]),
            (&["--from", "2020-01-01T00:00:00.5Z", "--limit", "1"], &["key.created"]),
        ] {
            assert_eq!(actions(&db, arguments), expected, "{arguments:?}");
        }
    }

    #[test]
    fn control_characters_of_an_actor_are_escaped() {
        let entry = serde_json::json!({
            "id": "aud_1", "account": "acme", "environment": "test", "at": 1_800_000_000_000_u64,
            "action": "credentials.read", "actor_type": "token", "actor": "ann\u{1b}[2J", "key_id": "k",
            "target_type": "connection", "target": "c", "request_id": null, "count": 3,
        });
        let row: AuditRow = serde_json::from_value(entry).unwrap();
        let text = format_entries(&[row], false).unwrap();
        let line = text.lines().nth(1).unwrap();
        assert!(line.starts_with("2027-01-15T08:00:00.000Z  acme "), "{line}");
        assert!(line.ends_with("token ann\\u{1b}[2J"), "{line}");
        assert_eq!(format_entries(&[], true).unwrap(), "[]\n");
    }
}
