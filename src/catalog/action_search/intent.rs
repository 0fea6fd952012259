//! Classifies the words of a query for actions: stop words, verbs and synonyms.
//!
//! The tables are deliberately short: they contain common English words and popular names of
//! well-known products. Words that only one platform uses are indexed from the platform's
//! documents.

use super::stem::stem;

/// Words that carry no information about an action.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "between", "by", "can", "do",
    "does", "everyone", "for", "from", "had", "has", "have", "her", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "me", "my", "near", "need", "not", "of", "off", "on", "or", "our", "out", "please", "so",
    "some", "somebody", "someone", "that", "the", "their", "them", "there", "they", "this", "through", "to", "under",
    "up", "us", "use", "using", "via", "want", "was", "we", "what", "when", "where", "which", "who", "with", "within",
    "would", "you", "your",
];

#[rustfmt::skip]
const READ_VERBS: &[&str] = &[
    "browse", "check", "compare", "describe", "detect", "display", "download", "export", "fetch", "find", "get",
    "give", "list", "load", "look", "lookup", "obtain", "query", "read", "retrieve", "return", "search", "see",
    "show", "tell", "view", "watch", "what", "which", "who",
];

#[rustfmt::skip]
const CREATE_VERBS: &[&str] = &[
    "accept", "add", "append", "approve", "ask", "authorize", "book", "build", "buy", "call", "charge", "clone",
    "comment", "commit", "convert", "copy", "create", "deliver", "deploy", "dispatch", "duplicate", "email",
    "execute", "extract", "follow", "fork", "generate", "geocode", "grant", "import", "initiate", "insert", "install",
    "invite", "invoke", "issue", "join", "launch", "like", "link", "log", "make", "message", "new", "notify", "open",
    "order", "pay", "pin", "place", "play", "post", "promote", "provision", "publish", "purchase", "push", "put",
    "queue", "react", "rebuild", "record", "redeploy", "refresh", "refund", "register", "release", "remind", "reply",
    "report", "request", "resend", "retry", "review", "run", "save", "schedule", "send", "set", "share", "sign",
    "star", "start", "submit", "subscribe", "tag", "take", "text", "transcribe", "transform", "translate", "trigger",
    "tweet", "upload", "upvote", "verify", "vote", "write",
];

#[rustfmt::skip]
const UPDATE_VERBS: &[&str] = &[
    "activate", "adjust", "apply", "archive", "assign", "attach", "block", "change", "close", "complete", "confirm",
    "connect", "deactivate", "decline", "detach", "disable", "edit", "enable", "finish", "hide", "lock", "mark",
    "merge", "modify", "move", "mute", "patch", "pause", "pin", "promote", "put", "reactivate", "reboot", "recover",
    "reject", "rename", "renew", "replace", "reset", "resize", "resolve", "restart", "restore", "resume", "revert",
    "rotate", "scale", "set", "skip", "start", "stop", "suspend", "swap", "sync", "toggle", "transfer", "turn",
    "unarchive", "unblock", "unlock", "unmute", "unsuspend", "update", "upgrade", "verify",
];

#[rustfmt::skip]
const DELETE_VERBS: &[&str] = &[
    "archive", "ban", "cancel", "clear", "close", "decline", "delete", "deregister", "destroy", "detach",
    "disassociate", "disconnect", "drop", "empty", "erase", "kick", "kill", "leave", "purge", "remove", "revoke",
    "terminate", "trash", "unassign", "unfollow", "uninstall", "unlike", "unlink", "unpin", "unstar", "unsubscribe",
    "untag", "void",
];

/// Verbs that are also nouns. As nouns, they name a resource to read: "order status", "call
/// recordings".
#[rustfmt::skip]
const NOUN_VERBS: &[&str] = &[
    "book", "call", "charge", "comment", "email", "issue", "link", "message", "open", "order", "place", "post",
    "record", "release", "report", "request", "review", "schedule", "star", "tag", "text", "tweet", "vote",
];

