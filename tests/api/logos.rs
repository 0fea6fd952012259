//! Logos of well-known brands, which the service serves itself.

use connector_vault::http::message::Request;
use connector_vault::http::{Config, Response};
use serde_json::Value;

use crate::support::{Api, ORIGIN, body, connector, with_header};

const LIST: &str = "/v1/available-connectors";
const DETAIL: &str = "/v1/available-connectors/slack";
const OTHER: &str = "http://localhost:8787";

fn api() -> Api {
    let api = Api::new(Config::default());
    let rows = [
        ("acme", "https://acme.example/logos/acme.svg"),
        ("mono", "data:image/svg+xml,%3Csvg/%3E"),
        ("slack", "/logos/slack.svg"),
        ("stripe", "/logos/stripe.svg"),
    ];
    let row = |(platform, image): (&str, &str)| {
        let mut row = connector(platform, platform, "Other", 0);
        image.clone_into(&mut row.image);
        r#"{"image":"/logos/x.svg"}"#.clone_into(&mut row.description);
        (row, false, Vec::new())
    };
    api.env.publish(rows.map(row).into());
    api
}

fn at(api: &Api, origin: &str, path_and_query: &str) -> Request {
    Request { origin: origin.to_owned(), ..api.request("GET", path_and_query) }
}

fn images(response: &Response) -> Vec<String> {
    let rows = body(response)["rows"].as_array().unwrap().clone();
    rows.iter().map(|row| row["image"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn images_are_absolute_urls_of_the_requested_origin() {
    let api = api();
    // The second requests for each origin are served from the cache.
    for origin in [ORIGIN, OTHER, ORIGIN, OTHER] {
        let list = api.send(&at(&api, origin, LIST));
        assert_eq!(
            images(&list),
            [
                "https://acme.example/logos/acme.svg".to_owned(),
                "data:image/svg+xml,%3Csvg/%3E".to_owned(),
                format!("{origin}/logos/slack.svg"),
                format!("{origin}/logos/stripe.svg"),
            ]
        );
        let found = api.send(&at(&api, origin, &format!("{LIST}?platform=slack")));
        assert_eq!(images(&found), [format!("{origin}/logos/slack.svg")]);
        let detail = body(&api.send(&at(&api, origin, DETAIL)));
        assert_eq!(detail["image"], format!("{origin}/logos/slack.svg"));
        assert_eq!(
            detail["description"], r#"{"image":"/logos/x.svg"}"#,
            "a description is not changed"
        );
    }
}

#[test]
fn entity_tags_differ_by_origin() {
    let api = api();
    for path in [LIST, DETAIL] {
        let [own, other] = [ORIGIN, OTHER].map(|origin| {
            let tag = api.send(&at(&api, origin, path)).header("etag").unwrap().to_owned();
            let status = |origin| {
                let requested = with_header(at(&api, origin, path), "if-none-match", &tag);
                api.send(&requested).status
            };
            (status(ORIGIN), status(OTHER))
        });
        assert_eq!((own, other), ((304, 200), (200, 304)), "{path}");
    }
}

#[test]
fn odd_host_keeps_the_response_valid_json() {
    let api = api();
    for path in [format!("{LIST}?platform=slack"), DETAIL.to_owned()] {
        let response = body(&api.send(&at(&api, r#"http://a"b"#, &path)));
        let row = response.get("rows").map_or(&response, |rows| &rows[0]);
        assert_eq!(row["image"], Value::from(r#"http://a"b/logos/slack.svg"#));
    }
}
