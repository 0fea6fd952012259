//! Pins the accepted version of a document in `sources.toml`, and preserves everything else in the
//! file.

use super::list::Pin;

/// The members of a table that form the pin.
const PIN_MEMBERS: [&str; 4] = ["sha256", "operations", "hosts", "read"];

/// Sets the pin of a platform. Returns `None` if the file has no table for the platform.
pub fn set_pin(text: &str, platform: &str, pin: &Pin) -> Option<String> {
    let header = format!("[platforms.{platform}]");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let start = lines.iter().position(|line| line.trim() == header)?.saturating_add(1);
    let is_other = |line: &String| line.trim_start().starts_with('[');
    let length = lines.iter().skip(start).position(is_other);
    let end = length.map_or(lines.len(), |length| start.saturating_add(length));
    let mut table: Vec<String> = lines.get(start..end)?.to_vec();
    table.retain(|line| !PIN_MEMBERS.iter().any(|member| is_member(line, member)));
    let hosts: Vec<String> = pin.hosts.iter().map(|host| format!("{host:?}")).collect();
    // Comments at the end of a table belong to the next table.
    let is_empty = |line: &str| line.is_empty() || line.starts_with('#');
    let last = table.iter().rposition(|line| !is_empty(line.trim()));
    let at = last.map_or(0, |last| last.saturating_add(1));
    let pin_lines = [
        format!("sha256 = \"{}\"", pin.sha256),
        format!("operations = {}", pin.operations),
        format!("hosts = [{}]", hosts.join(", ")),
        format!("read = \"{}\"", pin.read),
    ];
    table.splice(at..at, pin_lines);
    lines.splice(start..end, table);
    Some(lines.join("\n") + "\n")
}

/// Whether a line assigns this member.
fn is_member(line: &str, member: &str) -> bool {
    line.trim_start().strip_prefix(member).is_some_and(|rest| rest.trim_start().starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pin_of_the_platform_changes() {
        let text = "# Two.\n[platforms.a]\naddress = \"https://a\"\nsha256 = \"0\"\noperations = 1\nread = \"2026-01-01\"\n\n# B.\n[platforms.ab]\naddress = \"https://b\"\n";
        let pin = |hosts: &[&str]| Pin {
            sha256: "f".repeat(64),
            operations: 2,
            read: jiff::civil::date(2026, 11, 27),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        };
        let updated_entry = |hosts: &str| {
            format!(
                "sha256 = \"{}\"\noperations = 2\nhosts = [{hosts}]\nread = \"2026-11-27\"\n",
                "f".repeat(64)
            )
        };
        assert_eq!(
            set_pin(text, "a", &pin(&["x.com", "y.com"])).unwrap(),
            format!(
                "# Two.\n[platforms.a]\naddress = \"https://a\"\n{}\n# B.\n[platforms.ab]\naddress = \"https://b\"\n",
                updated_entry("\"x.com\", \"y.com\"")
            )
        );
        assert_eq!(set_pin(text, "ab", &pin(&[])).unwrap(), format!("{text}{}", updated_entry("")));
        assert_eq!(set_pin(text, "b", &pin(&[])), None);
    }
}
