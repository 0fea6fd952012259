import { currentUser } from "../lib/user";
import { vaultUrl } from "../lib/vault";
import { Accounts } from "./accounts";
import { signIn, signOut } from "./actions";

export default async function Page() {
  const user = await currentUser();
  if (!user)
    return (
      <form action={signIn}>
        <label>
          Email <input name="email" type="email" required />
        </label>{" "}
        <button type="submit">Sign in</button>
      </form>
    );
  return (
    <>
      <form action={signOut}>
        You are {user}. <button type="submit">Sign out</button>
      </form>
      {/* With another `key`, React discards the state of the previous user. */}
      <Accounts key={user} vaultUrl={vaultUrl} />
    </>
  );
}
