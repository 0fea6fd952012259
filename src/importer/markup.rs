//! Converts Markdown and HTML to a single line of plain text. Drops code blocks, tables and images,
//! and headings unless they are the only content.

use html_escape::decode_html_entities;
use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// Converts a text to plain text.
pub fn plain(text: &str) -> String {
    let markdown = normalize(&strip_tags(text));
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    // Treat `[label][reference]` as a link even if the reference is undefined.
    let undefined = |link: BrokenLink<'_>| {
        let is_reference = link.link_type == LinkType::Reference;
        is_reference.then_some((CowStr::Borrowed(""), CowStr::Borrowed("")))
    };
    let mut words = Words::default();
    for event in Parser::new_with_broken_link_callback(&markdown, options, Some(undefined)) {
        words.take(event);
    }
    if words.body.trim().is_empty() { words.headings } else { words.body }
}

/// Fixes common deviations from Markdown: indented lines that are not code, headings without a
/// space after `#`, `•` bullets, and tables directly after a paragraph.
fn normalize(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len());
    for line in text.lines().map(str::trim) {
        let heading = line.strip_prefix("##").map(|rest| rest.trim_start_matches('#'));
        if let Some(item) = line.strip_prefix("• ") {
            markdown.extend(["- ", item]);
        } else if let Some(heading) = heading {
            markdown.extend(["## ", heading]);
        } else if !line.starts_with('|') {
            markdown.push_str(line);
        }
        markdown.push('\n');
    }
    markdown
}

/// Collects the words of a Markdown text.
#[derive(Default)]
struct Words {
    body: String,
    headings: String,
    in_heading: bool,
    /// The number of enclosing elements that are dropped.
    dropped: usize,
    /// The number of enclosing list items.
    items: usize,
    /// Whether a list item has just ended.
    after_item: bool,
}

impl Words {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_) | Tag::Image { .. }) => {
                self.dropped = self.dropped.saturating_add(1);
            }
            Event::End(TagEnd::CodeBlock | TagEnd::Table | TagEnd::Image) => {
                self.dropped = self.dropped.saturating_sub(1);
            }
            Event::Start(Tag::Heading { .. }) => self.in_heading = true,
            Event::End(TagEnd::Heading(_)) => {
                self.push(" ");
                self.in_heading = false;
            }
            Event::Start(Tag::Item) => {
                self.push(" ");
                if self.after_item || self.items > 0 {
                    self.end_list_item();
                }
                self.items = self.items.saturating_add(1);
            }
            Event::End(TagEnd::Item) => {
                self.push(" ");
                self.items = self.items.saturating_sub(1);
                self.after_item = true;
            }
            Event::Start(Tag::Paragraph) if self.items == 0 => self.after_item = false,
            Event::End(TagEnd::Paragraph) | Event::SoftBreak | Event::HardBreak => self.push(" "),
            Event::Text(text) => self.push(&text),
            Event::Code(code) => self.push(&decode_html_entities(&code)),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if self.dropped == 0 {
            let to = if self.in_heading { &mut self.headings } else { &mut self.body };
            to.push_str(text);
        }
    }

    /// Appends a semicolon to a list item, unless the item ends with punctuation.
    fn end_list_item(&mut self) {
        let body = self.body.trim_end();
        if body.ends_with(|c: char| c.is_alphanumeric() || c == ')') {
            self.body.truncate(body.len());
            self.body.push_str("; ");
        }
    }
}

/// Tags that are dropped together with their content.
const HIDDEN_TAGS: [&str; 7] = ["style", "script", "pre", "table", "head", "button", "summary"];
/// Tags that enclose a heading.
const HEADING_TAGS: [&str; 5] = ["h1", "h2", "h3", "h4", "fullname"];
/// Tags that act as word boundaries.
const BLOCK_TAGS: [&str; 14] = [
    "p",
    "br",
    "div",
    "li",
    "ul",
    "ol",
    "hr",
    "h5",
    "h6",
    "tr",
    "td",
    "blockquote",
    "section",
    "details",
];
/// Tags that may occur within a word.
const INLINE_TAGS: [&str; 23] = [
    "a",
    "abbr",
    "b",
    "code",
    "em",
    "i",
    "img",
    "s",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "u",
    "font",
    "tt",
    "kbd",
    "center",
    "html",
    "body",
    "note",
    "para",
    "important",
];

/// Removes HTML tags and comments. Escapes other angle brackets, such as `<id>`, so that the
/// Markdown parser does not treat them as HTML.
fn strip_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tagged)) = rest.split_once('<') {
        out.push_str(before);
        rest = tagged;
        if let Some(comment) = tagged.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let Some((tag, after)) = tagged.split_once('>').filter(|(tag, _)| !tag.contains('<'))
        else {
            out.push_str("&lt;");
            continue;
        };
        let closing = tag.starts_with('/');
        let name = tag
            .trim_start_matches('/')
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        if tag.starts_with("http://") || tag.starts_with("https://") {
            out.push_str(tag);
            rest = after;
        } else if HIDDEN_TAGS.contains(&name.as_str()) {
            rest = after;
            let end = format!("</{name}");
            if let (false, Some(at)) = (closing, find_ignoring_case(after, &end)) {
                let hidden_end = after.split_at_checked(at).map_or("", |(_, end)| end);
                rest = hidden_end.split_once('>').map_or("", |(_, after)| after);
            }
            out.push('\n');
        } else if HEADING_TAGS.contains(&name.as_str()) {
            out.push_str(if closing { "\n" } else { "\n## " });
            rest = after;
        } else if BLOCK_TAGS.contains(&name.as_str()) {
            out.push('\n');
            rest = after;
        } else if INLINE_TAGS.contains(&name.as_str()) {
            rest = after;
        } else {
            out.push_str("&lt;");
        }
    }
    out.push_str(rest);
    out
}

fn find_ignoring_case(text: &str, ascii: &str) -> Option<usize> {
    text.as_bytes()
        .windows(ascii.len())
        .position(|window| window.eq_ignore_ascii_case(ascii.as_bytes()))
}
