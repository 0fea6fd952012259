//! A call that a platform rejects makes a check of the connection due soon.

use super::*;

#[test]
fn a_refused_key_is_checked_soon() {
    let api = api();
    let connected = |platform: &str, fields: Value, responses: &[(u16, Value)]| {
        let mut payload = ann_connect_body(platform);
        payload["fields"] = fields;
        script(&api, responses);
        let created_response = connect(&api, &payload);
        assert_eq!(created_response.status, 201, "{}", text(&created_response));
        body(&created_response)["id"].as_str().unwrap().to_owned()
    };
    let keyed =
        connected("keyed", json!({"apiKey": "k"}), &[(200, json!({})), (200, json!({"id": "u"}))]);
    // This platform has no request that checks credentials.
    let mut plain = ann_connect_body("plain");
    plain["authMethod"] = json!("basic");
    plain["fields"] = json!({"username": "u", "password": "p"});
    let plain = body(&connect(&api, &plain))["id"].as_str().unwrap().to_owned();
    let later = api.env.now.get() + 1_000_000;
    for (id, status, is_due) in
        [(&keyed, 403, false), (&keyed, 200, false), (&plain, 401, false), (&keyed, 401, true)]
    {
        let sql = "UPDATE credentials SET check_at = ?1";
        api.env.database.execute(sql, [i64::try_from(later).unwrap()]).unwrap();
        script(&api, &[(status, json!({}))]);
        assert_eq!(api.get(&format!("/v1/vault/connections/{id}/proxy/me")).status, status);
        let sql = "SELECT check_at FROM credentials WHERE connection_id = ?1";
        let at: i64 = api.env.database.query_row(sql, [id], |row| row.get(0)).unwrap();
        let expected = if is_due { api.env.now.get() } else { later };
        assert_eq!(u64::try_from(at).unwrap(), expected, "{id} {status}");
    }
}
