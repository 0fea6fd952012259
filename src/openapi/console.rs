//! The endpoints for the sign-in to the console.

use serde_json::{Value, json};

use super::bodies::body;
use super::endpoint_doc::{Body, EndpointDoc};
use super::json::{Members as _, texts};
use super::schema::{boolean, names, record, reference, string, text_or_null, time};
use super::string_schemas::described;
use crate::console::sign_in::SignInType;
use crate::http::fields::CONSOLE_SIGN_IN_FIELDS;
use crate::http::paging::MAX_LIMIT;
use crate::terms::Scope;

pub const CONSOLE: &str = "Console";

/// Example bodies that configure a sign-in, each with a name and a description.
pub const SIGN_IN_EXAMPLES: [(&str, &str, &str); 2] = [
    (
        "oidc",
        "An OpenID provider",
        r#"{"type":"oidc","issuer":"https://id.example.com","clientId":"console","clientSecret":"example-secret",
            "claim":"groups","roles":{"developers":["catalog:read","connections:read"],"support":["connections:read"]}}"#,
    ),
    (
        "access",
        "Cloudflare Access",
        r#"{"type":"access","teamDomain":"acme.cloudflareaccess.com","audience":"0123456789abcdef",
            "claim":"email","roles":{"ann@example.com":["catalog:read","connections:read"]}}"#,
    ),
];

pub const GET_SIGN_IN: EndpointDoc = EndpointDoc {
    tag: CONSOLE,
    summary: "Get the sign-in to the console",
    description: "Returns how people sign in to the console, and the address at which they do.",
    response: "The sign-in.",
    schema: Some("ConsoleSignIn"),
    body: None,
    address: "/v1/console-sign-in",
    script: "\
const { signInUrl, roles } = await vault.consoleSignIn.get();
console.log(signInUrl, Object.keys(roles));
",
};

pub const SET_SIGN_IN: EndpointDoc = EndpointDoc {
    tag: CONSOLE,
    summary: "Configure the sign-in to the console",
    description: "Lets people sign in to the console of the key's account and environment without an API key. With `oidc`, they sign in at your OpenID provider: register `redirectUri` of the response there. With `access`, Cloudflare Access in front of the service authenticates them. `roles` maps each value of `claim` to scopes; a person has those of all of their values. People have at most the scopes of the key that configures the sign-in, and lose their access when that key is revoked or expires; its replacement takes over. If you omit `clientSecret`, the stored one stays as long as `issuer` and `clientId` do; `null` removes it. The request ends all sessions.",
    response: "The new sign-in.",
    schema: Some("ConsoleSignIn"),
    body: Some(Body { schema: "NewConsoleSignIn", examples: &SIGN_IN_EXAMPLES, sample: 0 }),
    address: "/v1/console-sign-in",
    script: "\
const signIn = await vault.consoleSignIn.set({
  type: \"oidc\",
  issuer: \"https://id.example.com\",
  clientId: \"console\",
  clientSecret: process.env.CLIENT_SECRET,
  claim: \"groups\",
  roles: { developers: [\"catalog:read\", \"connections:read\"] },
});
console.log(signIn.signInUrl, signIn.redirectUri);
",
};

pub const DELETE_SIGN_IN: EndpointDoc = EndpointDoc {
    tag: CONSOLE,
    summary: "Delete the sign-in to the console",
    description: "Disables the sign-in and ends every session of the key's account and environment. Keys stay valid. If you configure it again, its address is another one.",
    response: "Sign-in is disabled.",
    schema: None,
    body: None,
    address: "/v1/console-sign-in",
    script: "\
await vault.consoleSignIn.delete();\n",
};

pub const LIST_SESSIONS: EndpointDoc = EndpointDoc {
    tag: CONSOLE,
    summary: "List sessions in the console",
    description: "Lists the people who are signed in to the console, newest first. Sessions that have ended are not listed.",
    response: "A page of the list.",
    schema: Some("ConsoleSessionPage"),
    body: None,
    address: "/v1/console-sessions?limit=5",
    script: "\
const { rows } = await vault.consoleSessions.list({ limit: 5 });
for (const { person, lastUsedAt } of rows) console.log(person, lastUsedAt);
",
};

