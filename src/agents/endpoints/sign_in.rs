//! `/v1/agent-sign-in`: configures how the users of agents sign in.

use crate::agents::Access;
use crate::agents::sign_in::{Endpoint, SignInType, redirect_uri, seal_context};
use crate::agents::statements::{self, NewSignIn};
use crate::auth::endpoints::session::new::no_session_secret;
use crate::auth::{Principal, Shard};
use crate::connect::endpoints::{encrypt_error, missing_vault_keys};
use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Extension, Problem};
use crate::oidc::relying_party::RelyingParty;
use crate::ports::{Db as _, Ports, StorageError, first_row};
use crate::storage::metering::Metered;
use crate::storage::transaction::{ExistingRow, Statements};
use crate::targets::origin;

/// The error if `BASE_URL` is not configured.
pub(super) fn no_base_url() -> Problem {
    let detail = "Agents can't sign in: the service's operator must set `BASE_URL`, the service's own address.";
    let problem = Problem::unavailable("`BASE_URL` is missing or malformed");
    Problem { detail: detail.into(), ..problem }
}

fn not_configured() -> Problem {
    let detail = "Sign-in for agents is not configured. Configure it with `PUT /v1/agent-sign-in`.";
    Problem::new(Code::AgentSignInNotFound, detail)
}

/// The id for the tenant's endpoint before it is stored. It is derived from the tenant, so that the
/// redirect URI is known before the sign-in is configured.
fn derive_endpoint_id<P: Ports>(
    context: &Context<'_>,
    principal: &Principal,
    ports: &Metered<'_, P>,
) -> Option<String> {
    let shard = Shard::new(ports.number()).unwrap_or_default();
    let sessions = &context.config().sessions;
    Some(shard.mark(sessions.endpoint_id(&principal.account, principal.environment)?))
}

/// `GET /v1/agent-sign-in`
pub fn read<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut statements = Statements::default();
    let endpoint = statements.query::<Endpoint>(statements::select_for_caller(&context.guard()));
    Ok(Handler::render(statements, move |results, principal| {
        let endpoint = results.first(endpoint)?;
        let base = context.config().base_url.as_deref();
        if let Some(endpoint) = endpoint.as_ref().filter(|endpoint| endpoint.r#type.is_some()) {
            let document = endpoint.to_json(base.ok_or_else(no_base_url)?);
            return Ok(Response::json(document.ok_or_else(not_configured)?, NO_STORE));
        }
        let id = endpoint.map(|endpoint| endpoint.id);
        let id = id.or_else(|| derive_endpoint_id(context, principal, ports));
        let uri = base.zip(id).map(|(base, id)| redirect_uri(base, &id));
        let extension = uri.map_or(Extension::None, Extension::RedirectUri);
        Err(Problem { extension, ..not_configured() })
    }))
}

/// `DELETE /v1/agent-sign-in`
pub fn delete<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut statements = Statements::default();
    let [endpoint, grants] = statements::delete_sign_in(&context.guard());
    let deleted = statements.query::<ExistingRow>(endpoint);
    statements.run(grants);
    Ok(Handler::delete(statements, deleted, not_configured))
}

/// `PUT /v1/agent-sign-in`
pub fn put<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    check(&mut body, context);
    body.finish()?;
    context.ensure_person_holds(Access::Write.scopes())?;
    if !context.config().sessions.can_sign() {
        return Err(no_session_secret());
    }
    let base = context.config().base_url.as_deref().ok_or_else(no_base_url)?;
    if body.has("clientSecret")
        && !body.is_null("clientSecret")
        && context.config().vault_keys.is_empty()
    {
        return Err(missing_vault_keys());
    }
    Ok(Handler::new(Statements::default(), move |_, principal| async move {
        store(context, base, body, &principal, ports).await
    }))
}

/// Reports members that the sign-in type requires or does not support, and URLs that the service
/// must not request.
fn check(body: &mut BodyReader, context: &Context<'_>) {
    let Some(kind) = body.peek("type").map(str::to_owned) else { return };
    let (required, unexpected): (&[&str], &[&str]) = if kind == SignInType::App.as_str() {
        let unexpected =
            ["issuer", "clientId", "clientSecret", "identityClaim", "identityType", "confirm"];
        (&["url"], &unexpected.map(|name| name))
    } else if kind == SignInType::Oidc.as_str() {
        (&["issuer", "clientId"], &["url"])
    } else {
        // `BodyReader::new` has already reported an unknown type.
        return;
    };
    check_members(body, &kind, required, unexpected);
    check_address(body, context, "issuer");
    check_address(body, context, "url");
}

