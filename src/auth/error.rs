//! Why a caller is not let in.

use crate::ports::StorageError;

/// Why a request could not be authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthenticationError {
    /// It carries no secret.
    Missing,
    /// It carries no secret, but the header `Authorization`, which the API does not read.
    InAuthorization,
    /// It carries several secrets.
    Several,
    /// Its key has the wrong shape or checksum.
    Malformed,
    /// Its key is unknown, revoked or expired. All three get the same answer, so that it reveals nothing.
    Refused,
    /// Its token was not signed here, has expired or comes from another origin, or the token's key is no longer valid.
    /// All get the same answer.
    BadToken,
    /// Storage can't answer.
    Storage(StorageError),
}

impl From<StorageError> for AuthenticationError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}
