import { readRecords, readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { PythonRun } from "../sandbox/sandbox.ts";
import {
  array,
  either,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
} from "../validators/validator.ts";
import { hideContainerSecrets, newContainerFields } from "./container-fields.ts";
import { formatKernelError } from "./format-kernel-error.ts";
import { createDeltas, createStages, toInProgress } from "./item-events.ts";
import { allowed_callers, created_by, longText, type } from "./item-fields.ts";
import type { LocalToolEvents, LocalToolPastCall } from "./local-tool.ts";
import { createStringsSchema, isString, joinParagraphs } from "./object-schema.ts";
import type { ToolRecord } from "./tool-record.ts";

/** Runs Python that the model wrote, in a container. https://platform.openai.com/docs/guides/tools-code-interpreter */
export const codeInterpreter: ToolRecord = {
  kind: "code_interpreter",
  check: object(
    {
      type,
      container: either({
        string: string({ min: 1 }),
        object: unionByTag({ auto: object({ type }, newContainerFields) }),
      }),
    },
    { allowed_callers },
  ),
  containerField: "container",
  echo: (entry) => hideContainerSecrets(entry, "container"),

  async run({ entry, args }, { newId, containers, begin }) {
    const code = readString(args, "code");
    const containerId = await containers.resolve(entry["container"]);
    const where = { code, container_id: containerId };
    const call = {
      id: newId("ci_"),
      type: "code_interpreter_call",
      status: "in_progress",
      ...where,
    };
    await begin({ ...call, outputs: null });
    const run = await containers.python(containerId, code);
    // Like the API, code that raised has completed. Only its logs show the exception.
    const status = run.died || run.timedOut ? "failed" : "completed";
    return [{ ...call, status, outputs: toOutputs(run) }];
  },

  shorthand: {
    key: "code",
    fromAction: (action) =>
      "code" in action ? { args: { code: action.code }, did: "ran code" } : null,
    toAction: (args) => ({ code: readString(args, "code") }),
  },
  echoArgs: (said) => ({ code: `print(${JSON.stringify(`You said: ${said}`)})` }),
  functions: [
    {
      name: "python",
      description:
        "Runs Python in a sandbox without network access and returns the printed output. State persists between calls. Files are in /mnt/data; save files there to keep them.",
      parameters: createStringsSchema({ code: "The Python code to run." }),
      read: ({ code }) => (isString(code) ? { code } : null),
    },
  ],
  forced: {
    /** Returns the only Python block of the last message: any model would run that. */
    readArgs(said) {
      const blocks = [...said.matchAll(BLOCK)];
      const code = blocks.length === 1 ? blocks[0]?.[1] : undefined;
      return code === undefined ? null : { code };
    },
    answer: (call) => {
      const logs = readRecords(call, "outputs").map((part) => readString(part, "logs"));
      return logs.join("").trim();
    },
  },

  items: {
    code_interpreter_call: {
      check: object(
        {
          type,
          id: string({ min: 1 }),
          container_id: string({ min: 1 }),
          code: nullable(longText),
        },
        {
          status: oneOf("in_progress", "completed", "incomplete", "interpreting", "failed"),
          outputs: nullable(
            array(
              unionByTag({
                logs: object({ type, logs: longText }),
                image: object({ type, url: string() }),
              }),
            ),
          ),
          created_by,
        },
      ),
      events: createEvents,
      includes: { "code_interpreter_call.outputs": (item) => ({ ...item, outputs: null }) },
      toCall,
      containerAt: ["container_id"],
      needsContainer: true,
    },
  },
};

const BLOCK = /^```python\n([\s\S]*?)\n```[ \t]*$/gm;

/** Combines all output into one text, like the API, which does not separate errors. */
function toOutputs(run: PythonRun): readonly object[] {
  const { stdout, stderr, output = joinLines([stdout, stderr]), truncated } = run;
  const notice = truncated ? "The output was truncated." : "";
  const logs = joinLines([output, notice, ...describeEnd(run)]);
  const images = run.images.map(({ mediaType, base64 }) => ({
    type: "image",
    url: `data:${mediaType};base64,${base64}`,
  }));
  return [...(logs === "" ? [] : [{ type: "logs", logs }]), ...images];
}

/** Describes why the code ended. Only an exception that the code raised is the last of the logs. */
function describeEnd({ error, timedOut, died }: PythonRun): readonly string[] {
  const report = error === null || died ? (error ?? "") : formatKernelError(error);
  if (timedOut) return [report, "The code was interrupted: it took too long."];
  const loss = "The interpreter was killed: it exceeded a limit or exited. Its state is lost.";
  return died ? [report, loss] : [report];
}

function joinLines(parts: readonly string[]): string {
  const lines = parts.filter((part) => part !== "");
  return lines.map((part) => (part.endsWith("\n") ? part : `${part}\n`)).join("");
}

function createEvents(item: WireItem): LocalToolEvents {
  const code = readString(item, "code");
  return {
    added: { ...toInProgress(item), code: "", outputs: null },
    running: [
      ...createStages(item, "in_progress"),
      ...createDeltas("response.code_interpreter_call_code", item, code, { code }),
      ...createStages(item, "interpreting"),
    ],
    // There is no event for a failed call.
    finished: item["status"] === "failed" ? [] : createStages(item, "completed"),
  };
}

function toCall(item: WireItem): LocalToolPastCall {
  const outputs = readRecords(item, "outputs").map(({ type: kind, logs }) =>
    kind === "image" ? "[An image was created.]" : logs,
  );
  const result = joinParagraphs(outputs, "It printed nothing.");
  return { args: { code: item["code"] ?? "" }, result };
}
