//! `POST /v1/vault/connections/{id}/actions/{key}`: runs an action with input that is checked before anything is sent.

use std::collections::BTreeMap;

use base64ct::{Base64, Encoding as _};
use serde::Serialize;
use serde_json::value::RawValue;

use super::line::{Call, Called, Line};
use crate::access::Principal;
use crate::api::catalog::answer::no_action;
use crate::api::connect::start::gone;
use crate::api::context::Context;
use crate::api::cost::Metered;
use crate::api::credentials::fresh::AskedHeld;
use crate::api::message::{Body, NO_STORE, Response};
use crate::api::problem::{Code, Fault, Place, Problem};
use crate::api::transaction::{Results, Statements};
use crate::call::address::below;
use crate::call::build::{Action, Input, build};
use crate::call::headers::{SOURCE, to_caller};
use crate::call::schema::{self, faults};
use crate::catalog::cache::CatalogCache;
use crate::catalog::reader::{Catalog, FoundAction};
use crate::json;
use crate::media::{essence, is_json};
use crate::nearest::shown;
use crate::ports::{HttpError, Incoming, Payload, Ports, Random, StorageError, user_agent};
use crate::terms::Method;

/// The most bytes of an answer that are returned.
pub const MAX_ANSWER: usize = 8 << 20;

/// An action that is to be run.
#[derive(Debug)]
pub struct RunAction<'a> {
    context: &'a Context<'a>,
    key: &'a str,
    input: &'a [u8],
    held: AskedHeld,
}

/// Plans the request.
///
/// # Errors
/// With the faults of the body that show without the action; `unavailable` without keys to open with.
pub fn plan<'a>(context: &'a Context<'a>) -> Result<(RunAction<'a>, Statements), Problem> {
    context.no_query()?;
    context.body()?.finish()?;
    let Body::Whole(input) = &context.request.body else { return Err(Problem::no_route()) };
    let mut statements = Statements::default();
    let held = AskedHeld::of(context, &context.connection_id(), &mut statements)?;
    let run = RunAction { context, key: context.argument(1), input, held };
    Ok((run, statements))
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
    pub async fn answer<P: Ports>(
        self,
        principal: &Principal,
        results: &Results<'_>,
        cache: &CatalogCache,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { context, key, input, held } = self;
        let catalog = Catalog::open(cache, ports).await?;
        let platform = held.connection(results)?.platform;
        let action = match catalog.action(&platform, key, false).await? {
            FoundAction::Found(action) => action,
            FoundAction::NoAction(near) => return Err(no_action(&platform, key, &near)),
            FoundAction::NoPlatform => return Err(gone(&platform)),
        };
        let unreadable = |_| StorageError::new("an action is not what it should be");
        let action: Action = serde_json::from_slice(&action).map_err(unreadable)?;
        context.may_call(action.method.as_str())?;
        let not_json = |_| Problem::new(Code::InvalidBody, "The body must be a JSON object.");
        let value = serde_json::from_slice(input).map_err(not_json)?;
        let found = faults(&action.input, &value, ports);
        if !found.is_empty() {
            return Err(refused(found));
        }
        let given: Input<'_> = serde_json::from_slice(input).map_err(not_json)?;
        let built = match build(&action, &given, &ports.uuid()) {
            Ok(built) => built,
            Err(faults) => return Err(refused(faults)),
        };

        let fresh = held.open(context, principal, results, &catalog, ports, false).await?;
        let line = Line { context, principal, ports, fresh, called: Called::Action(key) };
        let own = action.server.as_deref().and_then(|template| line.server(template).ok());
        let server = own.map_or_else(|| line.first_server(), Ok)?;
        let url = below(&server, &built.path, &built.query).unwrap_or(server);
        let mut headers = built.headers;
        headers.push(("accept".to_owned(), "application/json, */*;q=0.5".to_owned()));
        headers.push(user_agent());
        // No request of this method has a body, whatever documents say.
        let body = if action.method == Method::Get { &[][..] } else { &built.body };
        let method = action.method.as_str().to_owned();
        let call = Call { method, url, headers, payload: Payload::Bytes(body) };
        let answer = line.send(call).await?;
        let answered = read(answer, ports).await?;
        let mut response = Response::json(json::bytes(&answered), NO_STORE);
        response.add(SOURCE, "platform");
        Ok(response)
    }
}

/// Reads a platform's answer.
async fn read<P: Ports>(answer: Incoming, ports: &Metered<'_, P>) -> Result<Answered, Problem> {
    use crate::ports::Http as _;
    let content_type = answer.header("content-type").unwrap_or_default().to_owned();
    let Incoming { status, headers, body } = answer;
    let (bytes, body_too_large) = match ports.read(body, MAX_ANSWER).await {
        Ok(bytes) => (bytes, false),
        Err(HttpError::TooLarge) => (Vec::new(), true),
        Err(HttpError::Unreachable | HttpError::TimedOut | HttpError::CallerLeft) => {
            let detail = format!("The platform answered {status}, but broke the connection off.");
            return Err(Problem::new(Code::PlatformUnreachable, detail));
        }
    };
    let body = document(&content_type, bytes);
    Ok(Answered { status, headers: to_caller(headers).into_iter().collect(), body, body_too_large })
}

/// A body as JSON: itself, a text, bytes in base64, or null for none.
fn document(content_type: &str, bytes: Vec<u8>) -> Box<RawValue> {
    let raw = |text: String| RawValue::from_string(text).ok();
    let null = || RawValue::NULL.to_owned();
    if bytes.is_empty() {
        return null();
    }
    let essence = essence(content_type);
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let base64 = Base64::encode_string(error.as_bytes());
            return raw(json::text(&Bytes { base64, content_type })).unwrap_or_else(null);
        }
    };
    let is_text = essence.is_empty()
        || essence.starts_with("text/")
        || ["xml", "yaml", "javascript", "x-www-form-urlencoded", "json", "csv", "ndjson"]
            .iter()
            .any(|kind| essence.ends_with(kind));
    if is_json(&essence)
        && let Some(document) = raw(text.clone())
    {
        return document;
    }
    let shown = if is_text {
        json::text(&text)
    } else {
        let base64 = Base64::encode_string(text.as_bytes());
        json::text(&Bytes { base64, content_type })
    };
    raw(shown).unwrap_or_else(null)
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
        Fault { code: Code::InvalidBody, place: Place::Pointer(pointer), detail, suggestion }
    };
    let faults = faults.into_iter().map(fault).collect();
    Problem::of_faults(faults)
        .unwrap_or_else(|| Problem::new(Code::InvalidBody, "The body is invalid."))
}
