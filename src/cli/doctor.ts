import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify, styleText } from "node:util";
import { messageOf } from "../base/errors.ts";
import { checkSandboxStarts } from "../claude/sandbox/prepare-sandbox.ts";
import { knownSandboxes } from "../local/sandbox/choose-sandbox.ts";
import type { Sandbox } from "../local/sandbox/sandbox.ts";

/** What this machine has, as `wink doctor --json` prints it. */
export interface Examination {
  readonly node: Finding;
  /** Full-text search in node:sqlite, for the local provider's file search. */
  readonly sqliteFts5: Finding;
  /** For the bubblewrap sandbox. */
  readonly python3: Finding;
  /** For the wasm sandbox. */
  readonly pyodide: Finding;
  /** For `weakincentives/claude`. */
  readonly claudeSdk: Finding;
  /** For the commands that Claude runs. */
  readonly claudeSandbox: Finding;
  /** The strongest first. */
  readonly sandboxes: readonly ExaminedSandbox[];
  /** The sandbox that `auto` picks, or `null` if none works. */
  readonly auto: string | null;
}

export interface Finding {
  readonly found: boolean;
  /** Its version, or what is wrong and what to do. */
  readonly says: string;
}

export interface ExaminedSandbox {
  readonly name: string;
  readonly usable: boolean;
  readonly reason: string;
  readonly isolation: string;
}

/** Says what this machine can run, and gives the exit code: 0 if code can be run in a sandbox, 1 if not. */
export async function doctor(
  { json }: { readonly json: boolean },
  sandboxes?: readonly Sandbox[],
): Promise<0 | 1> {
  const examination = await examine(sandboxes ?? (await knownSandboxes()));
  if (json) console.log(JSON.stringify(examination, null, 2));
  else for (const line of report(examination)) console.log(line);
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
    sqliteFts5: await finding(sqliteVersion, "use a Node that is built with it"),
    python3: await finding(pythonVersion, "install python3 (on Debian: apt install python3)"),
    pyodide: await finding(pyodideVersion, "npm install pyodide"),
    claudeSdk: await finding(claudeSdkVersion, "npm install @anthropic-ai/claude-agent-sdk"),
    claudeSandbox: await finding(claudeSandbox, "or do without commands"),
    sandboxes: examined,
    auto: examined.find(({ usable }) => usable)?.name ?? null,
  };
}

/** Whether a version of Node is new enough. */
export function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const found = major > 22 || (major === 22 && minor >= 19);
  return { found, says: found ? version : `${version} is too old: install Node 22.19 or later` };
}

/** What `look` found, or why it found nothing and the remedy. */
export async function finding(look: () => Promise<string>, remedy: string): Promise<Finding> {
  try {
    return { found: true, says: await look() };
  } catch (error) {
    return { found: false, says: `${messageOf(error).split("\n", 1)[0]}: ${remedy}` };
  }
}

async function sqliteVersion(): Promise<string> {
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

async function pythonVersion(): Promise<string> {
  const { stdout } = await promisify(execFile)("python3", ["--version"]);
  return stdout.trim();
}

async function pyodideVersion(): Promise<string> {
  const file = createRequire(import.meta.url).resolve("pyodide/package.json");
  const { version }: { version: string } = JSON.parse(await readFile(file, "utf8"));
  return version;
}

async function claudeSdkVersion(): Promise<string> {
  const main = import.meta.resolve("@anthropic-ai/claude-agent-sdk");
  const { version }: { version: string } = JSON.parse(
    await readFile(new URL("package.json", main), "utf8"),
  );
  return version;
}

async function claudeSandbox(): Promise<string> {
  await checkSandboxStarts(process.env["PATH"] ?? "");
  return "it starts";
}

function* report({ sandboxes, auto, ...findings }: Examination): Generator<string> {
  const { node, sqliteFts5, python3, pyodide, claudeSdk, claudeSandbox } = findings;
  yield "What this machine can run:\n";
  yield line(node.found, "Node", node.says);
  yield line(sqliteFts5.found, "full-text search", sqliteFts5.says);
  yield line(python3.found, "python3", python3.says);
  yield line(pyodide.found, "pyodide", pyodide.says);
  yield "\nFor agents on Claude, if you want them:\n";
  yield line(claudeSdk.found, "the Claude Agent SDK", claudeSdk.says);
  yield line(claudeSandbox.found, "a sandbox for its commands", claudeSandbox.says);
  yield "\nSandboxes for code that a model writes, the strongest first:\n";
  for (const { name, usable, reason, isolation } of sandboxes) {
    yield line(usable, name, reason);
    yield `    ${isolation}`;
  }
  yield auto === null
    ? "\nNone works here: wink serve cannot run code until one does."
    : `\nwink serve takes ${auto} unless told otherwise.`;
  yield "Not needed: a browser, Docker, an account, a network.";
}

function line(good: boolean, name: string, says: string): string {
  const mark = good ? styleText("green", "✓", STDOUT) : styleText("red", "✗", STDOUT);
  return `  ${mark} ${name}: ${says}`;
}

// `styleText` leaves colour out by itself when the stream is no terminal, or NO_COLOR is set.
const STDOUT = { stream: process.stdout };
