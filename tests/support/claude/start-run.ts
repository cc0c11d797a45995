import type { TurnObserver } from "../../../src/adapter/turn-observer.ts";
import type { UnknownRecord } from "../../../src/base/json.ts";
import { ClaudeRun } from "../../../src/claude/run/claude-run.ts";
import type { NativeHooks } from "../../../src/claude/run/native-call-tracker.ts";
import type { NativeCall, RunStep } from "../../../src/claude/run/run-state.ts";
import { TurnReporter } from "../../../src/claude/run/turn-reporter.ts";
import type { BridgedAnswer } from "../../../src/claude/tools/tool-bridge.ts";
import { Tool } from "../../../src/tools/tool.ts";
import { ToolResult } from "../../../src/tools/tool-result.ts";
import type { NativeOutcome } from "./bridge-client.ts";
import { ScriptedSdk, type ScriptedSdkOptions, type SdkStep, textBlock } from "./scripted-sdk.ts";

/** Creates a tool that does nothing. */
export const createTool = (name: string): Tool =>
  new Tool({
    name,
    description: `Does ${name}.`,
    params: null,
    handler: () => ToolResult.ok(null),
  });

/** The run's default tools. */
export const tools: readonly Tool[] = [createTool("add")];

/** Passes no notes and keeps the tools. */
export const noNotes = { notes: [], tools };

/** A native `Bash` that always prints "hi". */
export const runBash = async (): Promise<NativeOutcome> => ({ response: { stdout: "hi" } });

export interface StartRunOptions extends ScriptedSdkOptions {
  readonly hooks?: Partial<NativeHooks>;
  /** Observes the first turn. */
  readonly observer?: TurnObserver;
  /** Whether the answer is structured. */
  readonly isStructured?: boolean;
  /** A longer wait before a retry is reported as a step. */
  readonly maxRetryMs?: number;
}

/** Starts a run on a scripted SDK with the native tool `Bash`. Records ended calls and compactions. */
export async function startRun(
  steps: readonly SdkStep[],
  { hooks, observer, isStructured = false, maxRetryMs, ...options }: StartRunOptions = {},
) {
  const sdk = new ScriptedSdk(steps, { native: { Bash: runBash }, ...options });
  const after: NativeCall[] = [];
  const native: NativeHooks = {
    isEnabled: (name) => name === "Bash",
    beforeCall: async () => ({}),
    afterCall: async (call) => void after.push(call),
    ...hooks,
  };
  const findNative = (name: string) =>
    name === "Bash" ? { kind: "shell", codeField: "command" } : null;
  const reporter = new TurnReporter({ isStructured, findNative });
  if (observer) reporter.startTurn(1, observer);
  const compactions: UnknownRecord[] = [];
  const onCompacted = (metadata: UnknownRecord) => void compactions.push(metadata);
  const settings = { sdk, options: { cwd: "/work" }, native, reporter, onCompacted };
  const run = new ClaudeRun({ ...settings, maxRetryMs });
  await run.start([textBlock("Do it.")], tools);
  const { signal } = new AbortController();
  return { run, sdk, reporter, after, compactions, next: () => run.next(signal) };
}

/** Answers all calls in a step. */
export function answerAll({ calls }: RunStep): ReadonlyMap<string, BridgedAnswer> {
  return new Map(calls.map(({ id }) => [id, { text: `${id} is done.`, isError: false }]));
}
