//! Signs requests with AWS Signature Version 4, in the header `Authorization`.

use sha2::{Digest, Sha256};

use crate::auth::key::KeyHash;
use crate::auth::mac::mac;
use crate::util::percent::{decode, encode};
use crate::util::sort::{sort, sort_by};

/// The placeholder for the hash of a body that is not known in advance. Amazon S3 accepts it over `https`.
pub const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

/// The user's access key, and the region and service for which it signs.
#[derive(Clone, Copy)]
pub struct Signer<'a> {
    /// The access key's id.
    pub access_key: &'a str,
    /// The secret access key.
    pub secret_key: &'a str,
    /// The session token of temporary keys.
    pub session_token: Option<&'a str>,
    /// The region, such as `eu-central-1`.
    pub region: &'a str,
    /// The service, such as `s3`.
    pub service: &'a str,
}

/// The hash of a body, in hexadecimal.
pub fn hash(body: &[u8]) -> String {
    KeyHash(Sha256::digest(body).into()).to_string()
}

/// Normalizes a URL for signing, so that each part has only one possible escaping. Servers then
/// compute the same signature, whether from the raw or the decoded URL. The result contains no
/// plus, which services decode differently.
pub fn canonical(url: &str) -> String {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let (origin, path) = split_path(address);
    let path: Vec<String> = path.split('/').map(normalize_escaping).collect();
    let mut canonical = origin.to_owned() + &path.join("/");
    let mut separator = '?';
    for (name, value) in pairs(query) {
        canonical.push(separator);
        canonical.push_str(&name);
        if let Some(value) = value {
            canonical.push('=');
            canonical.push_str(&value);
        }
        separator = '&';
    }
    canonical
}

/// The origin and path of a URL.
fn split_path(address: &str) -> (&str, &str) {
    let host = address.find("://").map_or(0, |at| at.saturating_add("://".len()));
    let path = address.get(host..).and_then(|rest| rest.find('/'));
    let at = path.map_or(address.len(), |at| at.saturating_add(host));
    address.split_at_checked(at).unwrap_or((address, ""))
}

/// Normalizes the escaping of a string.
fn normalize_escaping(text: &str) -> String {
    decode(text).map_or_else(|| encode(text), |plain| encode(&plain))
}

/// The pairs of a query, with normalized escaping.
fn pairs(query: &str) -> impl Iterator<Item = (String, Option<String>)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) =
            pair.split_once('=').map_or((pair, None), |(name, value)| (name, Some(value)));
        (normalize_escaping(name), value.map(normalize_escaping))
    })
}

