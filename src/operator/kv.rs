//! The catalog's Workers KV namespace, through wrangler's bulk commands.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::scratch::Scratch;
use super::wrangler::{Wrangler, json_in};

/// One upload holds at most so many pairs: wrangler sends 1,000 a request.
const PAIRS_PER_UPLOAD: usize = 1_000;
/// And so many bytes of JSON: the API takes 100 MB a request, and an interrupted upload should cost little.
const BYTES_PER_UPLOAD: usize = 40_000_000;
/// The API answers so many keys a bulk read.
const KEYS_PER_READ: usize = 100;

const BINDING: &str = "CATALOG";

/// What the namespace says of a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// When a version was last made the served one, RFC 3339.
    pub published_at: Option<String>,
}

/// A value on its way into the namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The key.
    pub key: String,
    /// The bytes.
    pub value: Vec<u8>,
    /// Kept beside the value.
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
struct Listed {
    name: String,
    metadata: Option<Metadata>,
}

/// The namespace.
#[derive(Debug, Clone)]
pub struct Kv<'a>(pub &'a Wrangler);

impl Kv<'_> {
    /// All keys, in order, with their metadata.
    ///
    /// # Errors
    /// When wrangler fails.
    pub fn keys(&self) -> Result<BTreeMap<String, Metadata>> {
        let text = self.0.run(["kv", "key", "list", "--binding", BINDING])?;
        let listed: Vec<Listed> = json_in(&text, '[').context("wrangler's list of keys")?;
        Ok(listed.into_iter().map(|key| (key.name, key.metadata.unwrap_or_default())).collect())
    }

    /// One value, when it is there and is JSON of this shape.
    ///
    /// # Errors
    /// When wrangler fails for another reason than that there is no such key.
    pub fn get<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Result<Option<T>> {
        // On this machine wrangler says "Value not found" for a missing key, which is no JSON, and succeeds.
        match self.0.run(["kv", "key", "get", key, "--binding", BINDING, "--text"]) {
            Ok(text) => Ok(serde_json::from_str(text.trim()).ok()),
            Err(error) if is_missing(&format!("{error:#}"), key) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Many JSON values by key; what is missing or of another shape is left out.
    ///
    /// # Errors
    /// When wrangler fails.
    pub fn get_all<T: for<'de> Deserialize<'de>>(
        &self,
        keys: &[String],
    ) -> Result<BTreeMap<String, T>> {
        let mut found = BTreeMap::new();
        for chunk in keys.chunks(KEYS_PER_READ) {
            let file = Scratch::with("json", &serde_json::to_vec(chunk)?)?;
            let text = self.0.run(["kv", "bulk", "get", file.path(), "--binding", BINDING])?;
            let values: BTreeMap<String, Value> =
                json_in(&text, '{').context("wrangler's values")?;
            for (key, value) in values {
                // On this machine a value comes wrapped, from Cloudflare as it is.
                let value = value.get("value").cloned().unwrap_or(value);
                if let Some(value) = value.as_str().and_then(|text| serde_json::from_str(text).ok())
                {
                    found.insert(key, value);
                }
            }
        }
        Ok(found)
    }

    /// Writes pairs in as few uploads as the limits allow, and tells `done` how many are written.
    ///
    /// # Errors
    /// When a value cannot be read or wrangler fails; earlier uploads stay.
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
        let file = Scratch::with("json", &upload.json)?;
        self.0.run(["kv", "bulk", "put", file.path(), "--binding", BINDING])?;
        Ok(upload.pairs)
    }

    /// Removes keys.
    ///
    /// # Errors
    /// When wrangler fails.
    pub fn delete_all(&self, keys: &[String]) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let file = Scratch::with("json", &serde_json::to_vec(keys)?)?;
        self.0.run(["kv", "bulk", "delete", file.path(), "--force", "--binding", BINDING])?;
        Ok(())
    }
}

/// Whether wrangler failed because Cloudflare has no value of this key.
fn is_missing(said: &str, key: &str) -> bool {
    said.contains(&format!("/values/{key} - 404:"))
}

/// A JSON array for one upload.
#[derive(Debug, Default)]
struct Chunk {
    json: Vec<u8>,
    pairs: usize,
}

/// Gathers pairs into uploads below the limits.
#[derive(Debug, Default)]
struct Uploads {
    open: Chunk,
}

impl Uploads {
    /// Adds a pair; gives the upload that was full before it.
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

    /// Closes the open upload, when there is anything in it.
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

    /// How many pairs each upload got.
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
        // 12 MB are 16 MB in base64: two fit into 40 MB, three do not.
        assert_eq!(uploads((0..5).map(|i| pair(&i.to_string(), 12_000_000))), [2, 2, 1]);
        // The largest value of Workers KV fits into an upload of its own.
        assert_eq!(uploads([pair("a", 1), pair("b", 25 * 1024 * 1024), pair("c", 1)]), [3]);
    }

    #[test]
    fn an_upload_is_what_wrangler_reads() {
        let mut uploads = Uploads::default();
        uploads
            .add(&Pair { key: "segment:1".into(), value: vec![0, 255], metadata: None })
            .unwrap();
        let published = Metadata { published_at: Some("2026-01-01T00:00:00.000Z".into()) };
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
    fn only_a_missing_value_counts_as_missing() {
        let failed = "Failed to fetch https://api.cloudflare.com/client/v4/accounts/a/storage/kv/namespaces/n/values/current";
        assert!(is_missing(&format!("{failed} - 404: Not Found"), "current"));
        for other in [" - 403: Forbidden", " - 500: 404 not found", "2 - 404: Not Found"] {
            assert!(!is_missing(&format!("{failed}{other}"), "current"), "{other}");
        }
        assert!(!is_missing("namespace not found [code: 10013]", "current"));
    }
}
