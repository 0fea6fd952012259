//! How many connections there may be: an account can't fill the database of all accounts, nor a token that of its account.

/// The most connections of an account in one environment.
pub const MAX_OF_ACCOUNT: u64 = 2_000_000;
/// The most connections that an identity may have if its tokens are to create more. Keys are not limited like that.
pub const MAX_OF_IDENTITY: u64 = 500;

/// The condition that an account may have one more connection in an environment. Both are placeholders or columns.
#[must_use]
pub fn account_has_place(account: &str, environment: &str) -> String {
    format!(
        "(SELECT coalesce(sum(t.n), 0) FROM connection_counts t WHERE t.account = {account} AND t.environment = {environment} AND t.active IN (0, 1) AND t.dimension = 'all' AND t.value = '') < {MAX_OF_ACCOUNT}"
    )
}

/// As [`account_has_place`], for an identity, whose connections are counted up to the limit.
#[must_use]
pub fn identity_has_place(
    account: &str,
    environment: &str,
    [folded, identity]: [&str; 2],
) -> String {
    format!(
        "(SELECT count(*) FROM (SELECT 1 FROM connections t INDEXED BY connections_by_identity WHERE t.account = {account} AND t.environment = {environment} AND t.active IN (0, 1) AND t.identity_folded = {folded} AND t.identity = {identity} LIMIT {MAX_OF_IDENTITY})) < {MAX_OF_IDENTITY}"
    )
}
