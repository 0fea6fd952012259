//! `POST /v1/vault/connections/{id}/actions/{key}`: runs an action. Its input is validated before
//! anything is sent.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::action_response::{RenderedCall, ResponseOptions, render_response};
use super::approval::{self, ApprovalRequest, RequestedApproval};
use super::download;
use crate::auth::Principal;
use crate::catalog::action::render::ACCEPT;
use crate::catalog::endpoints::respond::action_not_found;
use crate::catalog::reader::{ActionLookup, Catalog};
use crate::connect::endpoints::start::platform_removed;
use crate::credentials::request_auth::DEFAULT_ACCEPT;
use crate::credentials::usable::CredentialsQuery;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{Body, Response};
use crate::http::problem::{Code, Fault, Location, MAX_FAULTS, Problem};
use crate::platform_calls::address::url_on_server;
use crate::platform_calls::build::{Action, BuiltRequest, Input, build};
use crate::platform_calls::client::{Call, CallTarget, PlatformClient, retries};
use crate::platform_calls::flat::FlatInput;
use crate::platform_calls::headers::AGENT;
use crate::platform_calls::lenient::coerce;
use crate::platform_calls::schema::{self, faults};
use crate::ports::{Payload, Ports, Random, StorageError, user_agent};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Statements};
use crate::terms::Method;
use crate::util::json;
use crate::util::nearest::shown;

/// A request to run an action.
#[derive(Debug)]
struct RunAction<'a> {
    context: &'a Context<'a>,
    key: &'a str,
    input: &'a [u8],
    credentials: CredentialsQuery,
    retries: u8,
    /// The call whose result an agent requests, after the user's approval.
    approval: Option<RequestedApproval>,
    /// The error for unknown members of the body. Once the action is loaded, the error names the
    /// right location of a member.
    unknown_members: Option<Problem>,
}

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut unknown_members = None;
    let input = match &context.request.body {
        // An action may need no input, so an empty body is valid.
        Body::Whole(bytes) if bytes.is_empty() => b"{}".as_slice(),
        body => {
            unknown_members = context.body()?.finish().err();
            let Body::Whole(bytes) = body else { return Err(Problem::route_not_found()) };
            bytes
        }
    };
    let retries = retries(context)?;
    let mut statements = Statements::default();
    let credentials = CredentialsQuery::new(context, &context.connection_id(), &mut statements)?;
    let approval = RequestedApproval::parse(context, &mut statements);
    let key = context.argument(1);
    let run = RunAction { context, key, input, credentials, retries, approval, unknown_members };
    Ok(Handler::new(statements, move |results, principal| async move {
        run.respond(&principal, &results, ports).await
    }))
}

/// The locations of input, the most common first.
const LOCATIONS: [&str; 5] = ["path", "query", "body", "header", "cookie"];
/// The member that contains the input in its flat form.
const ARGUMENTS: &str = "arguments";

/// The title of an action.
#[derive(Deserialize)]
struct ActionTitle {
    title: String,
}

