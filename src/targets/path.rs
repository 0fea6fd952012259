//! Detects paths that lead outside the base URL of their server.

use crate::util::percent::decode;

/// Whether any server might resolve a path to a parent. Servers may decode the path repeatedly,
/// treat `\` as a slash, or ignore the text after a semicolon.
pub fn leaves_server(path: &str) -> bool {
    let mut text = path.to_owned();
    loop {
        let leads_to_parent = text.split(['/', '\\']).any(|segment| {
            let name = segment.split(';').next().unwrap_or_default();
            matches!(name, "." | "..")
        });
        if leads_to_parent {
            return true;
        }
        match decode(&text) {
            // The loop ends because each decoding shortens the path.
            Some(decoded) if decoded != text => text = decoded.into_owned(),
            Some(_) => return false,
            None => return leaves_server_partially_decoded(&text),
        }
    }
}

/// Like [`leaves_server`], for a path in which some escapes are malformed or not UTF-8. Servers may
/// still decode the other escapes.
fn leaves_server_partially_decoded(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let plain = lower.replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    plain.split(['/', '\\', ';']).any(|segment| matches!(segment, "." | ".."))
}
