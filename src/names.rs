//! A few names as one text: a list of texts is compared, copied and remembered with much more code, which every cold start
//! would load.

use crate::json::array;

/// Names of which none holds a comma. No name at all is a set that nothing is in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Names(String);

impl Names {
    /// The names as a set.
    #[must_use]
    pub fn new(names: &[String]) -> Self {
        Self(names.join(","))
    }

    /// The names that [`Self::as_str`] gave.
    #[must_use]
    pub const fn of_text(text: String) -> Self {
        Self(text)
    }

    /// The names, parted by commas.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Each name.
    #[must_use]
    #[inline(never)]
    pub fn all(&self) -> Vec<&str> {
        self.0.split(',').filter(|name| !name.is_empty()).collect()
    }

    /// Whether a name is among them.
    #[must_use]
    #[inline(never)]
    pub fn has(&self, name: &str) -> bool {
        self.all().contains(&name)
    }

    /// The names as a JSON array.
    #[must_use]
    pub fn to_json(&self) -> String {
        array(&self.all())
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn what_is_in_it_is_whole_names() {
        let names = Names::new(&["alpha".into(), "alpha-two".into()]);
        assert_eq!((names.as_str(), names.all()), ("alpha,alpha-two", vec!["alpha", "alpha-two"]));
        assert_eq!(names.to_json(), r#"["alpha","alpha-two"]"#);
        for (name, is_in) in [("alpha", true), ("alpha-two", true), ("alph", false), ("", false)] {
            assert_eq!(names.has(name), is_in, "{name}");
        }
        assert_eq!(Names::of_text(names.as_str().to_owned()), names);
        let none = Names::default();
        assert_eq!((none.all(), none.has(""), none.to_json()), (vec![], false, "[]".into()));
    }
}
