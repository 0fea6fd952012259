//! The security schemes of documents, in OpenAPI 3 and Swagger 2.

use serde::Deserialize;

use crate::importer::entries::Entries;
use crate::importer::scalar::{FirstText, OptionalMap};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Scheme {
    /// `oauth2`, `apiKey`, `http` or, in Swagger 2, `basic`.
    pub r#type: FirstText,
    pub description: FirstText,
    /// Only for API keys: the name of the header, parameter or cookie.
    pub name: FirstText,
    /// Only for API keys: `header`, `query` or `cookie`.
    pub r#in: FirstText,
    /// Only for the type `http`, such as `bearer`.
    pub scheme: FirstText,
    /// Only for OAuth in OpenAPI 3.
    pub flows: OptionalMap<Flows>,
    /// Only for OAuth in Swagger 2: `implicit`, `password`, `application` or `accessCode`.
    pub flow: FirstText,
    /// Only for OAuth in Swagger 2.
    pub authorization_url: FirstText,
    /// Only for OAuth in Swagger 2.
    pub token_url: FirstText,
    /// Only for OAuth in Swagger 2.
    pub scopes: OptionalMap<Entries<FirstText>>,
    /// `awsSigv4` if requests must be signed (Amazon's extension).
    #[serde(rename = "x-amazon-apigateway-authtype")]
    pub amazon: FirstText,
}

/// The OAuth flows of OpenAPI 3. Omits the password grant, which would reveal the user's password
/// to the vault.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Flows {
    /// The user consents in a browser, and the client exchanges the code for a token.
    pub authorization_code: OptionalMap<Flow>,
    /// The user consents in a browser, and the fragment of the redirect contains the token.
    pub implicit: OptionalMap<Flow>,
    /// The client acts on its own behalf, without a user.
    pub client_credentials: OptionalMap<Flow>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Flow {
    pub authorization_url: FirstText,
    pub token_url: FirstText,
    pub refresh_url: FirstText,
    /// The scopes, each with its description.
    pub scopes: OptionalMap<Entries<FirstText>>,
}
