import type { Connector } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { StatusBadge } from "../components/badge";
import { Logo } from "../components/logo";
import { pluralize } from "../components/pluralize";
import "./connectors.css";

export const PAGE_SIZE = 48;

interface Props {
  /** Accessible name of the list. */
  label: string;
  connectors: readonly Connector[];
  /** Badges by platform, which replace the number of actions. */
  badges?: ReadonlyMap<string, string>;
}

export const ConnectorCards = ({ label, connectors, badges }: Props) => (
  <ul class="connectors" aria-label={label}>
    {connectors.map((connector) => (
      <ConnectorCard key={connector.key} connector={connector} badge={badges?.get(connector.platform)} />
    ))}
  </ul>
);

function ConnectorCard({ connector, badge }: { connector: Connector; badge: string | undefined }) {
  const { name, platform, image, category, description, oauth, status, active, tools } = connector;
  return (
    <li>
      <Link class="card connector" href={`/connectors/${platform}`}>
        <Logo name={name} image={image} />
        <span class="connector-name">{name}</span>
        <span class="connector-platform mono muted">{platform}</span>
        <span class="connector-description muted small">{description}</span>
        <span class="chips">
          <span class="badge">{category}</span>
          {oauth && (
            <span class="badge" data-tone="info">
              OAuth
            </span>
          )}
          {status !== "generally_available" && <StatusBadge status={status} />}
          {!active && (
            <span class="badge" data-tone="bad">
              Inactive
            </span>
          )}
          {(badge !== undefined || tools > 0) && <span class="badge">{badge ?? pluralize(tools, "action")}</span>}
        </span>
      </Link>
    </li>
  );
}
