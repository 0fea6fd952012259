//! The query parameters of each list, each with its check, which `query.rs` applies. A new parameter is added here, and
//! read in its list's module. `limit` and `page` are in `paging.rs`.

use super::paging::{LIMIT, PAGE};
use super::query::{Check, Parameter};
use crate::audit::AuditId;
use crate::catalog::key::{MAX_PLATFORM, platform_version};
use crate::catalog::list_search::MAX_CHARS;
use crate::connect::rules::client_name;
use crate::connections::cursor::Cursor;
use crate::connections::filter::{MAX_KEYS, MAX_Q, MAX_TAGS};
use crate::connections::key::MAX_KEY;
use crate::connections::model::ConnectionId;
use crate::connections::rules::{MAX_IDENTITY, MAX_NAME, MAX_TAG};
use crate::events::EventId;
use crate::terms::{
    AttemptStatus, AuditAction, DeliveryState, EventType, IdentityType, State, UsageGroup,
};
use crate::usage::endpoints::parse_day;
use crate::util::rfc3339;

/// The maximum length of a catalog filter; no name, title, key or category is longer.
pub const MAX_FILTER: usize = 256;

/// The maximum length of the id of an account at a platform.
const MAX_ACCOUNT: usize = 255;

/// The maximum number of platforms in a search over all actions.
const MAX_PLATFORMS: usize = 20;

/// The error of an `after` that is not a cursor of the list.
pub(crate) const NO_CURSOR: &str = "is not a cursor of this list: follow the `Link` header with its filters and limit unchanged, and with the same API key";

/// The parameters of the connector list.
pub const CONNECTOR_PARAMETERS: [Parameter; 10] = [
    parameter("platform", Check::Length(MAX_PLATFORM)),
    parameter("authkit", Check::Boolean),
    parameter("connectable", Check::Boolean),
    parameter("hasOauthClient", Check::Boolean),
    parameter("key", Check::Length(MAX_FILTER)),
    parameter("name", Check::Length(MAX_FILTER)),
    parameter("category", Check::Length(MAX_FILTER)),
    parameter("q", Check::Words(MAX_CHARS)),
    LIMIT,
    PAGE,
];

/// The parameters of the action list.
pub const ACTION_PARAMETERS: [Parameter; 6] = [
    parameter("title", Check::Length(MAX_FILTER)),
    parameter("key", Check::Length(MAX_FILTER)),
    parameter("method", Check::Length(MAX_FILTER)),
    parameter("q", Check::Words(MAX_CHARS)),
    LIMIT,
    PAGE,
];

/// The parameters of the search over the actions of all platforms.
pub const SEARCH_PARAMETERS: [Parameter; 5] = [
    Parameter { name: "q", check: Check::Words(MAX_CHARS), is_required: true },
    parameter("platform", Check::Items(MAX_PLATFORMS, MAX_PLATFORM)),
    parameter("method", Check::Length(MAX_FILTER)),
    LIMIT,
    PAGE,
];

pub const ACTION_DETAIL_PARAMETERS: [Parameter; 2] = [
    parameter("include", Check::OneOf(&["responses"])),
    parameter("for", Check::OneOf(&["model"])),
];

/// The parameters of a connect attempt.
pub const ATTEMPT_PARAMETERS: [Parameter; 1] = [parameter("wait", Check::Integer(1, MAX_WAIT))];

/// The parameters of the list of connect attempts.
pub const ATTEMPTS_PARAMETERS: [Parameter; 5] = [
    parameter("status", Check::Items(AttemptStatus::NAMES.len(), 16)),
    parameter("platform", Check::Length(MAX_PLATFORM)),
    parameter("identity", Check::Length(MAX_IDENTITY)),
    LIMIT,
    parameter("before", Check::Rule(check_attempt_id)),
];

/// The parameters of the list of grants to agents.
pub const GRANT_PARAMETERS: [Parameter; 3] = [
    parameter("identity", Check::Length(MAX_IDENTITY)),
    LIMIT,
    parameter("before", Check::Rule(check_attempt_id)),
];

/// The parameters of the list of console sessions.
pub const CONSOLE_SESSION_PARAMETERS: [Parameter; 2] =
    [LIMIT, parameter("before", Check::Rule(check_session_id))];

/// The maximum time that a request waits for an attempt to end, in seconds.
pub const MAX_WAIT: u64 = 25;

/// The parameters of a connection's credentials.
pub const CREDENTIALS_PARAMETERS: [Parameter; 1] = [parameter("refresh", Check::Boolean)];

