//! `GET /v1/vault/connections`: a page of the connections that match a filter.

use serde::Deserialize;

use super::render::{document, document_with_account};
use super::too_broad::{ExcessReason, too_broad};
use crate::auth::restriction::TokenRestriction;
use crate::connections::cursor::Cursor;
use crate::connections::filter::{ConnectionFilter, PageStart, Tags};
use crate::connections::key::ConnectionKey;
use crate::connections::model::Connection;
use crate::connections::statements::list::{ListStatements, in_order, list, skipped_rows};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Request, Response};
use crate::http::paging::{ListDocument, Paging};
use crate::http::parameters::INVALID_CURSOR;
use crate::http::problem::Problem;
use crate::http::query::QueryReader;
use crate::storage::transaction::{Results, Rows, Statements};
use crate::terms::Environment;
use crate::util::case_fold::fold;
use crate::util::percent::decode_form;

/// The typical size of a row without its tags, in bytes.
const TYPICAL_ROW_BYTES: usize = 600;

/// The requested filter and page.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListRequest {
    filter: ConnectionFilter,
    /// The requested page. With a cursor, `page` is the number in the cursor.
    paging: Paging,
    start: PageStart,
}

/// Reports parameters that can't be combined.
pub fn check_combinations(query: &mut QueryReader<'_>) {
    if query.text("after").is_some() && query.has("page") {
        query.invalid("after", "cannot be combined with `page`");
    }
    let tags_match = query.text("tagsMatch");
    if matches!(tags_match.as_deref(), Some("all" | "any")) && !query.has("tags") {
        query.invalid("tagsMatch", "can only be used together with `tags`");
    }
}

/// Parses the query, and restricts it to what a token may see. `environment` is the key's
/// environment. `cursor` verifies the value of `after` for the list named by its second argument,
/// and returns `None` for a cursor of another list.
fn read_query(
    mut reader: QueryReader<'_>,
    environment: Environment,
    restriction: Option<&TokenRestriction>,
    cursor: impl FnOnce(&str, &str) -> Option<Cursor>,
) -> Result<ListRequest, Problem> {
    check_combinations(&mut reader);
    let folded = |parameter| reader.text(parameter).map(|text| fold(&text));
    let identity_type = reader.text("identityType");
    let state = reader.text("state");
    let mut filter = ConnectionFilter {
        active: reader.boolean("active").unwrap_or(true),
        keys: reader.items("key").map(|keys| parse_keys(&keys, environment)),
        identity: reader.text("identity"),
        account: reader.text("account"),
        name: folded("name"),
        q: folded("q"),
        tags: parse_tags(&reader),
        platform: folded("platform"),
        platforms: None,
        connections: None,
        platform_version: reader.text("platformVersion"),
        identity_type: identity_type.and_then(|text| text.parse().ok()),
        state: state.and_then(|text| text.parse().ok()),
        shows_account: reader.text("include").is_some(),
    };
    if let Some(restriction) = restriction {
        filter.restrict_to(restriction);
    }
    let mut paging = Paging::read(&reader);
    let mut start = PageStart::Offset(paging.limit.saturating_mul(paging.page.saturating_sub(1)));
    if let Some(after) = reader.text("after") {
        if let Some(cursor) = cursor(&after, &filter.list_name(paging.limit)) {
            paging.page = cursor.page;
            start = PageStart::After(cursor);
        } else if Cursor::is_well_formed(&after) {
            reader.invalid("after", INVALID_CURSOR);
        }
    }
    reader.finish().map(|()| ListRequest { filter, paging, start })
}

/// The keys that a connection can have: well-formed, of this environment, without duplicates.
fn parse_keys(keys: &[String], environment: Environment) -> Vec<[String; 3]> {
    let mut parsed_keys: Vec<[String; 3]> = Vec::with_capacity(keys.len());
    for key in keys.iter().filter_map(|key| ConnectionKey::parse(key)) {
        let parts = [key.platform, key.label, key.identity].map(str::to_owned);
        if key.environment == environment && !parsed_keys.contains(&parts) {
            parsed_keys.push(parts);
        }
    }
    parsed_keys
}

