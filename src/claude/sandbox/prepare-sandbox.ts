import { execFile } from "node:child_process";
import { accessSync, constants, readdirSync } from "node:fs";
import { lstat, rm, rmdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { InvalidOptionError, messageOf } from "../../base/errors.ts";

/**
 * Checks that the SDK's sandbox starts on this machine, and notes what is in the workspace before the
 * run. `path` lists the folders in which programs are found.
 */
export async function prepareSandbox(path: string, workspace: string): Promise<SandboxLeftovers> {
  await checkSandboxStarts(path);
  return new SandboxLeftovers(workspace);
}

/**
 * Throws if the SDK's sandbox would not start. The SDK itself looks only for the programs, not for what
 * the kernel allows.
 */
export async function checkSandboxStarts(
  path: string,
  { platform = process.platform }: { readonly platform?: string } = {},
): Promise<void> {
  if (platform !== "linux") return; // macOS has its own, and the SDK knows where there is none
  const bubblewrap = findProgram("bwrap", path);
  const missing = [
    ...(bubblewrap === null ? ["bubblewrap"] : []),
    ...(findProgram("socat", path) === null ? ["socat"] : []),
  ].join(" ");
  if (bubblewrap === null || missing !== "") {
    throw refuseSandbox(`install ${missing} (Debian, Ubuntu: apt-get install ${missing})`);
  }
  try {
    const limits = { timeout: START_TIMEOUT_MS, env: {} };
    await promisify(execFile)(bubblewrap, SAME_AS_THE_SDK, limits);
  } catch (cause) {
    const said = lastLine(messageOf(cause));
    throw refuseSandbox(`let this user make namespaces (bubblewrap said: ${said})`, cause);
  }
}

/** The same error for what the SDK reports when it starts. */
export function sandboxRefusal(said: string): InvalidOptionError {
  return refuseSandbox(`see to what the SDK says (${lastLine(said)})`);
}

/**
 * What the SDK's sandbox leaves in a workspace. To keep commands from writing there it creates empty
 * files, which it removes after each command unless it is killed, and a folder, which it does not remove.
 */
export class SandboxLeftovers {
  readonly #workspace: string;
  readonly #before: ReadonlySet<string>;

  /** Notes what is there before a run. */
  constructor(workspace: string) {
    this.#workspace = workspace;
    this.#before = new Set(findPlaceholders(workspace));
  }

  /** Removes what has been added since, if it is empty: anything with bytes is someone's work. */
  async remove(): Promise<void> {
    const added = findPlaceholders(this.#workspace).filter((path) => !this.#before.has(path));
    // Deepest first, so that a folder is empty when its turn comes.
    for (const path of added.reverse()) await removeEmpty(join(this.#workspace, path));
  }
}

const START_TIMEOUT_MS = 5_000;

/** If the machine refuses any of this, it would refuse it to each command. */
const SAME_AS_THE_SDK = [
  ...["--new-session", "--die-with-parent", "--unshare-net", "--ro-bind", "/", "/"],
  ...["--dev", "/dev", "--unshare-pid", "--unshare-user", "--proc", "/proc", "--", "/bin/sh"],
  ...["-c", ":"],
];

function findProgram(program: string, path: string): string | null {
  for (const folder of path.split(delimiter).filter((folder) => folder !== "")) {
    const at = join(folder, program);
    try {
      accessSync(at, constants.X_OK);
      return at;
    } catch {} // it is not in this folder
  }
  return null;
}

function lastLine(text: string): string {
  return text.trim().replace(/^.*\n/s, "");
}

function refuseSandbox(remedy: string, cause?: unknown): InvalidOptionError {
  return new InvalidOptionError({
    field: "isolation.sandbox.enabled",
    value: true,
    rule: "needs a sandbox that starts on this machine",
    remedy: `${remedy}, or let commands do all that your user may: isolation: { sandbox: { enabled: false } }`,
    cause,
  });
}

const FOLDER = ".claude";
const NAMES = [
  ...[".bash_profile", ".bashrc", ".gitconfig", ".gitmodules", ".idea", ".mcp.json", ".profile"],
  ...[".ripgreprc", ".vscode", ".zprofile", ".zshrc", FOLDER],
];

/** Lists parents before what is in them. */
function findPlaceholders(workspace: string): readonly string[] {
  const here = new Set(listEntries(workspace));
  const found = NAMES.filter((name) => here.has(name));
  if (!here.has(FOLDER)) return found;
  return [...found, ...listEntries(join(workspace, FOLDER)).map((name) => join(FOLDER, name))];
}

function listEntries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // there is no such folder, or it may not be read
  }
}

async function removeEmpty(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found?.isDirectory()) await rmdir(path).catch(() => {}); // there is something in it
  if (found?.isFile() && found.size === 0) await rm(path, { force: true });
}
