//! The languages of pages for end users, and the choice of a user's language.

use crate::http::message::Request;

/// The maximum length of a language tag, in characters. RFC 5646, section 4.4.1, requires support
/// for at least 35.
const MAX_TAG_LENGTH: usize = 35;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    German,
    French,
    Spanish,
    Japanese,
}

impl Language {
    pub const ALL: [Self; 5] =
        [Self::English, Self::German, Self::French, Self::Spanish, Self::Japanese];

    /// The primary subtag, which is the value of `lang` in HTML.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Japanese => "ja",
        }
    }

    /// The language of a tag, according to its primary subtag: `de` for `de-AT`. Returns `None` for
    /// an unsupported language.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next()?;
        Self::ALL.into_iter().find(|language| language.code().eq_ignore_ascii_case(primary))
    }

    /// The language that the app chose with `tag`, or English if it is not supported. Without a
    /// tag, the browser's language.
    pub fn for_user(tag: Option<&str>, request: &Request) -> Self {
        match tag {
            Some(tag) => Self::from_tag(tag).unwrap_or_default(),
            None => Self::accepted(request.header("accept-language").unwrap_or_default()),
        }
    }

    /// The supported language with the highest weight in `Accept-Language` (RFC 9110, section
    /// 12.5.4), the first one if several have the same weight. English if none is supported.
    fn accepted(header: &str) -> Self {
        let mut best = (0, Self::English);
        for range in header.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let Some(language) = parts.next().and_then(Self::from_tag) else { continue };
            let weight =
                parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
            let weight = weight.map_or(1000, crate::http::page::parse_weight);
            if weight > best.0 {
                best = (weight, language);
            }
        }
        best.1
    }
}

/// Checks the format of a BCP 47 language tag: subtags of letters and digits, starting with the
/// language. Returns the fault as the end of a sentence. Unsupported languages are valid; the user
/// then gets English.
pub fn tag(text: &str) -> Option<&'static str> {
    let is_subtag = |subtag: &str| {
        (1..=8).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let mut subtags = text.split('-');
    let is_language = subtags.next().is_some_and(|first| {
        (2..=8).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    let is_good = text.len() <= MAX_TAG_LENGTH && is_language && subtags.all(is_subtag);
    (!is_good).then_some(
        "must be a language tag (BCP 47) of at most 35 characters, such as `de` or `fr-CA`",
    )
}

#[cfg(test)]
mod tests {
    use super::{Language, tag};
    use crate::http::message::Request;

    #[test]
    fn prefers_language_of_app_then_browser_then_english() {
        struct Case {
            tag: Option<&'static str>,
            accept: Option<&'static str>,
            expected: Language,
        }
        use Language::{English, French, German, Japanese, Spanish};
        for Case { tag, accept, expected } in [
            Case { tag: None, accept: None, expected: English },
            Case { tag: None, accept: Some(""), expected: English },
            Case { tag: None, accept: Some("de-AT,de;q=0.9,en;q=0.8"), expected: German },
            Case { tag: None, accept: Some("en;q=0.5, FR-ca ; q=0.7"), expected: French },
            Case { tag: None, accept: Some("es, ja"), expected: Spanish },
            Case { tag: None, accept: Some("pt-BR,pt;q=0.9,ja;q=0.1"), expected: Japanese },
            Case { tag: None, accept: Some("de;q=0, *"), expected: English },
            Case { tag: None, accept: Some("de;q=2"), expected: English },
            Case { tag: None, accept: Some("deu"), expected: English },
            Case { tag: None, accept: Some(",;,-"), expected: English },
            Case { tag: Some("ja"), accept: Some("de"), expected: Japanese },
            Case { tag: Some("DE-ch"), accept: None, expected: German },
            Case { tag: Some("pt"), accept: Some("de"), expected: English },
        ] {
            let headers = accept.map(|value| ("accept-language".to_owned(), value.to_owned()));
            let request = Request { headers: headers.into_iter().collect(), ..Request::default() };
            assert_eq!(Language::for_user(tag, &request), expected, "{tag:?} {accept:?}");
        }
    }

    #[test]
    fn only_a_well_formed_tag_is_accepted() {
        for good in ["de", "fr-CA", "zh-Hant-TW", "en-u-ca-buddhist", "tlh", "sl-rozaj-1994"] {
            assert_eq!(tag(good), None, "{good}");
        }
        let long = format!("de{}", "-abcd".repeat(7));
        for bad in
            ["", "d", "de_DE", "de-", "-de", "de--CH", "1e", "deutschland", "de ", "dé", "*", &long]
        {
            assert!(tag(bad).is_some(), "{bad}");
        }
    }
}
