//! What words mean to somebody who looks for an action: which say little, which are verbs, and which stand for others.
//!
//! The tables are short on purpose. They hold common English and what people call well-known products; a word that only
//! one platform uses is found in that platform's own texts.

use super::words::stem;

/// Words that say nothing about an action.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "between", "by", "can", "do",
    "does", "everyone", "for", "from", "had", "has", "have", "her", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "me", "my", "near", "need", "not", "of", "off", "on", "or", "our", "out", "please", "so",
    "some", "somebody", "someone", "that", "the", "their", "them", "there", "they", "this", "through", "to", "under",
    "up", "us", "use", "using", "via", "want", "was", "we", "what", "when", "where", "which", "who", "with", "within",
    "would", "you", "your",
];

/// Verbs of actions that read something.
#[rustfmt::skip]
const READING: &[&str] = &[
    "browse", "check", "compare", "describe", "detect", "display", "download", "export", "fetch", "find", "get",
    "give", "list", "load", "look", "lookup", "obtain", "query", "read", "retrieve", "return", "search", "see",
    "show", "tell", "view", "watch", "what", "which", "who",
];

/// Verbs of actions that make something, or have something done.
#[rustfmt::skip]
const MAKING: &[&str] = &[
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

/// Verbs of actions that change something.
#[rustfmt::skip]
const CHANGING: &[&str] = &[
    "activate", "adjust", "apply", "archive", "assign", "attach", "block", "change", "close", "complete", "confirm",
    "connect", "deactivate", "decline", "detach", "disable", "edit", "enable", "finish", "hide", "lock", "mark",
    "merge", "modify", "move", "mute", "patch", "pause", "pin", "promote", "put", "reactivate", "reboot", "recover",
    "reject", "rename", "renew", "replace", "reset", "resize", "resolve", "restart", "restore", "resume", "revert",
    "rotate", "scale", "set", "skip", "start", "stop", "suspend", "swap", "sync", "toggle", "transfer", "turn",
    "unarchive", "unblock", "unlock", "unmute", "unsuspend", "update", "upgrade", "verify",
];

/// Verbs of actions that remove something.
#[rustfmt::skip]
const REMOVING: &[&str] = &[
    "archive", "ban", "cancel", "clear", "close", "decline", "delete", "deregister", "destroy", "detach",
    "disassociate", "disconnect", "drop", "empty", "erase", "kick", "kill", "leave", "purge", "remove", "revoke",
    "terminate", "trash", "unassign", "unfollow", "uninstall", "unlike", "unlink", "unpin", "unstar", "unsubscribe",
    "untag", "void",
];

/// Verbs that are nouns as well, and then name what is to be read: "order status", "call recordings".
#[rustfmt::skip]
const NOUNS: &[&str] = &[
    "book", "call", "charge", "comment", "email", "issue", "link", "message", "open", "order", "place", "post",
    "record", "release", "report", "request", "review", "schedule", "star", "tag", "text", "tweet", "vote",
];

/// Verbs that say little besides: most actions have one of them.
#[rustfmt::skip]
pub(super) const COMMON: &[&str] = &[
    "add", "browse", "change", "create", "delete", "describe", "display", "edit", "fetch", "find", "get", "give",
    "insert", "list", "look", "lookup", "make", "modify", "new", "obtain", "post", "put", "read", "remove",
    "retrieve", "return", "see", "set", "show", "tell", "update", "view",
];

/// Words of actions that are rarely meant, unless they are asked for.
#[rustfmt::skip]
pub(super) const SPECIAL: &[&str] = &[
    "admin", "alpha", "async", "asynchronous", "batch", "beta", "bulk", "count", "custom", "delta", "deprecated",
    "internal", "legacy", "migration", "multiple", "preview", "template", "templates", "test", "transact",
    "v1p1beta1",
];

/// Words that stand for each other.
#[rustfmt::skip]
const ALIKE: &[&[&str]] = &[
    &["email", "mail"], &["repo", "repository"], &["pr", "pull"], &["doc", "document"],
    &["picture", "image", "photo", "pic"], &["sms", "text"], &["song", "track"], &["vm", "instance", "machine"],
    &["ticket", "issue"], &["app", "application"], &["db", "database"], &["org", "organization"],
    &["contact", "person", "people"], &["env", "environment"], &["sheet", "spreadsheet"],
    &["package", "shipment", "parcel"], &["folder", "directory"], &["emoji", "reaction"],
    &["channel", "conversation"], &["object", "item"], &["buy", "purchase"], &["website", "site", "web"],
    &["stock", "inventory"], &["concert", "event"], &["meeting", "event"], &["article", "post"],
    &["phone", "telephone"],
];

/// Words with others that may say the same in a title. This holds in one direction only.
#[rustfmt::skip]
const SAID_AS: &[(&str, &str)] = &[
    ("email", "message"), ("cell", "value range"), ("row", "value"), ("tweet", "post"),
    ("signature", "envelope sign"), ("sign", "envelope"), ("message", "conversation mail"),
    ("screenshot", "render capture"), ("done", "transition status"), ("status", "state"), ("forecast", "weather"),
    ("subscribe", "subscription"), ("subscriber", "member contact"), ("bug", "issue"), ("todo", "task"),
    ("bill", "invoice"), ("client", "customer"), ("customer", "client"), ("guest", "attendee"),
    ("attendee", "guest participant"), ("staff", "employee"), ("server", "instance"), ("payment", "charge"),
    ("chat", "conversation message"), ("movie", "film"), ("film", "movie"), ("news", "article"), ("alarm", "alert"),
    ("alert", "alarm"), ("price", "quote"), ("profile", "user"), ("train", "arrival departure"),
];

/// The same for verbs, which are nouns or adjectives elsewhere: "open an issue", but "list open issues".
#[rustfmt::skip]
const DONE_AS: &[(&str, &str)] = &[
    ("schedule", "create"), ("launch", "run start create"), ("write", "put create"),
    ("share", "permission collaboration"), ("move", "transition update"), ("open", "create"), ("make", "create"),
    ("post", "create"), ("react", "reaction"), ("toggle", "update"), ("ask", "chat completion"),
    ("deploy", "deployment"),
];

/// Products, with the platform that they belong to as one word, and what it calls them.
#[rustfmt::skip]
const PRODUCTS: &[(&str, &str)] = &[
    ("outlook", "microsoftgraph"), ("onedrive", "microsoftgraph"), ("sharepoint", "microsoftgraph"),
    ("azuread", "microsoftgraph"), ("entra", "microsoftgraph"), ("excel", "microsoftgraph workbook"),
    ("onenote", "microsoftgraph"), ("chatgpt", "openai"), ("aws", "amazon"), ("gcp", "googlecloud"),
    ("gcs", "googlecloudstorage"), ("whatsapp", "whatsapponpremises"), ("k8s", "kubernetes"),
];

/// What an action does, as bits: a verb may be several of these.
pub mod deed {
    /// It reads.
    pub const READS: u8 = 1;
    /// It makes something, or has something done.
    pub const MAKES: u8 = 2;
    /// It changes something.
    pub const CHANGES: u8 = 4;
    /// It removes something.
    pub const REMOVES: u8 = 8;
}

/// What a verb does; 0 when it is no verb that is known.
#[must_use]
pub fn deeds(word: &str) -> u8 {
    deeds_where(|verbs| verbs.contains(&word))
}

/// The shortest word that is taken for a misspelled verb, in bytes.
const LEAST_MISTYPED: usize = 5;

/// The same for a verb at the beginning of a question, which may be in another form ("creating issues"), or lack a letter or have
/// two of them swapped ("creat issue").
#[must_use]
pub fn deeds_of_form(word: &str) -> u8 {
    if !word.ends_with("ing") {
        let known = deeds(word);
        if known != 0 || word.len() < LEAST_MISTYPED {
            return known;
        }
        // With a letter more or another one it is often a word of its own: "books", "movie" and "concert" are no verbs.
        let letters = |text: &str| {
            let mut letters = text.as_bytes().to_vec();
            letters.sort_unstable();
            letters
        };
        let is_meant = |verb: &&str| {
            let is_shorter = word.len().saturating_add(1) == verb.len();
            verb.bytes().next() == word.bytes().next()
                && (is_shorter || letters(word) == letters(verb))
                && strsim::osa_distance(word, verb) == 1
        };
        return deeds_where(|verbs| verbs.iter().any(is_meant));
    }
    let stemmed = stem(word);
    deeds_where(|verbs| verbs.iter().any(|verb| has_stem(verb, &stemmed)))
}

fn deeds_where(has: impl Fn(&[&str]) -> bool) -> u8 {
    let tables = [
        (READING, deed::READS),
        (MAKING, deed::MAKES),
        (CHANGING, deed::CHANGES),
        (REMOVING, deed::REMOVES),
    ];
    tables.iter().filter(|(verbs, _)| has(verbs)).fold(0, |all, (_, bit)| all | bit)
}

/// Whether a verb is a noun as well.
#[must_use]
pub fn is_noun(verb: &str) -> bool {
    NOUNS.contains(&verb)
}

/// Whether a word says nothing about an action.
#[must_use]
pub fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// Whether a word is a verb that most actions have.
#[must_use]
pub fn is_common(word: &str) -> bool {
    COMMON.contains(&word)
}

/// Whether a word, given by its stem, makes an action one that is rarely meant.
#[must_use]
pub fn is_special(stemmed: &str) -> bool {
    SPECIAL.iter().any(|word| has_stem(word, stemmed))
}

/// Whether a word has this stem, which begins like it.
fn has_stem(word: &str, stemmed: &str) -> bool {
    word.as_bytes().first() == stemmed.as_bytes().first() && stem(word) == stemmed
}

/// How well a word stands for another, in sixteenths.
const AS_ALIKE: u8 = 11;
const AS_SAID: u8 = 8;
const AS_PRODUCT: u8 = 14;

/// The stems of other words that may stand for a word, given by its stem, and how well each does, in sixteenths.
#[must_use]
pub fn others(stemmed: &str, is_verb: bool) -> Vec<(String, u8)> {
    let is_it = |word: &&str| has_stem(word, stemmed);
    let alike = ALIKE.iter().filter(|words| words.iter().any(is_it));
    let alike = alike.flat_map(|words| words.iter().copied()).map(|word| (word, AS_ALIKE));
    let of = |table: &'static [(&str, &str)], worth: u8| {
        let known = table.iter().filter(move |(word, _)| has_stem(word, stemmed));
        known.flat_map(|(_, others)| others.split(' ')).map(move |word| (word, worth)).collect()
    };
    let said: Vec<(&str, u8)> = of(SAID_AS, AS_SAID);
    let done: Vec<(&str, u8)> = if is_verb { of(DONE_AS, AS_SAID) } else { Vec::new() };
    let products: Vec<(&str, u8)> = of(PRODUCTS, AS_PRODUCT);
    let mut others: Vec<(String, u8)> = Vec::new();
    for (word, worth) in alike.chain(said).chain(done).chain(products) {
        let word = stem(word);
        if word != stemmed && others.iter().all(|(known, _)| *known != word) {
            others.push((word, worth));
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::{
        AS_ALIKE, AS_PRODUCT, AS_SAID, deed, deeds_of_form, is_common, is_special, others,
    };

    #[test]
    fn a_verb_with_one_letter_wrong_is_understood() {
        for (word, expected) in [
            ("create", deed::MAKES),
            ("creat", deed::MAKES),
            ("craete", deed::MAKES),
            ("creaet", deed::MAKES),
            ("delte", deed::REMOVES),
            ("delet", deed::REMOVES),
            ("udpate", deed::CHANGES),
            ("creating", deed::MAKES),
            // Other words, and words that are too short or too different.
            ("updated", 0),
            ("books", 0),
            ("posts", 0),
            ("movie", 0),
            ("concert", 0),
            ("stars", 0),
            ("reate", 0),
            ("craet", 0),
            ("github", 0),
            ("lst", 0),
        ] {
            assert_eq!(deeds_of_form(word), expected, "{word}");
        }
    }

    #[test]
    fn some_words_say_little_and_some_are_rarely_meant() {
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
    fn other_words_stand_for_a_word_each_once() {
        for (stemmed, is_verb, expected) in [
            ("pictur", false, &[("imag", AS_ALIKE), ("photo", AS_ALIKE), ("pic", AS_ALIKE)][..]),
            ("email", false, &[("mail", AS_ALIKE), ("messag", AS_SAID)]),
            ("excel", false, &[("microsoftgraph", AS_PRODUCT), ("workbook", AS_PRODUCT)]),
            ("open", true, &[("creat", AS_SAID)]),
            ("open", false, &[]),
            // What stands for it has the same stem.
            ("deploi", true, &[]),
        ] {
            let found = others(stemmed, is_verb);
            let found: Vec<(&str, u8)> =
                found.iter().map(|(word, worth)| (word.as_str(), *worth)).collect();
            assert_eq!(found, expected, "{stemmed}");
        }
    }
}