/// Verbs with little information about an action, since most titles contain one.
#[rustfmt::skip]
pub(super) const COMMON_VERBS: &[&str] = &[
    "add", "browse", "change", "create", "delete", "describe", "display", "edit", "fetch", "find", "get", "give",
    "insert", "list", "look", "lookup", "make", "modify", "new", "obtain", "post", "put", "read", "remove",
    "retrieve", "return", "see", "set", "show", "tell", "update", "view",
];

/// Words that mark actions which users rarely mean unless the query contains the word.
#[rustfmt::skip]
pub(super) const RARELY_MEANT_WORDS: &[&str] = &[
    "admin", "alpha", "async", "asynchronous", "batch", "beta", "bulk", "count", "custom", "delta", "deprecated",
    "internal", "legacy", "migration", "multiple", "preview", "template", "templates", "test", "transact",
    "v1p1beta1",
];

/// Words with the same meaning.
#[rustfmt::skip]
const SYNONYMS: &[&[&str]] = &[
    &["email", "mail"], &["repo", "repository"], &["pr", "pull"], &["doc", "document"],
    &["picture", "image", "photo", "pic"], &["sms", "text"], &["song", "track"], &["vm", "instance", "machine"],
    &["ticket", "issue"], &["app", "application"], &["db", "database"], &["org", "organization"],
    &["contact", "person", "people"], &["env", "environment"], &["sheet", "spreadsheet"],
    &["package", "shipment", "parcel"], &["folder", "directory"], &["emoji", "reaction"],
    &["channel", "conversation"], &["object", "item"], &["buy", "purchase"], &["website", "site", "web"],
    &["stock", "inventory"], &["concert", "event"], &["meeting", "event"], &["article", "post"],
    &["phone", "telephone"],
];

/// Words that may replace a word of the query in a title, but not vice versa.
#[rustfmt::skip]
const ONE_WAY_SYNONYMS: &[(&str, &str)] = &[
    ("email", "message"), ("cell", "value range"), ("row", "value"), ("tweet", "post"),
    ("signature", "envelope sign"), ("sign", "envelope"), ("message", "conversation mail"),
    ("screenshot", "render capture"), ("done", "transition status"), ("status", "state"), ("forecast", "weather"),
    ("subscribe", "subscription"), ("subscriber", "member contact"), ("bug", "issue"), ("todo", "task"),
    ("bill", "invoice"), ("client", "customer"), ("customer", "client"), ("guest", "attendee"),
    ("attendee", "guest participant"), ("staff", "employee"), ("server", "instance"), ("payment", "charge"),
    ("chat", "conversation message"), ("movie", "film"), ("film", "movie"), ("news", "article"), ("alarm", "alert"),
    ("alert", "alarm"), ("price", "quote"), ("profile", "user"), ("train", "arrival departure"),
];

/// One-way synonyms of verbs at the start of a query. Elsewhere in a query, such words are nouns or
/// adjectives: "open an issue", but "list open issues".
#[rustfmt::skip]
const VERB_SYNONYMS: &[(&str, &str)] = &[
    ("schedule", "create"), ("launch", "run start create"), ("write", "put create"),
    ("share", "permission collaboration"), ("move", "transition update"), ("open", "create"), ("make", "create"),
    ("post", "create"), ("react", "reaction"), ("toggle", "update"), ("ask", "chat completion"),
    ("deploy", "deployment"),
];

/// Maps a product to the name of its platform, written as one word, and the platform's name for the
/// product.
#[rustfmt::skip]
const PRODUCTS: &[(&str, &str)] = &[
    ("outlook", "microsoftgraph"), ("onedrive", "microsoftgraph"), ("sharepoint", "microsoftgraph"),
    ("azuread", "microsoftgraph"), ("entra", "microsoftgraph"), ("excel", "microsoftgraph workbook"),
    ("onenote", "microsoftgraph"), ("chatgpt", "openai"), ("aws", "amazon"), ("gcp", "googlecloud"),
    ("gcs", "googlecloudstorage"), ("whatsapp", "whatsapponpremises"), ("k8s", "kubernetes"),
];

