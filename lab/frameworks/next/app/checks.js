import { parseConnectorKey } from "connector-vault";

/** What the package's WebAssembly says, and where it runs. */
export const answer = () => Response.json({ ...parseConnectorKey("api::acme::v1"), runtime: process.env.NEXT_RUNTIME });
