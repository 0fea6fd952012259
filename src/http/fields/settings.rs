//! The fields of an account's settings: keys and tokens, webhooks, sign-in.

use super::{
    CONNECTIONS, LANG, MAX_ORIGINS, MAX_PLATFORMS, MAX_TTL, MIN_TTL, NO_DUPLICATES, access,
    actions, any, client, custom, fixed_values, optional, platform_ignoring_case, required, scopes,
    values,
};
use crate::agents::sign_in::SignInType;
use crate::auth::limits::Confirm;
use crate::branding::rules as branding_rules;
use crate::catalog::key::platform;
use crate::connect::rules as connect_rules;
use crate::connections::rules;
use crate::console::sign_in::SignInType as ConsoleSignInType;
use crate::http::body::{Field, FieldCheck};
use crate::http::origin::check_origin;
use crate::terms::{EventType, IdentityType, Scope};
use crate::webhooks::rules as webhook_rules;

/// The fields of a new session token. The endpoint also checks the scopes against the key and the
/// platforms against the catalog.
pub const SESSION_FIELDS: [Field; 14] = [
    required(
        "identity",
        FieldCheck::Text(rules::identity),
        "The identity whose connections the token can access: your own identifier of the user, team, organization or project, as in their connections. No comma.",
    ),
    optional(
        "identityType",
        FieldCheck::OneOf(&IdentityType::NAMES),
        "Only connections of this identity type; all types if omitted.",
    ),
    custom(
        "scopes",
        |body, name, value| {
            body.check_set_of(name, value, &Scope::TOKEN_SCOPES.map(Scope::as_str));
        },
        "The scopes of the token, a subset of the API key's. If omitted, the key's read scopes.",
    ),
    custom(
        "platforms",
        |body, name, value| {
            body.check_set(name, value, MAX_PLATFORMS, platform_ignoring_case);
        },
        "Only these platforms of the catalog, ignoring case, both in the vault and in the catalog; all if omitted.",
    ),
    access(
        "`read` allows calls to platforms with `GET`, `HEAD` and GraphQL queries only. If omitted, the token can call with every method.",
    ),
    actions(
        "Only these actions of platforms, each as `platform/key` or `platform/prefix*`, and no other calls: the token can't use the proxy. Restricts `platforms` to the platforms of these actions. All calls if omitted.",
    ),
    CONNECTIONS,
    optional(
        "confirm",
        FieldCheck::OneOf(&Confirm::NAMES),
        "An agent's calls that its user must approve first: those that change something (`write`), or that delete (`destructive`). Needs the sign-in for agents. If omitted, none.",
    ),
    client(
        "The name of the OAuth client with which the token connects accounts; its user can't choose another one. If omitted, `default`, and a connection that is reconnected keeps its own.",
    ),
    custom(
        "origins",
        |body, name, value| body.check_set(name, value, MAX_ORIGINS, check_origin),
        "Only pages of these web origins, and the service's own, can use the token; all origins if omitted. Write each as a browser sends it: in lower case, without a path, without the scheme's default port. `http` is allowed for `localhost` and `127.0.0.1` only. The operator decides separately which origins may call the service.",
    ),
    values(
        "Values for the fields of the platform's auth methods, which the user can change in the connect window. No secrets. Needs `platforms` with one platform.",
    ),
    fixed_values(
        "Like `fields`, but the user can't change them: the token connects accounts with these values only. A value that decides which host receives an OAuth client's secret must be in the client's `variables` instead.",
    ),
    LANG,
    custom(
        "ttlSeconds",
        |body, name, value| body.check_integer(name, value, MIN_TTL, MAX_TTL),
        "The lifetime of the token in seconds; it never outlives the API key.",
    ),
];

const EVENT_TYPES: Field = optional(
    "types",
    FieldCheck::Names(&EventType::NAMES),
    "The types of events to send; an empty array for all.",
);
const WEBHOOK_DESCRIPTION: Field = optional(
    "description",
    FieldCheck::TextOrNull(webhook_rules::description),
    "Its purpose; `null` for none.",
);

/// The fields of a new webhook. The endpoint also checks whether its address is allowed.
pub const NEW_WEBHOOK_FIELDS: [Field; 4] = [
    required(
        "url",
        FieldCheck::Text(webhook_rules::url),
        "Where to send events: `https`, with a public host name and no port.",
    ),
    WEBHOOK_DESCRIPTION,
    EVENT_TYPES,
    optional("active", FieldCheck::Boolean, "Whether to send events."),
];

/// The fields of a change to a webhook.
pub const WEBHOOK_FIELDS: [Field; 4] = [
    optional(
        "url",
        FieldCheck::Text(webhook_rules::url),
        "Where to send events: `https`, with a public host name and no port.",
    ),
    WEBHOOK_DESCRIPTION,
    EVENT_TYPES,
    optional("active", FieldCheck::Boolean, "Whether to send events."),
];

/// The fields of the sign-in configuration for users of agents. The endpoint also checks which
/// fields belong to the type.
pub const SIGN_IN_FIELDS: [Field; 8] = [
    required(
        "type",
        FieldCheck::OneOf(&SignInType::NAMES),
        "Who authenticates users: `oidc` or `app`.",
    ),
    optional(
        "issuer",
        FieldCheck::Text(webhook_rules::url),
        "The issuer of the OpenID provider, exactly as in its discovery document. Required with `oidc`.",
    ),
    optional(
        "clientId",
        FieldCheck::Text(connect_rules::client_id),
        "The client that you registered there. Required with `oidc`.",
    ),
    optional(
        "clientSecret",
        FieldCheck::TextOrNull(connect_rules::client_secret),
        "The client's secret; `null` for a public client.",
    ),
    optional(
        "identityClaim",
        FieldCheck::Text(connect_rules::scope),
        "The claim of the ID token that is the user's identity, `sub` if omitted. `email` counts only if the provider has verified the address.",
    ),
    optional(
        "identityType",
        FieldCheck::OneOf(&IdentityType::NAMES),
        "The type of the users' identities. If omitted, connections of every type count.",
    ),
    optional(
        "confirm",
        FieldCheck::OneOf(&Confirm::NAMES),
        "The calls that each user must approve, at least: `write` for each change, `destructive` for each deletion. Only with `oidc`.",
    ),
    optional(
        "url",
        FieldCheck::Text(webhook_rules::url),
        "The page of your app that authenticates users: `https`, with a public host name. Required with `app`.",
    ),
];

