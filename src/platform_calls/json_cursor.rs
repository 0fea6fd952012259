//! Scans valid JSON as text, reading each byte once and without building values: platforms'
//! responses have up to 8 MiB and four million items.

/// Removes the white space between the tokens of JSON.
pub fn minify(json: &str) -> String {
    let mut minified = String::with_capacity(json.len());
    let (mut is_text, mut is_escaped, mut kept) = (false, false, 0_usize);
    for (at, byte) in json.bytes().enumerate() {
        if is_text {
            is_text = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
        } else if byte.is_ascii_whitespace() {
            minified.push_str(json.get(kept..at).unwrap_or_default());
            kept = at.saturating_add(1);
        } else {
            is_text = byte == b'"';
        }
    }
    minified.push_str(json.get(kept..).unwrap_or_default());
    minified
}

/// A position in valid JSON without white space.
pub struct Cursor<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub const fn new(json: &'a str) -> Self {
        Self { json, at: 0 }
    }

    /// The first byte of the next value.
    pub fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    pub const fn position(&self) -> usize {
        self.at
    }

    /// The text from a position to the current position.
    pub fn since(&self, from: usize) -> &'a str {
        self.json.get(from..self.at).unwrap_or_default()
    }

    const fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// Reads a string, and returns its JSON.
    fn string(&mut self) -> &'a str {
        let from = self.at;
        self.step();
        while let Some(byte) = self.peek() {
            self.step();
            match byte {
                b'\\' => self.step(),
                b'"' => break,
                _ => {}
            }
        }
        self.since(from)
    }

    /// Reads a value, and returns its JSON.
    pub fn value(&mut self) -> &'a str {
        let from = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.string();
                }
                b'[' | b'{' => {
                    depth = depth.saturating_add(1);
                    self.step();
                }
                b']' | b'}' if depth > 0 => {
                    depth = depth.saturating_sub(1);
                    self.step();
                }
                _ if depth == 0 => {
                    while self.peek().is_some_and(|byte| !b",]}".contains(&byte)) {
                        self.step();
                    }
                }
                _ => self.step(),
            }
            if depth == 0 {
                break;
            }
        }
        self.since(from)
    }

    /// Reads a list or an object. Calls `each` at the value of each item or member, with the
    /// member's name as JSON. The function must read the value. Returns the number of items or
    /// members.
    pub fn parts(&mut self, mut each: impl FnMut(&mut Self, &'a str)) -> usize {
        let is_object = self.peek() == Some(b'{');
        let mut count = 0_usize;
        self.step();
        while self.peek().is_some_and(|byte| !b"]}".contains(&byte)) {
            if self.peek() == Some(b',') {
                self.step();
            }
            let mut name = "";
            if is_object {
                name = self.string();
                self.step();
            }
            each(self, name);
            count = count.saturating_add(1);
        }
        self.step();
        count
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, minify};

    #[test]
    fn minify_removes_white_space_only_between_tokens() {
        let json = "{ \"a b\" :\n [ 1 , \"\\\" x\" ,\t\"\\\\\" , true ] }";
        assert_eq!(minify(json), "{\"a b\":[1,\"\\\" x\",\"\\\\\",true]}");
    }

    #[test]
    fn a_value_is_read_to_its_end() {
        for json in [
            "1",
            "-1.5e9",
            "null",
            "\"a\"",
            "\"\\\"],}\\\\\"",
            "[]",
            "{}",
            "[[[\"]\"],{\"}\":[1]}],2]",
            "{\"a\":\"\\u0022\",\"b\":[{}]}",
        ] {
            for after in ["", ",1", "]", "}"] {
                let text = format!("{json}{after}");
                assert_eq!(Cursor::new(&text).value(), json, "{text}");
            }
        }
    }

    #[test]
    fn each_part_has_its_name_and_value() {
        for (json, expected) in [
            ("[]", vec![]),
            ("{}", vec![]),
            ("[1,\"a,]\",[2,3]]", vec![("", "1"), ("", "\"a,]\""), ("", "[2,3]")]),
            ("{\"a\":1,\"b\\\"\":{\"c\":[]}}", vec![("\"a\"", "1"), ("\"b\\\"\"", "{\"c\":[]}")]),
        ] {
            let mut found = Vec::new();
            let mut cursor = Cursor::new(json);
            let count = cursor.parts(|cursor, name| found.push((name, cursor.value())));
            assert_eq!((count, cursor.since(0), &found), (expected.len(), json, &expected));
        }
    }

    #[test]
    fn reading_invalid_json_terminates() {
        for text in
            ["", "[", "{", "\"", "\"\\", "[,", "[1", "{\"a\"", "{\"a\":", "{1", "]", "[}", ","]
        {
            Cursor::new(text).value();
            Cursor::new(text).parts(|cursor, _| {
                cursor.value();
            });
        }
    }
}
