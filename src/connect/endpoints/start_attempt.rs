//! Starts an attempt, which the user completes in a browser.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::start::{ConnectRequest, ConnectTarget};
use super::{Browser, encrypt_error, is_from_own_page, missing_vault_keys};
use crate::agents::approval::{NewLink, seal_context};
use crate::auth::key::hash;
use crate::auth::token::Grant;
use crate::auth::{Caller, Shard};
use crate::branding::Branding;
use crate::catalog::detail::Pkce;
use crate::connect::attempt::{
    Attempt, AttemptSecrets, LIFETIME_MS, MAX_OPEN_PER_ACCOUNT, MAX_OPEN_PER_IDENTITY,
    MAX_STARTED_PER_IDENTITY, StoredStatus,
};
use crate::connect::statements;
use crate::connections::endpoints::create::connection_limit_reached;
use crate::credentials::minted::Purpose;
use crate::credentials::{Kind, SealContext, Sealed};
use crate::http::context::Context;
use crate::http::endpoint::Keyed;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::oauth::pkce::Verifier;
use crate::ports::{Db, Ports, Random, RetryAfter, Statement, StorageError, first_row};
use crate::storage::metering::Metered;
use crate::terms::IdentityType;
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// The retention of attempts after their expiry, in milliseconds.
const RETENTION_MS: u64 = 24 * 60 * 60 * 1000;

/// The number of the identity's open attempts, the number that it started recently, and whether the
/// new attempt was stored.
#[derive(Deserialize)]
struct OpenAttempts {
    of_identity: u64,
    started: u64,
    is_stored: u8,
}

/// Whether another connection is allowed.
#[derive(Deserialize)]
struct ConnectionCapacity {
    has_capacity: u8,
}

/// The JSON of a started attempt.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PendingAttempt<'a> {
    id: &'a str,
    status: &'a str,
    authorization_url: String,
    expires_at: Option<String>,
}

