//! The JSON response of a call: the platform's response, or the parts that the caller selected,
//! within the size limit.

use std::collections::BTreeMap;
use std::mem;
use std::rc::Rc;

use base64ct::{Base64, Encoding as _};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::download;
use super::next_page_header::{add_next, may_have_next_page};
use super::run::invalid_input;
use crate::auth::Principal;
use crate::catalog::detail::Pagination;
use crate::catalog::graphql::has_errors;
use crate::connections::model::Connection;
use crate::http::body::budget::Reservation;
use crate::http::context::Context;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::Problem;
use crate::platform_calls::budget::{
    MAX_POINTER_BYTES, MAX_STEPS, Part, WorkBudget, cut, selected,
};
use crate::platform_calls::call_error::incomplete_response;
use crate::platform_calls::charset;
use crate::platform_calls::client::PlatformResponse;
use crate::platform_calls::headers::{AGENT, NEXT, RETRY_AT, SOURCE, forwarded_response_headers};
use crate::platform_calls::json_cursor::minify;
use crate::platform_calls::pages::MAX_BODY;
use crate::platform_calls::schema;
use crate::ports::{Http, HttpError, Ports, StreamingResponse};
use crate::storage::metering::Metered;
use crate::util::collect::by_insertion;
use crate::util::json;
use crate::util::media_type::{essence, is_json};

/// The maximum size in bytes of a platform's response that is returned.
pub const MAX_RESPONSE: usize = 8 << 20;
/// The maximum number of JSON Pointers in `select`.
pub const MAX_POINTERS: usize = 20;

/// The JSON of a platform's response.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Box<RawValue>,
    /// Whether the body contains errors of a GraphQL API.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
    /// Whether the body was too large to be returned. The body is then null.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    body_too_large: bool,
    /// The parts that were omitted because of `maxBytes`. Also present, without parts, if `select`
    /// matches nothing, and for agents if the body was too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<OmittedParts>,
    /// For agents, which do not see this service's headers: the path of the next page, and the time
    /// of a possible retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at: Option<String>,
}

impl CallResult {
    /// Replaces the body with a shorter one, and lists the omitted parts.
    fn replace_body(&mut self, body: String, parts: Vec<Part>) {
        self.body = RawValue::from_string(body).unwrap_or_else(|_| RawValue::NULL.to_owned());
        self.omitted = Some(OmittedParts { parts, hint: HINT });
    }
}

/// The omitted parts of a response.
#[derive(Debug, Serialize)]
struct OmittedParts {
    parts: Vec<Part>,
    hint: &'static str,
}

/// Instructions for getting the omitted parts.
const HINT: &str = "Ask for fewer items with the action's own parameters, for some members only with `select`, such as `[\"/items/*/id\"]`, or for more with `maxBytes`.";
const NOTHING_SELECTED: &str = "`select` selects nothing of the body: omit it to see the body.";
/// The hint if the body was too large, and there is no link to it.
const TOO_LARGE: &str = "The body is larger than 8 MiB, so `select` and `maxBytes` can't shorten it: ask for fewer items with the action's own parameters.";
/// The headers to keep when all headers together take too much of `maxBytes`.
const ESSENTIAL_HEADERS: [&str; 4] = ["content-type", "link", "location", "retry-after"];
/// The range of `maxBytes`.
pub const MAX_BYTES_RANGE: std::ops::RangeInclusive<u64> = 500..=8 << 20;
/// The parts of the response that the caller requests: the members `select` and `maxBytes`.
#[derive(Debug, Default)]
pub(super) struct ResponseOptions {
    select: Vec<String>,
    max_bytes: Option<usize>,
}

impl ResponseOptions {
    pub(super) fn select(&self) -> &[String] {
        &self.select
    }

    pub(super) const fn max_bytes(&self) -> Option<usize> {
        self.max_bytes
    }

    /// Parses the options of an agent's request: an object with `select` and `maxBytes`.
    pub(super) fn from_agent(text: &str) -> Result<Self, Problem> {
        let mut members = serde_json::from_str(text).unwrap_or_default();
        Self::take_from(&mut members).map_err(invalid_input)
    }

