//! Splits texts into words, and stems them.

use crate::util::case_fold::fold;

/// Splits a text into case-folded runs of letters and digits.
pub fn words(text: &str) -> Vec<String> {
    fold(text)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A light stemmer for English: `repositories` → `repositori`, `creating` → `creat`. Other words stay unchanged.
///
/// Stems need not be linguistically exact, but the importer and the Worker must produce the same
/// ones.
pub fn stem(word: &str) -> String {
    if !word.is_ascii() {
        return word.to_owned();
    }
    let mut stem = without_suffix(without_tense(&singular(word)));
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    if stem.len() > 2 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

fn singular(word: &str) -> String {
    let is_sibilant = ["sses", "xes", "shes", "ches", "zes"].iter().any(|end| word.ends_with(end));
    let keeps_s = ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) || word == "news";
    let rest = if is_sibilant { word.strip_suffix("es") } else { word.strip_suffix('s') };
    rest.filter(|_| !keeps_s && word.len() > 3).unwrap_or(word).to_owned()
}

fn without_tense(word: &str) -> &str {
    let is_word = |rest: &&str| {
        rest.len() >= 3 && !rest.ends_with('e') && rest.contains(['a', 'e', 'i', 'o', 'u', 'y'])
    };
    let rest = ["ing", "ed"].iter().find_map(|end| word.strip_suffix(end).filter(is_word));
    let Some(rest) = rest else { return word };
    // Drop a doubled consonant: `running` → `run`, but `calling` → `call`.
    let mut letters = rest.chars().rev();
    match (letters.next(), letters.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 'l' | 's' | 'z') => {
            rest.strip_suffix(last).unwrap_or(rest)
        }
        _ => rest,
    }
}

fn without_suffix(word: &str) -> String {
    /// A suffix, the minimum number of letters before it, and its replacement.
    const SUFFIXES: [(&str, usize, &str); 5] =
        [("ation", 4, "at"), ("ion", 5, ""), ("er", 5, ""), ("or", 5, ""), ("ment", 4, "")];
    let stemmed = SUFFIXES.iter().find_map(|(suffix, min_letters, replacement)| {
        let rest = word.strip_suffix(suffix).filter(|rest| rest.len() >= *min_letters)?;
        Some([rest, replacement].concat())
    });
    stemmed.unwrap_or_else(|| word.to_owned())
}

/// Splits an identifier into words, also at `camelCase` boundaries. The plural of an acronym stays
/// one word: `APIs`.
#[cfg(not(target_arch = "wasm32"))]
pub fn identifier_words(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut split = String::with_capacity(text.len());
    for (index, letter) in letters.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|index| letters.get(index)).copied();
        let letter_after = |distance: usize| letters.get(index.saturating_add(distance)).copied();
        let is_word_start = letter.is_uppercase()
            && previous.is_some_and(|previous| {
                let is_word = letter_after(1).is_some_and(char::is_lowercase);
                let is_plural = letter_after(1) == Some('s')
                    && !letter_after(2).is_some_and(char::is_alphanumeric);
                previous.is_lowercase()
                    || previous.is_numeric()
                    || (previous.is_uppercase() && is_word && !is_plural)
            });
        if is_word_start {
            split.push(' ');
        }
        split.push(*letter);
    }
    words(&split)
}

#[cfg(test)]
mod tests {
    use super::{identifier_words, stem, words};

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["repository", "repositories"][..],
            &["create", "creates", "creating", "created", "creation"],
            &["run", "running", "runs"],
            &["call", "calling", "calls"],
            &["branch", "branches"],
            &["translate", "translation", "translating"],
            &["follow", "following", "follower", "followers"],
            &["deploy", "deployment", "deploys"],
            &["status", "status"],
            &["news", "news"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{forms:?}: {stems:?}");
        }
        assert_ne!(stem("news"), stem("new"));
        // Published catalogs contain stems, so a word must have the same stem in every version.
        for (word, expected) in [
            ("by", "by"),
            ("is", "is"),
            ("see", "see"),
            ("use", "use"),
            ("key", "kei"),
            ("dns", "dns"),
            ("ies", "ies"),
            ("ties", "tie"),
            ("name", "nam"),
            ("class", "class"),
            ("status", "status"),
            ("analysis", "analysis"),
            ("news", "news"),
            ("going", "going"),
            ("paying", "pai"),
            ("string", "string"),
            ("seeing", "seeing"),
            ("agreed", "agreed"),
            ("running", "run"),
            ("calling", "call"),
            ("creating", "creat"),
            ("translation", "translat"),
            ("repositories", "repositori"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
        for word in ["", "s", "is", "s3", "dns", "über", "名前", "ing", "eed", "ies"] {
            assert!(!stem(word).is_empty() || word.is_empty(), "{word}");
        }
    }

    #[test]
    fn identifiers_are_split() {
        assert_eq!(words("Create a GitHub issue!"), ["create", "a", "github", "issue"]);
        assert_eq!(identifier_words("usersListAPIKeysV2"), ["users", "list", "api", "keys", "v2"]);
        assert_eq!(identifier_words("listAPIs/by_id"), ["list", "apis", "by", "id"]);
        assert_eq!(identifier_words("getXBy"), ["get", "x", "by"]);
        assert_eq!(identifier_words("listAIssues"), ["list", "a", "issues"]);
        assert_eq!(identifier_words("v2Users"), ["v2", "users"]);
        assert_eq!(identifier_words("日本Api"), ["日本api"], "as a query would spell it");
        assert_eq!(words(" -- "), [""; 0]);
    }
}
