//! `GET /v1/vault/connections` (specification, part 4.3).

use super::{Ask, Context};
use crate::access::Environment;
use crate::api::message::{NO_STORE, Request, Response};
use crate::api::paging::{LIMIT, PAGE, Paging};
use crate::api::percent::decode_form;
use crate::api::problem::Problem;
use crate::api::query::{Check, Parameter, QueryReader};
use crate::fold::fold;
use crate::vault::confinement::Confinement;
use crate::vault::cursor::Cursor;
use crate::vault::filter::{ConnectionFilter, MAX_KEYS, MAX_Q, MAX_TAGS, Start, Tags};
use crate::vault::key::ConnectionKey;
use crate::vault::model::{Connection, IdentityType};
use crate::vault::statements::list::{ListStatements, in_order, list};

/// The parameters of the list.
pub const PARAMETERS: [Parameter; 13] = [
    Parameter { name: "key", check: Check::Items(MAX_KEYS) },
    Parameter { name: "platformVersion", check: Check::Text },
    Parameter { name: "name", check: Check::Text },
    Parameter { name: "identityType", check: Check::OneOf(&IdentityType::NAMES) },
    Parameter { name: "identity", check: Check::Text },
    Parameter { name: "platform", check: Check::Text },
    Parameter { name: "tags", check: Check::Items(MAX_TAGS) },
    Parameter { name: "tagsMatch", check: Check::OneOf(&["all", "any"]) },
    Parameter { name: "q", check: Check::Length(MAX_Q) },
    Parameter { name: "active", check: Check::Boolean },
    LIMIT,
    PAGE,
    Parameter { name: "after", check: Check::Rule(like_cursor) },
];

const NO_CURSOR: &str = "is not a cursor of this list: take it from the `Link` header, with the filters and the limit that are there, and the same API key";

fn like_cursor(text: &str) -> Option<&'static str> {
    (!Cursor::has_shape(text)).then_some(NO_CURSOR)
}

/// Which connections are asked for, and which page of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListRequest {
    filter: ConnectionFilter,
    /// With a cursor, the page's number is the one that it stands for.
    paging: Paging,
    start: Start,
}

/// Checks the query string of the list, as far as that is possible without the API key.
#[must_use]
pub fn check_query(query: &str) -> QueryReader<'_> {
    let mut reader = QueryReader::new(query, &PARAMETERS);
    if reader.text("after").is_some() && reader.has("page") {
        reader.invalid("after", "can't be given together with `page`: it stands for a page itself");
    }
    let how = reader.text("tagsMatch");
    if matches!(how.as_deref(), Some("all" | "any")) && !reader.has("tags") {
        reader.invalid("tagsMatch", "says how `tags` are matched, but there are none");
    }
    reader
}

/// Reads the query string of the list. `environment` is the key's. What is asked for is narrowed to what a token may see.
/// `cursor` reads an `after` of the list that its second argument names.
///
/// # Errors
/// With all faults of the query.
fn read_query(
    query: &str,
    environment: Environment,
    confinement: Option<&Confinement>,
    cursor: impl FnOnce(&str, &str) -> Option<Cursor>,
) -> Result<ListRequest, Problem> {
    let mut reader = check_query(query);
    let folded = |parameter| reader.text(parameter).map(|text| fold(&text));
    let identity_type = reader.text("identityType");
    let mut filter = ConnectionFilter {
        active: reader.boolean("active").unwrap_or(true),
        keys: reader.items("key").map(|keys| parse_keys(&keys, environment)),
        identity: reader.text("identity"),
        name: folded("name"),
        q: folded("q"),
        tags: read_tags(&reader),
        platform: folded("platform"),
        platforms: None,
        platform_version: reader.text("platformVersion"),
        identity_type: identity_type.and_then(|text| text.parse().ok()),
    };
    if let Some(confinement) = confinement {
        confinement.narrow(&mut filter);
    }
    let mut paging = Paging::read(&reader);
    let mut start = Start::Offset(paging.limit.saturating_mul(paging.page.saturating_sub(1)));
    if let Some(after) = reader.text("after") {
        if let Some(cursor) = cursor(&after, &filter.list_name(paging.limit)) {
            paging.page = cursor.page;
            start = Start::After(cursor);
        } else if Cursor::has_shape(&after) {
            reader.invalid("after", NO_CURSOR);
        }
    }
    reader.finish().map(|()| ListRequest { filter, paging, start })
}

