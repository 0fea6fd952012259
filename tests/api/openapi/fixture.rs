//! For each endpoint, a request that succeeds, the service to send it to, and the audit actions of
//! that request.

use std::collections::HashMap;
use std::sync::LazyLock;

use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::endpoint::Keyed;
use connector_vault::http::{Config, Request, Service};
use connector_vault::jobs;
use connector_vault::openapi::agents::GRANT_EXAMPLES;
use connector_vault::openapi::branding::BRANDING_EXAMPLES;
use connector_vault::openapi::connect::{CLIENT_EXAMPLES, CONNECT_EXAMPLES, IMPORT_EXAMPLES};
use connector_vault::openapi::connections::STATE_EXAMPLES;
use connector_vault::openapi::console::SIGN_IN_EXAMPLES as CONSOLE_SIGN_INS;
use connector_vault::openapi::keys::CREATE_EXAMPLES as NEW_KEYS;
use connector_vault::openapi::platform_calls::INPUT_EXAMPLES;
use connector_vault::openapi::session::CREATE_EXAMPLES as NEW_SESSIONS;
use connector_vault::openapi::webhooks::CREATE_EXAMPLES as HOOKS;
use connector_vault::openapi::webhooks::REPLAY_EXAMPLES;
use connector_vault::openapi::webhooks::UPDATE_EXAMPLES as HOOK_CHANGES;
use connector_vault::terms::{Environment, Method, Scope};
use serde_json::{Value, json};

use super::catalog::catalog;
use crate::connect::response as platform_response;
use crate::connect::{KEYS, consent_at_platform, decline_at_platform, script, start_attempt};
use crate::support::{Api, TestEnv, as_key, body, config, connector, with_body};
use crate::vault::{CONNECTIONS, at};
use crate::{agents, console};

/// The stored catalog, which is published once and shared by all fixtures.
static PUBLISHED: LazyLock<HashMap<String, Vec<u8>>> = LazyLock::new(|| {
    let env = TestEnv::empty();
    env.publish_platforms(Sizes::PUBLISHED, &catalog());
    env.blobs.take()
});

const BRANDING: &str = "/v1/branding";

/// A service with a small catalog and some connections.
pub struct Fixture {
    pub api: Api,
    /// The ids of the connections, in the order of creation.
    pub(super) ids: Vec<String>,
}

pub fn settings() -> Config {
    config(&[
        ("SESSION_SECRET", &"an example ".repeat(3)),
        ("VAULT_KEYS", KEYS),
        ("ALLOWED_ORIGINS", "https://app.example.com"),
        ("BASE_URL", crate::support::ORIGIN),
    ])
}

impl Fixture {
    pub fn new() -> Self {
        let api = Api::new(settings());
        api.env.blobs.borrow_mut().clone_from(&PUBLISHED);
        *api.env.platform.borrow_mut() = Box::new(|request| match request.url.as_str() {
            "https://api.github.com/user" => {
                platform_response(200, &json!({"id": 583_231, "login": "octocat"}))
            }
            other => panic!("no server for {other}"),
        });
        let create = |(platform, identity, tags): (&str, &str, &[&str])| {
            api.env.wait(1_234_567);
            let document = json!({
                "platform": platform, "identity": identity, "identityType": "user", "tags": tags, "state": "operational",
            });
            let created = api.create(&document);
            created["id"].as_str().unwrap().to_owned()
        };
        let rows: [(&str, &str, &[&str]); 4] = [
            ("github", "bob@example.com", &["eu"]),
            ("gmail", "bob@example.com", &[]),
            ("github", "eve@example.com", &["us", "billing"]),
            ("jira", "eve@example.com", &["eu", "billing"]),
        ];
        let ids = rows.into_iter().map(create).collect();
        Self { api, ids }
    }

