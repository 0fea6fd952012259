//! Suggestions for misspelled names.

/// The maximum number of characters of a name that are compared and displayed. Bounds the cost of
/// hostile input.
const MAX_COMPARED_CHARS: usize = 64;
/// The minimum length of a string that counts as a prefix of another string.
const MIN_PREFIX_CHARS: usize = 3;

/// The characters of a requested name that are compared and displayed.
fn truncated(name: &str) -> String {
    name.chars().take(MAX_COMPARED_CHARS).collect()
}

/// Truncates a long name for display, and adds an ellipsis.
pub fn shown(name: &str) -> String {
    let mut shown = truncated(name);
    if shown.len() < name.len() {
        shown.push('…');
    }
    shown
}

/// Returns up to `limit` names in `known` that resemble `name`, starting with the most similar one.
pub fn nearest<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<String> {
    let mut known = known.into_iter();
    nearest_of(name, &mut || known.next(), limit)
}

/// The end of a message that suggests the most similar name. Empty if no name is similar.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(name, known, 1).concat();
    if near.is_empty() { near } else { format!("; did you mean `{near}`?") }
}

/// The part of [`nearest`] that does not depend on the type of the iterator, so that it is compiled
/// only once. The iterator is passed as a closure, because a `dyn Iterator` would include the code
/// of all its methods.
fn nearest_of<'a>(
    name: &str,
    next: &mut dyn FnMut() -> Option<&'a str>,
    limit: usize,
) -> Vec<String> {
    let name = Name::new(&truncated(name));
    // `limit` is small, so inserting each name in place is faster than sorting all names.
    let mut best: Vec<(Similarity, &str)> = Vec::with_capacity(limit.saturating_add(1));
    while let Some(known) = next() {
        let Some(similarity) = name.similarity(known) else { continue };
        let at = best.partition_point(|(other, other_name)| {
            other.cmp(&similarity).then_with(|| known.cmp(other_name)).is_gt()
        });
        if at < limit {
            best.insert(at, (similarity, known));
            best.truncate(limit);
        }
    }
    best.into_iter().map(|(_, known)| known.to_owned()).collect()
}

/// How two names resemble each other, from the weakest to the strongest resemblance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MatchKind {
    /// A part of the known name equals the requested name, except for typos.
    TypoInPart,
    /// A part of the requested name equals the known name.
    ContainsKnown,
    /// The names are equal, except for typos.
    Typo,
    /// The requested name has several parts, and each of them is a prefix of a part of the known
    /// name.
    AllParts,
    /// One name is a prefix of the other, or the requested name is a prefix of a part of the known
    /// name.
    Prefix,
    /// A part of the known name equals the requested name.
    Part,
    /// The names are equal, except for case and separators.
    Equal,
}

/// The kind of match, and the ratio of the lengths or of correct letters in thousandths.
type Similarity = (MatchKind, usize);

/// A name in lower case, as a whole and in parts. `identity_type` and `identityType` result in the
/// same name.
struct Name {
    joined: String,
    parts: Vec<String>,
}

impl Name {
    fn new(text: &str) -> Self {
        let (mut parts, mut part, mut was_lower) = (Vec::new(), String::new(), false);
        for letter in text.chars() {
            let is_hump = was_lower && letter.is_ascii_uppercase();
            let is_separator = letter.is_ascii() && !letter.is_ascii_alphanumeric();
            if (is_hump || is_separator) && !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            if !is_separator {
                part.push(letter.to_ascii_lowercase());
            }
            was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        }
        if !part.is_empty() {
            parts.push(part);
        }
        Self { joined: parts.concat(), parts }
    }

