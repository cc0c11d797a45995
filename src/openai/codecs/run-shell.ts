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
import type { CallContext, OutcomeOf } from "./codec-parts.ts";
import { limitsOf, type ShellItem, verdictOn } from "./shell-items.ts";

/** A shell tool with what it needs to run commands here. */
export type LiveShellTool = HostedTool<ShellConfig, ShellResult, ShellLive>;

/** Runs one call's commands by the tool's executor. */
export async function runShell(
  { item, call: { callId, commands } }: ShellItem,
  tool: LiveShellTool,
  { signal }: CallContext,
): Promise<OutcomeOf<ShellResult>> {
  const executor = executorOf(tool);
  const given = await executor.run(commands, { ...limitsOf(item), signal });
  const call = { callId, commands, outputs: checkedOutputs(given, commands.length, tool.name) };
  return { output: { calls: [call] }, ...verdictOn(call) };
}

function executorOf({ name, live: { executor } }: LiveShellTool): ShellExecutor {
  if (typeof executor?.run === "function") return executor;
  throw new InvalidOptionError({
    field: `Hosted tool "${name}" executor`,
    value: executor,
    rule: "must be a ShellExecutor in a local environment",
    remedy: "make the tool with shellTool(config, { executor }), or let a container run commands",
  });
}

/** An executor is the caller's own, whatever its type says. */
function checkedOutputs(given: unknown, count: number, name: string): readonly ShellOutput[] {
  const field = `Hosted tool "${name}" executor.run()`;
  if (!Array.isArray(given) || given.length !== count) {
    throw new InvalidOptionError({
      field,
      value: given,
      rule: `must give a list of ${count}, one output for each command`,
      remedy: "give an output for a command that fails too",
    });
  }
  return given.map((output: unknown, index) => checkedOutput(output, `${field}[${index}]`));
}

function checkedOutput(value: unknown, field: string): ShellOutput {
  if (isPlainObject(value)) {
    const { stdout, stderr } = value;
    const outcome = outcomeIn(value["outcome"]);
    if (typeof stdout === "string" && typeof stderr === "string" && outcome) {
      return { stdout, stderr, outcome };
    }
  }
  throw new InvalidOptionError({
    field,
    value,
    rule: "must be { stdout, stderr, outcome } with texts and the way it ended",
    remedy: 'for outcome write { type: "exit", exitCode: 0 } or { type: "timeout" }',
  });
}

function outcomeIn(value: unknown): ShellOutcome | null {
  if (!isPlainObject(value)) return null;
  const { type, exitCode } = value;
  if (type === "timeout") return { type };
  if (type !== "exit" || typeof exitCode !== "number") return null;
  return Number.isSafeInteger(exitCode) ? { type, exitCode } : null;
}
