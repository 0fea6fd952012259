//! The schemas of the details of a connector and of an action.

use super::node::{Node, object};
use super::schema::{boolean, names, record, reference, string, strings, text_or_null, variants};
use super::string_schemas::described;
use crate::catalog::action::stored::ParameterLocation;
use crate::catalog::detail::{
    ExpiresUnit, Grant, In, Pkce, RevocationToken, SourceKind, TokenAuth, TokenBody,
};
use crate::terms::Method;

pub fn connector(row: &Node) -> Node {
    let detail = record(
        "",
        vec![
            (
                "authMethods",
                list("The ways to connect, the preferred one first.", reference("AuthMethod")),
            ),
            ("servers", list("The base addresses of the API, the default one first.", server())),
            ("documentationUrl", url("The platform's documentation; null if unknown.")),
            (
                "license",
                nullable(
                    "The licence of the imported OpenAPI document; null if unknown.",
                    license(),
                ),
            ),
            (
                "headers",
                texts_by_name(
                    "Headers of every request to the platform, with every auth method. Values are templates, as in an auth method.",
                ),
            ),
            (
                "verify",
                nullable(
                    "A request that succeeds only with valid credentials; null if unknown.",
                    verify(),
                ),
            ),
            (
                "account",
                nullable(
                    "A request that identifies the connected account; null if unknown.",
                    account(),
                ),
            ),
            (
                "pagination",
                list(
                    "Where responses name the next page of a list, in addition to the header `Link`: the first match counts.",
                    pagination(),
                ),
            ),
        ],
    );
    let description =
        "A connector, with the ways to connect and the addresses of the platform's API.";
    joined(description, row, &detail, object! {})
}

/// The members of a row and its detail, and optional ones.
fn joined(description: &str, row: &Node, detail: &Node, optional: Node) -> Node {
    let both = |name: &str| match (row.get(name), detail.get(name)) {
        (Some(Node::Array(own)), Some(Node::Array(more))) => {
            Node::Array(own.iter().chain(more).cloned().collect())
        }
        (Some(own), Some(more)) => own.clone().with(more.clone()),
        _ => Node::Null,
    };
    object! {
        "type": "object",
        "description": description,
        "required": both("required"),
        "properties": both("properties").with(optional),
    }
}

