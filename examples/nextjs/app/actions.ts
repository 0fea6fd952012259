"use server";
import { VaultError } from "connector-vault";
import { currentUser, removeUser, setUser } from "../lib/user";
import { vaultOf } from "../lib/vault";

export async function signIn(form: FormData): Promise<void> {
  await setUser(String(form.get("email")));
}

export async function signOut(): Promise<void> {
  await removeUser();
}

/** Runs an action of the platform with the user's account. Returns a message for the user. */
export async function createNote(connection: string, _previous: string, form: FormData): Promise<string> {
  const user = await currentUser();
  if (!user) return "Please sign in again.";
  try {
    const title = String(form.get("title"));
    const { status, body } = await vaultOf(user).actions.run(connection, "createNote", { body: { title } });
    // Every response of the platform is a result, even an error.
    return status === 201 ? `Created “${title}”.` : `The platform responded with ${status}: ${JSON.stringify(body)}`;
  } catch (error) {
    if (error instanceof VaultError) return error.message;
    throw error;
  }
}
