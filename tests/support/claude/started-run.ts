import type { UnknownRecord } from "../../../src/base/reading.ts";
import type { NativeHooks } from "../../../src/claude/run/native-call-tracker.ts";
import { ClaudeRun } from "../../../src/claude/run/run.ts";
import type { NativeCall, RunStep } from "../../../src/claude/run/run-state.ts";
import type { BridgedAnswer } from "../../../src/claude/tools/tool-bridge.ts";
import { Tool } from "../../../src/tools/tool.ts";
import { ToolResult } from "../../../src/tools/tool-result.ts";
import type { NativeOutcome } from "./bridge-end.ts";
import { ScriptedSdk, type ScriptedSdkOptions, type SdkStep, say } from "./scripted-sdk.ts";

/** A tool of ours that does nothing. */
export const toolNamed = (name: string): Tool =>
  new Tool({
    name,
    description: `Does ${name}.`,
    params: null,
    handler: () => ToolResult.ok(null),
  });

/** What a run offers unless its test says otherwise. */
export const tools: readonly Tool[] = [toolNamed("add")];

/** Nothing but the answers. */
export const silent = { notes: [], tools };

/** The SDK's own shell, which always says the same. */
export const bash = async (): Promise<NativeOutcome> => ({ response: { stdout: "hi" } });

export interface StartedOptions extends ScriptedSdkOptions {
  readonly hooks?: Partial<NativeHooks>;
}

/** A run of a scripted SDK, which has the tool `Bash`, and what it told. */
export async function started(
  steps: readonly SdkStep[],
  { hooks, ...options }: StartedOptions = {},
) {
  const sdk = new ScriptedSdk(steps, { native: { Bash: bash }, ...options });
  const after: NativeCall[] = [];
  const native: NativeHooks = {
    isOn: (name) => name === "Bash",
    before: async () => ({}),
    after: async (call) => void after.push(call),
    ...hooks,
  };
  const compactions: UnknownRecord[] = [];
  const compacted = (about: UnknownRecord) => void compactions.push(about);
  const run = new ClaudeRun({ sdk, options: { cwd: "/work" }, native, compacted });
  await run.start([say("Do it.")], tools);
  const { signal } = new AbortController();
  return { run, sdk, after, compactions, next: () => run.next(signal) };
}

/** An answer to each call of a step. */
export function answersTo({ calls }: RunStep): ReadonlyMap<string, BridgedAnswer> {
  return new Map(calls.map(({ id }) => [id, { text: `${id} is done.`, isError: false }]));
}
