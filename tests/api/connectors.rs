//! The list of connectors: filters and rows.

use connector_vault::http::Config;

use crate::support::{Api, body, column, connector};

const CONNECTORS: &str = "/v1/available-connectors";

#[test]
fn row_has_exactly_the_documented_fields() {
    let api = Api::with_catalog();
    let text = String::from_utf8(api.get(&format!("{CONNECTORS}?platform=zeta")).body).unwrap();
    let id = connector("zeta", "zeta", "Payments", 1).id;
    let row = format!(
        r#"{{"id":{id},"name":"zeta","key":"api::zeta::v1","platform":"zeta","platformVersion":"v1","status":"generally_available","description":"What zeta does.","category":"Payments","image":"https://img.example/logo.png","tags":["Cloud"],"oauth":true,"tools":1,"version":"1.0.0","active":true}}"#
    );
    assert_eq!(text, format!(r#"{{"rows":[{row}],"total":1,"pages":1,"page":1}}"#));
}

#[test]
fn filters_match_exactly_and_combine_with_and() {
    let api = Api::with_catalog();
    for (query, platforms) in [
        // Sorted by name, ignoring case, then by key.
        ("", vec!["alpha-two", "alpha", "empty", "zeta", "epsilon"]),
        ("platform=alpha", vec!["alpha"]),
        ("platform=ALPHA", vec!["alpha"]),
        ("platform=alph", vec![]),
        ("platform=alpha::v1", vec![]),
        ("platform=%25", vec![]),
        ("name=ALPHA+api", vec!["alpha-two", "alpha"]),
        ("name=%C3%A9MILE+%26+co", vec!["epsilon"]),
        ("name=Alpha", vec![]),
        ("category=developer+tools", vec!["alpha-two", "alpha"]),
        ("category=%C3%A4MTER", vec!["epsilon"]),
        ("category=Developer", vec![]),
        ("key=api::alpha::v1", vec!["alpha"]),
        ("key=API::alpha::v1", vec![]),
        ("key=api::alpha::", vec![]),
        ("authkit=true", vec!["alpha-two", "zeta"]),
        ("authkit=false", vec!["alpha-two", "alpha", "empty", "zeta", "epsilon"]),
        ("authkit=true&category=payments", vec!["zeta"]),
        ("authkit=true&platform=alpha", vec![]),
        (
            "name=alpha+api&platform=alpha&key=api::alpha::v1&category=developer+tools",
            vec!["alpha"],
        ),
        ("name=alpha+api&key=api::zeta::v1", vec![]),
        ("q=tools", vec!["alpha-two", "alpha"]),
        ("q=tools&authkit=true&name=alpha+api", vec!["alpha-two"]),
    ] {
        let response = api.get(&format!("{CONNECTORS}?{query}"));
        assert_eq!(
            (response.status, column(&response, "platform")),
            (200, platforms.iter().map(ToString::to_string).collect()),
            "{query}"
        );
        assert_eq!(body(&response)["total"], platforms.len(), "{query}");
    }
}

#[test]
fn search_ranks_by_position_then_field_then_list_order() {
    let api = Api::new(Config::default());
    let with = |platform: &str, name: &str, category: &str, description: &str, tag: &str| {
        let mut row = connector(platform, name, category, 0);
        (row.description, row.tags) = (description.into(), vec![tag.into(), "Other tag".into()]);
        (row, false, Vec::new())
    };
    api.env.publish(vec![
        with("p1", "Pay", "x", "x", "x"),
        with("p2", "A", "pay", "x", "x"),
        with("p3", "Aa", "x", "x", "PAY"),
        with("p4", "Payments", "x", "x", "x"),
        with("p5", "B", "Payments", "x", "x"),
        with("p6", "Google Pay", "x", "x", "x"),
        with("p7", "C", "x", "Will pay soon", "x"),
        with("p8", "Xpay", "x", "x", "x"),
        with("p9", "D", "x", "repaying", "x"),
        with("p10", "E", "x", "x", "x"),
    ]);
    for (q, platforms) in [
        ("pay", vec!["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"]),
        ("PAY", vec!["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"]),
        ("google+pay", vec!["p6"]),
        ("pay+google", vec!["p6"]),
        ("soon+will", vec!["p7"]),
        ("p10", vec!["p10"]),
        ("tag+repaying", vec!["p9"]),
        ("pay%0Asoon", vec!["p7"]),
        ("pay_", vec![]),
        ("%25", vec![]),
    ] {
        let response = api.get(&format!("{CONNECTORS}?q={q}"));
        assert_eq!(column(&response, "platform"), platforms, "{q}");
    }
}
