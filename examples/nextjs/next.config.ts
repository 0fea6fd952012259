import type { NextConfig } from "next";
import { PHASE_PRODUCTION_BUILD } from "next/constants";

export default function config(phase: string): NextConfig {
  // A build needs no key, so no key can end up in the build.
  if (phase !== PHASE_PRODUCTION_BUILD && !process.env.VAULT_KEY)
    throw new Error("VAULT_KEY is not set. The vault's `npm start` prints a key.");
  return {
    // Without this, Next.js would use the folder of an outer lock file, if there is one.
    turbopack: { root: import.meta.dirname },
  };
}
