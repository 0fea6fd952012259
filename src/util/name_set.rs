//! A small set of names, stored as a single string. Tokens contain this string, and comparing or
//! copying the set takes one operation.

use serde::{Serialize, Serializer};

/// Comma-separated names. Empty for the empty set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Names(String);

impl Names {
    pub fn new(names: &[String]) -> Self {
        Self(names.join(","))
    }

    /// Creates a set from the output of [`Self::as_str`].
    pub const fn from_string(text: String) -> Self {
        Self(text)
    }

    /// The names, separated by commas.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn all(&self) -> Vec<&str> {
        self.0.split(',').filter(|name| !name.is_empty()).collect()
    }

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
    fn contains_whole_names_only() {
        let names = Names::new(&["alpha".into(), "alpha-two".into()]);
        assert_eq!((names.as_str(), names.all()), ("alpha,alpha-two", vec!["alpha", "alpha-two"]));
        assert_eq!(json::text(&names), r#"["alpha","alpha-two"]"#);
        for (name, is_in) in [("alpha", true), ("alpha-two", true), ("alph", false), ("", false)] {
            assert_eq!(names.has(name), is_in, "{name}");
        }
        assert_eq!(Names::from_string(names.as_str().to_owned()), names);
        let none = Names::default();
        assert_eq!((none.all(), none.has(""), json::text(&none)), (vec![], false, "[]".into()));
    }
}
