//! The tables of endpoints and parameters in `docs/api.md` have one row for each. The test adds
//! missing rows with the words of the `OpenAPI` document, and keeps the words of existing rows.

use std::collections::BTreeSet;
use std::fs;

use connector_vault::http::endpoint::{Endpoint, Keyed};

use crate::generated_files::assert_up_to_date;

const PAGE: &str = "docs/api.md";
const ENDPOINTS: &str = "| endpoint | scope | |\n|---|---|---|\n";
const PARAMETERS: &str = "| parameter | on | meaning |\n|---|---|---|\n";

/// A row of a table with three columns.
struct Row {
    name: String,
    second_cell: String,
    words: String,
}

impl Row {
    fn parse(line: &str) -> Self {
        let mut cells = line.trim_matches('|').splitn(3, '|').map(|cell| cell.trim().to_owned());
        let mut next = || cells.next().unwrap_or_default();
        Self { name: next(), second_cell: next(), words: next() }
    }

    fn line(&self) -> String {
        // An empty cell is one space.
        format!("| {} | {} | {} |\n", self.name, self.second_cell, self.words)
            .replace("|  |", "| |")
    }
}

/// Changes the rows of the table that starts with this head. Returns the new page.
fn with_rows(page: &str, head: &str, change: impl FnOnce(&mut Vec<Row>)) -> String {
    let (before, rest) = page.split_once(head).unwrap();
    let (rows, after) = rest.split_once("\n\n").unwrap();
    let mut rows = rows.lines().map(Row::parse).collect();
    change(&mut rows);
    let rows: String = rows.iter().map(Row::line).collect();
    format!("{before}{head}{rows}\n{after}")
}

/// The text for an endpoint in the table, such as `list connections`.
fn words(endpoint: Endpoint) -> String {
    let Endpoint::Keyed(keyed) = endpoint else {
        panic!("describe {endpoint:?} in the table of endpoints in {PAGE}");
    };
    let mut letters = keyed.doc().summary.chars();
    let first = letters.next().unwrap().to_ascii_lowercase();
    format!("{first}{}", letters.as_str())
}

/// Adds missing endpoints after the one before them in the endpoint table, and removes unknown ones.
fn complete_endpoints(rows: &mut Vec<Row>) {
    let mut index = 0;
    for &endpoint in Endpoint::ALL {
        let spec = endpoint.spec();
        let name = format!("`{} {}`", spec.method.as_str(), spec.path);
        let known = rows.iter().position(|row| row.name == name);
        index = known.unwrap_or(index);
        if known.is_none() {
            rows.insert(index, Row { name, second_cell: String::new(), words: words(endpoint) });
        }
        if let Endpoint::Keyed(keyed) = endpoint {
            let scope = keyed.access().scope().map(|scope| format!("`{}`", scope.as_str()));
            rows[index].second_cell = scope.unwrap_or_default();
        }
        index += 1;
    }
    let is_served = |row: &Row| {
        Endpoint::ALL.iter().any(|endpoint| {
            let spec = endpoint.spec();
            row.name == format!("`{} {}`", spec.method.as_str(), spec.path)
        })
    };
    rows.retain(is_served);
}

/// Adds missing parameters at the end, and removes unknown ones. A row can contain several
/// parameters.
fn complete_parameters(rows: &mut Vec<Row>) {
    let mut known = BTreeSet::new();
    for keyed in Keyed::ALL {
        let list = keyed.spec().path.rsplit('/').find(|segment| !segment.starts_with('{'));
        for parameter in keyed.spec().query {
            let name = format!("`{}`", parameter.name);
            if !rows.iter().any(|row| row.name.contains(&name)) {
                let second_cell = list.unwrap_or_default().replace('-', " ");
                let words = parameter.doc.about.replace('|', "\\|");
                rows.push(Row { name: name.clone(), second_cell, words });
            }
            known.insert(name);
        }
    }
    rows.retain(|row| row.name.split(", ").all(|name| known.contains(name)));
}

#[test]
fn the_page_lists_each_endpoint_and_each_parameter() {
    let page = fs::read_to_string(PAGE).unwrap();
    let now = with_rows(&page, ENDPOINTS, complete_endpoints);
    let now = with_rows(&now, PARAMETERS, complete_parameters);
    assert_up_to_date(PAGE, &now, "WRITE_OPENAPI", "openapi");
}
