//! The values of `If-Match` and `If-None-Match`: entity tags (RFC 9110, sections 8.8.3 and 13.1).

/// An entity tag in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityTag<'a> {
    /// Whether the tag is weak (`W/"…"`).
    pub is_weak: bool,
    /// The tag with its quotes.
    pub opaque: &'a str,
}

/// The value of `If-Match` or `If-None-Match` (RFC 9110, sections 13.1.1 and 13.1.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition<'a> {
    /// `*`
    Any,
    /// Any of these tags; never empty.
    OneOf(Vec<EntityTag<'a>>),
}

impl<'a> Condition<'a> {
    /// Parses the value. Returns `None` when it is neither `*` nor a list of entity tags.
    pub fn parse(value: &'a str) -> Option<Self> {
        let mut rest = value.trim_matches(BLANKS);
        if rest == "*" {
            return Some(Self::Any);
        }
        let mut tags = Vec::new();
        while !rest.is_empty() {
            let tag = rest.strip_prefix("W/").unwrap_or(rest);
            let end = tag.strip_prefix('"')?.find('"')?.saturating_add(2);
            let (opaque, after) = tag.split_at_checked(end)?;
            if opaque.chars().any(|letter| letter.is_ascii_control() || letter == ' ') {
                return None;
            }
            tags.push(EntityTag { is_weak: tag.len() < rest.len(), opaque });
            let after = after.trim_start_matches(BLANKS);
            rest = match after.strip_prefix(',') {
                // Recipients must ignore empty list items (RFC 9110, section 5.6.1).
                Some(next) => next.trim_start_matches([' ', '\t', ',']),
                None if after.is_empty() => after,
                None => return None,
            };
        }
        (!tags.is_empty()).then_some(Self::OneOf(tags))
    }
}

/// White space that may surround a list item.
const BLANKS: [char; 2] = [' ', '\t'];

#[cfg(test)]
mod tests {
    use super::Condition;

    #[test]
    fn a_condition_is_a_star_or_a_list_of_entity_tags() {
        for (value, expected) in [
            ("\"a\"", "\"a\""),
            ("  \"a\"\t", "\"a\""),
            ("\"\"", "\"\""),
            ("\"y,z\"", "\"y,z\""),
            ("W/\"a\",\"b\" ,\t\"!#é~\"", "W/\"a\" \"b\" \"!#é~\""),
            ("\"a\", , \"b\",", "\"a\" \"b\""),
        ] {
            let Some(Condition::OneOf(tags)) = Condition::parse(value) else { panic!("{value}") };
            let tags =
                tags.iter().map(|tag| if tag.is_weak { "W/" } else { "" }.to_owned() + tag.opaque);
            assert_eq!(tags.collect::<Vec<_>>().join(" "), expected, "{value}");
        }
        assert_eq!(Condition::parse(" * "), Some(Condition::Any));
        for value in [
            "",
            " ",
            ",",
            ", ,",
            "a",
            "\"",
            "\"a",
            "a\"",
            "**",
            "*, \"a\"",
            "\"a\", *",
            "w/\"a\"",
            "W/a",
            "W/*",
            "W/",
            "W/ \"a\"",
            "\"a\"\"b\"",
            "\"a\" \"b\"",
            "\"a\";\"b\"",
            "'a'",
            "\"a b\"",
            "\"a\tb\"",
            "\"a\", b",
            ",\"a\" b",
        ] {
            assert_eq!(Condition::parse(value), None, "{value}");
        }
    }
}
