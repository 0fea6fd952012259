// Helpers for tests of the overview, the sign-in and the frame.

export const UNREACHABLE = "ERR_CONNECTION_REFUSED";

/** A chart of the overview: by "platform", "state" or "identity type". */
export const chart = (page, of) => page.getByRole("table", { name: `Connections by ${of}`, exact: true });
/** Waits until the overview has all its responses: pending requests are cancelled by a click on a link. */
export async function waitForOverview(page) {
  await chart(page, "platform").waitFor();
  await actorRegion(page).getByRole("status").waitFor({ state: "detached" });
}

/** Makes the service unreachable. */
export const makeUnreachable = (page, path = "**/v1/**") =>
  page.route(path, (route) => route.abort("connectionrefused"));
/** The region that lists problems by who must act. */
export const actorRegion = (page) => page.getByRole("region", { name: "Who must act" });
