// The header and the frame of every view.
import { onlineManager } from "@tanstack/preact-query";
import { Moon, Sun } from "lucide-preact";
import type { Scope } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { RelativeTime, useCurrentTime } from "./components/relative-time";
import { EnvironmentBadge } from "./components/badge";
import { EnvironmentSwitch } from "./session/environment-switch";
import { useOptionalSession, useSessionState, type Session } from "./session/session";
import { LinkNotice, SwitchSession } from "./session/switch-session";
import { onThemeChange, currentTheme } from "./theme";

const VIEWS = [
  ["/", "Overview"],
  ["/connectors", "Connectors"],
  ["/connections", "Connections"],
  ["/integrations", "Integrations"],
  ["/events", "Events"],
  ["/webhooks", "Webhooks"],
  ["/agents", "Agents"],
  ["/keys", "Keys"],
  ["/audit", "Audit"],
  ["/people", "People"],
  ["/docs", "API"],
] as const;
const EXPIRY_NOTICE_MS = 7 * 24 * 3_600_000;

export function Layout({ children }: { children: ComponentChildren }) {
  return (
    <>
      <Header />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

/** The header: navigation, session and notices about it. */
export function Header() {
  const session = useOptionalSession();
  const state = useSessionState();
  const { link, notice } = state.kind === "in" ? state : { link: undefined, notice: undefined };
  const isEndUser = session?.whoami.identity !== undefined;
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="site-header" data-environment={session?.whoami.environment}>
        <Link
          href={isEndUser ? "/connections" : "/"}
          class="brand"
          aria-label={`connector-vault, ${isEndUser ? "your connections" : "overview"}`}
        >
          <img src="/favicon.svg" width="28" height="28" alt="" /> <span>connector-vault</span>
        </Link>
        {!isEndUser && <Navigation />}
        <div class="account">
          {session && <Account session={session} />}
          <ThemeButton />
          {session && (
            <button type="button" onClick={session.signOut}>
              Sign out
            </button>
          )}
          {state.kind === "out" && (
            <Link class="button" href="/">
              Sign in
            </Link>
          )}
        </div>
      </header>
      <Offline />
      <div role="status">{notice && <LinkNotice reason={notice} />}</div>
      {state.kind === "in" && link && <SwitchSession key={link.number} current={state.session} link={link} />}
    </>
  );
}

/** Views that appear in the menu only with this scope. */
const REQUIRED_SCOPES: Partial<Record<string, Scope>> = {
  "/events": "events:read",
  "/webhooks": "webhooks:read",
  "/keys": "keys:read",
  "/agents": "agents:read",
  "/audit": "audit:read",
  "/people": "console:read",
};

function Navigation() {
  const [path] = useLocation();
  const session = useOptionalSession();
  const views = VIEWS.filter(([href]) => {
    const scope = REQUIRED_SCOPES[href];
    return scope === undefined || session?.may(scope);
  });
  const isCurrent = (href: string) => path === href || (href !== "/" && path.startsWith(`${href}/`));
  return (
    <nav aria-label="Main">
      {views.map(([href, name]) => {
        const current = isCurrent(href) ? "page" : undefined;
        // The API reference is a separate page, so load it instead of navigating within the app.
        return href === "/docs" ? (
          <a key={href} href={href} aria-current={current}>
            {name}
          </a>
        ) : (
          <Link key={href} href={href} aria-current={current}>
            {name}
          </Link>
        );
      })}
    </nav>
  );
}

/** The account or identity, and its environment. */
function Account({ session: { whoami } }: { session: Session }) {
  const owner = whoami.identity ?? whoami.account;
  const remainingMs = Date.parse(whoami.expiresAt ?? "") - useCurrentTime(whoami.expiresAt);
  return (
    <div class="user">
      <span class="user-account">
        <span class="visually-hidden">{whoami.identity === undefined ? "Account" : "Connections of"} </span>
        <strong title={owner}>{owner}</strong>{" "}
        {whoami.identity === undefined ? <EnvironmentSwitch /> : <EnvironmentBadge environment={whoami.environment} />}
      </span>{" "}
      {whoami.person !== undefined && (
        <span class="person muted" title={whoami.person}>
          <span class="visually-hidden">Signed in as </span>
          {whoami.person}
        </span>
      )}{" "}
      {whoami.expiresAt !== null && remainingMs < EXPIRY_NOTICE_MS && (
        <span class="expiry muted">
          {whoami.identity !== undefined ? "link" : whoami.person !== undefined ? "session" : "key"}{" "}
          {remainingMs > 0 ? (
            <>
              expires <RelativeTime at={whoami.expiresAt} />
            </>
          ) : (
            "has expired"
          )}
        </span>
      )}
    </div>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme);
  useEffect(() => onThemeChange(() => setTheme(currentTheme())), []);
  const otherTheme = theme === "dark" ? "light" : "dark";
  return (
    <button
      type="button"
      class="icon"
      onClick={() => window.chooseTheme(otherTheme)}
      aria-label={`Use the ${otherTheme} theme`}
      title={`Use the ${otherTheme} theme`}
    >
      {theme === "dark" ? <Sun size={18} aria-hidden="true" /> : <Moon size={18} aria-hidden="true" />}
    </button>
  );
}

function Offline() {
  const [online, setOnline] = useState(onlineManager.isOnline());
  useEffect(() => onlineManager.subscribe(setOnline), []);
  return (
    <div role="status">
      {!online && (
        <p class="banner">
          You are offline. This page may be out of date, and changes can't be saved until you are back online.
        </p>
      )}
    </div>
  );
}
