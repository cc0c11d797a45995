import type { PythonRun } from "../sandbox/sandbox.ts";
import type { TurnState } from "../turn/turn.ts";
import { containerOf } from "./container-of.ts";
import { addFiles } from "./made-files.ts";
import { toolOf } from "./tool-of.ts";

const MOST_OUTPUT_BYTES = 1024 * 1024;

/** Runs code that the model wrote, in the container of the request's tool. */
export async function runCode(code: string, state: TurnState): Promise<void> {
  const { services, input, output } = state;
  const tool = toolOf(input.tools, ["code_interpreter"], "ran code");
  const containerId = await containerOf(tool["container"], state);
  const run = await services.tools.containers.python(containerId, code, {
    timeoutMs: services.runTimeoutMs,
    maxOutputBytes: MOST_OUTPUT_BYTES,
    signal: input.signal,
  });
  addFiles(state, containerId, run.files);
  output.push({
    id: services.ids.next("ci_"),
    type: "code_interpreter_call",
    status: "completed",
    code,
    container_id: containerId,
    outputs: outputsOf(run),
  });
}

/** One text of all that was printed, as the API has it: it does not tell errors apart. */
function outputsOf(run: PythonRun) {
  const said = [run.stdout, run.stderr, run.error ?? "", endOf(run)].filter((part) => part !== "");
  const logs = said.map((part) => (part.endsWith("\n") ? part : `${part}\n`)).join("");
  const images = run.images.map(({ mediaType, base64 }) => ({
    type: "image",
    url: `data:${mediaType};base64,${base64}`,
  }));
  return [...(logs === "" ? [] : [{ type: "logs", logs }]), ...images];
}

function endOf({ timedOut, died, truncated }: PythonRun): string {
  if (timedOut) return "The code was interrupted: it took too long.";
  if (died)
    return "The interpreter was killed: it used too much, or ended itself. Its state is lost.";
  return truncated ? "The output was cut off." : "";
}
