import type { Scope } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { EmptyState } from "../components/empty-state";
import { Page } from "../components/page";
import { useSession } from "./session";

/** The resource that each read scope grants access to, as a noun for the message. */
const RESOURCES: Partial<Record<Scope, string>> = {
  "catalog:read": "the catalog",
  "connections:read": "connections",
  "clients:read": "OAuth clients",
  "webhooks:read": "webhooks",
  "events:read": "events",
  "keys:read": "API keys",
  "agents:read": "agent sign-in",
  "audit:read": "the audit log",
  "usage:read": "the usage",
  "console:read": "how people sign in",
};

interface Props {
  scope: Scope;
  /** The title of the view. */
  view: string;
  children: ComponentChildren;
}

/** Renders a view if the key has the scope, otherwise explains which scope is missing. */
export function RequireScope({ scope, view, children }: Props) {
  const { may, noun } = useSession();
  if (may(scope)) return <>{children}</>;
  return (
    <Page title={view}>
      <EmptyState title={`Your ${noun} can't read ${RESOURCES[scope] ?? "this"}`}>
        <p>
          This page needs a {noun} with the scope <code>{scope}</code>.
        </p>
        {scope !== "catalog:read" && may("catalog:read") && (
          <p>
            Your {noun} has access to <Link href="/connectors">the catalog of connectors</Link>.
          </p>
        )}
        {scope !== "connections:read" && may("connections:read") && (
          <p>
            Your {noun} has access to <Link href="/connections">the connections</Link>.
          </p>
        )}
      </EmptyState>
    </Page>
  );
}
