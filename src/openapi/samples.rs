//! Code samples for the shell, and for JavaScript with the npm package. A test runs every sample.

use serde_json::{Value, json};

use super::endpoint_doc::EndpointDoc;
use crate::http::config::SECRET_HEADER;
use crate::http::endpoint::Keyed;
use crate::terms::Method;

/// The samples of an endpoint that requires a key.
pub fn sample(endpoint: Keyed, about: &EndpointDoc) -> Value {
    let mut samples = vec![shell("curl", &curl(endpoint, about)), javascript(&script(about))];
    if endpoint == Keyed::ListConnections {
        samples.push(shell("curl, every page", FOLLOW_LINKS_SCRIPT));
    }
    Value::Array(samples)
}

pub fn health_sample() -> Value {
    let script = "\
const answer = await fetch(`${process.env.VAULT_URL}/health`);
console.log((await answer.json()).status);
";
    json!([shell("curl", "curl -s \"$VAULT_URL/health\"\n"), javascript(script)])
}

/// The samples of the operation that returns the document.
pub fn document_sample() -> Value {
    let script = "\
const answer = await fetch(`${process.env.VAULT_URL}/v1/openapi.json`);
console.log((await answer.json()).openapi);
";
    json!([shell("curl", "curl -s \"$VAULT_URL/v1/openapi.json\"\n"), javascript(script)])
}

fn shell(label: &str, source: &str) -> Value {
    json!({"lang": "Shell", "label": label, "source": source})
}

fn javascript(source: &str) -> Value {
    json!({"lang": "JavaScript", "label": "JavaScript", "source": source})
}

/// A shell script that follows `Link` headers from page to page.
const FOLLOW_LINKS_SCRIPT: &str = r#"page="$VAULT_URL/v1/vault/connections?limit=100"
while [ -n "$page" ]; do
  curl -s -D headers.txt -H "x-service-secret: $VAULT_KEY" "$page"
  page=$(sed -n 's/^[Ll]ink: <\(.*\)>; rel="next".*/\1/p' headers.txt)
done
"#;

fn curl(endpoint: Keyed, about: &EndpointDoc) -> String {
    let method = match endpoint.spec().method {
        Method::Get => String::new(),
        other => format!("-X {} ", other.as_str()),
    };
    let address = about.address;
    let key = format!(" \\\n  -H \"{SECRET_HEADER}: $VAULT_KEY\"");
    let precondition = match endpoint {
        Keyed::UpdateConnection => " \\\n  -H \"if-match: $ETAG\"",
        _ => "",
    };
    let body = about.body.as_ref().map_or_else(String::new, |body| {
        let (_, _, sample) = body.examples[body.sample];
        format!(" \\\n  -H \"content-type: application/json\" \\\n  -d '{sample}'")
    });
    format!("curl -s {method}\"$VAULT_URL{address}\"{key}{precondition}{body}\n")
}

fn script(about: &EndpointDoc) -> String {
    let begin = "\
import { ConnectorVault } from \"connector-vault\";

const vault = new ConnectorVault({ baseUrl: process.env.VAULT_URL, secret: process.env.VAULT_KEY });
";
    format!("{begin}{}", about.script)
}
