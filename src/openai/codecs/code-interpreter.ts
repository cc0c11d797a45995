import { InvalidOptionError } from "../../base/errors.ts";
import { itemsOfType, recordsAt, textAt } from "../../base/reading.ts";
import type { ContainerFileCitation } from "../../tools/hosted/citation.ts";
import {
  type CodeInterpreterCall,
  type CodeInterpreterConfig,
  type CodeInterpreterResult,
  codeInterpreterTool,
} from "../../tools/hosted/code-interpreter.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { WireCodeInterpreter, WireItem } from "../wire.ts";
import type { CodecEnv, HostedToolCodec } from "./codec.ts";
import { containerOptions, failureWith, hasFailed, identityOf } from "./codec-parts.ts";
import { type Said, said } from "./said.ts";
import { tracebackIn } from "./traceback.ts";

/** https://platform.openai.com/docs/guides/tools-code-interpreter */
export const codeInterpreterCodec: HostedToolCodec<CodeInterpreterConfig, CodeInterpreterResult> = {
  kind: "code_interpreter",

  params: { code: "string" },

  serialize(tool, env) {
    const { name, config } = tool;
    checkedConfig(tool, () => codeInterpreterTool(config));
    refuseOtherLanguages(name, config);
    const container = containerOf(config, env);
    const entry: WireCodeInterpreter = { type: "code_interpreter", container };
    return entry;
  },

  include: () => ["code_interpreter_call.outputs"],

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
    const calls = itemsOfType(items, "code_interpreter_call").map(callOf);
    return resultOf(calls, said(items));
  },

  calls(items, tool) {
    const words = said(items);
    return itemsOfType(items, "code_interpreter_call").map((item) => {
      const call = callOf(item);
      const { containerId, exitCode } = call;
      return {
        ...identityOf(item, tool),
        params: { code: call.code },
        output: resultOf([call], withinContainer(words, containerId)),
        success: exitCode === 0,
        message: call.stdout || words.text || wordOn(call),
        ...(containerId !== "" && { containerId }),
      };
    });
  },
};

function refuseOtherLanguages(name: string, { allowedLanguages }: CodeInterpreterConfig): void {
  if (allowedLanguages === undefined) return;
  const isPython = allowedLanguages.every((language) => language === "python");
  if (isPython && allowedLanguages.length > 0) return;
  throw new InvalidOptionError({
    field: `Hosted tool "${name}" config.allowedLanguages`,
    value: allowedLanguages,
    rule: 'must be ["python"], for OpenAI runs no other language',
    remedy: "leave it out, or use the shell tool",
  });
}

/** What an existing container may use was said when it was made, so only its id is sent. */
function containerOf(
  { container }: CodeInterpreterConfig,
  { containerId, auto = {} }: CodecEnv,
): WireCodeInterpreter["container"] {
  if (container === undefined) return containerId ?? { type: "auto", ...containerOptions(auto) };
  if (!("type" in container)) return container.id;
  // Files of the host are brought into a container of their own before anything is sent.
  const own = container.hostMounts === undefined ? null : containerId;
  return own ?? { type: "auto", ...containerOptions(container) };
}

function resultOf(
  calls: readonly CodeInterpreterCall[],
  { text, citations }: Said,
): CodeInterpreterResult | null {
  const last = calls.at(-1);
  if (last === undefined) return null;
  const { code, stdout, stderr, exitCode } = last;
  const files = citations.filter((citation) => citation.type === "containerFile");
  return { text, code, stdout, stderr, exitCode, calls, files };
}

/** One call's files are those of its container; two calls in one container share theirs. */
function withinContainer({ text, citations }: Said, containerId: string): Said {
  const isIts = (file: ContainerFileCitation) =>
    containerId === "" || file.containerId === containerId;
  return {
    text,
    citations: citations.filter((one) => one.type === "containerFile" && isIts(one)),
  };
}

function callOf(item: WireItem): CodeInterpreterCall {
  const status = textAt(item, "status");
  const outputs = recordsAt(item, "outputs");
  const stdout = joined(outputs.map((output) => textAt(output, "logs")));
  return {
    id: textAt(item, "id"),
    code: textAt(item, "code"),
    stdout,
    // The provider does not tell errors from output: only the trace of a failure is one for sure.
    stderr: hasFailed(status) ? tracebackIn(stdout) : "",
    exitCode: exitCodeOf(status),
    images: outputs.flatMap((output) => (output["type"] === "image" ? imageOf(output) : [])),
    containerId: textAt(item, "container_id"),
    status,
  };
}

/** Each on lines of its own: most logs come without a line break at their end. */
function joined(logs: readonly string[]): string {
  return logs
    .filter((log) => log !== "")
    .reduce((all, log) => (all === "" || all.endsWith("\n") ? all + log : `${all}\n${log}`), "");
}

function imageOf(output: WireItem): readonly string[] {
  const url = textAt(output, "url");
  return url === "" ? [] : [url];
}

function exitCodeOf(status: string): number | null {
  if (status === "completed") return 0;
  return status === "failed" ? 1 : null;
}

function wordOn({ exitCode, status }: CodeInterpreterCall): string {
  return exitCode === 0 ? "Ran and printed nothing" : failureWith(status);
}
