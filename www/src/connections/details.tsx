import type { Connection, Connector } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { STATE_MEANINGS, StateBadge } from "../components/badge";
import { CopyButton } from "../components/copy-button";
import { DescriptionItem } from "../components/description-item";
import { Logo } from "../components/logo";
import { RelativeTime } from "../components/relative-time";

export function PanelHeader({
  connection: { platform, description },
  connector,
}: {
  connection: Connection;
  connector: Connector | undefined;
}) {
  return (
    <div class="panel-head">
      <Logo name={connector?.name ?? platform} image={connector?.image} />
      <p>
        <Link href={`/connectors/${encodeURIComponent(platform)}`}>{connector?.name ?? platform}</Link>
      </p>
      {description && <p class="muted small description">{description}</p>}
    </div>
  );
}

export const StateLine = ({ connection: { state, active } }: { connection: Connection }) => (
  <span class="state-line">
    <StateBadge state={state} />{" "}
    {!active && (
      <span class="badge" data-tone="bad">
        Inactive
      </span>
    )}{" "}
    <span class="muted small">{STATE_MEANINGS[state]}</span>
  </span>
);

/** All properties of a connection. `name` can be an editable field. */
export function Details({ connection, name }: { connection: Connection; name: ComponentChildren }) {
  const {
    id,
    key,
    identity,
    identityType,
    type,
    environment,
    platform,
    platformVersion,
    state,
    active,
    version,
    createdAt,
  } = connection;
  return (
    <section class="section" aria-labelledby="facts-title">
      <h3 id="facts-title">Details</h3>
      <dl class="description-list">
        <DescriptionItem name="Identity">
          <span class="copyable">
            {identity}
            <CopyButton text={identity} label="Copy the identity" />
          </span>
        </DescriptionItem>
        <DescriptionItem name="Identity type">{identityType}</DescriptionItem>
        <DescriptionItem name="Name">{name}</DescriptionItem>
        <DescriptionItem name="State">{state}</DescriptionItem>
        <DescriptionItem name="Active">{active ? "Yes" : "No"}</DescriptionItem>
        <DescriptionItem name="Created">
          <RelativeTime at={createdAt} showExact />
        </DescriptionItem>
        <DescriptionItem name="Key">
          <span class="copyable">
            <code>{key}</code>
            <CopyButton text={key} label="Copy the key" />
          </span>
        </DescriptionItem>
        <DescriptionItem name="ID">
          <span class="copyable">
            <code>{id}</code>
            <CopyButton text={id} label="Copy the ID" />
          </span>
        </DescriptionItem>
        <DescriptionItem name="Platform">
          <code>{platform}</code> <span class="muted">{platformVersion}</span>
        </DescriptionItem>
        <DescriptionItem name="Environment">{environment}</DescriptionItem>
        <DescriptionItem name="Type">{type}</DescriptionItem>
        <DescriptionItem name="Version">{version}</DescriptionItem>
      </dl>
    </section>
  );
}
