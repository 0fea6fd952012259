//! The fields of each body. A new field is added here, and read in its endpoint's module.

use super::body::{Field, FieldCheck, OwnCheck};
use crate::agents::sign_in::SignInType;
use crate::auth::limits::{Access, Confirm, MAX_ACTIONS, check_action};
use crate::catalog::key::{platform, platform_version};
use crate::connect::rules as connect_rules;
use crate::connections::model::ConnectionId;
use crate::connections::rules;
use crate::console::sign_in::SignInType as ConsoleSignInType;
use crate::terms::{CredentialType, EventType, IdentityType, Scope, State};
use crate::texts::language;
use crate::util::json::Value;
use crate::util::nearest::{nearest, shown};
use crate::webhooks::rules as webhook_rules;

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
/// The maximum length of an origin, in characters.
pub const MAX_ORIGIN: usize = 253;

/// The maximum number of a platform's scopes in a request.
pub const MAX_SCOPES: usize = 200;

const SCOPES: Field = optional("scopes", FieldCheck::Texts(MAX_SCOPES, connect_rules::scope));

const TAGS: Field = optional("tags", FieldCheck::Texts(rules::MAX_TAGS, rules::tag));

/// The name of an OAuth client.
const CLIENT: Field = optional("client", FieldCheck::Text(connect_rules::client_name));

const ACCESS: Field = optional("access", FieldCheck::OneOf(&Access::NAMES));
const ACTIONS: Field =
    own("actions", |body, name, value| body.check_set(name, value, MAX_ACTIONS, check_action));
const CONNECTIONS: Field =
    own("connections", |body, name, value| body.check_set(name, value, MAX_CONNECTIONS, id));

/// Values of the fields of an auth method.
const VALUES: Field =
    own("fields", |body, name, value| body.check_texts(name, value, connect_rules::field));
const FIXED_VALUES: Field =
    own("fixedFields", |body, name, value| body.check_texts(name, value, connect_rules::field));

/// The language of the connect window and of the pages around it.
const LANG: Field = optional("lang", FieldCheck::Text(language::tag));

/// A new connection. The endpoint also checks the platform against the catalog.
pub const CREATE_FIELDS: [Field; 9] = [
    required("platform", FieldCheck::Text(any)),
    optional("platformVersion", FieldCheck::Text(platform_version)),
    required("identity", FieldCheck::Text(rules::identity)),
    required("identityType", FieldCheck::OneOf(&IdentityType::NAMES)),
    optional("name", FieldCheck::TextOrNull(rules::name)),
    optional("label", FieldCheck::Text(rules::label)),
    TAGS,
    optional("state", FieldCheck::OneOf(&State::NAMES)),
    optional("active", FieldCheck::Boolean),
];

/// A change to a connection.
pub const UPDATE_FIELDS: [Field; 1] = [TAGS];

/// The state of a connection.
pub const STATE_FIELDS: [Field; 3] = [
    required("state", FieldCheck::OneOf(&State::NAMES)),
    optional("active", FieldCheck::Boolean),
    optional("reason", FieldCheck::Text(rules::reason)),
];

/// The name of a connection.
pub const NAME_FIELDS: [Field; 1] = [required("name", FieldCheck::TextOrNull(rules::name))];

/// A session token. The endpoint also checks the scopes against the key and the platforms against the catalog.
pub const SESSION_FIELDS: [Field; 13] = [
    required("identity", FieldCheck::Text(rules::identity)),
    optional("identityType", FieldCheck::OneOf(&IdentityType::NAMES)),
    own("scopes", |body, name, value| {
        body.check_set_of(name, value, &Scope::OF_TOKENS.map(Scope::as_str));
    }),
    own("platforms", |body, name, value| {
        body.check_set(name, value, MAX_PLATFORMS, platform_in_any_case);
    }),
    ACCESS,
    ACTIONS,
    CONNECTIONS,
    CLIENT,
    own("origins", |body, name, value| body.check_set(name, value, MAX_ORIGINS, check_origin)),
    VALUES,
    FIXED_VALUES,
    LANG,
    own("ttlSeconds", |body, name, value| body.check_integer(name, value, MIN_TTL, MAX_TTL)),
];

