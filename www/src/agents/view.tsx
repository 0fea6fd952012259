import type { AgentGrant, AgentSignIn } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Answer } from "../parts/answer";
import { CopyButton } from "../parts/copy";
import { Empty } from "../parts/empty";
import { Notice } from "../parts/notice";
import { Page } from "../parts/page";
import { Snippet } from "../parts/snippet";
import { When } from "../parts/when";
import { useSession } from "../session/session";
import { EndGrant, SwitchOff, nameOf } from "./ask";
import { SignInForm } from "./form";
import { useGrants, useSignIn } from "./hooks";
import "../webhooks/webhooks.css";
import "../keys/keys.css";

const heading = () => document.querySelector<HTMLElement>("h1");

type Asked = { what: "form" } | { what: "off" } | { what: "end"; grant: AgentGrant };

/** How agents sign in, and what users granted to them. */
export function AgentsView() {
  const { may } = useSession();
  const query = useSignIn();
  const [asked, setAsked] = useState<Asked>();
  const [notice, setNotice] = useState<string>();
  const mayWrite = may("agents:write");
  const close = () => setAsked(undefined);
  const ask = (next: Asked) => {
    setNotice(undefined);
    setAsked(next);
  };
  const done = (text: string) => {
    setNotice(text);
    close();
  };
  const signIn = query.data ?? null;
  return (
    <Page
      title="Agents"
      actions={
        mayWrite &&
        query.data !== undefined && (
          <button type="button" class="primary" onClick={() => ask({ what: "form" })}>
            {signIn ? "Change sign-in" : "Switch sign-in on"}
          </button>
        )
      }
    >
      <Notice>{notice}</Notice>
      <p>
        Your users add one address to Claude, Cursor, VS Code or another MCP client, sign in, and decide what the agent
        may do.{!mayWrite && " Your key can read this page, but change nothing on it."}
      </p>
      <Answer query={query} what="sign-in" rows={2}>
        {(signIn) =>
          signIn ? (
            <div class="section">
              <SignIn signIn={signIn} onOff={mayWrite ? () => ask({ what: "off" }) : undefined} />
              <Grants onEnd={mayWrite ? (grant) => ask({ what: "end", grant }) : undefined} />
            </div>
          ) : (
            <Empty title="Sign-in is off">
              Say who authenticates your users: your OpenID provider, or your own app. Then you get the address for your
              users' agents.
            </Empty>
          )
        }
      </Answer>
      <Snippet
        call={{
          method: "GET",
          path: "/v1/agent-grants",
          javascript: "const { rows } = await vault.agentGrants.list();",
        }}
      />
      {asked?.what === "form" && (
        <SignInForm signIn={signIn} onClose={close} onSaved={() => done("Sign-in was saved.")} focusAfter={heading} />
      )}
      {asked?.what === "off" && (
        <SwitchOff onClose={close} onDone={() => done("Sign-in is off.")} focusAfter={heading} />
      )}
      {asked?.what === "end" && (
        <EndGrant
          grant={asked.grant}
          onClose={close}
          onDone={() => done("The grant has ended.")}
          focusAfter={heading}
        />
      )}
    </Page>
  );
}

function SignIn({ signIn, onOff }: { signIn: AgentSignIn; onOff: (() => void) | undefined }) {
  const { endpoint, type, issuer, clientId, identityClaim, redirectUri, url, updatedAt } = signIn;
  const copied = (text: string, what: string) => (
    <dd class="copied">
      <code>{text}</code> <CopyButton text={text} label={`Copy the ${what}`} />
    </dd>
  );
  return (
    <section class="card webhook" aria-label="Sign-in">
      <div class="webhook-head">
        <h2>{type === "oidc" ? "Your OpenID provider" : "Your own app"}</h2>
        <span class="badge dot" data-tone="good">
          on
        </span>
      </div>
      <dl class="facts">
        <dt>Address for agents</dt>
        {copied(endpoint, "address for agents")}
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
        {redirectUri !== null && (
          <>
            <dt>Redirect URI to register</dt>
            {copied(redirectUri, "redirect URI")}
          </>
        )}
        {url !== null && (
          <>
            <dt>Page of your app</dt>
            <dd>{url}</dd>
          </>
        )}
      </dl>
      <p class="muted small">
        Configured <When at={updatedAt} />.
      </p>
      {onOff && (
        <div class="buttons">
          <button type="button" class="danger" onClick={onOff}>
            Switch off
          </button>
        </div>
      )}
    </section>
  );
}

function Grants({ onEnd }: { onEnd: ((grant: AgentGrant) => void) | undefined }) {
  const [identity, setIdentity] = useState("");
  const query = useGrants(identity.trim());
  const grants = query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  return (
    <section class="section" aria-labelledby="grants">
      <h2 id="grants">What users granted</h2>
      <input
        type="search"
        aria-label="Only of this identity"
        placeholder="Identity, exactly"
        autocomplete="off"
        spellcheck={false}
        value={identity}
        onInput={({ currentTarget }) => setIdentity(currentTarget.value)}
      />
      <Answer query={query} what="grants" rows={2}>
        {() =>
          grants.length === 0 ? (
            <Empty
              title={identity.trim() === "" ? "No user has granted anything yet" : "This identity has no grants"}
            />
          ) : (
            <>
              <ul class="keys" aria-label="Grants">
                {grants.map((grant) => (
                  <Row key={grant.id} grant={grant} onEnd={onEnd} />
                ))}
              </ul>
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
            </>
          )
        }
      </Answer>
    </section>
  );
}

function Row({ grant, onEnd }: { grant: AgentGrant; onEnd: ((grant: AgentGrant) => void) | undefined }) {
  const { identity, platforms, access, actions, connections, confirm, client, createdAt, lastUsedAt, expiresAt } =
    grant;
  return (
    <li class="card webhook">
      <div class="webhook-head">
        <h3>{nameOf(grant)}</h3>
        <div class="chips">
          <span class="badge">{access === "read" ? "only reads" : "reads and changes"}</span>
          {confirm && (
            <span class="badge">{confirm === "write" ? "asks before each change" : "asks before deletions"}</span>
          )}
        </div>
      </div>
      <p class="named">
        For <strong>{identity}</strong>. Access is sent to <span class="mono">{client.redirectUri}</span>
        {client.name !== null && client.url === null && "; nobody has checked the name"}.
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
        Granted <When at={createdAt} />.{" "}
        {lastUsedAt !== null && (
          <>
            Last used <When at={lastUsedAt} />.{" "}
          </>
        )}
        Ends <When at={expiresAt} /> unless it is used.
      </p>
      {onEnd && (
        <div class="buttons">
          <button
            type="button"
            class="danger"
            aria-label={`End the grant of ${nameOf(grant)} for ${identity}`}
            onClick={() => onEnd(grant)}
          >
            End grant
          </button>
        </div>
      )}
    </li>
  );
}