impl Signer<'_> {
    /// Whether the service is Amazon S3, whose signatures differ slightly.
    pub fn is_s3(&self) -> bool {
        self.service == "s3"
    }

    /// Adds the signature headers. `headers` are all headers of the request, in lower case; `payload` is the [`hash`]
    /// of its body, or [`UNSIGNED`]; `timestamp` is the time as `20150830T123600Z`.
    pub fn sign(
        &self,
        method: &str,
        url: &str,
        headers: &mut Vec<(String, String)>,
        payload: &str,
        timestamp: &str,
    ) {
        // The signature replaces the caller's signature headers.
        let signature_headers =
            ["x-amz-date", "x-amz-security-token", "x-amz-content-sha256", "authorization"];
        headers.retain(|(name, _)| !signature_headers.contains(&name.as_str()));
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        add("x-amz-date", timestamp);
        if let Some(token) = self.session_token {
            add("x-amz-security-token", token);
        }
        if self.is_s3() {
            add("x-amz-content-sha256", payload);
        }
        // Other headers are not signed, because the Worker's runtime may change them.
        let is_signed = |name: &str| name == "content-type" || name.starts_with("x-amz-");
        let signed = headers.iter().filter(|(name, _)| is_signed(name));
        let signed: Vec<_> = signed.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let value = self.authorization(method, url, &signed, payload, timestamp);
        headers.push(("authorization".to_owned(), value));
    }

    /// The value of `Authorization` for a request with these signed headers and `Host`.
    fn authorization(
        &self,
        method: &str,
        url: &str,
        signed: &[(&str, &str)],
        payload: &str,
        timestamp: &str,
    ) -> String {
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let (origin, path) = split_path(address);
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        let default_port = if address.starts_with("https:") { ":443" } else { ":80" };
        let host = host.strip_suffix(default_port).unwrap_or(host).to_ascii_lowercase();
        let mut signed = [signed, &[("host", &host)]].concat();
        sort_by(&mut signed, |a, b| a.0.cmp(b.0));
        let mut names = String::new();
        let mut lines = String::new();
        for (name, value) in signed {
            let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            if names.rsplit(';').next() == Some(name) {
                // Join the values of the same header.
                lines.pop();
                lines.push(',');
            } else {
                names.push_str(if names.is_empty() { "" } else { ";" });
                names.push_str(name);
                lines.push_str(name);
                lines.push(':');
            }
            lines.push_str(&value);
            lines.push('\n');
        }
        let path = self.canonical_path(path);
        let query = canonical_query(query);
        let request = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{payload}");
        let date = timestamp.get(..8).unwrap_or_default();
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let text = format!("AWS4-HMAC-SHA256\n{timestamp}\n{scope}\n{}", hash(request.as_bytes()));
        let secret = format!("AWS4{}", self.secret_key);
        let mut key = mac(secret.as_bytes(), &[date.as_bytes()]);
        for piece in [self.region, self.service, "aws4_request"] {
            key = mac(&key, &[piece.as_bytes()]);
        }
        let signature = KeyHash(mac(&key, &[text.as_bytes()]));
        let access_key = self.access_key;
        format!(
            "AWS4-HMAC-SHA256 Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
    }

    /// The path to sign: as sent for Amazon S3, encoded once more for other services.
    fn canonical_path(&self, path: &str) -> String {
        if path.is_empty() {
            return "/".to_owned();
        }
        let segment = if self.is_s3() { normalize_escaping } else { encode };
        let segments = path.split('/').map(segment);
        segments.collect::<Vec<_>>().join("/")
    }
}

/// The query to sign: normalized and sorted.
fn canonical_query(query: &str) -> String {
    let mut pairs: Vec<_> =
        pairs(query).map(|(name, value)| (name, value.unwrap_or_default())).collect();
    sort(&mut pairs);
    let pairs = pairs.into_iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("&")
}

/// The time in the format of signatures: `20150830T123600Z`.
pub fn timestamp(milliseconds: u64) -> String {
    let text = crate::util::rfc3339::rfc3339(milliseconds).unwrap_or_default();
    let text = text.split('.').next().unwrap_or_default();
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect();
    digits + "Z"
}

#[cfg(test)]
mod tests {
    use super::{Signer, UNSIGNED, canonical, hash, timestamp};

