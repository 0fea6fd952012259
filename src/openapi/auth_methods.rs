//! The schemas of auth methods.

use serde_json::{Value, json};

use super::details::{list, nullable, texts_by_name, url};
use super::schema::{boolean, names, record, reference, string, strings, text_or_null, variants};
use super::string_schemas::described;
use crate::catalog::detail::{
    ApiKeyLocation, ExpiresUnit, Grant, Pkce, RevocationToken, SourceKind, TokenAuth, TokenBody,
};

/// The schema of an auth method: one alternative for each type.
pub fn auth_method() -> Value {
    let schema_of = |kind: &'static str,
                     description: &str,
                     type_members: Vec<(&'static str, Value)>| {
        let mut members = vec![
            ("id", string("Unique within the connector.")),
            ("type", json!({"type": "string", "const": kind})),
        ];
        members.extend(type_members);
        members
            .push(("fields", list("The fields that the user fills in.", reference("AuthField"))));
        members.push((
            "headers",
            texts_by_name(
                "Headers of every request to the platform. In a value, `{name}` is replaced by the field of that name, or the member of the token response; with OAuth 2.0, `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced by the token and by data of the OAuth client.",
            ),
        ));
        members.push((
            "query",
            texts_by_name("Query parameters of every request to the platform, as in `headers`."),
        ));
        record(description, members)
    };
    let methods = vec![
        schema_of(
            "oauth2",
            "OAuth 2.0 (RFC 6749). URLs may contain variables in braces.",
            oauth2(),
        ),
        schema_of(
            "api_key",
            "A key that is sent with each request.",
            vec![
                ("in", names("Where it is sent.", variants::<ApiKeyLocation>())),
                ("name", string("The name of the header, parameter or cookie.")),
                (
                    "prefix",
                    string(
                        "The prefix of the key; can be empty. A space follows if it ends with a letter or a digit.",
                    ),
                ),
            ],
        ),
        schema_of(
            "basic",
            "A user name and a password (RFC 7617).",
            vec![
                ("usernameLabel", string("The platform's name for the user name.")),
                ("passwordLabel", string("The platform's name for the password.")),
                (
                    "username",
                    text_or_null(
                        "A template of the user name; null if the user enters it in the field `username`.",
                    ),
                ),
                (
                    "password",
                    text_or_null(
                        "A template of the password; null if the user enters it in the field `password`.",
                    ),
                ),
            ],
        ),
        schema_of(
            "bearer",
            "A token in the header `Authorization` (RFC 6750).",
            vec![(
                "prefix",
                string(
                    "The prefix of the token. A space follows if it ends with a letter or a digit.",
                ),
            )],
        ),
        schema_of(
            "aws_sigv4",
            "Requests signed with AWS Signature Version 4.",
            vec![
                ("service", string("The name of the service in signatures.")),
                ("regions", strings("Its regions; empty if unknown.")),
            ],
        ),
    ];
    json!({
        "description": "A way to connect to a platform.",
        "oneOf": methods,
    })
}

