// Installs Debian packages, if this user can.
import { Problem } from "../lib/problem.mjs";
import { run, tryRun, which } from "../lib/run.mjs";

const isRoot = process.getuid?.() === 0;

/** The command line that runs a command as root: with sudo, which must not ask for a password, unless this user is root. */
export function asRoot(command, args) {
  return isRoot ? [command, args] : ["sudo", ["-n", command, ...args]];
}

/** The reason why Debian packages cannot be installed here; undefined if they can. */
export function aptRefusal() {
  if (process.platform !== "linux") return `this is ${process.platform}, not Linux`;
  if (!which("apt-get")) return "there is no apt-get on this system";
  if (!isRoot && !(which("sudo") && tryRun("sudo", ["-n", "true"]).ok)) return "neither root nor password-less sudo";
  return undefined;
}

function isKnown(name) {
  return /Candidate: (?!\(none\))\S/.test(tryRun("apt-cache", ["policy", name]).out);
}

/** Installs packages. Updates apt's package lists only if a package is unknown or cannot be downloaded. */
export async function aptInstall(names, detail) {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args) => {
    const [command, commandArgs] = asRoot("apt-get", ["-o", "DPkg::Lock::Timeout=300", ...args]);
    return run(command, commandArgs, {
      env,
      detail,
      hint: "apt-get must reach Debian's mirrors, and no other program may hold its lock. Then run this again.",
    });
  };
  const install = () => apt("install", "--yes", "--no-install-recommends", ...names);
  if (names.every(isKnown)) {
    try {
      await install();
      return;
    } catch {
      detail("updating the package lists");
    }
  }
  await apt("update");
  const unknown = names.filter((name) => !isKnown(name));
  if (unknown.length > 0) {
    throw new Problem(`apt does not know these packages: ${unknown.join(", ")}.`, {
      hint: "They are in Debian's security archive: `deb http://deb.debian.org/debian-security <release>-security main`.",
    });
  }
  await install();
}