pub fn action(row: &Node) -> Node {
    let schema = |description: &str| described(description, object! {"type": "object"});
    let parameter = record(
        "",
        vec![
            ("name", string("The platform's name for it.")),
            ("in", names("Where it is sent.", variants::<ParameterLocation>())),
            ("required", boolean("Whether the platform needs it.")),
            ("schema", any_schema("Its values. References point into this response.")),
            ("style", string("How a list or an object is written, as in OpenAPI.")),
            ("explode", boolean("Whether each value is a separate parameter, as in OpenAPI.")),
        ],
    );
    let written = record(
        "",
        vec![(
            "contentType",
            text_or_null("The media type of the serialized value; null if `style` applies."),
        )],
    );
    let reserved = object! {
        "allowReserved": boolean("True if reserved characters are sent unencoded, as in OpenAPI; otherwise absent."),
    };
    let parameter = joined("A parameter.", &parameter, &written, reserved);
    let body = record(
        "",
        vec![
            ("required", boolean("Whether the platform needs it.")),
            ("contentTypes", strings("The media types; the schema describes the first.")),
            ("schema", any_schema("Its content. References point into this response.")),
        ],
    );
    let encoding = record(
        "How a member of a form is written, like a parameter of a query.",
        vec![
            ("style", string("How a list or an object is written, as in OpenAPI.")),
            ("explode", boolean("Whether each value is a separate parameter, as in OpenAPI.")),
        ],
    );
    let encoding = joined(
        "How a member of a form is written, like a parameter of a query, or as a part.",
        &encoding,
        &record("", vec![]),
        object! {
            "allowReserved": boolean("Whether reserved characters are sent unencoded; otherwise absent."),
            "contentType": string("The media types that a part may have, comma-separated; else absent."),
            "headers": strings("The headers that a part may have; else absent."),
        },
    );
    let of_members = object! {
        "encoding": described(
            "For a form: the serialization of members, where the document specifies it; otherwise absent.",
            object! {"type": "object", "additionalProperties": encoding},
        ),
    };
    let body = joined("The body of a request.", &body, &record("", vec![]), of_members);
    let auth = record(
        "A way to authorize the action.",
        vec![
            ("method", string("The id of one of the connector's auth methods.")),
            ("scopes", strings("The required scopes; empty if none are known.")),
        ],
    );
    let detail = record(
        "",
        vec![
            ("path", string("The path below the server; a part in braces is a parameter.")),
            ("server", text_or_null("The base address; null if unknown.")),
            ("description", string("What the action does; can be empty.")),
            ("deprecated", boolean("Whether the platform advises against it.")),
            ("documentationUrl", url("The platform's documentation of it; null if unknown.")),
            ("parameters", list("All parameters except the body.", parameter)),
            ("requestBody", nullable("The body; null if there is none.", body)),
            (
                "responseTypes",
                strings(
                    "The media types of a successful response, the preferred one first; empty if unknown.",
                ),
            ),
            (
                "auth",
                list(
                    "The ways to authorize it; any one is enough. Empty if it needs none, or none of the connector's methods is enough.",
                    auth,
                ),
            ),
            (
                "input",
                schema(
                    "A JSON Schema (2020-12) with the members `path`, `query`, `header`, `cookie` and `body` that the action has. With `for=model`, one flat object instead.",
                ),
            ),
        ],
    );
    let response = record(
        "The response with one status.",
        vec![
            ("status", string("Such as `200`, `4XX` or `default`.")),
            ("description", string("When this response is returned; can be empty.")),
            ("contentType", text_or_null("The media type; null without a body.")),
            (
                "schema",
                described(
                    "A JSON Schema (2020-12) of the content; null if unknown.",
                    object! {"type": Node::texts(["object", "boolean", "null"])},
                ),
            ),
        ],
    );
    let responses = list("The action's responses; only with `include=responses`.", response);
    let graphql = record(
        "The request of a field of a GraphQL API; absent for other actions.",
        vec![
            ("document", string("What is sent; `{selection}` stands for the selected fields.")),
            ("selection", string("The fields selected without `select`; empty for a scalar.")),
        ],
    );
    let optional = object! {"graphql": graphql, "responses": responses};
    joined("An action, with its input and responses.", row, &detail, optional)
}

fn any_schema(description: &str) -> Node {
    described(description, object! {"type": Node::texts(["object", "boolean"])})
}

fn list(description: &str, items: Node) -> Node {
    described(description, object! {"type": "array", "items": items})
}

fn nullable(description: &str, schema: Node) -> Node {
    described(description, object! {"oneOf": Node::Array(vec![schema, object! {"type": "null"}])})
}

/// A URL that can have variables in braces, and is then not a URI.
fn url(description: &str) -> Node {
    text_or_null(description)
}

fn texts_by_name(description: &str) -> Node {
    described(
        description,
        object! {"type": "object", "additionalProperties": object! {"type": "string"}},
    )
}

fn server() -> Node {
    record(
        "A base address of the API.",
        vec![
            (
                "url",
                string(
                    "An absolute URL. Each `{name}` in it is replaced by the field of that name.",
                ),
            ),
            ("description", text_or_null("What the server is for.")),
        ],
    )
}

fn license() -> Node {
    record(
        "A licence.",
        vec![
            ("name", text_or_null("Its name, or its SPDX identifier.")),
            ("url", url("The address of its text.")),
        ],
    )
}

fn request_members() -> Vec<(&'static str, Node)> {
    vec![
        ("method", names("The HTTP method.", Method::NAMES)),
        (
            "path",
            string(
                "The path below the first server whose variables are all among the method's fields, or an absolute URL.",
            ),
        ),
        ("body", described("The JSON body; null for none.", object! {})),
    ]
}

