//! The endpoints of agents' grants: `GET` and `DELETE /v1/agent-grants`.

use serde_json::{Value, json};

use super::{ALL, Agent, app, call, error, refresh};
use crate::connect;
use crate::support::body;

#[test]
fn lists_grants_newest_first_and_deletes_them() {
    let (api, id) = app();
    let agents: Vec<Agent> = (0..3)
        .map(|_| {
            api.env.wait(1000);
            Agent::new(&api, &id, &ALL)
        })
        .collect();
    let listed = |query: &str| body(&api.get(&format!("/v1/agent-grants{query}")));
    let all = listed("");
    let ids = |page: &Value| -> Vec<String> {
        let rows = page["rows"].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    let own = ids(&all);
    assert_eq!((own.len(), &all["next"]), (3, &Value::Null));
    let first = &all["rows"][2];
    assert_eq!(
        first,
        &json!({
            "id": own[2], "identity": "ann", "identityType": null, "platforms": null, "access": "write",
            "actions": null, "connections": null, "confirm": null,
            "client": {"name": "Sample Agent", "url": null, "redirectUri": super::CALLBACK},
            "createdAt": first["createdAt"], "lastUsedAt": first["lastUsedAt"], "expiresAt": first["expiresAt"],
        })
    );
    let page = listed("?limit=2");
    assert_eq!((ids(&page), &page["next"]), (own[..2].to_vec(), &json!(own[1])));
    assert_eq!(ids(&listed(&format!("?limit=2&before={}", own[1]))), own[2..]);
    assert_eq!(ids(&listed("?identity=ann")), own);
    assert_eq!(ids(&listed("?identity=bob")), Vec::<String>::new());

    let path = format!("/v1/agent-grants/{}", own[2]);
    assert_eq!(api.send(&api.request("DELETE", &path)).status, 204);
    let again = api.send(&api.request("DELETE", &path));
    assert_eq!((again.status, &body(&again)["code"]), (404, &json!("agent_grant_not_found")));
    let ended = agents[0].call(&api, &id, "list_connections", &json!({}));
    assert_eq!((ended.status, body(&ended)["code"].as_str()), (401, Some("invalid_key")));
    let detail = body(&ended)["detail"].to_string();
    assert!(detail.contains("access was ended") && detail.contains("signs in"), "{detail}");
    // Only tokens that this service has signed get the message about the ended grant.
    let forged = agents[0].access.replacen('.', "A.", 1);
    let refusal = call(&api, &format!("/mcp/{id}"), &forged, "list_connections", &json!({}));
    let refusal = body(&refusal);
    assert!(
        refusal["detail"].as_str().unwrap().contains("missing, invalid or expired"),
        "{refusal}"
    );
    let ended = refresh(&api, &id, &agents[0].client, &agents[0].refresh);
    assert_eq!(error(&ended), (400, "invalid_grant".to_owned()));
    assert_eq!(agents[1].call(&api, &id, "list_connections", &json!({})).status, 200);
}

#[test]
fn lists_only_grants_with_consent() {
    let (api, id) = app();
    let client = super::register(&api, &id);
    super::open_consent_page(&api, &id, &client, &json!({}));
    super::consent_code(&api, &id, &client, &ALL);
    assert_eq!(body(&api.get("/v1/agent-grants"))["rows"], json!([]));
}

#[test]
fn deleting_the_sign_in_deletes_its_grants() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    assert_eq!(api.send(&api.request("DELETE", "/v1/agent-sign-in")).status, 204);
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 401);
    // Configuring the sign-in again restores the endpoint's URL, but not the deleted grants.
    let payload = json!({"type": "app", "url": "https://app.example/agents"});
    let again = connect::send(&api, "PUT", "/v1/agent-sign-in", &payload);
    assert_eq!((again.status, super::id_of(&body(&again))), (201, id.clone()));
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 401);
}

#[test]
fn accounts_see_only_their_own_grants() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    let grant = body(&api.get("/v1/agent-grants"))["rows"][0]["id"].as_str().unwrap().to_owned();
    let all = connector_vault::terms::Scope::ALL;
    for (account, environment) in [
        ("other", connector_vault::terms::Environment::Test),
        ("acme", connector_vault::terms::Environment::Live),
    ] {
        let key = api.env.key(account, environment, &all, None);
        let send = |method: &str, path: &str| api.send(&crate::support::as_key(&key, method, path));
        assert_eq!(body(&send("GET", "/v1/agent-grants"))["rows"], json!([]));
        assert_eq!(send("DELETE", &format!("/v1/agent-grants/{grant}")).status, 404);
        assert_eq!(send("GET", "/v1/agent-sign-in").status, 404);
        assert_eq!(send("DELETE", "/v1/agent-sign-in").status, 404);
    }
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 200);
}