impl ConnectRequest<'_> {
    /// Stores an attempt and returns its link. `platform_link` has the PKCE method and the
    /// [`code_parties`](crate::connect::attempt::code_parties) of a link to the platform. With
    /// `None`, the link leads to the connect window, where the user enters secrets that must not be
    /// sent through a chat.
    pub(super) async fn start_attempt<P: Ports>(
        self,
        ports: &Metered<'_, P>,
        platform_link: Option<(Pkce, String)>,
        scopes: &[String],
        return_url: Option<String>,
    ) -> Result<Response, Problem> {
        let (context, request) = (self.context, self.context.request);
        // The browser has no API key, so the link and the state name the shard.
        let shard = Shard::new(ports.number()).unwrap_or_default();
        let secret = |purpose| {
            let secret = context.config().vault_keys.mint(purpose, ports);
            secret.map(|secret| shard.mark(secret)).ok_or_else(missing_vault_keys)
        };
        let (id, link) = (ports.uuid(), secret(Purpose::Link)?);
        let state = secret(Purpose::State)?;
        let state_hash = hash(&state);
        // The connect window of this service starts attempts in the user's browser, so they are bound to it without another
        // confirmation.
        let is_window = context.caller.token().is_some() && is_from_own_page(request);
        let keys = &context.config().vault_keys;
        let cookie = Browser::authenticated(request, keys).filter(|_| is_window);
        let session = context.caller.token().filter(|token| token.grant.is_none());
        let mut expires_at = context.now.saturating_add(LIFETIME_MS);
        if let (None, Some(token)) = (&platform_link, session) {
            // The window gets a token that expires with the attempt, so the attempt must not
            // outlive the token that started it.
            expires_at = expires_at.min(token.expires_at);
        }
        let sessions = &context.config().sessions;
        let seal = |(pkce, parties)| {
            let verifier = (pkce == Pkce::S256).then(|| Verifier::generate(ports));
            let secrets = AttemptSecrets {
                state,
                verifier: verifier.map(|verifier| verifier.as_str().to_owned()),
                fields: self.values.clone(),
                parties,
                // Store the token only if the attempt is bound to the browser that has it: anyone
                // may open the link of an unbound attempt.
                window: session.filter(|_| cookie.is_some()).and_then(|token| sessions.sign(token)),
            };
            self.seal(&id, &secrets, ports)
        };
        let sealed = platform_link.map(seal).transpose()?;
        let attempt = Attempt {
            scopes: json::text(&scopes),
            return_url,
            browser_hash: cookie.map(|browser| hash(browser.secret)),
            sealed: sealed.map(Sealed::into_string),
            expires_at,
            ..self.pending_attempt(id)
        };
        let (link_hash, now) = (hash(&link), context.now);
        let (authorization_url, link) = match context.caller.grant() {
            Some(grant) => {
                let (url, row) = agent_link(context, &attempt, grant, &link, ports)?;
                (url, Some(row))
            }
            None => (format!("{}/connect/go/{link}", request.origin), None),
        };
        insert(ports, context.caller, &attempt, [&link_hash, &state_hash], (link, now)).await?;
        Ok(pending_response(&attempt, authorization_url, &request.origin))
    }

    /// A new attempt that is not bound to a browser, without secrets and scopes.
    fn pending_attempt(self, id: String) -> Attempt {
        let (reconnects, [connection_id, platform, version, description, identity, label], kind) =
            self.connection.attempt_fields();
        Attempt {
            id,
            account: self.principal.account.clone(),
            environment: self.principal.environment,
            key_id: self.principal.key_id.clone(),
            status: StoredStatus::Pending,
            branding: Branding::default(),
            connection_id: connection_id.clone(),
            reconnects,
            allow_other_account: self.allows_other_account.into(),
            platform: platform.clone(),
            platform_version: version.clone(),
            description: description.clone(),
            auth_method: self.method.id.clone(),
            client: self.client,
            identity: identity.clone(),
            identity_type: kind,
            label: label.clone(),
            name: self.name,
            tags: self.tags,
            scopes: "[]".to_owned(),
            return_url: None,
            presets: (!self.presets.is_empty()).then(|| json::text(&self.presets)),
            browser_hash: None,
            sealed: None,
            claimed_by: None,
            claimed_at: None,
            error_code: None,
            error_detail: None,
            created_at: self.context.now,
            expires_at: self.context.now.saturating_add(LIFETIME_MS),
        }
    }
}

/// The response for a started attempt.
fn pending_response(attempt: &Attempt, authorization_url: String, origin: &str) -> Response {
    let pending = PendingAttempt {
        id: &attempt.id,
        status: "pending",
        authorization_url,
        expires_at: rfc3339(attempt.expires_at),
    };
    let mut response = Response::json(json::bytes(&pending), NO_STORE);
    response.status = 202;
    let path = Keyed::GetAttempt.address(&[&attempt.id]);
    response.add("location", format!("{origin}{path}"));
    response
}

impl ConnectRequest<'_> {
    /// Encrypts the secrets of an attempt.
    fn seal<P: Ports>(
        &self,
        attempt: &str,
        secrets: &AttemptSecrets,
        ports: &Metered<'_, P>,
    ) -> Result<Sealed, Problem> {
        let seal_context = SealContext {
            account: &self.principal.account,
            environment: self.principal.environment,
            kind: Kind::Attempt,
            id: attempt,
        };
        let plain = Zeroizing::new(json::bytes(secrets));
        let keys = &self.context.config().vault_keys;
        keys.seal(&seal_context, &plain, ports).map_err(encrypt_error)
    }
}

