//! The query parameters of each list, each with its check, which `query.rs` applies, and its description for the
//! `OpenAPI` document. A new parameter is added here, and read in its list's module. `limit` and `page` are in `paging.rs`.

use super::doc::{DefaultValue, Doc};
use super::paging::{LIMIT, PAGE};
use super::query::{Check, Parameter};
use crate::audit::AuditId;
use crate::catalog::key::{MAX_PLATFORM, platform_version};
use crate::catalog::list_search::MAX_CHARS;
use crate::connect::client::DEFAULT_CLIENT;
use crate::connect::rules::client_name;
use crate::connections::cursor::Cursor;
use crate::connections::filter::{MAX_KEYS, MAX_Q_LENGTH, MAX_TAGS};
use crate::connections::key::MAX_KEY;
use crate::connections::model::ConnectionId;
use crate::connections::rules::{MAX_IDENTITY, MAX_NAME, MAX_TAG_LENGTH};
use crate::events::EventId;
use crate::terms::{
    AttemptStatus, AuditAction, DeliveryState, EventType, IdentityType, State, UsageGroup,
};
use crate::usage::endpoints::parse_day;
use crate::util::rfc3339;

/// The maximum length of a catalog filter; no name, title, key or category is longer.
pub const MAX_FILTER_LENGTH: usize = 256;

/// The maximum length of the id of an account at a platform.
const MAX_ACCOUNT_ID_LENGTH: usize = 255;

/// The maximum number of platforms in a search over all actions.
const MAX_PLATFORMS: usize = 20;

/// The error for an `after` that is not a cursor of the list.
pub(crate) const INVALID_CURSOR: &str = "is not a cursor of this list: follow the `Link` header with its filters and limit unchanged, and with the same API key";

const METHOD: Parameter = parameter(
    "method",
    Check::Length(MAX_FILTER_LENGTH),
    "The HTTP method, ignoring case: `GET`, `POST`, `PUT`, `PATCH`, `DELETE`. Any other value matches nothing. For example, `POST`.",
);

/// The parameters of the connector list.
pub const CONNECTOR_PARAMETERS: [Parameter; 10] = [
    parameter(
        "platform",
        Check::Length(MAX_PLATFORM),
        "The platform: exact, ignoring case. For example, `github`.",
    ),
    parameter(
        "authkit",
        Check::Boolean,
        "`true`: only connectors that the operator has enabled for hosted authorization. `false`: all connectors.",
    )
    .default(DefaultValue::Boolean(false)),
    parameter(
        "connectable",
        Check::Boolean,
        "`true`: only connectors that accounts can be connected to now: those with a method that needs no OAuth client, and those for which you have set an OAuth client in this environment. `false`: all connectors.",
    )
    .default(DefaultValue::Boolean(false)),
    parameter(
        "hasOauthClient",
        Check::Boolean,
        "`true`: only connectors for which you have set an OAuth client in this environment. For a token, only the client with which it connects accounts is considered. `false`: all connectors.",
    )
    .default(DefaultValue::Boolean(false)),
    parameter(
        "key",
        Check::Length(MAX_FILTER_LENGTH),
        "The connector's key: exact, case-sensitive. For example, `api::github::v1`.",
    ),
    parameter(
        "name",
        Check::Length(MAX_FILTER_LENGTH),
        "The display name: exact, ignoring case. For example, `GitHub`.",
    ),
    parameter(
        "category",
        Check::Length(MAX_FILTER_LENGTH),
        "The category: exact, ignoring case. For example, `Developer Tools`.",
    ),
    parameter(
        "q",
        Check::Words(MAX_CHARS),
        "Ranked search, ignoring case: every word must occur in the name, key, platform, category, tags or description. Must not be only white space. For example, `rest api`.",
    ),
    LIMIT,
    PAGE,
];

