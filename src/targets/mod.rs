//! The policy for URLs to which the vault may send credentials or redirect users.
//!
//! The policy accepts only a strict subset of URLs, for which all URL parsers return the same host:
//! `https`, ASCII, a public name. [`fill`] fills templates, and [`host`] classifies hosts.
//!
//! Public names that resolve to private addresses are not detected here, because Cloudflare refuses
//! to connect to them.

pub mod fill;
pub mod host;
pub mod path;

use std::fmt;

use fill::{FillError, Values};
use host::Host;

/// The maximum length of a URL, in bytes.
pub const MAX_URL: usize = 4096;

/// The policy for URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Targets {
    /// Development mode: also accepts loopback addresses, plain `http` to loopback addresses, and
    /// any port.
    pub local: bool,
}

/// Why a URL is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetError {
    /// The URL is longer than [`MAX_URL`].
    TooLong,
    /// The URL contains a character that is invalid, or that URL parsers treat differently.
    Character,
    /// The URL does not begin with `https://`.
    Scheme,
    /// The URL begins neither with `https://` nor, for a loopback address in development mode, with
    /// `http://`.
    LocalScheme,
    /// The URL contains a user name or a password.
    Userinfo,
    /// The host is not a well-formed name.
    Host,
    /// The host is an IP address, in any notation.
    IpAddress,
    /// The host is a local or private name.
    PrivateName,
    /// The port is not the default port.
    Port,
    Fragment,
}

impl TargetError {
    /// The error message, which completes a sentence that begins with the URL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "is longer than 4,096 characters",
            Self::Character => "has a character that a URL must not contain",
            Self::Scheme => "does not begin with `https://`",
            Self::LocalScheme => {
                "does not begin with `https://`, or with `http://` for this machine"
            }
            Self::Userinfo => "has a user name or a password before its host",
            Self::Host => "has no well-formed host name",
            Self::IpAddress => "has an IP address as its host",
            Self::PrivateName => "has a local or private name as its host",
            Self::Port => "has a port that is not allowed",
            Self::Fragment => "has a fragment",
        }
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::error::Error for TargetError {}

impl Targets {
    /// Checks a complete URL. Accepts only the default port.
    pub fn check(&self, url: &str) -> Result<(), TargetError> {
        let checked = Address::parse(url).and_then(|address| self.check_address(&address, None));
        checked.map_err(|error| match error {
            TargetError::Scheme if self.local => TargetError::LocalScheme,
            error => error,
        })
    }

    /// Fills a template of the catalog with [`fill::fill()`], and checks the resulting URL. Also
    /// accepts a port that is literal in the template.
    pub fn fill(&self, template: &str, values: Values<'_, '_>) -> Result<String, FillError> {
        let url = fill::fill(template, values)?;
        let checked = Address::parse(&url)
            .and_then(|address| self.check_address(&address, fill::literal_port(template)));
        checked.map_err(|error| fill::rejection(template, error))?;
        Ok(url)
    }

    fn check_address(
        self,
        address: &Address<'_>,
        declared_port: Option<u16>,
    ) -> Result<(), TargetError> {
        let host = Host::parse(address.host);
        if !address.is_secure && (!self.local || host == Host::Public) {
            return Err(TargetError::Scheme);
        }
        match host {
            Host::Public => {}
            Host::Loopback if self.local => {}
            Host::Loopback | Host::Private if !host::is_ip(address.host) => {
                return Err(TargetError::PrivateName);
            }
            Host::Loopback | Host::Private | Host::Ip => return Err(TargetError::IpAddress),
            Host::Malformed => return Err(TargetError::Host),
        }
        let is_allowed = address.port.is_none_or(|port| port == 443 || declared_port == Some(port));
        if is_allowed || self.local { Ok(()) } else { Err(TargetError::Port) }
    }
}

/// The origin of a URL (RFC 6454), in lower case and without a default port. Returns `None` for a malformed URL.
pub fn origin(url: &str) -> Option<String> {
    let address = Address::parse(url).ok()?;
    if Host::parse(address.host) == Host::Malformed {
        return None;
    }
    let (scheme, default) = if address.is_secure { ("https", 443) } else { ("http", 80) };
    let port = address.port.filter(|port| *port != default);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{scheme}://{}{port}", address.host.to_ascii_lowercase()))
}

/// A parsed URL.
struct Address<'a> {
    is_secure: bool,
    host: &'a str,
    port: Option<u16>,
}

