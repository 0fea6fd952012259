//! The human-readable report of an import.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::read::Rejection;

/// Why a file did not become a connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The licence is not open, or (`None`) the document has no licence.
    Licence(Option<String>),
    /// The file is equivalent to this document.
    Duplicate(PathBuf),
    /// This newer document about the same platform replaces the file.
    Replaced(PathBuf),
    /// The file is a part of this document.
    Part(PathBuf),
    /// The file is not a document, or is malformed or unsupported.
    Rejected(Rejection),
    /// The file cannot be read. Contains the error.
    Unreadable(String),
}

impl Reason {
    /// The heading for this reason in the summary.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Licence(_) => "licence not open",
            Self::Part(_) => "part of a document",
            Self::Duplicate(_) => "equivalent to another document",
            Self::Replaced(_) => "replaced by a newer document",
            Self::Rejected(Rejection::NotOpenApi) => "not an OpenAPI document",
            Self::Rejected(Rejection::Dialect(_)) => "version of OpenAPI not supported",
            Self::Rejected(Rejection::Broken(_)) => "broken",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// Whether the reason is a fault of the file, which is shown to the operator.
    pub const fn is_fault(&self) -> bool {
        matches!(
            self,
            Self::Unreadable(_) | Self::Rejected(Rejection::Broken(_) | Rejection::Dialect(_))
        )
    }

    /// Formats a line about the file at `path`.
    pub fn line(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Licence(Some(licence)) => format!("{path}: licence not open: {licence}"),
            Self::Licence(None) => format!("{path}: states no licence"),
            Self::Duplicate(first) => format!("{path}: equivalent to {}", first.display()),
            Self::Replaced(newer) => format!("{path}: replaced by {}", newer.display()),
            Self::Part(of) => format!("{path}: part of {}", of.display()),
            Self::Rejected(Rejection::NotOpenApi) => {
                format!("{path}: not an OpenAPI document: it has no `openapi` or `swagger` field")
            }
            Self::Rejected(Rejection::Dialect(version)) => {
                format!("{path}: OpenAPI {version} is not supported; 2.0 and 3.0 to 3.2 are")
            }
            Self::Rejected(Rejection::Broken(fault)) => match fault.place {
                Some((line, column)) => format!("{path}:{line}:{column}: {}", fault.message),
                None => format!("{path}: {}", fault.message),
            },
            Self::Unreadable(why) => format!("{path}: {why}"),
        }
    }
}

/// Formats a count, as `1 connector` or `2 connectors`.
pub fn format_count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[derive(Debug, Default)]
pub struct Summary {
    pub connectors: usize,
    pub actions: usize,
    /// The names of the platforms, each with its number of actions.
    pub platforms: Vec<(String, usize)>,
    /// The documents that became connectors, with the names of the platforms, sorted by path.
    pub documents: Vec<(PathBuf, String)>,
    /// The number of files that were read.
    pub files: usize,
    /// The files that did not become connectors, sorted by path.
    pub skipped: Vec<(PathBuf, Reason)>,
    /// Warnings for the operator, such as parts of documents that could not be imported.
    pub warnings: Vec<String>,
    /// Other remarks for the operator.
    pub notes: Vec<String>,
}

impl Summary {
    /// The number of skipped files by kind of reason, most frequent first.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (_, reason) in &self.skipped {
            let count = counts.entry(reason.kind()).or_default();
            *count = count.saturating_add(1);
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// Formats the full report, with a line for each file.
    pub fn full(&self) -> String {
        let connectors = format_count(self.connectors, "connector");
        let (actions, files) =
            (format_count(self.actions, "action"), format_count(self.files, "file"));
        let mut text = format!("{connectors} and {actions} from {files}\n");
        let parts = [("warnings", &self.warnings), ("notes", &self.notes)];
        for (title, lines) in parts.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            let _ = writeln!(text, "\n{title}: {}", lines.len());
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
        for (kind, count) in self.counts() {
            let _ = writeln!(text, "\nskipped, {kind}: {count}");
            for (path, reason) in self.skipped.iter().filter(|(_, reason)| reason.kind() == kind) {
                let _ = writeln!(text, "  {}", reason.line(path));
            }
        }
        let _ = writeln!(text, "\nimported: {}", self.documents.len());
        for (path, platform) in &self.documents {
            let _ = writeln!(text, "  {}: {platform}", path.display());
        }
        text
    }
}
