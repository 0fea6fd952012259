//! Detects the charset of a response, and decodes the charsets that need no tables.

use crate::util::media_type::essence;

/// The characters of Windows-1252 from 0x80 to 0x9F, where it differs from Latin-1
/// (<https://encoding.spec.whatwg.org/#windows-1252>).
const WINDOWS_1252: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// Returns the charset, and the offset at which the content begins. A byte order mark takes
/// precedence over the media type, and the media type over the XML declaration. The default is
/// UTF-8.
pub fn detect(content_type: &str, bytes: &[u8]) -> (String, usize) {
    for (mark, charset) in
        [(&b"\xef\xbb\xbf"[..], "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be")]
    {
        if bytes.starts_with(mark) {
            return (charset.to_owned(), mark.len());
        }
    }
    let named_charset = parameter(content_type)
        .or_else(|| essence(content_type).ends_with("xml").then(|| xml_encoding(bytes)).flatten());
    (named_charset.unwrap_or_else(|| "utf-8".to_owned()), 0)
}

/// The parameter `charset` of a media type.
fn parameter(content_type: &str) -> Option<String> {
    let mut parameters =
        content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let (_, value) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))?;
    let value = value.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
    Some(value).filter(|value| !value.is_empty())
}

/// The encoding that an XML document declares (XML 1.0, section 4.3.3).
fn xml_encoding(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes));
    let (declaration, _) = head.strip_prefix("<?xml")?.split_once("?>")?;
    let (_, rest) = declaration.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Some(rest.get(1..)?.split(quote).next()?.to_ascii_lowercase())
}

/// Decodes bytes. Returns `None` for other charsets, and for invalid bytes.
pub fn decode(charset: &str, bytes: &[u8]) -> Option<String> {
    let units = |read: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let text = String::from_utf16(&pairs.iter().map(|pair| read(*pair)).collect::<Vec<_>>());
        text.ok().filter(|_| rest.is_empty())
    };
    match charset {
        "utf-8" | "utf8" | "unicode-1-1-utf-8" => Some(std::str::from_utf8(bytes).ok()?.to_owned()),
        "utf-16" | "utf-16le" | "ucs-2" | "unicode" => units(u16::from_le_bytes),
        "utf-16be" => units(u16::from_be_bytes),
        // Browsers decode these charsets as Windows-1252, and servers rely on it.
        "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "us-ascii" | "ascii" | "cp1252"
        | "windows-1252" => {
            let decode_byte = |byte: &u8| match byte.checked_sub(0x80) {
                Some(at) => WINDOWS_1252.get(usize::from(at)).copied().unwrap_or(char::from(*byte)),
                None => char::from(*byte),
            };
            Some(bytes.iter().map(decode_byte).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, detect};

    #[test]
    fn detects_the_charset() {
        for (content_type, bytes, expected) in [
            ("text/plain", &b"a"[..], ("utf-8", 0)),
            ("text/plain; charset=ISO-8859-1", b"a", ("iso-8859-1", 0)),
            ("text/plain; format=flowed; Charset=\"Shift_JIS\"", b"a", ("shift_jis", 0)),
            ("text/plain; charset=", b"a", ("utf-8", 0)),
            ("application/json; charset=iso-8859-1", b"\xef\xbb\xbf{}", ("utf-8", 3)),
            ("application/json", b"\xff\xfe{\0", ("utf-16le", 2)),
            ("application/json", b"\xfe\xff\0{", ("utf-16be", 2)),
            ("text/xml", b"<?xml version=\"1.0\" encoding='ISO-8859-1'?><a/>", ("iso-8859-1", 0)),
            ("text/plain", b"<?xml version=\"1.0\" encoding='ISO-8859-1'?><a/>", ("utf-8", 0)),
            ("application/atom+xml", b"<?xml version=\"1.0\"?><a/>", ("utf-8", 0)),
        ] {
            let (charset, from) = detect(content_type, bytes);
            assert_eq!((charset.as_str(), from), expected, "{content_type}");
        }
    }

    #[test]
    fn charsets_without_tables_are_decoded() {
        for (charset, bytes, expected) in [
            ("utf-8", &b"\xc3\xa9"[..], Some("é")),
            ("utf-8", b"\xe9", None),
            ("iso-8859-1", b"\xe9\x80", Some("é€")),
            ("us-ascii", b"a", Some("a")),
            ("utf-16le", b"\xe9\0", Some("é")),
            ("utf-16be", b"\0\xe9", Some("é")),
            ("utf-16be", b"\0\xe9\0", None),
            ("utf-16le", b"\0\xd8", None),
            ("shift_jis", b"a", None),
        ] {
            assert_eq!(decode(charset, bytes).as_deref(), expected, "{charset} {bytes:?}");
        }
    }
}
