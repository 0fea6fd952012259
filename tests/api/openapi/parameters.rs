//! The parameters of an operation: from the service's tables, with a description each.

use connector_vault::api::catalog::{ACTION_PARAMETERS, CONNECTOR_PARAMETERS};
use connector_vault::api::paging::DEFAULT_LIMIT;
use connector_vault::api::query::{Check, Parameter};
use connector_vault::api::route::Endpoint;
use connector_vault::api::vault::list::PARAMETERS as CONNECTION_PARAMETERS;
use connector_vault::catalog::key;
use connector_vault::catalog::model::Method;

use super::node::{Node, object};
use super::texts::{self, longest};

/// Names, defaults and descriptions, in the order of the service's table.
type About = (&'static str, Node, String);

/// The query parameters of an endpoint.
pub fn query(endpoint: Endpoint) -> Vec<Node> {
    let (parameters, about): (&[Parameter], Vec<About>) = match endpoint {
        Endpoint::ListConnectors => (&CONNECTOR_PARAMETERS, connectors()),
        Endpoint::ListActions => (&ACTION_PARAMETERS, actions()),
        Endpoint::ListConnections => (&CONNECTION_PARAMETERS, connections()),
        _ => return Vec::new(),
    };
    let names = |parameter: &Parameter| parameter.name;
    let described: Vec<_> = about.iter().map(|(name, ..)| *name).collect();
    assert_eq!(parameters.iter().map(names).collect::<Vec<_>>(), described, "{endpoint:?}");
    parameters.iter().zip(about).map(|(parameter, about)| parameter_of(*parameter, about)).collect()
}

fn parameter_of(parameter: Parameter, (name, default, description): About) -> Node {
    let (description, example) = with_example(parameter, description);
    let mut schema = schema(parameter.check);
    if let Some(example) = example {
        schema = schema.with(object! {"examples": vec![example]});
    }
    if default != Node::Null {
        schema = schema.with(object! {"default": default});
    }
    let node = object! {"name": name, "in": "query", "description": description};
    let style = match parameter.check {
        Check::Items(_) => object! {"style": "form", "explode": false},
        _ => object! {},
    };
    node.with(style).with(object! {"schema": schema})
}

/// What a description ends with when an example follows, between backquotes.
const EXAMPLE: &str = " Such as `";

/// The description, and as a value what it names as an example.
fn with_example(parameter: Parameter, description: String) -> (String, Option<Node>) {
    let Some((_, example)) = description.split_once(EXAMPLE) else { return (description, None) };
    let example = example.strip_suffix("`.").unwrap();
    let example = match parameter.check {
        Check::Items(_) => Node::texts(example.split(',')),
        _ => example.into(),
    };
    (description, Some(example))
}

fn schema(check: Check) -> Node {
    let count = |most: usize| u64::try_from(most).unwrap();
    match check {
        Check::Text => object! {"type": "string", "minLength": 1},
        Check::Boolean => object! {"type": "boolean"},
        Check::Integer(least, most) => {
            object! {"type": "integer", "minimum": least, "maximum": most}
        }
        Check::OneOf(names) => object! {"type": "string", "enum": Node::texts(names)},
        Check::Items(most) => object! {
            "type": "array",
            "items": object! {"type": "string", "pattern": "^[^,]+$"},
            "minItems": 1,
            "maxItems": count(most),
        },
        Check::Length(most) => {
            object! {"type": "string", "minLength": 1, "maxLength": count(most)}
        }
        Check::Words(most) => {
            object! {"type": "string", "minLength": 1, "maxLength": count(most), "pattern": "\\S"}
        }
        // The only rule is that of cursors: so many hexadecimal digits.
        Check::Rule(rule) => {
            let digits = longest(|count| rule(&"0".repeat(count)).is_none());
            object! {"type": "string", "pattern": format!("^[0-9a-f]{{{digits}}}$")}
        }
    }
}

/// What the lists have in common.
fn paging() -> [About; 2] {
    [
        ("limit", DEFAULT_LIMIT.into(), "Rows a page.".into()),
        (
            "page",
            1.into(),
            "The number of the page, from 1. Past the end `rows` is empty and `total` stays true."
                .into(),
        ),
    ]
}

fn plain(name: &'static str, description: &str) -> About {
    (name, Node::Null, description.into())
}

fn connectors() -> Vec<About> {
    let own = [
        plain("platform", "The platform: exact, ignoring case. Such as `github`."),
        ("authkit", false.into(), "`true`: only connectors that the operator enabled for hosted authorization. `false`: no restriction.".into()),
        plain("key", "The connector's key: exact, case-sensitive. Such as `api::github::v1`."),
        plain("name", "The display name: exact, ignoring case. Such as `GitHub v3 REST API`."),
        plain("category", "The category: exact, ignoring case. Such as `Developer Tools`."),
        plain("q", "Ranked search, ignoring case: every word must occur in the name, key, platform, category, tags or description. At least one character that is not white space. Such as `rest api`."),
    ];
    own.into_iter().chain(paging()).collect()
}

fn actions() -> Vec<About> {
    let methods = Method::ALL.map(|method| format!("`{}`", method.as_str())).join(", ");
    let own = [
        plain("title", "The title: exact, ignoring case. Such as `List branches`."),
        plain("key", "The action's key: exact, case-sensitive. Such as `reposListBranches`."),
        (
            "method",
            Node::Null,
            format!(
                "The HTTP method, ignoring case: {methods}. Any other text finds nothing. Such as `POST`."
            ),
        ),
        plain(
            "q",
            "Ranked search, ignoring case: every word must occur in the title, key or platform. At least one character that is not white space. Such as `pull request`.",
        ),
    ];
    own.into_iter().chain(paging()).collect()
}

fn connections() -> Vec<About> {
    let own = [
        plain("key", "Connection keys, separated by commas: any of them. Exact, case-sensitive. Such as `test::github::default::ann@example.com`."),
        plain("platformVersion", "The version of the platform: exact, case-sensitive. Such as `v1`."),
        plain("name", "The display name: exact, ignoring case. Such as `Payments team`."),
        plain("identityType", "The type of the identity."),
        plain("identity", "The identity: exact, case-sensitive. Such as `ann@example.com`."),
        plain("platform", "The platform: exact, ignoring case. Such as `github`."),
        plain("tags", "Tags, separated by commas: all of them, or with `tagsMatch=any` at least one. Exact, case-sensitive. Such as `eu,billing`."),
        ("tagsMatch", "all".into(), "Whether a connection must have `all` of `tags`, or `any` of them. Only together with `tags`.".into()),
        plain("q", "What the name or the identity begins with, ignoring case. Such as `ann`."),
        ("active", true.into(), "Whether the connection is active. When it is left out, only active connections are listed.".into()),
    ];
    let after = plain(
        "after",
        "Where the page begins: a cursor from the `Link` header of the page before, good for the same filters, limit and API key. Not together with `page`.",
    );
    own.into_iter().chain(paging()).chain([after]).collect()
}

/// The path parameter of an endpoint.
pub fn path(endpoint: Endpoint) -> Option<Node> {
    let (name, schema, description) = match endpoint {
        Endpoint::ListActions => {
            let schema = texts::text(|text| key::platform(&text.to_ascii_lowercase()));
            (
                "platform",
                schema.with(object! {"examples": Node::texts(["github"])}),
                "The platform, ignoring case. Such as `github`.",
            )
        }
        Endpoint::ReadConnection | Endpoint::UpdateConnection | Endpoint::DeleteConnection => {
            let schema = object! {"type": "string", "format": "uuid"};
            ("id", schema, "The connection's id, ignoring case.")
        }
        _ => return None,
    };
    Some(object! {
        "name": name, "in": "path", "required": true, "description": description, "schema": schema,
    })
}

/// The request headers that some operations understand, by the name of their component.
pub fn headers() -> Node {
    object! {
        "IfNoneMatch": object! {
            "name": "If-None-Match",
            "in": "header",
            "description": "Entity tags of answers that are there already, as `ETag` gave them, separated by commas; or `*`. If the answer has one of them: 304, without a body.",
            "schema": object! {"type": "string"},
        },
        "IfMatch": object! {
            "name": "If-Match",
            "in": "header",
            "description": "Strong entity tags, as `ETag` gave them, separated by commas; or `*`. The connection must be at one of these versions, else the answer is a 412 and nothing is written.",
            "schema": object! {"type": "string"},
        },
    }
}

/// The platform's schema where the service shows or takes it in small letters.
pub fn platform() -> Node {
    texts::text(key::platform)
}
