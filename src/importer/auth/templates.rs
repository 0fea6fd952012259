//! Validates the headers and query parameters that an auth method adds to every request.

use super::kinds::caller_key;
use super::parameter_variables;
use crate::catalog::detail::{ApiKeyLocation, AuthMethod, Parameters};
use crate::credentials::request_auth::{ACCESS_TOKEN, CLIENT_ID, CLIENT_SECRET};
use crate::platform_calls::headers::may_be_sent;

/// The template variables of OAuth 2.0, which are not fields.
const OAUTH_VARIABLES: [&str; 3] = [ACCESS_TOKEN, CLIENT_ID, CLIENT_SECRET];

/// The templates of a method's headers and query parameters.
pub fn method_templates(method: &AuthMethod) -> impl Iterator<Item = &str> {
    method.headers.values().chain(method.query.values()).map(String::as_str)
}

/// Merges headers by case-insensitive name. `over` takes precedence.
pub fn merge_headers(mut headers: Parameters, over: &Parameters) -> Parameters {
    headers.retain(|name, _| !over.keys().any(|other| other.eq_ignore_ascii_case(name)));
    headers.extend(over.clone());
    headers
}

/// The first variable of a template that a method has no value for.
pub fn first_missing_variable<'t>(method: &AuthMethod, template: &'t str) -> Option<&'t str> {
    let oauth = method.oauth2();
    let is_known = |name: &str| {
        method.fields.iter().any(|field| field.name == name)
            || oauth.is_some_and(|oauth| {
                OAUTH_VARIABLES.contains(&name)
                    || oauth.token_members.iter().any(|member| member == name)
            })
    };
    parameter_variables(template).find(|name| !is_known(name))
}

/// Checks that a header name is valid and not reserved.
pub fn check_header(name: &str) -> Result<(), String> {
    caller_key(ApiKeyLocation::Header, name.to_owned())
        .map_err(|_| format!("`{name}` cannot be the name of a header"))?;
    let lower = name.to_ascii_lowercase();
    if may_be_sent(&lower) || matches!(lower.as_str(), "authorization" | "cookie") {
        Ok(())
    } else {
        Err(format!("the header `{name}` is never sent to a platform"))
    }
}

/// Checks the headers and query parameters of a method.
pub fn check(method: &AuthMethod) -> Result<(), String> {
    let mut names = std::collections::HashSet::new();
    for name in method.headers.keys() {
        check_header(name)?;
        if !names.insert(name.to_ascii_lowercase()) {
            return Err(format!("`headers` has `{name}` twice"));
        }
    }
    if method.query.keys().any(String::is_empty) {
        return Err("a parameter of `query` has no name".to_owned());
    }
    for template in method_templates(method) {
        if let Some(name) = first_missing_variable(method, template) {
            return Err(format!("no field for `{{{name}}}` in `{template}`"));
        }
    }
    let has_secret = |value: &String| parameter_variables(value).any(|name| name == CLIENT_SECRET);
    if method.is_oauth2() && method.query.values().any(has_secret) {
        return Err(format!("`{{{CLIENT_SECRET}}}` must be in a header: URLs are logged"));
    }
    let taken = method.fields.iter().find(|field| OAUTH_VARIABLES.contains(&field.name.as_str()));
    if let Some(field) = taken.filter(|_| method.is_oauth2()) {
        return Err(format!(
            "`{}` cannot be the name of a field: templates use this name for a value of OAuth 2.0",
            field.name
        ));
    }
    Ok(())
}
