import type { AgentGrant, AgentSignIn } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { CopyableCode } from "../components/copy-button";
import { EmptyState } from "../components/empty-state";
import { Notice } from "../components/notice";
import { Page, findPageHeading } from "../components/page";
import { QueryView } from "../components/query-view";
import { RelativeTime } from "../components/relative-time";
import { SearchField } from "../components/search-field";
import { ShowOlder } from "../components/show-older";
import { Snippet } from "../components/snippet";
import { useSession } from "../session/session";
import { RevokeGrant, DisableSignIn, agentName } from "./confirmations";
import { SignInForm } from "./form";
import { useGrants, useSignIn } from "./hooks";
import "../keys/keys.css";

type Dialog = { kind: "form" } | { kind: "off" } | { kind: "revoke"; grant: AgentGrant };

export function AgentsView() {
  const { may, noun } = useSession();
  const query = useSignIn();
  const [dialog, setDialog] = useState<Dialog>();
  const [notice, setNotice] = useState<string>();
  const canWrite = may("agents:write");
  const close = () => setDialog(undefined);
  const openDialog = (next: Dialog) => {
    setNotice(undefined);
    setDialog(next);
  };
  const finish = (text: string) => {
    setNotice(text);
    close();
  };
  const signIn = query.data?.signIn ?? null;
  return (
    <Page
      title="Agents"
      actions={
        canWrite &&
        query.data !== undefined && (
          <button type="button" class="primary" onClick={() => openDialog({ kind: "form" })}>
            {signIn ? "Edit sign-in" : "Turn on sign-in"}
          </button>
        )
      }
    >
      <Notice>{notice}</Notice>
      <p>
        Your users add one address to Claude, Cursor, VS Code or another MCP client, sign in, and decide what the agent
        may do.{!canWrite && ` Your ${noun} can view these settings, but not change them.`}
      </p>
      <QueryView query={query} name="sign-in" rows={2}>
        {({ signIn }) =>
          signIn ? (
            <div class="section">
              <SignIn signIn={signIn} onDisable={canWrite ? () => openDialog({ kind: "off" }) : undefined} />
              <Grants onRevoke={canWrite ? (grant) => openDialog({ kind: "revoke", grant }) : undefined} />
            </div>
          ) : (
            <EmptyState title="Sign-in is off">
              Choose who authenticates your users: your OpenID provider or your own app. You then get an address for
              your users' agents.
            </EmptyState>
          )
        }
      </QueryView>
      <Snippet
        call={{
          method: "GET",
          path: "/v1/agent-grants",
          javascript: "const { rows } = await vault.agentGrants.list();",
        }}
      />
      {dialog?.kind === "form" && (
        <SignInForm
          signIn={signIn}
          redirectUri={query.data?.redirectUri}
          onClose={close}
          onSaved={() => finish("Sign-in was saved.")}
          fallbackFocus={findPageHeading}
        />
      )}
      {dialog?.kind === "off" && (
        <DisableSignIn onClose={close} onDone={() => finish("Sign-in is off.")} fallbackFocus={findPageHeading} />
      )}
      {dialog?.kind === "revoke" && (
        <RevokeGrant
          grant={dialog.grant}
          onClose={close}
          onDone={() => finish("The grant was revoked.")}
          fallbackFocus={findPageHeading}
        />
      )}
    </Page>
  );
}

