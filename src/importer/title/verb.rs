//! The verbs at the start of titles, and their forms.

/// Verbs in their base form, in alphabetical order. Collected from published documents.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "abort", "accept", "acknowledge", "acquire", "activate", "adapt", "add", "adjust", "administer", "admit", "adopt",
    "advertise", "aggregate", "alert", "allocate", "allow", "amend", "analyze", "annotate", "announce", "answer",
    "append", "apply", "appoint", "approve", "archive", "arm", "ask", "assemble", "assert", "assess", "assign",
    "associate", "assume", "attach", "attest", "audit", "authenticate", "authorize", "autocomplete", "backup", "ban",
    "batch", "begin", "bind", "block", "book", "boost", "bootstrap", "browse", "build", "bulk", "buy", "bypass",
    "calculate", "call", "cancel", "capture", "categorize", "certify", "change", "charge", "check", "choose", "claim",
    "classify", "clean", "cleanup", "clear", "clone", "close", "collapse", "collect", "combine", "commit", "compact",
    "compare", "compile", "complete", "compose", "compress", "compute", "condense", "configure", "confirm", "connect",
    "consent", "consolidate", "construct", "consume", "contact", "contribute", "control", "convert", "copy",
    "correct", "count", "create", "crop", "cut", "deactivate", "deallocate", "decline", "decode", "decompress",
    "decrease", "decrement", "decrypt", "deduct", "defer", "define", "delegate", "delete", "deliver", "demote",
    "deny", "deploy", "deposit", "deprecate", "deprovision", "dequeue", "deregister", "derive", "describe",
    "deselect", "destroy", "detach", "detect", "determine", "diagnose", "disable", "disallow", "disapprove",
    "disassociate", "discard", "disconnect", "discover", "dismiss", "dispatch", "display", "dispute", "dissociate",
    "distribute", "donate", "download", "drain", "drop", "duplicate", "edit", "eject", "elect", "email", "empty",
    "enable", "encode", "encrypt", "end", "endorse", "enforce", "enqueue", "enrich", "enroll", "ensure", "enter",
    "enumerate", "erase", "escalate", "establish", "estimate", "evaluate", "examine", "exchange", "exclude",
    "execute", "exists", "exit", "expand", "expire", "explain", "explore", "export", "expose", "extend", "extract",
    "fail", "favorite", "favourite", "fetch", "fill", "filter", "finalize", "find", "finish", "fire", "fix", "flag",
    "flatten", "flip", "flush", "follow", "force", "forecast", "forget", "forgive", "fork", "format", "forward",
    "freeze", "fulfill", "gather", "generate", "geocode", "get", "give", "grant", "group", "halt", "handle", "hide",
    "hold", "identify", "ignore", "impersonate", "import", "include", "increase", "increment", "index", "indicate",
    "inform", "ingest", "init", "initialize", "initiate", "insert", "inspect", "install", "instantiate", "interpret",
    "intersect", "introspect", "invalidate", "invite", "invoke", "issue", "join", "keep", "kick", "kill", "label",
    "launch", "leave", "like", "limit", "link", "list", "listen", "load", "locate", "lock", "log", "login", "logout",
    "look", "lookup", "mail", "make", "manage", "mark", "match", "measure", "merge", "migrate", "mint", "mirror",
    "mix", "modify", "monitor", "mount", "move", "mute", "name", "negotiate", "normalize", "notify", "obtain",
    "offer", "offload", "open", "opt", "optimize", "order", "override", "overwrite", "page", "parse", "patch",
    "pause", "pay", "peek", "perform", "permit", "persist", "pick", "pin", "ping", "place", "play", "poll",
    "populate", "post", "postpone", "predict", "prepare", "preview", "print", "prioritize", "process", "produce",
    "promote", "prompt", "propose", "provide", "provision", "proxy", "prune", "publish", "pull", "purchase", "purge",
    "push", "put", "query", "queue", "quit", "raise", "rank", "rate", "react", "reactivate", "read", "reassign",
    "rebalance", "reboot", "rebuild", "recalculate", "receive", "recognize", "recommend", "reconcile", "reconnect",
    "record", "recover", "recreate", "recycle", "redeem", "redeliver", "redeploy", "redirect", "redo", "reduce",
    "reencrypt", "refine", "refresh", "refund", "regenerate", "register", "reimage", "reindex", "reject", "release",
    "reload", "remediate", "remind", "remove", "rename", "render", "renew", "reopen", "reorder", "repair", "repeat",
    "replace", "replay", "replicate", "reply", "report", "repost", "reprocess", "request", "rerun", "reschedule",
    "resend", "reserve", "reset", "resize", "resolve", "respond", "restart", "restore", "restrict", "resubmit",
    "resume", "resync", "retire", "retrieve", "retry", "return", "reverse", "revert", "review", "revise", "revoke",
    "rewind", "roll", "rollback", "rotate", "route", "run", "sample", "save", "scale", "scan", "schedule", "score",
    "scroll", "seal", "search", "seek", "select", "sell", "send", "serve", "set", "settle", "setup", "share", "ship",
    "show", "shut", "shutdown", "sign", "signal", "signup", "simulate", "skip", "snooze", "solve", "sort", "specify",
    "split", "star", "start", "stop", "store", "stream", "submit", "subscribe", "suggest", "summarize", "supply",
    "suspend", "swap", "switch", "sync", "synchronize", "tag", "take", "terminate", "test", "throttle", "toggle",
    "track", "train", "transcribe", "transfer", "transform", "transition", "translate", "trash", "treat", "trigger",
    "trim", "truncate", "try", "turn", "unarchive", "unarm", "unassign", "unban", "unbind", "unblock", "undelete",
    "undeploy", "undo", "unfavorite", "unfollow", "unfreeze", "unhide", "uninstall", "unlabel", "unlike", "unlink",
    "unlock", "unmark", "unmount", "unmute", "unpause", "unpin", "unpublish", "unregister", "unset", "unshare",
    "unstar", "unsubscribe", "unsuspend", "untag", "unwatch", "update", "upgrade", "upload", "upsert", "use",
    "validate", "verify", "view", "visit", "void", "vote", "wait", "wake", "watch", "wipe", "withdraw", "write",
    "yank",
];

