import type { ApiKey, ApiKeyWithSecret } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Notice } from "../components/notice";
import { Page, findPageHeading } from "../components/page";
import { pluralize } from "../components/pluralize";
import { QueryView } from "../components/query-view";
import { RelativeTime } from "../components/relative-time";
import { SecretDialog } from "../components/secret-dialog";
import { ShowOlder } from "../components/show-older";
import { Snippet } from "../components/snippet";
import { useSession } from "../session/session";
import { RevokeKey, RotateKey, keyName } from "./confirmations";
import { KeyForm } from "./form";
import { useKeys } from "./hooks";
import "./keys.css";

const STATE_TONES = { active: "good", expired: "", revoked: "" } as const;

type Dialog =
  | { kind: "form" }
  | { kind: "revoke" | "rotate"; apiKey: ApiKey }
  | { kind: "secret"; apiKey: ApiKeyWithSecret };

export function KeysView() {
  const { may } = useSession();
  const query = useKeys();
  const [dialog, setDialog] = useState<Dialog>();
  const [notice, setNotice] = useState<string>();
  const canWrite = may("keys:write");
  const close = () => setDialog(undefined);
  const openDialog = (next: Dialog) => {
    setNotice(undefined);
    setDialog(next);
  };
  const keys = query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  const active = keys.filter(({ state }) => state === "active");
  const inactive = keys.filter(({ state }) => state !== "active");
  const isComplete = query.data !== undefined && !query.hasNextPage;
  return (
    <Page
      title="API keys"
      count={isComplete && `${active.length} active`}
      actions={
        canWrite && (
          <button type="button" class="primary" onClick={() => openDialog({ kind: "form" })}>
            New key
          </button>
        )
      }
    >
      <Notice>{notice}</Notice>
      <p>
        Programs send a key with each request. Secrets are shown once, when a key is created.
        {!canWrite && " Your key can list keys, but not change them."}
      </p>
      <QueryView query={query} name="keys" rows={3}>
        {() => (
          <div class="section">
            <ul class="keys" aria-label="Active keys">
              {active.map((apiKey) => (
                <Row key={apiKey.id} apiKey={apiKey} keys={keys} onOpenDialog={canWrite ? openDialog : undefined} />
              ))}
            </ul>
            {inactive.length > 0 && (
              <details>
                <summary>{pluralize(inactive.length, "revoked or expired key")}</summary>
                <ul class="keys" aria-label="Revoked and expired keys">
                  {inactive.map((apiKey) => (
                    <Row key={apiKey.id} apiKey={apiKey} keys={keys} onOpenDialog={undefined} />
                  ))}
                </ul>
              </details>
            )}
            <ShowOlder query={query} />
          </div>
        )}
      </QueryView>
      <Snippet
        call={{
          method: "GET",
          path: "/v1/keys",
          javascript: "for await (const key of vault.keys.list()) console.log(key.id, key.state);",
        }}
      />
      {dialog?.kind === "form" && (
        <KeyForm
          onClose={close}
          onCreated={(apiKey) => setDialog({ kind: "secret", apiKey })}
          fallbackFocus={findPageHeading}
        />
      )}
      {dialog?.kind === "rotate" && (
        <RotateKey
          apiKey={dialog.apiKey}
          onClose={close}
          onDone={(apiKey) => setDialog({ kind: "secret", apiKey })}
          fallbackFocus={findPageHeading}
        />
      )}
      {dialog?.kind === "revoke" && (
        <RevokeKey
          apiKey={dialog.apiKey}
          createdKeys={active.filter(({ createdBy }) => createdBy === dialog.apiKey.id).length}
          onClose={close}
          onDone={() => {
            setNotice("The key was revoked.");
            close();
          }}
          fallbackFocus={findPageHeading}
        />
      )}
      {dialog?.kind === "secret" && (
        <SecretDialog title="The new key" secret={dialog.apiKey.secret} onClose={close} fallbackFocus={findPageHeading}>
          Your program sends it in the header <code>x-service-secret</code>.
        </SecretDialog>
      )}
    </Page>
  );
}

interface RowProps {
  apiKey: ApiKey;
  keys: readonly ApiKey[];
  onOpenDialog: ((requested: Dialog) => void) | undefined;
}

function Row({ apiKey, keys, onOpenDialog }: RowProps) {
  const { id, name, scopes, state, createdAt, createdBy, expiresAt, revokedAt, lastUsedOn, replacedBy, current } =
    apiKey;
  const keyLabel = (id: string) => {
    const key = keys.find((key) => key.id === id);
    return key?.current ? "your key" : key ? keyName(key) : id;
  };
  return (
    <li class="card list-card">
      <div class="list-card-head">
        <h2>{name ?? "Unnamed key"}</h2>
        <span>
          {current && (
            <>
              <span class="badge" data-tone="info">
                your key
              </span>{" "}
            </>
          )}
          <span class="badge dot" data-tone={STATE_TONES[state]}>
            {state}
          </span>
        </span>
      </div>
      <p class="mono muted small">{id}</p>
      <p class="chips">
        {scopes.map((scope) => (
          <span key={scope} class="chip">
            {scope}
          </span>
        ))}
      </p>
      <p class="muted small">
        Created <RelativeTime at={createdAt} />{" "}
        {createdBy === null ? "by the operator" : <>with {keyLabel(createdBy)}</>}.{" "}
        {lastUsedOn === null ? "No recorded use." : <>Last used on {lastUsedOn}.</>}{" "}
        {revokedAt !== null ? (
          <>
            Revoked <RelativeTime at={revokedAt} />.
          </>
        ) : expiresAt === null ? (
          "Never expires."
        ) : (
          <>
            {state === "expired" ? "Expired" : "Expires"} <RelativeTime at={expiresAt} />.
          </>
        )}
        {replacedBy !== null && <> Replaced by {keyLabel(replacedBy)}.</>}
      </p>
      {onOpenDialog && (
        <div class="buttons">
          {replacedBy === null && (
            <button
              type="button"
              aria-label={`Rotate ${keyName(apiKey)}`}
              onClick={() => onOpenDialog({ kind: "rotate", apiKey })}
            >
              Rotate
            </button>
          )}
          <button
            type="button"
            class="danger"
            aria-label={`Revoke ${keyName(apiKey)}`}
            onClick={() => onOpenDialog({ kind: "revoke", apiKey })}
          >
            Revoke
          </button>
        </div>
      )}
    </li>
  );
}