/// Reports members that a sign-in of this type requires or does not support.
pub(crate) fn check_members(
    body: &mut BodyReader,
    kind: &str,
    required: &[&str],
    unexpected: &[&str],
) {
    for name in required {
        if !body.has(name) {
            body.invalid(&[name], &format!("is required for the type `{kind}`"));
        }
    }
    for name in unexpected {
        if body.has(name) {
            body.invalid(&[name], &format!("does not belong to the type `{kind}`"));
        }
    }
}

/// Reports a URL to which the service must not send requests or users.
pub(crate) fn check_address(body: &mut BodyReader, context: &Context<'_>, name: &str) {
    let Some(url) = body.peek(name).map(str::to_owned) else { return };
    let is_plain = url.len() <= crate::connect::rules::MAX_URL
        && url.bytes().all(|byte| byte.is_ascii_graphic());
    match context.config().targets().check(&url) {
        _ if !is_plain => {}
        Err(error) => body.invalid(&[name], error.as_str()),
        Ok(()) if name == "issuer" && url.contains('?') => {
            body.invalid(&[name], "must not have a query");
        }
        Ok(()) if name == "issuer" && origin(&url) == context.config().base_url => {
            body.invalid(&[name], "is an address of this service");
        }
        Ok(()) => {}
    }
}

/// Stores the sign-in. For an OpenID provider, first checks its discovery document.
async fn store<P: Ports>(
    context: &Context<'_>,
    base: &str,
    mut body: BodyReader,
    principal: &Principal,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let keeps_secret = !body.has("clientSecret");
    let secret = body.text("clientSecret");
    let issuer = body.text("issuer");
    let (client_id, url) = (body.text("clientId"), body.text("url"));
    let claim = body.text("identityClaim");
    let confirm = body.text("confirm").and_then(|text| text.parse().ok());
    let identity_type = body.text("identityType").and_then(|text| text.parse().ok());
    if let Some(issuer) = &issuer {
        let relying_party = RelyingParty {
            documents: context.service.documents(),
            ports,
            targets: context.config().targets(),
            now: context.now,
        };
        if let Err(message) = relying_party.check_issuer(issuer).await {
            return Err(body.refuse(&["issuer"], &message, None));
        }
    }
    let id = derive_endpoint_id(context, principal, ports).ok_or_else(no_session_secret)?;
    let batch = vec![
        statements::create_endpoint(&context.guard(), &id, context.now),
        statements::select_for_caller(&context.guard()),
    ];
    let no_longer_allowed = || context.caller.rejection();
    let existing: Option<Endpoint> = first_row(&ports.batch(batch).await?, 1)?;
    let existing = existing.ok_or_else(no_longer_allowed)?;
    let seal = |secret: &String| {
        let seal_context = seal_context(&principal.account, principal.environment, &existing.id);
        context
            .config()
            .vault_keys
            .seal(&seal_context, secret.as_bytes(), ports)
            .map_err(encrypt_error)
    };
    let sealed = secret.as_ref().map(seal).transpose()?;
    let new = NewSignIn {
        id: &existing.id,
        kind: if issuer.is_some() { SignInType::Oidc } else { SignInType::App },
        client_id: client_id.as_deref(),
        sealed: sealed.as_ref(),
        keeps_stored_secret: keeps_secret && issuer.is_some(),
        identity_claim: issuer.as_ref().map(|_| claim.as_deref().unwrap_or("sub")),
        issuer: issuer.as_deref(),
        identity_type,
        confirm,
        url: url.as_deref(),
        now: context.now,
    };
    let batch = vec![
        statements::put_sign_in(&context.guard(), &new),
        statements::select_for_caller(&context.guard()),
    ];
    let endpoint: Option<Endpoint> = first_row(&ports.batch(batch).await?, 1)?;
    let endpoint = endpoint.ok_or_else(no_longer_allowed)?;
    let missing = || StorageError::new("the stored endpoint is missing");
    let document = endpoint.to_json(base).ok_or_else(missing)?;
    let mut response = Response::json(document, NO_STORE);
    if existing.r#type.is_none() {
        response.status = 201;
    }
    Ok(response)
}