/// The fields of the sign-in configuration of the console. The endpoint also checks which fields
/// belong to the type, and the roles.
pub const CONSOLE_SIGN_IN_FIELDS: [Field; 9] = [
    required(
        "type",
        FieldCheck::OneOf(&ConsoleSignInType::NAMES),
        "What authenticates people: `oidc` or `access`.",
    ),
    optional(
        "issuer",
        FieldCheck::Text(webhook_rules::url),
        "The issuer of the OpenID provider, exactly as in its discovery document. Required with `oidc`.",
    ),
    optional(
        "clientId",
        FieldCheck::Text(connect_rules::client_id),
        "The client that you registered there. Required with `oidc`.",
    ),
    optional(
        "clientSecret",
        FieldCheck::TextOrNull(connect_rules::client_secret),
        "The client's secret; `null` for a public client.",
    ),
    scopes(
        "The scopes to request from the provider; `openid`, `profile` and `email` if omitted. Some providers send the claim only with another scope, such as `groups`.",
    ),
    optional(
        "teamDomain",
        FieldCheck::Text(connect_rules::client_id),
        "The domain of your Cloudflare Access team, such as `acme.cloudflareaccess.com`. Required with `access`.",
    ),
    optional(
        "audience",
        FieldCheck::Text(connect_rules::client_id),
        "The AUD tag of the Access application that protects the console. Required with `access`.",
    ),
    required(
        "claim",
        FieldCheck::Text(connect_rules::scope),
        "The claim of the ID token, or of the Access token, with the person's roles: a string or an array of strings. Its name, or a JSON Pointer such as `/realm_access/roles`. `email` counts only if the provider has verified the address.",
    ),
    required(
        "roles",
        FieldCheck::Custom(NO_DUPLICATES),
        "The scopes of each value of the claim: 1 to 50 values. The caller must have each of the scopes.",
    ),
];

/// The fields of an app's presentation to its end users.
pub const BRANDING_FIELDS: [Field; 4] = [
    optional("name", FieldCheck::TextOrNull(branding_rules::name), "The app's name."),
    optional(
        "logo",
        FieldCheck::TextOrNull(branding_rules::logo),
        "Its logo: a PNG or WebP image of at most 32 KiB and 1024 × 1024 pixels, as a `data:` URL. Square images look best.",
    ),
    optional(
        "color",
        FieldCheck::TextOrNull(branding_rules::color),
        "The colour of buttons and links, as in `#1a2b3c`. The service chooses the text on it, and darkens or lightens links as far as needed to make them readable.",
    ),
    optional(
        "url",
        FieldCheck::TextOrNull(branding_rules::url),
        "The app's address, which pages link to when an attempt has no `returnUrl`: an `https` URL.",
    ),
];

/// The fields of a grant for a user whom the app has authenticated. The platforms are not checked,
/// because unknown platforms grant nothing.
pub const GRANT_FIELDS: [Field; 8] = [
    required(
        "request",
        FieldCheck::Text(any),
        "The parameter `request` of the URL with which the user was sent to your app, unchanged.",
    ),
    required("identity", FieldCheck::Text(rules::identity), "Who the user is, as in connections."),
    optional(
        "identityType",
        FieldCheck::OneOf(&IdentityType::NAMES),
        "The type of the identity. If omitted, connections of every type count.",
    ),
    custom(
        "platforms",
        |body, name, value| body.check_set(name, value, MAX_PLATFORMS, platform),
        "Only these platforms. If omitted, all.",
    ),
    access("With `read`, the user can grant read access only."),
    actions(
        "Only these actions, each as `platform/key` or `platform/prefix*`; together at most 4,500 characters. If omitted, all.",
    ),
    CONNECTIONS,
    optional(
        "confirm",
        FieldCheck::OneOf(&Confirm::NAMES),
        "The user must approve each call that changes something (`write`), or that deletes (`destructive`). If omitted, the user chooses.",
    ),
];

/// The fields of a request to send events to a webhook again.
pub const REPLAY_FIELDS: [Field; 2] = [
    required("from", FieldCheck::Text(webhook_rules::event), "The first event to send: its `id`."),
    optional(
        "to",
        FieldCheck::TextOrNull(webhook_rules::event),
        "The last event to send; if omitted, all up to the latest.",
    ),
];

/// The fields of a new API key. The endpoint also checks its scopes and its expiry against the
/// caller's key.
pub const KEY_FIELDS: [Field; 3] = [
    optional("name", FieldCheck::TextOrNull(rules::name), "Its purpose; `null` for none."),
    required(
        "scopes",
        FieldCheck::Custom(|body, name, value| {
            body.check_set_of(name, value, &Scope::NAMES);
        }),
        "Its scopes, all of which the key of this request must have too.",
    ),
    optional(
        "expiresAt",
        FieldCheck::TextOrNull(connect_rules::timestamp),
        "When it expires: no later than the key of this request, and when that key does if omitted.",
    ),
];
