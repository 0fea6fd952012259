//! Formats values as SQL literals. Wrangler does not support bound parameters, so commands use only
//! types that can't carry SQL: numbers, and strings that were validated when they were parsed. As a
//! second defence, strings are also quoted.

use std::fmt;

use crate::ports::{Param, Statement};

/// Replaces the parameters `?1`, `?2` and so on of a statement with literals.
pub fn interpolate(statement: &Statement) -> String {
    let mut sql = String::new();
    // Every second piece is inside quotes. A doubled quote in a literal only adds an empty piece.
    for (index, piece) in statement.sql.split('\'').enumerate() {
        if index > 0 {
            sql.push('\'');
        }
        if index % 2 == 1 {
            sql.push_str(piece);
            continue;
        }
        let mut parts = piece.split('?');
        sql.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let (number, rest) = part.split_at_checked(end).unwrap_or((part, ""));
            let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            sql.push_str(&match at.and_then(|at| statement.params.get(at)) {
                Some(Param::Integer(number)) => number.to_string(),
                Some(Param::Text(text)) => StringLiteral(text).to_string(),
                Some(Param::Null) | None => "NULL".to_owned(),
            });
            sql.push_str(rest);
        }
    }
    sql
}

/// A string that `Display` formats as a quoted SQL literal.
#[derive(Debug, Clone, Copy)]
pub struct StringLiteral<'a>(pub &'a str);

impl fmt::Display for StringLiteral<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Valid strings contain no NUL, which would end the statement early in some places.
        let safe = self.0.replace('\0', "").replace('\'', "''");
        write!(f, "'{safe}'")
    }
}

/// A number that `Display` formats as a SQL literal; `None` becomes `NULL`.
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
    fn string_literal_cannot_be_escaped() {
        for (text, literal) in [
            ("acme", "'acme'"),
            ("", "''"),
            ("o'hara", "'o''hara'"),
            ("'; DROP TABLE api_keys; --", "'''; DROP TABLE api_keys; --'"),
            ("a\0b", "'ab'"),
            ("\\'", "'\\'''"),
        ] {
            assert_eq!(StringLiteral(text).to_string(), literal);
        }
    }

    #[test]
    fn literals_round_trip_through_sqlite() {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        for text in ["acme", "o'hara", "''", "'; SELECT 1; --", "ü\\\"\n"] {
            let back: String = db
                .query_row(&format!("SELECT {}", StringLiteral(text)), [], |row| row.get(0))
                .unwrap();
            assert_eq!(back, text);
        }
    }

    #[test]
    fn interpolates_parameters_outside_of_quotes() {
        let statement = Statement {
            sql: "SELECT '?1', ?2, ?1 || 'it''s ?3' WHERE ?3 IS NULL AND 1 = ?12".into(),
            params: (0..12)
                .map(|index| match index {
                    0 => Param::text("o'hara?2"),
                    2 => Param::Null,
                    index => Param::Integer(index),
                })
                .collect(),
        };
        let expected = "SELECT '?1', 1, 'o''hara?2' || 'it''s ?3' WHERE NULL IS NULL AND 1 = 11";
        assert_eq!(interpolate(&statement), expected);
    }

    #[test]
    fn writes_numbers_and_null() {
        assert_eq!(Number(Some(-5)).to_string(), "-5");
        assert_eq!(Number(None).to_string(), "NULL");
    }
}
