//! `keys create`: creates an API key.

use anyhow::{Context, Result};
use clap::Args;
use uuid::Builder;

use super::arguments::{account, environment, scope, scopes};
use super::output::KeyOutput;
use super::table::{KeyTable, Row};
use crate::auth::Shard;
use crate::auth::key::ApiKey;
use crate::operator::shards::Shards;
use crate::operator::storage_target::StorageTarget;
use crate::operator::time::{Expiry, Moment};
use crate::terms::{Environment, Scope, Scopes};

#[derive(Debug, Clone, Args)]
pub struct Create {
    /// The account that the key belongs to: 1–64 characters of A-Z a-z 0-9 . _ -
    #[arg(long, value_parser = account)]
    account: String,
    /// The environment whose connections the key can access
    #[arg(long, value_parser = environment, value_name = "test|live")]
    environment: Environment,
    /// A scope of the key; repeat it for more. Default: all of these but credentials:read,
    /// keys:write and console:write:
    ///   catalog:read         read connectors and their actions
    ///   connections:read     read connections
    ///   connections:write    create, change and delete connections
    ///   sessions:create      create session tokens for browsers
    ///   connections:connect  connect accounts
    ///   connections:call     call platforms as the connected users
    ///   credentials:read     read the credentials of connections
    ///   credentials:write    store credentials that another service holds
    ///   clients:read         read OAuth clients
    ///   clients:write        set and delete OAuth clients
    ///   events:read          read events
    ///   webhooks:read        read webhooks and their deliveries
    ///   webhooks:write       create, change, test and delete webhooks
    ///   keys:read            read API keys, without their secrets
    ///   keys:write           create, rotate and revoke API keys that have no more scopes than this one
    ///   agents:read          read how agents sign in, and what users granted them
    ///   agents:write         configure how agents sign in; create and end grants
    ///   audit:read           read who changed what, and who read credentials
    ///   usage:read           read how often keys and tokens used the API
    ///   console:read         read how people sign in to the console, and their sessions
    ///   console:write        configure how people sign in to the console, with no more scopes than this key; end sessions
    #[arg(long = "scope", value_parser = scope, value_name = "SCOPE", verbatim_doc_comment)]
    scopes: Vec<Scope>,
    /// When the key expires: 30m, 12h, 90d, 2w, 2030-01-31 or 2030-01-31T12:00:00Z. Default: never
    #[arg(long, value_name = "WHEN")]
    expires: Option<Expiry>,
    #[command(flatten)]
    storage_target: StorageTarget,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn create(args: &Create) -> Result<()> {
    let now = Moment::now();
    let expiry = args.expires.map(|expiry| expiry.from(now)).transpose().context("--expires")?;
    let table = KeyTable(Shards::open(&args.storage_target)?.database_for(&args.account)?);
    let (row, key) = add(&table, &args.account, args.environment, scopes(&args.scopes), expiry)?;
    let output = KeyOutput::new(&row, Some(key.reveal()), now);
    if args.json {
        println!("{}", serde_json::to_string(&output)?);
        return Ok(());
    }
    output.print_new(&args.storage_target);
    Ok(())
}

/// Creates an API key and stores its hash.
pub fn add(
    table: &KeyTable,
    account: &str,
    environment: Environment,
    scopes: Scopes,
    expiry: Option<Moment>,
) -> Result<(Row, ApiKey)> {
    let row = Row {
        id: random_id()?,
        account: account.into(),
        environment: environment.as_str().into(),
        scopes: scopes.to_string(),
        created_at: Moment::now().millis(),
        expires_at: expiry.map(Moment::millis),
        revoked_at: None,
    };
    let key = generate(environment, table.0.shard)?;
    table.insert(&row, &key.hash().to_string())?;
    Ok((row, key))
}

pub fn random_id() -> Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).context("randomness from the system")?;
    Ok(Builder::from_random_bytes(random).into_uuid().to_string())
}

pub fn generate(environment: Environment, shard: Shard) -> Result<ApiKey> {
    let mut failure = None;
    let key = ApiKey::generate(environment, shard, |bytes| {
        failure = getrandom::fill(bytes).err().or(failure);
    });
    failure.map_or(Ok(key), |error| Err(error).context("randomness from the system"))
}