/// An account to connect. The endpoint also checks it against the platform's connector.
pub const CONNECT_FIELDS: [Field; 16] = [
    optional("platform", FieldCheck::Text(any)),
    optional("connection", FieldCheck::Text(id)),
    optional("authMethod", FieldCheck::Text(connect_rules::method_id)),
    CLIENT,
    optional("identity", FieldCheck::Text(rules::identity)),
    optional("identityType", FieldCheck::OneOf(&IdentityType::NAMES)),
    optional("label", FieldCheck::Text(rules::label)),
    optional("name", FieldCheck::TextOrNull(rules::name)),
    TAGS,
    VALUES,
    FIXED_VALUES,
    LANG,
    SCOPES,
    optional("returnUrl", FieldCheck::Text(connect_rules::return_url)),
    optional("allowOtherAccount", FieldCheck::Boolean),
    optional("link", FieldCheck::Boolean),
];

/// An OAuth client.
pub const CLIENT_FIELDS: [Field; 8] = [
    optional("authMethod", FieldCheck::Text(connect_rules::method_id)),
    required("clientId", FieldCheck::Text(connect_rules::client_id)),
    optional("clientSecret", FieldCheck::TextOrNull(connect_rules::client_secret)),
    SCOPES,
    own("authorizationParameters", |body, name, value| {
        body.check_texts(name, value, connect_rules::parameter);
    }),
    own("variables", |body, name, value| body.check_texts(name, value, connect_rules::field)),
    optional("startUrl", FieldCheck::Text(connect_rules::return_url)),
    optional("pkce", FieldCheck::OneOf(&["S256", "none"])),
];

/// Any value without duplicate members.
const FREE: OwnCheck = |body, name, value| body.check_repeated(&[name], value);

/// The input of an action, which the endpoint also checks against the action's schema, and the limits on the response.
pub const INPUT_FIELDS: [Field; 8] = [
    own("path", FREE),
    own("query", FREE),
    own("header", FREE),
    own("cookie", FREE),
    own("body", FREE),
    own("arguments", FREE),
    own("select", FREE),
    own("maxBytes", FREE),
];

/// Credentials from another service. The endpoint also checks which fields belong to the type.
pub const CREDENTIALS_FIELDS: [Field; 15] = [
    required("type", FieldCheck::OneOf(&CredentialType::NAMES)),
    optional("authMethod", FieldCheck::Text(connect_rules::method_id)),
    optional("accessToken", FieldCheck::Text(connect_rules::access_token)),
    optional("refreshToken", FieldCheck::Text(connect_rules::refresh_token)),
    optional("expiresAt", FieldCheck::TextOrNull(connect_rules::moment)),
    SCOPES,
    optional("apiKey", FieldCheck::Text(connect_rules::secret)),
    optional("username", FieldCheck::Text(connect_rules::secret)),
    optional("password", FieldCheck::Text(connect_rules::secret)),
    optional("token", FieldCheck::Text(connect_rules::secret)),
    optional("accessKeyId", FieldCheck::Text(connect_rules::secret)),
    optional("secretAccessKey", FieldCheck::Text(connect_rules::secret)),
    optional("sessionToken", FieldCheck::Text(connect_rules::secret)),
    optional("region", FieldCheck::Text(connect_rules::secret)),
    VALUES,
];

/// The maximum number of connections in an import.
pub const MAX_IMPORTED: usize = 20;

/// Connections from another service. The endpoint checks each by [`IMPORTED_FIELDS`].
pub const IMPORT_FIELDS: [Field; 2] = [
    Field {
        name: "connections",
        check: FieldCheck::Own(|body, name, value| {
            let items = if let Value::Array(items) = value { items.len() } else { 0 };
            if !(1..=MAX_IMPORTED).contains(&items) {
                let what = format!("must be an array of 1 to {MAX_IMPORTED} connections");
                body.invalid(&[name], &what);
            }
        }),
        required: true,
    },
    optional("cutOver", FieldCheck::Boolean),
];

