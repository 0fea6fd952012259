//! Limits the number of connections, so that one account does not fill the database that it shares
//! with others, and one token does not fill its account.

/// The maximum number of connections of an account in one environment.
pub const MAX_CONNECTIONS_PER_ACCOUNT: u64 = 2_000_000;
/// The maximum number of connections that tokens of one identity may create. Keys have no such
/// limit.
pub const MAX_CONNECTIONS_PER_IDENTITY: u64 = 500;

/// The SQL condition that an account is below its limit. Both arguments are placeholders or columns.
pub fn account_has_capacity(account: &str, environment: &str) -> String {
    format!(
        "(SELECT coalesce(sum(t.n), 0) FROM connection_counts t WHERE t.account = {account} \
         AND t.environment = {environment} AND t.active IN (0, 1) AND t.dimension = 'all' \
         AND t.value = '') < {MAX_CONNECTIONS_PER_ACCOUNT}"
    )
}

/// Like [`account_has_capacity`], for an identity. Its connections are counted up to the limit.
pub fn identity_has_capacity(
    account: &str,
    environment: &str,
    [folded, identity]: [&str; 2],
) -> String {
    format!(
        "(SELECT count(*) FROM (SELECT 1 FROM connections t INDEXED BY connections_by_identity \
         WHERE t.account = {account} AND t.environment = {environment} AND t.active IN (0, 1) \
         AND t.identity_folded = {folded} AND t.identity = {identity} \
         LIMIT {MAX_CONNECTIONS_PER_IDENTITY})) < {MAX_CONNECTIONS_PER_IDENTITY}"
    )
}
