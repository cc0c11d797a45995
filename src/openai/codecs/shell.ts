import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  type ShellConfig,
  type ShellOutput,
  type ShellResult,
  shellTool,
} from "../../tools/hosted/shell.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { WireItem, WireOutput, WireShell } from "../wire.ts";
import type { CodecEnv, HostedToolCodec } from "./codec.ts";
import {
  type CodecHostedCall,
  identifyCall,
  omitUndefined,
  toWireContainerOptions,
} from "./codec-call.ts";
import { type LiveShellTool, runShell } from "./run-shell.ts";
import {
  findShellContainer,
  findShellItems,
  readCommands,
  readLimits,
  readShellParams,
  type ShellItem,
  summarizeShellCall,
  toWireOutput,
} from "./shell-items.ts";

/**
 * The shell tool. In a container, calls come with their output; in a local environment, the provider
 * delegates them to this package. https://platform.openai.com/docs/guides/tools-shell
 */
export const shellCodec: HostedToolCodec<ShellConfig, ShellResult> = {
  kind: "shell",

  params: { commands: "array", timeoutMs: "number", maxOutputLength: "number" },

  serialize(tool: LiveShellTool, env) {
    const { config, live } = tool;
    checkWithFactory(tool, () => shellTool(config, { executor: live.executor }));
    rejectApproval(tool);
    const entry: WireShell = { type: "shell", environment: toWireEnvironment(config, env) };
    return entry;
  },

  container({ config: { environment } }) {
    if (environment?.type === "local") return null;
    const id = environment && "containerId" in environment ? environment.containerId : null;
    const isChosen = environment !== undefined;
    return { option: "environment", isChosen, id: id || null, mounted: null };
  },

  nativeProblem({ name, config }) {
    const { environment } = config as { readonly environment?: unknown };
    if (environment === undefined) return null;
    const type = isPlainObject(environment) ? environment["type"] : null;
    if (type === "container") return null;
    const problem = `NativeTool "${name}" of kind "shell"`;
    if (type !== "local") {
      const remedy = 'Use { type: "container" }, or omit it.';
      return `${problem} has an environment that is not a container. ${remedy}`;
    }
    const isHere = "runs locally, not at the provider, and a NativeTool cannot run locally";
    const tool = 'shellTool({ environment: { type: "local" } }, { executor })';
    return `${problem} with a local environment ${isHere}. Add ${tool} to the section's hostedTools, or use a container environment.`;
  },

  parseOutput(items) {
    const calls = findShellItems(items).map(({ call }) => call);
    return calls.length > 0 ? { calls } : null;
  },

  calls(items, tool) {
    if (isLocal(tool.config)) return [];
    return findShellItems(items).map((one) => {
      const containerId = findShellContainer(one.item, tool.config);
      return {
        ...identifyCall(one.item, tool),
        params: readShellParams(one.item),
        output: { calls: [one.call] },
        ...summarizeShellItem(one),
        ...omitUndefined({ containerId }),
      };
    });
  },

  delegatedCalls(items, tool: LiveShellTool) {
    if (!isLocal(tool.config)) return [];
    const open = findShellItems(items).filter(({ isAnswered }) => !isAnswered);
    return open.map((one) => ({
      ...identifyCall(one.item, tool),
      params: readShellParams(one.item),
      needsApproval: tool.live.needsApproval,
      run: (context) => runShell(one, tool, context),
    }));
  },

  answer(call) {
    const { maxOutputLength } = readLimits(getWireItem(call));
    const output: WireOutput = {
      type: "shell_call_output",
      call_id: call.callId,
      ...omitUndefined({ max_output_length: maxOutputLength ?? undefined }),
      output: getOutputs(call).map(toWireOutput),
    };
    return output;
  },
};

/** The provider runs the commands of a container without asking. */
function rejectApproval({ name, config, live: { needsApproval = false } }: LiveShellTool): void {
  if (isLocal(config) || needsApproval === false) return;
  throw new InvalidOptionError({
    field: `Hosted tool "${name}" needsApproval`,
    value: needsApproval,
    rule: "must be omitted in a container environment, because the provider runs the commands",
    remedy: 'use { environment: { type: "local" } } with an executor, or omit it',
  });
}

function isLocal({ environment }: ShellConfig): boolean {
  return environment?.type === "local";
}

/** A tool without an environment runs in the workspace's container, where the files are. */
function toWireEnvironment(
  { environment }: ShellConfig,
  { containerId, auto = {} }: CodecEnv,
): WireShell["environment"] {
  if (environment?.type === "local") return { type: "local" };
  const existing = environment ? environment.containerId : containerId;
  if (existing) return { type: "container_reference", container_id: existing };
  return { type: "container_auto", ...toWireContainerOptions(environment ?? auto) };
}

function summarizeShellItem({ call, isAnswered }: ShellItem) {
  const isSilent = call.outputs.length === 0 && call.commands.length > 0;
  if (isAnswered && !isSilent) return summarizeShellCall(call);
  return { success: false, message: "The provider returned no output" };
}

function getWireItem({ raw }: CodecHostedCall<ShellResult>): WireItem {
  return isPlainObject(raw) ? raw : {};
}

/**
 * Returns the call's outputs. Without any, each command's output is the call's message: the reason
 * of a failure, or the text of a hook that returned something else.
 */
function getOutputs({ output, callId, success, message, raw }: CodecHostedCall<ShellResult>) {
  const ran = output?.calls?.find((call) => call.callId === callId);
  if (ran) return ran.outputs;
  const instead: ShellOutput = {
    stdout: success ? message : "",
    stderr: success ? "" : message,
    outcome: { type: "exit", exitCode: success ? 0 : 1 },
  };
  return readCommands(isPlainObject(raw) ? raw : {}).map(() => instead);
}
