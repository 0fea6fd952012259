//! Attempts: the user finishes them in a browser.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::start::{Chosen, To};
use super::{Browser, hash, is_own_page, no_vault_keys, sealing};
use crate::auth::Shard;
use crate::catalog::detail::Pkce;
use crate::connect::attempt::{
    Attempt, LIFETIME_MS, MAX_OF_ACCOUNT, MAX_OF_IDENTITY, Remembered, Stored,
};
use crate::connect::statements;
use crate::connections::endpoints::create::no_place;
use crate::credentials::minted::Purpose;
use crate::credentials::{Kind, Place, Sealed};
use crate::http::endpoint::Keyed;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::oauth::pkce::Verifier;
use crate::ports::{Db, Ports, Random, RetryAfter, StorageError, first_row};
use crate::storage::metering::Metered;
use crate::terms::IdentityType;
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// Attempts are deleted a day after they expired, in milliseconds.
const KEPT_MS: u64 = 24 * 60 * 60 * 1000;

/// How many attempts of the identity are open, and whether this one is stored.
#[derive(Deserialize)]
struct Open {
    of_identity: u64,
    is_stored: u8,
}

/// Whether there may be one more connection.
#[derive(Deserialize)]
struct Room {
    has_place: u8,
}

/// The answer while the user has to agree.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Begun<'a> {
    id: &'a str,
    status: &'a str,
    authorization_url: String,
    expires_at: Option<String>,
}

impl Chosen<'_> {
    /// Stores an attempt and answers with its link. It leads to the platform, or to the window if there is no `pkce`: there
    /// the user enters what must not pass through a chat.
    pub(super) async fn begin<P: Ports>(
        self,
        ports: &Metered<'_, P>,
        pkce: Option<Pkce>,
        scopes: &[String],
        return_url: Option<String>,
    ) -> Result<Response, Problem> {
        let (context, principal, request) = (self.context, self.principal, self.context.request);
        // The browser has no key: the link and the state say in which database the attempt is.
        let shard = Shard::new(ports.number()).unwrap_or_default();
        let secret = |purpose| {
            let secret = context.config.vault_keys.mint(purpose, ports);
            secret.map(|secret| shard.mark(secret)).ok_or_else(no_vault_keys)
        };
        let (id, link) = (ports.uuid(), secret(Purpose::Link)?);
        let takes_pkce = pkce == Some(Pkce::S256);
        let remembered = Remembered {
            state: secret(Purpose::State)?,
            verifier: takes_pkce.then(|| Verifier::generate(ports).as_str().to_owned()),
            fields: self.values.clone(),
        };
        let place = Place {
            account: &principal.account,
            environment: principal.environment,
            kind: Kind::Attempt,
            id: &id,
        };
        let sealed = match pkce {
            Some(_) => {
                let plain = Zeroizing::new(json::bytes(&remembered));
                Some(sealing(context.config.vault_keys.seal(&place, &plain, ports))?)
            }
            None => None,
        };
        // The window of this service begins attempts in the browser that finishes them; it need not be asked again.
        let is_by_token = context.caller.token().is_some();
        let is_window = is_by_token && is_own_page(request);
        let keys = &context.config.vault_keys;
        let cookie = Browser::of_ours(request, keys).filter(|_| is_window);
        let expires_at = context.now.saturating_add(LIFETIME_MS);
        let (reconnects, [connection_id, platform, version, description, identity, label], kind) =
            self.connection.repeated();
        let attempt = Attempt {
            id,
            account: principal.account.clone(),
            environment: principal.environment,
            key_id: principal.key_id.clone(),
            status: Stored::Pending,
            connection_id: connection_id.clone(),
            reconnects,
            allow_other_account: self.allows_other_account.into(),
            platform: platform.clone(),
            platform_version: version.clone(),
            description: description.clone(),
            auth_method: self.method.id.clone(),
            identity: identity.clone(),
            identity_type: kind,
            label: label.clone(),
            name: self.name,
            tags: self.tags,
            scopes: json::text(&scopes),
            return_url,
            browser_hash: cookie.map(|browser| hash(browser.secret)),
            sealed: sealed.map(Sealed::into_string),
            claimed_by: None,
            claimed_at: None,
            error_code: None,
            error_detail: None,
            created_at: context.now,
            expires_at,
        };
        let (link_hash, state_hash, now) = (hash(&link), hash(&remembered.state), context.now);
        let batch = vec![
            statements::insert_attempt(&attempt, [&link_hash, &state_hash], is_by_token, now),
            statements::count_attempts(&attempt, now),
            statements::prune_attempts(now.saturating_sub(KEPT_MS)),
        ];
        let sets = ports.batch(batch).await?;
        let open = first_row::<Open>(&sets, 1)?;
        let open = open.ok_or_else(|| StorageError::new("open attempts were not counted"))?;
        if open.is_stored == 0 {
            let sets = ports.batch(vec![statements::has_place(&attempt, is_by_token)]).await?;
            let place = first_row::<Room>(&sets, 0)?;
            let is_full = place.is_some_and(|it| it.has_place == 0);
            return Err(if is_full { no_place(context.caller) } else { too_many(&open) });
        }
        let begun = Begun {
            id: &attempt.id,
            status: "pending",
            authorization_url: format!("{}/connect/go/{link}", request.origin),
            expires_at: rfc3339(expires_at),
        };
        let mut response = Response::json(json::bytes(&begun), NO_STORE);
        response.status = 202;
        let path = Keyed::GetAttempt.address(&[&attempt.id]);
        response.add("location", format!("{}{path}", request.origin));
        Ok(response)
    }
}

impl To {
    /// What an attempt repeats: 1 when it reconnects, texts of the connection in the order in which they are stored, and the
    /// kind of its identity.
    fn repeated(&self) -> (u8, [&String; 6], IdentityType) {
        match self {
            Self::New(it) => {
                let texts = [
                    &it.id,
                    &it.platform,
                    &it.platform_version,
                    &it.description,
                    &it.identity,
                    &it.label,
                ];
                (0, texts, it.identity_type)
            }
            Self::Existing(it) => {
                let texts = [
                    &it.id,
                    &it.platform,
                    &it.platform_version,
                    &it.description,
                    &it.identity,
                    &it.label,
                ];
                (1, texts, it.identity_type)
            }
        }
    }
}

/// Seconds until the oldest of many open attempts has certainly expired.
const WAIT: RetryAfter = RetryAfter(600);

fn too_many(open: &Open) -> Problem {
    let (what, most) = if open.of_identity >= MAX_OF_IDENTITY {
        ("This identity", MAX_OF_IDENTITY)
    } else {
        ("This account", MAX_OF_ACCOUNT)
    };
    let detail = format!(
        "{what} has {most} open attempts to connect, the most that are allowed. Finish one, or wait until they expire."
    );
    Problem { retry_after: Some(WAIT.0), ..Problem::new(Code::TooManyRequests, detail) }
}
