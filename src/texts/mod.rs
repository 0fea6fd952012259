//! The texts of pages for end users, in five languages. The connect window has its own texts in
//! `www/src/connect/texts`.

pub mod agents;
pub mod approvals;
pub mod connect;
pub mod download;
pub mod language;

use std::collections::BTreeSet;

use crate::branding::{Appearance, Branding};
use crate::http::config::Config;
use language::Language;

/// A text in each language, in the order of [`Language::ALL`]. It can contain placeholders such as
/// `{name}`.
#[derive(Debug, Clone, Copy)]
pub struct Text(pub [&'static str; Language::ALL.len()]);

/// Declares texts, and a list of all of them for tests.
macro_rules! texts {
    ($($name:ident: $($text:literal),+;)+) => {
        $(pub const $name: Text = Text([$($text),+]);)+
        #[cfg(test)]
        pub const ALL: &[(&str, Text)] = &[$((stringify!($name), $name)),+];
    };
}
use texts;

/// Values of placeholders, by name.
pub type Values<'a> = &'a [(&'a str, &'a str)];

/// Formats texts for one user: in their language, with the name of the app.
#[derive(Debug, Clone, Copy)]
pub struct Wording<'a> {
    pub language: Language,
    pub appearance: Appearance<'a>,
}

impl<'a> Wording<'a> {
    pub fn new(config: &'a Config, language: Language) -> Self {
        Self { language, appearance: Appearance::from_config(config) }
    }

    /// Adds the branding of an account.
    pub fn for_account(self, own: &'a Branding) -> Self {
        Self { appearance: self.appearance.with(own), ..self }
    }

    /// Formats a text with values. Every text can also contain `{app}`, or `{theApp}` if the user
    /// may not have seen the app. German texts can also contain `{appDative}` and `{theAppDative}`.
    pub fn format_text(&self, text: &Text, values: Values<'_>) -> String {
        let mut filled = String::new();
        let mut rest = text.in_language(self.language);
        while let Some((before, placeholder)) = rest.split_once('{') {
            filled.push_str(before);
            let (name, after) = placeholder.split_once('}').unwrap_or((placeholder, ""));
            match values.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => filled.push_str(value),
                None => filled.push_str(&self.app(name)),
            }
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    /// The app's name or description for the placeholder `name`.
    fn app(&self, name: &str) -> String {
        let text = match name {
            "app" | "App" => connect::THIS_APP,
            "appDative" => connect::THIS_APP_DATIVE,
            "theApp" => connect::THE_APP,
            "theAppDative" => connect::THE_APP_DATIVE,
            _ => return String::new(),
        };
        if let Some(app) = self.appearance.name {
            return app.to_owned();
        }
        let app = text.in_language(self.language);
        let mut letters = app.chars();
        match letters.next().filter(|_| name == "App") {
            Some(first) => first.to_uppercase().chain(letters).collect(),
            None => app.to_owned(),
        }
    }
}

impl Text {
    pub fn in_language(&self, language: Language) -> &'static str {
        let [english, german, french, spanish, japanese] = self.0;
        match language {
            Language::English => english,
            Language::German => german,
            Language::French => french,
            Language::Spanish => spanish,
            Language::Japanese => japanese,
        }
    }
}

/// The names of a text's placeholders. Variants for a grammatical case, such as `{appDative}`, have
/// the same name.
pub fn placeholders(text: &str) -> BTreeSet<String> {
    let names = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    names.map(|(name, _)| name.to_ascii_lowercase().replace("dative", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::language::Language;
    use super::{Appearance, Text, Wording, agents, approvals, connect, download, placeholders};

    #[test]
    fn a_text_has_the_same_values_in_each_language() {
        for (name, text) in [connect::ALL, agents::ALL, approvals::ALL, download::ALL].concat() {
            let expected = placeholders(text.in_language(Language::English));
            for language in Language::ALL {
                let translated = text.in_language(language);
                assert_eq!(placeholders(translated), expected, "{name} in {language:?}");
                assert!(!translated.is_empty() && translated.trim() == translated, "{name}");
            }
        }
    }

    #[test]
    fn texts_contain_the_app_name_or_a_fallback() {
        let text = Text([
            "{App} and {platform}",
            "zu {appDative}",
            "de {theApp}",
            "{App} y {platform}",
            "{app}の{platform}",
        ]);
        for (language, named, unnamed) in [
            (Language::English, "acme and {x}", "This app and {x}"),
            (Language::German, "zu acme", "zu dieser App"),
            (Language::French, "de acme", "de l’application"),
            (Language::Spanish, "acme y {x}", "Esta aplicación y {x}"),
            (Language::Japanese, "acmeの{x}", "このアプリの{x}"),
        ] {
            let format_text = |app| {
                Wording { language, appearance: Appearance { name: app, ..Appearance::default() } }
                    .format_text(&text, &[("platform", "{x}")])
            };
            assert_eq!(format_text(Some("acme")), named);
            assert_eq!(format_text(None), unnamed);
        }
    }
}
