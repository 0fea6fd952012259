//! `POST /v1/vault/connections/{id}/actions/{key}`: runs an action with input that is checked before anything is sent.

use std::collections::BTreeMap;

use base64ct::{Base64, Encoding as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::approval::{self, AskedApproval, Constraint};
use super::paged::{add_next, is_page};
use crate::auth::Principal;
use crate::catalog::action::answer::ACCEPT;
use crate::catalog::detail::Pagination;
use crate::catalog::endpoints::respond::no_action;
use crate::catalog::reader::{ActionLookup, Catalog};
use crate::connect::endpoints::start::platform_removed;
use crate::credentials::fresh::AskedHeld;
use crate::credentials::placing::DEFAULT_ACCEPT;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{Body, NO_STORE, Response};
use crate::http::problem::{Code, Fault, Location, Problem};
use crate::platform_calls::address::below;
use crate::platform_calls::budget::{
    MOST_POINTER_BYTES, MOST_STEPS, Part, cut, minified, selected,
};
use crate::platform_calls::build::{Action, Input, build};
use crate::platform_calls::charset;
use crate::platform_calls::client::{Answer, Call, Called, Line, retries};
use crate::platform_calls::flat::Flat;
use crate::platform_calls::headers::{AGENT, SOURCE, to_caller};
use crate::platform_calls::lenient::coerced;
use crate::platform_calls::pages::MAX_BODY;
use crate::platform_calls::schema::{self, faults};
use crate::ports::{
    Http, HttpError, Payload, Ports, Random, StorageError, StreamingResponse, user_agent,
};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Statements};
use crate::terms::Method;
use crate::util::json;
use crate::util::media_type::{essence, is_json};
use crate::util::nearest::shown;

/// The most bytes of an answer that are returned.
pub const MAX_ANSWER: usize = 8 << 20;

/// An action that is to be run.
#[derive(Debug)]
struct RunAction<'a> {
    context: &'a Context<'a>,
    key: &'a str,
    input: &'a [u8],
    held: AskedHeld,
    retries: u8,
    /// The call that waited for the user, if an agent asks for its outcome instead.
    approval: Option<AskedApproval>,
    /// What is wrong with the names of the body's members. The action says where some of them belong.
    unplaced: Option<Problem>,
}

/// Plans the request.
///
/// # Errors
/// With the faults of the header for retries, and those of the body that show without the action; `unavailable` without keys
/// to open with.
pub fn plan<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.no_query()?;
    let mut unplaced = None;
    let input = match &context.request.body {
        // An action may need no input, and a request without a body says just that.
        Body::Whole(bytes) if bytes.is_empty() => b"{}".as_slice(),
        body => {
            unplaced = context.body()?.finish().err();
            let Body::Whole(bytes) = body else { return Err(Problem::no_route()) };
            bytes
        }
    };
    let retries = retries(context)?;
    let mut statements = Statements::default();
    let held = AskedHeld::of(context, &context.connection_id(), &mut statements)?;
    let approval = AskedApproval::of(context, &mut statements);
    let key = context.argument(1);
    let run = RunAction { context, key, input, held, retries, approval, unplaced };
    Ok(Handler::new(statements, move |results, principal| async move {
        run.respond(&principal, &results, ports).await
    }))
}

/// What a platform answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Box<RawValue>,
    /// Only when the body is too large to be returned, and therefore null.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    body_too_large: bool,
    /// What does not fit into the caller's budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<Omitted>,
}

impl Answered {
    /// Replaces the body by what is left of it.
    fn cut_to(&mut self, body: String, parts: Vec<Part>) {
        self.body = RawValue::from_string(body).unwrap_or_else(|_| RawValue::NULL.to_owned());
        self.omitted = Some(Omitted { parts, hint: HINT });
    }
}

/// What is left out of an answer.
#[derive(Debug, Serialize)]
struct Omitted {
    parts: Vec<Part>,
    hint: &'static str,
}