pub const SIGN_OUT: EndpointDoc = EndpointDoc {
    tag: CONSOLE,
    summary: "Sign out of the console",
    description: "Ends the caller's own session. Only for the token of a person who has signed in to the console.",
    response: "The session is ended.",
    schema: None,
    body: None,
    address: "/v1/console-sessions/current",
    script: "\
await vault.consoleSessions.signOut();\n",
};

pub const DELETE_SESSION: EndpointDoc = EndpointDoc {
    tag: CONSOLE,
    summary: "End a session in the console",
    description: "Ends the session: its next request is rejected. The person can sign in again as long as the provider lets them.",
    response: "The session is ended.",
    schema: None,
    body: None,
    address: "/v1/console-sessions/$SESSION",
    script: "\
await vault.consoleSessions.delete(process.env.SESSION);\n",
};

fn scopes() -> Value {
    json!({"type": "array", "items": {"type": "string", "enum": texts(Scope::NAMES)}})
}

pub fn roles() -> Value {
    json!({"type": "object", "additionalProperties": scopes()})
}

pub fn sign_in() -> Value {
    let strings = json!({"type": "string"});
    let requested = json!({"type": ["array", "null"], "items": strings});
    record(
        "How people sign in to the console.",
        vec![
            ("signInUrl", string("The address at which people sign in.")),
            (
                "type",
                names(
                    "`oidc`: an OpenID provider. `access`: Cloudflare Access.",
                    SignInType::NAMES,
                ),
            ),
            ("issuer", text_or_null("The provider's issuer; `null` with `access`.")),
            ("clientId", text_or_null("The client at the provider; `null` with `access`.")),
            ("hasSecret", boolean("Whether a client secret is stored. It is never returned.")),
            (
                "scopes",
                described(
                    "The scopes that are requested from the provider; `null` with `access`.",
                    requested,
                ),
            ),
            (
                "redirectUri",
                text_or_null("The redirect URI to register at the provider; `null` with `access`."),
            ),
            ("teamDomain", text_or_null("The domain of the Access team; `null` with `oidc`.")),
            (
                "audience",
                text_or_null("The audience of the Access application; `null` with `oidc`."),
            ),
            ("claim", string("The claim with a person's roles.")),
            ("roles", described("The scopes of each value of the claim.", roles())),
            ("keyId", string("The id of the key whose scopes limit those of people.")),
            ("createdAt", time("When sign-in was switched on.")),
            ("updatedAt", time("When it was last configured.")),
        ],
    )
}

pub fn new_sign_in() -> Value {
    let shapes = json!({"roles": roles()});
    body("How people sign in to the console.", &CONSOLE_SIGN_IN_FIELDS, &shapes)
}

pub fn sessions() -> Value {
    let rows =
        json!({"type": "array", "maxItems": MAX_LIMIT, "items": reference("ConsoleSession")});
    record(
        "A page of sessions.",
        vec![
            ("rows", described("The sessions of this page, newest first.", rows)),
            ("next", text_or_null("The cursor for `before`; `null` on the last page.")),
        ],
    )
}

pub fn session() -> Value {
    record(
        "A person who is signed in to the console.",
        vec![
            ("id", string("The session's id.").with(json!({"format": "uuid"}))),
            (
                "person",
                string(
                    "The person's verified email address, otherwise the subject at the provider.",
                ),
            ),
            ("scopes", described("The scopes of the person's roles.", scopes())),
            ("current", boolean("Whether it is the caller's own session.")),
            ("createdAt", time("When the person signed in.")),
            ("lastUsedAt", time("When it was last used, accurate to a minute.")),
            (
                "expiresAt",
                time(
                    "When it ends unless it is used: after an idle hour, at most 12 hours after the sign-in.",
                ),
            ),
        ],
    )
}

/// The schemas of the console's sign-in and sessions, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("ConsoleSignIn", sign_in()),
        ("NewConsoleSignIn", new_sign_in()),
        ("ConsoleSessionPage", sessions()),
        ("ConsoleSession", session()),
    ]
}
