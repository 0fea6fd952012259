//! The schemas of attempts, OAuth clients, credentials and their health.

use serde_json::{Value, json};

use super::json::Members as _;
use super::parameters::platform;
use super::schema::{
    boolean, count, names, number_or_null, record, record_with, reference, string, strings,
    text_or_null, time, time_or_null,
};
use super::string_schemas::described;
use crate::connect::attempt::AttemptErrorCode;
use crate::http::paging::MAX_LIMIT;
use crate::terms::{AttemptStatus, CredentialType, IdentityType, State};

fn id() -> Value {
    json!({"type": "string", "format": "uuid"})
}

fn texts_by_name(description: &str) -> Value {
    let text = json!({"type": "string"});
    described(description, json!({"type": "object", "additionalProperties": text}))
}

fn or_null(description: &str, schema: Value) -> Value {
    described(description, json!({"oneOf": [schema, {"type": "null"}]}))
}

pub fn status() -> Value {
    let reason = record(
        "Why a connection is in its state.",
        vec![
            (
                "code",
                string(
                    "The reason, for programs: `platform_unavailable`, `invalid_answer`, `grant_rejected`, `grant_ended`, `credentials_rejected`, `request_rejected`, `client_rejected`, `not_checked` if the platform did not say whether it accepts new credentials, or `reported` if the state was set with `PUT …/state`.",
                ),
            ),
            ("detail", text_or_null("The human-readable reason.")),
            ("httpStatus", number_or_null("The status of the platform's response.")),
        ],
    );
    record(
        "The health of a connection.",
        vec![
            ("state", names("The state of the connection.", State::NAMES)),
            ("since", time("The time since which it has been in that state.")),
            ("reason", or_null("The reason; null if there is none.", reason)),
            (
                "actor",
                names(
                    "Who must act. `user`: reconnect the connection. `account`: correct the OAuth client. `nobody`: nothing is wrong, or the service retries.",
                    ["user", "account", "nobody"],
                ),
            ),
            ("attempts", count("The number of refreshes that have failed since the last success.")),
            ("nextAttemptAt", time_or_null("When the next refresh is due; null if none is.")),
            ("expiresAt", time_or_null("When the access token expires; null if unknown.")),
            (
                "lastRefreshedAt",
                time_or_null(
                    "When the credentials were last stored or refreshed; null if the vault holds none.",
                ),
            ),
            ("scopes", strings("The scopes that the platform granted.")),
            (
                "missingScopes",
                strings(
                    "The scopes that were requested, or granted before, and that the platform does not grant now.",
                ),
            ),
            ("holdsCredentials", boolean("Whether the vault holds credentials of the connection.")),
            (
                "awaitsCutOver",
                boolean(
                    "Whether the connection was imported and another service still refreshes it, so that this one does not.",
                ),
            ),
            (
                "authMethod",
                text_or_null(
                    "The id of the connector's auth method that the credentials are for; null if the vault holds none.",
                ),
            ),
            (
                "client",
                text_or_null(
                    "The name of the OAuth client that obtained the credentials; null for credentials of another type, and for none.",
                ),
            ),
            ("account", connected_account()),
        ],
    )
}

pub fn connected_account() -> Value {
    or_null(
        "The connected account at the platform; null if it is not known.",
        reference("PlatformAccount"),
    )
}

pub fn platform_account() -> Value {
    record(
        "An account at a platform.",
        vec![
            ("id", string("The account's ID at the platform. It does not change.")),
            (
                "name",
                text_or_null(
                    "The account's human-readable name at the platform, such as an email address or a user name. Null if it is not known, or if the service does not store names.",
                ),
            ),
        ],
    )
}