/// How to get what is left out.
const HINT: &str = "Ask for fewer items with the action's own parameters, for some members only with `select`, such as `[\"/items/*/id\"]`, or for more with `maxBytes`.";
/// The headers that an answer keeps in any budget.
const KEPT_HEADERS: [&str; 4] = ["content-type", "link", "location", "retry-after"];
/// What a caller may ask for as `maxBytes`.
pub const BUDGETS: std::ops::RangeInclusive<u64> = 500..=8 << 20;
/// The places of input, those of the most actions first.
const PLACES: [&str; 5] = ["path", "query", "body", "header", "cookie"];
/// The most JSON Pointers of `select`.
pub const MOST_POINTERS: usize = 20;

/// The member that has the input in its flat form.
const ARGUMENTS: &str = "arguments";

/// What of an answer a caller wants.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    select: Vec<String>,
    most: Option<usize>,
}

impl Wanted {
    /// Reads what an agent wants of the answer to a request of its own: an object with `select` and `maxBytes`.
    ///
    /// # Errors
    /// `invalid_body` with all faults.
    pub(super) fn of_agent(text: &str) -> Result<Self, Problem> {
        let mut members = serde_json::from_str(text).unwrap_or_default();
        Self::take(&mut members).map_err(refused)
    }

    /// Takes the members `select` and `maxBytes` from a body.
    fn take(body: &mut Value) -> Result<Self, Vec<schema::Fault>> {
        let mut wanted = Self::default();
        let mut faults = Vec::new();
        let mut fault = |name: &str, what: String| {
            faults.push(schema::Fault { pointer: format!("/{name}"), what, suggestion: None });
        };
        let Some(members) = body.as_object_mut() else { return Ok(wanted) };
        match members.remove("select").as_ref().map(Value::as_array) {
            None => {}
            Some(Some(given)) if given.len() <= MOST_POINTERS && given.iter().all(is_pointer) => {
                let pointers = given.iter().filter_map(Value::as_str);
                wanted.select = pointers.map(str::to_owned).collect();
            }
            Some(_) => fault(
                "select",
                format!(
                    "must be a list of at most {MOST_POINTERS} JSON Pointers, such as `/items/*/id`, of at most {MOST_STEPS} steps and {MOST_POINTER_BYTES} bytes"
                ),
            ),
        }
        match members.remove("maxBytes").as_ref().map(Value::as_u64) {
            None => {}
            Some(Some(most)) if BUDGETS.contains(&most) => wanted.most = usize::try_from(most).ok(),
            Some(_) => fault(
                "maxBytes",
                format!("must be a whole number from {} to {}", BUDGETS.start(), BUDGETS.end()),
            ),
        }
        if faults.is_empty() { Ok(wanted) } else { Err(faults) }
    }

    /// The answer with what is wanted of it, within the budget.
    fn of(&self, mut answered: Answered, is_bytes: bool) -> Answered {
        if !self.select.is_empty() && !is_bytes {
            let json = selected(answered.body.get(), &self.select);
            answered.body = RawValue::from_string(json).unwrap_or(answered.body);
        }
        let Some(most) = self.most else { return answered };
        let json = minified(answered.body.get());
        if let Ok(body) = RawValue::from_string(json.clone()) {
            answered.body = body;
        }
        let length = |answered: &Answered| json::bytes(answered).len();
        if length(&answered) <= most {
            return answered;
        }
        let headers = json::bytes(&answered.headers).len();
        if headers > most / 4 {
            answered.headers.retain(|name, _| KEPT_HEADERS.contains(&name.as_str()));
        }
        // What stands around the body grows with what is left out of it.
        let mut budget = most;
        for _ in 0..6 {
            let (body, parts) =
                if is_bytes { left_out(&json) } else { cut(&json, budget, "/body") };
            answered.cut_to(body, parts);
            let excess = length(&answered).saturating_sub(most);
            if excess == 0 {
                return answered;
            }
            budget = budget.saturating_sub(excess);
        }
        // Numbers and names of members are never cut, so the body may still be too long, and so may the headers.
        let (body, parts) = left_out(&json);
        answered.cut_to(body, parts);
        if length(&answered) > most {
            answered.headers.clear();
        }
        answered
    }
}

