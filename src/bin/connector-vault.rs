//! The operator's command line: `connector-vault catalog …`, `connector-vault keys …` and `connector-vault seed …`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use connector_vault::importer::cli::{CheckArgs, ImportArgs, ShowArgs};
use connector_vault::operator;

/// Keeps the catalog of connectors and the keys of a connector vault
#[derive(Debug, Parser)]
#[command(name = "connector-vault", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Import, look at and publish catalogs
    #[command(subcommand)]
    Catalog(Catalog),
    /// Make, list, replace and revoke API keys
    #[command(subcommand)]
    Keys(operator::keys::Command),
    Seed(operator::seed::Seed),
}

#[derive(Debug, Subcommand)]
enum Catalog {
    Import(ImportArgs),
    Check(CheckArgs),
    Show(ShowArgs),
    #[command(flatten)]
    Stored(operator::CatalogCommand),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Catalog(Catalog::Import(args)) => args.run(),
        Command::Catalog(Catalog::Check(args)) => args.run(),
        Command::Catalog(Catalog::Show(args)) => args.run(),
        Command::Catalog(Catalog::Stored(command)) => operator::run_catalog(&command),
        Command::Keys(command) => operator::keys::run(&command),
        Command::Seed(args) => operator::seed::run(&args),
    };
    done.unwrap_or_else(|e| {
        eprintln!("error: {e:#}");
        ExitCode::FAILURE
    })
}
