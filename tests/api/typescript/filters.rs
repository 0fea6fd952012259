//! Generates `npm/src/types/filters.ts`: the query parameters of the npm package's calls.

use std::fmt::Write as _;

use connector_vault::http::doc::DefaultValue;
use connector_vault::http::endpoint::Keyed;
use connector_vault::http::query::{Check, Parameter};

use super::{WRITTEN_BY, enumerations};

pub const FILE: &str = "npm/src/types/filters.ts";
const HEAD: &str = "// The query parameters of lists and of single resources.";
/// The maximum line length.
const WIDTH: usize = 120;

/// A TypeScript interface with the parameters of an endpoint.
struct Interface {
    name: &'static str,
    endpoint: Keyed,
    about: &'static str,
    /// Whether the package can also iterate over the list, with larger pages.
    iterates: bool,
}

const fn interface(name: &'static str, endpoint: Keyed, about: &'static str) -> Interface {
    Interface { name, endpoint, about, iterates: false }
}

const fn iterated(name: &'static str, endpoint: Keyed, about: &'static str) -> Interface {
    Interface { iterates: true, ..interface(name, endpoint, about) }
}

const INTERFACES: [Interface; 15] = [
    interface(
        "ConnectorFilters",
        Keyed::ListConnectors,
        "Filters of the list of connectors. A connector must match all of them.",
    ),
    interface(
        "ActionSearch",
        Keyed::SearchActions,
        "A search over the actions of all platforms. An action must match all filters.",
    ),
    interface(
        "ActionFilters",
        Keyed::ListActions,
        "Filters of a list of actions. An action must match all of them.",
    ),
    interface("ActionQuery", Keyed::GetAction, "Options for retrieving an action."),
    interface(
        "ConnectionFilters",
        Keyed::ListConnections,
        "Filters of the list of connections. A connection must match all of them.",
    ),
    interface("CredentialsQuery", Keyed::GetCredentials, "Options for retrieving credentials."),
    iterated("AttemptFilters", Keyed::ListAttempts, "Which attempts to list."),
    interface("AttemptQuery", Keyed::GetAttempt, "Options for retrieving an attempt."),
    iterated("AuditFilters", Keyed::ListAudit, "Which entries to list."),
    iterated("EventFilters", Keyed::ListEvents, "Which events to list."),
    interface("UsageQuery", Keyed::GetUsage, "Which requests to count, and how."),
    iterated("DeliveryQuery", Keyed::ListDeliveries, "Which deliveries to list."),
    iterated("ApiKeyQuery", Keyed::ListKeys, "Which API keys to list."),
    interface("AgentGrantFilters", Keyed::ListAgentGrants, "Which grants to list."),
    interface("ConsoleSessionFilters", Keyed::ListConsoleSessions, "Which sessions to list."),
];

/// Generates the source text of [`FILE`].
pub fn text() -> String {
    let mut text = format!("{HEAD}\n{WRITTEN_BY}\nimport type {{ Names }} from \"./names.js\";\n");
    for Interface { name, endpoint, about, iterates } in &INTERFACES {
        write!(text, "\n/** {about} */\nexport interface {name} {{\n").unwrap();
        for parameter in endpoint.spec().query {
            let about = description(parameter, *iterates);
            let (name, value_type) = (parameter.name, value_type(parameter));
            let member = if parameter.is_required {
                format!("{name}: {value_type};")
            } else {
                format!("{name}?: {value_type} | undefined;")
            };
            writeln!(text, "{}\n  {member}", comment(&about)).unwrap();
        }
        text.push_str("}\n");
    }
    text
}

/// The parameter's description, with the limits of its value and its default.
fn description(parameter: &Parameter, iterates: bool) -> String {
    let mut text = parameter.doc.about.to_owned();
    match parameter.check {
        Check::Integer(least, most) if parameter.name != "page" => {
            write!(text, " {least}–{most}.").unwrap();
        }
        Check::Length(most) | Check::Words(most) => write!(text, " 1–{most} characters.").unwrap(),
        Check::Items(most, _) if parameter.doc.items.is_empty() => {
            write!(text, " At most {most}.").unwrap();
        }
        _ => {}
    }
    let default = match parameter.doc.default {
        Some(DefaultValue::Boolean(value)) => value.to_string(),
        Some(DefaultValue::Integer(value)) => value.to_string(),
        Some(DefaultValue::Text(value)) => value.to_owned(),
        Some(DefaultValue::Texts(values)) => values.join(","),
        None => return text,
    };
    write!(text, " Default: `{default}`").unwrap();
    text.push_str(if iterates && parameter.name == "limit" {
        "; 100 when iterating."
    } else {
        "."
    });
    text
}

/// The TypeScript type of a parameter's value.
fn value_type(parameter: &Parameter) -> String {
    let union_of = |names: &[&str]| {
        let known = enumerations().into_iter().find(|(_, values)| values == names);
        known.map_or_else(
            || names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" | "),
            |(name, _)| format!("Names[\"{name}\"]"),
        )
    };
    match parameter.check {
        Check::Boolean => "boolean".into(),
        Check::Integer(..) => "number".into(),
        Check::OneOf(names) => union_of(names),
        Check::Items(..) if parameter.doc.items.is_empty() => "string | readonly string[]".into(),
        Check::Items(..) => {
            let one = union_of(parameter.doc.items);
            format!("{one} | readonly {one}[]")
        }
        // The service accepts any string, and returns no rows for an unknown method.
        Check::Length(_) if parameter.name == "method" => {
            "Names[\"ActionMethod\"] | Lowercase<Names[\"ActionMethod\"]>".into()
        }
        Check::Length(_) | Check::Words(_) | Check::Rule(_) => "string".into(),
    }
}

/// Formats a member's comment, on one line if it fits.
fn comment(text: &str) -> String {
    let line = format!("  /** {text} */");
    if line.chars().count() <= WIDTH {
        return line;
    }
    let mut comment = "  /**\n   *".to_owned();
    let mut length = 4;
    for word in text.split(' ') {
        if length + 1 + word.chars().count() > WIDTH {
            comment.push_str("\n   *");
            length = 4;
        }
        comment.push(' ');
        comment.push_str(word);
        length += 1 + word.chars().count();
    }
    comment + "\n   */"
}
