//! Parses the parameters of OAuth requests (`application/x-www-form-urlencoded`) from a query or a
//! body.

use crate::util::percent::decode_form;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormError {
    /// A name or a value is not encoded correctly, or has a control character.
    Encoding,
    /// A parameter is repeated (RFC 6749, sections 3.1 and 3.2).
    Duplicate(String),
    TooMany,
}

/// The maximum number of parameters: the consent form has a checkbox for each of 100 platforms, and
/// the page of grants has 20. Each name is compared with all before it, so a larger number would be
/// expensive.
const MAX_PARAMETERS: usize = 200;

/// The parameters of a request. A parameter without a value counts as omitted (RFC 6749, section
/// 3.1).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Parses parameters. Only those in `repeatable` may be repeated.
    pub fn parse(text: &str, repeatable: &[&str]) -> Result<Self, FormError> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text| decode_form(text).filter(|text| !text.contains(char::is_control));
            let (Some(name), Some(value)) = (decode(name), decode(value)) else {
                return Err(FormError::Encoding);
            };
            if pairs.len() >= MAX_PARAMETERS {
                return Err(FormError::TooMany);
            }
            if !repeatable.contains(&&*name) && pairs.iter().any(|(known, _)| *known == name) {
                return Err(FormError::Duplicate(name.into_owned()));
            }
            pairs.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(pairs))
    }

    /// Returns `None` if the parameter is omitted or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let pair = self.0.iter().find(|(known, value)| known == name && !value.is_empty());
        pair.map(|(_, value)| value.as_str())
    }

    /// The values of a repeatable parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = self.0.iter().filter(move |(known, value)| known == name && !value.is_empty());
        pairs.map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, FormError};

    #[test]
    fn refuses_repeated_and_malformed_parameters() {
        let form = Form::parse("a=1+2&b=%C3%A9&c&p=x&&p=y", &["q", "p"]).unwrap();
        assert_eq!((form.get("a"), form.get("b"), form.get("c")), (Some("1 2"), Some("é"), None));
        assert_eq!(form.all("p").collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(Form::parse("a=1&a=1", &["p"]), Err(FormError::Duplicate("a".into())));
        for bad in ["a=%zz", "a=%ff", "%0a=1", "a=%00"] {
            assert_eq!(Form::parse(bad, &[]), Err(FormError::Encoding), "{bad}");
        }
    }
    #[test]
    fn a_request_has_at_most_200_parameters() {
        let text = |count: usize| vec!["p=x"; count].join("&");
        assert_eq!(Form::parse(&text(200), &["p"]).unwrap().all("p").count(), 200);
        assert_eq!(Form::parse(&text(201), &["p"]), Err(FormError::TooMany));
    }
}
