//! API keys in the output of commands.

use serde::Serialize;

use super::table::Row;
use crate::operator::storage_target::StorageTarget;
use crate::operator::time::Moment;

/// An API key as JSON. No `Debug`, because it may contain a secret.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyOutput<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a str>,
    account: &'a str,
    environment: &'a str,
    scopes: Vec<&'a str>,
    created_at: String,
    pub(super) expires_at: Option<String>,
    revoked_at: Option<String>,
    state: &'static str,
}

impl<'a> KeyOutput<'a> {
    /// `secret` is `None` for an existing key, because only its hash is stored.
    pub fn new(row: &'a Row, secret: Option<&'a str>, now: Moment) -> Self {
        let moment = |millis: i64| Moment::from_millis(millis).to_string();
        Self {
            id: &row.id,
            secret,
            account: &row.account,
            environment: &row.environment,
            scopes: row.scopes.split(' ').collect(),
            created_at: moment(row.created_at),
            expires_at: row.expires_at.map(moment),
            revoked_at: row.revoked_at.map(moment),
            state: row.state(now),
        }
    }

    /// Prints a new key: its secret to stdout, everything else to stderr.
    pub fn print_new(&self, storage_target: &StorageTarget) {
        println!("{}", self.secret.unwrap_or_default());
        eprintln!(
            "This is the key's secret. It is shown only now, and only its hash is stored. Send it in the header x-service-secret."
        );
        eprintln!("  id           {}", self.id);
        eprintln!("  account      {} ({})", self.account, self.environment);
        eprintln!("  scopes       {}", self.scopes.join(" "));
        eprintln!("  expires      {}", self.expires_at.as_deref().unwrap_or("never"));
        eprintln!("  stored       {}", storage_target.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_contains_the_secret_only_on_creation() {
        let row = Row {
            id: "i".into(),
            account: "acme".into(),
            environment: "test".into(),
            scopes: "catalog:read connections:read".into(),
            created_at: 0,
            expires_at: Some(1_000),
            revoked_at: None,
        };
        let made =
            serde_json::to_value(KeyOutput::new(&row, Some("sk"), Moment::from_millis(0))).unwrap();
        assert_eq!(
            made,
            serde_json::json!({
                "id": "i", "secret": "sk", "account": "acme", "environment": "test",
                "scopes": ["catalog:read", "connections:read"],
                "createdAt": "1970-01-01T00:00:00.000Z", "expiresAt": "1970-01-01T00:00:01.000Z",
                "revokedAt": null, "state": "active",
            })
        );
        let listed =
            serde_json::to_value(KeyOutput::new(&row, None, Moment::from_millis(0))).unwrap();
        assert!(listed.get("secret").is_none());
    }
}
