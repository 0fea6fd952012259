// What is around every view.
import { onlineManager } from "@tanstack/preact-query";
import { Moon, Sun } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { When } from "./parts/when";
import { useSession } from "./session/session";
import { chooseTheme, shownTheme } from "./theme";

const VIEWS = [["/", "Overview"], ["/connectors", "Connectors"], ["/connections", "Connections"]] as const;
const SOON_MS = 7 * 24 * 3_600_000;

export function Layout({ children }: { children: ComponentChildren }) {
  const [path] = useLocation();
  const isHere = (href: string) => path === href || (href !== "/" && path.startsWith(`${href}/`));
  return (
    <>
      <a class="skip" href="#main">Skip to content</a>
      <header class="top">
        <Link href="/" class="brand" aria-label="connector-vault, overview">
          <img src="/favicon.svg" width="28" height="28" alt="" /> <span>connector-vault</span>
        </Link>
        <nav aria-label="Views">
          {VIEWS.map(([href, name]) => (
            <Link key={href} href={href} aria-current={isHere(href) ? "page" : undefined}>{name}</Link>
          ))}
          <a href="/docs">API</a>
        </nav>
        <Account />
      </header>
      <Offline />
      <main id="main" tabIndex={-1}>{children}</main>
    </>
  );
}

/** Whose vault this is, in which of its two worlds. */
function Account() {
  const { who, signOut } = useSession();
  const whose = who.identity ?? who.account;
  const isSoon = who.expiresAt !== null && Date.parse(who.expiresAt) - Date.now() < SOON_MS;
  return (
    <div class="account">
      <p class="who">
        <span class="who-account">
          <span class="visually-hidden">{who.identity === undefined ? "Account" : "Connections of"} </span><strong title={whose}>{whose}</strong>{" "}
          <span class="badge" data-tone={who.environment === "live" ? "bad" : "calm"}>
            <span class="visually-hidden">environment </span>{who.environment}
          </span>
        </span>{" "}
        {isSoon && who.expiresAt !== null && <span class="expiry muted">{who.identity === undefined ? "key" : "link"} expires <When at={who.expiresAt} /></span>}
      </p>
      <ThemeButton />
      <button type="button" onClick={signOut}>Sign out</button>
    </div>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(shownTheme);
  const other = theme === "dark" ? "light" : "dark";
  const change = () => {
    chooseTheme(other);
    setTheme(other);
  };
  return (
    <button type="button" class="icon" onClick={change} aria-label={`Use the ${other} theme`} title={`Use the ${other} theme`}>
      {theme === "dark" ? <Sun size={18} aria-hidden="true" /> : <Moon size={18} aria-hidden="true" />}
    </button>
  );
}

function Offline() {
  const [online, setOnline] = useState(onlineManager.isOnline());
  useEffect(() => onlineManager.subscribe(setOnline), []);
  return (
    <div role="status">
      {!online && <p class="banner">You are offline. What you see may be old; changes can't be saved until you are back.</p>}
    </div>
  );
}
