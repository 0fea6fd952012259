import { CopyableCode } from "../components/copy-button";

/** The redirect URI that each registration needs. */
export const RedirectUri = () => (
  <dl class="description-list">
    <dt>Redirect URI</dt>
    <CopyableCode text={`${location.origin}/connect/callback`} noun="redirect URI" />
  </dl>
);