    /// Publishes a platform that issues tokens to the app itself. Returns the body of the request
    /// that connects it.
    pub(super) fn connect_app_platform(&mut self) -> String {
        let method = json!({
            "id": "app", "type": "oauth2", "grant": "client_credentials", "tokenUrl": "https://id.example.com/token",
            "scopeSeparator": " ", "fields": [],
        });
        let server = json!({"url": "https://api.example.com", "description": null});
        let detail = json!({"authMethods": [method], "servers": [server]});
        let platform = Platform {
            connector: connector("app", "App", "Email", 0),
            detail: serde_json::from_value(detail).unwrap(),
            authkit: true,
            aliases: Vec::new(),
            actions: Vec::new(),
            units: Units::default(),
        };
        self.api.env.publish_platforms(Sizes::PUBLISHED, &[platform]);
        self.api.service = Service::new(settings());
        let client = json!({"clientId": "an-id", "clientSecret": "a-secret"}).to_string();
        let path = "/v1/oauth-clients/app";
        self.api.send(&with_body(self.api.request("PUT", path), &client));
        json!({"platform": "app", "identity": "bob@example.com", "identityType": "user"})
            .to_string()
    }

    /// The path of a connection's credentials.
    pub(super) fn credentials(&self) -> String {
        format!("{}/credentials", at(&self.ids[2]))
    }

    pub(super) fn put(&self, path: &str, document: &str) -> Request {
        with_body(self.api.request("PUT", path), document)
    }

    pub(super) fn connect(&self, document: &str) -> Request {
        with_body(self.api.request("POST", "/v1/vault/connect"), document)
    }

    /// Stores an OAuth client for GitHub.
    pub(super) fn set_client(&self) {
        assert!(self.api.send(&self.put(CLIENT, CLIENT_EXAMPLES[0].2)).status < 300);
    }

    /// Stores this document as the connection's credentials.
    pub(super) fn store_credentials(&self, document: &str) {
        let response = self.api.send(&self.put(&self.credentials(), document));
        assert_eq!(response.status, 204, "{}", String::from_utf8_lossy(&response.body));
    }

    /// Configures the console's sign-in. Returns its id.
    pub(super) fn console(&self) -> String {
        console::configure(&self.api, &console::oidc(&json!({})))
    }

    /// Configures sign-in for agents, with users that the app authenticates. Returns the endpoint's
    /// id.
    pub(super) fn sign_in(&self) -> String {
        let sent = json!({"type": "app", "url": agents::APP}).to_string();
        let response = self.api.send(&self.put(SIGN_IN, &sent));
        assert!(response.status < 300, "{}", body(&response));
        agents::id_of(&body(&response))
    }

    /// Creates a webhook. Returns its path.
    pub(super) fn webhook(&self) -> String {
        let created = self.api.send(&with_body(self.api.request("POST", WEBHOOKS), HOOKS[1].2));
        assert_eq!(created.status, 201, "{}", body(&created));
        format!("{WEBHOOKS}/{}", body(&created)["id"].as_str().unwrap())
    }

    /// Creates an API key. Returns its path.
    pub(super) fn key(&self) -> String {
        let created =
            self.api.send(&with_body(self.api.request("POST", "/v1/keys"), NEW_KEYS[1].2));
        assert_eq!(created.status, 201, "{}", body(&created));
        format!("/v1/keys/{}", body(&created)["id"].as_str().unwrap())
    }

    /// Publishes a catalog without GitHub.
    pub(super) fn remove_github(&mut self) {
        self.api.env.publish_platforms(Sizes::PUBLISHED, &catalog()[1..]);
        self.api.service = Service::new(settings());
    }

    /// Makes a refresh fail while the access token is still valid.
    pub(super) fn degrade_connection(&self) {
        self.set_client();
        self.store_credentials(
            r#"{"type":"oauth2","accessToken":"a","refreshToken":"r","expiresAt":"2027-01-15T16:00:00Z","scopes":["repo"]}"#,
        );
        // The access token expires in two minutes.
        self.api.env.now.set(1_800_028_680_000);
        script(&self.api, &[(503, json!({}))]);
        assert_eq!(self.api.get(&self.credentials()).status, 200);
    }

