//! Hosts of data centers, sandboxes and self-managed servers: `hosts.toml`.

use std::collections::BTreeMap;

use connector_vault::catalog::detail::Grant;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::reports::{Report, Service, json_response};
use crate::support::body;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub platform: String,
    /// The id of the auth method; by default, the platform's first one.
    method: Option<String>,
    fields: BTreeMap<String, String>,
    /// The variables of the OAuth client.
    #[serde(default)]
    variables: Value,
    /// Additional members of the token response.
    #[serde(default)]
    tokens: BTreeMap<String, Value>,
    /// The prefixes of all requested URLs. Empty if the service refuses to connect.
    #[serde(default)]
    reaches: Vec<String>,
}

#[derive(Deserialize)]
struct HostFile {
    host: Vec<Host>,
}

pub fn read_hosts() -> Vec<Host> {
    let all: HostFile = toml::from_str(include_str!("hosts.toml")).unwrap();
    all.host
}

/// The fields of a connection: those for the host, and generated secrets.
fn fields(host: &Host, service: &Service) -> Value {
    let method = service.auth_method();
    let secrets = method.fields.iter().filter(|field| field.secret && field.required);
    let secrets = secrets.map(|field| (field.name.clone(), "a-secret".to_owned()));
    json!(secrets.chain(host.fields.clone()).collect::<BTreeMap<_, _>>())
}

fn check_host(host: &Host) -> Result<(), String> {
    let platform = &crate::catalog()[&host.platform];
    let mut service = Service::new(platform);
    if let Some(method) = &host.method {
        service.method.clone_from(method);
    }
    service.variables = host.variables.clone();
    let fields = fields(host, &service);
    if host.reaches.is_empty() {
        let started = service.begin(&["read".to_owned()], &fields);
        let is_refused = [400, 409].contains(&started.status);
        let sent_nothing = service.api.env.sent.borrow().is_empty();
        let reason = || format!("{} {}", started.status, body(&started));
        return if is_refused && sent_nothing { Ok(()) } else { Err(reason()) };
    }
    let mut tokens = json!({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 3600});
    tokens.as_object_mut().unwrap().extend(host.tokens.clone());
    // Requests after the exchange get a 404. It is inconclusive, so a connection is created.
    let oauth = service.auth_method().oauth2();
    if oauth.is_some_and(|oauth| oauth.grant == Grant::AuthorizationCode) {
        let response = json_response(200, &tokens);
        let attempt = service.exchange(&Report::from_fields(fields), response);
        if attempt["status"] != "succeeded" {
            return Err(attempt.to_string());
        }
    } else {
        service.responses(json_response(200, &tokens));
        let started = service.begin(&["read".to_owned()], &fields);
        if started.status != 201 {
            return Err(body(&started).to_string());
        }
    }
    let sent = service.api.env.sent.borrow();
    let redirects = service.authorization_urls.borrow();
    let addresses = sent.iter().map(|request| &request.url).chain(redirects.iter());
    let is_known = |url: &&String| host.reaches.iter().any(|start| url.starts_with(start));
    if let Some(other) = addresses.clone().find(|url| !is_known(url)) {
        return Err(format!("the service calls {other}"));
    }
    match host.reaches.iter().find(|start| !addresses.clone().any(|url| url.starts_with(*start))) {
        Some(start) => Err(format!("the service calls no URL below {start}")),
        None => Ok(()),
    }
}

#[test]
fn only_authorized_values_choose_a_host() {
    let failed: Vec<String> = read_hosts()
        .iter()
        .enumerate()
        .filter_map(|(index, host)| {
            let reason = check_host(host).err()?;
            Some(format!("{index} {} {:?}: {reason}", host.platform, host.fields))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