/// The parameters of the action list.
pub const ACTION_PARAMETERS: [Parameter; 6] = [
    parameter(
        "title",
        Check::Length(MAX_FILTER_LENGTH),
        "The title: exact, ignoring case. For example, `List branches`.",
    ),
    parameter(
        "key",
        Check::Length(MAX_FILTER_LENGTH),
        "The action's key: exact, case-sensitive. For example, `reposListBranches`.",
    ),
    METHOD,
    parameter(
        "q",
        Check::Words(MAX_CHARS),
        "Ranked search, ignoring case: every word must occur in the title, key or platform. Must not be only white space. For example, `pull request`.",
    ),
    LIMIT,
    PAGE,
];

/// The parameters of the search over the actions of all platforms.
pub const SEARCH_PARAMETERS: [Parameter; 5] = [
    Parameter {
        is_required: true,
        ..parameter(
            "q",
            Check::Words(MAX_CHARS),
            "What the action does, in words. Must not be only white space. For example, `create github issue`.",
        )
    },
    parameter(
        "platform",
        Check::Items(MAX_PLATFORMS, MAX_PLATFORM),
        "Platforms, separated by commas: actions of any of them. Exact, ignoring case. For example, `github,gitlab`.",
    ),
    METHOD,
    LIMIT,
    PAGE,
];

pub const ACTION_DETAIL_PARAMETERS: [Parameter; 2] = [
    parameter("include", Check::OneOf(&["responses"]), "`responses` adds the action's responses."),
    parameter(
        "for",
        Check::OneOf(&["model"]),
        "`model`: `input` is one flat object that the tool definitions of models allow. Run the action with `arguments` then.",
    ),
];

/// The parameters of a connect attempt.
pub const ATTEMPT_PARAMETERS: [Parameter; 1] = [parameter(
    "wait",
    Check::Integer(1, MAX_WAIT),
    "The number of seconds to wait for the end of the attempt. If omitted, the response comes at once.",
)];

/// The parameters of the list of connect attempts.
pub const ATTEMPTS_PARAMETERS: [Parameter; 5] = [
    names(
        "status",
        &AttemptStatus::NAMES,
        16,
        "Comma-separated: only attempts with one of these statuses. For example, `failed,expired`.",
    ),
    parameter(
        "platform",
        Check::Length(MAX_PLATFORM),
        "Only attempts at this platform, ignoring case. For example, `github`.",
    ),
    parameter(
        "identity",
        Check::Length(MAX_IDENTITY),
        "Only attempts of this identity, exactly. For example, `team-42`.",
    ),
    LIMIT,
    parameter(
        "before",
        Check::Rule(check_attempt_id),
        "`next` of the previous page: only attempts that began earlier.",
    ),
];

/// The parameters of the list of grants to agents.
pub const GRANT_PARAMETERS: [Parameter; 3] = [
    parameter(
        "identity",
        Check::Length(MAX_IDENTITY),
        "Only grants of this identity, exactly. For example, `team-42`.",
    ),
    LIMIT,
    parameter(
        "before",
        Check::Rule(check_attempt_id),
        "`next` of the previous page: only grants that began earlier.",
    ),
];

/// The parameters of the list of console sessions.
pub const CONSOLE_SESSION_PARAMETERS: [Parameter; 2] = [
    LIMIT,
    parameter(
        "before",
        Check::Rule(check_session_id),
        "`next` of the previous page: only earlier sessions.",
    ),
];

/// The maximum time that a request waits for an attempt to end, in seconds.
pub const MAX_WAIT: u64 = 25;

/// The parameters of a connection's credentials.
pub const CREDENTIALS_PARAMETERS: [Parameter; 1] = [parameter(
    "refresh",
    Check::Boolean,
    "`true`: refresh the access token, even if it is still valid.",
)
.default(DefaultValue::Boolean(false))];

/// The parameters of the list of OAuth clients.
pub const CLIENTS_PARAMETERS: [Parameter; 2] = [LIMIT, PAGE];

/// The parameters of an OAuth client.
pub const CLIENT_PARAMETERS: [Parameter; 1] = [
    parameter(
        "name",
        Check::Rule(client_name),
        "The name of the client, for several at a platform: 1 to 40 of a-z, 0-9 and -. For example, `bot`.",
    )
    .default(DefaultValue::Text(DEFAULT_CLIENT)),
];

/// The value of `order` that lists the newest events first.
pub(crate) const NEWEST_FIRST: &str = "newest";

