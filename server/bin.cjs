#!/usr/bin/env node
// The command `connector-vault-server`. Uses old syntax, so that an old version of Node can print the message about its version.
"use strict";

// The minimum version of Node that wrangler supports.
var MINIMUM = [22, 12];
var found = process.versions.node.split(".").map(Number);

if (found[0] < MINIMUM[0] || (found[0] === MINIMUM[0] && found[1] < MINIMUM[1])) {
  console.error(
    "connector-vault-server needs Node " +
      MINIMUM.join(".") +
      " or newer, because wrangler does; this is Node " +
      process.versions.node +
      ".\nInstall the current version from https://nodejs.org/, or only for this folder: npm install node@24",
  );
  process.exitCode = 1;
} else {
  import("./scripts/server/main.mjs");
}