/// A connection in an import. The endpoint checks the credentials by [`CREDENTIALS_FIELDS`].
pub const IMPORTED_FIELDS: [Field; 9] = [
    required("platform", FieldCheck::Text(any)),
    required("identity", FieldCheck::Text(rules::identity)),
    required("identityType", FieldCheck::OneOf(&IdentityType::NAMES)),
    optional("label", FieldCheck::Text(rules::label)),
    optional("name", FieldCheck::TextOrNull(rules::name)),
    TAGS,
    CLIENT,
    optional("clientId", FieldCheck::TextOrNull(connect_rules::client_id)),
    Field { name: "credentials", check: FieldCheck::Own(|_, _, _| {}), required: true },
];

const EVENT_TYPES: Field = optional("types", FieldCheck::Names(&EventType::NAMES));
const WEBHOOK_DESCRIPTION: Field =
    optional("description", FieldCheck::TextOrNull(webhook_rules::description));

/// A new webhook. The endpoint also checks whether its address is allowed.
pub const NEW_WEBHOOK_FIELDS: [Field; 4] = [
    required("url", FieldCheck::Text(webhook_rules::url)),
    WEBHOOK_DESCRIPTION,
    EVENT_TYPES,
    optional("active", FieldCheck::Boolean),
];

/// A change to a webhook.
pub const WEBHOOK_FIELDS: [Field; 4] = [
    optional("url", FieldCheck::Text(webhook_rules::url)),
    WEBHOOK_DESCRIPTION,
    EVENT_TYPES,
    optional("active", FieldCheck::Boolean),
];

/// The sign-in configuration for users of agents. The endpoint also checks which fields belong to the type.
pub const SIGN_IN_FIELDS: [Field; 8] = [
    required("type", FieldCheck::OneOf(&SignInType::NAMES)),
    optional("issuer", FieldCheck::Text(webhook_rules::url)),
    optional("clientId", FieldCheck::Text(connect_rules::client_id)),
    optional("clientSecret", FieldCheck::TextOrNull(connect_rules::client_secret)),
    optional("identityClaim", FieldCheck::Text(connect_rules::scope)),
    optional("identityType", FieldCheck::OneOf(&IdentityType::NAMES)),
    optional("confirm", FieldCheck::OneOf(&Confirm::NAMES)),
    optional("url", FieldCheck::Text(webhook_rules::url)),
];

/// How people sign in to the console. The endpoint also checks which fields belong to the type, and the roles.
pub const CONSOLE_SIGN_IN_FIELDS: [Field; 9] = [
    required("type", FieldCheck::OneOf(&ConsoleSignInType::NAMES)),
    optional("issuer", FieldCheck::Text(webhook_rules::url)),
    optional("clientId", FieldCheck::Text(connect_rules::client_id)),
    optional("clientSecret", FieldCheck::TextOrNull(connect_rules::client_secret)),
    SCOPES,
    optional("teamDomain", FieldCheck::Text(connect_rules::client_id)),
    optional("audience", FieldCheck::Text(connect_rules::client_id)),
    required("claim", FieldCheck::Text(connect_rules::scope)),
    Field { name: "roles", check: FieldCheck::Own(FREE), required: true },
];

/// A user of an agent, authenticated by the app. The platforms are not checked: unknown ones grant nothing.
pub const GRANT_FIELDS: [Field; 8] = [
    required("request", FieldCheck::Text(any)),
    required("identity", FieldCheck::Text(rules::identity)),
    optional("identityType", FieldCheck::OneOf(&IdentityType::NAMES)),
    own("platforms", |body, name, value| body.check_set(name, value, MAX_PLATFORMS, platform)),
    ACCESS,
    ACTIONS,
    CONNECTIONS,
    optional("confirm", FieldCheck::OneOf(&Confirm::NAMES)),
];

/// The events to send to a webhook again.
pub const REPLAY_FIELDS: [Field; 2] = [
    required("from", FieldCheck::Text(webhook_rules::event)),
    optional("to", FieldCheck::TextOrNull(webhook_rules::event)),
];

