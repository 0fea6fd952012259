// The bindings of the Worker.
export interface Bindings {
  CATALOG: { get<T>(key: string, type: "json"): Promise<T | null> };
  VAULT: Database;
  /** The keys that encrypt credentials: `<id>:<32 bytes in base64>`, comma-separated. */
  VAULT_KEYS: string;
}

export interface Database {
  prepare(sql: string): Statement;
  batch(statements: Statement[]): Promise<{ results: Record<string, unknown>[] }[]>;
}

export interface Statement {
  bind(...values: (string | number | null)[]): Statement;
}

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
