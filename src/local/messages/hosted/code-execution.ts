import type { WireItem } from "../../../openai/wire.ts";
import type { PythonRun, ShellRun } from "../../sandbox/sandbox.ts";
import type { ChangedFiles } from "../../tools/tool-services.ts";
import type { Block } from "../check/content.ts";
import type { MessageState } from "../message-state.ts";
import { type PatchEdit, quoteForShell, toPatchEdits } from "../patch-edits.ts";
import { toEditorInput } from "../patch-tool-uses.ts";
import { toPythonCommand } from "../python-command.ts";
import { createEditorCode, readEditorResult } from "./create-editor-code.ts";
import { resolveContainer } from "./resolve-container.ts";

/** An action that runs in a container of the server. */
export type CodeAction =
  | { readonly code: string }
  | { readonly shell: readonly string[] }
  | { readonly patch: readonly object[] };

/** Runs an action of the model in the message's container. Returns each call with its result. */
export async function runCodeExecution(
  action: CodeAction,
  tool: WireItem,
  state: MessageState,
): Promise<readonly Block[]> {
  const blocks: Block[] = [];
  for (const use of listUses(action, tool)) {
    state.signal.throwIfAborted();
    const id = state.services.ids.next("srvtoolu_");
    const content = await use.run(state);
    const { name, input } = use;
    blocks.push({ type: "server_tool_use", id, name, input });
    blocks.push({ type: `${name}_tool_result`, tool_use_id: id, content });
  }
  return blocks;
}

/** A call of one of the three tools that the code execution tool consists of. */
interface CodeUse {
  readonly name: string;
  readonly input: WireItem;
  run(state: MessageState): Promise<WireItem>;
}

function listUses(action: CodeAction, { type }: WireItem): readonly CodeUse[] {
  if ("shell" in action) return action.shell.map(createCommandUse);
  if ("patch" in action) return toPatchEdits(action.patch).map(createEditUse);
  // This version has no interpreter that keeps its state: the model runs Python by a command.
  if (type === "code_execution_20250825") return [createCommandUse(toPythonCommand(action.code))];
  return [createPythonUse(action.code)];
}

function createPythonUse(code: string): CodeUse {
  const name = "code_execution";
  return {
    name,
    input: { code },
    async run(state) {
      const containerId = await resolveContainer(state);
      const { containers } = state.services.tools;
      const run = await containers.python(containerId, code, createLimits(state));
      const { stdout, timedOut } = run;
      if (timedOut) return createTimeout(name);
      const stderr = [run.stderr, describeEnd(run)].filter((part) => part !== "").join("\n");
      return createResult(name, { stdout, stderr, return_code: toReturnCode(run) }, run);
    },
  };
}

function createCommandUse(command: string): CodeUse {
  const name = "bash_code_execution";
  return {
    name,
    input: { command },
    async run(state) {
      const run = await runCommand(command, state);
      const { stdout, stderr, exitCode } = run;
      if (exitCode === null) return createTimeout(name);
      return createResult(name, { stdout, stderr, return_code: exitCode }, run);
    },
  };
}

function createEditUse(edit: PatchEdit): CodeUse {
  const { path } = edit;
  if (edit.kind === "delete") return createCommandUse(`rm -- ${quoteForShell(path)}`);
  const name = "text_editor_code_execution";
  const input = toEditorInput(edit);
  return {
    name,
    input,
    async run(state) {
      const containerId = await resolveContainer(state);
      const { containers } = state.services.tools;
      const run = await containers.python(
        containerId,
        createEditorCode(input),
        createLimits(state),
      );
      return readEditorResult(run);
    },
  };
}

async function runCommand(command: string, state: MessageState): Promise<ShellRun & ChangedFiles> {
  const containerId = await resolveContainer(state);
  return await state.services.tools.containers.shell(containerId, command, createLimits(state));
}

function createLimits({ services, signal }: MessageState) {
  return { timeoutMs: services.runTimeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES, signal };
}

const MAX_OUTPUT_BYTES = 1024 * 1024;

function createResult(name: string, run: WireItem, { files }: ChangedFiles): WireItem {
  const content = files.map(({ id }) => ({ type: `${name}_output`, file_id: id }));
  return { type: `${name}_result`, ...run, content };
}

function createTimeout(name: string): WireItem {
  return { type: `${name}_tool_result_error`, error_code: "execution_time_exceeded" };
}

function describeEnd({ error, died }: PythonRun): string {
  const report = error ?? "";
  return died ? `${report}\nThe interpreter was killed. Its state is lost.`.trim() : report;
}

/** Returns what the interpreter would exit with: 0, the number of a `SystemExit`, 1 or, if it was killed, 137. */
function toReturnCode({ error, died }: PythonRun): number {
  if (died) return 137;
  if (error === null) return 0;
  const code = /(?:^|\n)SystemExit: (\d{1,3})\s*$/.exec(error)?.[1];
  return code === undefined ? 1 : Number(code);
}