impl RunAction<'_> {
    /// Runs the action. Returns the platform's response, regardless of its status.
    async fn respond<P: Ports>(
        self,
        principal: &Principal,
        results: &Results,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { context, key, input, credentials, retries, approval, unknown_members } = self;
        let cache = context.service.catalog();
        let connection = credentials.connection(results)?;
        if let Some(approval) = approval {
            return approval.respond(context, (&connection.id, key), results, ports).await;
        }
        let catalog = Catalog::open(cache, ports).await?;
        let platform = connection.platform;
        let action = action_detail(catalog.action(&platform, key, false).await?, &platform, key)?;
        let unreadable = |_| StorageError::new("a stored action is malformed");
        let ActionTitle { title } = json::from_bytes(&action).map_err(unreadable)?;
        let action: Action = json::from_bytes(&action).map_err(unreadable)?;
        let named = Some((platform.as_str(), key));
        let permit = context.permit(action.method.as_str(), named)?;
        if let Some(problem) = unknown_members {
            return Err(locate_members(problem, &action.input));
        }
        let ValidCall { input, options, built, accept } = check(context, &action, input, ports)?;
        for method in &built.overriding {
            context.permit(method, named)?;
        }
        let methods = (action.method, built.overriding.as_slice());
        if approval::is_needed(context, principal, methods, key, &title) {
            // A call that would fail now is not submitted for approval.
            credentials.rows(results)?;
            let request = ApprovalRequest {
                connection: &connection.id,
                key,
                title: &title,
                method: action.method,
                input: &input,
                select: options.select(),
                max_bytes: options.max_bytes(),
            };
            return approval::request_approval(context, principal, &request, ports).await;
        }
        let usable = credentials.open(context, principal, results, &catalog, ports, false).await?;
        let target = CallTarget::Action(key);
        let client = PlatformClient { context, principal, ports, usable, target, retries, permit };
        let own = action.server.as_deref().and_then(|template| client.server(template).ok());
        let server = own.map_or_else(|| client.first_server(), Ok)?;
        let url =
            url_on_server(&server, &built.path, &built.query).unwrap_or_else(|| server.clone());
        let mut headers = built.headers;
        headers.push(("accept".to_owned(), accept));
        headers.push(user_agent());
        let method = action.method.as_str().to_owned();
        let call = Call { method, url, headers, payload: Payload::Bytes(&built.body) };
        let (connector, _) = client.connector_and_method()?;
        let pagination = connector.pagination.clone();
        let connection = client.usable.connection.clone();
        if download::is_download(context.request) {
            return download::file(client.send(call).await?);
        }
        let reservation = &context.reserve_response(principal, action.method.as_str())?;
        let platform_response = client.send(call).await?;
        let call = RenderedCall {
            context,
            principal,
            connection: &connection,
            server: &server,
            method: action.method.as_str(),
            pagination: &pagination,
            options: &options,
            is_graphql: action.graphql.is_some(),
            reservation,
        };
        render_response(platform_response, &call, ports).await
    }
}

/// A call of an action with valid input.
struct ValidCall<'a> {
    /// The input as JSON, in its structured form.
    input: Cow<'a, [u8]>,
    options: ResponseOptions,
    built: BuiltRequest,
    /// The value of `Accept`.
    accept: String,
}

/// Checks the input of an action, and builds the request to the platform.
fn check<'a, P: Ports>(
    context: &Context<'_>,
    action: &Action,
    body: &'a [u8],
    ports: &Metered<'_, P>,
) -> Result<ValidCall<'a>, Problem> {
    let not_json = |_| Problem::new(Code::InvalidBody, "The body must be a JSON object.");
    let mut value: Value = json::from_bytes(body).map_err(not_json)?;
    let options = ResponseOptions::take_from(&mut value).map_err(invalid_input)?;
    let flat = value.get(ARGUMENTS).is_some().then(|| FlatInput::new(&action.input));
    let mut input = Cow::Borrowed(body);
    if let Some(flat) = &flat {
        let nested = input_from_arguments(flat, &value, body).map_err(invalid_input)?;
        value = serde_json::from_str(&nested).map_err(not_json)?;
        input = Cow::Owned(nested.into_bytes());
    }
    let invalid_input =
        |faults: Vec<schema::Fault>| invalid_input(map_to_arguments(flat.as_ref(), faults));
    if context.request.header(AGENT).is_some() {
        value = coerce(&action.input, value, action.method);
        input = Cow::Owned(json::bytes(&value));
    }
    let mut input_faults = faults(&action.input, &value, ports);
    if action.method == Method::Get {
        for fault in input_faults.iter_mut().filter(|fault| fault.pointer == "/body") {
            "can't be sent: a request with `GET` can't have a body".clone_into(&mut fault.message);
        }
    }
    if !input_faults.is_empty() {
        return Err(invalid_input(input_faults));
    }
    let (built, accept) = {
        let values: Input<'_> = json::from_bytes(&input).map_err(not_json)?;
        let built = build(action, &values, &ports.uuid()).map_err(invalid_input)?;
        (built, accept(action, &values))
    };
    Ok(ValidCall { input, options, built, accept })
}

