//! The fields of connections, connect attempts, OAuth clients, imports and calls.

use super::{
    LANG, NO_DUPLICATES, any, client, custom, fixed_values, id, optional, required, scopes, tags,
    values,
};
use crate::catalog::key::platform_version;
use crate::connect::rules as connect_rules;
use crate::connections::rules;
use crate::http::body::{Field, FieldCheck};
use crate::terms::{CredentialType, IdentityType, State};
use crate::util::json::Value;

/// The fields of a new connection. The endpoint also checks the platform against the catalog.
pub const CREATE_FIELDS: [Field; 9] = [
    required(
        "platform",
        FieldCheck::Text(any),
        "A platform of the catalog, as `GET /v1/available-connectors` lists it, ignoring case.",
    ),
    optional(
        "platformVersion",
        FieldCheck::Text(platform_version),
        "The version of the platform's API; the catalog's version if omitted.",
    ),
    required(
        "identity",
        FieldCheck::Text(rules::identity),
        "The identity that the connection belongs to: your own identifier of the user, team, organization or project. No comma.",
    ),
    required("identityType", FieldCheck::OneOf(&IdentityType::NAMES), "The type of the identity."),
    optional("name", FieldCheck::TextOrNull(rules::name), "The display name."),
    optional(
        "label",
        FieldCheck::Text(rules::label),
        "Distinguishes connections of one identity to one platform; part of the key.",
    ),
    tags("Stored exactly as sent, including order and duplicates. A tag can't contain a comma."),
    optional(
        "state",
        FieldCheck::OneOf(&State::NAMES),
        "The state of the connection, as far as you know.",
    ),
    optional(
        "active",
        FieldCheck::Boolean,
        "Whether the connection is active. By default, lists contain only active connections.",
    ),
];

/// The fields of a change to a connection.
pub const UPDATE_FIELDS: [Field; 1] = [tags(
    "The new tags, which replace all existing ones. Stored exactly as sent, including order and duplicates. A tag can't contain a comma. If omitted, nothing changes.",
)];

/// The fields of a change to a connection's state.
pub const STATE_FIELDS: [Field; 3] = [
    required("state", FieldCheck::OneOf(&State::NAMES), "The state of the connection."),
    optional(
        "active",
        FieldCheck::Boolean,
        "Whether the connection is active. Unchanged if omitted.",
    ),
    optional(
        "reason",
        FieldCheck::Text(rules::reason),
        "The reason, in a sentence. It is stored with the state until the state changes, and returned with the connection's status.",
    ),
];

/// The fields of a change to a connection's name.
pub const NAME_FIELDS: [Field; 1] =
    [required("name", FieldCheck::TextOrNull(rules::name), "The display name; `null` removes it.")];

/// The fields of a request to connect an account. The endpoint also checks them against the
/// platform's connector.
pub const CONNECT_FIELDS: [Field; 16] = [
    optional("platform", FieldCheck::Text(any), "A platform of the catalog, ignoring case."),
    optional(
        "connection",
        FieldCheck::Text(id),
        "The id of a connection to reconnect: it keeps its id, key, tags and history.",
    ),
    optional(
        "authMethod",
        FieldCheck::Text(connect_rules::method_id),
        "The id of one of the connector's `authMethods`. Required if there are several, unless the connection that is reconnected has one already.",
    ),
    client(
        "The name of the OAuth client to use. If omitted, that of the token's session or of the connection that is reconnected, or else `default`. With a token, it can't differ from that of the session.",
    ),
    optional(
        "identity",
        FieldCheck::Text(rules::identity),
        "The identity that the connection belongs to: your own identifier of the user, team, organization or project. No comma. Required with an API key; a token has its own.",
    ),
    optional(
        "identityType",
        FieldCheck::OneOf(&IdentityType::NAMES),
        "The type of the identity. Required with an API key; if a token has none, `user` if omitted.",
    ),
    optional(
        "label",
        FieldCheck::Text(rules::label),
        "Distinguishes connections of one identity to one platform; part of the key.",
    ),
    optional("name", FieldCheck::TextOrNull(rules::name), "The display name."),
    tags(
        "The tags; if omitted, a connection that is reconnected keeps its own. A tag can't contain a comma.",
    ),
    values(
        "What the user entered, by the names of the method's `fields`. A field with an empty value counts as empty. If a link leads to the connect window: values that the user can change there, no secrets.",
    ),
    fixed_values(
        "Values of the method's `fields` that the user can't change, no secrets. If the user signs in to an account with other values, the attempt fails with `account_mismatch`.",
    ),
    LANG,
    scopes(
        "The scopes to request at the platform; those of the OAuth client if omitted. Only for methods of OAuth 2.0.",
    ),
    optional(
        "returnUrl",
        FieldCheck::Text(connect_rules::return_url),
        "Where the browser goes when the user has agreed or refused, with `connect=<the attempt's id>` in the query. Its origin must be the service's own, one that the operator allows, or for a token with `origins` one of these.",
    ),
    optional(
        "allowOtherAccount",
        FieldCheck::Boolean,
        "Whether another account at the platform may replace the previously connected one. Otherwise the attempt fails with `account_mismatch`.",
    ),
    optional(
        "link",
        FieldCheck::Boolean,
        "Whether to return a link in every case. If the user has to enter a key, fill in a field or choose a method, the link leads to the connect window; `label`, `name`, `tags`, `scopes` and `allowOtherAccount` can't be sent then. If `authMethod` is omitted, the only method of OAuth 2.0 with an OAuth client is used. Needs the scope `catalog:read` as well.",
    ),
];

