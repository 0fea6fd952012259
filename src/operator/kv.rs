//! Reads and writes the catalog's Workers KV namespace in bulk.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::format::stored::SegmentId;

use super::project::CATALOG;
use super::storage::{Backend, Storage};
use super::temp_file::TempFile;
use super::wrangler::{Wrangler, parse_json_output};

/// The maximum number of pairs per upload. Wrangler sends 1,000 per request.
const PAIRS_PER_UPLOAD: usize = 1_000;
/// The maximum size of an upload's JSON, in bytes. The API accepts 100 MB per request, but smaller
/// uploads lose less when they are interrupted.
const BYTES_PER_UPLOAD: usize = 40_000_000;
/// The maximum number of keys per bulk read of the API.
const KEYS_PER_READ: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// When the version was last published (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
    /// The served version. Only on the record `current`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<SegmentId>,
    /// Whether the served version is the sample catalog that `npm start` made. Only on the record `current`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sample: bool,
}

/// A key, the value to write, and its metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub key: String,
    pub value: Vec<u8>,
    pub metadata: Option<Metadata>,
}

#[derive(Serialize)]
struct Upload<'a> {
    key: &'a str,
    value: String,
    base64: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

#[derive(Deserialize)]
struct ListedKey {
    name: String,
    metadata: Option<Metadata>,
}

#[derive(Debug, Clone)]
pub struct Kv<'a>(pub &'a Storage);

