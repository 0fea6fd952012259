//! The state of an isolate: configuration and caches.

use std::rc::Rc;

use super::config::Config;
use super::cors;
use super::endpoint::{Endpoint, Open};
use super::message::{Body, MAX_BODY, Request};
use super::route::Route;
use crate::agents::endpoints as agents;
use crate::auth::authenticate::KeyCache;
use crate::auth::caller::shard_of;
use crate::auth::error::AuthenticationError;
use crate::auth::last_use::LastUses;
use crate::auth::statements::{caller_key, select_key};
use crate::auth::{Caller, Shard};
use crate::catalog::cache::CatalogCache;
use crate::connect::endpoints::link::shard_of_browser;
use crate::connect::endpoints::start_urls::StartUrlCache;
use crate::console::endpoints as console;
use crate::http::body::budget::{BodyBudget, Holder, Reservation};
use crate::mcp;
use crate::oidc::documents::Documents;
use crate::platform_calls::endpoints::download::shard_of_download;
use crate::ports::Db;
use crate::storage::capacity::DatabaseCapacity;
use crate::usage::counts::UsageCounts;

/// The state that an isolate keeps from one request to the next.
#[derive(Debug)]
pub struct Service {
    config: Config,
    vary: String,
    keys: KeyCache,
    last_uses: LastUses,
    catalog: CatalogCache,
    documents: Documents,
    capacity: DatabaseCapacity,
    starts: StartUrlCache,
    usage: UsageCounts,
    responses: BodyBudget,
    bodies: BodyBudget,
}

/// The parts of a request that the Worker must read before it calls `handle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestParts {
    /// Only the headers in [`Config`].
    Nothing,
    /// Also the body, up to this many bytes.
    Body(usize),
    /// All headers and the body, because the request is forwarded to a platform.
    All,
}

impl Service {
    /// A service with empty caches.
    pub fn new(config: Config) -> Self {
        let (vary, catalog) = (cors::vary(&config), CatalogCache::new(config.segment_bytes));
        let (keys, last_uses) = (KeyCache::default(), LastUses::default());
        let capacity = DatabaseCapacity::new(config.max_database_bytes);
        let (documents, starts) = (Documents::default(), StartUrlCache::default());
        let (usage, responses) = (UsageCounts::default(), BodyBudget::default());
        Self {
            config,
            vary,
            keys,
            last_uses,
            catalog,
            documents,
            capacity,
            starts,
            usage,
            responses,
            bodies: BodyBudget::default(),
        }
    }

    pub(crate) const fn config(&self) -> &Config {
        &self.config
    }

    /// The value of the `vary` header, the same for every response.
    pub(super) const fn vary(&self) -> &String {
        &self.vary
    }

    pub(super) const fn keys(&self) -> &KeyCache {
        &self.keys
    }

    pub(super) const fn last_uses(&self) -> &LastUses {
        &self.last_uses
    }

    pub(crate) const fn catalog(&self) -> &CatalogCache {
        &self.catalog
    }

    /// The cached metadata documents of OAuth clients and of OpenID providers.
    pub(crate) const fn documents(&self) -> &Documents {
        &self.documents
    }

    pub(crate) const fn capacity(&self) -> &DatabaseCapacity {
        &self.capacity
    }

    pub(crate) const fn starts(&self) -> &StartUrlCache {
        &self.starts
    }

    /// The memory budget for platforms' responses, shared by this isolate's requests.
    pub const fn responses(&self) -> &BodyBudget {
        &self.responses
    }

    /// The memory budget for large bodies of requests.
    pub const fn bodies(&self) -> &BodyBudget {
        &self.bodies
    }

    /// Reserves memory for a large request body before it is read. Fails for a key that is not
    /// stored, because anyone can generate a well-formed one; the body then stays empty. Also fails
    /// when the isolate or the caller has reserved too much.
    pub async fn reserve_body(
        &self,
        db: &impl Db,
        request: &Request,
        bytes: usize,
        now: u64,
    ) -> Result<Rc<Reservation>, Body> {
        let caller = self.caller(request).map_err(|_| Body::default())?;
        if let Caller::Key(key) = &caller
            && !matches!(self.keys.get_cached(key, now), Ok(Some(_)))
        {
            let key_rows = db.batch(vec![select_key(&caller, now)]).await;
            // If storage is unavailable, `handle` reports it later.
            if key_rows.is_ok_and(|sets| sets.first().is_none_or(|set| set.json == "[]")) {
                return Err(Body::default());
            }
        }
        let identity = caller.token().map(|token| token.restriction.identity.as_str());
        let holder = Holder { account: &caller_key(&caller), identity };
        self.bodies.reserve_bytes(bytes, holder, now).map_err(|_| Body::Refused)
    }

