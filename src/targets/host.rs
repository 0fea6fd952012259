//! Classifies hosts as public, local, private, IP addresses or malformed.

use std::net::Ipv4Addr;

/// Top-level domains that do not exist or are private: special-use domains (RFC 6761, 6762, 7686,
/// 8375, 9476), domains that ICANN has reserved or does not delegate because private networks use
/// them (`home`, `corp`, `mail`), and domains that routers, companies and clusters use without
/// registration (Kubernetes: `svc`, `cluster`, `pod`; Consul: `consul`; `OpenStack`:
/// `openstacklocal`).
const PRIVATE_TLDS: [&str; 25] = [
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

/// The class of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// A name that can be public.
    Public,
    /// The local machine: `localhost`, a subdomain of `localhost`, or a loopback address in its
    /// usual notation.
    Loopback,
    /// A name in a private network.
    Private,
    /// A string that URL parsers interpret as an IP address.
    Ip,
    /// Any other string.
    Malformed,
}

impl Host {
    /// Classifies a host. An IPv6 address must be in brackets.
    pub fn parse(host: &str) -> Self {
        let host = host.to_ascii_lowercase();
        if host.starts_with('[') {
            return if host == "[::1]" { Self::Loopback } else { Self::Ip };
        }
        if !is_name(&host) {
            return Self::Malformed;
        }
        if is_ip(&host) {
            let is_own = host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback());
            return if is_own { Self::Loopback } else { Self::Ip };
        }
        let Some((_, top)) = host.rsplit_once('.') else {
            return if host == "localhost" { Self::Loopback } else { Self::Private };
        };
        let is_top = top.len() > 1
            && (top.starts_with("xn--") || top.bytes().all(|byte| byte.is_ascii_lowercase()));
        match top {
            "localhost" => Self::Loopback,
            _ if PRIVATE_TLDS.contains(&top) => Self::Private,
            _ if is_top => Self::Public,
            _ => Self::Malformed,
        }
    }
}

/// Whether URL parsers interpret a host as an IP address: in brackets, or in decimal, octal or
/// hexadecimal notation with one to four parts. Parsers do so if the last label is a number. No
/// top-level domain begins with a digit, so this checks only the first character of the last label.
pub fn is_ip(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    last.starts_with(|first: char| first == '[' || first.is_ascii_digit())
}

/// Whether a string is a well-formed host name: labels separated by dots (RFC 952, RFC 1123, 2.1).
pub fn is_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

/// Whether a string is a valid label: 1 to 63 letters, digits and hyphens, without a hyphen at
/// either end.
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