/// A set of effects of an action on a resource. A verb may have several: "archive" updates or
/// deletes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Intent(u8);

impl Intent {
    /// The intent is unknown.
    pub const NONE: Self = Self(0);
    /// Reads, lists, searches or downloads.
    pub const READ: Self = Self(1);
    /// Creates a resource, or triggers a process.
    pub const CREATE: Self = Self(2);
    /// Changes a resource.
    pub const UPDATE: Self = Self(4);
    /// Deletes a resource.
    pub const DELETE: Self = Self(8);

    /// Converts the stored form. Ignores unknown bits.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 15)
    }

    /// The stored form: four bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The intents that are in either set.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The intents that are in both sets.
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether any intent is in both sets.
    pub const fn intersects(self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }
}

/// The intents of a verb. Empty for an unknown verb.
pub fn intents_of_verb(word: &str) -> Intent {
    intents_where(|verbs| verbs.contains(&word))
}

/// The minimum length of a word that can be recognized as a misspelled verb, in bytes.
const MIN_MISTYPED_BYTES: usize = 5;

/// The intents of a verb at the start of a query. The verb may be inflected ("creating issues"),
/// lack a letter ("creat issue"), or have two letters swapped.
pub fn intents_of_inflected_verb(word: &str) -> Intent {
    if !word.ends_with("ing") {
        let intents = intents_of_verb(word);
        if !intents.is_empty() || word.len() < MIN_MISTYPED_BYTES {
            return intents;
        }
        // A word with an added or replaced letter is usually a different word: "books", "movie" and
        // "concert" are not misspelled verbs.
        let letters = |text: &str| {
            let mut letters = text.as_bytes().to_vec();
            letters.sort_unstable();
            letters
        };
        let is_misspelled = |verb: &&str| {
            let is_shorter = word.len().saturating_add(1) == verb.len();
            verb.bytes().next() == word.bytes().next()
                && (is_shorter || letters(word) == letters(verb))
                && strsim::osa_distance(word, verb) == 1
        };
        return intents_where(|verbs| verbs.iter().any(is_misspelled));
    }
    let stemmed = stem(word);
    intents_where(|verbs| verbs.iter().any(|verb| has_stem(verb, &stemmed)))
}

fn intents_where(matches_verbs: impl Fn(&[&str]) -> bool) -> Intent {
    let tables = [
        (READ_VERBS, Intent::READ),
        (CREATE_VERBS, Intent::CREATE),
        (UPDATE_VERBS, Intent::UPDATE),
        (DELETE_VERBS, Intent::DELETE),
    ];
    let matching = tables.iter().filter(|(verbs, _)| matches_verbs(verbs));
    matching.fold(Intent::NONE, |intents, (_, intent)| intents.union(*intent))
}

pub fn is_noun(verb: &str) -> bool {
    NOUN_VERBS.contains(&verb)
}

pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

pub fn is_common(word: &str) -> bool {
    COMMON_VERBS.contains(&word)
}

/// Whether users rarely mean actions with this stem.
pub fn is_special(stemmed: &str) -> bool {
    RARELY_MEANT_WORDS.iter().any(|word| has_stem(word, stemmed))
}

/// Whether a word has this stem. Compares first letters before computing the stem, which is slower.
fn has_stem(word: &str, stemmed: &str) -> bool {
    word.as_bytes().first() == stemmed.as_bytes().first() && stem(word) == stemmed
}

/// The weight of a match of a synonym, in sixteenths.
const SYNONYM_WEIGHT: u8 = 11;
const ONE_WAY_WEIGHT: u8 = 8;
const PRODUCT_WEIGHT: u8 = 14;

