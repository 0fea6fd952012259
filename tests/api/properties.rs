//! Random catalogs and queries, compared with naive models.

use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::detail::ConnectorDetail;
use connector_vault::catalog::model::{Action, Connector, Status};
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::Config;
use connector_vault::http::endpoint::Keyed;
use connector_vault::http::problem::{Code, Location, Problem};
use connector_vault::http::query::QueryReader;
use connector_vault::terms::Method;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::rng::repetitions;
use crate::support::{Api, body};

const PLATFORM: &str = "p0";

/// Words that overlap, differ in case, or contain wildcards of other query languages.
const WORDS: [&str; 16] = [
    "List", "list", "LISTS", "user", "users", "a", "Émile", "é", "100%", "_", "\"q\"", "b\\c",
    "x-y", "xa-a-a", "a-a", "日本",
];

fn text() -> impl Strategy<Value = String> {
    vec(select(&WORDS[..]), 1..4).prop_map(|words| words.join(" "))
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = (text(), select(&Method::ALL[..]), select(&["", "Model"][..]));
    vec(action, 0..150).prop_map(|rows| {
        let row = |(at, (title, method, model)): (usize, (String, Method, &str))| Action {
            key: format!("{}{at}", title.replace(' ', "")),
            title,
            method,
            platform: PLATFORM.into(),
            model_name: model.into(),
        };
        rows.into_iter().enumerate().map(row).collect()
    })
}

/// Sizes of parts: small enough that pages cross every boundary, or as published.
fn sizes() -> impl Strategy<Value = Sizes> {
    let small = (1_usize..6, 0_usize..3000, 0_usize..6000, 1_usize..900, 1_usize..2000);
    let pieces = (1_usize..500, 1_usize..500, 1_usize..40);
    let small =
        (small, pieces).prop_map(|((packs, packed, whole, group, rows), (bucket, part, block))| {
            Sizes { packs, packed, whole, group, rows, bucket, part, block, ..Sizes::PUBLISHED }
        });
    prop_oneof![4 => small, 1 => Just(Sizes::PUBLISHED)]
}

fn connectors() -> impl Strategy<Value = Vec<(Connector, bool)>> {
    let row = (
        text(),
        select(&["Other", "Payments", "payments", "É"][..]),
        vec(select(&WORDS[..]), 0..3),
        text(),
        any::<bool>(),
    );
    vec(row, 1..40).prop_map(|rows| {
        let connector = |(at, (name, category, tags, description, authkit)): (
            usize,
            (String, &str, Vec<&str>, String, bool),
        )| {
            let row = Connector {
                id: 1 + at as u64,
                name,
                key: format!("api::p{at}::v1"),
                platform: format!("p{at}"),
                platform_version: "v1".into(),
                status: Status::Beta,
                description,
                category: category.into(),
                image: "https://img.example/x.png".into(),
                tags: tags.into_iter().map(str::to_owned).collect(),
                oauth: false,
                tools: 0,
                version: "1".into(),
                active: true,
            };
            (row, authkit)
        };
        rows.into_iter().enumerate().map(connector).collect()
    })
}

/// The rank of a row in the naive search. The first field is the name or title. Returns `None` if a
/// word of `q` is missing.
fn rank(fields: &[Vec<String>], q: &str) -> Option<usize> {
    let place_of = |word: &str| {
        let ranks = fields.iter().enumerate().flat_map(|(index, values)| {
            values.iter().filter_map(move |value| {
                let value = value.to_lowercase();
                let begins_word = |at: usize| {
                    !value.split_at(at).0.chars().next_back().is_some_and(char::is_alphanumeric)
                };
                let places = value
                    .char_indices()
                    .filter(|(at, _)| value.split_at(*at).1.starts_with(word))
                    .map(|(at, _)| {
                        if value == word {
                            0
                        } else if at == 0 {
                            1
                        } else if begins_word(at) {
                            2
                        } else {
                            3
                        }
                    });
                places.min().map(|place| 2 * place + usize::from(index > 0))
            })
        });
        ranks.min()
    };
    let folded = q.to_lowercase();
    let words: Vec<&str> = folded.split_whitespace().collect();
    let worst =
        words.iter().map(|word| place_of(word)).collect::<Option<Vec<_>>>()?.into_iter().max()?;
    let phrase = place_of(&words.join(" "));
    Some(if words.len() == 1 { worst } else { phrase.unwrap_or(8 + worst) })
}

