import { Page } from "../parts/page";
export function ConnectionsView() {
  return <Page title="Connections">…</Page>;
}
