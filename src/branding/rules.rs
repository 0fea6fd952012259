//! Validation of the members of a branding. Each function returns `None` for a valid value,
//! otherwise the fault, as the end of a sentence that begins with the member's name.

use base64ct::{Base64, Encoding as _};

use crate::connect::rules::return_url;
use crate::connections::rules::name as display_name;

/// The maximum length of an app's name, in characters.
pub const MAX_NAME: usize = 60;
/// The maximum size of a logo, in bytes. Pages embed it, and its base64 must fit into a request
/// body of 64 KiB.
pub const MAX_LOGO_BYTES: usize = 32 * 1024;
/// The maximum width and height of a logo, in pixels. Browsers need memory for each pixel,
/// regardless of the file's size.
pub const MAX_LOGO_SIDE: u32 = 1024;

/// Rejects invisible characters and those that change the writing direction, because they make
/// names look alike.
pub fn name(text: &str) -> Option<&'static str> {
    let is_valid = display_name(text).is_none() && text.chars().count() <= MAX_NAME;
    (!is_valid).then_some(
        "must be null or have 1 to 60 visible characters, in normalization form C and without white space at its ends",
    )
}

pub fn color(text: &str) -> Option<&'static str> {
    channels(text).is_none().then_some("must be null or a colour like #1a2b3c")
}

pub fn url(text: &str) -> Option<&'static str> {
    return_url(text)
}

/// Accepts a `data:` URL of a PNG or WebP image. SVG is rejected because it can contain scripts.
pub fn logo(text: &str) -> Option<&'static str> {
    let size = |base64: &str, read_size: fn(&[u8]) -> Option<[u32; 2]>| {
        let bytes =
            Base64::decode_vec(base64).ok().filter(|bytes| bytes.len() <= MAX_LOGO_BYTES)?;
        read_size(&bytes)
    };
    let png = text.strip_prefix("data:image/png;base64,").map(|base64| size(base64, png_size));
    let size = png.or_else(|| {
        text.strip_prefix("data:image/webp;base64,").map(|base64| size(base64, webp_size))
    });
    let is_valid = size
        .flatten()
        .is_some_and(|sides| sides.into_iter().all(|side| (1..=MAX_LOGO_SIDE).contains(&side)));
    (!is_valid).then_some(
        "must be null or a PNG or WebP image of at most 32 KiB and 1024 × 1024 pixels, as in data:image/png;base64,…",
    )
}

fn png_size(bytes: &[u8]) -> Option<[u32; 2]> {
    let header = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")?;
    let side = |at| Some(u32::from_be_bytes(*header.get(at..)?.first_chunk()?));
    Some([side(0)?, side(4)?])
}

/// Reads the width and height from any of the three WebP headers (RFC 9649, sections 2.5 to 2.7).
fn webp_size(bytes: &[u8]) -> Option<[u32; 2]> {
    let chunk = bytes.strip_prefix(b"RIFF")?.get(4..)?.strip_prefix(b"WEBP")?;
    let (kind, data) = (chunk.first_chunk::<4>()?, chunk.get(8..)?);
    let word = |at| Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?));
    match kind {
        b"VP8 " => {
            let sides = data.get(3..)?.strip_prefix(b"\x9d\x01\x2a")?.first_chunk()?;
            let sides = u32::from_le_bytes(*sides);
            Some([sides & 0x3fff, (sides >> 16) & 0x3fff])
        }
        b"VP8L" if data.first() == Some(&0x2f) => {
            let sides = word(1)?;
            Some([sides & 0x3fff, (sides >> 14) & 0x3fff].map(|side| side.saturating_add(1)))
        }
        b"VP8X" => Some([word(4)?, word(6)? >> 8].map(|side| (side & 0xff_ffff).saturating_add(1))),
        _ => None,
    }
}

/// The text colour for a background such as `#1a2b3c`: white or black, whichever has a contrast of
/// at least 4.5:1 (WCAG 2.2, 1.4.3). Returns `None` if the background is malformed.
pub fn text_color_on(background: &str) -> Option<&'static str> {
    // A polynomial that approximates the power of 2.4 in the definition of relative luminance. An
    // error of 0.004 is acceptable, because both text colours are readable at luminances between
    // 0.175 and 0.183.
    let linear = |channel: u8| {
        let channel = f64::from(channel) / 255.0;
        channel * (channel * (channel * 0.305_306 + 0.682_171) + 0.012_523)
    };
    let [red, green, blue] = channels(background)?.map(linear);
    let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    Some(if luminance < 0.179 { "#fff" } else { "#000" })
}

fn channels(color: &str) -> Option<[u8; 3]> {
    let digits = color.strip_prefix('#')?;
    let is_color = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let [_, red, green, blue] =
        u32::from_str_radix(digits, 16).ok().filter(|_| is_color)?.to_be_bytes();
    Some([red, green, blue])
}