    /// Removes `select` and `maxBytes` from a body.
    pub(super) fn take_from(body: &mut Value) -> Result<Self, Vec<schema::Fault>> {
        let mut options = Self::default();
        let mut faults = Vec::new();
        let mut fault = |name: &str, message: String| {
            faults.push(schema::Fault { pointer: format!("/{name}"), message, suggestion: None });
        };
        let Some(members) = body.as_object_mut() else { return Ok(options) };
        match members.remove("select").as_ref().map(Value::as_array) {
            None => {}
            Some(Some(given)) if given.len() <= MAX_POINTERS && given.iter().all(is_pointer) => {
                let pointers = given.iter().filter_map(Value::as_str);
                options.select = pointers.map(str::to_owned).collect();
            }
            Some(_) => fault(
                "select",
                format!(
                    "must be a list of at most {MAX_POINTERS} JSON Pointers, such as `/items/*/id`, of at most {MAX_STEPS} steps and {MAX_POINTER_BYTES} bytes"
                ),
            ),
        }
        match members.remove("maxBytes").as_ref().map(Value::as_u64) {
            None => {}
            Some(Some(max_bytes)) if MAX_BYTES_RANGE.contains(&max_bytes) => {
                options.max_bytes = usize::try_from(max_bytes).ok();
            }
            Some(_) => fault(
                "maxBytes",
                format!(
                    "must be a whole number from {} to {}",
                    MAX_BYTES_RANGE.start(),
                    MAX_BYTES_RANGE.end()
                ),
            ),
        }
        if faults.is_empty() { Ok(options) } else { Err(faults) }
    }

    /// Applies the options. `is_file` is whether the response is a file, and `is_bytes` is whether
    /// the body contains it: an agent gets a link instead.
    fn apply(&self, mut result: CallResult, is_file: bool, is_bytes: bool) -> CallResult {
        // Return the whole body of an error: `select` refers to the body of a success.
        let is_error = result.failed || result.status >= 400;
        let is_selected = !self.select.is_empty() && !is_file && !is_error;
        if !is_selected && self.max_bytes.is_none() {
            return result;
        }
        // Measure and cut the body as text, without parsing it again, because it can have 8 MiB.
        let mut json = minify(mem::replace(&mut result.body, RawValue::NULL.to_owned()).get());
        if is_selected {
            let body = mem::take(&mut json);
            json = selected(&body, &self.select);
            if json == "null" && body != "null" {
                result.omitted = Some(OmittedParts { parts: Vec::new(), hint: NOTHING_SELECTED });
            }
        }
        let length_without_body = json::bytes(&result).len().saturating_sub("null".len());
        let max_bytes = self.max_bytes.unwrap_or(usize::MAX);
        if length_without_body.saturating_add(json.len()) <= max_bytes {
            result.body = RawValue::from_string(json).unwrap_or(result.body);
            return result;
        }
        let headers = json::bytes(&result.headers).len();
        if headers > max_bytes / 4 {
            result.headers.retain(|name, _| ESSENTIAL_HEADERS.contains(&name.as_str()));
        }
        let length = |result: &CallResult| json::bytes(result).len();
        // The list of omitted parts also counts towards the limit.
        let (mut budget, mut work) = (max_bytes, WorkBudget::new(&json));
        for _ in 0..6 {
            let (body, parts) =
                if is_bytes { omit_body(&json) } else { cut(&json, budget, "/body", &mut work) };
            result.replace_body(body, parts);
            let excess = length(&result).saturating_sub(max_bytes);
            if excess == 0 {
                return result;
            }
            budget = budget.saturating_sub(excess);
        }
        // Numbers and member names are never cut, so the body, or the headers, may still be too
        // long.
        let (body, parts) = omit_body(&json);
        result.replace_body(body, parts);
        if length(&result) > max_bytes {
            result.headers.clear();
        }
        result
    }
}

/// Replaces the whole body by `null`.
fn omit_body(json: &str) -> (String, Vec<Part>) {
    let (unit, total) = ("bytes", json.len());
    let part = Part { pointer: "/body".to_owned(), unit, omitted: total, total };
    ("null".to_owned(), vec![part])
}

fn is_pointer(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        let is_short = text.len() <= MAX_POINTER_BYTES && text.matches('/').count() <= MAX_STEPS;
        is_short && (text.is_empty() || text.starts_with('/'))
    })
}

/// The JSON of a body that is not text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BinaryBody<'a> {
    base64: String,
    content_type: &'a str,
}

/// The call whose response is rendered.
pub(super) struct RenderedCall<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) principal: &'a Principal,
    pub(super) connection: &'a Connection,
    pub(super) server: &'a str,
    pub(super) method: &'a str,
    pub(super) pagination: &'a [Pagination],
    pub(super) options: &'a ResponseOptions,
    pub(super) is_graphql: bool,
    /// The memory reserved for the body.
    pub(super) reservation: &'a Rc<Reservation>,
}