    /// Returns a request that succeeds. Endpoints whose first documented request succeeds by itself
    /// are not listed.
    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    pub fn request(&self, endpoint: Keyed) -> Request {
        let get = |path: &str| self.api.request("GET", path);
        match endpoint {
            Keyed::Whoami => {
                let expires_at = Some(self.api.env.now.get() + 86_400_000);
                let test = Environment::Test;
                let key = self.api.env.key("acme", test, &Scope::ALL, expires_at);
                as_key(&key, "GET", "/v1/whoami")
            }
            Keyed::CreateSession => {
                let [_, (_, _, whole)] = NEW_SESSIONS;
                with_body(self.api.request("POST", "/v1/sessions"), whole)
            }
            Keyed::ListConnectors => get("/v1/available-connectors?limit=2"),
            Keyed::GetAction => get("/v1/available-actions/github/issuesCreate?include=responses"),
            Keyed::SearchActions => get("/v1/available-actions?q=create+issue&limit=2"),
            Keyed::ListActions => get("/v1/available-actions/github?limit=2"),
            Keyed::ListConnections => get(&format!("{CONNECTIONS}?limit=2")),
            Keyed::SetConnectionState => {
                self.put(&format!("{}/state", at(&self.ids[2])), STATE_EXAMPLES[1].2)
            }
            Keyed::GetStatus => {
                self.degrade_connection();
                get(&format!("{}/status", at(&self.ids[2])))
            }
            Keyed::CheckConnection => {
                self.set_client();
                self.store_credentials(IMPORT_EXAMPLES[0].2);
                let tokens = json!({"access_token": "example-access-token"});
                *self.api.env.platform.borrow_mut() =
                    Box::new(move |_| platform_response(200, &tokens));
                let path = format!("{}/check", at(&self.ids[2]));
                self.api.request("POST", &path)
            }
            Keyed::GetCredentials => {
                self.store_credentials(IMPORT_EXAMPLES[0].2);
                get(&self.credentials())
            }
            Keyed::RunAction => {
                self.store_credentials(IMPORT_EXAMPLES[0].2);
                script(&self.api, &[(201, json!({"number": 1347}))]);
                let path = format!("{}/actions/issuesCreate", at(&self.ids[2]));
                with_body(self.api.request("POST", &path), INPUT_EXAMPLES[0].2)
            }
            Keyed::ProxyGet
            | Keyed::ProxyPost
            | Keyed::ProxyPut
            | Keyed::ProxyPatch
            | Keyed::ProxyDelete => {
                self.store_credentials(IMPORT_EXAMPLES[0].2);
                script(&self.api, &[(200, json!({"login": "octocat"}))]);
                let path = format!("{}/proxy/user", at(&self.ids[2]));
                self.api.request(endpoint.spec().method.as_str(), &path)
            }
            Keyed::Connect => {
                self.set_client();
                self.connect(CONNECT_EXAMPLES[1].2)
            }
            Keyed::ListAttempts => {
                self.set_client();
                let sent: Value = serde_json::from_str(CONNECT_EXAMPLES[0].2).unwrap();
                let (_, link) = start_attempt(&self.api, &sent);
                decline_at_platform(&self.api, &link, "access_denied");
                get("/v1/vault/connect")
            }
            Keyed::GetAttempt => {
                self.set_client();
                let sent: Value = serde_json::from_str(CONNECT_EXAMPLES[0].2).unwrap();
                let (id, link) = start_attempt(&self.api, &sent);
                let tokens =
                    json!({"access_token": "example-access-token", "token_type": "bearer"});
                consent_at_platform(&self.api, &link, &tokens);
                get(&format!("/v1/vault/connect/{id}"))
            }
            Keyed::ListOauthClients => {
                self.set_client();
                get("/v1/oauth-clients")
            }
            Keyed::ListKeys => {
                // Recorded responses contain this id, so it must not vary.
                let id = "UPDATE api_keys SET id = '00000000-0000-4000-8000-000000000001'";
                self.api.env.database.execute(id, []).unwrap();
                self.key();
                get("/v1/keys")
            }
            Keyed::CreateKey => with_body(self.api.request("POST", "/v1/keys"), NEW_KEYS[1].2),
            Keyed::RotateKey => self.api.request("POST", &format!("{}/rotate", self.key())),
            Keyed::RevokeKey => self.api.request("DELETE", &self.key()),
            Keyed::ListAudit => {
                self.set_client();
                get("/v1/audit?limit=2")
            }
            Keyed::GetUsage => {
                let _ = self.api.get("/v1/whoami");
                self.api.flush_usage();
                get("/v1/usage?groupBy=day,endpoint,platform,identity,status")
            }
            Keyed::ListEvents => get("/v1/events?limit=2"),
            Keyed::ListWebhooks => {
                self.webhook();
                get(WEBHOOKS)
            }
            Keyed::CreateWebhook => with_body(self.api.request("POST", WEBHOOKS), HOOKS[1].2),
            Keyed::GetWebhook => get(&self.webhook()),
            Keyed::UpdateWebhook => {
                with_body(self.api.request("PATCH", &self.webhook()), HOOK_CHANGES[0].2)
            }
            Keyed::DeleteWebhook => self.api.request("DELETE", &self.webhook()),
            Keyed::RotateWebhook => self.api.request("POST", &format!("{}/rotate", self.webhook())),
            Keyed::TestWebhook => {
                let path = format!("{}/test", self.webhook());
                script(&self.api, &[(204, json!({}))]);
                self.api.request("POST", &path)
            }
            Keyed::ReplayEvents => {
                let path = format!("{}/replay", self.webhook());
                with_body(self.api.request("POST", &path), REPLAY_EXAMPLES[0].2)
            }
            Keyed::ListDeliveries => {
                let path = self.webhook();
                script(&self.api, &[(204, json!({}))]);
                let deleted = self.api.send(&self.api.request("DELETE", &at(&self.ids[2])));
                assert_eq!((deleted.status, deleted.has_deliveries), (204, true));
                let done = jobs::deliver_due(&self.api.service, &self.api.env);
                assert_eq!(pollster::block_on(done).unwrap(), Vec::<String>::new());
                get(&format!("{path}/deliveries"))
            }
            Keyed::GetAgentSignIn => {
                self.sign_in();
                get(SIGN_IN)
            }
            Keyed::DeleteAgentSignIn => {
                self.sign_in();
                self.api.request("DELETE", SIGN_IN)
            }
            Keyed::ListAgentGrants => {
                agents::Agent::new(&self.api, &self.sign_in(), &agents::ALL);
                get(GRANTS)
            }
            Keyed::CreateAgentGrant => {
                let id = self.sign_in();
                let client = agents::register(&self.api, &id);
                let browser = agents::Browser::default();
                let request = agents::start_app_sign_in(&self.api, &id, &browser, &client);
                let mut sent: Value = serde_json::from_str(GRANT_EXAMPLES[0].2).unwrap();
                sent["request"] = request.into();
                with_body(self.api.request("POST", GRANTS), &sent.to_string())
            }
            Keyed::DeleteAgentGrant => {
                agents::Agent::new(&self.api, &self.sign_in(), &agents::ALL);
                let rows = body(&self.api.get(GRANTS))["rows"].clone();
                let id = rows[0]["id"].as_str().unwrap().to_owned();
                self.api.request("DELETE", &format!("{GRANTS}/{id}"))
            }
            Keyed::GetBranding => {
                self.api.send(&self.put(BRANDING, BRANDING_EXAMPLES[0].2));
                get(BRANDING)
            }
            Keyed::GetConsoleSignIn => {
                self.console();
                get(console::SIGN_IN)
            }
            Keyed::SetConsoleSignIn => {
                console::serve_example(&self.api);
                self.put(console::SIGN_IN, CONSOLE_SIGN_INS[0].2)
            }
            Keyed::DeleteConsoleSignIn => {
                console::admin(&self.api, &self.console());
                self.api.request("DELETE", console::SIGN_IN)
            }
            Keyed::ListConsoleSessions => {
                console::admin(&self.api, &self.console());
                get(console::SESSIONS)
            }
            Keyed::SignOut => {
                let token = console::admin(&self.api, &self.console());
                let request = self.api.request("DELETE", &format!("{}/current", console::SESSIONS));
                console::with_secret(request, &token)
            }
            Keyed::DeleteConsoleSession => {
                console::admin(&self.api, &self.console());
                let rows = body(&self.api.get(console::SESSIONS))["rows"].clone();
                let id = rows[0]["id"].as_str().unwrap().to_owned();
                self.api.request("DELETE", &format!("{}/{id}", console::SESSIONS))
            }
            Keyed::GetOauthClient => {
                self.set_client();
                get(CLIENT)
            }
            Keyed::DeleteOauthClient => {
                self.set_client();
                self.api.request("DELETE", CLIENT)
            }
            endpoint => self.documented(endpoint),
        }
    }