fn parse_tags(reader: &QueryReader<'_>) -> Option<Tags> {
    let mut tags: Vec<String> = Vec::new();
    for tag in reader.items("tags")? {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let matches_any = reader.text("tagsMatch").as_deref() == Some("any");
    Some(if matches_any { Tags::Any(tags) } else { Tags::All(tags) })
}

pub fn handle<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    let (request, caller) = (context.request, context.caller);
    let secrets = caller.cursor_secrets(&context.config().sessions);
    let cursor = |text: &str, list: &str| {
        secrets.iter().find_map(|secret| Cursor::verify(text, secret, list).ok())
    };
    let query = context.query();
    let ListRequest { filter, paging, start } =
        read_query(query, caller.environment(), caller.restriction(), cursor)?;

    // Request one more row than the page has, to see whether another page follows.
    let (rows, max_rows) = (paging.limit.saturating_add(1), context.config().max_rows_read);
    let mut statements = Statements::default();
    let rows_of_list =
        push_list(&mut statements, list(&context.guard(), &filter, &start, rows, max_rows));
    Ok(Handler::render(statements, move |results, _| {
        let list_page = combine_results(results, &rows_of_list, &start, rows, max_rows)?;
        if let Some(excess) = list_page.excess {
            let is_token = caller.restriction().is_some();
            return Err(too_broad(&filter, &excess, max_rows, is_token));
        }
        let ListPage { total, mut page, .. } = list_page;
        let limit = usize::try_from(paging.limit).unwrap_or(usize::MAX);
        let has_more = page.len() > limit;
        page.truncate(limit);
        let shows_names = context.config().account_names;
        let row = |row: &Connection| {
            if filter.shows_account {
                document_with_account(row, shows_names)
            } else {
                document(row)
            }
        };
        let next = page.last().filter(|_| has_more).map(|last| Cursor {
            page: paging.page.saturating_add(1),
            created_at: last.created_at,
            id: last.id.clone(),
        });
        let size = |row: &Connection| row.tags.len().saturating_add(TYPICAL_ROW_BYTES);
        let mut document = ListDocument::with_capacity(page.iter().map(size).sum());
        for connection in page {
            document.push(&row(&connection)?);
        }
        let mut response = Response::json(document.envelope(paging, total), NO_STORE);
        if let Some((next, secret)) = next.zip(secrets.first()) {
            let after = next.sign(secret, &filter.list_name(paging.limit));
            response.add("link", link(request, &after));
        }
        Ok(response)
    }))
}

/// The result of a list.
#[derive(Default)]
struct ListPage {
    total: u64,
    /// The page's connections, in list order.
    page: Vec<Connection>,
    /// The reason why the list was rejected.
    excess: Option<ExcessReason>,
}

/// The result handles of [`ListStatements`], by variant.
enum ListRows {
    Nothing,
    All(Rows<Connection>),
    Counted { total: Rows<Total>, page: Rows<Connection> },
    Searched { walk: Rows<SearchCounts>, page: Rows<Connection>, limit: u64 },
    Plans { costs: Rows<Costs>, pairs: Vec<(Rows<Total>, Rows<Connection>)> },
}

/// The number of rows of a list.
#[derive(Deserialize)]
struct Total {
    total: u64,
}

/// The number of rows that a search read, and of those that matched.
#[derive(Deserialize)]
struct SearchCounts {
    walked: u64,
    total: u64,
}

/// The cost of the cheapest plan in rows, and the number of connections that match the tags and the
/// columns.
#[derive(Default, Deserialize)]
struct Costs {
    cost: u64,
    tags: u64,
    columns: u64,
}

