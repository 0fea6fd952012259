//! Tests of the names of platforms.

use connector_vault::catalog::write::Platform;

use super::support::{import_documents, indented, platform_names};

#[test]
#[rustfmt::skip] // one case per line
fn derives_platform_names() {
    for (at, (info, server, platform)) in [
        ("x-providerName: stripe.com", "", "stripe"),
        ("x-providerName: amazonaws.com\nx-serviceName: ec2", "", "amazonaws-ec2"),
        ("x-providerName: github.com\nx-serviceName: api.github.com", "", "github"),
        ("x-providerName: googleapis.com\nx-serviceName: gmail", "", "googleapis-gmail"),
        ("x-providerName: twilio.com\nx-serviceName: twilio_video_v1", "", "twilio-video-v1"),
        ("x-providerName: twilio.com\nx-serviceName: api", "", "twilio"),
        ("x-providerName: adyen.com\nx-serviceName: BinLookupService", "", "adyen-bin-lookup-service"),
        ("x-providerName: bbc.co.uk", "", "bbc"),
        ("x-providerName: 1password.local\nx-serviceName: connect", "", "1password-connect"),
        ("x-providerName: tl-api.azurewebsites.net", "", "tl-api"),
        ("x-providerName: api.video", "", "api-video"),
        ("title: T", "https://api.acme.com:8443/v1", "acme"),
        ("title: T", "https://{tenant}.billing.acme.io", "billing-acme"),
        ("title: Acme Billing REST API", "/v1", "acme-billing"),
        ("title: GitHub Thing", "http://localhost:3000", "github-thing"),
        ("title: GitHub Thing", "http://127.0.0.1", "github-thing"),
    ]
    .iter()
    .enumerate()
    {
        let info = indented(info);
        let document = format!("openapi: 3.0.0\ninfo:\n  version: 1\n{info}servers: [{{url: '{server}'}}]\npaths: {{}}\n");
        let (_, platforms) = import_documents(&format!("platform-{at}"), &[&document]);
        assert_eq!(platform_names(&platforms), [*platform], "{document}");
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn resolves_collisions_of_platform_names() {
    let document = |provider: &str, title: &str, version: &str, paths: &str| {
        format!("openapi: 3.0.0\ninfo: {{title: '{title}', version: '{version}', x-providerName: {provider}}}\npaths: {{{paths}}}\n")
    };
    let acme = |title: &str, version: &str, path: &str| document("acme.com", title, version, &format!("/{path}: {{get: {{}}}}"));
    for (name, documents, expected) in [
        ("provider", [document("visma.net", "A", "1", ""), document("visma.com", "B", "1", "")], vec!["visma", "visma-net"]),
        ("title", [acme("Acme Users", "1", "u"), acme("Acme Billing", "1", "b")], vec!["acme-billing", "acme-users"]),
        ("name in title", [acme("Acme API", "1", "u"), acme("Other", "1", "b")], vec!["acme", "acme-other"]),
        ("version", [acme("Acme", "1.9", "u"), acme("Acme", "2.0", "u")], vec!["acme", "acme-v1"]),
        ("minor version", [acme("Acme", "2.9", "u"), acme("Acme", "2.10", "u")], vec!["acme", "acme-2-9"]),
        ("copy", [acme("Acme", "1", "u"), acme("Acme", "1", "u")], vec!["acme"]),
    ] {
        let (_, forward) = import_documents(&format!("clash {name}"), &[&documents[0], &documents[1]]);
        let (_, back) = import_documents(&format!("clash {name}"), &[&documents[1], &documents[0]]);
        assert_eq!(platform_names(&forward), expected, "{name}");
        let rows = |platforms: &[Platform]| platforms.iter().map(|p| (p.connector.clone(), p.actions.clone())).collect::<Vec<_>>();
        assert_eq!(rows(&forward), rows(&back), "{name}: the order of files must not matter");
    }
    let (_, platforms) = import_documents("clash content", &[&acme("Acme", "1", "u"), &acme("Acme", "1", "b")]);
    assert_eq!(platforms.len(), 2);
    let names = platform_names(&platforms);
    assert_eq!((names[0], names[1].len()), ("acme", "acme-123456".len()));
}
