//! Parsers for the arguments of the commands under `keys`.

use std::str::FromStr;

use anyhow::{Result, bail};
use indicatif::HumanCount;
use uuid::Uuid;

use crate::terms::{Environment, Scope, Scopes};

/// Parses one of `names`. The error lists them.
fn one_of<T: FromStr>(text: &str, names: &[&str]) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected {}", names.join(", ")))
}

pub fn environment(text: &str) -> Result<Environment, String> {
    one_of(text, &Environment::ALL.map(Environment::as_str))
}

pub fn scope(text: &str) -> Result<Scope, String> {
    if text.contains([',', ' ']) {
        return Err("expected one scope: repeat the option for each".to_owned());
    }
    one_of(text, &Scope::ALL.map(Scope::as_str))
}

/// The requested scopes. If none are requested, the default scopes.
pub fn scopes(requested: &[Scope]) -> Scopes {
    let is_default = |scope: &Scope| requested.is_empty() && scope.is_default();
    Scope::ALL.into_iter().filter(|scope| is_default(scope) || requested.contains(scope)).collect()
}

/// Parses an integer from `min` to `max`.
pub fn number<N: TryFrom<u64>>(min: u64, max: u64) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (min..=max).contains(number));
        let number = number.and_then(|number| N::try_from(number).ok());
        number.ok_or_else(|| {
            format!("expected a whole number from {} to {}", HumanCount(min), HumanCount(max))
        })
    }
}

pub fn account(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("an account has 1 to 64 characters of A-Z a-z 0-9 . _ -".into())
    }
}

/// Parses a key's id. The error does not repeat the input, which may be a secret.
pub fn key_id(text: &str) -> Result<String> {
    if let Ok(id) = text.parse::<Uuid>() {
        return Ok(id.to_string());
    }
    let what =
        if text.starts_with("sk_") { "a key's secret, not its id" } else { "not a key's id" };
    bail!(
        "that is {what}. An id looks like 1b4e28ba-2fa1-4d2b-883f-0016d3cca427; to list the ids of your keys:\n  npm run keys -- list"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_accounts() {
        for text in ["a", "acme", "Acme-2.0_x", &"a".repeat(64)] {
            assert_eq!(account(text).unwrap(), text);
        }
        for text in ["", "a b", "ü", "a'b", "a/b", "a:b", "a\n", &"a".repeat(65)] {
            assert!(account(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parses_numbers() {
        let parse = number::<u16>(1, 65_535);
        assert_eq!([parse("1"), parse("65535")], [Ok(1), Ok(65_535)]);
        for text in ["", "0", "65536", "-1", "1.0", "x", "99999999999999999999"] {
            let expected = "expected a whole number from 1 to 65,535";
            assert_eq!(parse(text).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn several_scopes_in_one_option_are_explained() {
        assert!(scope("catalog:read").is_ok());
        assert!(scope("catalog:read,audit:read").unwrap_err().contains("repeat the option"));
        assert!(scope("catalog").unwrap_err().contains("catalog:read, "));
    }

    #[test]
    fn scopes_are_sorted_without_duplicates() {
        let scopes = |requested: &[Scope]| scopes(requested).to_string();
        let default = Scope::ALL.into_iter().filter(|scope| scope.is_default());
        assert_eq!(scopes(&[]), default.collect::<Scopes>().to_string());
        assert_eq!(
            scopes(&[Scope::ConnectionsWrite, Scope::CatalogRead, Scope::CatalogRead]),
            "catalog:read connections:write"
        );
    }

    #[test]
    fn parses_ids() {
        let good = "1b4e28ba-2fa1-4d2b-883f-0016d3cca427";
        for text in [good, &good.to_uppercase(), "1b4e28ba2fa14d2b883f0016d3cca427"] {
            assert_eq!(key_id(text).unwrap(), good);
        }
        for (text, expected) in [
            ("nope", "that is not a key's id. "),
            ("", "that is not a key's id. "),
            ("sk_test_abc", "that is a key's secret, not its id. "),
        ] {
            let error = key_id(text).unwrap_err().to_string();
            assert!(
                error.starts_with(expected) && error.contains("npm run keys -- list"),
                "{error}"
            );
            assert!(!error.contains("abc"), "{error}");
        }
    }
}