    /// Compares a known name with this one. Returns `None` if they do not resemble each other.
    fn similarity(&self, known: &str) -> Option<Similarity> {
        let known = Self::new(known);
        let (sent, other) = (self.joined.as_str(), known.joined.as_str());
        if sent.is_empty() || other.is_empty() {
            return None;
        }
        let per_mille = per_mille(sent.len().min(other.len()), sent.len().max(other.len()));
        if sent == other {
            return Some((MatchKind::Equal, per_mille));
        }
        let is_part = |part: &str, of: &Self| of.parts.iter().any(|one| one == part);
        if is_part(sent, &known) {
            return Some((MatchKind::Part, per_mille));
        }
        let part_begins = || known.parts.iter().any(|part| has_prefix(part, sent));
        if has_prefix(other, sent) || has_prefix(sent, other) || part_begins() {
            return Some((MatchKind::Prefix, per_mille));
        }
        let begins_part =
            |part: &String| known.parts.iter().any(|one| one == part || has_prefix(one, part));
        if self.parts.len() > 1 && self.parts.iter().all(begins_part) {
            return Some((MatchKind::AllParts, per_mille));
        }
        if let Some(ratio) = typo_ratio(sent, other) {
            return Some((MatchKind::Typo, ratio));
        }
        if is_part(other, self) {
            return Some((MatchKind::ContainsKnown, per_mille));
        }
        let ratio = known.parts.iter().filter_map(|part| typo_ratio(sent, part)).max();
        // Of equally similar names, the shorter one is more likely.
        ratio.map(|ratio| (MatchKind::TypoInPart, ratio.saturating_mul(per_mille) / 1000))
    }
}

/// The ratio of `part` to `whole`, in thousandths.
fn per_mille(part: usize, whole: usize) -> usize {
    part.saturating_mul(1000).checked_div(whole).unwrap_or(0)
}

fn has_prefix(text: &str, prefix: &str) -> bool {
    prefix.len() >= MIN_PREFIX_CHARS && text.starts_with(prefix)
}

/// The ratio of correct letters in a misspelled string, in thousandths. Returns `None` if the
/// strings differ too much. A typo is an extra, missing or wrong letter, or two swapped letters.
/// Accepts one typo in strings of three or more letters, two from six letters, and three from ten.
/// Two or more are accepted only if the first letters are equal, because people rarely mistype the
/// first letter and another one.
pub fn typo_ratio(sent: &str, known: &str) -> Option<usize> {
    let [sent_chars, known_chars] = [sent, known].map(|text| text.chars().count());
    let length = sent_chars.max(known_chars);
    let limit: usize = match length {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    };
    // Each missing letter is a typo.
    if sent_chars.abs_diff(known_chars) > limit {
        return None;
    }
    let typos = strsim::osa_distance(sent, known);
    let has_same_first = sent.chars().next() == known.chars().next();
    (typos <= limit && (typos <= 1 || has_same_first))
        .then(|| per_mille(length.saturating_sub(typos), length))
}

#[cfg(test)]
mod tests {
    use super::{nearest, shown};

    const PLATFORMS: [&str; 22] = [
        "adyen-checkout",
        "amazonaws-s3",
        "asana",
        "atlassian-jira",
        "circleci",
        "github",
        "gitlab",
        "googleapis-calendar",
        "googleapis-drive",
        "googleapis-driveactivity",
        "googleapis-gmail",
        "googleapis-gmailpostmastertools",
        "googleapis-sheets",
        "launchdarkly",
        "microsoft-graph",
        "microsoft-graph-beta",
        "sendgrid",
        "slack-web",
        "twilio-api",
        "twilio-preview",
        "twitter",
        "xero-identity",
    ];
    const FILTERS: [&str; 13] = [
        "key",
        "platformVersion",
        "name",
        "identityType",
        "identity",
        "platform",
        "tags",
        "tagsMatch",
        "q",
        "active",
        "limit",
        "page",
        "after",
    ];

    #[test]
    fn parts_are_found_in_any_order() {
        let actions = [
            "issuesCreate",
            "issuesCreateComment",
            "pullsCreate",
            "issuesGet",
            "reposCreateForOrg",
        ];
        for (name, expected) in [
            ("createIssue", &["issuesCreate", "issuesCreateComment"][..]),
            ("create_issue_comment", &["issuesCreateComment"]),
            ("getIssue", &["issuesGet"]),
            ("createPull", &["pullsCreate"]),
            ("createOrgRepo", &["reposCreateForOrg"]),
        ] {
            assert_eq!(nearest(name, actions, 2), expected, "{name}");
        }
    }

