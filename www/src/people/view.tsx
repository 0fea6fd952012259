// The configuration of sign-in to the console, and the sessions of people who are signed in.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/preact-query";
import { NotFoundError, type ConsoleSession, type ConsoleSignIn } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ConfirmRemoval } from "../components/confirm-removal";
import { CopyableCode } from "../components/copy-button";
import { EmptyState } from "../components/empty-state";
import { Notice } from "../components/notice";
import { Page, findPageHeading } from "../components/page";
import { QueryView } from "../components/query-view";
import { RelativeTime } from "../components/relative-time";
import { ShowOlder } from "../components/show-older";
import { Snippet } from "../components/snippet";
import { useSession } from "../session/session";
import { SignInForm } from "./form";
import "../keys/keys.css";

const PEOPLE_KEY = ["people"];

type Dialog =
  | { kind: "configure"; signIn: ConsoleSignIn | null }
  | { kind: "off" }
  | { kind: "end"; session: ConsoleSession };

export function PeopleView() {
  const { may, noun, vault } = useSession();
  const client = useQueryClient();
  const [dialog, setDialog] = useState<Dialog>();
  const [notice, setNotice] = useState<string>();
  const canWrite = may("console:write");
  const query = useQuery({
    queryKey: [...PEOPLE_KEY, "sign-in"],
    queryFn: async ({ signal }) => {
      try {
        return await vault.consoleSignIn.get({ signal });
      } catch (error) {
        if (error instanceof NotFoundError) return null;
        throw error;
      }
    },
  });
  const close = () => setDialog(undefined);
  const openDialog = (next: Dialog) => {
    setNotice(undefined);
    setDialog(next);
  };
  const finish = (text: string) => {
    void client.invalidateQueries({ queryKey: PEOPLE_KEY });
    setNotice(text);
    close();
  };
  const signInButtons = (signIn: ConsoleSignIn) => (
    <div class="buttons">
      <button type="button" onClick={() => openDialog({ kind: "configure", signIn })}>
        Edit
      </button>
      <button type="button" class="danger" onClick={() => openDialog({ kind: "off" })}>
        Turn off
      </button>
    </div>
  );
  return (
    <Page title="People">
      <Notice>{notice}</Notice>
      <p>
        People sign in to the console with their own accounts instead of an API key.
        {!canWrite && ` Your ${noun} can view this, but not change it.`}
      </p>
      <QueryView query={query} name="sign-in" rows={2}>
        {(signIn) =>
          signIn ? (
            <div class="section">
              <SignIn signIn={signIn} buttons={canWrite ? signInButtons(signIn) : undefined} />
              <Sessions onEnd={canWrite ? (session) => openDialog({ kind: "end", session }) : undefined} />
            </div>
          ) : (
            <EmptyState title="Sign-in is off">
              Connect your OpenID provider or Cloudflare Access, and choose the scopes of each role.
              {canWrite && (
                <div class="buttons">
                  <button type="button" class="primary" onClick={() => openDialog({ kind: "configure", signIn: null })}>
                    Set up sign-in
                  </button>
                </div>
              )}
            </EmptyState>
          )
        }
      </QueryView>
      <Snippet
        call={{
          method: "GET",
          path: "/v1/console-sessions",
          javascript: "const { rows } = await vault.consoleSessions.list();",
        }}
      />
      {dialog?.kind === "configure" && (
        <SignInForm
          signIn={dialog.signIn}
          onClose={close}
          onSaved={() => finish("Sign-in was saved.")}
          fallbackFocus={findPageHeading}
        />
      )}
      {dialog?.kind === "off" && (
        <ConfirmRemoval
          title="Turn off sign-in?"
          labels={{ cancel: "Keep it on", confirm: "Turn off", pending: "Turning off…" }}
          remove={() => vault.consoleSignIn.delete()}
          hint="It may still be on."
          onClose={close}
          onDone={() => finish("Sign-in is off.")}
          fallbackFocus={findPageHeading}
        >
          <p>This ends all sessions. People can then use the console only with an API key.</p>
        </ConfirmRemoval>
      )}
      {dialog?.kind === "end" && (
        <ConfirmRemoval
          title="End this session?"
          labels={{ cancel: "Keep it", confirm: "End session", pending: "Ending…" }}
          remove={() => vault.consoleSessions.delete(dialog.session.id)}
          hint="It may not have ended."
          onClose={close}
          onDone={() => finish("The session was ended.")}
          fallbackFocus={findPageHeading}
        >
          <p class="break-words">
            <strong>{dialog.session.person}</strong> is signed out at once, and can sign in again as long as the
            provider allows it.
          </p>
        </ConfirmRemoval>
      )}
    </Page>
  );
}

function SignIn({ signIn, buttons }: { signIn: ConsoleSignIn; buttons: ComponentChildren }) {
  const { signInUrl, type, issuer, teamDomain, redirectUri, claim, roles, updatedAt } = signIn;
  return (
    <section class="card list-card" aria-label="Sign-in">
      <div class="list-card-head">
        <h2>{type === "oidc" ? "Your OpenID provider" : "Cloudflare Access"}</h2>
        <span class="badge dot" data-tone="good">
          on
        </span>
      </div>
      <dl class="description-list">
        <dt>Address to sign in</dt>
        <CopyableCode text={signInUrl} noun="address to sign in" />
        <dt>{type === "oidc" ? "Issuer" : "Team domain"}</dt>
        <dd>{issuer ?? teamDomain}</dd>
        {redirectUri !== null && (
          <>
            <dt>Redirect URI to register</dt>
            <CopyableCode text={redirectUri} noun="redirect URI" />
          </>
        )}
        <dt>Claim with roles</dt>
        <dd>
          <code>{claim}</code>
        </dd>
        {Object.entries(roles).map(([role, scopes]) => (
          <>
            <dt class="break-words">{role}</dt>
            <dd class="chips">
              {scopes.map((scope) => (
                <span key={scope} class="chip mono">
                  {scope}
                </span>
              ))}
            </dd>
          </>
        ))}
      </dl>
      <p class="muted small">
        Configured <RelativeTime at={updatedAt} />.
      </p>
      {buttons}
    </section>
  );
}

function Sessions({ onEnd }: { onEnd: ((session: ConsoleSession) => void) | undefined }) {
  const { vault } = useSession();
  const query = useInfiniteQuery({
    queryKey: [...PEOPLE_KEY, "sessions"],
    queryFn: ({ pageParam, signal }) => vault.consoleSessions.list({ limit: 50, before: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const sessions = query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  return (
    <section class="section" aria-labelledby="sessions">
      <h2 id="sessions">Signed in</h2>
      <QueryView query={query} name="sessions" rows={2}>
        {() =>
          sessions.length === 0 ? (
            <EmptyState title="No sessions" />
          ) : (
            <>
              <ul class="keys" aria-label="Sessions">
                {sessions.map((session) => (
                  <li key={session.id} class="card list-card">
                    <div class="list-card-head">
                      <h3 class="break-words">{session.person}</h3>
                      {session.current && <span class="badge">this session</span>}
                    </div>
                    <p class="muted small">
                      Signed in <RelativeTime at={session.createdAt} />. Last used{" "}
                      <RelativeTime at={session.lastUsedAt} />. Ends <RelativeTime at={session.expiresAt} /> unless it
                      is used.
                    </p>
                    {onEnd && !session.current && (
                      <div class="buttons">
                        <button
                          type="button"
                          class="danger"
                          aria-label={`End the session of ${session.person}`}
                          onClick={() => onEnd(session)}
                        >
                          End session
                        </button>
                      </div>
                    )}
                  </li>
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