    /// Returns a request about the third connection, with the first documented body.
    fn documented(&self, endpoint: Keyed) -> Request {
        let spec = endpoint.spec();
        let path = spec.path.replace("{id}", &self.ids[2]).replace("{platform}", "github");
        let request = self.api.request(spec.method.as_str(), &path);
        match endpoint.doc().body {
            Some(body) => with_body(request, body.examples[0].2),
            None => request,
        }
    }
}

/// The path of the sign-in for agents.
pub(super) const SIGN_IN: &str = "/v1/agent-sign-in";

/// The path of the grants of agents.
pub(super) const GRANTS: &str = "/v1/agent-grants";

/// The path of the webhooks.
pub(super) const WEBHOOKS: &str = "/v1/webhooks";

/// The path of the OAuth client for GitHub.
pub(super) const CLIENT: &str = "/v1/oauth-clients/github";

/// The audit actions of an endpoint, or the reason why it has none. The action follows from the
/// name of an endpoint that is not listed: `CreateWebhook` writes `webhook.created`.
pub fn audit_actions(endpoint: Keyed) -> Result<Vec<String>, &'static str> {
    let actions: &[&str] = match endpoint {
        Keyed::ImportConnections | Keyed::Connect => &["connection.created"],
        Keyed::SetConnectionName => &["connection.updated"],
        Keyed::SetConnectionState => &["connection.state_changed"],
        Keyed::SetCredentials => &["connection.connected"],
        Keyed::GetCredentials => &["credentials.read"],
        Keyed::SetOauthClient => &["oauth_client.created"],
        Keyed::RotateKey => &["key.created", "key.rotated"],
        Keyed::CreateAgentGrant => &["agent_grant.requested"],
        Keyed::DeleteAgentGrant => &["agent_grant.revoked"],
        Keyed::DeleteConsoleSignIn => &["console_session.ended", "console_sign_in.deleted"],
        Keyed::SignOut | Keyed::DeleteConsoleSession => &["console_session.ended"],
        Keyed::CheckConnection => return Err("what comes out is not the caller's doing"),
        Keyed::TestWebhook | Keyed::ReplayEvents => return Err("it only sends"),
        Keyed::CreateSession => return Err("it stores nothing"),
        endpoint if endpoint.calls_platform() => return Err("calls to platforms are events"),
        endpoint if endpoint.spec().method == Method::Get => return Err("it reads"),
        endpoint => return Ok(vec![action_of_name(endpoint.name())]),
    };
    Ok(actions.iter().map(|action| (*action).to_owned()).collect())
}

/// Derives the audit action from an endpoint's name.
fn action_of_name(name: &str) -> String {
    let verbs = [
        ("Create", "created"),
        ("Update", "updated"),
        ("Set", "updated"),
        ("Delete", "deleted"),
        ("Rotate", "rotated"),
        ("Revoke", "revoked"),
    ];
    let (resource, participle) = verbs
        .iter()
        .find_map(|(verb, participle)| Some((name.strip_prefix(verb)?, participle)))
        .unwrap_or_else(|| panic!("which entries does a request to {name} write?"));
    let mut snake = String::new();
    for letter in resource.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    format!("{snake}.{participle}")
}