    /// Each name with the expected suggestion. Empty if no known name is similar.
    #[test]
    fn suggests_similar_names() {
        let platforms = [
            // The same name in a different spelling.
            ("GitHub", "github"),
            ("git_hub", "github"),
            ("Git Hub", "github"),
            ("google-apis-gmail", "googleapis-gmail"),
            ("slack_web", "slack-web"),
            // A whole part of the known name. If several names have this part, the shorter name.
            ("gmail", "googleapis-gmail"),
            ("Gmail", "googleapis-gmail"),
            ("slack", "slack-web"),
            ("jira", "atlassian-jira"),
            ("drive", "googleapis-drive"),
            ("s3", "amazonaws-s3"),
            ("graph", "microsoft-graph"),
            ("preview", "twilio-preview"),
            ("github.com", "github"),
            ("twitter-v2", "twitter"),
            // A prefix of the name or of a part of it.
            ("launch", "launchdarkly"),
            ("githubenterprise", "github"),
            ("googleapis", "googleapis-drive"),
            ("calend", "googleapis-calendar"),
            ("post", ""),
            // Typos.
            ("gitub", "github"),
            ("githib", "github"),
            ("igthub", "github"),
            ("gmial", "googleapis-gmail"),
            ("asanna", "asana"),
            ("sengrid", "sendgrid"),
            ("lanchdarkley", "launchdarkly"),
            ("microsft-graph", "microsoft-graph"),
            ("twiter", "twitter"),
            // No similar name.
            ("stripe", ""),
            ("notion", ""),
            ("hubspot", ""),
            ("zoom", ""),
            ("trello", ""),
            ("salesforce", ""),
            ("x", ""),
            ("", ""),
            ("-", ""),
            ("日本", ""),
            ("%2e%2e", ""),
        ];
        let filters = [
            ("Platform", "platform"),
            ("plattform", "platform"),
            ("platfrom", "platform"),
            ("lmit", "limit"),
            ("pages", "page"),
            ("per_page", "page"),
            ("pge", "page"),
            ("identity_type", "identityType"),
            ("identitytyp", "identityType"),
            ("tag", "tags"),
            ("tags_match", "tagsMatch"),
            ("activ", "active"),
            ("kye", "key"),
            ("state", ""),
            ("status", ""),
            ("sort", ""),
            ("offset", ""),
            ("search", ""),
            ("id", ""),
        ];
        assert!(platforms.len() + filters.len() >= 50);
        let without_slack: Vec<&str> =
            PLATFORMS.into_iter().filter(|one| *one != "slack-web").collect();
        for (known, cases) in [
            (&PLATFORMS[..], &platforms[..]),
            (&FILTERS, &filters),
            (&without_slack, &[("slack", "")]),
        ] {
            for (name, expected) in cases {
                let found = nearest(name, known.iter().copied(), 1).pop().unwrap_or_default();
                assert_eq!(&found, expected, "{name}");
            }
        }
        let options = ["secret", "allowSecretInBrowser", "timeoutMs"];
        assert_eq!(nearest("allowSecretInBrowsers", options, 1), ["allowSecretInBrowser"]);
        assert_eq!(nearest("my-secret", options, 1), ["secret"]);
        for (name, known) in [("state", "tags"), ("name", "tags"), ("version", "tags")] {
            assert_eq!(nearest(name, [known], 1), [""; 0], "{name}");
        }
        assert_eq!(nearest("gitub", PLATFORMS, 3), ["github", "gitlab"]);
        assert_eq!(
            nearest("gmail", PLATFORMS, 3),
            ["googleapis-gmail", "googleapis-gmailpostmastertools"]
        );
        assert_eq!(nearest("x", [], 3), [""; 0]);
    }

    #[test]
    fn truncates_long_name() {
        assert_eq!(shown(&"é".repeat(64)), "é".repeat(64));
        assert_eq!(shown(&"é".repeat(65)), "é".repeat(64) + "…");
    }
}
