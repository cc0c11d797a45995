import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { InvalidOptionError, messageOf } from "../../base/errors.ts";

/**
 * Refuses to go on where the SDK's sandbox would not start: the SDK looks for its programs only, and not
 * for what the kernel allows. `path` is where programs are looked for.
 */
export async function checkSandboxStarts(
  path: string,
  { platform = process.platform }: { readonly platform?: string } = {},
): Promise<void> {
  if (platform !== "linux") return; // macOS has its own, and the SDK knows where there is none
  const bubblewrap = programAt("bwrap", path);
  const missing = [
    ...(bubblewrap === null ? ["bubblewrap"] : []),
    ...(programAt("socat", path) === null ? ["socat"] : []),
  ].join(" ");
  if (bubblewrap === null || missing !== "") {
    throw unavailable(`install ${missing} (Debian, Ubuntu: apt-get install ${missing})`);
  }
  try {
    const limits = { timeout: LONGEST_START_MS, env: {} };
    await promisify(execFile)(bubblewrap, SAME_AS_THE_SDK, limits);
  } catch (cause) {
    const said = lastLine(messageOf(cause));
    throw unavailable(`let this user make namespaces (bubblewrap said: ${said})`, cause);
  }
}

/** The same refusal, for what the SDK itself has found as it started. */
export function sandboxRefusal(said: string): InvalidOptionError {
  return unavailable(`see to what the SDK says (${lastLine(said)})`);
}

const LONGEST_START_MS = 5_000;

/** Whatever of this the machine refuses, it would refuse to each command. */
const SAME_AS_THE_SDK = [
  ...["--new-session", "--die-with-parent", "--unshare-net", "--ro-bind", "/", "/"],
  ...["--dev", "/dev", "--unshare-pid", "--unshare-user", "--proc", "/proc", "--", "/bin/sh"],
  ...["-c", ":"],
];

function programAt(program: string, path: string): string | null {
  for (const folder of path.split(delimiter).filter((folder) => folder !== "")) {
    const at = join(folder, program);
    try {
      accessSync(at, constants.X_OK);
      return at;
    } catch {} // it is not in this one
  }
  return null;
}

function lastLine(text: string): string {
  return text.trim().replace(/^.*\n/s, "");
}

function unavailable(remedy: string, cause?: unknown): InvalidOptionError {
  return new InvalidOptionError({
    field: "isolation.sandbox.enabled",
    value: true,
    rule: "needs a sandbox that starts on this machine",
    remedy: `${remedy}, or let commands do all that your user may: isolation: { sandbox: { enabled: false } }`,
    cause,
  });
}
