import type { Webhook, WebhookTest, WebhookWithSecret } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { EmptyState } from "../components/empty-state";
import { describeError } from "../components/error-message";
import { Notice } from "../components/notice";
import { Page, findPageHeading } from "../components/page";
import { pluralize } from "../components/pluralize";
import { QueryView } from "../components/query-view";
import { Duration } from "../components/relative-time";
import { SecretDialog } from "../components/secret-dialog";
import { Snippet } from "../components/snippet";
import { useSingleFlight } from "../components/use-single-flight";
import { eventLabel } from "../events/messages";
import { useSession } from "../session/session";
import { DeleteWebhook, RotateSecret } from "./confirmations";
import { WebhookForm } from "./form";
import { deliveriesHref, useWebhooks, useInvalidateWebhooks } from "./hooks";
import { errorLabel } from "./messages";
import "./webhooks.css";

/** The open dialog and its webhook. */
type Dialog =
  | { kind: "form"; webhook: Webhook | undefined }
  | { kind: "delete" | "rotate"; webhook: Webhook }
  | { kind: "secret"; webhook: WebhookWithSecret };

export function WebhooksView() {
  const { may, noun } = useSession();
  const query = useWebhooks();
  const [dialog, setDialog] = useState<Dialog>();
  const [notice, setNotice] = useState<string>();
  const canWrite = may("webhooks:write");
  const close = () => setDialog(undefined);
  const openDialog = (next: Dialog) => {
    setNotice(undefined);
    setDialog(next);
  };
  return (
    <Page
      title="Webhooks"
      count={query.data && pluralize(query.data.length, "webhook")}
      actions={
        canWrite && (
          <button type="button" class="primary" onClick={() => openDialog({ kind: "form", webhook: undefined })}>
            New webhook
          </button>
        )
      }
    >
      <Notice>{notice}</Notice>
      <p>
        The service sends events, such as failed connections, to your webhooks as soon as they happen.
        {!canWrite && ` Your ${noun} can read webhooks, but not change them.`}
      </p>
      <QueryView query={query} name="webhooks" rows={3}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <EmptyState title="No webhooks yet">
              Events are kept for some time and can still be sent once you create a webhook.
            </EmptyState>
          ) : (
            <ul class="webhooks" aria-label="Webhooks">
              {webhooks.map((webhook) => (
                <WebhookCard key={webhook.id} webhook={webhook} onOpenDialog={openDialog} />
              ))}
            </ul>
          )
        }
      </QueryView>
      <Snippet
        call={{ method: "GET", path: "/v1/webhooks", javascript: "const webhooks = await vault.webhooks.list();" }}
      />
      {dialog?.kind === "form" && (
        <WebhookForm
          webhook={dialog.webhook}
          onClose={close}
          onSaved={(saved) => {
            setNotice(dialog.webhook ? "The webhook was saved." : "The webhook was created.");
            setDialog("secret" in saved ? { kind: "secret", webhook: saved } : undefined);
          }}
          fallbackFocus={findPageHeading}
        />
      )}
      {dialog?.kind === "delete" && (
        <DeleteWebhook
          webhook={dialog.webhook}
          onClose={close}
          onDone={() => {
            setNotice("The webhook was deleted.");
            close();
          }}
          fallbackFocus={findPageHeading}
        />
      )}
      {dialog?.kind === "rotate" && (
        <RotateSecret
          webhook={dialog.webhook}
          onClose={close}
          onDone={(webhook) => setDialog({ kind: "secret", webhook })}
          fallbackFocus={findPageHeading}
        />
      )}
      {dialog?.kind === "secret" && (
        <SecretDialog
          title="The webhook's secret"
          secret={dialog.webhook.secret}
          onClose={close}
          fallbackFocus={findPageHeading}
        >
          Your receiver uses it to verify that events come from this service.
        </SecretDialog>
      )}
    </Page>
  );
}

