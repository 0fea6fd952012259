//! `vault-keys status`: shows what each key has encrypted, and which keys are missing.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::KeySource;
use super::reported::{describe, read_reports};
use super::usage::{KeyUsage, KeyUsages, key_usages};
use crate::credentials::VaultKeys;
use crate::operator::shards::Shards;
use crate::operator::storage::Storage;
use crate::operator::time::Moment;

#[derive(Debug, Clone, Args)]
pub struct Status {
    #[command(flatten)]
    source: KeySource,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// What a key is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    /// The key encrypts and decrypts.
    Seals,
    /// The key only decrypts.
    Opens,
    /// Rows need the key, but it is missing.
    Missing,
    /// Rows need the key; whether it is available is unknown.
    Needed,
}

/// The JSON representation of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct KeyStatus {
    id: String,
    role: Role,
    needed: KeyUsage,
}

/// The available keys in order, followed by the missing ones.
fn key_statuses(keys: Option<&VaultKeys>, mut needs: KeyUsages) -> Vec<KeyStatus> {
    let available = keys.into_iter().flat_map(VaultKeys::ids).enumerate();
    let mut all: Vec<KeyStatus> = available
        .map(|(at, id)| KeyStatus {
            id: id.to_owned(),
            role: if at == 0 { Role::Seals } else { Role::Opens },
            needed: needs.remove(id).unwrap_or_default(),
        })
        .collect();
    let role = if keys.is_some() { Role::Missing } else { Role::Needed };
    all.extend(needs.into_iter().map(|(id, needed)| KeyStatus { id, role, needed }));
    all
}

