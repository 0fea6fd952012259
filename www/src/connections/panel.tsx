import { NotFoundError, VaultError, type Connection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { EmptyState } from "../components/empty-state";
import { Modal } from "../components/modal";
import { QueryView } from "../components/query-view";
import { Snippet } from "../components/snippet";
import { useIsMounted } from "../components/use-single-flight";
import type { Platforms } from "../connectors/platforms";
import { FailedAttempts } from "../integrations/failed-attempts";
import { useSession } from "../session/session";
import { useConnection, useConnectionCache } from "./cache";
import { CheckNow } from "./check-now";
import { ConnectAccount } from "./connect-account";
import { DeleteDialog } from "./delete-dialog";
import { Details, PanelHeader, StateLine } from "./details";
import { DiscardChanges } from "./discard-changes";
import { dropDraft } from "./drafts";
import { EditName } from "./edit-name";
import { EditState } from "./edit-state";
import { History } from "./history";
import { Status, needsReconnect, useStatus } from "./status";
import { findRowLink } from "./table";
import { Tags } from "./tags";

interface Props {
  id: string;
  platforms: Platforms | undefined;
  /** Whether the user has just created the connection in this tab. */
  isNew: boolean;
  /** Whether the user is navigating away from unsaved changes. */
  isLeaving: boolean;
  onClose: () => void;
  onStay: () => void;
  onLeave: () => void;
  /** Called when the connection no longer exists; `message` is optional. */
  onRemoved: (message?: string) => void;
  fallbackFocus: () => HTMLElement | null;
}

export function Panel({ id, platforms, isNew, isLeaving, onClose, onStay, onLeave, onRemoved, fallbackFocus }: Props) {
  const { may } = useSession();
  const query = useConnection(id);
  const { remove } = useConnectionCache();
  const [isGone, setGone] = useState(false);
  const [isConfirmingDelete, setConfirmingDelete] = useState(false);
  const isMounted = useIsMounted();
  const connection = query.data;
  const connector = connection && platforms?.byName.get(connection.platform);
  const isNotFound =
    query.error instanceof NotFoundError || (query.error instanceof VaultError && query.error.status === 404);
  const discard = () => {
    dropDraft(id);
    onLeave();
  };
  const closeAfterRemoval = (message?: string) => {
    dropDraft(id);
    if (isMounted()) {
      onRemoved(message);
      onClose();
    }
    remove(id);
  };
  const close = isGone || isNotFound ? () => closeAfterRemoval() : onClose;
  return (
    <Modal
      title={connection ? connection.identity : "Connection"}
      kind="drawer"
      onClose={close}
      fallbackFocus={() => findRowLink(id) ?? fallbackFocus()}
    >
      {isGone || isNotFound ? (
        <ConnectionGone existed={isGone || connection !== undefined} onClose={close} />
      ) : (
        <QueryView query={query} name="the connection">
          {(found) => (
            <div class="panel">
              {isNew && (
                <p class="note" data-tone="good" role="status">
                  The connection was created.
                </p>
              )}
              <PanelHeader connection={found} connector={connector} />
              {may("connections:write") ? (
                <Editable connection={found} name={connector?.name} onGone={() => setGone(true)} />
              ) : (
                <ReadOnly connection={found} name={connector?.name} />
              )}
              <FailedAttempts
                of={{ identity: found.identity, platform: found.platform }}
                getName={(platform) => connector?.name ?? platform}
              />
              <History connection={found} />
              <ApiCalls connection={found} />
              {may("connections:write") && (
                <p>
                  <button type="button" class="danger" onClick={() => setConfirmingDelete(true)}>
                    Delete this connection…
                  </button>
                </p>
              )}
            </div>
          )}
        </QueryView>
      )}
      {connection && isConfirmingDelete && (
        <DeleteDialog
          connection={connection}
          platform={connector?.name ?? connection.platform}
          onClose={() => setConfirmingDelete(false)}
          onDeleted={closeAfterRemoval}
        />
      )}
      {isLeaving && (
        <DiscardChanges onKeep={onStay} onDiscard={discard}>
          Your changes to <strong>{connection?.identity ?? id}</strong> are not saved.
        </DiscardChanges>
      )}
    </Modal>
  );
}

interface StateProps {
  connection: Connection;
  /** Display name of the platform; undefined if unknown. */
  name: string | undefined;
  /** Called when the connection no longer exists. Undefined if the key may not change the connection. */
  onGone?: () => void;
}

/** The state of the connection, its reason, and possible actions. */
function State({ connection, name = connection.platform, onGone }: StateProps) {
  const { may } = useSession();
  const query = useStatus(connection);
  const [isConnecting, setConnecting] = useState(false);
  const status = query.data;
  return (
    <section class="section" aria-label="State">
      {/* The service determines the state of connections with stored credentials, so users can't set it. */}
      {onGone && !status?.holdsCredentials ? (
        <EditState connection={connection} onGone={onGone} />
      ) : (
        <StateLine connection={connection} />
      )}
      <Status connection={connection} query={query} />
      <div class="buttons state-buttons">
        {may("connections:connect") && may("catalog:read") && (
          <button
            type="button"
            class={status && needsReconnect(status) ? "primary" : ""}
            onClick={() => setConnecting(true)}
          >
            Reconnect
          </button>
        )}
        {onGone && status?.holdsCredentials && !status.awaitsCutOver && status.state !== "failed" && (
          <CheckNow connection={connection} onGone={onGone} />
        )}
      </div>
      {isConnecting && (
        <ConnectAccount
          platform={connection.platform}
          name={name}
          connection={connection}
          authMethod={status?.authMethod}
          onClose={() => setConnecting(false)}
        />
      )}
    </section>
  );
}

function Editable({ connection, name, onGone }: Required<StateProps>) {
  return (
    <>
      <State connection={connection} name={name} onGone={onGone} />
      <Tags connection={connection} onGone={onGone} />
      <Details connection={connection} name={<EditName connection={connection} onGone={onGone} />} />
    </>
  );
}

function ReadOnly({ connection, name: platformName }: StateProps) {
  const { tags, name } = connection;
  const { noun } = useSession();
  return (
    <>
      <State connection={connection} name={platformName} />
      <section class="section" aria-labelledby="tags-title">
        <h3 id="tags-title">Tags</h3>
        {tags.length > 0 ? (
          <ul class="chips" aria-label="Tags">
            {tags.map((tag, index) => (
              <li key={index} class="chip">
                {tag}
              </li>
            ))}
          </ul>
        ) : (
          <p class="muted">No tags</p>
        )}
        <p class="muted small">
          You can't make changes: your {noun} does not have the scope <code>connections:write</code>.
        </p>
      </section>
      <Details connection={connection} name={name ?? <span class="muted">none</span>} />
    </>
  );
}

function ConnectionGone({ existed, onClose }: { existed: boolean; onClose: () => void }) {
  return (
    <div role="alert">
      <EmptyState title={existed ? "This connection was deleted" : "Connection not found"}>
        <p>
          {existed ? "It can no longer be changed." : "It was deleted, or belongs to another account or environment."}
        </p>
        <button type="button" onClick={onClose}>
          Back to the list
        </button>
      </EmptyState>
    </div>
  );
}

function ApiCalls({ connection: { id, tags } }: { connection: Connection }) {
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
