//! The few values that the operator's commands put into SQL text.
//!
//! wrangler accepts SQL only without bound parameters. So every value is of a type that cannot carry SQL: a number, or
//! a text that was checked when it was parsed. Texts are quoted here all the same.

use std::fmt;

/// A text literal. `Display` quotes it.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a>(pub &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A NUL would end the statement early in some places; no valid text has one.
        let safe = self.0.replace('\0', "").replace('\'', "''");
        write!(f, "'{safe}'")
    }
}

/// A number literal, or `NULL`.
#[derive(Debug, Clone, Copy)]
pub struct Number(pub Option<i64>);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(f, "{number}"),
            None => f.write_str("NULL"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_quotes() {
        for (text, literal) in [
            ("acme", "'acme'"),
            ("", "''"),
            ("o'hara", "'o''hara'"),
            ("'; DROP TABLE api_keys; --", "'''; DROP TABLE api_keys; --'"),
            ("a\0b", "'ab'"),
            ("\\'", "'\\'''"),
        ] {
            assert_eq!(Text(text).to_string(), literal);
        }
    }

    #[test]
    fn literals_reach_sqlite_as_they_were() {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        for text in ["acme", "o'hara", "''", "'; SELECT 1; --", "ü\\\"\n"] {
            let back: String =
                db.query_row(&format!("SELECT {}", Text(text)), [], |row| row.get(0)).unwrap();
            assert_eq!(back, text);
        }
    }

    #[test]
    fn a_number_or_null() {
        assert_eq!(Number(Some(-5)).to_string(), "-5");
        assert_eq!(Number(None).to_string(), "NULL");
    }
}
