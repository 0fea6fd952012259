import "server-only";
import { cookies } from "next/headers";

const COOKIE = "user";

// Replace this with your own sign-in: it accepts any name without a password.

export const currentUser = async (): Promise<string | undefined> => (await cookies()).get(COOKIE)?.value;

export const setUser = async (user: string) =>
  void (await cookies()).set(COOKIE, user, { httpOnly: true, sameSite: "lax" });

export const removeUser = async () => void (await cookies()).delete(COOKIE);
