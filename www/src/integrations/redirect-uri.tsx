import { CopyableCode } from "../components/copy-button";

/** The redirect URI to enter in each app registration. */
export const RedirectUri = () => (
  <dl class="description-list">
    <dt>Redirect URI</dt>
    <CopyableCode text={`${location.origin}/connect/callback`} noun="redirect URI" />
  </dl>
);
