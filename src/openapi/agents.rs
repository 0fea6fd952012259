//! The endpoints for agents' sign-in and grants.

use serde_json::{Value, json};

use super::bodies::body;
use super::endpoint_doc::{Body, EndpointDoc};
use super::json::Members as _;
use super::schema::{boolean, names, record, reference, string, text_or_null, time, time_or_null};
use super::string_schemas::described;
use crate::agents::Access;
use crate::agents::sign_in::SignInType;
use crate::http::fields::{GRANT_FIELDS, SIGN_IN_FIELDS};
use crate::http::paging::MAX_LIMIT;
use crate::terms::{IdentityType, KeyState};

pub const AGENTS: &str = "Agents";

/// Example bodies that configure a sign-in, each with a name and a description.
pub const SIGN_IN_EXAMPLES: [(&str, &str, &str); 2] = [
    ("app", "Your own app", r#"{"type":"app","url":"https://app.example.com/agents/sign-in"}"#),
    (
        "oidc",
        "An OpenID provider",
        r#"{"type":"oidc","issuer":"https://id.example.com","clientId":"vault","clientSecret":"example-secret",
            "identityClaim":"email","identityType":"user"}"#,
    ),
];

/// An example body that creates a grant, with a name and a description. Tests replace its
/// `request`.
pub const GRANT_EXAMPLES: [(&str, &str, &str); 1] = [(
    "whole",
    "All fields",
    r#"{"request":"ar_eyJlIjoi…","identity":"ann@example.com","identityType":"user","platforms":["github"],"access":"read"}"#,
)];

pub const GET_SIGN_IN: EndpointDoc = EndpointDoc {
    tag: AGENTS,
    summary: "Get the sign-in for agents",
    description: "Returns who authenticates the users of agents, and the MCP address of the key's account and environment. If none is configured, the 404 has the `redirectUri` to register at your OpenID provider.",
    response: "The sign-in.",
    schema: Some("AgentSignIn"),
    body: None,
    address: "/v1/agent-sign-in",
    script: "\
const { endpoint, type } = await vault.agentSignIn.get();
console.log(endpoint, type);
",
};

pub const SET_SIGN_IN: EndpointDoc = EndpointDoc {
    tag: AGENTS,
    summary: "Configure the sign-in for agents",
    description: "Configures who authenticates the users of agents. With `oidc`, users sign in at your OpenID provider: register the `redirectUri` there that `GET` and this response contain. With `app`, users arrive at `url` with the parameter `request`; your app authenticates them and calls `POST /v1/agent-grants`. If you omit `clientSecret`, the stored one stays as long as `issuer` and `clientId` do; `null` removes it. Existing grants stay valid; `confirm` applies to them, too. Agents act with at most the scopes of the key that configures the sign-in, with `app` of the key that creates the grant, and lose their access when that key is revoked.",
    response: "The new sign-in.",
    schema: Some("AgentSignIn"),
    body: Some(Body { schema: "NewAgentSignIn", examples: &SIGN_IN_EXAMPLES, sample: 0 }),
    address: "/v1/agent-sign-in",
    script: "\
const signIn = await vault.agentSignIn.set({ type: \"app\", url: \"https://app.example.com/agents/sign-in\" });
console.log(signIn.endpoint);
",
};

pub const DELETE_SIGN_IN: EndpointDoc = EndpointDoc {
    tag: AGENTS,
    summary: "Delete the sign-in for agents",
    description: "Disables sign-in for agents and ends every grant of the key's account and environment. If you configure it again, the MCP address is the same.",
    response: "Sign-in is disabled.",
    schema: None,
    body: None,
    address: "/v1/agent-sign-in",
    script: "\
await vault.agentSignIn.delete();\n",
};

pub const LIST_GRANTS: EndpointDoc = EndpointDoc {
    tag: AGENTS,
    summary: "List grants of agents",
    description: "Lists the grants of users to agents, newest first. Grants that have expired or ended, also because their key was revoked or has expired, are not listed.",
    response: "A page of the list.",
    schema: Some("AgentGrantPage"),
    body: None,
    address: "/v1/agent-grants?limit=5",
    script: "\
const { rows } = await vault.agentGrants.list({ identity: \"ann@example.com\", limit: 5 });
for (const { id, client, access } of rows) console.log(id, client.name, access);
",
};

