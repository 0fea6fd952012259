//! The parameters of an operation: from the service's tables, each with a description.

use super::audit;
use super::node::{Node, object};
use super::string_schemas::{self, longest};
use crate::catalog::key;
use crate::connect::client::DEFAULT_CLIENT;
use crate::http::endpoint::Keyed;
use crate::http::paging::DEFAULT_LIMIT;
use crate::http::query::{Check, Parameter};
use crate::storage::read_replica::{self, BOOKMARK, FIRST_PRIMARY, FIRST_UNCONSTRAINED};
use crate::terms::{AttemptStatus, AuditAction, EventType, Method, UsageGroup};

/// Names, defaults and descriptions, in the order of the service's table.
type ParameterDoc = (&'static str, Node, String);

/// All parameters of an endpoint; `supports_if_none_match` is whether it supports `If-None-Match`.
pub fn convert(endpoint: Keyed, supports_if_none_match: bool) -> Vec<Node> {
    let facts = endpoint.spec();
    let mut parameters: Vec<Node> = path(endpoint).collect();
    parameters.append(&mut query(endpoint));
    for (name, is_heeded) in [
        ("IfNoneMatch", supports_if_none_match),
        ("IfMatch", facts.if_match),
        ("Bookmark", endpoint.takes_bookmark()),
    ] {
        if is_heeded {
            parameters.push(object! {"$ref": format!("#/components/parameters/{name}")});
        }
    }
    parameters
}

pub fn query(endpoint: Keyed) -> Vec<Node> {
    let parameters = endpoint.spec().query;
    let about = match endpoint {
        Keyed::ListConnectors => connectors(),
        Keyed::SearchActions => search(),
        Keyed::ListActions => actions(),
        Keyed::GetAction => {
            vec![
                plain("include", "`responses` adds the action's responses."),
                plain(
                    "for",
                    "`model`: `input` is one flat object that the tool definitions of models allow. Run the action with `arguments` then.",
                ),
            ]
        }
        Keyed::ListConnections => connections(),
        Keyed::GetCredentials => vec![(
            "refresh",
            false.into(),
            "`true`: refresh the access token, even if it is still valid.".into(),
        )],
        Keyed::GetAttempt => vec![plain(
            "wait",
            "The number of seconds to wait for the end of the attempt. If omitted, the response comes at once.",
        )],
        Keyed::ListAttempts => {
            let [limit, _] = paging();
            vec![
                plain(
                    "status",
                    "Comma-separated: only attempts with one of these statuses. For example, `failed,expired`.",
                ),
                plain(
                    "platform",
                    "Only attempts at this platform, ignoring case. For example, `github`.",
                ),
                plain(
                    "identity",
                    "Only attempts of this identity, exactly. For example, `team-42`.",
                ),
                limit,
                plain("before", "`next` of the previous page: only attempts that began earlier."),
            ]
        }
        Keyed::ListAgentGrants => {
            let [limit, _] = paging();
            let before = "`next` of the previous page: only grants that began earlier.";
            let identity = "Only grants of this identity, exactly. For example, `team-42`.";
            vec![plain("identity", identity), limit, plain("before", before)]
        }
        Keyed::ListConsoleSessions => {
            let [limit, _] = paging();
            vec![limit, plain("before", "`next` of the previous page: only earlier sessions.")]
        }
        Keyed::ListOauthClients => paging().into(),
        Keyed::GetOauthClient | Keyed::SetOauthClient | Keyed::DeleteOauthClient => vec![(
            "name",
            DEFAULT_CLIENT.into(),
            "The name of the client, for several at a platform: 1 to 40 of a-z, 0-9 and -. For example, `bot`.".into(),
        )],
        Keyed::ListEvents => events(),
        Keyed::ListAudit => entries(),
        Keyed::GetUsage => usage(),
        Keyed::ListKeys => {
            let [limit, _] = paging();
            vec![limit, plain("before", "`next` of the previous page: only older keys.")]
        }
        Keyed::ListDeliveries => {
            let [limit, _] = paging();
            let before = "`next` of the previous page: only deliveries of earlier events.";
            vec![plain("state", "The state of the delivery."), limit, plain("before", before)]
        }
        _ => Vec::new(),
    };
    let names = |parameter: &Parameter| parameter.name;
    let described: Vec<_> = about.iter().map(|(name, ..)| *name).collect();
    assert_eq!(parameters.iter().map(names).collect::<Vec<_>>(), described, "{endpoint:?}");
    parameters.iter().zip(about).map(|(parameter, about)| parameter_of(*parameter, about)).collect()
}

fn parameter_of(parameter: Parameter, (name, default, description): ParameterDoc) -> Node {
    let (description, example) = with_example(parameter, description);
    let mut schema = schema(parameter);
    if let Some(example) = example {
        schema = schema.with(object! {"examples": vec![example]});
    }
    if default != Node::Null {
        schema = schema.with(object! {"default": default});
    }
    let node = object! {"name": name, "in": "query", "description": description};
    let style = match parameter.check {
        Check::Items(..) => object! {"style": "form", "explode": false},
        _ => object! {},
    };
    let required = if parameter.is_required {
        object! {"required": true}
    } else {
        object! {}
    };
    node.with(required).with(style).with(object! {"schema": schema})
}

/// How a description ends before an example in backquotes.
const EXAMPLE: &str = " For example, `";

/// The description, and the value of its example.
fn with_example(parameter: Parameter, description: String) -> (String, Option<Node>) {
    let Some((_, example)) = description.split_once(EXAMPLE) else { return (description, None) };
    let example = example.strip_suffix("`.").unwrap();
    let example = match parameter.check {
        Check::Items(..) => Node::texts(example.split(',')),
        _ => example.into(),
    };
    (description, Some(example))
}

/// An id of connections and attempts.
const SOME_UUID: &str = "0b9af7c6-0000-4000-8000-000000000000";

fn schema(parameter: Parameter) -> Node {
    let count = |max: usize| u64::try_from(max).unwrap();
    match parameter.check {
        Check::Boolean => object! {"type": "boolean"},
        Check::Integer(least, max) => {
            object! {"type": "integer", "minimum": least, "maximum": max}
        }
        Check::OneOf(names) => object! {"type": "string", "enum": Node::texts(names)},
        Check::Items(max, _) if parameter.name == "types" => names(EventType::NAMES, max),
        Check::Items(max, _) if parameter.name == "actions" => names(AuditAction::NAMES, max),
        Check::Items(max, _) if parameter.name == "groupBy" => names(UsageGroup::NAMES, max),
        Check::Items(max, _) if parameter.name == "status" => names(AttemptStatus::NAMES, max),
        Check::Items(max, longest) => object! {
            "type": "array",
            "items": object! {"type": "string", "pattern": "^[^,]+$", "maxLength": count(longest)},
            "minItems": 1,
            "maxItems": count(max),
        },
        Check::Length(max) => {
            object! {"type": "string", "minLength": 1, "maxLength": count(max)}
        }
        Check::Words(max) => {
            object! {"type": "string", "minLength": 1, "maxLength": count(max), "pattern": "\\S"}
        }
        Check::Rule(_) if parameter.name == "platformVersion" => string_schemas::version(),
        // A name of a client can have the form of a UUID.
        Check::Rule(rule) if rule("bot").is_none() => {
            object! {"type": "string", "pattern": "^[a-z0-9-]{1,40}$"}
        }
        Check::Rule(rule) if rule(SOME_UUID).is_none() => {
            object! {"type": "string", "format": "uuid"}
        }
        Check::Rule(rule) if rule("evt_0000000000000").is_none() => {
            object! {"type": "string", "pattern": "^evt_[0-9]{13}$"}
        }
        Check::Rule(rule) if rule("2027-01-15T08:00:00Z").is_none() => {
            object! {"type": "string", "format": "date-time"}
        }
        Check::Rule(rule) if rule("2027-01-15").is_none() => {
            object! {"type": "string", "format": "date"}
        }
        Check::Rule(rule) if rule("aud_0000000000000000000000000").is_none() => {
            object! {"type": "string", "pattern": audit::ID}
        }
        // The only other rule is that of cursors: hexadecimal digits.
        Check::Rule(rule) => {
            let digits = longest(|count| rule(&"0".repeat(count)).is_none());
            object! {"type": "string", "pattern": format!("^[0-9a-f]{{{digits}}}$")}
        }
    }
}

/// The schema of an array of one to `max` of these names.
fn names<const N: usize>(names: [&'static str; N], max: usize) -> Node {
    object! {
        "type": "array",
        "items": object! {"type": "string", "enum": Node::texts(names)},
        "minItems": 1,
        "maxItems": u64::try_from(max).unwrap(),
    }
}

/// The parameters that all lists have.
fn paging() -> [ParameterDoc; 2] {
    [
        ("limit", DEFAULT_LIMIT.into(), "Rows per page.".into()),
        (
            "page",
            1.into(),
            "The number of the page, from 1. Past the last page `rows` is empty and `total` stays correct. In the list of connections, a very deep page returns `query_too_broad`: follow `Link` instead."
                .into(),
        ),
    ]
}

fn plain(name: &'static str, description: &str) -> ParameterDoc {
    (name, Node::Null, description.into())
}

fn connectors() -> Vec<ParameterDoc> {
    let own = [
        plain("platform", "The platform: exact, ignoring case. For example, `github`."),
        ("authkit", false.into(), "`true`: only connectors that the operator has enabled for hosted authorization. `false`: all connectors.".into()),
        ("connectable", false.into(), "`true`: only connectors that accounts can be connected to now: those with a method that needs no OAuth client, and those for which you have set an OAuth client in this environment. `false`: all connectors.".into()),
        ("hasOauthClient", false.into(), "`true`: only connectors for which you have set an OAuth client in this environment. For a token, only the client counts with which it connects accounts. `false`: all connectors.".into()),
        plain("key", "The connector's key: exact, case-sensitive. For example, `api::github::v1`."),
        plain("name", "The display name: exact, ignoring case. For example, `GitHub`."),
        plain("category", "The category: exact, ignoring case. For example, `Developer Tools`."),
        plain("q", "Ranked search, ignoring case: every word must occur in the name, key, platform, category, tags or description. Must not be only white space. For example, `rest api`."),
    ];
    own.into_iter().chain(paging()).collect()
}

fn method() -> ParameterDoc {
    let methods = Method::ALL.map(|method| format!("`{}`", method.as_str())).join(", ");
    let description = format!(
        "The HTTP method, ignoring case: {methods}. Any other value matches nothing. For example, `POST`."
    );
    ("method", Node::Null, description)
}

fn search() -> Vec<ParameterDoc> {
    let own = [
        plain(
            "q",
            "What the action does, in words. Must not be only white space. For example, `create github issue`.",
        ),
        plain(
            "platform",
            "Platforms, separated by commas: actions of any of them. Exact, ignoring case. For example, `github,gitlab`.",
        ),
        method(),
    ];
    own.into_iter().chain(paging()).collect()
}

fn actions() -> Vec<ParameterDoc> {
    let own = [
        plain("title", "The title: exact, ignoring case. For example, `List branches`."),
        plain("key", "The action's key: exact, case-sensitive. For example, `reposListBranches`."),
        method(),
        plain(
            "q",
            "Ranked search, ignoring case: every word must occur in the title, key or platform. Must not be only white space. For example, `pull request`.",
        ),
    ];
    own.into_iter().chain(paging()).collect()
}

fn connections() -> Vec<ParameterDoc> {
    let own = [
        plain("key", "Connection keys, separated by commas: matches any of them. Exact, case-sensitive. For example, `test::github::default::ann@example.com`."),
        plain("platformVersion", "The version of the platform: exact, case-sensitive. For example, `v1`."),
        plain("name", "The display name: exact, ignoring case. For example, `Payments team`."),
        plain("identityType", "The identity type."),
        plain("identity", "The identity: exact, case-sensitive. For example, `ann@example.com`."),
        plain("account", "The ID of the connected account at the platform, `account.id`: exact, case-sensitive. For example, `583231`."),
        plain("platform", "The platform: exact, ignoring case. For example, `github`."),
        plain("tags", "Tags, separated by commas: matches connections with all of them, or with `tagsMatch=any` at least one. Exact, case-sensitive. For example, `eu,billing`."),
        ("tagsMatch", "all".into(), "Whether a connection must have `all` of `tags` or `any` of them. Only together with `tags`.".into()),
        plain("q", "A prefix of the name or the identity, ignoring case. A prefix with too many matches returns `query_too_broad`. For example, `ann`."),
        plain("state", "The state of the connection."),
        ("active", true.into(), "Whether the connection is active. If omitted, `true`.".into()),
        plain("include", "`account` adds the connected account to each row."),
    ];
    let after = plain(
        "after",
        "A cursor from the `Link` header of the previous page, valid for the same filters, `limit` and API key. Cannot be combined with `page`.",
    );
    own.into_iter().chain(paging()).chain([after]).collect()
}

fn events() -> Vec<ParameterDoc> {
    let [limit, _] = paging();
    vec![
        plain(
            "types",
            "Only events of these types, separated by commas. A page may then have fewer rows than `limit`, or none, although more follow: continue while `next` changes. For example, `connection.degraded,connection.failed`.",
        ),
        plain("connection", "Only events about the connection with this id."),
        (
            "order",
            "oldest".into(),
            "Which events come first. With `newest`, the list goes from the latest event back to the oldest, and `after` continues in that direction.".into(),
        ),
        limit,
        plain(
            "after",
            "`next` of the previous page: only events after it. If omitted, the list begins with the oldest event, or with the latest if `order` is `newest`. For example, `evt_0000000000001`.",
        ),
    ]
}

fn entries() -> Vec<ParameterDoc> {
    let [limit, _] = paging();
    vec![
        plain(
            "actor",
            "Only entries of this actor: the id of an API key, the identity of a token or a person, or the id of an agent's grant, exactly.",
        ),
        plain(
            "actions",
            "Only entries of these actions, separated by commas. With this parameter, or with several of `actor`, `target` and `connection`, a page may have fewer rows than `limit`, or none, although more follow: continue until `next` is `null`. For example, `credentials.read,key.created`.",
        ),
        plain(
            "target",
            "Only entries about the object with this id, or about the OAuth client of this platform, followed by a slash and its name unless that is `default`. For example, `github`.",
        ),
        plain("connection", "Only entries about the connection with this id."),
        plain("from", "Only entries from this time on. For example, `2026-01-15T08:00:00Z`."),
        plain("to", "Only entries before this time."),
        limit,
        plain("before", "`next` of the previous page: only earlier entries."),
    ]
}

fn usage() -> Vec<ParameterDoc> {
    vec![
        plain(
            "from",
            "The first day, UTC. Without it, 30 days are counted. For example, `2027-01-01`.",
        ),
        plain("to", "The last day, UTC; today by default. For example, `2027-01-15`."),
        (
            "groupBy",
            Node::texts(["day"]),
            "What has a row of its own, separated by commas. For example, `day,status`.".into(),
        ),
        plain("platform", "Only requests for this platform, exactly. For example, `github`."),
        plain(
            "identity",
            "Only requests for this identity, exactly. For example, `ann@example.com`.",
        ),
    ]
}

fn path(endpoint: Keyed) -> impl Iterator<Item = Node> {
    let path = endpoint.spec().path;
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names.map(move |name| {
        let (schema, description) = match name {
            "platform" => (
                platform_in_any_case().with(object! {"examples": Node::texts(["github"])}),
                "The platform, ignoring case. For example, `github`.",
            ),
            "key" => {
                let schema = object! {"type": "string", "examples": Node::texts(["issuesCreate"])};
                (schema, "The action's key, exactly. For example, `issuesCreate`.")
            }
            "id" if path.starts_with("/v1/webhooks/") => {
                let schema = object! {"type": "string", "pattern": "^wh_"};
                (schema, "The webhook's id, exactly.")
            }
            "id" => {
                let schema = object! {"type": "string", "format": "uuid"};
                let description = match endpoint {
                    Keyed::GetAttempt => "The attempt's id, ignoring case.",
                    Keyed::RotateKey | Keyed::RevokeKey => "The API key's id, ignoring case.",
                    Keyed::DeleteConsoleSession => "The session's id, ignoring case.",
                    Keyed::DeleteAgentGrant => "The grant's id, ignoring case.",
                    _ => "The connection's id, ignoring case.",
                };
                (schema, description)
            }
            "path" => {
                let schema = object! {"type": "string", "examples": Node::texts(["user"])};
                (schema, "The path at the platform, below its server: any number of segments, with slashes between them.")
            }
            _ => panic!("`{name}` is not described"),
        };
        object! {
            "name": name, "in": "path", "required": true, "description": description, "schema": schema,
        }
    })
}

/// The request headers of some operations, by the name of their component.
pub fn headers() -> Node {
    object! {
        "IfNoneMatch": object! {
            "name": "If-None-Match",
            "in": "header",
            "description": "Entity tags of responses that you already have, as returned in `ETag`, separated by commas; or `*`. If one of them matches, the response is a 304 without a body.",
            "schema": object! {"type": "string"},
        },
        "IfMatch": object! {
            "name": "If-Match",
            "in": "header",
            "description": "Strong entity tags, as returned in `ETag`, separated by commas; or `*`. If the connection is not at one of these versions, the response is a 412, and nothing is written.",
            "schema": object! {"type": "string"},
        },
        "Bookmark": object! {
            "name": BOOKMARK,
            "in": "header",
            "description": format!("Lets a read replica near you serve a read, if there is one: any replica with `{FIRST_UNCONSTRAINED}`, or one that is at least as recent as an earlier response with the value of this header in that response. `{FIRST_PRIMARY}` uses the primary and returns a bookmark. Without this header, reads use the primary."),
            "schema": object! {"type": "string", "pattern": "^([0-9A-Za-z]{2}\\.)?[0-9A-Za-z-]+$", "maxLength": u64::try_from(read_replica::MAX_BOOKMARK).unwrap()},
        },
    }
}

/// The platform's schema where the service requires lower case.
pub fn platform() -> Node {
    string_schemas::text(key::platform)
}

/// The platform's schema where case is ignored.
pub fn platform_in_any_case() -> Node {
    string_schemas::text(|text| key::platform(&text.to_ascii_lowercase()))
}
