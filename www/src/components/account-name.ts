import type { PlatformAccount } from "connector-vault/slim";

/** What a person calls an account at a platform. */
export const accountName = ({ id, name }: PlatformAccount) => name ?? id;