/// The parameters of the list of events.
pub const EVENT_PARAMETERS: [Parameter; 5] = [
    names(
        "types",
        &EventType::NAMES, 64,
        "Only events of these types, separated by commas. A page may then have fewer rows than `limit`, or none, although more follow: continue while `next` changes. For example, `connection.degraded,connection.failed`.",
    ),
    parameter(
        "connection",
        Check::Rule(check_connection_id),
        "Only events about the connection with this id.",
    ),
    parameter(
        "order",
        Check::OneOf(&["oldest", NEWEST_FIRST]),
        "Which events come first. With `newest`, the list goes from the latest event back to the oldest, and `after` continues in that direction.",
    )
    .default(DefaultValue::Text("oldest")),
    LIMIT,
    parameter(
        "after",
        Check::Rule(check_event_id),
        "`next` of the previous page: only events after it. If omitted, the list begins with the oldest event, or with the latest if `order` is `newest`. For example, `evt_0000000000001`.",
    ),
];

/// The parameters of the audit log.
pub const AUDIT_PARAMETERS: [Parameter; 8] = [
    parameter(
        "actor",
        Check::Length(MAX_IDENTITY),
        "Only entries of this actor: the id of an API key, the identity of a token or a person, or the id of an agent's grant, exactly.",
    ),
    names(
        "actions",
        &AuditAction::NAMES,
        64,
        "Only entries of these actions, separated by commas. With this parameter, or with several of `actor`, `target` and `connection`, a page may have fewer rows than `limit`, or none, although more follow: continue until `next` is `null`. For example, `credentials.read,key.created`.",
    ),
    parameter(
        "target",
        Check::Length(MAX_IDENTITY),
        "Only entries about the object with this id, or about the OAuth client of this platform, followed by a slash and its name unless that is `default`. For example, `github`.",
    ),
    parameter(
        "connection",
        Check::Rule(check_connection_id),
        "Only entries about the connection with this id.",
    ),
    parameter(
        "from",
        Check::Rule(check_time),
        "Only entries from this time on. For example, `2026-01-15T08:00:00Z`.",
    ),
    parameter("to", Check::Rule(check_time), "Only entries before this time."),
    LIMIT,
    parameter(
        "before",
        Check::Rule(check_audit_id),
        "`next` of the previous page: only earlier entries.",
    ),
];

pub const USAGE_PARAMETERS: [Parameter; 5] = [
    parameter(
        "from",
        Check::Rule(check_day),
        "The first day, UTC. Without it, 30 days are counted. For example, `2027-01-01`.",
    ),
    parameter(
        "to",
        Check::Rule(check_day),
        "The last day, UTC; today by default. For example, `2027-01-15`.",
    ),
    names(
        "groupBy",
        &UsageGroup::NAMES,
        16,
        "The properties by which requests are grouped into rows, separated by commas. For example, `day,status`.",
    )
    .default(DefaultValue::Texts(&["day"])),
    parameter(
        "platform",
        Check::Length(MAX_PLATFORM),
        "Only requests for this platform, exactly. For example, `github`.",
    ),
    parameter(
        "identity",
        Check::Length(MAX_IDENTITY),
        "Only requests for this identity, exactly. For example, `ann@example.com`.",
    ),
];

/// The parameters of the list of API keys.
pub const KEY_PARAMETERS: [Parameter; 2] = [
    LIMIT,
    parameter("before", Check::Rule(check_key_id), "`next` of the previous page: only older keys."),
];

/// The parameters of the deliveries of a webhook.
pub const DELIVERY_PARAMETERS: [Parameter; 3] = [
    parameter("state", Check::OneOf(&DeliveryState::NAMES), "The state of the delivery."),
    LIMIT,
    parameter(
        "before",
        Check::Rule(check_event_id),
        "`next` of the previous page: only deliveries of earlier events.",
    ),
];

