//! Paths that lead outside their server.

use crate::util::percent::decode;

/// Whether any server might resolve a path to a parent: however often it decodes the path, whichever slash it honours,
/// and whether or not it ignores what follows a semicolon.
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
            // Each round shortens the path.
            Some(decoded) if decoded != text => text = decoded.into_owned(),
            Some(_) => return false,
            None => return leaves_server_half_decoded(&text),
        }
    }
}

/// Like [`leaves_server`], for a path with an escape that is broken or not UTF-8: servers may still decode the other ones.
fn leaves_server_half_decoded(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let plain = lower.replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    plain.split(['/', '\\', ';']).any(|segment| matches!(segment, "." | ".."))
}
