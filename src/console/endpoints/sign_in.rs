//! `/v1/console-sign-in`: configures how people sign in to the console.

use crate::agents::endpoints::sign_in::{check_address, check_members};
use crate::auth::endpoints::session::new::no_session_secret;
use crate::auth::{Principal, Shard};
use crate::connect::endpoints::{encrypt_error, missing_vault_keys};
use crate::connections::rules;
use crate::console::sign_in::{
    ACCESS_HOST, Roles, SignIn, SignInType, access_keys, seal_context, serialize_roles,
};
use crate::console::statements::{self, NewSignIn};
use crate::http::body::BodyReader;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem, joined};
use crate::oidc::relying_party::RelyingParty;
use crate::ports::{Db as _, Ports, Random as _, StorageError, first_row};
use crate::storage::metering::Metered;
use crate::storage::transaction::{ExistingRow, Statements};
use crate::terms::Scope;
use crate::util::json::Value;
use crate::util::nearest::nearest;

/// The maximum number of roles.
const MAX_ROLES: usize = 50;

fn no_base_url() -> Problem {
    let detail = "People can't sign in: the service's operator must set `BASE_URL`, the service's own address.";
    let problem = Problem::unavailable("`BASE_URL` is missing or malformed");
    Problem { detail: detail.into(), ..problem }
}

fn not_configured() -> Problem {
    let detail =
        "Sign-in to the console is not configured. Configure it with `PUT /v1/console-sign-in`.";
    Problem::new(Code::ConsoleSignInNotFound, detail)
}

/// `GET /v1/console-sign-in`
pub fn read<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut statements = Statements::default();
    let sign_in = statements.query::<SignIn>(statements::select_for_caller(&context.guard()));
    Ok(Handler::render(statements, move |results, _| {
        let sign_in = results.first(sign_in)?.ok_or_else(not_configured)?;
        let base = context.config().base_url.as_deref().ok_or_else(no_base_url)?;
        Ok(Response::json(sign_in.to_json(base), NO_STORE))
    }))
}

/// `DELETE /v1/console-sign-in`
pub fn delete<'a>(context: &'a Context<'a>) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut statements = Statements::default();
    let [sign_in, sessions] = statements::delete_sign_in(&context.guard());
    let deleted = statements.query::<ExistingRow>(sign_in);
    statements.run(sessions);
    Ok(Handler::delete(statements, deleted, not_configured))
}

/// `PUT /v1/console-sign-in`
pub fn put<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    context.ensure_no_query()?;
    let mut body = context.body()?;
    check(&mut body, context);
    let roles = read_roles(&mut body);
    body.finish()?;
    if !context.config().sessions.can_sign() {
        return Err(no_session_secret());
    }
    let base = context.config().base_url.as_deref().ok_or_else(no_base_url)?;
    let has_secret = body.peek("clientSecret").is_some();
    if has_secret && context.config().vault_keys.is_empty() {
        return Err(missing_vault_keys());
    }
    Ok(Handler::new(Statements::default(), move |_, principal| async move {
        store(context, base, (body, roles), &principal, ports).await
    }))
}

/// Reports members that the sign-in type requires or does not support, and malformed values.
fn check(body: &mut BodyReader, context: &Context<'_>) {
    let Some(kind) = body.peek("type").map(str::to_owned) else { return };
    let oidc_members = ["issuer", "clientId", "clientSecret", "scopes"];
    let access_members = ["teamDomain", "audience"];
    let (required, unexpected): (&[&str], &[&str]) = if kind == SignInType::Oidc.as_str() {
        (&["issuer", "clientId"], &access_members)
    } else if kind == SignInType::Access.as_str() {
        (&access_members, &oidc_members)
    } else {
        // `BodyReader::new` has already reported an unknown type.
        return;
    };
    check_members(body, &kind, required, unexpected);
    check_address(body, context, "issuer");
    let scopes = body.indexed_texts("scopes");
    if !scopes.is_empty() && !scopes.iter().any(|(_, scope)| scope == "openid") {
        body.invalid(&["scopes"], "must include `openid`");
    }
    let is_team = |domain: &str| {
        let team = domain.strip_suffix(ACCESS_HOST).unwrap_or_default();
        let is_letter =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&team.len()) && team.bytes().all(is_letter)
    };
    if body.peek("teamDomain").is_some_and(|domain| !is_team(domain)) {
        let message = "must be the domain of your team, such as `acme.cloudflareaccess.com`";
        body.invalid(&["teamDomain"], message);
    }
}

