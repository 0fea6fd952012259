import type { ConnectionState, ConnectionWithAccount } from "connector-vault/slim";
import { useEffect, useRef, useState } from "preact/hooks";
import { accountName } from "../components/account-name";
import { Logo } from "../components/logo";
import { RelativeTime } from "../components/relative-time";
import { useSession } from "../session/session";
import { ConnectButton, useCanConnect } from "./connect";
import { Disconnect } from "./disconnect";
import { EditTags } from "./edit-tags";
import { usePlatform } from "./hooks";

/** Label, advice and tone of each state, for end users. */
const STATE_LABELS: Record<ConnectionState, [label: string, advice: string | undefined, tone: string]> = {
  operational: ["Working", undefined, "good"],
  degraded: ["Interrupted", "It is being restored automatically. You don't need to do anything.", "warn"],
  failed: ["Stopped working", "Connect it again where you got your link.", "bad"],
  unknown: ["Not checked", "It has not been checked yet.", ""],
};

/** Converts a platform identifier to a name, for platforms that are not in the catalog. */
const toTitleCase = (platform: string) =>
  platform
    .split("-")
    .map((label) => label.charAt(0).toUpperCase() + label.slice(1))
    .join(" ");

interface Props {
  connection: ConnectionWithAccount;
  Heading: "h2" | "h3";
  /** Whether the URL selects this connection. */
  isSelected: boolean;
  onRemoved: (message: string) => void;
}

export function Card({ connection, Heading, isSelected, onRemoved }: Props) {
  const { may } = useSession();
  const canConnect = useCanConnect();
  const connector = usePlatform(connection);
  const [dialog, setDialog] = useState<"tags" | "disconnect">();
  const card = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isSelected) card.current?.scrollIntoView({ block: "center" });
  }, [isSelected]);
  const { id, platform, name, state, tags, active, createdAt, account } = connection;
  const platformName = connector?.name ?? toTitleCase(platform);
  // An inactive connection was switched off, unless it failed.
  const [label, advice, tone] = active || state === "failed" ? STATE_LABELS[state] : ["Switched off", undefined, ""];
  const closeDialog = () => setDialog(undefined);
  return (
    <li ref={card} class="card end-user-card" data-selected={isSelected || undefined} aria-labelledby={`own-${id}`}>
      <div class="end-user-card-head">
        <Logo name={platformName} image={connector?.image} />
        <div>
          <Heading id={`own-${id}`}>{platformName}</Heading>
          <p class="muted small">
            {name !== null && (
              <>
                <span class="end-user-connection-name">{name}</span> ·{" "}
              </>
            )}
            {account && <>{accountName(account)} · </>}
            connected <RelativeTime at={createdAt} />
          </p>
        </div>
      </div>
      <div class="end-user-card-state">
        <p>
          <span class="badge dot" data-tone={tone}>
            {label}
          </span>
        </p>
        {advice !== undefined && !(state === "failed" && canConnect) && <p class="muted small">{advice}</p>}
        {state === "failed" && canConnect && (
          <ConnectButton target={{ connection: id }} label={`Connect again: ${platformName}`}>
            Connect again
          </ConnectButton>
        )}
      </div>
      {tags.length > 0 && (
        <ul class="chips" aria-label="Tags">
          {tags.map((tag, index) => (
            <li key={index} class="chip">
              {tag}
            </li>
          ))}
        </ul>
      )}
      {may("connections:write") && (
        <div class="end-user-card-actions">
          {/* The app sets tags. Users without tags may not know them, so show nothing. */}
          {tags.length > 0 && (
            <button type="button" onClick={() => setDialog("tags")} aria-label={`Edit tags of ${platformName}`}>
              Edit tags
            </button>
          )}
          <button
            type="button"
            class="danger"
            onClick={() => setDialog("disconnect")}
            aria-label={`Disconnect ${platformName}`}
          >
            Disconnect
          </button>
        </div>
      )}
      {dialog === "tags" && (
        <EditTags
          connection={connection}
          title={platformName}
          onClose={closeDialog}
          onGone={() => onRemoved(`${platformName} was already disconnected.`)}
        />
      )}
      {dialog === "disconnect" && (
        <Disconnect connection={connection} platformName={platformName} onClose={closeDialog} onDone={onRemoved} />
      )}
    </li>
  );
}
