// Debian packages, for whoever may install them.
import { Problem } from "../lib/problem.mjs";
import { run, tryRun, which } from "../lib/run.mjs";

const isRoot = process.getuid?.() === 0;

/** The command with what it needs to run as root: nothing, or sudo without a password. */
export function asRoot(command, args) {
  return isRoot ? [command, args] : ["sudo", ["-n", command, ...args]];
}

/** Why Debian packages cannot be installed here, or undefined when they can. */
export function aptRefusal() {
  if (process.platform !== "linux") return `this is ${process.platform}, not Linux`;
  if (!which("apt-get")) return "there is no apt-get on this system";
  if (!isRoot && !(which("sudo") && tryRun("sudo", ["-n", "true"]).ok)) return "neither root nor password-less sudo";
  return undefined;
}

function isKnown(name) {
  return /Candidate: (?!\(none\))\S/.test(tryRun("apt-cache", ["policy", name]).out);
}

/** Installs packages; refreshes apt's lists only when a name is not known yet or cannot be fetched. */
export async function aptInstall(names, detail) {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args) => {
    const [command, rest] = asRoot("apt-get", ["-o", "DPkg::Lock::Timeout=300", ...args]);
    return run(command, rest, {
      env,
      detail,
      hint: "apt-get must reach Debian's mirrors and must not be held by another program. Run this again once it is so.",
    });
  };
  const install = () => apt("install", "--yes", "--no-install-recommends", ...names);
  if (names.every(isKnown)) {
    try {
      await install();
      return;
    } catch {
      detail("refreshing the package lists");
    }
  }
  await apt("update");
  const unknown = names.filter((name) => !isKnown(name));
  if (unknown.length > 0) {
    throw new Problem(`This system's apt does not offer: ${unknown.join(", ")}.`, {
      hint: "They are in Debian's security archive: `deb http://deb.debian.org/debian-security <release>-security main`.",
    });
  }
  await install();
}
