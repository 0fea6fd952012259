//! How an operation is called: from a shell, and from JavaScript with the npm package. A test runs every sample.

use connector_vault::api::config::SECRET_HEADER;
use connector_vault::api::route::Endpoint;

use super::node::{Node, object};
use super::samples;

/// The samples of an endpoint.
pub fn of(endpoint: Endpoint) -> Node {
    let mut samples = vec![shell("curl", &curl(endpoint)), javascript(&script(endpoint))];
    if endpoint == Endpoint::ListConnections {
        samples.push(shell("curl, every page", WALK));
    }
    Node::Array(samples)
}

/// The samples of the operation that gives the document.
pub fn of_the_document() -> Node {
    let script = "\
const answer = await fetch(`${process.env.VAULT_URL}/v1/openapi.json`);
console.log((await answer.json()).openapi);
";
    Node::Array(vec![shell("curl", "curl -s \"$VAULT_URL/v1/openapi.json\"\n"), javascript(script)])
}

fn shell(label: &str, source: &str) -> Node {
    object! {"lang": "Shell", "label": label, "source": source}
}

fn javascript(source: &str) -> Node {
    object! {"lang": "JavaScript", "label": "JavaScript", "source": source}
}

/// Follows `Link` from page to page.
const WALK: &str = r#"page="$VAULT_URL/v1/vault/connections?limit=100"
while [ -n "$page" ]; do
  curl -s -D headers.txt -H "x-service-secret: $VAULT_KEY" "$page"
  page=$(sed -n 's/^[Ll]ink: <\(.*\)>; rel="next".*/\1/p' headers.txt)
done
"#;

/// The package has no call for it.
const HEALTH: &str = "\
const answer = await fetch(`${process.env.VAULT_URL}/health`);
console.log((await answer.json()).status);
";

/// Nor for this: it is what a server asks for, so that the package can have the token in a page.
const SESSION: &str = "\
const answer = await fetch(`${process.env.VAULT_URL}/v1/sessions`, {
  method: \"POST\",
  headers: { \"x-service-secret\": process.env.VAULT_KEY, \"content-type\": \"application/json\" },
  body: JSON.stringify({ identity: \"ann@example.com\", ttlSeconds: 600 }),
});
const { token, expiresAt } = await answer.json();
console.log(token.length, expiresAt);
";

fn curl(endpoint: Endpoint) -> String {
    let (method, path, body) = match endpoint {
        Endpoint::Health => ("", "/health", None),
        Endpoint::Whoami => ("", "/v1/whoami", None),
        Endpoint::CreateSession => {
            let [(_, _, minimal), _] = samples::OPENING;
            ("-X POST ", "/v1/sessions", Some(minimal))
        }
        Endpoint::ListConnectors => ("", "/v1/available-connectors?q=git&limit=5", None),
        Endpoint::ListActions => ("", "/v1/available-actions/github?method=GET&limit=5", None),
        Endpoint::ListConnections => ("", "/v1/vault/connections?platform=github&limit=5", None),
        Endpoint::CreateConnection => {
            let [(_, _, minimal), _] = samples::CREATING;
            ("-X POST ", "/v1/vault/connections", Some(minimal))
        }
        Endpoint::ReadConnection => ("", "/v1/vault/connections/$ID", None),
        Endpoint::UpdateConnection => {
            ("-X PATCH ", "/v1/vault/connections/$ID", Some(samples::CHANGING))
        }
        Endpoint::DeleteConnection => ("-X DELETE ", "/v1/vault/connections/$ID", None),
        Endpoint::Summary => ("", "/v1/vault/summary", None),
    };
    let key = match endpoint {
        Endpoint::Health => String::new(),
        _ => format!(" \\\n  -H \"{SECRET_HEADER}: $VAULT_KEY\""),
    };
    let precondition = match endpoint {
        Endpoint::UpdateConnection => " \\\n  -H \"if-match: $ETAG\"",
        _ => "",
    };
    let body = body.map_or_else(String::new, |body| {
        format!(" \\\n  -H \"content-type: application/json\" \\\n  -d '{body}'")
    });
    format!("curl -s {method}\"$VAULT_URL{path}\"{key}{precondition}{body}\n")
}

fn script(endpoint: Endpoint) -> String {
    let call = match endpoint {
        Endpoint::Health => return HEALTH.into(),
        Endpoint::CreateSession => return SESSION.into(),
        Endpoint::Whoami => {
            "\
const { account, environment, scopes } = await vault.whoami();
console.log(account, environment, scopes.join());
"
        }
        Endpoint::ListConnectors => {
            "\
const page = await vault.connectors.list({ q: \"git\", limit: 5 });
for (const { platform, name } of page.rows) console.log(platform, name);
"
        }
        Endpoint::ListActions => {
            "\
const page = await vault.actions.list(\"github\", { method: \"GET\", limit: 5 });
for (const { key, title } of page.rows) console.log(key, title);
"
        }
        Endpoint::ListConnections => {
            "\
// Every page, one after the other; `await` in place of `for await` gives one page.
for await (const connection of vault.connections.list({ platform: \"github\" })) {
  console.log(connection.identity, connection.state);
}
"
        }
        Endpoint::CreateConnection => {
            "\
const connection = await vault.connections.create({
  platform: \"github\",
  identity: \"eve@example.com\",
  identityType: \"user\",
  tags: [\"eu\"],
});
console.log(connection.id, connection.key);
"
        }
        Endpoint::ReadConnection => {
            "\
const connection = await vault.connections.get(process.env.ID);
console.log(connection.platform, connection.identity, connection.tags.join());
"
        }
        Endpoint::UpdateConnection => {
            "\
const read = await vault.connections.get(process.env.ID);
const changes = { tags: [...read.tags, \"production\"] };
const connection = await vault.connections.update(read.id, changes, { ifMatch: read });
console.log(connection.version, connection.tags.join());
"
        }
        Endpoint::DeleteConnection => "await vault.connections.delete(process.env.ID);\n",
        Endpoint::Summary => {
            "\
const { total, state } = await vault.connections.summary();
console.log(total, state.failed);
"
        }
    };
    let begin = "\
import { ConnectorVault } from \"connector-vault\";

const vault = new ConnectorVault({ baseUrl: process.env.VAULT_URL, secret: process.env.VAULT_KEY });
";
    format!("{begin}{call}")
}
