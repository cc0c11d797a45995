import { isPlainObject } from "../../base/freeze.ts";
import type { ShellRun } from "../sandbox/sandbox.ts";
import type { TurnState } from "../turn/turn.ts";
import { containerOf } from "./container-of.ts";
import { addFiles } from "./made-files.ts";
import { toolOf } from "./tool-of.ts";

const MOST_OUTPUT_BYTES = 1024 * 1024;

/**
 * Runs commands in the container of the request's tool, one after the other. In a local environment
 * they are handed to the client. Says whether they were.
 */
export async function runCommands(commands: readonly string[], state: TurnState): Promise<boolean> {
  const { services, input, output } = state;
  const tool = toolOf(input.tools, ["shell"], "ran commands");
  const { environment } = tool;
  const call = {
    id: services.ids.next("sh_"),
    type: "shell_call",
    call_id: services.ids.next("call_"),
    status: "completed",
    action: { commands, timeout_ms: null, max_output_length: null },
  };
  if (!isPlainObject(environment) || environment["type"] === "local") {
    output.push({ ...call, environment: { type: "local" } });
    return true;
  }
  const containerId = await containerOf(environment, state);
  output.push({
    ...call,
    environment: { type: "container_reference", container_id: containerId },
  });
  const outputs = [];
  for (const command of commands) {
    const run = await services.tools.containers.shell(containerId, command, {
      timeoutMs: services.runTimeoutMs,
      maxOutputBytes: MOST_OUTPUT_BYTES,
      signal: input.signal,
    });
    addFiles(state, containerId, run.files);
    outputs.push(outputOf(run));
  }
  output.push({
    id: services.ids.next("sho_"),
    type: "shell_call_output",
    call_id: call.call_id,
    status: "completed",
    max_output_length: null,
    output: outputs,
  });
  return false;
}

function outputOf({ stdout, stderr, exitCode }: ShellRun) {
  const outcome = exitCode === null ? { type: "timeout" } : { type: "exit", exit_code: exitCode };
  return { stdout, stderr, outcome };
}