/// The stems of the synonyms of a stem, each with its weight in sixteenths.
pub fn synonyms(stemmed: &str, is_verb: bool) -> Vec<(String, u8)> {
    let has_this_stem = |word: &&str| has_stem(word, stemmed);
    let equivalents = SYNONYMS.iter().filter(|words| words.iter().any(has_this_stem));
    let equivalents =
        equivalents.flat_map(|words| words.iter().copied()).map(|word| (word, SYNONYM_WEIGHT));
    let matching_entries = |table: &'static [(&str, &str)], weight: u8| {
        let entries = table.iter().filter(move |(word, _)| has_stem(word, stemmed));
        entries
            .flat_map(|(_, synonyms)| synonyms.split(' '))
            .map(move |word| (word, weight))
            .collect()
    };
    let one_way: Vec<(&str, u8)> = matching_entries(ONE_WAY_SYNONYMS, ONE_WAY_WEIGHT);
    let verb_synonyms: Vec<(&str, u8)> =
        if is_verb { matching_entries(VERB_SYNONYMS, ONE_WAY_WEIGHT) } else { Vec::new() };
    let products: Vec<(&str, u8)> = matching_entries(PRODUCTS, PRODUCT_WEIGHT);
    let mut synonyms: Vec<(String, u8)> = Vec::new();
    for (word, weight) in equivalents.chain(one_way).chain(verb_synonyms).chain(products) {
        let word = stem(word);
        if word != stemmed && synonyms.iter().all(|(known, _)| *known != word) {
            synonyms.push((word, weight));
        }
    }
    synonyms
}

#[cfg(test)]
mod tests {
    use super::{
        Intent, ONE_WAY_WEIGHT, PRODUCT_WEIGHT, SYNONYM_WEIGHT, intents_of_inflected_verb,
        is_common, is_special, synonyms,
    };

    #[test]
    fn recognizes_verb_with_one_typo() {
        for (word, expected) in [
            ("create", Intent::CREATE),
            ("creat", Intent::CREATE),
            ("craete", Intent::CREATE),
            ("creaet", Intent::CREATE),
            ("delte", Intent::DELETE),
            ("delet", Intent::DELETE),
            ("udpate", Intent::UPDATE),
            ("creating", Intent::CREATE),
            // Different words, and words that are too short or too different.
            ("updated", Intent::NONE),
            ("books", Intent::NONE),
            ("posts", Intent::NONE),
            ("movie", Intent::NONE),
            ("concert", Intent::NONE),
            ("stars", Intent::NONE),
            ("reate", Intent::NONE),
            ("craet", Intent::NONE),
            ("github", Intent::NONE),
            ("lst", Intent::NONE),
        ] {
            assert_eq!(intents_of_inflected_verb(word), expected, "{word}");
        }
    }

    #[test]
    fn classifies_common_and_special_words() {
        for (word, stemmed, expected) in [
            ("create", "creat", (true, false)),
            ("bulk", "bulk", (false, true)),
            ("templates", "templat", (false, true)),
            ("issue", "issu", (false, false)),
        ] {
            assert_eq!((is_common(word), is_special(stemmed)), expected, "{word}");
        }
    }

    #[test]
    fn synonyms_are_distinct() {
        for (stemmed, is_verb, expected) in [
            (
                "pictur",
                false,
                &[("imag", SYNONYM_WEIGHT), ("photo", SYNONYM_WEIGHT), ("pic", SYNONYM_WEIGHT)][..],
            ),
            ("email", false, &[("mail", SYNONYM_WEIGHT), ("messag", ONE_WAY_WEIGHT)]),
            ("excel", false, &[("microsoftgraph", PRODUCT_WEIGHT), ("workbook", PRODUCT_WEIGHT)]),
            ("open", true, &[("creat", ONE_WAY_WEIGHT)]),
            ("open", false, &[]),
            // The synonym has the same stem.
            ("deploi", true, &[]),
        ] {
            let synonyms = synonyms(stemmed, is_verb);
            let synonyms: Vec<(&str, u8)> =
                synonyms.iter().map(|(word, weight)| (word.as_str(), *weight)).collect();
            assert_eq!(synonyms, expected, "{stemmed}");
        }
    }
}