/// The fields of an OAuth client.
pub const CLIENT_FIELDS: [Field; 8] = [
    optional(
        "authMethod",
        FieldCheck::Text(connect_rules::method_id),
        "The id of one of the connector's `authMethods` with the type `oauth2`; if omitted, the client is for all of them.",
    ),
    required(
        "clientId",
        FieldCheck::Text(connect_rules::client_id),
        "The client's id at the platform.",
    ),
    optional(
        "clientSecret",
        FieldCheck::TextOrNull(connect_rules::client_secret),
        "The client's secret, or its private key as a JSON Web Key where the method's `tokenAuth` is `private_key_jwt`. If omitted, the stored one stays as long as `clientId` is the same; `null` removes it. It is encrypted, and never returned.",
    ),
    scopes(
        "The scopes to request when a request to connect names none. Together with `authorizationParameters` and `variables`, at most 8192 bytes as JSON.",
    ),
    custom(
        "authorizationParameters",
        |body, name, value| {
            body.check_texts(name, value, connect_rules::parameter);
        },
        "Additional parameters of the authorization request. Security-relevant ones can't be set.",
    ),
    custom(
        "variables",
        |body, name, value| body.check_texts(name, value, connect_rules::field),
        "Values of the variables in the platform's URLs. A variable that determines which host receives the client's secret must be set here, unless the catalog lists its values.",
    ),
    optional(
        "startUrl",
        FieldCheck::Text(connect_rules::return_url),
        "The page of your app where users start to connect. The service links to it when a visit begins at the platform, such as an installation from its marketplace, which does not identify the user. Omit it for none.",
    ),
    optional(
        "pkce",
        FieldCheck::OneOf(&["S256", "none"]),
        "Whether authorization requests use PKCE (RFC 7636). If omitted, the connector's method decides.",
    ),
];

/// The fields of an action's input, which the endpoint also checks against the action's schema, and
/// of the limits on the response.
pub const INPUT_FIELDS: [Field; 8] = [
    custom("path", NO_DUPLICATES, "The parameters of the path, by name."),
    custom("query", NO_DUPLICATES, "The parameters of the query, by name."),
    custom("header", NO_DUPLICATES, "The parameters that are headers, by name."),
    custom("cookie", NO_DUPLICATES, "The parameters that are cookies, by name."),
    custom("body", NO_DUPLICATES, "The request's body."),
    custom(
        "arguments",
        NO_DUPLICATES,
        "Instead of `path`, `query`, `header`, `cookie` and `body`: the input as one flat object, as the action's detail describes it with `for=model`.",
    ),
    custom(
        "select",
        NO_DUPLICATES,
        "Only these parts of the response's body: up to 20 JSON Pointers of at most 16 steps, in which `*` is every item.",
    ),
    custom(
        "maxBytes",
        NO_DUPLICATES,
        "The maximum size of the response in bytes: 500–8388608. `omitted` lists the parts that do not fit.",
    ),
];