fn push_list(statements: &mut Statements, list: ListStatements) -> ListRows {
    match list {
        ListStatements::Nothing => ListRows::Nothing,
        ListStatements::All(all) => ListRows::All(statements.query(all)),
        ListStatements::Counted(all, page) => {
            ListRows::Counted { total: statements.query(all), page: statements.query(page) }
        }
        ListStatements::Searched(all, page, max_rows) => ListRows::Searched {
            walk: statements.query(all),
            page: statements.query(page),
            limit: max_rows,
        },
        ListStatements::Plans(costs, pairs) => {
            let costs = statements.query(costs);
            let mut pair = |(all, page)| (statements.query(all), statements.query(page));
            ListRows::Plans { costs, pairs: pairs.into_iter().map(&mut pair).collect() }
        }
    }
}

/// Combines the results of the statements.
fn combine_results(
    results: &Results,
    rows_of_list: &ListRows,
    start: &PageStart,
    rows: u64,
    max_rows: u64,
) -> Result<ListPage, Problem> {
    let sum = |total: Rows<Total>| {
        let totals = results.all(total)?.into_iter();
        Ok::<_, Problem>(totals.fold(0_u64, |sum, row| sum.saturating_add(row.total)))
    };
    Ok(match rows_of_list {
        ListRows::Nothing => ListPage::default(),
        ListRows::All(all) => {
            let all = in_order(results.all(*all)?);
            let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
            ListPage { total, page: slice_page(all, start, rows), excess: None }
        }
        ListRows::Counted { total, page } => {
            let total = sum(*total)?;
            let skipped = skipped_rows(start, total, rows, max_rows);
            let excess = (skipped > max_rows).then_some(ExcessReason::Page { skipped });
            ListPage { total, page: in_order(results.all(*page)?), excess }
        }
        ListRows::Searched { walk, page, limit } => {
            let (mut walked, mut total) = (0_u64, 0_u64);
            for walk in results.all(*walk)? {
                walked = walked.saturating_add(walk.walked);
                total = total.saturating_add(walk.total);
            }
            let excess = (walked > *limit).then_some(ExcessReason::Matches { limit: *limit });
            ListPage { total, page: in_order(results.all(*page)?), excess }
        }
        ListRows::Plans { costs, pairs } => {
            let Costs { cost, tags, columns } = results.first(*costs)?.unwrap_or_default();
            let excess = (cost > max_rows).then_some(ExcessReason::Rows { cost, tags, columns });
            let (mut all, mut page) = (0_u64, Vec::new());
            for (total, rows) in pairs {
                all = all.saturating_add(sum(*total)?);
                page.append(&mut results.all(*rows)?);
            }
            ListPage { total: all, page: in_order(page), excess }
        }
    })
}

/// Returns up to `rows` rows from the start of a page. `all` contains every row of the list, in list order.
fn slice_page(all: Vec<Connection>, start: &PageStart, rows: u64) -> Vec<Connection> {
    let skipped = match start {
        PageStart::Offset(offset) => usize::try_from(*offset).unwrap_or(usize::MAX),
        PageStart::After(cursor) => {
            let position = (cursor.created_at, cursor.id.as_str());
            all.partition_point(|row| row.position() >= position)
        }
    };
    all.into_iter().skip(skipped).take(usize::try_from(rows).unwrap_or(usize::MAX)).collect()
}

/// The query parameters as sent, without those for the position in the list.
fn without_position(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|pair| {
        let name = decode_form(pair.split('=').next().unwrap_or_default()).unwrap_or_default();
        !pair.is_empty() && name != "page" && name != "after"
    })
}

/// The `Link` header of the next page.
fn link(request: &Request, after: &str) -> String {
    let mut query: Vec<&str> = without_position(&request.query).collect();
    let after = format!("after={after}");
    query.push(&after);
    // Encode characters that could end the URL early. Some browsers and proxies send them
    // unencoded.
    let query = query.join("&").replace('>', "%3E").replace('"', "%22");
    format!("<{}{}?{query}>; rel=\"next\"", request.origin, request.path)
}
