//! Percent-encoding, and strict percent-decoding that rejects malformed input.

use std::borrow::Cow;

/// Decodes `%XX`. Returns `None` if an escape is malformed, or if the result is not UTF-8.
pub fn decode(text: &str) -> Option<Cow<'_, str>> {
    if text.bytes().any(|byte| byte == b'%') {
        decode_bytes(text, b'+')
    } else {
        Some(Cow::Borrowed(text))
    }
}

/// Like [`decode`], but for a name or value in a query or form, where `+` represents a space.
pub fn decode_form(text: &str) -> Option<Cow<'_, str>> {
    if text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        decode_bytes(text, b' ')
    } else {
        Some(Cow::Borrowed(text))
    }
}

/// Like [`decode_form`], but for text that is only displayed. Replaces invalid UTF-8 with U+FFFD,
/// and keeps malformed escapes unchanged.
pub fn decode_form_lossy(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut escape = bytes.clone();
        let escaped = match byte {
            b'%' => escape.next().and_then(hex).zip(escape.next().and_then(hex)),
            _ => None,
        };
        if let Some((high, low)) = escaped {
            decoded.push(high << 4 | low);
            bytes = escape;
        } else {
            decoded.push(if byte == b'+' { b' ' } else { byte });
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn decode_bytes(text: &str, plus: u8) -> Option<Cow<'_, str>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            b'+' => plus,
            other => other,
        });
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

/// Encodes all characters except letters, digits, `-`, `.`, `_` and `~`. The result can be used as
/// a path segment, and as a name or value in a query.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
            encoded.extend(digits.into_iter().flatten().map(|digit| digit.to_ascii_uppercase()));
        }
    }
    encoded
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::{decode, decode_form, decode_form_lossy, encode};

    #[test]
    fn decodes_once_and_strictly() {
        for (text, expected) in [
            ("", Some("")),
            ("plain", Some("plain")),
            ("%41%2f%2F", Some("A//")),
            ("%2541", Some("%41")),
            ("caf%C3%A9 é", Some("café é")),
            ("a+b", Some("a+b")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%+1", None),
            ("%ff", None),
            ("%C3", None),
        ] {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
        }
        assert_eq!(decode_form("a+b%2B").as_deref(), Some("a b+"));
    }

    #[test]
    fn invalid_escapes_remain_in_text() {
        for (text, expected) in [
            ("a+b%20%C3%A9", "a b é"),
            ("refus%E9+ici", "refus\u{fffd} ici"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("%%41", "%A"),
        ] {
            assert_eq!(decode_form_lossy(text), expected, "{text}");
        }
    }

    #[test]
    fn encoding_round_trips() {
        assert_eq!(encode("a-._~Z9 é/+%"), "a-._~Z9%20%C3%A9%2F%2B%25");
        for text in ["", "a b+c", "é名🦀", "%41&=#?", "\0\n\u{7f}"] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
            assert_eq!(decode_form(&encode(text)).as_deref(), Some(text));
        }
    }
}