fn verify() -> Node {
    let value = record(
        "A value in a JSON response.",
        vec![
            ("pointer", string("Its position: a JSON Pointer.")),
            ("value", described("The value; an array lists several.", object! {})),
        ],
    );
    let mut members = request_members();
    let status = object! {"type": "integer", "minimum": 100, "maximum": 599};
    members.push((
        "rejected",
        list(
            "The statuses with which the platform rejects credentials. All others, except 2xx, prove nothing.",
            status,
        ),
    ));
    members.push((
        "rejectedWhen",
        nullable(
            "The content of a response that rejects the credentials, with any status; null if none does.",
            value,
        ),
    ));
    record("A request to the platform that checks credentials.", members)
}

fn pagination() -> Node {
    record(
        "Where a JSON response names the next page of a list.",
        vec![
            (
                "next",
                string(
                    "The JSON Pointer of the next page's address, or of the value of `parameter`.",
                ),
            ),
            (
                "parameter",
                text_or_null("The query parameter that takes the value; null if it is an address."),
            ),
            (
                "items",
                text_or_null(
                    "The JSON Pointer of the list whose last item has the value; null if the response itself has it.",
                ),
            ),
            (
                "more",
                text_or_null(
                    "The JSON Pointer of a value that is true if there is another page; null if the pointer to the next page is enough.",
                ),
            ),
        ],
    )
}

fn account() -> Node {
    let mut members = request_members();
    members.push(("id", string("The JSON Pointer of the account's id in the response.")));
    members.push(("name", text_or_null("The JSON Pointer of the account's name in the response.")));
    record("A request to the platform that identifies the connected account.", members)
}

/// One schema for each type.
pub fn auth_method() -> Node {
    let of = |kind: &'static str, description: &str, own: Vec<(&'static str, Node)>| {
        let mut members = vec![
            ("id", string("Unique within the connector.")),
            ("type", object! {"type": "string", "const": kind}),
        ];
        members.extend(own);
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
        of("oauth2", "OAuth 2.0 (RFC 6749). URLs may contain variables in braces.", oauth2()),
        of(
            "api_key",
            "A key that is sent with each request.",
            vec![
                ("in", names("Where it is sent.", variants::<In>())),
                ("name", string("The name of the header, parameter or cookie.")),
                (
                    "prefix",
                    string(
                        "The prefix of the key; can be empty. A space follows if it ends with a letter or a digit.",
                    ),
                ),
            ],
        ),
        of(
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
        of(
            "bearer",
            "A token in the header `Authorization` (RFC 6750).",
            vec![(
                "prefix",
                string(
                    "The prefix of the token. A space follows if it ends with a letter or a digit.",
                ),
            )],
        ),
        of(
            "aws_sigv4",
            "Requests signed with AWS Signature Version 4.",
            vec![
                ("service", string("The name of the service in signatures.")),
                ("regions", strings("Its regions; empty if unknown.")),
            ],
        ),
    ];
    object! {
        "description": "A way to connect to a platform.",
        "oneOf": Node::Array(methods),
    }
}

fn oauth2() -> Vec<(&'static str, Node)> {
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
            "fieldSources",
            list(
                "Where the platform returns the values of fields, which then need not be filled in.",
                field_source(),
            ),
        ),
    ]
}

fn access_token_request() -> Node {
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

fn field_source() -> Node {
    record(
        "Where the platform returns the value of a field.",
        vec![
            ("field", string("The field's name.")),
            (
                "from",
                names(
                    "The source: the redirect, the token response, or the response to the connector's `account` request.",
                    variants::<SourceKind>(),
                ),
            ),
            (
                "at",
                string(
                    "The name of a parameter of the redirect, or a JSON Pointer into the response.",
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

pub fn field() -> Node {
    record(
        "A field that the user fills in.",
        vec![
            ("name", string("Its name in requests to connect.")),
            ("label", string("Its name for people.")),
            ("description", text_or_null("Help with filling it in.")),
            ("secret", boolean("Whether it must not be shown.")),
            ("required", boolean("Whether it must be filled in.")),
            ("pattern", text_or_null("A regular expression that the whole value matches.")),
            (
                "enum",
                described(
                    "All allowed values; null for any.",
                    object! {
                        "type": Node::texts(["array", "null"]), "items": object! {"type": "string"},
                    },
                ),
            ),
            ("default", text_or_null("The value if it is left empty.")),
        ],
    )
}