/// The parameters of the connection list.
pub const CONNECTION_PARAMETERS: [Parameter; 16] = [
    parameter(
        "key",
        Check::Items(MAX_KEYS, MAX_KEY),
        "Connection keys, separated by commas: matches any of them. Exact, case-sensitive. For example, `test::github::default::ann@example.com`.",
    ),
    parameter(
        "platformVersion",
        Check::Rule(platform_version),
        "The version of the platform: exact, case-sensitive. For example, `v1`.",
    ),
    parameter(
        "name",
        Check::Length(MAX_NAME),
        "The display name: exact, ignoring case. For example, `Payments team`.",
    ),
    parameter(
        "identityType",
        Check::OneOf(&IdentityType::NAMES),
        "The identity type.",
    ),
    parameter(
        "identity",
        Check::Length(MAX_IDENTITY),
        "The identity: exact, case-sensitive. For example, `ann@example.com`.",
    ),
    parameter(
        "account",
        Check::Length(MAX_ACCOUNT_ID_LENGTH),
        "The ID of the connected account at the platform, `account.id`: exact, case-sensitive. For example, `583231`.",
    ),
    parameter(
        "platform",
        Check::Length(MAX_PLATFORM),
        "The platform: exact, ignoring case. For example, `github`.",
    ),
    parameter(
        "tags",
        Check::Items(MAX_TAGS, MAX_TAG_LENGTH),
        "Tags, separated by commas: matches connections with all of them, or with `tagsMatch=any` at least one. Exact, case-sensitive. For example, `eu,billing`.",
    ),
    parameter(
        "tagsMatch",
        Check::OneOf(&["all", "any"]),
        "Whether a connection must have `all` of `tags` or `any` of them. Only together with `tags`.",
    )
    .default(DefaultValue::Text("all")),
    parameter(
        "q",
        Check::Length(MAX_Q_LENGTH),
        "A prefix of the name or the identity, ignoring case. A prefix with too many matches returns `query_too_broad`. For example, `ann`.",
    ),
    parameter(
        "state",
        Check::OneOf(&State::NAMES),
        "The state of the connection.",
    ),
    parameter(
        "active",
        Check::Boolean,
        "Whether the connection is active. If omitted, `true`. For both, send a request for each.",
    )
    .default(DefaultValue::Boolean(true)),
    parameter(
        "include",
        Check::OneOf(&["account"]),
        "`account` adds the connected account to each row.",
    ),
    LIMIT,
    PAGE,
    parameter(
        "after",
        Check::Rule(check_cursor),
        "A cursor from the `Link` header of the previous page, valid for the same filters, `limit` and API key. Cannot be combined with `page`.",
    ),
];

const fn parameter(name: &'static str, check: Check, about: &'static str) -> Parameter {
    Parameter::new(name, check, about)
}

/// A parameter for comma-separated names. The check covers only their number and length; the endpoint checks the names.
const fn names(
    name: &'static str,
    names: &'static [&'static str],
    longest: usize,
    about: &'static str,
) -> Parameter {
    let doc = Doc::new(about).items(names);
    Parameter { doc, ..Parameter::new(name, Check::Items(names.len(), longest), about) }
}

fn check_connection_id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text).is_none().then_some("is not the id of a connection")
}

fn check_attempt_id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text)
        .is_none()
        .then_some("is not the id of an attempt: pass `next` of the previous page")
}

fn check_session_id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text)
        .is_none()
        .then_some("is not the id of a session: pass `next` of the previous page")
}

fn check_key_id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text)
        .is_none()
        .then_some("is not the id of an API key: pass `next` of the previous page")
}

fn check_event_id(text: &str) -> Option<&'static str> {
    EventId::parse(text)
        .is_none()
        .then_some("is not the id of an event: pass `next` of the previous page")
}

fn check_audit_id(text: &str) -> Option<&'static str> {
    AuditId::parse(text)
        .is_none()
        .then_some("is not the id of an audit entry: pass `next` of the previous page")
}

fn check_time(text: &str) -> Option<&'static str> {
    rfc3339::parse(text).is_none().then_some("is not a time such as `2027-01-15T08:00:00Z`")
}

fn check_day(text: &str) -> Option<&'static str> {
    parse_day(text).is_none().then_some("is not a day such as `2027-01-15`")
}

fn check_cursor(text: &str) -> Option<&'static str> {
    (!Cursor::is_well_formed(text)).then_some(INVALID_CURSOR)
}
