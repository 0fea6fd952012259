//! Unicode Normalization Form C, in which canonically equivalent strings are identical. Its tables
//! would be as large as the whole npm package, so WebAssembly builds call `normalize` of
//! JavaScript.

pub fn is_nfc(text: &str) -> bool {
    text.is_ascii() || is_normal(text)
}

#[cfg(target_arch = "wasm32")]
fn is_normal(text: &str) -> bool {
    #[cfg(any(feature = "worker", feature = "client"))]
    {
        js_sys::JsString::from(text).normalize("NFC") == text
    }
    #[cfg(not(any(feature = "worker", feature = "client")))]
    {
        compile_error!("WebAssembly needs the feature `worker` or `client`");
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn is_normal(text: &str) -> bool {
    unicode_normalization::is_nfc(text)
}

#[cfg(test)]
mod tests {
    use super::is_nfc;

    #[test]
    fn composed_strings_are_normalized() {
        for text in ["", "abc", "é", "x\u{301}", "한", "日本", "বো", "🦀", "ǖ"] {
            assert!(is_nfc(text), "{text}");
        }
        for text in [
            "e\u{301}",
            "\u{1112}\u{1161}",
            "\u{212b}",
            "\u{f900}",
            "u\u{308}\u{304}",
            "a\u{323}\u{307}e\u{301}",
        ] {
            assert!(!is_nfc(text), "{text}");
        }
    }
}