/// Reads `roles`: a map from each role to its scopes.
fn read_roles(body: &mut BodyReader) -> Roles {
    let Some(value) = body.value("roles") else { return Roles::new() };
    let members = if let Value::Object(members) = value { members } else { Vec::new() };
    if !(1..=MAX_ROLES).contains(&members.len()) {
        let message =
            format!("must be an object with 1 to {MAX_ROLES} values of the claim and their scopes");
        body.invalid(&["roles"], &message);
    }
    let mut roles = Roles::new();
    for (role, scopes) in members.into_iter().take(MAX_ROLES) {
        if let Some(message) = rules::reason(&role) {
            body.invalid(&["roles", &role], message);
        }
        let items = if let Value::Array(items) = scopes { items } else { Vec::new() };
        if items.is_empty() {
            body.invalid(&["roles", &role], "must be an array of at least one scope");
        }
        let mut granted = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let text = item.as_text().unwrap_or_default();
            if let Ok(scope) = text.parse::<Scope>() {
                granted.push(scope);
            } else {
                let message = format!("must be one of {}", joined(&Scope::NAMES, ", "));
                let suggestion = nearest(text, Scope::NAMES, 1).pop();
                body.invalid_with_suggestion(
                    &["roles", &role, &index.to_string()],
                    &message,
                    suggestion,
                );
            }
        }
        roles.insert(role, granted.into_iter().collect());
    }
    roles
}

/// Stores the sign-in, after checking that the provider's configuration can be fetched.
async fn store<P: Ports>(
    context: &Context<'_>,
    base: &str,
    (mut body, roles): (BodyReader, Roles),
    principal: &Principal,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    // The caller must have all scopes of the roles. Otherwise it could grant scopes that it lacks,
    // even to itself.
    let granted = roles.values().flat_map(|scopes| scopes.iter());
    context.ensure_holds(principal.scopes, granted)?;
    let keeps_stored_secret = !body.has("clientSecret");
    let secret = body.text("clientSecret");
    let team = body.text("teamDomain").map(|domain| format!("https://{domain}"));
    let is_oidc = team.is_none();
    let issuer = team.or_else(|| body.text("issuer")).unwrap_or_default();
    let client_id = body.text("clientId").or_else(|| body.text("audience")).unwrap_or_default();
    let relying_party = RelyingParty {
        documents: context.service.documents(),
        ports,
        targets: context.config().targets(),
        now: context.now,
    };
    let (field, checked) = if is_oidc {
        ("issuer", relying_party.check_issuer(&issuer).await)
    } else {
        ("teamDomain", relying_party.check_keys(&access_keys(&issuer)).await)
    };
    if let Err(message) = checked {
        return Err(body.refuse(&[field], &message, None));
    }
    let seal = |secret: &String| {
        let place = seal_context(&principal.account, principal.environment);
        context.config().vault_keys.seal(&place, secret.as_bytes(), ports).map_err(encrypt_error)
    };
    let sealed = secret.as_ref().map(seal).transpose()?;
    let id = Shard::new(ports.number()).unwrap_or_default().mark(ports.secret());
    let scopes = body.texts("scopes").filter(|scopes| !scopes.is_empty());
    let scopes = scopes.map(|scopes| scopes.join(" "));
    let new = NewSignIn {
        id: &id,
        kind: if is_oidc { SignInType::Oidc } else { SignInType::Access },
        issuer: &issuer,
        client_id: &client_id,
        sealed: sealed.as_ref(),
        keeps_stored_secret,
        claim: &body.text("claim").unwrap_or_default(),
        roles: &serialize_roles(&roles),
        scopes: scopes.as_deref(),
        now: context.now,
    };
    let [put, end] = statements::put_sign_in(&context.guard(), &new);
    let sets = ports.batch(vec![put, end, statements::select_by_principal(principal)]).await?;
    if first_row::<ExistingRow>(&sets, 0)?.is_none() && !ports.was_retried() {
        return Err(context.caller.rejection().into());
    }
    let missing = || StorageError::new("the stored sign-in is missing");
    let sign_in: SignIn = first_row(&sets, 2)?.ok_or_else(missing)?;
    let mut response = Response::json(sign_in.to_json(base), NO_STORE);
    if sign_in.id == id {
        response.status = 201;
    }
    Ok(response)
}
