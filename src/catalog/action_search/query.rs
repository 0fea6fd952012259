//! Parses a query: its words with their synonyms, and its intent.

use super::intent::{
    Intent, intents_of_inflected_verb, intents_of_verb, is_common, is_noun, is_special,
    is_stop_word, synonyms,
};
use super::stem::{stem, words};

/// The maximum number of terms; further words are ignored.
const MAX_TERMS: usize = 16;
/// The minimum length of a prefix that matches longer words, in characters.
const MIN_PREFIX_CHARS: usize = 2;
/// The maximum number of words in the name of a platform in a query.
const MAX_NAME_WORDS: usize = 3;
/// The weight of a match of two adjacent words that an action writes as one word, in sixteenths.
const JOINED_WEIGHT: u8 = 15;

#[derive(Debug, PartialEq, Eq)]
pub struct Term {
    /// The word from the query, case-folded.
    pub word: String,
    /// The stem of the word, followed by the stems of its synonyms, with weights in sixteenths.
    pub stems: Vec<(String, u8)>,
    /// Whether the word is a verb that most actions contain.
    pub is_common: bool,
    /// Whether the word marks actions that users rarely mean, such as "beta".
    pub is_special: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub struct ActionQuery {
    /// The terms of the query, without stop words.
    pub terms: Vec<Term>,
    /// The intents of the verb at the start of the query. Empty if the query doesn't start with a
    /// verb.
    pub intents: Intent,
    /// The last word, which may be incomplete.
    pub prefix: Option<String>,
}

impl ActionQuery {
    pub fn read(text: &str) -> Self {
        let all = words(text);
        let mut content_words: Vec<&String> =
            all.iter().filter(|word| !is_stop_word(word)).collect();
        let intents = leading_verb_intents(&all);
        if content_words.is_empty() {
            // If all words are stop words, keep them: the names of some platforms are stop words.
            content_words = all.iter().collect();
        }
        let mut distinct_words: Vec<(&String, String)> = Vec::new();
        for word in content_words {
            let stem = stem(word);
            if distinct_words.len() < MAX_TERMS
                && distinct_words.iter().all(|(_, known)| *known != stem)
            {
                distinct_words.push((word, stem));
            }
        }
        let mut terms: Vec<Term> = distinct_words
            .iter()
            .enumerate()
            .map(|(index, (word, stem))| Term {
                word: (*word).clone(),
                stems: [(stem.clone(), 16)].into_iter().chain(synonyms(stem, index == 0)).collect(),
                is_common: is_common(word),
                is_special: is_special(stem),
            })
            .collect();
        for (index, pair) in distinct_words.windows(2).enumerate() {
            let [(one, _), (other, _)] = pair else { continue };
            for joined in [[one.as_str(), other], [other, one]] {
                let joined = stem(&joined.concat());
                let synonyms = synonyms(&joined, false);
                let stems = [(joined, JOINED_WEIGHT)].into_iter().chain(synonyms);
                for (stem, weight) in stems {
                    for term in terms.iter_mut().skip(index).take(2) {
                        term.stems.push((stem.clone(), weight));
                    }
                }
            }
        }
        let last =
            distinct_words.last().map(|(word, _)| *word).filter(|word| Some(*word) == all.last());
        let is_long =
            |word: &&String| word.chars().nth(MIN_PREFIX_CHARS.saturating_sub(1)).is_some();
        Self { terms, intents, prefix: last.filter(is_long).cloned() }
    }

    /// All stems of the query, including the stems of synonyms.
    pub fn stems(&self) -> impl Iterator<Item = &str> {
        let stems = self.terms.iter().flat_map(|term| &term.stems).map(|(stem, _)| stem.as_str());
        stems.chain(self.prefix.as_deref())
    }

    /// Whether consecutive words of the query form the name of the platform.
    pub fn has_name(&self, platform: &str) -> bool {
        let name = platform.replace('-', "");
        (1..=MAX_NAME_WORDS).any(|count| {
            self.terms.windows(count).any(|terms| {
                let mut rest = Some(name.as_str());
                for term in terms {
                    rest = rest.and_then(|rest| rest.strip_prefix(term.word.as_str()));
                }
                rest == Some("")
            })
        })
    }

    /// Whether an action with these intents matches the verb of the query. Without a verb, assumes
    /// a read.
    pub const fn matches_intent(&self, intents: Intent) -> bool {
        let expected = if self.intents.is_empty() { Intent::READ } else { self.intents };
        expected.intersects(intents)
    }
}

/// The intents of the verb at the start of the query.
fn leading_verb_intents(all: &[String]) -> Intent {
    let mut words =
        all.iter().skip_while(|word| is_stop_word(word) && intents_of_verb(word).is_empty());
    let Some(verb) = words.next() else { return Intent::NONE };
    // "message" is a verb in "message *a* user", and a noun in "message templates".
    let is_verb = !is_noun(verb) || words.next().is_some_and(|word| is_stop_word(word));
    let intents = intents_of_inflected_verb(verb);
    if is_verb { intents } else { intents.union(Intent::READ) }
}

#[cfg(test)]
mod tests {
    use super::{ActionQuery, Intent};

    fn stems(text: &str) -> Vec<String> {
        let query = ActionQuery::read(text);
        query.terms.into_iter().map(|term| term.stems[0].0.clone()).collect()
    }

    #[test]
    fn ignores_stop_words() {
        // `e` and `mail` are also searched as one word.
        assert_eq!(stems("Send an e-mail to my team"), ["send", "e", "mail", "team"]);
        assert_eq!(stems("issues of the issue"), ["issu"]);
        assert_eq!(stems("it"), ["it"], "a platform may have this name");
        assert_eq!(stems("?!"), [""; 0]);
        assert_eq!(stems(&"a1 b2 c3 d4 e5 f6 g7 h8 ".repeat(9)).len(), 8);
        let many: Vec<String> = (0..20).map(|index| format!("w{index}")).collect();
        assert_eq!(stems(&many.join(" ")), many[..16]);
    }

    #[test]
    fn leading_verb_determines_the_intent() {
        for (text, intents) in [
            ("create github issue", Intent::CREATE),
            ("creating issues on git hub", Intent::CREATE),
            ("please delete my file", Intent::DELETE),
            ("who follows me", Intent::READ),
            ("stripe balance", Intent::NONE),
            ("like a tweet", Intent::CREATE),
            ("message a user", Intent::CREATE),
            ("message template", Intent::CREATE.union(Intent::READ)),
        ] {
            assert_eq!(ActionQuery::read(text).intents, intents, "{text}");
        }
        assert!(ActionQuery::read("stripe balance").matches_intent(Intent::READ));
    }

    #[test]
    fn query_includes_synonyms_and_prefix() {
        let query = ActionQuery::read("my pull request em");
        let stems: Vec<&str> = query.stems().collect();
        for stem in ["pull", "pr", "request", "pullrequest", "em"] {
            assert!(stems.contains(&stem), "{stem}: {stems:?}");
        }
        assert_eq!(query.prefix.as_deref(), Some("em"));
        let means_create = |text| ActionQuery::read(text).stems().any(|stem| stem == "creat");
        assert!(means_create("open an issue"));
        assert!(!means_create("list open issues"), "here, `open` is an adjective");
        assert_eq!(ActionQuery::read("issues of").prefix, None, "the word before is complete");
    }
}
