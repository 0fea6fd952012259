//! The app's registration at a platform.

use std::fmt;

/// What a platform gave to the app. `Debug` does not show the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Client {
    /// The `client_id`.
    pub id: String,
    /// The `client_secret`; `None` for a public client.
    pub secret: Option<String>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Client;

    #[test]
    fn debug_shows_no_secret() {
        let client = Client { id: "app".to_owned(), secret: Some("hunter2".to_owned()) };
        assert_eq!(format!("{client:?}"), "Client { id: \"app\", .. }");
    }
}
