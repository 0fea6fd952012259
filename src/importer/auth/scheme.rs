//! Security schemes as documents write them, in OpenAPI 3 and Swagger 2.

use serde::Deserialize;

use crate::importer::entries::Entries;
use crate::importer::scalar::{FirstText, Spare};

/// A security scheme.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Scheme {
    /// Such as `oauth2`
    pub r#type: FirstText,
    /// For people.
    pub description: FirstText,
    /// Of an API key: the header, parameter or cookie.
    pub name: FirstText,
    /// Of an API key: `header`, `query` or `cookie`.
    pub r#in: FirstText,
    /// Of the type `http`: such as `bearer`.
    pub scheme: FirstText,
    /// Of OAuth in OpenAPI 3.
    pub flows: Spare<Flows>,
    /// Of OAuth in Swagger 2: `implicit`, `password`, `application` or `accessCode`.
    pub flow: FirstText,
    /// Of OAuth in Swagger 2.
    pub authorization_url: FirstText,
    /// Of OAuth in Swagger 2.
    pub token_url: FirstText,
    /// Of OAuth in Swagger 2.
    pub scopes: Spare<Entries<FirstText>>,
    /// Amazon's mark of signed requests: `awsSigv4`.
    #[serde(rename = "x-amazon-apigateway-authtype")]
    pub amazon: FirstText,
}

/// The flows of OAuth in OpenAPI 3. The password grant is left out: it would have the vault know a user's password.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Flows {
    /// The user agrees in a browser, and the code is exchanged.
    pub authorization_code: Spare<Flow>,
    /// The user agrees in a browser, and the token comes back in the address.
    pub implicit: Spare<Flow>,
    /// The client acts for itself.
    pub client_credentials: Spare<Flow>,
}

/// A flow of OAuth.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Flow {
    /// Where the user is sent.
    pub authorization_url: FirstText,
    /// Where tokens are.
    pub token_url: FirstText,
    /// Where tokens are refreshed.
    pub refresh_url: FirstText,
    /// Names and descriptions.
    pub scopes: Spare<Entries<FirstText>>,
}
