import type { AuthMethod, ConnectAttempt, Connection, ConnectorDetail, NewConnectAttempt } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { getFaults, formatFault } from "../components/faults";
import { Logo } from "../components/logo";
import { ApiError, isExpired } from "./api-client";
import { isRedirectMethod, isSetByApp, withUsableMethods } from "./auth-methods";
import { AwaitingProvider, type ProviderAttempt } from "./awaiting-provider";
import { type Branding, fetchBranding, applyBrandColor, storeBranding } from "./branding";
import { ChoosePlatform } from "./choose-platform";
import { SeparateWindow, ConfirmIdentity } from "./confirm-identity";
import { type FormState, CredentialsForm, type Rejection, type Values } from "./credentials-form";
import { requestFromEmbedder, openInPopup, displayMode, notifyEmbedder } from "./embedder";
import { type LaunchParams, buildPopupReturnUrl, storeDone } from "./launch-params";
import { type FailureText, requestFailureText, attemptFailureText } from "./messages";
import { type EndReason, EndedStep, FailedStep, StatusIcon } from "./outcome";
import { type Invitation, type Session, decodeLanguage, readInvitation } from "./session";
import { Step } from "./step";
import { TranslatedText, capitalize, chooseLanguage, language, setAppName, translate, loadLanguage } from "./texts";

/** What to connect: a platform, or an existing connection. */
interface Target {
  connector: ConnectorDetail;
  connection?: string | undefined;
}

type View =
  | { kind: "opening" }
  | { kind: "ended"; reason: EndReason }
  | { kind: "confirm"; invitation: Invitation }
  | { kind: "separate"; state: "open" | "blocked" | "done" }
  | { kind: "choose" }
  | { kind: "form"; target: Target; initialState?: FormState | undefined; isConnected?: boolean }
  | { kind: "awaiting"; target: Target; pending: ProviderAttempt }
  | { kind: "done"; target: Target; connection: Connection }
  | { kind: "failed"; failure: FailureText; target?: Target | undefined; onRetry: () => void };

