//! What a question looks for: its words, what else may stand for them, and what is to be done.

use super::meaning::{
    deed, deeds, deeds_of_form, is_common, is_filler, is_noun, is_special, others,
};
use super::words::{stem, words};

/// The most words of a question that count; the rest says little more.
const MAX_TERMS: usize = 16;
/// The shortest beginning of a word that stands for the word, in characters.
const MIN_BEGINNING: usize = 2;
/// The most words of a platform's name that are looked for.
const NAME_WORDS: usize = 3;
/// How well two neighbours stand for themselves when an action writes them as one word, in sixteenths.
const AS_ONE: u8 = 15;

/// A word of a question.
#[derive(Debug, PartialEq, Eq)]
pub struct Term {
    /// The word as it stands.
    pub word: String,
    /// The stems of the word and of what may stand for it, each with how well it does, in sixteenths. The word is first.
    pub stems: Vec<(String, u8)>,
    /// Whether most actions have a word like this.
    pub is_common: bool,
    /// Whether it asks for actions that are rarely meant.
    pub is_special: bool,
}

/// What a question looks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    /// Its words, without those that say nothing.
    pub terms: Vec<Term>,
    /// What is to be done: [`deed`]s, or 0 when the question does not say.
    pub deeds: u8,
    /// Its last word as it stands, which may still be typed.
    pub beginning: Option<String>,
}

impl Question {
    /// Reads a question.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let all = words(text);
        let mut said: Vec<&String> = all.iter().filter(|word| !is_filler(word)).collect();
        let deeds = to_do(&all);
        if said.is_empty() {
            // Some platforms are called like that.
            said = all.iter().collect();
        }
        let mut kept: Vec<(&String, String)> = Vec::new();
        for word in said {
            let stem = stem(word);
            if kept.len() < MAX_TERMS && kept.iter().all(|(_, known)| *known != stem) {
                kept.push((word, stem));
            }
        }
        let mut terms: Vec<Term> = kept
            .iter()
            .enumerate()
            .map(|(nth, (word, stem))| Term {
                word: (*word).clone(),
                stems: [(stem.clone(), 16)].into_iter().chain(others(stem, nth == 0)).collect(),
                is_common: is_common(word),
                is_special: is_special(stem),
            })
            .collect();
        for (nth, pair) in kept.windows(2).enumerate() {
            let [(one, _), (other, _)] = pair else { continue };
            for joined in [[one.as_str(), other], [other, one]] {
                let joined = stem(&joined.concat());
                let others = others(&joined, false);
                let stems = [(joined, AS_ONE)].into_iter().chain(others);
                for (stem, worth) in stems {
                    for term in terms.iter_mut().skip(nth).take(2) {
                        term.stems.push((stem.clone(), worth));
                    }
                }
            }
        }
        let last = kept.last().map(|(word, _)| *word).filter(|word| Some(*word) == all.last());
        let is_long = |word: &&String| word.chars().nth(MIN_BEGINNING.saturating_sub(1)).is_some();
        Self { terms, deeds, beginning: last.filter(is_long).cloned() }
    }

    /// The stems that the parts must be asked for.
    pub fn stems(&self) -> impl Iterator<Item = &str> {
        let stems = self.terms.iter().flat_map(|term| &term.stems).map(|(stem, _)| stem.as_str());
        stems.chain(self.beginning.as_deref())
    }

    /// Whether one of its words, or several that follow each other, are the name of a platform.
    #[must_use]
    pub fn has_name(&self, platform: &str) -> bool {
        let name = platform.replace('-', "");
        (1..=NAME_WORDS).any(|many| {
            self.terms.windows(many).any(|terms| {
                let mut rest = Some(name.as_str());
                for term in terms {
                    rest = rest.and_then(|rest| rest.strip_prefix(term.word.as_str()));
                }
                rest == Some("")
            })
        })
    }

    /// Whether what an action does is what the question asks for. Who does not say wants to read.
    #[must_use]
    pub const fn wants(&self, does: u8) -> bool {
        does & (if self.deeds == 0 { deed::READS } else { self.deeds }) != 0
    }
}

/// What the question asks for, by the verb at its beginning.
fn to_do(all: &[String]) -> u8 {
    let mut words = all.iter().skip_while(|word| is_filler(word) && deeds(word) == 0);
    let Some(verb) = words.next() else { return 0 };
    // "Message *a* user" does something, "message templates" are looked for.
    let is_sure = !is_noun(verb) || words.next().is_some_and(|word| is_filler(word));
    deeds_of_form(verb) | if is_sure { 0 } else { deed::READS }
}

#[cfg(test)]
mod tests {
    use super::{Question, deed};

    fn stems(text: &str) -> Vec<String> {
        let question = Question::read(text);
        question.terms.into_iter().map(|term| term.stems[0].0.clone()).collect()
    }

    #[test]
    fn only_words_that_say_something_count() {
        // `e` and `mail` are looked for as one word, too.
        assert_eq!(stems("Send an e-mail to my team"), ["send", "e", "mail", "team"]);
        assert_eq!(stems("issues of the issue"), ["issu"]);
        assert_eq!(stems("it"), ["it"], "a platform may be called like that");
        assert_eq!(stems("?!"), [""; 0]);
        assert_eq!(stems(&"a1 b2 c3 d4 e5 f6 g7 h8 ".repeat(9)).len(), 8);
        let many: Vec<String> = (0..20).map(|nth| format!("w{nth}")).collect();
        assert_eq!(stems(&many.join(" ")), many[..16]);
    }

    #[test]
    fn the_verb_says_what_is_to_be_done() {
        for (text, deeds) in [
            ("create github issue", deed::MAKES),
            ("creating issues on git hub", deed::MAKES),
            ("please delete my file", deed::REMOVES),
            ("who follows me", deed::READS),
            ("stripe balance", 0),
            ("like a tweet", deed::MAKES),
            ("message a user", deed::MAKES),
            ("message template", deed::MAKES | deed::READS),
        ] {
            assert_eq!(Question::read(text).deeds, deeds, "{text}");
        }
        assert!(Question::read("stripe balance").wants(deed::READS));
    }

    #[test]
    fn what_may_stand_for_a_word_is_asked_for_too() {
        let question = Question::read("my pull request em");
        let stems: Vec<&str> = question.stems().collect();
        for stem in ["pull", "pr", "request", "pullrequest", "em"] {
            assert!(stems.contains(&stem), "{stem}: {stems:?}");
        }
        assert_eq!(question.beginning.as_deref(), Some("em"));
        let stands_for_create = |text| Question::read(text).stems().any(|stem| stem == "creat");
        assert!(stands_for_create("open an issue"));
        assert!(!stands_for_create("list open issues"), "here, it is no verb");
        assert_eq!(Question::read("issues of").beginning, None, "the word before is complete");
    }
}
