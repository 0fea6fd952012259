//! Tests of the platforms of `providers.toml`: each choice in a method's fields results in valid
//! URLs.

use connector_vault::catalog::detail::{AuthMethod, Field, urls};
use connector_vault::importer::providers::Providers;
use connector_vault::operator::ports::NativePatterns;
use connector_vault::ports::Patterns as _;
use connector_vault::targets::fill::{fill, host_variables};

fn providers() -> Providers {
    Providers::read("providers.toml".as_ref()).unwrap()
}

/// A typical value of a field: the default, the first choice, or a plain label.
fn typical_value(field: &Field) -> &str {
    let listed = field.r#enum.as_ref().and_then(|listed| listed.first());
    field.default.as_ref().or(listed).map_or("acme", String::as_str)
}

fn field<'a>(method: &'a AuthMethod, name: &str) -> Option<&'a Field> {
    method.fields.iter().find(|field| field.name == name)
}

#[test]
fn each_listed_value_fills_the_urls() {
    let mut url_count = 0;
    for (platform, provider) in &providers().0 {
        let detail = &provider.detail;
        for method in &detail.auth_methods {
            let has = |url: &&str| {
                let mut names = connector_vault::catalog::detail::variables(url);
                names.all(|name| field(method, name).is_some())
            };
            let servers = detail.servers.iter().map(|server| server.url.as_str()).filter(has);
            let templates: Vec<&str> = servers.chain(urls(&method.kind)).collect();
            for choice in &method.fields {
                for chosen in choice.r#enum.iter().flatten() {
                    for template in &templates {
                        let value = |name: &str| match field(method, name)? {
                            field if field.name == choice.name => Some(chosen.as_str()),
                            field => Some(typical_value(field)),
                        };
                        let filled = fill(template, &value);
                        assert!(filled.is_ok(), "{platform} {}: {template} {chosen}", method.id);
                        url_count += 1;
                    }
                }
            }
        }
    }
    assert!(url_count > 100, "{url_count}");
}

/// Users can only choose hosts that the file lists. Other platforms are self-hosted or have a
/// domain per customer; their host is set with the OAuth client.
#[test]
fn hosts_that_receive_secrets_are_fixed_or_set_by_the_client() {
    let providers = providers();
    let mut open = Vec::new();
    for (platform, provider) in &providers.0 {
        for method in &provider.detail.auth_methods {
            let Some(oauth) = method.oauth2() else { continue };
            let choosers = host_variables(&oauth.token_url);
            let is_open =
                |name: &&str| field(method, name).is_none_or(|field| field.r#enum.is_none());
            if choosers.iter().any(is_open) {
                open.push(platform.as_str());
            }
        }
    }
    open.dedup();
    // These platforms have a default host, which the OAuth client can override, but users cannot.
    let national_clouds = [
        "excel",
        "microsoft-bookings",
        "microsoft-entra-id",
        "microsoft-graph",
        "microsoft-planner",
        "microsoft-teams",
        "microsoft-to-do",
        "onedrive",
        "onenote",
        "outlook",
        "outlook-calendar",
        "outlook-contacts",
        "sharepoint",
    ];
    let own_domains = ["auth0", "dracoon", "gitlab", "mastodon", "okta", "servicenow", "snowflake"];
    let mut expected: Vec<&str> = national_clouds.into_iter().chain(own_domains).collect();
    expected.sort_unstable();
    assert_eq!(open, expected);
}

#[test]
fn accepts_domains_of_salesforce_orgs() {
    let providers = providers();
    for method in &providers.0["salesforce"].detail.auth_methods {
        let pattern = field(method, "instance").unwrap().pattern.as_deref().unwrap();
        for domain in ["acme", "acme--dev.sandbox", "x-dev-ed.develop"] {
            assert!(NativePatterns.is_match(pattern, domain), "{domain}");
        }
        for other in ["acme.my.salesforce.com", "acme.develop/", "acme.", "", "-a"] {
            assert!(!NativePatterns.is_match(pattern, other), "{other}");
        }
    }
}

/// Zoho's data centre in Canada has a different accounts domain from the other data centres.
#[test]
fn accepts_each_zoho_data_centre() {
    let providers = providers();
    for platform in ["zoho-calendar", "zoho-crm", "zoho-mail", "zoho-sign"] {
        let methods = &providers.0[platform].detail.auth_methods;
        let token_url = |region: Option<&str>| {
            let found = methods.iter().filter(|method| match (field(method, "region"), region) {
                (Some(field), Some(region)) => {
                    field.r#enum.iter().flatten().any(|listed| listed == region)
                }
                (None, None) => true,
                _ => false,
            });
            let urls: Vec<String> = found
                .map(|method| fill(&method.oauth2().unwrap().token_url, &|_| region).unwrap())
                .collect();
            urls.join(" ")
        };
        for region in ["com", "eu", "in", "com.au", "jp", "sa", "uk", "ae", "com.cn"] {
            let expected = format!("https://accounts.zoho.{region}/oauth/v2/token");
            assert_eq!(token_url(Some(region)), expected, "{platform}");
        }
        assert_eq!(token_url(None), "https://accounts.zohocloud.ca/oauth/v2/token", "{platform}");
    }
}
