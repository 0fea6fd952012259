//! Searching the actions of all platforms.

use std::collections::BTreeSet;

use connector_vault::catalog::detail::ConnectorDetail;
use connector_vault::catalog::model::Action;
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::Config;
use connector_vault::terms::Method;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{
    Api, action, as_secret, body, column, config, connector, small_catalog, units, with_body,
    with_header,
};
use crate::vault::faults;

const SEARCH: &str = "/v1/available-actions";
const CONNECTIONS: &str = "/v1/vault/connections";
const SECRET: &str = "a secret of thirty-two characters";

/// The method, title, key, path and description of an action.
type ActionRow = (Method, &'static str, &'static str, &'static str, &'static str);

fn platform(name: &str, shown: &str, alias: &[&str], actions: &[ActionRow]) -> Platform {
    let row = |(method, title, key, ..): &ActionRow| action(name, title, key, *method);
    let rows: Vec<Action> = actions.iter().map(row).collect();
    let detail = |(method, title, key, path, description): &ActionRow| {
        json!({
            "title": title, "key": key, "method": method.as_str(), "modelName": "Model",
            "facts": {"path": path, "description": description},
        })
    };
    let mut details: Vec<Value> = actions.iter().map(detail).collect();
    details.sort_by_key(|detail| detail["key"].as_str().unwrap().to_lowercase());
    let tools = u32::try_from(rows.len()).unwrap();
    Platform {
        connector: connector(name, shown, "Other", tools),
        detail: ConnectorDetail::default(),
        authkit: false,
        aliases: alias.iter().map(|alias| (*alias).to_owned()).collect(),
        units: units(json!({}), &details, &[]),
        actions: rows,
    }
}

fn catalog() -> Vec<Platform> {
    use Method::{Delete, Get, Patch, Post};
    let github = [
        (Post, "Create an issue", "issuesCreate", "/repos/{repo}/issues", "Opens it."),
        (Get, "List repository issues", "issuesList", "/repos/{repo}/issues", ""),
        (Patch, "Update an issue", "issuesUpdate", "/repos/{repo}/issues/{number}", ""),
        (
            Post,
            "Create an issue comment",
            "issuesComment",
            "/repos/{repo}/issues/{number}/comments",
            "",
        ),
        (Delete, "Delete a repository", "reposDelete", "/repos/{repo}", ""),
    ];
    let gitlab = [
        (Post, "Create an issue", "postIssues", "/projects/{id}/issues", ""),
        (Get, "List merge requests", "getMerges", "/projects/{id}/merge_requests", ""),
    ];
    let post = [
        (Post, "Deliver a letter", "letter", "/letters", "Sends an electronic mail to somebody."),
        (Get, "List letters", "letters", "/letters", ""),
    ];
    vec![
        platform("post", "Post Office", &[], &post),
        platform("github", "GitHub", &["old-hub"], &github),
        platform("gitlab", "GitLab", &[], &gitlab),
    ]
}

pub fn api() -> Api {
    let api = Api::new(config(&[("SESSION_SECRET", SECRET)]));
    api.env.publish_platforms(Sizes::PUBLISHED, &catalog());
    api
}

/// The matches of a query, each as `platform key`, and their total.
fn search_matches(api: &Api, query: &str) -> (Vec<String>, u64) {
    let response = api.get(&format!("{SEARCH}?{query}"));
    assert_eq!(response.status, 200, "{query}: {}", body(&response));
    let total = body(&response)["total"].as_u64().unwrap();
    let rows = column(&response, "platform").into_iter().zip(column(&response, "key"));
    (rows.map(|(platform, key)| format!("{platform} {key}")).collect(), total)
}

