// Measures the lifecycle of connections at a size of the vault: events, token refreshes, scheduled checks, webhook deliveries. Every
// connection has credentials and an event. This process simulates platforms and webhook receivers.
import { Problem } from "../../scripts/lib/problem.mjs";
import { ACCOUNT } from "./vault-storage.mjs";

const CONNECTIONS = "/v1/vault/connections";
const [PLATFORM, DOWN] = ["github", "asana"];
/** How many connections a scheduled run checks itself, and how many a queue message contains. */
const [CHECKS_PER_RUN, CHECKS_PER_MESSAGE] = [7, 8];
const DAY_MS = 86_400_000;

/** Rows per statement: D1 aborts long statements. */
const BATCH_SIZE = 2000;

/** Inserts credentials for connections without them. They are never decrypted, and nothing is due today. */
const INSERT_CREDENTIALS = `INSERT INTO credentials (account, environment, connection_id, auth_method, type, sealed, version, refreshable, revocable, scopes, missing_scopes, check_at, written_by)
  SELECT c.account, c.environment, c.id, 'oauth2', 'oauth2', 'bench.AAAA', 1, 1, 0, '[]', '[]', ?1 + (c.seq * 7919) % ${DAY_MS}, 'bench'
  FROM connections c WHERE c.seq > ?2 AND c.seq <= ?2 + ${BATCH_SIZE} AND NOT EXISTS (SELECT 1 FROM credentials h
    WHERE h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id)`;

/** The statement that postpones the checks of all connections to `?1`, so that none is due. */
const NOT_DUE = `UPDATE credentials SET check_at = ?1, next_attempt_at = NULL, handed_until = NULL
  WHERE (account, environment, connection_id) IN
    (SELECT account, environment, connection_id FROM credentials WHERE due_at < ?1 LIMIT ${BATCH_SIZE})`;

/** Responses of platforms, which return equal tokens or are down, and of the webhook receiver. */
export const platforms = (request, Response) => {
  const { hostname, pathname } = new URL(request.url);
  if (hostname.endsWith(`${DOWN}.com`)) return new Response(null, { status: 503 });
  return pathname === "/login/oauth/access_token"
    ? Response.json({ access_token: "a", refresh_token: "r", token_type: "bearer", expires_in: 3600, scope: "" })
    : new Response(null, { status: 204 });
};

/**
 * Runs the measurements. `measure` is (rounds, send, most) => a row of the table; `vault` has `send`, `run(message)`, which runs
 * the schedule or a queue message, and `sql(sql, ...values)`, which returns the number of changed rows. `size` is the number of
 * connections; a scheduled run visits each of the `shards` databases.
 */
