import { NotFoundError, VaultError, type Connection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import type { Platforms } from "../connectors/platforms";
import { Answer } from "../parts/answer";
import { Empty } from "../parts/empty";
import { Modal } from "../parts/modal";
import { useIsThere } from "../parts/once";
import { Snippet } from "../parts/snippet";
import { useSession } from "../session/session";
import { Delete } from "./delete";
import { CheckNow } from "./check-now";
import { ChangeName } from "./change-name";
import { ChangeState } from "./change-state";
import { ConnectAccount } from "./connect";
import { dropDraft } from "./drafts";
import { Facts, Head, StateLine } from "./facts";
import { History } from "./history";
import { useConnection, useTold } from "./kept";
import { Status, isBroken, useStatus } from "./status";
import { rowLink } from "./table";
import { Tags } from "./tags";

interface Props {
  id: string;
  platforms: Platforms | undefined;
  /** It has just been created here. */
  isNew: boolean;
  /** The address leads away from what is not saved. */
  isLeaving: boolean;
  onClose: () => void;
  onStay: () => void;
  onLeave: () => void;
  /** It is gone, as `what` tells if that is to be told. */
  onRemoved: (what?: string) => void;
  focusAfter: () => HTMLElement | null;
}

/** One connection, beside the list. */
export function Panel({ id, platforms, isNew, isLeaving, onClose, onStay, onLeave, onRemoved, focusAfter }: Props) {
  const { may } = useSession();
  const query = useConnection(id);
  const { removed } = useTold();
  const [isGone, setGone] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const isThere = useIsThere();
  const connection = query.data;
  const connector = connection && platforms?.byName.get(connection.platform);
  const isUnknown =
    query.error instanceof NotFoundError || (query.error instanceof VaultError && query.error.status === 404);
  const giveUp = () => {
    dropDraft(id);
    onLeave();
  };
  const leaveForGood = (what?: string) => {
    dropDraft(id);
    if (isThere()) {
      onRemoved(what);
      onClose();
    }
    removed(id);
  };
  const close = isGone || isUnknown ? () => leaveForGood() : onClose;
  return (
    <Modal
      title={connection ? connection.identity : "Connection"}
      kind="drawer"
      onClose={close}
      focusAfter={() => rowLink(id) ?? focusAfter()}
    >
      {isGone || isUnknown ? (
        <Gone wasThere={isGone || connection !== undefined} onClose={close} />
      ) : (
        <Answer query={query} what="the connection">
          {(found) => (
            <div class="panel">
              {isNew && (
                <p class="note" data-tone="good" role="status">
                  The connection was created.
                </p>
              )}
              <Head connection={found} connector={connector} />
              {may("connections:write") ? (
                <Editable connection={found} name={connector?.name} onGone={() => setGone(true)} />
              ) : (
                <ReadOnly connection={found} name={connector?.name} />
              )}
              <History connection={found} />
              <Calls connection={found} />
              {may("connections:write") && (
                <p>
                  <button type="button" class="danger" onClick={() => setAsking(true)}>
                    Delete this connection…
                  </button>
                </p>
              )}
            </div>
          )}
        </Answer>
      )}
      {connection && isAsking && (
        <Delete
          connection={connection}
          platform={connector?.name ?? connection.platform}
          onClose={() => setAsking(false)}
          onDeleted={leaveForGood}
        />
      )}
      {isLeaving && (
        <Modal title="Discard your changes?" kind="alert" onClose={onStay}>
          <div class="section">
            <p class="named">
              Your changes to <strong>{connection?.identity ?? id}</strong> are not saved.
            </p>
            <div class="buttons">
              <button type="button" onClick={onStay}>
                Keep editing
              </button>
              <button type="button" class="danger" onClick={giveUp}>
                Discard changes
              </button>
            </div>
          </div>
        </Modal>
      )}
    </Modal>
  );
}

interface StateProps {
  connection: Connection;
  /** What the platform is called, if that is known. */
  name: string | undefined;
  /** Undefined if the key may not change it. */
  onGone?: () => void;
}

/** Its state, why it is so, and what to do about it. */
function State({ connection, name = connection.platform, onGone }: StateProps) {
  const { may } = useSession();
  const query = useStatus(connection);
  const [isConnecting, setConnecting] = useState(false);
  const status = query.data;
  return (
    <section class="section" aria-label="State">
      {/* The vault itself determines the state of what it holds the credentials of. */}
      {onGone && !status?.holdsCredentials ? (
        <ChangeState connection={connection} onGone={onGone} />
      ) : (
        <StateLine connection={connection} />
      )}
      <Status connection={connection} query={query} />
      <div class="buttons state-buttons">
        {may("connections:connect") && may("catalog:read") && (
          <button type="button" class={status && isBroken(status) ? "primary" : ""} onClick={() => setConnecting(true)}>
            Reconnect
          </button>
        )}
        {onGone && status?.holdsCredentials && status.state !== "failed" && (
          <CheckNow connection={connection} onGone={onGone} />
        )}
      </div>
      {isConnecting && (
        <ConnectAccount
          platform={connection.platform}
          name={name}
          connection={connection}
          onClose={() => setConnecting(false)}
        />
      )}
    </section>
  );
}

/** What can be changed of it, and all else. */
function Editable({ connection, name, onGone }: Required<StateProps>) {
  return (
    <>
      <State connection={connection} name={name} onGone={onGone} />
      <Tags connection={connection} onGone={onGone} />
      <Facts connection={connection} name={<ChangeName connection={connection} onGone={onGone} />} />
    </>
  );
}

function ReadOnly({ connection, name: platformName }: StateProps) {
  const { tags, name } = connection;
  return (
    <>
      <State connection={connection} name={platformName} />
      <section class="section" aria-labelledby="tags-title">
        <h3 id="tags-title">Tags</h3>
        {tags.length > 0 ? (
          <ul class="chips" aria-label="Tags">
            {tags.map((tag, at) => (
              <li key={at} class="chip">
                {tag}
              </li>
            ))}
          </ul>
        ) : (
          <p class="muted">No tags</p>
        )}
        <p class="muted small">
          You can't make changes: your key does not have the scope <code>connections:write</code>.
        </p>
      </section>
      <Facts connection={connection} name={name ?? <span class="muted">none</span>} />
    </>
  );
}

function Gone({ wasThere, onClose }: { wasThere: boolean; onClose: () => void }) {
  return (
    <div role="alert">
      <Empty title={wasThere ? "This connection was deleted" : "Connection not found"}>
        <p>
          {wasThere ? "It can no longer be changed." : "It was deleted, or belongs to another account or environment."}
        </p>
        <button type="button" onClick={onClose}>
          Back to the list
        </button>
      </Empty>
    </div>
  );
}

function Calls({ connection: { id, tags } }: { connection: Connection }) {
  const path = `/v1/vault/connections/${id}`;
  const text = JSON.stringify(id);
  return (
    <div>
      <Snippet
        title="API request to read it"
        call={{ method: "GET", path, javascript: `const connection = await vault.connections.get(${text});` }}
      />
      <Snippet
        title="API request to change its tags"
        call={{
          method: "PATCH",
          path,
          body: { tags },
          javascript: `const connection = await vault.connections.get(${text});\nawait vault.connections.update(${text}, { tags: ${JSON.stringify(tags)} }, { ifMatch: connection });`,
        }}
      />
    </div>
  );
}
