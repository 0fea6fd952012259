import type { ActionResponse } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { InlineMarkdown } from "../components/inline-markdown";
import { QueryView } from "../components/query-view";
import { useResponses } from "../connectors/hooks";
import { getDefinitions } from "./schema";
import { Schema } from "./schema-view";

/** The responses of an action. Loads them when the user opens the section. */
export function Responses({ platform, action }: { platform: string; action: string }) {
  const [isOpen, setOpen] = useState(false);
  const query = useResponses(platform, action, isOpen);
  return (
    <section class="section" aria-labelledby="responses">
      <details class="responses" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <h2 id="responses">Responses</h2>
        </summary>
        {isOpen && (
          <QueryView query={query} name="the responses" rows={3}>
            {(responses) =>
              responses.length === 0 ? (
                <p class="muted">The catalog has no responses for this action.</p>
              ) : (
                <ul class="response-list">
                  {responses.map((response) => (
                    <Response key={response.status} response={response} />
                  ))}
                </ul>
              )
            }
          </QueryView>
        )}
      </details>
    </section>
  );
}

/** Badge tones by the first digit of the HTTP status. */
export const STATUS_TONES: Record<string, string> = { 2: "good", 3: "info", 4: "warn", 5: "bad" };

function Response({ response: { status, description, contentType, schema } }: { response: ActionResponse }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li class="response">
      <p class="property-head">
        <span class="badge method" data-tone={STATUS_TONES[status.charAt(0)] ?? ""}>
          {status}
        </span>
        <span>
          <InlineMarkdown text={description} />
        </span>
        {contentType && <span class="muted small">{contentType}</span>}
      </p>
      {schema !== null && (
        <details class="more" onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            Content<span class="visually-hidden"> of {status}</span>
          </summary>
          {isOpen && <Schema schema={schema} definitions={getDefinitions(schema)} />}
        </details>
      )}
    </li>
  );
}
