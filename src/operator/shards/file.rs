//! Adds and changes databases in wrangler.toml, without changing the rest of the file.

use anyhow::{Result, ensure};

use crate::auth::Shard;
use crate::operator::project::ids;

const TABLE: &str = "[[d1_databases]]";
/// The prefix of the id of a database that has not been created at Cloudflare.
const PLACEHOLDER: &str = "00000000-0000-0000-0000-";

/// The temporary id of a database that has not been created at Cloudflare. Local databases need
/// distinct ids.
pub fn placeholder(shard: Shard) -> String {
    format!("{PLACEHOLDER}{:012}", shard.number())
}

pub fn is_placeholder(id: &str) -> bool {
    id.starts_with(PLACEHOLDER)
}

/// The lines of the TOML table with the shard's database.
fn lines_of(text: &str, shard: Shard) -> Option<Vec<&str>> {
    let expected = format!("\"{}\"", shard.binding());
    tables(text).into_iter().map(|(_, lines)| lines).find(|lines| {
        lines.iter().any(|line| value(line, "binding").is_some_and(|value| value == expected))
    })
}

/// The raw value in a line `name = value`.
fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (key, value) = line.split_once('=')?;
    (key.trim() == name).then(|| value.split('#').next().unwrap_or_default().trim())
}

/// The TOML tables of databases. For each, returns the index of the line after it, and its lines.
fn tables(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut tables: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut is_within = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim() == TABLE {
            is_within = true;
            tables.push((at.saturating_add(1), Vec::new()));
        } else if line.trim().is_empty() || line.starts_with('[') {
            is_within = false;
        } else if let Some((end, lines)) = tables.last_mut().filter(|_| is_within) {
            *end = at.saturating_add(1);
            lines.push(line);
        }
    }
    tables
}

/// The name of a shard's database. Returns `None` if the file does not contain it.
pub fn name(text: &str, shard: Shard) -> Option<String> {
    let lines = lines_of(text, shard)?;
    let name = lines.iter().find_map(|line| value(line, "database_name"))?;
    Some(name.trim_matches('"').to_owned())
}

/// Adds a database, with the same schema as the first one.
pub fn with_database(text: &str, shard: Shard, name: &str, id: &str) -> Result<String> {
    let end = tables(text).last().map_or(0, |(end, _)| *end);
    let first = lines_of(text, Shard::FIRST).unwrap_or_default();
    let schema = first.iter().find_map(|line| value(line, "migrations_dir"));
    let table = [
        String::new(),
        TABLE.to_owned(),
        format!("binding = \"{}\"", shard.binding()),
        format!("database_name = \"{name}\""),
        format!("database_id = \"{id}\""),
        format!("migrations_dir = {}", schema.unwrap_or("\"schema\"")),
    ];
    let mut lines: Vec<&str> = text.lines().collect();
    let end = end.min(lines.len());
    lines.splice(end..end, table.iter().map(String::as_str));
    ensure_id(lines.join("\n") + "\n", shard, id)
}

/// Changes the id of a database.
pub fn with_id(text: &str, shard: Shard, old: &str, id: &str) -> Result<String> {
    // Each id occurs only once in the file.
    ensure_id(text.replacen(&format!("\"{old}\""), &format!("\"{id}\""), 1), shard, id)
}

/// Returns the text if the shard's database has this id in it. Otherwise fails.
fn ensure_id(text: String, shard: Shard, id: &str) -> Result<String> {
    let found = ids(&text).ok().and_then(|ids| ids.databases.get(&shard).cloned());
    ensure!(
        found.as_deref() == Some(id),
        "wrangler.toml can't be changed by this command: add a [[d1_databases]] with the binding {}",
        shard.binding()
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../../wrangler.toml");

    fn shard(number: u16) -> Shard {
        Shard::new(number).unwrap()
    }

    #[test]
    fn a_database_is_added_after_the_others_and_the_rest_stays() {
        let one = with_database(FILE, shard(1), "a", &placeholder(shard(1))).unwrap();
        let two = with_database(&one, shard(7), "b", "an id").unwrap();
        let lines: Vec<&str> = FILE.lines().filter(|line| !line.is_empty()).collect();
        let kept: Vec<&str> = two.lines().filter(|line| lines.contains(line)).collect();
        assert!(lines.iter().all(|line| kept.contains(line)));
        assert_eq!(two.lines().count(), FILE.lines().count() + 12);
        let added = "\n\n[[d1_databases]]\nbinding = \"VAULT_1\"\ndatabase_name = \"a\"\ndatabase_id = \"00000000-0000-0000-0000-000000000001\"\nmigrations_dir = \"schema\"\n\n[[d1_databases]]\nbinding = \"VAULT_7\"\n";
        assert!(two.contains(added), "{two}");
        assert_eq!(
            (name(&two, shard(0)).as_deref(), name(&two, shard(7)).as_deref()),
            (Some("connector-vault"), Some("b"))
        );
        assert_eq!(name(&two, shard(2)), None);
    }

    #[test]
    fn an_added_database_has_the_schema_of_the_first() {
        let elsewhere = FILE.replace("\"schema\"", "\"package/schema\"");
        assert_ne!(FILE, elsewhere);
        let two = with_database(&elsewhere, shard(1), "a", "an id").unwrap();
        assert_eq!(two.matches("migrations_dir = \"package/schema\"").count(), 2);
    }

    #[test]
    fn id_replaces_the_placeholder() {
        let text = with_database(FILE, shard(1), "a", &placeholder(shard(1))).unwrap();
        assert!(is_placeholder(&ids(&text).unwrap().databases[&shard(0)]));
        for number in [0, 1] {
            let changed =
                with_id(&text, shard(number), &placeholder(shard(number)), "new").unwrap();
            let ids = ids(&changed).unwrap().databases;
            assert_eq!(ids[&shard(number)], "new");
            assert!(is_placeholder(&ids[&shard(1 - number)]));
        }
        assert!(with_id(&text, shard(2), &placeholder(shard(2)), "new").is_err());
    }

    #[test]
    fn rejects_unsupported_toml_syntax() {
        let inline =
            "d1_databases = [{binding = \"VAULT\"}]\n[[kv_namespaces]]\nbinding = \"CATALOG\"\n";
        assert!(ids(inline).is_ok());
        assert!(with_database(inline, shard(1), "a", "b").is_err());
    }
}
