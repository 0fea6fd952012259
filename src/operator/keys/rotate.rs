//! `keys rotate`: replaces an API key. The old key remains valid for a while.

use anyhow::{Context, Result, bail};
use clap::Args;
use jiff::SignedDuration;
use serde::Serialize;

use super::arguments::{self, environment};
use super::create::{generate, random_id};
use super::output::KeyOutput;
use super::table::{KeyTable, KeyWithUsage, Replacement, Row};
use crate::operator::shards::Shards;
use crate::operator::storage_target::StorageTarget;
use crate::operator::time::{Expiry, Moment, NewExpiry, Overlap};

#[derive(Debug, Clone, Args)]
pub struct Rotate {
    /// The id of the key to replace, as `keys list` shows it
    id: String,
    /// How long the old key stays valid, at most until its own expiry: 30m, 12h, 7d, 2w, or 0 to revoke it now
    #[arg(long, value_name = "TIME", default_value = "24h")]
    overlap: Overlap,
    /// When the new key expires: 30m, 12h, 90d, 2w, 2030-01-31, 2030-01-31T12:00:00Z, or never. Default: the
    /// new key gets the lifetime of the old one
    #[arg(long, value_name = "WHEN")]
    expires: Option<NewExpiry>,
    #[command(flatten)]
    storage_target: StorageTarget,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct RotationOutput<'a> {
    #[serde(flatten)]
    new: KeyOutput<'a>,
    replaces: KeyOutput<'a>,
}

/// Returns the key to replace and its table. Fails if the key does not exist, is not active, or has
/// already been replaced.
fn find_replaceable<T>(
    found: Option<(T, KeyWithUsage)>,
    id: &str,
    storage_target: &str,
    now: Moment,
) -> Result<(T, Row)> {
    let Some((table, KeyWithUsage { row, replaced_by, .. })) = found else {
        bail!("there is no key {id} {storage_target}: see `npm run keys -- list`");
    };
    let state = row.state(now);
    if state != "active" {
        bail!(
            "{id} of account {} is {state}: create a new key with `npm run keys -- create`",
            row.account
        );
    }
    if let Some(other) = replaced_by {
        bail!(
            "{id} of account {} was replaced by {other} already: rotate that one, or create a new key with `npm run keys -- create`",
            row.account
        );
    }
    Ok((table, row))
}

/// When the new key expires; `None` if never.
fn expiry(requested: Option<NewExpiry>, old: &Row, now: Moment) -> Result<Option<Moment>> {
    if let Some(requested) = requested {
        return requested.from(now).context("--expires");
    }
    let lifetime = old.expires_at.map(|end| end.saturating_sub(old.created_at));
    let after = |millis| Expiry::After(SignedDuration::from_millis(millis)).from(now);
    lifetime.map(after).transpose().context("the new key's expiry: set it with --expires")
}

/// When the old key expires; `None` to revoke it immediately.
fn end(overlap: Overlap, old: &Row, now: Moment) -> Result<Option<Moment>> {
    let end = overlap.from(now).context("--overlap")?;
    Ok(end.map(|end| old.expires_at.map_or(end, |expiry| end.min(Moment::from_millis(expiry)))))
}