impl<'a> Address<'a> {
    fn parse(url: &'a str) -> Result<Self, TargetError> {
        if url.len() > MAX_URL {
            return Err(TargetError::TooLong);
        }
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
        if !url.bytes().all(is_plain) {
            return Err(TargetError::Character);
        }
        if url.contains('#') {
            return Err(TargetError::Fragment);
        }
        let (is_secure, rest) = match url.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            _ => return Err(TargetError::Scheme),
        };
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(TargetError::Userinfo);
        }
        let (host, port) = split_port(authority);
        let port = port.map(|port| read_port(port).ok_or(TargetError::Port)).transpose()?;
        Ok(Self { is_secure, host, port })
    }
}

/// Splits an authority into the host, and the port with its colon.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    // Skip the colons of an IPv6 address, which are inside brackets.
    let start = authority.find(']').unwrap_or_default();
    let colon = authority.bytes().enumerate().find(|(at, byte)| *at >= start && *byte == b':');
    colon
        .and_then(|(at, _)| authority.split_at_checked(at))
        .map_or((authority, None), |(host, port)| (host, Some(port)))
}

/// Parses a port with its colon, such as `:8443`. Returns `None` for other text, and for a leading
/// zero.
fn read_port(text: &str) -> Option<u16> {
    let digits = text.strip_prefix(':')?;
    let is_number = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::{TargetError, Targets, origin};
    use TargetError::{
        Character, Fragment, Host, IpAddress, LocalScheme, Port, PrivateName, Scheme, TooLong,
        Userinfo,
    };

    const PUBLIC: Targets = Targets { local: false };
    const LOCAL: Targets = Targets { local: true };

    #[test]
    fn public_addresses_are_accepted_everywhere() {
        for url in [
            "https://example.com",
            "https://example.com/",
            "https://EXAMPLE.com/a/b?c=d&e=%20[]",
            "https://a-b.c1.example.co.uk:443/x",
            "https://xn--bcher-kva.example/",
            "https://example.xn--p1ai/",
            "https://1.example.com?x=https://localhost:1@127.0.0.1",
        ] {
            assert_eq!(PUBLIC.check(url), Ok(()), "{url}");
            assert_eq!(LOCAL.check(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn loopback_is_accepted_only_in_development() {
        for (url, error) in [
            ("http://localhost:8787/hook", Scheme),
            ("https://localhost", PrivateName),
            ("https://LocalHost:1/", PrivateName),
            ("https://idp.localhost/", PrivateName),
            ("https://127.0.0.1:8787/", IpAddress),
            ("https://127.9.9.9/", IpAddress),
            ("https://[::1]:8787/", IpAddress),
            ("https://example.com:8443/", Port),
            ("https://example.com:80/", Port),
        ] {
            assert_eq!(PUBLIC.check(url), Err(error), "{url}");
            assert_eq!(LOCAL.check(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn other_addresses_are_rejected_everywhere() {
        let start = "https://example.com/";
        let longest = format!("{start}{}", "a".repeat(4096 - start.len()));
        assert_eq!(PUBLIC.check(&longest), Ok(()));
        let long = format!("{longest}a");
        for (url, error) in [
            (long.as_str(), TooLong),
            ("", Scheme),
            ("example.com", Scheme),
            ("//example.com", Scheme),
            ("HTTPS://example.com", Scheme),
            ("http://example.com/", Scheme),
            ("http://example.com:8080/", Scheme),
            ("https:example.com", Scheme),
            ("https:/example.com", Scheme),
            ("https://:0", Port),
            ("ftp://example.com", Scheme),
            ("javascript://example.com/", Scheme),
            // URL parsers disagree about the hosts of these URLs.
            ("https://example.com\\@evil.example/", Character),
            ("https://evil.example\\.example.com/", Character),
            ("https://exa\tmple.com/", Character),
            ("https://example.com/\r\nx: y", Character),
            ("https://example.com/ ", Character),
            (" https://example.com/", Character),
            ("https://example.com/\u{0}", Character),
            ("https://bücher.example/", Character),
            ("https://example。com/", Character),
            ("https://ⓔxample.com/", Character),
            ("https://{host}/", Character),
            ("https://example.com/#x", Fragment),
            ("https://evil.example#.example.com/", Fragment),
            ("https://user@example.com/", Userinfo),
            ("https://user:secret@example.com/", Userinfo),
            ("https://@example.com/", Userinfo),
            ("https://example.com:443@evil.example/", Userinfo),
            ("https://", Host),
            ("https:///example.com", Host),
            ("https://?", Host),
            ("https://.example.com", Host),
            ("https://example..com", Host),
            ("https://example.com.", Host),
            ("https://localhost.", Host),
            ("https://127.0.0.1.", Host),
            ("https://-a.example.com", Host),
            ("https://a-.example.com", Host),
            ("https://a_b.example.com", Host),
            ("https://exam%70le.com", Host),
            ("https://127.0.0.1%2f.example.com", Host),
            ("https://example.c", Host),
            ("https://example.c-m", Host),
            ("https://example.com:", Port),
            ("https://example.com:0", Port),
            ("https://example.com:0443", Port),
            ("https://example.com:+443", Port),
            ("https://example.com:65536", Port),
            ("https://example.com:44a", Port),
            ("https://example.com:443:443", Port),
            // All notations of an IPv4 address.
            ("https://10.0.0.1/", IpAddress),
            ("https://8.8.8.8/", IpAddress),
            ("https://169.254.169.254/latest", IpAddress),
            ("https://0.0.0.0", IpAddress),
            ("https://0", IpAddress),
            ("https://127.1", IpAddress),
            ("https://2130706433", IpAddress),
            ("https://0x7f000001", IpAddress),
            ("https://0x7f.1", IpAddress),
            ("https://0X7F.0.0.0X1", IpAddress),
            ("https://0177.0.0.1", IpAddress),
            ("https://127.0.0.01", IpAddress),
            ("https://0300.0250.1", IpAddress),
            ("https://1.2.3.4.5", IpAddress),
            ("https://example.com.127", IpAddress),
            ("https://[::]", IpAddress),
            ("https://[::ffff:127.0.0.1]", IpAddress),
            ("https://[fd00::1]:443/", IpAddress),
            ("https://[fe80::1%25eth0]", IpAddress),
            ("https://[::1", Port),
            ("https://[::1]evil.example", IpAddress),
            ("https://[v1.example]", IpAddress),
            // Names that only resolve in private networks.
            ("https://intranet", PrivateName),
            ("https://printer.local", PrivateName),
            ("https://metadata.google.internal", PrivateName),
            ("https://kubernetes.default.svc/", PrivateName),
            ("https://vault.service.consul/", PrivateName),
            ("https://x.mail/", PrivateName),
            ("https://x.openstacklocal/", PrivateName),
            ("https://router.home.arpa", PrivateName),
            ("https://nas.LAN", PrivateName),
            ("https://db.corp", PrivateName),
            ("https://localhost.localdomain", PrivateName),
            ("https://1.0.0.127.in-addr.arpa", PrivateName),
            ("https://expyuzz4wqqyqhjn.onion", PrivateName),
        ] {
            assert_eq!(PUBLIC.check(url), Err(error), "{url}");
            // In development mode, the error mentions `http`.
            let local = if error == Scheme { LocalScheme } else { error };
            assert_eq!(LOCAL.check(url), Err(local), "{url}");
        }
    }

    #[test]
    fn values_cannot_add_a_port() {
        let fill = |template: &str| {
            PUBLIC.fill(template, &|name| match name {
                "host" => Some("Acme.example"),
                "own" => Some("localhost"),
                "address" => Some("10.0.0.1"),
                "port" => Some("8443"),
                "usual" => Some("443"),
                _ => None,
            })
        };
        for (template, expected) in [
            ("https://{host}/x", Ok("https://acme.example/x")),
            ("https://{host}:8443/x", Ok("https://acme.example:8443/x")),
            ("https://{host}:{usual}/x", Ok("https://acme.example:443/x")),
            ("https://example.com:8443/{port}", Ok("https://example.com:8443/8443")),
            (
                "https://{host}:{port}/x",
                Err("`port` must lead to a public host name and the usual port"),
            ),
            ("https://{own}/x", Err("`own` must lead to a public host name and the usual port")),
            (
                "https://{address}/x",
                Err("`address` must lead to a public host name and the usual port"),
            ),
            ("http://{host}/x", Err("the address does not begin with `https://`")),
            ("https://10.0.0.1/{host}", Err("the address has an IP address as its host")),
            ("https://{other}/x", Err("`other` is missing")),
        ] {
            let filled = fill(template).map_err(|error| error.to_string());
            assert_eq!(filled, expected.map(str::to_owned).map_err(str::to_owned), "{template}");
        }
        assert_eq!(
            LOCAL
                .fill("http://{own}:{port}/", &|name| match name {
                    "own" => Some("localhost"),
                    _ => Some("8787"),
                })
                .as_deref(),
            Ok("http://localhost:8787/")
        );
    }

    #[test]
    fn origins_are_normalized() {
        for (url, expected) in [
            ("https://Example.com/a?b", Some("https://example.com")),
            ("https://example.com:443", Some("https://example.com")),
            ("https://example.com:8443/", Some("https://example.com:8443")),
            ("http://localhost:80", Some("http://localhost")),
            ("http://[::1]:8787/x", Some("http://[::1]:8787")),
            ("https://user@example.com", None),
            ("https://example.com.", None),
            ("example.com", None),
        ] {
            assert_eq!(origin(url).as_deref(), expected, "{url}");
        }
    }
}
