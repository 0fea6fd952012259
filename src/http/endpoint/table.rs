//! The table of endpoints. A row has a name, the access, the request, the function that prepares the handler (after
//! `=>`), and the documentation.

use super::{Access, Endpoint, EndpointSpec, PROXY_PATH};
use crate::agents::endpoints as agents;
use crate::audit::endpoints as audit;
use crate::auth::endpoints::{api_keys, session, whoami};
use crate::branding::endpoints as branding;
use crate::catalog::endpoints as catalog;
use crate::connect::endpoints as connect;
use crate::connect::endpoints::oauth_clients;
use crate::connections::endpoints as connections;
use crate::console::endpoints as console;
use crate::credentials::endpoints as credentials;
use crate::events::endpoints as events;
use crate::http::context::Context;
use crate::http::fields::{
    BRANDING_FIELDS, CLIENT_FIELDS, CONNECT_FIELDS, CONSOLE_SIGN_IN_FIELDS, CREATE_FIELDS,
    CREDENTIALS_FIELDS, GRANT_FIELDS, IMPORT_FIELDS, INPUT_FIELDS, KEY_FIELDS, NAME_FIELDS,
    NEW_WEBHOOK_FIELDS, REPLAY_FIELDS, SESSION_FIELDS, SIGN_IN_FIELDS, STATE_FIELDS, UPDATE_FIELDS,
    WEBHOOK_FIELDS,
};
use crate::http::handler::Handler;
use crate::http::message::MAX_IMPORT;
use crate::http::parameters::{
    ACTION_DETAIL_PARAMETERS, ACTION_PARAMETERS, ATTEMPT_PARAMETERS, ATTEMPTS_PARAMETERS,
    AUDIT_PARAMETERS, CLIENT_PARAMETERS, CLIENTS_PARAMETERS, CONNECTION_PARAMETERS,
    CONNECTOR_PARAMETERS, CONSOLE_SESSION_PARAMETERS, CREDENTIALS_PARAMETERS, DELIVERY_PARAMETERS,
    EVENT_PARAMETERS, GRANT_PARAMETERS, KEY_PARAMETERS, SEARCH_PARAMETERS, USAGE_PARAMETERS,
};
use crate::http::problem::Problem;
#[cfg(feature = "cli")]
use crate::openapi as docs;
use crate::platform_calls::endpoints as platform_calls;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::terms::{Method, Scope};
use crate::usage::endpoints as usage;
use crate::webhooks::endpoints as webhooks;

const fn get(path: &'static str) -> EndpointSpec {
    EndpointSpec::new(Method::Get, path)
}

const fn post(path: &'static str) -> EndpointSpec {
    EndpointSpec::new(Method::Post, path)
}

const fn put(path: &'static str) -> EndpointSpec {
    EndpointSpec::new(Method::Put, path)
}

const fn patch(path: &'static str) -> EndpointSpec {
    EndpointSpec::new(Method::Patch, path)
}

const fn delete(path: &'static str) -> EndpointSpec {
    EndpointSpec::new(Method::Delete, path)
}

macro_rules! endpoints {
    (
        open { $($(#[$open_doc:meta])* $open:ident: $open_spec:expr;)+ }
        keyed($context:ident, $ports:ident) {
            $($(#[$doc:meta])* $name:ident($access:expr): $spec:expr => $handler:expr, $documentation:expr;)+
        }
    ) => {
        /// The endpoints that need no key, or check the caller themselves.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Open {
            $($(#[$open_doc])* $open),+
        }

        /// The endpoints that need a key or a token.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Keyed {
            $($(#[$doc])* $name),+
        }

        impl Endpoint {
            pub const ALL: &'static [Self] =
                &[$(Self::Keyed(Keyed::$name),)+ $(Self::Open(Open::$open),)+];

            /// The endpoint's row in the table.
            pub const fn spec(self) -> &'static EndpointSpec {
                match self {
                    $(Self::Open(Open::$open) => {
                        const SPEC: EndpointSpec = $open_spec;
                        &SPEC
                    })+
                    $(Self::Keyed(Keyed::$name) => {
                        const SPEC: EndpointSpec = $spec;
                        &SPEC
                    })+
                }
            }

            /// The variant's name, such as `ListKeys`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::Open(Open::$open) => stringify!($open),)+
                    Self::Keyed(keyed) => keyed.name(),
                }
            }
        }

        /// Prepares a request's handler. Fails with all faults that can be found before storage is queried.
        pub(in crate::http) async fn prepare<'a, P: Ports>(
            $context: &'a Context<'a>,
            $ports: &'a Metered<'a, P>,
        ) -> Result<Handler<'a>, Problem> {
            match $context.endpoint {
                $(Keyed::$name => $handler),+
            }
        }

        impl Keyed {
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The endpoint's documentation.
            #[cfg(feature = "cli")]
            pub const fn doc(self) -> docs::endpoint_doc::EndpointDoc {
                match self {
                    $(Self::$name => $documentation),+
                }
            }

            /// The variant's name, such as `ListKeys`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name)),+
                }
            }

            /// The endpoint's row in the table.
            pub const fn spec(self) -> &'static EndpointSpec {
                Endpoint::Keyed(self).spec()
            }

            /// The key or token that the endpoint requires.
            pub const fn access(self) -> Access {
                match self {
                    $(Self::$name => $access),+
                }
            }
        }
    };
}

