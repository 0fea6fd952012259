import type { Connector } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { accountName } from "../components/account-name";
import { Logo } from "../components/logo";
import { SearchField } from "../components/search-field";
import type { FailedConnection, ConnectorPage } from "./api-client";
import type { Session } from "./session";
import { Step } from "./step";
import { capitalize, formatNumber, translate, translateCount } from "./texts";

interface Props {
  session: Session;
  announce: (text: string) => void;
  onChoose: (platform: string, connection?: string) => void;
  onError: (error: unknown) => void;
}

/** Lets the user choose a platform, or a failed connection to reconnect. */
export function ChoosePlatform({ session, announce, onChoose, onError }: Props) {
  const { service, may, whoami } = session;
  const [q, setQ] = useState("");
  const [failed, setFailed] = useState<FailedConnection[] | undefined>(may("connections:read") ? undefined : []);
  const [connected, setConnected] = useState<ReadonlySet<string>>();
  const [page, setPage] = useState<ConnectorPage>();
  useEffect(() => {
    if (failed === undefined) service.findFailedConnections().then(setFailed, onError);
    session.connectedPlatforms().then(setConnected, onError);
  }, []);
  useEffect(() => {
    const controller = new AbortController();
    const search = async () => {
      // If the token is restricted to platforms, the app has already chosen them.
      const foundPage = await service.findPlatforms(q, (whoami.platforms ?? null) !== null, controller.signal);
      setPage(foundPage);
      if (q !== "") announce(translateCount("choose.found", foundPage.total));
    };
    search().catch((error) => !controller.signal.aborted && onError(error));
    return () => controller.abort();
  }, [q]);
  // Wait for all data: late content would move the buttons that a user is about to press.
  if (failed === undefined || connected === undefined || page === undefined)
    return (
      <Step title={translate("choose.title")}>
        <p class="wait" role="status">
          {translate("loading")}
        </p>
      </Step>
    );
  return (
    <Step title={translate("choose.title")}>
      {failed.length > 0 && (
        <section aria-labelledby="failed">
          <h2 id="failed">{translate("choose.failed")}</h2>
          <ul class="choices">
            {failed.map(({ connection: { id, platform, name, identity, account }, connector }) => (
              <li key={id}>
                <button type="button" class="choice" onClick={() => onChoose(platform, id)}>
                  <PlatformLogo connector={connector} platform={platform} />
                  <span class="choice-text">
                    <span class="choice-name">
                      {translate("choose.reconnect", { platform: connector?.name ?? capitalize(platform) })}
                    </span>
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
      <SearchField
        label={translate("choose.search")}
        placeholder={translate("choose.placeholder")}
        value={q}
        onChange={setQ}
      />
      {page.rows.length === 0 ? (
        <p class="muted">{q === "" ? translate("choose.empty") : translate("choose.noMatch", { query: q })}</p>
      ) : (
        <ul class="choices" aria-label={translate("choose.platforms")}>
          {page.rows.map((connector) => (
            <li key={connector.platform}>
              <button type="button" class="choice" onClick={() => onChoose(connector.platform)}>
                <PlatformLogo connector={connector} platform={connector.platform} />
                <span class="choice-text">
                  <span class="choice-name">{connector.name}</span>
                  {connected.has(connector.platform) ? (
                    <span class="small connected">
                      {translate("failure.connection_exists.title", { platform: connector.name })}
                    </span>
                  ) : (
                    <span class="muted small" lang="en">
                      {connector.category}
                    </span>
                  )}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {page.total > page.rows.length && (
        <p class="muted small">
          {translate("choose.more", { shown: formatNumber(page.rows.length), total: formatNumber(page.total) })}
        </p>
      )}
    </Step>
  );
}

const PlatformLogo = ({ connector, platform }: { connector: Connector | undefined; platform: string }) => (
  <Logo name={connector?.name ?? platform} image={connector?.image} size={32} />
);
