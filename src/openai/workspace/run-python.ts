import { isPlainObject } from "../../base/freeze.ts";
import { filterByType, readRecords, readString } from "../../base/json.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { findContainerFailure } from "../errors/container-failure.ts";
import { toRequestError } from "../errors/request-error.ts";
import type { OpenAIClient } from "../http/client.ts";
import { egressNote } from "../http/egress-log.ts";
import { HttpClient } from "../http/http-client.ts";
import { checkJsonObject, readUsage } from "../http/json-response.ts";
import type { ModelFields, OpenAIModelConfig } from "../model-config.ts";
import { readSecrets } from "../secrets.ts";

/** The printed output of code and the token usage of the request that ran it. */
export interface PythonOutcome {
  readonly output: string;
  readonly usage: TokenUsage;
}

/** The code to run and the container to run it in. */
export interface PythonCode {
  readonly containerId: string;
  readonly code: string;
  readonly signal: AbortSignal;
}

/** The settings of the request that runs Python. */
export interface PythonSettings {
  readonly client: OpenAIClient;
  readonly model: string;
  readonly modelConfig: OpenAIModelConfig;
  readonly modelFields: ModelFields;
  readonly timeoutMs: number;
}

/**
 * Runs Python in a container, unmodified. The provider runs code only when a model calls for it, so
 * this sends one short request that forces the model to call the code interpreter.
 */
export async function runPython(
  { client, model, modelConfig, modelFields, timeoutMs }: PythonSettings,
  { containerId, code, signal }: PythonCode,
): Promise<PythonOutcome> {
  const { max_output_tokens: _, max_tool_calls: __, ...fields } = modelFields;
  const text = `Run this Python code once, unmodified, and then say "done".\n\n\`\`\`python\n${code}\n\`\`\``;
  const body = {
    model,
    ...fields,
    input: [{ type: "message", role: "user", content: text }],
    tools: [{ type: "code_interpreter", container: containerId }],
    tool_choice: { type: "code_interpreter" },
    include: ["code_interpreter_call.outputs"],
    ...modelConfig.extraBody,
  };
  const context = { request: "POST /responses", signal, secrets: readSecrets(client) };
  try {
    const { store = true } = { ...fields, ...modelConfig.extraBody };
    const note = { isStored: store !== false, containerIds: [containerId] };
    const options = { maxRetries: 0, signal, timeout: timeoutMs, [egressNote]: note };
    const answer =
      client instanceof HttpClient
        ? (await client.post("/responses", JSON.stringify(body), options)).value
        : await client.responses.create(body, options);
    const response = checkJsonObject(answer, context);
    const gone = response["status"] === "failed" ? findContainerFailure(response, context) : null;
    if (gone) throw gone;
    return { output: collectPrintedOutput(response["output"]), usage: readUsage(response) };
  } catch (thrown) {
    throw toRequestError(thrown, context);
  }
}

/** Joins the printed output of all code interpreter calls in a response's output. */
export function collectPrintedOutput(output: unknown): string {
  const items = Array.isArray(output) ? output.filter(isPlainObject) : [];
  return filterByType(items, "code_interpreter_call")
    .flatMap((call) => readRecords(call, "outputs"))
    .map((part) => readString(part, "logs"))
    .join("\n");
}