/// The link for the agent of a grant, and the statement that stores the link.
fn agent_link<P: Ports>(
    context: &Context<'_>,
    attempt: &Attempt,
    grant: &Grant,
    link: &str,
    ports: &Metered<'_, P>,
) -> Result<(String, Statement), Problem> {
    let (config, id) = (context.config(), ports.uuid());
    let seal_context = seal_context(&attempt.account, attempt.environment, &id);
    let sealed =
        config.vault_keys.seal(&seal_context, link.as_bytes(), ports).map_err(encrypt_error)?;
    let new = NewLink {
        id: &id,
        grant_id: &grant.id,
        attempt: &attempt.id,
        connection_id: &attempt.connection_id,
        sealed: &sealed,
        now: context.now,
        expires_at: attempt.expires_at,
    };
    let base = config.base_url.as_deref().unwrap_or(&context.request.origin);
    Ok((format!("{base}/mcp/{}/connect?id={id}", grant.endpoint), new.insert()))
}

/// Stores an attempt, and the link of an agent. Fails if its identity or account has too many open attempts or connections.
async fn insert<P: Ports>(
    ports: &Metered<'_, P>,
    caller: &Caller,
    attempt: &Attempt,
    hashes: [&str; 2],
    (link, now): (Option<Statement>, u64),
) -> Result<(), Problem> {
    let is_by_token = caller.token().is_some();
    let mut batch = vec![
        statements::insert_attempt(attempt, hashes, is_by_token, now),
        statements::count_attempts(attempt, now),
        statements::delete_old_attempts(now.saturating_sub(RETENTION_MS)),
    ];
    batch.extend(link);
    let sets = ports.batch(batch).await?;
    let open_attempts = first_row::<OpenAttempts>(&sets, 1)?;
    let open_attempts =
        open_attempts.ok_or_else(|| StorageError::new("open attempts were not counted"))?;
    if open_attempts.is_stored == 1 {
        return Ok(());
    }
    let sets = ports.batch(vec![statements::select_has_capacity(attempt, is_by_token)]).await?;
    let capacity = first_row::<ConnectionCapacity>(&sets, 0)?;
    let is_full = capacity.is_some_and(|capacity| capacity.has_capacity == 0);
    Err(if is_full {
        connection_limit_reached(caller)
    } else {
        too_many_attempts(&open_attempts, is_by_token)
    })
}

impl ConnectTarget {
    /// The columns of an attempt that describe its connection: 1 if it reconnects, its strings in column order, and its
    /// identity type.
    fn attempt_fields(&self) -> (u8, [&String; 6], IdentityType) {
        match self {
            Self::New(connection) => {
                let texts = [
                    &connection.id,
                    &connection.platform,
                    &connection.platform_version,
                    &connection.description,
                    &connection.identity,
                    &connection.label,
                ];
                (0, texts, connection.identity_type)
            }
            Self::Existing(connection) => {
                let texts = [
                    &connection.id,
                    &connection.platform,
                    &connection.platform_version,
                    &connection.description,
                    &connection.identity,
                    &connection.label,
                ];
                (1, texts, connection.identity_type)
            }
        }
    }
}

/// After this time in seconds, all attempts that are open now have expired.
const RETRY_AFTER: RetryAfter = RetryAfter(600);

fn too_many_attempts(open: &OpenAttempts, is_by_token: bool) -> Problem {
    if is_by_token
        && open.of_identity < MAX_OPEN_PER_IDENTITY
        && open.started >= MAX_STARTED_PER_IDENTITY
    {
        let detail = format!(
            "This identity has started {MAX_STARTED_PER_IDENTITY} connect attempts within 10 minutes, which is the maximum. Wait, then retry."
        );
        return Problem {
            retry_after: Some(RETRY_AFTER.0),
            ..Problem::new(Code::TooManyRequests, detail)
        };
    }
    let (subject, max) = if open.of_identity >= MAX_OPEN_PER_IDENTITY {
        ("This identity", MAX_OPEN_PER_IDENTITY)
    } else {
        ("This account", MAX_OPEN_PER_ACCOUNT)
    };
    let detail = format!(
        "{subject} has {max} open connect attempts, which is the maximum. Finish one, or wait until they expire."
    );
    Problem { retry_after: Some(RETRY_AFTER.0), ..Problem::new(Code::TooManyRequests, detail) }
}
