//! `keys create`, `keys list` and `keys revoke`: who may call the service. `keys rotate` is in [`super::rotate`].

use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde::Serialize;
use uuid::{Builder, Uuid};

use crate::access::key::ApiKey;
use crate::access::{Environment, Scope, Scopes};

use super::d1::Database;
use super::key_care::{Care, Warning};
use super::key_table::{KeyTable, Listed, Revoked, Row};
use super::rotate::{Rotate, rotate};
use super::when::{Expiry, Moment};
use super::wrangler::{Place, Wrangler};

/// The commands under `keys`.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Make an API key; its secret is shown this once
    Create(Create),
    /// List API keys, never their secrets: when each was last used, and what to do about it
    ///
    /// The list warns of a key that expires within 14 days or has expired, and of one that nobody has used for 90 days.
    List(List),
    /// Replace an API key: make a new one that may do the same, whose secret is shown this once
    ///
    /// The old key stays valid for a while, so that what uses it can change to the new one. Either both keys are written
    /// or none.
    Rotate(Rotate),
    /// Make an API key invalid for good
    Revoke(Revoke),
}

/// `keys create`
#[derive(Debug, Clone, Args)]
pub struct Create {
    /// The account that the key belongs to: 1–64 of A-Z a-z 0-9 . _ -
    #[arg(long, value_parser = account)]
    account: String,
    /// The environment that the key sees
    #[arg(long, value_parser = environment, value_name = "test|live")]
    environment: Environment,
    /// What the key may do: catalog:read, connections:read or connections:write; repeatable, all when absent
    #[arg(long = "scope", value_parser = scope, value_name = "SCOPE")]
    scopes: Vec<Scope>,
    /// When the key ends: 30m, 12h, 90d, 2w, 2030-01-31 or 2030-01-31T12:00:00Z; never when absent
    #[arg(long, value_name = "WHEN")]
    expires: Option<Expiry>,
    #[command(flatten)]
    place: Place,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// `keys list`
#[derive(Debug, Clone, Args)]
pub struct List {
    /// Only this account's keys
    #[arg(long, value_parser = account)]
    account: Option<String>,
    #[command(flatten)]
    place: Place,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// `keys revoke`
#[derive(Debug, Clone, Args)]
pub struct Revoke {
    /// The key's id, as `keys list` shows it
    id: Uuid,
    #[command(flatten)]
    place: Place,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// One of the names of environments or scopes.
fn named<T: FromStr>(text: &str, names: &[&str]) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected {}", names.join(", ")))
}

/// `test` or `live`.
pub(super) fn environment(text: &str) -> Result<Environment, String> {
    named(text, &Environment::ALL.map(Environment::as_str))
}

fn scope(text: &str) -> Result<Scope, String> {
    named(text, &Scope::ALL.map(Scope::as_str))
}

/// An account's name.
pub(super) fn account(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("an account is 1 to 64 of A-Z a-z 0-9 . _ -".into())
    }
}

/// The scopes asked for; all when none is asked for.
fn scopes(asked: &[Scope]) -> Scopes {
    let all = Scope::ALL.iter();
    all.filter(|scope| asked.is_empty() || asked.contains(scope)).copied().collect()
}

/// A key as JSON shows it. It may hold a secret, so it has no `Debug`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a str>,
    account: &'a str,
    environment: &'a str,
    scopes: Vec<&'a str>,
    created_at: String,
    pub(super) expires_at: Option<String>,
    revoked_at: Option<String>,
    state: &'static str,
}

impl<'a> Shown<'a> {
    pub(super) fn of(row: &'a Row, secret: Option<&'a str>, now: Moment) -> Self {
        let moment = |millis: i64| Moment::from_millis(millis).to_string();
        Self {
            id: &row.id,
            secret,
            account: &row.account,
            environment: &row.environment,
            scopes: row.scopes.split(' ').collect(),
            created_at: moment(row.created_at),
            expires_at: row.expires_at.map(moment),
            revoked_at: row.revoked_at.map(moment),
            state: row.state(now),
        }
    }

    /// Tells of a new key: its secret on the output, all else beside it.
    pub(super) fn tell(&self, place: &Place) {
        println!("{}", self.secret.unwrap_or_default());
        eprintln!(
            "This is the key's secret: it is shown this once and stored nowhere. Send it as x-service-secret."
        );
        eprintln!("  id           {}", self.id);
        eprintln!("  account      {} ({})", self.account, self.environment);
        eprintln!("  scopes       {}", self.scopes.join(" "));
        eprintln!("  expires      {}", self.expires_at.as_deref().unwrap_or("never"));
        eprintln!("  stored       {}", place.name());
    }
}

/// A key of the list as JSON shows it.
#[derive(Serialize)]
struct ShownInList<'a> {
    #[serde(flatten)]
    key: Shown<'a>,
    #[serde(flatten)]
    care: Care<'a>,
}

