import type { ApiKey, ApiKeyWithSecret } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Answer } from "../parts/answer";
import { Notice } from "../parts/notice";
import { Page } from "../parts/page";
import { Secret } from "../parts/secret";
import { Snippet } from "../parts/snippet";
import { When } from "../parts/when";
import { useSession } from "../session/session";
import { RevokeKey, RotateKey, nameOf } from "./ask";
import { KeyForm } from "./form";
import { useKeys } from "./hooks";
import "../webhooks/webhooks.css";
import "./keys.css";

const TONES = { active: "good", expired: "", revoked: "" } as const;
const heading = () => document.querySelector<HTMLElement>("h1");

type Asked =
  | { what: "form" }
  | { what: "revoke" | "rotate"; apiKey: ApiKey }
  | { what: "secret"; apiKey: ApiKeyWithSecret };

/** The API keys of the account and environment. */
export function KeysView() {
  const { may } = useSession();
  const query = useKeys();
  const [asked, setAsked] = useState<Asked>();
  const [notice, setNotice] = useState<string>();
  const mayWrite = may("keys:write");
  const close = () => setAsked(undefined);
  const ask = (next: Asked) => {
    setNotice(undefined);
    setAsked(next);
  };
  const keys = query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  const active = keys.filter(({ state }) => state === "active");
  const ended = keys.filter(({ state }) => state !== "active");
  const isWhole = query.data !== undefined && !query.hasNextPage;
  return (
    <Page
      title="API keys"
      count={isWhole && `${active.length} active`}
      actions={
        mayWrite && (
          <button type="button" class="primary" onClick={() => ask({ what: "form" })}>
            New key
          </button>
        )
      }
    >
      <Notice>{notice}</Notice>
      <p>
        Programs send a key with each request. Secrets are shown once, when a key is created.
        {!mayWrite && " Your key can list keys, but not change them."}
      </p>
      <Answer query={query} what="keys" rows={3}>
        {() => (
          <div class="section">
            <ul class="keys" aria-label="Active keys">
              {active.map((apiKey) => (
                <Row key={apiKey.id} apiKey={apiKey} keys={keys} onAsk={mayWrite ? ask : undefined} />
              ))}
            </ul>
            {ended.length > 0 && (
              <details>
                <summary>
                  {ended.length.toLocaleString("en")} revoked or expired {ended.length === 1 ? "key" : "keys"}
                </summary>
                <ul class="keys" aria-label="Revoked and expired keys">
                  {ended.map((apiKey) => (
                    <Row key={apiKey.id} apiKey={apiKey} keys={keys} onAsk={undefined} />
                  ))}
                </ul>
              </details>
            )}
            {query.hasNextPage && (
              <p>
                <button
                  type="button"
                  aria-disabled={query.isFetchingNextPage}
                  onClick={() => !query.isFetchingNextPage && void query.fetchNextPage()}
                >
                  Show older
                </button>
              </p>
            )}
          </div>
        )}
      </Answer>
      <Snippet
        call={{
          method: "GET",
          path: "/v1/keys",
          javascript: "for await (const key of vault.keys.list()) console.log(key.id, key.state);",
        }}
      />
      {asked?.what === "form" && (
        <KeyForm onClose={close} onCreated={(apiKey) => setAsked({ what: "secret", apiKey })} focusAfter={heading} />
      )}
      {asked?.what === "rotate" && (
        <RotateKey
          apiKey={asked.apiKey}
          onClose={close}
          onDone={(apiKey) => setAsked({ what: "secret", apiKey })}
          focusAfter={heading}
        />
      )}
      {asked?.what === "revoke" && (
        <RevokeKey
          apiKey={asked.apiKey}
          created={active.filter(({ createdBy }) => createdBy === asked.apiKey.id).length}
          onClose={close}
          onDone={() => {
            setNotice("The key was revoked.");
            close();
          }}
          focusAfter={heading}
        />
      )}
      {asked?.what === "secret" && (
        <Secret title="The new key" secret={asked.apiKey.secret} onClose={close} focusAfter={heading}>
          Your program sends it in the header <code>x-service-secret</code>.
        </Secret>
      )}
    </Page>
  );
}

interface RowProps {
  apiKey: ApiKey;
  keys: readonly ApiKey[];
  onAsk: ((asked: Asked) => void) | undefined;
}

function Row({ apiKey, keys, onAsk }: RowProps) {
  const { id, name, scopes, state, createdAt, createdBy, expiresAt, revokedAt, lastUsedOn, replacedBy, current } =
    apiKey;
  const other = (id: string) => {
    const key = keys.find((key) => key.id === id);
    return key?.current ? "your key" : key ? nameOf(key) : id;
  };
  return (
    <li class="card webhook">
      <div class="webhook-head">
        <h2>{name ?? <span class="mono">{id}</span>}</h2>
        <span>
          {current && (
            <>
              <span class="badge" data-tone="calm">
                your key
              </span>{" "}
            </>
          )}
          <span class="badge dot" data-tone={TONES[state]}>
            {state}
          </span>
        </span>
      </div>
      {name !== null && <p class="mono muted small">{id}</p>}
      <p class="chips">
        {scopes.map((scope) => (
          <span key={scope} class="chip">
            {scope}
          </span>
        ))}
      </p>
      <p class="muted small">
        Created <When at={createdAt} /> {createdBy === null ? "by the operator" : <>with {other(createdBy)}</>}.{" "}
        {lastUsedOn === null ? "No use is recorded." : <>Last used on {lastUsedOn}.</>}{" "}
        {revokedAt !== null ? (
          <>
            Revoked <When at={revokedAt} />.
          </>
        ) : expiresAt === null ? (
          "Never expires."
        ) : (
          <>
            {state === "expired" ? "Expired" : "Expires"} <When at={expiresAt} />.
          </>
        )}
        {replacedBy !== null && <> Replaced by {other(replacedBy)}.</>}
      </p>
      {onAsk && (
        <div class="buttons">
          {replacedBy === null && (
            <button
              type="button"
              aria-label={`Rotate ${nameOf(apiKey)}`}
              onClick={() => onAsk({ what: "rotate", apiKey })}
            >
              Rotate
            </button>
          )}
          <button
            type="button"
            class="danger"
            aria-label={`Revoke ${nameOf(apiKey)}`}
            onClick={() => onAsk({ what: "revoke", apiKey })}
          >
            Revoke
          </button>
        </div>
      )}
    </li>
  );
}
