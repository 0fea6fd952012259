//! `clients set`: sets an OAuth client, like `PUT /v1/oauth-clients/{platform}`.

use std::fmt::Write as _;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::{ClientRef, client_noun, secret, service_url, url};
use crate::audit::statements::operator_actor;
use crate::auth::{Caller, Principal, Shard};
use crate::connect::endpoints::oauth_clients;
use crate::http::context::Context;
use crate::http::endpoint::Keyed;
use crate::http::message::{Body, Request, Response};
use crate::http::problem::{Extension, Problem};
use crate::http::{Config, Service};
use crate::operator::keys::create::{generate, random_id};
use crate::operator::ports::{OperatorPorts, wait};
use crate::operator::shards::Shards;
use crate::operator::storage::Storage;
use crate::operator::vault_keys::KeySource;
use crate::ports::Clock as _;
use crate::storage::metering::Metered;
use crate::terms::Scopes;

#[derive(Debug, Clone, Args)]
pub struct Set {
    #[command(flatten)]
    of: ClientRef,
    /// The client id at the platform
    #[arg(long, value_name = "ID")]
    client_id: String,
    /// The client has no secret; nothing is read
    #[arg(long)]
    no_secret: bool,
    /// Keep the stored secret, if the client id stays the same; nothing is read
    #[arg(long, conflicts_with = "no_secret")]
    keep_secret: bool,
    /// The connector's auth method that the client is for. Default: all of its OAuth methods
    #[arg(long, value_name = "ID")]
    auth_method: Option<String>,
    /// A scope to request by default; repeat it for more
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// An additional parameter of the authorization request; repeat it for more
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = pair)]
    parameters: Vec<(String, String)>,
    /// The value of a variable in the platform's URLs; repeat it for more
    #[arg(long = "variable", value_name = "NAME=VALUE", value_parser = pair)]
    variables: Vec<(String, String)>,
    /// The page of the app where users start to connect, for visits that start at the platform
    #[arg(long, value_name = "URL")]
    start_url: Option<String>,
    /// Whether authorization requests use PKCE. Default: as in the catalog
    #[arg(long, value_parser = ["S256", "none"])]
    pkce: Option<String>,
    /// The URL of the service, a part of the redirect URI. Default: where `npm start` or, with --remote, `npm run
    /// deploy` on this machine last served it
    #[arg(long, value_parser = url)]
    url: Option<String>,
    #[command(flatten)]
    key_source: KeySource,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Set {
    /// The body of the equivalent API request.
    fn body(&self, secret: Option<&str>) -> Value {
        let object = |pairs: &[(String, String)]| {
            let mut object = Map::new();
            for (name, value) in pairs {
                object.insert(name.clone(), Value::from(value.as_str()));
            }
            Value::Object(object)
        };
        let mut body = Map::new();
        body.insert("clientId".into(), self.client_id.as_str().into());
        body.insert("scopes".into(), self.scopes.as_slice().into());
        body.insert("authorizationParameters".into(), object(&self.parameters));
        body.insert("variables".into(), object(&self.variables));
        if let Some(method) = &self.auth_method {
            body.insert("authMethod".into(), method.as_str().into());
        }
        if let Some(url) = &self.start_url {
            body.insert("startUrl".into(), url.as_str().into());
        }
        if let Some(pkce) = &self.pkce {
            body.insert("pkce".into(), pkce.as_str().into());
        }
        if !self.keep_secret {
            body.insert("clientSecret".into(), secret.into());
        }
        Value::Object(body)
    }
}

pub fn set(args: &Set) -> Result<()> {
    let ClientRef { platform, name, account, environment } = &args.of;
    let origin = service_url(args.url.as_ref(), &args.key_source.storage_target)?;
    let is_known = !origin.is_empty();
    let storage = Storage::open(&args.key_source.storage_target)?;
    let Some(file) = args.key_source.keys(&storage.project) else {
        bail!("Cloudflare does not show secrets: pass your copy of VAULT_KEYS with --file");
    };
    let vault_keys = file.read()?;
    if vault_keys.is_empty() {
        bail!("there are no keys to encrypt the secret with in {}", file.name());
    }
    let reads = !args.no_secret && !args.keep_secret;
    let secret = if reads { Some(secret::read()?) } else { None };
    let body = Zeroizing::new(args.body(secret.as_ref().map(|text| text.as_str())).to_string());

    let service = Service::new(Config { vault_keys, ..Config::default() });
    let ports = OperatorPorts(Shards::from_storage(storage).database_for(account)?);
    let request = Request {
        method: "PUT".into(),
        origin,
        query: format!("name={name}"),
        headers: vec![("content-type".into(), "application/json".into())],
        body: Body::Whole(body.as_bytes().to_vec()),
        ..Request::default()
    };
    let (key, id) = (generate(*environment, Shard::FIRST)?, random_id()?);
    let context = Context {
        request: &request,
        endpoint: Keyed::SetOauthClient,
        arguments: std::slice::from_ref(platform),
        // `Context` requires a caller, although the operator needs no key. This key is never
        // authenticated.
        caller: &Caller::Key(key),
        service: &service,
        capacity_error: None,
        now: ports.now(),
        request_id: &id,
    };
    let principal = Principal {
        key_id: String::new(),
        account: account.clone(),
        environment: *environment,
        scopes: Scopes::default(),
        expires_at: None,
        confirm: None,
    };
    let response =
        put(&context, &principal, &ports).map_err(|problem| problem_message(&problem))?;
    let document: Value = serde_json::from_slice(&response.body)?;
    if args.json {
        println!("{document}");
        return Ok(());
    }
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let done = if response.status == 201 { "Set" } else { "Replaced" };
    let owner = format!("{account} ({})", environment.as_str());
    eprintln!("{done} the {} of {owner}.", client_noun(text("platform"), text("name")));
    let note =
        if is_known { "" } else { ", after the URL of your service (to include it, pass --url)" };
    eprintln!("Register this redirect URI at the platform{note}:");
    println!("{}", text("redirectUri"));
    for warning in document.get("warnings").and_then(Value::as_array).into_iter().flatten() {
        eprintln!("Warning: {}", warning.as_str().unwrap_or_default());
    }
    if args.keep_secret && document.get("hasSecret") == Some(&Value::Bool(false)) {
        eprintln!(
            "No secret is stored for this client's id: run the command without --keep-secret."
        );
    }
    Ok(())
}

fn put(
    context: &Context<'_>,
    principal: &Principal,
    ports: &OperatorPorts,
) -> Result<Response, Problem> {
    let metered = Metered::new(ports);
    metered.set_actor(operator_actor());
    wait(oauth_clients::store(context, oauth_clients::body_and_name(context)?, principal, &metered))
}

/// Formats a problem for the terminal, with all faults.
fn problem_message(problem: &Problem) -> anyhow::Error {
    let mut lines: Vec<&str> = problem.errors.iter().map(|fault| fault.detail.as_str()).collect();
    if lines.is_empty() {
        lines.push(&problem.detail);
    }
    lines.extend(problem.cause.as_deref());
    let mut text = lines.join("\n  ");
    if let Extension::Suggestions(names) = &problem.extension
        && let Some(name) = names.first()
    {
        let _ = write!(text, "\n  Did you mean `{name}`?");
    }
    anyhow!(text)
}