export async function measureLifecycle(vault, measure, { rounds, size, shards }) {
  const tomorrow = Date.now() + DAY_MS;
  // The seeded key lacks the scope, because it is not a default one.
  await vault.sql(
    "UPDATE api_keys SET scopes = scopes || ' credentials:read' WHERE account = ?1 AND instr(scopes, 'credentials:read') = 0",
    ACCOUNT,
  );
  const sendRequest = async (method, path, body, allowed = [200, 201, 204]) => {
    const response = await vault.send(path, { method, body });
    if (!allowed.includes(response.status))
      throw new Problem(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response;
  };
  while ((await vault.sql(NOT_DUE, tomorrow)) > 0);
  // Seeded connections have consecutive numbers from 1.
  for (let from = 0; from < size; from += BATCH_SIZE) await vault.sql(INSERT_CREDENTIALS, tomorrow, from);

  // Creates connections whose credentials can be decrypted, unlike the inserted ones.
  const connect = async (platform, count) => {
    await sendRequest("PUT", `/v1/oauth-clients/${platform}`, { clientId: "bench", clientSecret: "bench" });
    const ids = [];
    for (let n = 0; n < count; n += 1) {
      const identity = `life-${Date.now()}-${n}`;
      const { body } = await sendRequest("POST", CONNECTIONS, { platform, identity, identityType: "user" });
      const credentials = { type: "oauth2", authMethod: "oauth2", refreshToken: "r" };
      await sendRequest("PUT", `${CONNECTIONS}/${body.id}/credentials`, credentials);
      ids.push(body.id);
    }
    return ids;
  };
  const ids = await connect(PLATFORM, 8 * CHECKS_PER_MESSAGE);
  const [one] = ids;
  const due = (some) =>
    vault.sql(
      "UPDATE credentials SET check_at = 1, next_attempt_at = NULL, handed_until = NULL WHERE account = ?1 AND environment = 'test' AND connection_id IN (SELECT value FROM json_each(?2))",
      ACCOUNT,
      JSON.stringify(some),
    );
  /** Runs the schedule. Asserts the number of messages that it sends to the queue. */
  const run = async (count, messages, of = ids) => {
    await due(of.slice(0, count));
    const result = await vault.run();
    if (result.sent.length !== messages) throw new Problem(`${result.sent.length} messages instead of ${messages}`);
    return result;
  };
  // Not measured, because the first refresh also changes the state.
  for (const message of (await run(ids.length, ids.length / CHECKS_PER_MESSAGE)).sent) await vault.run(message);
  const { body: feed } = await sendRequest("GET", "/v1/events?limit=1");
  const end = `evt_${"9".repeat(13)}`;
  const refresh = `${CONNECTIONS}/${one}/credentials?refresh=true`;
  const results = {
    "events, 20 from the oldest": await measure(rounds, () => vault.send("/v1/events?limit=20"), 30),
    "events, 20 of one type": await measure(
      rounds,
      () => vault.send(`/v1/events?types=connection.created&limit=20&after=${feed.next}`),
      1_010,
    ),
    "events of one connection": await measure(rounds, () => vault.send(`/v1/events?connection=${one}`), 500),
    "events, none after the last": await measure(rounds, () => vault.send(`/v1/events?after=${end}`), 10),
    "a connection's status": await measure(rounds, () => vault.send(`${CONNECTIONS}/${one}/status`), 10),
    "credentials, not refreshed": await measure(rounds, () => vault.send(`${CONNECTIONS}/${one}/credentials`), 24),
    "credentials, refreshed": {
      ...(await measure(rounds, () => vault.send(refresh), 36)),
      maxCalls: 3,
      // The audit entry accounts for four of the eight rows.
      maxRowsWritten: 8,
    },
    "a minute, nothing due": {
      ...(await measure(rounds, () => run(0, 0), 25 * shards)),
      maxCalls: 3 * shards,
      visitsAllDatabases: true,
      maxRowsWritten: 0,
    },
    [`a minute, ${CHECKS_PER_RUN} refreshes`]: {
      ...(await measure(rounds, () => run(CHECKS_PER_RUN, 0), 25 * shards + 19 * CHECKS_PER_RUN)),
      maxCalls: 3 * shards + 1 + 2 * CHECKS_PER_RUN,
      visitsAllDatabases: true,
      maxRowsWritten: 5 * CHECKS_PER_RUN,
    },
    [`a minute, ${ids.length} handed to the queue`]: {
      ...(await measure(rounds, () => run(ids.length, ids.length / CHECKS_PER_MESSAGE), 25 * shards + 6 * ids.length)),
      maxCalls: 3 * shards + 1,
      visitsAllDatabases: true,
      maxRowsWritten: 2 * ids.length,
    },
  };
  const down = await connect(DOWN, CHECKS_PER_RUN);
  // Not measured, because the first failure also changes the state.
  await run(CHECKS_PER_RUN, 0, down);
  results[`a minute, ${CHECKS_PER_RUN} refreshes that fail`] = {
    ...(await measure(rounds, () => run(CHECKS_PER_RUN, 0, down), 25 * shards + 43 * CHECKS_PER_RUN)),
    maxCalls: 3 * shards + 1 + 2 * CHECKS_PER_RUN,
    visitsAllDatabases: true,
    maxRowsWritten: 5 * CHECKS_PER_RUN,
  };
  const message = (await run(ids.length, ids.length / CHECKS_PER_MESSAGE)).sent[1];
  results[`a message of the queue, ${CHECKS_PER_MESSAGE} refreshes`] = {
    ...(await measure(rounds, () => vault.run(message), 10 + 14 * CHECKS_PER_MESSAGE)),
    maxCalls: 1 + 2 * CHECKS_PER_MESSAGE,
    maxRowsWritten: 4 * CHECKS_PER_MESSAGE,
  };

  const { body: webhook } = await sendRequest("POST", "/v1/webhooks", { url: "https://receiver.example/hook" });
  let tags = 0;
  const change = () => {
    tags += 1;
    return vault.send(`${CONNECTIONS}/${one}`, { method: "PATCH", body: { tags: [`life-${tags}`] } });
  };
  results["change a tag, with a webhook"] = { ...(await measure(rounds, change, 60)), maxRowsWritten: 18 };
  const deliveries = `/v1/webhooks/${webhook.id}/deliveries`;
  const isDelivered = async () => {
    const { body } = await sendRequest("GET", `${deliveries}?state=pending`);
    return body.rows.length === 0;
  };
  while (!(await isDelivered())) await vault.run();
  const runOverdue = async () => {
    await vault.sql(
      "UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_at = 1 WHERE webhook_id = ?1 AND event_id = (SELECT max(event_id) FROM deliveries WHERE webhook_id = ?1)",
      webhook.id,
    );
    return vault.run();
  };
  results["a minute, one delivery"] = {
    ...(await measure(rounds, runOverdue, 25 * shards + 20)),
    maxCalls: 3 * shards + 2,
    visitsAllDatabases: true,
    maxRowsWritten: 4,
  };
  results["deliveries of a webhook"] = await measure(rounds, () => vault.send(`${deliveries}?limit=20`), 50);
  await sendRequest("DELETE", `/v1/webhooks/${webhook.id}`);
  return results;
}