pub fn status(args: &Status) -> Result<ExitCode> {
    let storage = Storage::open(&args.source.storage_target)?;
    let file = args.source.keys(&storage.project);
    let keys = file.as_ref().map(super::file::KeyFile::read).transpose()?;
    let shards = Shards::from_storage(storage);
    let all = key_statuses(keys.as_ref(), key_usages(&shards, Moment::now())?);
    if args.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        let name = file.as_ref().map(super::file::KeyFile::name);
        print!("{}", table(&all, name.as_deref(), args.source.storage_target.name()));
        println!("\n{}", describe(&read_reports(&shards)?.concat()));
    }
    let is_missing = all.iter().any(|key| key.role == Role::Missing);
    Ok(if is_missing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Formats a line per key, followed by instructions.
fn table(all: &[KeyStatus], file: Option<&str>, storage_target: &str) -> String {
    let mut text = String::new();
    if all.is_empty() {
        let start =
            file.map_or_else(|| "N".into(), |file| format!("There are no keys in {file}, and n"));
        let _ = writeln!(text, "{start}othing is sealed {storage_target}.");
        return text;
    }
    let kinds = [
        "CONNECTIONS",
        "OAUTH CLIENTS",
        "ATTEMPTS",
        "REVOCATIONS",
        "WEBHOOKS",
        "AGENT SIGN-INS",
        "AGENT CALLS",
        "CONSOLE SIGN-INS",
    ];
    text += &line("KEY", kinds, "");
    for KeyStatus { id, role, needed } in all {
        let counts = needed.counts().map(|count| count.to_string());
        let role = match role {
            Role::Seals => "seals",
            Role::Opens => "opens",
            Role::Missing => "missing",
            Role::Needed => "",
        };
        text += &line(&id.escape_debug().to_string(), counts.each_ref().map(String::as_str), role);
    }
    let Some(file) = file else {
        text += "\nCloudflare does not show secrets: to see what each key does, pass your copy with --file.\n";
        return text;
    };
    for KeyStatus { id, role, needed } in all {
        let id = id.escape_debug();
        let need = needed.subject_and_verb();
        let _ = match (role, needed.rows()) {
            (Role::Missing, _) => writeln!(
                text,
                "\n`{id}` is missing from {file}, and {need} it. What it has encrypted can't be read until you put it back."
            ),
            (Role::Opens, 0) => {
                writeln!(text, "\nNo row needs `{id}`: you can remove it from {file}.")
            }
            (Role::Opens, rows) if rows == needed.attempts => writeln!(
                text,
                "\nKeep `{id}` for 10 more minutes: only pending connect attempts need it, and they expire by then."
            ),
            (Role::Opens, _) => writeln!(
                text,
                "\nKeep `{id}`: {need} it. `npm run vault-keys -- reseal` re-encrypts them with the first key."
            ),
            (Role::Seals | Role::Needed, _) => Ok(()),
        };
    }
    text
}

fn line(id: &str, counts: [&str; 8], role: &str) -> String {
    let mut line = format!("{id:<32}");
    for (count, width) in counts.into_iter().zip([11, 13, 8, 11, 8, 14, 11, 16]) {
        let _ = write!(line, "  {count:>width$}");
    }
    let _ = write!(line, "  {role}");
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    fn need(connections: u64) -> KeyUsage {
        KeyUsage { connections, revocations: 2, ..KeyUsage::default() }
    }

    #[test]
    fn status_lists_role_and_usage_of_each_key() {
        let keys =
            VaultKeys::parse(&format!("new:{KEY},spare:{KEY},old:{KEY},brief:{KEY}")).unwrap();
        let needs = KeyUsages::from([
            ("old".into(), need(3)),
            ("brief".into(), KeyUsage { attempts: 2, ..KeyUsage::default() }),
            ("gone\u{1b}".into(), need(0)),
            (
                "new".into(),
                KeyUsage {
                    connections: 1,
                    oauth_clients: 4,
                    attempts: 5,
                    revocations: 6,
                    webhooks: 7,
                    agent_sign_ins: 8,
                    agent_calls: 9,
                    console_sign_ins: 10,
                },
            ),
        ]);
        let all = key_statuses(Some(&keys), needs.clone());
        let text = table(&all, Some("keys.txt"), "at Cloudflare");
        let expected = r"KEY                               CONNECTIONS  OAUTH CLIENTS  ATTEMPTS  REVOCATIONS  WEBHOOKS  AGENT SIGN-INS  AGENT CALLS  CONSOLE SIGN-INS
new                                         1              4         5            6         7               8            9                10  seals
spare                                       0              0         0            0         0               0            0                 0  opens
old                                         3              0         0            2         0               0            0                 0  opens
brief                                       0              0         2            0         0               0            0                 0  opens
gone\u{1b}                                  0              0         0            2         0               0            0                 0  missing

No row needs `spare`: you can remove it from keys.txt.

Keep `old`: 5 rows need it. `npm run vault-keys -- reseal` re-encrypts them with the first key.

Keep `brief` for 10 more minutes: only pending connect attempts need it, and they expire by then.

`gone\u{1b}` is missing from keys.txt, and 2 rows need it. What it has encrypted can't be read until you put it back.
";
        assert_eq!(text, expected);
        let json = serde_json::to_value(all.first()).unwrap();
        let needed = serde_json::json!({"connections": 1, "oauthClients": 4, "attempts": 5, "revocations": 6, "webhooks": 7, "agentSignIns": 8, "agentCalls": 9, "consoleSignIns": 10});
        assert_eq!(json, serde_json::json!({"id": "new", "role": "seals", "needed": needed}));

        let unknown = key_statuses(None, needs);
        assert!(unknown.iter().all(|key| key.role == Role::Needed));
        let text = table(&unknown, None, "at Cloudflare");
        assert!(text.contains("\nold ") && text.contains("pass your copy with --file"), "{text}");
    }

    #[test]
    fn status_reports_missing_keys_and_rows() {
        let none = key_statuses(Some(&VaultKeys::default()), KeyUsages::new());
        let text = table(&none, Some(".dev.vars"), "on this machine");
        assert_eq!(
            text,
            "There are no keys in .dev.vars, and nothing is sealed on this machine.\n"
        );
        assert_eq!(table(&[], None, "at Cloudflare"), "Nothing is sealed at Cloudflare.\n");
    }
}