#[cfg(test)]
mod tests {
    use super::{Base64, MAX_LOGO_BYTES, channels, color, logo, name, text_color_on, url};
    use base64ct::Encoding as _;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let header: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        [header, &width.to_be_bytes(), &height.to_be_bytes(), b"\x08\x06\0\0\0"].concat()
    }

    fn webp(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
        [b"RIFF\0\0\0\0WEBP".as_slice(), &kind, b"\0\0\0\0", data].concat()
    }

    fn is_logo(media_type: &str, bytes: &[u8]) -> bool {
        let text = format!("data:{media_type};base64,{}", Base64::encode_string(bytes));
        logo(&text).is_none()
    }

    #[test]
    fn a_logo_is_a_small_png_or_webp_image() {
        for (width, height, expected) in
            [(1, 1, true), (1024, 1024, true), (1025, 1, false), (1, 1025, false), (0, 1, false)]
        {
            assert_eq!(is_logo("image/png", &png(width, height)), expected, "{width} {height}");
        }
        let padded = |length| [png(9, 9), vec![0; length - png(9, 9).len()]].concat();
        assert!(is_logo("image/png", &padded(MAX_LOGO_BYTES)));
        assert!(!is_logo("image/png", &padded(MAX_LOGO_BYTES + 1)));
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>";
        for (media_type, bytes) in [
            ("image/svg+xml", svg.as_slice()),
            ("image/png", svg),
            ("image/png", b""),
            ("image/png", &png(9, 9)[..20]),
            ("image/webp", &png(9, 9)),
            ("image/png; charset=utf-8", &png(9, 9)),
            ("text/html", &png(9, 9)),
        ] {
            assert!(!is_logo(media_type, bytes), "{media_type}");
        }
        for text in ["", "https://a.example/l.png", "data:image/png;base64,iVBOR w0KGgo=", "/l.png"]
        {
            assert!(logo(text).is_some(), "{text}");
        }
    }

    #[test]
    fn limits_size_of_every_webp_format() {
        struct Case {
            kind: &'static [u8; 4],
            data: &'static [u8],
            expected: bool,
        }
        for Case { kind, data, expected } in [
            Case { kind: b"VP8 ", data: b"\0\0\0\x9d\x01\x2a\0\x04\0\x04", expected: true },
            Case { kind: b"VP8 ", data: b"\0\0\0\x9d\x01\x2a\x01\x04\0\x04", expected: false },
            Case { kind: b"VP8 ", data: b"\0\0\0\0\0\0\x01\0\x01\0", expected: false },
            Case { kind: b"VP8L", data: b"\x2f\xff\xc3\xff\0", expected: true },
            Case { kind: b"VP8L", data: b"\x2f\0\x04\0\0", expected: false },
            Case { kind: b"VP8L", data: b"\0\xff\xc3\xff\0", expected: false },
            Case { kind: b"VP8X", data: b"\0\0\0\0\xff\x03\0\xff\x03\0", expected: true },
            Case { kind: b"VP8X", data: b"\0\0\0\0\0\x04\0\0\0\0", expected: false },
            Case { kind: b"VP8X", data: b"\0\0\0\0\0\0\0\0\0\x01", expected: false },
            Case { kind: b"VP8X", data: b"\0\0\0\0", expected: false },
            Case { kind: b"ALPH", data: b"\0\0\0\0\0\0\0\0\0\0", expected: false },
        ] {
            assert_eq!(is_logo("image/webp", &webp(*kind, data)), expected, "{kind:?} {data:?}");
        }
    }

    #[test]
    fn rejects_names_with_invisible_characters() {
        for text in ["Acme ✨", "アクメ", &"a".repeat(60)] {
            assert_eq!(name(text), None, "{text}");
        }
        for text in
            ["", " Acme", "Ac\u{202e}me", "Ac\nme", "A\u{200b}cme", "e\u{301}", &"a".repeat(61)]
        {
            assert!(name(text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn a_color_has_six_digits_and_a_url_is_absolute() {
        assert_eq!((color("#1A2b3c"), url("https://a.example/b")), (None, None));
        for text in ["#abc", "1a2b3c", "#1a2b3g", "red;", "#+a2b3c", ""] {
            assert!(color(text).is_some(), "{text}");
        }
        for text in ["http://a.example/", "javascript:alert(1)", "https://u@a.example/", "/a"] {
            assert!(url(text).is_some(), "{text}");
        }
    }

    /// The exact formula of WCAG 2.2 for relative luminance.
    fn luminance(color: &str) -> f64 {
        let [red, green, blue] = channels(color).unwrap().map(|channel| {
            let part = f64::from(channel) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn text_has_enough_contrast_on_each_color() {
        for number in (0..=0xff_ffff).step_by(97) {
            let color = format!("#{number:06x}");
            let luminance = luminance(&color);
            let contrast = match text_color_on(&color).unwrap() {
                "#fff" => 1.05 / (luminance + 0.05),
                _ => (luminance + 0.05) / 0.05,
            };
            assert!(contrast >= 4.5, "{color} {contrast}");
        }
        assert_eq!(text_color_on("red"), None);
    }
}
