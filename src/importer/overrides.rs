//! Parses the operator's `catalog.toml`, which has a table of overrides for each platform.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::connect_facts::{self, ConnectFacts};
use super::source::read_text;
use super::{category, image, platform, text};
use crate::catalog::model::Status;
use crate::util::nearest::suggestion;

/// The overrides of a platform. Omitted fields leave the document's values unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Override {
    /// The name of the platform before renaming.
    pub platform: String,
    /// The line and column of the table's name in the file.
    place: (usize, usize),
    /// The new name of the platform.
    pub rename: Option<String>,
    pub name: Option<String>,
    /// A single line.
    pub description: Option<String>,
    pub category: Option<String>,
    pub status: Option<Status>,
    /// Whether the connector is offered.
    pub active: Option<bool>,
    pub tags: Option<Vec<String>>,
    /// An `https:` or `data:image/` URL.
    pub image: Option<String>,
    /// Whether the connector is enabled for hosted authorization.
    pub authkit: bool,
    pub facts: ConnectFacts,
    /// Whether the platform may be missing from the import.
    pub optional: bool,
}

/// The keys of a platform's table, without the keys of [`connect_facts`].
const FIELDS: [&str; 10] = [
    "rename",
    "name",
    "description",
    "category",
    "status",
    "active",
    "tags",
    "image",
    "authkit",
    "optional",
];

#[derive(Debug, Clone, Default)]
pub struct Overrides {
    file: String,
    /// The overrides, in file order.
    pub platforms: Vec<Override>,
}

impl Overrides {
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// Parses the file. `file` is the file name for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let mut parser = Parser { file, text, faults: Vec::new() };
        let mut platforms = Vec::new();
        match DeTable::parse(text) {
            Ok(root) => {
                for (key, value) in root.get_ref() {
                    match (key.get_ref().as_ref(), value.get_ref()) {
                        ("platforms", DeValue::Table(tables)) => {
                            platforms.extend(
                                tables.iter().map(|(name, value)| parser.platform(name, value)),
                            );
                        }
                        ("platforms", _) => {
                            parser.fault(value, "`platforms` is a table: write `[platforms.NAME]`");
                        }
                        (other, _) => {
                            let message = format!(
                                "unknown field `{}`; did you mean `platforms`?",
                                text::verbatim(other, 80)
                            );
                            parser.fault(key, &message);
                        }
                    }
                }
            }
            Err(e) => {
                let start = e.span().map_or(0, |span| span.start);
                let (line, column) = line_and_column(text, start);
                bail!("{file}:{line}:{column}: {}", e.message().replace('\n', ", "));
            }
        }
        if !parser.faults.is_empty() {
            bail!("{}", parser.faults.join("\n"));
        }
        platforms.sort_by_key(|overrides| overrides.place);
        Ok(Self { file: file.to_owned(), platforms })
    }

    /// Formats a fault of an entry with its position.
    pub fn fault(&self, overrides: &Override, what: &str) -> String {
        let (line, column) = overrides.place;
        format!("{}:{line}:{column}: `{}`: {what}", self.file, overrides.platform)
    }

    /// Lets the platforms of entries be absent if `is_known` returns true for a name of the platform.
    pub fn accept_absent(&mut self, is_known: impl Fn(&str) -> bool) {
        for overrides in &mut self.platforms {
            let renamed = overrides.rename.as_deref();
            overrides.optional |= is_known(&overrides.platform) || renamed.is_some_and(&is_known);
        }
    }

    /// Assigns the overrides to platforms. `names` has all names of each platform; an override can
    /// use any of them. Returns the overrides of each platform, and the optional overrides of
    /// missing platforms.
    pub fn pair(&self, names: &[Vec<String>]) -> Result<(Vec<Override>, Vec<&Override>)> {
        let own = |(at, names)| {
            let names: &Vec<String> = names;
            Some((names.first()?.as_str(), at))
        };
        let former = names
            .iter()
            .enumerate()
            .flat_map(|(at, names)| names.iter().skip(1).map(move |name| (name.as_str(), at)));
        // A current name takes precedence over a former name.
        let index_by_name: std::collections::HashMap<&str, usize> =
            former.chain(names.iter().enumerate().filter_map(own)).collect();
        let mut paired = vec![Override::default(); names.len()];
        let mut absent = Vec::new();
        let mut faults = Vec::new();
        for overrides in &self.platforms {
            let slot =
                index_by_name.get(overrides.platform.as_str()).and_then(|at| paired.get_mut(*at));
            if let Some(slot) = slot {
                if !slot.platform.is_empty() {
                    let (line, column) = overrides.place;
                    let (name, other) = (&overrides.platform, &slot.platform);
                    faults.push(format!(
                        "{}:{line}:{column}: `{name}` is the platform of `{other}`, which has a table already",
                        self.file
                    ));
                }
                *slot = overrides.clone();
            } else if overrides.optional {
                absent.push(overrides);
            } else {
                let (line, column) = overrides.place;
                let near =
                    suggestion(&overrides.platform, names.iter().flatten().map(String::as_str));
                faults.push(format!(
                    "{}:{line}:{column}: no document is about the platform `{}`{near}",
                    self.file, overrides.platform
                ));
            }
        }
        if !faults.is_empty() {
            faults.push("(`optional = true` in an entry lets its platform be absent)".to_owned());
            bail!("{}", faults.join("\n"));
        }
        Ok((paired, absent))
    }
}

