import { CopyButton } from "../components/copy-button";

/** The redirect URI that each registration needs. */
export function RedirectUri() {
  const uri = `${location.origin}/connect/callback`;
  return (
    <dl class="description-list">
      <dt>Redirect URI</dt>
      <dd class="copyable">
        <code>{uri}</code> <CopyButton text={uri} label="Copy the redirect URI" />
      </dd>
    </dl>
  );
}
