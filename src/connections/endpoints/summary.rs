//! `GET /v1/vault/summary`: the numbers of connections in the key's account and environment, read
//! only from counters.

use serde::{Deserialize, Serialize, Serializer};

use crate::connections::statements::summary;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::storage::transaction::Statements;
use crate::terms::{IdentityType, State};
use crate::util::json;

/// A row of the counters.
#[derive(Deserialize)]
struct Counter {
    active: u64,
    dimension: String,
    value: String,
    n: u64,
}

/// The JSON of the summary.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    total: u64,
    active: Counts,
    state: Counts,
    identity_type: Counts,
    platforms: Vec<Platform<'a>>,
    other_platforms: u64,
}

#[derive(Serialize)]
struct Platform<'a> {
    platform: &'a str,
    total: u64,
}

/// Counts by name, in a fixed order.
struct Counts(Vec<(&'static str, u64)>);

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

pub fn handle<'a>(context: &Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let (guard, mut statements) = (context.guard(), Statements::default());
    let counters = statements.query::<Counter>(summary::counters(&guard));
    let platforms = statements.query::<Counter>(summary::platforms(&guard));
    Ok(Handler::render(statements, move |results, _| {
        let body = render(&results.all(counters)?, &results.all(platforms)?);
        Ok(Response::json(body, NO_STORE))
    }))
}

fn render(counters: &[Counter], platforms: &[Counter]) -> Vec<u8> {
    let sum = |counters: &mut dyn Iterator<Item = &Counter>| {
        counters.fold(0_u64, |sum, counter| sum.saturating_add(counter.n))
    };
    let count_of = |dimension: &str, value: &str| {
        sum(&mut counters.iter().filter(|c| c.dimension == dimension && c.value == value))
    };
    let counts_by = |dimension: &str, values: [&'static str; 4]| {
        Counts(values.map(|value| (value, count_of(dimension, value))).into())
    };
    let active = |active: u64| {
        sum(&mut counters.iter().filter(|c| c.dimension == "all" && c.active == active))
    };
    let total = active(0).saturating_add(active(1));
    let in_platforms = sum(&mut platforms.iter());
    json::bytes(&Summary {
        total,
        active: Counts(vec![("true", active(1)), ("false", active(0))]),
        state: counts_by("state", State::NAMES),
        identity_type: counts_by("identityType", IdentityType::NAMES),
        platforms: platforms
            .iter()
            .map(|counter| Platform { platform: &counter.value, total: counter.n })
            .collect(),
        other_platforms: total.saturating_sub(in_platforms),
    })
}

#[cfg(test)]
mod tests {
    use super::{Counter, render};

    #[test]
    fn each_count_comes_from_its_dimension() {
        let counter = |active, dimension: &str, value: &str, n| Counter {
            active,
            dimension: dimension.to_owned(),
            value: value.to_owned(),
            n,
        };
        let counters = [
            counter(1, "all", "", 5),
            counter(0, "all", "", 2),
            counter(1, "identityType", "user", 3),
            counter(0, "identityType", "user", 1),
            counter(1, "platform", "user", 9),
        ];
        let rendered = render(&counters, &[counter(1, "platform", "user", 6)]);
        let rendered: serde_json::Value = serde_json::from_slice(&rendered).unwrap();
        assert_eq!(
            (&rendered["total"], &rendered["active"]["true"], &rendered["active"]["false"]),
            (&7.into(), &5.into(), &2.into())
        );
        assert_eq!(
            (&rendered["identityType"]["user"], &rendered["otherPlatforms"]),
            (&4.into(), &1.into())
        );
    }
}
