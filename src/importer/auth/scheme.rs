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
    /// The name of the header, parameter or cookie. Only for API keys.
    pub name: FirstText,
    /// `header`, `query` or `cookie`. Only for API keys.
    pub r#in: FirstText,
    /// The HTTP authentication scheme, such as `bearer`. Only for the type `http`.
    pub scheme: FirstText,
    /// The OAuth flows in OpenAPI 3.
    pub flows: OptionalMap<Flows>,
    /// The OAuth flow in Swagger 2: `implicit`, `password`, `application` or `accessCode`.
    pub flow: FirstText,
    /// Swagger 2 only.
    pub authorization_url: FirstText,
    /// Swagger 2 only.
    pub token_url: FirstText,
    /// Swagger 2 only.
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
