import { isPlainObject } from "../../base/freeze.ts";
import {
  type ShellConfig,
  type ShellOutput,
  type ShellResult,
  shellTool,
} from "../../tools/hosted/shell.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { WireItem, WireOutput, WireShell } from "../wire.ts";
import type { CodecEnv, HostedToolCodec } from "./codec.ts";
import { containerOptions, type HostedCallOf, identityOf, onlySet } from "./codec-parts.ts";
import { type LiveShellTool, runShell } from "./run-shell.ts";
import {
  commandsOf,
  limitsOf,
  type ShellItem,
  shellContainer,
  shellItems,
  shellParams,
  verdictOn,
  wireOutput,
} from "./shell-items.ts";

/**
 * https://platform.openai.com/docs/guides/tools-shell: a container's calls come with their output;
 * in a local environment they are asked of us.
 */
export const shellCodec: HostedToolCodec<ShellConfig, ShellResult> = {
  kind: "shell",

  params: { commands: "array", timeoutMs: "number", maxOutputLength: "number" },

  serialize(tool: LiveShellTool, env) {
    const { config, live } = tool;
    checkedConfig(tool, () => shellTool(config, { executor: live.executor }));
    const entry: WireShell = { type: "shell", environment: environmentOf(config, env) };
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
      const remedy = 'write { type: "container" }, or leave it out';
      return `${problem} has an environment that is no container: ${remedy}`;
    }
    const isHere = "is run here and not by the provider, for which a NativeTool has no means";
    const tool = 'shellTool({ environment: { type: "local" } }, { executor })';
    return `${problem} with a local environment ${isHere}: put ${tool} among the section's hostedTools, or let a container run it`;
  },

  parseOutput(items) {
    const calls = shellItems(items).map(({ call }) => call);
    return calls.length > 0 ? { calls } : null;
  },

  calls(items, tool) {
    if (isLocal(tool.config)) return [];
    return shellItems(items).map((one) => {
      const containerId = shellContainer(one.item, tool.config);
      return {
        ...identityOf(one.item, tool),
        params: shellParams(one.item),
        output: { calls: [one.call] },
        ...verdictOnItem(one),
        ...onlySet({ containerId }),
      };
    });
  },

  asked(items, tool: LiveShellTool) {
    if (!isLocal(tool.config)) return [];
    const open = shellItems(items).filter(({ isAnswered }) => !isAnswered);
    return open.map((one) => ({
      ...identityOf(one.item, tool),
      params: shellParams(one.item),
      run: (context) => runShell(one, tool, context),
    }));
  },

  answer(call) {
    const { maxOutputLength } = limitsOf(itemOf(call));
    const output: WireOutput = {
      type: "shell_call_output",
      call_id: call.callId,
      ...onlySet({ max_output_length: maxOutputLength ?? undefined }),
      output: outputsOf(call).map(wireOutput),
    };
    return output;
  },
};

function isLocal({ environment }: ShellConfig): boolean {
  return environment?.type === "local";
}

/** A tool that names no environment shares the workspace's container, where its files are. */
function environmentOf(
  { environment }: ShellConfig,
  { containerId, auto = {} }: CodecEnv,
): WireShell["environment"] {
  if (environment?.type === "local") return { type: "local" };
  const existing = environment ? environment.containerId : containerId;
  if (existing) return { type: "container_reference", container_id: existing };
  return { type: "container_auto", ...containerOptions(environment ?? auto) };
}

function verdictOnItem({ call, isAnswered }: ShellItem) {
  const isSilent = call.outputs.length === 0 && call.commands.length > 0;
  if (isAnswered && !isSilent) return verdictOn(call);
  return { success: false, message: "No output came back" };
}

function itemOf({ raw }: HostedCallOf<ShellResult>): WireItem {
  return isPlainObject(raw) ? raw : {};
}

/** The model reads why there is no output where each command's would be. */
function outputsOf(call: HostedCallOf<ShellResult>): readonly ShellOutput[] {
  const ran = call.output?.calls.find(({ callId }) => callId === call.callId);
  if (ran) return ran.outputs;
  const failed: ShellOutput = {
    stdout: "",
    stderr: call.message,
    outcome: { type: "exit", exitCode: 1 },
  };
  return commandsOf(itemOf(call)).map(() => failed);
}
