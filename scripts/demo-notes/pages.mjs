// The pages of the demo platform. They contain no scripts.
import { CLIENT, SCOPES } from "./oauth.mjs";
import { PEOPLE } from "./notes.mjs";

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text) => String(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character]);

const STYLE = `
:root { color-scheme: light dark; background: Canvas; color: CanvasText; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
header { font-size: 0.875rem; border-bottom: 1px solid; padding-bottom: 0.5rem; }
h1 { font-size: 1.5rem; line-height: 1.2; } h2 { font-size: 1.125rem; margin-top: 2rem; } h3 { font-size: 1rem; }
fieldset { margin: 1rem 0; border: 1px solid; border-radius: 0.5rem; } label { display: block; padding: 0.25rem 0; }
button { font: inherit; padding: 0.4rem 1rem; } code { overflow-wrap: anywhere; } li { margin: 0.25rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dd { margin: 0; }
`;

const page = (title, content) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)} – Demo Notes</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<header><a href="/">Demo Notes</a>: a demo platform that <code>npm start</code> runs on this machine</header>
<main>
<h1>${escape(title)}</h1>
${content}
</main>
</html>
`;

const time = (at) => `<time>${new Date(at).toISOString().replace("T", " ").slice(0, 19)} UTC</time>`;

export const homePage = () =>
  page(
    "Demo Notes",
    `<p>Connect an account of Ada or Ben, then see here what the app may do, and revoke its access.</p>
<ul>${Object.values(PEOPLE)
      .map(({ id, name }) => `<li><a href="/people/${id}">${escape(name)}</a></li>`)
      .join("")}</ul>`,
  );

function grantOf({ id, person, scopes, grantedAt, refreshedAt, refreshes, accesses }, now) {
  const expiresAt = Math.max(...accesses.map((access) => access.expiresAt));
  return `<section>
<h3>${escape(CLIENT.name)}</h3>
<dl>
<dt>May</dt><dd>${scopes.map((scope) => escape(SCOPES[scope])).join("; ")}</dd>
<dt>Allowed</dt><dd>${time(grantedAt)}</dd>
<dt>Refreshed</dt><dd>${refreshes === 0 ? "never" : `${refreshes}×, last ${time(refreshedAt)}`}</dd>
<dt>Access token</dt><dd>${expiresAt > now ? "valid until" : "expired"} ${time(expiresAt)}</dd>
</dl>
<form method="post" action="/people/${person}/revoke"><input type="hidden" name="grant" value="${id}">
<button>Revoke access</button></form>
</section>`;
}

/** The page of a person: apps with access, API key and notes. */
export function personPage({ person, grants, key, notes, now }) {
  const apps = grants.map((grant) => grantOf(grant, now)).join("\n");
  return page(
    PEOPLE[person].name,
    `<h2>Apps with access</h2>
${apps || "<p>None.</p>"}
<h2>API key</h2>
<p><code>${escape(key)}</code></p>
<form method="post" action="/people/${person}/key"><button>Replace the key</button></form>
<h2>Notes</h2>
<ul>${notes.map(({ title, body }) => `<li><strong>${escape(title)}</strong> ${escape(body)}</li>`).join("")}</ul>`,
  );
}

/** The consent page: account and scopes. The form is sent to the URL of this page. */
export function consentPage({ address, scopes, fault }) {
  const people = Object.values(PEOPLE).map(
    ({ id, name, email }) =>
      `<label><input type="radio" name="person" value="${id}" required> ${escape(name)}, ${escape(email)}</label>`,
  );
  const allowed = scopes.map(
    (scope) =>
      `<label><input type="checkbox" name="scope" value="${scope}" checked> ${escape(SCOPES[scope])} (<code>${scope}</code>)</label>`,
  );
  return page(
    `${CLIENT.name} asks for access`,
    `${fault ? `<p role="alert">${escape(fault)}</p>` : ""}
<form method="post" action="${escape(address)}">
<fieldset><legend>Whose account?</legend>${people.join("")}</fieldset>
<fieldset><legend>What may it do?</legend>${allowed.join("")}</fieldset>
<button name="answer" value="allow">Allow</button>
<button name="answer" value="deny" formnovalidate>Deny</button>
</form>`,
  );
}

/** The sign-in page. A real app would ask for a password. */
export const signInPage = ({ address, fault }) =>
  page(
    "Sign in to the demo app",
    `${fault ? `<p role="alert">${escape(fault)}</p>` : ""}
<p>The service asks which user of the demo account you are. In production, this is your own app, which knows its users. Here,
you can sign in as any user. The README connects the account of <code>you@example.com</code>.</p>
<form method="post" action="${escape(address)}">
<label>User <input name="identity" value="you@example.com" required maxlength="200" autocomplete="off"></label>
<button>Sign in</button>
</form>`,
  );

export const faultPage = (message) => page("This did not work", `<p role="alert">${escape(message)}</p>`);
