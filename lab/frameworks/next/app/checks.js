import { parseConnectorKey } from "connector-vault";

/** Calls the package's WebAssembly. Returns its result and the runtime. */
export const answer = () => Response.json({ ...parseConnectorKey("api::acme::v1"), runtime: process.env.NEXT_RUNTIME });