/// A new API key. The endpoint also checks its scopes and its expiry against the caller's key.
pub const KEY_FIELDS: [Field; 3] = [
    optional("name", FieldCheck::TextOrNull(rules::name)),
    Field {
        name: "scopes",
        check: FieldCheck::Own(|body, name, value| {
            body.check_set_of(name, value, &Scope::NAMES);
        }),
        required: true,
    },
    optional("expiresAt", FieldCheck::TextOrNull(connect_rules::moment)),
];

const fn required(name: &'static str, check: FieldCheck) -> Field {
    Field { name, check, required: true }
}

const fn optional(name: &'static str, check: FieldCheck) -> Field {
    Field { name, check, required: false }
}

const fn own(name: &'static str, check: OwnCheck) -> Field {
    optional(name, FieldCheck::Own(check))
}

fn id(text: &str) -> Option<&'static str> {
    ConnectionId::parse(text)
        .is_none()
        .then_some("must be the id of a connection: a hyphenated UUID")
}

const fn any(_: &str) -> Option<&'static str> {
    None
}

/// The error for a platform that is not one of `known`, as the end of a sentence, and a suggestion.
pub(crate) fn unknown_platform<'a>(
    platform: &str,
    known: impl Iterator<Item = &'a str>,
) -> (String, Option<String>) {
    let what = format!("is `{}`, which is not in the catalog", shown(platform));
    (what, nearest(platform, known, 1).pop())
}

/// Checks a platform's name, ignoring case.
pub(crate) fn platform_in_any_case(text: &str) -> Option<&'static str> {
    // ASCII only: Unicode tables would be a fifth of the npm package.
    platform(&text.to_ascii_lowercase())
}

/// Checks a web origin in the form that browsers send: a scheme, a lower-case host, and a port unless it is the
/// scheme's default. `http` is accepted for the local machine only.
fn check_origin(text: &str) -> Option<&'static str> {
    let (host, own_port) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(host), _) => (host, "443"),
        (None, Some(host)) => (host, "80"),
        (None, None) => ("", ""),
    };
    let (host, port) = host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port)));
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let good_host = host.split('.').all(|label| !label.is_empty() && label.bytes().all(letter));
    let good_port = port.is_none_or(|port| {
        let number = port.parse::<u64>().unwrap_or(u64::MAX);
        port != own_port && number <= 65_535 && number.to_string() == port
    });
    let is_here = own_port != "80" || host == "localhost" || host == "127.0.0.1";
    let good = good_host && good_port && is_here && text.len() <= MAX_ORIGIN;
    (!good).then_some(
        "must be a web origin as browsers send it, such as https://app.example or http://localhost:5173",
    )
}

#[cfg(test)]
mod tests {
    use super::check_origin;

    #[test]
    fn origins_are_what_browsers_send() {
        for text in [
            "https://app.example",
            "https://a-1.b.example:8443",
            "https://xn--bcher-kva.example",
            "https://localhost",
            "http://localhost",
            "http://localhost:5173",
            "http://127.0.0.1:443",
            "https://app.example:80",
            "https://app.example:65535",
        ] {
            assert_eq!(check_origin(text), None, "{text}");
        }
        for text in [
            "",
            "*",
            "null",
            "app.example",
            "//app.example",
            "https://",
            "https://App.example",
            "HTTPS://app.example",
            "https://app.example/",
            "https://app.example/path",
            "https://app.example?x",
            "https://app.example#x",
            "https://*.example",
            "https://app..example",
            "https://app.example.",
            "https://user@app.example",
            "https://app.example:",
            "https://app.example:443",
            "https://app.example:0443",
            "https://app.example:+1",
            "https://app.example:65536",
            "https://a:1:2",
            "http://app.example",
            "http://localhost:80",
            "http://localhost.example",
            "ftp://app.example",
            "https://bücher.example",
            " https://app.example",
            &format!("https://{}", "a".repeat(246)),
        ] {
            assert!(check_origin(text).is_some(), "{text}");
        }
    }
}
