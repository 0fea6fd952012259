// What the runtime gives the Worker, as far as it is used.
export interface Bindings {
  CATALOG: { get<T>(key: string, type: "json"): Promise<T | null> };
  VAULT: Database;
  /** What seals credentials: `<id>:<32 bytes in base64>`, comma-separated. */
  VAULT_KEYS: string;
}

export interface Database {
  prepare(sql: string): Statement;
  batch(statements: Statement[]): Promise<{ results: Record<string, unknown>[] }[]>;
}

export interface Statement {
  bind(...values: (string | number | null)[]): Statement;
}

/** On whose behalf a request asks. */
export interface Principal {
  account: string;
  environment: string;
  scopes: string[];
  expiresAt: number | null;
}

export interface Environment {
  Bindings: Bindings;
  Variables: { requestId: string; secret: string; hash: string; principal: Principal };
}

export interface Connector {
  name: string;
  key: string;
  platform: string;
  category: string;
  tags: string[];
  description: string;
}

export interface Action {
  title: string;
  key: string;
  method: string;
  platform: string;
}
