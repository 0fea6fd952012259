//! `audit list`: who changed what, and who read credentials.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};

use super::keys::arguments::{account, environment};
use super::place::Place;
use super::shards::{STAYS, Shards};
use super::sql::Text;
use crate::terms::{AuditAction, Environment};
use crate::util::rfc3339::{parse_to_millisecond, rfc3339};

/// The commands under `audit`.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// List the entries of the audit, newest first
    List(List),
}

/// `audit list`
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
    /// Only entries about what has this id, or about the OAuth client of this platform
    #[arg(long)]
    target: Option<String>,
    /// Only entries from this time on, such as `2027-01-15T08:00:00Z`
    #[arg(long, value_parser = time)]
    from: Option<u64>,
    /// Only entries before this time
    #[arg(long, value_parser = time)]
    to: Option<u64>,
    /// The most entries
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    #[command(flatten)]
    place: Place,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

fn action(text: &str) -> Result<AuditAction, String> {
    text.parse().map_err(|_| format!("an action is one of {}", AuditAction::NAMES.join(", ")))
}

fn time(text: &str) -> Result<u64, String> {
    parse_to_millisecond(text).ok_or_else(|| "a time is like 2027-01-15T08:00:00Z".into())
}

/// An entry.
#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    account: String,
    environment: String,
    at: u64,
    action: String,
    actor_type: String,
    actor: Option<String>,
    key_id: Option<String>,
    target_type: String,
    target: String,
    request_id: Option<String>,
    count: u64,
}

/// Runs one of the commands under `audit`.
///
/// # Errors
/// Whatever stopped it, in words for the operator.
pub fn run(command: &Command) -> Result<ExitCode> {
    let Command::List(args) = command;
    let mut rows: Vec<Row> = Shards::open(&args.place)?.rows(&select(args))?;
    rows.sort_by(|one, other| other.id.cmp(&one.id));
    rows.truncate(usize::try_from(args.limit)?);
    print!("{}", shown(&rows, args.json)?);
    Ok(ExitCode::SUCCESS)
}

fn select(args: &List) -> String {
    let text = |text: &str| Text(text).to_string();
    let mut conditions = vec![
        STAYS.to_owned(),
        // What is copied counts once the account is served there.
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

fn shown(rows: &[Row], as_json: bool) -> Result<String> {
    if as_json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({
                    "id": row.id, "account": row.account, "environment": row.environment, "at": rfc3339(row.at),
                    "action": row.action,
                    "actor": {"type": row.actor_type, "id": row.actor, "keyId": row.key_id},
                    "target": {"type": row.target_type, "id": row.target},
                    "requestId": row.request_id, "count": row.count,
                })
            })
            .collect();
        return Ok(serde_json::to_string_pretty(&rows)? + "\n");
    }
    if rows.is_empty() {
        return Ok("There are no such entries.\n".into());
    }
    let mut text = format!(
        "{:<24}  {:<24}  {:<4}  {:<26}  {:>5}  {:<45}  ACTOR\n",
        "AT", "ACCOUNT", "ENV", "ACTION", "COUNT", "TARGET"
    );
    for row in rows {
        // Identities are the callers' words: a terminal must not obey them.
        let actor = match &row.actor {
            Some(id) => format!("{} {}", row.actor_type, id.escape_debug()),
            None => row.actor_type.clone(),
        };
        let at = rfc3339(row.at).unwrap_or_default();
        let _ = writeln!(
            text,
            "{at:<24}  {:<24}  {:<4}  {:<26}  {:>5}  {:<45}  {actor}",
            row.account, row.environment, row.action, row.count, row.target
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::operator::d1::by_operator;
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
    fn changes_of_the_operator_are_listed_as_such() {
        let db = database();
        let key = |id: &str| {
            format!(
                "INSERT INTO api_keys (hash, id, account, environment, scopes, created_at) VALUES ('{}', '{id}', 'acme', 'test', '', 1)",
                id.repeat(64)
            )
        };
        let revoke = "UPDATE api_keys SET revoked_at = 2 WHERE id = 'a'".to_owned();
        db.execute_batch(&by_operator(&[key("a"), revoke]).join(";")).unwrap();
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
    fn a_text_shows_who_did_what() {
        let row = Row {
            id: "aud_1".into(),
            account: "acme".into(),
            environment: "test".into(),
            at: 1_800_000_000_000,
            action: "credentials.read".into(),
            actor_type: "token".into(),
            actor: Some("ann\u{1b}[2J".into()),
            key_id: Some("k".into()),
            target_type: "connection".into(),
            target: "c".into(),
            request_id: None,
            count: 3,
        };
        let text = shown(&[row], false).unwrap();
        let line = text.lines().nth(1).unwrap();
        assert!(line.starts_with("2027-01-15T08:00:00.000Z  acme "), "{line}");
        assert!(line.ends_with("token ann\\u{1b}[2J"), "{line}");
        assert_eq!(shown(&[], true).unwrap(), "[]\n");
    }
}