function SignIn({ signIn, onDisable }: { signIn: AgentSignIn; onDisable: (() => void) | undefined }) {
  const { endpoint, type, issuer, clientId, identityClaim, redirectUri, url, keyId, keyState, updatedAt } = signIn;
  const keyEnded = type === "oidc" && keyState !== "active";
  return (
    <section class="card list-card" aria-label="Sign-in">
      <div class="list-card-head">
        <h2>{type === "oidc" ? "Your OpenID provider" : "Your own app"}</h2>
        <span class="badge dot" data-tone={keyEnded ? "bad" : "good"}>
          {keyEnded ? `key ${keyState}` : "on"}
        </span>
      </div>
      {keyEnded && (
        <p class="note" data-tone="bad" role="alert">
          Users can’t sign in, and their agents have lost access: the key that configured the sign-in{" "}
          {keyState === "revoked" ? "was revoked" : "has expired"} (<span class="mono">{keyId}</span>). Choose{" "}
          <strong>Edit sign-in</strong> and save, so that it uses your key. Users then connect their agents again.
        </p>
      )}
      <dl class="description-list">
        <dt>Address for agents</dt>
        <CopyableCode text={endpoint} noun="address for agents" />
        {issuer !== null && (
          <>
            <dt>Issuer</dt>
            <dd>{issuer}</dd>
            <dt>Client ID</dt>
            <dd class="mono">{clientId}</dd>
            <dt>Identity</dt>
            <dd>
              the claim <code>{identityClaim}</code>
            </dd>
          </>
        )}
        {type === "oidc" && (
          <>
            <dt>Redirect URI to register</dt>
            <CopyableCode text={redirectUri} noun="redirect URI" />
          </>
        )}
        {url !== null && (
          <>
            <dt>URL of your app</dt>
            <dd>{url}</dd>
          </>
        )}
      </dl>
      <p class="muted small">
        Configured <RelativeTime at={updatedAt} />.
      </p>
      {onDisable && (
        <div class="buttons">
          <button type="button" class="danger" onClick={onDisable}>
            Turn off
          </button>
        </div>
      )}
    </section>
  );
}

function Grants({ onRevoke }: { onRevoke: ((grant: AgentGrant) => void) | undefined }) {
  const [identity, setIdentity] = useState("");
  const query = useGrants(identity);
  const grants = query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  return (
    <section class="section" aria-labelledby="grants">
      <h2 id="grants">Grants</h2>
      <div class="filters">
        <SearchField
          label="Identity"
          placeholder="Exact identity"
          value={identity}
          maxLength={255}
          onChange={setIdentity}
        />
      </div>
      <QueryView query={query} name="grants" rows={2}>
        {() =>
          grants.length === 0 ? (
            <EmptyState title={identity === "" ? "No user has granted anything yet" : "This identity has no grants"} />
          ) : (
            <>
              <ul class="keys" aria-label="Grants">
                {grants.map((grant) => (
                  <Row key={grant.id} grant={grant} onRevoke={onRevoke} />
                ))}
              </ul>
              <ShowOlder query={query} />
            </>
          )
        }
      </QueryView>
    </section>
  );
}

function Row({ grant, onRevoke }: { grant: AgentGrant; onRevoke: ((grant: AgentGrant) => void) | undefined }) {
  const { identity, platforms, access, actions, connections, confirm, client, createdAt, lastUsedAt, expiresAt } =
    grant;
  return (
    <li class="card list-card">
      <div class="list-card-head">
        <h3>{agentName(grant)}</h3>
        <div class="chips">
          <span class="badge">{access === "read" ? "read only" : "read and write"}</span>
          {confirm && (
            <span class="badge">{confirm === "write" ? "asks before each change" : "asks before deletions"}</span>
          )}
        </div>
      </div>
      <p class="break-words">
        For <strong>{identity}</strong>. Tokens are sent to <span class="mono">{client.redirectUri}</span>
        {client.name !== null && client.url === null && "; its name is not verified"}.
      </p>
      <p class="chips">
        {(platforms ?? ["all platforms"]).map((platform) => (
          <span key={platform} class="chip">
            {platform}
          </span>
        ))}
        {actions?.map((action) => (
          <span key={action} class="chip mono">
            {action}
          </span>
        ))}
        {connections && <span class="chip">{connections.length} of the connections</span>}
      </p>
      <p class="muted small">
        Granted <RelativeTime at={createdAt} />.{" "}
        {lastUsedAt !== null && (
          <>
            Last used <RelativeTime at={lastUsedAt} />.{" "}
          </>
        )}
        Ends <RelativeTime at={expiresAt} /> unless it is used.
      </p>
      {onRevoke && (
        <div class="buttons">
          <button
            type="button"
            class="danger"
            aria-label={`Revoke the grant of ${agentName(grant)} for ${identity}`}
            onClick={() => onRevoke(grant)}
          >
            Revoke
          </button>
        </div>
      )}
    </li>
  );
}
