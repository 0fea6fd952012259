import { Page } from "../parts/page";
export function Overview() {
  return <Page title="Overview">…</Page>;
}