/// A page of the naive model's list.
fn page(rows: &[Value], limit: usize, page: usize) -> Value {
    let shown: Vec<_> = rows.iter().skip(limit * (page - 1)).take(limit).collect();
    json!({"rows": shown, "total": rows.len(), "pages": rows.len().div_ceil(limit), "page": page})
}

/// Orders rows for `q`. Without `q`, their order stays the same.
fn ranked<T>(rows: Vec<T>, q: Option<&String>, fields: impl Fn(&T) -> Vec<Vec<String>>) -> Vec<T> {
    let Some(q) = q else { return rows };
    let mut ranked: Vec<_> =
        rows.into_iter().filter_map(|row| Some((rank(&fields(&row), q)?, row))).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, row)| row).collect()
}

fn is_same(filter: Option<&String>, value: &str) -> bool {
    filter.is_none_or(|filter| filter.to_lowercase() == value.to_lowercase())
}

fn query(pairs: &[(&str, Option<String>)]) -> String {
    let encode = |text: &str| {
        text.bytes().fold(String::new(), |encoded, byte| encoded + &format!("%{byte:02X}"))
    };
    let given = pairs
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", encode(value.as_ref()?))));
    given.collect::<Vec<_>>().join("&")
}

/// A word that the catalog often contains, but not always.
fn filter_texts() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        3 => Just(None),
        2 => text().prop_map(Some),
        1 => select(&WORDS[..]).prop_map(|word| Some(word.to_uppercase())),
        1 => select(&["s1", "er", "t u", "p0", "0", "17 list", "list 3", "a p0", "-", "ist us"][..]).prop_map(|q| Some(q.to_owned())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(repetitions(50, 300)).unwrap()))]

    #[test]
    fn action_lists_equal_the_model(
        rows in actions(), sizes in sizes(), title in filter_texts(), q in filter_texts(), index in proptest::option::of(0_usize..70),
        method in proptest::option::of(select(&["get", "POST", "Put", "patch", "DELETE", "HEAD"][..])), limit in 1_usize..30, requested in 1_usize..5,
    ) {
        let api = Api::new(Config::default());
        let connector = crate::support::connector(PLATFORM, "P", "Other", 0);
        let catalog = vec![(connector, false, rows.clone())];
        api.env.publish_in(sizes, &catalog);
        let key = index.map(|index| rows.get(index).map_or("none".into(), |row| row.key.clone()));

        let mut expected = rows;
        expected.sort_by_key(|row| (row.title.to_lowercase(), row.key.clone()));
        expected.retain(|row| {
            is_same(title.as_ref(), &row.title)
                && key.as_ref().is_none_or(|key| *key == row.key)
                && method.is_none_or(|method| row.method.as_str().eq_ignore_ascii_case(method))
        });
        let expected = ranked(expected, q.as_ref(), |row| vec![vec![row.title.clone()], vec![row.key.clone()], vec![row.platform.clone()]]);
        let expected: Vec<_> = expected.iter().map(|row| json!(row)).collect();

        let pairs = [("title", title), ("key", key), ("method", method.map(str::to_owned)), ("q", q), ("limit", Some(limit.to_string())), ("page", Some(requested.to_string()))];
        let path = format!("/v1/available-actions/{PLATFORM}?{}", query(&pairs));
        for _ in 0..2 {
            // The second response may come from the cache.
            prop_assert_eq!(body(&api.get(&path)), page(&expected, limit, requested), "{}", path);
        }
    }

    #[test]
    fn connector_lists_equal_the_model(
        rows in connectors(), sizes in sizes(), name in filter_texts(), q in filter_texts(), index in proptest::option::of(0_usize..50), by_key in any::<bool>(),
        category in proptest::option::of(select(&["PAYMENTS", "é", "other", "x"][..])), authkit in proptest::option::of(any::<bool>()), limit in 1_usize..30, requested in 1_usize..5,
    ) {
        let api = Api::new(Config::default());
        let catalog: Vec<_> = rows.iter().cloned().map(|(row, authkit)| (row, authkit, Vec::new())).collect();
        api.env.publish_in(sizes, &catalog);
        let platform = index.filter(|_| !by_key).map(|index| format!("P{index}"));
        let key = index.filter(|_| by_key).map(|index| format!("api::p{index}::v1"));

        let mut expected = rows;
        expected.sort_by_key(|(row, _)| (row.name.to_lowercase(), row.key.clone()));
        expected.retain(|(row, enabled)| {
            is_same(name.as_ref(), &row.name)
                && is_same(platform.as_ref(), &row.platform)
                && key.as_ref().is_none_or(|key| *key == row.key)
                && category.is_none_or(|category| category.to_lowercase() == row.category.to_lowercase())
                && (*enabled || authkit != Some(true))
        });
        let expected = ranked(expected, q.as_ref(), |(row, _)| {
            vec![vec![row.name.clone()], vec![row.key.clone()], vec![row.platform.clone()], vec![row.category.clone()], row.tags.clone(), vec![row.description.clone()]]
        });
        let expected: Vec<_> = expected.iter().map(|(row, _)| json!(row)).collect();

        let pairs = [
            ("name", name), ("platform", platform), ("key", key), ("category", category.map(str::to_owned)),
            ("authkit", authkit.map(|value| value.to_string())), ("q", q), ("limit", Some(limit.to_string())), ("page", Some(requested.to_string())),
        ];
        let path = format!("/v1/available-connectors?{}", query(&pairs));
        for _ in 0..2 {
            prop_assert_eq!(body(&api.get(&path)), page(&expected, limit, requested), "{}", path);
        }
    }

    #[test]
    fn connectors_that_can_be_connected_equal_the_model(
        rows in connectors(), sizes in sizes(), direct in vec(any::<bool>(), 40), clients in vec(any::<bool>(), 40), q in filter_texts(),
        authkit in any::<bool>(), connectable in any::<bool>(), has_client in any::<bool>(), limit in 1_usize..30, requested in 1_usize..3,
    ) {
        let api = Api::new(Config::default());
        let platform = |((connector, authkit), direct): (&(Connector, bool), &bool)| {
            let method = json!({"id": "key", "type": "bearer", "prefix": "Bearer", "fields": []});
            let detail = ConnectorDetail { auth_methods: direct.then(|| serde_json::from_value(method).unwrap()).into_iter().collect(), ..ConnectorDetail::default() };
            Platform { connector: connector.clone(), detail, authkit: *authkit, aliases: Vec::new(), actions: Vec::new(), units: Units::default() }
        };
        let platforms: Vec<Platform> = rows.iter().zip(&direct).map(platform).collect();
        api.env.publish_platforms(sizes, &platforms);
        for (index, _) in clients.iter().enumerate().filter(|(_, has)| **has) {
            let sql = "INSERT INTO oauth_clients (account, environment, platform, client_id, scopes, authorization_parameters, variables, created_at, updated_at) SELECT account, environment, ?1, 'id', '[]', '{}', '{}', 1, 1 FROM api_keys";
            api.env.database.execute(sql, [format!("p{index}")]).unwrap();
        }
        let all = [("q", q), ("authkit", Some(authkit.to_string())), ("limit", Some("500".to_owned()))];
        let mut expected = body(&api.get(&format!("/v1/available-connectors?{}", query(&all))))["rows"].as_array().unwrap().clone();
        let is = |marks: &[bool], row: &Value| marks[row["platform"].as_str().unwrap().trim_start_matches('p').parse::<usize>().unwrap()];
        expected.retain(|row| (!connectable || is(&direct, row) || is(&clients, row)) && (!has_client || is(&clients, row)));
        let [q, authkit, _] = all;
        let pairs = [
            q, authkit, ("connectable", Some(connectable.to_string())), ("hasOauthClient", Some(has_client.to_string())),
            ("limit", Some(limit.to_string())), ("page", Some(requested.to_string())),
        ];
        let path = format!("/v1/available-connectors?{}", query(&pairs));
        for _ in 0..2 {
            prop_assert_eq!(body(&api.get(&path)), page(&expected, limit, requested), "{}", path);
        }
    }

    #[test]
    fn all_pages_together_are_the_list(rows in actions(), sizes in sizes(), limit in 1_usize..20) {
        let api = Api::new(Config::default());
        api.env.publish_in(sizes, &[(crate::support::connector(PLATFORM, "P", "Other", 0), false, rows.clone())]);
        let pages = rows.len().div_ceil(limit);
        let mut walked: Vec<String> = (1..=pages)
            .flat_map(|page| crate::support::column(&api.get(&format!("/v1/available-actions/{PLATFORM}?limit={limit}&page={page}")), "key"))
            .collect();
        prop_assert_eq!(walked.len(), rows.len());
        walked.sort();
        let mut keys: Vec<_> = rows.into_iter().map(|row| row.key).collect();
        keys.sort();
        prop_assert_eq!(walked, keys);
    }

    #[test]
    fn every_query_is_parsed_or_all_its_faults_are_named(
        pairs in vec((select(&["title", "key", "method", "q", "limit", "page", "Title", "pages", "x", "authkit"][..]), select(&["", "a", "0", "1", "500", "501", "true", "-1", "%20", "%zz", "é"][..])), 0..6),
    ) {
        let text: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let got = query_problem(Keyed::ListActions, &text.join("&"));
        prop_assert_eq!(got.map(codes_and_parameters).unwrap_or_default(), expected_faults(&pairs), "{}", text.join("&"));
    }

    #[test]
    fn no_query_makes_the_parser_panic(text in ".{0,200}", bytes in "[%&=+a-f0-9q]{0,60}") {
        for query in [text, bytes] {
            for endpoint in [Keyed::ListActions, Keyed::ListConnectors, Keyed::ListConnections] {
                let _ = query_problem(endpoint, &query);
            }
        }
    }
}

