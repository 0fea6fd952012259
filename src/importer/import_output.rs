//! Prints the outcome of an import to stderr.

use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::report::{Reason, Summary, format_count};

/// The maximum number of faults that are listed without `--verbose`.
const MAX_FAULTS_SHOWN: usize = 20;

/// Prints that nothing was imported, and how to import documents without an open licence.
pub fn print_nothing_imported(summary: &Summary, folder: &Folder) {
    let closed = summary.skipped.iter().filter(|(_, reason)| matches!(reason, Reason::Licence(_)));
    let closed = closed.count();
    let kept = if folder.current().exists() { "; the catalog stays as it was" } else { "" };
    eprintln!("nothing was imported{kept}");
    if closed > 0 {
        let documents = format_count(closed, "document");
        eprintln!(
            "{documents} skipped because of the licence: import one with `--also FILE`, all with `--licence any`"
        );
    }
}

/// Prints the faults, warnings and notes of an import, and which files it skipped; with `is_verbose`, all of them.
pub fn print_outcome(summary: &Summary, report: &Path, is_verbose: bool) {
    let faults: Vec<String> = summary
        .skipped
        .iter()
        .filter(|(_, reason)| reason.is_fault())
        .map(|(path, reason)| reason.line(path))
        .collect();
    let shown = if is_verbose { usize::MAX } else { MAX_FAULTS_SHOWN };
    faults.iter().take(shown).for_each(|line| eprintln!("error: {line}"));
    if faults.len() > shown {
        eprintln!(
            "error: … and {} more, all in {}",
            faults.len().saturating_sub(shown),
            report.display()
        );
    }
    summary.warnings.iter().take(shown).for_each(|line| eprintln!("warning: {line}"));
    if summary.warnings.len() > shown {
        eprintln!(
            "warning: … and {} more, all in {}",
            summary.warnings.len().saturating_sub(shown),
            report.display()
        );
    }
    summary.notes.iter().for_each(|line| eprintln!("note: {line}"));
    if is_verbose {
        let rest = summary.skipped.iter().filter(|(_, reason)| !reason.is_fault());
        rest.for_each(|(path, reason)| eprintln!("skipped: {}", reason.line(path)));
    }
    if !summary.skipped.is_empty() {
        let counts: Vec<String> =
            summary.counts().into_iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        eprintln!(
            "skipped {} of {} files: {} (each one is in {})",
            summary.skipped.len(),
            summary.files,
            counts.join(", "),
            report.display()
        );
    }
}

/// Prints for each file of the command's arguments that its licence is not open, because the user expects its import.
pub fn print_named_without_licence(summary: &Summary, named: &[PathBuf]) {
    let is_closed = |(path, reason): &&(PathBuf, Reason)| {
        matches!(reason, Reason::Licence(_)) && named.contains(path)
    };
    for (path, reason) in summary.skipped.iter().filter(is_closed) {
        eprintln!(
            "not imported: {}: import it with `--also FILE` or `--licence any`, or put it into the catalog with `npm run catalog -- add FILE`",
            reason.line(path)
        );
    }
}