    /// The key of AWS's published test suite for version 4.
    const SUITE: Signer<'_> = Signer {
        access_key: "AKIDEXAMPLE",
        secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        session_token: None,
        region: "us-east-1",
        service: "service",
    };

    /// The key in the documentation of Amazon S3.
    const S3: Signer<'_> = Signer {
        access_key: "AKIAIOSFODNN7EXAMPLE",
        secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        session_token: None,
        region: "us-east-1",
        service: "s3",
    };

    const AT: &str = "20150830T123600Z";

    #[test]
    fn signatures_match_the_published_test_suite() {
        let date = ("x-amz-date", AT);
        let form = ("content-type", "application/x-www-form-urlencoded");
        for (name, method, path, headers, body, signature) in [
            (
                "get-vanilla",
                "GET",
                "/",
                vec![date],
                "",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                "get-vanilla-empty-query-key",
                "GET",
                "/?Param1=value1",
                vec![date],
                "",
                "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
            ),
            (
                "get-vanilla-query-order-key-case",
                "GET",
                "/?Param2=value2&Param1=value1",
                vec![date],
                "",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "get-header-value-trim",
                "GET",
                "/",
                vec![("my-header1", " value1"), ("my-header2", " \"a   b   c\""), date],
                "",
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            ),
            (
                "get-header-key-duplicate",
                "GET",
                "/",
                vec![
                    ("my-header1", "value2"),
                    ("my-header1", "value2"),
                    ("my-header1", "value1"),
                    date,
                ],
                "",
                "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
            ),
            (
                "post-vanilla",
                "POST",
                "/",
                vec![date],
                "",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                "post-x-www-form-urlencoded",
                "POST",
                "/",
                vec![form, date],
                "Param1=value1",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        ] {
            let url = format!("https://example.amazonaws.com{path}");
            let value = SUITE.authorization(method, &url, &headers, &hash(body.as_bytes()), AT);
            assert!(value.ends_with(signature), "{name}: {value}");
        }
    }

    #[test]
    fn s3_signatures_match_its_documentation() {
        let at = "20130524T000000Z";
        let (empty, put) = (hash(b""), hash(b"Welcome to Amazon S3."));
        for (method, path, headers, payload, signature) in [
            (
                "GET",
                "/test.txt",
                vec![("range", "bytes=0-9")],
                &empty,
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
            ),
            (
                "PUT",
                "/test$file.text",
                vec![
                    ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                    ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                ],
                &put,
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
            ),
            (
                "GET",
                "/?lifecycle",
                vec![],
                &empty,
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
            ),
            (
                "GET",
                "/?max-keys=2&prefix=J",
                vec![],
                &empty,
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            ),
        ] {
            let url = format!("https://examplebucket.s3.amazonaws.com:443{path}");
            let own = vec![("x-amz-content-sha256", payload.as_str()), ("x-amz-date", at)];
            let value = S3.authorization(method, &url, &[headers, own].concat(), payload, at);
            assert!(value.ends_with(signature), "{path}: {value}");
        }
    }

    #[test]
    fn the_url_is_sent_as_it_is_signed() {
        for (url, expected) in [
            ("https://b.example", "https://b.example"),
            ("http://b.example:8080/a//b/", "http://b.example:8080/a//b/"),
            (
                "https://b.example/!'()*$&,;=:@+ é",
                "https://b.example/%21%27%28%29%2A%24%26%2C%3B%3D%3A%40%2B%20%C3%A9",
            ),
            (
                "https://b.example/a%2Fb%2fc%7E%61/100%/%ff",
                "https://b.example/a%2Fb%2Fc~a/100%25/%25ff",
            ),
            ("https://b.example/k?acl", "https://b.example/k?acl"),
            (
                "https://b.example/?prefix=a/b'&x=&=&y=b=c+",
                "https://b.example/?prefix=a%2Fb%27&x=&=&y=b%3Dc%2B",
            ),
        ] {
            assert_eq!(canonical(url), expected);
            assert_eq!(canonical(expected), expected);
            let (_, path) = super::split_path(expected.split('?').next().unwrap());
            assert!(path.is_empty() || S3.canonical_path(path) == path, "{path}");
        }
    }

    #[test]
    fn signing_replaces_the_callers_signature_headers() {
        let signer = Signer { session_token: Some("session"), ..S3 };
        let header = |name: &str| (name.to_owned(), "x".to_owned());
        let mut headers: Vec<_> = ["x-amz-date", "authorization", "x-amz-acl", "accept"]
            .into_iter()
            .map(header)
            .collect();
        signer.sign(
            "PUT",
            "https://b.example/k",
            &mut headers,
            UNSIGNED,
            &timestamp(1_440_938_160_000),
        );
        let value = |name: &str| {
            let mut values = headers.iter().filter(|(known, _)| known == name);
            let first = values.next().map(|(_, value)| value.as_str());
            assert!(values.next().is_none(), "{name}");
            first
        };
        assert_eq!(value("x-amz-date"), Some(AT));
        assert_eq!(value("x-amz-content-sha256"), Some(UNSIGNED));
        assert_eq!(value("x-amz-security-token"), Some("session"));
        let names =
            "SignedHeaders=host;x-amz-acl;x-amz-content-sha256;x-amz-date;x-amz-security-token,";
        assert!(value("authorization").unwrap().contains(names));
    }
}
