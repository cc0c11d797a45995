import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify, styleText } from "node:util";
import { getErrorMessage } from "../base/errors.ts";
import { checkSandboxStarts } from "../claude/sandbox/prepare-sandbox.ts";
import { listSandboxes } from "../local/sandbox/choose-sandbox.ts";
import type { Sandbox } from "../local/sandbox/sandbox.ts";

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

export interface Finding {
  readonly found: boolean;
  /** The version, or the problem and its remedy. */
  readonly says: string;
}

export interface ExaminedSandbox {
  readonly name: string;
  readonly usable: boolean;
  readonly reason: string;
  readonly isolation: string;
}

/**
 * Prints the available features of this machine. Returns the exit code: 0 if a sandbox can run
 * code, 1 if not.
 */
export async function doctor(
  { json }: { readonly json: boolean },
  sandboxes?: readonly Sandbox[],
): Promise<0 | 1> {
  const examination = await examine(sandboxes ?? (await listSandboxes()));
  if (json) console.log(JSON.stringify(examination, null, 2));
  else for (const line of formatReport(examination)) console.log(line);
  return examination.auto === null ? 1 : 0;
}

async function examine(sandboxes: readonly Sandbox[]): Promise<Examination> {
  const examined: ExaminedSandbox[] = [];
  for (const sandbox of sandboxes) {
    const { usable, reason } = await sandbox.probe();
    examined.push({ name: sandbox.name, usable, reason, isolation: sandbox.isolation });
  }
  return {
    node: examineNode(process.versions.node),
    sqliteFts5: await createFinding(readSqliteVersion, "Use a Node.js build that includes it"),
    python3: await createFinding(
      readPythonVersion,
      "Install python3 (on Debian: apt install python3)",
    ),
    pyodide: await createFinding(readPyodideVersion, "Run npm install pyodide"),
    claudeSdk: await createFinding(
      readClaudeSdkVersion,
      "Run npm install @anthropic-ai/claude-agent-sdk",
    ),
    claudeSandbox: await createFinding(tryClaudeSandbox, "Otherwise, run Claude without commands"),
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

function* formatReport({ sandboxes, auto, ...findings }: Examination): Generator<string> {
  const { node, sqliteFts5, python3, pyodide, claudeSdk, claudeSandbox } = findings;
  yield "Requirements:\n";
  yield formatLine(node.found, "Node", node.says);
  yield formatLine(sqliteFts5.found, "full-text search", sqliteFts5.says);
  yield formatLine(python3.found, "python3", python3.says);
  yield formatLine(pyodide.found, "pyodide", pyodide.says);
  yield "\nOptional, for agents on Claude:\n";
  yield formatLine(claudeSdk.found, "Claude Agent SDK", claudeSdk.says);
  yield formatLine(claudeSandbox.found, "command sandbox", claudeSandbox.says);
  yield "\nSandboxes for code that a model writes, strongest first:\n";
  for (const { name, usable, reason, isolation } of sandboxes) {
    yield formatLine(usable, name, reason);
    yield `    ${isolation}`;
  }
  yield auto === null
    ? "\nNo sandbox works on this machine. wink serve cannot run code until you install one."
    : `\nwink serve uses ${auto} by default.`;
  yield "Not required: a browser, Docker, an account, a network.";
}

function formatLine(good: boolean, name: string, says: string): string {
  const mark = good ? styleText("green", "✓", STDOUT) : styleText("red", "✗", STDOUT);
  return `  ${mark} ${name}: ${says}`;
}

// `styleText` omits colors if the stream is not a terminal or NO_COLOR is set.
const STDOUT = { stream: process.stdout };
