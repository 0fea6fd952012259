import { join } from "node:path";

/** @type {import("next").NextConfig} */
export default {
  // The folder with the packages; by default, Next uses the folder of the outermost lock file.
  outputFileTracingRoot: join(import.meta.dirname, ".."),
  turbopack: { root: join(import.meta.dirname, "..") },
  // With webpack, Next 16.4 can't build any edge route under `app`.
  pageExtensions: process.env.BUNDLER === "turbopack" ? ["js", "turbopack.js"] : ["js", "jsx"],
};
