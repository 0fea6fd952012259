//! How texts are compared when case does not matter: the same in the importer, the Worker and the client.

/// Unicode lower-casing.
#[must_use]
pub fn fold(text: &str) -> String {
    text.to_lowercase()
}
