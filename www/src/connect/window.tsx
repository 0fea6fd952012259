import type { AuthMethod, ConnectAttempt, Connection, ConnectorDetail, NewConnectAttempt } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { faultsOf, sentence } from "../parts/faults";
import { Logo } from "../parts/logo";
import { type AppLook, askApp, paint } from "./app";
import { Away, type Pending } from "./away";
import { Choose } from "./choose";
import { askEmbedder, openAlone, place, tell } from "./embedder";
import { type Entered, Form, type Rejected, type Values } from "./form";
import { type Opening, comingBack } from "./opening";
import { type End, Ended, Failed, Sign } from "./outcome";
import { isAway, isForApp, withUsable } from "./methods";
import { ServiceError, isExpired } from "./service";
import { type Invitation, type Session, readInvitation } from "./session";
import { Step } from "./step";
import { Alone, Question } from "./question";
import { NAMELESS, type Names, type Trouble, capital, troubleOf, troubleOfAttempt } from "./words";

/** What is to be connected: a platform, or a connection to it anew. */
interface Target {
  connector: ConnectorDetail;
  connection?: string | undefined;
}

type View =
  | { is: "opening" }
  | { is: "ended"; end: End }
  | { is: "ask"; invitation: Invitation }
  | { is: "alone"; state: "open" | "blocked" | "done" }
  | { is: "choose" }
  | { is: "form"; target: Target; entered?: Entered | undefined }
  | { is: "away"; target: Target; pending: Pending }
  | { is: "done"; target: Target; connection: Connection }
  | { is: "failed"; trouble: Trouble; target?: Target | undefined; onAgain: () => void };

