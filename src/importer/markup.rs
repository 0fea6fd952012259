//! Converts Markdown and HTML to plain text. The result is one line of a list, so whatever a line cannot show is
//! dropped: headings (unless there is nothing else), code blocks, tables, images.

/// The words of a text, without its markup.
#[must_use]
pub fn plain(text: &str) -> String {
    let without_tags = strip_tags(text);
    let mut blocks = Blocks::default();
    for line in without_tags.lines() {
        blocks.take(line);
    }
    let text = if blocks.body.trim().is_empty() { blocks.headings } else { blocks.body };
    decode_entities(&text)
}

/// Sorts the lines of a Markdown text into body and headings.
#[derive(Default)]
struct Blocks {
    body: String,
    headings: String,
    fenced: bool,
    /// Where the last line of the body begins, as long as it may turn out to be an underlined heading.
    underlinable: Option<usize>,
    in_list: bool,
}

impl Blocks {
    fn take(&mut self, line: &str) {
        let line = line.trim().trim_start_matches(['>', ' ']);
        if line.starts_with("```") || line.starts_with("~~~") {
            self.fenced = !self.fenced;
            self.underlinable = None;
        } else if self.fenced || line.is_empty() || line.starts_with('|') {
            self.underlinable = None;
        } else if is_rule(line) {
            if let Some(start) = self.underlinable.take() {
                let heading = self.body.split_off(start);
                self.headings.push_str(&heading);
            }
        } else if let Some(heading) = heading(line) {
            push_inline(&mut self.headings, heading);
            self.underlinable = None;
        } else {
            self.paragraph(line);
        }
    }

    fn paragraph(&mut self, line: &str) {
        let item = ["- ", "* ", "+ ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet));
        let open = self.body.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == ')');
        if item.is_some() && self.in_list && open {
            self.body.truncate(self.body.trim_end().len());
            self.body.push_str("; ");
        }
        let first_of_paragraph = self.underlinable.is_none() && item.is_none();
        let start = self.body.len();
        push_inline(&mut self.body, item.unwrap_or(line));
        self.underlinable = first_of_paragraph.then_some(start);
        self.in_list = item.is_some();
    }
}

/// Whether a line is a rule or the underline of a heading: `---`, `===`, `***`.
fn is_rule(line: &str) -> bool {
    line.len() >= 3
        && ["-", "=", "*", "_"].iter().any(|mark| line.replace(mark, "").trim().is_empty())
}

/// The text of `## Heading`. Returns `None` when the line is not a heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len().saturating_sub(text.len());
    // `##Heading` is meant as a heading, `#tag` is not.
    ((1..=6).contains(&level) && (level > 1 || text.is_empty() || text.starts_with(' ')))
        .then(|| text.trim().trim_end_matches('#'))
}

/// Appends a line's text and a space, without emphasis, code marks, link targets and images.
fn push_inline(to: &mut String, line: &str) {
    inline(to, line, 0);
    to.push(' ');
}

fn inline(to: &mut String, mut rest: &str, depth: u8) {
    while let Some(c) = rest.chars().next() {
        let after = rest.strip_prefix(c).unwrap_or_default();
        rest = after;
        match c {
            '\\' => {
                if let Some(escaped) = after.chars().next().filter(char::is_ascii_punctuation) {
                    to.push(escaped);
                    rest = after.strip_prefix(escaped).unwrap_or(after);
                } else {
                    to.push(c);
                }
            }
            '`' => {}
            '!' if after.starts_with('[') => match after.strip_prefix('[').and_then(link) {
                Some((_, after)) => rest = after,
                None => to.push(c),
            },
            '[' => match link(after) {
                Some((label, after)) if depth < 3 => {
                    inline(to, label, depth.saturating_add(1));
                    rest = after;
                }
                _ => to.push(c),
            },
            '*' | '_' | '~' => rest = emphasis(to, c, after),
            _ => to.push(c),
        }
    }
}

