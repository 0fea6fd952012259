//! `GET /v1/vault/summary`: what the key's account and environment has, from the counters alone.

use super::{Ask, Context};
use crate::api::message::{NO_STORE, Response};
use crate::api::problem::Problem;
use crate::api::query::no_parameters;
use crate::json::{Object, Value, list};
use crate::vault::model::{IdentityType, State};
use crate::vault::statements::summary;

/// A row of the counters.
struct Counter {
    active: u64,
    dimension: String,
    value: String,
    n: u64,
}

impl Counter {
    fn read(mut row: Value) -> Option<Self> {
        Some(Self {
            active: row.take_integer("active")?,
            dimension: row.take_text("dimension")?,
            value: row.take_text("value")?,
            n: row.take_integer("n")?,
        })
    }
}

pub(super) fn ask<'a>(context: &'a Context<'a>) -> Result<Ask<'a>, Problem> {
    no_parameters(&context.request.query)?;
    let statements = vec![summary::counters(&context.guard), summary::platforms(&context.guard)];
    let answer = |results: &super::Results<'_>| {
        let body = render(&results.rows(0, Counter::read)?, &results.rows(1, Counter::read)?);
        Ok(Response::json(body.into_bytes(), NO_STORE))
    };
    Ok(Ask { statements, answer: Box::new(answer) })
}

fn render(counters: &[Counter], platforms: &[Counter]) -> String {
    let sum = |counters: &mut dyn Iterator<Item = &Counter>| {
        counters.fold(0_u64, |sum, counter| sum.saturating_add(counter.n))
    };
    let of = |dimension: &str, value: &str| {
        sum(&mut counters.iter().filter(|c| c.dimension == dimension && c.value == value))
    };
    let by = |dimension: &str, values: [&str; 4]| {
        let counts = values
            .into_iter()
            .fold(Object::default(), |object, value| object.integer(value, of(dimension, value)));
        counts.finish()
    };
    let active = |active: u64| {
        sum(&mut counters.iter().filter(|c| c.dimension == "all" && c.active == active))
    };
    let total = active(0).saturating_add(active(1));
    let named = sum(&mut platforms.iter());
    let platforms = platforms.iter().map(|platform| {
        Object::default().text("platform", &platform.value).integer("total", platform.n).finish()
    });
    Object::default()
        .integer("total", total)
        .json(
            "active",
            &Object::default().integer("true", active(1)).integer("false", active(0)).finish(),
        )
        .json("state", &by("state", State::ALL.map(State::as_str)))
        .json("identityType", &by("identityType", IdentityType::ALL.map(IdentityType::as_str)))
        .json("platforms", &list(platforms))
        .integer("otherPlatforms", total.saturating_sub(named))
        .finish()
}
