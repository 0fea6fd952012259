//! `GET /v1/usage`: how often the keys and tokens of a tenant used the API.

use serde::Serialize;

use super::statements::{OTHER, UsageFilter, UsageRow, select};
use super::{DAY_MS, day};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::storage::transaction::Statements;
use crate::terms::UsageGroup;
use crate::util::json;
use crate::util::rfc3339;
use crate::util::sort::sort_by;

/// The number of days to report if `from` is missing, including the last day.
const DEFAULT_DAYS: u64 = 30;

#[derive(Serialize)]
struct UsageView<'a> {
    from: String,
    to: String,
    requests: u64,
    rows: Vec<RowView<'a>>,
}

#[derive(Debug, Default, Serialize)]
struct RowView<'a> {
    day: Option<String>,
    endpoint: Option<&'a str>,
    platform: Option<&'a str>,
    identity: Option<&'a str>,
    status: Option<&'a str>,
    /// Whether the row counts requests whose platform and identity were not stored, or whose groups
    /// are beyond the limit.
    other: bool,
    requests: u64,
}

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    let mut group_by: Vec<UsageGroup> = query.names("groupBy", &UsageGroup::NAMES);
    let given = |name| query.text(name).and_then(|text| parse_day(&text));
    let to = given("to").unwrap_or_else(|| day(context.now));
    let from = given("from");
    if from.is_some_and(|from| from > to) {
        query.invalid("from", "must not be after `to`");
    }
    query.finish()?;
    if group_by.is_empty() {
        group_by.push(UsageGroup::Day);
    }
    let from = from.unwrap_or_else(|| to.saturating_sub(DEFAULT_DAYS.saturating_sub(1)));
    let (platform, identity) = (query.text("platform"), query.text("identity"));
    let filter = UsageFilter { from, to, platform, identity, group_by };
    let mut statements = Statements::default();
    let rows = statements.query::<UsageRow>(select(&context.guard(), &filter));
    Ok(Handler::render(statements, move |results, _| {
        let rows = results.all(rows)?;
        Ok(Response::json(json::bytes(&view(&filter, &rows)), NO_STORE))
    }))
}

fn view<'a>(filter: &UsageFilter, rows: &'a [UsageRow]) -> UsageView<'a> {
    let requests = rows.first().map(|row| row.total).unwrap_or_default();
    let returned = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.requests));
    let mut views: Vec<RowView<'_>> = rows.iter().map(UsageRow::view).collect();
    // Sorts by day. Within a day, the largest row remains first.
    sort_by(&mut views, |a, b| a.day.cmp(&b.day));
    let rest = requests.saturating_sub(returned);
    if rest > 0 {
        views.push(RowView { other: true, requests: rest, ..RowView::default() });
    }
    UsageView { from: date(filter.from), to: date(filter.to), requests, rows: views }
}

impl UsageRow {
    fn view(&self) -> RowView<'_> {
        let (platform, identity) = (self.platform.as_deref(), self.identity.as_deref());
        let is_name = |name: &&str| !matches!(*name, "" | OTHER);
        RowView {
            day: self.day.map(date),
            endpoint: self.endpoint.as_deref(),
            platform: platform.filter(is_name),
            identity: identity.filter(is_name),
            status: self.status.as_deref(),
            other: [platform, identity].contains(&Some(OTHER)),
            requests: self.requests,
        }
    }
}

/// Formats a day like `2026-11-28`.
fn date(day: u64) -> String {
    let time = rfc3339::rfc3339(day.saturating_mul(DAY_MS)).unwrap_or_default();
    time.get(..10).unwrap_or_default().to_owned()
}

/// Parses a day like `2026-11-28` as the number of days since 1970-01-01 UTC.
pub fn parse_day(text: &str) -> Option<u64> {
    (text.len() == 10).then(|| rfc3339::parse(&format!("{text}T00:00:00Z")).map(day)).flatten()
}
