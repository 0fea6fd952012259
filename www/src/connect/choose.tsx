import type { Connector } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { accountName } from "../parts/account";
import { Logo } from "../parts/logo";
import { SearchField } from "../parts/search";
import type { FailedConnection, Found } from "./service";
import type { Session } from "./session";
import { Step } from "./step";
import { capital } from "./words";

interface Props {
  session: Session;
  app: string;
  say: (text: string) => void;
  onChoose: (platform: string, connection?: string) => void;
  onFail: (error: unknown) => void;
}

const TITLE = "What do you want to connect?";

/** Which platform to connect, or which connection to reconnect. */
export function Choose({ session: { service, may, who }, app, say, onChoose, onFail }: Props) {
  const [q, setQ] = useState("");
  const [failed, setFailed] = useState<FailedConnection[] | undefined>(may("connections:read") ? undefined : []);
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    if (failed === undefined) service.findFailed().then(setFailed, onFail);
  }, []);
  useEffect(() => {
    const asking = new AbortController();
    const ask = async () => {
      // The app's server has chosen the platforms of a token that names some.
      const next = await service.findPlatforms(q, (who.platforms ?? null) !== null, asking.signal);
      setFound(next);
      if (q !== "") say(next.total === 1 ? "1 platform found" : `${next.total.toLocaleString("en")} platforms found`);
    };
    ask().catch((error) => !asking.signal.aborted && onFail(error));
    return () => asking.abort();
  }, [q]);
  // Nothing moves once it is there: somebody may be about to press it.
  if (failed === undefined || found === undefined)
    return (
      <Step title={TITLE}>
        <p class="wait" role="status">
          Loading …
        </p>
      </Step>
    );
  return (
    <Step title={TITLE}>
      {failed.length > 0 && (
        <section aria-labelledby="failed">
          <h2 id="failed">Connections that stopped working</h2>
          <ul class="choices">
            {failed.map(({ connection: { id, platform, name, identity, account }, connector }) => (
              <li key={id}>
                <button type="button" class="choice" onClick={() => onChoose(platform, id)}>
                  <Mark connector={connector} platform={platform} />
                  <span class="choice-words">
                    <span class="choice-name">Reconnect {connector?.name ?? capital(platform)}</span>
                    <span class="muted small">
                      {[name ?? (account ? undefined : identity), account && accountName(account)]
                        .filter(Boolean)
                        .join(" · ")}
                    </span>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <SearchField label="Search" placeholder="Name of a platform" value={q} onChange={setQ} />
      {found.rows.length === 0 ? (
        <p class="muted">{q === "" ? `${capital(app)} has nothing to connect yet.` : `Nothing matches “${q}”.`}</p>
      ) : (
        <ul class="choices" aria-label="Platforms">
          {found.rows.map((connector) => (
            <li key={connector.platform}>
              <button type="button" class="choice" onClick={() => onChoose(connector.platform)}>
                <Mark connector={connector} platform={connector.platform} />
                <span class="choice-words">
                  <span class="choice-name">{connector.name}</span>
                  <span class="muted small">{connector.category}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {found.total > found.rows.length && (
        <p class="muted small">
          {found.rows.length} of {found.total.toLocaleString("en")}. Search to find others.
        </p>
      )}
    </Step>
  );
}

const Mark = ({ connector, platform }: { connector: Connector | undefined; platform: string }) => (
  <Logo name={connector?.name ?? platform} image={connector?.image} size={32} />
);