    /// The counts of requests that this isolate has not written yet.
    pub const fn usage(&self) -> &UsageCounts {
        &self.usage
    }

    /// The secrets of a request.
    pub(super) fn secrets<'a>(&self, request: &'a Request) -> Vec<&'a str> {
        let from_headers =
            self.config.secret_headers.iter().filter_map(|name| request.header(name));
        // MCP clients send the secret as a bearer token.
        let bearer = mcp::bearer(request).filter(|_| is_mcp(&request.path));
        from_headers.chain(bearer).filter(|secret| !secret.is_empty()).collect()
    }

    /// The caller that a request's secret identifies. Whether the secret is still valid is not
    /// checked here.
    pub(crate) fn caller(&self, request: &Request) -> Result<Caller, AuthenticationError> {
        let secrets = self.secrets(request);
        if secrets.is_empty() && request.header("authorization").is_some() {
            return Err(AuthenticationError::InAuthorization);
        }
        let caller = Caller::parse(&secrets, &self.config.sessions)?;
        // An agent's access token is valid only at its own MCP endpoint, which accepts no other
        // secret.
        let endpoint =
            request.endpoint.as_deref().or_else(|| agents::endpoint_id_at_path(&request.path));
        let grant_endpoint = caller.grant().map(|grant| grant.endpoint.as_str());
        let is_agent = request.endpoint.is_some() || is_mcp(&request.path);
        // The token of a person is for the console, not for agents.
        if grant_endpoint == endpoint && !(is_agent && caller.person().is_some()) {
            Ok(caller)
        } else {
            Err(AuthenticationError::BadToken)
        }
    }

    /// The shard that the request's secret names. The secret is not verified: a secret that names the wrong shard is
    /// unknown there.
    pub fn shard(&self, request: &Request) -> Shard {
        let linked_shard = shard_of_browser(request).or_else(|| shard_of_download(&request.path));
        linked_shard.unwrap_or_else(|| match self.secrets(request).as_slice() {
            [secret] => shard_of(secret),
            _ => agents::shard_of(&request.path)
                .or_else(|| console::shard_of(&request.path))
                .unwrap_or_default(),
        })
    }

    /// Whether pages of an origin may call the API.
    pub(crate) fn allows(&self, origin: &str) -> bool {
        self.config.allows(origin)
    }

    /// The parts of a request that must be read, in addition to the headers that any response may depend on.
    pub fn parts_to_read(&self, request: &Request) -> RequestParts {
        let Route::Resource(resource) = Route::parse(&request.path) else {
            return RequestParts::Nothing;
        };
        let parts = match resource.endpoint(&request.method) {
            // Agents and browsers that sign in have no secret yet, so their bodies are always read.
            Some(Endpoint::Open(open))
                if console::is_own(open) || (open != Open::AgentMcp && agents::is_own(open)) =>
            {
                return if request.method == "POST" {
                    RequestParts::Body(MAX_BODY)
                } else {
                    RequestParts::Nothing
                };
            }
            Some(Endpoint::Keyed(keyed)) if keyed.is_proxy() => RequestParts::All,
            // The platform's form is posted by a browser, without a key.
            Some(Endpoint::Open(Open::ConnectReturn)) => return RequestParts::Body(MAX_BODY),
            Some(endpoint)
                if endpoint.spec().body.is_some()
                    || matches!(endpoint, Endpoint::Open(Open::Mcp | Open::AgentMcp)) =>
            {
                RequestParts::Body(endpoint.spec().max_body)
            }
            _ => return RequestParts::Nothing,
        };
        if self.caller(request).is_ok() { parts } else { RequestParts::Nothing }
    }
}

/// Whether a path is an MCP endpoint.
pub fn is_mcp(path: &str) -> bool {
    path == "/mcp" || agents::endpoint_id_at_path(path).is_some()
}