/// The fields of credentials from another service. The endpoint also checks which fields belong to
/// the type.
pub const CREDENTIALS_FIELDS: [Field; 15] = [
    required("type", FieldCheck::OneOf(&CredentialType::NAMES), "The type of the credentials."),
    optional(
        "authMethod",
        FieldCheck::Text(connect_rules::method_id),
        "The id of one of the connector's `authMethods`. Required if several have the type.",
    ),
    optional(
        "accessToken",
        FieldCheck::Text(connect_rules::access_token),
        "With `oauth2`: the access token.",
    ),
    optional(
        "refreshToken",
        FieldCheck::Text(connect_rules::refresh_token),
        "With `oauth2`: the refresh token, with which the service refreshes the access token.",
    ),
    optional(
        "expiresAt",
        FieldCheck::TextOrNull(connect_rules::timestamp),
        "With `oauth2`: when the access token expires; `null` or omitted if unknown.",
    ),
    scopes("With `oauth2`: the scopes that the platform granted."),
    optional("apiKey", FieldCheck::Text(connect_rules::secret), "With `api_key`: the key."),
    optional("username", FieldCheck::Text(connect_rules::secret), "With `basic`: the user name."),
    optional("password", FieldCheck::Text(connect_rules::secret), "With `basic`: the password."),
    optional("token", FieldCheck::Text(connect_rules::secret), "With `bearer`: the token."),
    optional(
        "accessKeyId",
        FieldCheck::Text(connect_rules::secret),
        "With `aws_sigv4`: the id of the access key.",
    ),
    optional(
        "secretAccessKey",
        FieldCheck::Text(connect_rules::secret),
        "With `aws_sigv4`: the secret access key.",
    ),
    optional(
        "sessionToken",
        FieldCheck::Text(connect_rules::secret),
        "With `aws_sigv4`: the token of a temporary session.",
    ),
    optional("region", FieldCheck::Text(connect_rules::secret), "With `aws_sigv4`: the region."),
    values("Other values of the method's `fields`, such as variables of the platform's URLs."),
];

/// The maximum number of connections in an import.
pub const MAX_IMPORTED_CONNECTIONS: usize = 20;

/// The fields of an import from another service. The endpoint checks each connection against
/// [`IMPORTED_CONNECTION_FIELDS`].
pub const IMPORT_FIELDS: [Field; 2] = [
    required(
        "connections",
        FieldCheck::Custom(|body, name, value| {
            let items = if let Value::Array(items) = value { items.len() } else { 0 };
            if !(1..=MAX_IMPORTED_CONNECTIONS).contains(&items) {
                let message =
                    format!("must be an array of 1 to {MAX_IMPORTED_CONNECTIONS} connections");
                body.invalid(&[name], &message);
            }
        }),
        "The connections.",
    ),
    optional(
        "cutOver",
        FieldCheck::Boolean,
        "Whether the other service no longer refreshes these connections, so that this one does. Connections that an earlier import created then no longer wait for the cut-over.",
    ),
];

/// The fields of a connection in an import. The endpoint checks the credentials against
/// [`CREDENTIALS_FIELDS`].
pub const IMPORTED_CONNECTION_FIELDS: [Field; 9] = [
    required("platform", FieldCheck::Text(any), "The platform's identifier, ignoring case."),
    required(
        "identity",
        FieldCheck::Text(rules::identity),
        "The user, team or project that the connection belongs to.",
    ),
    required("identityType", FieldCheck::OneOf(&IdentityType::NAMES), "The type of the identity."),
    optional(
        "label",
        FieldCheck::Text(rules::label),
        "Distinguishes connections of one identity to one platform.",
    ),
    optional("name", FieldCheck::TextOrNull(rules::name), "The display name; `null` for none."),
    tags("The tags, in this order."),
    client(
        "The name of the OAuth client that obtained the credentials, and with which the service refreshes them. If omitted, that of the connection, or else `default`. Only for methods of OAuth 2.0.",
    ),
    optional(
        "clientId",
        FieldCheck::TextOrNull(connect_rules::client_id),
        "The id of the OAuth client that obtained the credentials. If it differs from that of the account's client for the platform, the connection is not imported, because no refresh would succeed.",
    ),
    required(
        "credentials",
        FieldCheck::Custom(|_, _, _| {}),
        "The credentials, as in `PUT …/credentials`.",
    ),
];
