//! Classifies hosts: which are public names.

use std::net::Ipv4Addr;

/// Top-level domains that do not exist or are private: special use (RFC 6761, 6762, 7686, 8375, 9476), those that ICANN
/// reserved or does not delegate because private networks use them (`home`, `corp`, `mail`), and those that routers,
/// companies and clusters use without registration (Kubernetes: `svc`, `cluster`, `pod`; Consul: `consul`; `OpenStack`:
/// `openstacklocal`).
const PRIVATE: [&str; 25] = [
    "alt",
    "arpa",
    "belkin",
    "cluster",
    "consul",
    "corp",
    "dhcp",
    "docker",
    "domain",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "mail",
    "onion",
    "openstacklocal",
    "pod",
    "private",
    "svc",
    "test",
    "workgroup",
];

/// The kind of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// A name that may be public.
    Public,
    /// The machine itself: `localhost`, a name below it, or a loopback address in its usual notation.
    Own,
    /// A name of private networks.
    Private,
    /// A string that URL parsers read as an IP address.
    Ip,
    /// Anything else.
    Malformed,
}

impl Host {
    /// Classifies a host. IPv6 addresses are in brackets.
    pub fn parse(host: &str) -> Self {
        let host = host.to_ascii_lowercase();
        if host.starts_with('[') {
            return if host == "[::1]" { Self::Own } else { Self::Ip };
        }
        if !is_name(&host) {
            return Self::Malformed;
        }
        if is_ip(&host) {
            let is_own = host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback());
            return if is_own { Self::Own } else { Self::Ip };
        }
        let Some((_, top)) = host.rsplit_once('.') else {
            return if host == "localhost" { Self::Own } else { Self::Private };
        };
        let is_top = top.len() > 1
            && (top.starts_with("xn--") || top.bytes().all(|byte| byte.is_ascii_lowercase()));
        match top {
            "localhost" => Self::Own,
            _ if PRIVATE.contains(&top) => Self::Private,
            _ if is_top => Self::Public,
            _ => Self::Malformed,
        }
    }
}

/// Whether URL parsers read a host as an IP address: in brackets, or decimal, octal or hexadecimal in one to four
/// parts. They do so if the last label is a number; no top-level domain begins with a digit.
pub fn is_ip(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    last.starts_with(|first: char| first == '[' || first.is_ascii_digit())
}

/// Whether a string is a well-formed host name: labels separated by dots (RFC 952, RFC 1123, 2.1).
pub fn is_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

/// Whether a string is a label: 1 to 63 letters, digits and hyphens, no hyphen at either end.
pub fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::{is_label, is_name};

    #[test]
    fn names_and_labels_have_a_maximum_length() {
        let label = "a".repeat(63);
        assert!(is_label(&label) && !is_label(&format!("{label}a")));
        let longest = [label.clone(), label.clone(), label, "a".repeat(61)].join(".");
        assert_eq!(longest.len(), 253);
        assert!(is_name(&longest) && !is_name(&format!("{longest}a")));
        for name in ["", ".", "a.", ".a", "a..b", "-a.b", "a-.b", "a_b", "é"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
