import { readdirSync, readFileSync } from "node:fs";
import { expect, onTestFinished } from "vitest";
import { bubblewrapSandbox } from "../../../src/local/sandbox/bubblewrap/bubblewrap.ts";
import type {
  PythonRun,
  RunLimits,
  SandboxOptions,
  SandboxProcess,
  ShellRun,
} from "../../../src/local/sandbox/sandbox.ts";
import { temporaryTree } from "../temporary-tree.ts";

/** A container under attack, small enough that its limits are reached soon. */
export interface Target {
  readonly root: string;
  python(code: string, limits?: Partial<RunLimits>): Promise<PythonRun>;
  shell(command: string, limits?: Partial<RunLimits>): Promise<ShellRun>;
}

/** Whether bubblewrap works here. */
export async function bubblewrapRuns(): Promise<boolean> {
  const { usable } = await bubblewrapSandbox().probe();
  return usable;
}

export const MEBIBYTE: number = 1024 ** 2;

/**
 * Opens one. When the test is over a new run must work in it, whatever happened before, and after its
 * end no process of it may be left.
 */
export async function openTarget(options: Partial<SandboxOptions> = {}): Promise<Target> {
  const root = options.root ?? temporaryTree();
  const container = await bubblewrapSandbox({ graceMs: 600 }).open({
    root,
    memoryBytes: 300 * MEBIBYTE,
    diskBytes: 64 * MEBIBYTE,
    maxProcesses: 32,
    ...options,
  });
  const limits = { timeoutMs: 3_000, maxOutputBytes: 20_000 };
  onTestFinished(async () => {
    try {
      await expectAlive(container, limits);
    } finally {
      await container[Symbol.asyncDispose]();
    }
    expect(processesOf(root)).toEqual([]);
  });
  return {
    root,
    python: (code, own) => container.python(code, { ...limits, ...own }),
    shell: (command, own) => container.shell(command, { ...limits, ...own }),
  };
}

async function expectAlive(container: SandboxProcess, limits: RunLimits): Promise<void> {
  const run = await container.python("print(6 * 7)", limits);
  expect(run).toMatchObject({ stdout: "42\n", error: null, died: false });
  const command = await container.shell("echo $((6 * 7))", limits);
  expect(command).toMatchObject({ stdout: "42\n", exitCode: 0 });
}

/** All processes that have a container's folder mounted, or were started with its path. */
export function processesOf(root: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => mentions(pid, "mountinfo", root) || mentions(pid, "cmdline", root));
}

function mentions(pid: string, file: string, root: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8").includes(root.slice(root.lastIndexOf("/")));
  } catch {
    // Gone since it was listed, or somebody else's.
    return false;
  }
}
