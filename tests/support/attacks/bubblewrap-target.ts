import { readdirSync, readFileSync } from "node:fs";
import { expect, onTestFinished } from "vitest";
import { bubblewrapSandbox } from "../../../src/local/sandbox/bubblewrap/bubblewrap-sandbox.ts";
import type {
  PythonRun,
  RunLimits,
  Sandbox,
  SandboxOptions,
  SandboxProcess,
  ShellRun,
} from "../../../src/local/sandbox/sandbox.ts";
import { temporaryTree } from "../temporary-tree.ts";
import { openAsUser, type SandboxFactory } from "./open-as-user.ts";

/** A container under attack, with limits low enough to reach quickly. */
export interface Target {
  readonly root: string;
  python(code: string, limits?: Partial<RunLimits>): Promise<PythonRun>;
  shell(command: string, limits?: Partial<RunLimits>): Promise<ShellRun>;
}

/** The users that an attack is tried as: root only if the tests run as root. */
export const USERS: readonly ("root" | "user")[] =
  process.getuid?.() === 0 ? ["root", "user"] : ["user"];

/** Options of a container under attack. */
export interface TargetOptions extends Partial<SandboxOptions> {
  /** The user that opens the container. @default the user that runs the tests */
  readonly as?: "root" | "user" | undefined;
  /** The sandbox. @default bubblewrap */
  readonly sandbox?: TargetSandbox | undefined;
}

/** A sandbox under attack, which can also be created in a process of another user. */
export interface TargetSandbox extends SandboxFactory {
  create(): Sandbox;
}

/** Whether bubblewrap works on this host. */
export async function isBubblewrapUsable(): Promise<boolean> {
  const { usable } = await bubblewrapSandbox().probe();
  return usable;
}

export const MEBIBYTE: number = 1024 ** 2;

/**
 * Opens a container. After the test, a new run must still work, and after disposing of the container none
 * of its processes may be left.
 */
export async function openTarget({
  as,
  sandbox = BUBBLEWRAP,
  ...options
}: TargetOptions = {}): Promise<Target> {
  const root = options.root ?? temporaryTree();
  const settings = {
    root,
    memoryBytes: 300 * MEBIBYTE,
    diskBytes: 64 * MEBIBYTE,
    maxProcesses: 32,
    ...options,
  };
  const isOtherUser = as === "user" && process.getuid?.() === 0;
  const container = isOtherUser
    ? await openAsUser(sandbox, settings)
    : await sandbox.create().open(settings);
  const limits = { timeoutMs: 3_000, maxOutputBytes: 20_000 };
  onTestFinished(async () => {
    try {
      await expectAlive(container, limits);
    } finally {
      await container[Symbol.asyncDispose]();
    }
    expect(listProcesses(root)).toEqual([]);
  });
  return {
    root,
    python: (code, own) => container.python(code, { ...limits, ...own }),
    shell: (command, own) => container.shell(command, { ...limits, ...own }),
  };
}

const BUBBLEWRAP: TargetSandbox = {
  module: "local/sandbox/bubblewrap/bubblewrap-sandbox.ts",
  name: "bubblewrapSandbox",
  options: { graceMs: 600 },
  create: () => bubblewrapSandbox({ graceMs: 600 }),
};

async function expectAlive(container: SandboxProcess, limits: RunLimits): Promise<void> {
  const run = await container.python("print(6 * 7)", limits);
  expect(run).toMatchObject({ stdout: "42\n", error: null, died: false });
  const command = await container.shell("echo $((6 * 7))", limits);
  expect(command).toMatchObject({ stdout: "42\n", exitCode: 0 });
}

/** Lists the processes that have a container's folder mounted or were started with its path. */
export function listProcesses(root: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => mentions(pid, "mountinfo", root) || mentions(pid, "cmdline", root));
}

function mentions(pid: string, file: string, root: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8").includes(root.slice(root.lastIndexOf("/")));
  } catch {
    // It has ended, or belongs to another user.
    return false;
  }
}