impl Kv<'_> {
    /// All keys in order, with their metadata.
    pub fn keys(&self) -> Result<BTreeMap<String, Metadata>> {
        let listed: Vec<ListedKey> = match &self.0.backend {
            Backend::Local(local) => local.keys()?,
            Backend::Wrangler(wrangler) => {
                let text = wrangler.run(["kv", "key", "list", "--binding", CATALOG])?;
                parse_json_output(&text, '[').context("wrangler's list of keys")?
            }
        };
        Ok(listed.into_iter().map(|key| (key.name, key.metadata.unwrap_or_default())).collect())
    }

    /// Reads a value as JSON. Returns `None` if it is missing or has a different format.
    pub fn get<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Result<Option<T>> {
        let text = match &self.0.backend {
            Backend::Local(local) => local.values(&[key.to_owned()])?.remove(key).flatten(),
            Backend::Wrangler(wrangler) => read_one(wrangler, key)?,
        };
        Ok(text.and_then(|text| serde_json::from_str(text.trim()).ok()))
    }

    /// Reads a value as bytes. Returns `None` if it is missing.
    pub fn bytes(&self, key: &str) -> Result<Option<Vec<u8>>> {
        match &self.0.backend {
            Backend::Local(local) => {
                let text = local.bytes(key)?;
                text.map(|text| STANDARD.decode(text).context("the helper's response")).transpose()
            }
            Backend::Wrangler(wrangler) => {
                let read = wrangler.run_for_bytes(["kv", "key", "get", key, "--binding", CATALOG]);
                match read {
                    Ok(bytes) => Ok(Some(bytes)),
                    Err(error) if is_missing(&format!("{error:#}"), key) => Ok(None),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Reads many values as JSON. Skips values that are missing or have a different format.
    pub fn get_all<T: for<'de> Deserialize<'de>>(
        &self,
        keys: &[String],
    ) -> Result<BTreeMap<String, T>> {
        let mut found = BTreeMap::new();
        for chunk in keys.chunks(KEYS_PER_READ) {
            let values = match &self.0.backend {
                Backend::Local(local) => local.values(chunk)?,
                Backend::Wrangler(wrangler) => read_many(wrangler, chunk)?,
            };
            let values = values.into_iter().filter_map(|(key, text)| Some((key, text?)));
            found.extend(
                values.filter_map(|(key, text)| Some((key, serde_json::from_str(&text).ok()?))),
            );
        }
        Ok(found)
    }

    /// Writes pairs with as few uploads as the limits allow. After each upload, calls `done` with
    /// the number of pairs written so far.
    pub fn put_all(
        &self,
        pairs: impl IntoIterator<Item = Result<Pair>>,
        mut done: impl FnMut(usize),
    ) -> Result<()> {
        let mut uploads = Uploads::default();
        let mut written = 0_usize;
        for pair in pairs {
            if let Some(full) = uploads.add(&pair?)? {
                written = written.saturating_add(self.upload(&full)?);
                done(written);
            }
        }
        if let Some(last) = uploads.take() {
            written = written.saturating_add(self.upload(&last)?);
            done(written);
        }
        Ok(())
    }

    fn upload(&self, upload: &Chunk) -> Result<usize> {
        match &self.0.backend {
            Backend::Local(local) => local.put(&upload.json)?,
            Backend::Wrangler(wrangler) => {
                let file = TempFile::with("json", &upload.json)?;
                wrangler.run(["kv", "bulk", "put", file.path(), "--binding", CATALOG])?;
            }
        }
        Ok(upload.pairs)
    }

    pub fn delete_all(&self, keys: &[String]) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        match &self.0.backend {
            Backend::Local(local) => local.delete(keys),
            Backend::Wrangler(wrangler) => {
                let file = TempFile::with("json", &serde_json::to_vec(keys)?)?;
                let delete = ["kv", "bulk", "delete", file.path(), "--force", "--binding", CATALOG];
                wrangler.run(delete).map(drop)
            }
        }
    }
}

fn read_one(wrangler: &Wrangler, key: &str) -> Result<Option<String>> {
    // For a missing key, local wrangler succeeds and prints "Value not found", which is not JSON.
    match wrangler.run(["kv", "key", "get", key, "--binding", CATALOG, "--text"]) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_missing(&format!("{error:#}"), key) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads several values with wrangler.
fn read_many(wrangler: &Wrangler, keys: &[String]) -> Result<BTreeMap<String, Option<String>>> {
    let file = TempFile::with("json", &serde_json::to_vec(keys)?)?;
    let text = wrangler.run(["kv", "bulk", "get", file.path(), "--binding", CATALOG])?;
    let values: BTreeMap<String, Value> =
        parse_json_output(&text, '{').context("wrangler's values")?;
    let text = |value: &Value| {
        // Local wrangler wraps each value in an object; the remote API does not.
        value.get("value").unwrap_or(value).as_str().map(str::to_owned)
    };
    Ok(values.iter().map(|(key, value)| (key.clone(), text(value))).collect())
}

/// Whether wrangler failed because the key does not exist in Workers KV.
fn is_missing(message: &str, key: &str) -> bool {
    message.contains(&format!("/values/{key} - 404:"))
}

/// The JSON array of one upload, and its number of pairs.
#[derive(Debug, Default)]
struct Chunk {
    json: Vec<u8>,
    pairs: usize,
}

/// Groups pairs into uploads within the limits.
#[derive(Debug, Default)]
struct Uploads {
    open: Chunk,
}

impl Uploads {
    /// Adds a pair. If it does not fit into the current upload, returns that upload and starts the
    /// next one.
    fn add(&mut self, pair: &Pair) -> Result<Option<Chunk>> {
        let value = STANDARD.encode(&pair.value);
        let item = serde_json::to_vec(&Upload {
            key: &pair.key,
            value,
            base64: true,
            metadata: pair.metadata.as_ref(),
        })?;
        let is_full = self.open.pairs >= PAIRS_PER_UPLOAD
            || self.open.json.len().saturating_add(item.len()) > BYTES_PER_UPLOAD;
        let full = if is_full { self.take() } else { None };
        self.open.json.push(if self.open.json.is_empty() { b'[' } else { b',' });
        self.open.json.extend_from_slice(&item);
        self.open.pairs = self.open.pairs.saturating_add(1);
        Ok(full)
    }

    /// Returns the current upload and starts the next one. Returns `None` if it is empty.
    fn take(&mut self) -> Option<Chunk> {
        let mut chunk = std::mem::take(&mut self.open);
        if chunk.pairs == 0 {
            return None;
        }
        chunk.json.push(b']');
        Some(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(key: &str, bytes: usize) -> Pair {
        Pair { key: key.into(), value: vec![7; bytes], metadata: None }
    }

    /// The number of pairs in each upload.
    fn uploads(pairs: impl IntoIterator<Item = Pair>) -> Vec<usize> {
        let mut uploads = Uploads::default();
        let mut sizes = Vec::new();
        for pair in pairs {
            sizes.extend(uploads.add(&pair).unwrap().map(|chunk| chunk.pairs));
        }
        sizes.extend(uploads.take().map(|chunk| chunk.pairs));
        sizes
    }

    #[test]
    fn uploads_stay_below_both_limits() {
        assert_eq!(uploads([]), [0_usize; 0]);
        assert_eq!(uploads([pair("a", 1)]), [1]);
        assert_eq!(uploads((0..2_500).map(|i| pair(&i.to_string(), 1))), [1_000, 1_000, 500]);
        // 12 MB are 16 MB in base64: two of them fit into 40 MB, three do not.
        assert_eq!(uploads((0..5).map(|i| pair(&i.to_string(), 12_000_000))), [2, 2, 1]);
        // The largest value of Workers KV gets its own upload.
        assert_eq!(uploads([pair("a", 1), pair("b", 25 * 1024 * 1024), pair("c", 1)]), [3]);
    }

    #[test]
    fn upload_has_wranglers_format() {
        let mut uploads = Uploads::default();
        uploads
            .add(&Pair { key: "segment:1".into(), value: vec![0, 255], metadata: None })
            .unwrap();
        let published = Metadata {
            published_at: Some("2026-01-01T00:00:00.000Z".into()),
            ..Metadata::default()
        };
        uploads
            .add(&Pair {
                key: "version:1".into(),
                value: b"{}".to_vec(),
                metadata: Some(published),
            })
            .unwrap();
        let json: Value = serde_json::from_slice(&uploads.take().unwrap().json).unwrap();
        let expected = serde_json::json!([
            { "key": "segment:1", "value": "AP8=", "base64": true },
            { "key": "version:1", "value": "e30=", "base64": true, "metadata": { "publishedAt": "2026-01-01T00:00:00.000Z" } },
        ]);
        assert_eq!(json, expected);
    }

    #[test]
    fn recognizes_missing_values_only() {
        let failed = "Failed to fetch https://api.cloudflare.com/client/v4/accounts/a/storage/kv/namespaces/n/values/current";
        assert!(is_missing(&format!("{failed} - 404: Not Found"), "current"));
        for other in [" - 403: Forbidden", " - 500: 404 not found", "2 - 404: Not Found"] {
            assert!(!is_missing(&format!("{failed}{other}"), "current"), "{other}");
        }
        assert!(!is_missing("namespace not found [code: 10013]", "current"));
    }
}