/// Parses `label](target)` or `label][reference]`, after the opening `[`. Returns the label and what follows the link.
fn link(label: &str) -> Option<(&str, &str)> {
    let end = matching(label, '[', ']')?;
    let (label, after) = label.split_at_checked(end)?;
    let after = after.strip_prefix(']')?;
    let (open, close) = if after.starts_with('(') { ('(', ')') } else { ('[', ']') };
    let target = after.strip_prefix(open)?;
    let end = matching(target, open, close)?;
    Some((label, target.split_at_checked(end)?.1.strip_prefix(close)?))
}

/// How far the end of a link is searched for, in characters. Without a limit, a row of brackets would take quadratic
/// time.
const MAX_LINK: usize = 1000;

/// The position at which an already open bracket closes. Returns `None` when it does not, within [`MAX_LINK`].
fn matching(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices().take(MAX_LINK) {
        if c == open {
            depth = depth.saturating_add(1);
        } else if c == close {
            if depth == 0 {
                return Some(at);
            }
            depth = depth.saturating_sub(1);
        }
    }
    None
}

/// Drops a run of emphasis marks unless it stands for itself: `5 * 3`, `snake_case`, `*.example.com`, `~5`. Returns
/// what follows the run.
fn emphasis<'a>(to: &mut String, mark: char, after: &'a str) -> &'a str {
    let rest = after.trim_start_matches(mark);
    let length = after.len().saturating_sub(rest.len()).saturating_add(1);
    let word_before = to.ends_with(char::is_alphanumeric);
    let word_after = rest.starts_with(char::is_alphanumeric);
    let space_before = to.is_empty() || to.ends_with(char::is_whitespace);
    let space_after = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let touches = !(space_before && space_after);
    let drop = match (mark, length) {
        ('~', 2) | ('*', 2..) => touches,
        ('~', _) => false,
        ('_', _) if word_before && word_after => false,
        // An opening mark needs a closing one; a closing mark follows a word.
        (_, _) if space_before || !word_before => {
            !space_after && rest.contains(mark) && !rest.starts_with(['.', '/'])
        }
        (_, _) => !word_after,
    };
    if !drop {
        (0..length).for_each(|_| to.push(mark));
    }
    rest
}

/// Tags whose content is dropped too.
const HIDDEN: [&str; 7] = ["style", "script", "pre", "table", "head", "button", "summary"];
/// Tags around a heading.
const HEADINGS: [&str; 5] = ["h1", "h2", "h3", "h4", "fullname"];
/// Tags that separate words.
const BLOCKS: [&str; 14] = [
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
/// Tags that may stand within a word.
const INLINE: [&str; 23] = [
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

/// The text without HTML tags and comments. Anything else in angle brackets, such as `<id>`, is kept.
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
            out.push('<');
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
        } else if HIDDEN.contains(&name.as_str()) {
            rest = after;
            let end = format!("</{name}");
            if let (false, Some(at)) = (closing, find_ignoring_case(after, &end)) {
                let hidden_end = after.split_at_checked(at).map_or("", |(_, end)| end);
                rest = hidden_end.split_once('>').map_or("", |(_, after)| after);
            }
            out.push('\n');
        } else if HEADINGS.contains(&name.as_str()) {
            out.push_str(if closing { "\n" } else { "\n## " });
            rest = after;
        } else if BLOCKS.contains(&name.as_str()) {
            out.push('\n');
            rest = after;
        } else if INLINE.contains(&name.as_str()) {
            rest = after;
        } else {
            out.push('<');
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

/// Decodes the entities that occur in prose.
fn decode_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let decoded = after
            .split_once(';')
            .filter(|(name, _)| name.len() <= 8)
            .and_then(|(name, after)| Some((entity(name)?, after)));
        if let Some((c, after)) = decoded {
            out.push(c);
            rest = after;
        } else {
            out.push('&');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}
