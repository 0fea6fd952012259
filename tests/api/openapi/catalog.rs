//! The catalog for the recorded responses.

use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::detail::ConnectorDetail;
use connector_vault::catalog::model::{Action, Connector};
use connector_vault::catalog::write::Platform;
use connector_vault::terms::Method;
use serde_json::json;

use crate::support::{action, connector, units};

/// Three connectors; the first has three actions and two auth methods.
pub(super) fn catalog() -> Vec<Platform> {
    let github_action = |model: &str, title, key, method| Action {
        model_name: model.into(),
        ..action("github", title, key, method)
    };
    let actions = vec![
        github_action("Issues", "Create an issue", "issuesCreate", Method::Post),
        github_action("Repos", "List branches", "reposListBranches", Method::Get),
        github_action("Issues", "Lock an issue", "issuesLock", Method::Put),
    ];
    let named = |platform, name, category, tools, description: &str| {
        let image = format!("https://images.example/{platform}.svg");
        let description = description.into();
        Connector { description, image, ..connector(platform, name, category, tools) }
    };
    let github = named("github", "GitHub", "Developer Tools", 3, "Code hosting and reviews.");
    let gmail = named("gmail", "Gmail", "Email", 0, "Mail, threads and labels.");
    let jira = named("jira", "Jira", "Developer Tools", 0, "Issues and projects.");
    let platform = |connector, detail, authkit, actions, units| Platform {
        connector,
        detail,
        authkit,
        aliases: Vec::new(),
        actions,
        units,
    };
    let none = ConnectorDetail::default;
    vec![
        platform(github, detail(), true, actions, github_units()),
        platform(gmail, none(), true, Vec::new(), Units::default()),
        platform(jira, none(), false, Vec::new(), Units::default()),
    ]
}

/// The details of one action, with every member.
fn github_units() -> Units {
    let text = |about: &str| json!({"type": "string", "description": about});
    let of_path = |name: &str, about: &str| {
        json!({
            "name": name, "in": "path", "required": true, "schema": text(about), "style": "simple", "explode": false,
        })
    };
    let create = json!({
        "title": "Create an issue", "key": "issuesCreate", "method": "POST", "modelName": "Issues",
        "facts": {
            "path": "/repos/{owner}/{repo}/issues",
            "description": "Any user with pull access to a repository can create an issue.",
            "documentationUrl": "https://docs.github.com/rest/issues/issues#create-an-issue",
        },
        "parameters": [
            of_path("owner", "The account owner of the repository."),
            of_path("repo", "The name of the repository."),
        ],
        "requestBody": {
            "required": true,
            "contentTypes": ["application/json"],
            "schema": {
                "type": "object",
                "properties": {
                    "title": text("The title of the issue."),
                    "labels": {"type": "array", "items": {"$ref": "#/$defs/label"}},
                },
                "required": ["title"],
            },
        },
        "security": [[{"scheme": "oauth", "scopes": ["repo"]}], [{"scheme": "token"}]],
        "reached": {"whole": [0]},
        "responses": [
            {
                "status": "201",
                "description": "Created",
                "contentType": "application/json",
                "schema": {"$ref": "#/$defs/issue"},
                "reached": {"whole": [1]},
            },
            {"status": "410", "description": "Gone", "contentType": null, "schema": null},
        ],
    });
    let definitions = [
        ("label", r#"{"type":"string"}"#),
        (
            "issue",
            r#"{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}"#,
        ),
    ];
    units(json!({"oauth": ["oauth2"], "token": ["token"]}), &[create], &definitions)
}

/// The details of a connector with two auth methods and every member.
fn detail() -> ConnectorDetail {
    let detail = json!({
        "authMethods": [
            {
                "id": "oauth2", "type": "oauth2", "grant": "authorization_code", "issuer": null,
                "authorizationUrl": "https://github.com/login/oauth/authorize",
                "tokenUrl": "https://github.com/login/oauth/access_token", "refreshUrl": null, "revocationUrl": null,
                "scopes": [{"name": "repo", "description": "Full control of repositories"}], "scopeSeparator": " ",
                "pkce": "S256", "tokenAuth": "client_secret_post", "clientIdParameter": "client_id",
                "authorizationParameters": {}, "tokenParameters": {},
                "tokenBody": "form", "tokenPointer": null, "tokenMembers": [], "fields": [],
            },
            {
                "id": "token", "type": "bearer", "prefix": "Bearer",
                "fields": [{
                    "name": "token", "label": "Personal access token", "description": "From the developer settings.",
                    "secret": true, "required": true, "pattern": null, "enum": null, "default": null,
                }],
            },
        ],
        "servers": [{"url": "https://api.github.com", "description": null}],
        "documentationUrl": "https://docs.github.com/rest",
        "license": {"name": "MIT", "url": "https://spdx.org/licenses/MIT"},
        "verify": {"method": "GET", "path": "/user"},
        "account": {"method": "GET", "path": "/user", "id": "/id", "name": "/login"},
    });
    serde_json::from_value(detail).unwrap()
}