pub fn pending_attempt() -> Value {
    let pending = json!({"type": "string", "const": "pending"});
    let url = json!({"type": "string", "format": "uri"});
    record(
        "An attempt that waits for the user.",
        vec![
            ("id", described("Identifies the attempt.", id())),
            ("status", described("Always `pending`.", pending)),
            (
                "authorizationUrl",
                described(
                    "A link for the user. Its page asks them to confirm that they started this, and redirects to the platform. It works in one browser, until the attempt is over.",
                    url,
                ),
            ),
            ("expiresAt", time("When the attempt expires: 10 minutes after it began.")),
        ],
    )
}

fn attempt_error() -> Value {
    let error = record(
        "The error of a failed attempt.",
        vec![
            (
                "code",
                names(
                    "The reason, for programs.",
                    AttemptErrorCode::ALL.map(AttemptErrorCode::as_str),
                ),
            ),
            ("detail", string("The human-readable reason.")),
        ],
    );
    or_null("The error; null unless the attempt failed.", error)
}

fn attempt_status() -> Value {
    names(
        "`pending`: the user has not finished. `succeeded`: the account is connected. `failed`: it is not, for the reason in `error`. `expired`: the user did not come back in time.",
        AttemptStatus::NAMES,
    )
}

pub fn attempt() -> Value {
    record(
        "An attempt to connect an account.",
        vec![
            ("id", described("Identifies the attempt.", id())),
            ("platform", described("The platform's identifier.", platform())),
            ("status", attempt_status()),
            (
                "connection",
                or_null("The connection; null unless it succeeded.", reference("Connection")),
            ),
            ("error", attempt_error()),
            ("expiresAt", time("When the attempt expires.")),
        ],
    )
}

pub fn attempts() -> Value {
    let rows =
        json!({"type": "array", "maxItems": MAX_LIMIT, "items": reference("AttemptSummary")});
    record(
        "A page of attempts to connect.",
        vec![
            ("rows", described("The attempts of this page, the newest first.", rows)),
            ("next", text_or_null("The cursor for `before`; `null` on the last page.")),
        ],
    )
}

pub fn attempt_summary() -> Value {
    let connection = "The id of the connection that it has created, or that it reconnects; null if there is none.";
    let identity_type = names("The type of the identity.", IdentityType::NAMES);
    record(
        "An attempt to connect an account, in a list.",
        vec![
            ("id", described("Identifies the attempt.", id())),
            ("platform", described("The platform's identifier.", platform())),
            ("authMethod", string("The id of one of the connector's `authMethods`.")),
            ("client", string("The name of the OAuth client.")),
            ("identity", string("The identity that the connection belongs to.")),
            ("identityType", identity_type),
            ("status", attempt_status()),
            ("connection", or_null(connection, id())),
            ("error", attempt_error()),
            ("createdAt", time("When it began.")),
            ("expiresAt", time("When it expires.")),
        ],
    )
}

pub fn client() -> Value {
    record("The registration of an app at a platform.", client_members())
}

pub fn stored_client() -> Value {
    let warnings = strings(
        "Possible problems with the client, for example that it requests no scopes although the platform has some. Absent if there are none.",
    );
    record_with(
        "The registration of an app at a platform, as it was stored.",
        client_members(),
        json!({"warnings": warnings}),
    )
}

fn client_members() -> Vec<(&'static str, Value)> {
    let uri = json!({"type": "string", "format": "uri"});
    vec![
        ("platform", described("The platform's identifier.", platform())),
        ("name", string("The name, which distinguishes the clients of a platform.")),
        ("authMethod", text_or_null("The auth method that it is for; null for all of OAuth 2.0.")),
        ("clientId", string("The client's id at the platform.")),
        ("hasSecret", boolean("Whether the service has the client's secret.")),
        ("scopes", strings("The scopes to request when a request to connect names none.")),
        (
            "authorizationParameters",
            texts_by_name("Additional parameters of the authorization request."),
        ),
        ("variables", texts_by_name("Values of the variables in the platform's URLs.")),
        (
            "startUrl",
            text_or_null("The page of your app where users start to connect; null for none."),
        ),
        (
            "pkce",
            described(
                "Whether authorization requests use PKCE (RFC 7636); null for the catalog's value.",
                json!({
                    "type": ["string", "null"], "enum": ["S256", "none", null],
                }),
            ),
        ),
        ("redirectUri", described("The redirect URI to register at the platform.", uri)),
        (
            "rejectedSince",
            time_or_null(
                "The time since which the platform has rejected the client; null if it accepts it. Setting the client clears this.",
            ),
        ),
        ("createdAt", time("When it was first set.")),
        ("updatedAt", time("When it was last set.")),
    ]
}

