//! The list of actions of a platform.

use crate::support::{Api, body, column};

const ACTIONS: &str = "/v1/available-actions/alpha";

#[test]
fn row_has_exactly_the_documented_fields() {
    let api = Api::with_catalog();
    let text = String::from_utf8(api.get(&format!("{ACTIONS}?key=usersUpdate")).body).unwrap();
    let row = r#"{"title":"Update 100%_\"user\"\\*","key":"usersUpdate","method":"PATCH","platform":"alpha","modelName":"Model"}"#;
    assert_eq!(text, format!(r#"{{"rows":[{row}],"total":1,"pages":1,"page":1}}"#));
}

#[test]
fn filters_match_exactly_and_combine_with_and() {
    let api = Api::with_catalog();
    let all = vec![
        "usersCreate",
        "usersDelete",
        "usersList",
        "usersListAgain",
        "usersUpdate",
        "Ueberweisung",
    ];
    for (query, keys) in [
        // Sorted by title, ignoring case, then by key.
        ("", all.clone()),
        ("title=LIST+USERS", vec!["usersList", "usersListAgain"]),
        ("title=list", vec![]),
        ("title=%C3%BCBERWEISUNG+anlegen", vec!["Ueberweisung"]),
        ("title=update+100%25_%22user%22%5C*", vec!["usersUpdate"]),
        ("title=%25", vec![]),
        ("title=*", vec![]),
        ("key=usersList", vec!["usersList"]),
        ("key=userslist", vec![]),
        ("key=users", vec![]),
        ("method=get", vec!["usersList", "usersListAgain"]),
        ("method=GET", vec!["usersList", "usersListAgain"]),
        ("method=Delete", vec!["usersDelete"]),
        ("method=HEAD", vec![]),
        ("method=GE", vec![]),
        ("title=list+users&key=usersListAgain&method=get", vec!["usersListAgain"]),
        ("title=list+users&method=post", vec![]),
        ("q=user&method=post", vec!["usersCreate"]),
        (
            "q=user",
            vec!["usersCreate", "usersDelete", "usersListAgain", "usersList", "usersUpdate"],
        ),
        ("q=alpha", all.clone()),
        ("q=alpha+anlegen", vec!["Ueberweisung"]),
        ("q=user&title=delete+a+user&key=usersDelete", vec!["usersDelete"]),
        ("q=nothing", vec![]),
    ] {
        let response = api.get(&format!("{ACTIONS}?{query}"));
        let (mut got, mut expected) =
            (column(&response, "key"), keys.iter().map(ToString::to_string).collect::<Vec<_>>());
        if query.starts_with("q=user") {
            got.sort();
            expected.sort();
        }
        assert_eq!((response.status, got), (200, expected), "{query}");
        assert_eq!(body(&response)["total"], keys.len(), "{query}");
    }
}

#[test]
fn tools_is_the_number_of_actions() {
    let api = Api::with_catalog();
    let connectors = api.get("/v1/available-connectors");
    let pairs = column(&connectors, "platform").into_iter().zip(column(&connectors, "tools"));
    for (platform, tools) in pairs {
        let total =
            body(&api.get(&format!("/v1/available-actions/{platform}")))["total"].to_string();
        assert_eq!(total, tools, "{platform}");
    }
}
