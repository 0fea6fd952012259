//! The operator's command line: `connector-vault catalog …`, `keys …`, `vault-keys …`, `clients …`, `agents …`, `audit …`,
//! `shards …`, `export`, `seed`, `migrate` and `openapi`.

use std::process::ExitCode;

use clap::builder::{Resettable, StyledStr};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use connector_vault::importer::add::AddArgs;
use connector_vault::importer::cli::{
    CheckArgs, DiffArgs, ExportArgs, FindArgs, ImportArgs, ShowArgs,
};
use connector_vault::importer::fetched::command::FetchArgs;
use connector_vault::importer::instance::ImportInstanceArgs;
use connector_vault::openapi::json::to_source;
use connector_vault::openapi::{RecordedResponses, document};
use connector_vault::operator;

/// Imports make many small allocations on several threads. With the system's allocator, these would
/// take a fifth of the run time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NAME: &str = "connector-vault";

/// Manages the catalog, the API keys and the database of a connector vault
#[derive(Debug, Parser)]
#[command(name = NAME, version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Import, inspect and publish catalogs
    #[command(subcommand)]
    Catalog(Catalog),
    /// Create, list, rotate and revoke API keys
    #[command(subcommand)]
    Keys(operator::keys::Command),
    /// Inspect and rotate the keys that seal credentials
    #[command(subcommand)]
    VaultKeys(operator::vault_keys::Command),
    /// Set, list and remove OAuth clients
    #[command(subcommand)]
    Clients(operator::clients::Command),
    /// List the addresses at which agents sign in
    #[command(subcommand)]
    Agents(operator::agents::Command),
    /// List who changed what, and who read credentials
    #[command(subcommand)]
    Audit(operator::audit::Command),
    /// List and add databases, and move accounts between them
    #[command(subcommand)]
    Shards(operator::shards::Command),
    #[command(hide = true)]
    Export(operator::export::Export),
    Seed(operator::seed::Seed),
    Migrate(operator::Migrate),
    /// Print the OpenAPI document of the service
    Openapi,
    /// Validate action inputs as the service does, one line of JSON each; for comparison with other validators
    #[command(hide = true)]
    CheckInputs,
}

#[derive(Debug, Subcommand)]
enum Catalog {
    Import(ImportArgs),
    Add(AddArgs),
    Fetch(FetchArgs),
    ImportInstance(ImportInstanceArgs),
    Check(CheckArgs),
    Diff(DiffArgs),
    Export(ExportArgs),
    Find(FindArgs),
    Show(ShowArgs),
    #[command(flatten)]
    Stored(operator::CatalogCommand),
}

/// Replaces the backticks in a help text, which come from doc comments.
fn strip_backticks(text: Option<&StyledStr>) -> Resettable<StyledStr> {
    text.map(|text| StyledStr::from(text.to_string().replace('`', "'"))).into()
}

/// Replaces the backticks in all help texts.
fn without_backticks(command: clap::Command) -> clap::Command {
    let (about, long_about) =
        (strip_backticks(command.get_about()), strip_backticks(command.get_long_about()));
    let command = command.mut_args(|arg| {
        let (help, long_help) =
            (strip_backticks(arg.get_help()), strip_backticks(arg.get_long_help()));
        arg.help(help).long_help(long_help)
    });
    command.about(about).long_about(long_about).mut_subcommands(without_backticks)
}

/// Shows usages as users type them: through npm, because the program is not in `PATH`.
fn with_npm_usage(mut command: clap::Command) -> clap::Command {
    fn rewrite_usage(command: clap::Command, path: &str, script: &str) -> clap::Command {
        let mut command = command;
        let usage = command.render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").replacen(path, script, 1);
        command.override_usage(usage).mut_subcommands(|sub| rewrite_usage(sub, path, script))
    }
    // Gives each command the names of its parents, because the usage contains them.
    command.build();
    command.mut_subcommands(|sub| {
        let (path, script) =
            (format!("{NAME} {}", sub.get_name()), format!("npm run {} --", sub.get_name()));
        rewrite_usage(sub, &path, &script)
    })
}

fn print_openapi() -> anyhow::Result<ExitCode> {
    print!("{}", to_source(&document(&RecordedResponses::recorded()?)));
    Ok(ExitCode::SUCCESS)
}

/// The exit code of a program that SIGPIPE ends.
const READER_GONE: i32 = 141;

/// Ends the program without a message when the reader of its output has stopped (`… | head`), because `print!` panics
/// then. SIGPIPE stays ignored: otherwise, a closed connection to the helper of the local storage would end the program.
fn end_quietly_without_reader() {
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload().downcast_ref::<String>();
        let is_reader_gone = message.is_some_and(|message| {
            message.starts_with("failed printing to stdout") && message.contains("Broken pipe")
        });
        if is_reader_gone {
            std::process::exit(READER_GONE);
        }
        default_hook(info);
    }));
}

fn main() -> ExitCode {
    end_quietly_without_reader();
    let matches = with_npm_usage(without_backticks(Cli::command())).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let result = match cli.command {
        Command::Catalog(Catalog::Import(args)) => args.run(),
        Command::Catalog(Catalog::Add(args)) => args.run(),
        Command::Catalog(Catalog::Fetch(args)) => args.run(),
        Command::Catalog(Catalog::ImportInstance(args)) => args.run(),
        Command::Catalog(Catalog::Check(args)) => args.run(),
        Command::Catalog(Catalog::Diff(args)) => args.run(),
        Command::Catalog(Catalog::Export(args)) => args.run(),
        Command::Catalog(Catalog::Find(args)) => args.run(),
        Command::Catalog(Catalog::Show(args)) => args.run(),
        Command::Catalog(Catalog::Stored(command)) => operator::run_catalog(&command),
        Command::Keys(command) => operator::keys::run(&command),
        Command::VaultKeys(command) => operator::vault_keys::run(&command),
        Command::Clients(command) => operator::clients::run(&command),
        Command::Agents(command) => operator::agents::run(&command),
        Command::Audit(command) => operator::audit::run(&command),
        Command::Shards(command) => operator::shards::run(&command),
        Command::Export(args) => operator::export::run(&args),
        Command::Seed(args) => operator::seed::run(&args),
        Command::Migrate(args) => operator::migrate(&args),
        Command::Openapi => print_openapi(),
        Command::CheckInputs => operator::inputs::check(),
    };
    result.unwrap_or_else(|e| {
        eprintln!("error: {e:#}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(command: &mut clap::Command) -> String {
        let mut text = command.render_long_help().to_string();
        text += &command.render_help().to_string();
        text + &command.get_subcommands_mut().map(help).collect::<String>()
    }

    #[test]
    fn usage_lines_are_valid_commands() {
        let text = help(&mut with_npm_usage(Cli::command()));
        assert!(text.contains("Usage: npm run keys -- create [OPTIONS]"), "{text}");
        assert!(text.contains("Usage: npm run seed -- [OPTIONS]"), "{text}");
        // Only the two help texts of the program itself contain its name.
        assert_eq!(text.matches("Usage: connector-vault").count(), 2, "{text}");
    }

    #[test]
    fn help_contains_no_backticks() {
        let text = help(&mut without_backticks(Cli::command()));
        assert!(text.contains("which 'npm start' serves from"), "{text}");
        assert!(!text.contains('`'), "{text}");
    }
}
