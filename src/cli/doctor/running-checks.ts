import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { getErrorMessage } from "../../base/errors.ts";
import { checkSandboxStarts } from "../../claude/sandbox/prepare-sandbox.ts";
import { findDiskSupport } from "../../local/containers/disks/find-disk-support.ts";
import { combineLimits } from "../../local/sandbox/combine-limits.ts";
import type { LimitReport, Sandbox } from "../../local/sandbox/sandbox.ts";

/** Available features of this machine, as printed by `wink doctor --json`. */
export interface Examination {
  readonly node: Finding;
  /** Full-text search in node:sqlite, used by the local provider's file search. */
  readonly sqliteFts5: Finding;
  /** Used by the bubblewrap sandbox. */
  readonly python3: Finding;
  /** Used by the wasm sandbox. */
  readonly pyodide: Finding;
  /** Used by `weakincentives/claude`. */
  readonly claudeSdk: Finding;
  /** Sandbox for the commands that Claude runs. */
  readonly claudeSandbox: Finding;
  /** Sandboxes, strongest first. */
  readonly sandboxes: readonly ExaminedSandbox[];
  /** The sandbox that `auto` selects, or `null` if none works. */
  readonly auto: string | null;
}

/** The result of one check. */
export interface Finding {
  readonly found: boolean;
  /** The version, or the problem and its remedy. */
  readonly says: string;
}

/** The result of a sandbox's trial run. */
export interface ExaminedSandbox {
  readonly name: string;
  readonly usable: boolean;
  readonly reason: string;
  readonly isolation: string;
  /** How its limits hold on this machine; `null` if it does not work. */
  readonly limits: LimitReport | null;
}

/** The checks of a machine, all running at the same time. */
export interface RunningChecks {
  /** The checks of single features, by the field of the examination. */
  readonly findings: {
    readonly [Name in Exclude<keyof Examination, "sandboxes" | "auto">]: Promise<Finding>;
  };
  /** The trial runs of the sandboxes, strongest first. */
  readonly sandboxes: readonly {
    readonly name: string;
    readonly examined: Promise<ExaminedSandbox>;
  }[];
}

/** Starts all checks of this machine. */
export function startChecks(sandboxes: readonly Sandbox[]): RunningChecks {
  return {
    findings: {
      node: Promise.resolve(examineNode(process.versions.node)),
      sqliteFts5: createFinding(readSqliteVersion, "Use a Node.js build that includes it"),
      python3: createFinding(readPythonVersion, "Install python3 (on Debian: apt install python3)"),
      pyodide: createFinding(readPyodideVersion, "Run npm install pyodide"),
      claudeSdk: createFinding(
        readClaudeSdkVersion,
        "Run npm install @anthropic-ai/claude-agent-sdk",
      ),
      claudeSandbox: createFinding(tryClaudeSandbox, "Otherwise, run Claude without commands"),
    },
    sandboxes: sandboxes.map((sandbox) => ({
      name: sandbox.name,
      examined: examineSandbox(sandbox),
    })),
  };
}

/** Waits for all checks. */
export async function finishChecks({ findings, sandboxes }: RunningChecks): Promise<Examination> {
  const examined = await Promise.all(sandboxes.map((sandbox) => sandbox.examined));
  return {
    node: await findings.node,
    sqliteFts5: await findings.sqliteFts5,
    python3: await findings.python3,
    pyodide: await findings.pyodide,
    claudeSdk: await findings.claudeSdk,
    claudeSandbox: await findings.claudeSandbox,
    sandboxes: examined,
    auto: examined.find(({ usable }) => usable)?.name ?? null,
  };
}

/** Returns whether a version of Node.js is supported. */
export function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const found = major > 22 || (major === 22 && minor >= 19);
  return { found, says: found ? version : `${version} is too old. Install Node.js 22.19 or later` };
}

/** Returns the result of `look`, or the reason why it failed and the remedy. */
export async function createFinding(look: () => Promise<string>, remedy: string): Promise<Finding> {
  try {
    return { found: true, says: await look() };
  } catch (error) {
    const [problem = ""] = getErrorMessage(error).split("\n", 1);
    return { found: false, says: `${problem.replace(/\.$/, "")}. ${remedy}` };
  }
}

/** A sandbox whose trial throws does not work. */
async function examineSandbox(sandbox: Sandbox): Promise<ExaminedSandbox> {
  const { name, isolation } = sandbox;
  try {
    const { usable, reason, limits } = await sandbox.probe();
    const report = usable ? combineLimits(limits, await findDiskSupport()) : null;
    return { name, usable, reason, isolation, limits: report };
  } catch (error) {
    return { name, usable: false, reason: getErrorMessage(error), isolation, limits: null };
  }
}

async function readSqliteVersion(): Promise<string> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(":memory:");
  try {
    database.exec("CREATE VIRTUAL TABLE page USING fts5(text)");
    const row = database.prepare("SELECT sqlite_version() AS version").get();
    return `SQLite ${row?.["version"]}`;
  } finally {
    database.close();
  }
}

async function readPythonVersion(): Promise<string> {
  const { stdout } = await promisify(execFile)("python3", ["--version"]);
  return stdout.trim();
}

async function readPyodideVersion(): Promise<string> {
  const file = createRequire(import.meta.url).resolve("pyodide/package.json");
  const { version }: { version: string } = JSON.parse(await readFile(file, "utf8"));
  return version;
}

async function readClaudeSdkVersion(): Promise<string> {
  const main = import.meta.resolve("@anthropic-ai/claude-agent-sdk");
  const { version }: { version: string } = JSON.parse(
    await readFile(new URL("package.json", main), "utf8"),
  );
  return version;
}

async function tryClaudeSandbox(): Promise<string> {
  await checkSandboxStarts(process.env["PATH"] ?? "");
  return "available";
}
