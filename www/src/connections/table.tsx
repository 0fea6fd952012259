import type { Connection, ConnectionWithAccount } from "connector-vault/slim";
import type { JSX } from "preact";
import { Link, useLocation } from "wouter-preact";
import { accountName } from "../components/account-name";
import { StateBadge } from "../components/badge";
import { Logo } from "../components/logo";
import { RelativeTime } from "../components/relative-time";
import type { Platforms } from "../connectors/platforms";

const MAX_SHOWN_TAGS = 3;
/** The table never truncates tags up to this length. */
const SHORT_TAG_LENGTH = 6;
const COLUMNS = ["Identity", "Platform", "Name or account", "State", "Tags", "Created"];
/** History state of a panel that was opened from the list: closing it goes back. */
export const OPENED_FROM_LIST = { openedHere: true };

/** Returns the link to a connection in the table, to restore the focus. */
export const findRowLink = (id: string) =>
  document.querySelector<HTMLElement>(`a[data-connection="${CSS.escape(id)}"]`);

interface Props {
  rows: ConnectionWithAccount[];
  platforms: Platforms | undefined;
  getHref: (connection: Connection) => string;
}

/** Has explicit roles, because browsers drop table semantics when CSS turns rows into cards. */
export function Table({ rows, platforms, getHref }: Props) {
  return (
    <div class="table connection-table" data-inactive={rows.some(({ active }) => !active) || undefined}>
      <table role="table">
        <caption class="visually-hidden">Connections, newest first</caption>
        <thead role="rowgroup">
          <tr role="row">
            {COLUMNS.map((name) => (
              <th key={name} scope="col" role="columnheader">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((connection) => (
            <Row key={connection.id} connection={connection} platforms={platforms} href={getHref(connection)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({
  connection,
  platforms,
  href,
}: {
  connection: ConnectionWithAccount;
  platforms: Platforms | undefined;
  href: string;
}) {
  const { id, platform, identity, identityType, name, state, tags, createdAt, active, account } = connection;
  const [, navigate] = useLocation();
  const connector = platforms?.byName.get(platform);
  // For mouse users only: keyboards and screen readers use the link in the row.
  const openRow = (event: JSX.TargetedMouseEvent<HTMLTableRowElement>) => {
    const isOnLink = event.target instanceof Element && event.target.closest("a, button") !== null;
    if (!isOnLink && !event.defaultPrevented && getSelection()?.isCollapsed !== false)
      navigate(href, { state: OPENED_FROM_LIST });
  };
  return (
    <tr role="row" onClick={openRow}>
      <td role="cell" class="cell-identity">
        <span class="one-line">
          <Link href={href} state={OPENED_FROM_LIST} data-connection={id} title={identity}>
            {identity}
          </Link>{" "}
          <span class="muted small">{identityType}</span>
        </span>
      </td>
      <td role="cell">
        <span class="one-line">
          <Logo name={connector?.name ?? platform} image={connector?.image} size={24} />
          <span title={connector?.name}>{connector?.name ?? platform}</span>{" "}
          {connector && connector.name !== platform && (
            <span class="platform-key mono muted" title={platform}>
              {platform}
            </span>
          )}
        </span>
      </td>
      <td role="cell" title={name ?? undefined}>
        {name ?? (!account && <NoValue label="no name" />)}
        {account && (
          <span class="muted small" title={`Account ${account.id}`}>
            {" "}
            {accountName(account)}
          </span>
        )}
      </td>
      <td role="cell" class="cell-state">
        <span class="one-line">
          <StateBadge state={state} />
          {!active && (
            <>
              {" "}
              <span class="badge" data-tone="bad">
                Inactive
              </span>
            </>
          )}
        </span>
      </td>
      <td role="cell" class="cell-tags">
        <span class="chips">
          {tags.slice(0, MAX_SHOWN_TAGS).map((tag, index) => (
            <span key={index} class={tag.length > SHORT_TAG_LENGTH ? "chip" : "chip short"} title={tag}>
              {tag}
            </span>
          ))}
          {tags.length > MAX_SHOWN_TAGS && (
            <span class="chip overflow" title={tags.slice(MAX_SHOWN_TAGS).join(", ")}>
              +{tags.length - MAX_SHOWN_TAGS}
              <span class="visually-hidden"> more</span>
            </span>
          )}
          {tags.length === 0 && <NoValue label="no tags" />}
        </span>
      </td>
      <td role="cell" class="cell-created">
        <RelativeTime at={createdAt} showExact />
      </td>
    </tr>
  );
}

const NoValue = ({ label }: { label: string }) => (
  <span class="none muted">
    <span aria-hidden="true">–</span>
    <span class="visually-hidden">{label}</span>
  </span>
);