export function ConnectWindow({ launchParams }: { launchParams: LaunchParams }) {
  const [branding, setBranding] = useState<Branding>();
  const [session, setSession] = useState<Session>();
  const [view, setView] = useState<View>({ kind: "opening" });
  const [announcement, announce] = useState("");
  const isMounted = useRef(true);
  useEffect(() => {
    // After a reload, the page still links back to the app. The query and the fragment may contain secrets.
    const url = session?.returnUrl?.replace(/[?#].*/s, "");
    if (branding && url) storeBranding({ ...branding, url });
  }, [branding, session]);
  // Global, because callbacks from before the branding was loaded must use the name, too.
  setAppName(branding?.name ?? undefined);

  useEffect(() => {
    const showStep = ({ state }: PopStateEvent) => steps.current[Number(state)]?.();
    addEventListener("popstate", showStep);
    void begin();
    return () => {
      isMounted.current = false;
      removeEventListener("popstate", showStep);
    };
  }, []);

  /** The steps of a full page, which the browser's back and forward buttons restore. */
  const steps = useRef<(() => void)[]>([]);
  const goToStep = (show: () => void) => {
    if (displayMode === "page" && steps.current.length > 0) {
      const index = Number(history.state) + 1;
      steps.current = [...steps.current.slice(0, index), show];
      history.pushState(index, "");
    }
    show();
  };
  const showFirstStep = (show: () => void) => {
    steps.current = [show];
    show();
  };

  const showView = (next: View) => {
    if (isMounted.current) setView(next);
  };
  const showEnd = (reason: EndReason) => {
    if (reason === "expired") notify({ status: "failed", code: reason });
    showView({ kind: "ended", reason });
  };
  const notify: (...message: ViewDetails<Parameters<typeof notifyEmbedder>>) => void = (status) =>
    notifyEmbedder(session?.listener, status);

  /** Shows a failure. If the token has expired, ends the session. */
  const showFailure = (error: unknown, onRetry: () => void, target?: Target, platform = target?.connector.name) => {
    if (isExpired(error)) return showEnd("expired");
    const failure = requestFailureText(error, platform ?? translate("thePlatform"));
    showView({ kind: "failed", failure, target, onRetry });
  };

  async function begin() {
    const { isMalformed } = launchParams;
    if (isMalformed) {
      void showBranding(undefined);
      return showEnd("damaged");
    }
    showView({ kind: "opening" });
    try {
      const reply = await requestFromEmbedder(launchParams);
      const secret = reply?.token ?? launchParams.token ?? launchParams.code;
      void showBranding(secret);
      await loadLanguage(chooseLanguage(decodeLanguage(secret)));
      const invitation = await readInvitation(launchParams, reply);
      if (launchParams.resumed && invitation) return await resume(invitation, launchParams.resumed);
      if (invitation === undefined)
        return showEnd(launchParams.resumed || launchParams.isDone ? "returned" : "missing");
      // Ask for confirmation, because anyone could have sent this link.
      showFirstStep(() =>
        invitation.isConfirmed ? void enter(invitation) : showView({ kind: "confirm", invitation }),
      );
    } catch (error) {
      showFailure(error, begin);
    }
  }

  async function showBranding(secret: string | undefined) {
    const newBranding = await fetchBranding(secret);
    if (!isMounted.current || !newBranding) return;
    setBranding(newBranding);
    applyBrandColor(newBranding.color);
  }

  /** Shows the outcome of an attempt in the popup that returns from the platform. */
  async function resume(invitation: Invitation, { attempt: id, connection }: NonNullable<LaunchParams["resumed"]>) {
    const newSession = await invitation.open();
    const attempt = await newSession.service.attempt(id);
    const connector = await newSession.service.connector(attempt.platform);
    if (!isMounted.current) return;
    setSession(newSession);
    // The user has not confirmed their identity on this page. The outcome is shown without confirmation, but any
    // further step needs it.
    if (!invitation.isConfirmed) unconfirmedInvitation.current = invitation;
    const target = { connector, connection };
    if (attempt.status === "pending") retry(target);
    else finish(target, undefined, attempt, newSession.listener);
  }

  /** Opens the session of an invitation that the user has confirmed. */
  async function enter(invitation: Invitation) {
    const { platform, connection } = launchParams;
    unconfirmedInvitation.current = undefined;
    showView({ kind: "opening" });
    try {
      const newSession = await invitation.open();
      if (!isMounted.current) return;
      setSession(newSession);
      notifyEmbedder(newSession.listener, { status: "ready" });
      if (!newSession.may("connections:connect") || !newSession.may("catalog:read")) return showEnd("forbidden");
      const onlyPlatform = getOnlyPlatform(newSession);
      if (connection !== undefined) await openConnection(newSession, connection, platform);
      else if (platform !== undefined) await openPlatform(newSession, platform);
      else if (onlyPlatform !== undefined && !(await newSession.hasFailedConnections()))
        await openPlatform(newSession, onlyPlatform);
      else showView({ kind: "choose" });
    } catch (error) {
      // With a code, a 401 means that it was already used, for example by an exchange whose response was lost.
      if (launchParams.code !== undefined && isExpired(error)) showEnd("used");
      else showFailure(error, () => void enter(invitation));
    }
  }

  /** Continues in a separate window, because the page around a frame could cover it (clickjacking). */
  function continueInPopup({ token, listener }: Invitation) {
    const isOpen = openInPopup(launchParams, token, listener, ({ status }) => {
      if (status === "succeeded") showView({ kind: "separate", state: "done" });
    });
    showView({ kind: "separate", state: isOpen ? "open" : "blocked" });
  }

  async function openConnection(newSession: Session, id: string, platform: string | undefined) {
    try {
      const knownPlatform = newSession.may("connections:read")
        ? (await newSession.service.connection(id)).platform
        : platform;
      if (knownPlatform === undefined) return showEnd("forbidden");
      await openPlatform(newSession, knownPlatform, id);
    } catch (error) {
      showFailure(error, () => showView({ kind: "choose" }));
    }
  }

  async function openPlatform(newSession: Session, platform: string, connection?: string) {
    showView({ kind: "opening" });
    try {
      const [connector, hasClient, connected] = await Promise.all([
        newSession.service.connector(platform),
        newSession.service.hasClient(platform),
        connection === undefined ? newSession.connectedPlatforms(platform) : undefined,
      ]);
      if (connector.authMethods.length > 0)
        return showView({
          kind: "form",
          target: { connector: withUsableMethods(connector, hasClient), connection },
          isConnected: connected?.has(platform) === true,
        });
      throw new Error(`The catalog has no method to connect to ${platform}.`);
    } catch (error) {
      showFailure(error, () => showView({ kind: "choose" }), undefined, capitalize(platform));
    }
  }

  const lastSubmission = useRef<FormState>();
  const unconfirmedInvitation = useRef<Invitation>();

  /** Starts an attempt. Must run in a click handler, because browsers block other popups. */
  async function connect(target: Target, method: AuthMethod, values: Values): Promise<Rejection | undefined> {
    if (!session) return undefined;
    lastSubmission.current = { method, values };
    const { connector, connection } = target;
    const popup = isRedirectMethod(method) && session.opensPopup ? openPopup() : undefined;
    const returnUrl =
      displayMode === "popup" && session.listener ? buildPopupReturnUrl(launchParams, connection) : session.returnUrl;
    const request: NewConnectAttempt = {
      ...(connection !== undefined ? { connection } : { platform: connector.platform }),
      authMethod: method.id,
      ...(Object.keys(values).length > 0 && { fields: values }),
      ...(!session.opensPopup && returnUrl !== undefined && { returnUrl }),
    };
    try {
      const startResult = await session.service.start(request);
      if (!("authorizationUrl" in startResult)) {
        popup?.close();
        succeed(target, startResult);
        return undefined;
      }
      const { id, authorizationUrl } = startResult;
      notify({ status: "pending", attempt: id });
      if (!session.opensPopup) location.assign(authorizationUrl);
      else popup?.location.replace(authorizationUrl);
      showView({ kind: "awaiting", target, pending: { id, authorizationUrl, popup } });
      return undefined;
    } catch (error) {
      popup?.close();
      return reject(error, target);
    }
  }

  /** Returns the errors that concern fields of the form. Shows any other error as a separate step. */
  function reject(error: unknown, target: Target): Rejection | undefined {
    const faults: Values = {};
    for (const fault of getFaults(error)) {
      const [, field] = /^\/fields\/(.+)$/.exec(fault.pointer ?? "") ?? [];
      // The service's message is in English, so other languages use a generic message.
      if (field !== undefined) faults[field] = language === "en" ? formatFault(fault) : translate("fieldInvalid");
    }
    const { method } = lastSubmission.current ?? {};
    const isAppFault = method?.fields.some(
      (field) => faults[field.name] !== undefined && isSetByApp(target.connector, method, field),
    );
    if (!isAppFault && Object.keys(faults).length > 0) return { faults };
    // The platform rejects the credentials, or they belong to another account.
    if (error instanceof ApiError && error.status === 422)
      return { faults, failure: requestFailureText(error, target.connector.name) };
    if (error instanceof ApiError) notify({ status: "failed", code: error.code });
    showFailure(error, () => showView({ kind: "form", target }), target);
    return undefined;
  }

  function succeed(target: Target, connection: Connection, attempt?: string, listener = session?.listener) {
    storeDone();
    notifyEmbedder(listener, { status: "succeeded", connection, ...(attempt !== undefined && { attempt }) });
    showView({ kind: "done", target, connection });
  }

  function finish(
    target: Target,
    pending: ProviderAttempt | undefined,
    { id, status, connection, error }: ConnectAttempt,
    listener = session?.listener,
  ) {
    pending?.popup?.close();
    if (status === "succeeded" && connection) return succeed(target, connection, id, listener);
    const failure = error ?? { code: "expired", detail: "" };
    notifyEmbedder(listener, { status: "failed", attempt: id, code: failure.code });
    const failureText = attemptFailureText(failure, target.connector.name);
    showView({ kind: "failed", failure: failureText, target, onRetry: () => retry(target) });
  }

  /** Repeats the last attempt, or shows its form again. */
  function retry(target: Target) {
    const { method, values } = lastSubmission.current ?? {};
    if (unconfirmedInvitation.current) return showView({ kind: "confirm", invitation: unconfirmedInvitation.current });
    if (!method || !isRedirectMethod(method) || !session?.opensPopup) return showFormAgain(target);
    void connect(target, method, values ?? {}).then((rejected) => rejected && showFormAgain(target));
  }

  const showFormAgain = (target: Target) => showView({ kind: "form", target, initialState: lastSubmission.current });

  const canChoose =
    launchParams.platform === undefined &&
    launchParams.connection === undefined &&
    unconfirmedInvitation.current === undefined &&
    (session === undefined || getOnlyPlatform(session) === undefined);
  const homeUrl = branding?.url ?? undefined;
  const leaving = { session, homeUrl, onLeave: () => notify({ status: "closed" }) };
  const leaveButton = <LeaveButton {...leaving} />;
  return (
    <main class="window">
      <header class="app">
        {branding?.logoUrl && (
          <Logo name={branding.name ?? translate("thisApp")} image={branding.logoUrl} size={32} isAppLogo />
        )}
        <div>
          <p class="app-name">{branding?.name ?? translate("title")}</p>
          {session?.whoami.identity !== undefined && (
            <p class="muted small">
              <TranslatedText text="forIdentity" values={{ identity: <strong>{session.whoami.identity}</strong> }} />
              {session.whoami.environment === "test" && (
                <>
                  {" "}
                  <span class="badge">{translate("testBadge")}</span>
                </>
              )}
            </p>
          )}
        </div>
        {session && view.kind !== "done" && view.kind !== "ended" && leaveButton}
      </header>
      <div class="step">{step()}</div>
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </main>
  );

  function step(): ComponentChildren {
    switch (view.kind) {
      case "opening":
        return (
          <p class="wait" role="status">
            {translate("loading")}
          </p>
        );
      case "ended":
        return <EndedStep reason={view.reason}>{leaveButton}</EndedStep>;
      case "confirm": {
        const { invitation } = view;
        return (
          <ConfirmIdentity
            identity={invitation.identity}
            onConfirm={() => {
              if (displayMode === "frame") return continueInPopup(invitation);
              invitation.confirm();
              goToStep(() => void enter(invitation));
            }}
          />
        );
      }
      case "separate":
        return <SeparateWindow state={view.state} />;
      case "choose":
        return (
          session && (
            <ChoosePlatform
              session={session}
              announce={announce}
              onChoose={(platform, connection) => goToStep(() => void openPlatform(session, platform, connection))}
              onError={(error) => showFailure(error, () => showView({ kind: "choose" }))}
            />
          )
        );
      case "form":
        return (
          <CredentialsForm
            connector={view.target.connector}
            isReconnect={view.target.connection !== undefined}
            isConnected={view.isConnected === true}
            presets={{ fields: session?.whoami.fields ?? {}, fixed: session?.whoami.fixedFields ?? {} }}
            initialState={view.initialState}
            firstMethod={launchParams.authMethod}
            onSubmit={(method, values) => connect(view.target, method, values)}
            onBack={canChoose ? () => showView({ kind: "choose" }) : undefined}
          />
        );
      case "awaiting":
        return (
          session && (
            <AwaitingProvider
              key={view.pending.id}
              session={session}
              pending={view.pending}
              name={view.target.connector.name}
              onOutcome={(attempt) => finish(view.target, view.pending, attempt)}
              onError={(error) => showFailure(error, () => retry(view.target), view.target)}
              onRestart={() => {
                view.pending.popup?.close();
                retry(view.target);
              }}
              onBack={() => showFormAgain(view.target)}
            />
          )
        );
      case "done": {
        const { name, image } = view.target.connector;
        return (
          <Step title={translate("done.title", { platform: name })} icon={<Logo name={name} image={image} />}>
            <p class="note" data-tone="good">
              <StatusIcon tone="good">✓</StatusIcon> {translate("done.text")}
            </p>
            <div class="buttons">
              {canChoose && (
                <button type="button" onClick={() => showView({ kind: "choose" })}>
                  {translate("done.more")}
                </button>
              )}
              <LeaveButton {...leaving} isPrimary />
            </div>
          </Step>
        );
      }
      case "failed": {
        const { failure, target, onRetry } = view;
        const { connectionId } = failure;
        return (
          <FailedStep failure={failure}>
            {canChoose && target && (
              <button type="button" onClick={() => showView({ kind: "choose" })}>
                {translate("failed.choose")}
              </button>
            )}
            {connectionId !== undefined && target ? (
              <button
                type="button"
                class="primary"
                onClick={() => showView({ kind: "form", target: { ...target, connection: connectionId } })}
              >
                {translate("failed.reconnect")}
              </button>
            ) : (
              <button type="button" class={failure.actor === "app" ? "" : "primary"} onClick={onRetry}>
                {translate("tryAgain")}
              </button>
            )}
          </FailedStep>
        );
      }
    }
  }
}

/** Returns the platform of a token that is restricted to a single one. */
function getOnlyPlatform({ whoami }: Session): string | undefined {
  const [platform, ...others] = whoami.platforms ?? [];
  return others.length === 0 ? platform : undefined;
}

type ViewDetails<List> = List extends [unknown, ...infer Rest] ? Rest : never;

/** Opens an empty popup, which navigates to the platform later, when its URL is known. */
function openPopup(): Window | undefined {
  const [width, height] = [600, 760];
  const [left, top] = [
    Math.max(0, screenX + (outerWidth - width) / 2),
    Math.max(0, screenY + (outerHeight - height) / 2),
  ];
  return window.open("about:blank", "", `popup,width=${width},height=${height},left=${left},top=${top}`) ?? undefined;
}

interface LeaveButtonProps {
  session: Session | undefined;
  /** The app's URL from its branding, for links without a return URL. */
  homeUrl: string | undefined;
  /** Called before the user leaves. */
  onLeave: () => void;
  isPrimary?: boolean;
}

/** Closes the window or returns to the app, if possible. */
function LeaveButton({ session, homeUrl, onLeave, isPrimary = false }: LeaveButtonProps) {
  const className = isPrimary ? "primary" : "";
  if (displayMode === "page") {
    const url = session?.returnUrl ?? homeUrl;
    if (url === undefined)
      return isPrimary ? (
        <p>
          {translate("end.returned.title")}
          {language === "ja" ? "。" : "."}
        </p>
      ) : null;
    return (
      <a class={`button ${className}`} href={url}>
        {translate(isPrimary || !session ? "backTo" : "cancel")}
      </a>
    );
  }
  // A frame can't close itself. Only the page around it can, if it listens to messages.
  if (!session || (displayMode === "frame" && session.listener === undefined)) return null;
  const leave = () => {
    onLeave();
    if (displayMode === "popup") window.close();
  };
  return (
    <button type="button" class={className} onClick={leave}>
      {translate(!isPrimary ? "cancel" : displayMode === "frame" ? "done" : "closeWindow")}
    </button>
  );
}