/// Converts a byte offset to a line and a column, both starting at 1.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text::head(text, at);
    let line = before.matches('\n').count().saturating_add(1);
    let column =
        before.rsplit('\n').next().map_or(0, |line| line.chars().count()).saturating_add(1);
    (line, column)
}

struct Parser<'a> {
    file: &'a str,
    text: &'a str,
    faults: Vec<String>,
}

impl Parser<'_> {
    fn fault<T>(&mut self, at: &Spanned<T>, message: &str) {
        let (line, column) = line_and_column(self.text, at.span().start);
        self.faults.push(format!("{}:{line}:{column}: {message}", self.file));
    }

    fn platform(
        &mut self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Override {
        let platform = name.get_ref().to_string();
        let mut overrides = Override {
            place: line_and_column(self.text, name.span().start),
            platform,
            ..Override::default()
        };
        let DeValue::Table(fields) = value.get_ref() else {
            self.fault(value, "a platform is a table: write `[platforms.NAME]`");
            return overrides;
        };
        let (connecting, fields): (DeTable<'_>, DeTable<'_>) = fields
            .clone()
            .into_iter()
            .partition(|(key, _)| connect_facts::FIELDS.contains(&key.get_ref().as_ref()));
        for (key, value) in &fields {
            self.field(&mut overrides, key, value);
        }
        let connecting = Spanned::new(value.span(), connecting);
        match ConnectFacts::deserialize(Deserializer::from(connecting)) {
            Ok(facts) => overrides.facts = facts,
            Err(e) => {
                let at = Spanned::new(e.span().unwrap_or_else(|| value.span()), ());
                self.fault(&at, &e.message().replace('\n', ", "));
            }
        }
        overrides
    }

    fn field(
        &mut self,
        overrides: &mut Override,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) {
        match key.get_ref().as_ref() {
            "rename" => {
                overrides.rename = self.text(value, "1–64 of a-z, 0-9 and -", |text| {
                    platform::is_valid(text).then(|| text.to_owned())
                });
            }
            "name" => overrides.name = self.line(value, text::MAX_NAME),
            "description" => overrides.description = self.line(value, text::MAX_DESCRIPTION),
            "category" => overrides.category = self.line(value, category::MAX_CHARS),
            "status" => {
                let known = "one of `generally_available`, `beta`, `alpha`, `not_available`";
                overrides.status = self.text(value, known, |text| status(text).ok());
            }
            "image" => {
                overrides.image = self.text(
                    value,
                    "an `https:` or `data:image/` URL of at most 2048 characters",
                    parse_image_url,
                );
            }
            "active" => overrides.active = self.flag(value),
            "authkit" => overrides.authkit = self.flag(value).unwrap_or_default(),
            "optional" => overrides.optional = self.flag(value).unwrap_or_default(),
            "tags" => overrides.tags = self.tags(value),
            other => {
                let near = suggestion(other, FIELDS.into_iter().chain(connect_facts::FIELDS));
                let message = format!("unknown field `{}`{near}", text::verbatim(other, 80));
                self.fault(key, &message);
            }
        }
    }

    fn text<T>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let parsed = value.get_ref().as_str().and_then(parse);
        if parsed.is_none() {
            self.fault(value, &format!("expected {expected}"));
        }
        parsed
    }

    fn line(&mut self, value: &Spanned<DeValue<'_>>, max: usize) -> Option<String> {
        self.text(value, &format!("one line of 1 to {max} characters"), |text| {
            text::is_line(text, max).then(|| text.to_owned())
        })
    }

    fn flag(&mut self, value: &Spanned<DeValue<'_>>) -> Option<bool> {
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.fault(value, "expected true or false");
        }
        flag
    }

    fn tags(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let DeValue::Array(items) = value.get_ref() else {
            self.fault(value, "expected a list of tags");
            return None;
        };
        if items.len() > category::MAX_TAGS {
            self.fault(value, &format!("more than {} tags", category::MAX_TAGS));
        }
        items.iter().map(|item| self.line(item, category::MAX_CHARS)).collect()
    }
}

fn status(text: &str) -> Result<Status, serde::de::value::Error> {
    use serde::de::IntoDeserializer as _;
    Status::deserialize(text.into_deserializer())
}

fn parse_image_url(url: &str) -> Option<String> {
    let is_data = url.starts_with("data:image/")
        && url.len() <= image::MAX_URL
        && url.chars().all(|c| c.is_ascii_graphic());
    if is_data { Some(url.to_owned()) } else { image::https(url) }
}
