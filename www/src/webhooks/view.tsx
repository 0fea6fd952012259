import type { Webhook, WebhookTest, WebhookWithSecret } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { eventWords } from "../events/words";
import { Answer } from "../parts/answer";
import { Empty } from "../parts/empty";
import { told } from "../parts/failure";
import { Notice } from "../parts/notice";
import { useOnce } from "../parts/once";
import { Page } from "../parts/page";
import { Secret } from "../parts/secret";
import { Snippet } from "../parts/snippet";
import { Since } from "../parts/when";
import { useSession } from "../session/session";
import { DeleteWebhook, RotateSecret } from "./ask";
import { WebhookForm } from "./form";
import { deliveriesHref, useWebhooks, useWebhooksChanged } from "./hooks";
import { errorWords } from "./words";
import "./webhooks.css";

const heading = () => document.querySelector<HTMLElement>("h1");

/** What is asked in a dialog, and about which webhook. */
type Asked =
  | { what: "form"; webhook: Webhook | undefined }
  | { what: "delete" | "rotate"; webhook: Webhook }
  | { what: "secret"; webhook: WebhookWithSecret };

/** Where the service sends events. */
export function WebhooksView() {
  const { may } = useSession();
  const query = useWebhooks();
  const [asked, setAsked] = useState<Asked>();
  const [notice, setNotice] = useState<string>();
  const mayWrite = may("webhooks:write");
  const close = () => setAsked(undefined);
  const ask = (next: Asked) => {
    setNotice(undefined);
    setAsked(next);
  };
  const count = query.data?.length ?? 0;
  return (
    <Page
      title="Webhooks"
      count={query.data && `${count} ${count === 1 ? "webhook" : "webhooks"}`}
      actions={
        mayWrite && (
          <button type="button" class="primary" onClick={() => ask({ what: "form", webhook: undefined })}>
            New webhook
          </button>
        )
      }
    >
      <Notice>{notice}</Notice>
      <p>
        The service sends events, such as failed connections, to your webhooks as soon as they happen.
        {!mayWrite && " Your key can read webhooks, but not change them."}
      </p>
      <Answer query={query} what="webhooks" rows={3}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty title="No webhooks yet">Events are kept for some time and can be sent once there is one.</Empty>
          ) : (
            <ul class="webhooks" aria-label="Webhooks">
              {webhooks.map((webhook) => (
                <Card key={webhook.id} webhook={webhook} onAsk={ask} />
              ))}
            </ul>
          )
        }
      </Answer>
      <Snippet
        call={{ method: "GET", path: "/v1/webhooks", javascript: "const webhooks = await vault.webhooks.list();" }}
      />
      {asked?.what === "form" && (
        <WebhookForm
          webhook={asked.webhook}
          onClose={close}
          onSaved={(saved) => {
            setNotice(asked.webhook ? "The webhook was saved." : "The webhook was created.");
            setAsked("secret" in saved ? { what: "secret", webhook: saved } : undefined);
          }}
          focusAfter={heading}
        />
      )}
      {asked?.what === "delete" && (
        <DeleteWebhook
          webhook={asked.webhook}
          onClose={close}
          onDone={() => {
            setNotice("The webhook was deleted.");
            close();
          }}
          focusAfter={heading}
        />
      )}
      {asked?.what === "rotate" && (
        <RotateSecret
          webhook={asked.webhook}
          onClose={close}
          onDone={(webhook) => setAsked({ what: "secret", webhook })}
          focusAfter={heading}
        />
      )}
      {asked?.what === "secret" && (
        <Secret title="The webhook's secret" secret={asked.webhook.secret} onClose={close} focusAfter={heading}>
          Your receiver verifies with it that events come from here.
        </Secret>
      )}
    </Page>
  );
}

function Card({ webhook, onAsk }: { webhook: Webhook; onAsk: (asked: Asked) => void }) {
  const { vault, may } = useSession();
  const changed = useWebhooksChanged();
  const { id, url, description, types, active } = webhook;
  const switching = useOnce({
    mutationFn: () => vault.webhooks.update(id, { active: !active }),
    onSuccess: () => changed(),
  });
  const testing = useOnce({ mutationFn: () => vault.webhooks.test(id) });
  const failure = switching.error ?? testing.error;
  return (
    <li class="card webhook">
      <div class="webhook-head">
        <h2>{url}</h2>
        <State webhook={webhook} />
      </div>
      {description && <p class="muted">{description}</p>}
      <Trouble webhook={webhook} />
      <p class="chips">
        {types.length === 0 ? (
          <span class="chip">All events</span>
        ) : (
          types.map((type) => (
            <span key={type} class="chip">
              {eventWords(type)}
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
              onClick={() => testing.ask()}
            >
              {testing.isPending ? "Testing…" : "Test"}
            </button>
            <button
              type="button"
              aria-label={`${active ? "Pause" : "Enable"} ${url}`}
              aria-disabled={switching.isPending}
              onClick={() => switching.ask()}
            >
              {active ? "Pause" : "Enable"}
            </button>
            <button type="button" aria-label={`Edit ${url}`} onClick={() => onAsk({ what: "form", webhook })}>
              Edit
            </button>
            <button
              type="button"
              aria-label={`Rotate secret of ${url}`}
              onClick={() => onAsk({ what: "rotate", webhook })}
            >
              Rotate secret
            </button>
            <button
              type="button"
              class="danger"
              aria-label={`Delete ${url}`}
              onClick={() => onAsk({ what: "delete", webhook })}
            >
              Delete
            </button>
          </>
        )}
      </div>
      <div role="status">{testing.data && <Tested test={testing.data} />}</div>
      {failure && (
        <p class="note" data-tone="bad" role="alert">
          {told(failure)} Try again.
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

/** Why nothing arrives. */
function Trouble({ webhook: { disabled, failingSince } }: { webhook: Webhook }) {
  if (!disabled && !failingSince) return null;
  return (
    <p class="note" data-tone={disabled ? "bad" : "warn"}>
      {disabled?.code === "gone" && "The service has disabled it, because the URL answered that it is gone. "}
      {disabled?.code === "no_success" && "The service has disabled it, because nothing was delivered for 5 days. "}
      {disabled && disabled.httpStatus !== null && `The last answer had the HTTP status ${disabled.httpStatus}. `}
      {failingSince && (
        <>
          Deliveries have been failing for <Since at={failingSince} />.
        </>
      )}
    </p>
  );
}

function Tested({ test: { delivered, httpStatus, error, durationMs } }: { test: WebhookTest }) {
  return (
    <p class="note" data-tone={delivered ? "good" : "bad"}>
      {delivered ? "The test was accepted" : "The test was not accepted"}:{" "}
      {httpStatus === null ? errorWords(error) : `the receiver answered with the HTTP status ${httpStatus}`} after{" "}
      {durationMs.toLocaleString("en")} ms.
    </p>
  );
}
