import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type {
  ShellConfig,
  ShellExecutor,
  ShellLive,
  ShellOutcome,
  ShellOutput,
  ShellResult,
} from "../../tools/hosted/shell.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { CallContext, CallOutcome } from "./codec-call.ts";
import { readLimits, type ShellItem, summarizeShellCall } from "./shell-items.ts";

/** A shell tool with its optional executor for local commands. */
export type LiveShellTool = HostedTool<ShellConfig, ShellResult, ShellLive>;

/** Runs one call's commands with the tool's executor. */
export async function runShell(
  { item, call: { callId, commands } }: ShellItem,
  tool: LiveShellTool,
  { signal }: CallContext,
): Promise<CallOutcome<ShellResult>> {
  const executor = getExecutor(tool);
  const given = await executor.run(commands, { ...readLimits(item), signal });
  const call = { callId, commands, outputs: checkOutputs(given, commands.length, tool.name) };
  return { output: { calls: [call] }, ...summarizeShellCall(call) };
}

function getExecutor({ name, live: { executor } }: LiveShellTool): ShellExecutor {
  if (typeof executor?.run === "function") return executor;
  throw new InvalidOptionError({
    field: `Hosted tool "${name}" executor`,
    value: executor,
    rule: "must be a ShellExecutor if the environment is local",
    remedy: "create the tool with shellTool(config, { executor }), or use a container environment",
  });
}

/** Validates the executor's outputs: it is the caller's code and may not match its type. */
function checkOutputs(given: unknown, count: number, name: string): readonly ShellOutput[] {
  const field = `Hosted tool "${name}" executor.run()`;
  if (!Array.isArray(given) || given.length !== count) {
    throw new InvalidOptionError({
      field,
      value: given,
      rule: `must return an array of ${count} outputs, one for each command`,
      remedy: "return an output for failed commands too",
    });
  }
  return given.map((output: unknown, index) => checkOutput(output, `${field}[${index}]`));
}

function checkOutput(value: unknown, field: string): ShellOutput {
  if (isPlainObject(value)) {
    const { stdout, stderr } = value;
    const outcome = parseOutcome(value["outcome"]);
    if (typeof stdout === "string" && typeof stderr === "string" && outcome) {
      return { stdout, stderr, outcome };
    }
  }
  throw new InvalidOptionError({
    field,
    value,
    rule: "must be { stdout, stderr, outcome } with strings and a valid outcome",
    remedy: 'set outcome to { type: "exit", exitCode: 0 } or { type: "timeout" }',
  });
}

function parseOutcome(value: unknown): ShellOutcome | null {
  if (!isPlainObject(value)) return null;
  const { type, exitCode } = value;
  if (type === "timeout") return { type };
  if (type !== "exit" || typeof exitCode !== "number") return null;
  return Number.isSafeInteger(exitCode) ? { type, exitCode } : null;
}
