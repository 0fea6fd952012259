//! The operator's command line: `connector-vault catalog …` and `connector-vault keys …`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use connector_vault::importer::cli::{CheckArgs, ImportArgs, ShowArgs};

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
}

#[derive(Debug, Subcommand)]
enum Catalog {
    Import(ImportArgs),
    Check(CheckArgs),
    Show(ShowArgs),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Catalog(Catalog::Import(args)) => args.run(),
        Command::Catalog(Catalog::Check(args)) => args.run(),
        Command::Catalog(Catalog::Show(args)) => args.run(),
    };
    done.unwrap_or_else(|e| {
        eprintln!("error: {e:#}");
        ExitCode::FAILURE
    })
}
