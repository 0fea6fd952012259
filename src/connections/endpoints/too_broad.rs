//! The problem for a list that would read more rows than allowed.

use crate::connections::filter::{ConnectionFilter, Tags};
use crate::http::problem::{Code, Fault, Location, Problem};

/// The reason why a list is too broad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExcessReason {
    /// Reaching the page would skip too many rows.
    Page {
        /// The number of rows to skip, from the nearer end.
        skipped: u64,
    },
    /// Too many connections match the search by identity, account, name or `q`.
    Matches {
        /// The maximum number of matches.
        limit: u64,
    },
    /// Even the cheapest plan reads too many rows.
    Rows {
        /// The number of rows that the cheapest plan would read.
        cost: u64,
        /// The number of connections with the rarest tag, or with at least one of the tags if any
        /// tag is enough.
        tags: u64,
        /// The number of connections that match the filters on columns.
        columns: u64,
    },
}

/// The problem, with the estimate, the parameters at fault, and advice to narrow the list.
///
/// For a token, the problem does not contain the number of matching connections, because the token
/// may not see all of them.
pub(super) fn too_broad(
    filter: &ConnectionFilter,
    excess: &ExcessReason,
    max_rows: u64,
    is_token: bool,
) -> Problem {
    let (estimate, advice, errors) = match excess {
        ExcessReason::Page { skipped } => {
            let advice = "Follow the `Link` header from an earlier page, which costs the same on every page, or narrow the list with a filter.";
            let detail = format!("skips {skipped} connections, which are read one by one");
            (format!("about {skipped}"), advice, vec![fault("page", &detail)])
        }
        ExcessReason::Matches { limit: matches } => {
            let (name, verb, advice) = search(filter);
            let detail = if is_token {
                "has more connections than a list may read".into()
            } else {
                format!("{verb} more than {matches} connections")
            };
            (format!("more than {max_rows}"), advice, vec![fault(name, &detail)])
        }
        ExcessReason::Rows { cost, tags, columns } => {
            let advice = "Narrow it with `identity`, `name`, `key` or a rarer tag, or ask for one tag alone.";
            (format!("about {cost}"), advice, tag_faults(filter, *tags, *columns))
        }
    };
    let detail = format!(
        "This list would read {estimate} rows, but a list may read at most {max_rows}. {advice}"
    );
    Problem { errors, ..Problem::new(Code::QueryTooBroad, detail) }
}

fn fault(parameter: &str, predicate: &str) -> Fault {
    Fault {
        code: Code::QueryTooBroad,
        location: Location::Parameter(parameter.into()),
        detail: format!("`{parameter}` {predicate}"),
        suggestion: None,
    }
}

/// The parameter of the search, the verb for its fault, and advice to narrow the search.
fn search(filter: &ConnectionFilter) -> (&'static str, &'static str, &'static str) {
    if filter.identity.is_some() {
        let advice = "Ask for the connections by `key`, or by `platform` without `identity`.";
        ("identity", "has", advice)
    } else if filter.account.is_some() {
        ("account", "has", "Ask by `identity` or `key` instead.")
    } else if filter.name.is_some() {
        ("name", "has", "Ask by `identity` or `key` instead.")
    } else {
        (
            "q",
            "begins the name or the identity of",
            "Give `q` more characters, or ask by `identity`.",
        )
    }
}

/// A fault for the tags, and a fault for each column filter, with the number of connections that
/// match.
fn tag_faults(filter: &ConnectionFilter, tags: u64, columns: u64) -> Vec<Fault> {
    let tag_fault = match &filter.tags {
        Some(Tags::Any(names)) if names.len() > 1 => format!("have {tags} connections together"),
        Some(Tags::All(names)) if names.len() > 1 => {
            format!("have {tags} connections each, or more")
        }
        _ => format!("has {tags} connections"),
    };
    let mut faults = vec![fault("tags", &tag_fault)];
    let column_filters = [
        ("platform", filter.platform.is_some()),
        ("platformVersion", filter.platform_version.is_some()),
        ("identityType", filter.identity_type.is_some()),
        ("state", filter.state.is_some()),
    ];
    let names: Vec<&str> =
        column_filters.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
    let verb = if names.len() > 1 {
        "matches, together with the other filters except `tags`,"
    } else {
        "matches"
    };
    faults.extend(
        names.into_iter().map(|name| fault(name, &format!("{verb} {columns} connections"))),
    );
    faults
}

#[cfg(test)]
mod tests {
    use super::tag_faults;
    use crate::connections::filter::{ConnectionFilter, Tags};

    #[test]
    fn tag_faults_distinguish_one_and_several_tags() {
        let names = |count| ["a", "b"].into_iter().take(count).map(str::to_owned).collect();
        for (tags, expected_detail) in [
            (Tags::Any(names(1)), "`tags` has 7 connections"),
            (Tags::All(names(1)), "`tags` has 7 connections"),
            (Tags::Any(names(2)), "`tags` have 7 connections together"),
            (Tags::All(names(2)), "`tags` have 7 connections each, or more"),
        ] {
            let filter = ConnectionFilter { tags: Some(tags), ..ConnectionFilter::default() };
            assert_eq!(tag_faults(&filter, 7, 0)[0].detail, expected_detail);
        }
    }
}