/** The window from its opening to its end. */
export function ConnectWindow({ opening }: { opening: Opening }) {
  const [look, setLook] = useState<AppLook>();
  const [session, setSession] = useState<Session>();
  const [view, setView] = useState<View>({ is: "opening" });
  const [said, say] = useState("");
  const isThere = useRef(true);
  const app = look?.name ?? NAMELESS;
  // For what has begun before the app's name was known.
  const appName = useRef(app);
  appName.current = app;
  const names = (platform: string): Names => ({ platform, app: appName.current });

  useEffect(() => {
    askApp().then((found) => {
      if (!isThere.current || !found) return;
      setLook(found);
      paint(found.color);
    });
    void begin();
    return () => void (isThere.current = false);
  }, []);

  const show = (next: View) => {
    if (isThere.current) setView(next);
  };
  const end = (why: End) => {
    if (why === "expired") news({ status: "failed", code: why });
    show({ is: "ended", end: why });
  };
  const news: (...about: Tail<Parameters<typeof tell>>) => void = (about) => tell(session?.listener, about);

  /** Tells a failure; an expired token ends everything. */
  const fail = (error: unknown, onAgain: () => void, target?: Target, platform = target?.connector.name) => {
    if (isExpired(error)) return end("expired");
    const trouble = troubleOf(error, names(platform ?? "The platform"));
    show({ is: "failed", trouble, target, onAgain });
  };

  async function begin() {
    const { isDamaged } = opening;
    if (isDamaged) return end("damaged");
    show({ is: "opening" });
    try {
      const reply = await askEmbedder(opening);
      const invitation = await readInvitation(opening, reply);
      if (opening.began && invitation) return await comeBack(invitation, opening.began);
      if (invitation === undefined) return end(opening.began ? "returned" : "missing");
      if (invitation.isFromApp) return await enter(invitation);
      // Anyone could have sent this link.
      show({ is: "ask", invitation });
    } catch (error) {
      fail(error, begin);
    }
  }

  /** Tells what has become of an attempt, in the popup that comes back from the platform. */
  async function comeBack(invitation: Invitation, { attempt: id, connection }: NonNullable<Opening["began"]>) {
    const next = await invitation.open();
    const attempt = await next.service.attempt(id);
    const connector = await next.service.connector(attempt.platform);
    if (!isThere.current) return;
    setSession(next);
    // Nobody has confirmed on this page that they are the identity: seeing what became of the attempt needs no confirmation.
    if (!invitation.isFromApp) unconfirmed.current = invitation;
    const target = { connector, connection };
    if (attempt.status === "pending") again(target);
    else finish(target, undefined, attempt, next.listener);
  }

  /** Goes on for the identity that the window was opened for. */
  async function enter(invitation: Invitation) {
    const { platform, connection } = opening;
    unconfirmed.current = undefined;
    show({ is: "opening" });
    try {
      const next = await invitation.open();
      if (!isThere.current) return;
      setSession(next);
      tell(next.listener, { status: "ready" });
      if (!next.may("connections:connect") || !next.may("catalog:read")) return end("forbidden");
      const [only, ...others] = next.who.platforms ?? [];
      if (connection !== undefined) await openConnection(next, connection, platform);
      else if (platform !== undefined) await openPlatform(next, platform);
      else if (only !== undefined && others.length === 0 && !next.may("connections:read"))
        await openPlatform(next, only);
      else show({ is: "choose" });
    } catch (error) {
      // If the answer to an exchange was lost, the code may be used up. Trying again then shows `used`.
      if (opening.code !== undefined && isExpired(error)) end("used");
      else fail(error, () => void enter(invitation));
    }
  }

  /** Asks in a separate window, because the page around a frame can cover it and capture clicks. */
  function goOnAlone({ token, listener }: Invitation) {
    const isOpen = openAlone(opening, token, listener, ({ status }) => {
      if (status === "succeeded") show({ is: "alone", state: "done" });
    });
    show({ is: "alone", state: isOpen ? "open" : "blocked" });
  }

  async function openConnection(from: Session, id: string, platform: string | undefined) {
    try {
      const named = from.may("connections:read") ? (await from.service.connection(id)).platform : platform;
      if (named === undefined) return end("forbidden");
      await openPlatform(from, named, id);
    } catch (error) {
      fail(error, () => show({ is: "choose" }));
    }
  }

  async function openPlatform(from: Session, platform: string, connection?: string) {
    show({ is: "opening" });
    try {
      const [connector, hasClient] = await Promise.all([
        from.service.connector(platform),
        from.service.hasClient(platform),
      ]);
      if (connector.authMethods.length > 0)
        return show({ is: "form", target: { connector: withUsable(connector, hasClient), connection } });
      throw new Error(`The catalog has no method to connect to ${platform}.`);
    } catch (error) {
      fail(error, () => show({ is: "choose" }), undefined, capital(platform));
    }
  }

  const begun = useRef<Entered>();
  const unconfirmed = useRef<Invitation>();

  /** Starts an attempt. To be called while the browser handles a click: only then it opens a page. */
  async function connect(target: Target, method: AuthMethod, values: Values): Promise<Rejected | undefined> {
    if (!session) return undefined;
    begun.current = { method, values };
    const { connector, connection } = target;
    const popup = isAway(method) && session.opensPopup ? openPopup() : undefined;
    const returnUrl = place === "popup" && session.listener ? comingBack(opening, connection) : session.returnUrl;
    const wish: NewConnectAttempt = {
      ...(connection !== undefined ? { connection } : { platform: connector.platform }),
      authMethod: method.id,
      ...(Object.keys(values).length > 0 && { fields: values }),
      ...(!session.opensPopup && returnUrl !== undefined && { returnUrl }),
    };
    try {
      const started = await session.service.start(wish);
      if (!("authorizationUrl" in started)) {
        popup?.close();
        succeed(target, started);
        return undefined;
      }
      const { id, authorizationUrl } = started;
      news({ status: "pending", attempt: id });
      if (!session.opensPopup) location.assign(authorizationUrl);
      else popup?.location.replace(authorizationUrl);
      show({ is: "away", target, pending: { id, authorizationUrl, popup } });
      return undefined;
    } catch (error) {
      popup?.close();
      return reject(error, target);
    }
  }

  /** What of a refusal belongs into the form. Tells everything else. */
  function reject(error: unknown, target: Target): Rejected | undefined {
    const faults: Values = {};
    for (const fault of faultsOf(error)) {
      const [, field] = /^\/fields\/(.+)$/.exec(fault.pointer ?? "") ?? [];
      if (field !== undefined) faults[field] = sentence(fault);
    }
    const { method } = begun.current ?? {};
    const isAppsFault = method?.fields.some(
      (field) => faults[field.name] !== undefined && isForApp(target.connector, method, field),
    );
    if (!isAppsFault && Object.keys(faults).length > 0) return { faults };
    if (error instanceof ServiceError && error.code === "credentials_rejected")
      return { faults, trouble: troubleOf(error, names(target.connector.name)) };
    if (error instanceof ServiceError) news({ status: "failed", code: error.code });
    fail(error, () => show({ is: "form", target }), target);
    return undefined;
  }

  function succeed(target: Target, connection: Connection, attempt?: string, listener = session?.listener) {
    tell(listener, { status: "succeeded", connection, ...(attempt !== undefined && { attempt }) });
    show({ is: "done", target, connection });
  }

  function finish(
    target: Target,
    pending: Pending | undefined,
    { id, status, connection, error }: ConnectAttempt,
    listener = session?.listener,
  ) {
    pending?.popup?.close();
    if (status === "succeeded" && connection) return succeed(target, connection, id, listener);
    const failure = error ?? { code: "expired", detail: "" };
    tell(listener, { status: "failed", attempt: id, code: failure.code });
    const trouble = troubleOfAttempt(failure, names(target.connector.name));
    show({ is: "failed", trouble, target, onAgain: () => again(target) });
  }

  /** The same once more, or what is to be filled in for it. */
  function again(target: Target) {
    const { method, values } = begun.current ?? {};
    if (unconfirmed.current) return show({ is: "ask", invitation: unconfirmed.current });
    if (!method || !isAway(method) || !session?.opensPopup) return fillInAgain(target);
    void connect(target, method, values ?? {}).then((rejected) => rejected && fillInAgain(target));
  }

  const fillInAgain = (target: Target) => show({ is: "form", target, entered: begun.current });

  const canChoose =
    opening.platform === undefined && opening.connection === undefined && unconfirmed.current === undefined;
  const home = look?.url ?? undefined;
  const leave = <Leave session={session} app={app} home={home} news={() => news({ status: "closed" })} />;
  return (
    <main class="window">
      <header class="app">
        {look?.logoUrl && <Logo name={app} image={look.logoUrl} size={32} isOfApp />}
        <div>
          <p class="app-name">{look?.name ?? "Connect an account"}</p>
          {session?.who.identity !== undefined && (
            <p class="muted small">
              for <strong>{session.who.identity}</strong>
              {session.who.environment === "test" && (
                <>
                  {" "}
                  <span class="badge">test</span>
                </>
              )}
            </p>
          )}
        </div>
        {session && view.is !== "done" && view.is !== "ended" && leave}
      </header>
      <div class="step">{step()}</div>
      <p class="visually-hidden" role="status">
        {said}
      </p>
    </main>
  );

  function step(): ComponentChildren {
    switch (view.is) {
      case "opening":
        return (
          <p class="wait" role="status">
            Loading …
          </p>
        );
      case "ended":
        return (
          <Ended end={view.end} app={app}>
            {leave}
          </Ended>
        );
      case "ask": {
        const { invitation } = view;
        return (
          <Question
            identity={invitation.identity}
            app={app}
            onYes={() => (place === "frame" ? goOnAlone(invitation) : void enter(invitation))}
          />
        );
      }
      case "alone":
        return <Alone state={view.state} />;
      case "choose":
        return (
          session && (
            <Choose
              session={session}
              app={app}
              say={say}
              onChoose={(platform, connection) => void openPlatform(session, platform, connection)}
              onFail={(error) => fail(error, () => show({ is: "choose" }))}
            />
          )
        );
      case "form":
        return (
          <Form
            connector={view.target.connector}
            isReconnect={view.target.connection !== undefined}
            app={app}
            entered={view.entered}
            onSubmit={(method, values) => connect(view.target, method, values)}
            onBack={canChoose ? () => show({ is: "choose" }) : undefined}
          />
        );
      case "away":
        return (
          session && (
            <Away
              key={view.pending.id}
              session={session}
              pending={view.pending}
              name={view.target.connector.name}
              onOutcome={(attempt) => finish(view.target, view.pending, attempt)}
              onFail={(error) => fail(error, () => again(view.target), view.target)}
              onAgain={() => {
                view.pending.popup?.close();
                again(view.target);
              }}
              onReturn={() => fillInAgain(view.target)}
            />
          )
        );
      case "done": {
        const { name, image } = view.target.connector;
        return (
          <Step title={`${name} is connected`} mark={<Logo name={name} image={image} />}>
            <p class="note" data-tone="good">
              <Sign tone="good">✓</Sign> {capital(app)} can use it from now on.
            </p>
            <div class="buttons">
              {canChoose && (
                <button type="button" onClick={() => show({ is: "choose" })}>
                  Connect something else
                </button>
              )}
              <Leave session={session} app={app} home={home} isPrimary />
            </div>
          </Step>
        );
      }
      case "failed": {
        const { trouble, target, onAgain } = view;
        const { connectionId } = trouble;
        return (
          <Failed trouble={trouble} app={app}>
            {canChoose && target && (
              <button type="button" onClick={() => show({ is: "choose" })}>
                Choose something else
              </button>
            )}
            {connectionId !== undefined && target ? (
              <button
                type="button"
                class="primary"
                onClick={() => show({ is: "form", target: { ...target, connection: connectionId } })}
              >
                Reconnect it
              </button>
            ) : (
              <button type="button" class={trouble.turn === "app" ? "" : "primary"} onClick={onAgain}>
                Try again
              </button>
            )}
          </Failed>
        );
      }
    }
  }
}

