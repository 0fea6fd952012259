//! Refreshes that return tokens after the connection was deleted or got other credentials.

use std::rc::Rc;

use connector_vault::jobs::maintenance::maintain;

use super::reconnecting::id_token;
use super::*;

#[test]
fn unused_tokens_are_revoked_unless_the_account_may_be_connected() {
    let tokens = |index: u64, account: Option<u64>| {
        let mut tokens = json!({"access_token": format!("at-{index}"), "expires_in": 3600, "refresh_token": format!("rt-{index}")});
        if let Some(account) = account {
            tokens["id_token"] = json!(id_token(account));
        }
        tokens
    };
    // The credentials that replace the connection's tokens during the refresh; `None` if it is deleted.
    for (replaced_by, is_revoked) in [
        (None, true),
        (Some(tokens(7, Some(2))), true),
        (Some(tokens(7, Some(1))), false),
        (Some(tokens(7, None)), false),
    ] {
        let api = Rc::new(maintenance::api_at_current_time());
        set_client(&api, "revoked");
        let former = |tokens: &Value| {
            let failed = "UPDATE connections SET state = 'failed', active = 0";
            api.env.database.execute(failed, []).unwrap();
            let sent = json!({
                "platform": "revoked", "identity": "ann", "identityType": "user", "allowOtherAccount": true,
            });
            let id = connected(&api, &sent, tokens);
            (id, api.env.texts("SELECT sealed FROM credentials").remove(0))
        };
        let other = replaced_by.as_ref().map(|tokens| former(tokens).1);
        let (id, _) = former(&tokens(1, Some(1)));
        let weak = Rc::downgrade(&api);
        *api.env.platform.borrow_mut() = Box::new(move |_| {
            let api = weak.upgrade().unwrap();
            let database = &api.env.database;
            match &other {
                Some(sealed) => {
                    let sql = "UPDATE credentials SET sealed = ?1, version = version + 1, lease = NULL, lease_until = NULL";
                    database.execute(sql, [sealed]).unwrap();
                }
                // Revocations that the deletion itself causes are not counted here.
                None => database
                    .execute_batch("DELETE FROM connections; DELETE FROM revocations")
                    .unwrap(),
            }
            response(200, &tokens(2, None))
        });
        let read = api.get(&format!("/v1/vault/connections/{id}/credentials?refresh=true"));
        let label = format!("{replaced_by:?}");
        match replaced_by {
            Some(_) => assert_eq!(body(&read)["accessToken"], "at-7", "{label}"),
            None => assert_eq!(read.status, 404, "{label}"),
        }
        api.env.sent.borrow_mut().clear();
        script(&api, &[(200, json!({}))]);
        pollster::block_on(maintain(&api.service, &api.env, false, 20)).unwrap();
        let sent_count = api.env.sent.borrow().len();
        assert_eq!(sent_count, usize::from(is_revoked), "{label}");
        if is_revoked {
            assert_eq!(value_of(&form(&api, 0), "token").as_deref(), Some("rt-2"), "{label}");
        }
        assert_eq!(rows(&api, "revocations"), 0, "{label}");
    }
}
