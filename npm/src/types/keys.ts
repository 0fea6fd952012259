// Parses the keys of connectors and connections.
import { ready } from "wasm";
import * as glue from "glue";
import { stringArgument } from "../core/arguments.js";
import { callModule } from "../core/wasm/start.js";
import type { Names } from "./names.js";

/** The environment of an API key. A key can only access data of its own environment. */
export type Environment = Names["Environment"];

export type PlatformVersion = `v${number}`;

/** `api::<platform>::<platformVersion>` */
export type ConnectorKey = `api::${string}::${PlatformVersion}`;

/** `<environment>::<platform>::<label>::<identity>` */
export type ConnectionKey = `${Environment}::${string}::${string}::${string}`;

export interface ConnectionKeyParts {
  environment: Environment;
  platform: string;
  label: string;
  identity: string;
}

export interface ConnectorKeyParts {
  platform: string;
  platformVersion: PlatformVersion;
}

/**
 * Splits a connection key into its parts.
 *
 * @throws {ValidationError} if the string is not a connection key
 */
export function parseConnectionKey(key: string): ConnectionKeyParts {
  ready();
  return callModule(() => glue.parseConnectionKey(stringArgument(key, "key")));
}

/**
 * Splits a connector key into its parts.
 *
 * @throws {ValidationError} if the string is not a connector key
 */
export function parseConnectorKey(key: string): ConnectorKeyParts {
  ready();
  return callModule(() => glue.parseConnectorKey(stringArgument(key, "key")));
}