function WebhookCard({ webhook, onOpenDialog }: { webhook: Webhook; onOpenDialog: (requested: Dialog) => void }) {
  const { vault, may } = useSession();
  const invalidate = useInvalidateWebhooks();
  const { id, url, description, types, active } = webhook;
  const toggling = useSingleFlight({
    mutationFn: () => vault.webhooks.update(id, { active: !active }),
    onSuccess: () => invalidate(),
  });
  const testing = useSingleFlight({ mutationFn: () => vault.webhooks.test(id) });
  const failure = toggling.error ?? testing.error;
  return (
    <li class="card list-card">
      <div class="list-card-head">
        <h2>{url}</h2>
        <State webhook={webhook} />
      </div>
      {description && <p class="muted">{description}</p>}
      <DeliveryProblem webhook={webhook} />
      <p class="chips">
        {types.length === 0 ? (
          <span class="chip">All events</span>
        ) : (
          types.map((type) => (
            <span key={type} class="chip">
              {eventLabel(type)}
            </span>
          ))
        )}
      </p>
      <div class="buttons">
        <Link class="button" href={deliveriesHref(id)} aria-label={`Deliveries to ${url}`}>
          Deliveries
        </Link>
        {may("webhooks:write") && (
          <>
            <button
              type="button"
              aria-label={`Send a test to ${url}`}
              aria-disabled={testing.isPending}
              onClick={() => testing.run()}
            >
              {testing.isPending ? "Testing…" : "Test"}
            </button>
            <button
              type="button"
              aria-label={`${active ? "Pause" : "Enable"} ${url}`}
              aria-disabled={toggling.isPending}
              onClick={() => toggling.run()}
            >
              {active ? "Pause" : "Enable"}
            </button>
            <button type="button" aria-label={`Edit ${url}`} onClick={() => onOpenDialog({ kind: "form", webhook })}>
              Edit
            </button>
            <button
              type="button"
              aria-label={`Rotate secret of ${url}`}
              onClick={() => onOpenDialog({ kind: "rotate", webhook })}
            >
              Rotate secret
            </button>
            <button
              type="button"
              class="danger"
              aria-label={`Delete ${url}`}
              onClick={() => onOpenDialog({ kind: "delete", webhook })}
            >
              Delete
            </button>
          </>
        )}
      </div>
      <div role="status">{testing.data && <TestResult test={testing.data} />}</div>
      {failure && (
        <p class="note" data-tone="bad" role="alert">
          {describeError(failure)} Try again.
        </p>
      )}
    </li>
  );
}

function State({ webhook: { active, disabled, failingSince } }: { webhook: Webhook }) {
  const [word, tone] = disabled
    ? ["disabled", "bad"]
    : !active
      ? ["paused", ""]
      : failingSince
        ? ["failing", "warn"]
        : ["active", "good"];
  return (
    <span class="badge dot" data-tone={tone}>
      {word}
    </span>
  );
}

function DeliveryProblem({ webhook: { disabled, failingSince } }: { webhook: Webhook }) {
  if (!disabled && !failingSince) return null;
  return (
    <p class="note" data-tone={disabled ? "bad" : "warn"}>
      {disabled?.code === "gone" && "The service has disabled it, because the URL returned 410 Gone. "}
      {disabled?.code === "no_success" && "The service has disabled it, because nothing was delivered for 5 days. "}
      {disabled && disabled.httpStatus !== null && `The last response had the HTTP status ${disabled.httpStatus}. `}
      {failingSince && (
        <>
          Deliveries have been failing for <Duration at={failingSince} />.
        </>
      )}
    </p>
  );
}

function TestResult({ test: { delivered, httpStatus, error, durationMs } }: { test: WebhookTest }) {
  return (
    <p class="note" data-tone={delivered ? "good" : "bad"}>
      {delivered ? "The test was accepted" : "The test was not accepted"}:{" "}
      {httpStatus === null ? errorLabel(error) : `the receiver responded with the HTTP status ${httpStatus}`} after{" "}
      {durationMs.toLocaleString("en")} ms.
    </p>
  );
}
