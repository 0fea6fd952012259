//! Facts about three providers. Each has hundreds of documents, which contain endpoints that no
//! longer work, or do not describe how to sign requests.
//!
//! | provider | source of the facts |
//! |---|---|
//! | Google | `https://accounts.google.com/.well-known/openid-configuration`, "Using OAuth 2.0 for Web Server Applications" |
//! | Microsoft | "Microsoft identity platform and OAuth 2.0 authorization code flow" |
//! | Amazon | "AWS Signature Version 4 for API requests" |

use super::kinds::scopes;
use super::scheme::Scheme;
use super::{Kind, ResolvedServers, add_scopes};
use crate::catalog::detail::{Field, Grant, OAuth2, Parameters, Pkce, Scope, variables};
use crate::importer::document::Document;
use crate::importer::scalar::FirstText;

/// A provider with incomplete documents.
#[derive(Debug)]
pub enum Family {
    Google,
    /// Microsoft's OAuth 2.0. `resource` is the prefix of scope names.
    Microsoft {
        /// The URL of the API, such as `https://management.azure.com/`.
        resource: String,
    },
    Amazon {
        /// The AWS service name in signatures.
        service: String,
        regions: Vec<String>,
    },
}

/// Detects the provider of a document.
pub fn detect<F>(document: &Document<F>, servers: &ResolvedServers) -> Option<Family> {
    let info = document.info.as_ref()?;
    match info.provider.as_str().trim().to_lowercase().as_str() {
        "googleapis.com" | "google.com" => Some(Family::Google),
        "azure.com" | "microsoft.com" | "windows.net" => {
            Some(Family::Microsoft { resource: resource(servers) })
        }
        "amazonaws.com" => {
            let service_name =
                info.signing_name.non_blank().or_else(|| info.service.non_blank())?;
            let service = service_name.trim().to_lowercase();
            Some(Family::Amazon { service, regions: regions(servers) })
        }
        _ => None,
    }
}

impl Family {
    /// The auth method of a scheme for this provider. Returns `None` if the document is complete.
    pub fn kind(&self, scheme: &Scheme) -> Option<Kind> {
        let kind = scheme.r#type.as_str().trim().to_lowercase();
        match self {
            Self::Google if kind == "oauth2" => {
                Some(Kind::OAuth2(Box::new(google(declared_scopes(scheme)))))
            }
            Self::Microsoft { resource } if kind == "oauth2" => {
                let scopes =
                    declared_scopes(scheme).into_iter().map(|scope| qualify(scope, resource));
                Some(Kind::OAuth2(Box::new(microsoft(scopes.collect()))))
            }
            Self::Amazon { service, regions } if requires_signature(scheme) => {
                let (service, regions) = (service.clone(), regions.clone());
                Some(Kind::AwsSigv4 { service, regions })
            }
            _ => None,
        }
    }
}

/// Whether a scheme requires signed requests. Some documents declare it as an API key in the
/// `Authorization` header.
fn requires_signature(scheme: &Scheme) -> bool {
    let is = |text: &FirstText, other: &str| text.as_str().trim().eq_ignore_ascii_case(other);
    is(&scheme.amazon, "awsSigv4")
        || (is(&scheme.r#in, "header") && is(&scheme.name, "Authorization"))
}

/// The scopes of all flows of a scheme.
fn declared_scopes(scheme: &Scheme) -> Vec<Scope> {
    let mut all = scopes(&scheme.scopes);
    if let Some(flows) = scheme.flows.get() {
        for flow in [&flows.authorization_code, &flows.implicit, &flows.client_credentials] {
            add_scopes(&mut all, flow.get().map(|flow| scopes(&flow.scopes)).unwrap_or_default());
        }
    }
    all
}

/// Google's OAuth 2.0. Requests offline access and consent, because otherwise Google issues no
/// refresh token when a user connects again.
pub fn google(scopes: Vec<Scope>) -> OAuth2 {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let authorization_url = "https://accounts.google.com/o/oauth2/v2/auth".to_owned();
    let token_url = "https://oauth2.googleapis.com/token".to_owned();
    OAuth2 {
        issuer: Some("https://accounts.google.com".to_owned()),
        revocation_url: Some("https://oauth2.googleapis.com/revoke".to_owned()),
        scopes,
        pkce: Pkce::S256,
        authorization_parameters: Parameters::from([
            pair("access_type", "offline"),
            pair("prompt", "consent"),
        ]),
        ..OAuth2::standard(Grant::AuthorizationCode, Some(authorization_url), token_url)
    }
}

/// The field for the variable of Microsoft's URLs that identifies the directory (tenant).
pub fn tenant() -> Field {
    Field {
        required: false,
        description: Some("The directory's ID or domain; `common` for any account.".to_owned()),
        default: Some("common".to_owned()),
        ..Field::required("tenant", "Tenant")
    }
}

/// Microsoft's OAuth 2.0, version 2 of its endpoints.
pub fn microsoft(mut scopes: Vec<Scope>) -> OAuth2 {
    let base = "https://login.microsoftonline.com/{tenant}/oauth2/v2.0";
    if !scopes.iter().any(|scope| scope.name == "offline_access") {
        let description = "Keep access while you are away".to_owned();
        scopes.insert(0, Scope { name: "offline_access".to_owned(), description });
    }
    let (authorization_url, token_url) = (format!("{base}/authorize"), format!("{base}/token"));
    OAuth2 {
        scopes,
        pkce: Pkce::S256,
        ..OAuth2::standard(Grant::AuthorizationCode, Some(authorization_url), token_url)
    }
}

/// The prefix of Microsoft's scopes: the URL of the API.
fn resource(servers: &ResolvedServers) -> String {
    let host = |url: &str| {
        let rest = url.split_once("://")?.1;
        let host = rest.split('/').next()?;
        variables(host).next().is_none().then(|| host.to_owned())
    };
    // Documents of APIs with a host per customer do not contain the resource. Most belong to
    // Azure's management API, so use that.
    let host = servers.servers.iter().find_map(|server| host(&server.url));
    format!("https://{}/", host.unwrap_or_else(|| "management.azure.com".to_owned()))
}

/// Adds the resource to the name of a scope, as version 2 requires:
/// `https://management.azure.com/user_impersonation`.
fn qualify(scope: Scope, resource: &str) -> Scope {
    let is_openid_scope =
        ["offline_access", "openid", "profile", "email"].contains(&scope.name.as_str());
    let is_qualified = is_openid_scope || scope.name.contains("://");
    if is_qualified { scope } else { Scope { name: format!("{resource}{}", scope.name), ..scope } }
}

/// The allowed values of the variable `region` of the servers.
fn regions(servers: &ResolvedServers) -> Vec<String> {
    let region = servers.fields.iter().find(|field| field.name == "region");
    region.and_then(|field| field.r#enum.clone()).unwrap_or_default()
}