pub const CREATE_GRANT: EndpointDoc = EndpointDoc {
    tag: AGENTS,
    summary: "Create a grant for a user",
    description: "Identifies the user whom an agent's request has sent to your app, after you have authenticated them. Redirect the same browser to `continueUrl` within 60 seconds: there, the user sees the agent's request, and agrees or declines. The URL works once, and only in the browser in which the agent's request started. `platforms` and `access` restrict what the user can grant.",
    response: "The address for the user.",
    schema: Some("AgentContinuation"),
    body: Some(Body { schema: "NewAgentGrant", examples: &GRANT_EXAMPLES, sample: 0 }),
    address: "/v1/agent-grants",
    script: "\
const request = process.env.REQUEST; // from the URL with which the agent sent the user to your app
const { continueUrl } = await vault.agentGrants.create({ request, identity: \"ann@example.com\" });
console.log(continueUrl);
",
};

pub const DELETE_GRANT: EndpointDoc = EndpointDoc {
    tag: AGENTS,
    summary: "End a grant of an agent",
    description: "Ends the grant: the agent's tokens are rejected at once.",
    response: "The grant is ended.",
    schema: None,
    body: None,
    address: "/v1/agent-grants/$GRANT",
    script: "\
await vault.agentGrants.delete(process.env.GRANT);\n",
};

fn identity_type(description: &str) -> Value {
    let all = IdentityType::NAMES.into_iter().map(Value::from);
    let all = all.chain([Value::Null]).collect::<Vec<_>>();
    described(description, json!({"type": ["string", "null"], "enum": Value::Array(all)}))
}

pub fn sign_in() -> Value {
    record(
        "Who authenticates the users of agents.",
        vec![
            ("endpoint", string("The MCP address of the account and environment, for agents.")),
            ("type", names("`oidc`: an OpenID provider. `app`: your own app.", SignInType::NAMES)),
            ("issuer", text_or_null("The provider's issuer; `null` with `app`.")),
            ("clientId", text_or_null("The client at the provider; `null` with `app`.")),
            ("hasSecret", boolean("Whether a client secret is stored. It is never returned.")),
            (
                "identityClaim",
                text_or_null("The claim that is the user's identity; `null` with `app`."),
            ),
            ("identityType", identity_type("The type of the users' identities; `null` for any.")),
            (
                "confirm",
                text_or_null(
                    "The calls that each user must approve, at least: `write` or `destructive`; `null` for none, and with `app`.",
                ),
            ),
            ("redirectUri", string("The redirect URI to register at an OpenID provider.")),
            ("url", text_or_null("Where your app authenticates users; `null` with `oidc`.")),
            ("keyId", string("The id of the key that configured the sign-in.")),
            (
                "keyState",
                names(
                    "The state of that key. With `oidc`, users can sign in only while it is `active`. To fix a sign-in whose key has ended, configure it again.",
                    KeyState::NAMES,
                ),
            ),
            ("createdAt", time("When sign-in was switched on.")),
            ("updatedAt", time("When it was last configured.")),
        ],
    )
}

pub fn new_sign_in() -> Value {
    body("Who authenticates the users of agents.", &SIGN_IN_FIELDS, &json!({}))
}

pub fn new_grant() -> Value {
    body("A user whom your app has authenticated.", &GRANT_FIELDS, &json!({}))
}

pub fn continuation() -> Value {
    record(
        "The address where the user agrees or declines.",
        vec![
            ("continueUrl", string("Where to redirect the user's browser. It works once.")),
            ("expiresAt", time("Until when it works: 60 seconds from now.")),
        ],
    )
}

pub fn grants() -> Value {
    let rows = json!({"type": "array", "maxItems": MAX_LIMIT, "items": reference("AgentGrant")});
    record(
        "A page of grants.",
        vec![
            ("rows", described("The grants of this page, newest first.", rows)),
            ("next", text_or_null("The cursor for `before`; `null` on the last page.")),
        ],
    )
}

pub fn grant() -> Value {
    let list = |description: &str| {
        let items = json!({"type": "string"});
        described(description, json!({"type": ["array", "null"], "items": items}))
    };
    record(
        "A user's grant to an agent.",
        vec![
            ("id", string("The grant's id.").with(json!({"format": "uuid"}))),
            ("identity", string("The user whose connections the agent can use.")),
            ("identityType", identity_type("Only connections of this type; `null` for all.")),
            ("platforms", list("Only these platforms; `null` for all.")),
            (
                "access",
                names(
                    "`read`: the agent calls platforms with `GET`, `HEAD` and GraphQL queries only.",
                    Access::NAMES,
                ),
            ),
            (
                "actions",
                list(
                    "Only these actions, each as `platform/key` or `platform/prefix*`; `null` for all.",
                ),
            ),
            (
                "connections",
                list("Only the connections with these ids; `null` for all of the identity."),
            ),
            (
                "confirm",
                text_or_null(
                    "The calls that the user must approve: `write` or `destructive`; `null` for none. The stricter of the grant's and the sign-in's setting.",
                ),
            ),
            (
                "client",
                record(
                    "The agent, as it describes itself.",
                    vec![
                        ("name", text_or_null("The agent's own name, which is not verified.")),
                        (
                            "url",
                            text_or_null(
                                "Its metadata document, whose host is checked; `null` if it registered itself.",
                            ),
                        ),
                        ("redirectUri", string("Where the user was sent back to.")),
                    ],
                ),
            ),
            ("createdAt", time("When the user came back to sign in.")),
            ("lastUsedAt", time_or_null("When the agent last got an access token.")),
            ("expiresAt", time("When it expires unless it is used: 30 days after its last use.")),
        ],
    )
}

/// The schemas of agents' sign-in and grants, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("AgentSignIn", sign_in()),
        ("NewAgentSignIn", new_sign_in()),
        ("NewAgentGrant", new_grant()),
        ("AgentContinuation", continuation()),
        ("AgentGrantPage", grants()),
        ("AgentGrant", grant()),
    ]
}
