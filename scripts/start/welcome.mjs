// The message of `npm start` once the service is ready. The key comes last, where it stays visible.
import { paint } from "../lib/status.mjs";

/**
 * @param {string} address of the service @param {string} key the demo key @param {string} [demo] address of the demo platform
 * @param {string} [agents] the URL for agents
 */
export function welcome(address, key, demo, agents) {
  // The service itself serves its guides, because the npm package does not contain them.
  const guide = (path) => `${address}/guides/${path}`;
  const demoLines = demo
    ? `  Demo platform  ${demo}/
                 (an account to connect: ${guide("docs/demo.md")})
`
    : "";
  const agentLines = agents
    ? `  For agents     ${agents}
                 claude mcp add --transport http vault ${agents}
                 (other clients: ${guide("docs/agents.md")})
`
    : "";
  const curl = (path) => `  curl -s -H "x-service-secret: $KEY" "${address}${path}"`;
  return `
${paint.bold(`Connector Vault is ready on ${address}`)}

  Console        ${address}/
  API reference  ${address}/docs
  Guides         ${guide("README.md")}
${demoLines}${agentLines}
To try the API, paste this into another terminal:

  KEY=${key}
${curl("/v1/available-connectors?q=payments")}
${curl("/v1/available-connectors?platform=github")}
${curl("/v1/available-actions/github?q=create+issue&limit=5")}
${curl("/v1/vault/connections?platform=github&identityType=user")}
${curl("/v1/vault/summary")}
${curl("/v1/whoami")}

Find a connector, or see why it is missing:   npm run catalog -- find slack
Create your own key:                          npm run keys -- create --account acme --environment test
Log each request:                             npm start -- --log
Stop:                                         Ctrl-C

Sign in to the console with this demo key. It is valid on this machine only; \`npm run keys -- demo\` prints it again:

  ${paint.bold(key)}

`;
}