/// The parameters of the list of OAuth clients.
pub const CLIENTS_PARAMETERS: [Parameter; 2] = [LIMIT, PAGE];

/// The parameters of an OAuth client.
pub const CLIENT_PARAMETERS: [Parameter; 1] = [parameter("name", Check::Rule(client_name))];

/// The order of events, newest first.
pub(crate) const NEWEST_FIRST: &str = "newest";

/// The parameters of the list of events.
pub const EVENT_PARAMETERS: [Parameter; 5] = [
    parameter("types", Check::Items(EventType::NAMES.len(), 64)),
    parameter("connection", Check::Rule(check_connection_id)),
    parameter("order", Check::OneOf(&["oldest", NEWEST_FIRST])),
    LIMIT,
    parameter("after", Check::Rule(check_event_id)),
];

/// The parameters of the audit log.
pub const AUDIT_PARAMETERS: [Parameter; 8] = [
    parameter("actor", Check::Length(MAX_IDENTITY)),
    parameter("actions", Check::Items(AuditAction::NAMES.len(), 64)),
    parameter("target", Check::Length(MAX_IDENTITY)),
    parameter("connection", Check::Rule(check_connection_id)),
    parameter("from", Check::Rule(check_time)),
    parameter("to", Check::Rule(check_time)),
    LIMIT,
    parameter("before", Check::Rule(check_audit_id)),
];

pub const USAGE_PARAMETERS: [Parameter; 5] = [
    parameter("from", Check::Rule(check_day)),
    parameter("to", Check::Rule(check_day)),
    parameter("groupBy", Check::Items(UsageGroup::NAMES.len(), 16)),
    parameter("platform", Check::Length(MAX_PLATFORM)),
    parameter("identity", Check::Length(MAX_IDENTITY)),
];

/// The parameters of the list of API keys.
pub const KEY_PARAMETERS: [Parameter; 2] = [LIMIT, parameter("before", Check::Rule(check_key_id))];

/// The parameters of the deliveries of a webhook.
pub const DELIVERY_PARAMETERS: [Parameter; 3] = [
    parameter("state", Check::OneOf(&DeliveryState::NAMES)),
    LIMIT,
    parameter("before", Check::Rule(check_event_id)),
];

/// The parameters of the connection list.
pub const CONNECTION_PARAMETERS: [Parameter; 16] = [
    parameter("key", Check::Items(MAX_KEYS, MAX_KEY)),
    parameter("platformVersion", Check::Rule(platform_version)),
    parameter("name", Check::Length(MAX_NAME)),
    parameter("identityType", Check::OneOf(&IdentityType::NAMES)),
    parameter("identity", Check::Length(MAX_IDENTITY)),
    parameter("account", Check::Length(MAX_ACCOUNT)),
    parameter("platform", Check::Length(MAX_PLATFORM)),
    parameter("tags", Check::Items(MAX_TAGS, MAX_TAG)),
    parameter("tagsMatch", Check::OneOf(&["all", "any"])),
    parameter("q", Check::Length(MAX_Q)),
    parameter("state", Check::OneOf(&State::NAMES)),
    parameter("active", Check::Boolean),
    parameter("include", Check::OneOf(&["account"])),
    LIMIT,
    PAGE,
    parameter("after", Check::Rule(check_cursor)),
];

const fn parameter(name: &'static str, check: Check) -> Parameter {
    Parameter { name, check, is_required: false }
}

fn check_connection_id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text).is_none().then_some("is not the id of a connection")
}

fn check_attempt_id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text)
        .is_none()
        .then_some("is not the id of an attempt: pass `next` of the page before")
}

fn check_session_id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text)
        .is_none()
        .then_some("is not the id of a session: pass `next` of the page before")
}

fn check_key_id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text)
        .is_none()
        .then_some("is not the id of an API key: pass `next` of the page before")
}

fn check_event_id(text: &str) -> Option<&'static str> {
    EventId::parse(text)
        .is_none()
        .then_some("is not the id of an event: pass `next` of the page before")
}

fn check_audit_id(text: &str) -> Option<&'static str> {
    AuditId::parse(text)
        .is_none()
        .then_some("is not the id of an entry of the audit: pass `next` of the page before")
}

fn check_time(text: &str) -> Option<&'static str> {
    rfc3339::parse(text).is_none().then_some("is not a time such as `2027-01-15T08:00:00Z`")
}

fn check_day(text: &str) -> Option<&'static str> {
    parse_day(text).is_none().then_some("is not a day such as `2027-01-15`")
}

fn check_cursor(text: &str) -> Option<&'static str> {
    (!Cursor::has_shape(text)).then_some(NO_CURSOR)
}