/// A body of which nothing is left.
fn left_out(json: &str) -> (String, Vec<Part>) {
    let (unit, total) = ("bytes", json.len());
    let part = Part { pointer: "/body".to_owned(), unit, omitted: total, total };
    ("null".to_owned(), vec![part])
}

fn is_pointer(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        let is_short = text.len() <= MOST_POINTER_BYTES && text.matches('/').count() <= MOST_STEPS;
        is_short && (text.is_empty() || text.starts_with('/'))
    })
}

/// What an action does.
#[derive(Deserialize)]
struct Titled {
    title: String,
}

/// Bytes that are no text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bytes<'a> {
    base64: String,
    content_type: &'a str,
}

impl RunAction<'_> {
    /// Runs the action. Returns what the platform answers, whatever its status.
    ///
    /// # Errors
    /// `action_not_found`; `invalid_body` with all faults of the input; as [`AskedHeld::open`] and [`Line::send`].
    async fn respond<P: Ports>(
        self,
        principal: &Principal,
        results: &Results,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { context, key, input, held, retries, approval, unplaced } = self;
        let cache = context.service.catalog();
        let connection = held.connection(results)?;
        if let Some(approval) = approval {
            return approval.answer(context, (&connection.id, key), results, ports).await;
        }
        let catalog = Catalog::open(cache, ports).await?;
        let platform = connection.platform;
        let action = match catalog.action(&platform, key, false).await? {
            ActionLookup::Found(action) => action,
            ActionLookup::NoAction(near) => return Err(no_action(&platform, key, &near)),
            ActionLookup::NoPlatform => return Err(platform_removed(&platform)),
        };
        let unreadable = |_| StorageError::new("an action is not what it should be");
        let Titled { title } = serde_json::from_slice(&action).map_err(unreadable)?;
        let action: Action = serde_json::from_slice(&action).map_err(unreadable)?;
        let named = Some((platform.as_str(), key));
        let permit = context.permit(action.method.as_str(), named)?;
        if let Some(problem) = unplaced {
            return Err(placed(problem, &action.input));
        }
        let not_json = |_| Problem::new(Code::InvalidBody, "The body must be a JSON object.");
        let mut value: Value = serde_json::from_slice(input).map_err(not_json)?;
        let wanted = Wanted::take(&mut value).map_err(refused)?;
        let flat = value.get(ARGUMENTS).is_some().then(|| Flat::of(&action.input));
        let nested: String;
        let input = if let Some(flat) = &flat {
            nested = of_arguments(flat, &value, input).map_err(refused)?;
            value = serde_json::from_str(&nested).map_err(not_json)?;
            nested.as_bytes()
        } else {
            input
        };
        let refused = |faults: Vec<schema::Fault>| refused(placed_in(flat.as_ref(), faults));
        let read: Vec<u8>;
        let input = if context.request.header(AGENT).is_some() {
            value = coerced(&action.input, value);
            read = json::bytes(&value);
            &read
        } else {
            input
        };
        let mut found = faults(&action.input, &value, ports);
        if action.method == Method::Get {
            for fault in found.iter_mut().filter(|fault| fault.pointer == "/body") {
                "can't be sent: a request with `GET` can't have a body".clone_into(&mut fault.what);
            }
        }
        if !found.is_empty() {
            return Err(refused(found));
        }
        let given: Input<'_> = serde_json::from_slice(input).map_err(not_json)?;
        let built = match build(&action, &given, &ports.uuid()) {
            Ok(built) => built,
            Err(faults) => return Err(refused(faults)),
        };

        if approval::is_needed(context, action.method, key, &title) {
            // What can't be done now is not asked for.
            held.rows(results)?;
            let wish = Constraint {
                connection: &connection.id,
                key,
                title: &title,
                method: action.method,
                input,
                select: &wanted.select,
                most: wanted.most,
            };
            return approval::ask(context, principal, &wish, ports).await;
        }
        let fresh = held.open(context, principal, results, &catalog, ports, false).await?;
        let called = Called::Action(key);
        let line = Line { context, principal, ports, fresh, called, retries, permit };
        let own = action.server.as_deref().and_then(|template| line.server(template).ok());
        let server = own.map_or_else(|| line.first_server(), Ok)?;
        let url = below(&server, &built.path, &built.query).unwrap_or_else(|| server.clone());
        let mut headers = built.headers;
        headers.push(("accept".to_owned(), accept(&action, &given)));
        headers.push(user_agent());
        let method = action.method.as_str().to_owned();
        let call = Call { method, url, headers, payload: Payload::Bytes(&built.body) };
        let (connector, _) = line.ends()?;
        let pagination = connector.pagination.clone();
        let answer = line.send(call).await?;
        returned(answer, &server, action.method.as_str(), &pagination, &wanted, ports).await
    }
}