/// The keys that can be found: well-formed, of the environment, each once.
fn parse_keys(keys: &[String], environment: Environment) -> Vec<[String; 3]> {
    let mut parsed: Vec<[String; 3]> = Vec::with_capacity(keys.len());
    for key in keys.iter().filter_map(|key| ConnectionKey::parse(key)) {
        let parts = [key.platform, key.label, key.identity].map(str::to_owned);
        if key.environment == environment && !parsed.contains(&parts) {
            parsed.push(parts);
        }
    }
    parsed
}

fn read_tags(reader: &QueryReader<'_>) -> Option<Tags> {
    let mut tags: Vec<String> = Vec::new();
    for tag in reader.items("tags")? {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let any = reader.text("tagsMatch").as_deref() == Some("any");
    Some(if any { Tags::Any(tags) } else { Tags::All(tags) })
}

pub(super) fn ask<'a>(context: &'a Context<'a>) -> Result<Ask<'a>, Problem> {
    let (request, caller) = (context.request, context.caller);
    let secrets = caller.cursor_secrets(context.sessions);
    let cursor = |text: &str, list: &str| {
        secrets.iter().find_map(|secret| Cursor::verify(text, secret, list).ok())
    };
    let ListRequest { filter, paging, start } =
        read_query(&request.query, caller.environment(), caller.confinement(), cursor)?;

    // One row more than the page has tells whether another page follows.
    let rows = paging.limit.saturating_add(1);
    let (statements, pairs) = match list(&context.guard, &filter, &start, rows) {
        ListStatements::Paged(pairs) => {
            let count = Some(pairs.len());
            (pairs.into_iter().flat_map(|(total, page)| [total, page]).collect(), count)
        }
        ListStatements::All(all) => (vec![all], None),
    };
    let answer = move |results: &super::Results<'_>| {
        let (total, mut page) = gather(results, pairs, &start, rows)?;
        let limit = usize::try_from(paging.limit).unwrap_or(usize::MAX);
        let more = page.len() > limit;
        page.truncate(limit);
        let json: Vec<String> = page.iter().map(Connection::to_json).collect();
        let body = paging.envelope(json.join(",").as_bytes(), total);
        let mut response = Response::json(body, NO_STORE);
        if let (true, Some(last), Some(secret)) = (more, page.last(), secrets.first()) {
            let next = Cursor {
                page: paging.page.saturating_add(1),
                created_at: last.created_at,
                id: last.id.clone(),
            };
            let after = next.sign(secret, &filter.list_name(paging.limit));
            response.add("link", link(request, &after));
        }
        Ok(response)
    };
    Ok(Ask { statements, answer: Box::new(answer) })
}

/// The total and the page's rows, in list order; `pairs` of statements gave them, or a single one gave all rows.
fn gather(
    results: &super::Results<'_>,
    pairs: Option<usize>,
    start: &Start,
    rows: u64,
) -> Result<(u64, Vec<Connection>), Problem> {
    let Some(pairs) = pairs else {
        let all = results.connections(0)?;
        let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
        return Ok((total, page_of(in_order(all), start, rows)));
    };
    let (mut total, mut page) = (0_u64, Vec::new());
    for pair in 0..pairs {
        let first = pair.saturating_mul(2);
        let totals = results.rows(first, |mut row| row.take_integer("total"))?;
        total = totals.into_iter().fold(total, u64::saturating_add);
        page.append(&mut results.connections(first.saturating_add(1))?);
    }
    Ok((total, in_order(page)))
}

/// The rows from the start of a page on, at most `rows`, of all rows in list order.
fn page_of(all: Vec<Connection>, start: &Start, rows: u64) -> Vec<Connection> {
    let skipped = match start {
        Start::Offset(offset) => usize::try_from(*offset).unwrap_or(usize::MAX),
        Start::After(cursor) => {
            let at = (cursor.created_at, cursor.id.as_str());
            all.partition_point(|row| row.place() >= at)
        }
    };
    all.into_iter().skip(skipped).take(usize::try_from(rows).unwrap_or(usize::MAX)).collect()
}

/// The parameters of a query that are not about the place in the list, as they were sent.
fn without_place(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|pair| {
        let name = decode_form(pair.split('=').next().unwrap_or_default()).unwrap_or_default();
        !pair.is_empty() && name != "page" && name != "after"
    })
}

/// The `Link` header to the next page.
fn link(request: &Request, after: &str) -> String {
    let mut query: Vec<&str> = without_place(&request.query).collect();
    let after = format!("after={after}");
    query.push(&after);
    // What could end the address early is encoded; a browser or a proxy has done so before.
    let query = query.join("&").replace('>', "%3E").replace('"', "%22");
    format!("<{}{}?{query}>; rel=\"next\"", request.origin, request.path)
}
