import type { NextConfig } from "next";
import { PHASE_PRODUCTION_BUILD } from "next/constants";

export default function config(phase: string): NextConfig {
  // A build needs no key, and so none can get into it.
  if (phase !== PHASE_PRODUCTION_BUILD && !process.env.VAULT_KEY)
    throw new Error("VAULT_KEY is not set. The vault's `npm start` prints a key.");
  return {
    // This folder, even below another project.
    turbopack: { root: import.meta.dirname },
  };
}
