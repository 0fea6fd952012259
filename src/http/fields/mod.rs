//! The fields of each body, each with its check and its description for the `OpenAPI` document. A new field is added here,
//! and read in its endpoint's module.

mod settings;
mod vault;

pub use settings::*;
pub use vault::*;

use crate::auth::limits::{Access, MAX_ACTIONS, check_action};
use crate::catalog::key::platform;
use crate::connect::rules as connect_rules;
use crate::connections::model::ConnectionId;
use crate::connections::rules;
use crate::http::body::{CustomCheck, Field, FieldCheck};
use crate::texts::language;
use crate::util::nearest::{nearest, shown};

/// The minimum lifetime of a token, in seconds.
pub const MIN_TTL: u64 = 60;
/// The maximum lifetime of a token, in seconds.
pub const MAX_TTL: u64 = 3600;
/// The maximum number of a token's platforms.
pub const MAX_PLATFORMS: usize = 20;
/// The maximum number of a token's origins.
pub const MAX_ORIGINS: usize = 10;
/// The maximum number of a token's connections.
pub const MAX_CONNECTIONS: usize = 20;

/// The maximum number of platform scopes in a request.
pub const MAX_SCOPES: usize = 200;

const fn scopes(about: &'static str) -> Field {
    optional("scopes", FieldCheck::Texts(MAX_SCOPES, connect_rules::scope), about)
}

const fn tags(about: &'static str) -> Field {
    optional("tags", FieldCheck::Texts(rules::MAX_TAGS, rules::tag), about)
}

/// The name of an OAuth client.
const fn client(about: &'static str) -> Field {
    optional("client", FieldCheck::Text(connect_rules::client_name), about)
}

const fn access(about: &'static str) -> Field {
    optional("access", FieldCheck::OneOf(&Access::NAMES), about)
}
const fn actions(about: &'static str) -> Field {
    custom(
        "actions",
        |body, name, value| body.check_set(name, value, MAX_ACTIONS, check_action),
        about,
    )
}
const CONNECTIONS: Field = custom(
    "connections",
    |body, name, value| body.check_set(name, value, MAX_CONNECTIONS, id),
    "Only the connections with these ids, and no new ones. If omitted, all of the identity.",
);

/// Values of the fields of an auth method.
const fn values(about: &'static str) -> Field {
    custom("fields", |body, name, value| body.check_texts(name, value, connect_rules::field), about)
}
const fn fixed_values(about: &'static str) -> Field {
    custom(
        "fixedFields",
        |body, name, value| body.check_texts(name, value, connect_rules::field),
        about,
    )
}

/// The language of the connect window and of the pages around it.
const LANG: Field = optional(
    "lang",
    FieldCheck::Text(language::tag),
    "The language of the connect window and of the pages around it, as a BCP 47 tag. They are available in English (`en`), German (`de`), French (`fr`), Spanish (`es`) and Japanese (`ja`); in others they are in English. If omitted, that of the browser, or for an attempt that of the token's session.",
);

/// Any value without duplicate members.
const NO_DUPLICATES: CustomCheck = |body, name, value| body.check_duplicates(&[name], value);

const fn required(name: &'static str, check: FieldCheck, about: &'static str) -> Field {
    Field::required(name, check, about)
}

const fn optional(name: &'static str, check: FieldCheck, about: &'static str) -> Field {
    Field::optional(name, check, about)
}

const fn custom(name: &'static str, check: CustomCheck, about: &'static str) -> Field {
    optional(name, FieldCheck::Custom(check), about)
}

fn id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text)
        .is_none()
        .then_some("must be the id of a connection: a hyphenated UUID")
}

const fn any(_: &str) -> Option<&'static str> {
    None
}

/// The error for a platform that is not one of `known`, and a suggestion. The error completes a
/// sentence that begins with the field's name.
pub(crate) fn unknown_platform<'a>(
    platform: &str,
    known: impl Iterator<Item = &'a str>,
) -> (String, Option<String>) {
    let message = format!("is `{}`, which is not in the catalog", shown(platform));
    (message, nearest(platform, known, 1).pop())
}

/// Checks a platform's name, ignoring case.
pub(crate) fn platform_ignoring_case(text: &str) -> Option<&'static str> {
    // ASCII only: Unicode tables would be a fifth of the npm package's size.
    platform(&text.to_ascii_lowercase())
}
