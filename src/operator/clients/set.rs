//! `clients set`: sets an OAuth client, as `PUT /v1/oauth-clients/{platform}` does.

use std::fmt::Write as _;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::{Of, base, secret, url};
use crate::audit::statements::by_operator;
use crate::auth::{Caller, Principal, Shard};
use crate::connect::endpoints::oauth_clients;
use crate::http::context::Context;
use crate::http::endpoint::Keyed;
use crate::http::message::{Body, Request, Response};
use crate::http::problem::{Extension, Problem};
use crate::http::{Config, Service};
use crate::operator::keys::create::{fresh_id, generate};
use crate::operator::ports::{OperatorPorts, wait};
use crate::operator::shards::Shards;
use crate::operator::storage::Storage;
use crate::operator::vault_keys::Kept;
use crate::ports::Clock as _;
use crate::storage::metering::Metered;
use crate::terms::Scopes;

/// `clients set`
#[derive(Debug, Clone, Args)]
pub struct Set {
    #[command(flatten)]
    of: Of,
    /// The client's id at the platform
    #[arg(long, value_name = "ID")]
    client_id: String,
    /// The client has no secret, and nothing is read
    #[arg(long)]
    no_secret: bool,
    /// Leave the stored secret, as long as the client's id is the same; nothing is read
    #[arg(long, conflicts_with = "no_secret")]
    keep_secret: bool,
    /// The connector's method that the client is for. Default: all of its methods of OAuth
    #[arg(long, value_name = "ID")]
    auth_method: Option<String>,
    /// A scope to ask for when a request to connect names none; repeat it for more
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// A further parameter of the authorization request; repeat it for more
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = pair)]
    parameters: Vec<(String, String)>,
    /// The value of a variable in the platform's URLs; repeat it for more
    #[arg(long = "variable", value_name = "NAME=VALUE", value_parser = pair)]
    variables: Vec<(String, String)>,
    /// The page of the app where users start to connect, for visits that begin at the platform
    #[arg(long, value_name = "URL")]
    start_url: Option<String>,
    /// Whether authorization requests use PKCE. Default: as the catalog says
    #[arg(long, value_parser = ["S256", "none"])]
    pkce: Option<String>,
    /// The service's address, a part of the redirect URI. Default: where `npm start` or, with --remote, `npm run deploy` on
    /// this machine last served it
    #[arg(long, value_parser = url)]
    url: Option<String>,
    #[command(flatten)]
    kept: Kept,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Set {
    /// The body of the request that does the same.
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

/// Runs `clients set`.
///
/// # Errors
/// Whatever stopped it, in words for the operator.
pub fn set(args: &Set) -> Result<()> {
    let Of { platform, account, environment } = &args.of;
    let origin = base(args.url.as_ref(), &args.kept.place)?;
    let is_known = !origin.is_empty();
    let storage = Storage::open(&args.kept.place)?;
    let Some(file) = args.kept.keys(&storage.project) else {
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
    let ports = OperatorPorts(Shards::of(storage).place(account)?);
    let request = Request {
        method: "PUT".into(),
        origin,
        headers: vec![("content-type".into(), "application/json".into())],
        body: Body::Whole(body.as_bytes().to_vec()),
        ..Request::default()
    };
    let (key, id) = (generate(*environment, Shard::FIRST)?, fresh_id()?);
    let context = Context {
        request: &request,
        endpoint: Keyed::SetOauthClient,
        arguments: std::slice::from_ref(platform),
        // The operator needs no key. This one is never used.
        caller: &Caller::Key(key),
        service: &service,
        config: service.config(),
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
    };
    let response = put(&context, &principal, &ports).map_err(|problem| in_words(&problem))?;
    let document: Value = serde_json::from_slice(&response.body)?;
    if args.json {
        println!("{document}");
        return Ok(());
    }
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let done = if response.status == 201 { "Set" } else { "Replaced" };
    let whose = format!("{account} ({})", environment.as_str());
    eprintln!("{done} the OAuth client for {} of {whose}.", text("platform"));
    let note = if is_known { "" } else { " at your service's address, which --url would add" };
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
    metered.set_actor(by_operator());
    wait(oauth_clients::store(context, oauth_clients::checked_body(context)?, principal, &metered))
}

/// An error as shown in a terminal, with all faults.
fn in_words(problem: &Problem) -> anyhow::Error {
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