/// Words that are nouns at least as often as verbs. They count as nouns at the end of an
/// identifier.
#[rustfmt::skip]
const OFTEN_NOUNS: &[&str] = &[
    "backup", "batch", "book", "bulk", "call", "change", "charge", "contact", "control", "deposit", "display",
    "dispute", "email", "end", "exchange", "export", "favorite", "favourite", "filter", "format", "group", "handle",
    "hold", "import", "index", "issue", "label", "limit", "link", "log", "look", "mail", "match", "name", "offer",
    "order", "page", "permit", "place", "post", "process", "proxy", "purchase", "query", "queue", "rank", "rate",
    "record", "refund", "report", "request", "review", "route", "sample", "schedule", "score", "set", "share",
    "signal", "star", "store", "stream", "switch", "tag", "test", "track", "transfer", "transition", "trigger",
    "view", "visit", "vote", "watch",
];

fn is_base(word: &str) -> bool {
    VERBS.binary_search(&word).is_ok()
}

/// The base form of a verb in base form, third person or gerund: `lists`, `listing` → `list`.
/// Returns `None` for other words. Accepts British spelling.
pub fn base(word: &str) -> Option<String> {
    let mut word = word.to_lowercase();
    word.retain(|letter| letter != '-');
    // Try the original spelling first: American English also writes `advertise`.
    base_with_exact_spelling(&word).or_else(|| {
        let is_british = word.contains("ise") || word.contains("yse");
        let american = || word.replace("ise", "ize").replace("yse", "yze");
        is_british.then(american).and_then(|word| base_with_exact_spelling(&word))
    })
}

fn base_with_exact_spelling(word: &str) -> Option<String> {
    if is_base(word) {
        return Some(word.to_owned());
    }
    // Third person and gerund end in "s" or "ing".
    if !word.ends_with('s') && !word.ends_with("ing") {
        return None;
    }
    let known = |candidate: String| is_base(&candidate).then_some(candidate);
    let stem = |end: &str, instead: &str| {
        word.strip_suffix(end).and_then(|stem| known(format!("{stem}{instead}")))
    };
    let doubled = || {
        let stem = word.strip_suffix("ing")?;
        let last = stem.chars().next_back()?;
        known(stem.strip_suffix(last)?.to_owned())
    };
    stem("ies", "y")
        .or_else(|| stem("es", ""))
        .or_else(|| stem("s", ""))
        .or_else(|| stem("ing", ""))
        .or_else(|| stem("ing", "e"))
        .or_else(doubled)
}

/// The base form of a word that is unlikely to be a noun, for words at the end of an identifier.
/// Returns `None` for other words.
pub fn base_of_clear_verb(word: &str) -> Option<String> {
    let word = word.to_lowercase();
    (is_base(&word) && !is_often_noun(&word)).then_some(word)
}

pub fn is_often_noun(word: &str) -> bool {
    OFTEN_NOUNS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::{VERBS, base};

    #[test]
    fn verbs_are_sorted() {
        assert!(VERBS.is_sorted());
        for verb in VERBS {
            assert_eq!(base(verb).as_deref(), Some(*verb));
        }
    }

    #[test]
    fn finds_the_base_of_verb_forms() {
        for (word, verb) in [
            ("Lists", Some("list")),
            ("advertises", Some("advertise")),
            ("queries", Some("query")),
            ("searches", Some("search")),
            ("Creating", Some("create")),
            ("getting", Some("get")),
            ("initialises", Some("initialize")),
            ("analyse", Some("analyze")),
            ("pets", None),
            ("s", None),
            ("", None),
        ] {
            assert_eq!(base(word).as_deref(), verb, "{word}");
        }
    }
}
