//! `keys list`: lists API keys with their last use and warnings.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::arguments::account;
use super::health::{KeyHealth, Warning};
use super::output::KeyOutput;
use super::table::{KeyTable, KeyWithUsage};
use crate::operator::shards::Shards;
use crate::operator::storage_target::StorageTarget;
use crate::operator::time::{Day, Moment};
use crate::terms::Scope;

#[derive(Debug, Clone, Args)]
pub struct List {
    /// Only the keys of this account
    #[arg(long, value_parser = account)]
    account: Option<String>,
    #[command(flatten)]
    storage_target: StorageTarget,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ListedKeyOutput<'a> {
    #[serde(flatten)]
    key: KeyOutput<'a>,
    #[serde(flatten)]
    health: KeyHealth<'a>,
}

impl<'a> ListedKeyOutput<'a> {
    fn new(listed: &'a KeyWithUsage, now: Moment) -> Self {
        Self { key: KeyOutput::new(&listed.row, None, now), health: KeyHealth::new(listed, now) }
    }
}

pub fn list(args: &List) -> Result<()> {
    let now = Moment::now();
    let keys = KeyTable::list(&Shards::open(&args.storage_target)?, args.account.as_deref())?;
    if args.json {
        let output: Vec<ListedKeyOutput<'_>> =
            keys.iter().map(|key| ListedKeyOutput::new(key, now)).collect();
        println!("{}", serde_json::to_string_pretty(&output)?);
        return Ok(());
    }
    if keys.is_empty() {
        let of = args.account.as_ref().map(|name| format!(" of account {name}"));
        println!("No keys{} {}.", of.unwrap_or_default(), args.storage_target.name());
        return Ok(());
    }
    print!("{}", table(&keys, now));
    Ok(())
}

const SCOPES_PER_LINE: usize = 4;

/// Formats keys grouped by account, with a line per key and a line per warning. At most 100 columns
/// wide.
fn table(keys: &[KeyWithUsage], now: Moment) -> String {
    let mut accounts: Vec<&str> = keys.iter().map(|key| key.row.account.as_str()).collect();
    accounts.sort_unstable();
    accounts.dedup();
    let mut text = line(["ID", "ENV", "STATE", "CREATED", "EXPIRES", "LAST USED", "SCOPES"]);
    for account in accounts {
        let _ = writeln!(text, "\naccount {account}");
        for listed in keys.iter().filter(|key| key.row.account == account) {
            let row = &listed.row;
            let day = |millis| Day::from(Moment::from_millis(millis)).to_string();
            let scopes: Vec<&str> = row.scopes.split(' ').collect();
            let has_all = Scope::ALL.iter().all(|scope| scopes.contains(&scope.as_str()));
            text += &line([
                &row.id,
                &row.environment,
                row.state(now),
                &day(row.created_at),
                &row.expires_at.map_or_else(|| "never".into(), day),
                &listed.format_last_use(),
                if has_all { "all" } else { "some" },
            ]);
            if !has_all {
                for (index, some) in scopes.chunks(SCOPES_PER_LINE).enumerate() {
                    let what = if index == 0 { "may only" } else { "" };
                    let _ = writeln!(text, "  {what:<11} {}", some.join(" "));
                }
            }
            for warning in listed.warnings(now).into_iter().map(Warning::message) {
                let _ = writeln!(text, "  note        {warning}");
            }
            if let Some(other) = &listed.replaced_by {
                let _ = writeln!(text, "  replaced by {other}");
            }
        }
    }
    text
}

fn line([id, environment, state, created, expires, used, scopes]: [&str; 7]) -> String {
    format!(
        "{id:<36}  {environment:<4}  {state:<7}  {created:<10}  {expires:<10}  {used:<10}  {scopes}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::super::table::Row;
    use super::*;

    const ID: &str = "1b4e28ba-2fa1-4d2b-883f-0016d3cca427";

    fn listed(account: &str, scopes: &str, expires_at: Option<i64>) -> KeyWithUsage {
        let row = Row {
            id: ID.into(),
            account: account.into(),
            environment: "test".into(),
            scopes: scopes.into(),
            created_at: 0,
            expires_at,
            revoked_at: None,
        };
        KeyWithUsage { row, last_used_day: None, replaced_by: None, is_forwarded: false }
    }

    #[test]
    fn lists_keys_by_account() {
        let all = Scope::ALL.map(Scope::as_str).join(" ");
        let keys = [
            KeyWithUsage { last_used_day: Some(1), ..listed("zoo", &all, None) },
            listed("acme", "catalog:read connections:read", None),
            KeyWithUsage { replaced_by: Some(ID.into()), ..listed("zoo", &all, Some(86_400_000)) },
        ];
        let text = table(&keys, Moment::from_millis(0));
        assert_eq!(
            text,
            "\
ID                                    ENV   STATE    CREATED     EXPIRES     LAST USED   SCOPES

account acme
1b4e28ba-2fa1-4d2b-883f-0016d3cca427  test  active   1970-01-01  never       never       some
  may only    catalog:read connections:read

account zoo
1b4e28ba-2fa1-4d2b-883f-0016d3cca427  test  active   1970-01-01  never       1970-01-02  all
1b4e28ba-2fa1-4d2b-883f-0016d3cca427  test  active   1970-01-01  1970-01-02  never       all
  note        expires in 1 day
  replaced by 1b4e28ba-2fa1-4d2b-883f-0016d3cca427
"
        );
    }

    #[test]
    fn the_widest_list_fits_100_columns() {
        let all_but_one = Scope::ALL.map(Scope::as_str).get(1..).unwrap().join(" ");
        let widest = KeyWithUsage {
            replaced_by: Some(ID.into()),
            last_used_day: Some(20_779),
            ..listed(&"a".repeat(64), &all_but_one, Some(1))
        };
        let text = table(&[widest], Moment::from_millis(2));
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