impl<'a> ShownInList<'a> {
    fn of(listed: &'a Listed, now: Moment) -> Self {
        Self { key: Shown::of(&listed.row, None, now), care: Care::of(listed, now) }
    }
}

/// Runs one of the commands under `keys`.
///
/// # Errors
/// Whatever stopped it, in words for the operator.
pub fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Create(args) => create(args)?,
        Command::List(args) => list(args)?,
        Command::Rotate(args) => rotate(args)?,
        Command::Revoke(args) => revoke(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn create(args: &Create) -> Result<()> {
    let now = Moment::now();
    let expiry = args.expires.map(|expiry| expiry.from(now)).transpose().context("--expires")?;
    let table = KeyTable(Database(Wrangler::new(&args.place)?));
    let row = Row {
        id: fresh_id()?,
        account: args.account.clone(),
        environment: args.environment.as_str().into(),
        scopes: scopes(&args.scopes).to_string(),
        created_at: now.millis(),
        expires_at: expiry.map(Moment::millis),
        revoked_at: None,
    };
    let key = generate(args.environment)?;
    table.insert(&row, &key.hash().to_string())?;
    let shown = Shown::of(&row, Some(key.reveal()), now);
    if args.json {
        println!("{}", serde_json::to_string(&shown)?);
        return Ok(());
    }
    shown.tell(&args.place);
    Ok(())
}

/// A new key's id.
pub(super) fn fresh_id() -> Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).context("randomness from the system")?;
    Ok(Builder::from_random_bytes(random).into_uuid().to_string())
}

/// A new key.
pub(super) fn generate(environment: Environment) -> Result<ApiKey> {
    let mut failure = None;
    let key =
        ApiKey::generate(environment, |bytes| failure = getrandom::fill(bytes).err().or(failure));
    failure.map_or(Ok(key), |error| Err(error).context("randomness from the system"))
}

fn list(args: &List) -> Result<()> {
    let now = Moment::now();
    let rows = KeyTable(Database(Wrangler::new(&args.place)?)).list(args.account.as_deref())?;
    if args.json {
        let shown: Vec<ShownInList<'_>> =
            rows.iter().map(|row| ShownInList::of(row, now)).collect();
        println!("{}", serde_json::to_string_pretty(&shown)?);
        return Ok(());
    }
    if rows.is_empty() {
        println!("No keys {}.", args.place.name());
        return Ok(());
    }
    print!("{}", table(&rows, now));
    Ok(())
}

