import type { ConnectionState, ConnectionWithAccount } from "connector-vault/slim";
import { useEffect, useRef, useState } from "preact/hooks";
import { accountName } from "../parts/account";
import { Logo } from "../parts/logo";
import { When } from "../parts/when";
import { useSession } from "../session/session";
import { ConnectButton, useMayConnect } from "./connect";
import { Disconnect } from "./disconnect";
import { usePlatform } from "./own";
import { EditTags } from "./tags";

/** States in an end user's words: what it is, what to do about it, and its colour. */
const STATES: Record<ConnectionState, [word: string, cure: string | undefined, tone: string]> = {
  operational: ["Working", undefined, "good"],
  degraded: ["Interrupted", "It is being restored automatically. You don't need to do anything.", "warn"],
  failed: ["Stopped working", "Connect it again where you got your link.", "bad"],
  unknown: ["Not checked", "It has not been checked yet.", ""],
};

/** A platform's identifier as a name, for when the catalog has none. */
const nameOf = (platform: string) =>
  platform
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");

interface Props {
  connection: ConnectionWithAccount;
  Heading: "h2" | "h3";
  /** The address is about this one. */
  isWanted: boolean;
  onRemoved: (what: string) => void;
}

/** One connection of an end user. */
export function Card({ connection, Heading, isWanted, onRemoved }: Props) {
  const { may } = useSession();
  const mayConnect = useMayConnect();
  const connector = usePlatform(connection);
  const [doing, setDoing] = useState<"tags" | "disconnect">();
  const card = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isWanted) card.current?.scrollIntoView({ block: "center" });
  }, [isWanted]);
  const { id, platform, name, state, tags, active, createdAt, account } = connection;
  const called = connector?.name ?? nameOf(platform);
  // What is switched off does not work, and has not stopped by itself.
  const [word, cure, tone] = active || state === "failed" ? STATES[state] : ["Switched off", undefined, ""];
  const stop = () => setDoing(undefined);
  return (
    <li ref={card} class="card own-card" data-wanted={isWanted || undefined} aria-labelledby={`own-${id}`}>
      <div class="own-head">
        <Logo name={called} image={connector?.image} />
        <div>
          <Heading id={`own-${id}`}>{called}</Heading>
          <p class="muted small">
            {name !== null && (
              <>
                <span class="own-name">{name}</span> ·{" "}
              </>
            )}
            {account && <>{accountName(account)} · </>}
            connected <When at={createdAt} />
          </p>
        </div>
      </div>
      <div class="own-state">
        <p>
          <span class="badge dot" data-tone={tone}>
            {word}
          </span>
        </p>
        {cure !== undefined && !(state === "failed" && mayConnect) && <p class="muted small">{cure}</p>}
        {state === "failed" && mayConnect && (
          <ConnectButton target={{ connection: id }} label={`Connect ${called} again`}>
            Connect again
          </ConnectButton>
        )}
      </div>
      {tags.length > 0 && (
        <ul class="chips" aria-label="Tags">
          {tags.map((tag, at) => (
            <li key={at} class="chip">
              {tag}
            </li>
          ))}
        </ul>
      )}
      {may("connections:write") && (
        <div class="own-actions">
          {/* Tags are the app's: whoever has none has not heard of them. */}
          {tags.length > 0 && (
            <button type="button" onClick={() => setDoing("tags")} aria-label={`Edit tags of ${called}`}>
              Edit tags
            </button>
          )}
          <button
            type="button"
            class="danger"
            onClick={() => setDoing("disconnect")}
            aria-label={`Disconnect ${called}`}
          >
            Disconnect
          </button>
        </div>
      )}
      {doing === "tags" && (
        <EditTags
          connection={connection}
          title={called}
          onClose={stop}
          onGone={() => onRemoved(`${called} was already disconnected.`)}
        />
      )}
      {doing === "disconnect" && (
        <Disconnect connection={connection} called={called} onClose={stop} onDone={onRemoved} />
      )}
    </li>
  );
}