/// The input that the arguments of a body stand for.
///
/// # Errors
/// When they are no object, some are unknown, or input stands beside them.
fn of_arguments(flat: &Flat<'_>, body: &Value, text: &[u8]) -> Result<String, Vec<schema::Fault>> {
    #[derive(Deserialize)]
    struct Sent<'b> {
        #[serde(borrow)]
        arguments: BTreeMap<String, &'b RawValue>,
    }
    let fault = |what: String| {
        vec![schema::Fault { pointer: format!("/{ARGUMENTS}"), what, suggestion: None }]
    };
    if let Some(place) = PLACES.iter().find(|place| body.get(**place).is_some()) {
        return Err(fault(format!("can't be sent together with `{place}`")));
    }
    let sent: Sent<'_> =
        serde_json::from_slice(text).map_err(|_| fault("must be an object".to_owned()))?;
    flat.input(&sent.arguments)
}

/// Faults of the input, at the places of the arguments that it was made from, if it was.
fn placed_in(flat: Option<&Flat<'_>>, mut faults: Vec<schema::Fault>) -> Vec<schema::Fault> {
    if let Some(flat) = flat {
        for fault in &mut faults {
            fault.pointer = flat.pointer(&fault.pointer);
        }
    }
    faults
}

/// What is wanted of a platform's answer, as a document.
///
/// # Errors
/// When the platform breaks the connection off.
pub(super) async fn returned<P: Ports>(
    answer: Answer,
    server: &str,
    method: &str,
    pagination: &[Pagination],
    wanted: &Wanted,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let (mut onward, url) = (answer.onward(server), answer.url);
    let (answered, is_bytes) = response(answer.incoming, ports).await?;
    let json = answered.body.get();
    if is_page(pagination, method, answered.status, &onward)
        && json.len() <= MAX_BODY
        && let Ok(body) = serde_json::from_str(json)
    {
        add_next(&mut onward, pagination, server, &url, &body);
    }
    let answered = wanted.of(answered, is_bytes);
    let mut response = Response::json(json::bytes(&answered), NO_STORE);
    for (name, value) in onward {
        response.add(name, value);
    }
    response.add(SOURCE, "platform");
    Ok(response)
}

/// The media type that a caller chooses among those of the document; otherwise the preferred one, and any other if need be.
fn accept(action: &Action, given: &Input<'_>) -> String {
    if let Some(chosen) = given.header.get(ACCEPT).and_then(Value::as_str) {
        return chosen.to_owned();
    }
    let first = action.response_types.first().filter(|first| *first != "*/*");
    first.map_or_else(|| DEFAULT_ACCEPT.to_owned(), |first| format!("{first}, */*;q=0.5"))
}