/// The problem for a query. Returns `None` if the query is valid.
fn query_problem(endpoint: Keyed, query: &str) -> Option<Problem> {
    QueryReader::new(query, endpoint.spec().query).finish().err()
}

/// Each error as code and parameter, sorted.
fn codes_and_parameters(problem: Problem) -> Vec<(&'static str, String)> {
    let name = |place| match place {
        Location::Parameter(name) => name,
        Location::Pointer(pointer) => panic!("a query has no place {pointer}"),
    };
    let mut faults: Vec<_> = problem
        .errors
        .into_iter()
        .map(|fault| (fault.code.as_str(), name(fault.location)))
        .collect();
    faults.sort();
    faults
}

fn expected_faults(pairs: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (name, value) in pairs {
        let known_parameters = ["title", "key", "method", "q", "limit", "page"].contains(name);
        let number = || value.parse::<i64>().unwrap_or(0);
        let fault = if !known_parameters {
            Some(Code::UnknownParameter)
        } else if seen.contains(name) {
            Some(Code::RepeatedParameter)
        } else {
            let wrong = match *name {
                "limit" => !(1..=500).contains(&number()),
                "page" => number() < 1,
                "q" => *value == "%20",
                _ => false,
            };
            (wrong || value.is_empty() || *value == "%zz").then_some(Code::InvalidParameter)
        };
        seen.push(name);
        faults.extend(fault.map(|code| (code.as_str(), (*name).to_owned())));
    }
    faults.sort();
    faults.dedup();
    faults
}