pub fn rotate(args: &Rotate) -> Result<()> {
    let id = arguments::key_id(&args.id)?;
    let found = KeyTable::find(&Shards::open(&args.storage_target)?, &id)?;
    let now = Moment::now();
    let (table, old) = find_replaceable(found, &id, args.storage_target.name(), now)?;
    let new = Row {
        id: random_id()?,
        created_at: now.millis(),
        expires_at: expiry(args.expires, &old, now)?.map(Moment::millis),
        ..old.clone()
    };
    let in_words = environment(&old.environment).map_err(anyhow::Error::msg);
    let in_words = in_words.with_context(|| format!("the environment of the key {id}"))?;
    let key = generate(in_words, table.0.shard)?;
    let old_key_expires_at = end(args.overlap, &old, now)?;
    let hash = key.hash().to_string();
    let written =
        table.replace(&Replacement { old: &old, new: &new, hash: &hash, old_key_expires_at })?;
    let Some((new, old)) = written else {
        bail!("{id} was changed in the meantime, so nothing was done: see `npm run keys -- list`");
    };
    let output = RotationOutput {
        new: KeyOutput::new(&new, Some(key.reveal()), now),
        replaces: KeyOutput::new(&old, None, now),
    };
    if args.json {
        println!("{}", serde_json::to_string(&output)?);
        return Ok(());
    }
    let until = output.replaces.expires_at.as_deref().filter(|_| old.revoked_at.is_none());
    output.new.print_new(&args.storage_target);
    match until {
        Some(end) => eprintln!("  replaces     {id}, which stays valid until {end}"),
        None => eprintln!("  replaces     {id}, which is revoked"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment::from_millis(1_790_000_000_000);
    const DAY: i64 = 86_400_000;
    /// 80 days before `NOW`.
    const CREATED_AT: i64 = 1_783_088_000_000;

    fn row(expires_at: Option<i64>) -> Row {
        Row {
            id: "a".into(),
            account: "acme".into(),
            environment: "test".into(),
            scopes: "catalog:read".into(),
            created_at: CREATED_AT,
            expires_at,
            revoked_at: None,
        }
    }

    fn listed(row: Row) -> KeyWithUsage {
        KeyWithUsage { row, last_used_day: None, replaced_by: None, is_forwarded: false }
    }

    #[test]
    fn only_a_valid_key_is_replaced_and_only_once() {
        let soon = Some(NOW.millis() + 1);
        let refused = |found: Option<KeyWithUsage>| {
            let found = found.map(|found| ((), found));
            let old = find_replaceable(found, "a", "on this machine", NOW).map(|((), old)| old);
            old.map_err(|error| error.to_string())
        };
        assert_eq!(refused(Some(listed(row(soon)))), Ok(row(soon)));
        assert_eq!(
            refused(None).unwrap_err(),
            "there is no key a on this machine: see `npm run keys -- list`"
        );
        for (row, state) in [
            (Row { revoked_at: Some(1), ..row(None) }, "revoked"),
            (row(Some(NOW.millis())), "expired"),
        ] {
            let error = refused(Some(listed(row))).unwrap_err();
            assert!(error.starts_with(&format!("a of account acme is {state}: ")), "{error}");
        }
        let before = KeyWithUsage { replaced_by: Some("b".into()), ..listed(row(None)) };
        assert!(refused(Some(before)).unwrap_err().contains("replaced by b already"));
    }

    #[test]
    fn new_key_gets_the_lifetime_of_the_old_one() {
        let in_days = |days| Some(Moment::from_millis(NOW.millis() + days * DAY));
        let old_key_expires_at = |requested: Option<&str>, old| {
            expiry(requested.map(|text| text.parse().unwrap()), &row(old), NOW)
        };
        let old = Some(NOW.millis() + 10 * DAY);
        assert_eq!(old_key_expires_at(None, None).unwrap(), None);
        assert_eq!(old_key_expires_at(None, old).unwrap(), in_days(90));
        assert_eq!(old_key_expires_at(Some("30d"), old).unwrap(), in_days(30));
        assert_eq!(old_key_expires_at(Some("30d"), None).unwrap(), in_days(30));
        assert_eq!(old_key_expires_at(Some("never"), old).unwrap(), None);
        assert!(old_key_expires_at(Some("2020-01-01"), None).is_err());
        assert!(old_key_expires_at(None, Some(i64::MAX)).is_err());
    }

    #[test]
    fn overlap_does_not_extend_the_old_key() {
        let old_key_expires_at = |overlap: &str, old: Option<i64>| {
            let old = row(old.map(|days| NOW.millis() + days * DAY));
            let end = end(overlap.parse().unwrap(), &old, NOW).unwrap();
            end.map(|end| (end.millis() - NOW.millis()) / DAY)
        };
        assert_eq!(old_key_expires_at("7d", None), Some(7));
        assert_eq!(old_key_expires_at("7d", Some(10)), Some(7));
        assert_eq!(old_key_expires_at("7d", Some(3)), Some(3));
        assert_eq!((old_key_expires_at("0", None), old_key_expires_at("0", Some(3))), (None, None));
    }
}