endpoints! {
    open {
        /// The health of the Worker.
        Health: get("/health");
        /// The contacts for vulnerability reports (RFC 9116).
        SecurityTxt: get("/.well-known/security.txt");
        /// The `OpenAPI` document, a static file of the site.
        Document: get("/v1/openapi.json");
        /// The window where users connect their accounts, a static file of the site.
        ConnectWindow: get("/connect");
        /// Exchanges the code of a connect link for its token, once.
        ConnectToken: post("/connect/token");
        /// The app's name and appearance, for the connect window.
        ConnectApp: get("/connect/app.json");
        /// The link of a connect attempt: asks the user whether they started it.
        ConnectLink: get("/connect/go/{secret}");
        /// Binds a confirmed attempt to the user's browser, and redirects to the platform.
        ConnectGo: post("/connect/go/{secret}");
        /// The Model Context Protocol, for callers with a key or a token.
        Mcp: post("/mcp");
        /// The Model Context Protocol for one account and environment. Accepts only access tokens issued for this URL.
        AgentMcp: post("/mcp/{endpointId}");
        /// The metadata of a protected resource, which names the authorization server for
        /// `AgentMcp` (RFC 9728).
        AgentResource: get("/.well-known/oauth-protected-resource/mcp/{endpointId}");
        /// The metadata of the authorization server for agents (RFC 8414).
        AgentServer: get("/.well-known/oauth-authorization-server/mcp/{endpointId}");
        /// Registers an agent's client (RFC 7591).
        AgentRegister: post("/mcp/{endpointId}/register");
        /// Starts the sign-in of an agent's user.
        AgentAuthorize: get("/mcp/{endpointId}/authorize");
        /// The redirect URI for the OpenID provider of an agent's user.
        AgentCallback: get("/mcp/{endpointId}/callback");
        /// The URL where the account's own app redirects users.
        AgentContinue: get("/mcp/{endpointId}/continue");
        /// The user's decision on the consent page.
        AgentConsent: post("/mcp/{endpointId}/consent");
        /// The link to a call that awaits approval; starts the user's sign-in.
        AgentApproval: get("/mcp/{endpointId}/approval");
        /// The user's decision about a call that awaits approval.
        AgentDecision: post("/mcp/{endpointId}/approval");
        /// The link to a file that an agent with a grant found. Starts the user's sign-in.
        AgentDownload: get("/mcp/{endpointId}/download");
        /// The link for the user of an agent with a grant to connect an account. Starts the user's
        /// sign-in.
        AgentConnect: get("/mcp/{endpointId}/connect");
        /// The page on which users see and end their grants. Starts the user's sign-in.
        AgentGrants: get("/mcp/{endpointId}/grants");
        /// Revokes the grants that the user selected on the page of grants.
        AgentGrantsEnd: post("/mcp/{endpointId}/grants");
        /// The link to a file that an agent with a key or a session token found.
        Download: get("/download/{secret}");
        /// Exchanges an agent's codes and refresh tokens for access tokens.
        AgentToken: post("/mcp/{endpointId}/token");
        /// Revokes a grant at the request of its client (RFC 7009).
        AgentRevoke: post("/mcp/{endpointId}/revoke");
        /// Asks a person for consent to sign in to the console of an account.
        SignInPage: get("/sign-in/{signInId}");
        /// Redirects the person to the provider, after they agreed to sign in.
        SignInStart: post("/sign-in/{signInId}");
        /// The redirect URI of the console's sign-in.
        SignInCallback: get("/sign-in/{signInId}/callback");
        /// Exchanges the code of a completed console sign-in for a token.
        SignInToken: post("/sign-in/{signInId}/token");
        /// The redirect URI of connect attempts.
        ConnectCallback: get("/connect/callback");
        /// Like `ConnectCallback`, for platforms that post a form.
        ConnectReturn: post("/connect/callback");
    }
    keyed(context, ports) {
        /// The connectors of the catalog.
        ListConnectors(Access::Catalog): get("/v1/available-connectors").with_query(&CONNECTOR_PARAMETERS)
            => catalog::connectors::handle(context, ports),
                docs::catalog::LIST_CONNECTORS;
        /// A connector: how users connect to its platform, and where its API is.
        GetConnector(Access::Catalog): get("/v1/available-connectors/{platform}")
            => catalog::connector::handle(context, ports),
                docs::catalog::GET_CONNECTOR;
        /// Searches the actions of all platforms.
        SearchActions(Access::Catalog): get("/v1/available-actions").with_query(&SEARCH_PARAMETERS)
            => catalog::search::handle(context, ports),
                docs::catalog::SEARCH_ACTIONS;
        /// The actions of a platform.
        ListActions(Access::Catalog): get("/v1/available-actions/{platform}").with_query(&ACTION_PARAMETERS)
            => catalog::actions::handle(context, ports),
                docs::catalog::LIST_ACTIONS;
        /// An action with its parameters and responses.
        GetAction(Access::Catalog): get("/v1/available-actions/{platform}/{key}").with_query(&ACTION_DETAIL_PARAMETERS)
            => catalog::action::handle(context, ports),
                docs::catalog::GET_ACTION;
        /// The connections of the vault.
        ListConnections(Access::Scope(Scope::ConnectionsRead)): get("/v1/vault/connections")
            .with_query(&CONNECTION_PARAMETERS).on_replica()
            => connections::list::handle(context),
                docs::connections::LIST;
        CreateConnection(Access::Scope(Scope::ConnectionsWrite)): post("/v1/vault/connections")
            .with_body(&CREATE_FIELDS).adding_rows()
            => connections::create::handle(context, ports).await,
                docs::connections::CREATE;
        ReadConnection(Access::Scope(Scope::ConnectionsRead)): get("/v1/vault/connections/{id}").on_replica()
            => connections::read::handle(context),
                docs::connections::READ;
        /// Changes the tags of a connection.
        UpdateConnection(Access::Scope(Scope::ConnectionsWrite)): patch("/v1/vault/connections/{id}")
            .with_body(&UPDATE_FIELDS).with_if_match().adding_rows()
            => connections::update::handle(context),
                docs::connections::UPDATE;
        DeleteConnection(Access::Scope(Scope::ConnectionsWrite)): delete("/v1/vault/connections/{id}").with_if_match()
            => connections::delete::handle(context, ports),
                docs::connections::DELETE;
        SetConnectionState(Access::Scope(Scope::ConnectionsWrite)): put("/v1/vault/connections/{id}/state")
            .with_body(&STATE_FIELDS).with_if_match()
            => connections::state::handle(context),
                docs::connections::SET_STATE;
        SetConnectionName(Access::Scope(Scope::ConnectionsWrite)): put("/v1/vault/connections/{id}/name")
            .with_body(&NAME_FIELDS).with_if_match().adding_rows()
            => connections::name::handle(context),
                docs::connections::SET_NAME;
        /// The health of a connection, with its reasons.
        GetStatus(Access::Scope(Scope::ConnectionsRead)): get("/v1/vault/connections/{id}/status").on_replica()
            => connections::status::handle(context),
                docs::connect::STATUS;
        /// Checks whether a connection works.
        CheckConnection(Access::Scope(Scope::ConnectionsWrite)): post("/v1/vault/connections/{id}/check")
            => credentials::check_now::handle(context, ports),
                docs::connect::CHECK;
        /// The credentials of a connection, refreshed if necessary.
        GetCredentials(Access::Scope(Scope::CredentialsRead)): get("/v1/vault/connections/{id}/credentials")
            .with_query(&CREDENTIALS_PARAMETERS)
            => credentials::read::handle(context, ports),
                docs::connect::CREDENTIALS;
        /// Imports the credentials of a connection from another service.
        SetCredentials(Access::Scope(Scope::CredentialsWrite)): put("/v1/vault/connections/{id}/credentials")
            .with_body(&CREDENTIALS_FIELDS)
            => credentials::set::handle(context, ports),
                docs::connect::IMPORT;
        /// Imports connections with their credentials.
        ImportConnections(Access::Scope(Scope::CredentialsWrite)): post("/v1/vault/connections/import")
            .with_body(&IMPORT_FIELDS).with_max_body(MAX_IMPORT)
            => credentials::import::handle(context, ports),
                docs::importing::IMPORT;
        /// Runs an action with a connection.
        RunAction(Access::Scope(Scope::ConnectionsCall)): post("/v1/vault/connections/{id}/actions/{key}")
            .with_body(&INPUT_FIELDS)
            => platform_calls::run::handle(context, ports),
                docs::platform_calls::RUN;
        /// Forwards a `GET` to the platform of a connection.
        ProxyGet(Access::Scope(Scope::ConnectionsCall)): get(PROXY_PATH) => platform_calls::proxy::handle(context, ports),
                docs::platform_calls::proxy(Method::Get);
        /// Forwards a `POST` to the platform of a connection.
        ProxyPost(Access::Scope(Scope::ConnectionsCall)): post(PROXY_PATH)
            => platform_calls::proxy::handle(context, ports),
                docs::platform_calls::proxy(Method::Post);
        /// Forwards a `PUT` to the platform of a connection.
        ProxyPut(Access::Scope(Scope::ConnectionsCall)): put(PROXY_PATH) => platform_calls::proxy::handle(context, ports),
                docs::platform_calls::proxy(Method::Put);
        /// Forwards a `PATCH` to the platform of a connection.
        ProxyPatch(Access::Scope(Scope::ConnectionsCall)): patch(PROXY_PATH)
            => platform_calls::proxy::handle(context, ports),
                docs::platform_calls::proxy(Method::Patch);
        /// Forwards a `DELETE` to the platform of a connection.
        ProxyDelete(Access::Scope(Scope::ConnectionsCall)): delete(PROXY_PATH)
            => platform_calls::proxy::handle(context, ports),
                docs::platform_calls::proxy(Method::Delete);
        /// Connects an account.
        Connect(Access::Scope(Scope::ConnectionsConnect)): post("/v1/vault/connect").with_body(&CONNECT_FIELDS)
            // Boxed to keep the futures of all other requests small.
            => Box::pin(connect::start::handle(context, ports)).await,
                docs::connect::START;
        /// Connect attempts, newest first.
        ListAttempts(Access::Scope(Scope::ConnectionsRead)): get("/v1/vault/connect")
            .with_query(&ATTEMPTS_PARAMETERS).on_replica()
            => connect::attempts::handle(context),
                docs::connect::ATTEMPTS;
        /// The result of a connect attempt.
        GetAttempt(Access::Scope(Scope::ConnectionsConnect)): get("/v1/vault/connect/{id}")
            .with_query(&ATTEMPT_PARAMETERS).on_replica()
            => connect::attempt::handle(context, ports),
                docs::connect::ATTEMPT;
        /// The OAuth clients of the environment.
        ListOauthClients(Access::Scope(Scope::ClientsRead)): get("/v1/oauth-clients")
            .with_query(&CLIENTS_PARAMETERS).on_replica()
            => oauth_clients::list(context),
                docs::connect::LIST_CLIENTS;
        /// The OAuth client for a platform.
        GetOauthClient(Access::Scope(Scope::ClientsRead)): get("/v1/oauth-clients/{platform}")
            .with_query(&CLIENT_PARAMETERS).on_replica()
            => oauth_clients::read(context),
                docs::connect::GET_CLIENT;
        /// Sets the OAuth client for a platform.
        SetOauthClient(Access::Scope(Scope::ClientsWrite)): put("/v1/oauth-clients/{platform}")
            .with_query(&CLIENT_PARAMETERS).with_body(&CLIENT_FIELDS)
            => oauth_clients::put(context, ports),
                docs::connect::SET_CLIENT;
        /// Deletes the OAuth client for a platform.
        DeleteOauthClient(Access::Scope(Scope::ClientsWrite)): delete("/v1/oauth-clients/{platform}")
            .with_query(&CLIENT_PARAMETERS)
            => oauth_clients::delete(context),
                docs::connect::DELETE_CLIENT;
        /// The counts of connections by state, identity type and platform.
        Summary(Access::Scope(Scope::ConnectionsRead)): get("/v1/vault/summary").on_replica()
            => connections::summary::handle(context),
                docs::connections::SUMMARY;
        /// The event feed.
        ListEvents(Access::Scope(Scope::EventsRead)): get("/v1/events").with_query(&EVENT_PARAMETERS).on_replica()
            => events::feed::handle(context),
                docs::events::LIST;
        /// The audit log, newest first.
        ListAudit(Access::Scope(Scope::AuditRead)): get("/v1/audit").with_query(&AUDIT_PARAMETERS).on_replica()
            => audit::handle(context),
                docs::audit::LIST;
        /// The number of requests per day.
        GetUsage(Access::Scope(Scope::UsageRead)): get("/v1/usage").with_query(&USAGE_PARAMETERS).on_replica()
            => usage::handle(context),
                docs::usage::GET;
        /// The webhooks of the environment.
        ListWebhooks(Access::Scope(Scope::WebhooksRead)): get("/v1/webhooks").on_replica()
            => webhooks::read::list(context),
                docs::webhooks::LIST;
        CreateWebhook(Access::Scope(Scope::WebhooksWrite)): post("/v1/webhooks").with_body(&NEW_WEBHOOK_FIELDS).adding_rows()
            => webhooks::signed::create(context, ports),
                docs::webhooks::CREATE;
        GetWebhook(Access::Scope(Scope::WebhooksRead)): get("/v1/webhooks/{id}").on_replica()
            => webhooks::read::one(context),
                docs::webhooks::GET;
        /// Changes a webhook.
        UpdateWebhook(Access::Scope(Scope::WebhooksWrite)): patch("/v1/webhooks/{id}").with_body(&WEBHOOK_FIELDS)
            => webhooks::write::update(context),
                docs::webhooks::UPDATE;
        DeleteWebhook(Access::Scope(Scope::WebhooksWrite)): delete("/v1/webhooks/{id}")
            => webhooks::write::delete(context),
                docs::webhooks::DELETE;
        /// Replaces the secret of a webhook.
        RotateWebhook(Access::Scope(Scope::WebhooksWrite)): post("/v1/webhooks/{id}/rotate")
            => webhooks::signed::rotate_or_test(context, ports),
                docs::webhooks::ROTATE;
        /// Sends an example event to a webhook.
        TestWebhook(Access::Scope(Scope::WebhooksWrite)): post("/v1/webhooks/{id}/test")
            => webhooks::signed::rotate_or_test(context, ports),
                docs::webhooks::TEST;
        /// Sends events to a webhook again.
        ReplayEvents(Access::Scope(Scope::WebhooksWrite)): post("/v1/webhooks/{id}/replay")
            .with_body(&REPLAY_FIELDS).adding_rows()
            => webhooks::write::replay(context),
                docs::webhooks::REPLAY;
        /// The deliveries of a webhook.
        ListDeliveries(Access::Scope(Scope::WebhooksRead)): get("/v1/webhooks/{id}/deliveries")
            .with_query(&DELIVERY_PARAMETERS).on_replica()
            => webhooks::read::deliveries(context),
                docs::webhooks::DELIVERIES;
        /// The API keys of the environment.
        ListKeys(Access::Scope(Scope::KeysRead)): get("/v1/keys").with_query(&KEY_PARAMETERS).on_replica()
            => api_keys::list(context),
                docs::keys::LIST;
        /// Creates an API key.
        CreateKey(Access::Scope(Scope::KeysWrite)): post("/v1/keys").with_body(&KEY_FIELDS).adding_rows()
            => api_keys::create(context, ports),
                docs::keys::CREATE;
        /// Replaces an API key with one that has the same scopes.
        RotateKey(Access::Scope(Scope::KeysWrite)): post("/v1/keys/{id}/rotate") => api_keys::rotate(context, ports),
                docs::keys::ROTATE;
        /// Revokes an API key.
        RevokeKey(Access::Scope(Scope::KeysWrite)): delete("/v1/keys/{id}") => api_keys::delete(context),
                docs::keys::REVOKE;
        /// The sign-in configuration for users of agents.
        GetAgentSignIn(Access::Scope(Scope::AgentsRead)): get("/v1/agent-sign-in").on_replica()
            => agents::sign_in::read(context, ports),
                docs::agents::GET_SIGN_IN;
        SetAgentSignIn(Access::Scope(Scope::AgentsWrite)): put("/v1/agent-sign-in").with_body(&SIGN_IN_FIELDS)
            => agents::sign_in::put(context, ports),
                docs::agents::SET_SIGN_IN;
        /// Deletes the sign-in configuration, which disables sign-in for agents.
        DeleteAgentSignIn(Access::Scope(Scope::AgentsWrite)): delete("/v1/agent-sign-in")
            => agents::sign_in::delete(context),
                docs::agents::DELETE_SIGN_IN;
        /// The grants of users to agents, newest first.
        ListAgentGrants(Access::Scope(Scope::AgentsRead)): get("/v1/agent-grants")
            .with_query(&GRANT_PARAMETERS).on_replica()
            => agents::grants::list(context),
                docs::agents::LIST_GRANTS;
        /// Grants access to an agent for a user whom the app has identified.
        CreateAgentGrant(Access::Scope(Scope::AgentsWrite)): post("/v1/agent-grants").with_body(&GRANT_FIELDS)
            => agents::grants::create(context, ports),
                docs::agents::CREATE_GRANT;
        /// Revokes a grant.
        DeleteAgentGrant(Access::Scope(Scope::AgentsWrite)): delete("/v1/agent-grants/{id}")
            => agents::grants::delete(context),
                docs::agents::DELETE_GRANT;
        /// The presentation of the app to its end users.
        GetBranding(Access::Scope(Scope::ClientsRead)): get("/v1/branding").on_replica()
            => branding::read(context),
                docs::branding::GET;
        SetBranding(Access::Scope(Scope::ClientsWrite)): put("/v1/branding").with_body(&BRANDING_FIELDS)
            => branding::put(context),
                docs::branding::SET;
        /// The sign-in configuration of the console.
        GetConsoleSignIn(Access::Scope(Scope::ConsoleRead)): get("/v1/console-sign-in").on_replica()
            => console::sign_in::read(context),
                docs::console::GET_SIGN_IN;
        /// Configures sign-in to the console, and ends all sessions.
        SetConsoleSignIn(Access::Scope(Scope::ConsoleWrite)): put("/v1/console-sign-in")
            .with_body(&CONSOLE_SIGN_IN_FIELDS)
            => console::sign_in::put(context, ports),
                docs::console::SET_SIGN_IN;
        /// Deletes the sign-in configuration of the console, and ends all sessions.
        DeleteConsoleSignIn(Access::Scope(Scope::ConsoleWrite)): delete("/v1/console-sign-in")
            => console::sign_in::delete(context),
                docs::console::DELETE_SIGN_IN;
        /// The people who are signed in to the console, newest first.
        ListConsoleSessions(Access::Scope(Scope::ConsoleRead)): get("/v1/console-sessions")
            .with_query(&CONSOLE_SESSION_PARAMETERS).on_replica()
            => console::sessions::list(context),
                docs::console::LIST_SESSIONS;
        /// Ends the caller's own session.
        SignOut(Access::Valid): delete("/v1/console-sessions/current") => console::sessions::delete_own(context),
                docs::console::SIGN_OUT;
        /// Ends a session of a person in the console.
        DeleteConsoleSession(Access::Scope(Scope::ConsoleWrite)): delete("/v1/console-sessions/{id}")
            => console::sessions::delete(context),
                docs::console::DELETE_SESSION;
        /// The caller's own permissions.
        Whoami(Access::Valid): get("/v1/whoami").on_replica() => whoami::handle(context),
                docs::session::WHOAMI;
        /// Creates a session token.
        CreateSession(Access::Scope(Scope::SessionsCreate)): post("/v1/sessions").with_body(&SESSION_FIELDS)
            => session::handle(context, ports),
                docs::session::CREATE;
    }
}
