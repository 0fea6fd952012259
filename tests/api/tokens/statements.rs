//! Lists the files with statements on the table `connections`, and how each restricts tokens.
//! Authors of a new statement must add it here, so that they consider tokens.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A file with statements on the table.
struct StatementFile {
    file: &'static str,
    statements: usize,
    /// How the file restricts tokens, or why no token is involved.
    reason: &'static str,
}

const fn place(file: &'static str, statements: usize, reason: &'static str) -> StatementFile {
    StatementFile { file, statements, reason }
}

const STATEMENT_FILES: [StatementFile; 15] = [
    place(
        "agents/approval.rs",
        3,
        "the connection of an approval: of its token's call, or its user has signed in",
    ),
    place("agents/statements.rs", 1, "the grant's own identity"),
    place("connect/statements/attempts.rs", 1, "`guard_connection`"),
    place(
        "connect/statements/clients.rs",
        2,
        "the connection with the caller's own identity; no connection is returned",
    ),
    place(
        "connect/statements/connected.rs",
        7,
        "the attempt has the identity, which was checked when it began",
    ),
    place("connect/statements/mod.rs", 1, "the attempt's own identity"),
    place(
        "connections/statements/conditions.rs",
        3,
        "the filter of a list, which `restrict_to` restricts",
    ),
    place("connections/statements/limits.rs", 1, "counts; no connection is returned"),
    place(
        "connections/statements/list.rs",
        1,
        "the filter of a list, which `restrict_to` restricts",
    ),
    place(
        "connections/statements/one.rs",
        4,
        "`guard_connection`; a new connection is checked before",
    ),
    place(
        "connections/statements/search.rs",
        1,
        "the filter of a list, which `restrict_to` restricts",
    ),
    place("connections/statements/sql.rs", 2, "`guard_connection`"),
    place("connections/statements/summary.rs", 1, "`guard_connection`"),
    place(
        "credentials/lifecycle/statements.rs",
        5,
        "a connection that a guarded statement has found, or a job",
    ),
    place("operator", 4, "the operator's commands"),
];

/// Counts the statements on connections in each file below a folder. The operator's commands count
/// as one file.
fn count(folder: &Path, found: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        // Unit tests are at the end of a file.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let words: Vec<&str> = code
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .collect();
        let verbs = ["FROM", "JOIN", "UPDATE", "INTO"];
        let named =
            words.windows(2).filter(|pair| verbs.contains(&pair[0]) && pair[1] == "connections");
        let statements = named.count();
        if statements > 0 {
            let name = path.strip_prefix("src").unwrap().to_string_lossy().into_owned();
            let name = if name.starts_with("operator/") { "operator".to_owned() } else { name };
            *found.entry(name).or_default() += statements;
        }
    }
}

#[test]
fn every_statement_on_connections_restricts_tokens_or_has_a_reason() {
    let mut found = BTreeMap::new();
    count(Path::new("src"), &mut found);
    let known: BTreeMap<String, usize> =
        STATEMENT_FILES.iter().map(|place| (place.file.to_owned(), place.statements)).collect();
    assert!(STATEMENT_FILES.iter().all(|place| !place.reason.is_empty()));
    assert_eq!(
        found, known,
        "use `Sql::push_connection` or `Sql::guard_connection`, and name the place"
    );
}
