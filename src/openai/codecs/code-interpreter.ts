import { InvalidOptionError } from "../../base/errors.ts";
import { filterByType, readRecords, readString } from "../../base/json.ts";
import type { ContainerFileCitation } from "../../tools/hosted/citation.ts";
import {
  type CodeInterpreterCall,
  type CodeInterpreterConfig,
  type CodeInterpreterResult,
  codeInterpreterTool,
  DEFAULT_TIMEOUT_SECONDS,
  describeTimeout,
} from "../../tools/hosted/code-interpreter.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { WireCodeInterpreter, WireItem } from "../wire.ts";
import type { CodecEnv, HostedToolCodec } from "./codec.ts";
import { describeFailure, identifyCall, toWireContainerOptions } from "./codec-call.ts";
import { type MessageText, readMessageText } from "./message-text.ts";
import { findTraceback } from "./traceback.ts";

/** The code_interpreter tool. https://platform.openai.com/docs/guides/tools-code-interpreter */
export const codeInterpreterCodec: HostedToolCodec<CodeInterpreterConfig, CodeInterpreterResult> = {
  kind: "code_interpreter",

  params: { code: "string" },

  serialize(tool, env) {
    const { name, config } = tool;
    checkWithFactory(tool, () => codeInterpreterTool(config));
    checkLanguages(name, config);
    const container = toWireContainer(config, env);
    const entry: WireCodeInterpreter = { type: "code_interpreter", container };
    return entry;
  },

  include: () => ["code_interpreter_call.outputs"],

  advice: ({ config: { timeoutSeconds } }) =>
    timeoutSeconds === undefined ? null : describeTimeout(timeoutSeconds),

  // The API has no field for it and ignores unknown headers. The local provider enforces it.
  headers: ({ config: { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } }) => ({
    "x-wink-code-timeout-seconds": String(timeoutSeconds),
  }),

  container({ config: { container } }) {
    const isAuto = container !== undefined && "type" in container;
    return {
      option: "container",
      isChosen: container !== undefined,
      id: container !== undefined && "id" in container ? container.id : null,
      mounted: isAuto && container.hostMounts !== undefined ? container : null,
    };
  },

  parseOutput(items) {
    const calls = filterByType(items, "code_interpreter_call").map(parseCodeCall);
    return createCodeResult(calls, readMessageText(items));
  },

  calls(items, tool, words = readMessageText(items)) {
    return filterByType(items, "code_interpreter_call").map((item) => {
      const call = parseCodeCall(item);
      const { containerId, exitCode } = call;
      return {
        ...identifyCall(item, tool),
        params: { code: call.code },
        output: createCodeResult([call], filterByContainer(words, containerId)),
        success: exitCode === 0,
        message: call.stdout || words.text || describeCodeCall(call),
        ...(containerId !== "" && { containerId }),
      };
    });
  },
};

function checkLanguages(name: string, { allowedLanguages }: CodeInterpreterConfig): void {
  if (allowedLanguages === undefined) return;
  const isPython = allowedLanguages.every((language) => language === "python");
  if (isPython && allowedLanguages.length > 0) return;
  throw new InvalidOptionError({
    field: `Hosted tool "${name}" config.allowedLanguages`,
    value: allowedLanguages,
    rule: 'must be ["python"], the only language that OpenAI runs',
    remedy: "omit it, or use the shell tool",
  });
}

/** An existing container has its settings already, so only its id is sent. */
function toWireContainer(
  { container }: CodeInterpreterConfig,
  { containerId, auto = {} }: CodecEnv,
): WireCodeInterpreter["container"] {
  if (container === undefined)
    return containerId ?? { type: "auto", ...toWireContainerOptions(auto) };
  if (!("type" in container)) return container.id;
  // Host mounts are uploaded to a separate container before the first request.
  const own = container.hostMounts === undefined ? null : containerId;
  return own ?? { type: "auto", ...toWireContainerOptions(container) };
}

function createCodeResult(
  calls: readonly CodeInterpreterCall[],
  { text, citations }: MessageText,
): CodeInterpreterResult | null {
  const last = calls.at(-1);
  if (last === undefined) return null;
  const { code, stdout, stderr, exitCode } = last;
  const files = citations.filter((citation) => citation.type === "containerFile");
  return { text, code, stdout, stderr, exitCode, calls, files };
}

/**
 * Limits citations to the files in a call's container. Calls in the same container share its files.
 */
function filterByContainer({ text, citations }: MessageText, containerId: string): MessageText {
  const isInContainer = (file: ContainerFileCitation) =>
    containerId === "" || file.containerId === containerId;
  return {
    text,
    citations: citations.filter((one) => one.type === "containerFile" && isInContainer(one)),
  };
}

function parseCodeCall(item: WireItem): CodeInterpreterCall {
  const status = readString(item, "status");
  const outputs = readRecords(item, "outputs");
  const stdout = joinLogs(outputs.map((output) => readString(output, "logs")));
  return {
    id: readString(item, "id"),
    code: readString(item, "code"),
    stdout,
    ...deriveEnding(status, stdout),
    images: outputs.flatMap((output) => (output["type"] === "image" ? readImage(output) : [])),
    containerId: readString(item, "container_id"),
    status,
  };
}

/**
 * Derives how code ended. The provider reports no exit code, mixes stderr into the logs, and counts
 * code that raised as completed (decision 45).
 */
function deriveEnding(
  status: string,
  logs: string,
): Pick<CodeInterpreterCall, "stderr" | "exitCode"> {
  // After a run that did not complete, the provider may add its own explanation to the logs.
  const isEnd = status === "completed";
  const traceback = findTraceback(logs, { isEnd });
  if (isEnd && (traceback === null || traceback.exitCode === 0)) return { stderr: "", exitCode: 0 };
  const hasExited = isEnd || (status === "failed" && traceback?.exitCode !== 0);
  return {
    stderr: traceback?.text ?? "",
    exitCode: hasExited ? (traceback?.exitCode ?? null) : null,
  };
}

/** Joins logs with line breaks, because most logs do not end in one. */
function joinLogs(logs: readonly string[]): string {
  return logs
    .filter((log) => log !== "")
    .reduce((all, log) => (all === "" || all.endsWith("\n") ? all + log : `${all}\n${log}`), "");
}

function readImage(output: WireItem): readonly string[] {
  const url = readString(output, "url");
  return url === "" ? [] : [url];
}

function describeCodeCall({ exitCode, status }: CodeInterpreterCall): string {
  return exitCode === 0 ? "Ran without output" : describeFailure(status);
}
