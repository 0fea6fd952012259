//! What a mistyped name may have meant.

/// Longer names are compared and shown by their beginning only, so that a hostile one costs little.
const BEGINNING_CHARS: usize = 64;

/// As much of a name that somebody sent as is compared and shown.
#[must_use]
pub fn beginning(name: &str) -> String {
    name.chars().take(BEGINNING_CHARS).collect()
}

/// The up to `most` of `known` that resemble `name` most, the best first.
pub fn nearest<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<String> {
    let mut known = known.into_iter();
    nearest_of(name, &mut || known.next(), most)
}

/// The same for names of any kind: one piece of code for all. `next` gives one after the other; an iterator would bring all
/// that iterators can do.
fn nearest_of<'a>(
    name: &str,
    next: &mut dyn FnMut() -> Option<&'a str>,
    most: usize,
) -> Vec<String> {
    let name = bare(&beginning(name));
    // Few are asked for: putting each in its place is faster than sorting all.
    let mut best: Vec<(f64, &str)> = Vec::with_capacity(most.saturating_add(1));
    while let Some(known) = next() {
        let score = likeness(&name, known);
        let at = best.partition_point(|(other, other_name)| {
            other.total_cmp(&score).then_with(|| known.cmp(other_name)).is_gt()
        });
        if at < most {
            best.insert(at, (score, known));
            best.truncate(most);
        }
    }
    best.into_iter().map(|(_, known)| known.to_owned()).collect()
}

/// A name as it is compared: `identity_type` is `identityType` written in another way. All known names are ASCII.
fn bare(name: &str) -> String {
    let kept = name.chars().filter(|letter| !matches!(letter, '_' | '-'));
    kept.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Whether a part of at least three letters is in the whole.
fn contains(whole: &str, part: &str) -> bool {
    let (whole, part) = (whole.as_bytes(), part.as_bytes());
    part.len() >= 3 && whole.windows(part.len()).any(|window| window == part)
}

/// 0 (nothing alike) to 2; a name that contains the other one comes before those that merely look alike.
fn likeness(name: &str, known: &str) -> f64 {
    let folded = bare(known);
    let contained = contains(&folded, name) || contains(name, &folded);
    strsim::jaro_winkler(name, &folded) + if contained { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_comes_first() {
        let known = ["platform", "authkit", "key", "name", "category", "limit", "page", "q"];
        for (name, expected) in [
            ("Platform", "platform"),
            ("plattform", "platform"),
            ("pages", "page"),
            ("per_page", "page"),
            ("", "authkit"),
        ] {
            assert_eq!(nearest(name, known, 1), [expected], "{name}");
        }
        assert_eq!(nearest("gitub", ["gitlab", "github", "stripe"], 2), ["github", "gitlab"]);
        assert_eq!(nearest("identity_type", ["identity", "identityType"], 1), ["identityType"]);
        assert_eq!(nearest("x", [], 3), [""; 0]);
    }
}
