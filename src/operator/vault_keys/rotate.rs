//! `vault-keys rotate`: generates a key that encrypts new data. The other keys still decrypt.

use anyhow::{Context, Result, bail};
use base64ct::{Base64, Encoding as _};
use clap::Args;
use zeroize::Zeroizing;

use super::KeySource;
use super::usage::{KeyUsages, key_usages};
use crate::credentials::VaultKeys;
use crate::credentials::keys::is_valid_key_id;
use crate::operator::shards::Shards;
use crate::operator::storage::Storage;
use crate::operator::time::{Day, Moment};

#[derive(Debug, Clone, Args)]
pub struct Rotate {
    /// The id of the new key: 1–32 characters of a-z 0-9 -. Default: today's date, such as 2026-11-22
    #[arg(long, value_parser = id)]
    id: Option<String>,
    /// The id of a permanently lost key that rows still need. These rows can never be decrypted: their connections have
    /// to be reconnected. Can be repeated
    #[arg(long, value_name = "ID")]
    lost: Vec<String>,
    #[command(flatten)]
    source: KeySource,
}

fn id(text: &str) -> Result<String, String> {
    if is_valid_key_id(text) {
        Ok(text.to_owned())
    } else {
        Err("an id has 1 to 32 characters of a-z 0-9 -".into())
    }
}

pub fn rotate(args: &Rotate) -> Result<()> {
    let storage = Storage::open(&args.source.storage_target)?;
    let file = args.source.keys(&storage.project).context(
        "Cloudflare does not show secrets: pass your copy of VAULT_KEYS with --file. If there is none yet, the file is created",
    )?;
    let now = Moment::now();
    let keys = file.read()?;
    let needs = key_usages(&Shards::from_storage(storage), now)?;
    ensure_no_key_missing(&keys, &needs, &args.lost).with_context(|| {
        format!("nothing was changed, because keys are missing in {}", file.name())
    })?;
    let id = new_id(args.id.as_deref(), &keys, &needs, Day::from(now))?;
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice()).context("randomness from the system")?;
    let text = Zeroizing::new(Base64::encode_string(bytes.as_slice()));
    file.put_first(&Zeroizing::new(format!("{id}:{}", *text)))?;

    let name = file.name();
    println!("{id}");
    eprintln!("The new key `{id}` is the first in {name}.");
    let mut options =
        args.source.file.as_ref().map(|_| format!(" --file {name}")).unwrap_or_default();
    if args.source.storage_target.remote {
        options.insert_str(0, " --remote");
        eprintln!("Store this file where you keep your secrets. Then give it to the service:");
        eprintln!("  npx wrangler secret put VAULT_KEYS < {name}");
    }
    if let Some(old) = keys.first() {
        eprintln!(
            "The service then encrypts with `{id}`. Two minutes after it has received that key, re-encrypt everything else with it:"
        );
        eprintln!("  npm run vault-keys -- reseal{options}");
        eprintln!("Keep `{old}` until no row needs it. To see how many do:");
        eprintln!("  npm run vault-keys -- status{options}");
    }
    Ok(())
}

/// Fails if a needed key is missing and was not declared lost.
fn ensure_no_key_missing(keys: &VaultKeys, needs: &KeyUsages, lost: &[String]) -> Result<()> {
    let lines = missing(keys, needs, lost);
    if lines.is_empty() {
        return Ok(());
    }
    bail!(
        "put these back, or confirm with --lost <ID> that one is permanently lost:\n{}",
        lines.join("\n")
    )
}

/// Formats a line for each needed key that is missing and was not declared lost.
pub fn missing(keys: &VaultKeys, needs: &KeyUsages, lost: &[String]) -> Vec<String> {
    let is_missing = |id: &str| !keys.ids().any(|known| known == id);
    let missing = needs.iter().filter(|(id, _)| is_missing(id) && !lost.contains(id));
    let line = |id: &str, words: &str| format!("  `{}`: {words} it", id.escape_debug());
    missing.map(|(id, need)| line(id, &need.subject_and_verb())).collect()
}

/// The id of the new key. It must not be an id that rows need, because those rows were encrypted
/// with another key.
fn new_id(
    requested: Option<&str>,
    keys: &VaultKeys,
    needs: &KeyUsages,
    today: Day,
) -> Result<String> {
    let is_free = |id: &str| !keys.ids().any(|known| known == id) && !needs.contains_key(id);
    if let Some(id) = requested {
        if !is_free(id) {
            bail!("there is a key `{id}` already: choose another id");
        }
        return Ok(id.to_owned());
    }
    let first = today.to_string();
    let others = (2..1000).map(|number| format!("{first}-{number}"));
    let found = std::iter::once(first.clone()).chain(others).find(|id| is_free(id));
    found.with_context(|| {
        format!("all ids from {first} to {first}-999 are used: choose another one with --id")
    })
}

#[cfg(test)]
mod tests {
    use super::super::usage::KeyUsage;
    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    fn key_usages(ids: &[&str]) -> KeyUsages {
        let need = KeyUsage { connections: 2, ..KeyUsage::default() };
        ids.iter().map(|id| ((*id).to_owned(), need)).collect()
    }

    #[test]
    fn requires_needed_keys_unless_declared_lost() {
        let keys = VaultKeys::parse(&format!("a:{KEY},b:{KEY}")).unwrap();
        let check = |needed: &[&str], lost: &[&str]| {
            let lost: Vec<String> = lost.iter().map(|id| (*id).to_owned()).collect();
            ensure_no_key_missing(&keys, &key_usages(needed), &lost)
                .map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], &[]), Ok(()));
        assert_eq!(check(&["b"], &[]), Ok(()));
        assert_eq!(check(&["a", "c"], &["c"]), Ok(()));
        let error = check(&["a", "c", "d"], &["d"]).unwrap_err();
        assert!(error.ends_with(":\n  `c`: 2 rows need it"), "{error}");
    }

    #[test]
    fn new_id_is_unused() {
        let keys = VaultKeys::parse(&format!("1970-01-02:{KEY},a:{KEY}")).unwrap();
        let needs = key_usages(&["1970-01-02-2", "b"]);
        let new = |requested| new_id(requested, &keys, &needs, Day::from_days(1)).ok();
        assert_eq!(new(None).as_deref(), Some("1970-01-02-3"));
        assert_eq!(new(Some("c")).as_deref(), Some("c"));
        assert_eq!((new(Some("a")), new(Some("b"))), (None, None));
        let fresh = new_id(None, &VaultKeys::default(), &KeyUsages::new(), Day::from_days(1));
        assert_eq!(fresh.unwrap(), "1970-01-02");
    }
}