/// The list as text, a line a key.
fn table(rows: &[Listed], now: Moment) -> String {
    let titles =
        ["ID", "ACCOUNT", "ENV", "STATE", "CREATED", "EXPIRES", "LAST USED", "SCOPES", "NOTES"];
    let line = |listed: &Listed| {
        let key = Shown::of(&listed.row, None, now);
        let replaced = listed.replaced_by.as_ref().map(|other| format!("replaced by {other}"));
        let warnings = listed.warnings(now).into_iter().map(Warning::words);
        [
            key.id.to_owned(),
            key.account.to_owned(),
            key.environment.to_owned(),
            key.state.to_owned(),
            key.created_at,
            key.expires_at.unwrap_or_else(|| "never".into()),
            listed.last_used_in_words(),
            key.scopes.join(" "),
            warnings.chain(replaced).collect::<Vec<_>>().join(", "),
        ]
    };
    let lines: Vec<[String; 9]> =
        std::iter::once(titles.map(str::to_owned)).chain(rows.iter().map(line)).collect();
    let width =
        |column| lines.iter().filter_map(|line| Some(line.get::<usize>(column)?.len())).max();
    let widths: [usize; 9] = std::array::from_fn(|column| width(column).unwrap_or_default());
    let padded = |line: &[String; 9]| {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.iter().map(padded).collect()
}

fn revoke(args: &Revoke) -> Result<()> {
    let now = Moment::now();
    let id = args.id.to_string();
    let row = match KeyTable(Database(Wrangler::new(&args.place)?)).revoke(&id, now)? {
        Revoked::Now(row) => {
            eprintln!("Revoked {id} of account {}.", row.account);
            row
        }
        Revoked::Before(row) => {
            let when =
                row.revoked_at.map(|at| Moment::from_millis(at).to_string()).unwrap_or_default();
            eprintln!("{id} of account {} was already revoked at {when}.", row.account);
            row
        }
        Revoked::Unknown => {
            bail!("there is no key {id} {}: see `npm run keys -- list`", args.place.name())
        }
    };
    if args.json {
        println!("{}", serde_json::to_string(&Shown::of(&row, None, now))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(subcommand)]
        command: Command,
    }

    fn parse(line: &str) -> Result<Command, clap::Error> {
        Cli::try_parse_from(std::iter::once("keys").chain(line.split_whitespace()))
            .map(|cli| cli.command)
    }

    #[test]
    fn accounts() {
        for text in ["a", "acme", "Acme-2.0_x", &"a".repeat(64)] {
            assert_eq!(account(text).unwrap(), text);
        }
        for text in ["", "a b", "ü", "a'b", "a/b", "a:b", "a\n", &"a".repeat(65)] {
            assert!(account(text).is_err(), "{text}");
        }
    }

    #[test]
    fn scopes_are_each_once_and_in_order() {
        let scopes = |asked: &[Scope]| scopes(asked).to_string();
        assert_eq!(scopes(&[]), "catalog:read connections:read connections:write sessions:create");
        assert_eq!(
            scopes(&[Scope::ConnectionsWrite, Scope::CatalogRead, Scope::CatalogRead]),
            "catalog:read connections:write"
        );
    }

    #[test]
    fn commands() {
        let Ok(Command::Create(args)) = parse(
            "create --account acme --environment live --scope catalog:read --expires 90d --json",
        ) else {
            panic!("not parsed");
        };
        assert_eq!(
            (args.account.as_str(), args.environment, args.json),
            ("acme", Environment::Live, true)
        );
        assert_eq!(args.scopes, [Scope::CatalogRead]);
        assert!(args.expires.is_some() && !args.place.remote);
        assert!(
            matches!(parse("list --account acme --remote"), Ok(Command::List(args)) if args.place.remote)
        );
        assert!(parse("revoke 00000000-0000-4000-8000-000000000000").is_ok());
        for more in
            ["", "--overlap 7d", "--overlap 0 --expires never --remote", "--expires 90d --json"]
        {
            let line = format!("rotate 00000000-0000-4000-8000-000000000000 {more}");
            assert!(matches!(parse(&line), Ok(Command::Rotate(_))), "{line}");
        }
        for wrong in [
            "create --environment test",
            "create --account acme",
            "create --account acme --environment prod",
            "create --account a'b --environment test",
            "create --account acme --environment test --scope all",
            "create --account acme --environment test --expires soon",
            "create --account acme --environment test --local --remote",
            "revoke",
            "revoke not-a-uuid",
            "rotate",
            "rotate not-a-uuid",
            "rotate 00000000-0000-4000-8000-000000000000 --overlap",
            "rotate 00000000-0000-4000-8000-000000000000 --overlap never",
            "rotate 00000000-0000-4000-8000-000000000000 --overlap 2030-01-31",
            "rotate 00000000-0000-4000-8000-000000000000 --expires soon",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_list_is_a_table_with_a_line_a_key() {
        let row = Row {
            id: "i".into(),
            account: "a-long-account".into(),
            environment: "test".into(),
            scopes: "catalog:read".into(),
            created_at: 0,
            expires_at: None,
            revoked_at: None,
        };
        let plain = Listed {
            row: row.clone(),
            last_used_day: Some(1),
            uses_known_from: None,
            replaced_by: None,
        };
        let ending = Listed {
            row: Row { account: "b".into(), expires_at: Some(86_400_000), ..row },
            last_used_day: None,
            uses_known_from: None,
            replaced_by: Some("j".into()),
        };
        assert_eq!(
            table(&[plain, ending], Moment::from_millis(0)),
            "\
ID  ACCOUNT         ENV   STATE   CREATED                   EXPIRES                   LAST USED   SCOPES        NOTES
i   a-long-account  test  active  1970-01-01T00:00:00.000Z  never                     1970-01-02  catalog:read
i   b               test  active  1970-01-01T00:00:00.000Z  1970-01-02T00:00:00.000Z  never       catalog:read  expires in 1 day, replaced by j
"
        );
    }

    #[test]
    fn json_shows_the_secret_only_where_it_is_made() {
        let row = Row {
            id: "i".into(),
            account: "acme".into(),
            environment: "test".into(),
            scopes: "catalog:read connections:read".into(),
            created_at: 0,
            expires_at: Some(1_000),
            revoked_at: None,
        };
        let made =
            serde_json::to_value(Shown::of(&row, Some("sk"), Moment::from_millis(0))).unwrap();
        assert_eq!(
            made,
            serde_json::json!({
                "id": "i", "secret": "sk", "account": "acme", "environment": "test",
                "scopes": ["catalog:read", "connections:read"],
                "createdAt": "1970-01-01T00:00:00.000Z", "expiresAt": "1970-01-01T00:00:01.000Z",
                "revokedAt": null, "state": "active",
            })
        );
        let listed = serde_json::to_value(Shown::of(&row, None, Moment::from_millis(0))).unwrap();
        assert!(listed.get("secret").is_none());
    }
}