type Tail<List> = List extends [unknown, ...infer Rest] ? Rest : never;

/** A page of its own for the platform, which this one leads further. */
function openPopup(): Window | undefined {
  const [width, height] = [600, 760];
  const [left, top] = [
    Math.max(0, screenX + (outerWidth - width) / 2),
    Math.max(0, screenY + (outerHeight - height) / 2),
  ];
  return window.open("about:blank", "", `popup,width=${width},height=${height},left=${left},top=${top}`) ?? undefined;
}

interface LeaveProps {
  session: Session | undefined;
  app: string;
  /** The app's own address, for a page that was not told where to lead back to. */
  home: string | undefined;
  /** Tells that the user leaves before the end. */
  news?: () => void;
  isPrimary?: boolean;
}

/** The way out of the window, where there is one. */
function Leave({ session, app, home, news, isPrimary = false }: LeaveProps) {
  const kind = isPrimary ? "primary" : "";
  if (place === "page") {
    const url = session?.returnUrl ?? home;
    return url === undefined ? null : (
      <a class={`button ${kind}`} href={url}>
        {isPrimary || !session ? `Back to ${app}` : "Cancel"}
      </a>
    );
  }
  if (!session || (place === "frame" && (session.listener === undefined || isPrimary))) return null;
  const leave = () => {
    news?.();
    if (place === "popup") window.close();
  };
  return (
    <button type="button" class={kind} onClick={leave}>
      {isPrimary ? "Close this window" : "Cancel"}
    </button>
  );
}