/// Reads a platform's answer. Returns it, and whether its body is bytes that are no text.
async fn response<P: Ports>(
    answer: StreamingResponse,
    ports: &Metered<'_, P>,
) -> Result<(Answered, bool), Problem> {
    let content_type = answer.header("content-type").unwrap_or_default().to_owned();
    let StreamingResponse { status, headers, body } = answer;
    let (bytes, body_too_large) = match ports.read(body, MAX_ANSWER).await {
        Ok(bytes) => (bytes, false),
        Err(HttpError::TooLarge) => (Vec::new(), true),
        Err(HttpError::Unreachable | HttpError::TimedOut | HttpError::CallerLeft) => {
            let detail = format!("The platform answered {status}, but broke the connection off.");
            return Err(Problem::new(Code::PlatformUnreachable, detail));
        }
    };
    let (body, is_bytes) = document(&content_type, &bytes, ports);
    let headers = to_caller(headers).into_iter().collect();
    Ok((Answered { status, headers, body, body_too_large, omitted: None }, is_bytes))
}

/// A body as JSON: itself, a text, bytes in base64, or null for none. Returns it, and whether it is such bytes.
fn document(content_type: &str, bytes: &[u8], ports: &impl Http) -> (Box<RawValue>, bool) {
    let raw = |text: String| RawValue::from_string(text).ok();
    let null = || RawValue::NULL.to_owned();
    if bytes.is_empty() {
        return (null(), false);
    }
    let essence = essence(content_type);
    let is_text = essence.is_empty()
        || essence.starts_with("text/")
        || ["xml", "yaml", "javascript", "x-www-form-urlencoded", "json", "csv", "ndjson"]
            .iter()
            .any(|kind| essence.ends_with(kind));
    let (charset, from) = charset::of(content_type, bytes);
    let text = Some(bytes.get(from..).unwrap_or_default()).filter(|_| is_text);
    let Some(text) = text.and_then(|bytes| ports.decode(&charset, bytes)) else {
        let base64 = Base64::encode_string(bytes);
        return (raw(json::text(&Bytes { base64, content_type })).unwrap_or_else(null), true);
    };
    if is_json(&essence)
        && let Some(document) = raw(text.clone())
    {
        return (document, false);
    }
    (raw(json::text(&text)).unwrap_or_else(null), false)
}

/// The refusal of members that have no place, which says where those belong that the action knows.
fn placed(mut problem: Problem, input: &Value) -> Problem {
    for Fault { location, detail, .. } in &mut problem.errors {
        let Location::Pointer(pointer) = location else { continue };
        let name = pointer.trim_start_matches('/');
        let has = |place: &&&str| {
            let known =
                input.get("properties").and_then(|places| places.get(place)?.get("properties"));
            known.is_some_and(|known| known.get(name).is_some())
        };
        if let Some(place) = PLACES.iter().find(has) {
            *detail = format!(
                "`{name}` is a member of `{place}`: send `{{\"{place}\": {{\"{name}\": …}}}}`"
            );
        }
    }
    Problem::of_faults(problem.errors.clone()).unwrap_or(problem)
}

/// The refusal of input with these faults.
fn refused(faults: Vec<schema::Fault>) -> Problem {
    let fault = |schema::Fault { pointer, what, suggestion }| {
        let name = if pointer.is_empty() {
            "The body".to_owned()
        } else {
            format!("`{}`", shown(&pointer))
        };
        let detail = format!("{name} {what}");
        Fault { code: Code::InvalidBody, location: Location::Pointer(pointer), detail, suggestion }
    };
    let faults = faults.into_iter().map(fault).collect();
    Problem::of_faults(faults)
        .unwrap_or_else(|| Problem::new(Code::InvalidBody, "The body is invalid."))
}
