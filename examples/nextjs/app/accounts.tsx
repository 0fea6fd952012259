"use client";
import { ConnectButton, type Connection, VaultProvider, errorText, useConnections } from "connector-vault/react";
import { useActionState } from "react";
import { createNote } from "./actions";

const PLATFORM = "demo-notes";

async function fetchToken() {
  const response = await fetch("/token", { method: "POST" });
  if (!response.ok) throw new Error(`The app's server returned ${response.status} instead of a token.`);
  return response.json();
}

/** The user's accounts at the platform, and a button that connects another one. */
export function Accounts({ vaultUrl }: { vaultUrl: string }) {
  return (
    <VaultProvider baseUrl={vaultUrl} token={fetchToken}>
      <ConnectButton platform={PLATFORM}>Connect Demo Notes</ConnectButton>
      <ConnectionList />
    </VaultProvider>
  );
}

function ConnectionList() {
  const { connections, error } = useConnections({ platform: PLATFORM });
  if (error) return <p role="alert">{errorText(error.code)}</p>;
  if (!connections) return <p>Loading your accounts…</p>;
  if (connections.length === 0) return <p>You have not connected an account yet.</p>;
  return (
    <ul>
      {connections.map((connection) => (
        <li key={connection.id}>
          <ConnectionItem connection={connection} />
        </li>
      ))}
    </ul>
  );
}

function ConnectionItem({ connection: { id, platform, state } }: { connection: Connection }) {
  const [message, create, isPending] = useActionState(createNote.bind(null, id), "");
  return (
    <form action={create}>
      <strong>{platform}</strong> ({state}) <input name="title" aria-label="Title of a note" required />{" "}
      <button type="submit" disabled={isPending}>
        Create a note
      </button>{" "}
      <output>{message}</output>
    </form>
  );
}
