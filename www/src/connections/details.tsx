import type { Connection, Connector } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { STATE_MEANINGS, StateBadge } from "../components/badge";
import { CopyButton } from "../components/copy-button";
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

/** All properties. `name` may be an editable field. */
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
      <dl class="facts">
        <Fact name="Identity">
          <span class="copied">
            {identity}
            <CopyButton text={identity} label="Copy the identity" />
          </span>
        </Fact>
        <Fact name="Identity type">{identityType}</Fact>
        <Fact name="Name">{name}</Fact>
        <Fact name="State">{state}</Fact>
        <Fact name="Active">{active ? "Yes" : "No"}</Fact>
        <Fact name="Created">
          <RelativeTime at={createdAt} showExact />
        </Fact>
        <Fact name="Key">
          <span class="copied">
            <code>{key}</code>
            <CopyButton text={key} label="Copy the key" />
          </span>
        </Fact>
        <Fact name="ID">
          <span class="copied">
            <code>{id}</code>
            <CopyButton text={id} label="Copy the ID" />
          </span>
        </Fact>
        <Fact name="Platform">
          <code>{platform}</code> <span class="muted">{platformVersion}</span>
        </Fact>
        <Fact name="Environment">{environment}</Fact>
        <Fact name="Type">{type}</Fact>
        <Fact name="Version">{version}</Fact>
      </dl>
    </section>
  );
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);
