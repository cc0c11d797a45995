import { styleText } from "node:util";
import { listSandboxes } from "../../local/sandbox/choose-sandbox.ts";
import type { LimitReport, Sandbox } from "../../local/sandbox/sandbox.ts";
import { ProgressLine, type Terminal } from "../progress-line.ts";
import { finishChecks, type RunningChecks, startChecks } from "./running-checks.ts";

/** Options of `wink doctor`. */
export interface DoctorOptions {
  readonly json: boolean;
  /** The sandboxes to try. @default all sandboxes of the library */
  readonly sandboxes?: readonly Sandbox[] | undefined;
  /** Where the running check is shown if it is a terminal. @default standard error */
  readonly terminal?: Terminal | undefined;
}

/**
 * Prints the available features of this machine, each as soon as it is known. Returns the exit code: 0 if a
 * sandbox can run code, 1 if not.
 */
export async function doctor({
  json,
  sandboxes,
  terminal = process.stderr,
}: DoctorOptions): Promise<0 | 1> {
  const progress = new ProgressLine(json ? { write: () => {} } : terminal);
  progress.show("Checking this machine …");
  const checks = startChecks(sandboxes ?? (await listSandboxes()));
  if (!json) await printReport(checks, progress);
  const examination = await finishChecks(checks);
  if (json) console.log(JSON.stringify(examination, null, 2));
  return examination.auto === null ? 1 : 0;
}

/** Prints the report in its usual order. All checks run at the same time, so a line waits only for its own. */
async function printReport(
  { findings, sandboxes }: RunningChecks,
  progress: ProgressLine,
): Promise<void> {
  const print = (line: string) => {
    progress.clear();
    console.log(line);
  };
  const printFinding = async (name: string, check: keyof RunningChecks["findings"]) => {
    progress.show(`  … ${name}`);
    const { found, says } = await findings[check];
    print(formatLine(found, name, says));
  };
  print("Requirements:\n");
  await printFinding("Node", "node");
  await printFinding("full-text search", "sqliteFts5");
  await printFinding("python3", "python3");
  await printFinding("pyodide", "pyodide");
  print("\nOptional, for agents on Claude:\n");
  await printFinding("Claude Agent SDK", "claudeSdk");
  await printFinding("command sandbox", "claudeSandbox");
  print("\nSandboxes for code that a model writes, strongest first:\n");
  let auto: string | null = null;
  for (const { name, examined } of sandboxes) {
    progress.show(`  … ${name}: trial run, a few seconds`);
    const { usable, reason, isolation, limits } = await examined;
    print(formatLine(usable, name, reason));
    print(`    ${isolation}`);
    if (limits) print(`    Limits: ${formatGrades(limits)}`);
    if (usable) auto ??= name;
  }
  print(
    auto === null
      ? "\nNo sandbox works on this machine. wink serve cannot run code until you install one."
      : `\nwink serve uses ${auto} by default.`,
  );
  if (auto === "wasm")
    print(
      "It is used only for a scripted model or the echo. For any other model, install bubblewrap, Podman or Docker, or pass --sandbox wasm.",
    );
  print("Not required: a browser, Docker, an account, a network.");
}

function formatGrades({ memory, processes, disk, means }: LimitReport): string {
  return `memory ${memory}, processes ${processes}, disk ${disk} (${means})`;
}

function formatLine(good: boolean, name: string, says: string): string {
  const mark = good ? styleText("green", "✓", STDOUT) : styleText("red", "✗", STDOUT);
  return `  ${mark} ${name}: ${says}`;
}

// `styleText` omits colors if the stream is not a terminal or NO_COLOR is set.
const STDOUT = { stream: process.stdout };