/// The action's detail, or the problem if the action does not exist.
fn action_detail(lookup: ActionLookup, platform: &str, key: &str) -> Result<Vec<u8>, Problem> {
    match lookup {
        ActionLookup::Found(action) => Ok(action),
        ActionLookup::NoAction(near) => Err(action_not_found(platform, key, &near)),
        ActionLookup::NoPlatform => Err(platform_removed(platform)),
    }
}

/// Converts the flat arguments of a body to the action's input.
fn input_from_arguments(
    flat: &FlatInput<'_>,
    body: &Value,
    text: &[u8],
) -> Result<String, Vec<schema::Fault>> {
    #[derive(Deserialize)]
    struct FlatBody<'b> {
        #[serde(borrow)]
        arguments: BTreeMap<String, &'b RawValue>,
    }
    let fault = |message: String| {
        vec![schema::Fault { pointer: format!("/{ARGUMENTS}"), message, suggestion: None }]
    };
    if let Some(place) = LOCATIONS.iter().find(|place| body.get(**place).is_some()) {
        return Err(fault(format!("can't be sent together with `{place}`")));
    }
    let parsed: FlatBody<'_> =
        json::from_bytes(text).map_err(|_| fault("must be an object".to_owned()))?;
    flat.input(&parsed.arguments)
}

/// Moves faults of flat input to the arguments that they concern. Faults of structured input stay as they are.
fn map_to_arguments(
    flat: Option<&FlatInput<'_>>,
    mut faults: Vec<schema::Fault>,
) -> Vec<schema::Fault> {
    if let Some(flat) = flat {
        for fault in &mut faults {
            fault.pointer = flat.pointer(&fault.pointer);
        }
    }
    faults
}

/// The value of `Accept`: the caller's own, or the API document's preferred media type with any
/// other as a fallback.
fn accept(action: &Action, values: &Input<'_>) -> String {
    if let Some(chosen) = values.header.get(ACCEPT).and_then(Value::as_str) {
        return chosen.to_owned();
    }
    let first = action.response_types.first().filter(|first| *first != "*/*");
    first.map_or_else(|| DEFAULT_ACCEPT.to_owned(), |first| format!("{first}, */*;q=0.5"))
}

/// Adds the right location to faults of members that the action declares elsewhere.
fn locate_members(mut problem: Problem, input: &Value) -> Problem {
    for Fault { location, detail, .. } in &mut problem.errors {
        let Location::Pointer(pointer) = location else { continue };
        let name = pointer.trim_start_matches('/');
        let has = |place: &&&str| {
            let known =
                input.get("properties").and_then(|places| places.get(place)?.get("properties"));
            known.is_some_and(|known| known.get(name).is_some())
        };
        if let Some(place) = LOCATIONS.iter().find(has) {
            *detail = format!(
                "`{name}` is a member of `{place}`: send `{{\"{place}\": {{\"{name}\": …}}}}`"
            );
        }
    }
    Problem::from_faults(problem.errors.clone()).unwrap_or(problem)
}

/// The problem for input with these faults.
pub(super) fn invalid_input(faults: Vec<schema::Fault>) -> Problem {
    let fault = |schema::Fault { pointer, message, suggestion }| {
        let name = if pointer.is_empty() {
            "The body".to_owned()
        } else {
            format!("`{}`", shown(pointer.trim_start_matches('/')))
        };
        let detail = format!("{name} {message}");
        Fault { code: Code::InvalidBody, location: Location::Pointer(pointer), detail, suggestion }
    };
    let faults = faults.into_iter().take(MAX_FAULTS).map(fault).collect();
    Problem::from_faults(faults)
        .unwrap_or_else(|| Problem::new(Code::InvalidBody, "The body is invalid."))
}
