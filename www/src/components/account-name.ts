import type { PlatformAccount } from "connector-vault/slim";

export const accountName = ({ id, name }: PlatformAccount) => name ?? id;