/// Renders a platform's response as a JSON document. An agent gets a link instead of a file.
pub(super) async fn render_response<P: Ports>(
    platform_response: PlatformResponse,
    call: &RenderedCall<'_>,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let RenderedCall {
        context, principal, connection, server, method, pagination, options, ..
    } = *call;
    let (mut continuation, url) = (platform_response.continuation(server), platform_response.url);
    let (mut result, mut file) =
        read_response(platform_response.incoming, (method, call.reservation), ports).await?;
    let (is_file, is_agent) = (file.is_some(), context.request.header(AGENT).is_some());
    if let Some((content_type, size)) =
        file.take_if(|_| method == "GET" && (200..300).contains(&result.status))
    {
        let described = (content_type.clone(), size, result.body_too_large);
        match download::link(context, principal, connection, described, ports).await? {
            Some(link) => {
                result.body = RawValue::from_string(json::text(&link)).unwrap_or(result.body);
                result.body_too_large = false;
            }
            None => file = Some((content_type, size)),
        }
    }
    if is_agent && result.body_too_large {
        result.omitted = Some(OmittedParts { parts: Vec::new(), hint: TOO_LARGE });
    }
    result.failed = call.is_graphql && has_errors(result.body.get());
    let json = result.body.get();
    if may_have_next_page(pagination, method, result.status, &continuation)
        && json.len() <= MAX_BODY
        && let Ok(body) = serde_json::from_str(json)
    {
        add_next(&mut continuation, pagination, server, &url, &body);
    }
    if is_agent {
        let value = |header: &str| {
            let found = continuation.iter().find(|(name, _)| *name == header);
            found.map(|(_, value)| value.clone())
        };
        (result.next, result.retry_at) = (value(NEXT), value(RETRY_AT));
    }
    let result = options.apply(result, is_file, file.is_some());
    let mut response = Response::json(json::bytes(&result), NO_STORE);
    for (name, value) in continuation {
        response.add(name, value);
    }
    response.add(SOURCE, "platform");
    Ok(response)
}

/// The media type of a file, and its size in bytes if known.
type File = (String, Option<u64>);

/// Reads a platform's response. A body counts as a file if it is not text, or is too large to be
/// returned.
async fn read_response<P: Ports>(
    response: StreamingResponse,
    (method, reservation): (&str, &Rc<Reservation>),
    ports: &Metered<'_, P>,
) -> Result<(CallResult, Option<File>), Problem> {
    let content_type = response.header("content-type").unwrap_or_default().to_owned();
    let StreamingResponse { status, headers, body } = response;
    let reservation_handle = Rc::clone(reservation);
    let grow = Rc::new(move |size| reservation_handle.grow_to(size));
    let (bytes, body_too_large) = match ports.read_within(body, MAX_RESPONSE, grow).await {
        Ok(bytes) => (bytes, false),
        Err(HttpError::TooLarge) => {
            reservation.check(method)?;
            (Vec::new(), true)
        }
        Err(HttpError::Unreachable | HttpError::TimedOut | HttpError::CallerDisconnected) => {
            return Err(incomplete_response(status));
        }
    };
    reservation.shrink_to(bytes.len());
    let (body, is_bytes) = document(&content_type, &bytes, ports);
    let headers: BTreeMap<String, String> = by_insertion(forwarded_response_headers(headers));
    let size = if body_too_large {
        headers.get("content-length").and_then(|length| length.parse().ok())
    } else {
        u64::try_from(bytes.len()).ok()
    };
    let file = (is_bytes || body_too_large).then_some((content_type, size));
    let result = CallResult {
        status,
        headers,
        body,
        failed: false,
        body_too_large,
        omitted: None,
        next: None,
        retry_at: None,
    };
    Ok((result, file))
}

/// Whether bodies of this media type are text.
pub(super) fn is_text(essence: &str) -> bool {
    essence.is_empty()
        || essence.starts_with("text/")
        || ["xml", "yaml", "javascript", "x-www-form-urlencoded", "json", "csv", "ndjson"]
            .iter()
            .any(|kind| essence.ends_with(kind))
}

/// Converts a body to JSON: JSON stays as it is, other text becomes a string, binary data becomes
/// an object with base64, and an empty body becomes null. Also returns whether the body was encoded
/// as base64.
fn document(content_type: &str, bytes: &[u8], ports: &impl Http) -> (Box<RawValue>, bool) {
    let raw = |text: String| RawValue::from_string(text).ok();
    let null = || RawValue::NULL.to_owned();
    if bytes.is_empty() {
        return (null(), false);
    }
    let essence = essence(content_type);
    let is_text = is_text(&essence);
    let (charset, start) = charset::detect(content_type, bytes);
    let text = Some(bytes.get(start..).unwrap_or_default()).filter(|_| is_text);
    let Some(text) = text.and_then(|bytes| ports.decode(&charset, bytes)) else {
        let base64 = Base64::encode_string(bytes);
        return (raw(json::text(&BinaryBody { base64, content_type })).unwrap_or_else(null), true);
    };
    if is_json(&essence)
        && let Some(document) = raw(text.clone())
    {
        return (document, false);
    }
    (raw(json::text(&text)).unwrap_or_else(null), false)
}
