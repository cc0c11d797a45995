import { execFile } from "node:child_process";
import { accessSync, constants, readdirSync } from "node:fs";
import { lstat, rm, rmdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";

/**
 * Checks that the SDK's sandbox starts on the host, and records the workspace's entries before the
 * run. `path` is a `PATH` to search for programs.
 */
export async function prepareSandbox(path: string, workspace: string): Promise<SandboxLeftovers> {
  await checkSandboxStarts(path);
  return new SandboxLeftovers(workspace);
}

/**
 * Throws if the SDK's sandbox would not start. The SDK itself checks only that the programs exist, not
 * that the kernel allows namespaces.
 */
export async function checkSandboxStarts(
  path: string,
  { platform = process.platform }: { readonly platform?: string } = {},
): Promise<void> {
  if (platform !== "linux") return; // macOS has a sandbox, and the SDK detects other platforms
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
    await promisify(execFile)(bubblewrap, SDK_BUBBLEWRAP_ARGS, limits);
  } catch (cause) {
    const reason = getLastLine(getErrorMessage(cause));
    throw refuseSandbox(`allow this user to create namespaces (bubblewrap: ${reason})`, cause);
  }
}

/** Converts the SDK's own report that its sandbox does not start. */
export function createSandboxError(output: string): InvalidOptionError {
  return refuseSandbox(`resolve the problem that the SDK reports (${getLastLine(output)})`);
}

/**
 * Placeholders that the SDK's sandbox leaves in a workspace. To block writes to some paths it creates
 * empty files, which it removes after each command unless it is killed, and a folder, which it does not
 * remove.
 */
export class SandboxLeftovers {
  readonly #workspace: string;
  readonly #existing: ReadonlySet<string>;

  /** Records the placeholders that exist before a run. */
  constructor(workspace: string) {
    this.#workspace = workspace;
    this.#existing = new Set(findPlaceholders(workspace));
  }

  /** Removes placeholders that were added since, unless they have content. */
  async remove(): Promise<void> {
    const added = findPlaceholders(this.#workspace).filter((path) => !this.#existing.has(path));
    // Deepest first, so that folders are empty when they are removed.
    for (const path of added.reverse()) await removeEmpty(join(this.#workspace, path));
  }
}

const START_TIMEOUT_MS = 5_000;

/** The SDK runs each command with these options, so a host that rejects them cannot run any. */
const SDK_BUBBLEWRAP_ARGS = [
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
    } catch {} // not in this folder
  }
  return null;
}

function getLastLine(text: string): string {
  return text.trim().replace(/^.*\n/s, "");
}

function refuseSandbox(remedy: string, cause?: unknown): InvalidOptionError {
  return new InvalidOptionError({
    field: "isolation.sandbox.enabled",
    value: true,
    rule: "must be false unless the sandbox starts on this host",
    remedy: `${remedy}, or run commands with your user's permissions: isolation: { sandbox: { enabled: false } }`,
    cause,
  });
}

const CLAUDE_FOLDER = ".claude";
const PLACEHOLDER_NAMES = [
  ...[".bash_profile", ".bashrc", ".gitconfig", ".gitmodules", ".idea", ".mcp.json", ".profile"],
  ...[".ripgreprc", ".vscode", ".zprofile", ".zshrc", CLAUDE_FOLDER],
];

/** Lists placeholders, folders before their entries. */
function findPlaceholders(workspace: string): readonly string[] {
  const here = new Set(listEntries(workspace));
  const found = PLACEHOLDER_NAMES.filter((name) => here.has(name));
  if (!here.has(CLAUDE_FOLDER)) return found;
  return [
    ...found,
    ...listEntries(join(workspace, CLAUDE_FOLDER)).map((name) => join(CLAUDE_FOLDER, name)),
  ];
}

function listEntries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the folder is missing or unreadable
  }
}

async function removeEmpty(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found?.isDirectory()) await rmdir(path).catch(() => {}); // it is not empty
  if (found?.isFile() && found.size === 0) await rm(path, { force: true });
}
