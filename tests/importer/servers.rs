//! Tests of servers whose scheme or host is a variable.

use super::support::import_documents;

/// Imports a document with this server. Returns the servers, and the fields of its method as
/// `name=default`.
fn servers(at: usize, server: &str) -> (Vec<String>, Vec<String>) {
    let document = format!(
        "openapi: 3.0.0\ninfo: {{title: T, version: 1}}\nservers: [{server}]\ncomponents: {{securitySchemes: {{key: {{type: http, scheme: bearer}}}}}}\npaths: {{}}\n"
    );
    let (summary, platforms) = import_documents(&format!("server-variables-{at}"), &[&document]);
    let detail = &platforms.first().unwrap().detail;
    let urls: Vec<String> = detail.servers.iter().map(|server| server.url.clone()).collect();
    let is_reported = summary.warnings.iter().any(|line| line.contains("has an absolute URL"));
    assert_eq!(is_reported, urls.is_empty(), "{server}");
    let fields = detail.auth_methods.first().unwrap().fields.iter().filter(|field| !field.secret);
    let fields = fields.map(|field| match &field.default {
        Some(default) => format!("{}={default}", field.name),
        None if field.required => field.name.clone(),
        None => format!("{}?", field.name),
    });
    (urls, fields.collect())
}

#[test]
#[rustfmt::skip] // one case per line
fn scheme_variables_are_resolved_and_others_become_fields() {
    for (at, (server, urls, fields)) in [
        ("{url: '{scheme}://{region}.api.example:{port}/{base}', variables: {scheme: {default: https, enum: [https, http]}, region: {default: eu, enum: [eu, us]}, port: {default: '443'}, base: {default: v2}}}", vec!["https://{region}.api.example:{port}/{base}"], vec!["base=v2", "port=443", "region=eu"]),
        // The defaults of both variables are unusable.
        ("{url: '{protocol}://{hostname}/api/v3', variables: {hostname: {default: HOSTNAME}, protocol: {default: http}}}", vec!["https://{hostname}/api/v3"], vec!["hostname"]),
        ("{url: '{protocol}://{hostname}', variables: {protocol: {default: http, enum: [http, https]}, hostname: {default: api.acme.com}}}", vec!["https://{hostname}"], vec!["hostname=api.acme.com"]),
        ("{url: '{protocol}://{hostname}'}", vec!["https://{hostname}"], vec!["hostname"]),
        ("{url: '{protocol}://api.acme.com', variables: {protocol: {default: HTTPS}}}", vec!["https://api.acme.com"], vec![]),
        ("{url: 'http{s}://api.acme.com', variables: {s: {default: '', enum: ['', s]}}}", vec!["https://api.acme.com"], vec![]),
        ("{url: '{protocol}://api.acme.com', variables: {protocol: {default: http, enum: [http]}}}", vec!["http://api.acme.com"], vec![]),
        ("{url: '{protocol}://127.0.0.1:8080/v1', variables: {protocol: {default: http}}}", vec!["http://127.0.0.1:8080/v1"], vec![]),
        ("{url: '{protocol}://localhost', variables: {protocol: {default: http, enum: [http, https]}}}", vec!["https://localhost"], vec![]),
        ("{url: '{server}/v1', variables: {server: {default: 'https://api.acme.com/'}}}", vec!["https://api.acme.com/v1"], vec![]),
        ("{url: '{host}/v1', variables: {host: {default: api.acme.com}}}", vec!["https://{host}/v1"], vec!["host=api.acme.com"]),
        ("{url: '//{domain}/v1', variables: {domain: {default: your-domain}}}", vec!["https://{domain}/v1"], vec!["domain"]),
        ("{url: '{yourDomain}/v1'}", vec!["https://{yourDomain}/v1"], vec!["yourDomain"]),
        // The URL is relative and contains a variable.
        ("{url: '{base}/v1', variables: {base: {default: api}}}", vec![], vec![]),
        ("{url: '{base}/v1', variables: {base: {default: /api}}}", vec![], vec![]),
        ("{url: '{a}{b}://api.acme.com'}", vec![], vec![]),
        ("{url: '{protocol}://api.acme.com', variables: {protocol: {default: wss, enum: [wss]}}}", vec![], vec![]),
    ].into_iter().enumerate() {
        let (actual, requested) = servers(at, server);
        assert_eq!((actual, requested), (urls.into_iter().map(str::to_owned).collect(), fields.into_iter().map(str::to_owned).collect()), "{server}");
    }
}