/// The schema of credentials: one alternative for each type.
pub fn credentials() -> Value {
    let members = described(
        "Further members of the platform's token response that requests need.",
        json!({"type": "object"}),
    );
    let fields = texts_by_name("What else the user entered, such as variables of URLs.");
    let schema_of =
        |kind: CredentialType, description: &str, type_schema: Vec<(&'static str, Value)>| {
            let mut required_members = vec![
                ("type", json!({"type": "string", "const": kind.as_str()})),
                ("authMethod", string("The id of the connector's auth method.")),
            ];
            required_members.extend(type_schema);
            required_members.push((
                "headers",
                texts_by_name("Headers to add to a request to the platform; names in lower case."),
            ));
            required_members.push((
                "query",
                texts_by_name("Query parameters to add to a request to the platform, not encoded."),
            ));
            let optional = match kind {
                CredentialType::OAuth2 => json!({"members": members.clone()}),
                _ => json!({}),
            };
            let optional = optional.with(json!({"fields": fields.clone()}));
            record_with(description, required_members, optional)
        };
    let types = CredentialType::ALL.map(|kind| match kind {
        CredentialType::OAuth2 => schema_of(
            kind,
            "An access token of OAuth 2.0.",
            vec![
                ("client", string("The name of the OAuth client that obtained them.")),
                ("accessToken", string("The access token.")),
                ("tokenType", string("The platform's name for its type, usually `Bearer`.")),
                ("expiresAt", time_or_null("When it expires; null if unknown.")),
                ("scopes", strings("The scopes that the platform granted.")),
            ],
        ),
        CredentialType::ApiKey => schema_of(kind, "A key.", vec![("apiKey", string("The key."))]),
        CredentialType::Basic => schema_of(
            kind,
            "A user name and a password.",
            vec![("username", string("The user name.")), ("password", string("The password."))],
        ),
        CredentialType::Bearer => schema_of(kind, "A token.", vec![("token", string("The token."))]),
        CredentialType::AwsSigv4 => schema_of(
            kind,
            "Keys that sign requests with AWS Signature Version 4; `headers` and `query` are empty.",
            vec![
                ("accessKeyId", string("The id of the access key.")),
                ("secretAccessKey", string("The secret access key.")),
                ("sessionToken", text_or_null("The token of a temporary session; null if there is none.")),
                ("region", text_or_null("The region; null if the method has none.")),
            ],
        ),
    });
    json!({"description": "Credentials, ready to use.", "oneOf": types})
}

/// Asserts that one of the alternatives matches a response: the response has all required members
/// and no unknown members.
pub fn check(schema: &Value, response: &Value) {
    let Some(Value::Array(types)) = schema.get("oneOf") else { panic!("one schema for each type") };
    let kind = |schema: &Value| schema.get("properties")?.get("type")?.get("const").cloned();
    let type_schema = types
        .iter()
        .find(|type_schema| kind(type_schema).as_ref() == response.get("type"))
        .unwrap();
    let Some(Value::Array(required)) = type_schema.get("required") else {
        panic!("required members")
    };
    let optional = ["members", "fields"];
    let required_members = response.names().into_iter().filter(|name| !optional.contains(name));
    let required_members: Vec<Value> = required_members.map(Value::from).collect();
    assert_eq!(*required, required_members, "members of credentials");
    let known = type_schema.get("properties").unwrap();
    assert!(response.names().into_iter().all(|name| known.get(name).is_some()));
}
