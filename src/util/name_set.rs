//! A set of a few names, kept as one text: the form in which a token carries it, and which is compared and copied at once.

use serde::{Serialize, Serializer};

/// Names, none of which contains a comma. Without a name, it is the empty set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Names(String);

impl Names {
    /// A set of these names.
    #[must_use]
    pub fn new(names: &[String]) -> Self {
        Self(names.join(","))
    }

    /// The set that [`Self::as_str`] wrote.
    #[must_use]
    pub const fn of_text(text: String) -> Self {
        Self(text)
    }

    /// The names, separated by commas.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// All names.
    #[must_use]
    pub fn all(&self) -> Vec<&str> {
        self.0.split(',').filter(|name| !name.is_empty()).collect()
    }

    /// Whether the set contains `name`.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.all().contains(&name)
    }
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.all())
    }
}

#[cfg(test)]
mod tests {
    use super::Names;
    use crate::util::json;

    #[test]
    fn what_is_in_it_is_whole_names() {
        let names = Names::new(&["alpha".into(), "alpha-two".into()]);
        assert_eq!((names.as_str(), names.all()), ("alpha,alpha-two", vec!["alpha", "alpha-two"]));
        assert_eq!(json::text(&names), r#"["alpha","alpha-two"]"#);
        for (name, is_in) in [("alpha", true), ("alpha-two", true), ("alph", false), ("", false)] {
            assert_eq!(names.has(name), is_in, "{name}");
        }
        assert_eq!(Names::of_text(names.as_str().to_owned()), names);
        let none = Names::default();
        assert_eq!((none.all(), none.has(""), json::text(&none)), (vec![], false, "[]".into()));
    }
}
