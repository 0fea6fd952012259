import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

// The configuration that npm/README.md documents.
const byWorkerd = {
  name: "connector-vault by workerd",
  enforce: "post",
  config: ({ test }) => {
    test.server.deps.inline = [/^(?!.*\/connector-vault\/)/];
  },
};

export default defineConfig({
  plugins: [
    cloudflareTest({ miniflare: { compatibilityDate: "2026-01-01", compatibilityFlags: ["nodejs_compat"] } }),
    byWorkerd,
  ],
});
