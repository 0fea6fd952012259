//! Which addresses the vault may send credentials and users to.
//!
//! Only a strict subset of URLs is accepted, in which every URL parser finds the same host: `https`, ASCII, a public
//! name. [`fill`](mod@fill) makes addresses from templates, and [`host`] says what a host is.
//!
//! A name that leads to a private address in the DNS is not noticed here: Cloudflare refuses to connect to it.

pub mod fill;
pub mod host;

use std::fmt;

use fill::{FillError, fill};
use host::Host;

/// The longest address, in bytes.
pub const MAX_URL: usize = 4096;

/// Which addresses are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Targets {
    /// Whether the machine's own addresses, plain `http` and any port are accepted too, for development.
    pub local: bool,
}

/// Why an address is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetError {
    /// It is longer than [`MAX_URL`].
    TooLong,
    /// It has a character that must not stand in a URL, or that URL parsers read in different ways.
    Character,
    /// It does not begin with `https://`.
    Scheme,
    /// It has a user name or a password.
    Userinfo,
    /// Its host is not a well-formed name.
    Host,
    /// Its host is an IP address, in any notation.
    IpAddress,
    /// Its host is a local or private name.
    PrivateName,
    /// Its port is not the default one.
    Port,
    /// It has a fragment.
    Fragment,
}

impl TargetError {
    /// What is wrong, as the end of a sentence that begins with the address.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "is longer than 4,096 characters",
            Self::Character => "has a character that a URL must not contain",
            Self::Scheme => "does not begin with `https://`",
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
    /// Checks a complete address, without a port but the default one.
    ///
    /// # Errors
    /// When the vault must not send anything there.
    pub fn check(&self, url: &str) -> Result<(), TargetError> {
        self.check_address(&Address::parse(url)?, None)
    }

    /// Fills a template of the catalog as [`fill()`] does and checks the result, which may have the port that the
    /// template itself names.
    ///
    /// # Errors
    /// When a value is missing or cannot stand where its variable is, and when the vault must not send anything to the
    /// result.
    pub fn fill<'v>(
        &self,
        template: &str,
        values: impl Fn(&str) -> Option<&'v str>,
    ) -> Result<String, FillError> {
        let url = fill(template, values)?;
        let checked = Address::parse(&url)
            .and_then(|address| self.check_address(&address, fill::literal_port(template)));
        checked.map_err(|error| fill::refused(template, error))?;
        Ok(url)
    }

    fn check_address(
        self,
        address: &Address<'_>,
        declared_port: Option<u16>,
    ) -> Result<(), TargetError> {
        if !address.is_secure && !self.local {
            return Err(TargetError::Scheme);
        }
        match Host::of(address.host) {
            Host::Public => {}
            Host::Own if self.local => {}
            Host::Own | Host::Private if !host::is_ip(address.host) => {
                return Err(TargetError::PrivateName);
            }
            Host::Own | Host::Private | Host::Ip => return Err(TargetError::IpAddress),
            Host::Malformed => return Err(TargetError::Host),
        }
        let is_usual = address.port.is_none_or(|port| port == 443 || declared_port == Some(port));
        if is_usual || self.local { Ok(()) } else { Err(TargetError::Port) }
    }
}

/// The origin of an address (RFC 6454), in lower case and without a default port. Returns `None` when it is not a
/// well-formed `https` or `http` URL.
#[must_use]
pub fn origin(url: &str) -> Option<String> {
    let address = Address::parse(url).ok()?;
    if Host::of(address.host) == Host::Malformed {
        return None;
    }
    let (scheme, default) = if address.is_secure { ("https", 443) } else { ("http", 80) };
    let port = address.port.filter(|port| *port != default);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{scheme}://{}{port}", address.host.to_ascii_lowercase()))
}

/// An address, taken apart.
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

/// The host, and the port with its colon.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    // The colons of an IPv6 address stand between brackets.
    let from = authority.find(']').unwrap_or_default();
    let colon = authority.bytes().enumerate().find(|(at, byte)| *at >= from && *byte == b':');
    colon
        .and_then(|(at, _)| authority.split_at_checked(at))
        .map_or((authority, None), |(host, port)| (host, Some(port)))
}

/// The port of `:8443`.
fn read_port(text: &str) -> Option<u16> {
    let digits = text.strip_prefix(':')?;
    let is_number = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}