fn oauth2() -> Vec<(&'static str, Value)> {
    let scope = record(
        "A scope.",
        vec![
            ("name", string("The scope to request.")),
            ("description", string("What it allows; can be empty.")),
        ],
    );
    vec![
        ("grant", names("The grant type.", variants::<Grant>())),
        ("issuer", text_or_null("The issuer (RFC 9207); null if unknown.")),
        ("authorizationUrl", url("The authorization endpoint; null for client credentials.")),
        ("tokenUrl", string("The token endpoint.")),
        ("refreshUrl", url("The endpoint for refresh tokens, if it is not `tokenUrl`.")),
        ("revocationUrl", url("The revocation endpoint (RFC 7009); null if unknown.")),
        ("scopes", list("The scopes that can be requested.", scope)),
        ("scopeSeparator", string("The separator of scopes.")),
        ("pkce", names("The method of PKCE (RFC 7636).", variants::<Pkce>())),
        (
            "tokenAuth",
            names("How the client authenticates at `tokenUrl`.", variants::<TokenAuth>()),
        ),
        ("clientIdParameter", string("The platform's name for the parameter `client_id`.")),
        (
            "authorizationParameters",
            texts_by_name("Additional parameters of the authorization request."),
        ),
        ("tokenParameters", texts_by_name("Additional parameters of the token request.")),
        (
            "redirectUri",
            text_or_null(
                "A template of the parameter `redirect_uri`; null for the service's callback address.",
            ),
        ),
        (
            "callbackParameters",
            strings("The parameters of the redirect that the exchange of the code repeats."),
        ),
        ("tokenBody", names("The form of the token request.", variants::<TokenBody>())),
        ("tokenHeaders", texts_by_name("Headers of token and revocation requests.")),
        ("revocationBody", names("The form of the revocation request.", variants::<TokenBody>())),
        (
            "revocationToken",
            names("The token that a revocation request names.", variants::<RevocationToken>()),
        ),
        (
            "tokenPointer",
            text_or_null(
                "The JSON Pointer of the object with the tokens; null for the whole response.",
            ),
        ),
        (
            "tokenFallback",
            text_or_null(
                "The JSON Pointer of the object with the tokens, if the first place has none; null if there is no other.",
            ),
        ),
        ("tokenMembers", strings("The members of the token response that are stored.")),
        ("codeParameter", string("The platform's name for the parameter `code` of the redirect.")),
        (
            "expiresUnit",
            names(
                "The unit in which the platform returns the lifetime of an access token.",
                variants::<ExpiresUnit>(),
            ),
        ),
        (
            "longLivedToken",
            nullable(
                "The request that exchanges the first access token for one that is valid for longer; null if there is none.",
                access_token_request(),
            ),
        ),
        (
            "accessTokenRefresh",
            nullable(
                "The request that refreshes an access token without a refresh token; null if there is none.",
                access_token_request(),
            ),
        ),
        (
            "lookupUrl",
            text_or_null("Returns values of fields for an access token; null if there is none."),
        ),
        (
            "fieldSources",
            list(
                "Where the platform returns the values of fields, which then need not be filled in.",
                field_source(),
            ),
        ),
    ]
}

fn access_token_request() -> Value {
    record(
        "A request for an access token that another access token authorizes.",
        vec![
            ("method", names("The HTTP method.", ["GET", "POST"])),
            ("url", string("An absolute URL.")),
            (
                "parameters",
                texts_by_name(
                    "All parameters. `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced.",
                ),
            ),
        ],
    )
}

fn field_source() -> Value {
    record(
        "Where the platform returns the value of a field.",
        vec![
            ("field", string("The field's name.")),
            (
                "from",
                names(
                    "The source: the redirect, the token response, or the response at `lookupUrl`.",
                    variants::<SourceKind>(),
                ),
            ),
            (
                "at",
                string(
                    "The name of a parameter of the redirect, or a JSON Pointer into the response, in which `?member=value` selects items of a list.",
                ),
            ),
            (
                "template",
                text_or_null(
                    "The platform's value, with `{field}` in place of the field's value; null if it is the field's value alone.",
                ),
            ),
        ],
    )
}

pub fn field() -> Value {
    record(
        "A field that the user fills in.",
        vec![
            ("name", string("Its name in requests to connect.")),
            ("label", string("Its human-readable name.")),
            ("description", text_or_null("Help with filling it in.")),
            ("secret", boolean("Whether its value must be hidden.")),
            ("required", boolean("Whether it must be filled in.")),
            ("pattern", text_or_null("A regular expression that the whole value matches.")),
            (
                "enum",
                described(
                    "All allowed values; null for any.",
                    json!({
                        "type": ["array", "null"], "items": {"type": "string"},
                    }),
                ),
            ),
            ("default", text_or_null("The value if it is left empty.")),
        ],
    )
}