#[test]
fn search_returns_an_action_list() {
    let text = String::from_utf8(api().get(&format!("{SEARCH}?q=deliver+letter&limit=1")).body);
    let row = r#"{"title":"Deliver a letter","key":"letter","method":"POST","platform":"post","modelName":"Model"}"#;
    assert_eq!(text.unwrap(), format!(r#"{{"rows":[{row}],"total":2,"pages":2,"page":1}}"#));
}

#[test]
fn best_match_comes_first() {
    let api = api();
    for (question, first) in [
        ("create github issue", "github issuesCreate"),
        ("Create an issue in GitLab!", "gitlab postIssues"),
        ("list all the issues of my github repo", "github issuesList"),
        ("edit an issue", "github issuesUpdate"),
        ("comment on a github issue", "github issuesComment"),
        ("remove a repository", "github reposDelete"),
        ("gitlab merge request", "gitlab getMerges"),
        ("send email", "post letter"),
        ("letters", "post letters"),
        ("creating issues on git hub", "github issuesCreate"),
        ("delete rep", "github reposDelete"),
        ("the", ""),
        ("xyzzy", ""),
        ("%F0%9F%90%99", ""),
    ] {
        let (rows, total) = search_matches(&api, &format!("q={}", question.replace(' ', "+")));
        assert_eq!(rows.first().map_or("", String::as_str), first, "{question}: {rows:?}");
        assert_eq!(total, rows.len() as u64, "{question}");
    }
}

#[test]
fn action_matches_when_it_has_most_of_the_words() {
    let api = api();
    let (rows, _) = search_matches(&api, "q=gitlab+merge+request");
    assert_eq!(rows, ["gitlab getMerges"]);
    let (issues, _) = search_matches(&api, "q=issue");
    assert_eq!(issues.len(), 5, "{issues:?}");
    assert_eq!(search_matches(&api, "q=letter+xyzzy").0, search_matches(&api, "q=letter").0);
}

#[test]
fn filters_combine_with_and() {
    let api = api();
    for (query, expected) in [
        ("q=issue&platform=gitlab", vec!["gitlab postIssues"]),
        ("q=create+issue&platform=GitLab,POST&method=post", vec!["gitlab postIssues"]),
        ("q=issue&platform=old-hub&method=PATCH", vec!["github issuesUpdate"]),
        ("q=repository&method=delete", vec!["github reposDelete"]),
        ("q=issue&platform=nothing", vec![]),
        ("q=issue&platform=git", vec![]),
        ("q=issue&method=HEAD", vec![]),
    ] {
        let (rows, total) = search_matches(&api, query);
        assert_eq!(
            (rows, total),
            (expected.iter().map(ToString::to_string).collect(), expected.len() as u64),
            "{query}"
        );
    }
}

#[test]
fn reports_all_faults_of_a_query() {
    let api = api();
    let long = "x".repeat(101);
    let many = vec!["github"; 21].join(",");
    for (query, expected) in [
        ("", vec!["q"]),
        ("q=", vec!["q"]),
        ("q=%20", vec!["q"]),
        (&format!("q={long}"), vec!["q"]),
        ("q=a&q=b", vec!["q"]),
        ("page=0&limit=501", vec!["limit", "page", "q"]),
        ("q=a&platform=a,,b", vec!["platform"]),
        (&format!("q=a&platform={many}"), vec!["platform"]),
        ("q=a&titel=b", vec!["titel"]),
        ("Q=a", vec!["Q>q", "q"]),
    ] {
        let response = api.get(&format!("{SEARCH}?{query}"));
        assert_eq!(
            (response.status, faults(&response)),
            (400, expected.iter().map(ToString::to_string).collect()),
            "{query}"
        );
    }
    assert_eq!(body(&api.get(SEARCH))["errors"][0]["detail"], "`q` is required");
}

#[test]
fn token_sees_only_its_platforms() {
    let api = api();
    let token = |platforms: &Value| {
        let response = api.session(&json!({"identity": "ann", "platforms": platforms}));
        response["token"].as_str().unwrap().to_owned()
    };
    let (one, other) = (token(&json!(["gitlab"])), token(&json!(["post", "github"])));
    let get = |secret: &str, query: &str| {
        let response = api.send(&as_secret(secret, "GET", &format!("{SEARCH}?{query}")));
        assert_eq!(response.status, 200);
        (
            column(&response, "platform").into_iter().collect::<BTreeSet<_>>(),
            body(&response)["total"].as_u64().unwrap(),
        )
    };
    for _ in 0..2 {
        assert_eq!(get(&one, "q=issue"), (["gitlab".to_owned()].into(), 1));
        assert_eq!(get(&other, "q=issue"), (["github".to_owned()].into(), 4));
        assert_eq!(get(&one, "q=issue&platform=github"), ([].into(), 0));
        assert_eq!(get(&one, "q=deliver+letter"), ([].into(), 0));
        assert_eq!(
            search_matches(&api, "q=issue").1,
            5,
            "a response for a token is not returned to a key"
        );
    }
    let tag = |secret: &str| {
        let request = as_secret(secret, "GET", &format!("{SEARCH}?q=issue"));
        api.send(&request).header("etag").unwrap().to_owned()
    };
    assert_ne!(tag(&one), tag(&other));
}

/// Returns a service, and a search as ann, who has connected GitLab and Post Office. Her token has
/// these scopes.
fn search_with_connections(scopes: &Value) -> (Api, String) {
    let api = api();
    for (platform, active) in [("gitlab", true), ("post", false)] {
        let payload = json!({
            "platform": platform, "identity": "ann", "identityType": "user", "active": active,
        });
        let response = api.send(&with_body(api.request("POST", CONNECTIONS), &payload.to_string()));
        assert_eq!(response.status, 201, "{}", body(&response));
    }
    let session = api.session(&json!({"identity": "ann", "scopes": scopes}));
    (api, session["token"].as_str().unwrap().to_owned())
}

#[test]
fn connected_platforms_come_first_unless_the_query_names_another() {
    let (api, token) = search_with_connections(&json!(["catalog:read", "connections:read"]));
    let search = |query: &str| {
        let path = format!("{SEARCH}?q={}&limit=50", query.replace(' ', "+"));
        let response = api.send(&as_secret(&token, "GET", &path));
        assert_eq!(response.status, 200, "{}", body(&response));
        response
    };
    for (query, first, is_connected) in [
        ("create an issue", "gitlab postIssues", true),
        ("list issues", "gitlab postIssues", true),
        ("create github issue", "github issuesCreate", false),
        ("creating issues on git hub", "github issuesCreate", false),
        ("create an issue in gitlab", "gitlab postIssues", true),
        ("delete a repository", "github reposDelete", false),
        ("letters", "post letters", false),
    ] {
        let rows = body(&search(query))["rows"].clone();
        let row = &rows[0];
        let name =
            format!("{} {}", row["platform"].as_str().unwrap(), row["key"].as_str().unwrap());
        assert_eq!(name, first, "{query}: {rows}");
        for row in rows.as_array().unwrap() {
            let expected = (row["platform"] == "gitlab").then_some(&Value::Bool(true));
            assert_eq!(row.get("connected"), expected, "{query}: {row}");
        }
        assert_eq!(row.get("connected").is_some(), is_connected, "{query}");
    }
    // The cached result of a token's search is not returned for a key.
    assert_eq!(search_matches(&api, "q=create+an+issue").0[0], "github issuesCreate");
}

#[test]
fn a_search_with_connections_needs_one_batch() {
    let (api, token) = search_with_connections(&json!(["catalog:read", "connections:read"]));
    let request = as_secret(&token, "GET", &format!("{SEARCH}?q=issue"));
    for _ in 0..2 {
        let before = api.env.db_calls.get();
        let response = api.send(&request);
        assert_eq!(api.env.db_calls.get() - before, 1);
        assert!(String::from_utf8_lossy(&response.body).contains("\"connected\":true"));
    }
    let tag = api.send(&request).header("etag").unwrap().to_owned();
    let id = column(&api.get(CONNECTIONS), "id").remove(0);
    let deleted = api.send(&api.request("DELETE", &format!("{CONNECTIONS}/{id}")));
    assert_eq!(deleted.status, 204);
    let response = api.send(&with_header(request, "if-none-match", &tag));
    assert_eq!(response.status, 200, "the connected platforms have changed");
    assert!(!String::from_utf8_lossy(&response.body).contains("connected"));
}

#[test]
fn a_token_that_may_not_read_connections_does_not_learn_which_exist() {
    let (api, token) = search_with_connections(&json!(["catalog:read"]));
    let response = api.send(&as_secret(&token, "GET", &format!("{SEARCH}?q=create+an+issue")));
    assert_eq!(column(&response, "platform")[0], "github");
    assert!(!String::from_utf8_lossy(&response.body).contains("connected"));
}

#[test]
fn pages_are_contiguous_and_end() {
    let api = api();
    let (all, total) = search_matches(&api, "q=issue&limit=500");
    let mut rows = Vec::new();
    for page in 1..=total {
        let (mut one, same) = search_matches(&api, &format!("q=issue&limit=1&page={page}"));
        assert_eq!((one.len(), same), (1, total));
        rows.append(&mut one);
    }
    assert_eq!(rows, all);
    assert_eq!(search_matches(&api, "q=issue&limit=2&page=99"), (vec![], total));
}

#[test]
fn first_pages_equal_those_of_a_full_ranking() {
    let api = Api::new(Config::default());
    let row = |index: usize| {
        let titles = ["Send mail", "List mail", "Mail", "Send a mail template in bulk", "Get one"];
        let title = format!("{} {}", titles[index % 5], "to somebody ".repeat(index % 7));
        let method = [Method::Post, Method::Get, Method::Delete][index % 3];
        action("post", title.trim(), &format!("mail{}{index}", "Box".repeat(index % 4)), method)
    };
    let actions: Vec<Action> = (0..3000).map(row).collect();
    api.env.publish(vec![(connector("post", "Letters", "Other", 3000), false, actions)]);
    // Pages of the maximum size are searched in the same way.
    assert_eq!(search_matches(&api, "q=list+mail&limit=500").0.len(), 500);
    for query in ["q=send+mail", "q=mail&method=get", "q=send+a+mail+template"] {
        let (first, total) = search_matches(&api, &format!("{query}&limit=50"));
        let (second, _) = search_matches(&api, &format!("{query}&limit=50&page=2"));
        let (all, same) = search_matches(&api, &format!("{query}&limit=500"));
        assert_eq!((total, [first, second].concat().as_slice()), (same, &all[..100]), "{query}");
    }
}

#[test]
fn counts_at_most_ten_thousand_matches() {
    let api = Api::new(Config::default());
    let publish = |count: usize| {
        let actions: Vec<Action> = (0..count)
            .map(|index| action("pinger", "Ping", &format!("ping{index}"), Method::Get))
            .collect();
        api.env.publish(vec![(connector("pinger", "Pinger", "Other", 1), false, actions)]);
        api.env.wait(60_000);
        body(&api.get(&format!("{SEARCH}?q=ping&limit=500&page=20")))
    };
    let at_most = publish(10_000);
    assert_eq!((&at_most["total"], at_most.get("totalIsMinimum")), (&json!(10_000), None));
    let extra = publish(10_001);
    assert_eq!((&extra["total"], &extra["totalIsMinimum"]), (&json!(10_000), &json!(true)));
    assert_eq!((&extra["pages"], extra["rows"].as_array().unwrap().len()), (&json!(20), 500));
    assert_eq!(body(&api.get(&format!("{SEARCH}?q=ping&limit=500&page=21")))["rows"], json!([]));
}

#[test]
fn cold_search_reads_three_values_in_sequence() {
    let api = api();
    assert_eq!(api.get(&format!("{SEARCH}?q=create+github+issue")).status, 200);
    assert_eq!(api.env.blob_waits.get(), 3);
    api.env.blob_reads.borrow_mut().clear();
    assert_eq!(api.get(&format!("{SEARCH}?q=list+letters")).status, 200);
    assert_eq!(api.env.blob_reads.borrow().as_slice(), [""; 0]);
}

#[test]
fn the_list_of_all_actions_is_not_cached_for_one_platform() {
    let api = Api::new(Config::default());
    api.env.publish(small_catalog());
    assert_eq!(search_matches(&api, "q=create+user").0.first().unwrap(), "alpha usersCreate");
    assert_eq!(api.get("/v1/available-actions/*").status, 404);
}

#[test]
fn result_is_independent_of_the_order_of_platforms() {
    let api = api();
    let mut turned = catalog();
    turned.reverse();
    let segments = |platforms: &[Platform]| api.env.publish_platforms(Sizes::PUBLISHED, platforms);
    assert_eq!(segments(&turned), segments(&catalog()));
}

#[test]
fn small_parts_give_the_same_results() {
    let (unsplit, split) = (api(), api());
    let sizes = Sizes {
        all_actions_group: 1,
        all_actions_part: 200,
        words: 1,
        vocabulary: 3000,
        ..Sizes::PUBLISHED
    };
    split.env.publish_platforms(sizes, &catalog());
    for query in [
        "q=issue",
        "q=create+github+issue",
        "q=send+email",
        "q=delete+rep",
        "q=list&limit=3",
        "q=zzz",
    ] {
        assert_eq!(search_matches(&split, query), search_matches(&unsplit, query), "{query}");
    }
}

proptest! {
    #[test]
    fn accepts_any_query_string(text in "\\PC{1,100}", words in proptest::collection::vec("(git|hub|issue|create|s|ing|the|é|-)", 1..20)) {
        let api = api();
        for text in [text, words.join(" ")] {
            let hex: Vec<String> = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let query = hex.concat();
            let response = api.get(&format!("{SEARCH}?q={query}"));
            prop_assert!(response.status == 200 || response.status == 400, "{}", response.status);
        }
    }
}

#[test]
fn corrects_misspelt_words_when_nothing_matches() {
    let api = api();
    for (question, first) in [
        ("create+githb+isue", "github issuesCreate"),
        ("delete+repositry", "github reposDelete"),
        ("leter", "post letters"),
        ("mrge+reqests", "gitlab getMerges"),
        // Some words are not corrected: the first letter is wrong, or there are too many mistakes.
        ("essue", ""),
        ("lexxxr", ""),
        ("qqqqq", ""),
    ] {
        let (rows, total) = search_matches(&api, &format!("q={question}"));
        assert_eq!(rows.first().map_or("", String::as_str), first, "{question}: {rows:?}");
        assert_eq!(total, rows.len() as u64, "{question}");
    }
    // A word that has matches is not corrected.
    let exact = search_matches(&api, "q=letters");
    assert!(exact.0.iter().all(|row| row.starts_with("post ")), "{exact:?}");
}

#[test]
fn the_result_notes_requested_platforms_without_actions() {
    let api = Api::new(config(&[("SESSION_SECRET", SECRET)]));
    let mut all = catalog();
    all.push(platform("zendesk", "Zendesk", &[], &[]));
    all.push(platform("monday", "monday.com", &["old-monday"], &[]));
    api.env.publish_platforms(Sizes::PUBLISHED, &all);
    let notes = |query: &str| {
        let response = api.get(&format!("{SEARCH}?{query}"));
        assert_eq!(response.status, 200, "{query}: {}", body(&response));
        body(&response).get("notes").cloned().unwrap_or_default()
    };
    let named = |notes: &Value| -> Vec<String> {
        let notes = notes.as_array().cloned().unwrap_or_default();
        notes
            .iter()
            .map(|note| note.as_str().unwrap().split('`').nth(1).unwrap_or("").to_owned())
            .collect()
    };
    for (query, expected) in [
        ("q=create+an+issue+in+Zendesk", &["zendesk"][..]),
        ("q=create+issue+in+monday", &["monday"]),
        ("q=create+issue+on+monday.com", &["monday"]),
        ("q=issue&platform=zendesk", &["zendesk"]),
        ("q=issue&platform=zendesk,github", &["zendesk"]),
        ("q=issue&platform=old-monday", &["old-monday"]),
        ("q=create+github+issue", &[]),
        ("q=zen+issue", &[]),
        // The platform has actions, but none matches.
        ("q=letters&platform=github", &[""]),
    ] {
        assert_eq!(named(&notes(query)), expected, "{query}");
    }
    assert!(notes("q=create+zendesk+issue").to_string().contains("actions of other platforms"));
    for (query, suggestion) in
        [("q=issue&platform=githb", "`github`"), ("q=a&platform=github,gitlb", "`gitlab`")]
    {
        let notes_text = notes(query).to_string();
        assert!(
            notes_text.contains("has no platform") && notes_text.contains(suggestion),
            "{query}: {notes_text}"
        );
    }
}

#[test]
fn the_result_notes_well_known_platforms_without_a_matching_action() {
    let api = Api::new(config(&[("SESSION_SECRET", SECRET)]));
    let letter = |key: &'static str| (Method::Post, "Deliver a letter", key, "/letters", "");
    let keys = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let actions = [(Method::Get, "Read the weather", "weather", "/weather", "")];
    let known = |mut platform: Platform| {
        platform.connector.image = format!("/logos/{}.svg", platform.connector.platform);
        platform
    };
    let all = [
        known(platform("courier", "Courier", &[], &keys.map(letter))),
        known(platform("acme", "Acme", &[], &actions)),
        platform("lesser", "Lesser", &[], &actions),
    ];
    api.env.publish_platforms(Sizes::PUBLISHED, &all);
    let notes = |query: &str| {
        let response = api.get(&format!("{SEARCH}?{query}"));
        assert_eq!(response.status, 200, "{query}: {}", body(&response));
        body(&response).get("notes").cloned().unwrap_or_default()
    };
    let note = notes("q=deliver+a+letter+with+acme").to_string();
    let expected = "`acme` has no action that does this. These are actions of other platforms.";
    assert!(note.contains(expected), "{note}");
    for query in [
        // The platform has an action that matches.
        "q=read+the+weather+with+acme",
        // The query names no platform, or only one that is not well known.
        "q=deliver+a+letter",
        "q=deliver+a+letter+lesser",
        // All matches are actions of the requested platform.
        "q=deliver+a+letter+with+courier",
    ] {
        assert_eq!(notes(query), Value::Null, "{query}");
    }
}
